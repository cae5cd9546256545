"""The commands of the program, one module each: parse, call one public function, print. No
mathematics."""
