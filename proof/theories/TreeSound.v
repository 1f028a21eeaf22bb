(** Section 3.1, soundness: what layers of trees compute in float64, in both copies, lies within their spreads. *)
From Coq Require Import Reals List Bool Arith Lra Lia ZArith.
From Flocq Require Import Core.
From Smile Require Import Num Leaf Reduction LeafSound Float Binary64 Exact Spread SpreadSound Trees.
Import ListNotations DOps DSpec.
Open Scope R_scope.

(** ** The largest of a set *)
Lemma largest_ge v y : forall w, In w (v :: y) -> w <= largest v y.
Proof.
  revert v. induction y as [|a y IH]; intros v w H; simpl.
  - destruct H as [<-|[]]. lra.
  - destruct H as [<-|H]; [apply Rmax_l|]. eapply Rle_trans; [apply (IH a w H) | apply Rmax_r].
Qed.
Lemma largest_in v y : In (largest v y) (v :: y).
Proof.
  revert v. induction y as [|a y IH]; intro v; simpl; [auto|]. unfold Rmax. destruct (Rle_dec _ _); [|auto]. right. apply IH.
Qed.
Lemma extreme_max f s l t : In t (s :: l) -> val (f t) <= val (extreme maxT f s l).
Proof.
  unfold extreme. induction l as [|a l IH]; intro H; simpl.
  - destruct H as [<-|[]]. lra.
  - exact_num. destruct H as [<-|[<-|H]]; [|apply Rmax_l|]; (eapply Rle_trans; [apply IH; simpl; auto | apply Rmax_r]).
Qed.
Lemma extreme_min f s l t : In t (s :: l) -> val (extreme minT f s l) <= val (f t).
Proof.
  unfold extreme. induction l as [|a l IH]; intro H; simpl.
  - destruct H as [<-|[]]. lra.
  - exact_num. destruct H as [<-|[<-|H]]; [|apply Rmin_l|]; (eapply Rle_trans; [apply Rmin_r | apply IH; simpl; auto]).
Qed.
Lemma extreme_in f s l : exists t, In t (s :: l) /\ extreme maxT f s l = f t.
Proof.
  unfold extreme. induction l as [|a l IH]; simpl; [exists s; auto|]. destruct IH as (t & T & E).
  unfold maxT at 1. destruct (leb _ _); [exists t | exists a]; [rewrite E|]; simpl in *; intuition.
Qed.
Lemma Within_first ss x y : Within ss x y -> forall a, In a x -> exists s b, In s ss /\ In b y /\ within s a b.
Proof.
  induction 1 as [|s ss a b x y W _ IH]; intros v H; [contradiction|]. destruct H as [<-|H].
  - exists s, b. simpl. auto.
  - destruct (IH v H) as (t & c & T & C & V). exists t, c. simpl. auto.
Qed.
Lemma Within_second ss x y : Within ss x y -> forall b, In b y -> exists s a, In s ss /\ In a x /\ within s a b.
Proof.
  induction 1 as [|s ss a b x y W _ IH]; intros v H; [contradiction|]. destruct H as [<-|H].
  - exists s, a. simpl. auto.
  - destruct (IH v H) as (t & c & T & C & V). exists t, c. simpl. auto.
Qed.
Lemma Within_each ss x y : Within ss x y -> forall s, In s ss -> exists a b, In a x /\ In b y /\ within s a b.
Proof.
  induction 1 as [|s ss a b x y W _ IH]; intros t H; [contradiction|]. destruct H as [<-|H].
  - exists a, b. simpl. auto.
  - destruct (IH t H) as (c & d & C & D & V). exists c, d. simpl. auto.
Qed.
Lemma set_sound ys x y places s : Within ys x y -> set_spread ys places = Some s ->
  exists a b, set_value x places = Some a /\ set_value y places = Some b /\ within s a b.
