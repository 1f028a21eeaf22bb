(** From sums to the network (section 5.1, profile f64-aux): margins that the checker computes itself, and a proof that
    the deployed outputs lie within them. Gap boxes, output scale 1; the error of the scaler is given. No overflow. *)
From Coq Require Import Reals List Bool Arith Lra Lia ZArith Permutation.
From Flocq Require Import Core.
From Smile Require Import Num Leaf Reduction LeafSound.
From Smile Require Float.
Import ListNotations.

Module MarginChecker (O : OPS) (C : CHECKER O).
  Import O C.
  Fixpoint fit (n : nat) (w : vec) : vec := match n with 0 => [] | S n' => hd0 w :: fit n' (tl w) end.
  Definition ofnat (n : nat) : T := frac (Z.of_nat n) 1.
  Definition uT : T := dyad 1 53.
  Definition etaT : T := dyad 1 126.
  Definition gamT (n : nat) : T := frac (Z.of_nat (n + 5)) (Z.to_pos (2 ^ 53 - Z.of_nat (n + 5))).
  Fixpoint absdot (w y : vec) : T :=
    match w, y with a :: w', b :: y' => add (mul (absT a) b) (absdot w' y') | _, _ => zero end.
  Fixpoint total (w : vec) : T := match w with [] => zero | a :: w' => add a (total w') end.
  Fixpoint plus (a b : vec) : vec := match a, b with x :: a', y :: b' => add x y :: plus a' b' | _, _ => [] end.
  (* Σ|w|Y + |b| *)
  Definition sizeT (w : vec) (b : T) (Y : vec) : T := add (absdot w Y) (absT b).
  Definition linT (w : vec) (b : T) (Y e : vec) : T :=
    let r := plus Y e in
    let g := gamT (length w) in
    add (absdot w e)
      (add (mul g (add (absdot w r) (absT b)))
        (mul (mul (add one g) etaT)
           (add (ofnat (3 * length w + 3)) (add (total (map absT w)) (total r))))).
  Definition small (n : nat) : bool := Z.ltb (Z.of_nat (n + 5)) (2 ^ 53).

  Record errs := Errs { sizes : vec; errors : vec }.
  Definition units_e (us : list unit) (i : errs) : errs :=
    let k := length (sizes i) in
    Errs (map (fun u => sizeT (fit k (fst u)) (snd u) (sizes i)) us)
         (map (fun u => linT (fit k (fst u)) (snd u) (sizes i) (errors i)) us).
  Definition join_e (a b : errs) : errs := Errs (sizes a ++ sizes b) (errors a ++ errors b).
  Definition weights (m h : nat) (p : piece) : vec := fit m (ps p) ++ fit h (po p).
  Definition pieces_e (m h : nat) (l : list piece) (i : errs) : errs :=
    Errs (map (fun p => sizeT (weights m h p) (pc p) (sizes i)) l)
         (map (fun p => linT (weights m h p) (pc p) (sizes i) (errors i)) l).
  (* e_L + e_S + u·(L + M + e_L + e_S) + eta, size L + M *)
  Fixpoint boxes_e (L eL M eM : vec) : errs :=
    match L, eL, M, eM with
    | a :: L', b :: eL', c :: M', d :: eM' =>
        let r := boxes_e L' eL' M' eM' in
        let e := add b d in
        let s := add a c in
        Errs (s :: sizes r) (add e (add (mul uT (add s e)) etaT) :: errors r)
    | _, _, _, _ => Errs [] []
    end.
  Definition outputs_e (n : net) (i : errs) : vec :=
    let m := length (sizes i) in
    let u := units_e (units n) i in
    let j := join_e i u in
    let h := length (units n) in
    let l := pieces_e m h (lower n) j in
    let s := pieces_e m h (second n) j in
    let z := boxes_e (sizes l) (errors l) (sizes s) (errors s) in
    map (fun u => linT (fit (length (sizes z)) (fst u)) (snd u) (sizes z) (errors z)) (head n).
  Definition fits_e (n : net) (i : errs) : bool :=
    andb (Nat.eqb (length (sizes i)) (length (errors i)))
      (small (length (sizes i) + length (units n) + length (lower n))).
End MarginChecker.
Module Type MARGIN (O : OPS) (C : CHECKER O).
  Include MarginChecker O C.
End MARGIN.
Module DMargin := MarginChecker DOps DChecker.

