(** The theorem of the leaf rule: from float64 inputs to float64 outputs, through scaler, encoder, boxes and head. *)
From Coq Require Import Reals List Bool Arith Lra Lia ZArith.
From Flocq Require Import Core.
From Smile Require Import Num Leaf Reduction LeafSound Paper Float Binary64 Exact Spread SpreadSound Trees Layers LayerSound Premise Network
  NetworkSound HeadSound Deployed Joint JointMargin JointEnds JointHead JointPremise.
Import ListNotations DOps DSpec.
Open Scope R_scope.
Module P := DPaperSound.

(** ** The coordinates of e *)
Definition at_place (cs : list coord) (ks : list known) (x y a b : list R) : Prop :=
  forall i c k, nth_error cs i = Some c -> nth_error ks i = Some k ->
    exists p q, nth_error a i = Some p /\ nth_error b i = Some q /\ fit c k (nth i x 0) (nth i y 0) /\ scales c = true /\
      scale1 c (nth i x 0) = Some p /\ scale1 c (nth i y 0) = Some q /\
      Rabs (p - val (c_mult c) * (nth i x 0 - val (c_shift c))) <= val (error c) /\
      Rabs (q - val (c_mult c) * (nth i y 0 - val (c_shift c))) <= val (error c).
Lemma scaled_at cs ks x y : Fit cs ks x y -> forallb scales cs = true ->
  exists a b, scaled cs x = Some a /\ scaled cs y = Some b /\ length a = length cs /\ length b = length cs /\ at_place cs ks x y a b.
Proof.
  induction 1 as [|c k v w cs ks x y F _ IH]; intro S; simpl in S.
  - exists [], []. repeat (split; [reflexivity|]). intros [|i] c k E; discriminate.
  - apply andb_true_iff in S. destruct S as [S1 S2]. destruct (IH S2) as (a & b & A & B & La & Lb & N).
    pose proof F as (Cv & Cw & _). destruct (scale_sound c v S1 Cv) as (p & P1 & P2 & P3).
    destruct (scale_sound c w S1 Cw) as (q & Q1 & Q2 & Q3).
    exists (p :: a), (q :: b). simpl. rewrite P1, Q1, A, B, La, Lb. simpl. repeat (split; [reflexivity|]).
    intros [|i] c' k' Ec Ek; simpl in *; [|apply (N i c' k' Ec Ek)]. injection Ec as <-. injection Ek as <-.
    exists p, q. repeat (split; [assumption || reflexivity|]). exact Q3.
