(** Section 5.1: the head, which is divided by a power of two when it is loaded, and its margin. *)
From Coq Require Import Reals List Bool Arith Lra Lia ZArith Permutation.
From Flocq Require Import Core.
From Smile Require Import Num Leaf Reduction LeafSound Float Binary64 Exact Spread SpreadSound Trees Layers LayerSound Premise Network
  NetworkSound HeadSound Joint JointMargin.
Import ListNotations DOps DSpec.
Open Scope R_scope.

(** division and multiplication by a power of two are exact but for underflow *)
Lemma scaled_exact x k : fmt x -> Rabs (rnd (x * bpow radix2 k) - x * bpow radix2 k) <= eps.
Proof.
  intro F. set (y := x * bpow radix2 k). destruct (Rlt_le_dec (Rabs y) (bpow radix2 (-1021))) as [L|G].
  - destruct (rnd_near y) as (d & r & Hd & Hr & E). rewrite E. replace (y * (1 + d) + r - y) with (y * d + r) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult. pose proof (Rabs_pos y). pose proof (Rabs_pos d).
    assert (Rabs y * Rabs d <= bpow radix2 (-1021) * u) by (apply Rmult_le_compat; lra).
    assert (bpow radix2 (-1021) * u = bpow radix2 (-1074)) by (unfold u; rewrite <- bpow_plus; reflexivity).
    assert (bpow radix2 (-1074) + bpow radix2 (-1075) <= eps); [|lra].
    pose proof tiny. assert (bpow radix2 (-1074) <= bpow radix2 (-1022)) by (apply bpow_le; lia). lra.
  - rewrite rnd_id; [rewrite Rminus_diag_eq, Rabs_R0 by reflexivity; pose proof eps_pos; lra|].
    apply FLT_format_generic in F; [|reflexivity]. destruct F as [[m e] E B C]. simpl in B, C.
    assert (Y : y = F2R (Float radix2 m (e + k))).
    { unfold y. rewrite E. unfold F2R. simpl. rewrite bpow_plus. ring. }
    apply generic_format_FLT. exists (Float radix2 m (e + k)); [exact Y | exact B|]. simpl.
    destruct (Z.le_gt_cases (-1074) (e + k)) as [K|K]; [exact K|]. exfalso.
    assert (Rabs y < bpow radix2 (-1021)); [|lra]. rewrite Y. apply F2R_lt_bpow. simpl Fnum. simpl Fexp.
    apply Z.lt_le_trans with (2 ^ 53)%Z; [exact B|]. change (2 ^ 53 <= 2 ^ (-1021 - (e + k)))%Z. apply Z.pow_le_mono_r; lia.
Qed.
Lemma power_spec c : power c = true -> exists k, val c = bpow radix2 k.
Proof.
  unfold power. rewrite andb_true_iff, Pos.eqb_eq, Z.eqb_eq. intros [D M]. exists (Z.log2 (man c) - Z.of_N (ex c))%Z.
  unfold val. rewrite D, two_pow, Rmult_1_r. rewrite M at 1. unfold Zminus. rewrite bpow_plus, bpow_opp, !bpow_IZR by (try apply Z.log2_nonneg; lia).
  reflexivity.
Qed.
Lemma dot_shift d : forall ws vs z Z, Forall2 (fun w v => Rabs (w - v) <= d) ws vs -> sized z Z -> 0 <= d ->
  Rabs (dotR ws z - dotR vs z) <= d * sumR Z.
