"""The commands of the program, one module each: parse, call one public function, print.

There is no mathematics here. A command module has `add_…`, which declares the options, and `_run`,
which calls in this order what the command needs: `_check_options` (refusals before any work),
`_write_…` (files), `_answer` (the entries of the JSON object) and `_print_text` (lines for people).
What commands share stands in `parser`, `options`, `output` and `colours`. Modules of other rooms
are imported inside these functions, so that every command starts quickly.
"""
