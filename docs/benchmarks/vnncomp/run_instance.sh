#!/bin/sh
# Answers one instance of VNN-COMP with polyrelu:
#   run_instance.sh v1 CATEGORY NETWORK PROPERTY RESULTS SECONDS
# NETWORK is a file, or for a property of two networks two files with a comma in between. The first
# line of RESULTS is unsat, sat, unknown, timeout or error; after sat comes the counterexample.
# A certificate is written to RESULTS.cert, so that `polyrelu check` can confirm unsat.
set -u
version=$1 network=$3 property=$4 results=$5 seconds=$6
if [ "$version" != v1 ]; then
    echo "run_instance.sh: version $version of the protocol is not known" >&2
    exit 1
fi
IFS=,
set -f
polyrelu verify $network "$property" --no-compare \
    --time-limit "$seconds" --result "$results" -o "$results.cert"
status=$?
if [ "$status" = 3 ] && [ ! -s "$results" ]; then
    echo timeout >"$results" # the limit ended the program before it could write
fi
if [ "$status" = 2 ]; then
    echo error >"$results"
    exit 1
fi