Open Scope R_scope.
Module MarginSound (O : OPS) (S : SPEC O) (C : CHECKER O) (K : MARGIN O C).
  Import O S C K.
  Module M := Sound O S C.
  Import M.
  Ltac num := repeat rewrite ?val_zero, ?val_one, ?val_add, ?val_sub, ?val_mul in *.

  Lemma val_u : val uT = Float.u.
  Proof. unfold uT, Float.u. rewrite val_dyad. simpl. lra. Qed.
  Lemma val_eta : val etaT = Float.eta.
  Proof. unfold etaT, Float.eta. rewrite val_dyad. simpl. lra. Qed.
  Lemma val_nat n : val (ofnat n) = INR n.
  Proof. unfold ofnat. rewrite val_frac, <- INR_IZR_INZ. field. Qed.
  Lemma small_u n : small n = true -> INR (n + 5) * Float.u < 1.
  Proof.
    unfold small. intro H. apply Z.ltb_lt in H. rewrite INR_IZR_INZ. apply IZR_lt in H.
    replace Float.u with (/ IZR (2 ^ 53)) by (unfold Float.u; simpl; lra).
    assert (0 < IZR (2 ^ 53)) by (apply IZR_lt; reflexivity).
    apply Rmult_lt_reg_r with (IZR (2 ^ 53)); [assumption|]. rewrite Rmult_assoc, Rinv_l by lra. lra.
  Qed.
  Lemma val_gam n : small n = true -> val (gamT n) = Float.gam (n + 5).
  Proof.
    intro H. pose proof (small_u n H) as Hu. unfold small in H. apply Z.ltb_lt in H. unfold gamT, Float.gam. rewrite val_frac, INR_IZR_INZ.
    rewrite Z2Pos.id by lia. rewrite minus_IZR.
    rewrite INR_IZR_INZ in Hu. set (k := IZR (Z.of_nat (n + 5))) in *.
    assert (E : Float.u = / IZR (2 ^ 53)) by (unfold Float.u; simpl; lra). rewrite E in *.
    set (p := IZR (2 ^ 53)) in *. assert (0 < p) by (apply IZR_lt; reflexivity).
    assert (k < p). { apply Rmult_lt_reg_r with (/ p); [apply Rinv_0_lt_compat; assumption|]. rewrite Rinv_r by lra. exact Hu. }
    field. repeat split; lra.
  Qed.

  (** y exact, ŷ computed: |y| <= Y, |ŷ - y| <= e *)
  Inductive within : vec -> vec -> list R -> list R -> Prop :=
  | w_nil : within [] [] [] []
  | w_cons Y e y z Ys es ys zs : Rabs y <= val Y -> Rabs (z - y) <= val e -> within Ys es ys zs ->
      within (Y :: Ys) (e :: es) (y :: ys) (z :: zs).
  Fixpoint prods (w : vec) (z : list R) : list Float.leaf :=
    match w, z with a :: w', b :: z' => Float.prod (val a) b :: prods w' z' | _, _ => [] end.
  (** v is Σ w·z + b, summed in some order in binary64, with or without fused operations and flushing *)
  Definition summed (w : vec) (z : list R) (b : T) (v : R) : Prop :=
    exists t k, (k <= 4)%nat /\
      Permutation (Float.leaves t) (prods w z ++ Float.cst (val b) :: repeat (Float.cst 0) k) /\ Float.eval t v.

  Fixpoint ins (w Y e : vec) (y z : list R) : list Float.input :=
    match w, Y, e, y, z with
    | a :: w', A :: Y', b :: e', c :: y', d :: z' => Float.In_ (val a) d c (val A) (val b) :: ins w' Y' e' y' z'
    | _, _, _, _, _ => []
    end.
  Lemma within_length Y e y z : within Y e y z -> length Y = length y /\ length e = length y /\ length z = length y.
  Proof. induction 1; simpl; intuition congruence. Qed.

  Theorem lin_sound w b Y e y z v : within Y e y z -> length w = length Y -> small (length w) = true ->
    summed w z b v -> Rabs (v - (dot w y + val b)) <= val (linT w b Y e) /\ Rabs (dot w y + val b) <= val (sizeT w b Y).
  Proof.
    intros W L Sm [t [k [Hk [Hp He]]]].
    set (l := ins w Y e y z).
    assert (X : length l = length w /\ prods w z = map (fun i => Float.prod (Float.w i) (Float.yh i)) l
      /\ Forall Float.fine l /\ Float.tot (fun i => Float.w i * Float.ye i) l = dot w y
      /\ Float.tot (fun i => Rabs (Float.w i) * Float.e i) l = val (absdot w e)
      /\ Float.tot (fun i => Rabs (Float.w i) * (Float.Y i + Float.e i)) l = val (absdot w (plus Y e))
      /\ Float.tot (fun i => Rabs (Float.w i)) l = val (total (map absT w))
      /\ Float.tot (fun i => Float.Y i + Float.e i) l = val (total (plus Y e))
      /\ Rabs (dot w y) <= val (absdot w Y)).
    { unfold l. clear - W L. revert w L. induction W as [|A a c d Y e y z H1 H2 W IH]; intros [|p w] L; simpl in L; try discriminate.
      - simpl. rewrite val_zero, Rabs_R0. repeat split; auto; lra.
      - injection L as L. destruct (IH w L) as [I1 [I2 [I3 [I4 [I5 [I6 [I7 [I8 I9]]]]]]]]. simpl.
        rewrite I1, I2, I4, I5, I6, I7, I8. num. rewrite !val_abs. repeat split; auto; try ring.
        + constructor; auto. split; simpl; assumption.
        + eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult. pose proof (Rabs_pos (val p)). nra. }
    destruct X as [X1 [X2 [X3 [X4 [X5 [X6 [X7 [X8 X9]]]]]]]].
    split.
    - rewrite X2 in Hp.
      assert (Or : Float.orders t l (val b)) by (exists k; split; assumption).
      pose proof (Float.LIN_sound t l (val b) v Or He X3) as B. rewrite X1 in B. specialize (B (small_u _ Sm)).
      rewrite X4 in B. eapply Rle_trans; [exact B|]. right.
      unfold Float.LIN. rewrite X1, X5, X6, X7, X8. unfold linT. num.
      rewrite (val_gam _ Sm), val_eta, val_abs, val_nat, plus_INR, mult_INR. simpl (INR 3). ring.
    - unfold sizeT. num. rewrite val_abs. eapply Rle_trans; [apply Rabs_triang|]. lra.
  Qed.

  (** ** The deployed network *)
  Definition fpiece (m h : nat) (z : list R) (p : piece) (v : R) : Prop := summed (weights m h p) z (pc p) v.
  (* computed lower, second, upper and the backbone's numbers give the computed embedding *)
  Inductive fboxes : list R -> list R -> list R -> Prop :=
  | fb_nil : fboxes [] [] []
  | fb_cons l g u b ls gs zs : Float.near 1 (l + g) u -> fboxes ls gs zs -> fboxes (l :: ls) (g :: gs) (select b l u :: zs).
  Inductive deployed (n : net) (uh out : list R) : Prop :=
  | Deployed s l g z :
      Forall2 (fun u v => summed (fit (length uh) (fst u)) uh (snd u) v) (units n) s ->
      Forall2 (fpiece (length uh) (length (units n)) (uh ++ map relu s)) (lower n) l ->
      Forall2 (fpiece (length uh) (length (units n)) (uh ++ map relu s)) (second n) g ->
      fboxes l g z ->
      Forall2 (fun u v => summed (fit (length z) (fst u)) z (snd u) v) (head n) out -> deployed n uh out.

  Lemma fit_length k : forall w, length (fit k w) = k.
  Proof. induction k; intro w; simpl; auto. Qed.
  Lemma dot_fit : forall y k w, length y = k -> dot (fit k w) y = dot w y.
  Proof.
    induction y as [|a y IH]; intros k w L; simpl in L; subst k; [rewrite !dot_nil; reflexivity|].
    simpl fit. rewrite !dot_hd. simpl. rewrite IH by reflexivity. reflexivity.
  Qed.
  Lemma dot_app : forall u m a b r, length u = m -> dot (fit m a ++ b) (u ++ r) = dot a u + dot b r.
  Proof.
    induction u as [|c u IH]; intros m a b r L; simpl in L; subst m; simpl; [rewrite dot_nil; ring|].
    rewrite (IH _ (tl a)) by reflexivity. rewrite (dot_hd a). ring.
  Qed.
  Lemma dot_relus u : forall us k, dot k (map (fun v => relu (sval v u)) us) = relus k us u.
  Proof. induction us as [|v us IH]; intros [|a k]; simpl; auto. rewrite IH. reflexivity. Qed.
  Lemma small_le a b : (a <= b)%nat -> small b = true -> small a = true.
  Proof. unfold small. intros L H. apply Z.ltb_lt in H. apply Z.ltb_lt. lia. Qed.
  Lemma within_app Y e y z Y' e' y' z' : within Y e y z -> within Y' e' y' z' ->
    within (Y ++ Y') (e ++ e') (y ++ y') (z ++ z').
  Proof. induction 1; simpl; auto. intro. constructor; auto. Qed.
  Lemma relu_lip a b : Rabs (relu a - relu b) <= Rabs (a - b).
  Proof.
    unfold relu, Rmax. destruct (Rle_dec a 0), (Rle_dec b 0); unfold Rabs; repeat destruct (Rcase_abs _); lra.
  Qed.
  Lemma relu_abs a : Rabs (relu a) <= Rabs a.
  Proof. unfold relu, Rmax. destruct (Rle_dec a 0); unfold Rabs; repeat destruct (Rcase_abs _); lra. Qed.

  Lemma units_within i u uh : within (sizes i) (errors i) u uh -> small (length (sizes i)) = true ->
    forall us s, Forall2 (fun a v => summed (fit (length uh) (fst a)) uh (snd a) v) us s ->
    within (sizes (units_e us i)) (errors (units_e us i)) (map (fun v => relu (sval v u)) us) (map relu s).
  Proof.
    intros W Sm us s F. destruct (within_length _ _ _ _ W) as [L1 [L2 L3]].
    induction F as [|a v us s H F IH]; simpl; [constructor|].
    rewrite L3, <- L1 in H.
    destruct (lin_sound (fit (length (sizes i)) (fst a)) (snd a) (sizes i) (errors i) u uh v W) as [B1 B2]; auto.
    { apply fit_length. } { rewrite fit_length. exact Sm. }
    rewrite dot_fit in B1, B2 by congruence.
    constructor; [| |exact IH].
    - eapply Rle_trans; [apply relu_abs | exact B2].
    - eapply Rle_trans; [apply relu_lip | exact B1].
  Qed.
  Lemma pieces_within n x i r rh : let u := scaled (mult n) (shift n) x in
    forall uh, within (sizes i) (errors i) (u ++ r) (uh ++ rh) -> length uh = length u ->
    r = map (fun v => relu (sval v u)) (units n) -> length rh = length r ->
    small (length (sizes i)) = true ->
    forall l v, Forall2 (fpiece (length uh) (length (units n)) (uh ++ rh)) l v ->
    let e := pieces_e (length uh) (length (units n)) l i in within (sizes e) (errors e) (map (pval n x) l) v.
  Proof.
    intros u uh W Lu Er Lr Sm l v F. destruct (within_length _ _ _ _ W) as [L1 [L2 L3]].
    induction F as [|p a l v H F IH]; simpl in *; [constructor|].
    assert (Lw : length (weights (length uh) (length (units n)) p) = length (sizes i)).
    { unfold weights. rewrite app_length, !fit_length, L1, app_length, Lu, Er, map_length. reflexivity. }
    destruct (lin_sound _ (pc p) _ _ _ _ a W Lw) as [B1 B2]; [rewrite Lw; exact Sm | exact H|].
    assert (D : dot (weights (length uh) (length (units n)) p) (u ++ r) + val (pc p) = pval n x p).
    { unfold weights. rewrite dot_app by congruence. rewrite (dot_fit r) by (rewrite Er; apply map_length).
      rewrite Er, dot_relus. unfold pval. fold u. ring. }
    rewrite D in B1, B2. constructor; auto.
  Qed.
  Lemma boxes_within n x : forall l g lh gh zh, fboxes lh gh zh -> Forall (fun p => 0 <= pval n x p) g ->
    forall L eL Mg eM, within L eL (map (pval n x) l) lh -> within Mg eM (map (pval n x) g) gh ->
    let e := boxes_e L eL Mg eM in within (sizes e) (errors e) (embed n l g x zh) zh.
  Proof.
    intros l g lh gh zh F. revert l g. induction F as [|a b c d lh gh zh Hn F IH]; intros l g G L eL Mg eM W1 W2.
    - inversion W1; subst. destruct l; [|discriminate]. simpl. constructor.
    - inversion W1 as [|A ea y z Ys es ys zs A1 A2 A3 E1 E2 E3 E4]; subst. destruct l as [|pl l]; [discriminate|].
      inversion W2 as [|B eb y' z' Ys' es' ys' zs' B1 B2 B3 F1 F2 F3 F4]; subst. destruct g as [|pg g]; [discriminate|].
      simpl in E3, F3. injection E3 as -> ->. injection F3 as -> ->.
      apply Forall_cons_iff in G. destruct G as [G1 G2]. specialize (IH l g G2 _ _ _ _ A3 B3).
      set (p := pval n x pl) in *. set (q := pval n x pg) in *.
      simpl. constructor; [| |exact IH].
      + num. fold p. fold q. pose proof (select_bounds (select d a c) p (p + q) ltac:(lra)) as Sb.
        unfold Rabs in *. repeat destruct (Rcase_abs _); lra.
      + num. rewrite val_u, val_eta. fold p. fold q. destruct Hn as [dd [rr [Hd [Hr Hc]]]].
        pose proof Float.u_pos. pose proof Float.eps_pos. pose proof Float.eps_eta.
        assert (Ab : Rabs (a + b) <= val A + val B + (val ea + val eb)).
        { unfold Rabs in *. repeat destruct (Rcase_abs _); lra. }
        assert (Dc : Rabs (c - (a + b)) <= Float.u * (val A + val B + (val ea + val eb)) + Float.eta).
        { rewrite Hc. replace ((a + b) * (1 + dd) + rr - (a + b)) with ((a + b) * dd + rr) by ring.
          eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult.
          assert (Rabs (a + b) * Rabs dd <= (val A + val B + (val ea + val eb)) * Float.u)
            by (apply Rmult_le_compat; try apply Rabs_pos; assumption). lra. }
        set (E := Float.u * (val A + val B + (val ea + val eb)) + Float.eta) in *.
        assert (HE : 0 <= E) by (pose proof (Rabs_pos (c - (a + b))); lra).
        assert (He : 0 <= val ea /\ 0 <= val eb) by (pose proof (Rabs_pos (a - p)); pose proof (Rabs_pos (b - q)); lra).
        set (z := select d a c).
        assert (Hz : a <= z /\ (z <= a \/ z <= c)).
        { unfold z, select, Rmax, Rmin. destruct (Rle_dec c d); destruct (Rle_dec a _); lra. }
        assert (Goal0 : Rabs (z - select z p (p + q)) <= val ea + val eb + E).
        { unfold select at 1, Rmax, Rmin. clearbody z E. clear - A2 B2 Dc HE He Hz G1. destruct Hz as [Hz1 [Hz2|Hz2]];
          destruct (Rle_dec (p + q) z); destruct (Rle_dec p _); unfold Rabs in *; repeat destruct (Rcase_abs _); lra. }
        exact Goal0.
  Qed.
  Lemma F2_length {A B} (P : A -> B -> Prop) l m : Forall2 P l m -> length l = length m.
  Proof. induction 1; simpl; congruence. Qed.
  Lemma fboxes_length l g z : fboxes l g z -> length z = length l.
  Proof. induction 1; simpl; congruence. Qed.

  Theorem deployed_near n x i uh out :
    within (sizes i) (errors i) (scaled (mult n) (shift n) x) uh -> fits_e n i = true ->
    Forall (fun p => 0 <= pval n x p) (second n) -> deployed n uh out ->
    exists hx, near (outputs_e n i) (networkv n hx x) out.
  Proof.
    intros W Ft G [s l g z D1 D2 D3 D4 D5]. unfold fits_e in Ft. apply andb_true_iff in Ft. destruct Ft as [_ Sm].
    set (u := scaled (mult n) (shift n) x) in *. destruct (within_length _ _ _ _ W) as [L1 [L2 L3]].
    assert (W2 := units_within i u uh W ltac:(apply (small_le _ _) with (2 := Sm); lia) _ _ D1).
    assert (W3 := within_app _ _ _ _ _ _ _ _ W W2).
    set (j := join_e i (units_e (units n) i)).
    assert (Sj : length (sizes j) = (length (sizes i) + length (units n))%nat).
    { unfold j, join_e. simpl. rewrite app_length, map_length. reflexivity. }
    assert (Ls : length (map relu s) = length (map (fun v => relu (sval v u)) (units n))).
    { rewrite !map_length. symmetry. apply (F2_length _ _ _ D1). }
    assert (Sm2 : small (length (sizes j)) = true) by (apply (small_le _ _) with (2 := Sm); lia).
    pose proof (pieces_within n x j _ _ uh W3 L3 eq_refl Ls Sm2 _ _ D2) as W4.
    pose proof (pieces_within n x j _ _ uh W3 L3 eq_refl Ls Sm2 _ _ D3) as W5.
    cbv zeta in W4, W5.
    pose proof (boxes_within n x (lower n) (second n) l g z D4 G _ _ _ _ W4 W5) as W6. cbv zeta in W6.
    exists z. unfold outputs_e, networkv. fold u.
    rewrite <- L1 in L3. rewrite L3 in W6. fold j.
    set (e := boxes_e _ _ _ _) in W6 |- *. set (emb := embed n (lower n) (second n) x z) in *.
    destruct (within_length _ _ _ _ W6) as [M1 [M2 M3]].
    assert (Lz : (length z <= length (lower n))%nat).
    { rewrite (fboxes_length _ _ _ D4). rewrite (F2_length _ _ _ D2). lia. }
    assert (Sm3 : small (length (sizes e)) = true) by (apply (small_le _ _) with (2 := Sm); lia).
    clearbody e emb. clear - W6 D5 M1 M2 M3 Sm3.
    induction D5 as [|a v hs out H F IH]; simpl; [exact I|]. split; [|exact IH].
    rewrite M3, <- M1 in H.
    destruct (lin_sound (fit (length (sizes e)) (fst a)) (snd a) _ _ _ _ v W6) as [B1 _]; auto.
    { apply fit_length. } { rewrite fit_length. exact Sm3. }
    rewrite dot_fit in B1 by congruence. exact B1.
  Qed.

  Lemma run_ready n sl rows g ls t b : run n sl rows g ls t = Bound b -> ready n sl = true.
  Proof.
    unfold run, ready. destruct (andb (fits n sl) _) eqn:F; [|discriminate].
    apply andb_true_iff in F. destruct F as [-> _]. destruct (andb (forallb _ _) _) eqn:G; [|discriminate]. auto.
  Qed.
  (** "certified" in binary64: any order of summation, any backbone, per evaluation *)
  Theorem deployed_sound n sl rows g ls t i : check n sl rows g ls t = true ->
    margins g = outputs_e n i -> fits_e n i = true -> forallb (leb zero) (margins g) = true ->
    forall x y, incell sl x y -> Forall (row_holds x y) rows ->
    forall ux uy, within (sizes i) (errors i) (scaled (mult n) (shift n) x) ux ->
                  within (sizes i) (errors i) (scaled (mult n) (shift n) y) uy ->
    forall o1 o2, deployed n ux o1 -> deployed n uy o2 ->
    dot (a1 g) o1 + dot (a2 g) o2 + dot (b1 g) x + dot (b2 g) y <= val (limit g).
  Proof.
    intros E Em Ft Pm x y I0 H ux uy W1 W2 o1 o2 D1 D2.
    assert (Rd : ready n sl = true).
    { unfold check in E. destruct (run n sl rows g ls t) eqn:R; try discriminate. apply (run_ready _ _ _ _ _ _ _ R). }
    unfold ready in Rd. rewrite !andb_true_iff in Rd. destruct Rd as [Fi [G1 G2]].
    unfold fits in Fi. rewrite !andb_true_iff, !Nat.eqb_eq in Fi. destruct Fi as [Fm [Fs _]].
    rewrite forallb_forall in G1, G2.
    assert (N1 : Forall (fun p => 0 <= pval n x p) (second n)).
    { apply Forall_forall. intros p Hp. apply (nonneg_sound n sl false p x y); auto. }
    assert (N2 : Forall (fun p => 0 <= pval n y p) (second n)).
    { apply Forall_forall. intros p Hp. apply (nonneg_sound n sl true p x y); auto. }
    destruct (deployed_near n x i ux o1 W1 Ft N1 D1) as [hx K1].
    destruct (deployed_near n y i uy o2 W2 Ft N2 D2) as [hy K2].
    apply (check_sound_v n sl rows g ls t E hx hy x y I0 H); try (rewrite Em; assumption).
    apply Forall_forall. intros v Hv. rewrite forallb_forall in Pm. specialize (Pm v Hv). apply leb_spec in Pm.
    rewrite val_zero in Pm. exact Pm.
  Qed.
End MarginSound.
Module DMarginSound := MarginSound DOps DSpec DChecker DMargin.
