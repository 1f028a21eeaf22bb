(** The leaf rule on a whole network (sections 2, 3, 3.1, 4.1, 5.1): the premise on e, the real function of e, the margins of
    the outputs, and the bound of a row. Programs only; the proofs are in JointPremise.v, JointMargin.v and Joined.v. *)
From Coq Require Import Reals List Bool Arith ZArith.
From Smile Require Import Num Leaf Reduction Paper Sweep Slope Signs Binary64 Exact Spread Trees Layers Premise Network.
Import ListNotations DOps.

(** ** Coordinates of e: an input that passes, or what a branch makes, within a box *)
Inductive item := Pass (i : nat) | Made (s : spread) (b : num * num).
Definition box_fits (b : num * num) : bool :=
  andb (leb (fst b) (snd b)) (andb (ltb (negT hugeT) (fst b)) (ltb (snd b) hugeT)).
Definition cut_item (b : num * num) (s : spread) : option item :=
  if box_fits b then
    bind (settle (maxT (fst b) (minT (s_lo s) (snd b))) (maxT (fst b) (minT (s_hi s) (snd b))) (s_low s) (s_high s) (s_up s) (s_down s))
      (fun t => Some (Made t b))
  else None.
Definition pinned_item (all : bool) (b : num * num) : option item :=
  if box_fits b then
    bind (settle (fst b) (snd b) (sub (fst b) (snd b)) (sub (snd b) (fst b)) all all) (fun t => Some (Made t b))
  else None.
Definition branch_items (cs : list coord) (ks : list known) (b : branch) : option (list item) :=
  if passes b then
    bind (mapo (fun i => bind (nth_error cs i) (fun _ => nth_error ks i)) (columns b)) (fun _ => Some (map Pass (columns b)))
  else
  bind (mapo (fun i => bind (nth_error cs i) (fun c => bind (nth_error ks i) (fun k => raw_spread c k))) (columns b)) (fun ys =>
  bind (layers_spread (steps b) ys None) (fun zs =>
  match pinned b with
  | None => map2o cut_item (box b) zs
  | Some j => if Nat.eqb j (length (box b)) then mapo (pinned_item (forallb Spread.same zs)) (box b) else None
  end)).
Fixpoint encoder_items (cs : list coord) (ks : list known) (bs : list branch) : option (list item) :=
  match bs with
  | [] => Some []
  | b :: bs' => bind (branch_items cs ks b) (fun y => bind (encoder_items cs ks bs') (fun r => Some (y ++ r)))
  end.
Definition items_of (n : net) (ks : list known) : option (list item) :=
  if forallb scales (coords n) then
    match encoder n with None => Some (map Pass (seq 0 (length (coords n)))) | Some bs => encoder_items (coords n) ks bs end
  else None.

(** ** The premise on e *)
Fixpoint members (f i : nat) (cs : list coord) : list nat :=
  match cs with
  | [] => []
  | c :: cs' => if Nat.eqb (c_feature c) f then i :: members f (S i) cs' else members f (S i) cs'
  end.
Fixpoint takes (idx : list nat) (its : list item) : option (list item) :=
  match idx, its with
  | [], _ => Some its
  | i :: idx', Pass j :: its' => if Nat.eqb i j then takes idx' its' else None
  | _, _ => None
  end.
(* the coordinates of a category sum to one, of a witness *)
Fixpoint feature_sum (f : nat) (cs : list coord) (x : list num) : num :=
  match cs, x with
  | c :: cs', v :: x' => if Nat.eqb (c_feature c) f then add v (feature_sum f cs' x') else feature_sum f cs' x'
  | _, _ => zero
  end.
Definition one_hot_ok (cs : list coord) (x : list num) : bool :=
  andb (Nat.eqb (length x) (length cs))
    (forallb (fun c => orb (negb (c_group c)) (eqb (feature_sum (c_feature c) cs x) one)) cs).
(* a member of a category: 0 or 1 *)
Definition bit (c : coord) : bool := andb (c_whole c) (andb (leb zero (c_lo c)) (leb (c_hi c) one)).
(* which categories a copy allows: 1 is there, and 0 is there for all others *)
Definition allowed (ones zeros : list bool) : list nat :=
  filter (fun p => andb (nth p ones false) (forallb (fun q => orb (Nat.eqb q p) (nth q zeros false)) (seq 0 (length zeros))))
    (seq 0 (length ones)).
