(** The auxiliaries and the head under fixed-order: nothing overflows, and sums move as the signs of the weights say. *)
From Coq Require Import Reals List Bool Arith Lra Lia ZArith.
From Flocq Require Import Core.
From Smile Require Import Num Leaf Reduction LeafSound Float Binary64 Exact Spread SpreadSound Trees Layers LayerSound Premise Network NetworkSound.
Import ListNotations DOps DSpec.
Open Scope R_scope.

Lemma sized_app a A b B : sized a A -> sized b B -> sized (a ++ b) (A ++ B).
Proof. induction 1; simpl; auto. intro. constructor; auto. Qed.
Lemma sized_inv ys Y Ys : sized ys (Y :: Ys) -> exists z zs, ys = z :: zs /\ Rabs z <= Y /\ sized zs Ys.
Proof. intro H. inversion H; subst. eauto. Qed.
Lemma val_fold_add Y : val (fold_right add zero Y) = sumR (map val Y).
Proof. induction Y; simpl; [apply val_zero | rewrite val_add, IHY; reflexivity]. Qed.

Lemma rows_size_sound Y e : sized e (map val Y) -> forall rows T, rows_size Y rows = Some T ->
  exists v, mapo (row_value e) rows = Some v /\ sized v (map val T) /\ Forall (fun t => val t < huge) T.
Proof.
  intro S. unfold rows_size. set (i := norm (fold_right add zero Y)).
  assert (Hi : val i = sumR (map val Y)) by (unfold i; rewrite val_norm; apply val_fold_add).
  induction rows as [|[row b] rows IH]; intros T H; simpl in H.
  - injection H as <-. exists []. repeat split; constructor.
  - destruct (if andb _ _ then _ else _) as [t|] eqn:E; [|discriminate]. destruct (mapo _ rows) as [r|] eqn:M; [|discriminate].
    injection H as <-. destruct (IH r eq_refl) as (v & V1 & V2 & V3). destruct (andb _ _) eqn:C; [|discriminate]. injection E as <-.
    rewrite !andb_true_iff in C. destruct C as [[C1 C2] C3]. apply ltb_spec in C3. rewrite val_add, val_hugeT in C3.
    pose proof huge_pos.
    assert (L : length e = length Y) by (rewrite (sized_length _ _ S); apply map_length).
    apply Nat.eqb_eq in C1. assert (C0 : (length row =? length e)%nat = true) by (apply Nat.eqb_eq; rewrite L; exact C1).
    destruct (row_fits row b Y e C0 C2 S i Hi ltac:(lra)) as (a & A1 & _ & A2).
    exists (a :: v). simpl. unfold row_value at 1. simpl. rewrite A1, V1. split; [reflexivity|].
    split; constructor; auto; rewrite val_norm, val_add; lra.
Qed.
Lemma sized_relu s T : sized s T -> sized (map (fun v => Rmax v 0) s) T.
Proof.
  induction 1; simpl; constructor; auto. unfold Rmax. destruct (Rle_dec y 0); [rewrite Rabs_R0 | lra].
  eapply Rle_trans; [apply Rabs_pos | eassumption].
Qed.
Lemma part_sound p Y e L : sized e (map val Y) -> part_size p Y = Some L ->
  exists s l, mapo (row_value e) (hidden p) = Some s /\
    mapo (row_value ((if skips p then e else []) ++ map (fun v => Rmax v 0) s)) (sums p) = Some l /\
    part_value p e = Some l /\ sized l (map val L) /\ Forall (fun t => val t < huge) L.
Proof.
  intros S H. unfold part_size in H. unbind H. destruct (rows_size_sound _ _ S _ _ E) as (s & S1 & S2 & _).
  assert (S3 : sized ((if skips p then e else []) ++ map (fun v => Rmax v 0) s) (map val ((if skips p then Y else []) ++ v))).
  { rewrite map_app. apply sized_app; [destruct (skips p); [exact S | constructor] | apply sized_relu; exact S2]. }
  destruct (rows_size_sound _ _ S3 _ _ H) as (l & L1 & L2 & L3). exists s, l. unfold part_value. rewrite S1. simpl. auto.
