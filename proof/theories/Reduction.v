(** The network, a row of the conclusion, and its reduction to what the leaf rule bounds (section 2). *)
From Coq Require Import List Bool Arith.
From Smile Require Import Num Leaf.
Import ListNotations.

Module Checker (O : OPS).
  Include Rule O.
  Import O.

  (** ** The network and the claim's row; the reduction *)
  Record piece := Piece { pc : T; ps : vec; po : vec }.            (* const + slope·u + out·relu(s) *)
  Record net := Net {
    mult : vec; shift : vec;                                       (* u = mult·(x - shift) *)
    units : list unit;                                             (* in model units u *)
    lower : list piece; second : list piece;                       (* gap boxes: [lower, lower + second] *)
    head : list unit }.                                            (* per output: weights on the embedding, bias *)
  Record goal := Goal { a1 : vec; a2 : vec; b1 : vec; b2 : vec; limit : T; margins : vec }.

  Definition raw (n : net) (u : unit) : unit :=
    let w := times (fst u) (mult n) in (w, sub (snd u) (dotT w (shift n))).
  Definition fold (n : net) (p : piece) : piece :=
    let w := times (ps p) (mult n) in Piece (sub (pc p) (dotT w (shift n))) w (po p).
  Definition posT (a : T) : T := if leb zero a then a else zero.

  (* v = a·G and a·g_0 *)
  Fixpoint through (a : vec) (h : list unit) : vec * T :=
    match h with
    | [] => ([], zero)
    | (g, g0) :: h' =>
        let (v, c) := through (tl a) h' in (axpy (hd0 a) g v, add (mul (hd0 a) g0) c)
    end.
  (* const + q·x + k·relu(s), after v·lower + v+·second was added *)
  Fixpoint reduce (v : vec) (l s : list piece) (acc : T * (vec * vec)) : T * (vec * vec) :=
    match l, s with
    | pl :: l', pg :: s' =>
        let a := hd0 v in
        let p := posT a in
        let '(c, (q, k)) := reduce (tl v) l' s' acc in
        (add (mul a (pc pl)) (add (mul p (pc pg)) c),
         (axpy a (ps pl) (axpy p (ps pg) q), axpy a (po pl) (axpy p (po pg) k)))
    | _, _ => acc
    end.
  Definition reduced (n : net) (a b : vec) : T * (vec * vec) :=
    let (v, c) := through a (head n) in
    reduce v (map (fold n) (lower n)) (map (fold n) (second n)) (c, (b, [])).
  Definition psi_of (n : net) (g : goal) : psi :=
    let '(c, (q, k)) := reduced n (a1 g) (b1 g) in
    let '(d, (r, l)) := reduced n (a2 g) (b2 g) in
    Psi (add c d) q r k l.

  (** side conditions: shapes, and gaps that are never negative on the root *)
  Fixpoint dims (sl : list slot) : nat :=
    match sl with [] => 0 | SPlain _ :: s => S (dims s) | SGroup n _ _ _ :: s => n + dims s end.
  Definition fits (n : net) (sl : list slot) : bool :=
    andb (Nat.eqb (length (mult n)) (dims sl))
      (andb (Nat.eqb (length (shift n)) (dims sl)) (Nat.eqb (length (lower n)) (length (second n)))).
  Definition nonneg (n : net) (sl : list slot) (side : bool) (p : piece) : bool :=
    let q := fold n p in
    andb (forallb (leb zero) (po p))
      (match span side sl (ps q) with None => true | Some (l, _) => leb zero (add (pc q) l) end).
  Definition groups_ok (s : slot) : bool :=
    match s with SPlain _ => true | SGroup n _ _ pairs => forallb (fun pr => andb (Nat.ltb (fst pr) n) (Nat.ltb (snd pr) n)) pairs end.
  Fixpoint margin (a e : vec) : T :=
    match a, e with x :: a', y :: e' => add (mul (absT x) y) (margin a' e') | _, _ => zero end.

  Definition root (n : net) (sl : list slot) : cell :=
    Cell sl (map (fun _ => ((false, false), (false, false))) (units n)).
  Definition run (n : net) (sl : list slot) (rows : list row) (g : goal) (ls : list lemma) (t : tree) : res :=
    if andb (fits n sl) (forallb groups_ok sl) then
      if andb (forallb (nonneg n sl false) (second n)) (forallb (nonneg n sl true) (second n)) then
        let us := map (raw n) (units n) in
        match proves sl us ls with
        | None => Rejected
        | Some ks => bound us rows ks (psi_of n g) (root n sl) t
        end
      else Rejected
    else Rejected.
  Definition check (n : net) (sl : list slot) (rows : list row) (g : goal) (ls : list lemma) (t : tree) : bool :=
    match run n sl rows g ls t with
    | Bound b => leb (add b (add (margin (a1 g) (margins g)) (margin (a2 g) (margins g)))) (limit g)
    | _ => false
    end.
End Checker.

Module Type CHECKER (O : OPS).
  Include Checker O.
End CHECKER.

Module DChecker := Checker DOps.