Definition one_ok (k : known) (v : num) : bool := andb (leb (k_low k) v) (leb v (k_high k)).
Definition pair_ok (gk : list known) (bad : list nat) (pr : nat * nat) : bool :=
  let at_ i v := match nth_error gk i with Some k => one_ok k v | None => false end in
  if Nat.eqb (fst pr) (snd pr) then match bad with [] => true | _ => false end
  else andb (andb (at_ (fst pr) one) (at_ (snd pr) (negT one)))
         (forallb (fun j => orb (Nat.eqb j (fst pr)) (Nat.eqb j (snd pr))) bad).
Definition group_slot (gk : list known) : DChecker.slot :=
  let al1 := allowed (map (fun k => leb one (k_h1 k)) gk) (map (fun k => leb (k_l1 k) zero) gk) in
  let al2 := allowed (map (fun k => leb one (k_h2 k)) gk) (map (fun k => leb (k_l2 k) zero) gk) in
  let bad := filter (fun j => match nth_error gk j with Some k => negb (one_ok k zero) | None => false end) (seq 0 (length gk)) in
  DChecker.SGroup (length gk) al1 al2 (filter (pair_ok gk bad) (list_prod al1 al2)).
Fixpoint slots_of (fuel : nat) (cs : list coord) (ks : list known) (its : list item) : option (list DChecker.slot) :=
  match its, fuel with
  | [], _ => Some []
  | _, O => None
  | Made s _ :: r, S f =>
      bind (slots_of f cs ks r) (fun l =>
      Some (DChecker.SPlain (DChecker.Plain (s_lo s) (s_hi s) (s_lo s) (s_hi s) (s_low s) (s_high s) false) :: l))
  | Pass i :: r, S f =>
      bind (nth_error cs i) (fun c => bind (nth_error ks i) (fun k =>
      if c_group c then
        let idx := members (c_feature c) 0 cs in
        bind (mapo (nth_error cs) idx) (fun gc => bind (mapo (nth_error ks) idx) (fun gk =>
        bind (takes idx its) (fun rest => bind (slots_of f cs ks rest) (fun l =>
        if forallb bit gc then Some (group_slot gk :: l) else None))))
      else bind (slots_of f cs ks r) (fun l =>
        Some (DChecker.SPlain (DChecker.Plain (k_l1 k) (k_h1 k) (k_l2 k) (k_h2 k) (k_low k) (k_high k) (c_whole c)) :: l))))
  end.

(* which input a coordinate of e passes on *)
Definition source (it : item) : option nat := match it with Pass i => Some i | Made _ _ => None end.
Definition over (k : bool) (srcs : list (option nat)) (ts : list term) : list num :=
  map (fun s => match s with Some i => coef k i ts | None => zero end) srcs.
Fixpoint count (i : nat) (srcs : list (option nat)) : nat :=
  match srcs with
  | [] => O
  | Some j :: r => if Nat.eqb i j then S (count i r) else count i r
  | None :: r => count i r
  end.
Definition once (srcs : list (option nat)) (ts : list term) : bool := forallb (fun t => Nat.eqb (count (snd t) srcs) 1) ts.
(* rows that are neither bounds nor strips *)
Definition is_extra (r : row) : bool :=
  match clean (terms r) with
  | [] => false
  | [_] => false
  | [(a, k, i); (b, l, j)] => negb (andb (Nat.eqb i j) (andb (negb (Bool.eqb k l)) (isz (add a b))))
  | _ => true
  end.
Definition extra_row (srcs : list (option nat)) (r : row) : list DChecker.row :=
  let ts := clean (terms r) in
  if andb (is_extra r) (once srcs ts) then [DChecker.Row (over false srcs ts) (over true srcs ts) (right r) (equal r)] else [].

(** ** The real function of e *)
Definition scale_of (cs : list coord) (f : coord -> num) (made : num) (it : item) : num :=
  match it with Pass i => match nth_error cs i with Some c => f c | None => made end | Made _ _ => made end.
Definition piece_of (m before : nat) (skip : bool) (r : list num * num) : DChecker.piece :=
  DChecker.Piece (snd r) (if skip then firstn m (fst r) else []) (repeat zero before ++ (if skip then skipn m (fst r) else fst r)).
