(** Every evaluation under f64-aux ends with float64 outputs, and they lie within the margins: the theorem of the leaf rule. *)
From Coq Require Import Reals List Bool Arith Lra Lia ZArith Permutation.
From Flocq Require Import Core.
From Smile Require Import Num Leaf Reduction LeafSound Float Binary64 Exact Spread SpreadSound Trees Layers LayerSound Premise Network
  NetworkSound HeadSound Deployed Joint JointMargin JointHead JointPremise Joined LeafDeployed AnyOrder.
Import ListNotations DOps DSpec.
Open Scope R_scope.

Lemma huge_3 : 8 * huge <= bpow radix2 1003.
Proof. unfold huge. replace 8 with (bpow radix2 3) by (simpl; lra). rewrite <- bpow_plus. apply bpow_le. lia. Qed.
Lemma finite_small v : Rabs v <= 8 * huge -> finite v = Some v.
Proof.
  intro H. unfold finite. rewrite Rlt_bool_true; [reflexivity|]. eapply Rle_lt_trans; [exact H|].
  eapply Rle_lt_trans; [apply huge_3|]. apply bpow_lt. lia.
Qed.
Lemma each_some {A} (P : A -> option R -> Prop) (I : A -> R -> Prop) l : (forall a o, In a l -> P a o -> exists v, o = Some v /\ I a v) ->
  forall o, each P l o -> exists vs, o = Some vs /\ Forall2 I l vs.
Proof.
  intros H o E. induction E as [|a l o r Pa E IH]; [exists []; split; constructor|].
  destruct (H a o (or_introl eq_refl) Pa) as (v & -> & V). destruct IH as (vs & -> & F); [intros; apply H; auto; right; assumption|].
  exists (v :: vs). split; [reflexivity | constructor; assumption].
Qed.

(** ** Sums *)
Lemma bound_app_l n l r : Forall (fun p => 0 <= cost p) r -> Binary64.bound n l <= Binary64.bound n (l ++ r).
Proof.
  intro F. unfold Binary64.bound at 1. apply bound_le; rewrite sum_app.
  - pose proof (sum_nonneg Float.size r size_nonneg). lra.
  - pose proof (cost_nonneg _ F). lra.
Qed.
Lemma costs t : Forall (fun p => 0 <= cost p) (Float.leaves t).
Proof.
  induction t as [w y|b|l IHl r IHr|w y t IHt]; simpl.
  - constructor; [|constructor]. simpl. pose proof (Rabs_pos w). pose proof (Rabs_pos y). lra.
  - constructor; [|constructor]. simpl. lra.
  - apply Forall_app. auto.
  - constructor; [|exact IHt]. simpl. pose proof (Rabs_pos w). pose proof (Rabs_pos y). lra.
Qed.
Lemma bound_perm n l r : Permutation l r -> Binary64.bound n l = Binary64.bound n r.
Proof. intro H. unfold Binary64.bound. rewrite !(sum_perm _ _ _ H). reflexivity. Qed.
Lemma evaluates_eval n : forall t o, evaluates t o -> (length (Float.leaves t) <= n)%nat -> Binary64.bound n (Float.leaves t) <= 2 * huge ->
  exists v, o = Some v /\ eval t v /\ Rabs v <= Binary64.bound n (Float.leaves t).
