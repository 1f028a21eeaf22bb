(** Section 3: a witness shows that the premise is not empty, so that a row does not hold for want of inputs. *)
From Coq Require Import Reals List Bool Arith Lra Lia ZArith.
From Smile Require Import Num Leaf Reduction LeafSound Binary64 Exact Premise.
Import ListNotations DOps DSpec.
Open Scope R_scope.

Definition coord_ok (c : coord) (v : num) : bool :=
  andb (andb (leb (c_lo c) v) (leb v (c_hi c))) (andb (orb (negb (c_whole c)) (eqb v (floor v))) (floatb v)).
Fixpoint domain_ok (cs : list coord) (x : list num) : bool :=
  match cs, x with c :: cs', v :: x' => andb (coord_ok c v) (domain_ok cs' x') | [], [] => true | _, _ => false end.
Fixpoint left_num (x y : list num) (ts : list term) : num :=
  match ts with [] => zero | (c, k, i) :: ts' => add (mul c (nth i (if k then y else x) zero)) (left_num x y ts') end.
Definition row_ok (x y : list num) (r : row) : bool :=
  let l := left_num x y (terms r) in andb (leb l (right r)) (orb (negb (equal r)) (leb (right r) l)).
Fixpoint pins_ok (p : premise) (names : list nat) (i : nat) (cs : list coord) (x y : list num) : bool :=
  match cs, x, y with
  | c :: cs', a :: x', b :: y' => andb (orb (negb (pin_stated p names i c)) (eqb a b)) (pins_ok p names (S i) cs' x' y')
  | [], _, _ => true
  | _, _, _ => false
  end.
Definition witness_ok (cs : list coord) (p : premise) (x y : list num) : bool :=
  andb (andb (domain_ok cs x) (domain_ok cs y))
    (andb (forallb (row_ok x y) (when p))
      (andb (pins_ok p (named cs p) 0 cs x y) (forallb (fun i => Nat.ltb i (length cs)) (equals p)))).

Lemma domain_ok_sound cs : forall x, domain_ok cs x = true -> in_domain cs (map val x).
Proof.
  induction cs as [|c cs IH]; intros [|v x] H; simpl in *; try discriminate; [constructor|].
  apply andb_true_iff in H. destruct H as [H1 H2]. constructor; [|apply IH; exact H2].
  unfold coord_ok in H1. rewrite !andb_true_iff, orb_true_iff in H1. destruct H1 as [[L U] [W F]].
  apply leb_val in L. apply leb_val in U. split; [lra|]. split; [|apply floatb_spec; exact F].
  intro Hw. destruct W as [W|W]; [rewrite Hw in W; discriminate|]. apply eqb_spec in W.
  destruct (floor_spec v) as [z [Z _]]. exists z. rewrite W. exact Z.
Qed.
Lemma domain_length cs x : in_domain cs x -> length cs = length x.
Proof. induction 1; simpl; congruence. Qed.
Lemma nth_val i x : nth i (map val x) 0 = val (nth i x zero).
Proof. rewrite <- val_zero. apply map_nth. Qed.
Lemma left_num_val x y ts : val (left_num x y ts) = left (fun k i => pick k (map val x) (map val y) i) ts.
Proof.
  induction ts as [|[[c k] i] ts IH]; simpl; [apply val_zero|]. rewrite val_add, val_mul, IH. unfold pick.
  destruct k; rewrite nth_val; reflexivity.
Qed.
Lemma row_ok_sound x y r : row_ok x y r = true -> holds (fun k i => pick k (map val x) (map val y) i) r.
Proof.
  unfold row_ok, holds. rewrite andb_true_iff, orb_true_iff. intros [H1 H2]. apply leb_val in H1. rewrite left_num_val in H1.
  split; [exact H1|]. intro E. destruct H2 as [H2|H2]; [rewrite E in H2; discriminate|]. apply leb_val in H2.
  rewrite left_num_val in H2. lra.
Qed.
Lemma pins_ok_sound p names cs : forall i x y, pins_ok p names i cs x y = true -> forall j c, nth_error cs j = Some c ->
  pin_stated p names (i + j) c = true -> val (nth j x zero) = val (nth j y zero).
Proof.
  induction cs as [|d cs IH]; intros i [|a x] [|b y] H j c E P; destruct j; simpl in *; try discriminate;
    apply andb_true_iff in H; destruct H as [H1 H2].
  - injection E as ->. rewrite Nat.add_0_r in P. rewrite P in H1. simpl in H1. apply eqb_spec. exact H1.
  - apply (IH (S i) x y H2 j c E). replace (S i + j)%nat with (i + S j)%nat by lia. exact P.
Qed.
Theorem witness_sound cs p x y : witness_ok cs p x y = true -> satisfied cs p (map val x) (map val y).
Proof.
  unfold witness_ok. rewrite !andb_true_iff. intros [[X Y] [W [P Q]]].
  pose proof (domain_ok_sound _ _ X) as Dx. pose proof (domain_ok_sound _ _ Y) as Dy.
  split; [exact Dx|]. split; [exact Dy|]. split.
  - apply Forall_forall. intros r Hr. apply row_ok_sound. rewrite forallb_forall in W. apply W. exact Hr.
  - intros i S. rewrite !nth_val. destruct (nth_error cs i) as [c|] eqn:E.
    + apply (pins_ok_sound p (named cs p) cs 0 x y P i c E). simpl. unfold pin_stated. apply orb_true_iff. destruct S as [S|[S1 S2]].
      * left. apply existsb_exists. exists i. split; [exact S | apply Nat.eqb_refl].
      * right. rewrite S1. simpl. apply negb_true_iff, not_true_iff_false. intro H. apply existsb_exists in H.
        destruct H as (f & F1 & F2). apply Nat.eqb_eq in F2. subst f. apply (S2 (c_feature c)); [|exact F1].
        unfold feature_of. rewrite E. reflexivity.
    + apply nth_error_None in E. apply domain_length in Dx. apply domain_length in Dy. rewrite map_length in Dx, Dy.
      rewrite !nth_overflow by lia. reflexivity.
Qed.
