(** Section 3.1: what is known of one number in both copies, and the layers of an encoder but trees. Programs and what
    the layers compute; the proofs are in SpreadSound.v and LayerSound.v. *)
From Coq Require Import Reals List Bool Arith ZArith.
From Smile Require Import Num Leaf Binary64 Exact.
Import ListNotations DOps.
Open Scope R_scope.

(** range of the values, range of copy 1 − copy 2, certainly not smaller in copy 1, certainly not larger *)
Record spread := Spread { s_lo : num; s_hi : num; s_low : num; s_high : num; s_up : bool; s_down : bool }.

Fixpoint mapo {A B} (f : A -> option B) (l : list A) : option (list B) :=
  match l with
  | [] => Some []
  | a :: l' => match f a, mapo f l' with Some b, Some r => Some (b :: r) | _, _ => None end
  end.

(** after each step: differences are cut by what is certain; numbers that are too large or too long are refused *)
Definition short (a : num) : bool := Z.leb (digits a) (2 ^ 13).
Definition settle (lo hi low high : num) (up down : bool) : option spread :=
  let lo := norm lo in
  let hi := norm hi in
  let low := norm (if up then zero else maxT (minT low zero) (sub lo hi)) in
  let high := norm (if down then zero else minT (maxT high zero) (sub hi lo)) in
  if andb (andb (ltb (negT hugeT) lo) (ltb hi hugeT)) (andb (andb (short lo) (short hi)) (andb (short low) (short high)))
  then Some (Spread lo hi low high up down) else None.

Definition size (s : spread) : num := maxT (negT (s_lo s)) (s_hi s).
Definition same (s : spread) : bool := andb (s_up s) (s_down s).
Fixpoint sum_of (f : spread -> num) (ys : list spread) : num :=
  match ys with [] => zero | y :: ys' => add (f y) (sum_of f ys') end.
Fixpoint max_of (f : spread -> num) (ys : list spread) : num :=
  match ys with [] => zero | y :: ys' => maxT (f y) (max_of f ys') end.

Definition twice (a : num) : num := add a a.

(* clip((y − start)·rate, 0, 1) *)
Definition ramp_value (y : list R) (c : nat * num * num) : option R :=
  match nth_error y (fst (fst c)) with
  | None => None
  | Some v =>
      match fl (v - DSpec.val (snd (fst c))) with
      | None => None
      | Some a => match fl (a * DSpec.val (snd c)) with None => None | Some p => Some (Rmax 0 (Rmin 1 p)) end
      end
  end.
(* ((1 + u)² − 1)·D·rate + 2η(1 + rate + D) *)
Definition scale_err (d rate : num) : num :=
  add (mul (mul (sub (mul (add one uT) (add one uT)) one) d) rate) (mul (twice etaT) (add (add one rate) d)).
Definition ramp_spread (ys : list spread) (c : nat * num * num) : option spread :=
  match nth_error ys (fst (fst c)) with
  | None => None
  | Some s =>
      let start := snd (fst c) in
      let rate := snd c in
      let d := maxT (sub start (s_lo s)) (sub (s_hi s) start) in
      let e := twice (scale_err d rate) in
      if andb (andb (ltb zero rate) (leb rate topT)) (andb (ltb (mul d rate) hugeT) (ltb d hugeT))
      then settle zero one (sub (mul rate (s_low s)) e) (add (mul rate (s_high s)) e) (s_up s) (s_down s) else None
  end.

(* Σ w·y + b *)
Definition row_value (y : list R) (r : list num * num) : option R :=
  fsum (DSpec.val (snd r)) (map DSpec.val (fst r)) y.
Fixpoint ext (f g : spread -> num) (row : list num) (ys : list spread) : num :=
  match row, ys with
  | w :: row', y :: ys' => add (mul w (if leb zero w then f y else g y)) (ext f g row' ys')
  | _, _ => zero
  end.
Fixpoint rising (up down : spread -> bool) (row : list num) (ys : list spread) : bool :=
  match row, ys with
  | w :: row', y :: ys' =>
      andb (orb (isz w) (if leb zero w then up y else down y)) (rising up down row' ys')
  | _, _ => true
  end.
Fixpoint abs_dot (row Y : list num) : num :=
  match row, Y with w :: row', y :: Y' => add (mul (absT w) y) (abs_dot row' Y') | _, _ => zero end.
Definition abs_sum (row : list num) : num := fold_right (fun w s => add (absT w) s) zero row.
Definition linear_err (n : nat) (total weights inputs : num) : num :=
  let g := gammaT n in
  add (mul g total) (mul (mul (add one g) etaT) (add (add (fromZ (3 * Z.of_nat n + 3)) weights) inputs)).
