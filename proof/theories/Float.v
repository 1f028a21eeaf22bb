(** Rounding of a sum of products in any order: section 5.1, LIN. Binary64 with gradual underflow or flushing. *)
From Coq Require Import Reals List Lra Lia Psatz Permutation ZArith.
From Flocq Require Import Core Relative.
Import ListNotations.
Open Scope R_scope.

Definition u : R := bpow radix2 (-53).
Definition eps : R := bpow radix2 (-1021).      (* what underflow, a flushed result or operand may take, generously *)
Definition eta : R := bpow radix2 (-126).

Notation fexp := (FLT_exp (-1074) 53).
Notation rnd := (round radix2 fexp ZnearestE).

(** a result v of exact value x: rounded to nearest, then perhaps flushed *)
Definition near (c x v : R) : Prop := exists d r, Rabs d <= u /\ Rabs r <= eps * c /\ v = x * (1 + d) + r.

Lemma u_pos : 0 < u. Proof. apply bpow_gt_0. Qed.
Lemma eps_pos : 0 < eps. Proof. apply bpow_gt_0. Qed.
Lemma eps_eta : 4 * eps <= eta.
Proof.
  unfold eps, eta. replace 4 with (bpow radix2 2) by (simpl; lra). rewrite <- bpow_plus. apply bpow_le. lia.
Qed.

#[export] Instance p53 : Prec_gt_0 53. Proof. unfold Prec_gt_0. lia. Qed.

(** rounding to nearest is such a result, and so is flushing it to zero if it is subnormal *)
Lemma rnd_near x : exists d r, Rabs d <= u /\ Rabs r <= bpow radix2 (-1075) /\ rnd x = x * (1 + d) + r.
Proof.
  destruct (error_N_FLT radix2 (-1074) 53 ltac:(lia) (fun z => negb (Z.even z)) x) as [d [r [Hd [Hr [_ E]]]]].
  exists d, r. split; [|split].
  - unfold u. replace (bpow radix2 (-53)) with (/ 2 * bpow radix2 (- 53 + 1)); [exact Hd|].
    change (-53 + 1)%Z with (-52)%Z. change (-53)%Z with (-1 + -52)%Z. rewrite bpow_plus. simpl (bpow radix2 (-1)). lra.
  - replace (bpow radix2 (-1075)) with (/ 2 * bpow radix2 (-1074)); [exact Hr|].
    change (-1075)%Z with (-1 + -1074)%Z. rewrite bpow_plus. simpl (bpow radix2 (-1)). lra.
  - exact E.
Qed.
Lemma tiny : bpow radix2 (-1075) + bpow radix2 (-1022) <= eps.
Proof.
  unfold eps. change (-1021)%Z with (1 + -1022)%Z. rewrite bpow_plus. simpl (bpow radix2 1).
  assert (bpow radix2 (-1075) <= bpow radix2 (-1022)) by (apply bpow_le; lia). lra.
Qed.
Definition flushed (v w : R) : Prop := w = v \/ (Rabs v < bpow radix2 (-1022) /\ w = 0).
Lemma flushed_near c x w : 1 <= c -> flushed (rnd x) w -> near c x w.
Proof.
  intros Hc F. destruct (rnd_near x) as [d [r [Hd [Hr E]]]]. pose proof tiny. pose proof eps_pos.
  pose proof (bpow_gt_0 radix2 (-1022)). pose proof (bpow_gt_0 radix2 (-1075)).
  destruct F as [->|[S ->]].
  - exists d, r. repeat split; auto. nra.
  - exists d, (r - rnd x). split; [exact Hd|]. split; [|rewrite E; ring].
    apply Rle_trans with (Rabs r + Rabs (rnd x)); [unfold Rminus; rewrite <- (Rabs_Ropp (rnd x)); apply Rabs_triang|]. nra.
Qed.

(** Partial sums that start from zero: adding zero changes nothing that its operand could not have suffered itself. And a
    term of weight zero that is left out: the sum without it is one of the sums with it. *)
