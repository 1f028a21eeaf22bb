(** Soundness of the slope rule: along a segment whose cells all have slopes of the right sign, the row does not rise. *)
From Coq Require Import Reals List Bool Arith Lra Lia.
From Smile Require Import Num Leaf Reduction LeafBase LeafSound Slope.
Import ListNotations.

Open Scope R_scope.
Module SlopeSound (O : OPS) (S : SPEC O) (C : CHECKER O) (K : SLOPE O C) (M : SOUND O S C).
  Import O S C K.
  Import M.

  (** a segment from q to p in one cell: every coordinate moves its way, pinned ones and categories stay *)
  Definition moves (d : dirn) (a b : R) : Prop := match d with Up => b <= a | Down => a <= b | Pin => a = b end.
  Inductive seg : list slot -> list bool -> list dirn -> list R -> list R -> Prop :=
  | seg_nil : seg [] [] [] [] []
  | seg_plain c s m mv d ds a b x y : (m = false -> d = Pin) ->
      lo2 c = lo1 c -> hi2 c = hi1 c -> dlo c = zero -> dhi c = zero ->
      val (lo1 c) <= a <= val (hi1 c) -> val (lo1 c) <= b <= val (hi1 c) -> moves d a b ->
      (whole c = true -> d = Pin /\ exists z, a = IZR z) -> seg s mv ds x y -> seg (SPlain c :: s) (m :: mv) (d :: ds) (a :: x) (b :: y)
  | seg_group n al1 al2 pairs p s m mv ds x y :
      In (p, p) pairs -> In p al1 -> In p al2 -> (p < n)%nat -> seg s mv ds x y ->
      seg (SGroup n al1 al2 pairs :: s) (m :: mv) (repeat Pin n ++ ds) (onehot n p ++ x) (onehot n p ++ y).

  Lemma seg_incell sl mv ds x y : seg sl mv ds x y -> incell sl x x /\ incell sl y y.
  Proof.
    induction 1 as [|c s m mv d ds a b x y Fl L2 H2 D1 D2 Ha Hb Hm Hw _ [I1 I2]|n al1 al2 pairs p s m mv ds x y Hin H1 H2 Hp _ [I1 I2]].
    - split; constructor.
    - split; constructor; rewrite ?L2, ?H2, ?D1, ?D2, ?val_zero; auto; try lra; intro W; destruct (Hw W) as [-> [z Z]];
        simpl in Hm; try subst b; split; exists z; auto.
    - split; apply in_group; auto.
  Qed.

  (** points between *)
  Fixpoint mix (t : R) (x y : list R) : list R :=
    match x, y with a :: x', b :: y' => t * a + (1 - t) * b :: mix t x' y' | _, _ => [] end.
  Lemma mix_same t x : mix t x x = x.
  Proof. induction x; simpl; [reflexivity|]. rewrite IHx. f_equal. ring. Qed.
  Lemma mix_app t : forall x y x' y', length x = length y -> mix t (x ++ x') (y ++ y') = mix t x y ++ mix t x' y'.
  Proof. induction x; intros [|b y] x' y' L; simpl in *; try discriminate; [reflexivity|]. rewrite IHx; auto. Qed.
  Lemma seg_length sl mv ds x y : seg sl mv ds x y -> length x = length y.
  Proof. induction 1; simpl; rewrite ?app_length; congruence. Qed.
  Lemma dot_mix t : forall x y w, length x = length y -> dot w (mix t x y) = t * dot w x + (1 - t) * dot w y.
  Proof.
    induction x as [|a x IH]; intros [|b y] w L; simpl in *; try discriminate; [rewrite !dot_nil; ring|].
    rewrite !dot_hd, IH by congruence. ring.
  Qed.
  Lemma seg_mix t sl mv ds x y : 0 <= t <= 1 -> seg sl mv ds x y -> seg sl mv ds x (mix t x y) /\ seg sl mv ds (mix t x y) y.
  Proof.
    intro Ht. induction 1 as [|c s m mv d ds a b x y Fl L2 H2 D1 D2 Ha Hb Hm Hw _ [I1 I2]|n al1 al2 pairs p s m mv ds x y Hin H1 H2 Hp I [I1 I2]].
    - split; constructor.
    - assert (E : d = Pin -> t * a + (1 - t) * b = a) by (intros ->; simpl in Hm; subst b; ring).
      assert (Bm : val (lo1 c) <= t * a + (1 - t) * b <= val (hi1 c)) by (split; nra).
      split; simpl; apply seg_plain; auto.
      + destruct d; simpl in *; [nra | nra | symmetry; apply E; reflexivity].
      + destruct d; simpl in *; [nra | nra | subst b; ring].
      + intro W. destruct (Hw W) as [D Z]. split; [exact D|]. rewrite (E D). exact Z.
    - rewrite mix_app, mix_same by reflexivity. split; apply seg_group; auto.
  Qed.

  (** ** Leaves *)
  Lemma choose_sound sl mv ds x y : seg sl mv ds x y -> forall t w q,
    let d := dot (choose t w ds q) x - dot (choose t w ds q) y - (dot q x - dot q y) in
    0 <= d /\ val t * (dot w x - dot w y) <= d.
  Proof.
    induction 1 as [|c s m mv d ds a b x y _ _ _ _ _ _ _ Hm _ _ IH|n al1 al2 pairs p s m mv ds x y _ _ _ Hp _ IH]; intros t w q; simpl.
    - rewrite !dot_nil. lra.
    - specialize (IH t (tl w) (tl q)). cbv zeta in IH. rewrite !(dot_hd w), !(dot_hd q), val_add.
      set (v := match d with Up => _ | Down => _ | Pin => _ end).
      set (X := dot (choose _ _ _ _) x) in *. set (Y := dot (choose _ _ _ _) y) in *.
      assert (V : 0 <= val v * (a - b) /\ val t * val (hd0 w) * (a - b) <= val v * (a - b)).
      { unfold v. destruct d; simpl in Hm.
        - rewrite val_max, val_mul, val_zero.
          pose proof (Rmax_l (val t * val (hd0 w)) 0). pose proof (Rmax_r (val t * val (hd0 w)) 0). nra.
        - rewrite val_min, val_mul, val_zero.
          pose proof (Rmin_l (val t * val (hd0 w)) 0). pose proof (Rmin_r (val t * val (hd0 w)) 0). nra.
        - subst b. nra. }
      nra.
    - assert (L : forall n w q, dot (choose t w (repeat Pin n ++ ds) q) (onehot n p ++ x) - dot (choose t w (repeat Pin n ++ ds) q) (onehot n p ++ y)
                  = dot (choose t (skipn n w) ds (skipn n q)) x - dot (choose t (skipn n w) ds (skipn n q)) y).
      { clear. intros n. revert p. induction n as [|n IH]; intros p w q; [reflexivity|].
        assert (Sk : forall (l : vec), skipn (S n) l = skipn n (tl l)) by (intros [|]; simpl; [rewrite skipn_nil|]; reflexivity).
        rewrite (Sk w), (Sk q). destruct p as [|p]; simpl; rewrite !Rmult_1_r || idtac.
        - clear IH. assert (Z : forall w q, dot (choose t w (repeat Pin n ++ ds) q) (repeat 0 n ++ x) - dot (choose t w (repeat Pin n ++ ds) q) (repeat 0 n ++ y)
              = dot (choose t (skipn n w) ds (skipn n q)) x - dot (choose t (skipn n w) ds (skipn n q)) y).
          { clear Sk. induction n as [|n IH]; intros w0 q0; [reflexivity|].
            assert (Sk : forall (l : vec), skipn (S n) l = skipn n (tl l)) by (intros [|]; simpl; [rewrite skipn_nil|]; reflexivity).
            rewrite (Sk w0), (Sk q0), <- IH. simpl. ring. }
          rewrite <- Z. ring.
        - rewrite <- (IH p (tl w) (tl q)). ring. }
      specialize (IH t (skipn n w) (skipn n q)). cbv zeta in IH.
      specialize (L n w q). rewrite !(dot_onehot _ _ w), !(dot_onehot _ _ q) by assumption. lra.
  Qed.

  Definition fval (us : list unit) (k q : vec) (x : list R) : R := dot q x + relus k us x.
  Definition steady (us : list unit) (x y : list R) : Prop :=
    Forall (fun u => (0 <= sval u x /\ 0 <= sval u y) \/ (sval u x <= 0 /\ sval u y <= 0)) us.
  Lemma relu_pos s : 0 <= s -> relu s = s. Proof. intro. unfold relu. apply Rmax_left. lra. Qed.
  Lemma relu_neg s : s <= 0 -> relu s = 0. Proof. intro. unfold relu. apply Rmax_right. lra. Qed.

  Lemma slopes_sound sl mv ds x y : seg sl mv ds x y -> forall us ph k q v, phases_ok ph us x y -> steady us x y ->
    slopes sl ds us ph k q = Some v -> fval us k q x - fval us k q y <= dot v x - dot v y.
  Proof.
    intros G. destruct (seg_incell _ _ _ _ _ G) as [I1 I2].
    induction us as [|[w c] us IH]; intros ph k q v P St E; simpl in E.
    - injection E as <-. unfold fval. destruct k; simpl; lra.
    - destruct P as [P1 [P2 P3]]. apply Forall_cons_iff in St. destruct St as [St1 St2].
      destruct (span_sound false _ _ _ I1 w) as [a [b [E1 R1]]]. rewrite E1 in E. simpl in R1.
      destruct (span_sound false _ _ _ I2 w) as [a' [b' [E2 R2]]]. rewrite E2 in E1. injection E1 as -> ->. simpl in R2.
      specialize (IH _ _ _ _ P3 St2 E). unfold fval in *. rewrite !relus_hd.
      assert (X : val (hd0 k) * (relu (sval (w, c) x) - relu (sval (w, c) y)) + (dot q x - dot q y)
        <= dot (if orb (leb (add b c) zero) (andb (fst (fst (hdp ph))) (fst (snd (hdp ph)))) then q
              else if orb (leb zero (add a c)) (andb (snd (fst (hdp ph))) (snd (snd (hdp ph)))) then axpy (hd0 k) w q
              else choose (hd0 k) w ds q) x
         - dot (if orb (leb (add b c) zero) (andb (fst (fst (hdp ph))) (fst (snd (hdp ph)))) then q
              else if orb (leb zero (add a c)) (andb (snd (fst (hdp ph))) (snd (snd (hdp ph)))) then axpy (hd0 k) w q
              else choose (hd0 k) w ds q) y).
      { assert (Sx : sval (w, c) x = dot w x + val c) by reflexivity. assert (Sy : sval (w, c) y = dot w y + val c) by reflexivity.
        destruct P1 as [P1a P1b], P2 as [P2a P2b].
        destruct (orb (leb (add b c) zero) _) eqn:B1.
        - assert (N : sval (w, c) x <= 0 /\ sval (w, c) y <= 0).
          { apply orb_true_iff in B1. destruct B1 as [B1|B1].
            - apply leb_spec in B1. rewrite val_add, val_zero in B1. lra.
            - apply andb_true_iff in B1. destruct B1. split; auto. }
          rewrite !relu_neg by tauto. lra.
        - destruct (orb (leb zero (add a c)) _) eqn:B2.
          + assert (N : 0 <= sval (w, c) x /\ 0 <= sval (w, c) y).
            { apply orb_true_iff in B2. destruct B2 as [B2|B2].
              - apply leb_spec in B2. rewrite val_add, val_zero in B2. lra.
              - apply andb_true_iff in B2. destruct B2. split; auto. }
            rewrite !relu_pos by tauto. rewrite !dot_axpy, Sx, Sy. lra.
          + pose proof (choose_sound _ _ _ _ _ G (hd0 k) w q) as [C1 C2]. cbv zeta in C1, C2.
            destruct St1 as [[A1 A2]|[A1 A2]]; [rewrite !relu_pos by assumption | rewrite !relu_neg by assumption; lra].
            rewrite Sx, Sy. lra. }
      lra.
  Qed.
  Lemma signs_sound sl mv ds x y : seg sl mv ds x y -> forall q, signs_ok ds q = true -> dot q x - dot q y <= 0.
  Proof.
    induction 1 as [|c s m mv d ds a b x y _ _ _ _ _ _ _ Hm _ _ IH|n al1 al2 pairs p s m mv ds x y _ _ _ Hp _ IH]; intros q H.
    - rewrite !dot_nil. lra.
    - simpl in H. apply andb_true_iff in H. destruct H as [H1 H2]. specialize (IH _ H2). rewrite !dot_hd.
      destruct d; simpl in Hm.
      + apply leb_spec in H1. rewrite val_zero in H1. nra.
      + apply leb_spec in H1. rewrite val_zero in H1. nra.
      + subst b. lra.
    - rewrite !dot_onehot by assumption.
      assert (L : forall n q, signs_ok (repeat Pin n ++ ds) q = true -> signs_ok ds (skipn n q) = true).
      { clear. induction n as [|n IH]; intros q H; [exact H|]. simpl in H. specialize (IH _ H). destruct q; simpl in *; [rewrite skipn_nil in IH|]; exact IH. }
      specialize (IH _ (L _ _ H)). lra.
  Qed.
  Lemma empty_sound x : forall us ph le ge q b w c, phases_ok ph us x x -> emptyform us ph le ge q b = Some (w, c) ->
    dot q x + val b <= dot w x + val c.
  Proof.
    induction us as [|[v d] us IH]; intros ph le ge q b w c P E; simpl in E.
    - injection E as <- <-. lra.
    - destruct P as [[P1 P2] [_ P3]]. destruct (andb _ _) eqn:B; [|discriminate].
      specialize (IH _ _ _ _ _ _ _ P3 E). rewrite dot_axpy, val_add, val_mul, val_sub in IH.
      rewrite andb_true_iff, !orb_true_iff, !andb_true_iff in B. destruct B as [B1 B2].
      assert (Sx : sval (v, d) x = dot v x + val d) by reflexivity.
      assert (N1 : val (hd0 le) * sval (v, d) x <= 0).
      { destruct B1 as [B1|[B1 B3]]; [apply isz_spec in B1; rewrite B1; lra|].
        apply leb_spec in B3. rewrite val_zero in B3. specialize (P1 B1). nra. }
      assert (N2 : 0 <= val (hd0 ge) * sval (v, d) x).
      { destruct B2 as [B2|[B2 B3]]; [apply isz_spec in B2; rewrite B2; lra|].
        apply leb_spec in B3. rewrite val_zero in B3. specialize (P2 B2). nra. }
      rewrite Sx in N1, N2. nra.
  Qed.

  Lemma both_sound x y (up : bool) : forall us ph j, phases_ok ph us x y ->
    (forall u, nth_error us j = Some u -> if up then 0 <= sval u x /\ 0 <= sval u y else sval u x <= 0 /\ sval u y <= 0) ->
    phases_ok (both up j ph) us x y.
  Proof.
    unfold both. induction us as [|u us IH]; intros ph j P H; [exact I|]. destruct P as [P1 [P2 P3]].
    destruct ph as [|[p r] ph]; [destruct j; simpl in *; auto|]. destruct j as [|j].
    - specialize (H u eq_refl). simpl in *. unfold okp in *. destruct up; simpl; intuition.
    - simpl. simpl in P1, P2, P3. split; [exact P1|]. split; [exact P2|]. apply IH; [exact P3|]. intros v N. apply H. exact N.
  Qed.
  (* both ends of a segment satisfy the phases as points of their own, if the two copies' phases agree *)
  Fixpoint agree (ph : phases) : Prop := match ph with [] => True | (p, r) :: ph' => p = r /\ agree ph' end.
  Lemma agree_both up : forall ph j, agree ph -> agree (both up j ph).
  Proof.
    unfold both. induction ph as [|[p r] ph IH]; intros [|j] A; simpl in *; auto.
    - destruct A as [-> A]. auto.
    - destruct A as [-> A]. split; [reflexivity | apply (IH j A)].
  Qed.
  Lemma agree_point x y : forall us ph, agree ph -> phases_ok ph us x y -> phases_ok ph us x x.
  Proof.
    induction us as [|u us IH]; intros ph A P; [exact I|]. destruct P as [P1 [P2 P3]].
    destruct ph as [|[p r] ph]; simpl in *.
    - repeat split; try discriminate. apply (IH [] I). exact P3.
    - destruct A as [-> A]. auto.
  Qed.

  (* splits of what is pinned: both ends go the same way *)
  Lemma seg_update (f g : slot -> slot) :
    (forall s sl mv ds x y, seg (s :: sl) (false :: mv) ds x y ->
       seg (f s :: sl) (false :: mv) ds x y \/ seg (g s :: sl) (false :: mv) ds x y) ->
    forall sl i mv ds x y, nth i mv true = false -> seg sl mv ds x y ->
    seg (update f i sl) mv ds x y \/ seg (update g i sl) mv ds x y.
  Proof.
    intros H sl. induction sl as [|s sl IH]; intros i mv ds x y Hm G; [left; destruct i; exact G|].
    destruct i as [|i]; simpl.
    - destruct mv as [|m mv]; [inversion G|]. simpl in Hm. subst m. apply H. exact G.
    - inversion G; subst; simpl in Hm;
        match goal with K : seg sl _ _ _ _ |- _ => destruct (IH i _ _ _ _ Hm K); [left | right]; econstructor; eauto end.
  Qed.
  Lemma seg_input th s sl mv ds x y : seg (s :: sl) (false :: mv) ds x y ->
    seg (below Both th s :: sl) (false :: mv) ds x y \/ seg (above Both th s :: sl) (false :: mv) ds x y.
  Proof.
    intro G. inversion G as [|c s' m mv' d ds' a b x' y' Fl L2 H2 D1 D2 Ha Hb Hm Hw G'|]; subst; [|left; exact G].
    specialize (Fl eq_refl). subst d. simpl in Hm. subst b. simpl.
    assert (P : pinned c = true).
    { unfold pinned. rewrite D1, D2. apply andb_true_iff. split; apply leb_spec; lra. }
    rewrite P.
    assert (W : whole c = true -> exists z, a = IZR z) by (intro W; apply (proj2 (Hw W))).
    destruct (threshold (whole c) th a W); [left | right]; apply seg_plain; simpl; auto; try reflexivity;
      try (rewrite H2; reflexivity); try (rewrite L2; reflexivity);
      rewrite ?val_min, ?val_max; split; try lra; solve [apply Rmin_glb; lra | apply Rmax_lub; lra].
  Qed.
  Lemma seg_category p s sl mv ds x y : seg (s :: sl) (false :: mv) ds x y ->
    seg (keep Both (Nat.eqb p) s :: sl) (false :: mv) ds x y \/
    seg (keep Both (fun r => negb (Nat.eqb p r)) s :: sl) (false :: mv) ds x y.
  Proof.
    intro G. inversion G as [| |n al1 al2 pairs q s' m mv' ds' x' y' Hin Hq Hr Hqn G']; subst; [left; exact G|]. simpl.
    assert (K : forall (ok : nat -> bool) v, ok v = true \/ negb (ok v) = true) by (intros; destruct (ok v); auto).
    destruct (forallb _ pairs) eqn:F; [|left; exact G].
    destruct (K (Nat.eqb p) q); [left | right]; apply seg_group; auto; apply filter_In; auto.
  Qed.
  Lemma slopes_some sl x : incell sl x x -> forall ds us ph k q, exists v, slopes sl ds us ph k q = Some v.
  Proof.
    intro I0. intros ds. induction us as [|[w c] us IH]; intros ph k q; simpl; [eexists; reflexivity|].
    destruct (span_sound false _ _ _ I0 w) as [a [b [E _]]]. rewrite E. apply IH.
  Qed.

  Lemma walk_sound ds mv us k q x y : steady us x y -> forall t c, walk ds mv us k q c t = true ->
    seg (slots c) mv ds x y -> agree (phs c) -> phases_ok (phs c) us x y -> fval us k q x <= fval us k q y.
  Proof.
    intro St. induction t as [|le ge|j b IHb a IHa|i th b IHb a IHa|i p b IHb a IHa]; intros c W G A P; simpl in W.
    - destruct (seg_incell _ _ _ _ _ G) as [I1 _]. destruct (span_sound false _ _ _ I1 []) as [l0 [h0 [F0 _]]]. rewrite F0 in W.
      destruct (slopes_some _ _ I1 ds us (phs c) k q) as [v E]. rewrite E in W.
      pose proof (slopes_sound _ _ _ _ _ G _ _ _ _ _ P St E). pose proof (signs_sound _ _ _ _ _ G _ W). lra.
    - exfalso. destruct (seg_incell _ _ _ _ _ G) as [I1 _].
      destruct (emptyform us (phs c) le ge [] zero) as [[w b]|] eqn:E; [|discriminate].
      pose proof (empty_sound x _ _ _ _ _ _ _ _ (agree_point _ _ _ _ A P) E) as B. simpl in B. rewrite val_zero in B.
      destruct (span_sound false _ _ _ I1 w) as [l [h [F R]]]. rewrite F in W. simpl in R.
      apply negb_true_iff in W. apply leb_f in W. rewrite val_add, val_zero in W. lra.
    - apply andb_true_iff in W. destruct W as [W1 W2].
      destruct (nth_error us j) as [u|] eqn:N.
      + assert (D : (0 <= sval u x /\ 0 <= sval u y) \/ (sval u x <= 0 /\ sval u y <= 0)).
        { unfold steady in St. rewrite Forall_forall in St. apply St. apply nth_error_In with j. exact N. }
        destruct D as [D|D].
        * apply (IHa _ W2); simpl; auto using agree_both. apply both_sound; auto. intros v V. congruence || (rewrite N in V; injection V as <-; exact D).
        * apply (IHb _ W1); simpl; auto using agree_both. apply both_sound; auto. intros v V. congruence || (rewrite N in V; injection V as <-; exact D).
      + apply (IHb _ W1); simpl; auto using agree_both. apply both_sound; auto. intros v V. congruence.
    - destruct (nth i mv true) eqn:N; [discriminate|]. apply andb_true_iff in W. destruct W as [W1 W2].
      destruct (seg_update _ _ (seg_input th) (slots c) i mv ds x y N G); [apply (IHb _ W1) | apply (IHa _ W2)]; auto.
    - destruct (nth i mv true) eqn:N; [discriminate|]. apply andb_true_iff in W. destruct W as [W1 W2].
      destruct (seg_update _ _ (seg_category p) (slots c) i mv ds x y N G); [apply (IHb _ W1) | apply (IHa _ W2)]; auto.
  Qed.

  (** cut the segment where a unit changes its sign, unit by unit *)
  Lemma refine sl mv ds (Q : list R -> list R -> Prop) : (forall x m y, Q x m -> Q m y -> Q x y) ->
    forall todo don, (forall x y, seg sl mv ds x y -> steady (todo ++ don) x y -> Q x y) ->
    forall x y, seg sl mv ds x y -> steady don x y -> Q x y.
  Proof.
    intros Tr. induction todo as [|u todo IH]; intros don H x y G St; [apply H; assumption|].
    assert (H' : forall x y, seg sl mv ds x y -> steady (u :: don) x y -> Q x y).
    { apply (IH (u :: don)). intros x' y' G' S'. apply H; [exact G'|]. unfold steady in *. simpl.
      rewrite Forall_app in S'. destruct S' as [S1 S2]. apply Forall_cons_iff in S2. constructor; [tauto|].
      apply Forall_app. tauto. }
    assert (Cases : ((0 <= sval u x /\ 0 <= sval u y) \/ (sval u x <= 0 /\ sval u y <= 0)) \/ sval u x * sval u y < 0).
    { destruct (Rle_lt_dec 0 (sval u x)), (Rle_lt_dec 0 (sval u y)); try (left; lra).
      - destruct (Req_dec (sval u x) 0); [left; lra | right; nra].
      - destruct (Req_dec (sval u y) 0); [left; lra | right; nra]. }
    destruct Cases as [C|C]; [apply H'; [exact G | constructor; assumption]|].
    set (t := - sval u y / (sval u x - sval u y)).
    assert (Nz : sval u x - sval u y <> 0) by nra.
    assert (Et : t * (sval u x - sval u y) = - sval u y) by (unfold t; field; exact Nz).
    assert (Ht : 0 <= t <= 1) by (split; nra).
    pose proof (seg_length _ _ _ _ _ G) as L.
    assert (Sm : forall v, sval v (mix t x y) = t * sval v x + (1 - t) * sval v y).
    { intro v. unfold sval. rewrite dot_mix by exact L. ring. }
    assert (Z : sval u (mix t x y) = 0) by (rewrite Sm; lra).
    destruct (seg_mix t _ _ _ _ _ Ht G) as [G1 G2].
    apply Tr with (mix t x y); apply H'; auto; constructor; try (rewrite Z; lra).
    - unfold steady in St. eapply Forall_impl; [|exact St]. intros v [[A B]|[A B]]; rewrite Sm; [left | right]; split; nra.
    - unfold steady in St. eapply Forall_impl; [|exact St]. intros v [[A B]|[A B]]; rewrite Sm; [left | right]; split; nra.
  Qed.

  Lemma hull_seg sl x y : incell sl x y -> forall ds, sdirs sl = Some ds -> seg (map hull sl) (map mobile sl) ds x y.
  Proof.
    induction 1 as [|c s a b x y Ha Hb Hd Hw _ IH|n al1 al2 pairs p r s x y Hin Hp Hr Hpn Hrn _ IH]; intros ds E; simpl in E.
    - injection E as <-. constructor.
    - destruct (sdirs s) as [ds'|]; [|discriminate]. specialize (IH _ eq_refl).
      assert (B : forall z, val (lo1 c) <= z <= val (hi1 c) \/ val (lo2 c) <= z <= val (hi2 c) ->
                 Rmin (val (lo1 c)) (val (lo2 c)) <= z <= Rmax (val (hi1 c)) (val (hi2 c))).
      { intros z Hz. pose proof (Rmin_l (val (lo1 c)) (val (lo2 c))). pose proof (Rmin_r (val (lo1 c)) (val (lo2 c))).
        pose proof (Rmax_l (val (hi1 c)) (val (hi2 c))). pose proof (Rmax_r (val (hi1 c)) (val (hi2 c))). lra. }
      destruct (pinned c) eqn:P.
      + injection E as <-. pose proof P as P'. unfold pinned in P. apply andb_true_iff in P. destruct P as [P1 P2].
        apply leb_spec in P1, P2. rewrite val_zero in P1, P2. assert (a = b) by lra. subst b.
        simpl. apply seg_plain; simpl; auto; rewrite ?val_min, ?val_max; auto.
        rewrite P', andb_true_r. intro W. split; [reflexivity | apply (proj1 (Hw W))].
      + assert (Hm : mobile (SPlain c) = true) by (simpl; rewrite P; reflexivity).
        assert (Hn : andb (whole c) (pinned c) = false) by (rewrite P; apply andb_false_r).
        destruct (leb (dhi c) zero) eqn:E1; [|destruct (leb zero (dlo c)) eqn:E2; [|discriminate]]; injection E as <-;
          cbn [map]; rewrite Hm; apply seg_plain; simpl; rewrite ?val_min, ?val_max; auto; try discriminate;
          try (rewrite Hn; discriminate); apply leb_t in E1 || apply leb_t in E2; rewrite ?val_zero in *; try lra.
    - destruct (sdirs s) as [ds'|]; [|discriminate]. destruct (forallb _ pairs) eqn:F; [|discriminate]. injection E as <-.
      rewrite forallb_forall in F. specialize (F _ Hin). simpl in F. apply Nat.eqb_eq in F. subst r.
      simpl. apply seg_group; auto.
  Qed.
  Lemma opposite_dot x : forall a b, opposite a b = true -> dot b x = - dot a x.
  Proof.
    assert (Z : forall b x, forallb isz b = true -> dot b x = 0).
    { induction b as [|v b IH]; intros z H; [reflexivity|]. simpl in H. apply andb_true_iff in H. destruct H as [H1 H2].
      apply isz_spec in H1. destruct z; simpl; [reflexivity|]. rewrite H1, (IH _ H2). ring. }
    induction x as [|c x IH]; intros a b H; [rewrite !dot_nil; ring|].
    destruct a as [|v a]; simpl in H.
    - rewrite (Z b _ H). simpl. ring.
    - destruct b as [|w b].
      + rewrite (Z (v :: a) _ H). simpl. ring.
      + apply andb_true_iff in H. destruct H as [H1 H2]. apply isz_spec in H1. rewrite val_add in H1.
        simpl. rewrite (IH _ _ H2). replace (val w) with (- val v) by lra. ring.
  Qed.
  Lemma opposite_relus x : forall us a b, opposite a b = true -> relus b us x = - relus a us x.
  Proof.
    assert (Z : forall us b, forallb isz b = true -> relus b us x = 0).
    { induction us as [|u us IH]; intros b H; destruct b as [|v b]; simpl; try reflexivity.
      simpl in H. apply andb_true_iff in H. destruct H as [H1 H2]. apply isz_spec in H1. rewrite H1, (IH _ H2). ring. }
    induction us as [|u us IH]; intros a b H; [destruct a, b; simpl; ring|].
    destruct a as [|v a]; simpl in H.
    - rewrite (Z _ b H). simpl. ring.
    - destruct b as [|w b].
      + rewrite (Z _ (v :: a) H). simpl. ring.
      + apply andb_true_iff in H. destruct H as [H1 H2]. apply isz_spec in H1. rewrite val_add in H1.
        simpl. rewrite (IH _ _ H2). replace (val w) with (- val v) by lra. ring.
  Qed.
  Lemma agree_root (l : list unit) : agree (map (fun _ => ((false, false), (false, false))) l).
  Proof. induction l; simpl; auto. Qed.

  Theorem slope_sound n sl g t : slope n sl g t = true -> ready n sl = true ->
    forall hx hy x y, incell sl x y ->
    dot (a1 g) (networkv n hx x) + dot (a2 g) (networkv n hy y) + dot (b1 g) x + dot (b2 g) y <= 0.
  Proof.
    intros E D hx hy x y I0. pose proof (row_le_psi n sl g D hx hy x y I0) as B.
    unfold slope in E. set (f := psi_of n g) in *. destruct (sdirs sl) as [ds|] eqn:Ds; [|discriminate].
    rewrite !andb_true_iff in E. destruct E as [[E1 [E2 E3]] W]. apply isz_spec in E1.
    unfold psival in B. rewrite E1, (opposite_dot y _ _ E2), (opposite_relus y _ _ _ E3) in B.
    set (us := map (raw n) (units n)) in *.
    assert (F : fval us (k1 f) (q1 f) x <= fval us (k1 f) (q1 f) y); [|unfold fval in F; lra].
    pose proof (hull_seg _ _ _ I0 _ Ds) as G.
    assert (Tr : forall u v w, fval us (k1 f) (q1 f) u <= fval us (k1 f) (q1 f) v ->
      fval us (k1 f) (q1 f) v <= fval us (k1 f) (q1 f) w -> fval us (k1 f) (q1 f) u <= fval us (k1 f) (q1 f) w)
      by (intros; lra).
    refine (refine (map hull sl) (map mobile sl) ds (fun x y => fval us (k1 f) (q1 f) x <= fval us (k1 f) (q1 f) y)
      Tr us [] _ x y G (Forall_nil _)).
    intros x' y' G' S'. rewrite app_nil_r in S'.
    apply (walk_sound ds (map mobile sl) us (k1 f) (q1 f) x' y' S' t _ W); simpl; auto using agree_root.
    apply root_phases.
  Qed.
End SlopeSound.
Module Type SLOPESOUND (O : OPS) (S : SPEC O) (C : CHECKER O) (K : SLOPE O C) (M : SOUND O S C).
  Include SlopeSound O S C K M.
End SLOPESOUND.
Module DSlopeSound := SlopeSound DOps DSpec DChecker DSlope DSound.