Definition row_spread (ys : list spread) (sizes : list num) (inputs : num) (r : list num * num) : option spread :=
  let (row, b) := r in
  let n := length row in
  let total := norm (add (abs_dot row sizes) (absT b)) in
  let e := norm (linear_err n total (abs_sum row) inputs) in
  if andb (andb (Nat.eqb n (length ys)) (fits_gamma n)) (ltb (add total e) hugeT)
  then settle (sub (add (ext s_lo s_hi row ys) b) e) (add (add (ext s_hi s_lo row ys) b) e)
              (sub (ext s_low s_high row ys) (twice e)) (add (ext s_high s_low row ys) (twice e))
              (rising s_up s_down row ys) (rising s_down s_up row ys)
  else None.
Definition rows_spread (ys : list spread) (rows : list (list num * num)) : option (list spread) :=
  let sizes := map size ys in
  let inputs := norm (sum_of size ys) in
  mapo (row_spread ys sizes inputs) rows.

(* max(y, 0) in the first coordinates, min(y, 0) in the others *)
Fixpoint kinks_value (convex : nat) (y : list R) : list R :=
  match y with
  | [] => []
  | v :: y' => match convex with O => Rmin v 0 :: kinks_value O y' | S c => Rmax v 0 :: kinks_value c y' end
  end.
Definition kink_spread (cut : num -> num -> num) (s : spread) : option spread :=
  settle (cut (s_lo s) zero) (cut (s_hi s) zero) (s_low s) (s_high s) (s_up s) (s_down s).
Fixpoint kinks_spread (convex : nat) (ys : list spread) : option (list spread) :=
  match ys with
  | [] => Some []
  | s :: ys' =>
      match (match convex with O => kink_spread minT s | S _ => kink_spread maxT s end), kinks_spread (pred convex) ys' with
      | Some t, Some r => Some (t :: r)
      | _, _ => None
      end
  end.

(* the places of each block of a side × side image, row by row *)
Definition blocks (side block : nat) : list (list nat) :=
  let corners := map (fun i => (i * block)%nat) (seq 0 (side / block)) in
  flat_map (fun top => map (fun left =>
    flat_map (fun r => map (fun c => ((top + r) * side + left + c)%nat) (seq 0 block)) (seq 0 block)) corners) corners.
(* the mean: the sum, then divided by the number of places *)
Definition mean_value (y : list R) (places : list nat) : option R :=
  match mapo (nth_error y) places with
  | None => None
  | Some part =>
      match fsum 0 (repeat 1 (length part)) part with Some s => fl (s / INR (length part)) | None => None end
  end.
Definition mean_spread (ys : list spread) (places : list nat) : option spread :=
  match mapo (nth_error ys) places with
  | None => None
  | Some part =>
      let n := length part in
      let count := fromZ (Z.of_nat n) in
      let inputs := sum_of size part in
      let total := div inputs count in
      let e := norm (linear_err n total one inputs) in
      if andb (andb (Nat.ltb 0 n) (fits_gamma n)) (ltb (mul (add total e) count) hugeT)
      then settle (sub (div (sum_of s_lo part) count) e) (add (div (sum_of s_hi part) count) e)
                  (sub (div (sum_of s_low part) count) (twice e)) (add (div (sum_of s_high part) count) (twice e))
                  (forallb s_up part) (forallb s_down part)
      else None
  end.

(* max_i |y_i − w_i| + b *)
Fixpoint far_value (row : list num) (y : list R) : option R :=
  match row, y with
  | w :: row', v :: y' =>
      match fl (v - DSpec.val w), far_value row' y' with Some d, Some m => Some (Rmax (Rabs d) m) | _, _ => None end
  | _, _ => Some 0
  end.
Definition distance_value (y : list R) (r : list num * num) : option R :=
  match far_value (fst r) y with Some m => fl (m + DSpec.val (snd r)) | None => None end.
Definition abs_max (row : list num) : num := fold_right (fun w m => maxT (absT w) m) zero row.
Definition distance_spread (ys : list spread) (r : list num * num) : option spread :=
  let (row, b) := r in
  let far := add (abs_max row) (max_of size ys) in
  let most := max_of (fun s => maxT (negT (s_low s)) (s_high s)) ys in
  let e1 := add (mul uT far) etaT in
  let e := norm (add e1 (add (mul uT (add (add far e1) (absT b))) etaT)) in
  let all := forallb same ys in
  if Nat.eqb (length row) (length ys)
  then settle (sub b e) (add (add far b) e) (negT (add most (twice e))) (add most (twice e)) all all
  else None.