Lemma zero_start x v w : flushed (rnd x) v -> flushed (rnd (0 + v)) w -> flushed (rnd x) w.
Proof.
  intros F G. rewrite Rplus_0_l in G. destruct F as [->|[S ->]].
  - rewrite round_generic in G; [exact G | auto with typeclass_instances|]. apply generic_format_round; auto with typeclass_instances.
  - rewrite round_0 in G by auto with typeclass_instances. right. split; [exact S|]. destruct G as [->|[_ ->]]; reflexivity.
Qed.
Lemma near_same c x : 0 <= c -> near c x x.
Proof.
  intro H. exists 0, 0. rewrite Rabs_R0. pose proof u_pos. pose proof eps_pos. repeat split; [lra | nra | ring].
Qed.
Lemma zero_weight y a : near (1 + Rabs 0 + Rabs y) (0 * y) 0 /\ near 1 (0 + a) a.
Proof.
  split.
  - rewrite Rmult_0_l. apply near_same. rewrite Rabs_R0. pose proof (Rabs_pos y). lra.
  - rewrite Rplus_0_l. apply near_same. lra.
Qed.

(** ** Evaluation orders *)
Inductive tree :=
| Prod (w y : R)                (* a rounded product *)
| Cst (b : R)                   (* the bias, or a zero that a kernel starts from *)
| Add (l r : tree)
| Fma (w y : R) (t : tree).     (* w·y + t, rounded once *)

Inductive eval : tree -> R -> Prop :=
| eval_prod w y v : near (1 + Rabs w + Rabs y) (w * y) v -> eval (Prod w y) v
| eval_cst b v : near 1 b v -> eval (Cst b) v
| eval_add l r a b v : eval l a -> eval r b -> near 1 (a + b) v -> eval (Add l r) v
| eval_fma w y t a v : eval t a -> near (1 + Rabs w + Rabs y) (w * y + a) v -> eval (Fma w y t) v.

(* a term of the sum, and what its product and one addition may lose to underflow, in units of eps *)
Record leaf := mkleaf { term : R; cost : R }.
Definition prod (w y : R) : leaf := mkleaf (w * y) (2 + Rabs w + Rabs y).
Definition cst (b : R) : leaf := mkleaf b 2.
Fixpoint leaves (t : tree) : list leaf :=
  match t with
  | Prod w y => [prod w y]
  | Cst b => [cst b]
  | Add l r => leaves l ++ leaves r
  | Fma w y t => prod w y :: leaves t
  end.
Definition sum (f : leaf -> R) (l : list leaf) : R := fold_right (fun p acc => f p + acc) 0 l.
Definition size (p : leaf) : R := Rabs (term p).

Lemma sum_app f l m : sum f (l ++ m) = sum f l + sum f m.
Proof. induction l; simpl; [ring | rewrite IHl; ring]. Qed.
Lemma sum_perm f l m : Permutation l m -> sum f l = sum f m.
Proof. induction 1; simpl; lra. Qed.
Lemma sum_nonneg f l : (forall p, 0 <= f p) -> 0 <= sum f l.
Proof. intro H. induction l; simpl; [lra | specialize (H a); lra]. Qed.
Lemma term_size l : Rabs (sum term l) <= sum size l.
Proof.
  induction l as [|p l IH]; simpl; [rewrite Rabs_R0; lra|].
  eapply Rle_trans; [apply Rabs_triang|]. unfold size at 1. lra.
Qed.
Lemma size_nonneg p : 0 <= size p. Proof. apply Rabs_pos. Qed.
Lemma leaves_one t : (1 <= length (leaves t))%nat.
Proof. induction t; simpl; rewrite ?app_length; lia. Qed.
Lemma cost_one t : 2 <= sum cost (leaves t).
Proof.
  induction t as [w y|b|l IHl r IHr|w y t IHt]; simpl; rewrite ?sum_app; try lra;
    pose proof (Rabs_pos w); pose proof (Rabs_pos y); lra.
