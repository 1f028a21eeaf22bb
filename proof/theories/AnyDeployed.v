(** The theorem of the leaf rule under f64-aux: every evaluation, in whatever order, ends with outputs that satisfy the row. *)
From Coq Require Import Reals List Bool Arith Lra Lia ZArith.
From Flocq Require Import Core.
From Smile Require Import Num Leaf Reduction LeafSound Float Binary64 Exact Spread SpreadSound Trees Layers LayerSound Premise Network
  NetworkSound HeadSound Deployed Joint JointMargin JointEnds JointHead JointPremise Joined LeafDeployed AnyOrder AnyOrderSound.
Import ListNotations DOps DSpec.
Open Scope R_scope.

(** ** The scaler *)
Lemma near_size c x v M : near c x v -> Rabs x <= M -> 0 <= c -> Rabs v <= M * (1 + u) + eps * c.
Proof.
  intros (d & r & Hd & Hr & ->) H Hc. pose proof u_pos. pose proof (Rabs_pos x). eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult.
  assert (Rabs (1 + d) <= 1 + u) by (eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
  assert (Rabs x * Rabs (1 + d) <= M * (1 + u)) by (apply Rmult_le_compat; try apply Rabs_pos; lra). lra.
Qed.
Lemma any_scale1_sound c v o : scales c = true -> val (c_lo c) <= v <= val (c_hi c) -> any_scale1 c v o ->
  exists p, o = Some p /\ scaler v (val (c_shift c)) (val (c_mult c)) p.
Proof.
  intros S H (o1 & (t & Ht & ->) & A). destruct (scales_spec c S) as (M & F1 & F2). pose proof (far_spec c v H) as Fv.
  pose proof u_pos. pose proof u_small. pose proof eps_pos. pose proof eps_small. pose proof huge_pos.
  pose proof (near_size 1 _ t (val (far c)) Ht Fv ltac:(lra)) as Bt.
  assert (P0 : 0 <= val (far c)) by (eapply Rle_trans; [apply Rabs_pos | exact Fv]).
  rewrite finite_small in A by nra. destruct A as (p & Hp & ->). exists p.
  assert (Sc : scaler v (val (c_shift c)) (val (c_mult c)) p) by (exists t; auto). split; [|exact Sc]. apply finite_small.
  pose proof (scaler_sound _ _ _ _ _ (proj1 M) Fv Sc) as Er. unfold e_u in Er.
  set (m := val (c_mult c)) in *. set (d := val (far c)) in *.
  assert (Q : Rabs (m * (v - val (c_shift c))) <= d * m).
  { rewrite Rabs_mult, (Rabs_pos_eq m) by lra. rewrite Rmult_comm. apply Rmult_le_compat_r; lra. }
  assert (Et : eta * top <= huge).
  { unfold eta, top, huge. rewrite <- bpow_plus. apply bpow_le. lia. }
  assert (E1 : 0 < eta <= 1) by (split; [apply bpow_gt_0|]; unfold eta; change 1 with (bpow radix2 0); apply bpow_le; lia).
  assert (eta * m <= huge) by (apply Rle_trans with (eta * top); [apply Rmult_le_compat_l; lra | exact Et]).
  assert (eta * d <= huge) by (apply Rle_trans with (1 * huge); [apply Rmult_le_compat; lra | lra]).
  assert (((1 + u) ^ 2 - 1) * d * m <= huge).
  { assert (0 <= (1 + u) ^ 2 - 1 <= 1) by (simpl; nra). assert (0 <= d * m) by (apply Rmult_le_pos; lra). nra. }
  replace p with ((p - m * (v - val (c_shift c))) + m * (v - val (c_shift c))) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.
Lemma any_scale_sound c v o : scales c = true -> in_coord c v -> any_scale c v o ->
  exists p, o = Some p /\ Rabs (p - val (c_mult c) * (v - val (c_shift c))) <= val (error c).
Proof.
  intros S (B & _) A. unfold any_scale, error in *. destruct (plain c) eqn:P.
  - exists v. split; [exact A|]. unfold plain in P. apply andb_true_iff in P. destruct P as [P1 P2]. apply isz_spec in P1. apply eqb_spec in P2.
    rewrite val_one in P2. rewrite P1, P2, val_zero. replace (v - 1 * (v - 0)) with 0 by ring. rewrite Rabs_R0. lra.
  - destruct A as (o1 & A1 & A). destruct (any_scale1_sound c (val (c_lo c)) o1 S ltac:(lra) A1) as (l & -> & Sl).
    destruct A as (o2 & A2 & A). destruct (any_scale1_sound c (val (c_hi c)) o2 S ltac:(lra) A2) as (h & -> & Sh).
    destruct A as (o3 & A3 & A). destruct (any_scale1_sound c v o3 S B A3) as (p & -> & Sv). subst o.
    exists (Rmax l (Rmin h p)). split; [reflexivity|]. rewrite val_scale_err. destruct (scales_spec c S) as (M & _).
    apply (cut_sound (val (c_lo c)) (val (c_hi c))); try lra; try (apply far_spec; lra); assumption.
Qed.
Definition close (cs : list coord) (x a : list R) : Prop :=
  length a = length cs /\ forall i c, nth_error cs i = Some c -> exists p, nth_error a i = Some p /\
    Rabs (p - val (c_mult c) * (nth i x 0 - val (c_shift c))) <= val (error c).
Lemma any_scaled_sound cs x o : in_domain cs x -> forallb scales cs = true -> any_scaled cs x o -> exists a, o = Some a /\ close cs x a.
Proof.
  intros D S A. revert D S. induction A as [|c cs v x o r H A IH]; intros D S.
  - exists []. split; [reflexivity|]. split; [reflexivity|]. intros [|i] c E; discriminate.
  - inversion D; subst. simpl in S. apply andb_true_iff in S. destruct S as [S1 S2]. destruct IH as (a & -> & L & C); auto.
    destruct (any_scale_sound c v o S1 H3 H) as (p & -> & E). exists (p :: a). split; [reflexivity|]. split; [simpl; congruence|].
    intros [|i] d Ed; simpl in *; [|apply C; exact Ed]. injection Ed as <-. eauto.
Qed.
Lemma close_items cs ks x y a b : Fit cs ks x y -> close cs x a -> close cs y b ->
  exists X Y, Items cs ks x y (map Pass (seq 0 (length cs))) X Y a b.
Proof.
  intros F [La Ca] [Lb Cb]. pose proof (Fit_length _ _ _ _ F) as Lk.
  assert (Fn : forall i c k, nth_error cs i = Some c -> nth_error ks i = Some k -> fit c k (nth i x 0) (nth i y 0)).
  { clear - F. induction F as [|c k v w cs ks x y H F IH]; intros [|i] c' k' C K; simpl in *; try discriminate; [congruence | apply IH; assumption]. }
  assert (G : forall cols, Forall (fun i => (i < length cs)%nat) cols -> exists X Y e f, mapo (nth_error a) cols = Some e /\
    mapo (nth_error b) cols = Some f /\ Items cs ks x y (map Pass cols) X Y e f).
  { induction 1 as [|i cols Hi _ (X & Y & e & f & E1 & E2 & I)]; [exists [], [], [], []; repeat split; constructor|].
    destruct (nth_error cs i) as [c|] eqn:C; [|apply nth_error_None in C; lia]. destruct (nth_error ks i) as [k|] eqn:K; [|apply nth_error_None in K; lia].
    destruct (Ca i c C) as (p & P & Ep). destruct (Cb i c C) as (q & Q & Eq). simpl. rewrite P, Q, E1, E2.
    do 4 eexists. split; [reflexivity|]. split; [reflexivity|]. constructor; [|exact I]. econstructor; eauto. }
  destruct (G (seq 0 (length cs))) as (X & Y & e & f & E1 & E2 & I); [apply Forall_forall; intros i J; apply in_seq in J; lia|].
  pose proof (mapo_seq a []) as Ma. pose proof (mapo_seq b []) as Mb. simpl in Ma, Mb. rewrite La in Ma. rewrite Lb in Mb.
  rewrite Ma in E1. rewrite Mb in E2. injection E1 as <-. injection E2 as <-. eauto.
Qed.
Lemma any_inputs_sound pin n ks its x y o1 o2 : Fit (coords n) ks x y -> in_domain (coords n) x -> in_domain (coords n) y ->
  forallb scales (coords n) = true -> items_of n ks = Some its -> any_inputs pin n x o1 -> any_inputs pin n y o2 ->
  exists X Y e f, o1 = Some e /\ o2 = Some f /\ Items (coords n) ks x y its X Y e f.
Proof.
  intros F Dx Dy S H A B. unfold any_inputs in A, B. destruct (encoder n) as [bs|] eqn:E.
  - destruct (items_sound n ks x y its pin F H) as (u & w & X & Y & e & f & U & W & Ee & Ef & I). rewrite E in Ee, Ef.
    rewrite U in A. rewrite W in B. simpl in A, B. rewrite Ee in A. rewrite Ef in B. exists X, Y, e, f. auto.
  - destruct (any_scaled_sound _ _ _ Dx S A) as (a & -> & Ca). destruct (any_scaled_sound _ _ _ Dy S B) as (b & -> & Cb).
    unfold items_of in H. rewrite S, E in H. injection H as <-. destruct (close_items _ _ _ _ _ _ F Ca Cb) as (X & Y & I).
    exists X, Y, a, b. auto.
Qed.

(** ** Outputs, and the theorem *)
Lemma any_heads_sound i p z : Near i p z -> forall hs es o,
  mapo (head_err (map e_size i) (map e_err i) (map reach i) (norm (fold_right add zero (map reach i)))) hs = Some es ->
  each (any_output z) hs o ->
  exists out, o = Some out /\ S.near es (map (fun r => S.sval r p) (map fst hs)) out /\ length out = length hs.
Proof.
  intros N. induction hs as [|h hs IH]; intros es o H A; simpl in H; inversion A as [|? ? oh r Ah Ar]; subst.
  - injection H as <-. exists []. repeat split.
  - destruct (head_err _ _ _ _ h) as [e|] eqn:E; [|discriminate]. destruct (mapo _ hs) as [es'|] eqn:M; [|discriminate]. injection H as <-.
    destruct (any_output_sound i p z h e oh N E Ah) as (v & -> & Hn). destruct (head_err_sound i p z h e N E) as (_ & _ & B).
    destruct (IH es' r eq_refl Ar) as (out & -> & Nr & L). exists (v :: out). simpl. rewrite L. split; [reflexivity|].
    split; [|reflexivity]. split; [|exact Nr]. rewrite sval_exact. apply B, Hn.
Qed.
Lemma any_end_sound c v o : scales c = true -> val (c_lo c) <= v <= val (c_hi c) -> any_end c v o ->
  exists p, o = Some p /\ Rabs (p - val (c_mult c) * (v - val (c_shift c))) <= val (error c).
Proof.
  intros S B A. unfold any_end, error in *. destruct (plain c) eqn:P.
  - exists v. split; [exact A|]. unfold plain in P. apply andb_true_iff in P. destruct P as [P1 P2]. apply isz_spec in P1. apply eqb_spec in P2.
    rewrite val_one in P2. rewrite P1, P2, val_zero. replace (v - 1 * (v - 0)) with 0 by ring. rewrite Rabs_R0. lra.
  - destruct (any_scale1_sound c v o S B A) as (p & -> & Sp). exists p. split; [reflexivity|]. rewrite val_scale_err.
    destruct (scales_spec c S) as (M & _). apply (scaler_sound _ _ _ _ _ (proj1 M) (far_spec c v B) Sp).
Qed.
Lemma any_distances_near cs e o : any_distances cs e o -> forall i p x, forallb scales cs = true -> ends_err cs i = Some p -> Near i x e ->
  exists a b, o = Some (a, b) /\ Near (fst p) (lows cs x) a /\ Near (snd p) (highs cs x) b.
Proof.
  induction 1 as [|c cs v e l h a b r Hl Hh Ha Hb _ IH]; intros i p x S H N.
  - inversion N; subst. simpl in H. injection H as <-. exists [], []. repeat split; constructor.
  - inversion N as [|k i0 xx vv xs vs N1 N2 N3]; subst. simpl in H, S. apply andb_true_iff in S. destruct S as [S1 S2].
    unbind H. unbind H. injection H as <-. destruct (IH i0 _ xs S2 E0 N3) as (da & db & -> & D2 & D3).
    destruct (end_err_spec c k _ _ _ E N1 N2) as ((Lh & _ & _) & GL & GH).
    destruct (any_end_sound c (val (c_lo c)) l S1 ltac:(lra) Hl) as (l' & -> & El). destruct (any_end_sound c (val (c_hi c)) h S1 ltac:(lra) Hh) as (h' & -> & Eh).
    destruct (GL l') as [_ GL']; [unfold scaled_end; rewrite val_mul, val_sub; exact El|].
    destruct (GH h') as [_ GH']; [unfold scaled_end; rewrite val_mul, val_sub; exact Eh|].
    destruct Ha as (da0 & Na & ->). destruct Hb as (db0 & Nb & ->).
    destruct (GL' _ Na) as (B1 & L1 & L2). destruct (GH' _ Nb) as (B2 & H1 & H2). pose proof huge_pos.
    rewrite (finite_small da0) by lra. rewrite (finite_small db0) by lra.
    do 2 eexists. split; [reflexivity|]. split; constructor; assumption.
Qed.
Lemma any_second_near n i j x e o : forallb scales (coords n) = true -> second_err n i = Some j -> Near i x e -> any_second_inputs n e o ->
  exists d, o = Some d /\ Near j (second_exact n x) d.
Proof.
  intros S H N A. unfold second_err, any_second_inputs, second_exact in *. destruct (ends n); [|injection H as <-; eauto].
  unbind H. injection H as <-. destruct A as (o1 & A & B). destruct (any_distances_near _ _ _ A _ _ _ S E N) as (a & b & -> & Na & Nb).
  eexists. split; [exact B|]. apply Near_app; assumption.
Qed.
Lemma any_outputs_near n its i es sel e X o : between (kind n) sel -> forallb scales (coords n) = true -> mapo (item_err (coords n)) its = Some i -> margins_of n its = Some es ->
  Near i (us_of n its X) e -> (kind n = Gap -> Forall (fun v => 0 <= v) (exact_part (second n) (second_exact n (us_of n its X)))) ->
  after (any_part (lower n) e) (fun l => after (any_second_inputs n e) (fun d => after (any_part (second n) d) (fun s =>
    after (any_embed (kind n) sel 0 l s) (fun z => each (any_output z) (head n))))) o ->
  exists y, o = Some y /\ outputs_of n its es X y.
Proof.
  intros B Sc Ei H N G (o1 & A1 & A). unfold margins_of in H. rewrite Ei in H. simpl in H. unbind H. unbind H. unbind H. unbind H.
  destruct (any_part_sound _ _ _ _ _ _ N E A1) as (l & -> & L2). destruct A as (o0 & A0 & A).
  destruct (any_second_near n _ _ _ _ _ Sc E0 N A0) as (d & -> & D2). destruct A as (o2 & A2 & A).
  destruct (any_part_sound _ _ _ _ _ _ D2 E1 A2) as (s & -> & S2). destruct A as (o3 & A3 & A).
  destruct (part_err_sound _ _ _ _ _ N E) as [_ Ln]. destruct (part_err_sound _ _ _ _ _ D2 E1) as [_ Sn].
  specialize (Ln l L2). specialize (Sn s S2). destruct (any_embed_sound _ sel B _ _ _ _ _ _ _ _ _ E2 Ln Sn A3) as (z & -> & Z2).
  pose proof (boxed_near _ _ _ _ _ _ _ _ _ E2 Ln Sn G Z2) as Zn. destruct (any_heads_sound _ _ _ Zn _ _ _ H A) as (out & -> & Nr & Lo).
  exists out. split; [reflexivity|]. split; eauto.
Qed.
Theorem prepared_any n p r : prepare n p = Some r ->
  forall pin sel1 sel2 x1 x2 o1 o2, between (kind n) sel1 -> between (kind n) sel2 -> satisfied (coords n) p x1 x2 ->
  one_hot (coords n) x1 -> one_hot (coords n) x2 -> any_network pin sel1 n x1 o1 -> any_network pin sel2 n x2 o2 ->
  exists y1 y2, o1 = Some y1 /\ o2 = Some y2 /\ found r x1 x2 y1 y2.
Proof.
  intros H pin sel1 sel2 x1 x2 o1 o2 B1 B2 P O1 O2 (e1 & I1 & A1) (e2 & I2 & A2).
  destruct (prepared_items n p r x1 x2 H P O1 O2) as (ks & its & i & es & E0 & F & Sc & Ei & Em & K). destruct P as (D1 & D2 & _).
  destruct (any_inputs_sound pin n ks its x1 x2 e1 e2 F D1 D2 Sc E0 I1 I2) as (X & Y & e & f & -> & -> & I).
  destruct (K X Y e f I) as ([N1 N2] & G & Fd).
  assert (G1 := fun q => proj1 (G q)). assert (G2 := fun q => proj2 (G q)).
  destruct (any_outputs_near n its i es sel1 e X o1 B1 Sc Ei Em N1 G1 A1) as (y1 & -> & Y1).
  destruct (any_outputs_near n its i es sel2 f Y o2 B2 Sc Ei Em N2 G2 A2) as (y2 & -> & Y2).
  exists y1, y2. split; [reflexivity|]. split; [reflexivity|]. apply Fd; assumption.
Qed.
(** As [leaf_sound], for every evaluation of either copy under f64-aux. *)
Theorem leaf_sound_any n p r : prepare n p = Some r ->
  forall pin sel1 sel2 x1 x2 o1 o2, between (kind n) sel1 -> between (kind n) sel2 -> satisfied (coords n) p x1 x2 ->
  one_hot (coords n) x1 -> one_hot (coords n) x2 -> any_network pin sel1 n x1 o1 -> any_network pin sel2 n x2 o2 ->
  exists y1 y2, o1 = Some y1 /\ o2 = Some y2 /\
  forall g s b m, bound_of r g s = Some (b, m) ->
    row_left g x1 x2 y1 y2 <= val b + val m /\
    forall room, accepts g room (b, m) = true -> row_left g x1 x2 y1 y2 <= val (g_right g) + Rmin (val room) (2 * val m).
Proof.
  intros H pin sel1 sel2 x1 x2 o1 o2 B1 B2 P O1 O2 A1 A2.
  destruct (prepared_any n p r H pin sel1 sel2 x1 x2 o1 o2 B1 B2 P O1 O2 A1 A2) as (y1 & y2 & Y1 & Y2 & F).
  exists y1, y2. split; [exact Y1|]. split; [exact Y2|]. apply shown_bound. exact F.
Qed.

(** One copy: the premise pins every coordinate, and the second copy is the first. *)
Corollary leaf_sound_one n p r : prepare n p = Some r ->
  forall pin sel x o, between (kind n) sel -> in_domain (coords n) x -> Forall (holds (fun k i => pick k x x i)) (when p) -> one_hot (coords n) x ->
  any_network pin sel n x o ->
  exists y, o = Some y /\ forall g s b m, bound_of r g s = Some (b, m) ->
    row_left g x x y y <= val b + val m /\
    forall room, accepts g room (b, m) = true -> row_left g x x y y <= val (g_right g) + Rmin (val room) (2 * val m).
Proof.
  intros H pin sel x o B D W O A.
  destruct (leaf_sound_any n p r H pin sel sel x x o o B B) as (y1 & y2 & Y1 & Y2 & K); auto; [repeat split; auto|].
  rewrite Y1 in Y2. injection Y2 as <-. exists y1. split; [exact Y1 | exact K].
Qed.
