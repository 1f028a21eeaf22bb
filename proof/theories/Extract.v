(** Extraction to OCaml: integers become Zarith's (Big = Zarith's Z), nat becomes int, lists, pairs, options and booleans
    OCaml's. Every directive below is trusted. *)
From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNatInt ZArith.
From Smile Require Import Num Exact Spread Trees Layers Premise Witness Network Joint Cases.
Extraction Language OCaml.
Extract Inductive positive => "Big.t"
  [ "(fun x -> Big.succ (Big.shift_left x 1))" "(fun x -> Big.shift_left x 1)" "Big.one" ]
  "(fun fi fo fh p -> if Big.equal p Big.one then fh () else let q = Big.shift_right p 1 in if Big.is_odd p then fi q else fo q)".
Extract Inductive Z => "Big.t" [ "Big.zero" "" "Big.neg" ]
  "(fun fz fp fn z -> let s = Big.sign z in if s = 0 then fz () else if s > 0 then fp z else fn (Big.neg z))".
Extract Inductive N => "Big.t" [ "Big.zero" "" ]
  "(fun fz fp n -> if Big.sign n = 0 then fz () else fp n)".
Extract Constant Z.add => "Big.add".
Extract Constant Z.sub => "Big.sub".
Extract Constant Z.mul => "Big.mul".
Extract Constant Z.opp => "Big.neg".
Extract Constant Z.abs => "Big.abs".
Extract Constant Z.leb => "Big.leq".
Extract Constant Z.ltb => "Big.lt".
Extract Constant Z.eqb => "Big.equal".
Extract Constant Z.gcd => "Big.gcd".
Extract Constant Z.div => "(fun a b -> if Big.sign b = 0 then Big.zero else Big.fdiv a b)".
Extract Constant Z.land => "Big.logand".
Extract Constant Z.log2 => "(fun a -> if Big.sign a > 0 then Big.of_int (Big.numbits a - 1) else Big.zero)".
Extract Constant Z.shiftl => "(fun a n -> if Big.sign n >= 0 then Big.shift_left a (Big.to_int n) else Big.shift_right a (Big.to_int (Big.neg n)))".
Extract Constant Z.shiftr => "(fun a n -> if Big.sign n >= 0 then Big.shift_right a (Big.to_int n) else Big.shift_left a (Big.to_int (Big.neg n)))".
Extract Constant Z.pow => "(fun a n -> if Big.sign n < 0 then Big.zero else Big.pow a (Big.to_int n))".
Extract Constant Z.of_nat => "Big.of_int".
Extract Constant Z.of_N => "(fun n -> n)".
Extract Constant Z.to_N => "(fun z -> if Big.sign z < 0 then Big.zero else z)".
Extract Constant Z.to_pos => "(fun z -> if Big.sign z > 0 then z else Big.one)".
Extract Constant Pos.eqb => "Big.equal".
Extract Constant Pos.mul => "Big.mul".
Extract Constant Pos.add => "Big.add".
Extract Constant N.add => "Big.add".
Extract Constant N.max => "Big.max".
Extract Constant N.sub => "(fun a b -> Big.max Big.zero (Big.sub a b))".
Extraction "checker.ml" prepare bound_of check_cases mean half mirrors accepts one_hot_ok check_order witness_ok clean ground raw_spread layers_spread settle.
