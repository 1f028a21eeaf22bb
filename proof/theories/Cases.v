(** Clauses and cases (section 3.2): of every clause one row holds at least. A tree of splits cuts the premise into cases; in each
    of them all rows are shown, and of every clause a mean of its rows. *)
From Coq Require Import Reals List Bool Arith Lra Lia ZArith.
From Smile Require Import Num Leaf Reduction LeafSound Binary64 Exact Spread SpreadSound Premise Network NetworkSound HeadSound Deployed Joint JointMargin
  JointPremise LeafDeployed AnyOrder AnyDeployed.
Import ListNotations DOps DSpec.
Open Scope R_scope.

(** ** Programs *)
(* what the premise says to be equal is equal in all of its cases, whatever a bound names *)
Definition kept (cs : list coord) (p : premise) : list nat :=
  filter (fun i => match nth_error cs i with Some c => pin_stated p (named cs p) i c | None => false end) (seq 0 (length cs)).
(* x_ki <= θ, or x_ki >= θ *)
Definition half (cs : list coord) (p : premise) (k : bool) (i : nat) (th : num) (up : bool) : premise :=
  let r := if up then Row [(negT one, k, i)] false (negT th) else Row [(one, k, i)] false th in
  Premise (when p ++ [r]) (others p) (equals p ++ kept cs p) (frees p).
Definition times_terms (w : num) (ts : list term) : list term := map (fun t => (mul w (fst (fst t)), snd (fst t), snd t)) ts.
(* Σ w·left <= Σ w·right *)
Fixpoint mean (ws : list num) (gs : list goal) : goal :=
  match ws, gs with
  | w :: ws', g :: gs' =>
      let r := mean ws' gs' in
      Goal (times_terms w (outs g) ++ outs r) (times_terms w (ins g) ++ ins r) false (add (mul w (g_right g)) (g_right r))
  | _, _ => Goal [] [] false zero
  end.
Definition weighs (ws : list num) (gs : list goal) : bool :=
  andb (Nat.eqb (length ws) (length gs)) (andb (forallb (leb zero) ws) (eqb (fold_right add zero ws) one)).
Fixpoint means (wss : list (list num)) (clauses : list (list goal)) : option (list goal) :=
  match wss, clauses with
  | ws :: wss', gs :: clauses' => if weighs ws gs then bind (means wss' clauses') (fun l => Some (mean ws gs :: l)) else None
  | [], [] => Some []
  | _, _ => None
  end.
Inductive cases :=
| Case (wss : list (list num)) (rows : list (option shown))     (* [None]: by the order rule *)
| Cut (k : bool) (i : nat) (th : num) (below above : cases).
(* a row with its room, shown in its way; the order rule is for one order of sums ([fixed]) *)
Definition is_shown (n : net) (fixed : bool) (p : premise) (r : ready) (g : goal * num) (s : option shown) : bool :=
  match s with
  | Some s' => match bound_of r (fst g) s' with Some f => accepts (fst g) (snd g) f | None => false end
  | None => andb (andb fixed (leb zero (snd g))) (match check_order n p [fst g] with Some [true] => true | _ => false end)
  end.
Fixpoint all_shown (n : net) (fixed : bool) (p : premise) (r : ready) (gs : list (goal * num)) (ss : list (option shown)) : bool :=
  match gs, ss with
  | g :: gs', s :: ss' => andb (is_shown n fixed p r g s) (all_shown n fixed p r gs' ss')
  | [], [] => true
  | _, _ => false
  end.
Fixpoint check_cases (n : net) (fixed : bool) (p : premise) (rows : list (goal * num)) (clauses : list (list goal)) (t : cases) : bool :=
  match t with
  | Case wss ss =>
      match prepare n p, means wss clauses with
      | Some r, Some ms => all_shown n fixed p r (rows ++ map (fun g => (g, zero)) ms) ss
      | _, _ => false
      end
  | Cut k i th b a => 
      andb (check_cases n fixed (half (coords n) p k i th false) rows clauses b) (check_cases n fixed (half (coords n) p k i th true) rows clauses a)
  end.

