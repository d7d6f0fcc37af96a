(** What Formulas.v is proved with: a formula as Python computes it and the text's, in the reals. *)
From Coq Require Import List Arith Bool Reals Lra Lia.
From DP Require Import Program Bounds Privacy Sums Blocks.
From DP Require FedGBDT.
Open Scope R_scope.

Lemma nth_block {A} (f : nat -> A) n t d : (t < n)%nat -> nth t (map f (seq 0 n)) d = f t.
Proof.
  intro H. rewrite nth_indep with (d' := f 0%nat) by (rewrite map_length, seq_length; exact H).
  rewrite map_nth, seq_nth by exact H. reflexivity.
Qed.
Lemma S_minus_1 n : INR (S n) - 1 = INR n.
Proof. rewrite S_INR. ring. Qed.
Lemma cut_either_way c x : 0 <= c -> Rmax (- c) (Rmin c x) = Rmin (Rmax x (- c)) c.
Proof. intro H. unfold Rmax, Rmin. repeat destruct (Rle_dec _ _); lra. Qed.
Ltac equations := repeat match goal with
  | H : @eq nat _ _ |- _ => rewrite ?H; clear H | H : @eq bool _ _ |- _ => rewrite ?H; clear H
  | H : @eq FedGBDT.method _ _ |- _ => rewrite ?H; clear H | H : @eq R _ _ |- _ => rewrite ?H; clear H
  | H : forall s y, _ = _ |- _ => rewrite ?H; clear H end.
Lemma numerals : INR 0 = 0 /\ INR 1 = 1 /\ INR 2 = 2 /\ INR 3 = 3 /\ INR 4 = 4 /\ INR 9 = 9.
Proof. simpl. lra. Qed.
Ltac texts := equations;
  rewrite ?minimum_R, ?maximum_R, ?absolute_R, ?clip_R, ?times_R, ?natural_R, ?mult_INR, ?power_R;
  destruct numerals as (Z0 & Z1 & Z2 & Z3 & Z4 & Z9); rewrite ?Z0, ?Z1, ?Z2, ?Z3, ?Z4, ?Z9; clear Z0 Z1 Z2 Z3 Z4 Z9;
  unfold clipR; cbn [add sub mul div opp leb zero one grid grid_down numR fst snd negb];
  rewrite ?cut_either_way by assumption; rewrite ?minimum_R, ?maximum_R;
  repeat match goal with
    | |- context [if leR ?a ?b then _ else _] => destruct (leR a b)
    | |- context [if negb (leR ?a ?b) then _ else _] => destruct (leR a b); cbn [negb] end;
  rewrite ?Rmult_1_l, ?Rmult_1_r, ?Rmult_0_l, ?Rplus_0_r, ?Rplus_0_l.
(** Arithmetic of fields without conditions: 1/0 is 0, and 1/(x y) is 1/x 1/y, in Coq's reals. *)
Ltac inverses := unfold Rdiv; rewrite ?Rinv_mult, ?Rinv_inv, ?Rinv_1;
  repeat match goal with |- context [Rinv ?x] =>
    lazymatch x with IZR _ => fail | _ => let i := fresh in set (i := Rinv x); clearbody i end end;
  field.
Ltac same := first [reflexivity | solve [ring] | solve [inverses] | lazymatch goal with
  | |- ?f _ _ = ?f _ _ => apply (f_equal2 f); same
  | |- ?f _ = ?f _ => apply (f_equal f); same end].
Ltac formula := intros; texts; same.
(** Where something must not be 0. *)
Ltac fraction := intros; texts; field; lra.
Lemma sumR_times {A} (f : A -> R) c l : sumR (fun x => f x * c) l = sumR f l * c.
Proof. induction l; simpl; [ring|]. rewrite IHl. ring. Qed.
(** Queries of equal cost: k of them cost what all may. *)
Lemma queries_cost squared m k : 0 < m -> 0 < k -> 0 < squared ->
  k * (squared / (2 * (sqrt squared / (m / sqrt k) * (sqrt squared / (m / sqrt k))))) = m * m / 2.
Proof.
  intros M K Q. assert (A := sqrt_lt_R0 k K). assert (B := sqrt_lt_R0 squared Q).
  rewrite <- (sqrt_sqrt k) at 1 by lra. rewrite <- (sqrt_sqrt squared) at 1 by lra. field. lra.
Qed.
