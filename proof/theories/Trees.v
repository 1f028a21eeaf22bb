(** Section 3.1: layers of trees. What they compute, and the spreads of their values. Programs only; the proofs are in
    TreeSound.v. *)
From Coq Require Import Reals List Bool Arith ZArith.
From Smile Require Import Num Leaf Binary64 Exact Spread.
Import ListNotations DOps.
Open Scope R_scope.

(** A node asks a question and goes left if the answer is at most its threshold. Questions below the number of inputs ask
    for an input, the others for the largest number of a set of inputs. *)
Inductive tree := Tip (value : num) | Ask (question : nat) (threshold : num) (below above : tree).

(** ** Values *)
Fixpoint largest (v : R) (y : list R) : R := match y with [] => v | w :: y' => Rmax v (largest w y') end.
Definition set_value (y : list R) (places : list nat) : option R :=
  match mapo (nth_error y) places with Some (v :: r) => Some (largest v r) | _ => None end.
Fixpoint tree_value (answers : list R) (t : tree) : option R :=
  match t with
  | Tip v => Some (DSpec.val v)
  | Ask q th l r =>
      match nth_error answers q with
      | None => None
      | Some z => if Rle_dec z (DSpec.val th) then tree_value answers l else tree_value answers r
      end
  end.
(* ((bias + v1) + v2) + … *)
Fixpoint added_up (acc : R) (vs : list R) : option R :=
  match vs with [] => Some acc | v :: vs' => match fl (acc + v) with Some a => added_up a vs' | None => None end end.
Definition output_trees (answers : list R) (o : num * list tree) : option R :=
  match mapo (tree_value answers) (snd o) with Some vs => added_up (DSpec.val (fst o)) vs | None => None end.
Definition trees_value (sets : list (list nat)) (outs : list (num * list tree)) (y : list R) : option (list R) :=
  match mapo (set_value y) sets with Some m => mapo (output_trees (y ++ m)) outs | None => None end.

(** ** Spreads of answers and of single trees *)
Definition extreme (pick : num -> num -> num) (f : spread -> num) (s : spread) (l : list spread) : num :=
  fold_right (fun t m => pick (f t) m) (f s) l.
Definition set_spread (ys : list spread) (places : list nat) : option spread :=
  match mapo (nth_error ys) places with
  | Some (s :: l) => Some (Spread (extreme maxT s_lo s l) (extreme maxT s_hi s l)
                                  (extreme minT s_low s l) (extreme maxT s_high s l) false false)
  | _ => None
  end.
(* range of a value, range of copy 1 − copy 2 *)
Record four := Four { f_lo : num; f_hi : num; f_low : num; f_high : num }.
(* both children can be reached: copy 1 may be right of copy 2 ([on]) or left of it ([back]) *)
Definition joined (l r : four) (on back : bool) : four :=
  let low := minT (f_low l) (f_low r) in
  let high := maxT (f_high l) (f_high r) in
  let low' := if on then minT low (sub (f_lo r) (f_hi l)) else low in
  let high' := if on then maxT high (sub (f_hi r) (f_lo l)) else high in
  Four (minT (f_lo l) (f_lo r)) (maxT (f_hi l) (f_hi r))
    (if back then minT low' (sub (f_lo l) (f_hi r)) else low') (if back then maxT high' (sub (f_hi l) (f_lo r)) else high').
Fixpoint tree_four (asks : list spread) (t : tree) : option four :=
  match t with
  | Tip v => if floatb v then Some (Four v v zero zero) else None
  | Ask q th l r =>
      match nth_error asks q with
      | None => None
      | Some s =>
          if leb (s_hi s) th then tree_four asks l
          else if ltb th (s_lo s) then tree_four asks r
          else match tree_four asks l, tree_four asks r with
               | Some a, Some b => Some (joined a b (ltb zero (s_high s)) (ltb (s_low s) zero))
               | _, _ => None
               end
      end
  end.