(** ** Halves cover *)
Lemma pin_stated_spec cs p i c : nth_error cs i = Some c -> pin_stated p (named cs p) i c = true -> stated cs p i.
Proof.
  intros E H. unfold pin_stated in H. apply orb_true_iff in H. destruct H as [H|H].
  - left. apply existsb_exists in H. destruct H as (j & J & Q). apply Nat.eqb_eq in Q. subst. exact J.
  - right. apply andb_true_iff in H. destruct H as [H1 H2]. split; [exact H1|]. intros f F I. unfold feature_of in F. rewrite E in F.
    injection F as <-. apply negb_true_iff in H2. assert (existsb (Nat.eqb (c_feature c)) (named cs p) = true); [|congruence].
    apply existsb_exists. exists (c_feature c). split; [exact I | apply Nat.eqb_refl].
Qed.
Lemma half_satisfied cs p k i th (up : bool) x y : satisfied cs p x y ->
  holds (fun k i => pick k x y i) (if up then Row [(negT one, k, i)] false (negT th) else Row [(one, k, i)] false th) ->
  satisfied cs (half cs p k i th up) x y.
Proof.
  intros (D1 & D2 & W & S) H. unfold satisfied, half. cbn [when equals others frees]. repeat split; try assumption.
  - apply Forall_app. split; [exact W|]. constructor; [exact H | constructor].
  - intros j [J|[O J]]; cbn [equals others] in *; apply S.
    + apply in_app_or in J. destruct J as [J|J]; [left; exact J|]. unfold kept in J. apply filter_In in J. destruct J as [_ J].
      destruct (nth_error cs j) as [c|] eqn:E; [|discriminate]. apply (pin_stated_spec cs p j c E J).
    + right. split; [exact O|]. intros f F I. apply (J f F). unfold named in *. cbn [when frees]. apply in_flat_map in I. destruct I as (q & Q1 & Q2).
      apply in_flat_map. exists q. split; [|exact Q2]. apply in_app_or in Q1. apply in_or_app. destruct Q1 as [Q1|Q1]; [left; exact Q1|right].
      rewrite flat_map_app. apply in_or_app. left. exact Q1.
Qed.
Lemma halves cs p k i th x y : satisfied cs p x y -> satisfied cs (half cs p k i th false) x y \/ satisfied cs (half cs p k i th true) x y.
Proof.
  intro S. destruct (Rle_lt_dec (pick k x y i) (val th)); [left | right]; apply half_satisfied; auto; unfold holds; simpl;
    rewrite ?val_negT, ?val_one; split; try discriminate; lra.
Qed.

(** ** A mean that holds has a row that holds *)
Lemma left_times v w ts : left v (times_terms w ts) = val w * left v ts.
Proof. induction ts as [|[[c k] i] ts IH]; cbn [times_terms map left fst snd]; [ring|]. fold (times_terms w ts). rewrite IH, val_mul. ring. Qed.
Lemma left_app v a b : left v (a ++ b) = left v a + left v b.
Proof. induction a as [|[[c k] i] a IH]; simpl; [ring|]. rewrite IH. ring. Qed.
Lemma mean_holds x1 x2 y1 y2 ws gs : weighs ws gs = true -> row_left (mean ws gs) x1 x2 y1 y2 <= val (g_right (mean ws gs)) ->
  Exists (fun g => row_left g x1 x2 y1 y2 <= val (g_right g)) gs.
