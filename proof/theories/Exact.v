(** More on exact numbers m/(2^e·d): lowest terms, division, the constants of section 5.1, and which are float64. *)
From Coq Require Import Reals List Bool Lra Lia ZArith.
From Flocq Require Import Core.
From Smile Require Import Num Leaf Reduction LeafSound Float Binary64.
Import ListNotations DOps DSpec.
Open Scope R_scope.

Definition num := DOps.T.
Definition ltb (a b : num) : bool := negb (leb b a).
Definition eqb (a b : num) : bool := andb (leb a b) (leb b a).
Definition fromZ (z : Z) : num := dyad z 0.

Definition maxT (a b : num) : num := if leb a b then b else a.
Definition minT (a b : num) : num := if leb a b then a else b.
Definition negT (a : num) : num := sub zero a.
Definition absT (a : num) : num := if leb zero a then a else negT a.

(** lowest terms; the divisions are checked, so nothing has to be known of [Z.gcd] *)
Definition trailing (z : Z) : Z := Z.log2 (Z.land z (- z)).
Definition norm (a : num) : num :=
  let d := (two (ex a) * Zpos (de a))%Z in
  let g := Z.gcd (man a) d in
  let m := (man a / g)%Z in
  let q := (d / g)%Z in
  let t := Z.to_N (trailing q) in
  let r := Z.shiftr q (Z.of_N t) in
  if andb (andb (Z.eqb (m * g) (man a)) (Z.eqb (q * g) d)) (andb (Z.eqb (Z.shiftl r (Z.of_N t)) q) (andb (Z.ltb 0 g) (Z.ltb 0 r)))
  then mk m t (Z.to_pos r) else a.
(** binary digits of the denominator of a number in lowest terms *)
Definition digits (a : num) : Z := (Z.log2 (Zpos (de a)) + 1 + Z.of_N (ex a))%Z.

Definition div (a b : num) : num :=
  let n := (man a * (Zpos (de b) * two (ex b)))%Z in
  mk (if Z.ltb (man b) 0 then - n else n) (ex a) (Z.to_pos (Zpos (de a) * Z.abs (man b))).
Definition ceil (a : num) : num := negT (floor (negT a)).

Definition uT : num := dyad 1 53.
Definition etaT : num := dyad 1 126.
Definition hugeT : num := fromZ (2 ^ 1000).
Definition topT : num := fromZ (2 ^ 1024).
(* γ = (n + 5)·u / (1 − (n + 5)·u) *)
Definition fits_gamma (n : nat) : bool := Z.ltb (Z.of_nat n + 5) (2 ^ 53).
Definition gammaT (n : nat) : num := frac (Z.of_nat n + 5) (Z.to_pos (2 ^ 53 - (Z.of_nat n + 5))).

(** m·2^t with |m| < 2^53 and t ≥ −1074 is a float64, and is below 2^1024 *)
Definition floatb (a : num) : bool :=
  let t := trailing (man a) in
  let m := Z.shiftr (man a) t in
  andb (Pos.eqb (de a) 1)
    (orb (Z.eqb (man a) 0)
      (andb (Z.eqb (Z.shiftl m t) (man a)) (andb (Z.ltb (Z.abs m) (2 ^ 53)) (andb (Z.leb 0 t) (Z.leb (-1074) (t - Z.of_N (ex a))))))).

(** ** What they are *)
Lemma ltb_spec a b : ltb a b = true -> val a < val b.
Proof. unfold ltb. rewrite negb_true_iff. apply DSound.leb_f. Qed.
Lemma leb_val a b : leb a b = true -> val a <= val b.
Proof. apply leb_spec. Qed.
Lemma val_fromZ z : val (fromZ z) = IZR z.
Proof. unfold fromZ. rewrite val_dyad. simpl. field. Qed.
Lemma val_maxT a b : val (maxT a b) = Rmax (val a) (val b). Proof. apply DSound.val_max. Qed.
Lemma val_minT a b : val (minT a b) = Rmin (val a) (val b). Proof. apply DSound.val_min. Qed.
Lemma val_absT a : val (absT a) = Rabs (val a). Proof. apply DSound.val_abs. Qed.
Lemma val_negT a : val (negT a) = - val a. Proof. apply DSound.val_neg. Qed.
Lemma eqb_spec a b : eqb a b = true -> val a = val b.
Proof. unfold eqb. rewrite andb_true_iff. intros [H1 H2]. apply leb_val in H1. apply leb_val in H2. lra. Qed.

Lemma val_norm a : val (norm a) = val a.
Proof.
  unfold norm. set (d := (two (ex a) * Zpos (de a))%Z). set (g := Z.gcd (man a) d). set (m := (man a / g)%Z).
  set (q := (d / g)%Z). set (t := Z.to_N (trailing q)). set (r := Z.shiftr q (Z.of_N t)).
  destruct (andb _ _) eqn:E; [|reflexivity].
  rewrite !andb_true_iff, !Z.eqb_eq, !Z.ltb_lt in E. destruct E as [[E1 E2] [E3 [E4 E5]]].
  unfold val. cbn [man ex de]. rewrite Z2Pos.id by exact E5. rewrite <- !mult_IZR. fold d.
  rewrite Z.shiftl_mul_pow2 in E3 by lia. rewrite two_pow, (Z.mul_comm (2 ^ Z.of_N t)), E3, <- E1, <- E2.
  assert (0 < d)%Z. { unfold d. pose proof (two_pos (ex a)) as H. apply lt_IZR in H. nia. }
  assert (0 < q)%Z by nia. rewrite !mult_IZR.
  assert (0 < IZR g) by (apply IZR_lt; exact E4). assert (0 < IZR q) by (apply IZR_lt; assumption). field. lra.
