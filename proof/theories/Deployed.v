(** The theorem: what the checker of the order rule accepts holds for the float64 outputs of the deployed network. *)
From Coq Require Import Reals List Bool Arith Lra Lia ZArith.
From Flocq Require Import Core.
From Smile Require Import Num Leaf Reduction LeafSound Float Binary64 Exact Spread SpreadSound Trees Layers LayerSound Premise Network NetworkSound HeadSound.
Import ListNotations DOps DSpec.
Open Scope R_scope.

Lemma fold_inputs Z : val (norm (fold_right add zero Z)) = sumR (map val Z).
Proof. rewrite val_norm. apply val_fold_add. Qed.

Lemma head_dirs Z z1 z2 ls hs : sized z1 (map val Z) -> sized z2 (map val Z) -> Dirs ls z1 z2 ->
  forallb (head_fits Z (norm (fold_right add zero Z))) hs = true ->
  exists y1 y2, mapo (output_value z1) hs = Some y1 /\ mapo (output_value z2) hs = Some y2 /\
    Dirs (map (fun h => sum_dir ls (fst (fst h))) hs) y1 y2.
Proof.
  intros S1 S2 D. induction hs as [|h hs IH]; intro H; simpl in *.
  - exists [], []. repeat split; constructor.
  - apply andb_true_iff in H. destruct H as [H1 H2]. destruct (IH H2) as (y1 & y2 & Y1 & Y2 & O).
    destruct (head_sound Z _ h H1 (fold_inputs Z) z1 S1) as (b & s & v & C & A1 & A2 & A3 & A4).
    destruct (head_sound Z _ h H1 (fold_inputs Z) z2 S2) as (b' & s' & v' & _ & B1 & B2 & B3 & B4).
    rewrite A1, B1, Y1, Y2. eexists; eexists. split; [reflexivity|]. split; [reflexivity|]. constructor; [|exact O].
    subst b b'. destruct (sum_dir_sound _ _ ls z1 z2 _ s s' (divided_sign _ (fst (fst h)) C) D A3 B3) as [P Q].
    split; intro K; [apply (fl_mono _ _ _ _ B2 A2) | apply (fl_mono _ _ _ _ A2 B2)]; apply Rmult_le_compat_r; try lra; auto.
Qed.

Theorem outputs_sound n ms ds e f : outputs_dir n ms = Some ds -> Moves ms e f ->
  forall sel1 sel2, selects sel1 -> selects sel2 ->
  let out sel e := bind (part_value (lower n) e) (fun l => bind (second_inputs n e) (fun d => bind (part_value (second n) d) (fun s =>
    bind (embed_value (kind n) sel 0 l s) (fun z => mapo (output_value z) (head n))))) in
  exists y1 y2, out sel1 e = Some y1 /\ out sel2 f = Some y2 /\ Dirs ds y1 y2.
