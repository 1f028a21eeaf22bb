(** The deployed network under the profile f64-aux (section 5.1): its auxiliaries and its head in float64, every sum in any
    order, with or without fused operations, results and operands flushed to zero or not, and otherwise each time. A number that
    overflows ends an evaluation without a result. Definitions only; the proofs are in AnyOrderSound.v. *)
From Coq Require Import Reals List Bool Arith Permutation.
From Flocq Require Import Core.
From Smile Require Import Num Float Binary64 Exact Spread Layers Premise Network Joint.
Import ListNotations DOps.
Open Scope R_scope.

Definition finite (v : R) : option R := if Rlt_bool (Rabs v) top then Some v else None.
(** a rounded result of exact value x, perhaps flushed; [c] counts the operands that may have been flushed *)
Definition rounded (c x : R) (o : option R) : Prop := exists v, near c x v /\ o = finite v.
(** a product or quotient with a power of two: exact, but for underflow *)
Definition rescaled (x : R) (o : option R) : Prop := exists v, Rabs (v - x) <= eps /\ o = finite v.

Definition after {A B} (P : option A -> Prop) (Q : A -> option B -> Prop) (o : option B) : Prop :=
  exists a, P a /\ match a with Some v => Q v o | None => o = None end.
Inductive each {A} (P : A -> option R -> Prop) : list A -> option (list R) -> Prop :=
| each_nil : each P [] (Some [])
| each_cons a l o r : P a o -> each P l r -> each P (a :: l) (match o, r with Some v, Some vs => Some (v :: vs) | _, _ => None end).

(** a sum in the order of a tree of operations *)
Inductive evaluates : Float.tree -> option R -> Prop :=
| ev_prod w y o : rounded (1 + Rabs w + Rabs y) (w * y) o -> evaluates (Prod w y) o
| ev_cst b o : rounded 1 b o -> evaluates (Cst b) o
| ev_add l r p q o : evaluates l p -> evaluates r q ->
    match p, q with Some a, Some b => rounded 1 (a + b) o | _, _ => o = None end -> evaluates (Add l r) o
| ev_fma w y t p o : evaluates t p ->
    match p with Some a => rounded (1 + Rabs w + Rabs y) (w * y + a) o | None => o = None end -> evaluates (Fma w y t) o.
(* Σ w·y + b: its products, its bias, and up to four zeros that a kernel starts from, in any tree *)
Definition any_sum (ws ys : list R) (b : R) (o : option R) : Prop :=
  exists t k, (k <= 4)%nat /\ Permutation (Float.leaves t) (prods ws ys ++ cst b :: repeat (cst 0) k) /\ evaluates t o.

(** scaling; an input with shift 0 and mult 1 is taken as it is (where it is flushed later, a product covers that) *)
Definition any_scale1 (c : coord) (v : R) (o : option R) : Prop :=
  after (rounded 1 (v - val (c_shift c))) (fun t => rounded (1 + Rabs t + Rabs (val (c_mult c))) (t * val (c_mult c))) o.
Definition any_scale (c : coord) (v : R) (o : option R) : Prop :=
  if plain c then o = Some v else
  after (any_scale1 c (val (c_lo c))) (fun l => after (any_scale1 c (val (c_hi c))) (fun h => after (any_scale1 c v)
    (fun p o => o = Some (Rmax l (Rmin h p))))) o.
Inductive any_scaled : list coord -> list R -> option (list R) -> Prop :=
| as_nil : any_scaled [] [] (Some [])
| as_cons c cs v x o r : any_scale c v o -> any_scaled cs x r ->
    any_scaled (c :: cs) (v :: x) (match o, r with Some u, Some us => Some (u :: us) | _, _ => None end).

Definition any_row (y : list R) (r : list num * num) : option R -> Prop := any_sum (map val (fst r)) y (val (snd r)).
Definition any_part (p : part) (e : list R) : option (list R) -> Prop :=
  after (each (any_row e) (hidden p)) (fun s =>
  each (any_row ((if skips p then e else []) ++ map (fun v => Rmax v 0) s)) (sums p)).
Definition any_upper (bx : boxes) (a g : R) (o : option R) : Prop := match bx with Gap => rounded 1 (a + g) o | Paper => o = Some g end.
Inductive any_embed (bx : boxes) (sel : nat -> R -> R -> R) : nat -> list R -> list R -> option (list R) -> Prop :=
| ae_nil k : any_embed bx sel k [] [] (Some [])
| ae_cons k a l g s h r : any_upper bx a g h -> any_embed bx sel (S k) l s r ->
    any_embed bx sel k (a :: l) (g :: s) (match h, r with Some u, Some zs => Some (sel k a u :: zs) | _, _ => None end).
(* a weight g or a bias of the head, divided by the output's scale where the model is loaded; it may be flushed before *)
Definition loaded (c g : R) (o : option R) : Prop := exists g', flushed g g' /\ rescaled (g' / c) o.
Definition any_output (z : list R) (h : list num * num * num) : option R -> Prop :=
  let c := val (snd h) in
  after (each (fun g => loaded c (val g)) (fst (fst h))) (fun ws =>
  after (loaded c (val (snd (fst h)))) (fun b => after (any_sum ws z b) (fun s => rescaled (s * c)))).
(* with an encoder, scaling and encoder are as under fixed-order, and there are subnormal numbers *)
Definition any_inputs (pin : nat -> list R -> list R) (n : net) (x : list R) (o : option (list R)) : Prop :=
  match encoder n with
  | None => any_scaled (coords n) x o
  | Some bs => o = bind (scaled (coords n) x) (encoder_value pin 0 bs)
  end.
(* affine gaps: distances from the scaled ends *)
Definition any_end (c : coord) (v : R) (o : option R) : Prop := if plain c then o = Some v else any_scale1 c v o.
Inductive any_distances : list coord -> list R -> option (list R * list R) -> Prop :=
| ad_nil : any_distances [] [] (Some ([], []))
| ad_cons c cs v e l h a b r : any_end c (val (c_lo c)) l -> any_end c (val (c_hi c)) h ->
    match l with Some t => rounded 3 (v - t) a | None => a = None end ->
    match h with Some t => rounded 3 (t - v) b | None => b = None end -> any_distances cs e r ->
    any_distances (c :: cs) (v :: e) (match a, b, r with Some p, Some q, Some (ps, qs) => Some (p :: ps, q :: qs) | _, _, _ => None end).
Definition any_second_inputs (n : net) (e : list R) (o : option (list R)) : Prop :=
  if ends n then after (any_distances (coords n) e) (fun p o => o = Some (fst p ++ snd p)) o else o = Some e.
Definition any_network (pin : nat -> list R -> list R) (sel : nat -> R -> R -> R) (n : net) (x : list R) : option (list R) -> Prop :=
  after (any_inputs pin n x) (fun e =>
  after (any_part (lower n) e) (fun l => after (any_second_inputs n e) (fun d => after (any_part (second n) d) (fun s =>
  after (any_embed (kind n) sel 0 l s) (fun z => each (any_output z) (head n)))))).
