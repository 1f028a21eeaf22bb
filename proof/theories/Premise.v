(** Section 3 for two copies: a domain, a claim's premise, and what it says of every coordinate. *)
From Coq Require Import Reals List Bool Arith Lra Lia ZArith.
From Smile Require Import Num Leaf Reduction LeafSound Binary64 Exact Spread SpreadSound.
Import ListNotations DOps DSpec.
Open Scope R_scope.

(** ** What is stated *)
Record coord := Coord {
  c_lo : num; c_hi : num; c_shift : num; c_mult : num;
  c_whole : bool;     (* takes whole values only *)
  c_group : bool;     (* is a member of a category *)
  c_feature : nat }.  (* the feature that it belongs to *)
(* coefficient, copy (false: the first), place *)
Definition term := (num * bool * nat)%type.
Record row := Row { terms : list term; equal : bool; right : num }.
Record premise := Premise {
  when : list row;
  others : bool;          (* features that nobody names are equal in both copies *)
  equals : list nat;      (* coordinates that are equal in both copies *)
  frees : list nat }.     (* coordinates of features that are named free *)

Definition pick (k : bool) (x y : list R) (i : nat) : R := nth i (if k then y else x) 0.
Fixpoint left (v : bool -> nat -> R) (ts : list term) : R :=
  match ts with [] => 0 | (c, k, i) :: ts' => val c * v k i + left v ts' end.
Definition holds (v : bool -> nat -> R) (r : row) : Prop :=
  left v (terms r) <= val (right r) /\ (equal r = true -> left v (terms r) = val (right r)).

Definition in_coord (c : coord) (v : R) : Prop :=
  val (c_lo c) <= v <= val (c_hi c) /\ (c_whole c = true -> exists z, v = IZR z) /\ fmt v.
Definition in_domain (cs : list coord) (x : list R) : Prop := Forall2 in_coord cs x.

Definition feature_of (cs : list coord) (i : nat) : option nat := option_map c_feature (nth_error cs i).
Definition named (cs : list coord) (p : premise) : list nat :=
  flat_map (fun i => match feature_of cs i with Some f => [f] | None => [] end)
    (frees p ++ flat_map (fun r => map snd (terms r)) (when p)).
Definition stated (cs : list coord) (p : premise) (i : nat) : Prop :=
  In i (equals p) \/ (others p = true /\ forall f, feature_of cs i = Some f -> ~ In f (named cs p)).

Definition satisfied (cs : list coord) (p : premise) (x y : list R) : Prop :=
  in_domain cs x /\ in_domain cs y /\ Forall (holds (fun k i => pick k x y i)) (when p)
  /\ forall i, stated cs p i -> nth i x 0 = nth i y 0.

(** ** What is computed *)
(* like terms added, zeros dropped *)
Fixpoint insert (c : num) (k : bool) (i : nat) (ts : list term) : list term :=
  match ts with
  | [] => [(c, k, i)]
  | (d, l, j) :: ts' =>
      if andb (Bool.eqb k l) (Nat.eqb i j) then (add c d, l, j) :: ts' else (d, l, j) :: insert c k i ts'
  end.
Fixpoint merge (ts : list term) : list term :=
  match ts with [] => [] | (c, k, i) :: ts' => insert c k i (merge ts') end.
Definition clean (ts : list term) : list term := filter (fun t => negb (isz (fst (fst t)))) (merge ts).

(* bounds of a coordinate in either copy, and of copy 1 − copy 2 as far as they are given *)
Record cell := Cell { l1 : num; h1 : num; l2 : num; h2 : num; d_lo : option num; d_hi : option num }.
Definition omax (o : option num) (v : num) : option num := Some (match o with Some w => maxT w v | None => v end).
Definition omin (o : option num) (v : num) : option num := Some (match o with Some w => minT w v | None => v end).
(* a·x <= right, or ==, of one copy *)
Definition bounded (k : bool) (a right : num) (same : bool) (c : cell) : cell :=
  let q := norm (div right a) in
  let low := orb same (leb a zero) in
  let high := orb same (leb zero a) in
  if k then Cell (l1 c) (h1 c) (if low then maxT (l2 c) q else l2 c) (if high then minT (h2 c) q else h2 c) (d_lo c) (d_hi c)
  else Cell (if low then maxT (l1 c) q else l1 c) (if high then minT (h1 c) q else h1 c) (l2 c) (h2 c) (d_lo c) (d_hi c).
