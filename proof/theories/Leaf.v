(** The leaf rule (section 4.1): cells, ranges, polygons, lemmas, split trees. Programs only; the proofs are in LeafBase.v
    and LeafSound.v. *)
From Coq Require Import List Bool Arith.
From Smile Require Import Num.
Import ListNotations.

Module Rule (O : OPS).
  Import O.
  Definition vec := list T.

  (** ** Small vector arithmetic; a missing entry is zero *)
  Definition hd0 (w : vec) : T := match w with a :: _ => a | [] => zero end.
  Fixpoint nth0 (p : nat) (w : vec) : T :=
    match w, p with
    | [], _ => zero
    | a :: _, O => a
    | _ :: w', S p' => nth0 p' w'
    end.
  Fixpoint axpy' (t : T) (w q : vec) : vec :=
    match w, q with
    | [], _ => q
    | a :: w', [] => mul t a :: axpy' t w' []
    | a :: w', b :: q' => add (mul t a) b :: axpy' t w' q'
    end.
  Definition axpy (t : T) (w q : vec) : vec := if isz t then q else axpy' t w q.
  Fixpoint times (w v : vec) : vec :=
    match w, v with a :: w', b :: v' => mul a b :: times w' v' | _, _ => [] end.
  Fixpoint dotT (w v : vec) : T :=
    match w, v with a :: w', b :: v' => add (mul a b) (dotT w' v') | _, _ => zero end.
  Definition maxT (a b : T) : T := if leb a b then b else a.
  Definition minT (a b : T) : T := if leb a b then a else b.
  Fixpoint maxl (l : list T) : option T :=
    match l with
    | [] => None
    | a :: l' => match maxl l' with None => Some a | Some b => Some (maxT a b) end
    end.
  Fixpoint minl (l : list T) : option T :=
    match l with
    | [] => None
    | a :: l' => match minl l' with None => Some a | Some b => Some (minT a b) end
    end.
  Definition negT (a : T) : T := sub zero a.
  Definition absT (a : T) : T := if leb zero a then a else negT a.

  (** ** Cells: one slot per feature, both copies together *)
  Record plain := Plain { lo1 : T; hi1 : T; lo2 : T; hi2 : T; dlo : T; dhi : T; whole : bool }.
  Inductive slot :=
  | SPlain (c : plain)
  | SGroup (n : nat) (al1 al2 : list nat) (pairs : list (nat * nat)).

  Definition lo (side : bool) (c : plain) : T := if side then lo2 c else lo1 c.
  Definition hi (side : bool) (c : plain) : T := if side then hi2 c else hi1 c.

  (** range of w·x over one copy's bounds; None: the cell is visibly empty *)
  Fixpoint span (side : bool) (sl : list slot) (w : vec) : option (T * T) :=
    match sl with
    | [] => Some (zero, zero)
    | SPlain c :: s =>
        if leb (lo side c) (hi side c) then
          match span side s (tl w) with
          | None => None
          | Some (l, h) =>
              let a := hd0 w in
              if isz a then Some (l, h)
              else if leb zero a then Some (add l (mul a (lo side c)), add h (mul a (hi side c)))
              else Some (add l (mul a (hi side c)), add h (mul a (lo side c)))
          end
        else None
    | SGroup n al1 al2 pairs :: s =>
        match span side s (skipn n w) with
        | None => None
        | Some (l, h) =>
            let ws := map (fun p => nth0 p w) (if side then al2 else al1) in
            match minl ws, maxl ws with
            | Some a, Some b => Some (add l a, add h b)
            | _, _ => None
            end
        end
    end.

  (** range of w·(x1 - x2) *)
  Fixpoint diff (sl : list slot) (w : vec) : option (T * T) :=
    match sl with
    | [] => Some (zero, zero)
    | SPlain c :: s =>
        let d := maxT (dlo c) (sub (lo1 c) (hi2 c)) in
        let e := minT (dhi c) (sub (hi1 c) (lo2 c)) in
        if leb d e then
          match diff s (tl w) with
          | None => None
          | Some (l, h) =>
              let a := hd0 w in
              if isz a then Some (l, h)
              else if leb zero a then Some (add l (mul a d), add h (mul a e))
              else Some (add l (mul a e), add h (mul a d))
          end
        else None
    | SGroup n al1 al2 pairs :: s =>
        match diff s (skipn n w) with
        | None => None
        | Some (l, h) =>
            let ws := map (fun pr => sub (nth0 (fst pr) w) (nth0 (snd pr) w)) pairs in
            match minl ws, maxl ws with
            | Some a, Some b => Some (add l a, add h b)
            | _, _ => None
            end
        end
    end.

  (** max of q1·x + q2·y over [l1,h1] × [l2,h2] ∩ dl <= x - y <= du: the eight candidates *)
  Definition candx (q1 q2 l2 h2 dl du x : T) : list T :=
    let a := maxT l2 (sub x du) in
    let b := minT h2 (sub x dl) in
    if leb a b then let v := mul q1 x in [add v (mul q2 a); add v (mul q2 b)] else [].
  Definition candy (q1 q2 l1 h1 dl du y : T) : list T :=
    let a := maxT l1 (add y dl) in
    let b := minT h1 (add y du) in
    if leb a b then let v := mul q2 y in [add (mul q1 a) v; add (mul q1 b) v] else [].
  Definition max2 (q1 q2 l1 h1 l2 h2 dl du : T) : option T :=
    if leb l1 h1 then
      if leb l2 h2 then
        maxl (candx q1 q2 l2 h2 dl du l1 ++ candx q1 q2 l2 h2 dl du h1
              ++ candy q1 q2 l1 h1 dl du l2 ++ candy q1 q2 l1 h1 dl du h2)
      else None
    else None.

  (** max of q1·x1 + q2·x2 over the cell *)
  Fixpoint affmax (sl : list slot) (q1 q2 : vec) : option T :=
    match sl with
    | [] => Some zero
    | SPlain c :: s =>
        match max2 (hd0 q1) (hd0 q2) (lo1 c) (hi1 c) (lo2 c) (hi2 c) (dlo c) (dhi c) with
        | None => None
        | Some v => match affmax s (tl q1) (tl q2) with None => None | Some r => Some (add v r) end
        end
    | SGroup n al1 al2 pairs :: s =>
        match maxl (map (fun pr => add (nth0 (fst pr) q1) (nth0 (snd pr) q2)) pairs) with
        | None => None
        | Some v => match affmax s (skipn n q1) (skipn n q2) with None => None | Some r => Some (add v r) end
        end
    end.

  (** ** One hidden unit, both copies: max over the polygon of k1·relu s1 - t1·s1 + k2·relu s2 - t2·s2 *)
  (* where k·relu s - t·s is linear on [a,b]: the slope and the part *)
  Definition pieces (k t a b : T) : list (T * (T * T)) :=
    if leb b zero then [(negT t, (a, b))]
    else if leb zero a then [(sub k t, (a, b))]
    else if isz k then [(negT t, (a, b))]
    else [(negT t, (a, zero)); (sub k t, (zero, b))].
  Definition opts (l : list (option T)) : list T :=
    flat_map (fun o => match o with None => [] | Some v => [v] end) l.
  Definition relu2 (k1 t1 a1 b1 k2 t2 a2 b2 dl du : T) : option T :=
    maxl (opts (flat_map (fun p => map (fun r =>
      max2 (fst p) (fst r) (fst (snd p)) (snd (snd p)) (fst (snd r)) (snd (snd r)) dl du)
      (pieces k2 t2 a2 b2)) (pieces k1 t1 a1 b1))).

  (** ** The leaf rule *)
  Definition unit := (vec * T)%type.
  Definition phase := (bool * bool)%type.                (* <= 0, >= 0 *)
  Definition phases := list (phase * phase).
  Definition hdp (ph : phases) : phase * phase := match ph with p :: _ => p | [] => ((false, false), (false, false)) end.
  Definition cuta (p : phase) (a : T) : T := if snd p then maxT a zero else a.
  Definition cutb (p : phase) (b : T) : T := if fst p then minT b zero else b.

  (* what the hidden units add to the bound, and the affine parts q1, q2 they leave *)
  Fixpoint hidden (sl : list slot) (us : list unit) (ph : phases) (k1 k2 t1 t2 : vec) (b : T) (q1 q2 : vec)
    : option (T * (vec * vec)) :=
    match us with
    | [] => Some (b, (q1, q2))
    | (w, c) :: us' =>
        match span false sl w, span true sl w, diff sl w with
        | Some (a1, b1), Some (a2, b2), Some (dl, du) =>
            let p := fst (hdp ph) in
            let r := snd (hdp ph) in
            let s := hd0 t1 in
            let t := hd0 t2 in
            match relu2 (hd0 k1) s (cuta p (add a1 c)) (cutb p (add b1 c))
                        (hd0 k2) t (cuta r (add a2 c)) (cutb r (add b2 c)) dl du with
            | None => None
            | Some v =>
                hidden sl us' (tl ph) (tl k1) (tl k2) (tl t1) (tl t2)
                       (add b (add v (mul (add s t) c))) (axpy s w q1) (axpy t w q2)
            end
        | _, _, _ => None
        end
    end.

  Record row := Row { r1 : vec; r2 : vec; rhs : T; eqr : bool }.
  Fixpoint extras (rows : list row) (nu : vec) (b : T) (q1 q2 : vec) : option (T * (vec * vec)) :=
    match rows with
    | [] => Some (b, (q1, q2))
    | r :: rows' =>
        let v := hd0 nu in
        if orb (eqr r) (leb zero v) then
          extras rows' (tl nu) (add b (mul v (rhs r))) (axpy (negT v) (r1 r) q1) (axpy (negT v) (r2 r) q2)
        else None
    end.

  Record psi := Psi { const : T; q1 : vec; q2 : vec; k1 : vec; k2 : vec }.
  Inductive res := Rejected | Closed | Bound (b : T).
  Record cell := Cell { slots : list slot; phs : phases }.

  (** ** Lemmas: b1·relu(s_j(x1)) + b2·relu(s_j(x2)) <= g1·x1 + g2·x2 + r on the whole premise *)
  Record lemma := Lemma { lj : nat; lb1 : T; lb2 : T; lg1 : vec; lg2 : vec; lth : list (T * T) }.
  Record known := Known { kj : nat; kb1 : T; kb2 : T; kg1 : vec; kg2 : vec; kr : T }.
  (* the slope of a copy: b > 0: b if on, else 0; b <= 0: what is given, cut to [b, 0] *)
  Definition theta (b given : T) (on_ : bool) : T :=
    if leb b zero then maxT b (minT given zero) else if on_ then b else zero.
  Definition flags (b : T) : list bool := if leb b zero then [false] else [false; true].
  Definition given (l : lemma) (o1 o2 : bool) : T * T :=
    nth ((if o1 then 1 else 0) + (if o2 then 2 else 0)) (lth l) (zero, zero).
  Definition prove1 (sl : list slot) (w : vec) (c : T) (l : lemma) (o1 o2 : bool) : option T :=
    let s := theta (lb1 l) (fst (given l o1 o2)) o1 in
    let t := theta (lb2 l) (snd (given l o1 o2)) o2 in
    match affmax sl (axpy s w (axpy (negT one) (lg1 l) [])) (axpy t w (axpy (negT one) (lg2 l) [])) with
    | None => None
    | Some v => Some (add v (mul (add s t) c))
    end.
  Definition prove (sl : list slot) (us : list unit) (l : lemma) : option known :=
    match nth_error us (lj l) with
    | None => None
    | Some (w, c) =>
        match maxl (opts (flat_map (fun o1 => map (prove1 sl w c l o1) (flags (lb2 l))) (flags (lb1 l)))) with
        | None => None
        | Some r => Some (Known (lj l) (lb1 l) (lb2 l) (lg1 l) (lg2 l) r)
        end
    end.
  Fixpoint proves (sl : list slot) (us : list unit) (ls : list lemma) : option (list known) :=
    match ls with
    | [] => Some []
    | l :: ls' =>
        match prove sl us l, proves sl us ls' with Some k, Some ks => Some (k :: ks) | _, _ => None end
    end.
  Fixpoint addat (j : nat) (v : T) (k : vec) : vec :=
    match j with
    | O => add v (hd0 k) :: tl k
    | S j' => hd0 k :: addat j' v (tl k)
    end.
  Fixpoint added (ks : list known) (ys : vec) (f : psi) : option psi :=
    match ks with
    | [] => Some f
    | k :: ks' =>
        let y := hd0 ys in
        if isz y then added ks' (tl ys) f
        else if leb zero y then
          added ks' (tl ys)
            (Psi (add (const f) (mul y (kr k))) (axpy y (kg1 k) (q1 f)) (axpy y (kg2 k) (q2 f))
                 (addat (kj k) (negT (mul y (kb1 k))) (k1 f)) (addat (kj k) (negT (mul y (kb2 k))) (k2 f)))
        else None
    end.

  Definition leaf (us : list unit) (rows : list row) (ks : list known) (f0 : psi) (c : cell) (t1 t2 nu ys : vec) : res :=
    match added ks ys f0 with
    | None => Rejected
    | Some f =>
    match extras rows nu (const f) (q1 f) (q2 f) with
    | None => Rejected
    | Some (b, (q, r)) =>
        match hidden (slots c) us (phs c) (k1 f) (k2 f) t1 t2 b q r with
        | None => Closed
        | Some (b', (q', r')) =>
            match affmax (slots c) q' r' with None => Closed | Some v => Bound (add b' v) end
        end
    end
    end.

  (** ** Trees *)
  Inductive who := First | Second | Both.
  Inductive tree :=
  | Leaf (t1 t2 nu ys : vec)
  | Phase (side : bool) (j : nat) (below above : tree)
  | Input (w : who) (i : nat) (at_ : T) (below above : tree)
  | Category (w : who) (i p : nat) (is_ isnot : tree).

  Fixpoint setph (side above : bool) (j : nat) (ph : phases) : phases :=
    match j, ph with
    | _, [] => []
    | O, (p, r) :: ph' =>
        let set (x : phase) := if above then (fst x, true) else (true, snd x) in
        if side then (p, set r) :: ph' else (set p, r) :: ph'
    | S j', x :: ph' => x :: setph side above j' ph'
    end.
  Fixpoint update (f : slot -> slot) (i : nat) (sl : list slot) : list slot :=
    match i, sl with
    | _, [] => []
    | O, s :: sl' => f s :: sl'
    | S i', s :: sl' => s :: update f i' sl'
    end.
  Definition pinned (c : plain) : bool := andb (leb zero (dlo c)) (leb (dhi c) zero).
  Definition below (w : who) (th : T) (s : slot) : slot :=
    match s with
    | SPlain c =>
        let t := if whole c then floor th else th in
        let h1 := minT (hi1 c) t in
        let h2 := minT (hi2 c) t in
        match w with
        | First => SPlain (Plain (lo1 c) h1 (lo2 c) (hi2 c) (dlo c) (dhi c) (whole c))
        | Second => SPlain (Plain (lo1 c) (hi1 c) (lo2 c) h2 (dlo c) (dhi c) (whole c))
        | Both => if pinned c then SPlain (Plain (lo1 c) h1 (lo2 c) h2 (dlo c) (dhi c) (whole c)) else s
        end
    | _ => s
    end.
  Definition above (w : who) (th : T) (s : slot) : slot :=
    match s with
    | SPlain c =>
        let t := if whole c then add (floor th) one else th in
        let l1 := maxT (lo1 c) t in
        let l2 := maxT (lo2 c) t in
        match w with
        | First => SPlain (Plain l1 (hi1 c) (lo2 c) (hi2 c) (dlo c) (dhi c) (whole c))
        | Second => SPlain (Plain (lo1 c) (hi1 c) l2 (hi2 c) (dlo c) (dhi c) (whole c))
        | Both => if pinned c then SPlain (Plain l1 (hi1 c) l2 (hi2 c) (dlo c) (dhi c) (whole c)) else s
        end
    | _ => s
    end.
  (* keep the categories for which ok holds, in the named copies; Both only if all pairs are equal ones *)
  Definition keep (w : who) (ok : nat -> bool) (s : slot) : slot :=
    match s with
    | SPlain _ => s
    | SGroup n al1 al2 pairs =>
        match w with
        | First => SGroup n (filter ok al1) al2 (filter (fun pr => ok (fst pr)) pairs)
        | Second => SGroup n al1 (filter ok al2) (filter (fun pr => ok (snd pr)) pairs)
        | Both =>
            if forallb (fun pr => Nat.eqb (fst pr) (snd pr)) pairs
            then SGroup n (filter ok al1) (filter ok al2) (filter (fun pr => ok (fst pr)) pairs)
            else s
        end
    end.
  Definition on (f : slot -> slot) (i : nat) (c : cell) : cell := Cell (update f i (slots c)) (phs c).
  Definition join (a b : res) : res :=
    match a, b with
    | Rejected, _ => Rejected
    | _, Rejected => Rejected
    | Closed, x => x
    | x, Closed => x
    | Bound u, Bound v => Bound (maxT u v)
    end.

  Fixpoint bound (us : list unit) (rows : list row) (ks : list known) (f : psi) (c : cell) (t : tree) : res :=
    match t with
    | Leaf t1 t2 nu ys => leaf us rows ks f c t1 t2 nu ys
    | Phase side j b a =>
        join (bound us rows ks f (Cell (slots c) (setph side false j (phs c))) b)
             (bound us rows ks f (Cell (slots c) (setph side true j (phs c))) a)
    | Input w i th b a => join (bound us rows ks f (on (below w th) i c) b) (bound us rows ks f (on (above w th) i c) a)
    | Category w i p b a =>
        join (bound us rows ks f (on (keep w (Nat.eqb p)) i c) b)
             (bound us rows ks f (on (keep w (fun r => negb (Nat.eqb p r))) i c) a)
    end.
End Rule.