Proof.
  intros W H. unfold set_spread in H. destruct (mapo (nth_error ys) places) as [[|t l]|] eqn:M; try discriminate. injection H as <-.
  destruct (Within_mapo _ _ _ W _ _ M) as (p & q & P & Q & V). unfold set_value. rewrite P, Q.
  destruct p as [|a p], q as [|b q]; try (inversion V; fail). eexists; eexists. split; [reflexivity|]. split; [reflexivity|].
  pose proof (largest_in a p) as Ia. pose proof (largest_in b q) as Ib.
  pose proof (largest_ge a p) as Ga. pose proof (largest_ge b q) as Gb. set (A := largest a p) in *. set (B := largest b q) in *.
  destruct (Within_first _ _ _ V A Ia) as (sa & b' & Sa & Ib' & (A1 & _ & A3 & _ & _ & A4 & _)).
  destruct (Within_second _ _ _ V B Ib) as (sb & a' & Sb & Ia' & (_ & B2 & B3 & _ & _ & _ & B4)).
  unfold within. cbn [s_lo s_hi s_low s_high s_up s_down].
  destruct (extreme_in s_lo t l) as (m & Im & Em). rewrite Em.
  destruct (Within_each _ _ _ V m Im) as (am & bm & Iam & Ibm & (M1 & M2 & _)).
  specialize (Ga _ Iam) as G1. specialize (Gb _ Ibm) as G2. specialize (Ga _ Ia') as G3. specialize (Gb _ Ib') as G4.
  pose proof (extreme_max s_hi t l sa Sa). pose proof (extreme_max s_hi t l sb Sb).
  pose proof (extreme_max s_high t l sa Sa). pose proof (extreme_min s_low t l sb Sb).
  repeat split; try (intro; discriminate); try assumption; lra.
Qed.

(** ** One tree *)
Lemma tree_four_sound asks x y : Within asks x y -> forall t f, tree_four asks t = Some f ->
  exists a b, tree_value x t = Some a /\ tree_value y t = Some b /\ fmt a /\ fmt b /\
    val (f_lo f) <= a <= val (f_hi f) /\ val (f_lo f) <= b <= val (f_hi f) /\ val (f_low f) <= a - b <= val (f_high f).
Proof.
  intros W. induction t as [v|q th l IHl r IHr]; intros f H; simpl in *.
  - destruct (floatb v) eqn:F; [|discriminate]. injection H as <-. pose proof (floatb_spec _ F).
    exists (val v), (val v). cbn [f_lo f_hi f_low f_high]. exact_num. repeat (split; [auto; lra|]). lra.
  - destruct (nth_error asks q) as [s|] eqn:Q; [|discriminate].
    destruct (Within_nth _ _ _ W _ _ Q) as (z1 & z2 & Z1 & Z2 & (H1 & H2 & H3 & _)). rewrite Z1, Z2.
    destruct (leb (s_hi s) th) eqn:E1; [apply leb_val in E1|apply DSound.leb_f in E1].
    { destruct (Rle_dec z1 (val th)), (Rle_dec z2 (val th)); try lra. apply IHl, H. }
    destruct (ltb th (s_lo s)) eqn:E2; [apply ltb_spec in E2|].
    { destruct (Rle_dec z1 (val th)), (Rle_dec z2 (val th)); try lra. apply IHr, H. }
    destruct (tree_four asks l) as [fl_|]; [|discriminate]. destruct (tree_four asks r) as [fr|]; [|discriminate].
    destruct (IHl fl_ eq_refl) as (a & b & A & B & Fa & Fb & A1 & B1 & D1). clear IHl.
    destruct (IHr fr eq_refl) as (c & d & C & D & Fc & Fd & C1 & D2 & D3). clear IHr.
    injection H as <-. unfold joined. cbn [f_lo f_hi f_low f_high]. rewrite val_minT, val_maxT.
    assert (L : forall v, val (f_lo fl_) <= v <= val (f_hi fl_) \/ val (f_lo fr) <= v <= val (f_hi fr) ->
      Rmin (val (f_lo fl_)) (val (f_lo fr)) <= v <= Rmax (val (f_hi fl_)) (val (f_hi fr))).
    { intros v [V|V]; pose proof (Rmin_l (val (f_lo fl_)) (val (f_lo fr))); pose proof (Rmin_r (val (f_lo fl_)) (val (f_lo fr)));
        pose proof (Rmax_l (val (f_hi fl_)) (val (f_hi fr))); pose proof (Rmax_r (val (f_hi fl_)) (val (f_hi fr))); lra. }
    assert (T : forall u w, Rmin (val (f_low fl_)) (val (f_low fr)) <= u - w <= Rmax (val (f_high fl_)) (val (f_high fr)) \/
      (0 < val (s_high s) /\ val (f_lo fr) - val (f_hi fl_) <= u - w <= val (f_hi fr) - val (f_lo fl_)) \/
      (val (s_low s) < 0 /\ val (f_lo fl_) - val (f_hi fr) <= u - w <= val (f_hi fl_) - val (f_lo fr)) ->
      let j := joined fl_ fr (ltb zero (s_high s)) (ltb (s_low s) zero) in val (f_low j) <= u - w <= val (f_high j)).
    { intros u w. unfold joined. cbn [f_low f_high].
      destruct (ltb zero (s_high s)) eqn:O1; [clear O1|unfold ltb in O1; rewrite negb_false_iff in O1; apply leb_val in O1];
      (destruct (ltb (s_low s) zero) eqn:O2; [clear O2|unfold ltb in O2; rewrite negb_false_iff in O2; apply leb_val in O2]);
      exact_num; unfold Rmin, Rmax; repeat destruct (Rle_dec _ _); lra. }
    unfold joined in T. cbn [f_low f_high] in T. cbv zeta in T.
    destruct (Rle_dec z1 (val th)) as [L1|L1], (Rle_dec z2 (val th)) as [L2|L2].
    + exists a, b. do 4 (split; [assumption|]). do 2 (split; [apply L; auto|]). apply T. left. unfold Rmin, Rmax; repeat destruct (Rle_dec _ _); lra.
    + exists a, d. do 4 (split; [assumption|]). do 2 (split; [apply L; auto|]). apply T. right; right. lra.
    + exists c, b. do 4 (split; [assumption|]). do 2 (split; [apply L; auto|]). apply T. right; left. lra.
    + exists c, d. do 4 (split; [assumption|]). do 2 (split; [apply L; auto|]). apply T. left. unfold Rmin, Rmax; repeat destruct (Rle_dec _ _); lra.
