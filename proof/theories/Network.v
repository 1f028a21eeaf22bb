(** The deployed network under the profile fixed-order, from float64 inputs to float64 outputs, and the checker of the
    order rule (sections 1, 3.1, 4.4, 5.1, 5.2). Definitions only; the proofs are in NetworkSound.v and Deployed.v. *)
From Coq Require Import Reals List Bool Arith ZArith.
From Smile Require Import Num Leaf Binary64 Exact Spread Trees Layers Premise.
Import ListNotations DOps.
Open Scope R_scope.
Notation val := DSpec.val.

(** ** The network *)
Record branch := Branch {
  columns : list nat;             (* the inputs that it reads *)
  steps : list layer;
  pinned : option nat;            (* a pinned module at the end, with so many outputs *)
  box : list (num * num) }.       (* ends of its outputs; none if it passes its columns on *)
(* hidden units, whether the last sum reads the inputs too, and its rows over inputs and units *)
Record part := Part { hidden : list (list num * num); skips : bool; sums : list (list num * num) }.
(* the upper end of a box: lower + second, or second itself *)
Inductive boxes := Gap | Paper.
Record net := Net {
  coords : list coord;
  encoder : option (list branch);
  kind : boxes;
  ends : bool;                               (* affine gaps: second reads distances from the ends of the domain *)
  lower : part;
  second : part;
  head : list (list num * num * num) }.      (* weights and bias in output units, output scale *)

Definition bind {A B} (o : option A) (f : A -> option B) : option B := match o with Some a => f a | None => None end.

(* fl(fl(x − shift)·mult), cut to the scaled ends of the domain *)
Definition scale1 (c : coord) (v : R) : option R :=
  bind (fl (v - val (c_shift c))) (fun a => fl (a * val (c_mult c))).
Definition scale_value (c : coord) (v : R) : option R :=
  bind (scale1 c (val (c_lo c))) (fun l => bind (scale1 c (val (c_hi c))) (fun h =>
  bind (scale1 c v) (fun p => Some (Rmax l (Rmin h p))))).
Fixpoint scaled (cs : list coord) (x : list R) : option (list R) :=
  match cs, x with
  | c :: cs', v :: x' => bind (scale_value c v) (fun a => bind (scaled cs' x') (fun r => Some (a :: r)))
  | [], [] => Some []
  | _, _ => None
  end.

Fixpoint cut_value (bx : list (num * num)) (y : list R) : option (list R) :=
  match bx, y with
  | (l, h) :: bx', v :: y' => bind (cut_value bx' y') (fun r => Some (Rmax (val l) (Rmin (val h) v) :: r))
  | [], [] => Some []
  | _, _ => None
  end.
(* [pin]: what the pinned module does: any function. An output that is no number is cut to the box as some number is *)
Definition passes (b : branch) : bool := match steps b, pinned b with [], None => true | _, _ => false end.
Definition branch_value (pin : list R -> list R) (b : branch) (u : list R) : option (list R) :=
  bind (mapo (nth_error u) (columns b)) (fun y =>
  if passes b then Some y else
  bind (layers_value (steps b) y None) (fun z =>
  cut_value (box b) (match pinned b with None => z | Some j => map (fun i => nth i (pin z) 0) (seq 0 j) end))).
Fixpoint encoder_value (pin : nat -> list R -> list R) (k : nat) (bs : list branch) (u : list R) : option (list R) :=
  match bs with
  | [] => Some []
  | b :: bs' => bind (branch_value (pin k) b u) (fun y => bind (encoder_value pin (S k) bs' u) (fun r => Some (y ++ r)))
  end.

Definition part_value (p : part) (e : list R) : option (list R) :=
  bind (mapo (row_value e) (hidden p)) (fun s =>
  mapo (row_value ((if skips p then e else []) ++ map (fun v => Rmax v 0) s)) (sums p)).
