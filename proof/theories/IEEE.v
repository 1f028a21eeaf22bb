(** [fl] is IEEE 754: where it gives a number, Flocq's binary64 addition, subtraction, multiplication and division of
    finite floats give a finite float of that value. *)
From Coq Require Import Reals ZArith Lia Lra.
From Flocq Require Import Core IEEE754.BinarySingleNaN.
From Smile Require Import Float Binary64.
Open Scope R_scope.

#[local] Instance prec53 : Prec_gt_0 53. Proof. unfold Prec_gt_0. lia. Qed.
#[local] Instance emax1024 : Prec_lt_emax 53 1024. Proof. unfold Prec_lt_emax. lia. Qed.
Notation float := (binary_float 53 1024).
Notation real := (@B2R 53 1024).

Lemma in_range x v : fl x = Some v ->
  Rlt_bool (Rabs (round radix2 (SpecFloat.fexp 53 1024) (round_mode mode_NE) x)) (bpow radix2 1024) = true /\
  v = round radix2 (SpecFloat.fexp 53 1024) (round_mode mode_NE) x.
Proof.
  unfold fl. change (SpecFloat.fexp 53 1024) with (FLT_exp (-1074) 53). simpl round_mode.
  destruct (Rlt_bool (Rabs (rnd x)) top) eqn:E; [|discriminate]. intro H. injection H as <-. split; [exact E | reflexivity].
Qed.
Theorem fl_plus (x y : float) v : is_finite x = true -> is_finite y = true -> fl (real x + real y) = Some v ->
  is_finite (Bplus mode_NE x y) = true /\ real (Bplus mode_NE x y) = v.
Proof.
  intros Fx Fy H. destruct (in_range _ _ H) as [R ->]. pose proof (Bplus_correct 53 1024 _ _ mode_NE x y Fx Fy) as C.
  rewrite R in C. tauto.
Qed.
Theorem fl_minus (x y : float) v : is_finite x = true -> is_finite y = true -> fl (real x - real y) = Some v ->
  is_finite (Bminus mode_NE x y) = true /\ real (Bminus mode_NE x y) = v.
Proof.
  intros Fx Fy H. destruct (in_range _ _ H) as [R ->]. pose proof (Bminus_correct 53 1024 _ _ mode_NE x y Fx Fy) as C.
  rewrite R in C. tauto.
Qed.
Theorem fl_mult (x y : float) v : is_finite x = true -> is_finite y = true -> fl (real x * real y) = Some v ->
  is_finite (Bmult mode_NE x y) = true /\ real (Bmult mode_NE x y) = v.
Proof.
  intros Fx Fy H. destruct (in_range _ _ H) as [R ->]. pose proof (Bmult_correct 53 1024 _ _ mode_NE x y) as C.
  rewrite R, Fx, Fy in C. tauto.
Qed.
Theorem fl_div (x y : float) v : is_finite x = true -> real y <> 0 -> fl (real x / real y) = Some v ->
  is_finite (Bdiv mode_NE x y) = true /\ real (Bdiv mode_NE x y) = v.
Proof.
  intros Fx Fy H. destruct (in_range _ _ H) as [R ->]. pose proof (Bdiv_correct 53 1024 _ _ mode_NE x y Fy) as C.
  rewrite R, Fx in C. tauto.
Qed.