(* a·(x1 − x2) <= right, or == *)
Definition stripped (a right : num) (same : bool) (c : cell) : cell :=
  let q := norm (div right a) in
  Cell (l1 c) (h1 c) (l2 c) (h2 c) (if orb same (leb a zero) then omax (d_lo c) q else d_lo c)
    (if orb same (leb zero a) then omin (d_hi c) q else d_hi c).
Fixpoint update (i : nat) (f : cell -> cell) (l : list cell) : list cell :=
  match l, i with
  | [], _ => []
  | c :: l', O => f c :: l'
  | c :: l', S i' => c :: update i' f l'
  end.
(* [None]: a row without terms is false *)
Definition apply (r : row) (cells : list cell) : option (list cell) :=
  match clean (terms r) with
  | [] => if andb (leb zero (right r)) (orb (negb (equal r)) (leb (right r) zero)) then Some cells else None
  | [(a, k, i)] => Some (update i (bounded k a (right r) (equal r)) cells)
  | [(a, k, i); (b, l, j)] =>
      if andb (Nat.eqb i j) (andb (negb (Bool.eqb k l)) (isz (add a b)))
      then Some (update i (stripped (if k then b else a) (right r) (equal r)) cells) else Some cells
  | _ => Some cells
  end.
Fixpoint apply_all (rs : list row) (cells : list cell) : option (list cell) :=
  match rs with [] => Some cells | r :: rs' => match apply r cells with Some c => apply_all rs' c | None => None end end.

