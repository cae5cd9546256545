(* What the extraction puts in the place of functions of Coq's library (extraction/Extraction.v).
   Numbers are Zarith's; products, quotients and divisors are paid before they are computed. *)

let mul a b = Meter.product (Z.numbits a) (Z.numbits b); Z.mul a b
let gcd a b = Meter.quotient (Z.numbits a) (Z.numbits b); Z.gcd a b
let lcm a b = Meter.quotient (Z.numbits a) (Z.numbits b); Z.lcm a b

(* The divisor, and both numbers divided by it. *)
let ggcd a b =
  let g = gcd a b in
  if Z.sign g = 0 then (g, (g, g)) else (g, (Z.divexact a g, Z.divexact b g))

(* Coq's division rounds down, and by 0 it is 0. *)
let div a b =
  Meter.quotient (Z.numbits a) (Z.numbits b);
  if Z.sign b = 0 then Z.zero else Z.fdiv a b

let modulo a b =
  Meter.quotient (Z.numbits a) (Z.numbits b);
  if Z.sign b = 0 then a else Z.sub a (Z.mul b (Z.fdiv a b))

(* The greatest k with 2^k <= a; 0 for other numbers. *)
let log2 a = if Z.sign a <= 0 then Z.zero else Z.of_int (Z.numbits a - 1)

(* Symbols are compared wherever forms and tables are walked through. *)
let compare a b = Meter.units Meter.comparison; Z.compare a b

let leq = Z.leq
let lt = Z.lt

(* Symbols and numbers of neurons, which lists are searched for. *)
let equal a b = Meter.units Meter.equality; Z.equal a b

let of_int = Z.of_int
let decimal = Z.to_string