(* affine gaps: c + rise·(u − u_lo) + fall·(u_hi − u), u_lo and u_hi the exact scaled ends *)
Definition scaled_end (f : coord -> num) (c : coord) : num := mul (c_mult c) (sub (f c) (c_shift c)).
Definition ends_piece (cs : list coord) (r : list num * num) : DChecker.piece :=
  let rise := firstn (length cs) (fst r) in
  let fall := skipn (length cs) (fst r) in
  DChecker.Piece (add (sub (snd r) (DChecker.dotT rise (map (scaled_end c_lo) cs))) (DChecker.dotT fall (map (scaled_end c_hi) cs)))
    (DChecker.axpy (negT one) fall rise) [].
Definition real_net (n : net) (its : list item) : DChecker.net :=
  let m := length its in
  DChecker.Net (map (scale_of (coords n) c_mult one) its) (map (scale_of (coords n) c_shift zero) its)
    (hidden (lower n) ++ hidden (second n))
    (map (piece_of m 0 (skips (lower n))) (sums (lower n)))
    (map (if ends n then ends_piece (coords n) else piece_of m (length (hidden (lower n))) (skips (second n))) (sums (second n)))
    (map fst (head n)).

(** ** Margins: sizes of exact values and errors of computed ones *)
Record known_err := Err { e_size : num; e_err : num }.
Definition item_err (cs : list coord) (it : item) : option known_err :=
  match it with
  | Pass i => bind (nth_error cs i) (fun c => Some (Err (mul (far c) (c_mult c)) (error c)))
  | Made _ b => Some (Err (maxT (negT (fst b)) (snd b)) zero)
  end.
(* LIN(w, b; Y, e), and Σ|w|Y + |b|; [None]: something may overflow *)
Definition row_err (Y E R : list num) (inputs : num) (r : list num * num) : option known_err :=
  let (row, b) := r in
  let n := length row in
  let total := norm (add (abs_dot row R) (absT b)) in
  let e := norm (add (abs_dot row E) (linear_err n total (abs_sum row) inputs)) in
  if andb (andb (Nat.eqb n (length R)) (fits_gamma n)) (ltb (add total e) hugeT)
  then Some (Err (norm (add (abs_dot row Y) (absT b))) e) else None.
Definition rows_err (i : list known_err) (rows : list (list num * num)) : option (list known_err) :=
  let R := map (fun a => norm (add (e_size a) (e_err a))) i in
  mapo (row_err (map e_size i) (map e_err i) R (norm (fold_right add zero R))) rows.
Definition part_err (p : part) (i : list known_err) : option (list known_err) :=
  bind (rows_err i (hidden p)) (fun h => rows_err ((if skips p then i else []) ++ h) (sums p)).
(* distances from the scaled ends, whose errors are those of inputs *)
Definition end_err (c : coord) (a : known_err) : option (known_err * known_err) :=
  let one_ f :=
    let size := norm (add (e_size a) (absT (scaled_end f c))) in
    let e := add (e_err a) (error c) in
    Err size (norm (add e (add (mul uT (add size e)) etaT))) in
  let small k := ltb (add (e_size k) (e_err k)) (add (twice hugeT) (twice hugeT)) in
  if andb (andb (leb (c_lo c) (c_hi c)) (andb (floatb (c_lo c)) (floatb (c_hi c)))) (andb (small (one_ c_lo)) (small (one_ c_hi)))
  then Some (one_ c_lo, one_ c_hi) else None.
Fixpoint ends_err (cs : list coord) (i : list known_err) : option (list known_err * list known_err) :=
  match cs, i with
  | c :: cs', a :: i' => bind (end_err c a) (fun p => bind (ends_err cs' i') (fun r => Some (fst p :: fst r, snd p :: snd r)))
  | [], [] => Some ([], [])
  | _, _ => None
  end.
Definition second_err (n : net) (i : list known_err) : option (list known_err) :=
  if ends n then bind (ends_err (coords n) i) (fun p => Some (fst p ++ snd p)) else Some i.
(* lower + second: e_L + e_S + u·(L + M + e_L + e_S) + η, size L + M; second itself: the larger of both *)
Definition upper_err (bx : boxes) (l s : known_err) : option known_err :=
  match bx with
  | Paper => Some (Err (maxT (e_size l) (e_size s)) (maxT (e_err l) (e_err s)))
  | Gap =>
  let size := norm (add (e_size l) (e_size s)) in
  let e := add (e_err l) (e_err s) in
  let e := norm (add e (add (mul uT (add size e)) etaT)) in
  if ltb (add size e) hugeT then Some (Err size e) else None
  end.
