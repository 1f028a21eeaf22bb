(** The order of fixed-order is one of those that f64-aux allows: what a network computes under the one, it may compute under the
    other. So the theorems on f64-aux speak of evaluations that there are. *)
From Coq Require Import Reals List Bool Arith Lra Lia ZArith Permutation.
From Flocq Require Import Core.
From Smile Require Import Num Leaf Reduction LeafSound Float Binary64 Exact Spread SpreadSound Trees Layers LayerSound Premise Network
  NetworkSound HeadSound Deployed Joint JointMargin JointEnds JointHead JointPremise Joined LeafDeployed AnyOrder AnyOrderSound AnyDeployed.
Import ListNotations DOps DSpec.
Open Scope R_scope.

(** ** Single operations and sums *)
Lemma finite_top v : Rabs v < top -> finite v = Some v.
Proof. intro H. unfold finite. rewrite Rlt_bool_true by exact H. reflexivity. Qed.
Lemma fl_top x v : fl x = Some v -> Rabs v < top.
Proof. unfold fl. destruct (Rlt_bool_spec (Rabs (rnd x)) top) as [L|]; [|discriminate]. intro H. injection H as <-. exact L. Qed.
Lemma fl_rounded c x v : 1 <= c -> fl x = Some v -> rounded c x (Some v).
Proof.
  intros C H. exists v. split; [|symmetry; apply finite_top, (fl_top x), H]. rewrite (fl_rnd _ _ H). apply rnd_is_near. exact C.
Qed.
Lemma fl_rescaled x k v : fmt x -> fl (x * bpow radix2 k) = Some v -> rescaled (x * bpow radix2 k) (Some v).
Proof.
  intros F H. exists v. split; [|symmetry; apply finite_top, (fl_top _ _ H)]. rewrite (fl_rnd _ _ H). apply scaled_exact. exact F.
Qed.
Lemma one_more w y : 1 <= 1 + Rabs w + Rabs y.
Proof. pose proof (Rabs_pos w). pose proof (Rabs_pos y). lra. Qed.
Lemma fsum_evaluates ws : forall ys t a v, evaluates t (Some a) -> fsum a ws ys = Some v ->
  exists t', evaluates t' (Some v) /\ Float.leaves t' = Float.leaves t ++ prods ws ys.