(* û − û_lo and û_hi − û, û_lo and û_hi the scaled ends *)
Fixpoint distances (cs : list coord) (e : list R) : option (list R * list R) :=
  match cs, e with
  | c :: cs', v :: e' =>
      bind (scale1 c (val (c_lo c))) (fun l => bind (scale1 c (val (c_hi c))) (fun h =>
      bind (fl (v - l)) (fun a => bind (fl (h - v)) (fun b => bind (distances cs' e') (fun r => Some (a :: fst r, b :: snd r))))))
  | [], [] => Some ([], [])
  | _, _ => None
  end.
Definition second_inputs (n : net) (e : list R) : option (list R) :=
  if ends n then bind (distances (coords n) e) (fun p => Some (fst p ++ snd p)) else Some e.
(* [sel i l u]: what select returns for the backbone's i-th number between the ends l and u *)
Definition upper_value (bx : boxes) (a g : R) : option R := match bx with Gap => fl (a + g) | Paper => Some g end.
Fixpoint embed_value (bx : boxes) (sel : nat -> R -> R -> R) (k : nat) (l s : list R) : option (list R) :=
  match l, s with
  | a :: l', g :: s' => bind (upper_value bx a g) (fun up => bind (embed_value bx sel (S k) l' s') (fun r => Some (sel k a up :: r)))
  | [], [] => Some []
  | _, _ => None
  end.
(* the head is divided by its scale when it is loaded, and the sum multiplied by it *)
Definition output_value (z : list R) (h : list num * num * num) : option R :=
  let c := val (snd h) in
  bind (mapo (fun g => fl (val g / c)) (fst (fst h))) (fun ws =>
  bind (fl (val (snd (fst h)) / c)) (fun b => bind (fsum b ws z) (fun s => fl (s * c)))).
Definition network (pin : nat -> list R -> list R) (sel : nat -> R -> R -> R) (n : net) (x : list R) : option (list R) :=
  bind (scaled (coords n) x) (fun u =>
  bind (match encoder n with None => Some u | Some bs => encoder_value pin 0 bs u end) (fun e =>
  bind (part_value (lower n) e) (fun l => bind (second_inputs n e) (fun d => bind (part_value (second n) d) (fun s =>
  bind (embed_value (kind n) sel 0 l s) (fun z => mapo (output_value z) (head n))))))).

(** ** Its inputs: sizes, errors, and how they move *)
Definition far (c : coord) : num := maxT (sub (c_shift c) (c_lo c)) (sub (c_hi c) (c_shift c)).
Definition plain (c : coord) : bool := andb (isz (c_shift c)) (eqb (c_mult c) one).
Definition error (c : coord) : num := if plain c then zero else scale_err (far c) (c_mult c).
Definition scales (c : coord) : bool :=
  andb (andb (ltb zero (c_mult c)) (leb (c_mult c) topT)) (andb (ltb (far c) hugeT) (ltb (mul (far c) (c_mult c)) hugeT)).
Definition input_size (c : coord) : num := add (mul (far c) (c_mult c)) (error c).

(* certainly not smaller in copy 1, certainly not larger *)
Definition dir := (bool * bool)%type.
Definition move (pinned group : bool) (low high : num) : option dir :=
  if pinned then Some (true, true)
  else if group then None
  else if leb high zero then Some (false, true)
  else if leb zero low then Some (true, false) else None.

Definition raw_spread (c : coord) (k : known) : option spread :=
  let low := leb zero (k_low k) in
  let high := leb (k_high k) zero in
  let up := orb (k_pinned k) (andb (negb (c_group c)) low) in
  let down := orb (k_pinned k) (andb (negb (c_group c)) high) in
  let e := error c in
  let at_ v := mul (c_mult c) (sub v (c_shift c)) in
  settle (sub (at_ (minT (k_l1 k) (k_l2 k))) e) (add (at_ (maxT (k_h1 k) (k_h2 k))) e)
    (sub (mul (c_mult c) (k_low k)) (twice e)) (add (mul (c_mult c) (k_high k)) (twice e)) up down.

(* a coordinate of e: how it moves ([None]: both ways), and its size *)
Definition moving := (option dir * num)%type.
Definition pass_moving (c : coord) (k : known) : moving :=
  (move (k_pinned k) (c_group c) (k_low k) (k_high k), input_size c).
Definition cut_moving (b : num * num) (s : spread) : option moving :=
  let (l, h) := b in
  if andb (leb l h) (andb (ltb (negT hugeT) l) (ltb h hugeT)) then
    match settle (maxT l (minT (s_lo s) h)) (maxT l (minT (s_hi s) h)) (s_low s) (s_high s) (s_up s) (s_down s) with
    | Some t => Some (move (same t) false (s_low t) (s_high t), maxT (negT l) h)
    | None => None
    end
  else None.
Definition pinned_moving (all : bool) (b : num * num) : option moving :=
  let (l, h) := b in
  if andb (leb l h) (andb (ltb (negT hugeT) l) (ltb h hugeT)) then
    match settle l h (sub l h) (sub h l) all all with
    | Some t => Some (move (same t) false (s_low t) (s_high t), maxT (negT l) h)
    | None => None
    end
  else None.
Fixpoint map2o {A B C} (f : A -> B -> option C) (l : list A) (m : list B) : option (list C) :=
  match l, m with
  | a :: l', b :: m' => bind (f a b) (fun c => bind (map2o f l' m') (fun r => Some (c :: r)))
  | [], [] => Some []
  | _, _ => None
  end.
Definition branch_moving (cs : list coord) (ks : list known) (b : branch) : option (list moving) :=
  bind (mapo (fun i => bind (nth_error cs i) (fun c => bind (nth_error ks i) (fun k => raw_spread c k))) (columns b)) (fun ys =>
  if passes b then mapo (fun i => bind (nth_error cs i) (fun c => bind (nth_error ks i) (fun k => Some (pass_moving c k)))) (columns b)
  else bind (layers_spread (steps b) ys None) (fun zs =>
  match pinned b with
  | None => map2o cut_moving (box b) zs
  | Some j => if Nat.eqb j (length (box b)) then mapo (pinned_moving (forallb Spread.same zs)) (box b) else None
  end)).
Fixpoint encoder_moving (cs : list coord) (ks : list known) (bs : list branch) : option (list moving) :=
  match bs with
  | [] => Some []
  | b :: bs' => bind (branch_moving cs ks b) (fun y => bind (encoder_moving cs ks bs') (fun r => Some (y ++ r)))
  end.
