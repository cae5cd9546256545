(** Multipliers of inequalities that leave no coordinate (FORMAT.md, section 5, the list of [i]).

    Nothing is proved here, and nothing has to be: [solved] proposes multipliers, which are then
    checked like listed ones. *)
Require Import ZArith NArith QArith List Bool.
From PolyreluVerified Require Import LinearForms.
Import ListNotations.
Open Scope Z_scope.

(** The largest symbol of all forms, whose symbols descend. *)
Definition latest (fs : list form) : N :=
  fold_left (fun m f => match f with [] => m | (s, _) :: _ => N.max m s end) fs 0%N.

(** The coefficients of one symbol, and the forms without it. *)
Fixpoint split_symbol (s : N) (fs : list form) : list Z * list form :=
  match fs with
  | [] => ([], [])
  | f :: fs' =>
      let (row, rest) := split_symbol s fs' in
      match f with
      | (t, c) :: f' => if (s =? t)%N then (c :: row, f' :: rest) else (0 :: row, f :: rest)
      | [] => (0 :: row, [] :: rest)
      end
  end.

(** One row of coefficients for each coordinate that some form has; [fuel] is a list that is as
    long as all forms together. *)
Fixpoint rows_of (fuel : list (N * Z)) (fs : list form) : list (list Z) :=
  match fuel with
  | [] => []
  | _ :: fuel' =>
      let s := latest fs in
      if (s =? 0)%N then []
      else let (row, rest) := split_symbol s fs in row :: rows_of fuel' rest
  end.

(** The first row whose first entry is not 0, and the other rows. *)
Fixpoint pivot_row (before rows : list (list Z)) : option (list Z * list (list Z)) :=
  match rows with
  | [] => None
  | row :: rest =>
      match row with
      | c :: _ => if c =? 0 then pivot_row (row :: before) rest
                  else Some (row, rev_append before rest)
      | [] => None
      end
  end.

(** [(p x - q y) / last] entry by entry. *)
Fixpoint combined (p q last : Z) (xs ys : list Z) : list Z :=
  match xs, ys with
  | x :: xs', y :: ys' =>
      let z := p * x - q * y in
      (if last =? 1 then z else z / last) :: combined p q last xs' ys'
  | _, _ => []
  end.

(** A row without its first entry, which becomes 0. *)
Definition eliminated (pivot : list Z) (p last : Z) (row : list Z) : list Z :=
  match row, pivot with q :: xs, _ :: ys => combined p q last xs ys | _, _ => [] end.

(** Elimination without fractions (Bareiss), column by column; [done] are the rows of pivots, the
    last one first. The right-hand sides in the end, over their denominator. *)
Fixpoint solve {A} (columns : list A) (done rest : list (list Z)) (last : Z) :
  option (list Z * Z) :=
  match columns with
  | [] =>
      if forallb (fun row => match row with [0] => true | _ => false end) rest
      then Some (rev (List.map (fun row => hd 0 row) done), last)
      else None
  | _ :: columns' =>
      match pivot_row [] rest with
      | Some ((p :: ys) as pivot, others) =>
          let next := eliminated pivot p last in
          solve columns' (ys :: List.map next done) (List.map next others) p
      | _ => None
      end
  end.

Definition quotient (a b : Z) : Q :=
  Qred (if 0 <? b then Qmake a (Z.to_pos b) else Qmake (- a) (Z.to_pos (- b))).

Fixpoint with_multipliers (e last : Z) (rows : list (N * rform)) (xs : list Z) : list (N * Q) :=
  match rows, xs with
  | (i, r) :: rows', x :: xs' =>
      (i, quotient (x * snd r) (last * e)) :: with_multipliers e last rows' xs'
  | _, _ => []
  end.

(** Multiples of the numbered inequalities [rows] that, taken away from [q], leave no coordinate. *)
Definition solved (rows : list (N * rform)) (q : rform) : option (list (N * Q)) :=
  let forms := List.map (fun p => fst (snd p)) rows ++ [fst q] in
  match solve rows [] (rows_of (List.concat forms) forms) 1 with
  | Some (xs, last) => Some (with_multipliers (snd q) last rows xs)
  | None => None
  end.
