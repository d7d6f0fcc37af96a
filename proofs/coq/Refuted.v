(** Printed statements that are false, at the witnesses of the ledger. *)
From Coq Require Import Reals Lra.
Open Scope R_scope.

(** Li et al. 2020, Lemma 1: the gain changes by at most (3 lambda + 2)/((lambda + 1)(lambda + 2)) g*^2. *)
Definition lemma_1 : Prop := forall lam b n G g : R, 0 < lam -> 0 < b -> 0 <= n -> Rabs G <= n * b -> Rabs g <= b ->
  Rabs ((G + g) * (G + g) / (n + 1 + lam) - G * G / (n + lam)) <= (3 * lam + 2) / ((lam + 1) * (lam + 2)) * (b * b).
Theorem lemma_1_false : ~ lemma_1.
Proof.
  intro H. specialize (H (1 / 10) 1 10 (- (10)) 1). assert (L : Rabs ((-(10) + 1) * (-(10) + 1) / (10 + 1 + 1 / 10) - -(10) * -(10) / (10 + 1 / 10))
    <= (3 * (1 / 10) + 2) / ((1 / 10 + 1) * (1 / 10 + 2)) * (1 * 1)).
  { apply H; try lra; apply Rabs_le; lra. }
  unfold Rabs in L. destruct (Rcase_abs _); lra.
Qed.

(** Zhao et al. 2018, section V-A: residuals 2 y / (1 + exp(2 y f)) lie in [-1, 1]. The witness: label 1, score -1/2. *)
Definition residuals_within_1 : Prop := forall y f : R, y = 1 \/ y = - 1 -> Rabs (2 * y / (1 + exp (2 * y * f))) <= 1.
Theorem residual_bound_false : ~ residuals_within_1.
Proof.
  intro H. assert (L := H 1 (- (1 / 2)) (or_introl eq_refl)). set (u := exp (2 * 1 * - (1 / 2))) in L.
  assert (E : u < exp 0) by (apply exp_increasing; lra). rewrite exp_0 in E. assert (P : 0 < u) by apply exp_pos. clearbody u.
  assert (K : 1 < 2 * 1 / (1 + u)).
  { apply Rmult_lt_reg_r with (1 + u); [lra|]. replace (2 * 1 / (1 + u) * (1 + u)) with 2 by (field; lra). lra. }
  assert (A := Rle_abs (2 * 1 / (1 + u))). lra.
Qed.

(** The same for square loss, y - f with both in [-1, 1]. The witness: label 1, score -1. *)
Theorem square_residual_bound_false : ~ (forall y f : R, Rabs y <= 1 -> Rabs f <= 1 -> Rabs (y - f) <= 1).
Proof.
  intro H. assert (L : Rabs (1 - - (1)) <= 1) by (apply H; apply Rabs_le; lra). rewrite Rabs_right in L; lra.
Qed.