(* a power of two *)
Definition power (c : num) : bool := andb (Pos.eqb (de c) 1) (Z.eqb (man c) (2 ^ Z.log2 (man c))).
Definition head_err (Y E R : list num) (inputs : num) (h : list num * num * num) : option num :=
  let '(row, b, c) := h in
  let n := length row in
  let g := gammaT n in
  let total := norm (add (abs_dot row R) (absT b)) in
  let e := norm (add (abs_dot row E) (add (mul g total) (mul (mul (add one g) (mul etaT (maxT one c)))
             (add (add (fromZ (3 * Z.of_nat n + 3)) (abs_sum row)) inputs)))) in
  let small w := ltb (absT w) (mul hugeT c) in
  if andb (andb (andb (power c) (ltb zero c)) (andb (andb (Nat.eqb n (length R)) (fits_gamma n)) (forallb floatb (b :: row))))
       (andb (andb (forallb small row) (small b)) (andb (ltb (add total e) hugeT) (ltb (add total e) (mul hugeT c))))
  then Some e else None.
Definition margins_of (n : net) (its : list item) : option (list num) :=
  bind (mapo (item_err (coords n)) its) (fun i =>
  bind (part_err (lower n) i) (fun l => bind (second_err n i) (fun j => bind (part_err (second n) j) (fun s =>
  bind (map2o (upper_err (kind n)) l s) (fun z =>
  let R := map (fun a => norm (add (e_size a) (e_err a))) z in
  mapo (head_err (map e_size z) (map e_err z) R (norm (fold_right add zero R))) (head n)))))).

