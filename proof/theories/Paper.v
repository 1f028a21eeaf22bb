(** Paper boxes: flip units p·relu(d), d = second - lower (sections 2 and 4.1). Uses the leaf of Checker.v. *)
From Coq Require Import Reals List Bool Arith Lra Lia.
From Smile Require Import Num Leaf Reduction LeafSound.
Import ListNotations.

Module PaperChecker (O : OPS) (C : CHECKER O).
  Import O C.
  (* range of const + slope·x + out·relu(s) over one copy's cell *)
  Fixpoint dspan (side : bool) (sl : list slot) (us : list unit) (ph : phases) (o : vec) (c : T) (q : vec) (l h : T)
    : option (T * T) :=
    match us with
    | [] => match span side sl q with None => None | Some (a, b) => Some (add c (add l a), add c (add h b)) end
    | (w, e) :: us' =>
        match span side sl w with
        | None => None
        | Some (a0, b0) =>
            let p := if side then snd (hdp ph) else fst (hdp ph) in
            let a := cuta p (add a0 e) in
            let b := cutb p (add b0 e) in
            let t := hd0 o in
            if orb (isz t) (leb b zero) then dspan side sl us' (tl ph) (tl o) c q l h
            else if leb zero a then dspan side sl us' (tl ph) (tl o) (add c (mul t e)) (axpy t w q) l h
            else dspan side sl us' (tl ph) (tl o) c q (add l (minT zero (mul t b))) (add h (maxT zero (mul t b)))
        end
    end.
  (* max over [a, b] of p·relu(d) - t·d *)
  Definition best (p t a b : T) : option T :=
    maxl (flat_map (fun x => let '(c, (l, h)) := x in [mul c l; mul c h]) (pieces p t a b)).
  Definition flip1 (side : bool) (sl : list slot) (us : list unit) (ph : phases) (fp : phases) (d : piece) (p t : T) : option T :=
    match dspan side sl us ph (po d) (pc d) (ps d) zero zero with
    | None => None
    | Some (a, b) =>
        let f := if side then snd (hdp fp) else fst (hdp fp) in
        let a' := cuta f a in
        let b' := cutb f b in
        if leb a' b' then best p t a' b' else None
    end.
  Fixpoint flat (sl : list slot) (us : list unit) (ph fp : phases) (ds : list piece) (p1 p2 t1 t2 : vec) (f : psi) : option psi :=
    match ds with
    | [] => Some f
    | d :: ds' =>
        let s := hd0 t1 in
        let t := hd0 t2 in
        match flip1 false sl us ph fp d (hd0 p1) s, flip1 true sl us ph fp d (hd0 p2) t with
        | Some u, Some v =>
            flat sl us ph (tl fp) ds' (tl p1) (tl p2) (tl t1) (tl t2)
              (Psi (add (const f) (add (add u v) (mul (add s t) (pc d))))
                   (axpy s (ps d) (q1 f)) (axpy t (ps d) (q2 f)) (axpy s (po d) (k1 f)) (axpy t (po d) (k2 f)))
        | _, _ => None
        end
    end.
  Record pcell := PCell { base : cell; fphs : phases }.
  Inductive ptree :=
  | PLeaf (s1 s2 t1 t2 nu ys : vec)
  | PPhase (side : bool) (j : nat) (b a : ptree)
  | PFlip (side : bool) (i : nat) (b a : ptree)
  | PInput (w : who) (i : nat) (at_ : T) (b a : ptree)
  | PCategory (w : who) (i p : nat) (b a : ptree).
  Fixpoint pbound (us : list unit) (rows : list row) (ks : list known) (ds : list piece) (p1 p2 : vec) (f : psi) (c : pcell) (t : ptree) : res :=
    let go c' t' := pbound us rows ks ds p1 p2 f c' t' in
    match t with
    | PLeaf s1 s2 t1 t2 nu ys =>
        match flat (slots (base c)) us (phs (base c)) (fphs c) ds p1 p2 s1 s2 f with
        | None =>   (* closed; a wrong sign is refused here too *)
            match added ks ys f, extras rows nu (const f) (q1 f) (q2 f) with Some _, Some _ => Closed | _, _ => Rejected end
        | Some g => leaf us rows ks g (base c) t1 t2 nu ys
        end
    | PPhase side j b a =>
        let at_ up := PCell (Cell (slots (base c)) (setph side up j (phs (base c)))) (fphs c) in join (go (at_ false) b) (go (at_ true) a)
    | PFlip side i b a =>
        join (go (PCell (base c) (setph side false i (fphs c))) b) (go (PCell (base c) (setph side true i (fphs c))) a)
    | PInput w i th b a =>
        join (go (PCell (on (below w th) i (base c)) (fphs c)) b) (go (PCell (on (above w th) i (base c)) (fphs c)) a)
    | PCategory w i p b a =>
        join (go (PCell (on (keep w (Nat.eqb p)) i (base c)) (fphs c)) b)
             (go (PCell (on (keep w (fun r => negb (Nat.eqb p r))) i (base c)) (fphs c)) a)
    end.
  (* v·lower, and v+ on the flip units *)
  Fixpoint preduce (v : vec) (l : list piece) (acc : T * (vec * vec)) : T * (vec * vec) :=
    match l with
    | [] => acc
    | p :: l' =>
        let a := hd0 v in
        let '(c, (q, k)) := preduce (tl v) l' acc in (add (mul a (pc p)) c, (axpy a (ps p) q, axpy a (po p) k))
    end.
  Definition minus (s l : piece) : piece :=
    let m := negT one in Piece (sub (pc s) (pc l)) (axpy m (ps l) (ps s)) (axpy m (po l) (po s)).
  Fixpoint flips (s l : list piece) : list piece :=
    match s, l with a :: s', b :: l' => minus a b :: flips s' l' | _, _ => [] end.
  Definition preduced (n : net) (a b : vec) : (T * (vec * vec)) * vec :=
    let (v, c) := through a (head n) in (preduce v (map (fold n) (lower n)) (c, (b, [])), map posT v).
  Definition ppsi (n : net) (g : goal) : psi * (vec * vec) :=
    let '((c, (q, k)), p) := preduced n (a1 g) (b1 g) in
    let '((d, (r, l)), o) := preduced n (a2 g) (b2 g) in
    (Psi (add c d) q r k l, (p, o)).
  Definition prun (n : net) (sl : list slot) (rows : list row) (g : goal) (ls : list lemma) (t : ptree) : res :=
    if fits n sl then
      let us := map (raw n) (units n) in
      let '(f, (p, o)) := ppsi n g in
      match proves sl us ls with
      | None => Rejected
      | Some ks =>
          pbound us rows ks (flips (map (fold n) (second n)) (map (fold n) (lower n))) p o f
            (PCell (root n sl) (map (fun _ => ((false, false), (false, false))) (lower n))) t
      end
    else Rejected.
End PaperChecker.
Module Type PAPER (O : OPS) (C : CHECKER O).
  Include PaperChecker O C.
End PAPER.
Module DPaper := PaperChecker DOps DChecker.

Open Scope R_scope.
Module PaperSound (O : OPS) (S : SPEC O) (C : CHECKER O) (K : PAPER O C) (M : SOUND O S C).
  Import O S C K M.
  Ltac num := repeat rewrite ?val_zero, ?val_one, ?val_add, ?val_sub, ?val_mul in *.

  Definition dval (us : list unit) (z : list R) (d : piece) : R := val (pc d) + dot (ps d) z + relus (po d) us z.
  Definition side_ok (side : bool) (ph : phases) : phase := if side then snd (hdp ph) else fst (hdp ph).

  Lemma dspan_sound (side : bool) sl x y : incell sl x y -> let z := pick side x y in
    forall us ph o c q l h, phases_ok ph us x y -> exists a b, dspan side sl us ph o c q l h = Some (a, b) /\
      val a <= val c + dot q z + val l + relus o us z /\ val c + dot q z + val h + relus o us z <= val b.
  Proof.
    intros I0 z. induction us as [|[w e] us IH]; intros ph o c q l h P; simpl.
    - destruct (span_sound side _ _ _ I0 q) as [a [b [E B]]]. rewrite E. eexists; eexists; split; [reflexivity|].
      fold z in B. destruct o; simpl; num; lra.
    - destruct P as [P1 [P2 P3]]. destruct (span_sound side _ _ _ I0 w) as [a0 [b0 [E B]]]. rewrite E. fold z in B.
      set (p := if side then snd (hdp ph) else fst (hdp ph)).
      set (s := sval (w, e) z). assert (Ds : s = dot w z + val e) by reflexivity.
      assert (Pp : okp p s) by (unfold p, s, z; destruct side; simpl; assumption).
      assert (Ha : val (cuta p (add a0 e)) <= s) by (apply cuta_sound; [exact Pp | num; lra]).
      assert (Hb : s <= val (cutb p (add b0 e))) by (apply cutb_sound; [exact Pp | num; lra]).
      set (A := cuta p (add a0 e)) in *. set (B1 := cutb p (add b0 e)) in *. set (t := hd0 o).
      rewrite relus_hd. fold t. fold s.
      destruct (orb (isz t) (leb B1 zero)) eqn:Z.
      + destruct (IH (tl ph) (tl o) c q l h P3) as [a [b [F [G1 G2]]]]. exists a, b. split; [exact F|].
        assert (val t * relu s = 0); [|lra].
        apply orb_true_iff in Z. destruct Z as [Z|Z]; [apply isz_spec in Z; rewrite Z; ring|].
        apply leb_spec in Z. rewrite val_zero in Z. unfold relu. rewrite Rmax_right by lra. ring.
      + destruct (leb zero A) eqn:Y.
        * destruct (IH (tl ph) (tl o) (add c (mul t e)) (axpy t w q) l h P3) as [a [b [F [G1 G2]]]].
          exists a, b. split; [exact F|]. apply leb_spec in Y. rewrite val_zero in Y.
          unfold relu. rewrite Rmax_left by lra. rewrite dot_axpy in G1, G2. num. rewrite Ds. lra.
        * destruct (IH (tl ph) (tl o) c q (add l (minT zero (mul t B1))) (add h (maxT zero (mul t B1))) P3) as [a [b [F [G1 G2]]]].
          exists a, b. split; [exact F|]. apply orb_false_iff in Z. destruct Z as [_ Z]. apply leb_f in Z.
          rewrite val_zero in Z. num. rewrite val_min in G1. rewrite val_max in G2. num.
          assert (R0 : 0 <= relu s <= val B1) by (unfold relu; split; [apply Rmax_r | apply Rmax_lub; lra]).
          assert (val t * relu s <= Rmax 0 (val t * val B1) /\ Rmin 0 (val t * val B1) <= val t * relu s).
          { pose proof (Rmax_l 0 (val t * val B1)). pose proof (Rmax_r 0 (val t * val B1)).
            pose proof (Rmin_l 0 (val t * val B1)). pose proof (Rmin_r 0 (val t * val B1)).
            destruct (Rle_lt_dec 0 (val t)); split; nra. }
          lra.
  Qed.
  Lemma best_sound p t a b d : val a <= d <= val b -> exists v, best p t a b = Some v /\ val p * relu d - val t * d <= val v.
  Proof.
    intro H. destruct (pieces_sound p t a b d H) as [c [l [h [I0 [R0 E]]]]]. unfold best.
    assert (X : exists v, In v (flat_map (fun x => let '(c, (l, h)) := x in [mul c l; mul c h]) (pieces p t a b)) /\ val c * d <= val v).
    { destruct (Rle_lt_dec (val c) 0).
      - exists (mul c l). split; [apply in_flat_map; exists (c, (l, h)); split; [exact I0 | simpl; tauto] | num; nra].
      - exists (mul c h). split; [apply in_flat_map; exists (c, (l, h)); split; [exact I0 | simpl; tauto] | num; nra]. }
    destruct X as [v [X1 X2]]. destruct (maxl_in _ _ X1) as [u [F U]]. exists u. split; [exact F | lra].
  Qed.
  Fixpoint flips_ok (fp : phases) (us : list unit) (ds : list piece) (x y : list R) : Prop :=
    match ds with
    | [] => True
    | d :: ds' => okp (fst (hdp fp)) (dval us x d) /\ okp (snd (hdp fp)) (dval us y d) /\ flips_ok (tl fp) us ds' x y
    end.
  Lemma flip1_sound (side : bool) sl us ph fp d p t x y : incell sl x y -> phases_ok ph us x y ->
    okp (if side then snd (hdp fp) else fst (hdp fp)) (dval us (pick side x y) d) ->
    exists v, flip1 side sl us ph fp d p t = Some v /\
      val p * relu (dval us (pick side x y) d) - val t * dval us (pick side x y) d <= val v.
  Proof.
    intros I0 P Q. unfold flip1.
    destruct (dspan_sound side _ _ _ I0 us ph (po d) (pc d) (ps d) zero zero P) as [a [b [E [B1 B2]]]]. rewrite E.
    set (f := if side then snd (hdp fp) else fst (hdp fp)) in *. set (z := dval us (pick side x y) d) in *.
    assert (Ha : val (cuta f a) <= z) by (apply cuta_sound; [exact Q|]; unfold z, dval; num; lra).
    assert (Hb : z <= val (cutb f b)) by (apply cutb_sound; [exact Q|]; unfold z, dval; num; lra).
    assert (L : leb (cuta f a) (cutb f b) = true) by (apply leb_spec; lra). rewrite L.
    apply best_sound. lra.
  Qed.
  Fixpoint flipsum (p : vec) (us : list unit) (ds : list piece) (z : list R) : R :=
    match ds with [] => 0 | d :: ds' => val (hd0 p) * relu (dval us z d) + flipsum (tl p) us ds' z end.
  Lemma flat_sound sl us ph x y : incell sl x y -> phases_ok ph us x y ->
    forall ds fp p1 p2 t1 t2 f, flips_ok fp us ds x y ->
    exists g, flat sl us ph fp ds p1 p2 t1 t2 f = Some g /\
      psival us f x y + flipsum p1 us ds x + flipsum p2 us ds y <= psival us g x y.
  Proof.
    intros I0 P. induction ds as [|d ds IH]; intros fp p1 p2 t1 t2 f Q; simpl.
    - exists f. split; [reflexivity | lra].
    - destruct Q as [Q1 [Q2 Q3]].
      destruct (flip1_sound false sl us ph fp d (hd0 p1) (hd0 t1) x y I0 P Q1) as [u [E1 U]].
      destruct (flip1_sound true sl us ph fp d (hd0 p2) (hd0 t2) x y I0 P Q2) as [v [E2 V]].
      rewrite E1, E2. simpl pick in U, V.
      destruct (IH (tl fp) (tl p1) (tl p2) (tl t1) (tl t2)
        (Psi (add (const f) (add (add u v) (mul (add (hd0 t1) (hd0 t2)) (pc d))))
          (axpy (hd0 t1) (ps d) (q1 f)) (axpy (hd0 t2) (ps d) (q2 f)) (axpy (hd0 t1) (po d) (k1 f)) (axpy (hd0 t2) (po d) (k2 f))) Q3)
        as [g [F G]].
      exists g. split; [exact F|]. unfold psival in *. simpl in G. rewrite !dot_axpy, !relus_axpy in G. num.
      unfold dval in U, V |- *. nra.
  Qed.
  Lemma setflip_cover (side : bool) us x y : forall ds fp i, flips_ok fp us ds x y ->
    flips_ok (setph side false i fp) us ds x y \/ flips_ok (setph side true i fp) us ds x y.
  Proof.
    induction ds as [|d ds IH]; intros fp i P; [left; exact I|].
    destruct P as [P1 [P2 P3]]. destruct fp as [|[p r] fp]; [left; destruct i; simpl in *; auto|].
    simpl in P1, P2, P3. destruct i as [|i].
    - simpl. unfold okp in *. destruct side.
      + destruct (Rle_lt_dec (dval us y d) 0); [left | right]; simpl; repeat split; intros; try tauto; try lra.
      + destruct (Rle_lt_dec (dval us x d) 0); [left | right]; simpl; repeat split; intros; try tauto; try lra.
    - simpl. destruct (IH fp i P3); [left | right]; auto.
  Qed.
  Theorem ptree_sound us rows ks ds p1 p2 f x y : Forall (row_holds x y) rows -> Forall (knows us x y) ks ->
    forall t c, incell (slots (base c)) x y -> phases_ok (phs (base c)) us x y -> flips_ok (fphs c) us ds x y ->
    good (pbound us rows ks ds p1 p2 f c t) (psival us f x y + flipsum p1 us ds x + flipsum p2 us ds y).
  Proof.
    intros H Kn. induction t as [s1 s2 t1 t2 nu ys|side j b IHb a IHa|side i b IHb a IHa|w i th b IHb a IHa|w i p b IHb a IHa];
      intros c I0 P Q; simpl.
    - destruct (flat_sound _ _ _ _ _ I0 P ds (fphs c) p1 p2 s1 s2 f Q) as [g [E G]]. rewrite E.
      pose proof (leaf_sound us rows ks g (base c) t1 t2 nu ys x y I0 P H Kn) as B.
      destruct (leaf us rows ks g (base c) t1 t2 nu ys); simpl in *; auto. lra.
    - destruct (setph_cover side x y us (phs (base c)) j P); [apply join_l, IHb | apply join_r, IHa]; assumption.
    - destruct (setflip_cover side us x y ds (fphs c) i Q); [apply join_l, IHb | apply join_r, IHa]; assumption.
    - destruct (update_cover _ _ (input_cover w th) (slots (base c)) i x y I0); [apply join_l, IHb | apply join_r, IHa]; assumption.
    - destruct (update_cover _ _ (category_cover w p) (slots (base c)) i x y I0); [apply join_l, IHb | apply join_r, IHa]; assumption.
  Qed.

  (** ** The network: select(h, lower, second); a flipped box gives lower *)
  Fixpoint pembed (n : net) (l s : list piece) (x h : list R) : list R :=
    match l, s with
    | pl :: l', pg :: s' => select (hd 0 h) (pval n x pl) (pval n x pg) :: pembed n l' s' x (tl h)
    | _, _ => []
    end.
  Definition pnetwork (n : net) (hx x : list R) : list R :=
    map (fun u => sval u (pembed n (lower n) (second n) x hx)) (head n).
  Lemma minus_dval us z s l : dval us z (minus s l) = dval us z s - dval us z l.
  Proof. unfold dval, minus. simpl. rewrite dot_axpy, relus_axpy, val_neg. num. ring. Qed.
  Lemma map_pos_hd v : val (hd0 (map posT v)) = Rmax (val (hd0 v)) 0.
  Proof. destruct v; simpl; [num; rewrite Rmax_left; lra | apply val_pos]. Qed.
  Lemma map_tl (v : vec) : tl (map posT v) = map posT (tl v). Proof. destruct v; reflexivity. Qed.
  Lemma pbox v l u z : v * select z l u <= v * l + Rmax v 0 * relu (u - l).
  Proof.
    unfold select, relu. assert (B : l <= Rmax l (Rmin u z) <= l + Rmax (u - l) 0).
    { unfold Rmax, Rmin. destruct (Rle_dec u z); destruct (Rle_dec l _); destruct (Rle_dec (u - l) 0); lra. }
    pose proof (Rmax_r (u - l) 0). set (m := Rmax l (Rmin u z)) in *. set (g := Rmax (u - l) 0) in *.
    unfold Rmax. destruct (Rle_dec v 0); nra.
  Qed.
  Lemma preduce_sound n x : length (mult n) = length x -> length (shift n) = length x ->
    let us := map (raw n) (units n) in
    forall l s v c q k c' q' k' h, preduce v (map (fold n) l) (c, (q, k)) = (c', (q', k')) -> length l = length s ->
    dot v (pembed n l s x h) + (val c + dot q x + relus k us x)
    <= val c' + dot q' x + relus k' us x + flipsum (map posT v) us (flips (map (fold n) s) (map (fold n) l)) x.
  Proof.
    intros Hm Hs us. induction l as [|pl l IH]; intros [|pg s] v c q k c' q' k' h E L; simpl in L; try discriminate.
    - simpl in *. injection E as <- <- <-. rewrite dot_nil. lra.
    - simpl in E. destruct (preduce (tl v) (map (fold n) l) (c, (q, k))) as [c0 [q0 k0]] eqn:F.
      injection E as <- <- <-. specialize (IH s (tl v) c q k c0 q0 k0 (tl h) F ltac:(congruence)).
      simpl. rewrite dot_hd, !dot_axpy, !relus_axpy, map_pos_hd, map_tl, minus_dval. num.
      pose proof (pbox (val (hd0 v)) (pval n x pl) (pval n x pg) (hd 0 h)) as B.
      assert (D : forall p, dval us x (fold n p) = pval n x p) by (intro p; unfold dval, us; rewrite fold_pval by assumption; reflexivity).
      rewrite !D. rewrite (fold_pval n x pl Hm Hs) in B at 2.
      set (z := select _ _ _) in *. fold us in B. simpl in B. num. lra.
  Qed.
  Lemma preduced_sound n x a b c q k p h : length (mult n) = length x -> length (shift n) = length x ->
    length (lower n) = length (second n) -> preduced n a b = ((c, (q, k)), p) ->
    let us := map (raw n) (units n) in
    dot a (pnetwork n h x) + dot b x
    <= val c + dot q x + relus k us x + flipsum p us (flips (map (fold n) (second n)) (map (fold n) (lower n))) x.
  Proof.
    intros Hm Hs L E us. unfold preduced in E. destruct (through a (head n)) as [v d] eqn:T.
    injection E as E <-.
    pose proof (preduce_sound n x Hm Hs (lower n) (second n) v d b [] c q k h E L) as R0.
    unfold pnetwork. rewrite (through_sound _ _ _ _ _ T). fold us in R0. simpl in R0. lra.
  Qed.
  Lemma root_flips us x y : forall (l : list piece) ds, flips_ok (map (fun _ => ((false, false), (false, false))) l) us ds x y.
  Proof.
    induction l as [|p l IH]; intros ds; destruct ds as [|d ds]; simpl; auto; unfold okp; simpl; repeat split; try discriminate; [|apply IH].
    clear. induction ds; simpl; auto. unfold okp. simpl. repeat split; try discriminate. exact IHds.
  Qed.
  Theorem prun_sound n sl rows g ls t b : prun n sl rows g ls t = Bound b ->
    forall hx hy x y, incell sl x y -> Forall (row_holds x y) rows ->
    dot (a1 g) (pnetwork n hx x) + dot (a2 g) (pnetwork n hy y) + dot (b1 g) x + dot (b2 g) y <= val b.
  Proof.
    intros E hx hy x y I0 H. unfold prun in E. destruct (fits n sl) eqn:F; [|discriminate].
    unfold fits in F. rewrite !andb_true_iff, !Nat.eqb_eq in F. destruct F as [Fm [Fs Fl]].
    destruct (incell_length _ _ _ I0) as [Lx Ly]. unfold ppsi in E.
    destruct (preduced n (a1 g) (b1 g)) as [[c [q k]] p] eqn:R1. destruct (preduced n (a2 g) (b2 g)) as [[d [r l]] o] eqn:R2.
    destruct (proves sl _ ls) as [ks|] eqn:Lm; [|discriminate].
    pose proof (proves_sound _ _ _ _ I0 _ _ Lm) as Kn.
    pose proof (preduced_sound n x _ _ _ _ _ _ hx ltac:(congruence) ltac:(congruence) Fl R1) as B1.
    pose proof (preduced_sound n y _ _ _ _ _ _ hy ltac:(congruence) ltac:(congruence) Fl R2) as B2.
    pose proof (ptree_sound (map (raw n) (units n)) rows ks (flips (map (fold n) (second n)) (map (fold n) (lower n))) p o
      (Psi (add c d) q r k l) x y H Kn t (PCell (root n sl) (map (fun _ => ((false, false), (false, false))) (lower n)))
      I0 (root_phases n x y (units n)) (root_flips _ x y _ _)) as B.
    rewrite E in B. simpl in B. unfold psival in B. simpl in B, B1, B2. num. lra.
  Qed.
End PaperSound.
Module Type PAPERSOUND (O : OPS) (S : SPEC O) (C : CHECKER O) (K : PAPER O C) (M : SOUND O S C).
  Include PaperSound O S C K M.
End PAPERSOUND.
Module DPaperSound := PaperSound DOps DSpec DChecker DPaper DSound.
