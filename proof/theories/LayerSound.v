(** Section 3.1, soundness: means, distances, and the layers of a branch in turn. *)
From Coq Require Import Reals List Bool Arith Lra Lia ZArith.
From Flocq Require Import Core.
From Smile Require Import Num Leaf Reduction LeafSound Float Binary64 Exact Spread SpreadSound Trees TreeSound Layers.
Import ListNotations DOps DSpec.
Open Scope R_scope.

Lemma forallb_turn part : forallb s_down part = forallb s_up (map turn part).
Proof. induction part as [|s p IH]; simpl; [reflexivity | rewrite IH; reflexivity]. Qed.

Lemma mean_sound ys x y places s : Within ys x y -> mean_spread ys places = Some s ->
  exists a b, mean_value x places = Some a /\ mean_value y places = Some b /\ within s a b.
Proof.
  intros W H. unfold mean_spread in H. destruct (mapo (nth_error ys) places) as [part|] eqn:M; [|discriminate].
  destruct (Within_mapo _ _ _ W _ _ M) as (p & q & Mp & Mq & V). set (n := length part) in *.
  destruct (andb _ _) eqn:T; [|discriminate]. rewrite !andb_true_iff in T. destruct T as [[T1 T2] T3].
  apply Nat.ltb_lt in T1. apply ltb_spec in T3.
  assert (N1 : 1 <= INR n) by (replace 1 with (INR 1) by reflexivity; apply le_INR; lia).
  assert (Vc : val (fromZ (Z.of_nat n)) = INR n) by (rewrite val_fromZ, <- INR_IZR_INZ; reflexivity).
  assert (Vd : forall v, val (div v (fromZ (Z.of_nat n))) = val v / INR n) by (intro v; rewrite val_div; rewrite Vc; [reflexivity | lra]).
  rewrite val_mul, val_add, val_norm, Vc, Vd, val_hugeT, val_linear_err, Vd, val_one, val_sum_of in T3 by exact T2.
  destruct (sized_sizes _ _ _ V) as [Sp Sq]. destruct (Within_length _ _ _ V) as [Lp Lq].
  set (S := sumR (map (fun s => val (size s)) part)) in *. pose proof (fits_gamma_spec _ T2) as Hu.
  destruct (mean_fl n p _ (eq_sym Lp) T1 Hu Sp T3) as (sa & a & A1 & A2 & A3).
  destruct (mean_fl n q _ (eq_sym Lq) T1 Hu Sq T3) as (sb & b & B1 & B2 & B3).
  fold S in A3, B3. set (E := lin_err n (S / INR n) 1 S) in *.
  exists a, b. unfold mean_value. rewrite Mp, Mq, Lp, Lq. fold n. rewrite A1, B1. split; [exact A2|]. split; [exact B2|].
  destruct (sums_within _ _ _ V) as (X1 & X2 & X3 & _).
  assert (Ev : val (norm (linear_err n (div (sum_of size part) (fromZ (Z.of_nat n))) one (sum_of size part))) = E).
  { rewrite val_norm, val_linear_err by exact T2. rewrite Vd, val_one, val_sum_of. reflexivity. }
  assert (In_ : 0 < / INR n) by (apply Rinv_0_lt_compat; lra).
  assert (Q : forall c d, c <= d -> c / INR n <= d / INR n) by (intros; apply Rmult_le_compat_r; lra).
  apply Rabs_le_inv in A3. apply Rabs_le_inv in B3.
  apply (settle_sound _ _ _ _ _ _ _ _ _ H); unfold twice; repeat rewrite ?val_sub, ?val_add, ?Vd, ?Ev, ?val_sum_of.
  - destruct X1 as [X1 X1']. apply Q in X1. apply Q in X1'. lra.
  - destruct X2 as [X2 X2']. apply Q in X2. apply Q in X2'. lra.
  - destruct X3 as [X3 X3']. apply Q in X3. apply Q in X3'.
    assert ((sumR p - sumR q) / INR n = sumR p / INR n - sumR q / INR n) by (field; lra).
    match goal with |- Rmin ?p 0 <= _ <= Rmax ?q 0 => pose proof (Rmin_l p 0); pose proof (Rmax_l q 0) end. lra.
  - intro U. apply (fl_mono _ _ _ _ B2 A2), Q. fold n in Lp, Lq. rewrite <- Lp in A1. rewrite <- Lq in B1.
    apply (ones_up _ _ _ V U 0 0 sa sb); auto. lra.
  - intro D. apply (fl_mono _ _ _ _ A2 B2), Q. fold n in Lp, Lq. rewrite <- Lp in A1. rewrite <- Lq in B1.
    rewrite forallb_turn in D. apply (ones_up _ _ _ (Within_turn _ _ _ V) D 0 0 sb sa); auto. lra.
Qed.

(** ** Distances *)
Fixpoint farR (row y : list R) : R :=
  match row, y with w :: row', v :: y' => Rmax (Rabs (v - w)) (farR row' y') | _, _ => 0 end.
Lemma farR_pos row : forall y, 0 <= farR row y.
Proof. induction row; intros [|v y]; simpl; try lra. eapply Rle_trans; [apply (IHrow y) | apply Rmax_r]. Qed.
Lemma max_diff a b c d e : Rabs (a - b) <= e -> Rabs (c - d) <= e -> Rabs (Rmax a c - Rmax b d) <= e.
Proof.
  intros H1 H2. apply Rabs_le_inv in H1. apply Rabs_le_inv in H2. apply Rabs_le. unfold Rmax.
  destruct (Rle_dec a c), (Rle_dec b d); lra.
Qed.
Lemma abs_diff a b : Rabs (Rabs a - Rabs b) <= Rabs (a - b).
Proof. apply Rabs_triang_inv2. Qed.
Lemma far_fl row F : forall y, length row = length y -> 0 <= F -> F <= 2 * huge ->
  (forall w v, In w row -> In v y -> Rabs (v - val w) <= F) ->
  exists m, far_value row y = Some m /\ 0 <= farR (map val row) y <= F /\ Rabs (m - farR (map val row) y) <= u * F + eta.
Proof.
  pose proof u_pos as Up. pose proof eps_pos as Ep. pose proof eps_eta as Ee. pose proof huge_top as Ht.
  induction row as [|w row IH]; intros [|v y] L F0 FH D; simpl in L, D; try discriminate; cbn [far_value map farR].
  - exists 0. split; [reflexivity|]. split; [lra|]. rewrite Rminus_0_r, Rabs_R0.
    assert (0 <= u * F) by (apply Rmult_le_pos; lra). lra.
  - injection L as L. destruct (IH y L F0 FH) as (m & M1 & M2 & M3); [intros; apply D; auto|].
    specialize (D w v (or_introl eq_refl) (or_introl eq_refl)).
    rewrite (fl_small (v - val w) F D ltac:(lra)), M1. exists (Rmax (Rabs (rnd (v - val w))) m).
    split; [reflexivity|]. split.
    + split; [eapply Rle_trans; [apply Rabs_pos | apply Rmax_l] | apply Rmax_lub; lra].
    + apply max_diff; [|exact M3]. eapply Rle_trans; [apply abs_diff|]. eapply Rle_trans; [apply rnd_err|].
      assert (u * Rabs (v - val w) <= u * F) by (apply Rmult_le_compat_l; lra). lra.
Qed.
Lemma far_diff row D : forall x y, length x = length y -> 0 <= D -> (forall i, Rabs (nth i x 0 - nth i y 0) <= D) ->
  Rabs (farR row x - farR row y) <= D.
Proof.
  induction row as [|w row IH]; intros [|a x] [|b y] L D0 H; simpl in *; try discriminate;
    try (rewrite Rminus_diag_eq, Rabs_R0 by reflexivity; exact D0).
  apply max_diff.
  - eapply Rle_trans; [apply abs_diff|]. replace (a - w - (b - w)) with (a - b) by ring. exact (H 0%nat).
  - apply IH; auto. intro i. exact (H (Datatypes.S i)).
Qed.
Lemma max_of_le f ys s : In s ys -> val (f s) <= val (max_of f ys).
Proof.
  induction ys as [|t ys IH]; intros []; simpl; exact_num.
  - subst. apply Rmax_l.
  - eapply Rle_trans; [apply IH; assumption | apply Rmax_r].
Qed.
Lemma max_of_pos f ys : 0 <= val (max_of f ys).
Proof. induction ys; simpl; exact_num; [lra|]. eapply Rle_trans; [eassumption | apply Rmax_r]. Qed.
Lemma abs_max_le row w : In w row -> Rabs (val w) <= val (abs_max row).
Proof.
  induction row as [|v row IH]; intros []; simpl; exact_num; fold (abs_max row).
  - subst. apply Rmax_l.
  - eapply Rle_trans; [apply IH; assumption | apply Rmax_r].
Qed.
Lemma abs_max_pos row : 0 <= val (abs_max row).
Proof. induction row; simpl; exact_num; [lra|]. fold (abs_max row). eapply Rle_trans; [eassumption | apply Rmax_r]. Qed.
Lemma Within_In ys x y : Within ys x y -> forall v, In v x \/ In v y -> exists s, In s ys /\ Rabs v <= val (size s).
Proof.
  induction 1 as [|s ss a b x y H _ IH]; intros v [H1|H1]; simpl in H1; try contradiction;
    destruct (size_spec s a b H) as [Za Zb]; destruct H1 as [<-|H1]; try (exists s; split; [left; reflexivity | assumption]).
  - destruct (IH v (or_introl H1)) as (t & T1 & T2). exists t. split; [right; exact T1 | exact T2].
  - destruct (IH v (or_intror H1)) as (t & T1 & T2). exists t. split; [right; exact T1 | exact T2].
Qed.
Lemma Within_diff ys x y : Within ys x y ->
  forall i, Rabs (nth i x 0 - nth i y 0) <= val (max_of (fun s => maxT (negT (s_low s)) (s_high s)) ys).
Proof.
  induction 1 as [|s ss a b x y (_ & _ & Hd & _) _ IH]; intro i.
  - destruct i; simpl; rewrite Rminus_diag_eq, Rabs_R0 by reflexivity; exact_num; lra.
  - destruct i as [|i]; simpl; exact_num.
    + eapply Rle_trans; [|apply Rmax_l]. apply Rabs_le. pose proof (Rmax_l (- val (s_low s)) (val (s_high s))).
      pose proof (Rmax_r (- val (s_low s)) (val (s_high s))). lra.
    + eapply Rle_trans; [apply IH | apply Rmax_r].
Qed.
Lemma all_same ys x y : Within ys x y -> forallb same ys = true -> x = y.
Proof.
  induction 1 as [|s ss a b x y (_ & _ & _ & U & D & _) _ IH]; intro H; [reflexivity|]. simpl in H.
  apply andb_true_iff in H. destruct H as [H1 H2]. unfold same in H1. apply andb_true_iff in H1. destruct H1 as [H1 H3].
  specialize (U H1). specialize (D H3). rewrite (IH H2). f_equal. lra.
Qed.

Lemma distance_sound ys x y r s : Within ys x y -> distance_spread ys r = Some s ->
  exists a b, distance_value x r = Some a /\ distance_value y r = Some b /\ within s a b.
Proof.
  intros W H. destruct r as [row b]. unfold distance_spread in H. destruct (length row =? length ys)%nat eqn:L; [|discriminate].
  apply Nat.eqb_eq in L. destruct (Within_length _ _ _ W) as [Lx Ly].
  set (far := add (abs_max row) (max_of size ys)) in *. set (most := max_of (fun s => maxT (negT (s_low s)) (s_high s)) ys) in *.
  set (e1 := add (mul uT far) etaT) in *.
  set (e := norm (add e1 (add (mul uT (add (add far e1) (absT b))) etaT))) in *.
  pose proof (settle_huge _ _ _ _ _ _ _ H) as Hh.
  pose proof u_pos as Up. pose proof u_small as Us. pose proof eps_pos as Ep. pose proof eps_eta as Ee.
  assert (Vf : val far = val (abs_max row) + val (max_of size ys)) by apply val_add.
  assert (F0 : 0 <= val far) by (pose proof (abs_max_pos row); pose proof (max_of_pos size ys); lra).
  assert (V1 : val e1 = u * val far + eta) by (unfold e1; exact_num; reflexivity).
  assert (Ve : val e = val e1 + (u * (val far + val e1 + Rabs (val b)) + eta)) by (unfold e; exact_num; ring).
  assert (E10 : 0 <= val e1) by (rewrite V1; assert (0 <= u * val far) by (apply Rmult_le_pos; lra); lra). pose proof (Rabs_pos (val b)) as Bp.
  assert (E0 : 0 <= val e) by (rewrite Ve; assert (0 <= u * (val far + val e1 + Rabs (val b))) by (apply Rmult_le_pos; lra); lra).
  rewrite val_sub, !val_add in Hh. pose proof huge_pos as H1.
  assert (Hb : Rabs (val b) <= huge) by (apply Rabs_le; lra).
  assert (FH : val far <= 2 * huge) by (apply Rabs_le_inv in Hb; lra).
  assert (D : forall z, (forall v, In v z -> exists s, In s ys /\ Rabs v <= val (size s)) ->
    forall w v, In w row -> In v z -> Rabs (v - val w) <= val far).
  { intros z Hz w v Hw Hv. destruct (Hz v Hv) as (t & T1 & T2). pose proof (max_of_le size ys t T1). pose proof (abs_max_le row w Hw).
    unfold Rminus. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp. lra. }
  destruct (far_fl row (val far) x (eq_trans L (eq_sym Lx)) F0 FH) as (ma & A1 & A2 & A3).
  { apply D. intros v Hv. apply (Within_In _ _ _ W). left. exact Hv. }
  destruct (far_fl row (val far) y (eq_trans L (eq_sym Ly)) F0 FH) as (mb & B1 & B2 & B3).
  { apply D. intros v Hv. apply (Within_In _ _ _ W). right. exact Hv. }
  rewrite <- V1 in A3, B3. set (fa := farR (map val row) x) in *. set (fb := farR (map val row) y) in *.
  assert (Ms : forall m f, 0 <= f <= val far -> Rabs (m - f) <= val e1 -> Rabs (m + val b) <= val far + val e1 + Rabs (val b)).
  { intros m f Hf Hm. replace (m + val b) with ((m - f) + (f + val b)) by ring. eapply Rle_trans; [apply Rabs_triang|].
    eapply Rle_trans; [apply Rplus_le_compat_l, Rabs_triang|]. rewrite (Rabs_pos_eq f) by lra. lra. }
  assert (Hs : val far + val e1 + Rabs (val b) <= bpow radix2 1023).
  { apply Rle_trans with (8 * huge).
    - assert (u * val far <= val far) by nra. pose proof huge_pos. assert (eta <= 1); [|lra].
      unfold eta. change 1 with (bpow radix2 0). apply bpow_le. lia.
    - replace 8 with (bpow radix2 3) by (simpl; lra). unfold huge. rewrite <- bpow_plus. apply bpow_le. lia. }
  assert (Ok : forall m f, 0 <= f <= val far -> Rabs (m - f) <= val e1 ->
    fl (m + val b) = Some (rnd (m + val b)) /\ Rabs (rnd (m + val b) - (f + val b)) <= val e).
  { intros m f Hf Hm. split; [apply (fl_small _ _ (Ms m f Hf Hm) Hs)|]. pose proof (rnd_err (m + val b)) as Re.
    replace (rnd (m + val b) - (f + val b)) with ((rnd (m + val b) - (m + val b)) + (m - f)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Ve.
    assert (u * Rabs (m + val b) <= u * (val far + val e1 + Rabs (val b))) by (apply Rmult_le_compat_l; [lra | apply (Ms m f Hf Hm)]).
    lra. }
  destruct (Ok ma fa A2 A3) as [Oa1 Oa2]. destruct (Ok mb fb B2 B3) as [Ob1 Ob2].
  exists (rnd (ma + val b)), (rnd (mb + val b)). unfold distance_value. simpl. rewrite A1, B1.
  split; [exact Oa1|]. split; [exact Ob1|]. apply Rabs_le_inv in Oa2. apply Rabs_le_inv in Ob2.
  assert (Df : Rabs (fa - fb) <= val most).
  { apply far_diff; [exact (eq_trans Lx (eq_sym Ly)) | apply max_of_pos | apply (Within_diff _ _ _ W)]. }
  apply Rabs_le_inv in Df.
  assert (Eq : forallb same ys = true -> rnd (ma + val b) = rnd (mb + val b)).
  { intro S. pose proof (all_same _ _ _ W S) as Xy. rewrite <- Xy, A1 in B1. injection B1 as ->. reflexivity. }
  apply (settle_sound _ _ _ _ _ _ _ _ _ H); unfold twice; repeat rewrite ?val_sub, ?val_add, ?val_negT; try lra.
  - match goal with |- Rmin ?p 0 <= _ <= Rmax ?q 0 => pose proof (Rmin_l p 0); pose proof (Rmax_l q 0) end. lra.
  - intro S. rewrite (Eq S). lra.
  - intro S. rewrite (Eq S). lra.
Qed.

(** ** A layer, and all of a branch *)
Theorem layer_sound l ys x y bs bx by_ ss : Within ys x y -> Within bs bx by_ -> layer_spread l ys bs = Some ss ->
  exists a b, layer_value l x bx = Some a /\ layer_value l y by_ = Some b /\ Within ss a b.
Proof.
  intros W V H. destruct l as [cells|base rows|c|side block|rows|sets outs]; simpl in *.
  - apply (mapo_within (ramp_spread ys) ramp_value); [|exact H]. intros c s. apply ramp_sound. exact W.
  - set (zs := if base then ys ++ bs else ys) in *.
    assert (Wz : Within zs (if base then x ++ bx else x) (if base then y ++ by_ else y)).
    { unfold zs. destruct base; [apply Within_app|]; assumption. }
    unfold rows_spread in H. refine (mapo_within (row_spread zs (map size zs) (norm (sum_of size zs))) row_value _ _ _ rows ss H).
    intros r s. apply row_sound; [exact Wz|]. rewrite val_norm, val_sum_of. reflexivity.
  - eexists; eexists. split; [reflexivity|]. split; [reflexivity|]. apply (kinks_sound _ _ _ W _ _ H).
  - apply (mapo_within (mean_spread ys) mean_value); [|exact H]. intros c s. apply mean_sound. exact W.
  - apply (mapo_within (distance_spread ys) distance_value); [|exact H]. intros c s. apply distance_sound. exact W.
  - apply (trees_sound _ _ ys); assumption.
Qed.
Definition WithinO (bs : option (list spread)) (bx by_ : option (list R)) : Prop :=
  match bs, bx, by_ with
  | None, None, None => True
  | Some s, Some p, Some q => Within s p q
  | _, _, _ => False
  end.
Theorem layers_sound ls : forall ys x y bs bx by_ ss, Within ys x y -> WithinO bs bx by_ ->
  layers_spread ls ys bs = Some ss ->
  exists a b, layers_value ls x bx = Some a /\ layers_value ls y by_ = Some b /\ Within ss a b.
Proof.
  induction ls as [|l ls IH]; intros ys x y bs bx by_ ss W V H; simpl in *.
  - injection H as <-. eauto.
  - destruct (layer_spread l ys _) as [zs|] eqn:E; [|discriminate].
    assert (V' : Within (match bs with Some b => b | None => [] end) (match bx with Some b => b | None => [] end)
                        (match by_ with Some b => b | None => [] end)).
    { destruct bs, bx, by_; simpl in V; try contradiction; [exact V | constructor]. }
    destruct (layer_sound l _ _ _ _ _ _ _ W V' E) as (a & b & A & B & Z). rewrite A, B.
    apply (IH zs a b _ _ _ ss Z) with (2 := H). destruct bs, bx, by_; simpl in *; auto; contradiction.
Qed.