Qed.

(** ** Leaf against leaf *)
Definition says (z : list R) (p : piece) : Prop := exists v, nth_error z (p_ask p) = Some v /\
  (forall a, p_above p = Some a -> val a < v) /\ (forall b, p_upto p = Some b -> v <= val b).
Definition stated (asks : list spread) (p : piece) : Prop :=
  exists s, nth_error asks (p_ask p) = Some s /\ p_low p = s_low s /\ p_high p = s_high s.
Lemma cut_says z p (left : bool) th v : says z p -> nth_error z (p_ask p) = Some v ->
  (if left then v <= val th else val th < v) -> says z (cut_piece left th p).
Proof.
  intros (w & W & A & B) V H. rewrite W in V. injection V as ->. exists v. unfold cut_piece.
  destruct left; cbn [p_ask p_above p_upto]; (split; [exact W|]); split; auto.
  - intros b E. unfold sooner in E. injection E as <-. destruct (p_upto p) as [c|]; [|exact H].
    rewrite val_minT. apply Rmin_glb; [apply B; reflexivity | exact H].
  - intros a E. unfold later in E. injection E as <-. destruct (p_above p) as [c|]; [|exact H].
    rewrite val_maxT. apply Rmax_lub_lt; [apply A; reflexivity | exact H].
Qed.
Lemma narrow_says z s q (left : bool) th v : nth_error z q = Some v -> (if left then v <= val th else val th < v) ->
  forall path, Forall (says z) path -> Forall (says z) (narrow s q left th path).
Proof.
  intros V H. induction path as [|p path IH]; intro F; simpl.
  - constructor; [|constructor]. apply (cut_says z _ left th v); auto. exists v. repeat split; auto; discriminate.
  - inversion F; subst. destruct (Nat.eqb_spec (p_ask p) q) as [E|N]; constructor; auto.
    apply (cut_says z p left th v); auto. rewrite E. exact V.
Qed.
Lemma cut_stated asks left th p : stated asks p -> stated asks (cut_piece left th p).
Proof. unfold stated, cut_piece. destruct left; auto. Qed.
Lemma narrow_stated asks s q left th : nth_error asks q = Some s ->
  forall path, Forall (stated asks) path -> Forall (stated asks) (narrow s q left th path).
