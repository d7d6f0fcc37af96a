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

(** Zhao et al. 2018, section V-A: residuals 2 y / (1 + exp(2 y f)) lie in [-1, 1]. The witness: label 1, score -1. *)
Definition residuals_within_1 : Prop := forall y f : R, y = 1 \/ y = - 1 -> Rabs (2 * y / (1 + exp (2 * y * f))) <= 1.
Theorem residual_bound_false : ~ residuals_within_1.
Proof.
  intro H. specialize (H 1 (- (1)) (or_introl eq_refl)). replace (2 * 1 * - (1)) with (- (2)) in H by ring.
  assert (E : exp (- (2)) < 1) by (rewrite <- exp_0; apply exp_increasing; lra). assert (P := exp_pos (- (2))).
  set (u := exp (- (2))) in *. clearbody u. assert (L : 1 < 2 * 1 / (1 + u)).
  { apply Rmult_lt_reg_r with (1 + u); [lra|]. replace (2 * 1 / (1 + u) * (1 + u)) with 2 by (field; lra). lra. }
  rewrite Rabs_right in H; lra.
Qed.
