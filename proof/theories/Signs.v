(** The signs rule for two copies (section 4.5): a row Σ_c α_c·F(x_c) <= 0, α_1 + α_2 = 0, of which the affine part and every
    unit by itself do not rise from copy 2 to copy 1. What of an extra row is subtracted from a form is advice. *)
From Coq Require Import Reals List Bool Arith Lra Lia.
From Smile Require Import Num Leaf Reduction LeafSound Slope SlopeSound.
Import ListNotations.

Module SignsChecker (O : OPS) (C : CHECKER O) (L : SLOPE O C).
  Import O C L.
  (* l1·x + l2·y <= 0, coordinate by coordinate *)
  Fixpoint falls (sl : list slot) (l1 l2 : vec) : bool :=
    match sl with
    | [] => true
    | SPlain c :: s =>
        let a := hd0 l1 in
        andb (andb (isz (add a (hd0 l2))) (andb (leb (mul a (dlo c)) zero) (leb (mul a (dhi c)) zero))) (falls s (tl l1) (tl l2))
    | SGroup n _ _ pairs :: s =>
        andb (forallb (fun pr => leb (add (nth0 (fst pr) l1) (nth0 (snd pr) l2)) zero) pairs) (falls s (skipn n l1) (skipn n l2))
    end.
  Definition form (sl : list slot) (rows : list row) (nu l1 l2 : vec) : bool :=
    match extras rows nu zero l1 l2 with Some (b, (q, r)) => andb (leb b zero) (falls sl q r) | None => false end.
  Definition minus_vec (w : vec) : vec := axpy (negT one) w [].
  (* k·(relu(s(x)) - relu(s(y))) <= 0 *)
  Definition unit_falls (sl : list slot) (rows : list row) (nu w : vec) (k : T) : bool :=
    if isz k then true else if leb zero k then form sl rows nu w (minus_vec w) else form sl rows nu (minus_vec w) w.
  Fixpoint units_fall (sl : list slot) (rows : list row) (us : list unit) (k : vec) (nus : list vec) : bool :=
    match us with
    | [] => true
    | (w, _) :: us' => andb (unit_falls sl rows (hd [] nus) w (hd0 k)) (units_fall sl rows us' (tl k) (tl nus))
    end.
  Definition signs (n : net) (sl : list slot) (rows : list row) (g : goal) (nus : list vec) : bool :=
    let f := psi_of n g in
    andb (andb (isz (const f)) (andb (opposite (q1 f) (q2 f)) (opposite (k1 f) (k2 f))))
      (andb (form sl rows (hd [] nus) (q1 f) (q2 f)) (units_fall sl rows (map (raw n) (units n)) (k1 f) (tl nus))).
End SignsChecker.
Module Type SIGNS (O : OPS) (C : CHECKER O) (L : SLOPE O C).
  Include SignsChecker O C L.
End SIGNS.
Module DSigns := SignsChecker DOps DChecker DSlope.