Proof.
  intros V. induction path as [|p path IH]; intro F; simpl.
  - constructor; [|constructor]. apply cut_stated. exists s. auto.
  - inversion F; subst. destruct (Nat.eqb (p_ask p) q); constructor; auto. apply cut_stated. assumption.
Qed.
Lemma open_sound asks z : (forall q s, nth_error asks q = Some s -> exists v, nth_error z q = Some v /\ val (s_lo s) <= v <= val (s_hi s)) ->
  forall t path w, Forall (says z) path -> Forall (stated asks) path -> tree_value z t = Some w ->
  (exists f, tree_four asks t = Some f) ->
  exists n p, In (n, p) (open_leaves asks t path) /\ w = val n /\ Forall (says z) p /\ Forall (stated asks) p.
Proof.
  intros K. induction t as [v|q th l IHl r IHr]; intros path w S T V F; simpl in *.
  - injection V as <-. exists v, path. auto.
  - destruct F as (f & F). destruct (nth_error asks q) as [s|] eqn:Q; [|discriminate].
    destruct (K q s Q) as (u & U & B). rewrite U in V.
    assert (Fl : u <= val th -> exists g, tree_four asks l = Some g).
    { intro L. destruct (leb (s_hi s) th) eqn:E1; [eauto|]. destruct (ltb th (s_lo s)) eqn:E2; [apply ltb_spec in E2; lra|].
      destruct (tree_four asks l); [eauto | discriminate]. }
    assert (Fr : val th < u -> exists g, tree_four asks r = Some g).
    { intro L. destruct (leb (s_hi s) th) eqn:E1; [apply leb_val in E1; lra|]. destruct (ltb th (s_lo s)); [eauto|].
      destruct (tree_four asks l); [|discriminate]. destruct (tree_four asks r); [eauto | discriminate]. }
    destruct (Rle_dec u (val th)) as [L|L].
    + assert (E : leb (s_lo s) th = true) by (apply leb_spec; lra). rewrite E.
      destruct (IHl (narrow s q true th path) w) as (n & p & I & R); auto.
      * apply (narrow_says z s q true th u); auto.
      * apply narrow_stated; auto.
      * exists n, p. split; [apply in_or_app; auto | exact R].
    + assert (E : ltb th (s_hi s) = true).
      { unfold ltb. destruct (leb (s_hi s) th) eqn:G; [apply leb_val in G; lra | reflexivity]. }
      rewrite E. destruct (IHr (narrow s q false th path) w) as (n & p & I & R); auto.
      * apply (narrow_says z s q false th u); auto. simpl. lra.
      * apply narrow_stated; auto.
      * apply Fr. lra.
      * exists n, p. split; [apply in_or_app; auto | exact R].
Qed.
Lemma pair_sound asks x y first second : Within asks x y -> Forall (says x) first -> Forall (says y) second ->
  Forall (stated asks) second -> a_pair second first = true.
Proof.
  intros W F S T. unfold a_pair. apply forallb_forall. intros s Is. apply forallb_forall. intros f If.
  destruct (Nat.eqb_spec (p_ask s) (p_ask f)) as [E|N]; [|reflexivity]. simpl. rewrite Forall_forall in F, S, T.
  destruct (F f If) as (u & U & U1 & U2). destruct (S s Is) as (v & V & V1 & V2). destruct (T s Is) as (t & Q & Q1 & Q2).
  destruct (Within_nth _ _ _ W _ _ Q) as (a & b & A & B & (_ & _ & D & _)).
  rewrite E in A. rewrite U in A. injection A as <-. rewrite V in B. injection B as <-.
  unfold apart. rewrite Q1, Q2. apply negb_true_iff, orb_false_iff. split.
  - destruct (p_above s) as [a|]; [|reflexivity]. destruct (p_upto f) as [b|]; [|reflexivity].
    destruct (leb (sub b a) (s_low t)) eqn:L; [|reflexivity]. apply leb_val in L. rewrite val_sub in L.
    specialize (V1 a eq_refl). specialize (U2 b eq_refl). lra.
  - destruct (p_upto s) as [b|]; [|reflexivity]. destruct (p_above f) as [a|]; [|reflexivity].
    destruct (leb (s_high t) (sub a b)) eqn:L; [|reflexivity]. apply leb_val in L. rewrite val_sub in L.
    specialize (V2 b eq_refl). specialize (U1 a eq_refl). lra.