Qed.
Section Encoder.
  Variables (cs : list coord) (ks : list known) (x y a b : list R).
  Hypothesis Hab : at_place cs ks x y a b.
  Notation Items := (Items cs ks x y).
  Definition known_at (i : nat) : Prop := exists c k, nth_error cs i = Some c /\ nth_error ks i = Some k.
  Lemma pass_items cols : Forall known_at cols ->
    exists X Y e f, mapo (nth_error a) cols = Some e /\ mapo (nth_error b) cols = Some f /\ Items (map Pass cols) X Y e f.
  Proof.
    induction 1 as [|i cols (c & k & C & K) _ (X & Y & e & f & E & F & I)].
    - exists [], [], [], []. repeat split; constructor.
    - destruct (Hab i c k C K) as (p & q & P & Q & Ft & _ & _ & _ & Ep & Eq). simpl. rewrite P, Q, E, F.
      do 4 eexists. split; [reflexivity|]. split; [reflexivity|]. constructor; [|exact I]. econstructor; eauto.
  Qed.
  Lemma made_cut bx : forall zs p q its, Within zs p q -> map2o cut_item bx zs = Some its ->
    exists e f, cut_value bx p = Some e /\ cut_value bx q = Some f /\ Items its e f e f.
  Proof.
    induction bx as [|[l h] bx IH]; intros zs p q its W H; destruct W as [|s zs v w p q W1 W2]; simpl in H; try discriminate.
    - injection H as <-. exists [], []. repeat split; constructor.
    - unbind H. unbind H. injection H as <-. destruct (IH zs p q _ W2 E0) as (e & f & X & Y & M).
      simpl. rewrite X, Y. simpl. do 2 eexists. split; [reflexivity|]. split; [reflexivity|]. constructor; [|exact M].
      unfold cut_item in E. destruct (box_fits (l, h)) eqn:T; [|discriminate]. unbind E. injection E as <-.
      unfold box_fits in T. simpl in T. rewrite !andb_true_iff in T. destruct T as [T1 _]. apply leb_val in T1.
      destruct W1 as (Hp & Hq & Df & U & V & _). simpl in E1. constructor; simpl; try (apply clip_range; exact T1).
      apply (settle_sound _ _ _ _ _ _ _ _ _ E1); exact_num.
      + rewrite (Rmin_comm (val (s_lo s))), (Rmin_comm (val (s_hi s))). split; apply clip_mono; lra.
      + rewrite (Rmin_comm (val (s_lo s))), (Rmin_comm (val (s_hi s))). split; apply clip_mono; lra.
      + pose proof (clip_diff (val l) (val h) v w T1) as [C1 C2].
        split; (eapply Rle_trans; [|eassumption] || (eapply Rle_trans; [eassumption|])); [apply Rle_min_compat_r | apply Rle_max_compat_r]; lra.
      + intro Q. apply clip_mono, U. exact Q.
      + intro Q. apply clip_mono, V. exact Q.
  Qed.
  Lemma made_pinned all bx : forall k f g its, mapo (pinned_item all) bx = Some its -> (all = true -> f = g) ->
    exists u v, cut_value bx (map (fun i => nth i f 0) (seq k (length bx))) = Some u /\
                cut_value bx (map (fun i => nth i g 0) (seq k (length bx))) = Some v /\ Items its u v u v.
  Proof.
    induction bx as [|[l h] bx IH]; intros k f g its H E; simpl in *.
    - injection H as <-. exists [], []. repeat split; constructor.
    - destruct (pinned_item all (l, h)) as [m|] eqn:P; [|discriminate]. destruct (mapo _ bx) as [r|] eqn:Q; [|discriminate].
      injection H as <-. destruct (IH (Datatypes.S k) f g r eq_refl E) as (u & v & X & Y & M). rewrite X, Y. simpl.
      do 2 eexists. split; [reflexivity|]. split; [reflexivity|]. constructor; [|exact M].
      unfold pinned_item in P. destruct (box_fits (l, h)) eqn:T; [|discriminate]. unbind P. injection P as <-. rename E0 into St.
      unfold box_fits in T. simpl in T. rewrite !andb_true_iff in T. destruct T as [T1 _]. apply leb_val in T1. simpl in St.
      pose proof (clip_range (val l) (val h) (nth k f 0) T1). pose proof (clip_range (val l) (val h) (nth k g 0) T1).
      constructor; simpl; auto. apply (settle_sound _ _ _ _ _ _ _ _ _ St); exact_num; auto; try (intro A; rewrite (E A); lra).
      match goal with |- Rmin ?p 0 <= _ <= Rmax ?q 0 => pose proof (Rmin_l p 0); pose proof (Rmax_l q 0) end. lra.
  Qed.
  Lemma branch_items_sound pin br its : branch_items cs ks br = Some its ->
    exists X Y e f, branch_value pin br a = Some e /\ branch_value pin br b = Some f /\ Items its X Y e f.
  Proof.
    unfold branch_items, branch_value. intro H. destruct (passes br) eqn:P.
    - unbind H. injection H as <-. destruct (pass_items (columns br)) as (X & Y & e & f & A & B & I).
      { clear - E. revert v E. induction (columns br) as [|i l IH]; intros v E; constructor; simpl in E;
          destruct (bind (nth_error cs i) _) as [k|] eqn:K; try discriminate; destruct (mapo _ l) as [r|]; try discriminate.
        - unbind K. exists v0, k. auto.
        - apply (IH r eq_refl). }
      rewrite A, B. simpl. exists X, Y, e, f. auto.
    - unbind H. unbind H.
      assert (Hab' : forall i c k, nth_error cs i = Some c -> nth_error ks i = Some k ->
        exists v w p q, fit c k v w /\ nth_error a i = Some p /\ nth_error b i = Some q /\ scales c = true /\
          scale1 c v = Some p /\ scale1 c w = Some q /\
          Rabs (p - val (c_mult c) * (v - val (c_shift c))) <= val (error c) /\
          Rabs (q - val (c_mult c) * (w - val (c_shift c))) <= val (error c)).
      { intros i c k C K. destruct (Hab i c k C K) as (p & q & Q). exists (nth i x 0), (nth i y 0), p, q. tauto. }
      destruct (columns_within cs ks a b Hab' (columns br) v E) as (p & q & A & B & W). rewrite A, B. simpl.
      destruct (layers_sound (steps br) v p q None None None v0 W I E0) as (p' & q' & A' & B' & Z). rewrite A', B'. simpl.
      destruct (pinned br) as [j|].
      + destruct (Nat.eqb j (length (box br))) eqn:J; [|discriminate]. apply Nat.eqb_eq in J. subst j.
        destruct (made_pinned _ _ 0 (pin p') (pin q') _ H) as (u & w & U & V & M).
        { intro Al. rewrite (all_same _ _ _ Z Al). reflexivity. }
        exists u, w, u, w. auto.
      + destruct (made_cut _ _ _ _ _ Z H) as (u & w & U & V & M). exists u, w, u, w. auto.
  Qed.
  Lemma encoder_items_sound pin bs : forall k its, encoder_items cs ks bs = Some its ->
    exists X Y e f, encoder_value pin k bs a = Some e /\ encoder_value pin k bs b = Some f /\ Items its X Y e f.
  Proof.
    induction bs as [|br bs IH]; intros k its H; simpl in H.
    - injection H as <-. exists [], [], [], []. repeat split; constructor.
    - unbind H. unbind H. injection H as <-. destruct (branch_items_sound (pin k) br v E) as (X & Y & e & f & A & B & I).
      destruct (IH (Datatypes.S k) v0 E0) as (X' & Y' & e' & f' & A' & B' & I'). simpl. rewrite A, B, A', B'. simpl.
      do 4 eexists. split; [reflexivity|]. split; [reflexivity|]. apply Items_app; eassumption.
  Qed.
End Encoder.
Lemma mapo_seq {A} (l : list A) : forall p, mapo (nth_error (p ++ l)) (seq (length p) (length l)) = Some l.
Proof.
  induction l as [|v l IH]; intro p; simpl; [reflexivity|]. rewrite nth_error_app2, Nat.sub_diag by lia. simpl.
  specialize (IH (p ++ [v])). rewrite <- app_assoc in IH. simpl in IH. rewrite app_length, Nat.add_1_r in IH. rewrite IH. reflexivity.
Qed.
Lemma Fit_length cs ks x y : Fit cs ks x y -> length ks = length cs.
Proof. induction 1; simpl; congruence. Qed.
Theorem items_sound n ks x y its pin : Fit (coords n) ks x y -> items_of n ks = Some its ->
  exists u w X Y e f, scaled (coords n) x = Some u /\ scaled (coords n) y = Some w /\
    (match encoder n with None => Some u | Some bs => encoder_value pin 0 bs u end) = Some e /\
    (match encoder n with None => Some w | Some bs => encoder_value pin 0 bs w end) = Some f /\
    Items (coords n) ks x y its X Y e f.
Proof.
  intros F H. unfold items_of in H. destruct (forallb scales (coords n)) eqn:S; [|discriminate].
  destruct (scaled_at _ _ _ _ F S) as (a & b & A & B & La & Lb & N). destruct (encoder n) as [bs|].
  - destruct (encoder_items_sound _ _ _ _ a b N pin bs 0 its H) as (X & Y & e & f & E & G & I). exists a, b, X, Y, e, f. auto.
  - injection H as <-. destruct (pass_items _ _ _ _ a b N (seq 0 (length (coords n)))) as (X & Y & e & f & E & G & I).
    { apply Forall_forall. intros i J. apply in_seq in J. pose proof (Fit_length _ _ _ _ F).
      destruct (nth_error (coords n) i) as [c|] eqn:C; [|apply nth_error_None in C; lia].
      destruct (nth_error ks i) as [k|] eqn:K; [|apply nth_error_None in K; lia]. exists c, k. auto. }
    pose proof (mapo_seq a []) as Ma. pose proof (mapo_seq b []) as Mb. simpl in Ma, Mb. rewrite La in Ma. rewrite Lb in Mb.
    rewrite Ma in E. rewrite Mb in G. injection E as <-. injection G as <-. exists a, b, X, Y, a, b. auto.
Qed.

(** ** The real function of e *)
Lemma dot_dotR w : forall z, S.dot w z = dotR (map val w) z.
Proof. induction w as [|v w IH]; intros [|t z]; simpl; auto. rewrite IH. reflexivity. Qed.
Lemma sval_exact z r : S.sval r z = exact_row z r.
Proof. unfold S.sval, exact_row. rewrite dot_dotR. reflexivity. Qed.
Lemma relus_dotR z us : forall k, length k = length us -> S.relus k us z = dotR (map val k) (map relu (map (exact_row z) us)).
Proof.
  induction us as [|r us IH]; intros [|v k] L; simpl in *; try discriminate; auto. rewrite IH by congruence. rewrite sval_exact. reflexivity.
Qed.
Lemma relus_app z us1 : forall k1 us2 k2, length k1 = length us1 -> S.relus (k1 ++ k2) (us1 ++ us2) z = S.relus k1 us1 z + S.relus k2 us2 z.
Proof. induction us1 as [|r us1 IH]; intros [|v k1] us2 k2 L; simpl in *; try discriminate; [ring|]. rewrite IH by congruence. ring. Qed.
Lemma relus_zeros z us : forall n, S.relus (repeat zero n) us z = 0.
Proof. induction us as [|r us IH]; intros [|n]; simpl; auto. rewrite IH, val_zero. ring. Qed.
Lemma dotR_app u : forall w r t, length w = length u -> dotR (w ++ r) (u ++ t) = dotR w u + dotR r t.
Proof. induction u as [|v u IH]; intros [|a w] r t L; simpl in *; try discriminate; [ring|]. rewrite IH by congruence. ring. Qed.

Lemma piece_value N X m before us p r : let u := S.scaled (D.mult N) (D.shift N) X in
  length u = m -> D.units N = before ++ hidden p ++ us -> length (fst r) = ((if skips p then m else O) + length (hidden p))%nat ->
  S.pval N X (piece_of m (length before) (skips p) r) = exact_row ((if skips p then u else []) ++ map relu (map (exact_row u) (hidden p))) r.
Proof.
  intros u Lu Un Lr. destruct r as [row b]. unfold S.pval, piece_of, exact_row. cbn [D.pc D.ps D.po fst snd]. fold u. rewrite Un.
  cbn [fst] in Lr.
  assert (R : forall k, length k = length (hidden p) -> S.relus (repeat zero (length before) ++ k) (before ++ hidden p ++ us) u =
    dotR (map val k) (map relu (map (exact_row u) (hidden p)))).
  { intros k Lk. rewrite relus_app by apply repeat_length. rewrite relus_zeros.
    rewrite <- (app_nil_r k), relus_app by exact Lk. rewrite relus_dotR by exact Lk. rewrite app_nil_r.
    assert (S.relus [] us u = 0) by (destruct us; reflexivity). lra. }
  destruct (skips p).
  - rewrite R by (rewrite skipn_length; lia). rewrite dot_dotR. set (t := map relu _).
    assert (Q : dotR (map val row) (u ++ t) = dotR (map val (firstn m row)) u + dotR (map val (skipn m row)) t).
    { rewrite <- dotR_app by (rewrite map_length, firstn_length_le; [symmetry; exact Lu | lia]). rewrite <- map_app, firstn_skipn. reflexivity. }
    rewrite Q. ring.
  - rewrite R by exact Lr. rewrite (dot_dotR []). cbn [map dotR app]. match goal with |- ?p + 0 + ?q = ?r + _ => change (p + 0 + q = q + p) end. ring.
Qed.
Lemma embed_clamped N X : forall l s h, S.embed N l s X h = clamped Gap (map (S.pval N X) l) (map (S.pval N X) s) h.
Proof. induction l as [|p l IH]; intros [|q s] h; simpl; auto. rewrite IH. reflexivity. Qed.
Lemma pembed_clamped N X : forall l s h, P.pembed N l s X h = clamped Paper (map (S.pval N X) l) (map (S.pval N X) s) h.
Proof. induction l as [|p l IH]; intros [|q s] h; simpl; auto. rewrite IH. reflexivity. Qed.

Definition us_of (n : net) (its : list item) (X : list R) : list R := S.scaled (D.mult (real_net n its)) (D.shift (real_net n its)) X.
Lemma items_near n ks x y its X Y e f i : forallb scales (coords n) = true -> Items (coords n) ks x y its X Y e f ->
  mapo (item_err (coords n)) its = Some i -> Near i (us_of n its X) e /\ Near i (us_of n its Y) f /\ length (us_of n its X) = length its /\
    length (us_of n its Y) = length its.
Proof.
  intros S0 I. unfold us_of, real_net. cbn [D.mult D.shift]. revert i.
  induction I as [|t its v w p q X Y e f It I IH]; intros i H; simpl in H.
  - injection H as <-. repeat split; constructor.
  - destruct (item_err (coords n) t) as [er|] eqn:E; [|discriminate]. destruct (mapo _ its) as [is_|]; [|discriminate]. injection H as <-.
    destruct (IH is_ eq_refl) as (N1 & N2 & L1 & L2). cbn [map S.scaled length]. rewrite L1, L2.
    assert (G : Rabs (val (scale_of (coords n) c_mult one t) * (v - val (scale_of (coords n) c_shift zero t))) <= val (e_size er) /\
      Rabs (p - val (scale_of (coords n) c_mult one t) * (v - val (scale_of (coords n) c_shift zero t))) <= val (e_err er) /\
      Rabs (val (scale_of (coords n) c_mult one t) * (w - val (scale_of (coords n) c_shift zero t))) <= val (e_size er) /\
      Rabs (q - val (scale_of (coords n) c_mult one t) * (w - val (scale_of (coords n) c_shift zero t))) <= val (e_err er)).
    { destruct It as [j c k v w p q C K Ev Ew Ft Ep Eq|s b p q W B1 B2]; simpl in E |- *.
      - rewrite C in *. simpl in E. injection E as <-. cbn [e_size e_err]. rewrite forallb_forall in S0.
        destruct (scales_spec c (S0 c (nth_error_In _ _ C))) as (M & _). destruct Ft as ((Bv & _) & (Bw & _) & _). rewrite val_mul.
        assert (Q : forall t, val (c_lo c) <= t <= val (c_hi c) -> Rabs (val (c_mult c) * (t - val (c_shift c))) <= val (far c) * val (c_mult c)).
        { intros t T. pose proof (far_spec c t T). rewrite Rabs_mult, (Rabs_pos_eq (val (c_mult c))) by lra.
          rewrite Rmult_comm. apply Rmult_le_compat_r; lra. }
        auto.
      - injection E as <-. cbn [e_size e_err]. rewrite val_one, !val_zero.
        replace (1 * (p - 0)) with p by ring. replace (1 * (q - 0)) with q by ring. rewrite !Rminus_diag_eq, Rabs_R0 by reflexivity.
        pose proof (box_size _ _ _ B1). pose proof (box_size _ _ _ B2). repeat split; auto; lra. }
    destruct G as (G1 & G2 & G3 & G4). repeat split; constructor; auto.
Qed.

(** ** Outputs *)
Lemma heads_near i p z : Near i p z -> forall hs es,
  mapo (head_err (map e_size i) (map e_err i) (map reach i) (norm (fold_right add zero (map reach i)))) hs = Some es ->
  exists out, mapo (output_value z) hs = Some out /\ S.near es (map (fun r => S.sval r p) (map fst hs)) out /\ length out = length hs.
Proof.
  intros N. induction hs as [|h hs IH]; intros es H; simpl in H.
  - injection H as <-. exists []. repeat split.
  - destruct (head_err _ _ _ _ h) as [e|] eqn:E; [|discriminate]. destruct (mapo _ hs) as [es'|] eqn:M; [|discriminate]. injection H as <-.
    destruct (head_err_sound i p z h e N E) as (_ & (v & V & Hn) & B). destruct (IH es' eq_refl) as (out & O & Nr & L).
    exists (v :: out). simpl. rewrite V, O, L. split; [reflexivity|]. split; [|reflexivity]. split; [|exact Nr].
    rewrite sval_exact. apply B, Hn.
Qed.
Theorem outputs_near n its i es sel e u : between (kind n) sel -> forallb scales (coords n) = true ->
  mapo (item_err (coords n)) its = Some i -> margins_of n its = Some es -> Near i u e ->
  (kind n = Gap -> Forall (fun v => 0 <= v) (exact_part (second n) (second_exact n u))) ->
  exists l d s z out, part_value (lower n) e = Some l /\ second_inputs n e = Some d /\ part_value (second n) d = Some s /\
    embed_value (kind n) sel 0 l s = Some z /\ mapo (output_value z) (head n) = Some out /\ length out = length (head n) /\
    S.near es (map (fun r => S.sval r (clamped (kind n) (exact_part (lower n) u) (exact_part (second n) (second_exact n u)) z)) (map fst (head n))) out.
Proof.
  intros B Sc Ei H N G. unfold margins_of in H. rewrite Ei in H. simpl in H. unbind H. unbind H. unbind H. unbind H.
  destruct (second_near n _ _ _ _ Sc E0 N) as (d & D1 & D2).
  destruct (part_err_sound _ _ _ _ _ N E) as [(l & L1 & L2) Ln]. destruct (part_err_sound _ _ _ _ _ D2 E1) as [(s & S1 & S2) Sn].
  specialize (Ln l L2). specialize (Sn s S2). destruct (upper_sound _ sel B _ _ _ _ _ _ _ 0%nat E2 Ln Sn) as (z & Z1 & Z2).
  pose proof (boxed_near _ _ _ _ _ _ _ _ _ E2 Ln Sn G Z2) as Zn. destruct (heads_near _ _ _ Zn _ _ H) as (out & O & Nr & Lo).
  exists l, d, s, z, out. auto 12.
Qed.
