(** Sections 3 and 3.1: inputs that satisfy the premise give an e within the premise on e, its rows and categories too. *)
From Coq Require Import Reals List Bool Arith Lra Lia ZArith.
From Flocq Require Import Core.
From Smile Require Import Num Leaf Reduction LeafSound Float Binary64 Exact Spread SpreadSound Trees Layers LayerSound Premise Network
  NetworkSound HeadSound Deployed Joint.
Import ListNotations DOps DSpec.
Open Scope R_scope.
Module S := DSound.
Module D := DChecker.

(** the coordinates of a category sum to one *)
Definition one_hot (cs : list coord) (x : list R) : Prop :=
  forall c, In c cs -> c_group c = true -> sumR (map (fun i => nth i x 0) (members (c_feature c) 0 cs)) = 1.

Lemma feature_sum_val f cs : forall x p, length x = length cs ->
  sumR (map (fun i => nth i (p ++ map val x) 0) (members f (length p) cs)) = val (feature_sum f cs x).
Proof.
  induction cs as [|c cs IH]; intros [|v x] p L; simpl in L; try discriminate; [symmetry; apply val_zero|]. injection L as L.
  specialize (IH x (p ++ [val v]) L). rewrite <- app_assoc, app_length, Nat.add_1_r in IH. cbn [app map] in *. cbn [members feature_sum].
  destruct (Nat.eqb (c_feature c) f); [|exact IH]. cbn [map sumR]. rewrite val_add, <- IH. f_equal.
  rewrite app_nth2, Nat.sub_diag by lia. reflexivity.
Qed.
Theorem one_hot_sound cs x : one_hot_ok cs x = true -> one_hot cs (map val x).
Proof.
  unfold one_hot_ok, one_hot. rewrite andb_true_iff, Nat.eqb_eq, forallb_forall. intros [L H] c I G. specialize (H c I). rewrite G in H. simpl in H.
  apply eqb_spec in H. rewrite val_one in H. rewrite <- H. exact (feature_sum_val (c_feature c) cs x [] L).
Qed.

Lemma onehot_nth n : forall p j, (p < n)%nat -> nth j (S.onehot n p) 0 = if Nat.eqb j p then 1 else 0.
Proof.
  induction n as [|n IH]; intros p j H; [lia|]. destruct p as [|p]; destruct j as [|j]; simpl; auto.
  - apply nth_repeat.
  - apply IH. lia.
Qed.
Lemma bits_zero l : Forall (fun v => v = 0 \/ v = 1) l -> sumR l = 0 -> l = repeat 0 (length l).
Proof.
  intros F. assert (P : forall l, Forall (fun v => v = 0 \/ v = 1) l -> 0 <= sumR l).
  { clear. induction 1 as [|v l [-> | ->]]; simpl; lra. }
  induction F as [|v l V F IH]; intro H; [reflexivity|]. simpl in *. specialize (P l F). destruct V as [-> | ->]; [|lra].
  rewrite <- IH by lra. reflexivity.
Qed.
Lemma bits_onehot l : Forall (fun v => v = 0 \/ v = 1) l -> sumR l = 1 -> exists p, (p < length l)%nat /\ l = S.onehot (length l) p.
Proof.
  induction 1 as [|v l V F IH]; intro H; simpl in *; [lra|]. destruct V as [-> | ->].
  - destruct IH as (p & L & E); [lra|]. exists (Datatypes.S p). split; [lia|]. simpl. rewrite <- E. reflexivity.
  - exists 0%nat. split; [lia|]. simpl. rewrite <- (bits_zero l F) by lra. reflexivity.
Qed.