Qed.
Definition inside (r : num * num) (d : R) : Prop := val (fst r) <= d <= val (snd r).
Lemma compared_keeps s f r d : inside r d -> inside (compared s f r) d.
Proof.
  unfold compared, inside. intro H. destruct (andb _ _); [|exact H]. simpl. exact_num.
  split; [eapply Rle_trans; [apply Rmin_l | lra] | eapply Rle_trans; [|apply Rmax_l]; lra].
Qed.
Lemma compared_hits s f r : a_pair (snd s) (snd f) = true -> inside (compared s f r) (val (fst f) - val (fst s)).
Proof.
  intro P. unfold compared. rewrite P, andb_true_r, <- val_sub. set (d := sub (fst f) (fst s)).
  destruct (orb _ _) eqn:E; unfold inside; simpl.
  - exact_num. split; [apply Rmin_r | apply Rmax_r].
  - unfold ltb in E. apply orb_false_iff in E. destruct E as [E1 E2]. rewrite negb_false_iff in E1, E2.
    apply leb_val in E1. apply leb_val in E2. lra.
Qed.
Lemma against_keeps s fs : forall r d, inside r d -> inside (against s fs r) d.
Proof. induction fs as [|f fs IH]; intros r d H; simpl; [exact H|]. apply IH, compared_keeps, H. Qed.
Lemma against_hits s fs : forall r f, In f fs -> a_pair (snd s) (snd f) = true ->
  inside (against s fs r) (val (fst f) - val (fst s)).
Proof.
  induction fs as [|g fs IH]; intros r f [] P; simpl.
  - subst g. apply against_keeps, compared_hits, P.
  - apply IH; assumption.
Qed.
Lemma pairs_keep fs ss : forall r d, inside r d -> inside (by_pairs ss fs r) d.
Proof. induction ss as [|s ss IH]; intros r d H; simpl; [exact H|]. apply IH, against_keeps, H. Qed.
Lemma pairs_hit fs ss : forall r s f, In s ss -> In f fs -> a_pair (snd s) (snd f) = true ->
  inside (by_pairs ss fs r) (val (fst f) - val (fst s)).
Proof.
  induction ss as [|t ss IH]; intros r s f [] F P; simpl.
  - subst t. apply pairs_keep, against_hits; assumption.
  - apply IH; assumption.
Qed.

Lemma tree_sound asks x y t s : Within asks x y -> tree_spread asks t = Some s ->
  exists a b, tree_value x t = Some a /\ tree_value y t = Some b /\ fmt a /\ fmt b /\ within s a b.
