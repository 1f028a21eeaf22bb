(** The theorem of the leaf rule: its bound and margin hold for the float64 outputs of the deployed network. *)
From Coq Require Import Reals List Bool Arith Lra Lia ZArith.
From Flocq Require Import Core.
From Smile Require Import Num Leaf Reduction LeafSound Paper Sweep Slope SlopeSound Signs Float Binary64 Exact Spread SpreadSound Trees Layers LayerSound Premise Network
  NetworkSound HeadSound Deployed Joint JointMargin JointEnds JointHead JointPremise Joined.
Import ListNotations DOps DSpec.
Open Scope R_scope.

(** the real function of e: what the outputs are at some point of the boxes *)
Definition real_value (r : ready) : list R -> list R -> list R :=
  match r_kind r with Gap => S.networkv (r_net r) | Paper => P.pnetwork (r_net r) end.
(** Exact e in both copies, and what is known of them and of the computed outputs *)
Inductive found (r : ready) (x1 x2 y1 y2 : list R) : Prop :=
| Found X Y hx hy :
  S.incell (r_slots r) X Y -> Forall (S.row_holds X Y) (r_rows r) ->
  S.near (r_errors r) (real_value r hx X) y1 -> S.near (r_errors r) (real_value r hy Y) y2 ->
  length y1 = length (D.head (r_net r)) /\ length y2 = length (D.head (r_net r)) ->
  (forall ts, once (r_sources r) ts = true ->
    S.dot (over false (r_sources r) ts) X + S.dot (over true (r_sources r) ts) Y = left (fun k i => pick k x1 x2 i) ts) ->
  Forall (fun e => 0 <= val e) (r_errors r) -> found r x1 x2 y1 y2.

Lemma ends_dot cs : forall u w v, length u = length cs -> length w = length cs -> length v = length cs ->
  dotR (map val (w ++ v)) (lows cs u ++ highs cs u) =
  dotR (map val w) u - val (D.dotT w (map (scaled_end c_lo) cs)) + val (D.dotT v (map (scaled_end c_hi) cs)) - dotR (map val v) u.
Proof.
  intros u w v L1 L2 L3. rewrite map_app.
  assert (Ll : length (map val w) = length (lows cs u)).
  { rewrite map_length, L2. clear - L1. revert u L1. induction cs; intros [|? u] L; simpl in *; auto; try discriminate. }
  rewrite dotR_app by exact Ll.
  assert (A : dotR (map val w) (lows cs u) = dotR (map val w) u - val (D.dotT w (map (scaled_end c_lo) cs))).
  { clear - L1 L2. revert u w L1 L2. induction cs as [|c cs IH]; intros [|x u] [|a w] L1 L2; try discriminate; cbn [map D.dotT dotR lows].
    - rewrite val_zero. ring.
    - rewrite IH by (simpl in *; congruence). rewrite val_add, val_mul. ring. }
  assert (B : dotR (map val v) (highs cs u) = val (D.dotT v (map (scaled_end c_hi) cs)) - dotR (map val v) u).
  { clear - L1 L3. revert u v L1 L3. induction cs as [|c cs IH]; intros [|x u] [|a w] L1 L2; try discriminate; cbn [map D.dotT dotR highs].
    - rewrite val_zero. ring.
    - rewrite IH by (simpl in *; congruence). rewrite val_add, val_mul. ring. }
  rewrite A, B. ring.
Qed.
Lemma ends_value n its X q : length (us_of n its X) = length (coords n) -> length (fst q) = (length (coords n) + length (coords n))%nat ->
  S.pval (real_net n its) X (ends_piece (coords n) q) =
  exact_row (lows (coords n) (us_of n its X) ++ highs (coords n) (us_of n its X)) q.
Proof.
  intros L H. unfold S.pval, ends_piece, exact_row. cbn [D.pc D.ps D.po]. fold (us_of n its X). set (U := us_of n its X) in *.
  rewrite <- (firstn_skipn (length (coords n)) (fst q)) at 5. rewrite ends_dot; [|exact L| |].
  - rewrite S.dot_axpy, val_negT, val_one, val_add, val_sub, !dot_dotR.
    assert (Z : S.relus [] (D.units (real_net n its)) U = 0) by (destruct (D.units (real_net n its)); reflexivity).
    rewrite Z. ring.
  - rewrite firstn_length_le; lia.
  - rewrite skipn_length. lia.