Section Inputs.
  Variables (cs : list coord) (ks : list known) (x y : list R).
  (** exact values and computed ones, in both copies *)
  Inductive Item : item -> R -> R -> R -> R -> Prop :=
  | it_pass i c k v w p q : nth_error cs i = Some c -> nth_error ks i = Some k -> v = nth i x 0 -> w = nth i y 0 -> fit c k v w ->
      Rabs (p - val (c_mult c) * (v - val (c_shift c))) <= val (error c) ->
      Rabs (q - val (c_mult c) * (w - val (c_shift c))) <= val (error c) -> Item (Pass i) v w p q
  | it_made s b p q : within s p q -> val (fst b) <= p <= val (snd b) -> val (fst b) <= q <= val (snd b) -> Item (Made s b) p q p q.
  Inductive Items : list item -> list R -> list R -> list R -> list R -> Prop :=
  | its_nil : Items [] [] [] [] []
  | its_cons t ts v w p q vs ws ps qs : Item t v w p q -> Items ts vs ws ps qs -> Items (t :: ts) (v :: vs) (w :: ws) (p :: ps) (q :: qs).
  Lemma Items_app t a b e f : Items t a b e f -> forall t' a' b' e' f', Items t' a' b' e' f' ->
    Items (t ++ t') (a ++ a') (b ++ b') (e ++ e') (f ++ f').
  Proof. induction 1; simpl; auto. intros. constructor; auto. Qed.
  Lemma Items_split t1 : forall t2 X Y e f, Items (t1 ++ t2) X Y e f -> exists X1 X2 Y1 Y2 e1 e2 f1 f2,
    X = X1 ++ X2 /\ Y = Y1 ++ Y2 /\ Items t1 X1 Y1 e1 f1 /\ Items t2 X2 Y2 e2 f2.
  Proof.
    induction t1 as [|t t1 IH]; intros t2 X Y e f H; simpl in H.
    - exists [], X, [], Y, [], e, [], f. repeat split; auto. constructor.
    - inversion H as [|? ? v w p q vs ws ps qs I H']; subst. destruct (IH _ _ _ _ _ H') as (X1 & X2 & Y1 & Y2 & e1 & e2 & f1 & f2 & -> & -> & I1 & I2).
      exists (v :: X1), X2, (w :: Y1), Y2, (p :: e1), e2, (q :: f1), f2. repeat split; auto. constructor; assumption.
  Qed.
  Lemma Items_passed idx : forall X Y e f, Items (map Pass idx) X Y e f ->
    X = map (fun i => nth i x 0) idx /\ Y = map (fun i => nth i y 0) idx /\
    Forall (fun i => exists c k, nth_error cs i = Some c /\ nth_error ks i = Some k /\ fit c k (nth i x 0) (nth i y 0)) idx.
  Proof.
    induction idx as [|i idx IH]; intros X Y e f H; inversion H as [|? ? v w p q vs ws ps qs I H']; subst; simpl; [auto|].
    destruct (IH _ _ _ _ H') as (-> & -> & F). inversion I; subst. repeat split. constructor; eauto.
  Qed.

  (** *** Slots *)
  Lemma takes_spec idx : forall its rest, takes idx its = Some rest -> its = map Pass idx ++ rest.
  Proof.
    induction idx as [|i idx IH]; intros its rest H; simpl in H; [injection H as <-; reflexivity|].
    destruct its as [|[j|] its]; try discriminate. destruct (Nat.eqb_spec i j) as [<-|]; [|discriminate]. simpl. rewrite <- (IH _ _ H). reflexivity.
  Qed.
  Lemma allowed_in ones zeros p : (p < length ones)%nat -> nth p ones false = true ->
    (forall q, (q < length zeros)%nat -> q <> p -> nth q zeros false = true) -> In p (allowed ones zeros).
  Proof.
    intros L O Z. unfold allowed. apply filter_In. split; [apply in_seq; lia|]. rewrite O. simpl. apply forallb_forall.
    intros q Q. apply in_seq in Q. destruct (Nat.eqb_spec q p); [reflexivity|]. simpl. apply Z; [lia | assumption].
  Qed.
  Lemma mapo_nth {A} (l : list A) idx : forall r, mapo (nth_error l) idx = Some r ->
    length r = length idx /\ forall j i, nth_error idx j = Some i -> nth_error r j = nth_error l i.
  Proof.
    induction idx as [|i idx IH]; intros r H; simpl in H.
    - injection H as <-. split; [reflexivity|]. intros [|j] i E; discriminate.
    - destruct (nth_error l i) as [a|] eqn:E; [|discriminate]. destruct (mapo _ idx) as [r'|]; [|discriminate]. injection H as <-.
      destruct (IH r' eq_refl) as [L N]. split; [simpl; congruence|]. intros [|j] i' E'; simpl in *; [congruence | apply N; exact E'].
  Qed.
  Lemma nth_map_error {A B} (f : A -> B) l j a d : nth_error l j = Some a -> nth j (map f l) d = f a.
  Proof. revert j. induction l as [|b l IH]; intros [|j] E; simpl in *; try discriminate; [congruence | apply IH; exact E]. Qed.

  Lemma group_in gk X Y p r : length X = length gk -> length Y = length gk -> (p < length gk)%nat -> (r < length gk)%nat ->
    X = S.onehot (length gk) p -> Y = S.onehot (length gk) r ->
    (forall j k, nth_error gk j = Some k -> val (k_l1 k) <= nth j X 0 <= val (k_h1 k) /\ val (k_l2 k) <= nth j Y 0 <= val (k_h2 k) /\
      val (k_low k) <= nth j X 0 - nth j Y 0 <= val (k_high k)) ->
    match group_slot gk with
    | D.SGroup n al1 al2 pairs => n = length gk /\ In p al1 /\ In r al2 /\ In (p, r) pairs
    | D.SPlain _ => False
    end.
  Proof.
    intros LX LY Pn Rn EX EY H. unfold group_slot. set (al1 := allowed _ _). set (al2 := allowed _ _). set (bad := filter _ (seq 0 (length gk))).
    assert (V : forall j k, nth_error gk j = Some k ->
      val (k_l1 k) <= (if Nat.eqb j p then 1 else 0) <= val (k_h1 k) /\ val (k_l2 k) <= (if Nat.eqb j r then 1 else 0) <= val (k_h2 k) /\
      val (k_low k) <= (if Nat.eqb j p then 1 else 0) - (if Nat.eqb j r then 1 else 0) <= val (k_high k)).
    { intros j k E. specialize (H j k E). rewrite EX, EY, !onehot_nth in H by assumption. exact H. }
    assert (G : forall j, (j < length gk)%nat -> exists k, nth_error gk j = Some k).
    { intros j J. destruct (nth_error gk j) as [k|] eqn:E; [eauto|]. apply nth_error_None in E. lia. }
    assert (A1 : In p al1).
    { apply allowed_in; [rewrite map_length; exact Pn | | rewrite map_length].
      - destruct (G p Pn) as (k & E). rewrite (nth_map_error _ _ _ k _ E). apply leb_spec. rewrite val_one.
        specialize (V p k E). rewrite Nat.eqb_refl in V. lra.
      - intros q Q N. destruct (G q Q) as (k & E). rewrite (nth_map_error _ _ _ k _ E). apply leb_spec. rewrite val_zero.
        specialize (V q k E). apply Nat.eqb_neq in N. rewrite N in V. lra. }
    assert (A2 : In r al2).
    { apply allowed_in; [rewrite map_length; exact Rn | | rewrite map_length].
      - destruct (G r Rn) as (k & E). rewrite (nth_map_error _ _ _ k _ E). apply leb_spec. rewrite val_one.
        specialize (V r k E). rewrite Nat.eqb_refl in V. lra.
      - intros q Q N. destruct (G q Q) as (k & E). rewrite (nth_map_error _ _ _ k _ E). apply leb_spec. rewrite val_zero.
        specialize (V q k E). apply Nat.eqb_neq in N. rewrite N in V. lra. }
    split; [reflexivity|]. split; [exact A1|]. split; [exact A2|]. apply filter_In. split; [apply in_prod; assumption|].
    assert (Bad : forall j, In j bad -> j <> p /\ j <> r \/ (j = p /\ j = r) -> False).
    { intros j J C. unfold bad in J. apply filter_In in J. destruct J as [_ J]. destruct (nth_error gk j) as [k|] eqn:E; [|discriminate].
      specialize (V j k E). apply negb_true_iff in J. unfold one_ok in J.
      assert (Z : val (k_low k) <= 0 <= val (k_high k)).
      { destruct C as [[N1 N2]|[-> <-]].
        - apply Nat.eqb_neq in N1. apply Nat.eqb_neq in N2. rewrite N1, N2 in V. lra.
        - rewrite Nat.eqb_refl in V. lra. }
      rewrite <- val_zero in Z. destruct Z as [Z1 Z2]. apply leb_spec in Z1. apply leb_spec in Z2. rewrite Z1, Z2 in J. discriminate. }
    unfold pair_ok. cbn [fst snd]. destruct (Nat.eqb_spec p r) as [<-|N].
    - destruct bad as [|j bad']; [reflexivity|]. exfalso. destruct (Nat.eq_dec j p) as [-> |M]; [apply (Bad p (or_introl eq_refl)) | apply (Bad j (or_introl eq_refl))]; auto.
    - destruct (G p Pn) as (k & E). destruct (G r Rn) as (l & F). rewrite E, F. apply Nat.eqb_neq in N. pose proof N as N'. rewrite Nat.eqb_sym in N'.
      pose proof (V p k E) as Vp. pose proof (V r l F) as Vr. rewrite Nat.eqb_refl, N in Vp. rewrite Nat.eqb_refl, N' in Vr.
      apply andb_true_iff. split; [apply andb_true_iff; split|].
      + unfold one_ok. apply andb_true_iff. split; apply leb_spec; rewrite val_one; lra.
      + unfold one_ok. apply andb_true_iff. split; apply leb_spec; rewrite val_negT, val_one; lra.
      + apply forallb_forall. intros j J. destruct (Nat.eqb_spec j p); [reflexivity|]. destruct (Nat.eqb_spec j r); [reflexivity|].
        exfalso. apply (Bad j J). auto.
  Qed.
  Lemma fit_bit c k v w : fit c k v w -> bit c = true -> (v = 0 \/ v = 1) /\ (w = 0 \/ w = 1).
  Proof.
    intros ((B1 & W1 & _) & (B2 & W2 & _) & _) H. unfold bit in H. rewrite !andb_true_iff in H. destruct H as [H [H1 H2]].
    apply leb_val in H1. apply leb_val in H2. exact_num.
    assert (Q : forall t, val (c_lo c) <= t <= val (c_hi c) -> (exists z, t = IZR z) -> t = 0 \/ t = 1).
    { intros t T (z & ->). assert (0 <= z <= 1)%Z by (split; apply le_IZR; lra). assert (z = 0 \/ z = 1)%Z as [-> | ->] by lia; auto. }
    split; apply Q; auto.
  Qed.
  Theorem slots_sound : one_hot cs x -> one_hot cs y -> forall fuel its sl X Y e f, Items its X Y e f ->
    slots_of fuel cs ks its = Some sl -> S.incell sl X Y.
  Proof.
    intros Hx Hy. induction fuel as [|fuel IH]; intros its sl X Y e f I H.
    - destruct its as [|[i|s bx] its]; simpl in H; [injection H as <-; inversion I; subst; apply S.in_nil | discriminate | discriminate].
    - destruct its as [|[i|s bx] its]; simpl in H; [injection H as <-; inversion I; subst; apply S.in_nil| |].
      + unbind H. unbind H. rename v into c, v0 into k. destruct (c_group c) eqn:Gc.
        * unbind H. unbind H. unbind H. unbind H. rename v into gc, v0 into gk, v1 into rest, v2 into l.
          destruct (forallb bit gc) eqn:Bt; [|discriminate]. injection H as <-.
          apply takes_spec in E3. rewrite E3 in I. destruct (Items_split _ _ _ _ _ _ I) as (X1 & X2 & Y1 & Y2 & e1 & e2 & f1 & f2 & -> & -> & I1 & I2).
          specialize (IH _ _ _ _ _ _ I2 E4). destruct (Items_passed _ _ _ _ _ I1) as (EX & EY & Fs).
          set (idx := members (c_feature c) 0 cs) in *. destruct (mapo_nth _ _ _ E1) as [Lc Nc]. destruct (mapo_nth _ _ _ E2) as [Lk Nk].
          assert (Bits : Forall (fun v => v = 0 \/ v = 1) X1 /\ Forall (fun v => v = 0 \/ v = 1) Y1).
          { rewrite EX, EY, !Forall_map. rewrite forallb_forall in Bt. split; apply Forall_forall; intros j J; rewrite Forall_forall in Fs;
              destruct (Fs j J) as (c' & k' & C & K & Ft); destruct (In_nth_error _ _ J) as (t & Tj);
              (assert (Bc : bit c' = true) by (apply Bt; apply nth_error_In with t; rewrite (Nc t j Tj); exact C));
              destruct (fit_bit _ _ _ _ Ft Bc); assumption. }
          assert (Ic : In c cs) by (apply nth_error_In with i; exact E).
          destruct Bits as [Bx By].
          assert (Sx : sumR X1 = 1) by (rewrite EX; exact (Hx c Ic Gc)). assert (Sy : sumR Y1 = 1) by (rewrite EY; exact (Hy c Ic Gc)).
          destruct (bits_onehot _ Bx Sx) as (p & Pp & Ep). destruct (bits_onehot _ By Sy) as (r & Rr & Er).
          assert (LX : length X1 = length gk) by (rewrite EX, map_length; symmetry; exact Lk).
          assert (LY : length Y1 = length gk) by (rewrite EY, map_length; symmetry; exact Lk).
          rewrite LX in Pp, Ep. rewrite LY in Rr, Er.
          pose proof (group_in gk X1 Y1 p r LX LY Pp Rr Ep Er) as Gi.
          destruct (group_slot gk) as [?|n al1 al2 pairs] eqn:Gs; [exfalso; apply Gi|]; [|destruct Gi as (-> & A1 & A2 & A3)].
          1, 2: intros j k' J; rewrite EX, EY; destruct (nth_error idx j) as [t|] eqn:Tj;
            [|apply nth_error_None in Tj; assert (nth_error gk j <> None) by congruence; rewrite nth_error_Some in *; lia];
            rewrite (Nk j t Tj) in J; apply nth_error_In in Tj as It; rewrite Forall_forall in Fs; destruct (Fs t It) as (c' & k2 & _ & K & Ft);
            rewrite K in J; injection J as ->; rewrite !(nth_map_error _ _ _ t _ Tj); destruct Ft as (_ & _ & F1 & F2 & F3 & _); auto.
          rewrite Ep, Er. apply S.in_group; assumption.
        * unbind H. rename v into l. injection H as <-. inversion I as [|? ? v w p q vs ws ps qs It I']; subst.
          inversion It as [? c' k' ? ? ? ? Ec Ek Ev Ew Ft _ _|]; subst. rewrite E in Ec. injection Ec as <-. rewrite E0 in Ek. injection Ek as <-.
          destruct Ft as ((_ & W1 & _) & (_ & W2 & _) & B1 & B2 & Df & _). constructor; simpl; auto. apply (IH _ _ _ _ _ _ I' E1).
      + unbind H. injection H as <-. inversion I as [|? ? v' w p q vs ws ps qs It I']; subst.
        inversion It as [|? ? ? ? (W1 & W2 & W3 & _) _ _]; subst. constructor; simpl; auto; [discriminate|]. apply (IH _ _ _ _ _ _ I' E).
  Qed.

  (** *** Terms over coordinates that pass *)
  Lemma dot_over t X Y e f : Items t X Y e f -> forall ts c l i (k : bool),
    S.dot (over k (map source t) ((c, l, i) :: ts)) (if k then Y else X) =
    (if Bool.eqb k l then val c * (INR (count i (map source t)) * nth i (if k then y else x) 0) else 0) +
    S.dot (over k (map source t) ts) (if k then Y else X).
  Proof.
    intros I. induction I as [|t its v w p q vs ws ps qs It I IH]; intros ts c l i k.
    - destruct k; simpl; destruct l; simpl; ring.
    - specialize (IH ts c l i k).
      assert (E : S.dot (over k (map source (t :: its)) ((c, l, i) :: ts)) (if k then w :: ws else v :: vs) =
        val (match source t with Some j => coef k j ((c, l, i) :: ts) | None => zero end) * (if k then w else v) +
        S.dot (over k (map source its) ((c, l, i) :: ts)) (if k then ws else vs)) by (destruct k; reflexivity).
      assert (F : S.dot (over k (map source (t :: its)) ts) (if k then w :: ws else v :: vs) =
        val (match source t with Some j => coef k j ts | None => zero end) * (if k then w else v) +
        S.dot (over k (map source its) ts) (if k then ws else vs)) by (destruct k; reflexivity).
      rewrite E, F, IH. destruct t as [j|s bx]; cbn [source map count].
      + rewrite coef_cons. destruct (Bool.eqb k l) eqn:Q; simpl andb; cbv iota; [|ring]. rewrite (Nat.eqb_sym j i).
        inversion It; subst. destruct (Nat.eqb_spec i j) as [<-|N]; [rewrite S_INR|]; destruct k; ring.
      + destruct (Bool.eqb k l); ring.
  Qed.
  Lemma over_left t X Y e f ts : Items t X Y e f -> once (map source t) ts = true ->
    S.dot (over false (map source t) ts) X + S.dot (over true (map source t) ts) Y = left (fun k i => pick k x y i) ts.
  Proof.
    intros I. induction ts as [|[[c l] i] ts IH]; intro H.
    - assert (Z : forall t W, S.dot (over false t []) W = 0 /\ S.dot (over true t []) W = 0).
      { induction t0 as [|o t0 IH]; intros [|a W]; simpl; auto. destruct (IH W) as [-> ->]. destruct o; rewrite val_zero; lra. }
      destruct (Z (map source t) X) as [-> _]. destruct (Z (map source t) Y) as [_ ->]. simpl. ring.
    - unfold once in H. simpl in H. apply andb_true_iff in H. destruct H as [H1 H2]. apply Nat.eqb_eq in H1. specialize (IH H2).
      pose proof (dot_over t X Y e f I ts c l i false) as D1. pose proof (dot_over t X Y e f I ts c l i true) as D2.
      cbv iota in D1, D2. refine (eq_trans (f_equal2 Rplus D1 D2) _). cbn [left]. rewrite <- IH, H1. unfold pick. destruct l; simpl; ring.
  Qed.
  Lemma extra_holds t X Y e f p : Items t X Y e f -> Forall (holds (fun k i => pick k x y i)) p ->
    Forall (S.row_holds X Y) (flat_map (extra_row (map source t)) p).
  Proof.
    intros I. induction 1 as [|r p H _ IH]; simpl; [constructor|]. apply Forall_app. split; [|exact IH].
    unfold extra_row. destruct (andb _ _) eqn:Q; constructor; [|constructor]. apply andb_true_iff in Q. destruct Q as [_ Q].
    unfold S.row_holds. cbn [D.r1 D.r2 D.rhs D.eqr]. rewrite (over_left t X Y e f _ I Q), left_clean. exact H.
  Qed.
End Inputs.
