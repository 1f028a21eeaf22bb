(** Soundness of the checker: what [check = true] means for the real network. *)
From Coq Require Import Reals List Bool Arith Lra Lia.
From Smile Require Import Num Leaf.
Import ListNotations.
Open Scope R_scope.

Module Sound (O : OPS) (S : SPEC O) (C : CHECKER O).
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
      destruct (IH (tl ph) (tl k1) (tl k2) (tl t1) (tl t2) (add b (add v (mul (add (hd0 t1) (hd0 t2)) c)))
                  (axpy (hd0 t1) w q1) (axpy (hd0 t2) w q2) P3) as [b' [q1' [q2' [F U]]]].
      exists b', q1', q2'. split; [exact F|].
      rewrite !relus_hd. fold s1. fold s2. rewrite !dot_axpy in U. num. rewrite D1, D2 in V. fold s1 in V.
      rewrite D1, D2. nra.
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

  (** ** Leaves and trees *)
  Definition psival (us : list unit) (f : psi) (x y : list R) : R :=
    val (const f) + dot (q1 f) x + dot (q2 f) y + relus (k1 f) us x + relus (k2 f) us y.
  Definition good (r : res) (s : R) : Prop :=
    match r with Rejected => True | Closed => False | Bound b => s <= val b end.

  (** ** Lemmas *)
  Definition knows (us : list unit) (x y : list R) (k : known) : Prop :=
    match nth_error us (kj k) with
    | None => False
    | Some u => val (kb1 k) * relu (sval u x) + val (kb2 k) * relu (sval u y)
                <= dot (kg1 k) x + dot (kg2 k) y + val (kr k)
    end.
  (* the flag of a copy may depend on its s alone, not on what is given: one flag serves all given slopes *)
  Lemma theta_flag b s : exists o, In o (flags b) /\ forall given, val b * relu s <= val (theta b given o) * s.
  Proof.
    unfold flags, theta, relu. destruct (leb b zero) eqn:E; cmp; num.
    - exists false. split; [simpl; tauto|]. intro given. rewrite val_max, val_min. num.
      assert (val b <= Rmax (val b) (Rmin (val given) 0) <= 0).
      { split; [apply Rmax_l | apply Rmax_lub; [exact E | apply Rmin_r]]. }
      unfold Rmax at 1. destruct (Rle_dec s 0); nra.
    - destruct (Rle_lt_dec s 0).
      + exists false. split; [simpl; tauto|]. intros _. rewrite Rmax_right by lra. num. lra.
      + exists true. split; [simpl; tauto|]. intros _. rewrite Rmax_left by lra. lra.
  Qed.
  Lemma prove_sound sl us l k x y : incell sl x y -> prove sl us l = Some k -> knows us x y k.
  Proof.
    intros I E. unfold prove in E. destruct (nth_error us (lj l)) as [[w c]|] eqn:N; [|discriminate].
    destruct (maxl _) as [r|] eqn:M; [|discriminate]. injection E as <-. unfold knows. simpl. rewrite N.
    set (s := sval (w, c) x). set (t := sval (w, c) y).
    destruct (theta_flag (lb1 l) s) as [o1 [I1 T1]]. destruct (theta_flag (lb2 l) t) as [o2 [I2 T2]].
    specialize (T1 (fst (given l o1 o2))). specialize (T2 (snd (given l o1 o2))).
    assert (P : exists v, prove1 sl w c l o1 o2 = Some v /\
      val (theta (lb1 l) (fst (given l o1 o2)) o1) * s + val (theta (lb2 l) (snd (given l o1 o2)) o2) * t
      <= dot (lg1 l) x + dot (lg2 l) y + val v).
    { unfold prove1. set (p := theta (lb1 l) _ o1). set (q := theta (lb2 l) _ o2).
      destruct (affmax_sound _ _ _ I (axpy p w (axpy (negT one) (lg1 l) [])) (axpy q w (axpy (negT one) (lg2 l) [])))
        as [v [F V]].
      rewrite F. eexists. split; [reflexivity|]. rewrite !dot_axpy, !val_neg in V. simpl in V. num.
      unfold s, t, sval. simpl. nra. }
    destruct P as [v [P V]].
    assert (L : In v (opts (flat_map (fun o1 => map (prove1 sl w c l o1) (flags (lb2 l))) (flags (lb1 l))))).
    { unfold opts. apply in_flat_map. exists (Some v). split; [|simpl; tauto].
      apply in_flat_map. exists o1. split; [exact I1|]. apply in_map_iff. exists o2. split; [exact P | exact I2]. }
    destruct (maxl_in _ _ L) as [r' [M' R']]. rewrite M in M'. injection M' as <-. lra.
  Qed.
  Lemma proves_sound sl us x y : incell sl x y -> forall ls ks, proves sl us ls = Some ks -> Forall (knows us x y) ks.
  Proof.
    intro I. induction ls as [|l ls IH]; intros ks E; simpl in E.
    - injection E as <-. constructor.
    - destruct (prove sl us l) as [k|] eqn:P; [|discriminate]. destruct (proves sl us ls) as [ks'|]; [|discriminate].
      injection E as <-. constructor; [apply (prove_sound sl us l); assumption | apply IH; reflexivity].
  Qed.
  Lemma relus_nil us x : relus [] us x = 0.
  Proof. destruct us; reflexivity. Qed.
  Lemma relus_addat v x : forall us j u k, nth_error us j = Some u ->
    relus (addat j v k) us x = relus k us x + val v * relu (sval u x).
  Proof.
    induction us as [|a us IH]; intros j u k N; [destruct j; discriminate|].
    destruct j as [|j]; simpl in N.
    - injection N as ->. simpl addat. rewrite !relus_hd. simpl. num. ring.
    - simpl addat. rewrite !relus_hd. simpl hd0. simpl tl. rewrite (IH j u (tl k) N). ring.
  Qed.
  Lemma added_sound us x y : forall ks ys f f', Forall (knows us x y) ks -> added ks ys f = Some f' ->
    psival us f x y <= psival us f' x y.
  Proof.
    induction ks as [|k ks IH]; intros ys f f' K E; simpl in E; [injection E as <-; lra|].
    apply Forall_cons_iff in K. destruct K as [K1 K2].
    destruct (isz (hd0 ys)); [apply (IH _ _ _ K2 E)|].
    destruct (leb zero (hd0 ys)) eqn:Y; [|discriminate]. cmp. num.
    specialize (IH _ _ _ K2 E). eapply Rle_trans; [|exact IH].
    unfold knows in K1. destruct (nth_error us (kj k)) as [u|] eqn:N; [|contradiction].
    unfold psival. simpl. rewrite !dot_axpy, !(relus_addat _ _ _ _ u _ N), !val_neg. num. nra.
  Qed.

  Lemma leaf_sound us rows ks f0 c t1 t2 nu ys x y :
    incell (slots c) x y -> phases_ok (phs c) us x y -> Forall (row_holds x y) rows -> Forall (knows us x y) ks ->
    good (leaf us rows ks f0 c t1 t2 nu ys) (psival us f0 x y).
  Proof.
    intros I P H K. unfold leaf. destruct (added ks ys f0) as [f|] eqn:A; [|exact Logic.I].
    pose proof (added_sound us x y _ _ _ _ K A) as L. destruct (extras _ _ _ _ _) as [[b [q r]]|] eqn:E; [|exact Logic.I].
    pose proof (extras_sound _ _ _ _ _ _ _ _ _ _ H E) as B.
    destruct (hidden_sound _ _ _ I us (phs c) (k1 f) (k2 f) t1 t2 b q r P) as [b' [q' [r' [F V]]]].
    rewrite F. destruct (affmax_sound _ _ _ I q' r') as [v [G W]]. rewrite G. simpl. unfold psival in *. num. lra.
  Qed.

  Lemma join_l a b s : good a s -> good (join a b) s.
  Proof.
    destruct a, b; simpl; try tauto. intro H. rewrite val_max. apply Rle_trans with (val b0); [exact H | apply Rmax_l].
  Qed.
  Lemma join_r a b s : good b s -> good (join a b) s.
  Proof.
    destruct a, b; simpl; try tauto. intro H. rewrite val_max. apply Rle_trans with (val b); [exact H | apply Rmax_r].
  Qed.

  Lemma setph_cover side x y : forall us ph j, phases_ok ph us x y ->
    phases_ok (setph side false j ph) us x y \/ phases_ok (setph side true j ph) us x y.
  Proof.
    induction us as [|u us IH]; intros ph j P; [left; exact Logic.I|].
    destruct P as [P1 [P2 P3]].
    destruct ph as [|[p r] ph]; [left; destruct j; simpl in *; auto|].
    simpl in P1, P2, P3.
    destruct j as [|j].
    - simpl. unfold okp in *. destruct side.
      + destruct (Rle_lt_dec (sval u y) 0); [left | right]; simpl; repeat split; intros; try tauto; try lra.
      + destruct (Rle_lt_dec (sval u x) 0); [left | right]; simpl; repeat split; intros; try tauto; try lra.
    - simpl. destruct (IH ph j P3); [left | right]; auto.
  Qed.

  (* a condition on slots that every cell's point satisfies in one of two cuts of a slot *)
  Lemma update_cover (f g : slot -> slot) :
    (forall s sl x y, incell (s :: sl) x y -> incell (f s :: sl) x y \/ incell (g s :: sl) x y) ->
    forall sl i x y, incell sl x y -> incell (update f i sl) x y \/ incell (update g i sl) x y.
  Proof.
    intros H sl. induction sl as [|s sl IH]; intros i x y I.
    - left. destruct i; exact I.
    - destruct i as [|i]; simpl; [apply H; exact I|].
      inversion I; subst.
      + match goal with K : incell sl _ _ |- _ => destruct (IH i _ _ K) end; [left | right]; constructor; auto.
      + match goal with K : incell sl _ _ |- _ => destruct (IH i _ _ K) end; [left | right]; econstructor; eauto.
  Qed.

  (* a number, whole or not, is at most t or at least t' *)
  Lemma threshold (whole : bool) th a : (whole = true -> exists z, a = IZR z) ->
    a <= val (if whole then floor th else th) \/ val (if whole then add (floor th) one else th) <= a.
  Proof.
    intro H. destruct whole.
    - destruct (H eq_refl) as [z ->]. destruct (floor_spec th) as [f [F _]]. num. rewrite F.
      destruct (Z.le_gt_cases z f) as [L|L]; [left; apply IZR_le; exact L | right].
      rewrite <- plus_IZR. apply IZR_le. lia.
    - destruct (Rle_lt_dec a (val th)); [left | right]; lra.
  Qed.
  Lemma input_cover w th s sl x y : incell (s :: sl) x y ->
    incell (below w th s :: sl) x y \/ incell (above w th s :: sl) x y.
  Proof.
    intro I. inversion I as [|c s' a b x' y' Ha Hb Hd Hw I'|]; subst; [|left; exact I]. simpl.
    assert (W1 : whole c = true -> exists z, a = IZR z) by tauto.
    assert (W2 : whole c = true -> exists z, b = IZR z) by tauto.
    destruct w.
    - destruct (threshold (whole c) th a W1); [left | right]; constructor; simpl; auto;
        rewrite ?val_min, ?val_max; split; try lra; [apply Rmin_glb | apply Rmax_lub]; lra.
    - destruct (threshold (whole c) th b W2); [left | right]; constructor; simpl; auto;
        rewrite ?val_min, ?val_max; split; try lra; [apply Rmin_glb | apply Rmax_lub]; lra.
    - destruct (pinned c) eqn:P; [|left; exact I].
      unfold pinned in P. apply andb_true_iff in P. destruct P as [P1 P2]. cmp. num.
      assert (a = b) by lra. subst b.
      destruct (threshold (whole c) th a W1); [left | right]; constructor; simpl; auto;
        rewrite ?val_min, ?val_max; split; try lra; solve [apply Rmin_glb; lra | apply Rmax_lub; lra].
  Qed.
  Lemma category_cover w p s sl x y : incell (s :: sl) x y ->
    incell (keep w (Nat.eqb p) s :: sl) x y \/ incell (keep w (fun r => negb (Nat.eqb p r)) s :: sl) x y.
  Proof.
    intro I. inversion I as [| |n al1 al2 pairs q r s' x' y' Hin Hq Hr Hqn Hrn I']; subst; [left; exact I|]. simpl.
    assert (K : forall (ok : nat -> bool) v, ok v = true \/ negb (ok v) = true) by (intros; destruct (ok v); auto).
    destruct w.
    - destruct (K (Nat.eqb p) q); [left | right]; apply in_group; auto; apply filter_In; auto.
    - destruct (K (Nat.eqb p) r); [left | right]; apply in_group; auto; apply filter_In; auto.
    - destruct (forallb _ pairs) eqn:F; [|left; exact I].
      rewrite forallb_forall in F. specialize (F _ Hin). simpl in F. apply Nat.eqb_eq in F. subst r.
      destruct (K (Nat.eqb p) q); [left | right]; apply in_group; auto; apply filter_In; auto.
  Qed.

  Theorem tree_sound us rows ks f x y : Forall (row_holds x y) rows -> Forall (knows us x y) ks ->
    forall t c, incell (slots c) x y -> phases_ok (phs c) us x y -> good (bound us rows ks f c t) (psival us f x y).
  Proof.
    intros H K. induction t as [t1 t2 nu ys|side j b IHb a IHa|w i th b IHb a IHa|w i p b IHb a IHa]; intros c I P; simpl.
    - apply leaf_sound; assumption.
    - destruct (setph_cover side x y us (phs c) j P); [apply join_l, IHb | apply join_r, IHa]; assumption.
    - destruct (update_cover _ _ (input_cover w th) (slots c) i x y I); [apply join_l, IHb | apply join_r, IHa]; assumption.
    - destruct (update_cover _ _ (category_cover w p) (slots c) i x y I); [apply join_l, IHb | apply join_r, IHa]; assumption.
  Qed.

  (** ** The reduction *)
  Lemma scaled_dot : forall w m s x, length m = length x -> length s = length x ->
    dot w (scaled m s x) = dot (times w m) x - val (dotT (times w m) s).
  Proof.
    induction w as [|a w IH]; intros m s x Hm Hs; [simpl; num; ring|].
    destruct m as [|b m]; destruct x as [|c x]; destruct s as [|d s]; simpl in *; try discriminate; num; [ring|].
    rewrite IH by congruence. ring.
  Qed.
  Lemma raw_sval n x u : length (mult n) = length x -> length (shift n) = length x ->
    sval (raw n u) x = sval u (scaled (mult n) (shift n) x).
  Proof. intros. unfold sval, raw. simpl. rewrite scaled_dot by assumption. num. ring. Qed.
  Lemma raw_relus n x : length (mult n) = length x -> length (shift n) = length x ->
    forall us k, relus k (map (raw n) us) x = relus k us (scaled (mult n) (shift n) x).
  Proof.
    intros Hm Hs. induction us as [|u us IH]; intro k; destruct k; simpl; try reflexivity.
    rewrite raw_sval, IH by assumption. reflexivity.
  Qed.
  Lemma fold_pval n x p : length (mult n) = length x -> length (shift n) = length x ->
    pval n x p = val (pc (fold n p)) + dot (ps (fold n p)) x + relus (po (fold n p)) (map (raw n) (units n)) x.
  Proof.
    intros. unfold pval, fold. simpl. rewrite scaled_dot, raw_relus by assumption. num. ring.
  Qed.

  Lemma through_sound z : forall h a v c, through a h = (v, c) ->
    dot a (map (fun u => sval u z) h) = dot v z + val c.
  Proof.
    induction h as [|[g g0] h IH]; intros a v c E; simpl in E.
    - injection E as <- <-. simpl. rewrite dot_nil. num. ring.
    - destruct (through (tl a) h) as [v' c'] eqn:F. injection E as <- <-.
      simpl map. rewrite dot_hd, (IH _ _ _ F), dot_axpy. unfold sval. simpl. num. ring.
  Qed.

  Lemma select_bounds z l u : l <= u -> l <= select z l u <= u.
  Proof.
    intro H. unfold select, Rmax, Rmin. destruct (Rle_dec u z); destruct (Rle_dec l _); lra.
  Qed.
  Lemma box_max v l g z : 0 <= g -> l <= z <= l + g -> v * z <= v * l + Rmax v 0 * g.
  Proof. intros. unfold Rmax. destruct (Rle_dec v 0); nra. Qed.

  Lemma reduce_sound n x : length (mult n) = length x -> length (shift n) = length x ->
    forall l s v c q k c' q' k' h, Forall (fun p => 0 <= pval n x p) s ->
    reduce v (map (fold n) l) (map (fold n) s) (c, (q, k)) = (c', (q', k')) ->
    let us := map (raw n) (units n) in
    dot v (embed n l s x h) + (val c + dot q x + relus k us x) <= val c' + dot q' x + relus k' us x.
  Proof.
    intros Hm Hs. induction l as [|pl l IH]; intros s v c q k c' q' k' h G E; simpl in E.
    - injection E as <- <- <-. simpl. rewrite dot_nil. lra.
    - destruct s as [|pg s]; simpl in E.
      + injection E as <- <- <-. simpl. rewrite dot_nil. lra.
      + destruct (reduce (tl v) (map (fold n) l) (map (fold n) s) (c, (q, k))) as [c0 [q0 k0]] eqn:F.
        apply Forall_cons_iff in G. destruct G as [G1 G2].
        specialize (IH s (tl v) c q k c0 q0 k0 (tl h) G2 F).
        injection E as <- <- <-. simpl in IH |- *. rewrite dot_hd, !dot_axpy, !relus_axpy. num. rewrite val_pos.
        pose proof (select_bounds (hd 0 h) (pval n x pl) (pval n x pl + pval n x pg)) as S. specialize (S ltac:(lra)).
        pose proof (box_max (val (hd0 v)) _ _ _ G1 S) as B.
        set (z := select _ _ _) in B |- *. clearbody z.
        rewrite (fold_pval n x pl Hm Hs), (fold_pval n x pg Hm Hs) in B. simpl in B. num. nra.
  Qed.

  Lemma reduced_sound n x a b c q k h : length (mult n) = length x -> length (shift n) = length x ->
    Forall (fun p => 0 <= pval n x p) (second n) -> reduced n a b = (c, (q, k)) ->
    dot a (networkv n h x) + dot b x <= val c + dot q x + relus k (map (raw n) (units n)) x.
  Proof.
    intros Hm Hs G E. unfold reduced in E. destruct (through a (head n)) as [v d] eqn:T.
    pose proof (reduce_sound n x Hm Hs (lower n) (second n) v d b [] c q k h G E) as R.
    unfold networkv. rewrite (through_sound _ _ _ _ _ T). simpl in R. lra.
  Qed.

  Lemma onehot_length : forall n p, length (onehot n p) = n.
  Proof. induction n; intro p; [reflexivity|]. destruct p; simpl; [rewrite repeat_length | rewrite IHn]; reflexivity. Qed.
  Lemma incell_length sl x y : incell sl x y -> length x = dims sl /\ length y = dims sl.
  Proof.
    assert (L : forall n p, length (onehot n p) = n).
    { induction n; intro p; [reflexivity|]. destruct p; simpl; [rewrite repeat_length | rewrite IHn]; reflexivity. }
    induction 1; simpl; rewrite ?app_length, ?L; intuition lia.
  Qed.

  Lemma relus_nonneg us x : forall k, forallb (leb zero) k = true -> 0 <= relus k us x.
  Proof.
    induction us as [|u us IH]; intros k H; destruct k as [|a k]; simpl; try lra.
    simpl in H. apply andb_true_iff in H. destruct H as [H1 H2]. cmp. num. specialize (IH k H2).
    assert (0 <= relu (sval u x)) by apply Rmax_r. nra.
  Qed.
  Lemma nonneg_sound n sl side p x y : incell sl x y -> length (mult n) = dims sl -> length (shift n) = dims sl ->
    nonneg n sl side p = true -> 0 <= pval n (pick side x y) p.
  Proof.
    intros I Hm Hs H. destruct (incell_length _ _ _ I) as [Lx Ly].
    unfold nonneg in H. apply andb_true_iff in H. destruct H as [H1 H2].
    destruct (span_sound side _ _ _ I (ps (fold n p))) as [l [h [E B]]]. rewrite E in H2. cmp. num.
    rewrite fold_pval by (destruct side; simpl; congruence).
    pose proof (relus_nonneg (map (raw n) (units n)) (pick side x y) (po p) H1). simpl po. lra.
  Qed.

  (* errors are sizes: the margin needs them only where there are outputs *)
  Lemma near_sound : forall f y a e, near e f y -> Forall (fun t => 0 <= val t) e -> dot a y <= dot a f + val (margin a e).
  Proof.
    assert (P : forall a e, Forall (fun t => 0 <= val t) e -> 0 <= val (margin a e)).
    { induction a as [|b a IH]; intros e H; destruct e as [|d e]; simpl; num; try lra.
      apply Forall_cons_iff in H. destruct H as [H1 H2]. specialize (IH e H2). rewrite val_abs.
      pose proof (Rabs_pos (val b)). nra. }
    induction f as [|b f IH]; intros y a e H K; destruct y as [|d y]; simpl in H; try contradiction.
    - rewrite dot_nil. specialize (P a e K). lra.
    - destruct H as [H1 H2]. rewrite !dot_hd.
      assert (K' : Forall (fun t => 0 <= val t) (tl e)) by (destruct e; [constructor | apply Forall_cons_iff in K; tauto]).
      specialize (IH y (tl a) (tl e) H2 K').
      assert (M : val (margin a e) = Rabs (val (hd0 a)) * val (hd0 e) + val (margin (tl a) (tl e))).
      { destruct a as [|u a]; destruct e as [|v e]; simpl; num; rewrite ?Rabs_R0; try ring.
        - destruct a; simpl; num; ring.
        - rewrite val_abs. ring. }
      rewrite M.
      assert (val (hd0 a) * (d - b) <= Rabs (val (hd0 a)) * val (hd0 e)); [|nra].
      apply Rle_trans with (Rabs (val (hd0 a) * (d - b))); [apply Rle_abs|]. rewrite Rabs_mult.
      apply Rmult_le_compat_l; [apply Rabs_pos | exact H1].
  Qed.

  Lemma root_phases n x y : forall us : list unit, phases_ok (map (fun _ => ((false, false), (false, false))) us) (map (raw n) us) x y.
  Proof. induction us; simpl; [exact Logic.I|]. unfold okp. simpl. repeat split; try discriminate. exact IHus. Qed.

  (** the reduction: the row's left side is at most psi, whatever the backbone says at x and at y *)
  Definition ready (n : net) (sl : list slot) : bool :=
    andb (fits n sl) (andb (forallb (nonneg n sl false) (second n)) (forallb (nonneg n sl true) (second n))).
  Theorem row_le_psi n sl g : ready n sl = true ->
    forall hx hy x y, incell sl x y ->
    dot (a1 g) (networkv n hx x) + dot (a2 g) (networkv n hy y) + dot (b1 g) x + dot (b2 g) y
    <= psival (map (raw n) (units n)) (psi_of n g) x y.
  Proof.
    intros E hx hy x y I. unfold ready in E. rewrite !andb_true_iff in E. destruct E as [F [G1 G2]].
    unfold fits in F. rewrite !andb_true_iff, !Nat.eqb_eq in F. destruct F as [Fm [Fs _]].
    destruct (incell_length _ _ _ I) as [Lx Ly].
    rewrite forallb_forall in G1, G2.
    assert (N1 : Forall (fun p => 0 <= pval n x p) (second n)).
    { apply Forall_forall. intros p Hp. apply (nonneg_sound n sl false p x y); auto. }
    assert (N2 : Forall (fun p => 0 <= pval n y p) (second n)).
    { apply Forall_forall. intros p Hp. apply (nonneg_sound n sl true p x y); auto. }
    unfold psival, psi_of.
    destruct (reduced n (a1 g) (b1 g)) as [c [q k]] eqn:R1. destruct (reduced n (a2 g) (b2 g)) as [d [r l]] eqn:R2.
    pose proof (reduced_sound n x _ _ _ _ _ hx ltac:(congruence) ltac:(congruence) N1 R1).
    pose proof (reduced_sound n y _ _ _ _ _ hy ltac:(congruence) ltac:(congruence) N2 R2).
    simpl. num. lra.
  Qed.
  Theorem run_sound n sl rows g ls t b : run n sl rows g ls t = Bound b ->
    forall hx hy x y, incell sl x y -> Forall (row_holds x y) rows ->
    dot (a1 g) (networkv n hx x) + dot (a2 g) (networkv n hy y) + dot (b1 g) x + dot (b2 g) y <= val b.
  Proof.
    intros E hx hy x y I H. unfold run in E.
    destruct (andb (fits n sl) _) eqn:F; [|discriminate].
    destruct (andb (forallb (nonneg n sl false) _) _) eqn:G; [|discriminate].
    apply andb_true_iff in F. destruct F as [F _].
    assert (D : ready n sl = true) by (unfold ready; rewrite F, G; reflexivity).
    destruct (proves sl _ ls) as [ks|] eqn:L; [|discriminate].
    pose proof (proves_sound _ _ _ _ I _ _ L) as K.
    pose proof (tree_sound (map (raw n) (units n)) rows ks (psi_of n g) x y H K t (root n sl) I (root_phases n x y (units n))) as B.
    rewrite E in B. simpl in B. pose proof (row_le_psi n sl g D hx hy x y I). lra.
  Qed.

  (** What users care about: whatever the backbone says at x and y, all inputs of the premise, and outputs as deployed,
      given their errors. *)
  Theorem check_sound_v n sl rows g ls t : check n sl rows g ls t = true ->
    forall hx hy x y, incell sl x y -> Forall (row_holds x y) rows ->
    forall y1 y2, near (margins g) (networkv n hx x) y1 -> near (margins g) (networkv n hy y) y2 ->
    Forall (fun e => 0 <= val e) (margins g) ->
    dot (a1 g) y1 + dot (a2 g) y2 + dot (b1 g) x + dot (b2 g) y <= val (limit g).
  Proof.
    intros E hx hy x y I H y1 y2 K1 K2 P. unfold check in E.
    destruct (run n sl rows g ls t) as [| |b] eqn:R; try discriminate. cmp. num.
    pose proof (run_sound n sl rows g ls t b R hx hy x y I H).
    pose proof (near_sound _ _ (a1 g) _ K1 P). pose proof (near_sound _ _ (a2 g) _ K2 P). lra.
  Qed.
  Theorem check_sound n sl rows g ls t : check n sl rows g ls t = true ->
    forall (h : list R -> list R) x y, incell sl x y -> Forall (row_holds x y) rows ->
    forall y1 y2, near (margins g) (network n h x) y1 -> near (margins g) (network n h y) y2 ->
    Forall (fun e => 0 <= val e) (margins g) ->
    dot (a1 g) y1 + dot (a2 g) y2 + dot (b1 g) x + dot (b2 g) y <= val (limit g).
  Proof. intros E h x y I H y1 y2 K1 K2 P. apply (check_sound_v n sl rows g ls t E (h x) (h y)); assumption. Qed.

  (** One copy: the same checker on the diagonal. *)
  Corollary check_one n sl rows g ls t : check n sl rows g ls t = true -> a2 g = [] -> b2 g = [] ->
    forall (h : list R -> list R) x, incell sl x x -> Forall (row_holds x x) rows ->
    forall y, near (margins g) (network n h x) y -> Forall (fun e => 0 <= val e) (margins g) ->
    dot (a1 g) y + dot (b1 g) x <= val (limit g).
  Proof.
    intros E A B h x I H y K P. pose proof (check_sound n sl rows g ls t E h x x I H y y K K P) as S.
    rewrite A, B in S. simpl in S. lra.
  Qed.
End Sound.

Module DSound := Sound DOps DSpec DChecker.
Module QSound := Sound QOps QSpec QChecker.
