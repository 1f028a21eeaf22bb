(** Section 3.1, soundness: what the layers compute in float64, in both copies, lies within the spreads. *)
From Coq Require Import Reals List Bool Arith Lra Lia ZArith.
From Flocq Require Import Core.
From Smile Require Import Num Leaf Reduction LeafSound Float Binary64 Exact Spread.
Import ListNotations DOps DSpec.
Open Scope R_scope.

Definition within (s : spread) (a b : R) : Prop :=
  (val (s_lo s) <= a <= val (s_hi s)) /\ (val (s_lo s) <= b <= val (s_hi s)) /\
  (val (s_low s) <= a - b <= val (s_high s)) /\ (s_up s = true -> b <= a) /\ (s_down s = true -> a <= b) /\
  Rabs a <= huge /\ Rabs b <= huge.
Inductive Within : list spread -> list R -> list R -> Prop :=
| W_nil : Within [] [] []
| W_cons s ss a b x y : within s a b -> Within ss x y -> Within (s :: ss) (a :: x) (b :: y).

Ltac exact_num := repeat rewrite ?val_norm, ?val_zero, ?val_one, ?val_add, ?val_sub, ?val_mul, ?val_maxT, ?val_minT,
  ?val_absT, ?val_negT, ?val_uT, ?val_etaT, ?val_hugeT, ?val_topT, ?val_fromZ in *.
Lemma isz_zero a : isz a = true -> val a = 0. Proof. apply isz_spec. Qed.

Lemma Rmax_le_iff a b c : Rmax a b <= c <-> a <= c /\ b <= c.
Proof. unfold Rmax. destruct (Rle_dec a b); lra. Qed.
Lemma Rmin_ge_iff a b c : c <= Rmin a b <-> c <= a /\ c <= b.
Proof. unfold Rmin. destruct (Rle_dec a b); lra. Qed.

Lemma settle_huge lo hi low high up down s : settle lo hi low high up down = Some s -> - huge < val lo /\ val hi < huge.
Proof.
  unfold settle. destruct (andb _ _) eqn:E; [|discriminate]. intros _. rewrite !andb_true_iff in E.
  destruct E as [[E1 E2] _]. apply ltb_spec in E1. apply ltb_spec in E2. exact_num. lra.
Qed.
Lemma settle_sound lo hi low high up down s a b : settle lo hi low high up down = Some s ->
  val lo <= a <= val hi -> val lo <= b <= val hi -> Rmin (val low) 0 <= a - b <= Rmax (val high) 0 ->
  (up = true -> b <= a) -> (down = true -> a <= b) -> within s a b.
Proof.
  intros H Ha Hb Hd Hu Hv. pose proof (settle_huge _ _ _ _ _ _ _ H) as G. unfold settle in H.
  destruct (andb _ _); [|discriminate]. injection H as <-. unfold within. cbn [s_lo s_hi s_low s_high s_up s_down].
  rewrite !val_norm. split; [exact Ha|]. split; [exact Hb|]. split; [|repeat split; auto; apply Rabs_le; lra]. split.
  - destruct up; exact_num; [specialize (Hu eq_refl); lra|]. apply Rmax_le_iff. lra.
  - destruct down; exact_num; [specialize (Hv eq_refl); lra|]. apply Rmin_ge_iff. lra.
Qed.

Lemma Within_length ss x y : Within ss x y -> length x = length ss /\ length y = length ss.
Proof. induction 1; simpl; intuition congruence. Qed.
Lemma Within_app s1 x1 y1 s2 x2 y2 : Within s1 x1 y1 -> Within s2 x2 y2 -> Within (s1 ++ s2) (x1 ++ x2) (y1 ++ y2).
Proof. induction 1; simpl; auto. intro. constructor; auto. Qed.
Lemma Within_nth ss x y : Within ss x y -> forall i s, nth_error ss i = Some s ->
  exists a b, nth_error x i = Some a /\ nth_error y i = Some b /\ within s a b.
Proof.
  induction 1 as [|s0 ss a0 b0 x y H _ IH]; intros i s E; destruct i; simpl in *; try discriminate.
  - injection E as <-. eauto.
  - apply IH. exact E.
Qed.
Lemma mapo_within {A} (f : A -> option spread) (g : list R -> A -> option R) x y :
  (forall c s, f c = Some s -> exists a b, g x c = Some a /\ g y c = Some b /\ within s a b) ->
  forall l ss, mapo f l = Some ss -> exists a b, mapo (g x) l = Some a /\ mapo (g y) l = Some b /\ Within ss a b.