Qed.

(** ** A gap of zero *)
Lemma zero_rows y rows : forall s, forallb zero_row rows = true -> mapo (row_value y) rows = Some s -> Forall (fun v => v = 0) s.
Proof.
  induction rows as [|[row b] rows IH]; intros s Z H; simpl in *; [injection H as <-; constructor|].
  apply andb_true_iff in Z. destruct Z as [Z1 Z2]. unfold zero_row in Z1. simpl in Z1. apply andb_true_iff in Z1. destruct Z1 as [Zb Zr].
  destruct (row_value y (row, b)) as [v|] eqn:E; [|discriminate]. destruct (mapo (row_value y) rows) as [r|]; [|discriminate].
  injection H as <-. constructor; [|apply IH; auto]. unfold row_value in E. simpl in E. rewrite (isz_spec _ Zb), fsum_zero in E; [congruence|].
  apply Forall_forall. intros w Hw. apply in_map_iff in Hw. destruct Hw as (t & <- & Ht). rewrite forallb_forall in Zr.
  apply isz_spec, Zr. exact Ht.
Qed.
Lemma float_rows y rows : forall l, forallb (fun r => floatb (snd r)) rows = true -> mapo (row_value y) rows = Some l -> Forall fmt l.
Proof.
  induction rows as [|[row b] rows IH]; intros l F H; simpl in *; [injection H as <-; constructor|].
  apply andb_true_iff in F. destruct F as [F1 F2]. destruct (row_value y (row, b)) as [v|] eqn:E; [|discriminate].
  destruct (mapo (row_value y) rows) as [r|]; [|discriminate]. injection H as <-. constructor; [|apply IH; auto].
  unfold row_value in E. simpl in E. apply (fsum_fmt _ _ _ _ (floatb_spec _ F1) E).
Qed.
Definition selects (sel : nat -> R -> R -> R) : Prop := forall i l u, l <= u -> l <= sel i l u <= u.
Lemma embed_zero sel l : selects sel -> Forall fmt l -> Forall (fun v => Rabs v <= huge) l ->
  forall s k, length s = length l -> Forall (fun v => v = 0) s -> embed_value Gap sel k l s = Some l.
Proof.
  intros S F. induction F as [|a l Fa _ IH]; intros B [|g s] k L Z; simpl in *; try discriminate; [reflexivity|].
  inversion B; inversion Z; subst. rewrite Rplus_0_r.
  rewrite (fl_small a huge); [|assumption | pose proof huge_top; pose proof huge_pos; lra]. simpl.
  rewrite (IH H2 s (Datatypes.S k)) by (auto; lia). simpl. rewrite (rnd_id a Fa).
  destruct (S k a a (Rle_refl a)). f_equal. f_equal. lra.
Qed.
Lemma sized_upper L : forall M Z l s, map2o upper_size L M = Some Z -> sized l (map val L) -> sized s (map val M) ->
  sized l (map val Z) /\ Forall (fun v => Rabs v <= huge) l /\ length s = length l.