Qed.

Definition P (n : nat) : R := (1 + u) ^ n.
Lemma P_ge n : 1 <= P n.
Proof. unfold P. apply pow_R1_Rle. pose proof u_pos. lra. Qed.
Lemma P_S n : P (S n) = (1 + u) * P n. Proof. reflexivity. Qed.
Lemma P_le n m : (n <= m)%nat -> P n <= P m.
Proof. intro. apply Rle_pow; [pose proof u_pos; lra | assumption]. Qed.

(* one more rounding: x̂ errs by e from x, v is a result of x̂ *)
Lemma step c n x xh v M K :
  0 <= c -> Rabs x <= M -> 0 <= K -> Rabs (xh - x) <= (P n - 1) * M + P n * (eps * K) -> near c xh v ->
  Rabs (v - x) <= (P (S n) - 1) * M + P (S n) * (eps * (K + c)).
Proof.
  intros Hc HM HK H [d [r [Hd [Hr ->]]]]. pose proof u_pos. pose proof eps_pos. pose proof (P_ge n).
  replace (xh * (1 + d) + r - x) with ((xh - x) * (1 + d) + (x * d + r)) by ring.
  eapply Rle_trans; [apply Rabs_triang|].
  assert (A1 : Rabs ((xh - x) * (1 + d)) <= ((P n - 1) * M + P n * (eps * K)) * (1 + u)).
  { rewrite Rabs_mult. apply Rmult_le_compat; try apply Rabs_pos; [exact H|].
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_R1. lra. }
  assert (A2 : Rabs (x * d + r) <= M * u + eps * c).
  { eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult.
    apply Rplus_le_compat; [apply Rmult_le_compat; try apply Rabs_pos; assumption | exact Hr]. }
  rewrite P_S. assert (0 <= eps * c) by nra. assert (0 <= eps * K) by nra.
  assert (G : 1 <= (1 + u) * P n) by nra.
  assert (eps * c <= (1 + u) * P n * (eps * c)).
  { rewrite <- (Rmult_1_l (eps * c)) at 1. apply Rmult_le_compat_r; lra. }
  lra.
Qed.

Theorem any_order t : forall v, eval t v -> forall n, (length (leaves t) <= n)%nat ->
  Rabs (v - sum term (leaves t)) <= (P n - 1) * sum size (leaves t) + P n * (eps * (sum cost (leaves t) - 1)).
