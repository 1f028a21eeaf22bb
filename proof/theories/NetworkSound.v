(** The inputs of the auxiliaries, in both copies: they are computed, bounded, and move as the checker says. *)
From Coq Require Import Reals List Bool Arith Lra Lia ZArith.
From Flocq Require Import Core.
From Smile Require Import Num Leaf Reduction LeafSound Float Binary64 Exact Spread SpreadSound Trees Layers LayerSound Premise Network.
Import ListNotations DOps DSpec.
Open Scope R_scope.

Definition okdir (d : dir) (a b : R) : Prop := (fst d = true -> b <= a) /\ (snd d = true -> a <= b).
Definition okmove (m : moving) (a b : R) : Prop :=
  (forall d, fst m = Some d -> okdir d a b) /\ Rabs a <= val (snd m) /\ Rabs b <= val (snd m).
Inductive Moves : list moving -> list R -> list R -> Prop :=
| mv_nil : Moves [] [] []
| mv_cons m ms a b x y : okmove m a b -> Moves ms x y -> Moves (m :: ms) (a :: x) (b :: y).
Lemma Moves_app m x y m' x' y' : Moves m x y -> Moves m' x' y' -> Moves (m ++ m') (x ++ x') (y ++ y').
Proof. induction 1; simpl; auto. intro. constructor; auto. Qed.
Lemma bind_some {A B} (o : option A) (f : A -> option B) b : bind o f = Some b -> exists a, o = Some a /\ f a = Some b.
Proof. destruct o; simpl; [eauto | discriminate]. Qed.
Ltac unbind H := let a := fresh "v" in let E := fresh "E" in apply bind_some in H; destruct H as (a & E & H).

Lemma move_sound pin grp low high d a b : move pin grp low high = Some d -> (pin = true -> a = b) ->
  (0 <= val low -> b <= a) -> (val high <= 0 -> a <= b) -> okdir d a b.
Proof.
  unfold move. intros H P L U. destruct pin; [injection H as <-; rewrite (P eq_refl); split; simpl; intros; lra|].
  destruct grp; [discriminate|]. destruct (leb high zero) eqn:E1.
  - injection H as <-. apply leb_val in E1. rewrite val_zero in E1. split; simpl; [discriminate | auto].
  - destruct (leb zero low) eqn:E2; [|discriminate]. injection H as <-. apply leb_val in E2. rewrite val_zero in E2.
    split; simpl; [auto | discriminate].
Qed.

(** ** The scaler *)
Lemma far_spec c v : val (c_lo c) <= v <= val (c_hi c) -> Rabs (v - val (c_shift c)) <= val (far c).
Proof.
  intro H. unfold far. exact_num. pose proof (Rmax_l (val (c_shift c) - val (c_lo c)) (val (c_hi c) - val (c_shift c))).
  pose proof (Rmax_r (val (c_shift c) - val (c_lo c)) (val (c_hi c) - val (c_shift c))). apply Rabs_le. lra.
Qed.
Lemma scales_spec c : scales c = true -> 0 < val (c_mult c) <= top /\ val (far c) < huge /\ val (far c) * val (c_mult c) < huge.
Proof.
  unfold scales. rewrite !andb_true_iff. intros [[H1 H2] [H3 H4]]. apply ltb_spec in H1. apply leb_val in H2.
  apply ltb_spec in H3. apply ltb_spec in H4. exact_num. lra.
Qed.
Lemma scale_raw c v : scales c = true -> val (c_lo c) <= v <= val (c_hi c) ->
  exists p, scale1 c v = Some p /\ Rabs (p - val (c_mult c) * (v - val (c_shift c))) <= e_u (val (far c)) (val (c_mult c)) /\
    (fmt v -> plain c = true -> p = v).
Proof.
  intros S H. destruct (scales_spec c S) as (M & F1 & F2).
  destruct (fl_scale v (val (c_shift c)) (val (c_mult c)) (val (far c)) M (far_spec c v H) F1 F2) as (a & p & A & P & E).
  exists p. unfold scale1, bind. rewrite A. split; [exact P|]. split; [exact E|]. intros Fv Q.
  unfold plain in Q. apply andb_true_iff in Q. destruct Q as [Q1 Q2]. apply isz_spec in Q1. apply eqb_spec in Q2. rewrite val_one in Q2.
  rewrite (fl_rnd _ _ P), (fl_rnd _ _ A), Q1, Q2, Rminus_0_r, Rmult_1_r, (rnd_id v Fv). apply rnd_id. exact Fv.
Qed.
Lemma scale1_mono c v w p q : 0 < val (c_mult c) -> v <= w -> scale1 c v = Some p -> scale1 c w = Some q -> p <= q.
Proof.
  unfold scale1. intros M L P Q. unbind P. unbind Q. apply (fl_scale_mono v w (val (c_shift c)) (val (c_mult c)) p q v0 v1); auto.
Qed.
Lemma error_pos c : scales c = true -> val (c_lo c) <= val (c_hi c) -> 0 <= val (error c).
Proof.
  intros S L. unfold error. destruct (plain c); [rewrite val_zero; lra|]. rewrite val_scale_err.
  destruct (scale_raw c (val (c_lo c)) S ltac:(lra)) as (p & _ & E & _).
  eapply Rle_trans; [apply Rabs_pos | exact E].
Qed.
Lemma scale_sound c v : scales c = true -> in_coord c v -> exists p, scale_value c v = Some p /\ scale1 c v = Some p /\
  Rabs (p - val (c_mult c) * (v - val (c_shift c))) <= val (error c).
Proof.
  intros S (B & _ & F). destruct (scales_spec c S) as (M & _).
  destruct (scale_raw c v S B) as (p & P & E & Q).
  destruct (scale_raw c (val (c_lo c)) S ltac:(lra)) as (l & Pl & _). destruct (scale_raw c (val (c_hi c)) S ltac:(lra)) as (h & Ph & _).
  assert (L1 : l <= p) by (apply (scale1_mono c (val (c_lo c)) v); auto; lra).
  assert (L2 : p <= h) by (apply (scale1_mono c v (val (c_hi c))); auto; lra).
  exists p. split; [|split; [exact P|]].
  - unfold scale_value. rewrite Pl, Ph, P. simpl. f_equal. unfold Rmax, Rmin. repeat destruct (Rle_dec _ _); lra.
  - unfold error. destruct (plain c) eqn:N; [|rewrite val_scale_err; exact E]. rewrite val_zero, (Q F eq_refl).
    unfold plain in N. apply andb_true_iff in N. destruct N as [N1 N2]. apply isz_spec in N1. apply eqb_spec in N2. rewrite val_one in N2.
    rewrite N1, N2. replace (v - 1 * (v - 0)) with 0 by ring. rewrite Rabs_R0. lra.
Qed.
Lemma scaled_sound cs ks x y : Fit cs ks x y -> forallb scales cs = true ->
  exists a b, scaled cs x = Some a /\ scaled cs y = Some b /\
  forall i c k, nth_error cs i = Some c -> nth_error ks i = Some k ->
    exists v w p q, fit c k v w /\ nth_error a i = Some p /\ nth_error b i = Some q /\ scales c = true /\
      scale1 c v = Some p /\ scale1 c w = Some q /\
      Rabs (p - val (c_mult c) * (v - val (c_shift c))) <= val (error c) /\
      Rabs (q - val (c_mult c) * (w - val (c_shift c))) <= val (error c).
Proof.
  induction 1 as [|c k v w cs ks x y F _ IH]; intro S; simpl in S.
  - exists [], []. split; [reflexivity|]. split; [reflexivity|]. intros [|i] c k E; discriminate.
  - apply andb_true_iff in S. destruct S as [S1 S2]. destruct (IH S2) as (a & b & A & B & N).
    pose proof F as (Cv & Cw & _). destruct (scale_sound c v S1 Cv) as (p & P1 & P2 & P3).
    destruct (scale_sound c w S1 Cw) as (q & Q1 & Q2 & Q3).
    exists (p :: a), (q :: b). simpl. rewrite P1, Q1, A, B. simpl. split; [reflexivity|]. split; [reflexivity|].
    intros [|i] c' k' Ec Ek; simpl in *; [|apply (N i c' k' Ec Ek)]. injection Ec as <-. injection Ek as <-.
    exists v, w, p, q. repeat (split; [assumption || reflexivity|]). exact Q3.
Qed.

Lemma raw_spread_sound c k v w p q s : fit c k v w -> scales c = true -> scale1 c v = Some p -> scale1 c w = Some q ->
  Rabs (p - val (c_mult c) * (v - val (c_shift c))) <= val (error c) ->
  Rabs (q - val (c_mult c) * (w - val (c_shift c))) <= val (error c) ->
  raw_spread c k = Some s -> within s p q.
Proof.
  intros (Cv & Cw & B1 & B2 & D & P) S P1 Q1 Ep Eq H. destruct (scales_spec c S) as (M & _).
  apply Rabs_le_inv in Ep. apply Rabs_le_inv in Eq. unfold raw_spread in H.
  set (m := val (c_mult c)) in *. set (h := val (c_shift c)) in *. set (e := val (error c)) in *.
  assert (Mn : Rmin (val (k_l1 k)) (val (k_l2 k)) <= v /\ Rmin (val (k_l1 k)) (val (k_l2 k)) <= w).
  { pose proof (Rmin_l (val (k_l1 k)) (val (k_l2 k))). pose proof (Rmin_r (val (k_l1 k)) (val (k_l2 k))). lra. }
  assert (Mx : v <= Rmax (val (k_h1 k)) (val (k_h2 k)) /\ w <= Rmax (val (k_h1 k)) (val (k_h2 k))).
  { pose proof (Rmax_l (val (k_h1 k)) (val (k_h2 k))). pose proof (Rmax_r (val (k_h1 k)) (val (k_h2 k))). lra. }
  assert (G : forall s t, s <= t -> m * s <= m * t) by (intros; apply Rmult_le_compat_l; lra).
  assert (Dir : v <= w -> p <= q) by (intro L; exact (scale1_mono c v w p q (proj1 M) L P1 Q1)).
  assert (Dir' : w <= v -> q <= p) by (intro L; exact (scale1_mono c w v q p (proj1 M) L Q1 P1)).
  apply (settle_sound _ _ _ _ _ _ _ _ _ H); unfold twice; exact_num; fold m h e.
  - pose proof (G _ _ (Rplus_le_compat_r (- h) _ _ (proj1 Mn))). pose proof (G _ _ (Rplus_le_compat_r (- h) _ _ (proj1 Mx))). unfold Rminus in *. lra.
  - pose proof (G _ _ (Rplus_le_compat_r (- h) _ _ (proj2 Mn))). pose proof (G _ _ (Rplus_le_compat_r (- h) _ _ (proj2 Mx))). unfold Rminus in *. lra.
  - pose proof (G _ _ (proj1 D)). pose proof (G _ _ (proj2 D)).
    match goal with |- Rmin ?p 0 <= _ <= Rmax ?q 0 => pose proof (Rmin_l p 0); pose proof (Rmax_l q 0) end. lra.
  - intro U. apply orb_true_iff in U. destruct U as [U|U]; [specialize (P U); apply Dir'; lra|].
    apply andb_true_iff in U. destruct U as [_ U]. apply leb_val in U. rewrite val_zero in U. apply Dir'. lra.
  - intro U. apply orb_true_iff in U. destruct U as [U|U]; [specialize (P U); apply Dir; lra|].
    apply andb_true_iff in U. destruct U as [_ U]. apply leb_val in U. rewrite val_zero in U. apply Dir. lra.
Qed.
Lemma pass_sound c k v w p q : fit c k v w -> scales c = true -> scale1 c v = Some p -> scale1 c w = Some q ->
  Rabs (p - val (c_mult c) * (v - val (c_shift c))) <= val (error c) ->
  Rabs (q - val (c_mult c) * (w - val (c_shift c))) <= val (error c) -> okmove (pass_moving c k) p q.
Proof.
  intros (Cv & Cw & B1 & B2 & D & P) S P1 Q1 Ep Eq. destruct (scales_spec c S) as (M & _). unfold okmove, pass_moving. simpl. split.
  - intros d H. apply (move_sound _ _ _ _ _ _ _ H).
    + intro K. specialize (P K). subst w. congruence.
    + intro L. apply (scale1_mono c w v); auto; lra.
    + intro U. apply (scale1_mono c v w); auto; lra.
  - unfold input_size. exact_num.
    assert (G : forall z t, in_coord c z -> Rabs (t - val (c_mult c) * (z - val (c_shift c))) <= val (error c) ->
      Rabs t <= val (far c) * val (c_mult c) + val (error c)).
    { intros z t (Bz & _) Ht. pose proof (far_spec c z Bz).
      replace t with ((t - val (c_mult c) * (z - val (c_shift c))) + val (c_mult c) * (z - val (c_shift c))) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult, (Rabs_pos_eq (val (c_mult c))) by lra.
      assert (val (c_mult c) * Rabs (z - val (c_shift c)) <= val (c_mult c) * val (far c)) by (apply Rmult_le_compat_l; lra). lra. }
    split; [apply (G v) | apply (G w)]; assumption.
Qed.

(** ** The encoder *)
Lemma box_size l h v : val l <= v <= val h -> Rabs v <= val (maxT (negT l) h).
Proof. intro. exact_num. pose proof (Rmax_l (- val l) (val h)). pose proof (Rmax_r (- val l) (val h)). apply Rabs_le. lra. Qed.
Lemma within_move t a b d : within t a b -> move (Spread.same t) false (s_low t) (s_high t) = Some d -> okdir d a b.
Proof.
  intros (_ & _ & D & U & V & _) H. apply (move_sound _ _ _ _ _ _ _ H); try lra.
  unfold Spread.same. intro Q. apply andb_true_iff in Q. destruct Q as [Q1 Q2]. specialize (U Q1). specialize (V Q2). lra.
Qed.
Lemma cut_moving_sound b s m p q : within s p q -> cut_moving b s = Some m ->
  okmove m (Rmax (val (fst b)) (Rmin (val (snd b)) p)) (Rmax (val (fst b)) (Rmin (val (snd b)) q)).
Proof.
  intros (Hp & Hq & D & U & V & _) H. destruct b as [l h]. unfold cut_moving in H. simpl in *.
  destruct (andb _ _) eqn:T; [|discriminate]. rewrite !andb_true_iff in T. destruct T as [T1 _]. apply leb_val in T1.
  destruct (settle _ _ _ _ _ _) as [t|] eqn:S; [|discriminate]. injection H as <-.
  assert (W : within t (Rmax (val l) (Rmin (val h) p)) (Rmax (val l) (Rmin (val h) q))).
  { apply (settle_sound _ _ _ _ _ _ _ _ _ S); exact_num.
    - rewrite (Rmin_comm (val (s_lo s))), (Rmin_comm (val (s_hi s))). split; apply clip_mono; lra.
    - rewrite (Rmin_comm (val (s_lo s))), (Rmin_comm (val (s_hi s))). split; apply clip_mono; lra.
    - pose proof (clip_diff (val l) (val h) p q T1) as [C1 C2].
      split; (eapply Rle_trans; [|eassumption] || (eapply Rle_trans; [eassumption|])); [apply Rle_min_compat_r | apply Rle_max_compat_r]; lra.
    - intro Q. apply clip_mono, U. exact Q.
    - intro Q. apply clip_mono, V. exact Q. }
  split; [intros d Hd; apply (within_move t); assumption|]. simpl. split; apply box_size, clip_range; exact T1.
Qed.
Lemma pinned_moving_sound all b m p q : pinned_moving all b = Some m -> (all = true -> p = q) ->
  okmove m (Rmax (val (fst b)) (Rmin (val (snd b)) p)) (Rmax (val (fst b)) (Rmin (val (snd b)) q)).
Proof.
  intros H E. destruct b as [l h]. unfold pinned_moving in H. simpl in *.
  destruct (andb _ _) eqn:T; [|discriminate]. rewrite !andb_true_iff in T. destruct T as [T1 _]. apply leb_val in T1.
  destruct (settle _ _ _ _ _ _) as [t|] eqn:S; [|discriminate]. injection H as <-.
  pose proof (clip_range (val l) (val h) p T1). pose proof (clip_range (val l) (val h) q T1).
  assert (W : within t (Rmax (val l) (Rmin (val h) p)) (Rmax (val l) (Rmin (val h) q))).
  { apply (settle_sound _ _ _ _ _ _ _ _ _ S); exact_num; auto; try (intro Q; rewrite (E Q); lra).
    match goal with |- Rmin ?p 0 <= _ <= Rmax ?q 0 => pose proof (Rmin_l p 0); pose proof (Rmax_l q 0) end. lra. }
  split; [intros d Hd; apply (within_move t); assumption|]. simpl. split; apply box_size; assumption.
Qed.
Lemma cut_all bx : forall zs p q ms, Within zs p q -> map2o cut_moving bx zs = Some ms ->
  exists a b, cut_value bx p = Some a /\ cut_value bx q = Some b /\ Moves ms a b.
Proof.
  induction bx as [|[l h] bx IH]; intros zs p q ms W H; destruct W as [|s zs a b p q W1 W2]; simpl in H; try discriminate.
  - injection H as <-. exists [], []. repeat split; constructor.
  - unbind H. unbind H. injection H as <-. destruct (IH zs p q _ W2 E0) as (x & y & X & Y & M).
    simpl. rewrite X, Y. simpl. eexists; eexists. split; [reflexivity|]. split; [reflexivity|].
    constructor; [apply (cut_moving_sound (l, h) s _ _ _ W1 E) | exact M].
Qed.
Lemma pinned_all all bx : forall k f g ms, mapo (pinned_moving all) bx = Some ms -> (all = true -> f = g) ->
  exists a b, cut_value bx (map (fun i => nth i f 0) (seq k (length bx))) = Some a /\
              cut_value bx (map (fun i => nth i g 0) (seq k (length bx))) = Some b /\ Moves ms a b.
Proof.
  induction bx as [|[l h] bx IH]; intros k f g ms H E; simpl in *.
  - injection H as <-. exists [], []. repeat split; constructor.
  - destruct (if andb _ _ then _ else _) as [m|] eqn:P; [|discriminate]. destruct (mapo _ bx) as [r|] eqn:Q; [|discriminate].
    injection H as <-. destruct (IH (Datatypes.S k) f g r eq_refl E) as (x & y & X & Y & M). rewrite X, Y. simpl.
    eexists; eexists. split; [reflexivity|]. split; [reflexivity|]. constructor; [|exact M].
    apply (pinned_moving_sound all (l, h)); [exact P|]. intro A. rewrite (E A). reflexivity.
Qed.

Section Encoder.
  Variables (cs : list coord) (ks : list known) (a b : list R).
  Hypothesis Hab : forall i c k, nth_error cs i = Some c -> nth_error ks i = Some k ->
    exists v w p q, fit c k v w /\ nth_error a i = Some p /\ nth_error b i = Some q /\ scales c = true /\
      scale1 c v = Some p /\ scale1 c w = Some q /\
      Rabs (p - val (c_mult c) * (v - val (c_shift c))) <= val (error c) /\
      Rabs (q - val (c_mult c) * (w - val (c_shift c))) <= val (error c).
  Lemma columns_within cols ys :
    mapo (fun i => bind (nth_error cs i) (fun c => bind (nth_error ks i) (fun k => raw_spread c k))) cols = Some ys ->
    exists x y, mapo (nth_error a) cols = Some x /\ mapo (nth_error b) cols = Some y /\ Within ys x y.
  Proof.
    apply (mapo_within _ (fun (l : list R) i => nth_error l i)). intros i s H. unbind H. unbind H.
    destruct (Hab i v v0 E E0) as (x & y & p & q & F & A & B & S & P & Q & Ep & Eq).
    exists p, q. split; [exact A|]. split; [exact B|]. apply (raw_spread_sound v v0 x y); assumption.
  Qed.
  Lemma columns_moves cols : forall ms,
    mapo (fun i => bind (nth_error cs i) (fun c => bind (nth_error ks i) (fun k => Some (pass_moving c k)))) cols = Some ms ->
    exists x y, mapo (nth_error a) cols = Some x /\ mapo (nth_error b) cols = Some y /\ Moves ms x y.
  Proof.
    induction cols as [|i cols IH]; intros ms H; simpl in H.
    - injection H as <-. exists [], []. repeat split; constructor.
    - destruct (bind (nth_error cs i) _) as [m|] eqn:M; [|discriminate]. destruct (mapo _ cols) as [r|] eqn:R; [|discriminate].
      injection H as <-. destruct (IH r eq_refl) as (x & y & X & Y & V). unbind M. unbind M. injection M as <-.
      destruct (Hab i v v0 E E0) as (x' & y' & p & q & F & A & B & S & P & Q & Ep & Eq).
      exists (p :: x), (q :: y). simpl. rewrite A, B, X, Y. split; [reflexivity|]. split; [reflexivity|].
      constructor; [apply (pass_sound v v0 x' y'); assumption | exact V].
  Qed.
  Theorem branch_sound pin br ms : branch_moving cs ks br = Some ms ->
    exists x y, branch_value pin br a = Some x /\ branch_value pin br b = Some y /\ Moves ms x y.
  Proof.
    unfold branch_moving, branch_value. intro H. unbind H.
    destruct (columns_within (columns br) v E) as (x & y & X & Y & W). rewrite X, Y. simpl.
    destruct (passes br).
    - destruct (columns_moves (columns br) ms H) as (x' & y' & X' & Y' & M). rewrite X in X'. rewrite Y in Y'.
      injection X' as <-. injection Y' as <-. eauto.
    - unbind H. destruct (layers_sound (steps br) v x y None None None v0 W I E0) as (p & q & P & Q & Z). rewrite P, Q. simpl.
      destruct (pinned br) as [j|].
      + destruct (Nat.eqb j (length (box br))) eqn:J; [|discriminate]. apply Nat.eqb_eq in J. subst j.
        apply (pinned_all _ _ 0 _ _ _ H). intro A. rewrite (all_same _ _ _ Z A). reflexivity.
      + apply (cut_all _ _ _ _ _ Z H).
  Qed.
  Theorem encoder_sound pin bs : forall k ms, encoder_moving cs ks bs = Some ms ->
    exists x y, encoder_value pin k bs a = Some x /\ encoder_value pin k bs b = Some y /\ Moves ms x y.
  Proof.
    induction bs as [|br bs IH]; intros k ms H; simpl in H.
    - injection H as <-. exists [], []. repeat split; constructor.
    - unbind H. unbind H. injection H as <-. destruct (branch_sound (pin k) br v E) as (x & y & X & Y & M).
      destruct (IH (Datatypes.S k) v0 E0) as (x' & y' & X' & Y' & M'). simpl. rewrite X, Y, X', Y'. simpl.
      eexists; eexists. split; [reflexivity|]. split; [reflexivity|]. apply Moves_app; assumption.
  Qed.
End Encoder.

Lemma pass_all_sound cs ks x y : Fit cs ks x y -> forallb scales cs = true ->
  exists a b, scaled cs x = Some a /\ scaled cs y = Some b /\ Moves (pass_all cs ks) a b.
Proof.
  induction 1 as [|c k v w cs ks x y F _ IH]; intro S; simpl in S.
  - exists [], []. repeat split; constructor.
  - apply andb_true_iff in S. destruct S as [S1 S2]. destruct (IH S2) as (a & b & A & B & M).
    pose proof F as (Cv & Cw & _). destruct (scale_sound c v S1 Cv) as (p & P1 & P2 & P3).
    destruct (scale_sound c w S1 Cw) as (q & Q1 & Q2 & Q3). simpl. rewrite P1, Q1, A, B. simpl.
    eexists; eexists. split; [reflexivity|]. split; [reflexivity|]. constructor; [apply (pass_sound c k v w); assumption | exact M].
Qed.
Theorem inputs_sound n ks x y ms pin : Fit (coords n) ks x y -> inputs_moving n ks = Some ms ->
  exists u w e f, scaled (coords n) x = Some u /\ scaled (coords n) y = Some w /\
    (match encoder n with None => Some u | Some bs => encoder_value pin 0 bs u end) = Some e /\
    (match encoder n with None => Some w | Some bs => encoder_value pin 0 bs w end) = Some f /\ Moves ms e f.
Proof.
  intros F H. unfold inputs_moving in H. destruct (forallb scales (coords n)) eqn:S; [|discriminate].
  destruct (encoder n) as [bs|].
  - destruct (scaled_sound _ _ _ _ F S) as (a & b & A & B & N).
    destruct (encoder_sound (coords n) ks a b N pin bs 0 ms H) as (e & f & E & G & M). exists a, b, e, f. auto.
  - injection H as <-. destruct (pass_all_sound _ _ _ _ F S) as (a & b & A & B & M). exists a, b, a, b. auto.
Qed.