Open Scope R_scope.
Module SignsSound (O : OPS) (S : SPEC O) (C : CHECKER O) (L : SLOPE O C) (G : SIGNS O C L) (M : SOUND O S C) (Q : SLOPESOUND O S C L M).
  Import O S C L G M Q.
  Ltac num := repeat rewrite ?val_zero, ?val_one, ?val_add, ?val_sub, ?val_mul in *.
  Lemma falls_sound sl x y : incell sl x y -> forall l1 l2, falls sl l1 l2 = true -> dot l1 x + dot l2 y <= 0.
  Proof.
    induction 1 as [|c s a b x y Ha Hb Hd Hw _ IH|n al1 al2 pairs p r s x y Hin Hp Hr Hpn Hrn _ IH]; intros l1 l2 F; simpl in F.
    - rewrite !dot_nil. lra.
    - rewrite !andb_true_iff in F. destruct F as [[F1 [F2 F3]] F4]. specialize (IH _ _ F4). apply isz_spec in F1.
      apply leb_spec in F2. apply leb_spec in F3. num. rewrite !dot_hd. replace (val (hd0 l2)) with (- val (hd0 l1)) by lra.
      destruct (Rle_lt_dec 0 (val (hd0 l1))); nra.
    - apply andb_true_iff in F. destruct F as [F1 F2]. specialize (IH _ _ F2). rewrite forallb_forall in F1. specialize (F1 _ Hin).
      apply leb_spec in F1. simpl in F1. num. rewrite !dot_onehot by assumption. lra.
  Qed.
  Lemma form_sound sl rows nu l1 l2 x y : incell sl x y -> Forall (row_holds x y) rows -> form sl rows nu l1 l2 = true ->
    dot l1 x + dot l2 y <= 0.
  Proof.
    intros I0 H F. unfold form in F. destruct (extras _ _ _ _ _) as [[b [q r]]|] eqn:E; [|discriminate].
    apply andb_true_iff in F. destruct F as [F1 F2]. apply leb_spec in F1.
    pose proof (extras_sound _ _ _ _ _ _ _ _ _ _ H E). pose proof (falls_sound _ _ _ I0 _ _ F2). num. lra.
  Qed.
  Lemma dot_minus w x : dot (minus_vec w) x = - dot w x.
  Proof. unfold minus_vec. rewrite dot_axpy, val_neg, val_one. simpl. ring. Qed.
  Lemma relu_mono s t : s <= t -> relu s <= relu t.
  Proof. intro. unfold relu. apply Rle_max_compat_r. assumption. Qed.
  Lemma unit_falls_sound sl rows nu w e k x y : incell sl x y -> Forall (row_holds x y) rows -> unit_falls sl rows nu w k = true ->
    val k * relu (sval (w, e) x) <= val k * relu (sval (w, e) y).
  Proof.
    intros I0 H F. unfold unit_falls in F. destruct (isz k) eqn:Z; [apply isz_spec in Z; rewrite Z; lra|].
    destruct (leb zero k) eqn:P; pose proof (form_sound _ _ _ _ _ _ _ I0 H F) as B; rewrite dot_minus in B.
    - apply leb_spec in P. num. apply Rmult_le_compat_l; [exact P|]. apply relu_mono. unfold sval. simpl. lra.
    - assert (N : val k < 0). { apply Rnot_le_lt. intro K. rewrite <- val_zero in K. apply leb_spec in K. congruence. }
      assert (R0 : relu (sval (w, e) y) <= relu (sval (w, e) x)) by (apply relu_mono; unfold sval; simpl; lra). nra.
  Qed.
  Lemma units_fall_sound sl rows x y : incell sl x y -> Forall (row_holds x y) rows -> forall us k nus, units_fall sl rows us k nus = true ->
    relus k us x <= relus k us y.
  Proof.
    intros I0 H. induction us as [|[w e] us IH]; intros k nus F; simpl in F; [destruct k; simpl; lra|].
    apply andb_true_iff in F. destruct F as [F1 F2]. rewrite !relus_hd.
    pose proof (unit_falls_sound _ _ _ _ e _ _ _ I0 H F1). specialize (IH _ _ F2). lra.
  Qed.
  Theorem signs_sound n sl rows g nus : signs n sl rows g nus = true -> ready n sl = true -> forall hx hy x y, incell sl x y -> Forall (row_holds x y) rows ->
    dot (a1 g) (networkv n hx x) + dot (a2 g) (networkv n hy y) + dot (b1 g) x + dot (b2 g) y <= 0.
  Proof.
    intros E D hx hy x y I0 H. pose proof (row_le_psi n sl g D hx hy x y I0) as B. unfold signs in E. set (f := psi_of n g) in *.
    rewrite !andb_true_iff in E. destruct E as [[E1 [E2 E3]] [E4 E5]]. apply isz_spec in E1.
    pose proof (form_sound _ _ _ _ _ _ _ I0 H E4). pose proof (units_fall_sound _ _ _ _ I0 H _ _ _ E5).
    unfold psival in B. rewrite E1, (opposite_relus y _ _ _ E3) in B. lra.
  Qed.
End SignsSound.
Module DSignsSound := SignsSound DOps DSpec DChecker DSlope DSigns DSound DSlopeSound.