(** ** A claim's premise and network, made ready once; then row by row *)
Record ready := Ready {
  r_slots : list DChecker.slot; r_rows : list DChecker.row; r_sources : list (option nat); r_net : DChecker.net; r_errors : list num;
  r_kind : boxes;
  r_pinned : list bool }.   (* coordinates of e that are equal in both copies: a split of one names both *)
Definition shapes (n : net) (m : nat) : bool :=
  let ok p := forallb (fun r => Nat.eqb (length (fst r)) ((if skips p then m else O) + length (hidden p))) (sums p) in
  let affine r := Nat.eqb (length (fst r)) (m + m) in
  andb (ok (lower n))
    (if ends n then
      andb (andb (Nat.eqb (length (coords n)) m) (forallb affine (sums (second n))))
        (andb (skips (second n)) (match hidden (second n), encoder n with [], None => true | _, _ => false end))
    else ok (second n)).
Definition pinned_in (ks : list known) (it : item) : bool :=
  match it with Pass i => match nth_error ks i with Some k => k_pinned k | None => false end | Made s _ => Spread.same s end.
Definition prepare (n : net) (p : premise) : option ready :=
  bind (ground (coords n) p) (fun ks => bind (items_of n ks) (fun its =>
  bind (slots_of (length its) (coords n) ks its) (fun sl => bind (margins_of n its) (fun es =>
  let srcs := map source its in
  let real := real_net n its in
  let wide := match kind n with   (* gaps are nowhere negative *)
    | Gap => andb (forallb (DChecker.nonneg real sl false) (DChecker.second real)) (forallb (DChecker.nonneg real sl true) (DChecker.second real))
    | Paper => true
    end in
  if andb (andb (shapes n (length its)) (forallb (leb zero) es)) wide
  then Some (Ready sl (flat_map (extra_row srcs) (when p)) srcs real es (kind n) (map (pinned_in ks) its)) else None)))).

Definition row_goal (r : ready) (g : goal) : DChecker.goal :=
  let outs_of k := map (fun o => coef k o (outs g)) (seq 0 (length (DChecker.head (r_net r)))) in
  DChecker.Goal (outs_of false) (outs_of true) (over false (r_sources r) (ins g)) (over true (r_sources r) (ins g)) (g_right g) (r_errors r).
(* how a row is shown *)
Inductive way :=
| Tree (ls : list DChecker.lemma) (t : DChecker.tree)
| Flips (ls : list DChecker.lemma) (t : DPaper.ptree)        (* paper boxes *)
| Sweep (cuts1 cuts2 : list num)
| Slope (t : DSlope.stree)
| Signs (nus : list (list num)).
(* shapes fit, and gaps are nowhere negative *)
Definition wide (n : DChecker.net) (sl : list DChecker.slot) : bool :=
  andb (DChecker.fits n sl)
    (andb (forallb (DChecker.nonneg n sl false) (DChecker.second n)) (forallb (DChecker.nonneg n sl true) (DChecker.second n))).
Definition real_bound (r : ready) (d : DChecker.goal) (w : way) : DChecker.res :=
  match w, r_kind r with
  | Tree ls t, Gap => DChecker.run (r_net r) (r_slots r) (r_rows r) d ls t
  | Flips ls t, Paper => DPaper.prun (r_net r) (r_slots r) (r_rows r) d ls t
  | Sweep c1 c2, Gap => DSweep.gap_sweep (r_net r) (r_slots r) d c1 c2
  | Sweep c1 c2, Paper => DSweep.paper_sweep (r_net r) (r_slots r) d c1 c2
  | Slope t, Gap => if andb (wide (r_net r) (r_slots r)) (DSlope.slope (r_net r) (r_slots r) d t) then DChecker.Bound zero else DChecker.Rejected
  | Signs nus, Gap =>
      if andb (wide (r_net r) (r_slots r)) (DSigns.signs (r_net r) (r_slots r) (r_rows r) d nus) then DChecker.Bound zero else DChecker.Rejected
  | _, _ => DChecker.Rejected
  end.
(* the bound of a row and its margin *)
Definition row_bound (r : ready) (g : goal) (w : way) : option (num * num) :=
  let d := row_goal r g in
  if andb (below (length (DChecker.head (r_net r))) (outs g)) (once (r_sources r) (ins g)) then
    match real_bound r d w with
    | DChecker.Bound b => Some (norm b, norm (add (DChecker.margin (DChecker.a1 d) (r_errors r)) (DChecker.margin (DChecker.a2 d) (r_errors r))))
    | _ => None
    end
  else None.
(* section 5.4: bound + margin <= right side + what room counts *)
Definition accepts (g : goal) (room : num) (found : num * num) : bool :=
  leb (add (fst found) (snd found)) (add (g_right g) (minT room (twice (snd found)))).

(** ** The mirror rule: the premise on e is symmetric, and the row is another one with its copies exchanged *)
Definition swaps (s : DChecker.slot) : bool :=
  match s with
  | DChecker.SPlain c => andb (andb (eqb (DChecker.lo1 c) (DChecker.lo2 c)) (eqb (DChecker.hi1 c) (DChecker.hi2 c))) (isz (add (DChecker.dlo c) (DChecker.dhi c)))
  | DChecker.SGroup n al1 al2 pairs =>
      andb (andb (forallb (fun p => existsb (Nat.eqb p) al2) al1) (forallb (fun p => existsb (Nat.eqb p) al1) al2))
        (forallb (fun q => let back := map snd (filter (fun pr => Nat.eqb (fst pr) q) pairs) in
                           forallb (fun pr => orb (negb (Nat.eqb (snd pr) q)) (existsb (Nat.eqb (fst pr)) back)) pairs) (seq 0 n))
  end.
Fixpoint same_nums (a b : list num) : bool :=
  match a, b with x :: a', y :: b' => andb (eqb x y) (same_nums a' b') | [], [] => true | _, _ => false end.
Definition mirrors (r : ready) (g of_ : goal) : bool :=
  let d := row_goal r g in
  let e := row_goal r of_ in
  andb (andb (forallb swaps (r_slots r)) (match r_rows r with [] => true | _ => false end))
    (andb (andb (andb (below (length (DChecker.head (r_net r))) (outs g)) (once (r_sources r) (ins g))) (eqb (g_right g) (g_right of_)))
      (andb (andb (same_nums (DChecker.a1 d) (DChecker.a2 e)) (same_nums (DChecker.a2 d) (DChecker.a1 e)))
            (andb (same_nums (DChecker.b1 d) (DChecker.b2 e)) (same_nums (DChecker.b2 d) (DChecker.b1 e))))).
(* a row is shown in its own way, or in that of an earlier row whose mirror it is *)
Inductive shown := Own (w : way) | Mirror (of_ : goal) (w : way).
Definition bound_of (r : ready) (g : goal) (s : shown) : option (num * num) :=
  match s with
  | Own w => row_bound r g w
  | Mirror of_ w => if mirrors r g of_ then row_bound r of_ w else None
  end.