Qed.
Lemma parts_exact n its X : length (us_of n its X) = length its -> shapes n (length its) = true ->
  map (S.pval (real_net n its) X) (D.lower (real_net n its)) = exact_part (lower n) (us_of n its X) /\
  map (S.pval (real_net n its) X) (D.second (real_net n its)) = exact_part (second n) (second_exact n (us_of n its X)).
Proof.
  intros L H. unfold shapes in H. rewrite andb_true_iff in H. destruct H as [H1 H2]. rewrite forallb_forall in H1.
  unfold exact_part, second_exact. cbn [D.lower D.second real_net]. destruct (ends n) eqn:Ne.
  { rewrite !andb_true_iff in H2. destruct H2 as [[H2 H3] [H4 H5]]. apply Nat.eqb_eq in H2. rewrite forallb_forall in H3.
    destruct (hidden (second n)) as [|] eqn:Hh; [|discriminate]. rewrite H4. cbn [map]. rewrite app_nil_r.
    split; rewrite map_map; apply map_ext_in; intros q Q.
    - specialize (H1 q Q). apply Nat.eqb_eq in H1.
      exact (piece_value (real_net n its) X (length its) [] (hidden (second n)) (lower n) q L eq_refl H1).
    - specialize (H3 q Q). apply Nat.eqb_eq in H3. apply ends_value; [exact (eq_trans L (eq_sym H2)) | rewrite H2; exact H3]. }
  rewrite forallb_forall in H2. split; rewrite map_map; apply map_ext_in; intros q Q.
  - specialize (H1 q Q). apply Nat.eqb_eq in H1.
    exact (piece_value (real_net n its) X (length its) [] (hidden (second n)) (lower n) q L eq_refl H1).
  - specialize (H2 q Q). apply Nat.eqb_eq in H2.
    apply (piece_value (real_net n its) X (length its) (hidden (lower n)) [] (second n) q L); [|exact H2].
    cbn [D.units real_net]. rewrite app_nil_r. reflexivity.
Qed.
(* outputs of which the heads are near those of the real function, at some point of the boxes *)
Definition outputs_of (n : net) (its : list item) (es : list num) (X y : list R) : Prop :=
  length y = length (head n) /\
  exists z, S.near es (map (fun r => S.sval r (clamped (kind n) (exact_part (lower n) (us_of n its X)) (exact_part (second n) (second_exact n (us_of n its X))) z))
    (map fst (head n))) y.
Lemma prepared_items n p r x1 x2 : prepare n p = Some r -> satisfied (coords n) p x1 x2 -> one_hot (coords n) x1 -> one_hot (coords n) x2 ->
  exists ks its i es, items_of n ks = Some its /\ Fit (coords n) ks x1 x2 /\ forallb scales (coords n) = true /\
    mapo (item_err (coords n)) its = Some i /\ margins_of n its = Some es /\
    forall X Y e f, Items (coords n) ks x1 x2 its X Y e f ->
      (Near i (us_of n its X) e /\ Near i (us_of n its Y) f) /\
      (kind n = Gap -> Forall (fun v => 0 <= v) (exact_part (second n) (second_exact n (us_of n its X))) /\ Forall (fun v => 0 <= v) (exact_part (second n) (second_exact n (us_of n its Y)))) /\
      forall y1 y2, outputs_of n its es X y1 -> outputs_of n its es Y y2 -> found r x1 x2 y1 y2.
