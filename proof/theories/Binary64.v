(** Float64 as the network computes it: round to nearest even, gradual underflow, and no result where a number
    overflows. A sum is evaluated in one order, ((b + w1·y1) + w2·y2) + …, each product rounded before it is added:
    sections 5.1 and 5.2. *)
From Coq Require Import Reals List Bool Lra Lia ZArith Permutation.
From Flocq Require Import Core.
From Smile Require Import Float.
Import ListNotations.
Open Scope R_scope.

Definition top : R := bpow radix2 1024.
Definition huge : R := bpow radix2 1000.
Definition fmt (x : R) : Prop := generic_format radix2 fexp x.

(** the float nearest to x; [None] if it overflows *)
Definition fl (x : R) : option R := if Rlt_bool (Rabs (rnd x)) top then Some (rnd x) else None.

Fixpoint fsum (acc : R) (ws ys : list R) : option R :=
  match ws, ys with
  | w :: ws', y :: ys' =>
      match fl (w * y) with
      | Some p => match fl (acc + p) with Some a => fsum a ws' ys' | None => None end
      | None => None
      end
  | _, _ => Some acc
  end.

(** ** Single operations *)
Lemma fl_rnd x v : fl x = Some v -> v = rnd x.
Proof. unfold fl. destruct (Rlt_bool _ _); congruence. Qed.
Lemma fl_fmt x v : fl x = Some v -> fmt v.
Proof. intro H. rewrite (fl_rnd _ _ H). apply generic_format_round; auto with typeclass_instances. Qed.
Lemma fl_small x M : Rabs x <= M -> M <= bpow radix2 1023 -> fl x = Some (rnd x).
Proof.
  intros H1 H2. unfold fl. rewrite Rlt_bool_true; [reflexivity|].
  apply Rle_lt_trans with (bpow radix2 1023); [|apply bpow_lt; lia].
  apply abs_round_le_generic; auto with typeclass_instances; [|lra].
  apply generic_format_bpow. unfold FLT_exp. lia.
Qed.
Lemma rnd_mono x y : x <= y -> rnd x <= rnd y.
Proof. apply round_le; auto with typeclass_instances. Qed.
Lemma rnd_zero : rnd 0 = 0.
Proof. apply round_0. auto with typeclass_instances. Qed.
Lemma rnd_id x : fmt x -> rnd x = x.
Proof. intro. apply round_generic; auto with typeclass_instances. Qed.
Lemma fl_mono x y a b : fl x = Some a -> fl y = Some b -> x <= y -> a <= b.
Proof. intros H1 H2 L. rewrite (fl_rnd _ _ H1), (fl_rnd _ _ H2). apply rnd_mono. exact L. Qed.
Lemma rnd_is_near c x : 1 <= c -> near c x (rnd x).
Proof. intro H. apply flushed_near; [exact H | left; reflexivity]. Qed.
Lemma huge_top : 2 * huge <= bpow radix2 1023.
Proof.
  unfold huge. replace (2 * bpow radix2 1000) with (bpow radix2 1001); [apply bpow_le; lia|].
  change 1001%Z with (1 + 1000)%Z. rewrite bpow_plus. reflexivity.
Qed.
Lemma huge_pos : 1 <= huge.
Proof. unfold huge. change 1 with (bpow radix2 0). apply bpow_le. lia. Qed.
Lemma rnd_err x : Rabs (rnd x - x) <= u * Rabs x + eps.
Proof.
  destruct (rnd_near x) as [d [r [Hd [Hr E]]]]. rewrite E. replace (x * (1 + d) + r - x) with (x * d + r) by ring.
  pose proof tiny. pose proof (bpow_gt_0 radix2 (-1022)).
  eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult. pose proof (Rabs_pos x). nra.
Qed.

(** ** A sum: no overflow, and LIN *)
Fixpoint dotR (ws ys : list R) : R := match ws, ys with w :: ws', y :: ys' => w * y + dotR ws' ys' | _, _ => 0 end.
Fixpoint sumR (l : list R) : R := match l with [] => 0 | a :: l' => a + sumR l' end.
Fixpoint prods (ws ys : list R) : list leaf :=
  match ws, ys with w :: ws', y :: ys' => prod w y :: prods ws' ys' | _, _ => [] end.