Proof.
  intros ws vs z Z F. revert z Z. induction F as [|w v ws vs H F IH]; intros z Z S D.
  - simpl. destruct S; simpl; rewrite Rminus_0_r, Rabs_R0; [lra|].
    assert (0 <= sumR (Y :: Ys)); [|simpl in *; nra]. clear - H S. simpl. pose proof (Rabs_pos y).
    assert (0 <= sumR Ys) by (clear - S; induction S; simpl; [lra | pose proof (Rabs_pos y); lra]). lra.
  - destruct S as [|y Y z Z Hy S]; simpl; [rewrite Rminus_0_r, Rabs_R0; lra|].
    specialize (IH z Z S D). replace (w * y + dotR ws z - (v * y + dotR vs z)) with ((w - v) * y + (dotR ws z - dotR vs z)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult. pose proof (Rabs_pos (w - v)). pose proof (Rabs_pos y).
    assert (Rabs (w - v) * Rabs y <= d * Y) by (apply Rmult_le_compat; lra). lra.
Qed.
Lemma abs_shift d : forall ws vs Z, Forall2 (fun w v => Rabs (w - v) <= d) ws vs -> Forall (fun z => 0 <= z) Z -> 0 <= d ->
  dotR (map Rabs ws) Z <= dotR (map Rabs vs) Z + d * sumR Z /\ sumR (map Rabs ws) <= sumR (map Rabs vs) + INR (length ws) * d.
Proof.
  intros ws vs Z F. revert Z. induction F as [|w v ws vs H F IH]; intros Z P D.
  - simpl. split; [|lra]. assert (0 <= sumR Z) by (clear - P; induction P; simpl; lra). destruct Z; simpl in *; nra.
  - assert (W : Rabs w <= Rabs v + d).
    { replace w with ((w - v) + v) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
    cbn [length]. rewrite S_INR. destruct Z as [|z Z].
    + destruct (IH [] (Forall_nil _) D) as [_ I2]. cbn [map sumR dotR]. split; [lra|]. lra.
    + inversion P; subst. destruct (IH Z H3 D) as [I1 I2]. cbn [map sumR dotR]. split; [|lra].
      assert (Rabs w * z <= (Rabs v + d) * z) by (apply Rmult_le_compat_r; lra). lra.
Qed.
Lemma sized_pos z Z : sized z Z -> Forall (fun v => 0 <= v) Z.
Proof. induction 1; constructor; auto. eapply Rle_trans; [apply Rabs_pos | eassumption]. Qed.

(* what a weight may lose where it is divided by c: underflow of the quotient, and the weight itself if it is flushed before *)
Definition lost (c : R) : R := eps * (1 + / c).
Lemma lost_eps c : 0 < c -> eps <= lost c /\ c * lost c = eps * (c + 1).
Proof.
  intro H. assert (0 < / c) by (apply Rinv_0_lt_compat; exact H). pose proof eps_pos. unfold lost. split; [nra | field; lra].
Qed.
(* weights w near g/c, a bias b' near b/c, their sum s in some order, the output v near s·c *)
Definition head_near (c : R) (gs : list R) (b : R) (z : list R) (v : R) : Prop :=
  exists ws b' s, Forall2 (fun w g => Rabs (w - g / c) <= lost c) ws gs /\ Rabs (b' - b / c) <= lost c /\ summed ws z b' s /\
    Rabs (v - s * c) <= eps.
Lemma head_error c gs b z Z v : 0 < c -> length gs = length z -> sized z Z -> INR (length gs + 5) * u < 1 -> head_near c gs b z v ->
  let n := length gs in
  Rabs (v - (dotR gs z + b)) <= gam (n + 5) * total gs Z b +
    (1 + gam (n + 5)) * (eta * Rmax 1 c) * (3 * INR n + 3 + sumR (map Rabs gs) + sumR Z).
Proof.
  intros Hc L Sz Hu (ws & b' & s & Fw & Fb & Hs & Hv) n. fold n in Hu.
  assert (Ic : 0 < / c) by (apply Rinv_0_lt_compat; exact Hc). pose proof eps_pos as Ep. pose proof eps_eta as Ee. pose proof eps_small as Es.
  destruct (lost_eps c Hc) as [Le Lc]. set (d := lost c) in *.
  assert (Lw : length ws = n) by (clear - Fw; unfold n; induction Fw; simpl; congruence).
  assert (Fd : Forall2 (fun w g => Rabs (w - g) <= d) ws (map (fun g => g / c) gs)) by (clear - Fw; induction Fw; simpl; constructor; auto).
  pose proof (sized_pos _ _ Sz) as Pz.
  destruct (abs_shift d ws _ Z Fd Pz ltac:(lra)) as [A1 A2]. rewrite Lw in A2.
  pose proof (dot_shift d ws _ z Z Fd Sz ltac:(lra)) as A3.
  assert (M1 : forall y, dotR (map (fun g => g / c) gs) y = dotR gs y / c).
  { clear. induction gs as [|g gs IH]; intros [|y ys]; simpl; try (unfold Rdiv; ring). rewrite IH. unfold Rdiv. ring. }
  assert (M2 : map Rabs (map (fun g => g / c) gs) = map (fun g => g / c) (map Rabs gs)).
  { clear - Ic. induction gs as [|g gs IH]; simpl; [reflexivity|]. rewrite IH. f_equal. unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ c)); lra. }
  assert (M3 : forall y, dotR (map (fun g => g / c) (map Rabs gs)) y = dotR (map Rabs gs) y / c).
  { clear. induction gs as [|g gs IH]; intros [|y ys]; simpl; try (unfold Rdiv; ring). rewrite IH. unfold Rdiv. ring. }
  assert (M4 : sumR (map (fun g => g / c) (map Rabs gs)) = sumR (map Rabs gs) / c).
  { clear. induction gs as [|g gs IH]; simpl; [unfold Rdiv; ring|]. rewrite IH. unfold Rdiv. ring. }
  rewrite M2 in A1, A2. rewrite M3 in A1. rewrite M4 in A2. rewrite M1 in A3.
  set (T0 := dotR (map Rabs gs) Z) in *. set (W := sumR (map Rabs gs)) in *. set (S := sumR Z) in *.
  assert (S0 : 0 <= S) by (clear - Pz; unfold S; induction Pz; simpl; lra).
  assert (W0 : 0 <= W) by (clear; unfold W; induction gs; simpl; [lra | pose proof (Rabs_pos a); lra]).
  assert (Bb : Rabs b' <= Rabs b / c + d).
  { replace b' with ((b' - b / c) + b / c) by ring. eapply Rle_trans; [apply Rabs_triang|].
    assert (Rabs (b / c) = Rabs b / c) by (unfold Rdiv; rewrite Rabs_mult, (Rabs_pos_eq (/ c)); lra). lra. }
  pose proof (summed_sharp ws z Z b' s (eq_trans Lw L) Sz ltac:(rewrite Lw; exact Hu) Hs) as B. rewrite Lw in B.
  pose proof (P_gam _ Hu) as G. pose proof (P_ge (n + 5)) as G1. unfold sharp in B. set (g := gam (n + 5)) in *. fold S in B.
  set (T := T0 + Rabs b). assert (Tt : total gs Z b = T) by reflexivity. rewrite Tt.
  pose proof (pos_INR n) as Np.
  assert (Ht : total ws Z b' <= T / c + d * (S + 1)) by (unfold total, T; unfold Rdiv in *; lra).
  assert (Gp : 0 <= g) by lra.
  assert (B2 : Rabs (s - (dotR ws z + b')) <= g * (T / c + d * (S + 1)) + (1 + g) * (eps * (2 * INR n + 9 + (W / c + INR n * d) + S))).
  { eapply Rle_trans; [exact B|]. apply Rplus_le_compat; [apply Rmult_le_compat_l; lra|].
    apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; lra. }
  assert (B3 : Rabs (s * c - (dotR gs z + b)) <=
    c * (g * (T / c + d * (S + 1)) + (1 + g) * (eps * (2 * INR n + 9 + (W / c + INR n * d) + S)) + d * (S + 1))).
  { replace (s * c - (dotR gs z + b)) with (c * ((s - (dotR ws z + b')) + (dotR ws z - dotR gs z / c) + (b' - b / c))) by (field; lra).
    rewrite Rabs_mult, (Rabs_pos_eq c) by lra. apply Rmult_le_compat_l; [lra|].
    eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|]. lra. }
  replace (v - (dotR gs z + b)) with ((v - s * c) + (s * c - (dotR gs z + b))) by ring.
  eapply Rle_trans; [apply Rabs_triang|].
  assert (Q : c * (g * (T / c + d * (S + 1)) + (1 + g) * (eps * (2 * INR n + 9 + (W / c + INR n * d) + S)) + d * (S + 1)) =
    g * T + (1 + g) * eps * ((c + 1) * (S + 1) + c * (2 * INR n + 9 + S) + INR n * eps * (c + 1) + W)) by (unfold d, lost; field; lra).
  rewrite Q in B3. set (mx := Rmax 1 c). assert (X1 : 1 <= mx) by apply Rmax_l. assert (X2 : c <= mx) by apply Rmax_r.
  assert (F : eps + (1 + g) * eps * ((c + 1) * (S + 1) + c * (2 * INR n + 9 + S) + INR n * eps * (c + 1) + W) <=
    (1 + g) * (4 * eps * mx) * (3 * INR n + 3 + W + S)).
  { apply Rle_trans with ((1 + g) * eps * (mx * (4 * (3 * INR n + 3 + W + S)))); [|right; ring].
    apply Rle_trans with ((1 + g) * eps * (1 + ((c + 1) * (S + 1) + c * (2 * INR n + 9 + S) + INR n * eps * (c + 1) + W))); [nra|].
    apply Rmult_le_compat_l; [nra|].
    assert (N0 : 0 <= INR n * eps <= INR n) by nra.
    assert (J1 : (c + 1) * (S + 1) <= 2 * mx * (S + 1)) by (apply Rmult_le_compat_r; lra).
    assert (J2 : c * (2 * INR n + 9 + S) <= mx * (2 * INR n + 9 + S)) by (apply Rmult_le_compat_r; lra).
    assert (J3 : INR n * eps * (c + 1) <= INR n * (2 * mx)) by (apply Rmult_le_compat; lra).
    assert (W <= mx * W) by nra. assert (0 <= mx * INR n) by nra. assert (0 <= mx * S) by nra. lra. }
  assert (F2 : (1 + g) * (4 * eps * mx) * (3 * INR n + 3 + W + S) <= (1 + g) * (eta * mx) * (3 * INR n + 3 + W + S)).
  { apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_r; lra. }
  lra.
Qed.

Lemma head_err_sound i p z h e : Near i p z ->
  head_err (map e_size i) (map e_err i) (map reach i) (norm (fold_right add zero (map reach i))) h = Some e ->
  0 < val (snd h) /\
  (exists v, output_value z h = Some v /\ head_near (val (snd h)) (map val (fst (fst h))) (val (snd (fst h))) z v) /\
  forall v, head_near (val (snd h)) (map val (fst (fst h))) (val (snd (fst h))) z v -> Rabs (v - exact_row p (fst h)) <= val e.
Proof.
  intros N H. destruct h as [[row b] ct]. unfold head_err in H. destruct (andb _ _) eqn:T; [|discriminate]. injection H as <-.
  rewrite !andb_true_iff in T. destruct T as [[[T1 T2] [[T3 T4] T5]] [[T6 T7] [T8 T9]]]. cbn [fst snd].
  destruct (power_spec _ T1) as (k & Hk). assert (Hc : 0 < val ct) by (rewrite Hk; apply bpow_gt_0).
  pose proof (Near_sized _ _ _ N) as Sz. destruct (Near_length _ _ _ N) as [Lu Lv]. pose proof (Near_errors _ _ _ N (map val row)) as E0.
  pose proof (fits_gamma_spec _ T4) as Hu. pose proof T3 as T3'. apply Nat.eqb_eq in T3. rewrite map_length in T3.
  simpl in T5. apply andb_true_iff in T5. destruct T5 as [Fb Fr].
  set (inputs := norm (fold_right add zero (map reach i))) in *.
  set (e0 := add (mul (gammaT (length row)) (norm (add (abs_dot row (map reach i)) (absT b))))
    (mul (mul (add one (gammaT (length row))) (mul etaT (maxT one ct))) (add (add (fromZ (3 * Z.of_nat (length row) + 3)) (abs_sum row)) inputs))) in *.
  assert (Ve : val (norm (add (abs_dot row (map e_err i)) e0)) = dotR (map Rabs (map val row)) (map val (map e_err i)) + val e0).
  { rewrite val_norm, val_add, val_abs_dot. reflexivity. }
  assert (Fits : head_fits (map reach i) inputs (row, b, ct) = true).
  { unfold head_fits. fold e0. rewrite T2, T3', T4, T6, T7. simpl. apply ltb_spec in T8. apply ltb_spec in T9.
    rewrite val_add, Ve in T8, T9. apply andb_true_iff. split; unfold ltb; apply negb_true_iff;
      match goal with |- leb ?a ?b = false => destruct (leb a b) eqn:Q; [|reflexivity] end;
      apply leb_val in Q; rewrite val_add in Q; exfalso; lra. }
  split; [exact Hc|]. split.
  - destruct (head_sound _ _ _ Fits (reach_inputs i) z Sz) as (b' & s & v & _ & O & M & F & Eb). cbn [fst snd] in *.
    exists v. split; [exact O|]. exists (map (fun g => rnd (val g / val ct)) row), b', s.
    assert (Dv : forall x, fmt x -> Rabs (rnd (x / val ct) - x / val ct) <= lost (val ct)).
    { intros x Fx. eapply Rle_trans; [|apply (lost_eps _ Hc)]. rewrite Hk. unfold Rdiv. rewrite <- bpow_opp. apply scaled_exact. exact Fx. }
    split; [|split; [|split]].
    + rewrite forallb_forall in Fr. clear - Fr Dv. induction row as [|g row IH]; simpl; constructor.
      * apply Dv, floatb_spec, Fr. left. reflexivity.
      * apply IH. intros x X. apply Fr. right. exact X.
    + rewrite Eb. apply Dv, floatb_spec. exact Fb.
    + apply fsum_summed; [|exact F]. rewrite map_length. exact (eq_trans T3 (eq_sym Lv)).
    + rewrite (fl_rnd _ _ M), Hk. apply scaled_exact. apply (fsum_fmt _ _ _ _) with (2 := F). rewrite Eb.
      apply generic_format_round; auto with typeclass_instances.
  - intros v Hv. assert (Ln : length (map val row) = length z) by (rewrite map_length; exact (eq_trans T3 (eq_sym Lv))).
    pose proof (head_error _ _ _ z _ v Hc Ln Sz ltac:(rewrite map_length; exact Hu) Hv) as B. cbv zeta in B.
    destruct (Near_dot _ _ _ N (map val row)) as [D1 _]. eapply Rle_trans; [|right; symmetry; exact Ve]. unfold exact_row. cbn [fst snd].
    replace (v - (dotR (map val row) p + val b)) with ((v - (dotR (map val row) z + val b)) + (dotR (map val row) z - dotR (map val row) p)) by ring.
    eapply Rle_trans; [apply Rabs_triang|].
    assert (V0 : val e0 = gam (length (map val row) + 5) * total (map val row) (map val (map reach i)) (val b) +
      (1 + gam (length (map val row) + 5)) * (eta * Rmax 1 (val ct)) * (3 * INR (length (map val row)) + 3 + sumR (map Rabs (map val row)) + sumR (map val (map reach i)))).
    { rewrite map_length. unfold e0, total. repeat rewrite ?val_norm, ?val_add, ?val_mul, ?val_one, ?val_etaT, ?val_maxT, ?val_absT, ?val_fromZ.
      rewrite val_abs_dot, val_abs_sum, (val_gammaT _ T4), plus_IZR, mult_IZR, <- INR_IZR_INZ. unfold inputs. rewrite reach_inputs. reflexivity. }
    lra.
Qed.