Proof.
  intros W H. unfold tree_spread in H. destruct (tree_four asks t) as [f|] eqn:F; [|discriminate].
  destruct (tree_four_sound asks x y W t f F) as (a & b & A & B & Fa & Fb & Ra & Rb & D).
  exists a, b. repeat (split; [assumption|]).
  set (range := if andb _ _ then _ else _) in H.
  assert (I : inside range (a - b)).
  { unfold range. destruct (andb _ _); [|exact D].
    destruct (open_sound asks x) with (t := t) (path := @nil piece) (w := a) as (n & p & In_ & -> & Sp & _); eauto.
    { intros q u Q. destruct (Within_nth _ _ _ W _ _ Q) as (v & v' & V & _ & V1 & _). eauto. }
    destruct (open_sound asks y) with (t := t) (path := @nil piece) (w := b) as (m & r & Im & -> & Sr & Tr); eauto.
    { intros q u Q. destruct (Within_nth _ _ _ W _ _ Q) as (v & v' & _ & V & _ & V1 & _). eauto. }
    apply (pairs_hit _ _ _ (m, r) (n, p)); auto. apply (pair_sound asks x y); assumption. }
  destruct range as [low high]. unfold inside in I. simpl in I.
  destruct (andb (ltb _ _) _) eqn:G; [|discriminate]. injection H as <-. apply andb_true_iff in G. destruct G as [G1 G2].
  apply ltb_spec in G1. apply ltb_spec in G2. exact_num. unfold within. cbn [s_lo s_hi s_low s_high s_up s_down].
  split; [exact Ra|]. split; [exact Rb|]. split; [exact I|]. split; [|split; [|split; apply Rabs_le; lra]].
  - intro U. apply leb_val in U. rewrite val_zero in U. lra.
  - intro U. apply leb_val in U. rewrite val_zero in U. lra.
Qed.

(** ** Their sum *)
Lemma trees_within asks x y : Within asks x y -> forall l ts, mapo (tree_spread asks) l = Some ts ->
  exists p q, mapo (tree_value x) l = Some p /\ mapo (tree_value y) l = Some q /\ Forall fmt p /\ Forall fmt q /\ Within ts p q.
Proof.
  intro W. induction l as [|t l IH]; intros ts H; simpl in H.
  - injection H as <-. exists [], []. repeat split; constructor.
  - destruct (tree_spread asks t) as [s|] eqn:T; [|discriminate]. destruct (mapo _ l) as [r|]; [|discriminate]. injection H as <-.
    destruct (tree_sound asks x y t s W T) as (a & b & A & B & Fa & Fb & V). destruct (IH r eq_refl) as (p & q & P & Q & Fp & Fq & Z).
    exists (a :: p), (b :: q). simpl. rewrite A, B, P, Q. repeat split; constructor; assumption.
Qed.
(* a product with one is exact *)
Lemma ones_exact vs : Forall fmt vs -> forall a r, fsum a (repeat 1 (length vs)) vs = Some r -> added_up a vs = Some r.
Proof.
  induction 1 as [|v vs F _ IH]; intros a r H; simpl in *; [exact H|].
  destruct (fl (1 * v)) as [p|] eqn:P; [|discriminate]. apply fl_rnd in P. rewrite Rmult_1_l, (rnd_id _ F) in P. subst p.
  destruct (fl (a + v)); [|discriminate]. apply IH. exact H.
Qed.
Lemma map_ones n : map val (repeat one n) = repeat 1 n.
Proof. induction n; simpl; [reflexivity|]. rewrite val_one, IHn. reflexivity. Qed.
Lemma sum_sound asks x y o s : Within asks x y -> sum_spread asks o = Some s ->
  exists a b, output_trees x o = Some a /\ output_trees y o = Some b /\ within s a b.
Proof.
  intros W H. unfold sum_spread in H. destruct (mapo (tree_spread asks) (snd o)) as [ts|] eqn:M; [|discriminate].
  destruct (trees_within asks x y W _ _ M) as (p & q & P & Q & Fp & Fq & V). destruct (Within_length _ _ _ V) as [Lp Lq].
  destruct (row_sound ts p q (norm (sum_of size ts)) (repeat one (length ts), fst o) s V) as (a & b & A & B & R); [|exact H|].
  { rewrite val_norm, val_sum_of. reflexivity. }
  exists a, b. unfold output_trees. rewrite P, Q. unfold row_value in A, B. simpl in A, B. rewrite map_ones in A, B.
  rewrite <- Lp in A. rewrite <- Lq in B. split; [|split; [|exact R]]; apply ones_exact; assumption.
Qed.
Theorem trees_sound sets outs ys x y ss : Within ys x y -> trees_spread sets outs ys = Some ss ->
  exists a b, trees_value sets outs x = Some a /\ trees_value sets outs y = Some b /\ Within ss a b.
Proof.
  intros W H. unfold trees_spread in H. destruct (mapo (set_spread ys) sets) as [m|] eqn:M; [|discriminate].
  destruct (mapo_within (set_spread ys) set_value x y) with (2 := M) as (p & q & P & Q & V).
  { intros c s. apply set_sound. exact W. }
  unfold trees_value. rewrite P, Q. pose proof (Within_app _ _ _ _ _ _ W V) as U.
  clear - U H. revert ss H. induction outs as [|o outs IH]; intros ss H; simpl in *.
  - injection H as <-. exists [], []. repeat split; constructor.
  - destruct (sum_spread _ o) as [s|] eqn:S; [|discriminate]. destruct (mapo _ outs) as [r|] eqn:R; [|discriminate].
    injection H as <-. destruct (sum_sound _ _ _ o s U S) as (a & b & A & B & Z). destruct (IH r eq_refl) as (p' & q' & A' & B' & Z').
    exists (a :: p'), (b :: q'). rewrite A, B, A', B'. repeat split. constructor; assumption.
Qed.
