(** Affine gaps (sections 2 and 5.1): distances from the scaled ends of the domain, near those from the exact ends. *)
From Coq Require Import Reals List Bool Arith Lra Lia ZArith.
From Flocq Require Import Core.
From Smile Require Import Num Leaf Reduction LeafSound Float Binary64 Exact Spread SpreadSound Trees Layers LayerSound Premise Network
  NetworkSound HeadSound Joint JointMargin.
Import ListNotations DOps DSpec.
Open Scope R_scope.

Fixpoint lows (cs : list coord) (u : list R) : list R :=
  match cs, u with c :: cs', v :: u' => (v - val (scaled_end c_lo c)) :: lows cs' u' | _, _ => [] end.
Fixpoint highs (cs : list coord) (u : list R) : list R :=
  match cs, u with c :: cs', v :: u' => (val (scaled_end c_hi c) - v) :: highs cs' u' | _, _ => [] end.
Definition second_exact (n : net) (u : list R) : list R := if ends n then lows (coords n) u ++ highs (coords n) u else u.

(* a computed difference of two computed numbers *)
Lemma difference_near U E1 E2 L x v t l d : Rabs x <= U -> Rabs (v - x) <= E1 -> Rabs t <= L -> Rabs (l - t) <= E2 -> near 3 (v - l) d ->
  Rabs (x - t) <= U + L /\ Rabs (d - (x - t)) <= E1 + E2 + (u * (U + L + (E1 + E2)) + eta) /\ Rabs (v - l) <= U + L + (E1 + E2).
Proof.
  intros H1 H2 H3 H4 (a & r & Ha & Hr & ->). pose proof eps_pos. pose proof eps_eta. pose proof u_pos.
  assert (S : Rabs (v - l) <= U + L + (E1 + E2)) by (unfold Rabs in *; repeat destruct (Rcase_abs _); lra). split.
  - unfold Rabs in *; repeat destruct (Rcase_abs _); lra.
  - split; [|exact S]. replace ((v - l) * (1 + a) + r - (x - t)) with ((v - x) + (t - l) + ((v - l) * a + r)) by ring.
    assert (Q : Rabs ((v - l) * a + r) <= u * (U + L + (E1 + E2)) + eta).
    { eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult.
      assert (Rabs (v - l) * Rabs a <= (U + L + (E1 + E2)) * u) by (apply Rmult_le_compat; try apply Rabs_pos; assumption). lra. }
    eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [|exact Q].
    eapply Rle_trans; [apply Rabs_triang|]. rewrite (Rabs_minus_sym t l). lra.
Qed.
Lemma four_huge : 4 * huge <= bpow radix2 1023.
Proof. unfold huge. replace 4 with (bpow radix2 2) by (simpl; lra). rewrite <- bpow_plus. apply bpow_le. lia. Qed.
Lemma end_scaled c (f : coord -> num) : scales c = true -> val (c_lo c) <= val (f c) <= val (c_hi c) -> fmt (val (f c)) ->
  exists l, scale1 c (val (f c)) = Some l /\ Rabs (l - val (scaled_end f c)) <= val (error c).
Proof.
  intros S B F. destruct (scale_raw c (val (f c)) S B) as (p & P & E & Q). exists p. split; [exact P|].
  unfold scaled_end, error. rewrite val_mul, val_sub. destruct (plain c) eqn:N; [|rewrite val_scale_err; exact E].
  rewrite val_zero, (Q F eq_refl). unfold plain in N. apply andb_true_iff in N. destruct N as [N1 N2]. apply isz_spec in N1.
  apply eqb_spec in N2. rewrite val_one in N2. rewrite N1, N2. match goal with |- Rabs ?x <= 0 => replace x with 0 by ring end. rewrite Rabs_R0. lra.
Qed.

(* what the test of a coordinate gives, whoever computes its distances *)
Lemma end_err_spec c a p x v : end_err c a = Some p -> Rabs x <= val (e_size a) -> Rabs (v - x) <= val (e_err a) ->
  (val (c_lo c) <= val (c_hi c) /\ fmt (val (c_lo c)) /\ fmt (val (c_hi c))) /\
  (forall l, Rabs (l - val (scaled_end c_lo c)) <= val (error c) -> Rabs (v - l) <= 4 * huge /\
    forall d, near 3 (v - l) d -> Rabs d <= 4 * huge /\ Rabs (x - val (scaled_end c_lo c)) <= val (e_size (fst p)) /\
      Rabs (d - (x - val (scaled_end c_lo c))) <= val (e_err (fst p))) /\
  (forall h, Rabs (h - val (scaled_end c_hi c)) <= val (error c) -> Rabs (h - v) <= 4 * huge /\
    forall d, near 3 (h - v) d -> Rabs d <= 4 * huge /\ Rabs (val (scaled_end c_hi c) - x) <= val (e_size (snd p)) /\
      Rabs (d - (val (scaled_end c_hi c) - x)) <= val (e_err (snd p))).
