(** Section 3.1: the layers of an encoder by kind, and all layers of a branch. Programs only; the proofs are in
    LayerSound.v. *)
From Coq Require Import Reals List Bool Arith ZArith.
From Smile Require Import Num Leaf Binary64 Exact Spread Trees.
Import ListNotations DOps.
Open Scope R_scope.

Inductive layer :=
| Ramps (cells : list (nat * num * num))            (* source, start, rate *)
| Linear (base : bool) (rows : list (list num * num)) (* weights and bias of every output *)
| Kinks (convex : nat)
| Pool (side block : nat)
| Distance (rows : list (list num * num))
| Trees (sets : list (list nat)) (outputs : list (num * list tree)). (* bias and trees of every output *)

Definition layer_value (l : layer) (y base : list R) : option (list R) :=
  match l with
  | Ramps cells => mapo (ramp_value y) cells
  | Linear b rows => mapo (row_value (if b then y ++ base else y)) rows
  | Kinks c => Some (kinks_value c y)
  | Pool side block => mapo (mean_value y) (blocks side block)
  | Distance rows => mapo (distance_value y) rows
  | Trees sets outs => trees_value sets outs y
  end.
Definition layer_spread (l : layer) (ys base : list spread) : option (list spread) :=
  match l with
  | Ramps cells => mapo (ramp_spread ys) cells
  | Linear b rows => rows_spread (if b then ys ++ base else ys) rows
  | Kinks c => kinks_spread c ys
  | Pool side block => mapo (mean_spread ys) (blocks side block)
  | Distance rows => mapo (distance_spread ys) rows
  | Trees sets outs => trees_spread sets outs ys
  end.
(** the layers of a branch in turn; [base]: the outputs of its first layer, once there are some *)
Fixpoint layers_value (ls : list layer) (y : list R) (base : option (list R)) : option (list R) :=
  match ls with
  | [] => Some y
  | l :: ls' =>
      match layer_value l y (match base with Some b => b | None => [] end) with
      | Some z => layers_value ls' z (match base with Some b => Some b | None => Some z end)
      | None => None
      end
  end.
Fixpoint layers_spread (ls : list layer) (ys : list spread) (base : option (list spread)) : option (list spread) :=
  match ls with
  | [] => Some ys
  | l :: ls' =>
      match layer_spread l ys (match base with Some b => b | None => [] end) with
      | Some zs => layers_spread ls' zs (match base with Some b => Some b | None => Some zs end)
      | None => None
      end
  end.