Proof.
  intro H. induction l as [|c l IH]; intros ss E; simpl in E.
  - injection E as <-. exists [], []. repeat split; constructor.
  - destruct (f c) as [s|] eqn:F; [|discriminate]. destruct (mapo f l) as [r|] eqn:M; [|discriminate]. injection E as <-.
    destruct (H c s F) as (a & b & Ga & Gb & W). destruct (IH r eq_refl) as (p & q & Mp & Mq & V).
    exists (a :: p), (b :: q). simpl. rewrite Ga, Gb, Mp, Mq. repeat split. constructor; assumption.
Qed.
Lemma size_spec s a b : within s a b -> Rabs a <= val (size s) /\ Rabs b <= val (size s).
Proof.
  intros (Ha & Hb & _). unfold size. exact_num.
  assert (forall v, val (s_lo s) <= v <= val (s_hi s) -> Rabs v <= Rmax (- val (s_lo s)) (val (s_hi s))).
  { intros v Hv. pose proof (Rmax_l (- val (s_lo s)) (val (s_hi s))). pose proof (Rmax_r (- val (s_lo s)) (val (s_hi s))).
    apply Rabs_le. lra. }
  auto.
Qed.

(** ** Scaling: ramps, and the scaler of the inputs *)
Lemma val_scale_err d r : val (scale_err d r) = e_u (val d) (val r).
Proof. unfold scale_err, twice, e_u. exact_num. simpl. ring. Qed.
Lemma fl_scale y s m D : 0 < m <= top -> Rabs (y - s) <= D -> D < huge -> D * m < huge ->
  exists a p, fl (y - s) = Some a /\ fl (a * m) = Some p /\ Rabs (p - m * (y - s)) <= e_u D m.
Proof.
  intros Hm HD H1 H2. pose proof huge_top as Ht. pose proof huge_pos. pose proof (Rabs_pos (y - s)).
  pose proof (rnd_err (y - s)) as E. pose proof u_pos. pose proof u_small. pose proof eps_pos.
  assert (F1 : fl (y - s) = Some (rnd (y - s))) by (apply (fl_small _ D); lra).
  assert (Hr : Rabs (rnd (y - s)) <= D * (1 + u) + eps).
  { replace (rnd (y - s)) with ((rnd (y - s) - (y - s)) + (y - s)) by ring. eapply Rle_trans; [apply Rabs_triang|]. nra. }
  assert (Em : eps * m <= 8).
  { apply Rle_trans with (eps * top); [apply Rmult_le_compat_l; lra|]. unfold eps, top. rewrite <- bpow_plus.
    replace 8 with (bpow radix2 3) by (simpl; lra). apply bpow_le. lia. }
  assert (Hb : huge * 2 + 8 <= bpow radix2 1023).
  { apply Rle_trans with (bpow radix2 1001 + bpow radix2 1001).
    - replace (huge * 2) with (bpow radix2 1001) by (unfold huge; change 1001%Z with (1000 + 1)%Z; rewrite bpow_plus; reflexivity).
      apply Rplus_le_compat_l. replace 8 with (bpow radix2 3) by (simpl; lra). apply bpow_le. lia.
    - replace (bpow radix2 1001 + bpow radix2 1001) with (bpow radix2 1002)
        by (change 1002%Z with (1001 + 1)%Z; rewrite bpow_plus; simpl (bpow radix2 1); lra). apply bpow_le. lia. }
  assert (Hp : Rabs (rnd (y - s) * m) <= huge * 2 + 8).
  { rewrite Rabs_mult, (Rabs_pos_eq m) by lra.
    apply Rle_trans with ((D * (1 + u) + eps) * m); [apply Rmult_le_compat_r; lra|].
    replace ((D * (1 + u) + eps) * m) with (D * m * (1 + u) + eps * m) by ring.
    assert (D * m * (1 + u) <= D * m * 2); [|lra]. apply Rmult_le_compat_l; [|lra]. apply Rmult_le_pos; lra. }
  exists (rnd (y - s)), (rnd (rnd (y - s) * m)). split; [exact F1|]. split; [apply (fl_small _ _ Hp Hb)|].
  apply scaler_sound; [lra | exact HD|].
  exists (rnd (y - s)). split; apply rnd_is_near; [lra|].
  pose proof (Rabs_pos (rnd (y - s))). pose proof (Rabs_pos m). lra.