Proof.
  intros H P O1 O2. unfold prepare in H. unbind H. unbind H. unbind H. unbind H.
  rename v into ks, v0 into its, v1 into sl, v2 into es. destruct (andb _ _) eqn:T; [|discriminate]. injection H as <-.
  rewrite !andb_true_iff in T. destruct T as [[T1 T2] T3].
  pose proof (ground_sound _ _ _ _ _ E P) as F. destruct P as (_ & _ & Hr & _).
  assert (Sc : forallb scales (coords n) = true) by (unfold items_of in E0; destruct (forallb scales (coords n)); [reflexivity | discriminate]).
  pose proof E2 as E2'. unfold margins_of in E2'. unbind E2'. rename v into i, E3 into Ei. clear E2'.
  exists ks, its, i, es. do 5 (split; [assumption|]). intros X Y e f I.
  pose proof (slots_sound _ _ _ _ O1 O2 _ _ _ _ _ _ _ I E1) as C. pose proof (extra_holds _ _ _ _ _ _ _ _ _ _ I Hr) as Rh.
  destruct (items_near n ks x1 x2 its X Y e f i Sc I Ei) as (N1 & N2 & L1 & L2).
  destruct (parts_exact n its X L1 T1) as [X1 X2]. destruct (parts_exact n its Y L2 T1) as [Y1 Y2].
  destruct (S.incell_length _ _ _ C) as [Lx Ly].
  assert (LX : length X = length its /\ length Y = length its) by (clear - I; induction I; simpl; intuition congruence).
  assert (Lm : length (D.mult (real_net n its)) = D.dims sl /\ length (D.shift (real_net n its)) = D.dims sl).
  { cbn [D.mult D.shift real_net]. rewrite !map_length. split; lia. }
  split; [split; assumption|]. split.
  - intro Kn. rewrite Kn in T3. apply andb_true_iff in T3. destruct T3 as [T3 T4]. rewrite forallb_forall in T3, T4.
    rewrite <- X2, <- Y2, !Forall_map. split; apply Forall_forall; intros q Q.
    + apply (S.nonneg_sound (real_net n its) sl false q X Y C); try tauto. apply T3, Q.
    + apply (S.nonneg_sound (real_net n its) sl true q X Y C); try tauto. apply T4, Q.
  - intros y1 y2 (A5 & z & A6) (C5 & z' & C6).
    apply (Found _ _ _ _ _ X Y z z'); cbn [r_slots r_rows r_net r_errors r_sources]; [exact C | exact Rh | | | | |].
    + unfold real_value. cbn [r_kind r_net]. destruct (kind n); [unfold S.networkv; rewrite embed_clamped | unfold P.pnetwork; rewrite pembed_clamped];
        rewrite X1, X2; exact A6.
    + unfold real_value. cbn [r_kind r_net]. destruct (kind n); [unfold S.networkv; rewrite embed_clamped | unfold P.pnetwork; rewrite pembed_clamped];
        rewrite Y1, Y2; exact C6.
    + cbn [D.head real_net]. rewrite map_length. auto.
    + intros ts Ho. apply (over_left _ _ _ _ _ _ _ _ _ _ I Ho).
    + apply Forall_forall. intros v V. rewrite forallb_forall in T2. specialize (T2 v V). apply leb_val in T2. rewrite val_zero in T2. exact T2.
Qed.
Theorem prepared n p r : prepare n p = Some r ->
  forall pin sel1 sel2 x1 x2, between (kind n) sel1 -> between (kind n) sel2 -> satisfied (coords n) p x1 x2 ->
  one_hot (coords n) x1 -> one_hot (coords n) x2 ->
  exists y1 y2, network pin sel1 n x1 = Some y1 /\ network pin sel2 n x2 = Some y2 /\ found r x1 x2 y1 y2.
Proof.
  intros H pin sel1 sel2 x1 x2 B1 B2 P O1 O2.
  destruct (prepared_items n p r x1 x2 H P O1 O2) as (ks & its & i & es & E0 & F & Sc & Ei & Em & K).
  destruct (items_sound n ks x1 x2 its pin F E0) as (u & w & X & Y & e & f & U & W & Ee & Ef & I).
  destruct (K X Y e f I) as ([N1 N2] & G & Fd).
  assert (G1 := fun q => proj1 (G q)). assert (G2 := fun q => proj2 (G q)).
  destruct (outputs_near n its i es sel1 e _ B1 Sc Ei Em N1 G1) as (l & d & s & z & y1 & A1 & A0 & A2 & A3 & A4 & A5 & A6).
  destruct (outputs_near n its i es sel2 f _ B2 Sc Ei Em N2 G2) as (l' & d' & s' & z' & y2 & C1 & C0 & C2 & C3 & C4 & C5 & C6).
  exists y1, y2. unfold network. rewrite U, W. simpl. rewrite Ee, Ef. simpl. rewrite A1, C1. simpl. rewrite A0, C0. simpl. rewrite A2, C2. simpl.
  rewrite A3, C3. simpl. split; [exact A4|]. split; [exact C4|]. apply Fd; split; eauto.
Qed.

(** ** Rows *)
Definition row_left (g : goal) (x1 x2 y1 y2 : list R) : R :=
  left (fun k i => pick k y1 y2 i) (outs g) + left (fun k i => pick k x1 x2 i) (ins g).
Lemma range_dots ts y1 y2 : forall n k, length y1 = (k + n)%nat -> length y2 = (k + n)%nat ->
  range (fun c i => pick c y1 y2 i) ts k n =
  S.dot (map (fun o => coef false o ts) (seq k n)) (skipn k y1) + S.dot (map (fun o => coef true o ts) (seq k n)) (skipn k y2).
Proof.
  assert (Sk : forall (y : list R) k, (k < length y)%nat -> skipn k y = nth k y 0 :: skipn (Datatypes.S k) y).
  { induction y as [|v y IH]; intros [|k] H; simpl in *; try lia; auto. apply IH. lia. }
  induction n as [|n IH]; intros k H1 H2; cbn [range seq map].
  - simpl. ring.
  - rewrite (Sk y1 k) by lia. rewrite (Sk y2 k) by lia. rewrite IH by lia. cbn [S.dot]. unfold pick. ring.
Qed.
Lemma goal_left r g x1 x2 y1 y2 (F : found r x1 x2 y1 y2) X Y :
  (forall ts, once (r_sources r) ts = true ->
    S.dot (over false (r_sources r) ts) X + S.dot (over true (r_sources r) ts) Y = left (fun k i => pick k x1 x2 i) ts) ->
  below (length (D.head (r_net r))) (outs g) = true -> once (r_sources r) (ins g) = true ->
  let d := row_goal r g in
  row_left g x1 x2 y1 y2 = S.dot (D.a1 d) y1 + S.dot (D.a2 d) y2 + S.dot (D.b1 d) X + S.dot (D.b2 d) Y.
Proof.
  intros Hi B O d. destruct F as [_ _ _ _ _ _ _ _ [L1 L2] _ _]. unfold row_left. rewrite (left_range _ _ _ B).
  rewrite (range_dots (outs g) y1 y2 (length (D.head (r_net r))) 0 L1 L2). rewrite <- (Hi (ins g) O). simpl. ring.
Qed.
(** What a way of showing a row bounds: the real function at all e of the premise, whatever the backbone says. *)
Lemma real_bound_sound r d w b : real_bound r d w = D.Bound b -> forall hx hy X Y, S.incell (r_slots r) X Y -> Forall (S.row_holds X Y) (r_rows r) ->
  S.dot (D.a1 d) (real_value r hx X) + S.dot (D.a2 d) (real_value r hy Y) + S.dot (D.b1 d) X + S.dot (D.b2 d) Y <= val b.
Proof.
  intros H hx hy X Y C Rh. unfold real_bound, real_value in *. destruct w as [ls t|ls t|c1 c2|t|nus]; destruct (r_kind r); try discriminate.
  - exact (S.run_sound _ _ _ _ _ _ _ H hx hy X Y C Rh).
  - exact (P.prun_sound _ _ _ _ _ _ _ H hx hy X Y C Rh).
  - exact (DSweepSound.gap_sweep_sound _ _ _ _ _ _ H hx hy X Y C).
  - exact (DSweepSound.paper_sweep_sound _ _ _ _ _ _ H hx hy X Y C).
  - destruct (andb _ _) eqn:T; [|discriminate]. injection H as <-. apply andb_true_iff in T. destruct T as [T1 T2]. rewrite val_zero.
    exact (DSlopeSound.slope_sound _ _ _ _ T2 T1 hx hy X Y C).
  - destruct (andb _ _) eqn:T; [|discriminate]. injection H as <-. apply andb_true_iff in T. destruct T as [T1 T2]. rewrite val_zero.
    exact (DSignsSound.signs_sound _ _ _ _ _ T2 T1 hx hy X Y C Rh).
Qed.
(** The bound of a row and its margin, which the checker reports, bound its left side for the computed outputs. *)
Theorem own_bound r g w b m x1 x2 y1 y2 : found r x1 x2 y1 y2 -> row_bound r g w = Some (b, m) ->
  row_left g x1 x2 y1 y2 <= val b + val m.
Proof.
  intros F H. unfold row_bound in H. destruct (andb _ _) eqn:T; [|discriminate]. apply andb_true_iff in T. destruct T as [T1 T2].
  destruct (real_bound _ _ _) as [| |b'] eqn:R; try discriminate. injection H as <- <-.
  pose proof F as F'. destruct F' as [X Y hx hy C Rh N1 N2 _ Hi Er].
  rewrite (goal_left r g x1 x2 y1 y2 F X Y Hi T1 T2).
  pose proof (real_bound_sound _ _ _ _ R hx hy X Y C Rh) as Q.
  pose proof (S.near_sound _ _ (D.a1 (row_goal r g)) _ N1 Er). pose proof (S.near_sound _ _ (D.a2 (row_goal r g)) _ N2 Er).
  repeat first [rewrite val_norm | rewrite val_add | rewrite val_one | rewrite val_div by (rewrite val_add, val_one; lra)].
  cbn [D.a1 D.a2 D.b1 D.b2 row_goal] in *. lra.
Qed.
(** ** The mirror rule *)
Lemma swaps_sound sl X Y : S.incell sl X Y -> forallb swaps sl = true -> S.incell sl Y X.
Proof.
  induction 1 as [|c s a b x y Ha Hb Hd Hw _ IH|n al1 al2 pairs p q s x y Hin Hp Hr Hpn Hrn _ IH]; intro H; simpl in H; [constructor| |];
    apply andb_true_iff in H; destruct H as [H1 H2]; specialize (IH H2).
  - rewrite !andb_true_iff in H1. destruct H1 as [[E1 E2] E3]. apply eqb_spec in E1. apply eqb_spec in E2. apply isz_spec in E3.
    rewrite val_add in E3. constructor; auto; try lra. intro Q. destruct (Hw Q). auto.
  - rewrite !andb_true_iff, !forallb_forall in H1. destruct H1 as [[A1 A2] A3].
    specialize (A1 p Hp). specialize (A2 q Hr). apply existsb_exists in A1, A2.
    destruct A1 as (p' & P1 & P2). apply Nat.eqb_eq in P2. subst p'. destruct A2 as (q' & Q1 & Q2). apply Nat.eqb_eq in Q2. subst q'.
    specialize (A3 q ltac:(apply in_seq; lia)). rewrite forallb_forall in A3. specialize (A3 _ Hin). simpl in A3. rewrite Nat.eqb_refl in A3.
    apply existsb_exists in A3. destruct A3 as (p' & R1 & R2). apply Nat.eqb_eq in R2. subst p'. apply in_map_iff in R1.
    destruct R1 as ([q' p'] & R1 & R2). simpl in R1. subst p'. apply filter_In in R2. destruct R2 as [R2 R3]. apply Nat.eqb_eq in R3. simpl in R3. subst q'.
    apply S.in_group; assumption.
Qed.
Lemma same_nums_dot a : forall b z, same_nums a b = true -> S.dot a z = S.dot b z.
Proof.
  induction a as [|v a IH]; intros [|w b] [|t z] H; simpl in *; try discriminate; auto. apply andb_true_iff in H. destruct H as [H1 H2].
  apply eqb_spec in H1. rewrite H1, (IH b z H2). reflexivity.
Qed.
Theorem mirror_bound r g of_ w b m x1 x2 y1 y2 : found r x1 x2 y1 y2 -> mirrors r g of_ = true -> row_bound r of_ w = Some (b, m) ->
  row_left g x1 x2 y1 y2 <= val b + val m.
Proof.
  intros F M H. unfold mirrors in M. rewrite !andb_true_iff in M. destruct M as [[M1 M2] [[[M3 M4] _] [[M5 M6] [M7 M8]]]].
  unfold row_bound in H. destruct (andb _ _) eqn:T; [|discriminate].
  destruct (real_bound _ _ _) as [| |b'] eqn:R; try discriminate. injection H as <- <-.
  pose proof F as F'. destruct F' as [X Y hx hy C _ N1 N2 _ Hi Er].
  rewrite (goal_left r g x1 x2 y1 y2 F X Y Hi M3 M4). pose proof (swaps_sound _ _ _ C M1) as C'.
  assert (Rh : Forall (S.row_holds Y X) (r_rows r)) by (destruct (r_rows r); [constructor | discriminate]).
  pose proof (real_bound_sound _ _ _ _ R hy hx Y X C' Rh) as Q.
  rewrite (same_nums_dot _ _ y1 M5), (same_nums_dot _ _ y2 M6), (same_nums_dot _ _ X M7), (same_nums_dot _ _ Y M8).
  pose proof (S.near_sound _ _ (D.a2 (row_goal r of_)) _ N1 Er). pose proof (S.near_sound _ _ (D.a1 (row_goal r of_)) _ N2 Er).
  rewrite !val_norm, val_add. cbn [D.a1 D.a2 D.b1 D.b2 row_goal] in *. lra.
Qed.

(** ** Soundness, end to end

    Proofs of the rows of a conclusion: a tree with lemmas, or an earlier row whose mirror it is. For all float64 inputs of the
    domain that satisfy the premise exactly, both evaluations end with float64 outputs, and the left side of every row that is
    accepted exceeds its right side by no more than the room that counts, in exact arithmetic. *)
Lemma shown_bound r x1 x2 y1 y2 : found r x1 x2 y1 y2 -> forall g s b m, bound_of r g s = Some (b, m) ->
  row_left g x1 x2 y1 y2 <= val b + val m /\
  forall room, accepts g room (b, m) = true -> row_left g x1 x2 y1 y2 <= val (g_right g) + Rmin (val room) (2 * val m).
Proof.
  intros F g s b m Hb.
  assert (L : row_left g x1 x2 y1 y2 <= val b + val m).
  { destruct s as [w|of_ w]; simpl in Hb; [apply (own_bound r g w); assumption|].
    destruct (mirrors r g of_) eqn:M; [|discriminate]. apply (mirror_bound r g of_ w); assumption. }
  split; [exact L|]. intros room A. unfold accepts in A. apply leb_val in A. cbn [fst snd] in A. unfold twice in A.
  rewrite !val_add, val_minT, val_add in A. replace (2 * val m) with (val m + val m) by ring. lra.
Qed.
Theorem leaf_sound n p r : prepare n p = Some r ->
  forall pin sel1 sel2 x1 x2, between (kind n) sel1 -> between (kind n) sel2 -> satisfied (coords n) p x1 x2 ->
  one_hot (coords n) x1 -> one_hot (coords n) x2 ->
  exists y1 y2, network pin sel1 n x1 = Some y1 /\ network pin sel2 n x2 = Some y2 /\
  forall g s b m, bound_of r g s = Some (b, m) ->
    row_left g x1 x2 y1 y2 <= val b + val m /\
    forall room, accepts g room (b, m) = true -> row_left g x1 x2 y1 y2 <= val (g_right g) + Rmin (val room) (2 * val m).
Proof.
  intros H pin sel1 sel2 x1 x2 B1 B2 P O1 O2. destruct (prepared n p r H pin sel1 sel2 x1 x2 B1 B2 P O1 O2) as (y1 & y2 & Y1 & Y2 & F).
  exists y1, y2. split; [exact Y1|]. split; [exact Y2|]. apply shown_bound. exact F.
Qed.