Fixpoint pass_all (cs : list coord) (ks : list known) : list moving :=
  match cs, ks with c :: cs', k :: ks' => pass_moving c k :: pass_all cs' ks' | _, _ => [] end.
Definition inputs_moving (n : net) (ks : list known) : option (list moving) :=
  if forallb scales (coords n) then
    match encoder n with None => Some (pass_all (coords n) ks) | Some bs => encoder_moving (coords n) ks bs end
  else None.

(** ** No sum overflows: sizes of computed values *)
Definition row_size (Y : list num) (inputs : num) (r : list num * num) : option num :=
  let (row, b) := r in
  let n := length row in
  let t := norm (add (abs_dot row Y) (absT b)) in
  let e := linear_err n t (abs_sum row) inputs in
  if andb (andb (Nat.eqb n (length Y)) (fits_gamma n)) (ltb (add t e) hugeT) then Some (norm (add t e)) else None.
Definition rows_size (Y : list num) (rows : list (list num * num)) : option (list num) :=
  let inputs := norm (fold_right add zero Y) in mapo (row_size Y inputs) rows.
Definition part_size (p : part) (Y : list num) : option (list num) :=
  bind (rows_size Y (hidden p)) (fun T => rows_size ((if skips p then Y else []) ++ T) (sums p)).
Definition upper_size (l s : num) : option num :=
  let v := norm (add (mul (add l s) (add one uT)) etaT) in if ltb v hugeT then Some v else None.