Proof.
  intros H. unfold weighs in H. rewrite !andb_true_iff in H. destruct H as [L [P S]]. apply Nat.eqb_eq in L. apply eqb_spec in S. rewrite val_one in S.
  intro M. destruct (Exists_dec (fun g => row_left g x1 x2 y1 y2 <= val (g_right g)) gs) as [E|E]; [intro g; apply Rle_dec | exact E|].
  exfalso. assert (Q : forall ws gs, length ws = length gs -> forallb (leb zero) ws = true ->
    Forall (fun g => ~ row_left g x1 x2 y1 y2 <= val (g_right g)) gs ->
    val (g_right (mean ws gs)) <= row_left (mean ws gs) x1 x2 y1 y2 /\
    (0 < val (fold_right add zero ws) -> val (g_right (mean ws gs)) < row_left (mean ws gs) x1 x2 y1 y2)).
  { clear. induction ws as [|w ws IH]; intros [|g gs] L P F; try discriminate.
    - unfold row_left. simpl. rewrite val_zero. lra.
    - simpl in P. apply andb_true_iff in P. destruct P as [P1 P2]. apply leb_val in P1. rewrite val_zero in P1. inversion F as [|? ? F1 F2]; subst.
      destruct (IH gs ltac:(simpl in L; congruence) P2 F2) as [I1 I2]. apply Rnot_le_lt in F1. unfold row_left in *. simpl.
      rewrite !left_app, !left_times, !val_add, val_mul. set (a := left _ (outs g)) in *. set (b := left _ (ins g)) in *. split; [nra|].
      intro Hs. destruct (Req_dec (val w) 0) as [Z|Z]; [rewrite Z in *; assert (0 < val (fold_right add zero ws)) by lra; specialize (I2 H); lra | nra]. }
  destruct (Q ws gs L P) as [_ Q2]; [apply Forall_Exists_neg; exact E|]. specialize (Q2 ltac:(lra)). lra.
Qed.

(** ** Soundness *)
Definition concludes (rows : list (goal * num)) (clauses : list (list goal)) (x1 x2 y1 y2 : list R) : Prop :=
  Forall (fun g => row_left (fst g) x1 x2 y1 y2 <= val (g_right (fst g)) + val (snd g)) rows /\
  Forall (Exists (fun g => row_left g x1 x2 y1 y2 <= val (g_right g))) clauses.
(* what the order rule shows of these outputs *)
Definition ordered (n : net) (q : premise) (x1 x2 y1 y2 : list R) : Prop :=
  forall g, check_order n q [g] = Some [true] -> row_left g x1 x2 y1 y2 <= val (g_right g).
Lemma all_shown_sound n fixed p r x1 x2 y1 y2 : found r x1 x2 y1 y2 -> (fixed = true -> ordered n p x1 x2 y1 y2) ->
  forall gs ss, all_shown n fixed p r gs ss = true ->
  Forall (fun g => row_left (fst g) x1 x2 y1 y2 <= val (g_right (fst g)) + val (snd g)) gs.
Proof.
  intros F O. induction gs as [|[g room] gs IH]; intros [|s ss] H; simpl in H; try discriminate; constructor.
  - apply andb_true_iff in H. destruct H as [H _]. unfold is_shown in H. simpl in *. destruct s as [s|].
    2: { rewrite !andb_true_iff in H. destruct H as [[H1 H2] H3]. apply leb_val in H2. rewrite val_zero in H2.
         destruct (check_order n p [g]) as [[|[|] [|]]|] eqn:E; try discriminate. specialize (O H1 g E). lra. }
    destruct (bound_of r g s) as [[b m]|] eqn:B; [|discriminate].
    destruct (shown_bound r x1 x2 y1 y2 F g s b m B) as [_ A]. specialize (A room H). pose proof (Rmin_l (val room) (2 * val m)). lra.
  - apply andb_true_iff in H. destruct H as [_ H]. exact (IH ss H).
Qed.
Lemma means_sound x1 x2 y1 y2 : forall wss clauses ms, means wss clauses = Some ms ->
  Forall (fun g => row_left g x1 x2 y1 y2 <= val (g_right g)) ms -> Forall (Exists (fun g => row_left g x1 x2 y1 y2 <= val (g_right g))) clauses.
Proof.
  induction wss as [|ws wss IH]; intros [|gs clauses] ms H F; simpl in H; try discriminate; [constructor|].
  destruct (weighs ws gs) eqn:W; [|discriminate]. unbind H. injection H as <-. inversion F; subst. constructor; [|eapply IH; eassumption].
  apply (mean_holds _ _ _ _ ws gs W). assumption.
Qed.
Lemma cases_found n fixed rows clauses x1 x2 t : forall p, check_cases n fixed p rows clauses t = true -> satisfied (coords n) p x1 x2 ->
  exists q r, satisfied (coords n) q x1 x2 /\ prepare n q = Some r /\
    forall y1 y2, found r x1 x2 y1 y2 -> (fixed = true -> ordered n q x1 x2 y1 y2) -> concludes rows clauses x1 x2 y1 y2.