Qed.
Lemma clip_diff l h p q : l <= h -> Rmin (p - q) 0 <= Rmax l (Rmin h p) - Rmax l (Rmin h q) <= Rmax (p - q) 0.
Proof.
  intro. unfold Rmax, Rmin. repeat destruct (Rle_dec _ _); lra.
Qed.
Lemma clip_mono l h p q : p <= q -> Rmax l (Rmin h p) <= Rmax l (Rmin h q).
Proof. intro. unfold Rmax, Rmin. repeat destruct (Rle_dec _ _); lra. Qed.
Lemma clip_range l h p : l <= h -> l <= Rmax l (Rmin h p) <= h.
Proof. intro. unfold Rmax, Rmin. repeat destruct (Rle_dec _ _); lra. Qed.
Lemma fl_scale_mono x y s m p q a b : 0 < m -> x <= y -> fl (x - s) = Some a -> fl (a * m) = Some p ->
  fl (y - s) = Some b -> fl (b * m) = Some q -> p <= q.
Proof.
  intros Hm L A P B Q. apply (fl_mono _ _ _ _ P Q). apply Rmult_le_compat_r; [lra|]. apply (fl_mono _ _ _ _ A B). lra.
Qed.

Lemma ramp_sound ys x y c s : Within ys x y -> ramp_spread ys c = Some s ->
  exists a b, ramp_value x c = Some a /\ ramp_value y c = Some b /\ within s a b.
Proof.
  intros W H. unfold ramp_spread in H. destruct (nth_error ys (fst (fst c))) as [t|] eqn:E; [|discriminate].
  destruct (Within_nth _ _ _ W _ _ E) as (p & q & Ep & Eq & (Hp & Hq & Hd & Hu & Hv & _)).
  set (start := snd (fst c)) in *. set (rate := snd c) in *.
  destruct (andb _ _) eqn:T; [|discriminate]. rewrite !andb_true_iff in T. destruct T as [[T1 T2] [T3 T4]].
  apply ltb_spec in T1. apply leb_val in T2. apply ltb_spec in T3. apply ltb_spec in T4.
  set (d := maxT _ _) in *.
  assert (Dd : forall v, val (s_lo t) <= v <= val (s_hi t) -> Rabs (v - val start) <= val d).
  { intros v Hv'. unfold d. exact_num. pose proof (Rmax_l (val start - val (s_lo t)) (val (s_hi t) - val start)).
    pose proof (Rmax_r (val start - val (s_lo t)) (val (s_hi t) - val start)). apply Rabs_le. lra. }
  exact_num. unfold ramp_value. rewrite Ep, Eq. fold start rate.
  destruct (fl_scale p (val start) (val rate) (val d)) as (a & va & A1 & A2 & A3); auto; try lra.
  destruct (fl_scale q (val start) (val rate) (val d)) as (b & vb & B1 & B2 & B3); auto; try lra.
  rewrite A1, A2, B1, B2. eexists; eexists. split; [reflexivity|]. split; [reflexivity|].
  apply (settle_sound _ _ _ _ _ _ _ _ _ H); exact_num.
  - apply clip_range. lra.
  - apply clip_range. lra.
  - unfold twice. exact_num. rewrite val_scale_err. apply Rabs_le_inv in A3. apply Rabs_le_inv in B3.
    pose proof (clip_diff 0 1 va vb ltac:(lra)) as [C1 C2]. set (e := e_u (val d) (val rate)) in *.
    assert (val rate * val (s_low t) <= val rate * (p - q)) by (apply Rmult_le_compat_l; lra).
    assert (val rate * (p - q) <= val rate * val (s_high t)) by (apply Rmult_le_compat_l; lra).
    split; (eapply Rle_trans; [|eassumption] || (eapply Rle_trans; [eassumption|])).
    + apply Rle_min_compat_r. lra.
    + apply Rle_max_compat_r. lra.
  - intro U. apply clip_mono. apply (fl_scale_mono q p (val start) (val rate) vb va b a); auto.
  - intro V. apply clip_mono. apply (fl_scale_mono p q (val start) (val rate) va vb a b); auto.
Qed.

(** ** Sums *)
Lemma ext_sound ys x y : Within ys x y -> forall row,
  (val (ext s_lo s_hi row ys) <= dotR (map val row) x <= val (ext s_hi s_lo row ys)) /\
  (val (ext s_lo s_hi row ys) <= dotR (map val row) y <= val (ext s_hi s_lo row ys)) /\
  (val (ext s_low s_high row ys) <= dotR (map val row) x - dotR (map val row) y <= val (ext s_high s_low row ys)).
