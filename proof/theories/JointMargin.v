(** Section 5.1: the computed auxiliaries and outputs lie within the margins of the real function, in whatever order sums are
    taken. Nothing overflows under fixed-order. *)
From Coq Require Import Reals List Bool Arith Lra Lia ZArith Permutation.
From Flocq Require Import Core.
From Smile Require Import Num Leaf Reduction LeafSound Float Binary64 Exact Spread SpreadSound Trees Layers LayerSound Premise Network
  NetworkSound HeadSound Joint.
Import ListNotations DOps DSpec.
Open Scope R_scope.

(** exact values u with sizes, computed values v with errors *)
Inductive Near : list known_err -> list R -> list R -> Prop :=
| near_nil : Near [] [] []
| near_cons a i u v us vs : Rabs u <= val (e_size a) -> Rabs (v - u) <= val (e_err a) -> Near i us vs -> Near (a :: i) (u :: us) (v :: vs).
Lemma Near_app i u v j p q : Near i u v -> Near j p q -> Near (i ++ j) (u ++ p) (v ++ q).
Proof. induction 1; simpl; auto. intro. constructor; auto. Qed.
Lemma Near_length i u v : Near i u v -> length u = length i /\ length v = length i.
Proof. induction 1; simpl; intuition congruence. Qed.
Definition reach (a : known_err) : num := norm (add (e_size a) (e_err a)).
Lemma Near_sized i u v : Near i u v -> sized v (map val (map reach i)).
Proof.
  induction 1 as [|a i x y us vs H1 H2 _ IH]; simpl; constructor; auto. unfold reach. exact_num.
  replace y with ((y - x) + x) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.
Lemma Near_dot i u v : Near i u v -> forall w, Rabs (dotR w v - dotR w u) <= dotR (map Rabs w) (map val (map e_err i)) /\
  Rabs (dotR w u) <= dotR (map Rabs w) (map val (map e_size i)).
Proof.
  induction 1 as [|a i x v us vs H1 H2 H IH]; intros [|w ws]; simpl; try (rewrite ?Rminus_0_r, Rabs_R0; lra).
  destruct (IH ws) as [I1 I2]. pose proof (Rabs_pos w). split.
  - replace (w * v + dotR ws vs - (w * x + dotR ws us)) with (w * (v - x) + (dotR ws vs - dotR ws us)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult. nra.
  - eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult. nra.
Qed.
Lemma Near_errors i u v : Near i u v -> forall w, 0 <= dotR (map Rabs w) (map val (map e_err i)).
Proof.
  intros N w. destruct (Near_dot _ _ _ N w) as [H _]. eapply Rle_trans; [apply Rabs_pos | exact H].
Qed.

(** ** A sum in some order *)
Definition summed (ws ys : list R) (b v : R) : Prop :=
  exists t k, (k <= 4)%nat /\ Permutation (Float.leaves t) (prods ws ys ++ cst b :: repeat (cst 0) k) /\ eval t v.
Lemma prods_term ws : forall ys, sum Float.term (prods ws ys) = dotR ws ys.
Proof. induction ws as [|w ws IH]; intros [|y ys]; simpl; auto. rewrite IH. reflexivity. Qed.
Lemma prods_length ws : forall ys, (length (prods ws ys) <= length ws)%nat.
Proof. induction ws as [|w ws IH]; intros [|y ys]; simpl; try lia. specialize (IH ys). lia. Qed.
(* what rounding adds, with the real smallest numbers in place of η *)
Definition sharp (n : nat) (total weights inputs : R) : R :=
  gam (n + 5) * total + (1 + gam (n + 5)) * (eps * (2 * INR n + 9 + weights + inputs)).
Lemma summed_sharp ws ys Ys b v : length ws = length ys -> sized ys Ys -> INR (length ws + 5) * u < 1 -> summed ws ys b v ->
  Rabs (v - (dotR ws ys + b)) <= sharp (length ws) (total ws Ys b) (sumR (map Rabs ws)) (sumR Ys).
Proof.
  intros L S Hu (t & k & Hk & Hp & E). pose proof (prods_sum ws ys Ys L S) as (A & B & C & D).
  assert (Len : (length (Float.leaves t) <= length ws + 5)%nat).
  { rewrite (Permutation_length Hp), app_length. simpl. rewrite repeat_length. pose proof (prods_length ws ys). lia. }
  pose proof (any_order t v E _ Len) as O. rewrite !(sum_perm _ _ _ Hp), !sum_app in O. simpl in O.
  rewrite !sum_repeat, prods_term in O. unfold Float.size in O at 2 3. simpl in O. rewrite Rabs_R0, !Rmult_0_r, !Rplus_0_r in O.
  pose proof (P_gam _ Hu) as G. pose proof (P_ge (length ws + 5)) as G1. set (g := gam (length ws + 5)) in *. fold g.
  pose proof eps_pos. pose proof (pos_INR (length ws)). pose proof (Rabs_pos b).
  assert (K4 : INR k <= 4) by (replace 4 with (INR 4) by (simpl; lra); apply le_INR; exact Hk). pose proof (pos_INR k).
  unfold sharp. fold g. eapply Rle_trans; [exact O|]. unfold total. apply Rplus_le_compat; apply Rmult_le_compat; try lra.
  - apply Rmult_le_pos; [lra|]. pose proof (cost_nonneg _ (prods_cost ws ys)). lra.
  - apply Rmult_le_compat_l; lra.
Qed.
Lemma sharp_weak n t w s : INR (n + 5) * u < 1 -> 0 <= w -> 0 <= s -> sharp n t w s <= lin_err n t w s.
Proof.
  intros Hu W S. unfold sharp, lin_err. pose proof (P_gam _ Hu) as G. pose proof (P_ge (n + 5)). set (g := gam (n + 5)) in *.
  apply Rplus_le_compat_l. rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|]. pose proof eps_pos. pose proof eps_eta. pose proof (pos_INR n).
  apply Rle_trans with (4 * eps * (3 * INR n + 3 + w + s)); [nra|]. apply Rmult_le_compat_r; lra.
