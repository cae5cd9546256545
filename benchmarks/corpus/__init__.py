"""The networks of the corpus that the package ships, their answers, and checks by brute force.

`python -m benchmarks.make_corpus` writes `polyrelu/corpus/data` from these modules. Only +, -, *, /
on integers, fractions and IEEE doubles are used, so that every machine makes the same bytes.
"""
