(** The slope rule (section 4.3): the row holds on the diagonal and every slope has the right sign in every cell. The
    proof is in SlopeSound.v. *)
From Coq Require Import List Bool Arith.
From Smile Require Import Num Leaf Reduction.
Import ListNotations.

Module SlopeChecker (O : OPS) (C : CHECKER O).
  Import O C.
  Inductive dirn := Up | Down | Pin.
  Fixpoint sdirs (sl : list slot) : option (list dirn) :=
    match sl with
    | [] => Some []
    | SPlain c :: s =>
        match sdirs s with
        | None => None
        | Some ds =>
            if pinned c then Some (Pin :: ds)
            else if leb (dhi c) zero then Some (Down :: ds)
            else if leb zero (dlo c) then Some (Up :: ds) else None
        end
    | SGroup n _ _ pairs :: s =>
        match sdirs s with
        | None => None
        | Some ds => if forallb (fun pr => Nat.eqb (fst pr) (snd pr)) pairs then Some (repeat Pin n ++ ds) else None
        end
    end.
  (* one point: the hull of the copies' bounds; moving coordinates are real *)
  Definition hull (s : slot) : slot :=
    match s with
    | SPlain c =>
        let l := minT (lo1 c) (lo2 c) in
        let h := maxT (hi1 c) (hi2 c) in
        SPlain (Plain l h l h zero zero (andb (whole c) (pinned c)))
    | _ => s
    end.
  Definition mobile (s : slot) : bool := match s with SPlain c => negb (pinned c) | _ => false end.

  Inductive stree :=
  | Holds
  | Empty (le ge : vec)                        (* multipliers of -s_j and s_j *)
  | SPhase (j : nat) (below above : stree)
  | SInput (i : nat) (at_ : T) (below above : stree)
  | SCategory (i p : nat) (is_ isnot : stree).

  Fixpoint choose (t : T) (w : vec) (ds : list dirn) (q : vec) : vec :=   (* q + the worse of 0 and t·w, by direction *)
    match ds with
    | [] => q
    | d :: ds' =>
        let v := mul t (hd0 w) in
        let c := match d with Up => maxT v zero | Down => minT v zero | Pin => zero end in
        add c (hd0 q) :: choose t (tl w) ds' (tl q)
    end.
  Fixpoint slopes (sl : list slot) (ds : list dirn) (us : list unit) (ph : phases) (k : vec) (q : vec) : option vec :=
    match us with
    | [] => Some q
    | (w, c) :: us' =>
        match span false sl w with
        | None => None
        | Some (a, b) =>
            let p := fst (hdp ph) in
            let r := snd (hdp ph) in
            let q' :=
              if orb (leb (add b c) zero) (andb (fst p) (fst r)) then q
              else if orb (leb zero (add a c)) (andb (snd p) (snd r)) then axpy (hd0 k) w q
              else choose (hd0 k) w ds q in
            slopes sl ds us' (tl ph) (tl k) q'
        end
    end.
  Fixpoint signs_ok (ds : list dirn) (q : vec) : bool :=
    match ds with
    | [] => true
    | d :: ds' =>
        andb (match d with Up => leb (hd0 q) zero | Down => leb zero (hd0 q) | Pin => true end) (signs_ok ds' (tl q))
    end.
  Fixpoint emptyform (us : list unit) (ph : phases) (le ge : vec) (q : vec) (b : T) : option (vec * T) :=
    match us with
    | [] => Some (q, b)
    | (w, c) :: us' =>
        let p := fst (hdp ph) in
        let x := hd0 le in
        let y := hd0 ge in
        if andb (orb (isz x) (andb (fst p) (leb zero x))) (orb (isz y) (andb (snd p) (leb zero y))) then
          let v := sub y x in
          emptyform us' (tl ph) (tl le) (tl ge) (axpy v w q) (add b (mul v c))
        else None
    end.
  Definition both (above : bool) (j : nat) (ph : phases) : phases := setph true above j (setph false above j ph).
  Fixpoint walk (ds : list dirn) (mv : list bool) (us : list unit) (k q : vec) (c : cell) (t : stree) : bool :=
    match t with
    | Holds =>
        match span false (slots c) [] with
        | None => true                           (* no point at all *)
        | Some _ => match slopes (slots c) ds us (phs c) k q with None => true | Some v => signs_ok ds v end
        end
    | Empty le ge =>
        match emptyform us (phs c) le ge [] zero with
        | None => false
        | Some (w, b) =>
            match span false (slots c) w with None => true | Some (_, h) => negb (leb zero (add h b)) end
        end
    | SPhase j b a =>
        andb (walk ds mv us k q (Cell (slots c) (both false j (phs c))) b)
             (walk ds mv us k q (Cell (slots c) (both true j (phs c))) a)
    | SInput i th b a =>
        if nth i mv true then false
        else andb (walk ds mv us k q (on (below Both th) i c) b) (walk ds mv us k q (on (above Both th) i c) a)
    | SCategory i p b a =>
        if nth i mv true then false
        else andb (walk ds mv us k q (on (keep Both (Nat.eqb p)) i c) b)
               (walk ds mv us k q (on (keep Both (fun r => negb (Nat.eqb p r))) i c) a)
    end.
  Fixpoint opposite (a b : vec) : bool :=
    match a, b with
    | [], _ => forallb isz b
    | _, [] => forallb isz a
    | x :: a', y :: b' => andb (isz (add x y)) (opposite a' b')
    end.
  Definition slope (n : net) (sl : list slot) (g : goal) (t : stree) : bool :=
    let f := psi_of n g in
    match sdirs sl with
    | None => false
    | Some ds =>
        andb (andb (isz (const f)) (andb (opposite (q1 f) (q2 f)) (opposite (k1 f) (k2 f))))
          (walk ds (map mobile sl) (map (raw n) (units n)) (k1 f) (q1 f)
             (Cell (map hull sl) (map (fun _ => ((false, false), (false, false))) (units n))) t)
    end.
End SlopeChecker.
Module Type SLOPE (O : OPS) (C : CHECKER O).
  Include SlopeChecker O C.
End SLOPE.
Module DSlope := SlopeChecker DOps DChecker.
