(** The sweep rule (section 4.2): one input, whose interval is cut where the function of a copy bends. Between two cuts it is
    a line, and lines are maximised over box and strip, pair by pair. Where to cut is advice: any cuts are sound, and where a
    unit is not decided between two of them the row is refused. *)
From Coq Require Import Reals List Bool Arith Lra Lia.
From Smile Require Import Num Leaf Reduction LeafSound Paper.
Import ListNotations.

Module SweepChecker (O : OPS) (C : CHECKER O) (K : PAPER O C).
  Import O C K.
  Definition at_end (w e a : T) : T := add (mul w a) e.
  (* k·relu(w·x + e) on [a, b], added to the line c + q·x *)
  Definition bent (k w e a b : T) (line : T * T) : option (T * T) :=
    if isz k then Some line
    else if andb (leb (at_end w e a) zero) (leb (at_end w e b) zero) then Some line
    else if andb (leb zero (at_end w e a)) (leb zero (at_end w e b))
    then Some (add (fst line) (mul k e), add (snd line) (mul k w))
    else None.
  Fixpoint line_of (us : list unit) (k : vec) (a b : T) (line : T * T) : option (T * T) :=
    match us with
    | [] => Some line
    | (w, e) :: us' => match bent (hd0 k) (hd0 w) e a b line with None => None | Some l => line_of us' (tl k) a b l end
    end.
  (* flip units: p·relu(d), d a line itself *)
  Fixpoint flips_of (us : list unit) (ds : list piece) (p : vec) (a b : T) (line : T * T) : option (T * T) :=
    match ds with
    | [] => Some line
    | d :: ds' =>
        if isz (hd0 p) then flips_of us ds' (tl p) a b line else
        match line_of us (po d) a b (pc d, hd0 (ps d)) with
        | None => None
        | Some (e, w) =>
            match bent (hd0 p) w e a b line with None => None | Some l => flips_of us ds' (tl p) a b l end
        end
    end.
  Definition copy_line (us : list unit) (ds : list piece) (k p q : vec) (a b : T) : option (T * T) :=
    match line_of us k a b (zero, hd0 q) with None => None | Some l => flips_of us ds p a b l end.
  (* the lines between the cuts *)
  Fixpoint lines (whole : bool) (f : T -> T -> option (T * T)) (a b : T) (cuts : list T) : option (list ((T * T) * (T * T))) :=
    match cuts with
    | [] => if leb a b then match f a b with None => None | Some l => Some [((a, b), l)] end else Some []
    | t :: cuts' =>
        let t' := if whole then floor t else t in
        let h := minT t' b in
        match lines whole f (maxT a (if whole then add t' one else t')) b cuts' with
        | None => None
        | Some rest => if leb a h then match f a h with None => None | Some l => Some (((a, h), l) :: rest) end else Some rest
        end
    end.
  Definition pair_max (dl du : T) (x y : (T * T) * (T * T)) : option T :=
    let '((l1, h1), (c1, q1)) := x in
    let '((l2, h2), (c2, q2)) := y in
    if andb (leb (sub l1 h2) du) (leb dl (sub h1 l2)) then
      match max2 q1 q2 l1 h1 l2 h2 dl du with None => None | Some v => Some (add (add c1 c2) v) end
    else None.
  (* the largest of all pairs, found without a list of them; a pair whose lines cannot exceed what is known is left out *)
  Definition larger (a b : option T) : option T :=
    match a, b with None, _ => b | _, None => a | Some u, Some v => Some (maxT u v) end.
  Definition top (x : (T * T) * (T * T)) : ((T * T) * (T * T)) * T :=
    let '((l, h), (c, q)) := x in (x, add c (mul q (if leb zero q then h else l))).
  Definition one_pair (dl du : T) (x : ((T * T) * (T * T)) * T) (a : option T) (y : ((T * T) * (T * T)) * T) : option T :=
    if match a with Some v => leb (add (snd x) (snd y)) v | None => false end then a else larger a (pair_max dl du (fst x) (fst y)).
  Definition all_pairs (dl du : T) (xs ys : list (((T * T) * (T * T)) * T)) : option T :=
    fold_left (fun a x => fold_left (one_pair dl du x) ys a) xs None.
  Definition sweep (sl : list slot) (us : list unit) (ds : list piece) (f : psi) (p1 p2 : vec) (cuts1 cuts2 : list T) : res :=
    match sl with
    | [SPlain c] =>
        match lines (whole c) (copy_line us ds (k1 f) p1 (q1 f)) (lo1 c) (hi1 c) cuts1,
              lines (whole c) (copy_line us ds (k2 f) p2 (q2 f)) (lo2 c) (hi2 c) cuts2 with
        | Some l1, Some l2 =>
            match all_pairs (dlo c) (dhi c) (map top l1) (map top l2) with
            | None => Closed
            | Some v => Bound (add (const f) v)
            end
        | _, _ => Rejected
        end
    | _ => Rejected
    end.
  Definition gap_sweep (n : net) (sl : list slot) (g : goal) (cuts1 cuts2 : list T) : res :=
    if andb (fits n sl) (andb (forallb (nonneg n sl false) (second n)) (forallb (nonneg n sl true) (second n)))
    then sweep sl (map (raw n) (units n)) [] (psi_of n g) [] [] cuts1 cuts2 else Rejected.
  Definition paper_sweep (n : net) (sl : list slot) (g : goal) (cuts1 cuts2 : list T) : res :=
    if fits n sl then
      let '(f, (p, o)) := ppsi n g in
      sweep sl (map (raw n) (units n)) (flips (map (fold n) (second n)) (map (fold n) (lower n))) f p o cuts1 cuts2
    else Rejected.