Proof.
  intros H X V. unfold end_err in H. destruct (andb _ _) eqn:T; [|discriminate]. injection H as <-.
  rewrite !andb_true_iff in T. destruct T as [[T1 [T2 T3]] [T4 T5]]. apply leb_val in T1. apply floatb_spec in T2. apply floatb_spec in T3.
  apply ltb_spec in T4. apply ltb_spec in T5. unfold twice in T4, T5. cbn [e_size e_err fst snd] in *.
  repeat rewrite ?val_norm, ?val_add, ?val_mul, ?val_absT, ?val_uT, ?val_etaT, ?val_hugeT in *.
  assert (Et : 0 < eta) by (pose proof eps_pos; pose proof eps_eta; lra). pose proof u_pos.
  split; [auto|]. split.
  - intros l L. set (t := val (scaled_end c_lo c)) in *.
    assert (G : forall d, near 3 (v - l) d -> Rabs (x - t) <= val (e_size a) + Rabs t /\
      Rabs (d - (x - t)) <= val (e_err a) + val (error c) + (u * (val (e_size a) + Rabs t + (val (e_err a) + val (error c))) + eta) /\
      Rabs (v - l) <= val (e_size a) + Rabs t + (val (e_err a) + val (error c)))
      by (intros d D; apply (difference_near _ _ _ (Rabs t) x v t l d X V (Rle_refl _) L D)).
    pose proof (G _ (rnd_is_near 3 _ ltac:(lra))) as (G1 & G2 & G3).
    assert (0 <= u * (val (e_size a) + Rabs t + (val (e_err a) + val (error c)))) by (apply Rmult_le_pos; [lra|]; eapply Rle_trans; [apply Rabs_pos | exact G3]).
    split; [lra|]. intros d D. destruct (G d D) as (A & B & _). split; [|split; assumption].
    replace d with ((d - (x - t)) + (x - t)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra.
  - intros h L. set (t := val (scaled_end c_hi c)) in *.
    assert (G : forall d, near 3 (h - v) d -> Rabs (t - x) <= val (e_size a) + Rabs t /\
      Rabs (d - (t - x)) <= val (e_err a) + val (error c) + (u * (val (e_size a) + Rabs t + (val (e_err a) + val (error c))) + eta) /\
      Rabs (h - v) <= val (e_size a) + Rabs t + (val (e_err a) + val (error c))).
    { intros d D. destruct (difference_near _ _ _ _ t h x v d (Rle_refl _) L X V D) as (A & B & C0).
      rewrite (Rplus_comm (Rabs t)) in A, B, C0. rewrite (Rplus_comm (val (error c))) in B, C0. auto. }
    pose proof (G _ (rnd_is_near 3 _ ltac:(lra))) as (G1 & G2 & G3).
    assert (0 <= u * (val (e_size a) + Rabs t + (val (e_err a) + val (error c)))) by (apply Rmult_le_pos; [lra|]; eapply Rle_trans; [apply Rabs_pos | exact G3]).
    split; [lra|]. intros d D. destruct (G d D) as (A & B & _). split; [|split; assumption].
    replace d with ((d - (t - x)) + (t - x)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.
Lemma distances_near cs : forall i p x e, forallb scales cs = true -> ends_err cs i = Some p -> Near i x e ->
  exists a b, distances cs e = Some (a, b) /\ Near (fst p) (lows cs x) a /\ Near (snd p) (highs cs x) b.
Proof.
  induction cs as [|c cs IH]; intros [|a i] p x e S H N; simpl in H; try discriminate.
  - injection H as <-. inversion N. exists [], []. repeat split; constructor.
  - simpl in S. apply andb_true_iff in S. destruct S as [S1 S2]. unbind H. unbind H. injection H as <-.
    inversion N as [|? ? xx vv xs vs N1 N2 N3]; subst. destruct (IH i _ xs vs S2 E0 N3) as (da & db & D1 & D2 & D3).
    destruct (end_err_spec c a _ _ _ E N1 N2) as ((Lh & Fl & Fh) & GL & GH).
    destruct (end_scaled c c_lo S1 ltac:(lra) Fl) as (l & Pl & El). destruct (end_scaled c c_hi S1 ltac:(lra) Fh) as (h & Ph & Eh).
    destruct (GL l El) as [BL GL']. destruct (GH h Eh) as [BH GH'].
    destruct (GL' _ (rnd_is_near 3 _ ltac:(lra))) as (_ & L1 & L2). destruct (GH' _ (rnd_is_near 3 _ ltac:(lra))) as (_ & H1 & H2).
    simpl. rewrite Pl, Ph. simpl. rewrite (fl_small _ _ BL four_huge), (fl_small _ _ BH four_huge). simpl. rewrite D1. simpl.
    do 2 eexists. split; [reflexivity|]. split; constructor; assumption.
Qed.
Lemma second_near n i j x e : forallb scales (coords n) = true -> second_err n i = Some j -> Near i x e ->
  exists d, second_inputs n e = Some d /\ Near j (second_exact n x) d.
Proof.
  intros S H N. unfold second_err, second_inputs, second_exact in *. destruct (ends n); [|injection H as <-; eauto].
  unbind H. injection H as <-. destruct (distances_near _ _ _ _ _ S E N) as (a & b & D & A & B). rewrite D. simpl.
  eexists. split; [reflexivity|]. apply Near_app; assumption.
Qed.
