(** Soundness of the leaf rule, first part: what cells and networks mean, ranges, polygons and hidden units. *)
From Coq Require Import Reals List Bool Arith Lra Lia.
From Smile Require Import Num Leaf Reduction.
Import ListNotations.
Open Scope R_scope.

Module Base (O : OPS) (S : SPEC O) (C : CHECKER O).
  Import O S C.

  (** ** Semantics *)
  Fixpoint dot (w : vec) (x : list R) : R :=
    match w, x with a :: w', b :: x' => val a * b + dot w' x' | _, _ => 0 end.
  Definition relu (s : R) : R := Rmax s 0.
  Definition sval (u : unit) (x : list R) : R := dot (fst u) x + val (snd u).
  Fixpoint relus (k : vec) (us : list unit) (x : list R) : R :=
    match k, us with a :: k', u :: us' => val a * relu (sval u x) + relus k' us' x | _, _ => 0 end.
  Fixpoint onehot (n p : nat) : list R :=
    match n, p with
    | O, _ => []
    | S n', O => 1 :: repeat 0 n'
    | S n', S p' => 0 :: onehot n' p'
    end.

  (** the pairs of inputs of a cell; the root cell is the domain with the premise's bounds, strips and categories *)
  Inductive incell : list slot -> list R -> list R -> Prop :=
  | in_nil : incell [] [] []
  | in_plain c s a b x y :
      val (lo1 c) <= a <= val (hi1 c) -> val (lo2 c) <= b <= val (hi2 c) -> val (dlo c) <= a - b <= val (dhi c) ->
      (whole c = true -> (exists z, a = IZR z) /\ (exists z, b = IZR z)) ->
      incell s x y -> incell (SPlain c :: s) (a :: x) (b :: y)
  | in_group n al1 al2 pairs p r s x y :
      In (p, r) pairs -> In p al1 -> In r al2 -> (p < n)%nat -> (r < n)%nat ->
      incell s x y -> incell (SGroup n al1 al2 pairs :: s) (onehot n p ++ x) (onehot n r ++ y).

  Definition row_holds (x y : list R) (r : row) : Prop :=
    dot (r1 r) x + dot (r2 r) y <= val (rhs r) /\ (eqr r = true -> dot (r1 r) x + dot (r2 r) y = val (rhs r)).

  (** the network: f(x) = head(select(h, lower(x), lower(x) + second(x))), u = mult·(x - shift) *)
  Fixpoint scaled (m s : vec) (x : list R) : list R :=
    match m, s, x with a :: m', b :: s', c :: x' => val a * (c - val b) :: scaled m' s' x' | _, _, _ => [] end.
  Definition pval (n : net) (x : list R) (p : piece) : R :=
    let u := scaled (mult n) (shift n) x in val (pc p) + dot (ps p) u + relus (po p) (units n) u.
  Definition select (z l u : R) : R := Rmax l (Rmin u z).
  Fixpoint embed (n : net) (l s : list piece) (x h : list R) : list R :=
    match l, s with
    | pl :: l', pg :: s' =>
        select (hd 0 h) (pval n x pl) (pval n x pl + pval n x pg) :: embed n l' s' x (tl h)
    | _, _ => []
    end.
  (* h: whatever the backbone says at x, a list of any numbers *)
  Definition networkv (n : net) (hx x : list R) : list R :=
    map (fun u => sval u (embed n (lower n) (second n) x hx)) (head n).
  Definition network (n : net) (h : list R -> list R) (x : list R) : list R := networkv n (h x) x.
  (* outputs y that err by at most e from f *)
  Fixpoint near (e : vec) (f y : list R) : Prop :=
    match f, y with
    | [], [] => True
    | a :: f', b :: y' => Rabs (b - a) <= val (hd0 e) /\ near (tl e) f' y'
    | _, _ => False
    end.

  (** ** Numbers and vectors *)
  Ltac num := repeat rewrite ?val_zero, ?val_one, ?val_add, ?val_sub, ?val_mul in *.
  Lemma leb_t a b : leb a b = true -> val a <= val b.
  Proof. apply leb_spec. Qed.
  Lemma leb_f a b : leb a b = false -> val b < val a.
  Proof. intro H. apply Rnot_le_lt. intro K. apply leb_spec in K. congruence. Qed.
  Ltac cmp :=
    repeat match goal with
    | H : leb ?a ?b = true |- _ => apply leb_t in H
    | H : leb ?a ?b = false |- _ => apply leb_f in H
    end.
  Lemma val_max a b : val (maxT a b) = Rmax (val a) (val b).
  Proof. unfold maxT, Rmax. destruct (leb a b) eqn:E; cmp; destruct (Rle_dec (val a) (val b)); lra. Qed.
  Lemma val_min a b : val (minT a b) = Rmin (val a) (val b).
  Proof. unfold minT, Rmin. destruct (leb a b) eqn:E; cmp; destruct (Rle_dec (val a) (val b)); lra. Qed.
  Lemma val_neg a : val (negT a) = - val a.
  Proof. unfold negT. num. ring. Qed.
  Lemma val_pos a : val (posT a) = Rmax (val a) 0.
  Proof. unfold posT, Rmax. destruct (leb zero a) eqn:E; cmp; num; destruct (Rle_dec (val a) 0); lra. Qed.
  Lemma val_abs a : val (absT a) = Rabs (val a).
  Proof.
    unfold absT. destruct (leb zero a) eqn:E; cmp; num.
    - rewrite Rabs_right; lra.
    - rewrite val_neg, Rabs_left; lra.
  Qed.

  Lemma dot_hd w a x : dot w (a :: x) = val (hd0 w) * a + dot (tl w) x.
  Proof. destruct w; simpl; num; ring. Qed.
  Lemma dot_nil w : dot w [] = 0.
  Proof. destruct w; reflexivity. Qed.
  Lemma dot_axpy' t w : forall q x, dot (axpy' t w q) x = val t * dot w x + dot q x.
  Proof.
    induction w as [|a w IH]; intros q x; simpl; [ring|].
    destruct q as [|b q]; destruct x as [|c x]; simpl; try ring; rewrite IH; num; simpl; try ring.
  Qed.
  Lemma dot_axpy t w q x : dot (axpy t w q) x = val t * dot w x + dot q x.
  Proof. unfold axpy. destruct (isz t) eqn:E; [apply isz_spec in E; rewrite E; ring | apply dot_axpy']. Qed.
  Lemma relus_axpy' t w : forall k us x, relus (axpy' t w k) us x = val t * relus w us x + relus k us x.
  Proof.
    induction w as [|a w IH]; intros k us x; simpl; [ring|].
    destruct k as [|b k]; destruct us as [|c us]; simpl; try ring; rewrite IH; num; simpl; try ring.
  Qed.
  Lemma relus_axpy t w k us x : relus (axpy t w k) us x = val t * relus w us x + relus k us x.
  Proof. unfold axpy. destruct (isz t) eqn:E; [apply isz_spec in E; rewrite E; ring | apply relus_axpy']. Qed.
  Lemma relus_hd k u us x : relus k (u :: us) x = val (hd0 k) * relu (sval u x) + relus (tl k) us x.
  Proof. destruct k; simpl; num; ring. Qed.
  Lemma dot_zeros n : forall w x, dot w (repeat 0 n ++ x) = dot (skipn n w) x.
  Proof.
    induction n; intros w x; simpl; [reflexivity|]. destruct w as [|a w]; simpl; [reflexivity|].
    rewrite IHn. ring.
  Qed.
  Lemma dot_onehot n : forall p w x, (p < n)%nat -> dot w (onehot n p ++ x) = val (nth0 p w) + dot (skipn n w) x.
  Proof.
    induction n; intros p w x H; [lia|]. destruct p as [|p]; simpl.
    - destruct w as [|a w]; simpl; num; [ring|]. rewrite dot_zeros. ring.
    - destruct w as [|a w]; simpl; num; [ring|]. rewrite IHn by lia. ring.
  Qed.

  Lemma maxl_in l : forall c, In c l -> exists v, maxl l = Some v /\ val c <= val v.
  Proof.
    induction l as [|a l IH]; intros c H; [destruct H|]. simpl. destruct H as [->|H].
    - destruct (maxl l) as [b|]; eexists; split; try reflexivity; [rewrite val_max; apply Rmax_l | lra].
    - destruct (IH c H) as [v [E V]]. rewrite E. eexists. split; [reflexivity|]. rewrite val_max.
      apply Rle_trans with (val v); [exact V | apply Rmax_r].
  Qed.
  Lemma minl_in l : forall c, In c l -> exists v, minl l = Some v /\ val v <= val c.
  Proof.
    induction l as [|a l IH]; intros c H; [destruct H|]. simpl. destruct H as [->|H].
    - destruct (minl l) as [b|]; eexists; split; try reflexivity; [rewrite val_min; apply Rmin_l | lra].
    - destruct (IH c H) as [v [E V]]. rewrite E. eexists. split; [reflexivity|]. rewrite val_min.
      apply Rle_trans with (val v); [apply Rmin_r | exact V].
  Qed.

  (** ** Ranges *)
  Definition pick {A} (side : bool) (x y : A) : A := if side then y else x.

  Lemma span_sound side sl x y : incell sl x y ->
    forall w, exists l h, span side sl w = Some (l, h) /\ val l <= dot w (pick side x y) <= val h.
  Proof.
    induction 1 as [|c s a b x y Ha Hb Hd Hw _ IH|n al1 al2 pairs p r s x y Hin Hp Hr Hpn Hrn _ IH]; intro w.
    - exists zero, zero. split; [reflexivity|]. destruct side; simpl; rewrite dot_nil; num; lra.
    - destruct (IH (tl w)) as [l [h [E I]]]. simpl.
      set (z := pick side a b).
      assert (Hz : val (lo side c) <= z <= val (hi side c)) by (unfold z, lo, hi; destruct side; simpl; lra).
      assert (Hl : leb (lo side c) (hi side c) = true) by (apply leb_spec; lra).
      rewrite Hl, E.
      assert (D : dot w (pick side (a :: x) (b :: y)) = val (hd0 w) * z + dot (tl w) (pick side x y))
        by (destruct side; simpl; rewrite dot_hd; reflexivity).
      rewrite D. destruct (isz (hd0 w)) eqn:Ez.
      + apply isz_spec in Ez. rewrite Ez. exists l, h. split; [reflexivity | lra].
      + destruct (leb zero (hd0 w)) eqn:Es; cmp; num; eexists; eexists; (split; [reflexivity|]); num; nra.
    - destruct (IH (skipn n w)) as [l [h [E I]]]. simpl. rewrite E.
      set (z := pick side p r).
      assert (Hz : In (nth0 z w) (map (fun p => nth0 p w) (if side then al2 else al1)))
        by (apply in_map with (f := fun p => nth0 p w); unfold z; destruct side; assumption).
      destruct (minl_in _ _ Hz) as [u [Eu Iu]]. destruct (maxl_in _ _ Hz) as [v [Ev Iv]].
      rewrite Eu, Ev. eexists; eexists; split; [reflexivity|].
      assert (D : dot w (pick side (onehot n p ++ x) (onehot n r ++ y)) = val (nth0 z w) + dot (skipn n w) (pick side x y))
        by (unfold z; destruct side; simpl; rewrite dot_onehot by assumption; reflexivity).
      rewrite D. num. lra.
  Qed.

  Lemma diff_sound sl x y : incell sl x y ->
    forall w, exists l h, diff sl w = Some (l, h) /\ val l <= dot w x - dot w y <= val h.
  Proof.
    induction 1 as [|c s a b x y Ha Hb Hd Hw _ IH|n al1 al2 pairs p r s x y Hin Hp Hr Hpn Hrn _ IH]; intro w.
    - exists zero, zero. split; [reflexivity|]. rewrite dot_nil; num; lra.
    - destruct (IH (tl w)) as [l [h [E I]]]. simpl. rewrite !dot_hd.
      set (d := maxT (dlo c) (sub (lo1 c) (hi2 c))). set (e := minT (dhi c) (sub (hi1 c) (lo2 c))).
      assert (Hl : val d <= a - b) by (unfold d; rewrite val_max; num; apply Rmax_lub; lra).
      assert (Hh : a - b <= val e) by (unfold e; rewrite val_min; num; apply Rmin_glb; lra).
      assert (Hle : leb d e = true) by (apply leb_spec; lra).
      rewrite Hle, E. destruct (isz (hd0 w)) eqn:Ez.
      + apply isz_spec in Ez. rewrite Ez. exists l, h. split; [reflexivity | lra].
      + destruct (leb zero (hd0 w)) eqn:Es; cmp; num; eexists; eexists; (split; [reflexivity|]); num; nra.
    - destruct (IH (skipn n w)) as [l [h [E I]]]. simpl. rewrite E.
      set (g := fun pr : nat * nat => sub (nth0 (fst pr) w) (nth0 (snd pr) w)).
      assert (Hz : In (g (p, r)) (map g pairs)) by (apply in_map; exact Hin).
      destruct (minl_in _ _ Hz) as [u [Eu Iu]]. destruct (maxl_in _ _ Hz) as [v [Ev Iv]].
      rewrite Eu, Ev. eexists; eexists; split; [reflexivity|].
      rewrite !dot_onehot by assumption. unfold g in Iu, Iv. simpl in Iu, Iv. num. lra.
  Qed.

  (** ** The eight candidates *)
  Lemma candx_sound q1 q2 l2 h2 dl du x y :
    val l2 <= y <= val h2 -> val dl <= val x - y <= val du ->
    exists c, In c (candx q1 q2 l2 h2 dl du x) /\ val q1 * val x + val q2 * y <= val c.
  Proof.
    intros H1 H2. unfold candx.
    set (a := maxT l2 (sub x du)). set (b := minT h2 (sub x dl)).
    assert (Ha : val a <= y) by (unfold a; rewrite val_max; num; apply Rmax_lub; lra).
    assert (Hb : y <= val b) by (unfold b; rewrite val_min; num; apply Rmin_glb; lra).
    assert (Hle : leb a b = true) by (apply leb_spec; lra). rewrite Hle.
    destruct (Rle_lt_dec (val q2) 0).
    - exists (add (mul q1 x) (mul q2 a)). split; [simpl; tauto | num; nra].
    - exists (add (mul q1 x) (mul q2 b)). split; [simpl; tauto | num; nra].
  Qed.
  Lemma candy_sound q1 q2 l1 h1 dl du x y :
    val l1 <= x <= val h1 -> val dl <= x - val y <= val du ->
    exists c, In c (candy q1 q2 l1 h1 dl du y) /\ val q1 * x + val q2 * val y <= val c.
  Proof.
    intros H1 H2. unfold candy.
    set (a := maxT l1 (add y dl)). set (b := minT h1 (add y du)).
    assert (Ha : val a <= x) by (unfold a; rewrite val_max; num; apply Rmax_lub; lra).
    assert (Hb : x <= val b) by (unfold b; rewrite val_min; num; apply Rmin_glb; lra).
    assert (Hle : leb a b = true) by (apply leb_spec; lra). rewrite Hle.
    destruct (Rle_lt_dec (val q1) 0).
    - exists (add (mul q1 a) (mul q2 y)). split; [simpl; tauto | num; nra].
    - exists (add (mul q1 b) (mul q2 y)). split; [simpl; tauto | num; nra].
  Qed.
  (* move along the diagonal until a side of the box is met; then along that side *)
  Lemma max2_sound q1 q2 l1 h1 l2 h2 dl du x y :
    val l1 <= x <= val h1 -> val l2 <= y <= val h2 -> val dl <= x - y <= val du ->
    exists v, max2 q1 q2 l1 h1 l2 h2 dl du = Some v /\ val q1 * x + val q2 * y <= val v.
  Proof.
    intros H1 H2 H3. unfold max2.
    assert (E1 : leb l1 h1 = true) by (apply leb_spec; lra).
    assert (E2 : leb l2 h2 = true) by (apply leb_spec; lra).
    rewrite E1, E2.
    set (cs := candx q1 q2 l2 h2 dl du l1 ++ _).
    assert (K : exists c, In c cs /\ val q1 * x + val q2 * y <= val c).
    { destruct (Rle_lt_dec (val q1 + val q2) 0) as [Q|Q].
      - destruct (Rle_lt_dec (x - val l1) (y - val l2)) as [D|D].
        + destruct (candx_sound q1 q2 l2 h2 dl du l1 (y - (x - val l1))) as [c [I V]]; [lra | lra |].
          exists c. split; [unfold cs; rewrite !in_app_iff; tauto | nra].
        + destruct (candy_sound q1 q2 l1 h1 dl du (x - (y - val l2)) l2) as [c [I V]]; [lra | lra |].
          exists c. split; [unfold cs; rewrite !in_app_iff; tauto | nra].
      - destruct (Rle_lt_dec (val h1 - x) (val h2 - y)) as [D|D].
        + destruct (candx_sound q1 q2 l2 h2 dl du h1 (y + (val h1 - x))) as [c [I V]]; [lra | lra |].
          exists c. split; [unfold cs; rewrite !in_app_iff; tauto | nra].
        + destruct (candy_sound q1 q2 l1 h1 dl du (x + (val h2 - y)) h2) as [c [I V]]; [lra | lra |].
          exists c. split; [unfold cs; rewrite !in_app_iff; tauto | nra]. }
    destruct K as [c [I V]]. destruct (maxl_in _ _ I) as [v [E W]]. exists v. split; [exact E | lra].
  Qed.

  Lemma affmax_sound sl x y : incell sl x y ->
    forall q1 q2, exists v, affmax sl q1 q2 = Some v /\ dot q1 x + dot q2 y <= val v.
  Proof.
    induction 1 as [|c s a b x y Ha Hb Hd Hw _ IH|n al1 al2 pairs p r s x y Hin Hp Hr Hpn Hrn _ IH]; intros q1 q2.
    - exists zero. split; [reflexivity|]. rewrite !dot_nil; num; lra.
    - simpl. rewrite !dot_hd.
      destruct (max2_sound (hd0 q1) (hd0 q2) (lo1 c) (hi1 c) (lo2 c) (hi2 c) (dlo c) (dhi c) a b Ha Hb Hd) as [v [E V]].
      destruct (IH (tl q1) (tl q2)) as [u [F U]]. rewrite E, F. eexists. split; [reflexivity|]. num. lra.
    - simpl. rewrite !dot_onehot by assumption.
      set (g := fun pr : nat * nat => add (nth0 (fst pr) q1) (nth0 (snd pr) q2)).
      assert (Hz : In (g (p, r)) (map g pairs)) by (apply in_map; exact Hin).
      destruct (maxl_in _ _ Hz) as [v [Ev Iv]]. destruct (IH (skipn n q1) (skipn n q2)) as [u [F U]].
      rewrite Ev, F. eexists. split; [reflexivity|]. unfold g in Iv. simpl in Iv. num. lra.
  Qed.

  (** ** Hidden units *)
  Lemma pieces_sound k t a b s : val a <= s <= val b ->
    exists c l h, In (c, (l, h)) (pieces k t a b) /\ val l <= s <= val h /\ val k * relu s - val t * s = val c * s.
  Proof.
    intro H. unfold pieces, relu, Rmax.
    destruct (leb b zero) eqn:E1; cmp; num.
    { exists (negT t), a, b. split; [simpl; tauto|]. split; [lra|]. rewrite val_neg.
      destruct (Rle_dec s 0); [ring | lra]. }
    destruct (leb zero a) eqn:E2; cmp; num.
    { exists (sub k t), a, b. split; [simpl; tauto|]. split; [lra|]. num.
      destruct (Rle_dec s 0); [replace s with 0 by lra; ring | ring]. }
    destruct (isz k) eqn:E3.
    { apply isz_spec in E3. exists (negT t), a, b. split; [simpl; tauto|]. split; [lra|]. rewrite val_neg, E3. ring. }
    destruct (Rle_dec s 0).
    - exists (negT t), a, zero. split; [simpl; tauto|]. num. split; [lra|]. rewrite val_neg. ring.
    - exists (sub k t), zero, b. split; [simpl; tauto|]. num. split; [lra|]. ring.
  Qed.
  Lemma relu2_sound k1 t1 a1 b1 k2 t2 a2 b2 dl du s1 s2 :
    val a1 <= s1 <= val b1 -> val a2 <= s2 <= val b2 -> val dl <= s1 - s2 <= val du ->
    exists v, relu2 k1 t1 a1 b1 k2 t2 a2 b2 dl du = Some v /\
      val k1 * relu s1 - val t1 * s1 + (val k2 * relu s2 - val t2 * s2) <= val v.
  Proof.
    intros H1 H2 H3. unfold relu2.
    destruct (pieces_sound k1 t1 a1 b1 s1 H1) as [c1 [l1 [h1 [I1 [R1 E1]]]]].
    destruct (pieces_sound k2 t2 a2 b2 s2 H2) as [c2 [l2 [h2 [I2 [R2 E2]]]]].
    destruct (max2_sound c1 c2 l1 h1 l2 h2 dl du s1 s2 R1 R2 H3) as [v [E V]].
    set (cs := opts _).
    assert (I : In v cs).
    { unfold cs, opts. apply in_flat_map. exists (Some v). split; [|simpl; tauto].
      apply in_flat_map. exists (c1, (l1, h1)). split; [exact I1|].
      apply in_map_iff. exists (c2, (l2, h2)). split; [exact E | exact I2]. }
    destruct (maxl_in _ _ I) as [u [F U]]. exists u. split; [exact F|]. rewrite E1, E2. lra.
  Qed.

  Definition okp (p : phase) (s : R) : Prop := (fst p = true -> s <= 0) /\ (snd p = true -> 0 <= s).
  Fixpoint phases_ok (ph : phases) (us : list unit) (x y : list R) : Prop :=
    match us with
    | [] => True
    | u :: us' => okp (fst (hdp ph)) (sval u x) /\ okp (snd (hdp ph)) (sval u y) /\ phases_ok (tl ph) us' x y
    end.
  Lemma cuta_sound p a s : okp p s -> val a <= s -> val (cuta p a) <= s.
  Proof. intros [_ H] K. unfold cuta. destruct (snd p); [rewrite val_max; num; apply Rmax_lub; auto | exact K]. Qed.
  Lemma cutb_sound p b s : okp p s -> s <= val b -> s <= val (cutb p b).
  Proof. intros [H _] K. unfold cutb. destruct (fst p); [rewrite val_min; num; apply Rmin_glb; auto | exact K]. Qed.

  Lemma hidden_sound sl x y : incell sl x y ->
    forall us ph k1 k2 t1 t2 b q1 q2, phases_ok ph us x y ->
    exists b' q1' q2', hidden sl us ph k1 k2 t1 t2 b q1 q2 = Some (b', (q1', q2')) /\
      val b + dot q1 x + dot q2 y + relus k1 us x + relus k2 us y <= val b' + dot q1' x + dot q2' y.
  Proof.
    intro I. induction us as [|[w c] us IH]; intros ph k1 k2 t1 t2 b q1 q2 P.
    - exists b, q1, q2. split; [reflexivity|]. destruct k1, k2; simpl; lra.
    - destruct P as [P1 [P2 P3]]. simpl.
      destruct (span_sound false _ _ _ I w) as [a1 [b1 [E1 R1]]].
      destruct (span_sound true _ _ _ I w) as [a2 [b2 [E2 R2]]].
      destruct (diff_sound _ _ _ I w) as [dl [du [E3 R3]]].
      rewrite E1, E2, E3. simpl in R1, R2.
      set (s1 := sval (w, c) x) in *. set (s2 := sval (w, c) y) in *.
      assert (D1 : s1 = dot w x + val c) by reflexivity.
      assert (D2 : s2 = dot w y + val c) by reflexivity.
      set (p := fst (hdp ph)) in *. set (r := snd (hdp ph)) in *.
      destruct (relu2_sound (hd0 k1) (hd0 t1) (cuta p (add a1 c)) (cutb p (add b1 c))
                  (hd0 k2) (hd0 t2) (cuta r (add a2 c)) (cutb r (add b2 c)) dl du s1 s2) as [v [E V]].
      { split; [apply cuta_sound | apply cutb_sound]; try assumption; num; lra. }
      { split; [apply cuta_sound | apply cutb_sound]; try assumption; num; lra. }
      { lra. }
      rewrite E.
      (* whatever the rule passes on to the next units, it must bound what is left *)
      match goal with |- context [hidden sl us ?h ?k ?l ?m ?n ?c0 ?q ?o] =>
        destruct (IH h k l m n c0 q o P3) as [b' [q1' [q2' [F U]]]] end.
      exists b', q1', q2'. split; [exact F|].
      rewrite !relus_hd. fold s1. fold s2. rewrite !dot_axpy, ?val_neg in U. num. rewrite D1, D2 in V. fold s1 in V.
      rewrite D1, D2. lra.
  Qed.

  Lemma extras_sound x y : forall rows nu b q1 q2 b' q1' q2', Forall (row_holds x y) rows ->
    extras rows nu b q1 q2 = Some (b', (q1', q2')) ->
    val b + dot q1 x + dot q2 y <= val b' + dot q1' x + dot q2' y.
  Proof.
    induction rows as [|r rows IH]; intros nu b q1 q2 b' q1' q2' H E; simpl in E.
    - injection E as -> -> ->. lra.
    - destruct (orb (eqr r) (leb zero (hd0 nu))) eqn:O; [|discriminate].
      apply Forall_cons_iff in H. destruct H as [[H1 H2] H3].
      specialize (IH _ _ _ _ _ _ _ H3 E). rewrite !dot_axpy, val_neg in IH. num.
      apply orb_true_iff in O. destruct O as [O|O].
      + specialize (H2 O). nra.
      + cmp. num. nra.
  Qed.
End Base.