Proof.
  intros H M sel1 sel2 S1 S2 out. unfold outputs_dir in H. destruct (kind n); [|discriminate]. destruct (ends n) eqn:Ne; [discriminate|]. unbind H. unbind H. unbind H. unbind H.
  destruct (andb _ _) eqn:T; [|discriminate]. injection H as <-. rewrite !andb_true_iff in T. destruct T as [[T1 T2] T3].
  destruct (Moves_sized _ _ _ M) as [Ze Zf]. pose proof (Moves_dirs _ _ _ M _ E) as D.
  destruct (part_sound (lower n) _ e _ Ze E0) as (s1 & l1 & A1 & A2 & A3 & A4 & _).
  destruct (part_sound (lower n) _ f _ Zf E0) as (s2 & l2 & B1 & B2 & B3 & B4 & _).
  destruct (part_sound (second n) _ e _ Ze E1) as (t1 & g1 & C1 & C2 & C3 & C4 & _).
  destruct (part_sound (second n) _ f _ Zf E1) as (t2 & g2 & D1 & D2 & D3 & D4 & _).
  destruct (sized_upper _ _ _ _ _ E2 A4 C4) as (U1 & U2 & U3). destruct (sized_upper _ _ _ _ _ E2 B4 D4) as (V1 & V2 & V3).
  assert (X1 : embed_value Gap sel1 0 l1 g1 = Some l1).
  { apply embed_zero; auto; [apply (float_rows _ _ _ T2 A2) | apply (zero_rows _ _ _ T1 C2)]. }
  assert (X2 : embed_value Gap sel2 0 l2 g2 = Some l2).
  { apply embed_zero; auto; [apply (float_rows _ _ _ T2 B2) | apply (zero_rows _ _ _ T1 D2)]. }
  pose proof (rows_dirs _ _ _ _ D _ _ A1 B1) as Du. apply Dirs_relu in Du.
  assert (Dl : Dirs (map (fun r => sum_dir ((if skips (lower n) then v else []) ++
      map (fun r => sum_dir v (fst r)) (hidden (lower n))) (fst r)) (sums (lower n))) l1 l2).
  { refine (rows_dirs _ _ _ _ _ _ _ A2 B2). apply Dirs_app; [destruct (skips (lower n)); [exact D | constructor] | exact Du]. }
  destruct (head_dirs _ l1 l2 _ (head n) U1 V1 Dl T3) as (y1 & y2 & Y1 & Y2 & O).
  exists y1, y2. unfold out, second_inputs. rewrite A3, B3, Ne. simpl. rewrite C3, D3. simpl. rewrite X1, X2. simpl. auto.
Qed.

(** ** Rows of the conclusion *)
Fixpoint range (v : bool -> nat -> R) (ts : list term) (i n : nat) : R :=
  match n with
  | O => 0
  | S n' => val (coef false i ts) * v false i + val (coef true i ts) * v true i + range v ts (Datatypes.S i) n'
  end.
Lemma coef_cons k i c l j ts : val (coef k i ((c, l, j) :: ts)) =
  (if andb (Bool.eqb k l) (Nat.eqb i j) then val c else 0) + val (coef k i ts).
Proof. simpl. destruct (andb _ _); [apply val_add | ring]. Qed.
Lemma range_cons v c l j ts n : forall i, range v ((c, l, j) :: ts) i n =
  (if andb (Nat.leb i j) (Nat.ltb j (i + n)) then val c * v l j else 0) + range v ts i n.
Proof.
  induction n as [|n IH]; intro i; cbn [range].
  - replace (Nat.leb i j && Nat.ltb j (i + 0))%bool with false; [ring|].
    destruct (Nat.leb_spec i j), (Nat.ltb_spec j (i + 0)); simpl; auto; lia.
  - rewrite IH, !coef_cons. destruct (Nat.eqb_spec i j) as [<-|N].
    + replace (Nat.leb (Datatypes.S i) i) with false by (symmetry; apply Nat.leb_gt; lia).
      rewrite Nat.leb_refl. replace (Nat.ltb i (i + Datatypes.S n)) with true by (symmetry; apply Nat.ltb_lt; lia).
      destruct l; simpl; ring.
    + rewrite !andb_false_r. replace (Nat.leb (Datatypes.S i) j && Nat.ltb j (Datatypes.S i + n))%bool
        with (Nat.leb i j && Nat.ltb j (i + Datatypes.S n))%bool; [ring|].
      destruct (Nat.leb_spec i j), (Nat.ltb_spec j (i + Datatypes.S n)), (Nat.leb_spec (Datatypes.S i) j),
        (Nat.ltb_spec j (Datatypes.S i + n)); simpl; auto; lia.
