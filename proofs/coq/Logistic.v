(** Rational bounds of exp and of the logistic function, with which runs with the log loss are replayed. *)
From Coq Require Import Bool ZArith QArith Qround Reals Qreals Lra Lia.
Open Scope R_scope.

Definition bits : Z := 2 ^ 120.
Definition below (x : Q) : Q := (Qfloor (x * inject_Z bits) # Z.to_pos bits)%Q.
Definition above (x : Q) : Q := (Qceiling (x * inject_Z bits) # Z.to_pos bits)%Q.
Lemma bits_R : Q2R (inject_Z bits) = IZR bits.
Proof. unfold Q2R, inject_Z. simpl. field. Qed.
Lemma part_R z : Q2R (z # Z.to_pos bits) * IZR bits = IZR z.
Proof. unfold Q2R. cbn [Qnum Qden]. replace (Z.pos (Z.to_pos bits)) with bits by reflexivity. field. apply not_0_IZR. discriminate. Qed.
Lemma below_R x : Q2R (below x) <= Q2R x.
Proof.
  apply Rmult_le_reg_r with (IZR bits); [apply IZR_lt; reflexivity|]. unfold below. rewrite part_R, <- bits_R, <- Q2R_mult.
  assert (H := Qfloor_le (x * inject_Z bits)). apply Qle_Rle in H. unfold Q2R at 1 in H. cbn in H. rewrite Rinv_1, Rmult_1_r in H. exact H.
Qed.
Lemma above_R x : Q2R x <= Q2R (above x).
Proof.
  apply Rmult_le_reg_r with (IZR bits); [apply IZR_lt; reflexivity|]. unfold above. rewrite part_R, <- bits_R, <- Q2R_mult.
  assert (H := Qle_ceiling (x * inject_Z bits)). apply Qle_Rle in H. unfold Q2R at 2 in H. cbn in H. rewrite Rinv_1, Rmult_1_r in H. exact H.
Qed.

Lemma below_nonneg x : 0 <= Q2R x -> 0 <= Q2R (below x).
Proof.
  intro H. apply Rmult_le_reg_r with (IZR bits); [apply IZR_lt; reflexivity|]. rewrite Rmult_0_l. unfold below. rewrite part_R. apply IZR_le.
  rewrite <- (Qfloor_Z 0). apply Qfloor_resp_le. apply Rle_Qle. rewrite Q2R_mult, bits_R. change (inject_Z 0) with 0%Q. rewrite RMicromega.Q2R_0.
  apply Rmult_le_pos; [exact H|apply IZR_le; discriminate].
Qed.

(** (1 + x/2^k)^(2^k) from below, (1 - x/2^k)^-(2^k) from above, by squaring k times. *)
Fixpoint squares (round : Q -> Q) (k : nat) (x : Q) : Q := match k with O => x | S k => squares round k (round (x * x)%Q) end.
Definition halvings : nat := 40.
Fixpoint halved (k : nat) (x : Q) : Q := match k with O => x | S k => (halved k x * (1 # 2))%Q end.
Definition part := halved halvings.
Definition exp_below (x : Q) : Q := (if Qle_bool 0 (1 + part (below x)) then squares below halvings (1 + part (below x)) else 0)%Q.
Definition exp_above (x : Q) : option Q :=
  (if Qle_bool (1 - part (above x)) 0 then None else Some (squares above halvings (above (/ (1 - part (above x)))%Q)))%Q.
Lemma exp_double x : exp (2 * x) = exp x * exp x.
Proof. replace (2 * x) with (x + x) by ring. apply exp_plus. Qed.
Lemma exp_le x y : x <= y -> exp x <= exp y.
Proof. intros [L| ->]; [left; apply exp_increasing, L|right; reflexivity]. Qed.
Lemma exp_line x : 1 + x <= exp x.
Proof. destruct (Req_dec x 0) as [->|N]; [rewrite exp_0; lra|]. left. apply exp_ineq1, N. Qed.
Lemma squares_below k : forall q x, 0 <= Q2R q -> Q2R q <= exp x -> Q2R (squares below k q) <= exp (2 ^ k * x).
Proof.
  induction k as [|k IH]; intros q x P H; cbn [squares].
  - simpl. rewrite Rmult_1_l. exact H.
  - replace (2 ^ S k * x) with (2 ^ k * (2 * x)) by (simpl; ring). apply IH.
    + apply below_nonneg. rewrite Q2R_mult. apply Rmult_le_pos; exact P.
    + eapply Rle_trans; [apply below_R|]. rewrite Q2R_mult, exp_double. apply Rmult_le_compat; assumption.
Qed.
Lemma squares_above k : forall q x, exp x <= Q2R q -> exp (2 ^ k * x) <= Q2R (squares above k q).
Proof.
  induction k as [|k IH]; intros q x H; cbn [squares].
  - simpl. rewrite Rmult_1_l. exact H.
  - replace (2 ^ S k * x) with (2 ^ k * (2 * x)) by (simpl; ring). apply IH. eapply Rle_trans; [|apply above_R]. rewrite Q2R_mult, exp_double.
    assert (P := exp_pos x). apply Rmult_le_compat; lra.
Qed.
Lemma halved_whole k x : 2 ^ k * Q2R (halved k x) = Q2R x.
Proof. induction k as [|k IH]; cbn [halved pow]; [ring|]. rewrite Q2R_mult. unfold Q2R at 2. cbn [Qnum Qden]. rewrite <- IH. field. Qed.
Lemma part_whole x : 2 ^ halvings * Q2R (part x) = Q2R x.
Proof. apply halved_whole. Qed.
#[local] Opaque halvings.
Lemma some_same (a b : Q) : Some a = Some b -> a = b.
Proof. intro H. injection H. trivial. Qed.
Theorem exp_below_R x : Q2R (exp_below x) <= exp (Q2R x).
Proof.
  unfold exp_below. destruct (Qle_bool 0 _) eqn:E; [|rewrite RMicromega.Q2R_0; left; apply exp_pos].
  apply Qle_bool_iff, Qle_Rle in E. rewrite RMicromega.Q2R_0 in E. apply Rle_trans with (exp (Q2R (below x))); [|apply exp_le, below_R].
  rewrite <- (part_whole (below x)). apply squares_below; [exact E|]. rewrite Q2R_plus, RMicromega.Q2R_1. apply exp_line.
Qed.
Theorem exp_above_R x u : exp_above x = Some u -> exp (Q2R x) <= Q2R u.
Proof.
  unfold exp_above. destruct (Qle_bool _ 0) eqn:E; [discriminate|]. intro H. apply some_same in H. subst u.
  assert (P : 0 < Q2R (1 - part (above x))).
  { apply Rnot_le_lt. intro N. rewrite <- RMicromega.Q2R_0 in N. apply Rle_Qle, Qle_bool_iff in N. congruence. }
  apply Rle_trans with (exp (Q2R (above x))); [apply exp_le, above_R|]. rewrite <- (part_whole (above x)). apply squares_above.
  eapply Rle_trans; [|apply above_R]. assert (N : ~ (1 - part (above x) == 0)%Q).
  { intro Q. apply Qeq_eqR in Q. rewrite RMicromega.Q2R_0 in Q. lra. }
  rewrite Q2R_inv by exact N. set (t := Q2R (part (above x))). assert (T : Q2R (1 - part (above x)) = 1 - t) by (rewrite Q2R_minus, RMicromega.Q2R_1; reflexivity).
  rewrite T in *. assert (L := exp_line (- t)). rewrite exp_Ropp in L. assert (A := exp_pos t).
  apply Rmult_le_reg_r with (1 - t); [exact P|]. rewrite Rinv_l by lra. apply Rmult_le_compat_l with (r := exp t) in L; [|lra]. rewrite Rinv_r in L by lra. lra.
Qed.

(** The logistic function, where its bounds are within 2^-26 of each other, a quarter of the grid of gradients. *)
Definition logistic (s : Q) : option Q :=
  (match exp_above (- s) with
   | None => None
   | Some u => let low := / (1 + u) in let high := / (1 + exp_below (- s)) in
       if Qle_bool 0 u && Qle_bool 0 (exp_below (- s)) && Qle_bool (high - below low) (1 # 67108864) then Some (below low) else None
   end)%Q.
Theorem logistic_R s p : logistic s = Some p -> Rabs (Q2R p - / (1 + exp (- Q2R s))) <= Q2R (1 # 67108864).
Proof.
  unfold logistic. destruct (exp_above (- s)) as [u|] eqn:A; [|discriminate]. apply exp_above_R in A. assert (B := exp_below_R (- s)).
  set (v := exp_below (- s)) in *. clearbody v. destruct (_ && _) eqn:E; [|discriminate]. intro H. apply some_same in H. subst p.
  rewrite !andb_true_iff in E. destruct E as ((U & V) & E). apply Qle_bool_iff, Qle_Rle in U, V, E. rewrite RMicromega.Q2R_0 in U, V.
  rewrite Q2R_opp in A, B. set (x := exp (- Q2R s)) in *. assert (X : 0 < x) by apply exp_pos. clearbody x.
  assert (I : forall q, 0 <= Q2R q -> Q2R (/ (1 + q)) = / (1 + Q2R q)).
  { intros q P. rewrite Q2R_inv, Q2R_plus, RMicromega.Q2R_1; [reflexivity|]. intro N. apply Qeq_eqR in N.
    rewrite Q2R_plus, RMicromega.Q2R_1, RMicromega.Q2R_0 in N. lra. }
  assert (L := below_R (/ (1 + u))). rewrite I in L by assumption. rewrite Q2R_minus, I in E by assumption. set (p := Q2R (below _)) in *. clearbody p.
  assert (/ (1 + Q2R u) <= / (1 + x)) by (apply Rinv_le_contravar; lra). assert (/ (1 + x) <= / (1 + Q2R v)) by (apply Rinv_le_contravar; lra).
  set (w := Q2R (1 # 67108864)) in *. clearbody w. apply Rabs_le. lra.
Qed.