Proof.
  assert (Fin : forall t v, eval t v -> (length (Float.leaves t) <= n)%nat -> Binary64.bound n (Float.leaves t) <= 2 * huge ->
    finite v = Some v /\ Rabs v <= Binary64.bound n (Float.leaves t)).
  { intros t v E L B. pose proof (any_bound t v n E L). pose proof huge_pos. split; [apply finite_small; lra | assumption]. }
  induction 1 as [w y o (v & N & ->)|b o (v & N & ->)|l r p q o El IHl Er IHr H|w y t p o Et IHt H]; intros L B.
  - assert (E : eval (Prod w y) v) by (constructor; exact N). destruct (Fin _ _ E L B) as [-> Bv]. eauto.
  - assert (E : eval (Cst b) v) by (constructor; exact N). destruct (Fin _ _ E L B) as [-> Bv]. eauto.
  - simpl in L, B. rewrite app_length in L.
    destruct IHl as (a & -> & Ea & _); [lia | pose proof (bound_app_l n _ _ (costs r) : _ <= Binary64.bound n (Float.leaves l ++ Float.leaves r)); lra|].
    destruct IHr as (b & -> & Eb & _).
    { lia. }
    { pose proof (bound_app_l n (Float.leaves r) (Float.leaves l) (costs l)) as Q.
      rewrite (bound_perm n _ _ (Permutation_app_comm (Float.leaves r) (Float.leaves l))) in Q. lra. }
    destruct H as (v & N & ->). assert (E : eval (Add l r) v) by (econstructor; eauto).
    destruct (Fin _ _ E) as [-> Bv]; [simpl; rewrite app_length; lia | exact B|]. eauto.
  - simpl in L, B. destruct IHt as (a & -> & Ea & _); [lia| |].
    { pose proof (bound_app_l n (Float.leaves t) [prod w y]) as Q.
      rewrite (bound_perm n _ _ (Permutation_app_comm (Float.leaves t) [prod w y])) in Q. simpl in Q.
      assert (0 <= 2 + Rabs w + Rabs y) by (pose proof (Rabs_pos w); pose proof (Rabs_pos y); lra).
      specialize (Q ltac:(constructor; [assumption | constructor])). lra. }
    destruct H as (v & N & ->). assert (E : eval (Fma w y t) v) by (econstructor; eauto).
    destruct (Fin _ _ E) as [-> Bv]; [simpl; lia | exact B|]. eauto.
Qed.
Lemma any_sum_sound ws ys Ys b o : length ws = length ys -> sized ys Ys -> INR (length ws + 5) * u < 1 ->
  let T := total ws Ys b in let K := sharp (length ws) T (sumR (map Rabs ws)) (sumR Ys) in
  T + K <= 2 * huge -> any_sum ws ys b o -> exists v, o = Some v /\ summed ws ys b v /\ Rabs v <= T + K.
Proof.
  intros L S Hu T K H (t & k & Hk & Hp & E). pose proof (prods_sum ws ys Ys L S) as (A & B & C & D).
  assert (Len : (length (Float.leaves t) <= length ws + 5)%nat).
  { rewrite (Permutation_length Hp), app_length. simpl. rewrite repeat_length. pose proof (prods_length ws ys). lia. }
  pose proof (P_gam _ Hu) as G. pose proof (P_ge (length ws + 5)) as G1.
  pose proof eps_pos. pose proof (pos_INR (length ws)). pose proof (Rabs_pos b).
  assert (K4 : INR k <= 4) by (replace 4 with (INR 4) by (simpl; lra); apply le_INR; exact Hk). pose proof (pos_INR k).
  assert (Bd : Binary64.bound (length ws + 5) (Float.leaves t) <= T + K).
  { rewrite (bound_perm _ _ _ Hp). unfold Binary64.bound. rewrite !sum_app. simpl. rewrite !sum_repeat.
    unfold Float.size at 2 3. simpl. rewrite Rabs_R0, !Rmult_0_r, !Rplus_0_r.
    unfold K, sharp. set (g := gam (length ws + 5)) in *.
    replace (T + (g * T + (1 + g) * (eps * (2 * INR (length ws) + 9 + sumR (map Rabs ws) + sumR Ys))))
      with ((1 + g) * T + (1 + g) * (eps * (2 * INR (length ws) + 9 + sumR (map Rabs ws) + sumR Ys))) by ring.
    pose proof (cost_nonneg _ (prods_cost ws ys)).
    apply Rplus_le_compat; apply Rmult_le_compat; try lra.
    - unfold T, total. lra.
    - apply Rmult_le_pos; lra.
    - apply Rmult_le_compat_l; lra. }
  destruct (evaluates_eval (length ws + 5) t o E Len ltac:(lra)) as (v & -> & Ev & Bv).
  exists v. split; [reflexivity|]. split; [exists t, k; auto | lra].