Qed.
Lemma range_nil v n : forall i, range v [] i n = 0.
Proof. induction n as [|n IH]; intro i; cbn [range coef]; [reflexivity|]. rewrite IH, val_zero. ring. Qed.
Lemma left_range v n ts : below n ts = true -> left v ts = range v ts 0 n.
Proof.
  induction ts as [|[[c l] j] ts IH]; intro H; [rewrite range_nil; reflexivity|]. unfold below in H. simpl in H.
  apply andb_true_iff in H. destruct H as [H1 H2]. rewrite range_cons. cbn [left]. rewrite (IH H2), Nat.add_0_l, H1. reflexivity.
Qed.
Lemma coef_absent k i ts : (forall c, ~ In (c, k, i) ts) -> val (coef k i ts) = 0.
Proof.
  induction ts as [|[[c l] j] ts IH]; intro H; [apply val_zero|]. rewrite coef_cons.
  rewrite IH by (intros d D; apply (H d); right; exact D).
  destruct (andb _ _) eqn:E; [|ring]. exfalso. apply andb_true_iff in E. destruct E as [E1 E2]. apply eqb_prop in E1.
  apply Nat.eqb_eq in E2. subst. apply (H c). left. reflexivity.
Qed.
Lemma no_inputs_sound m ts v : no_inputs m ts = true -> left v ts = 0.
Proof.
  unfold no_inputs. rewrite andb_true_iff, forallb_forall. intros [B Z]. rewrite (left_range v m ts B).
  assert (C : forall k i, val (coef k i ts) = 0).
  { intros k i. destruct (in_dec (fun a b : bool * nat => ltac:(decide equality; [apply Nat.eq_dec | apply bool_dec])) (k, i) (map (fun t => (snd (fst t), snd t)) ts)) as [I|N].
    - apply in_map_iff in I. destruct I as ([[c l] j] & Q & I). simpl in Q. injection Q as -> ->. apply isz_spec. apply (Z _ I).
    - apply coef_absent. intros c I. apply N. apply in_map_iff. exists (c, k, i). auto. }
  generalize 0%nat. induction m as [|m IH]; intro i; cbn [range]; [reflexivity|]. rewrite !C.
  clear IH. revert i. assert (R0 : forall m i, range v ts i m = 0).
  { clear - C. induction m as [|m IH]; intro i; cbn [range]; [reflexivity|]. rewrite !C, IH. ring. }
  intro i. rewrite R0. ring.
Qed.
Lemma outs_le_sound sign ts ds : forall i y1 y2, Dirs ds y1 y2 -> outs_le sign ts i ds = true ->
  forall v, (forall j, (j < length ds)%nat -> v false (i + j)%nat = nth j y1 0 /\ v true (i + j)%nat = nth j y2 0) ->
  (if sign then 1 else -1) * range v ts i (length ds) <= 0.