(* the end: pinned, both copies' bounds and the range of the difference *)
Record known := Known { k_l1 : num; k_h1 : num; k_l2 : num; k_h2 : num; k_low : num; k_high : num; k_pinned : bool }.
(* rounded inward, of coordinates that take whole values *)
Definition up (w : bool) (v : num) : num := if w then ceil v else v.
Definition down (w : bool) (v : num) : num := if w then floor v else v.
Definition finish1 (pin : bool) (c : coord) (k : cell) : known :=
  let a := option_map (up (c_whole c)) (d_lo k) in
  let b := option_map (down (c_whole c)) (d_hi k) in
  let pinned := orb pin (match a, b with Some v, Some w => andb (eqb v zero) (eqb w zero) | _, _ => false end) in
  let low1 := if pinned then maxT (l1 k) (l2 k) else l1 k in
  let low2 := if pinned then maxT (l1 k) (l2 k) else l2 k in
  let high1 := if pinned then minT (h1 k) (h2 k) else h1 k in
  let high2 := if pinned then minT (h1 k) (h2 k) else h2 k in
  let r := up (c_whole c) in
  let s := down (c_whole c) in
  let least := sub (r low1) (s high2) in
  let most := sub (s high1) (r low2) in
  Known (r low1) (s high1) (r low2) (s high2)
    (if pinned then zero else match a with Some v => maxT least v | None => least end)
    (if pinned then zero else match b with Some v => minT most v | None => most end) pinned.
Definition pin_stated (p : premise) (names : list nat) (i : nat) (c : coord) : bool :=
  orb (existsb (Nat.eqb i) (equals p)) (andb (others p) (negb (existsb (Nat.eqb (c_feature c)) names))).
Fixpoint finish (p : premise) (names : list nat) (i : nat) (cs : list coord) (cells : list cell) : list known :=
  match cs, cells with
  | c :: cs', k :: cells' => finish1 (pin_stated p names i c) c k :: finish p names (S i) cs' cells'
  | _, _ => []
  end.
Definition start (c : coord) : cell := Cell (c_lo c) (c_hi c) (c_lo c) (c_hi c) None None.
Definition ground (cs : list coord) (p : premise) : option (list known) :=
  match apply_all (when p) (map start cs) with
  | Some cells => Some (finish p (named cs p) 0 cs cells)
  | None => None
  end.

(** ** That it is right *)
Lemma left_insert v c k i ts : left v (insert c k i ts) = val c * v k i + left v ts.
Proof.
  induction ts as [|[[d l] j] ts IH]; simpl; [reflexivity|].
  destruct (andb _ _) eqn:E; simpl.
  - apply andb_true_iff in E. destruct E as [E1 E2]. apply eqb_prop in E1. apply Nat.eqb_eq in E2. subst.
    rewrite val_add. ring.
  - rewrite IH. ring.
Qed.
Lemma left_merge v ts : left v (merge ts) = left v ts.
Proof. induction ts as [|[[c k] i] ts IH]; simpl; [reflexivity|]. rewrite left_insert, IH. reflexivity. Qed.
Lemma left_clean v ts : left v (clean ts) = left v ts.
Proof.
  rewrite <- (left_merge v ts). unfold clean. induction (merge ts) as [|[[c k] i] l IH]; simpl; [reflexivity|].
  destruct (isz c) eqn:Z; simpl; [|rewrite IH; reflexivity]. rewrite (isz_spec _ Z), IH. ring.
Qed.
Lemma clean_nonzero ts c k i : In (c, k, i) (clean ts) -> val c <> 0.
Proof.
  unfold clean. rewrite filter_In. intros [_ H] F. simpl in H. apply negb_true_iff in H. revert F.
  unfold isz in H. apply Z.eqb_neq in H. unfold val. intro F. apply H. apply eq_IZR.
  pose proof (two_pos (ex c)). pose proof (de_pos (de c)).
  apply Rmult_eq_reg_r with (/ (IZR (two (ex c)) * IZR (Z.pos (de c)))); [|apply Rinv_neq_0_compat; nra].
  rewrite Rmult_0_l. exact F.
Qed.

Definition bnd (c : cell) (a b : R) : Prop :=
  val (l1 c) <= a <= val (h1 c) /\ val (l2 c) <= b <= val (h2 c) /\
  (forall v, d_lo c = Some v -> val v <= a - b) /\ (forall v, d_hi c = Some v -> a - b <= val v).
Definition inv (cells : list cell) (x y : list R) : Prop :=
  forall i c, nth_error cells i = Some c -> bnd c (nth i x 0) (nth i y 0).
Lemma update_nth i f : forall l j, nth_error (update i f l) j =
  if Nat.eqb i j then option_map f (nth_error l j) else nth_error l j.
Proof.
  induction i as [|i IH]; intros [|c l] [|j]; simpl; try reflexivity; try (destruct (Nat.eqb i j); reflexivity). apply IH.
Qed.
Lemma update_inv i f l x y : inv l x y -> (forall c, bnd c (nth i x 0) (nth i y 0) -> bnd (f c) (nth i x 0) (nth i y 0)) ->
  inv (update i f l) x y.
Proof.
  intros I H j c E. rewrite update_nth in E. destruct (Nat.eqb i j) eqn:Q; [|apply (I _ _ E)].
  apply Nat.eqb_eq in Q. subst j. destruct (nth_error l i) as [d|] eqn:D; [|discriminate]. injection E as <-.
  apply H, (I _ _ D).
Qed.
(* a·z <= r, or ==: bounds on z *)
Lemma quotient a r same z : val a <> 0 -> val a * z <= val r -> (same = true -> val a * z = val r) ->
  (orb same (leb a zero) = true -> val (norm (div r a)) <= z) /\ (orb same (leb zero a) = true -> z <= val (norm (div r a))).
Proof.
  intros N L E. rewrite val_norm, val_div by exact N.
  assert (S : same = true -> z = val r / val a) by (intro H; specialize (E H); rewrite <- E; field; exact N).
  assert (Q : val a * (val r / val a) = val r) by (field; exact N).
  split; intro H; apply orb_true_iff in H; (destruct H as [H|H]; [rewrite (S H); lra|]);
    apply leb_val in H; rewrite val_zero in H; nra.
Qed.
Lemma bounded_sound (k : bool) a r same c p q : val a <> 0 -> val a * (if k then q else p) <= val r ->
  (same = true -> val a * (if k then q else p) = val r) -> bnd c p q -> bnd (bounded k a r same c) p q.
Proof.
  intros N L E (B1 & B2 & B3 & B4). destruct (quotient a r same _ N L E) as [Q1 Q2].
  unfold bounded. destruct k; unfold bnd; cbn [l1 h1 l2 h2 d_lo d_hi];
    destruct (orb same (leb a zero)); destruct (orb same (leb zero a));
    repeat (try specialize (Q1 eq_refl); try specialize (Q2 eq_refl)); rewrite ?val_maxT, ?val_minT;
    repeat split; auto; try lra; try (apply Rmax_lub; lra); try (apply Rmin_glb; lra).
Qed.
Lemma stripped_sound a r same c p q : val a <> 0 -> val a * (p - q) <= val r ->
  (same = true -> val a * (p - q) = val r) -> bnd c p q -> bnd (stripped a r same c) p q.
Proof.
  intros N L E (B1 & B2 & B3 & B4). destruct (quotient a r same _ N L E) as [Q1 Q2].
  unfold stripped, bnd. cbn [l1 h1 l2 h2 d_lo d_hi]. split; [exact B1|]. split; [exact B2|]. split; intros v H.
  - destruct (orb same (leb a zero)); [|apply B3; exact H]. specialize (Q1 eq_refl). unfold omax in H. injection H as <-.
    destruct (d_lo c) as [w|]; [|exact Q1]. rewrite val_maxT. apply Rmax_lub; [apply B3; reflexivity | exact Q1].
  - destruct (orb same (leb zero a)); [|apply B4; exact H]. specialize (Q2 eq_refl). unfold omin in H. injection H as <-.
    destruct (d_hi c) as [w|]; [|exact Q2]. rewrite val_minT. apply Rmin_glb; [apply B4; reflexivity | exact Q2].
Qed.
Lemma apply_sound r cells cells' x y : holds (fun k i => pick k x y i) r -> inv cells x y ->
  apply r cells = Some cells' -> inv cells' x y.
Proof.
  intros [H1 H2] I E. unfold apply in E. rewrite <- left_clean in H1. rewrite <- left_clean in H2.
  pose proof (clean_nonzero (terms r)) as NZ.
  destruct (clean (terms r)) as [|[[a k] i] [|[[b l] j] [|]]]; simpl in H1, H2.
  - destruct (andb _ _); [|discriminate]. injection E as <-. exact I.
  - injection E as <-. apply update_inv; [exact I|]. intros c B.
    assert (P : pick k x y i = if k then nth i y 0 else nth i x 0) by (unfold pick; destruct k; reflexivity).
    apply bounded_sound; auto; [apply (NZ a k i); left; reflexivity | | intro S; specialize (H2 S)]; rewrite <- P; lra.
  - destruct (andb _ _) eqn:T; [|injection E as <-; exact I]. injection E as <-. rewrite !andb_true_iff in T. destruct T as [T1 [T2 T3]].
    apply Nat.eqb_eq in T1. subst j. apply isz_spec in T3. rewrite val_add in T3.
    assert (NA : val a <> 0) by (apply (NZ a k i); left; reflexivity).
    apply update_inv; [exact I|]. intros c B. unfold pick in H1, H2.
    destruct k, l; simpl in T2; try discriminate; apply stripped_sound; auto; try lra; try (intro S; specialize (H2 S));
      replace (val b) with (- val a) in * by lra; lra.
  - injection E as <-. exact I.
Qed.
Lemma apply_all_sound rs x y : Forall (holds (fun k i => pick k x y i)) rs -> forall cells cells', inv cells x y ->
  apply_all rs cells = Some cells' -> inv cells' x y.
Proof.
  induction 1 as [|r rs H _ IH]; intros cells cells' I E; simpl in E; [injection E as <-; exact I|].
  destruct (apply r cells) as [c|] eqn:A; [|discriminate]. apply (IH c cells'); auto. apply (apply_sound r cells c); auto.
Qed.

(** what is known holds *)
Definition fit (c : coord) (k : known) (a b : R) : Prop :=
  in_coord c a /\ in_coord c b /\ val (k_l1 k) <= a <= val (k_h1 k) /\ val (k_l2 k) <= b <= val (k_h2 k) /\
  val (k_low k) <= a - b <= val (k_high k) /\ (k_pinned k = true -> a = b).
Inductive Fit : list coord -> list known -> list R -> list R -> Prop :=
| fit_nil : Fit [] [] [] []
| fit_cons c k a b cs ks x y : fit c k a b -> Fit cs ks x y -> Fit (c :: cs) (k :: ks) (a :: x) (b :: y).

Lemma finish1_sound pin c k a b : in_coord c a -> in_coord c b -> bnd k a b -> (pin = true -> a = b) -> fit c (finish1 pin c k) a b.
Proof.
  intros Ca Cb (B1 & B2 & B3 & B4) P. unfold finish1.
  set (oa := option_map (up (c_whole c)) (d_lo k)). set (ob := option_map (down (c_whole c)) (d_hi k)).
  assert (W : c_whole c = true -> exists z w, a = IZR z /\ b = IZR w).
  { intro H. destruct Ca as (_ & Wa & _). destruct Cb as (_ & Wb & _). destruct (Wa H) as [z ->]. destruct (Wb H) as [w ->]. eauto. }
  assert (A3 : forall v, oa = Some v -> val v <= a - b).
  { intros v H. unfold oa in H. destruct (d_lo k) as [t|]; simpl in H; [|discriminate]. injection H as <-.
    specialize (B3 t eq_refl). unfold up. destruct (c_whole c); [|exact B3]. destruct (W eq_refl) as (z & w & -> & ->).
    rewrite <- minus_IZR in *. apply ceil_whole. exact B3. }
  assert (A4 : forall v, ob = Some v -> a - b <= val v).
  { intros v H. unfold ob in H. destruct (d_hi k) as [t|]; simpl in H; [|discriminate]. injection H as <-.
    specialize (B4 t eq_refl). unfold down. destruct (c_whole c); [|exact B4]. destruct (W eq_refl) as (z & w & -> & ->).
    rewrite <- minus_IZR in *. apply floor_whole. exact B4. }
  set (pinned := orb pin _).
  assert (Pn : pinned = true -> a = b).
  { unfold pinned. intro H. apply orb_true_iff in H. destruct H as [H|H]; [apply P; exact H|].
    destruct oa as [v|]; [|discriminate]. destruct ob as [w|]; [|discriminate].
    apply andb_true_iff in H. destruct H as [Hv Hw]. apply eqb_spec in Hv. apply eqb_spec in Hw. rewrite val_zero in *.
    specialize (A3 v eq_refl). specialize (A4 w eq_refl). lra. }
  set (low1 := if pinned then maxT (l1 k) (l2 k) else l1 k). set (low2 := if pinned then maxT (l1 k) (l2 k) else l2 k).
  set (high1 := if pinned then minT (h1 k) (h2 k) else h1 k). set (high2 := if pinned then minT (h1 k) (h2 k) else h2 k).
  assert (V : val low1 <= a <= val high1 /\ val low2 <= b <= val high2).
  { unfold low1, low2, high1, high2. destruct pinned; [|lra]. specialize (Pn eq_refl). rewrite val_maxT, val_minT.
    subst b. repeat split; try (apply Rmax_lub; lra); apply Rmin_glb; lra. }
  set (r := up (c_whole c)). set (s := down (c_whole c)).
  assert (U : val (r low1) <= a <= val (s high1) /\ val (r low2) <= b <= val (s high2)).
  { unfold r, s, up, down. destruct (c_whole c); [|exact V]. destruct (W eq_refl) as (z & w & -> & ->).
    repeat split; try apply ceil_whole; try apply floor_whole; lra. }
  unfold fit. cbn [k_l1 k_h1 k_l2 k_h2 k_low k_high k_pinned]. fold low1 low2 high1 high2.
  split; [exact Ca|]. split; [exact Cb|]. split; [apply U|]. split; [apply U|]. split; [|exact Pn]. split.
  - destruct pinned; [rewrite val_zero, Pn by reflexivity; lra|].
    destruct oa as [v|]; [rewrite val_maxT; apply Rmax_lub; [|apply A3; reflexivity]|]; rewrite val_sub; lra.
  - destruct pinned; [rewrite val_zero, Pn by reflexivity; lra|].
    destruct ob as [v|]; [rewrite val_minT; apply Rmin_glb; [|apply A4; reflexivity]|]; rewrite val_sub; lra.
Qed.
Lemma finish_sound p names cs : forall i cells x y, length cells = length cs -> in_domain cs x -> in_domain cs y ->
  (forall j c, nth_error cells j = Some c -> bnd c (nth j x 0) (nth j y 0)) ->
  (forall j c, nth_error cs j = Some c -> pin_stated p names (i + j) c = true -> nth j x 0 = nth j y 0) ->
  Fit cs (finish p names i cs cells) x y.
Proof.
  induction cs as [|c cs IH]; intros i [|k cells] x y L X Y B P; simpl in L; try discriminate; inversion X; inversion Y; subst;
    cbn [finish]; constructor.
  - apply finish1_sound; auto; [exact (B 0%nat k eq_refl)|]. intro H. apply (P 0%nat c eq_refl). rewrite Nat.add_0_r. exact H.
  - apply IH; auto.
    + intros j d E. exact (B (S j) d E).
    + intros j d E H. apply (P (S j) d E). replace (i + S j)%nat with (S i + j)%nat by lia. exact H.
Qed.
Lemma apply_length r cells cells' : apply r cells = Some cells' -> length cells' = length cells.
Proof.
  assert (U : forall f l i, length (update i f l) = length l) by (intros f; induction l; intros [|i]; simpl; auto).
  unfold apply. destruct (clean (terms r)) as [|[[a k] i] [|[[b l] j] [|]]]; try destruct (andb _ _); intro H; try discriminate;
    injection H as <-; auto.
Qed.
Lemma apply_all_length rs : forall cells cells', apply_all rs cells = Some cells' -> length cells' = length cells.
Proof.
  induction rs as [|r rs IH]; intros cells cells' H; simpl in H; [congruence|].
  destruct (apply r cells) as [c|] eqn:A; [|discriminate]. rewrite (IH _ _ H). apply (apply_length _ _ _ A).
Qed.
Lemma Forall2_nth {A} (P : A -> R -> Prop) l x : Forall2 P l x -> forall i a, nth_error l i = Some a -> P a (nth i x 0).
Proof. induction 1; intros [|i] b E; simpl in *; try discriminate; [congruence | apply IHForall2; exact E]. Qed.

Theorem ground_sound cs p x y ks : ground cs p = Some ks -> satisfied cs p x y -> Fit cs ks x y.
Proof.
  unfold ground. intros H (X & Y & W & S). destruct (apply_all (when p) (map start cs)) as [cells|] eqn:A; [|discriminate].
  injection H as <-. assert (L : length cells = length cs) by (rewrite (apply_all_length _ _ _ A); apply map_length).
  apply finish_sound; auto.
  - apply (apply_all_sound _ _ _ W _ _) with (2 := A). intros i c E. rewrite nth_error_map in E.
    destruct (nth_error cs i) as [d|] eqn:D; [|discriminate]. injection E as <-.
    destruct (Forall2_nth _ _ _ X _ _ D) as (Q1 & _). destruct (Forall2_nth _ _ _ Y _ _ D) as (Q2 & _).
    unfold bnd, start. cbn [l1 h1 l2 h2 d_lo d_hi]. repeat split; try lra; intros; discriminate.
  - intros j c E H. apply S. simpl in H. unfold pin_stated in H. apply orb_true_iff in H. destruct H as [H|H].
    + left. apply existsb_exists in H. destruct H as (i & I & Q). apply Nat.eqb_eq in Q. subst. exact I.
    + right. apply andb_true_iff in H. destruct H as [H1 H2]. split; [exact H1|]. intros f F N.
      unfold feature_of in F. rewrite E in F. injection F as <-. apply negb_true_iff in H2.
      rewrite <- not_true_iff_false in H2. apply H2, existsb_exists. exists (c_feature c). split; [exact N | apply Nat.eqb_refl].
Qed.