Qed.

(** ** Rows, parts, the embedding *)
Lemma any_row_sound i u v r a o : Near i u v ->
  row_err (map e_size i) (map e_err i) (map reach i) (norm (fold_right add zero (map reach i))) r = Some a ->
  any_row v r o -> exists w, o = Some w /\ row_summed v r w.
Proof.
  intros N H A. destruct r as [row b]. unfold row_err in H. destruct (andb _ _) eqn:T; [|discriminate].
  rewrite !andb_true_iff in T. destruct T as [[T1 T2] T3]. apply ltb_spec in T3. rewrite val_add, val_hugeT in T3.
  pose proof (Near_sized _ _ _ N) as Sz. destruct (Near_length _ _ _ N) as [Lu Lv]. apply Nat.eqb_eq in T1. rewrite map_length in T1.
  pose proof (fits_gamma_spec _ T2) as Hu. pose proof huge_pos.
  assert (Lw : length (map val row) = length v) by (rewrite map_length; exact (eq_trans T1 (eq_sym Lv))).
  destruct (prods_sum (map val row) v _ Lw Sz) as (_ & _ & S0 & W0).
  rewrite !val_norm, val_add, val_absT, val_abs_dot in T3. rewrite val_add, val_abs_dot, val_linear_err in T3 by exact T2.
  rewrite val_norm, val_add, val_absT, val_abs_dot, reach_inputs, val_abs_sum in T3.
  assert (Hu' : INR (length (map val row) + 5) * Float.u < 1) by (rewrite map_length; exact Hu).
  pose proof (sharp_weak (length (map val row)) (total (map val row) (map val (map reach i)) (val b)) _ _ Hu' W0 S0) as Q.
  pose proof (Near_errors _ _ _ N (map val row)) as E0.
  destruct (any_sum_sound (map val row) v (map val (map reach i)) (val b) o Lw Sz Hu') as (w & W & Sw & _); [|exact A|exists w; auto].
  eapply Rle_trans; [apply Rplus_le_compat_l, Q|]. unfold total in *. rewrite map_length. unfold lin_err in *.
  match goal with |- ?a <= _ => match type of T3 with ?b + (?c + ?d) < _ => change (b + d <= 2 * huge) end end. lra.
Qed.
Lemma any_rows_sound i u v : Near i u v -> forall rows es o, rows_err i rows = Some es -> each (any_row v) rows o ->
  exists w, o = Some w /\ Forall2 (row_summed v) rows w.
Proof.
  intros N rows es o H E. unfold rows_err in H. change (fun a : known_err => norm (add (e_size a) (e_err a))) with reach in H.
  apply (each_some (any_row v) (row_summed v) rows); [|exact E]. intros r o' I A.
  assert (exists a, row_err (map e_size i) (map e_err i) (map reach i) (norm (fold_right add zero (map reach i))) r = Some a) as (a & Ra).
  { clear - H I. revert es H. induction rows as [|q rows IH]; intros es H; simpl in H; [contradiction|].
    destruct (row_err _ _ _ _ q) as [a|] eqn:Q; [|discriminate]. destruct (mapo _ rows) as [r'|]; [|discriminate].
    destruct I as [<-|I]; [eauto | apply (IH I r' eq_refl)]. }
  apply (any_row_sound i u v r a o' N Ra A).
Qed.
Lemma any_part_sound p i u v es o : Near i u v -> part_err p i = Some es -> any_part p v o ->
  exists l, o = Some l /\ part_summed p v l.
Proof.
  intros N H A. unfold part_err in H. unbind H. rename v0 into hs.
  destruct A as (a & P & B). destruct (any_rows_sound i u v N _ hs a E P) as (s & -> & S).
  destruct (rows_err_sound i u v N _ _ E) as [_ C].
  assert (J : Near ((if skips p then i else []) ++ hs) ((if skips p then u else []) ++ map relu (map (exact_row u) (hidden p)))
      ((if skips p then v else []) ++ map relu s)).
  { apply Near_app; [destruct (skips p); [exact N | constructor]|]. apply Near_relu, C, S. }
  destruct (any_rows_sound _ _ _ J _ _ o H B) as (l & -> & F). exists l. split; [reflexivity|]. exists s. auto.
Qed.
Lemma any_embed_sound bx sel : between bx sel -> forall el es e a g l s k o, map2o (upper_err bx) el es = Some e -> Near el a l -> Near es g s ->
  any_embed bx sel k l s o -> exists z, o = Some z /\ boxed bx l s z.
Proof.
  intros B. induction el as [|x el IH]; intros [|y es] e a g l s k o H N M A; simpl in H; try discriminate.
  - inversion N; inversion M; subst. inversion A; subst. exists []. split; [reflexivity | constructor].
  - unbind H. unbind H. injection H as <-. inversion N as [|? ? p l0 ? ls N1 N2 N3]; inversion M as [|? ? q s0 ? ss M1 M2 M3]; subst.
    inversion A as [|? ? ? ? ? h r Hu A']; subst. destruct (IH es _ _ _ _ _ _ _ E0 N3 M3 A') as (z & -> & Z).
    destruct bx; simpl in Hu; [destruct Hu as (w & Nw & ->) | subst h; eexists; split; [reflexivity|]; apply (bx_cons _ _ _ s0); [reflexivity | apply B | exact Z]].
    unfold upper_err in E. destruct (ltb _ _) eqn:T; [|discriminate]. injection E as <-. apply ltb_spec in T.
    repeat rewrite ?val_add, ?val_norm, ?val_mul, ?val_uT, ?val_etaT, ?val_hugeT in T.
    pose proof u_pos. pose proof u_small. pose proof eps_pos. pose proof eps_small. pose proof eps_eta. pose proof huge_pos.
    pose proof (Rabs_pos (l0 - p)). pose proof (Rabs_pos (s0 - q)). pose proof (Rabs_pos p). pose proof (Rabs_pos q).
    assert (Hb : Rabs (l0 + s0) <= val (e_size x) + val (e_size y) + (val (e_err x) + val (e_err y))).
    { unfold Rabs in *. repeat destruct (Rcase_abs _); lra. }
    assert (Hu : 0 <= Float.u * (val (e_size x) + val (e_size y) + (val (e_err x) + val (e_err y)))) by (apply Rmult_le_pos; lra).
    rewrite finite_small.
    + eexists. split; [reflexivity|]. apply (bx_cons _ _ _ w); [exact Nw | apply B | exact Z].
    + destruct Nw as (d & r & Hd & Hr & ->). eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult.
      assert (Rabs (1 + d) <= 2) by (eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
      assert (Rabs (l0 + s0) * Rabs (1 + d) <= huge * 2) by (apply Rmult_le_compat; try apply Rabs_pos; lra). lra.
Qed.

(** ** The head *)
Lemma flushed_less g g' : flushed g g' -> Rabs g' <= Rabs g /\ Rabs (g' - g) <= eps.
Proof.
  pose proof eps_pos. pose proof (Rabs_pos g). intros [->|[S ->]].
  - split; [lra|]. rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. lra.
  - rewrite Rabs_R0, Rminus_0_l, Rabs_Ropp. pose proof tiny. pose proof (bpow_gt_0 radix2 (-1075)). lra.
Qed.
Lemma loaded_lost c g g' v : 0 < c -> flushed g g' -> Rabs (v - g' / c) <= eps -> Rabs (v - g / c) <= lost c.
Proof.
  intros Hc F H. destruct (flushed_less _ _ F) as [_ D]. assert (Ic : 0 < / c) by (apply Rinv_0_lt_compat; exact Hc).
  replace (v - g / c) with ((v - g' / c) + (g' - g) * / c) by (unfold Rdiv; ring).
  eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult, (Rabs_pos_eq (/ c)) by lra.
  assert (Rabs (g' - g) * / c <= eps * / c) by (apply Rmult_le_compat_r; lra). unfold lost. lra.
Qed.
Lemma head_total c gs b z Z ws b' : 0 < c -> sized z Z -> INR (length gs + 5) * u < 1 ->
  Forall2 (fun w g => Rabs (w - g / c) <= lost c) ws gs -> Rabs (b' - b / c) <= lost c ->
  let n := length gs in let T := total ws Z b' in
  c * (T + sharp n T (sumR (map Rabs ws)) (sumR Z)) <=
    total gs Z b + (gam (n + 5) * total gs Z b + (1 + gam (n + 5)) * (eta * Rmax 1 c) * (3 * INR n + 3 + sumR (map Rabs gs) + sumR Z)).
Proof.
  intros Hc Sz Hu Fw Fb n T. fold n in Hu.
  assert (Ic : 0 < / c) by (apply Rinv_0_lt_compat; exact Hc). pose proof eps_pos as Ep. pose proof eps_eta as Ee. pose proof eps_small as Es.
  destruct (lost_eps c Hc) as [Le Lc]. set (d := lost c) in *.
  assert (Lw : length ws = n) by (clear - Fw; unfold n; induction Fw; simpl; congruence).
  assert (Fd : Forall2 (fun w g => Rabs (w - g) <= d) ws (map (fun g => g / c) gs)) by (clear - Fw; induction Fw; simpl; constructor; auto).
  pose proof (sized_pos _ _ Sz) as Pz. destruct (abs_shift d ws _ Z Fd Pz ltac:(lra)) as [A1 A2]. rewrite Lw in A2.
  assert (M2 : map Rabs (map (fun g => g / c) gs) = map (fun g => g / c) (map Rabs gs)).
  { clear - Ic. induction gs as [|g gs IH]; simpl; [reflexivity|]. rewrite IH. f_equal. unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ c)); lra. }
  assert (M3 : forall y, dotR (map (fun g => g / c) (map Rabs gs)) y = dotR (map Rabs gs) y / c).
  { clear. induction gs as [|g gs IH]; intros [|y ys]; simpl; try (unfold Rdiv; ring). rewrite IH. unfold Rdiv. ring. }
  assert (M4 : sumR (map (fun g => g / c) (map Rabs gs)) = sumR (map Rabs gs) / c).
  { clear. induction gs as [|g gs IH]; simpl; [unfold Rdiv; ring|]. rewrite IH. unfold Rdiv. ring. }
  rewrite M2 in A1, A2. rewrite M3 in A1. rewrite M4 in A2.
  set (W := sumR (map Rabs gs)) in *. set (S := sumR Z) in *.
  assert (S0 : 0 <= S) by (clear - Pz; unfold S; induction Pz; simpl; lra).
  assert (W0 : 0 <= W) by (clear; unfold W; induction gs; simpl; [lra | pose proof (Rabs_pos a); lra]).
  assert (Bb : Rabs b' <= Rabs b / c + d).
  { replace b' with ((b' - b / c) + b / c) by ring. eapply Rle_trans; [apply Rabs_triang|].
    assert (Rabs (b / c) = Rabs b / c) by (unfold Rdiv; rewrite Rabs_mult, (Rabs_pos_eq (/ c)); lra). lra. }
  pose proof (P_gam _ Hu) as G. pose proof (P_ge (n + 5)) as G1. unfold sharp. set (g := gam (n + 5)) in *.
  set (Q := total gs Z b). pose proof (pos_INR n) as Np. assert (Gp : 0 <= g) by lra.
  assert (Ht : T <= Q / c + d * (S + 1)) by (unfold T, Q, total; unfold Rdiv in *; lra).
  apply Rle_trans with (c * ((1 + g) * (Q / c + d * (S + 1)) + (1 + g) * (eps * (2 * INR n + 9 + (W / c + INR n * d) + S)))).
  { apply Rmult_le_compat_l; [lra|]. replace (T + (g * T + (1 + g) * (eps * (2 * INR n + 9 + sumR (map Rabs ws) + S))))
      with ((1 + g) * T + (1 + g) * (eps * (2 * INR n + 9 + sumR (map Rabs ws) + S))) by ring.
    apply Rplus_le_compat; apply Rmult_le_compat_l; try lra. apply Rmult_le_compat_l; lra. }
  replace (c * ((1 + g) * (Q / c + d * (S + 1)) + (1 + g) * (eps * (2 * INR n + 9 + (W / c + INR n * d) + S))))
    with ((1 + g) * Q + (1 + g) * eps * ((c + 1) * (S + 1) + c * (2 * INR n + 9 + S) + INR n * eps * (c + 1) + W)) by (unfold d, lost; field; lra).
  set (mx := Rmax 1 c). assert (X1 : 1 <= mx) by apply Rmax_l. assert (X2 : c <= mx) by apply Rmax_r.
  assert (F : (1 + g) * eps * ((c + 1) * (S + 1) + c * (2 * INR n + 9 + S) + INR n * eps * (c + 1) + W) <= (1 + g) * (4 * eps * mx) * (3 * INR n + 3 + W + S)).
  { apply Rle_trans with ((1 + g) * eps * (mx * (4 * (3 * INR n + 3 + W + S)))); [|right; ring].
    apply Rmult_le_compat_l; [nra|]. assert (N0 : 0 <= INR n * eps <= INR n) by nra.
    assert (J1 : (c + 1) * (S + 1) <= 2 * mx * (S + 1)) by (apply Rmult_le_compat_r; lra).
    assert (J2 : c * (2 * INR n + 9 + S) <= mx * (2 * INR n + 9 + S)) by (apply Rmult_le_compat_r; lra).
    assert (J3 : INR n * eps * (c + 1) <= INR n * (2 * mx)) by (apply Rmult_le_compat; lra).
    assert (W <= mx * W) by nra. assert (0 <= mx * INR n) by nra. assert (0 <= mx * S) by nra. lra. }
  assert (F2 : (1 + g) * (4 * eps * mx) * (3 * INR n + 3 + W + S) <= (1 + g) * (eta * mx) * (3 * INR n + 3 + W + S)).
  { apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_r; lra. }
  lra.
Qed.
Lemma any_output_sound i p z h e o : Near i p z ->
  head_err (map e_size i) (map e_err i) (map reach i) (norm (fold_right add zero (map reach i))) h = Some e -> any_output z h o ->
  exists v, o = Some v /\ head_near (val (snd h)) (map val (fst (fst h))) (val (snd (fst h))) z v.
Proof.
  intros N H A. destruct h as [[row b] ct]. unfold head_err in H. destruct (andb _ _) eqn:T; [|discriminate].
  rewrite !andb_true_iff in T. destruct T as [[[T1 T2] [[T3 T4] T5]] [[T6 T7] [T8 T9]]]. unfold any_output in A. cbn [fst snd] in *.
  destruct (power_spec _ T1) as (k & Hk). assert (Hc : 0 < val ct) by (rewrite Hk; apply bpow_gt_0). set (c := val ct) in *.
  pose proof (Near_sized _ _ _ N) as Sz. destruct (Near_length _ _ _ N) as [Lu Lv]. pose proof (Near_errors _ _ _ N (map val row)) as E0.
  pose proof (fits_gamma_spec _ T4) as Hu. apply Nat.eqb_eq in T3. rewrite map_length in T3. pose proof huge_pos as Hh. pose proof eps_small. pose proof eps_pos.
  assert (Hu' : INR (length (map val row) + 5) * Float.u < 1) by (rewrite map_length; exact Hu).
  assert (Small : forall w v w', ltb (absT w) (mul hugeT ct) = true -> flushed (val w) w' -> Rabs (v - w' / c) <= eps -> finite v = Some v).
  { intros w v w' Hw Fw Hv. apply ltb_spec in Hw. rewrite val_absT, val_mul, val_hugeT in Hw. fold c in Hw. apply finite_small.
    assert (Ic : 0 < / c) by (apply Rinv_0_lt_compat; exact Hc). destruct (flushed_less _ _ Fw) as [Lw _].
    assert (Rabs (w' / c) <= huge).
    { unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ c)) by lra. apply Rle_trans with (huge * c * / c); [apply Rmult_le_compat_r; lra|]. right. field. lra. }
    replace v with ((v - w' / c) + w' / c) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
  rewrite forallb_forall in T6.
  assert (E1 : forall (g : num) o', In g row -> loaded c (val g) o' -> exists v, o' = Some v /\ Rabs (v - val g / c) <= lost c).
  { intros g o' Ig (g' & Fg & v & Hv & ->). rewrite (Small g v g' (T6 g Ig) Fg Hv). exists v. split; [reflexivity | apply (loaded_lost c _ g'); assumption]. }
  destruct A as (o1 & A1 & A).
  destruct (each_some (fun g : num => loaded c (val g)) (fun g w => Rabs (w - val g / c) <= lost c) row E1 o1 A1) as (ws & -> & Fw).
  destruct A as (o2 & (b0 & Fb & b' & Hb0 & ->) & A). rewrite (Small b b' b0 T7 Fb Hb0) in A. pose proof (loaded_lost c _ b0 b' Hc Fb Hb0) as Hb.
  assert (Fw' : Forall2 (fun w g => Rabs (w - g / c) <= lost c) ws (map val row)) by (clear - Fw; induction Fw; simpl; constructor; auto).
  assert (Lw : length ws = length (map val row)) by (clear - Fw'; induction Fw'; simpl; congruence).
  pose proof (head_total c (map val row) (val b) z _ ws b' Hc Sz Hu' Fw' Hb) as Tt. cbv zeta in Tt.
  set (inputs := norm (fold_right add zero (map reach i))) in *.
  set (e0 := add (mul (gammaT (length row)) (norm (add (abs_dot row (map reach i)) (absT b))))
    (mul (mul (add one (gammaT (length row))) (mul etaT (maxT one ct))) (add (add (fromZ (3 * Z.of_nat (length row) + 3)) (abs_sum row)) inputs))) in *.
  assert (V0 : val e0 = gam (length (map val row) + 5) * total (map val row) (map val (map reach i)) (val b) +
    (1 + gam (length (map val row) + 5)) * (eta * Rmax 1 c) * (3 * INR (length (map val row)) + 3 + sumR (map Rabs (map val row)) + sumR (map val (map reach i)))).
  { rewrite map_length. unfold e0, total, c. repeat rewrite ?val_norm, ?val_add, ?val_mul, ?val_one, ?val_etaT, ?val_maxT, ?val_absT, ?val_fromZ.
    rewrite val_abs_dot, val_abs_sum, (val_gammaT _ T4), plus_IZR, mult_IZR, <- INR_IZR_INZ. unfold inputs. rewrite reach_inputs. reflexivity. }
  rewrite <- V0 in Tt. apply ltb_spec in T8. apply ltb_spec in T9. rewrite val_mul, val_hugeT in T9. fold c in T9. rewrite val_hugeT in T8.
  rewrite val_add, !val_norm, !val_add, val_abs_dot, val_absT, val_abs_dot in T8, T9.
  set (K := total ws _ b' + _) in Tt.
  assert (Tk : c * K < huge /\ c * K < huge * c) by (unfold total in Tt; lra).
  assert (K1 : K <= huge) by (destruct Tk as [_ Tk]; nra).
  destruct A as (o3 & A3 & A). destruct (any_sum_sound ws z (map val (map reach i)) b' o3) as (s & -> & Hs & Bs).
  { rewrite Lw, map_length. exact (eq_trans T3 (eq_sym Lv)). }
  { exact Sz. }
  { rewrite Lw. exact Hu'. }
  { rewrite Lw. fold K. lra. }
  { exact A3. }
  rewrite Lw in Bs. fold K in Bs. destruct A as (v & Hv & ->). exists v. split.
  - apply finite_small. replace v with ((v - s * c) + s * c) by ring. eapply Rle_trans; [apply Rabs_triang|].
    rewrite Rabs_mult, (Rabs_pos_eq c) by lra. assert (Rabs s * c <= K * c) by (apply Rmult_le_compat_r; lra). lra.
  - exists ws, b', s. auto.
Qed.