Qed.
Lemma val_div a b : val b <> 0 -> val (div a b) = val a / val b.
Proof.
  intro H. assert (N : (man b <> 0)%Z).
  { intro F. apply H. unfold val. rewrite F. unfold Rdiv. ring. }
  unfold val, div. cbn [man ex de]. rewrite Z2Pos.id by (assert (0 < Z.abs (man b))%Z by lia; nia).
  pose proof (two_pos (ex a)). pose proof (two_pos (ex b)). pose proof (de_pos (de a)). pose proof (de_pos (de b)).
  assert (IZR (man b) <> 0) by (intro F; apply N, eq_IZR; exact F).
  destruct (Z.ltb_spec (man b) 0).
  - rewrite Z.abs_neq by lia. rewrite ?opp_IZR, !mult_IZR, ?opp_IZR. field. repeat split; lra.
  - rewrite Z.abs_eq by lia. rewrite !mult_IZR. field. repeat split; lra.
Qed.
Lemma floor_le a : val (floor a) <= val a.
Proof. destruct (floor_spec a) as [z [-> H]]. lra. Qed.
Lemma floor_whole a z : IZR z <= val a -> IZR z <= val (floor a).
Proof.
  destruct (floor_spec a) as [y [-> H]]. intro L. apply IZR_le.
  assert (z < y + 1)%Z by (apply lt_IZR; rewrite plus_IZR; lra). lia.
Qed.
Lemma ceil_whole a z : val a <= IZR z -> val (ceil a) <= IZR z.
Proof.
  intro L. unfold ceil. rewrite val_negT.
  assert (IZR (- z) <= val (floor (negT a))) by (apply floor_whole; rewrite val_negT, opp_IZR; lra).
  rewrite opp_IZR in *. lra.
Qed.
Lemma bpow_IZR e : (0 <= e)%Z -> bpow radix2 e = IZR (2 ^ e).
Proof. intro. rewrite <- IZR_Zpower by assumption. reflexivity. Qed.
Lemma val_uT : val uT = u.
Proof. unfold uT, u. rewrite val_dyad, bpow_opp with (e := 53%Z). rewrite (bpow_IZR 53) by lia. simpl Z.of_N. unfold Rdiv. ring. Qed.
Lemma val_etaT : val etaT = eta.
Proof. unfold etaT, eta. rewrite val_dyad, bpow_opp with (e := 126%Z). rewrite (bpow_IZR 126) by lia. simpl Z.of_N. unfold Rdiv. ring. Qed.
Lemma val_hugeT : val hugeT = huge.
Proof. unfold hugeT, huge. rewrite val_fromZ, bpow_IZR by lia. reflexivity. Qed.
Lemma val_topT : val topT = top.
Proof. unfold topT, top. rewrite val_fromZ, bpow_IZR by lia. reflexivity. Qed.
Lemma fits_gamma_spec n : fits_gamma n = true -> INR (n + 5) * u < 1.
Proof.
  unfold fits_gamma. rewrite Z.ltb_lt. intro H. rewrite INR_IZR_INZ, Nat2Z.inj_add. change (Z.of_nat 5) with 5%Z.
  apply IZR_lt in H. unfold u. rewrite bpow_opp with (e := 53%Z), bpow_IZR by lia.
  assert (0 < IZR (2 ^ 53)) by (apply IZR_lt; reflexivity).
  apply Rmult_lt_reg_r with (IZR (2 ^ 53)); [assumption|]. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.
Lemma val_gammaT n : fits_gamma n = true -> val (gammaT n) = gam (n + 5).
Proof.
  intro H. unfold gammaT, gam. rewrite val_frac. unfold fits_gamma in H. rewrite Z.ltb_lt in H.
  rewrite Z2Pos.id by lia. rewrite INR_IZR_INZ, Nat2Z.inj_add. change (Z.of_nat 5) with 5%Z.
  unfold u. rewrite bpow_opp with (e := 53%Z), bpow_IZR by lia. rewrite minus_IZR.
  assert (0 < IZR (2 ^ 53)) by (apply IZR_lt; reflexivity). apply IZR_lt in H. field. lra.
Qed.
Lemma floatb_spec a : floatb a = true -> fmt (val a).
Proof.
  unfold floatb. rewrite andb_true_iff, Pos.eqb_eq, orb_true_iff, Z.eqb_eq, !andb_true_iff, Z.eqb_eq, Z.ltb_lt, !Z.leb_le.
  intros [D [Z|[E [B [T0 T1]]]]].
  - unfold val. rewrite Z. unfold Rdiv. rewrite Rmult_0_l. apply generic_format_0.
  - rewrite Z.shiftl_mul_pow2 in E by exact T0. set (t := trailing (man a)) in *. set (m := Z.shiftr (man a) t) in *.
    apply generic_format_FLT. exists (Float radix2 m (t - Z.of_N (ex a))); simpl; auto.
    unfold F2R, val. cbn [Fnum Fexp]. rewrite D, <- E, mult_IZR, two_pow.
    unfold Zminus. rewrite bpow_plus, bpow_opp, !bpow_IZR by lia. unfold Rdiv. rewrite Rmult_1_r. ring.
Qed.