(** ** Leaf against leaf *)
(* what a path says of a question: its answer is above one number and at most another; the difference of the answers *)
Record piece := Piece { p_ask : nat; p_low : num; p_high : num; p_above : option num; p_upto : option num }.
Definition sooner (o : option num) (v : num) : option num := Some (match o with Some w => minT w v | None => v end).
Definition later (o : option num) (v : num) : option num := Some (match o with Some w => maxT w v | None => v end).
Definition cut_piece (left : bool) (th : num) (p : piece) : piece :=
  if left then Piece (p_ask p) (p_low p) (p_high p) (p_above p) (sooner (p_upto p) th)
  else Piece (p_ask p) (p_low p) (p_high p) (later (p_above p) th) (p_upto p).
Fixpoint narrow (s : spread) (q : nat) (left : bool) (th : num) (path : list piece) : list piece :=
  match path with
  | [] => [cut_piece left th (Piece q (s_low s) (s_high s) None None)]
  | p :: path' => if Nat.eqb (p_ask p) q then cut_piece left th p :: path' else p :: narrow s q left th path'
  end.
Fixpoint open_leaves (asks : list spread) (t : tree) (path : list piece) : list (num * list piece) :=
  match t with
  | Tip v => [(v, path)]
  | Ask q th l r =>
      match nth_error asks q with
      | None => []
      | Some s =>
          (if leb (s_lo s) th then open_leaves asks l (narrow s q true th path) else []) ++
          (if ltb th (s_hi s) then open_leaves asks r (narrow s q false th path) else [])
      end
  end.
(* copy 2 cannot answer as the one says where copy 1 answers as the other says *)
Definition apart (second first : piece) : bool :=
  orb (match p_above second, p_upto first with Some a, Some b => leb (sub b a) (p_low second) | _, _ => false end)
      (match p_upto second, p_above first with Some b, Some a => leb (p_high second) (sub a b) | _, _ => false end).
Definition a_pair (second first : list piece) : bool :=
  forallb (fun s => forallb (fun f => negb (andb (Nat.eqb (p_ask s) (p_ask f)) (apart s f))) first) second.
Definition compared (second first : num * list piece) (r : num * num) : num * num :=
  let d := sub (fst first) (fst second) in
  if andb (orb (ltb d (fst r)) (ltb (snd r) d)) (a_pair (snd second) (snd first))
  then (minT (fst r) d, maxT (snd r) d) else r.
Fixpoint against (second : num * list piece) (firsts : list (num * list piece)) (r : num * num) : num * num :=
  match firsts with [] => r | f :: l => against second l (compared second f r) end.
Fixpoint by_pairs (seconds firsts : list (num * list piece)) (r : num * num) : num * num :=
  match seconds with [] => r | s :: l => by_pairs l firsts (against s firsts r) end.

Fixpoint leaves (t : tree) : Z := match t with Tip _ => 1 | Ask _ _ l r => leaves l + leaves r end.
Definition tree_spread (asks : list spread) (t : tree) : option spread :=
  match tree_four asks t with
  | None => None
  | Some f =>
      let (low, high) :=
        if andb (andb (ltb (f_low f) zero) (ltb zero (f_high f))) (Z.leb (leaves t) 256)
        then let l := open_leaves asks t [] in by_pairs l l (zero, zero) else (f_low f, f_high f) in
      if andb (ltb (negT hugeT) (f_lo f)) (ltb (f_hi f) hugeT)
      then Some (Spread (f_lo f) (f_hi f) low high (leb zero low) (leb high zero)) else None
  end.
(** their sum: as that of a row with weights of one *)
Definition sum_spread (asks : list spread) (o : num * list tree) : option spread :=
  match mapo (tree_spread asks) (snd o) with
  | Some ts => row_spread ts (map size ts) (norm (sum_of size ts)) (repeat one (length ts), fst o)
  | None => None
  end.
Definition trees_spread (sets : list (list nat)) (outs : list (num * list tree)) (ys : list spread) : option (list spread) :=
  match mapo (set_spread ys) sets with Some m => mapo (sum_spread (ys ++ m)) outs | None => None end.