Proof.
  induction ds as [|d ds IH]; intros i y1 y2 D H v V; [simpl; lra|]. inversion D as [|? ? a b x y O D']; subst.
  simpl in H. rewrite !andb_true_iff, !orb_true_iff in H. destruct H as [H0 [[H1 H2] H3]].
  assert (V' : forall j, (j < length ds)%nat -> v false (Datatypes.S i + j)%nat = nth j x 0 /\ v true (Datatypes.S i + j)%nat = nth j y 0).
  { intros j J. replace (Datatypes.S i + j)%nat with (i + Datatypes.S j)%nat by lia. apply (V (Datatypes.S j)). simpl. lia. }
  specialize (IH (Datatypes.S i) x y D' H3 v V'). destruct (V 0%nat ltac:(simpl; lia)) as [Va Vb]. rewrite Nat.add_0_r in Va, Vb. simpl in Va, Vb.
  cbn [range length]. rewrite Va, Vb. apply isz_spec in H0. rewrite val_add in H0. set (c := val (coef false i ts)) in *.
  replace (val (coef true i ts)) with (- c) by lra. destruct O as [O1 O2].
  assert (G : (if sign then 1 else -1) * (c * (a - b)) <= 0).
  { destruct (Rle_lt_dec c 0) as [Q|Q].
    - destruct H2 as [H2|H2]; [apply leb_val in H2; rewrite val_zero in H2; fold c in H2; replace c with 0 by lra; destruct sign; lra|].
      destruct sign; [specialize (O1 H2) | specialize (O2 H2)]; nra.
    - destruct H1 as [H1|H1]; [apply leb_val in H1; rewrite val_zero in H1; fold c in H1; lra|].
      destruct sign; [specialize (O2 H1) | specialize (O1 H1)]; nra. }
  destruct sign; lra.
Qed.
Lemma Dirs_length ds a b : Dirs ds a b -> length a = length ds /\ length b = length ds.
Proof. induction 1; simpl; intuition congruence. Qed.

(** the row Σ outputs + Σ inputs <= right (or ==), exactly *)
Definition goal_holds (g : goal) (x1 x2 y1 y2 : list R) : Prop :=
  let l := left (fun k i => pick k y1 y2 i) (outs g) + left (fun k i => pick k x1 x2 i) (ins g) in
  l <= val (g_right g) /\ (g_equal g = true -> l = val (g_right g)).
Lemma order_row_sound m ds g x1 x2 y1 y2 : Dirs ds y1 y2 -> order_row m ds g = true -> goal_holds g x1 x2 y1 y2.
Proof.
  intros D H. unfold order_row in H. rewrite !andb_true_iff in H. destruct H as [[B N] [[R L] Q]].
  unfold goal_holds. rewrite (no_inputs_sound m _ _ N), Rplus_0_r, (left_range _ _ _ B). apply leb_val in R. rewrite val_zero in R.
  assert (V : forall j, (j < length ds)%nat -> pick false y1 y2 (0 + j) = nth j y1 0 /\ pick true y1 y2 (0 + j) = nth j y2 0) by (intros; split; reflexivity).
  pose proof (outs_le_sound true _ _ 0 _ _ D L (fun k i => pick k y1 y2 i) V) as U. simpl in U. split; [lra|]. intro E.
  rewrite E in Q. simpl in Q. apply andb_true_iff in Q. destruct Q as [Q1 Q2]. apply leb_val in Q1. rewrite val_zero in Q1.
  pose proof (outs_le_sound false _ _ 0 _ _ D Q2 (fun k i => pick k y1 y2 i) V) as W. simpl in W. lra.
Qed.

(** ** Soundness, end to end

    Whatever the pinned modules compute ([pin], one function for both copies), whatever the backbone says in either copy
    ([sel1], [sel2]: select returns something between its ends): for all float64 inputs of the domain that satisfy the
    premise exactly, both evaluations end with float64 outputs, and these satisfy every accepted row exactly. *)
Theorem order_sound n p gs oks : check_order n p gs = Some oks ->
  forall pin sel1 sel2 x1 x2, selects sel1 -> selects sel2 -> satisfied (coords n) p x1 x2 ->
  exists y1 y2, network pin sel1 n x1 = Some y1 /\ network pin sel2 n x2 = Some y2 /\
    Forall2 (fun g ok => ok = true -> goal_holds g x1 x2 y1 y2) gs oks.
Proof.
  intros H pin sel1 sel2 x1 x2 S1 S2 P. unfold check_order in H. unbind H. unbind H. unbind H. injection H as <-.
  pose proof (ground_sound _ _ _ _ _ E P) as F.
  destruct (inputs_sound n _ _ _ _ pin F E0) as (u & w & e & f & U & W & Ee & Ef & M).
  destruct (outputs_sound n _ _ e f E1 M sel1 sel2 S1 S2) as (y1 & y2 & Y1 & Y2 & D).
  exists y1, y2. unfold network. rewrite U, W. simpl. rewrite Ee, Ef. simpl. split; [exact Y1|]. split; [exact Y2|].
  induction gs as [|g gs IH]; simpl; constructor; auto. apply order_row_sound. exact D.
Qed.