Proof.
  induction L as [|a L IH]; intros [|m M] Z l s H Sl Ss; simpl in *; try discriminate.
  - inversion Sl; inversion Ss. injection H as <-. repeat split; constructor.
  - apply sized_inv in Sl. destruct Sl as (y & ys & -> & Hy & Sl). apply sized_inv in Ss. destruct Ss as (y0 & ys0 & -> & Hy0 & Ss).
    unbind H. unbind H. injection H as <-. unfold upper_size in E. destruct (ltb _ _) eqn:C; [|discriminate]. injection E as <-.
    destruct (IH M v0 ys ys0 E0 Sl Ss) as (I1 & I2 & I3). apply ltb_spec in C. rewrite val_norm, val_add, val_mul, !val_add, val_one, val_uT, val_etaT, val_hugeT in C.
    pose proof u_pos. pose proof eps_pos. pose proof eps_eta. pose proof (Rabs_pos y). pose proof (Rabs_pos y0).
    assert (0 <= (val a + val m) * u) by (apply Rmult_le_pos; lra).
    simpl. split; [|split].
    + constructor; [|exact I1]. rewrite val_norm, val_add, val_mul, !val_add, val_one, val_uT, val_etaT. lra.
    + constructor; [|exact I2]. lra.
    + f_equal. exact I3.
Qed.