Qed.
(* one order is an order *)
Lemma fsum_eval ws : forall ys t a v, length ws = length ys -> eval t a -> fsum a ws ys = Some v ->
  exists t', eval t' v /\ Float.leaves t' = Float.leaves t ++ prods ws ys.
Proof.
  induction ws as [|w ws IH]; intros [|y ys] t a v L E H; simpl in L, H; try discriminate.
  - injection H as <-. exists t. simpl. rewrite app_nil_r. auto.
  - destruct (fl (w * y)) as [p|] eqn:P; [|discriminate]. destruct (fl (a + p)) as [s|] eqn:S; [|discriminate].
    injection L as L. apply fl_rnd in P. apply fl_rnd in S.
    assert (E1 : eval (Prod w y) p).
    { constructor. rewrite P. apply rnd_is_near. pose proof (Rabs_pos w). pose proof (Rabs_pos y). lra. }
    assert (E2 : eval (Add t (Prod w y)) s) by (rewrite S; econstructor; eauto; apply rnd_is_near; lra).
    destruct (IH ys _ s v L E2 H) as (t' & T1 & T2). exists t'. split; [exact T1|]. rewrite T2. simpl. rewrite <- app_assoc. reflexivity.
Qed.
Lemma fsum_summed ws ys b v : length ws = length ys -> fsum b ws ys = Some v -> summed ws ys b v.
Proof.
  intros L H. assert (E0 : eval (Cst b) b).
  { constructor. exists 0, 0. rewrite Rabs_R0. pose proof u_pos. pose proof eps_pos. repeat split; lra. }
  destruct (fsum_eval ws ys (Cst b) b v L E0 H) as (t & T1 & T2). exists t, 0%nat. split; [lia|]. split; [|exact T1].
  rewrite T2. simpl. apply Permutation_cons_append.
Qed.

(** ** Rows and parts *)
Definition exact_row (y : list R) (r : list num * num) : R := dotR (map val (fst r)) y + val (snd r).
Definition row_summed (y : list R) (r : list num * num) (v : R) : Prop := summed (map val (fst r)) y (val (snd r)) v.
Lemma reach_inputs i : val (norm (fold_right add zero (map reach i))) = sumR (map val (map reach i)).
Proof. rewrite val_norm. apply val_fold_add. Qed.
Lemma row_err_sound i u v r a : Near i u v ->
  row_err (map e_size i) (map e_err i) (map reach i) (norm (fold_right add zero (map reach i))) r = Some a ->
  (exists w, row_value v r = Some w /\ row_summed v r w) /\
  forall w, row_summed v r w -> Rabs (exact_row u r) <= val (e_size a) /\ Rabs (w - exact_row u r) <= val (e_err a).
Proof.
  intros N H. destruct r as [row b]. unfold row_err in H. destruct (andb _ _) eqn:T; [|discriminate]. injection H as <-.
  rewrite !andb_true_iff in T. destruct T as [[T1 T2] T3]. apply ltb_spec in T3. rewrite val_add, val_hugeT in T3.
  pose proof (Near_sized _ _ _ N) as Sz. destruct (Near_length _ _ _ N) as [Lu Lv]. apply Nat.eqb_eq in T1. rewrite map_length in T1.
  pose proof (fits_gamma_spec _ T2) as Hu. pose proof huge_pos.
  assert (Lw : length (map val row) = length v) by (rewrite map_length; exact (eq_trans T1 (eq_sym Lv))).
  destruct (prods_sum (map val row) v _ Lw Sz) as (_ & _ & S0 & W0).
  set (t := norm (add (abs_dot row (map reach i)) (absT b))) in *.
  set (e := norm (add (abs_dot row (map e_err i)) _)) in *.
  assert (Et : val t = total (map val row) (map val (map reach i)) (val b)).
  { unfold t, total. rewrite val_norm, val_add, val_absT, val_abs_dot. reflexivity. }
  assert (Ee : val e = dotR (map Rabs (map val row)) (map val (map e_err i)) +
    lin_err (length (map val row)) (total (map val row) (map val (map reach i)) (val b)) (sumR (map Rabs (map val row))) (sumR (map val (map reach i)))).
  { unfold e. rewrite val_norm, val_add, val_abs_dot, val_linear_err by exact T2. rewrite Et, reach_inputs, val_abs_sum, map_length. reflexivity. }
  assert (Hu' : INR (length (map val row) + 5) * Float.u < 1) by (rewrite map_length; exact Hu).
  pose proof (Near_errors _ _ _ N (map val row)) as E0. rewrite Et, Ee in T3. split.
  - destruct (fsum_sound (map val row) v (map val (map reach i)) (val b) Lw Sz) as (w & F & _).
    + exact Hu'.
    + lra.
    + exists w. split; [exact F|]. apply fsum_summed; [exact Lw | exact F].
  - intros w Hs. unfold row_summed in Hs. cbn [fst snd] in *.
    pose proof (summed_sharp _ _ _ _ _ Lw Sz Hu' Hs) as B.
    pose proof (sharp_weak (length (map val row)) (total (map val row) (map val (map reach i)) (val b)) _ _ Hu' W0 S0) as Q.
    destruct (Near_dot _ _ _ N (map val row)) as [D1 D2]. unfold exact_row. cbn [fst snd e_size e_err].
    rewrite Ee, val_norm, val_add, val_abs_dot, val_absT. split.
    + eapply Rle_trans; [apply Rabs_triang|]. lra.
    + replace (w - (dotR (map val row) u + val b)) with ((w - (dotR (map val row) v + val b)) + (dotR (map val row) v - dotR (map val row) u)) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.
Lemma rows_err_sound i u v : Near i u v -> forall rows es, rows_err i rows = Some es ->
  (exists w, mapo (row_value v) rows = Some w /\ Forall2 (row_summed v) rows w) /\
  forall w, Forall2 (row_summed v) rows w -> Near es (map (exact_row u) rows) w.
Proof.
  intros N. unfold rows_err. change (fun a : known_err => norm (add (e_size a) (e_err a))) with reach.
  induction rows as [|r rows IH]; intros es H; simpl in H.
  - injection H as <-. split; [exists []; split; constructor|]. intros w F. inversion F. constructor.
  - destruct (row_err _ _ _ _ r) as [a|] eqn:R; [|discriminate]. destruct (mapo _ rows) as [es'|] eqn:M; [|discriminate].
    injection H as <-. destruct (row_err_sound i u v r a N R) as [(w0 & V & S) B]. destruct (IH es' eq_refl) as [(w & W1 & W2) C].
    split.
    + exists (w0 :: w). simpl. rewrite V, W1. split; [reflexivity | constructor; assumption].
    + intros z F. inversion F as [|? ? ? ? F1 F2]; subst. destruct (B _ F1). simpl. constructor; auto.
Qed.
Definition relu (v : R) : R := Rmax v 0.
Lemma Near_relu i u v : Near i u v -> Near i (map relu u) (map relu v).
Proof.
  induction 1; simpl; constructor; auto; unfold relu, Rmax; repeat destruct (Rle_dec _ _);
    unfold Rabs in *; repeat destruct (Rcase_abs _); lra.
Qed.
Definition exact_part (p : part) (y : list R) : list R :=
  map (exact_row ((if skips p then y else []) ++ map relu (map (exact_row y) (hidden p)))) (sums p).
Definition part_summed (p : part) (y l : list R) : Prop :=
  exists s, Forall2 (row_summed y) (hidden p) s /\
    Forall2 (row_summed ((if skips p then y else []) ++ map relu s)) (sums p) l.
Lemma part_err_sound p i u v es : Near i u v -> part_err p i = Some es ->
  (exists l, part_value p v = Some l /\ part_summed p v l) /\ forall l, part_summed p v l -> Near es (exact_part p u) l.
Proof.
  intros N H. unfold part_err in H. unbind H. rename v0 into hs. destruct (rows_err_sound i u v N _ _ E) as [(s & S1 & S2) C].
  assert (J : forall s, Forall2 (row_summed v) (hidden p) s ->
    Near ((if skips p then i else []) ++ hs) ((if skips p then u else []) ++ map relu (map (exact_row u) (hidden p)))
      ((if skips p then v else []) ++ map relu s)).
  { intros s' Hs. apply Near_app; [destruct (skips p); [exact N | constructor]|]. apply Near_relu, C, Hs. }
  split.
  - destruct (rows_err_sound _ _ _ (J s S2) _ _ H) as [(l & L1 & L2) _]. exists l. split; [|exists s; auto].
    unfold part_value. rewrite S1. simpl. exact L1.
  - intros l (s' & Q1 & Q2). destruct (rows_err_sound _ _ _ (J s' Q1) _ _ H) as [_ B]. apply B, Q2.
Qed.

(** ** The embedding: between computed ends, near a point between the exact ones *)
(* select, as the network has it: never below lower where boxes may flip *)
Definition least (bx : boxes) (l h : R) : R := match bx with Gap => Rmin l h | Paper => l end.
Definition between (bx : boxes) (sel : nat -> R -> R -> R) : Prop := forall i l h, least bx l h <= sel i l h <= Rmax l h.
Definition upper_near (bx : boxes) (l g h : R) : Prop := match bx with Gap => near 1 (l + g) h | Paper => h = g end.
Inductive boxed (bx : boxes) : list R -> list R -> list R -> Prop :=
| bx_nil : boxed bx [] [] []
| bx_cons l g h z ls gs zs : upper_near bx l g h -> least bx l h <= z <= Rmax l h -> boxed bx ls gs zs -> boxed bx (l :: ls) (g :: gs) (z :: zs).
Definition upper_exact (bx : boxes) (p q : R) : R := match bx with Gap => p + q | Paper => q end.
Fixpoint clamped (bx : boxes) (a g z : list R) : list R :=
  match a, g with
  | p :: a', q :: g' => Rmax p (Rmin (upper_exact bx p q) (hd 0 z)) :: clamped bx a' g' (tl z)
  | _, _ => []
  end.
Lemma upper_sound bx sel : between bx sel -> forall el es e a g l s k, map2o (upper_err bx) el es = Some e -> Near el a l -> Near es g s ->
  exists z, embed_value bx sel k l s = Some z /\ boxed bx l s z.
Proof.
  intros B. induction el as [|x el IH]; intros [|y es] e a g l s k H N M; simpl in H; try discriminate.
  - inversion N; inversion M; subst. exists []. split; [reflexivity | constructor].
  - unbind H. unbind H. injection H as <-. inversion N as [|? ? p l0 ? ? N1 N2 N3]; inversion M as [|? ? q s0 ? ? M1 M2 M3]; subst.
    destruct (IH es _ _ _ _ _ (Datatypes.S k) E0 N3 M3) as (z & Z1 & Z2). destruct bx.
    + unfold upper_err in E. destruct (ltb _ _) eqn:T; [|discriminate]. injection E as <-. apply ltb_spec in T.
      repeat rewrite ?val_add, ?val_norm, ?val_mul, ?val_uT, ?val_etaT, ?val_hugeT in T.
      pose proof u_pos. pose proof eps_pos. pose proof eps_eta. pose proof (Rabs_pos p). pose proof (Rabs_pos q).
      pose proof (Rabs_pos (l0 - p)). pose proof (Rabs_pos (s0 - q)).
      assert (Hb : Rabs (l0 + s0) <= val (e_size x) + val (e_size y) + (val (e_err x) + val (e_err y))).
      { unfold Rabs in *. repeat destruct (Rcase_abs _); lra. }
      assert (Hu : 0 <= u * (val (e_size x) + val (e_size y) + (val (e_err x) + val (e_err y)))) by (apply Rmult_le_pos; lra).
      pose proof huge_pos. pose proof huge_top.
      simpl. rewrite (fl_small _ _ Hb ltac:(lra)). simpl. rewrite Z1. simpl. eexists. split; [reflexivity|].
      apply (bx_cons _ _ _ (rnd (l0 + s0))); [apply rnd_is_near; lra | apply B | exact Z2].
    + simpl. rewrite Z1. simpl. eexists. split; [reflexivity|]. apply (bx_cons _ _ _ s0); [reflexivity | apply B | exact Z2].
Qed.
Lemma boxed_near bx el : forall es e a g l s z, map2o (upper_err bx) el es = Some e -> Near el a l -> Near es g s ->
  (bx = Gap -> Forall (fun v => 0 <= v) g) -> boxed bx l s z -> Near e (clamped bx a g z) z.
Proof.
  induction el as [|x el IH]; intros [|y es] e a g l s z H N M G X; simpl in H; try discriminate.
  - inversion N; inversion M; subst. inversion X; subst. injection H as <-. constructor.
  - unbind H. unbind H. injection H as <-. inversion N as [|? ? p l0 ? ? N1 N2 N3]; inversion M as [|? ? q s0 ? ? M1 M2 M3]; subst.
    inversion X as [|? ? h z0 ? ? zs Hn Hz X']; subst.
    assert (G' : bx = Gap -> Forall (fun v => 0 <= v) us0) by (intro Q; specialize (G Q); inversion G; assumption).
    simpl. constructor; [| |eapply IH; eassumption]; clear IH X' G' E0; destruct bx; simpl in *.
    + specialize (G eq_refl). inversion G as [|? ? G1 _]; subst. destruct (ltb _ _); [|discriminate]. injection E as <-. cbn [e_size].
      rewrite ?val_norm, ?val_add. clear - N1 M1 G1. unfold Rmax, Rmin. repeat destruct (Rle_dec _ _); unfold Rabs in *; repeat destruct (Rcase_abs _); lra.
    + injection E as <-. cbn [e_size]. rewrite val_maxT. clear - N1 M1. unfold Rmax, Rmin. repeat destruct (Rle_dec _ _); unfold Rabs in *; repeat destruct (Rcase_abs _); lra.
    + specialize (G eq_refl). inversion G as [|? ? G1 _]; subst. destruct (ltb _ _); [|discriminate]. injection E as <-. cbn [e_err].
      repeat rewrite ?val_norm, ?val_add, ?val_mul, ?val_uT, ?val_etaT.
      destruct Hn as (d & r & Hd & Hr & Hc). pose proof u_pos. pose proof eps_pos. pose proof eps_eta.
      set (A := val (e_size x) + val (e_size y)) in *. set (e := val (e_err x) + val (e_err y)) in *.
      assert (Ab : Rabs (l0 + s0) <= A + e) by (unfold A, e, Rabs in *; repeat destruct (Rcase_abs _); lra).
      assert (Dc : Rabs (h - (l0 + s0)) <= u * (A + e) + eta).
      { rewrite Hc. replace ((l0 + s0) * (1 + d) + r - (l0 + s0)) with ((l0 + s0) * d + r) by ring.
        eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult.
        assert (Rabs (l0 + s0) * Rabs d <= (A + e) * u) by (apply Rmult_le_compat; try apply Rabs_pos; assumption). lra. }
      set (E := u * (A + e) + eta) in *.
      assert (HE : 0 <= E) by (pose proof (Rabs_pos (h - (l0 + s0))); lra).
      assert (He : 0 <= val (e_err x) /\ 0 <= val (e_err y)) by (pose proof (Rabs_pos (l0 - p)); pose proof (Rabs_pos (s0 - q)); lra).
      replace (e + E) with (val (e_err x) + val (e_err y) + E) by reflexivity.
      clearbody E. clear - N2 M2 G1 Hz Dc HE He. simpl in Hz. revert Hz.
      unfold Rmax, Rmin. repeat destruct (Rle_dec _ _); intro; unfold Rabs in *; repeat destruct (Rcase_abs _); lra.
    + injection E as <-. cbn [e_err]. rewrite val_maxT. subst h. clear - N2 M2 Hz. revert Hz.
      unfold Rmax, Rmin. repeat destruct (Rle_dec _ _); intro; unfold Rabs in *; repeat destruct (Rcase_abs _); lra.
Qed.