Proof.
  induction ws as [|w ws IH]; intros [|y ys] t a v E H; simpl in H;
    try (injection H as <-; exists t; simpl; rewrite app_nil_r; auto; fail).
  destruct (fl (w * y)) as [p|] eqn:P; [|discriminate]. destruct (fl (a + p)) as [s|] eqn:S; [|discriminate].
  assert (E1 : evaluates (Prod w y) (Some p)) by (constructor; apply fl_rounded; [apply one_more | exact P]).
  assert (E2 : evaluates (Add t (Prod w y)) (Some s)).
  { apply (ev_add _ _ _ _ _ E E1). apply fl_rounded; [lra | exact S]. }
  destruct (IH ys _ s v E2 H) as (t' & T1 & T2). exists t'. split; [exact T1|]. rewrite T2. simpl. rewrite <- app_assoc. reflexivity.
Qed.
Lemma fsum_any ws ys b v : Rabs b < top -> fsum b ws ys = Some v -> any_sum ws ys b (Some v).
Proof.
  intros B H. assert (E0 : evaluates (Cst b) (Some b)).
  { constructor. exists b. split; [apply near_same; lra | symmetry; apply finite_top, B]. }
  destruct (fsum_evaluates ws ys _ b v E0 H) as (t & T1 & T2). exists t, 0%nat. split; [lia|]. split; [|exact T1].
  rewrite T2. simpl. apply Permutation_cons_append.
Qed.
Lemma mapo_each {A} (f : A -> option R) (P : A -> option R -> Prop) l :
  (forall a v, In a l -> f a = Some v -> P a (Some v)) -> forall vs, mapo f l = Some vs -> each P l (Some vs).
Proof.
  induction l as [|a l IH]; intros H vs E; simpl in E; [injection E as <-; constructor|].
  destruct (f a) as [v|] eqn:F; [|discriminate]. destruct (mapo f l) as [r|]; [|discriminate]. injection E as <-.
  exact (each_cons P a l (Some v) (Some r) (H a v (or_introl eq_refl) F) (IH (fun b w I => H b w (or_intror I)) r eq_refl)).
Qed.
Lemma after_some {A B} (P : option A -> Prop) (Q : A -> option B -> Prop) a o : P (Some a) -> Q a o -> after P Q o.
Proof. intros. exists (Some a). split; assumption. Qed.

(** ** Numbers as files hold them: float64, and scales that are powers of two *)
Definition float (a : num) : Prop := fmt (val a) /\ Rabs (val a) < top.
Definition stored (n : net) : Prop :=
  Forall (fun c => float (c_lo c) /\ float (c_hi c)) (coords n) /\
  Forall (fun r => float (snd r)) (hidden (lower n) ++ sums (lower n) ++ hidden (second n) ++ sums (second n)) /\
  Forall (fun h => Forall float (fst (fst h)) /\ float (snd (fst h)) /\ exists k, val (snd h) = bpow radix2 k) (head n).

(** ** Scaling *)
Lemma scale1_any c v p : scale1 c v = Some p -> any_scale1 c v (Some p).
Proof.
  unfold scale1, any_scale1. intro H. unbind H. apply (after_some _ _ v0); apply fl_rounded; auto; [lra | apply one_more].
Qed.
Lemma fl_float a : fmt a -> Rabs a < top -> fl a = Some a.
Proof. intros F T. unfold fl. rewrite (rnd_id a F), Rlt_bool_true by exact T. reflexivity. Qed.
Lemma scale1_plain c v : plain c = true -> fmt v -> Rabs v < top -> scale1 c v = Some v.
Proof.
  unfold plain. rewrite andb_true_iff. intros [P1 P2] F T. apply isz_spec in P1. apply eqb_spec in P2. rewrite val_one in P2.
  unfold scale1. rewrite P1, P2, Rminus_0_r, (fl_float v F T). simpl. rewrite Rmult_1_r. apply fl_float; assumption.
Qed.
Lemma inside c v : float (c_lo c) -> float (c_hi c) -> in_coord c v -> fmt v /\ Rabs v < top.
Proof.
  intros [_ L] [_ H] ((A & B) & _ & F). split; [exact F|]. unfold Rabs in *. repeat destruct (Rcase_abs _); lra.
Qed.
Lemma scale_any c v p : float (c_lo c) -> float (c_hi c) -> in_coord c v -> scale_value c v = Some p -> any_scale c v (Some p).
Proof.
  intros L H I S. destruct (inside c v L H I) as [Fv Tv]. destruct L as [Fl Tl]. destruct H as [Fh Th]. unfold scale_value in S. unfold any_scale.
  destruct (plain c) eqn:P.
  - rewrite !scale1_plain in S by assumption. simpl in S. rewrite <- S. destruct I as ((A & B) & _). f_equal.
    unfold Rmax, Rmin. repeat destruct (Rle_dec _ _); lra.
  - unbind S. unbind S. unbind S. injection S as <-.
    apply (after_some _ _ v0); [apply scale1_any; assumption|]. apply (after_some _ _ v1); [apply scale1_any; assumption|].
    apply (after_some _ _ v2); [apply scale1_any; assumption | reflexivity].
Qed.
Lemma scaled_any cs : Forall (fun c => float (c_lo c) /\ float (c_hi c)) cs -> forall x u, in_domain cs x -> scaled cs x = Some u -> any_scaled cs x (Some u).
Proof.
  induction 1 as [|c cs [L H] _ IH]; intros x u D S; inversion D as [|? v ? x' I D']; subst; simpl in S; [injection S as <-; constructor|].
  unbind S. unbind S. injection S as <-.
  exact (as_cons c cs v x' (Some v0) (Some v1) (scale_any c v v0 L H I E) (IH x' v1 D' E0)).
Qed.
Lemma end_any c v p : fmt v -> Rabs v < top -> scale1 c v = Some p -> any_end c v (Some p).
Proof.
  intros F T S. unfold any_end. destruct (plain c) eqn:P; [rewrite (scale1_plain c v P F T) in S; symmetry; exact S | apply scale1_any; exact S].
Qed.
Lemma distances_any cs : Forall (fun c => float (c_lo c) /\ float (c_hi c)) cs -> forall e p, distances cs e = Some p -> any_distances cs e (Some p).
Proof.
  induction 1 as [|c cs [[L1 L2] [H1 H2]] _ IH]; intros [|v e] p D; simpl in D; try discriminate; [injection D as <-; constructor|].
  unbind D. unbind D. unbind D. unbind D. unbind D. injection D as <-. destruct v4 as [ps qs].
  apply (ad_cons c cs v e (Some v0) (Some v1) (Some v2) (Some v3) (Some (ps, qs))); auto; try (apply end_any; assumption);
    apply fl_rounded; auto; lra.
Qed.

(** ** Parts, boxes and heads *)
Lemma part_any p e l : Forall (fun r : list num * num => float (snd r)) (hidden p ++ sums p) -> part_value p e = Some l -> any_part p e (Some l).
Proof.
  intros F H. apply Forall_app in F. destruct F as [F1 F2]. rewrite Forall_forall in F1, F2. unfold part_value in H. unbind H.
  apply (after_some _ _ v).
  - apply (mapo_each (row_value e)); [|exact E]. intros r w I W. apply fsum_any; [apply F1, I | exact W].
  - refine (mapo_each _ _ _ _ _ H). intros r w I W. apply fsum_any; [apply F2, I | exact W].
Qed.
Lemma embed_any bx sel : forall l s k z, embed_value bx sel k l s = Some z -> any_embed bx sel k l s (Some z).
Proof.
  induction l as [|a l IH]; intros [|g s] k z H; simpl in H; try discriminate; [injection H as <-; constructor|].
  unbind H. unbind H. injection H as <-. refine (ae_cons bx sel k a l g s (Some v) (Some v0) _ (IH _ _ _ E0)).
  destruct bx; simpl in *; [apply fl_rounded; [lra | exact E] | symmetry; exact E].
Qed.
Lemma output_any z h v : Forall float (fst (fst h)) -> float (snd (fst h)) -> (exists k, val (snd h) = bpow radix2 k) ->
  output_value z h = Some v -> any_output z h (Some v).
Proof.
  intros W [Fb _] (k & K) H. rewrite Forall_forall in W. unfold output_value in H. unbind H. unbind H. unbind H.
  assert (Ld : forall g w, fmt g -> fl (g / val (snd h)) = Some w -> loaded (val (snd h)) g (Some w)).
  { intros g w Fg L. exists g. split; [left; reflexivity|]. rewrite K in *. unfold Rdiv in *. rewrite <- bpow_opp in *. apply fl_rescaled; assumption. }
  unfold any_output. apply (after_some _ _ v0).
  - refine (mapo_each _ _ _ _ _ E). intros g w I L. apply Ld; [apply W, I | exact L].
  - apply (after_some _ _ v1); [apply Ld; assumption|]. apply (after_some _ _ v2); [apply fsum_any; [apply (fl_top _ _ E0) | exact E1]|].
    refine (eq_rect _ (fun c => rescaled (v2 * c) (Some v)) _ _ (eq_sym K)).
    apply fl_rescaled; [|exact (eq_trans (f_equal (fun c => fl (v2 * c)) (eq_sym K)) H)]. apply (fsum_fmt _ _ _ _ (fl_fmt _ _ E0) E1).
Qed.

(** Every evaluation under fixed-order is one under f64-aux. *)
Theorem fixed_is_any n pin sel x y : stored n -> in_domain (coords n) x -> network pin sel n x = Some y -> any_network pin sel n x (Some y).
Proof.
  intros (C & R & H) D N. unfold network in N. unbind N. unbind N. unbind N. unbind N. unbind N. unbind N.
  rewrite !Forall_app in R. destruct R as (R1 & R2 & R3 & R4).
  unfold any_network. apply (after_some _ _ v0).
  { unfold any_inputs. destruct (encoder n); [rewrite E; symmetry; exact E0|]. injection E0 as <-. apply scaled_any; assumption. }
  apply (after_some _ _ v1); [apply part_any; [apply Forall_app; auto | exact E1]|].
  apply (after_some _ _ v2).
  { unfold any_second_inputs, second_inputs in *. destruct (ends n); [|symmetry; exact E2]. unbind E2. injection E2 as <-.
    apply (after_some _ _ v5); [apply distances_any; assumption | reflexivity]. }
  apply (after_some _ _ v3); [apply part_any; [apply Forall_app; auto | exact E3]|].
  apply (after_some _ _ v4); [apply embed_any; exact E4|].
  refine (mapo_each _ _ _ _ _ N). intros h w I V. rewrite Forall_forall in H. destruct (H h I) as (W & B & K). apply output_any; assumption.
Qed.
(** So there are evaluations under f64-aux, at all inputs of the domain that satisfy the premise. *)
Corollary any_network_is_there n p r : stored n -> prepare n p = Some r ->
  forall pin sel1 sel2 x1 x2, between (kind n) sel1 -> between (kind n) sel2 -> satisfied (coords n) p x1 x2 ->
  one_hot (coords n) x1 -> one_hot (coords n) x2 ->
  exists y1 y2, any_network pin sel1 n x1 (Some y1) /\ any_network pin sel2 n x2 (Some y2).
Proof.
  intros S H pin sel1 sel2 x1 x2 B1 B2 P O1 O2. destruct (leaf_sound n p r H pin sel1 sel2 x1 x2 B1 B2 P O1 O2) as (y1 & y2 & N1 & N2 & _).
  destruct P as (D1 & D2 & _). exists y1, y2. split; eapply fixed_is_any; eassumption.
Qed.

(** ** What the theorems ask of select is what the network does: z where it lies in the box, else the end beside it; lower if z is no
    number, which is how a z below lower is treated. *)
Definition cut_to_box (z : nat -> R) (i : nat) (l h : R) : R :=
  if Rlt_dec l (z i) then (if Rlt_dec (z i) (Rmax l h) then z i else Rmax l h) else l.
Lemma cut_selects z : selects (cut_to_box z).
Proof. intros i l h L. unfold cut_to_box, Rmax. repeat destruct (Rlt_dec _ _); repeat destruct (Rle_dec _ _); lra. Qed.
Lemma cut_between bx z : between bx (cut_to_box z).
Proof.
  intros i l h. unfold cut_to_box, least. destruct bx; unfold Rmax, Rmin; repeat destruct (Rlt_dec _ _); repeat destruct (Rle_dec _ _); lra.
Qed.