Definition bound (n : nat) (l : list leaf) : R := P n * sum size l + P n * (eps * (sum cost l - 1)).
Lemma cost_nonneg l : Forall (fun p => 0 <= cost p) l -> 0 <= sum cost l.
Proof. induction 1; simpl; lra. Qed.
Lemma prods_cost ws : forall ys, Forall (fun p => 0 <= cost p) (prods ws ys).
Proof.
  induction ws as [|w ws IH]; intros [|y ys]; simpl; constructor; auto.
  simpl. pose proof (Rabs_pos w). pose proof (Rabs_pos y). lra.
Qed.
Lemma bound_le n s c l : s <= sum size l -> c <= sum cost l - 1 -> P n * s + P n * (eps * c) <= bound n l.
Proof.
  intros H1 H2. unfold bound. pose proof (P_ge n). pose proof eps_pos.
  assert (eps * c <= eps * (sum cost l - 1)) by (apply Rmult_le_compat_l; lra).
  apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
Qed.
Lemma any_bound t v n : eval t v -> (length (leaves t) <= n)%nat -> Rabs v <= bound n (leaves t).
Proof.
  intros E H. pose proof (any_order t v E n H) as A. pose proof (term_size (leaves t)) as S. unfold bound.
  replace v with ((v - sum term (leaves t)) + sum term (leaves t)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

Lemma fsum_tree n ws : forall ys t a, eval t a -> length ws = length ys ->
  (length (leaves t) + length ws <= n)%nat -> bound n (leaves t ++ prods ws ys) <= bpow radix2 1023 ->
  (forall w y, Rabs (w * y) <= bound n [prod w y]) ->
  exists t' v, fsum a ws ys = Some v /\ eval t' v /\ leaves t' = leaves t ++ prods ws ys.
Proof.
  induction ws as [|w ws IH]; intros [|y ys] t a E L N B Q; simpl in L; try discriminate.
  - exists t, a. simpl. rewrite app_nil_r. auto.
  - simpl in *. assert (Pn := P_ge n). assert (Ep := eps_pos).
    assert (E1 : eval (Prod w y) (rnd (w * y))).
    { constructor. apply rnd_is_near. pose proof (Rabs_pos w). pose proof (Rabs_pos y). lra. }
    assert (B1 : bound n [prod w y] <= bpow radix2 1023).
    { eapply Rle_trans; [|exact B]. pose proof (sum_nonneg size (leaves t) size_nonneg). pose proof (cost_one t).
      pose proof (cost_nonneg _ (prods_cost ws ys)). pose proof (sum_nonneg size (prods ws ys) size_nonneg).
      unfold bound at 1. apply bound_le; rewrite sum_app; simpl; fold (sum size (prods ws ys)) (sum cost (prods ws ys)); lra. }
    rewrite (fl_small (w * y) _ (Q w y) B1).
    assert (E2 : eval (Add t (Prod w y)) (rnd (a + rnd (w * y)))) by (econstructor; eauto; apply rnd_is_near; lra).
    assert (B2 : Rabs (a + rnd (w * y)) <= bpow radix2 1023).
    { pose proof (any_bound t a n E ltac:(lia)) as A1. pose proof (any_bound _ _ n E1 ltac:(simpl; lia)) as A2.
      simpl in A2. eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [|exact B].
      pose proof (cost_nonneg _ (prods_cost ws ys)). pose proof (sum_nonneg size (prods ws ys) size_nonneg).
      apply Rle_trans with (P n * (sum size (leaves t) + sum size [prod w y])
        + P n * (eps * (sum cost (leaves t) - 1 + (sum cost [prod w y] - 1)))); [unfold bound in *; lra|].
      apply bound_le; rewrite sum_app; simpl; fold (sum size (prods ws ys)) (sum cost (prods ws ys)); lra. }
    rewrite (fl_small _ _ B2 (Rle_refl _)).
    destruct (IH ys (Add t (Prod w y)) (rnd (a + rnd (w * y)))) as [t' [v [F1 [F2 F3]]]]; auto.
    + simpl. rewrite app_length. simpl. lia.
    + simpl. rewrite <- app_assoc. exact B.
    + exists t', v. split; [exact F1|]. split; [exact F2|]. rewrite F3. simpl. rewrite <- app_assoc. reflexivity.
Qed.

(* LIN of inputs that are exact floats, and the size of the sum *)
Definition lin_err (n : nat) (total weights inputs : R) : R :=
  gam (n + 5) * total + (1 + gam (n + 5)) * eta * (3 * INR n + 3 + weights + inputs).
Definition total (ws Ys : list R) (b : R) : R := dotR (map Rabs ws) Ys + Rabs b.

Fixpoint inputs_of (ws ys Ys : list R) : list input :=
  match ws, ys, Ys with
  | w :: ws', y :: ys', Y :: Ys' => In_ w y y Y 0 :: inputs_of ws' ys' Ys'
  | _, _, _ => []
  end.
Inductive sized : list R -> list R -> Prop :=
| sized_nil : sized [] []
| sized_cons y Y ys Ys : Rabs y <= Y -> sized ys Ys -> sized (y :: ys) (Y :: Ys).
Lemma sized_length ys Ys : sized ys Ys -> length ys = length Ys.
Proof. induction 1; simpl; congruence. Qed.

Lemma inputs_facts ws : forall ys Ys, length ws = length ys -> sized ys Ys ->
  let l := inputs_of ws ys Ys in
  length l = length ws /\ Forall fine l /\ tot (fun i => w i * ye i) l = dotR ws ys /\
  tot (fun i => Rabs (w i) * e i) l = 0 /\ tot (fun i => Rabs (w i) * (Y i + e i)) l = dotR (map Rabs ws) Ys /\
  tot (fun i => Rabs (w i)) l = sumR (map Rabs ws) /\ tot (fun i => Y i + e i) l = sumR Ys /\
  map (fun i => prod (w i) (yh i)) l = prods ws ys.
Proof.
  induction ws as [|v ws IH]; intros ys Ys L S; destruct S as [|y Y' ys Ys H S]; simpl in *; try discriminate.
  - repeat split; constructor.
  - injection L as L. destruct (IH ys Ys L S) as (A & B & C & D & F & G & I & J).
    repeat split; [congruence | | lra | lra | lra | lra | lra | congruence].
    constructor; [|exact B]. unfold fine. simpl. rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. lra.
Qed.

Lemma slack n A B C D : (n + 5 <= n + 5)%nat -> INR (n + 5) * u < 1 -> 0 <= A <= B -> 1 <= C -> C - 1 <= D ->
  P (n + 5) * A + P (n + 5) * (eps * (C - 1)) <= B + gam (n + 5) * B + (1 + gam (n + 5)) * eta * D.
Proof.
  intros _ Hu HA HC HD. pose proof (P_gam _ Hu) as G. pose proof (P_ge (n + 5)) as G1. pose proof eps_pos.
  pose proof eps_eta. assert (T0 : 0 <= eps * (C - 1)) by nra. assert (T1 : eps * (C - 1) <= eta * D) by nra.
  assert (P (n + 5) * A <= (1 + gam (n + 5)) * B) by (apply Rmult_le_compat; lra).
  assert (P (n + 5) * (eps * (C - 1)) <= (1 + gam (n + 5)) * (eta * D)) by (apply Rmult_le_compat; lra). lra.
Qed.

Lemma prods_sum ws : forall ys Ys, length ws = length ys -> sized ys Ys ->
  0 <= sum size (prods ws ys) <= dotR (map Rabs ws) Ys /\
  sum cost (prods ws ys) <= 2 * INR (length ws) + sumR (map Rabs ws) + sumR Ys /\ 0 <= sumR Ys /\
  0 <= sumR (map Rabs ws).
Proof.
  induction ws as [|v ws IH]; intros ys Ys L S; destruct S as [|y Y' ys Ys H S]; simpl in L; try discriminate.
  - simpl. lra.
  - injection L as L. destruct (IH ys Ys L S) as (A & B & C & D). cbn [length map].
    replace (sum size (prods (v :: ws) (y :: ys))) with (Rabs v * Rabs y + sum size (prods ws ys))
      by (simpl; f_equal; symmetry; apply Rabs_mult).
    replace (sum cost (prods (v :: ws) (y :: ys))) with (2 + Rabs v + Rabs y + sum cost (prods ws ys)) by reflexivity.
    cbn [dotR sumR]. rewrite S_INR. pose proof (Rabs_pos v). pose proof (Rabs_pos y).
    assert (Rabs v * Rabs y <= Rabs v * Y') by (apply Rmult_le_compat_l; assumption).
    assert (0 <= Rabs v * Rabs y) by (apply Rmult_le_pos; assumption). lra.
Qed.

Theorem fsum_sound ws ys Ys b : length ws = length ys -> sized ys Ys -> INR (length ws + 5) * u < 1 ->
  let E := lin_err (length ws) (total ws Ys b) (sumR (map Rabs ws)) (sumR Ys) in
  total ws Ys b + E <= 2 * huge ->
  exists v, fsum b ws ys = Some v /\ Rabs (v - (dotR ws ys + b)) <= E /\ Rabs v <= total ws Ys b + E.
Proof.
  intros L S Hu E HE. pose proof (prods_sum ws ys Ys L S) as (A & B & C & D). pose proof eps_pos as Ep.
  pose proof (Rabs_pos b) as Hb. pose proof (pos_INR (length ws)) as Hn.
  assert (E0 : eval (Cst b) b).
  { constructor. exists 0, 0. rewrite Rabs_R0. pose proof u_pos. repeat split; lra. }
  assert (Bd : bound (length ws + 5) (leaves (Cst b) ++ prods ws ys) <= total ws Ys b + E).
  { unfold bound. simpl. fold (sum size (prods ws ys)) (sum cost (prods ws ys)).
    unfold size at 1. simpl. unfold E, lin_err.
    pose proof (cost_nonneg _ (prods_cost ws ys)).
    replace (Rabs b + sum size (prods ws ys)) with (sum size (prods ws ys) + Rabs b) by ring.
    pose proof (slack (length ws) (sum size (prods ws ys) + Rabs b) (total ws Ys b) (2 + sum cost (prods ws ys))
      (3 * INR (length ws) + 3 + sumR (map Rabs ws) + sumR Ys) (le_n _) Hu) as Sl.
    unfold total in *. lra. }
  destruct (fsum_tree (length ws + 5) ws ys (Cst b) b E0 L) as [t [v [F1 [F2 F3]]]].
  - simpl. lia.
  - pose proof huge_top. lra.
  - intros w y. unfold bound. simpl. unfold size. simpl. pose proof (P_ge (length ws + 5)). pose proof (Rabs_pos (w * y)).
    pose proof (Rabs_pos w). pose proof (Rabs_pos y). assert (0 <= eps * (1 + Rabs w + Rabs y)) by nra. nra.
  - exists v. split; [exact F1|].
    destruct (inputs_facts ws ys Ys L S) as (I1 & I2 & I3 & I4 & I5 & I6 & I7 & I8).
    assert (O : orders t (inputs_of ws ys Ys) b).
    { exists 0%nat. split; [lia|]. rewrite F3, I8. simpl. apply Permutation_cons_append. }
    pose proof (LIN_sound t _ b v O F2 I2) as Lin. rewrite I1 in Lin. specialize (Lin Hu).
    unfold LIN in Lin. rewrite I1, I3, I4, I5, I6, I7 in Lin. split; [unfold E, lin_err, total; lra|].
    pose proof (any_bound t v (length ws + 5) F2) as Av. rewrite F3 in Av. eapply Rle_trans; [apply Av|exact Bd].
    simpl. assert (Lp : forall a b, (length (prods a b) <= length a)%nat).
    { induction a as [|x a IHa]; intros [|y b']; simpl; try lia. specialize (IHa b'). lia. }
    specialize (Lp ws ys). lia.
Qed.

Lemma fsum_fmt ws : forall ys a v, fmt a -> fsum a ws ys = Some v -> fmt v.
Proof.
  induction ws as [|w ws IH]; intros [|y ys] a v F H; simpl in H; try (injection H as <-; exact F).
  destruct (fl (w * y)); [|discriminate]. destruct (fl (a + r)) eqn:E; [|discriminate].
  apply (IH _ _ _ (fl_fmt _ _ E) H).
Qed.
(** weights that are all zero give the constant *)
Lemma fsum_zero ws : forall ys, Forall (fun w => w = 0) ws -> fsum 0 ws ys = Some 0.
Proof.
  induction ws as [|w ws IH]; intros [|y ys] Z; simpl; try reflexivity.
  inversion Z; subst. rewrite Rmult_0_l.
  assert (F : fl 0 = Some 0).
  { rewrite (fl_small 0 1); [rewrite rnd_zero; reflexivity | rewrite Rabs_R0; lra |].
    change 1 with (bpow radix2 0). apply bpow_le. lia. }
  rewrite F, Rplus_0_r, F. auto.
Qed.