End SweepChecker.
Module Type SWEEP (O : OPS) (C : CHECKER O) (K : PAPER O C).
  Include SweepChecker O C K.
End SWEEP.
Module DSweep := SweepChecker DOps DChecker DPaper.

Open Scope R_scope.
Module SweepSound (O : OPS) (S : SPEC O) (C : CHECKER O) (K : PAPER O C) (W : SWEEP O C K) (M : SOUND O S C) (P : PAPERSOUND O S C K M).
  Import O S C K W M P.
  Ltac num := repeat rewrite ?val_zero, ?val_one, ?val_add, ?val_sub, ?val_mul in *.
  Definition on_line (l : T * T) (x : R) : R := val (fst l) + val (snd l) * x.

  Lemma bent_sound k w e a b l l' x : val a <= x <= val b -> bent k w e a b l = Some l' ->
    on_line l x + val k * relu (val w * x + val e) = on_line l' x.
  Proof.
    intros H B. unfold bent, at_end in B. destruct (isz k) eqn:Z.
    - injection B as <-. apply isz_spec in Z. rewrite Z. ring.
    - destruct (andb (leb (add (mul w a) e) zero) _) eqn:L.
      + injection B as <-. apply andb_true_iff in L. destruct L as [L1 L2]. apply leb_spec in L1. apply leb_spec in L2. num.
        unfold relu. rewrite Rmax_right; [ring|]. destruct (Rle_lt_dec 0 (val w)); nra.
      + clear L. destruct (andb _ _) eqn:L; [|discriminate]. injection B as <-. apply andb_true_iff in L. destruct L as [L1 L2].
        apply leb_spec in L1. apply leb_spec in L2. num. unfold relu, on_line. simpl. num. rewrite Rmax_left; [ring|].
        destruct (Rle_lt_dec 0 (val w)); nra.
  Qed.
  Lemma sval_one w e x : sval (w, e) [x] = val (hd0 w) * x + val e.
  Proof. unfold sval. simpl fst. simpl snd. rewrite dot_hd, dot_nil. ring. Qed.
  Lemma line_of_sound a b x : val a <= x <= val b -> forall us k l l', line_of us k a b l = Some l' ->
    on_line l x + relus k us [x] = on_line l' x.
  Proof.
    intro H. induction us as [|[w e] us IH]; intros k l l' E; simpl in E.
    - injection E as <-. destruct k; simpl; ring.
    - destruct (bent _ _ _ _ _ _) as [l0|] eqn:B; [|discriminate]. rewrite relus_hd, sval_one.
      pose proof (bent_sound _ _ _ _ _ _ _ x H B). specialize (IH _ _ _ E). lra.
  Qed.
  Lemma flips_of_sound us a b x : val a <= x <= val b -> forall ds p l l', flips_of us ds p a b l = Some l' ->
    on_line l x + flipsum p us ds [x] = on_line l' x.
  Proof.
    intro H. induction ds as [|d ds IH]; intros p l l' E; simpl in E |- *.
    - injection E as <-. ring.
    - destruct (isz (hd0 p)) eqn:Z.
      + apply isz_spec in Z. rewrite Z. specialize (IH _ _ _ E). lra.
      + destruct (line_of us (po d) a b _) as [[e w]|] eqn:L; [|discriminate].
        destruct (bent _ _ _ _ _ _) as [l0|] eqn:B; [|discriminate].
        pose proof (bent_sound _ _ _ _ _ _ _ x H B) as Q. pose proof (line_of_sound a b x H _ _ _ _ L) as R0.
        assert (D : dval us [x] d = val w * x + val e).
        { unfold dval. rewrite dot_hd, dot_nil. unfold on_line in R0. simpl in R0. lra. }
        rewrite D. specialize (IH _ _ _ E). lra.
  Qed.
  Definition copy_value (us : list unit) (ds : list piece) (k p q : vec) (x : R) : R :=
    val (hd0 q) * x + relus k us [x] + flipsum p us ds [x].
  Lemma copy_line_sound us ds k p q a b l x : val a <= x <= val b -> copy_line us ds k p q a b = Some l ->
    copy_value us ds k p q x = on_line l x.
  Proof.
    intros H E. unfold copy_line in E. destruct (line_of us k a b _) as [l0|] eqn:L; [|discriminate].
    pose proof (line_of_sound a b x H _ _ _ _ L) as R0. pose proof (flips_of_sound us a b x H _ _ _ _ E) as R1.
    unfold copy_value. unfold on_line in R0 at 1. simpl in R0. num. lra.
  Qed.
  Lemma lines_sound wh f x : (wh = true -> exists z, x = IZR z) -> forall cuts a b ls, lines wh f a b cuts = Some ls ->
    val a <= x <= val b -> exists l h g, In ((l, h), g) ls /\ val l <= x <= val h /\ f l h = Some g.
  Proof.
    intro Wh. induction cuts as [|t cuts IH]; intros a b ls E H; simpl in E.
    - assert (L : leb a b = true) by (apply leb_spec; lra). rewrite L in E. destruct (f a b) as [g|] eqn:F; [|discriminate].
      injection E as <-. exists a, b, g. simpl. auto.
    - destruct (lines wh f _ b cuts) as [rest|] eqn:R0; [|discriminate]. set (t' := if wh then floor t else t) in *.
      destruct (Rle_lt_dec x (val t')) as [B|B].
      + assert (Hx : x <= val (minT t' b)) by (rewrite val_min; apply Rmin_glb; lra).
        assert (L : leb a (minT t' b) = true) by (apply leb_spec; lra). rewrite L in E.
        destruct (f a (minT t' b)) as [g|] eqn:F; [|discriminate]. injection E as <-. exists a, (minT t' b), g. simpl. split; [auto|]. split; [lra | exact F].
      + assert (Q : val (if wh then add t' one else t') <= x).
        { destruct wh; [|lra]. destruct (Wh eq_refl) as [z ->]. num. unfold t' in *. destruct (floor_spec t) as (m & E1 & _). rewrite E1 in *.
          apply lt_IZR in B. rewrite <- plus_IZR. apply IZR_le. lia. }
        destruct (IH _ _ _ R0) as (l & h & g & I0 & X & F).
        { rewrite val_max. split; [apply Rmax_lub; lra | lra]. }
        exists l, h, g. split; [|auto]. destruct (leb a (minT t' b)); [destruct (f a (minT t' b)); [|discriminate]|]; injection E as <-; simpl; auto.
  Qed.
  Definition upto (s : R) (a : option T) : Prop := match a with Some m => s <= val m | None => False end.
  Lemma larger_l s a b : upto s a -> upto s (larger a b).
  Proof. destruct a as [u|]; [|intros []]. destruct b as [v|]; simpl; [|tauto]. rewrite val_max. pose proof (Rmax_l (val u) (val v)). lra. Qed.
  Lemma larger_r s a b : upto s b -> upto s (larger a b).
  Proof. destruct b as [u|]; [|intros []]. destruct a as [v|]; simpl; [|tauto]. rewrite val_max. pose proof (Rmax_r (val v) (val u)). lra. Qed.
  Lemma one_pair_l s dl du x a y : upto s a -> upto s (one_pair dl du x a y).
  Proof. intro H. unfold one_pair. destruct a as [v|]; [|destruct H]. destruct (leb _ v); [exact H | apply larger_l; exact H]. Qed.
  Lemma one_pair_r s dl du x a y : s <= val (snd x) + val (snd y) -> upto s (pair_max dl du (fst x) (fst y)) -> upto s (one_pair dl du x a y).
  Proof.
    intros H Q. unfold one_pair. destruct a as [v|]; [|apply larger_r; exact Q].
    destruct (leb _ v) eqn:L; [|apply larger_r; exact Q]. apply leb_spec in L. num. simpl. lra.
  Qed.
  Lemma row_l s dl du x ys : forall a, upto s a -> upto s (fold_left (one_pair dl du x) ys a).
  Proof. induction ys as [|y ys IH]; intros a H; simpl; [exact H | apply IH, one_pair_l, H]. Qed.
  Lemma row_r s dl du x y ys : In y ys -> s <= val (snd x) + val (snd y) -> upto s (pair_max dl du (fst x) (fst y)) ->
    forall a, upto s (fold_left (one_pair dl du x) ys a).
  Proof.
    intros I0 H Q. induction ys as [|z ys IH]; intro a; [destruct I0|]. simpl. destruct I0 as [->|I0]; [|apply (IH I0)].
    apply row_l, one_pair_r; assumption.
  Qed.
  Lemma all_pairs_sound s dl du x y xs ys : In x xs -> In y ys -> s <= val (snd x) + val (snd y) ->
    upto s (pair_max dl du (fst x) (fst y)) -> upto s (all_pairs dl du xs ys).
  Proof.
    intros I1 I2 H Q. unfold all_pairs. generalize (@None T). induction xs as [|z xs IH]; intro a; [destruct I1|]. simpl.
    destruct I1 as [->|I1]; [|apply (IH I1)]. assert (K : upto s (fold_left (one_pair dl du x) ys a)) by (apply (row_r s dl du x y); assumption).
    revert K. generalize (fold_left (one_pair dl du x) ys a). clear - xs. induction xs as [|z xs IH]; intros a K; simpl; [exact K | apply IH, row_l, K].
  Qed.
  Lemma top_sound l h c q x : val l <= x <= val h -> on_line (c, q) x <= val (snd (top ((l, h), (c, q)))).
  Proof.
    intro H. unfold on_line, top. simpl. num. destruct (leb zero q) eqn:L.
    - apply leb_spec in L. num. nra.
    - assert (val q <= 0). { destruct (Rle_lt_dec (val q) 0) as [K|K]; [exact K|]. exfalso. rewrite (proj2 (leb_spec zero q)) in L; [discriminate|]. num. lra. } nra.
  Qed.
  Theorem sweep_sound sl us ds f p1 p2 cuts1 cuts2 x y : incell sl x y ->
    good (sweep sl us ds f p1 p2 cuts1 cuts2) (psival us f x y + flipsum p1 us ds x + flipsum p2 us ds y).
  Proof.
    intro I0. unfold sweep. destruct sl as [|[c|] [|]]; try exact I.
    inversion I0 as [|? ? a b x' y' Ha Hb Hd Hw I1|]; subst. inversion I1; subst. clear I0 I1.
    destruct (lines _ _ (lo1 c) _ _) as [l1|] eqn:L1; [|exact I]. destruct (lines _ _ (lo2 c) _ _) as [l2|] eqn:L2; [|exact I].
    destruct (lines_sound _ _ a (fun q => proj1 (Hw q)) _ _ _ _ L1 Ha) as (u1 & v1 & g1 & In1 & X1 & F1).
    destruct (lines_sound _ _ b (fun q => proj2 (Hw q)) _ _ _ _ L2 Hb) as (u2 & v2 & g2 & In2 & X2 & F2).
    pose proof (copy_line_sound _ _ _ _ _ _ _ _ a X1 F1) as V1. pose proof (copy_line_sound _ _ _ _ _ _ _ _ b X2 F2) as V2.
    destruct g1 as [c1 w1]. destruct g2 as [c2 w2].
    assert (Pm : exists v, pair_max (dlo c) (dhi c) ((u1, v1), (c1, w1)) ((u2, v2), (c2, w2)) = Some v /\
      on_line (c1, w1) a + on_line (c2, w2) b <= val v).
    { unfold pair_max. assert (T0 : andb (leb (sub u1 v2) (dhi c)) (leb (dlo c) (sub v1 u2)) = true).
      { apply andb_true_iff. split; apply leb_spec; num; lra. }
      rewrite T0. destruct (max2_sound w1 w2 u1 v1 u2 v2 (dlo c) (dhi c) a b X1 X2 Hd) as (v & E & V). rewrite E.
      eexists. split; [reflexivity|]. unfold on_line. simpl. num. lra. }
    destruct Pm as (v & E & V).
    pose proof (all_pairs_sound (on_line (c1, w1) a + on_line (c2, w2) b) (dlo c) (dhi c) (top ((u1, v1), (c1, w1))) (top ((u2, v2), (c2, w2)))
      (map top l1) (map top l2) (in_map top _ _ In1) (in_map top _ _ In2)) as A.
    pose proof (top_sound u1 v1 c1 w1 a X1). pose proof (top_sound u2 v2 c2 w2 b X2).
    assert (A' : upto (on_line (c1, w1) a + on_line (c2, w2) b) (all_pairs (dlo c) (dhi c) (map top l1) (map top l2))).
    { apply A; [lra|]. unfold top. cbn [fst]. rewrite E. exact V. }
    destruct (all_pairs _ _ _ _) as [m|]; [|destruct A']. simpl in A' |- *. num. unfold psival. rewrite !dot_hd, !dot_nil.
    unfold copy_value in V1, V2. lra.
  Qed.
  Theorem gap_sweep_sound n sl g cuts1 cuts2 b : gap_sweep n sl g cuts1 cuts2 = Bound b -> forall hx hy x y, incell sl x y ->
    dot (a1 g) (networkv n hx x) + dot (a2 g) (networkv n hy y) + dot (b1 g) x + dot (b2 g) y <= val b.
  Proof.
    intros E hx hy x y I0. unfold gap_sweep in E. destruct (andb _ _) eqn:F; [|discriminate].
    pose proof (sweep_sound sl (map (raw n) (units n)) [] (psi_of n g) [] [] cuts1 cuts2 x y I0) as B. rewrite E in B. simpl in B.
    pose proof (row_le_psi n sl g F hx hy x y I0). lra.
  Qed.
  Theorem paper_sweep_sound n sl g cuts1 cuts2 b : paper_sweep n sl g cuts1 cuts2 = Bound b -> forall hx hy x y, incell sl x y ->
    dot (a1 g) (pnetwork n hx x) + dot (a2 g) (pnetwork n hy y) + dot (b1 g) x + dot (b2 g) y <= val b.
  Proof.
    intros E hx hy x y I0. unfold paper_sweep in E. destruct (fits n sl) eqn:F; [|discriminate].
    unfold fits in F. rewrite !andb_true_iff, !Nat.eqb_eq in F. destruct F as [Fm [Fs Fl]].
    destruct (incell_length _ _ _ I0) as [Lx Ly]. unfold ppsi in E.
    destruct (preduced n (a1 g) (b1 g)) as [[c [q k]] p] eqn:R1. destruct (preduced n (a2 g) (b2 g)) as [[d [r l]] o] eqn:R2.
    pose proof (preduced_sound n x _ _ _ _ _ _ hx ltac:(congruence) ltac:(congruence) Fl R1) as B1.
    pose proof (preduced_sound n y _ _ _ _ _ _ hy ltac:(congruence) ltac:(congruence) Fl R2) as B2.
    match type of E with sweep ?s ?u ?e ?f ?v ?w ?i ?j = _ => pose proof (sweep_sound s u e f v w i j x y I0) as B end.
    rewrite E in B. simpl in B. unfold psival in B. simpl in B, B1, B2. num. lra.
  Qed.
End SweepSound.
Module DSweepSound := SweepSound DOps DSpec DChecker DPaper DSweep DSound DPaperSound.