(** ** Directions *)
Inductive Dirs : list dir -> list R -> list R -> Prop :=
| dir_nil : Dirs [] [] []
| dir_cons d ds a b x y : okdir d a b -> Dirs ds x y -> Dirs (d :: ds) (a :: x) (b :: y).
Lemma Dirs_app d x y d' x' y' : Dirs d x y -> Dirs d' x' y' -> Dirs (d ++ d') (x ++ x') (y ++ y').
Proof. induction 1; simpl; auto. intro. constructor; auto. Qed.
Lemma Moves_dirs ms x y : Moves ms x y -> forall ds, mapo fst ms = Some ds -> Dirs ds x y.
Proof.
  induction 1 as [|[o t] ms a b x y [H _] _ IH]; intros ds E; simpl in E; [injection E as <-; constructor|].
  simpl in H. destruct o as [d|]; [|discriminate]. destruct (mapo fst ms) as [r|]; [|discriminate]. injection E as <-.
  constructor; auto.
Qed.
Lemma Moves_sized ms x y : Moves ms x y -> sized x (map val (map snd ms)) /\ sized y (map val (map snd ms)).
Proof. induction 1 as [|m ms a b x y (_ & A & B) _ [I1 I2]]; simpl; split; constructor; auto. Qed.

Definition same_sign (w : num) (v : R) : Prop := (0 <= val w -> 0 <= v) /\ (val w <= 0 -> v <= 0).
Lemma combine_sound row ws : Forall2 same_sign row ws -> forall ds x y, Dirs ds x y -> forall p q a b, q <= p ->
  fsum p ws x = Some a -> fsum q ws y = Some b -> combine true row ds = true -> b <= a.
Proof.
  induction 1 as [|w v row ws S _ IH]; intros ds x y D p q a b L A B C.
  - simpl in *. destruct x, y; simpl in *; congruence.
  - destruct D as [|d ds xa xb x y O D]; simpl in *; [congruence|]. apply andb_true_iff in C. destruct C as [C1 C2].
    destruct (fl (v * xa)) as [pa|] eqn:P1; [|discriminate]. destruct (fl (p + pa)) as [sa|] eqn:S1; [|discriminate].
    destruct (fl (v * xb)) as [pb|] eqn:P2; [|discriminate]. destruct (fl (q + pb)) as [sb|] eqn:S2; [|discriminate].
    apply (IH ds x y D sa sb a b); auto. apply (fl_mono _ _ _ _ S2 S1). apply Rplus_le_compat; [exact L|].
    apply (fl_mono _ _ _ _ P2 P1). destruct S as [Sp Sn]. destruct O as [O1 O2]. apply orb_true_iff in C1. destruct C1 as [Z|C1].
    + apply isz_spec in Z. replace v with 0; [lra|]. apply Rle_antisym; [apply Sp | apply Sn]; lra.
    + destruct (leb zero w) eqn:Q; simpl in C1; [apply leb_val in Q; specialize (O1 C1) | apply DSound.leb_f in Q; specialize (O2 C1)];
        rewrite val_zero in Q; [specialize (Sp Q) | specialize (Sn ltac:(lra))]; nra.
Qed.
Definition flip (d : dir) : dir := (snd d, fst d).
Lemma Dirs_flip ds x y : Dirs ds x y -> Dirs (map flip ds) y x.
Proof. induction 1 as [|d ds a b x y [H1 H2]]; simpl; constructor; auto. split; simpl; auto. Qed.
Lemma combine_flip row : forall ds, combine false row ds = combine true row (map flip ds).
Proof.
  induction row as [|w row IH]; intros [|d ds]; simpl; auto. rewrite IH. destruct (leb zero w); reflexivity.
Qed.
Lemma sum_dir_sound row ws ds x y p a b : Forall2 same_sign row ws -> Dirs ds x y ->
  fsum p ws x = Some a -> fsum p ws y = Some b -> okdir (sum_dir ds row) a b.
Proof.
  intros S D A B. unfold sum_dir, okdir. simpl. split; intro C.
  - apply (combine_sound row ws S ds x y D p p a b); auto. lra.
  - rewrite combine_flip in C. apply (combine_sound row ws S _ y x (Dirs_flip _ _ _ D) p p b a); auto. lra.
Qed.
Lemma same_sign_val row : Forall2 same_sign row (map val row).
Proof. induction row; simpl; constructor; auto. unfold same_sign. tauto. Qed.
Lemma rows_dirs ds x y rows : Dirs ds x y -> forall a b, mapo (row_value x) rows = Some a -> mapo (row_value y) rows = Some b ->
  Dirs (map (fun r => sum_dir ds (fst r)) rows) a b.
Proof.
  intro D. induction rows as [|r rows IH]; intros a b A B; simpl in *.
  - injection A as <-. injection B as <-. constructor.
  - destruct (row_value x r) as [va|] eqn:Va; [|discriminate]. destruct (mapo (row_value x) rows) as [ra|]; [|discriminate].
    destruct (row_value y r) as [vb|] eqn:Vb; [|discriminate]. destruct (mapo (row_value y) rows) as [rb|]; [|discriminate].
    injection A as <-. injection B as <-. constructor; [|apply IH; reflexivity].
    apply (sum_dir_sound _ (map val (fst r)) ds x y (val (snd r))); auto using same_sign_val.
Qed.
Lemma Dirs_relu ds x y : Dirs ds x y -> Dirs ds (map (fun v => Rmax v 0) x) (map (fun v => Rmax v 0) y).
Proof.
  induction 1 as [|d ds a b x y [H1 H2]]; simpl; constructor; auto.
  split; intro; apply Rle_max_compat_r; auto.
Qed.

(** ** The head *)
Lemma divided_total c row : 0 < c -> forall Z z, sized z (map val Z) -> length row = length Z ->
  let ws := map (fun g => rnd (val g / c)) row in
  dotR (map Rabs ws) (map val Z) <= (1 + u) * (dotR (map Rabs (map val row)) (map val Z) / c) + eps * sumR (map val Z) /\
  0 <= sumR (map Rabs ws) <= (1 + u) * (sumR (map Rabs (map val row)) / c) + INR (length row) * eps /\
  0 <= sumR (map val Z) /\ 0 <= dotR (map Rabs (map val row)) (map val Z) /\ 0 <= sumR (map Rabs (map val row)).
Proof.
  intros Hc. assert (Ic : 0 < / c) by (apply Rinv_0_lt_compat; exact Hc). pose proof u_pos. pose proof eps_pos.
  induction row as [|g row IH]; intros [|t Z] z S L; simpl in L; try discriminate; cbn [map] in S.
  - simpl. unfold Rdiv. rewrite !Rmult_0_l. lra.
  - apply sized_inv in S. destruct S as (y & ys & -> & Hy & S). cbn [map dotR sumR length].
    injection L as L. destruct (IH Z ys S L) as (A & B & C & D & E). rewrite S_INR.
    assert (G : Rabs (rnd (val g / c)) <= (1 + u) * (Rabs (val g) / c) + eps).
    { pose proof (rnd_err (val g / c)) as R. replace (rnd (val g / c)) with ((rnd (val g / c) - val g / c) + val g / c) by ring.
      eapply Rle_trans; [apply Rabs_triang|].
      assert (Q : Rabs (val g / c) = Rabs (val g) / c) by (unfold Rdiv; rewrite Rabs_mult, (Rabs_pos_eq (/ c)) by lra; reflexivity).
      rewrite Q in *. lra. }
    pose proof (Rabs_pos (val g)). pose proof (Rabs_pos (rnd (val g / c))). pose proof (Rabs_pos y).
    assert (P : Rabs (rnd (val g / c)) * val t <= ((1 + u) * (Rabs (val g) / c) + eps) * val t) by (apply Rmult_le_compat_r; lra).
    assert (0 <= Rabs (val g) * val t) by (apply Rmult_le_pos; lra). cbn [map] in *.
    unfold Rdiv in *. lra.
Qed.
Lemma divided_weights (ct : num) row : 0 < val ct -> forallb (fun w => ltb (absT w) (mul hugeT ct)) row = true ->
  mapo (fun g => fl (val g / val ct)) row = Some (map (fun g => rnd (val g / val ct)) row).
Proof.
  intros Hc. induction row as [|g row IH]; intro H; simpl in *; [reflexivity|]. apply andb_true_iff in H. destruct H as [H1 H2].
  rewrite (IH H2). apply ltb_spec in H1. rewrite val_absT, val_mul, val_hugeT in H1.
  assert (Ic : 0 < / val ct) by (apply Rinv_0_lt_compat; exact Hc).
  rewrite (fl_small _ huge); [reflexivity | | pose proof huge_top; pose proof huge_pos; lra].
  unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ val ct)) by lra.
  apply Rle_trans with (huge * val ct * / val ct); [apply Rmult_le_compat_r; lra|]. right. field. lra.