Proof.
  induction 1 as [|s ss a b x y (Ha & Hb & Hd & _) _ IH]; intros [|w row]; simpl; exact_num; try lra.
  specialize (IH row).
  assert (G : forall f g v, val (f s) <= v <= val (g s) ->
    val w * val (if leb zero w then f s else g s) <= val w * v <= val w * val (if leb zero w then g s else f s)).
  { intros f g v Hv. destruct (leb zero w) eqn:E.
    - apply leb_val in E. exact_num. nra.
    - apply DSound.leb_f in E. exact_num. nra. }
  pose proof (G s_lo s_hi a Ha). pose proof (G s_lo s_hi b Hb). pose proof (G s_low s_high (a - b) Hd). lra.
Qed.
Lemma rising_sound ys x y : Within ys x y -> forall row, rising s_up s_down row ys = true ->
  forall p q a b, q <= p -> fsum p (map val row) x = Some a -> fsum q (map val row) y = Some b -> b <= a.
Proof.
  induction 1 as [|s ss v v' x y (_ & _ & _ & U & D & _) _ IH]; intros [|w row] R p q a b L A B; simpl in *;
    try (injection A as <-; injection B as <-; exact L).
  apply andb_true_iff in R. destruct R as [R1 R2].
  destruct (fl (val w * v)) as [pa|] eqn:P1; [|discriminate]. destruct (fl (p + pa)) as [sa|] eqn:S1; [|discriminate].
  destruct (fl (val w * v')) as [pb|] eqn:P2; [|discriminate]. destruct (fl (q + pb)) as [sb|] eqn:S2; [|discriminate].
  apply (IH row R2 sa sb a b); auto. apply (fl_mono _ _ _ _ S2 S1). apply Rplus_le_compat; [exact L|].
  apply (fl_mono _ _ _ _ P2 P1). apply orb_true_iff in R1. destruct R1 as [Z|R1].
  - rewrite (isz_zero _ Z). lra.
  - destruct (leb zero w) eqn:E; [apply leb_val in E | apply DSound.leb_f in E]; exact_num;
      [specialize (U R1) | specialize (D R1)]; nra.
Qed.
Definition turn (s : spread) : spread :=
  Spread (s_lo s) (s_hi s) (negT (s_high s)) (negT (s_low s)) (s_down s) (s_up s).
Lemma Within_turn ys x y : Within ys x y -> Within (map turn ys) y x.
Proof.
  induction 1 as [|s ss a b x y (A & B & C & D & F & G & I) _ IH]; simpl; constructor; auto.
  unfold within, turn. cbn [s_lo s_hi s_low s_high s_up s_down]. exact_num. intuition lra.
Qed.
Lemma rising_turn row : forall ys, rising s_down s_up row ys = rising s_up s_down row (map turn ys).
Proof. induction row as [|w row IH]; intros [|s ys]; simpl; auto. rewrite IH. reflexivity. Qed.
Lemma falling_sound ys x y row p a b : Within ys x y -> rising s_down s_up row ys = true ->
  fsum p (map val row) x = Some a -> fsum p (map val row) y = Some b -> a <= b.
Proof.
  intros W R A B. rewrite rising_turn in R. apply (rising_sound _ _ _ (Within_turn _ _ _ W) row R p p b a); auto. lra.
Qed.
Lemma sized_sizes ys x y : Within ys x y -> sized x (map (fun s => val (size s)) ys) /\ sized y (map (fun s => val (size s)) ys).
Proof.
  induction 1 as [|s ss a b x y H _ [IH1 IH2]]; simpl; split; constructor; auto; apply (size_spec s a b H).
Qed.
Lemma val_abs_dot row : forall Y, val (abs_dot row Y) = dotR (map Rabs (map val row)) (map val Y).
Proof. induction row as [|w row IH]; intros [|y Y]; simpl; exact_num; auto. rewrite IH. reflexivity. Qed.
Lemma val_abs_sum row : val (abs_sum row) = sumR (map Rabs (map val row)).
Proof. induction row as [|w row IH]; simpl; exact_num; auto. fold (abs_sum row). rewrite IH. reflexivity. Qed.
Lemma val_sum_of f ys : val (sum_of f ys) = sumR (map (fun s => val (f s)) ys).
Proof. induction ys as [|y ys IH]; simpl; exact_num; auto. rewrite IH. reflexivity. Qed.
Lemma val_linear_err n t w i : fits_gamma n = true ->
  val (linear_err n t w i) = lin_err n (val t) (val w) (val i).
Proof.
  intro H. unfold linear_err, lin_err. exact_num. rewrite (val_gammaT n H). rewrite plus_IZR, mult_IZR, <- INR_IZR_INZ. ring.
Qed.

(* one row, for inputs of known sizes *)
Lemma row_fits row b Y ys : (length row =? length ys)%nat = true -> fits_gamma (length row) = true -> sized ys (map val Y) ->
  let t := norm (add (abs_dot row Y) (absT b)) in
  forall i, val i = sumR (map val Y) ->
  let e := linear_err (length row) t (abs_sum row) i in
  val t + val e <= 2 * huge ->
  exists v, fsum (val b) (map val row) ys = Some v /\ Rabs (v - (dotR (map val row) ys + val b)) <= val e /\
            Rabs v <= val t + val e.
Proof.
  intros L F S t i Hi e H. apply Nat.eqb_eq in L.
  assert (Et : val t = total (map val row) (map val Y) (val b)).
  { unfold t, total. exact_num. rewrite val_abs_dot. reflexivity. }
  assert (Ee : val e = lin_err (length (map val row)) (total (map val row) (map val Y) (val b))
                       (sumR (map Rabs (map val row))) (sumR (map val Y))).
  { unfold e. rewrite val_linear_err by exact F. rewrite Et, Hi, val_abs_sum, map_length. reflexivity. }
  rewrite Et, Ee in H |- *. apply fsum_sound; [rewrite map_length; exact L | exact S | | exact H].
  rewrite map_length. apply fits_gamma_spec. exact F.
Qed.
Lemma row_sound ys x y i r s : Within ys x y -> val i = sumR (map (fun s => val (size s)) ys) ->
  row_spread ys (map size ys) i r = Some s ->
  exists a b, row_value x r = Some a /\ row_value y r = Some b /\ within s a b.
Proof.
  intros W Hi H. destruct r as [row b]. unfold row_spread in H. destruct (andb _ _) eqn:T; [|discriminate].
  rewrite !andb_true_iff in T. destruct T as [[T1 T2] T3]. apply ltb_spec in T3. rewrite val_add, val_norm, val_hugeT in T3.
  set (t := norm (add (abs_dot row (map size ys)) (absT b))) in *.
  set (e := linear_err (length row) t (abs_sum row) i) in *. rewrite val_norm in T3.
  replace (val (add (abs_dot row (map size ys)) (absT b))) with (val t) in T3 by apply val_norm.
  destruct (sized_sizes _ _ _ W) as [Sx Sy]. rewrite <- map_map with (f := size) (g := val) in Sx, Sy.
  pose proof huge_pos. destruct (Within_length _ _ _ W) as [Lx Ly].
  assert (Hi' : val i = sumR (map val (map size ys))) by (rewrite map_map; exact Hi).
  assert (T1x : (length row =? length x)%nat = true) by (rewrite Lx; exact T1).
  assert (T1y : (length row =? length y)%nat = true) by (rewrite Ly; exact T1).
  destruct (row_fits row b (map size ys) x T1x T2 Sx i Hi' ltac:(fold t e; lra)) as (va & A1 & A2 & _).
  destruct (row_fits row b (map size ys) y T1y T2 Sy i Hi' ltac:(fold t e; lra)) as (vb & B1 & B2 & _).
  fold t e in A2, B2. exists va, vb. unfold row_value. simpl. split; [exact A1|]. split; [exact B1|].
  apply Rabs_le_inv in A2. apply Rabs_le_inv in B2. destruct (ext_sound _ _ _ W row) as (X1 & X2 & X3).
  apply (settle_sound _ _ _ _ _ _ _ _ _ H); unfold twice; exact_num; try lra.
  - match goal with |- Rmin ?p 0 <= _ <= Rmax ?q 0 => pose proof (Rmin_l p 0); pose proof (Rmax_l q 0) end. lra.
  - intro R. apply (rising_sound _ _ _ W row R (val b) (val b)); auto. lra.
  - intro R. apply (falling_sound ys x y row (val b) va vb); auto.
Qed.

(** ** Kinks *)
Lemma kinks_sound ys x y : Within ys x y -> forall c ss, kinks_spread c ys = Some ss ->
  Within ss (kinks_value c x) (kinks_value c y).
Proof.
  induction 1 as [|s ys a b x y (Ha & Hb & Hd & Hu & Hv & _) _ IH]; intros c ss H; simpl in H.
  - injection H as <-. constructor.
  - destruct (match c with O => _ | S _ => _ end) as [t|] eqn:E; [|discriminate].
    destruct (kinks_spread (Nat.pred c) ys) as [r|] eqn:K; [|discriminate]. injection H as <-.
    destruct c as [|c]; simpl in *; (constructor; [|apply IH; exact K]);
      apply (settle_sound _ _ _ _ _ _ _ _ _ E); exact_num;
      try (intro F; specialize (Hu F)); try (intro F; specialize (Hv F));
      unfold Rmin, Rmax; repeat destruct (Rle_dec _ _); lra.
Qed.

(** ** Means *)
Lemma dotR_ones x : dotR (repeat 1 (length x)) x = sumR x.
Proof. induction x; simpl; [reflexivity | rewrite IHx; ring]. Qed.
Lemma ones_abs n : map Rabs (repeat 1 n) = repeat 1 n.
Proof. induction n; simpl; [reflexivity | rewrite IHn, Rabs_R1; reflexivity]. Qed.
Lemma sum_ones n : sumR (repeat 1 n) = INR n.
Proof. induction n; [reflexivity|]. rewrite S_INR. simpl. rewrite IHn. ring. Qed.
Lemma sums_within ys x y : Within ys x y ->
  (sumR (map (fun s => val (s_lo s)) ys) <= sumR x <= sumR (map (fun s => val (s_hi s)) ys)) /\
  (sumR (map (fun s => val (s_lo s)) ys) <= sumR y <= sumR (map (fun s => val (s_hi s)) ys)) /\
  (sumR (map (fun s => val (s_low s)) ys) <= sumR x - sumR y <= sumR (map (fun s => val (s_high s)) ys)) /\
  0 <= sumR (map (fun s => val (size s)) ys).
Proof.
  induction 1 as [|s ss a b x y H _ IH]; simpl; [lra|]. destruct (size_spec s a b H). destruct H as (Ha & Hb & Hd & _).
  pose proof (Rabs_pos a). lra.
Qed.
Lemma Within_mapo ys x y : Within ys x y -> forall l part, mapo (nth_error ys) l = Some part ->
  exists p q, mapo (nth_error x) l = Some p /\ mapo (nth_error y) l = Some q /\ Within part p q.
Proof.
  intro W. apply mapo_within with (g := fun x i => nth_error x i). intros i s E. apply (Within_nth _ _ _ W _ _ E).
Qed.
Lemma ones_up part p q : Within part p q -> forallb s_up part = true ->
  forall c d a b, d <= c -> fsum c (repeat 1 (length p)) p = Some a -> fsum d (repeat 1 (length q)) q = Some b -> b <= a.
Proof.
  induction 1 as [|s ss v w p q (_ & _ & _ & U & _) _ IH]; intros F c d a b L A B; simpl in *.
  - injection A as <-. injection B as <-. exact L.
  - apply andb_true_iff in F. destruct F as [F1 F2].
    destruct (fl (1 * v)) as [p1|] eqn:E1; [|discriminate]. destruct (fl (c + p1)) as [a1|] eqn:E2; [|discriminate].
    destruct (fl (1 * w)) as [p2|] eqn:E3; [|discriminate]. destruct (fl (d + p2)) as [b1|] eqn:E4; [|discriminate].
    apply (IH F2 a1 b1 a b); auto. apply (fl_mono _ _ _ _ E4 E2).
    apply Rplus_le_compat; [exact L|]. apply (fl_mono _ _ _ _ E3 E1). specialize (U F1). lra.
Qed.
(* N products with 1, their sum, one division *)
Lemma mean_fl n x Ys : n = length x -> (0 < n)%nat -> INR (n + 5) * u < 1 -> sized x Ys ->
  let S := sumR Ys in let E := lin_err n (S / INR n) 1 S in
  (S / INR n + E) * INR n < huge ->
  exists s v, fsum 0 (repeat 1 n) x = Some s /\ fl (s / INR n) = Some v /\ Rabs (v - sumR x / INR n) <= E.
Proof.
  intros Hn Np Hu Sz S E H. subst n. set (n := length x) in *.
  assert (N1 : 1 <= INR n) by (replace 1 with (INR 1) by reflexivity; apply le_INR; lia).
  pose proof (prods_sum (repeat 1 n) x Ys ltac:(rewrite repeat_length; reflexivity) Sz) as (A & B & C & _).
  rewrite ones_abs, sum_ones, repeat_length in B. rewrite ones_abs in A. fold S in B, C.
  assert (HS : sum Float.size (prods (repeat 1 n) x) <= S).
  { eapply Rle_trans; [apply A|]. right. unfold n, S. rewrite (sized_length _ _ Sz). apply dotR_ones. }
  pose proof eps_pos as Ep. pose proof eps_eta as Ee. pose proof u_pos as Up. pose proof u_small as Us.
  pose proof (P_gam _ Hu) as G. set (g := gam (n + 5)) in *.
  assert (E0 : eval (Cst 0) 0) by (constructor; exists 0, 0; rewrite Rabs_R0; repeat split; lra).
  set (T := sum Float.size (prods (repeat 1 n) x)) in *. set (K := sum cost (prods (repeat 1 n) x)) in *.
  assert (HK : 0 <= K) by (apply cost_nonneg, prods_cost).
  assert (Pn := P_ge (n + 1)). assert (PP : P (n + 2) <= P (n + 5)) by (apply P_le; lia).
  assert (P2 : P (n + 2) = (1 + u) * P (n + 1)) by (replace (n + 2)%nat with (Datatypes.S (n + 1)) by lia; apply P_S).
  assert (Gp : 0 <= g) by (pose proof (P_ge (n + 5)); lra).
  assert (S0 : 0 <= S) by exact C.
  assert (Eb : E * INR n = g * S + (1 + g) * eta * (3 * INR n + 4 + S) * INR n).
  { unfold E, lin_err. fold g. field. lra. }
  assert (Ge : 0 <= (1 + g) * eta) by (assert (0 <= eta) by lra; nra).
  assert (En : g * S + (1 + g) * eta * (3 * INR n + 4 + S) <= E * INR n).
  { rewrite Eb. apply Rplus_le_compat_l. assert (0 <= (1 + g) * eta * (3 * INR n + 4 + S)) by (apply Rmult_le_pos; lra). nra. }
  assert (Sn : S / INR n * INR n = S) by (field; lra).
  assert (Hsum : S + g * S + (1 + g) * eta * (3 * INR n + 4 + S) < huge) by lra.
  (* the error of the sum *)
  assert (Q1 : (P (n + 1) - 1) * T + P (n + 1) * (eps * (2 + K - 1)) <=
               (P (n + 1) - 1) * S + P (n + 1) * (eps * (3 * INR n + S + 1))).
  { apply Rplus_le_compat; apply Rmult_le_compat_l; try lra. apply Rmult_le_compat_l; lra. }
  assert (Bd : bound (n + 1) (leaves (Cst 0) ++ prods (repeat 1 n) x) <= S + ((P (n + 1) - 1) * S + P (n + 1) * (eps * (3 * INR n + S + 1)))).
  { unfold bound. simpl. fold T K. unfold Float.size. simpl. rewrite Rabs_R0.
    assert (T * 1 <= S * 1) by lra. fold T. nra. }
  assert (Kb : P (n + 1) * (eps * (3 * INR n + S + 1)) <= (1 + g) * eta * (3 * INR n + 4 + S)).
  { rewrite Rmult_assoc. apply Rmult_le_compat; try lra; [apply Rmult_le_pos; lra | pose proof (P_le (n + 1) (n + 5) ltac:(lia)); lra|].
    apply Rmult_le_compat; lra. }
  assert (Pg : P (n + 1) - 1 <= g) by (pose proof (P_le (n + 1) (n + 5) ltac:(lia)); lra).
  assert (PgS : (P (n + 1) - 1) * S <= g * S) by (apply Rmult_le_compat_r; lra).
  pose proof huge_top as Ht. pose proof huge_pos as Hh.
  destruct (fsum_tree (n + 1) (repeat 1 n) x (Cst 0) 0 E0) as [t [s [F1 [F2 F3]]]].
  - rewrite repeat_length. reflexivity.
  - rewrite repeat_length. simpl. lia.
  - eapply Rle_trans; [exact Bd|]. lra.
  - intros w y. unfold bound. simpl. unfold Float.size. simpl. pose proof (P_ge (n + 1)). pose proof (Rabs_pos (w * y)).
    pose proof (Rabs_pos w). pose proof (Rabs_pos y). assert (0 <= eps * (1 + Rabs w + Rabs y)) by nra. nra.
  - assert (Ll : (length (leaves t) <= n + 1)%nat).
    { rewrite F3. simpl. assert (Lp : forall a b, (length (prods a b) <= length a)%nat).
      { induction a as [|v a IHa]; intros [|y b']; simpl; try lia. specialize (IHa b'). lia. }
      specialize (Lp (repeat 1 n) x). rewrite repeat_length in Lp. lia. }
    pose proof (any_order t s F2 (n + 1) Ll) as Er. rewrite F3 in Er.
    assert (Tt : sum term (leaves (Cst 0) ++ prods (repeat 1 n) x) = sumR x).
    { rewrite sum_app. simpl. unfold n. clear. assert (Q : sum term (prods (repeat 1 (length x)) x) = sumR x); [|lra].
      induction x as [|a x IH]; [reflexivity|]. cbn [length repeat prods sumR]. simpl. rewrite IH. ring. }
    rewrite Tt, !sum_app in Er. simpl in Er. fold T K in Er. unfold Float.size in Er. simpl in Er. rewrite Rabs_R0 in Er.
    fold T in Er.
    assert (Er' : Rabs (s - sumR x) <= (P (n + 1) - 1) * S + P (n + 1) * (eps * (3 * INR n + S + 1))).
    { eapply Rle_trans; [exact Er|]. eapply Rle_trans; [|exact Q1]. right. ring. }
    clear Er Bd Q1. set (W := (P (n + 1) - 1) * S + P (n + 1) * (eps * (3 * INR n + S + 1))) in *.
    assert (Hx : Rabs (sumR x) <= S).
    { unfold S. clear - Sz. induction Sz; simpl; [rewrite Rabs_R0; lra|].
      eapply Rle_trans; [apply Rabs_triang|]. lra. }
    assert (Hs : Rabs s <= S + W).
    { replace s with ((s - sumR x) + sumR x) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
    assert (Id : 0 < / INR n <= 1).
    { split; [apply Rinv_0_lt_compat; lra|]. rewrite <- Rinv_1. apply Rinv_le_contravar; lra. }
    assert (Hq : Rabs (s / INR n) <= (S + W) * / INR n).
    { unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ INR n)) by lra. apply Rmult_le_compat_r; lra. }
    assert (W0 : 0 <= W) by (pose proof (Rabs_pos (s - sumR x)); lra).
    assert (SW : S + W <= huge) by (unfold W in *; lra).
    assert (Hq2 : (S + W) * / INR n <= bpow radix2 1023) by (apply Rle_trans with (S + W); [nra | lra]).
    exists s, (rnd (s / INR n)). split; [exact F1|]. split; [apply (fl_small _ _ Hq Hq2)|].
    pose proof (rnd_err (s / INR n)) as Re.
    replace (rnd (s / INR n) - sumR x / INR n) with ((rnd (s / INR n) - s / INR n) + (s - sumR x) * / INR n) by (field; lra).
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult, (Rabs_pos_eq (/ INR n)) by lra.
    assert (R1 : u * Rabs (s / INR n) + eps <= u * ((S + W) * / INR n) + eps) by (apply Rplus_le_compat_r, Rmult_le_compat_l; lra).
    assert (R2 : Rabs (s - sumR x) * / INR n <= W * / INR n) by (apply Rmult_le_compat_r; lra).
    (* (1 + u)(S + W) − S = (P (n + 2) − 1)·S + P (n + 2)·eps·(…) *)
    assert (R3 : u * (S + W) + W = (P (n + 2) - 1) * S + P (n + 2) * (eps * (3 * INR n + S + 1))).
    { rewrite P2. unfold W. ring. }
    assert (R4 : (P (n + 2) - 1) * S <= g * S) by (apply Rmult_le_compat_r; lra).
    assert (R5 : P (n + 2) * (eps * (3 * INR n + S + 1)) * / INR n + eps <= (1 + g) * eta * (3 * INR n + 4 + S)).
    { assert (Pp : 1 <= P (n + 2)) by apply P_ge.
      assert (X : 0 <= P (n + 2) * (eps * (3 * INR n + S + 1))) by (apply Rmult_le_pos; [lra | apply Rmult_le_pos; lra]).
      apply Rle_trans with (P (n + 2) * (eps * (3 * INR n + S + 1)) + P (n + 2) * (eps * 1)); [nra|].
      rewrite <- Rmult_plus_distr_l, <- Rmult_plus_distr_l, Rmult_assoc.
      apply Rmult_le_compat; try lra; [apply Rmult_le_pos; lra|]. apply Rmult_le_compat; lra. }
    assert (R6 : E = g * S * / INR n + (1 + g) * eta * (3 * INR n + 4 + S)).
    { unfold E, lin_err. fold g. field. lra. }
    assert (R7 : (u * (S + W) + W) * / INR n <= g * S * / INR n + P (n + 2) * (eps * (3 * INR n + S + 1)) * / INR n).
    { rewrite R3, Rmult_plus_distr_r. apply Rplus_le_compat_r, Rmult_le_compat_r; lra. }
    lra.
Qed.
