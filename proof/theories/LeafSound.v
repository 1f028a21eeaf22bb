(** Soundness of the leaf rule, second part: lemmas, leaves, trees, and what [check = true] means for the real network. *)
From Coq Require Import Reals List Bool Arith Lra Lia.
From Smile Require Import Num Leaf Reduction LeafBase.
Import ListNotations.
Open Scope R_scope.

Module Sound (O : OPS) (S : SPEC O) (C : CHECKER O).
  Include Base O S C.
  Import O S C.

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

Module Type SOUND (O : OPS) (S : SPEC O) (C : CHECKER O).
  Include Sound O S C.
End SOUND.
Module DSound := Sound DOps DSpec DChecker.