(* of the head: total + E_o in output units, and divided by the scale *)
Definition head_fits (Z : list num) (inputs : num) (h : list num * num * num) : bool :=
  let '(row, b, c) := h in
  let n := length row in
  let g := gammaT n in
  let t := norm (add (abs_dot row Z) (absT b)) in
  let e := add (mul g t) (mul (mul (add one g) (mul etaT (maxT one c)))
             (add (add (fromZ (3 * Z.of_nat n + 3)) (abs_sum row)) inputs)) in
  let small w := ltb (absT w) (mul hugeT c) in
  andb (andb (ltb zero c) (andb (Nat.eqb n (length Z)) (fits_gamma n)))
    (andb (andb (forallb small row) (small b)) (andb (ltb (add t e) hugeT) (ltb (add t e) (mul hugeT c)))).

(** ** The order rule *)
Fixpoint combine (up : bool) (row : list num) (ds : list dir) : bool :=
  match row, ds with
  | w :: row', d :: ds' =>
      andb (orb (isz w) (if Bool.eqb (leb zero w) up then fst d else snd d)) (combine up row' ds')
  | _, _ => true
  end.
Definition sum_dir (ds : list dir) (row : list num) : dir := (combine true row ds, combine false row ds).
Definition zero_row (r : list num * num) : bool := andb (isz (snd r)) (forallb isz (fst r)).

(* how the outputs move; [None]: the rule does not apply, or something may overflow *)
Definition outputs_dir (n : net) (ms : list moving) : option (list dir) :=
  bind (match kind n, ends n with Gap, false => mapo fst ms | _, _ => None end) (fun ds =>
  let Y := map snd ms in
  bind (part_size (lower n) Y) (fun L =>
  bind (part_size (second n) Y) (fun M =>
  bind (map2o upper_size L M) (fun Z =>
  let inputs := norm (fold_right add zero Z) in
  if andb (andb (forallb zero_row (sums (second n))) (forallb (fun r => floatb (snd r)) (sums (lower n))))
          (forallb (head_fits Z inputs) (head n)) then
    let us := map (fun r => sum_dir ds (fst r)) (hidden (lower n)) in
    let ls := map (fun r => sum_dir ((if skips (lower n) then ds else []) ++ us) (fst r)) (sums (lower n)) in
    Some (map (fun h => sum_dir ls (fst (fst h))) (head n))
  else None)))).

(* a row of the conclusion: terms over outputs, terms over inputs *)
Record goal := Goal { outs : list term; ins : list term; g_equal : bool; g_right : num }.
Fixpoint coef (k : bool) (i : nat) (ts : list term) : num :=
  match ts with
  | [] => zero
  | (c, l, j) :: ts' => if andb (Bool.eqb k l) (Nat.eqb i j) then add c (coef k i ts') else coef k i ts'
  end.
Definition below (n : nat) (ts : list term) : bool := forallb (fun t => Nat.ltb (snd t) n) ts.
Fixpoint outs_le (sign : bool) (ts : list term) (i : nat) (ds : list dir) : bool :=
  match ds with
  | [] => true
  | d :: ds' =>
      let a := coef false i ts in
      andb (isz (add a (coef true i ts)))
        (andb (andb (orb (leb a zero) (if sign then snd d else fst d)) (orb (leb zero a) (if sign then fst d else snd d)))
              (outs_le sign ts (S i) ds'))
  end.
Definition no_inputs (m : nat) (ts : list term) : bool :=
  andb (below m ts) (forallb (fun t => isz (coef (snd (fst t)) (snd t) ts)) ts).
Definition order_row (m : nat) (ds : list dir) (g : goal) : bool :=
  andb (andb (below (length ds) (outs g)) (no_inputs m (ins g)))
    (andb (andb (leb zero (g_right g)) (outs_le true (outs g) 0 ds))
          (orb (negb (g_equal g)) (andb (leb (g_right g) zero) (outs_le false (outs g) 0 ds)))).
(* for every row of the conclusion whether the order rule proves it *)
Definition check_order (n : net) (p : premise) (gs : list goal) : option (list bool) :=
  bind (ground (coords n) p) (fun ks => bind (inputs_moving n ks) (fun ms => bind (outputs_dir n ms) (fun ds =>
  Some (map (order_row (length (coords n)) ds) gs)))).