Qed.
Lemma divided_sign c row : 0 < c -> Forall2 same_sign row (map (fun g => rnd (val g / c)) row).
Proof.
  intro Hc. assert (Ic : 0 < / c) by (apply Rinv_0_lt_compat; exact Hc).
  induction row as [|g row IH]; simpl; constructor; auto. split; intro H; rewrite <- rnd_zero; apply rnd_mono; unfold Rdiv; nra.
Qed.
Lemma head_sound Z inputs h : head_fits Z inputs h = true -> val inputs = sumR (map val Z) ->
  forall z, sized z (map val Z) -> exists b s v, 0 < val (snd h) /\
    output_value z h = Some v /\ fl (s * val (snd h)) = Some v /\
    fsum b (map (fun g => rnd (val g / val (snd h))) (fst (fst h))) z = Some s /\ b = rnd (val (snd (fst h)) / val (snd h)).
Proof.
  destruct h as [[row b] ct]. unfold head_fits. rewrite !andb_true_iff. intros [[H0 [H1 H2]] [[H3 H4] [H5 H6]]] Hi z S.
  cbn [fst snd]. set (c := val ct).
  assert (Hc : 0 < c) by (apply ltb_spec in H0; rewrite val_zero in H0; exact H0).
  assert (Ic : 0 < / c) by (apply Rinv_0_lt_compat; exact Hc).
  apply Nat.eqb_eq in H1. apply ltb_spec in H5. apply ltb_spec in H6.
  rewrite val_mul in H6. fold c in H6. rewrite val_hugeT in H5, H6.
  set (n := length row) in *. set (V := val (add _ _)) in H5, H6.
  set (T := dotR (map Rabs (map val row)) (map val Z)). set (W := sumR (map Rabs (map val row))). set (S' := sumR (map val Z)).
  set (g := gam (n + 5)). set (mx := Rmax 1 c).
  assert (EV : V = T + Rabs (val b) + (g * (T + Rabs (val b)) + (1 + g) * (eta * mx) * (3 * INR n + 3 + W + S'))).
  { unfold V. cbv zeta. repeat rewrite ?val_norm, ?val_add, ?val_mul, ?val_one, ?val_etaT, ?val_maxT, ?val_absT, ?val_fromZ.
    rewrite val_abs_dot, val_abs_sum, Hi, (val_gammaT n H2), plus_IZR, mult_IZR, <- INR_IZR_INZ. reflexivity. }
  destruct (divided_total c row Hc Z z S H1) as (A & B & C & D & E). fold T W S' in A, B, C, D, E. fold n in B.
  set (ws := map (fun g => rnd (val g / c)) row) in *. set (b' := rnd (val b / c)).
  pose proof u_pos as Up. pose proof u_small as Us. pose proof eps_pos as Ep. pose proof eps_small as Es. pose proof eps_eta as Ee.
  pose proof (Rabs_pos (val b)) as Bp. pose proof (pos_INR n) as Np.
  pose proof (fits_gamma_spec n H2) as Hu.
  assert (Gp : 0 <= g) by (pose proof (P_gam _ Hu); pose proof (P_ge (n + 5)); unfold g; lra).
  assert (Bb : Rabs b' <= (1 + u) * (Rabs (val b) / c) + eps).
  { unfold b'. pose proof (rnd_err (val b / c)) as R. replace (rnd (val b / c)) with ((rnd (val b / c) - val b / c) + val b / c) by ring.
    eapply Rle_trans; [apply Rabs_triang|].
    assert (Q : Rabs (val b / c) = Rabs (val b) / c) by (unfold Rdiv; rewrite Rabs_mult, (Rabs_pos_eq (/ c)) by lra; reflexivity).
    rewrite Q in *. lra. }
  assert (Lw : length ws = n) by (unfold ws; rewrite map_length; reflexivity).
  set (K := V / c).
  assert (KV : K * c = V) by (unfold K; field; lra).
  assert (M1 : 1 <= mx / c).
  { apply Rmult_le_reg_r with c; [exact Hc|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. pose proof (Rmax_r 1 c). fold mx in H. lra. }
  assert (M2 : W / c <= mx / c * W).
  { unfold Rdiv. pose proof (Rmax_l 1 c). fold mx in H. rewrite (Rmult_comm (mx * / c)). rewrite <- Rmult_assoc.
    apply Rmult_le_compat_r; [lra|]. rewrite <- (Rmult_1_r W) at 1. apply Rmult_le_compat_l; lra. }
  set (Q := (T + Rabs (val b)) / c).
  assert (Q0 : 0 <= Q) by (unfold Q, Rdiv; apply Rmult_le_pos; lra).
  assert (EK : K = (1 + g) * (Q + eta * (mx / c * (3 * INR n + 3 + S') + mx / c * W))).
  { unfold K, Q. rewrite EV. field. lra. }
  set (X := 3 * INR n + 3 + S'). fold X in EK. assert (X0 : 3 <= X) by (unfold X; lra).
  set (tot := total ws (map val Z) b').
  set (Er := lin_err (length ws) tot (sumR (map Rabs ws)) S').
  assert (Ht : tot <= (1 + u) * Q + eps * (S' + 1)).
  { unfold tot, total. replace ((1 + u) * Q) with ((1 + u) * (T / c) + (1 + u) * (Rabs (val b) / c)) by (unfold Q; field; lra). lra. }
  assert (Hw : sumR (map Rabs ws) <= (1 + u) * (W / c) + INR n * eps) by apply B.
  assert (WC : 0 <= W / c) by (unfold Rdiv; apply Rmult_le_pos; lra).
  assert (Main : tot + Er <= 2 * K).
  { unfold Er, lin_err. rewrite Lw. fold g.
    apply Rle_trans with ((1 + g) * (tot + eta * (3 * INR n + 3 + sumR (map Rabs ws) + S'))); [right; ring|].
    rewrite EK. replace (2 * ((1 + g) * (Q + eta * (mx / c * X + mx / c * W)))) with ((1 + g) * (2 * (Q + eta * (mx / c * X + mx / c * W)))) by ring.
    apply Rmult_le_compat_l; [lra|].
    assert (F1 : eta * X <= eta * (mx / c * X)) by (apply Rmult_le_compat_l; [lra|]; rewrite <- (Rmult_1_l X) at 1; apply Rmult_le_compat_r; lra).
    assert (F2 : eta * (W / c) <= eta * (mx / c * W)) by (apply Rmult_le_compat_l; lra).
    assert (F3 : eta * (3 * INR n + 3 + sumR (map Rabs ws) + S') <= eta * (X + (1 + u) * (W / c) + INR n * eps)) by (apply Rmult_le_compat_l; unfold X; lra).
    assert (F4 : u * Q <= Q) by (assert (u * Q <= 1 * Q) by (apply Rmult_le_compat_r; lra); lra).
    assert (F5 : eta * (u * (W / c)) <= eta * (W / c)).
    { apply Rmult_le_compat_l; [lra|]. assert (u * (W / c) <= 1 * (W / c)) by (apply Rmult_le_compat_r; lra). lra. }
    assert (F6 : eta * (INR n * eps) <= eta * INR n / 8).
    { unfold Rdiv. rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; lra. }
    assert (F7 : eps * (S' + 1) <= eta * (S' + 1) / 4).
    { unfold Rdiv. assert (eps * (S' + 1) <= eta / 4 * (S' + 1)) by (apply Rmult_le_compat_r; lra). lra. }
    assert (F8 : eta * INR n / 8 + eta * (S' + 1) / 4 <= eta * X).
    { unfold X. assert (0 <= eta * INR n) by (apply Rmult_le_pos; lra). assert (0 <= eta * S') by (apply Rmult_le_pos; lra). lra. }
    lra. }
  assert (K1 : K < huge).
  { unfold K. apply Rmult_lt_reg_r with c; [exact Hc|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  destruct (fsum_sound ws z (map val Z) b') as (s & F1 & _ & F3).
  - rewrite Lw, (sized_length _ _ S), map_length. exact H1.
  - exact S.
  - rewrite Lw. exact Hu.
  - fold tot Er S'. unfold S' in *. change (tot + Er <= 2 * huge). lra.
  - assert (Hs : Rabs (s * c) <= 2 * huge).
    { rewrite Rabs_mult, (Rabs_pos_eq c) by lra. apply Rle_trans with (2 * K * c); [|lra].
      apply Rmult_le_compat_r; [lra|]. eapply Rle_trans; [exact F3|]. exact Main. }
    pose proof (fl_small _ _ Hs huge_top) as Fs.
    exists b', s, (rnd (s * c)). split; [exact Hc|]. split; [|split; [exact Fs | split; [exact F1 | reflexivity]]].
    change (bind (mapo (fun g => fl (val g / c)) row) (fun ws => bind (fl (val b / c)) (fun b => bind (fsum b ws z)
      (fun s => fl (s * c)))) = Some (rnd (s * c))).
    assert (Fw : mapo (fun g => fl (val g / c)) row = Some ws) by apply (divided_weights ct row Hc H3). rewrite Fw. simpl.
    assert (Fb : fl (val b / c) = Some b').
    { apply ltb_spec in H4. rewrite val_absT, val_mul, val_hugeT in H4. fold c in H4.
      apply (fl_small _ huge); [|pose proof huge_top; pose proof huge_pos; lra].
      unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ c)) by lra.
      apply Rle_trans with (huge * c * / c); [apply Rmult_le_compat_r; lra|]. right. field. lra. }
    rewrite Fb. simpl. rewrite F1. simpl. exact Fs.
Qed.