Proof.
  induction t as [w y|b|l IHl r IHr|w y t IHt]; intros v E n Hn; inversion E; subst; pose proof eps_pos as Ep.
  - (* Prod *)
    simpl in *. destruct n as [|n]; [lia|]. unfold size. simpl.
    pose proof (Rabs_pos w). pose proof (Rabs_pos y). pose proof (P_ge n).
    rewrite !Rplus_0_r.
    eapply Rle_trans; [apply (step (1 + Rabs w + Rabs y) n (w * y) (w * y) v (Rabs (w * y)) 0); try lra; auto|].
    + rewrite Rminus_diag_eq by reflexivity. rewrite Rabs_R0. pose proof (Rabs_pos (w * y)). nra.
    + right. ring.
  - (* Cst *)
    simpl in *. destruct n as [|n]; [lia|]. unfold size. simpl.
    pose proof (Rabs_pos b). pose proof (P_ge n). rewrite !Rplus_0_r.
    eapply Rle_trans; [apply (step 1 n b b v (Rabs b) 0); try lra; auto|].
    + rewrite Rminus_diag_eq by reflexivity. rewrite Rabs_R0. nra.
    + right. ring.
  - (* Add *)
    simpl in Hn. rewrite app_length in Hn. pose proof (leaves_one l). pose proof (leaves_one r).
    destruct n as [|n]; [lia|].
    specialize (IHl a ltac:(assumption) n ltac:(lia)). specialize (IHr b ltac:(assumption) n ltac:(lia)).
    simpl. rewrite !sum_app. pose proof (P_ge n).
    pose proof (term_size (leaves l)). pose proof (term_size (leaves r)).
    pose proof (cost_one l). pose proof (cost_one r).
    eapply Rle_trans; [apply (step 1 n (sum term (leaves l) + sum term (leaves r)) (a + b) v
      (sum size (leaves l) + sum size (leaves r)) (sum cost (leaves l) - 1 + (sum cost (leaves r) - 1))); try lra; auto|].
    + eapply Rle_trans; [apply Rabs_triang|]. lra.
    + replace (a + b - (sum term (leaves l) + sum term (leaves r)))
        with ((a - sum term (leaves l)) + (b - sum term (leaves r))) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. nra.
    + right. ring.
  - (* Fma *)
    simpl in Hn. destruct n as [|n]; [lia|]. specialize (IHt a ltac:(assumption) n ltac:(lia)).
    simpl. pose proof (P_ge n). pose proof (Rabs_pos w). pose proof (Rabs_pos y).
    pose proof (term_size (leaves t)). pose proof (cost_one t).
    assert (Ge : 0 <= P (S n) * eps) by (pose proof (P_ge (S n)); nra).
    eapply Rle_trans; [apply (step (1 + Rabs w + Rabs y) n (w * y + sum term (leaves t)) (w * y + a) v
      (Rabs (w * y) + sum size (leaves t)) (sum cost (leaves t) - 1)); try lra; auto|].
    + eapply Rle_trans; [apply Rabs_triang|]. lra.
    + replace (w * y + a - (w * y + sum term (leaves t))) with (a - sum term (leaves t)) by ring.
      eapply Rle_trans; [exact IHt|].
      assert (0 <= (P n - 1) * Rabs (w * y)) by (apply Rmult_le_pos; [lra | apply Rabs_pos]). nra.
    + unfold size at 2. simpl. nra.
Qed.

(** (1 + u)^n <= 1 / (1 - n·u) *)
Lemma gamma n : INR n * u < 1 -> P n * (1 - INR n * u) <= 1.
Proof.
  intro H. pose proof u_pos. induction n as [|n IH]; [unfold P; simpl; lra|].
  rewrite S_INR in H. rewrite P_S, S_INR. pose proof (pos_INR n). specialize (IH ltac:(nra)). pose proof (P_ge n).
  assert ((1 + u) * (1 - (INR n + 1) * u) <= 1 - INR n * u) by nra. nra.
Qed.

(** ** LIN of section 5.1 *)
Definition gam (n : nat) : R := INR n * u / (1 - INR n * u).
Lemma P_gam n : INR n * u < 1 -> P n - 1 <= gam n.
Proof.
  intro H. pose proof (gamma n H) as G. unfold gam. assert (0 < 1 - INR n * u) by lra.
  apply Rmult_le_reg_r with (1 - INR n * u); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

(* terms: (w, ŷ, y, Y, e): weight, computed input, exact input, its size and its error *)
Record input := In_ { w : R; yh : R; ye : R; Y : R; e : R }.
Definition fine (i : input) : Prop := Rabs (ye i) <= Y i /\ Rabs (yh i - ye i) <= e i.
Definition tot (f : input -> R) (l : list input) : R := fold_right (fun i acc => f i + acc) 0 l.
Definition LIN (l : list input) (b : R) : R :=
  let N := INR (length l) in
  let g := gam (length l + 5) in
  tot (fun i => Rabs (w i) * e i) l + g * (tot (fun i => Rabs (w i) * (Y i + e i)) l + Rabs b)
  + (1 + g) * eta * (3 * N + 3 + tot (fun i => Rabs (w i)) l + tot (fun i => Y i + e i) l).

(** t evaluates Σ w·ŷ + b in some order, with up to four zeros added *)
Definition orders (t : tree) (l : list input) (b : R) : Prop :=
  exists z, (z <= 4)%nat /\
    Permutation (leaves t) (map (fun i => prod (w i) (yh i)) l ++ cst b :: repeat (cst 0) z).