Proof.
  induction t as [wss ss|k i th b IHb a IHa]; intros p H S; simpl in H.
  - destruct (prepare n p) as [r|] eqn:P; [|discriminate]. destruct (means wss clauses) as [ms|] eqn:M; [|discriminate].
    exists p, r. split; [exact S|]. split; [exact P|]. intros y1 y2 F O. pose proof (all_shown_sound n fixed p r x1 x2 y1 y2 F O _ _ H) as A.
    apply Forall_app in A. destruct A as [A1 A2]. split; [exact A1|]. apply (means_sound _ _ _ _ wss clauses ms M).
    rewrite Forall_map in A2. eapply Forall_impl; [|exact A2]. simpl. intros g G. rewrite val_zero in G. lra.
  - apply andb_true_iff in H. destruct H as [H1 H2]. destruct (halves _ _ k i th _ _ S) as [S'|S']; [apply (IHb _ H1 S') | apply (IHa _ H2 S')].
Qed.
(** A claim with clauses, under fixed-order and under f64-aux: for all float64 inputs of the domain that satisfy the premise exactly, the
    outputs satisfy every row up to its room, and of every clause one row at least. *)
Theorem cases_sound n p rows clauses t : check_cases n true p rows clauses t = true ->
  forall pin sel1 sel2 x1 x2, between (kind n) sel1 -> between (kind n) sel2 -> satisfied (coords n) p x1 x2 ->
  one_hot (coords n) x1 -> one_hot (coords n) x2 ->
  exists y1 y2, network pin sel1 n x1 = Some y1 /\ network pin sel2 n x2 = Some y2 /\ concludes rows clauses x1 x2 y1 y2.
Proof.
  intros H pin sel1 sel2 x1 x2 B1 B2 P O1 O2. destruct (cases_found _ _ _ _ _ _ _ _ H P) as (q & r & Q & R0 & C).
  destruct (prepared n q r R0 pin sel1 sel2 x1 x2 B1 B2 Q O1 O2) as (y1 & y2 & Y1 & Y2 & F). exists y1, y2.
  split; [exact Y1|]. split; [exact Y2|]. apply C; [exact F|]. intros _ g G.
  assert (Se : forall sel, between (kind n) sel -> selects sel).
  { intros sel B i l h L. specialize (B i l h). unfold least in B. rewrite Rmax_right in B by exact L.
    destruct (kind n); [rewrite Rmin_left in B by exact L|]; exact B. }
  destruct (order_sound n q [g] [true] G pin sel1 sel2 x1 x2 (Se _ B1) (Se _ B2) Q) as (z1 & z2 & Z1 & Z2 & A).
  rewrite Y1 in Z1. rewrite Y2 in Z2. injection Z1 as <-. injection Z2 as <-. inversion A as [|? ? ? ? K _]; subst. exact (proj1 (K eq_refl)).
Qed.
Theorem cases_sound_any n p rows clauses t : check_cases n false p rows clauses t = true ->
  forall pin sel1 sel2 x1 x2 o1 o2, between (kind n) sel1 -> between (kind n) sel2 -> satisfied (coords n) p x1 x2 ->
  one_hot (coords n) x1 -> one_hot (coords n) x2 -> any_network pin sel1 n x1 o1 -> any_network pin sel2 n x2 o2 ->
  exists y1 y2, o1 = Some y1 /\ o2 = Some y2 /\ concludes rows clauses x1 x2 y1 y2.
Proof.
  intros H pin sel1 sel2 x1 x2 o1 o2 B1 B2 P O1 O2 A1 A2. destruct (cases_found _ _ _ _ _ _ _ _ H P) as (q & r & Q & R0 & C).
  destruct (prepared_any n q r R0 pin sel1 sel2 x1 x2 o1 o2 B1 B2 Q O1 O2 A1 A2) as (y1 & y2 & Y1 & Y2 & F). exists y1, y2.
  split; [exact Y1|]. split; [exact Y2|]. apply C; [exact F | discriminate].
Qed.