Lemma sum_map f l : sum f (map (fun i => prod (w i) (yh i)) l) = tot (fun i => f (prod (w i) (yh i))) l.
Proof. induction l; simpl; [reflexivity | rewrite IHl; reflexivity]. Qed.
Lemma sum_repeat f p n : sum f (repeat p n) = INR n * f p.
Proof. induction n; [simpl; ring|]. rewrite S_INR. simpl. rewrite IHn. ring. Qed.
Lemma tot_le f g l : Forall (fun i => f i <= g i) l -> tot f l <= tot g l.
Proof. induction 1; simpl; lra. Qed.
Lemma tot_plus f g l : tot (fun i => f i + g i) l = tot f l + tot g l.
Proof. induction l; simpl; lra. Qed.
Lemma tot_const c l : tot (fun _ => c) l = INR (length l) * c.
Proof. induction l; [simpl; ring|]. simpl length. rewrite S_INR. simpl. rewrite IHl. ring. Qed.

Theorem LIN_sound t l b v : orders t l b -> eval t v -> Forall fine l -> INR (length l + 5) * u < 1 ->
  Rabs (v - (tot (fun i => w i * ye i) l + b)) <= LIN l b.
Proof.
  intros [z [Hz Hp]] E F Hu.
  assert (Len : (length (leaves t) <= length l + 5)%nat).
  { rewrite (Permutation_length Hp), app_length, map_length. simpl. rewrite repeat_length. lia. }
  pose proof (any_order t v E _ Len) as A. clear E.
  rewrite !(sum_perm _ _ _ Hp), !sum_app in A. simpl in A. rewrite !sum_map, !sum_repeat in A.
  unfold size in A. simpl in A. rewrite !Rabs_R0, !Rmult_0_r in A.
  set (n := (length l + 5)%nat) in *. set (g := gam n).
  pose proof (P_gam n Hu) as G. fold g in G. pose proof (P_ge n) as G1.
  set (S := tot (fun i => w i * yh i) l) in *. set (X := tot (fun i => w i * ye i) l).
  set (A1 := tot (fun i => Rabs (w i * yh i)) l) in *.
  set (A2 := tot (fun i => Rabs (w i) * (Y i + e i)) l).
  set (B1 := tot (fun i => 2 + Rabs (w i) + Rabs (yh i)) l) in *.
  set (W := tot (fun i => Rabs (w i)) l). set (Z := tot (fun i => Y i + e i) l).
  set (D := tot (fun i => Rabs (w i) * e i) l).
  assert (Yh : forall i, fine i -> Rabs (yh i) <= Y i + e i).
  { intros i [F1 F2]. replace (yh i) with (ye i + (yh i - ye i)) by ring. eapply Rle_trans; [apply Rabs_triang | lra]. }
  assert (HA : A1 <= A2).
  { apply tot_le. eapply Forall_impl; [|exact F]. intros i Hi. rewrite Rabs_mult.
    apply Rmult_le_compat_l; [apply Rabs_pos | apply Yh; exact Hi]. }
  assert (HB : B1 <= 2 * INR (length l) + W + Z).
  { unfold B1, W, Z. rewrite (tot_plus (fun i => 2 + Rabs (w i))), (tot_plus (fun _ => 2)), tot_const.
    assert (tot (fun i => Rabs (yh i)) l <= tot (fun i => Y i + e i) l); [|lra].
    apply tot_le. eapply Forall_impl; [|exact F]. intros i Hi. apply Yh. exact Hi. }
  assert (HD : Rabs (S - X) <= D).
  { unfold S, X, D. clear - F. induction F as [|i l [F1 F2] _ IH]; simpl; [rewrite Rminus_0_r, Rabs_R0; lra|].
    replace (w i * yh i + tot (fun i => w i * yh i) l - (w i * ye i + tot (fun i => w i * ye i) l))
      with (w i * (yh i - ye i) + (tot (fun i => w i * yh i) l - tot (fun i => w i * ye i) l)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult.
    apply Rplus_le_compat; [apply Rmult_le_compat_l; [apply Rabs_pos | exact F2] | exact IH]. }
  assert (HZ : 0 <= Z).
  { unfold Z. clear - F. induction F as [|i l [F1 F2] _ IH]; simpl; [lra|].
    pose proof (Rabs_pos (ye i)). pose proof (Rabs_pos (yh i - ye i)). lra. }
  assert (HW : 0 <= W) by (unfold W; clear; induction l; simpl; [lra | pose proof (Rabs_pos (w a)); lra]).
  assert (Hz' : INR z <= 4) by (replace 4 with (INR 4) by (simpl; ring); apply le_INR; exact Hz).
  pose proof (pos_INR z). pose proof (pos_INR (length l)). pose proof eps_pos as Ep. pose proof eps_eta as Ee.
  assert (HA0 : 0 <= A1) by (unfold A1; clear; induction l; simpl; [lra | pose proof (Rabs_pos (w a * yh a)); lra]).
  pose proof (Rabs_pos b) as Hb.
  assert (T1 : (P n - 1) * (A1 + (Rabs b + 0)) <= g * (A2 + Rabs b)) by (apply Rmult_le_compat; lra).
  assert (T2 : eps * (B1 + (2 + INR z * 2) - 1) <= eta * (3 * INR (length l) + 3 + W + Z)) by nra.
  assert (T0 : 0 <= eps * (B1 + (2 + INR z * 2) - 1)).
  { apply Rmult_le_pos; [lra|].
    assert (0 <= B1); [|lra].
    unfold B1. clear. induction l; simpl; [lra | pose proof (Rabs_pos (w a)); pose proof (Rabs_pos (yh a)); lra]. }
  assert (T3 : P n * (eps * (B1 + (2 + INR z * 2) - 1)) <= (1 + g) * (eta * (3 * INR (length l) + 3 + W + Z)))
    by (apply Rmult_le_compat; lra).
  replace (v - (X + b)) with ((v - (S + (b + 0))) + (S - X)) by ring.
  eapply Rle_trans; [apply Rabs_triang|].
  unfold LIN. fold n g A2 W Z D. lra.
Qed.

(** ** The scaler: fl(fl(x - shift)·mult), cut to ends that are computed in the same way *)
Definition scaler (x s m v : R) : Prop :=
  exists t, near 1 (x - s) t /\ near (1 + Rabs t + Rabs m) (t * m) v.
Definition e_u (D m : R) : R := ((1 + u) ^ 2 - 1) * D * m + 2 * eta * (1 + m + D).
Lemma u_small : u <= 1 / 8.
Proof. unfold u. change (1 / 8) with (1 / 8). replace (1 / 8) with (bpow radix2 (-3)) by (simpl; lra). apply bpow_le. lia. Qed.
Lemma eps_small : eps <= 1 / 8.
Proof. unfold eps. replace (1 / 8) with (bpow radix2 (-3)) by (simpl; lra). apply bpow_le. lia. Qed.
Lemma scaler_sound x s m v D : 0 < m -> Rabs (x - s) <= D -> scaler x s m v -> Rabs (v - m * (x - s)) <= e_u D m.
Proof.
  intros Hm HD [t [[d1 [r1 [Hd1 [Hr1 Et]]]] [d2 [r2 [Hd2 [Hr2 Ev]]]]]].
  pose proof u_pos. pose proof u_small. pose proof eps_pos. pose proof eps_small. pose proof eps_eta.
  pose proof (Rabs_pos (x - s)). rewrite (Rabs_pos_eq m) in Hr2 by lra.
  assert (Ht : Rabs t <= D * (1 + u) + eps).
  { rewrite Et. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult.
    assert (Rabs (1 + d1) <= 1 + u) by (eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra).
    assert (Rabs (x - s) * Rabs (1 + d1) <= D * (1 + u)) by (apply Rmult_le_compat; try apply Rabs_pos; assumption). lra. }
  replace (v - m * (x - s)) with ((x - s) * m * ((1 + d1) * (1 + d2) - 1) + (r1 * m * (1 + d2) + r2))
    by (rewrite Ev, Et; ring).
  eapply Rle_trans; [apply Rabs_triang|].
  assert (A1 : Rabs ((x - s) * m * ((1 + d1) * (1 + d2) - 1)) <= D * m * ((1 + u) ^ 2 - 1)).
  { rewrite !Rabs_mult, (Rabs_pos_eq m) by lra. apply Rmult_le_compat; try apply Rabs_pos.
    - apply Rmult_le_pos; [apply Rabs_pos | lra].
    - apply Rmult_le_compat_r; lra.
    - replace ((1 + d1) * (1 + d2) - 1) with (d1 + (d2 + d1 * d2)) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_l, Rabs_triang|]. rewrite Rabs_mult.
      pose proof (Rabs_pos d1). pose proof (Rabs_pos d2).
      assert (Rabs d1 * Rabs d2 <= u * u) by (apply Rmult_le_compat; assumption). simpl. lra. }
  assert (A2 : Rabs (r1 * m * (1 + d2) + r2) <= eps * m * (1 + u) + eps * (1 + (D * (1 + u) + eps) + m)).
  { eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat.
    - rewrite !Rabs_mult, (Rabs_pos_eq m) by lra. apply Rmult_le_compat; try apply Rabs_pos.
      + apply Rmult_le_pos; [apply Rabs_pos | lra].
      + apply Rmult_le_compat_r; lra.
      + eapply Rle_trans; [apply Rabs_triang|]; rewrite Rabs_R1; lra.
    - eapply Rle_trans; [exact Hr2|]. apply Rmult_le_compat_l; lra. }
  unfold e_u.
  assert (A3 : eps * m * (1 + u) + eps * (1 + (D * (1 + u) + eps) + m) <= 4 * eps * (1 + m + D)).
  { assert (0 <= eps * m) by nra. assert (0 <= eps * D) by nra. assert (eps * m * u <= eps * m) by nra.
    assert (eps * D * u <= eps * D) by nra. assert (eps * eps <= eps) by nra. nra. }
  assert (A4 : 4 * eps * (1 + m + D) <= 2 * eta * (1 + m + D)) by nra. lra.
Qed.
(* cutting to computed ends does no harm *)
Lemma cut_sound lo hi x s m v a b D : 0 < m -> lo <= x <= hi -> Rabs (lo - s) <= D -> Rabs (hi - s) <= D ->
  scaler lo s m a -> scaler hi s m b -> scaler x s m v ->
  Rabs (Rmax a (Rmin b v) - m * (x - s)) <= e_u D m.
Proof.
  intros Hm Hx Hl Hh Sa Sb Sv.
  assert (Hxs : Rabs (x - s) <= D).
  { revert Hl Hh. unfold Rabs. repeat destruct (Rcase_abs _); lra. }
  pose proof (scaler_sound _ _ _ _ _ Hm Hl Sa) as Ea. pose proof (scaler_sound _ _ _ _ _ Hm Hh Sb) as Eb.
  pose proof (scaler_sound _ _ _ _ _ Hm Hxs Sv) as Ev.
  assert (m * (lo - s) <= m * (x - s)) by (apply Rmult_le_compat_l; lra).
  assert (m * (x - s) <= m * (hi - s)) by (apply Rmult_le_compat_l; lra).
  apply Rabs_le_inv in Ea. apply Rabs_le_inv in Eb. apply Rabs_le_inv in Ev. apply Rabs_le.
  unfold Rmax, Rmin. destruct (Rle_dec b v); destruct (Rle_dec a _); lra.
Qed.
