(** Written by `python -m proofs.replay.formulas`: formulas as Python computes them, each one the text's.
    Real numbers; rounding in a stated direction is left out, rounding to the grid is any function. *)
From Coq Require Import List Arith Bool Reals Lra.
From DP Require Import Program Bounds Privacy Sums Formula.
From DP Require InPrivate DPXGBoost FedGBDT SGBDT.
Open Scope R_scope.
Section Formulas.
Variables gridR grid_downR : R -> R.
Local Hint Extern 0 (Num R) => exact (numR gridR grid_downR) : typeclass_instances.

(** dpboost:child_gain *)
Definition dpboost_child_gain (G : R) (n : R) (l : R) : R := ((G * G) / (n + l)).
Lemma dpboost_child_gain_text : forall G n l, dpboost_child_gain G n l = child_gain G n l.
Proof. intros; unfold dpboost_child_gain, child_gain; formula. Qed.

(** dpboost:gain *)
Definition dpboost_gain (G : R) (n : R) (G' : R) (n' : R) (l : R) : R := (((G * G) / (n + l)) + ((G' * G') / (n' + l))).
Lemma dpboost_gain_text : forall G n G' n' l, dpboost_gain G n G' n' l = gain G n G' n' l.
Proof. intros; unfold dpboost_gain, gain, child_gain; formula. Qed.

(** dpboost:leaf_value *)
Definition dpboost_leaf_value (G : R) (n : R) (l : R) : R := ((- G) / (n + l)).
Lemma dpboost_leaf_value_text : forall G n l, dpboost_leaf_value G n l = leaf_value G n l.
Proof. intros; unfold dpboost_leaf_value, leaf_value; formula. Qed.

(** dpboost:gain_range *)
Definition dpboost_gain_range (b : R) : R := (1 * ((b * b) - (((- 3) * b) * b))).
Lemma dpboost_gain_range_text : forall b, dpboost_gain_range b = times 1 (gain_range b).
Proof. intros; unfold dpboost_gain_range, gain_range; formula. Qed.

(** dpboost:gain_range *)
Definition dpboost_gain_range_replaced (b : R) : R := (2 * ((b * b) - (((- 3) * b) * b))).
Lemma dpboost_gain_range_replaced_text : forall b, dpboost_gain_range_replaced b = times 2 (gain_range b).
Proof. intros; unfold dpboost_gain_range_replaced, gain_range; formula. Qed.

(** dpboost:leaf_sensitivity *)
Definition dpboost_leaf_sensitivity (b : R) (l : R) (c : R) : R := (1 * (Rmin (Rmin (b / (1 + l)) (2 * c)) ((b + c) / (2 + l)))).
Lemma dpboost_leaf_sensitivity_text : forall b l c, dpboost_leaf_sensitivity b l c = times 1 (leaf_sensitivity b l c).
Proof. intros; unfold dpboost_leaf_sensitivity, leaf_sensitivity; formula. Qed.

(** dpboost:leaf_sensitivity *)
Definition dpboost_leaf_sensitivity_replaced (b : R) (l : R) (c : R) : R := (2 * (Rmin (Rmin (b / (1 + l)) (2 * c)) ((b + c) / (2 + l)))).
Lemma dpboost_leaf_sensitivity_replaced_text : forall b l c, dpboost_leaf_sensitivity_replaced b l c = times 2 (leaf_sensitivity b l c).
Proof. intros; unfold dpboost_leaf_sensitivity_replaced, leaf_sensitivity; formula. Qed.

(** dpboost:share *)
Definition dpboost_share (e : R) (t : nat) (n : nat) : R := ((e * ((1 - e) ^ t)) / (1 - ((1 - e) ^ n))).
Lemma dpboost_share_text : forall P n t, (t < n)%nat -> dpboost_share (eta P) t n = fst (nth t (published_blocks P n) (zero, zero)).
Proof. intros; unfold dpboost_share, published_blocks, share; rewrite nth_block by assumption; formula. Qed.

(** dpboost:leaf_clip *)
Definition dpboost_leaf_clip (b : R) (e : R) (t : nat) : R := (b * ((1 - e) ^ t)).
Lemma dpboost_leaf_clip_text : forall P n t, (t < n)%nat -> dpboost_leaf_clip (bound P) (eta P) t = snd (nth t (published_blocks P n) (zero, zero)).
Proof. intros; unfold dpboost_leaf_clip, published_blocks, share; rewrite nth_block by assumption; formula. Qed.

(** dpboost:Params.tree_epsilon *)
Definition dpboost_tree_epsilon (e : R) (k : R) : R := ((e / 3) / k).
Lemma dpboost_tree_epsilon_text : forall P, length (runs P) = 3%nat -> dpboost_tree_epsilon (eps P) (INR (length (classes P))) = tree_eps P.
Proof. intros; unfold dpboost_tree_epsilon, tree_eps; formula. Qed.

(** dpboost:Params.split_charge *)
Definition dpboost_split_charge (e : R) (b : R) (d : nat) : R := ((e / (2 * (INR d))) / (1 * ((b * b) - (((- 3) * b) * b)))).
Lemma dpboost_split_charge_text : forall P, changed P = 1%nat -> dpboost_split_charge (tree_eps P) (bound P) (depth P) = slope P.
Proof. intros; unfold dpboost_split_charge, slope, gain_range; formula. Qed.

(** dpboost:Params.split_charge *)
Definition dpboost_split_charge_replaced (e : R) (b : R) (d : nat) : R := ((e / (2 * (INR d))) / (2 * ((b * b) - (((- 3) * b) * b)))).
Lemma dpboost_split_charge_replaced_text : forall P, changed P = 2%nat -> dpboost_split_charge_replaced (tree_eps P) (bound P) (depth P) = slope P.
Proof. intros; unfold dpboost_split_charge_replaced, slope, gain_range; formula. Qed.

(** dpboost:Params.leaf_charge *)
Definition dpboost_leaf_charge (e : R) (b : R) (l : R) (c : R) : R := ((1 * (Rmin (Rmin (b / (1 + l)) (2 * c)) ((b + c) / (2 + l)))) / (e / 2)).
Lemma dpboost_leaf_charge_text : forall P c, changed P = 1%nat -> dpboost_leaf_charge (tree_eps P) (bound P) (lam P) c = scale P c.
Proof. intros; unfold dpboost_leaf_charge, scale, leaf_sensitivity; formula. Qed.

(** dpboost:Params.leaf_charge *)
Definition dpboost_leaf_charge_replaced (e : R) (b : R) (l : R) (c : R) : R := ((2 * (Rmin (Rmin (b / (1 + l)) (2 * c)) ((b + c) / (2 + l)))) / (e / 2)).
Lemma dpboost_leaf_charge_replaced_text : forall P c, changed P = 2%nat -> dpboost_leaf_charge_replaced (tree_eps P) (bound P) (lam P) c = scale P c.
Proof. intros; unfold dpboost_leaf_charge_replaced, scale, leaf_sensitivity; formula. Qed.

(** dpboost:Contribution.statistics *)
Definition dpboost_gradient_filter (b : R) (s : R) (y : R) : R := (gridR (s - y)).
Lemma dpboost_gradient_filter_text : forall P y ts r, clipping P = false -> dpboost_gradient_filter (bound P) (score P ts r) (y r) = gradient P y ts r.
Proof. intros; unfold dpboost_gradient_filter, gradient; formula. Qed.

(** dpboost:Contribution.statistics *)
Definition dpboost_used_filter (b : R) (s : R) (y : R) : bool := (leR (Rabs (gridR (s - y))) b).
Lemma dpboost_used_filter_text : forall P y ts r, clipping P = false -> dpboost_used_filter (bound P) (score P ts r) (y r) = used P y ts r.
Proof. intros; unfold dpboost_used_filter, used, gradient; formula. Qed.

(** dpboost:Contribution.statistics *)
Definition dpboost_gradient_clip (b : R) (s : R) (y : R) : R := (Rmin (Rmax (gridR (s - y)) (- (grid_downR b))) (grid_downR b)).
Lemma dpboost_gradient_clip_text : forall P y ts r, clipping P = true -> dpboost_gradient_clip (bound P) (score P ts r) (y r) = gradient P y ts r.
Proof. intros; unfold dpboost_gradient_clip, gradient; formula. Qed.

(** dpboost:Contribution.statistics *)
Definition dpboost_used_clip (b : R) (s : R) (y : R) : bool := (leR (Rabs (Rmin (Rmax (gridR (s - y)) (- (grid_downR b))) (grid_downR b))) b).
Lemma dpboost_used_clip_text : forall P y ts r, clipping P = true -> dpboost_used_clip (bound P) (score P ts r) (y r) = used P y ts r.
Proof. intros; unfold dpboost_used_clip, used, gradient; formula. Qed.

(** dpboost:Contribution.label *)
Definition dpboost_label (y : R) : R := y.
Lemma dpboost_label_text : forall y, dpboost_label y = y.
Proof. intros; unfold dpboost_label; formula. Qed.

(** dpboost:Contribution.label *)
Definition dpboost_label_classes (y : R) : R := ((2 * y) - 1).
Lemma dpboost_label_classes_text : forall y, dpboost_label_classes y = 2 * y - 1.
Proof. intros; unfold dpboost_label_classes; formula. Qed.

(** dpboost:splits_of_most_gain *)
Definition dpboost_utility (G : R) (n : R) (G' : R) (n' : R) (l : R) : R := (((G * G) / (n + l)) + ((G' * G') / (n' + l))).
Lemma dpboost_utility_text : forall P g X ls k q, let at_right r := inside ls k r && right q r in let at_left r := inside ls k r && negb (right q r) in dpboost_utility (gsum g X at_left) (count X at_left) (gsum g X at_right) (count X at_right) (lam P) = utility P g X ls k q.
Proof. intros; unfold dpboost_utility, utility, gain, child_gain; cbv zeta; formula. Qed.

(** dpboost:train_single_tree *)
Definition dpboost_leaf (G : R) (n : R) (l : R) (c : R) : R := (Rmin (Rmax ((- G) / (n + l)) (- c)) c).
Lemma dpboost_leaf_text : forall P g X c ls k, dpboost_leaf (gsum g X (inside ls k)) (count X (inside ls k)) (lam P) c = leaf P g X c ls k.
Proof. intros; unfold dpboost_leaf, leaf, leaf_value; formula. Qed.

(** inprivate:residual *)
Definition inprivate_residual (y : R) (f : R) : R := ((2 * y) / (1 + (exp ((2 * y) * f)))).
Lemma inprivate_residual_text : forall y f, inprivate_residual y f = 2 * y / (1 + exp (2 * y * f)).
Proof. intros; unfold inprivate_residual; formula. Qed.

(** inprivate:curvature *)
Definition inprivate_curvature (r : R) : R := ((Rabs r) * (2 - (Rabs r))).
Lemma inprivate_curvature_text : forall r, inprivate_curvature r = InPrivate.curvature r.
Proof. intros; unfold inprivate_curvature, InPrivate.curvature; formula. Qed.

(** inprivate:node_score *)
Definition inprivate_node_score (G : R) (n : R) : R := ((G * G) / (Rmax n 1)).
Lemma inprivate_node_score_text : forall G n, inprivate_node_score G n = InPrivate.node_score G n.
Proof. intros; unfold inprivate_node_score, InPrivate.node_score; formula. Qed.

(** inprivate:gain *)
Definition inprivate_gain (G : R) (n : R) (G' : R) (n' : R) : R := ((((G * G) / (Rmax n 1)) + ((G' * G') / (Rmax n' 1))) - (((G + G') * (G + G')) / (Rmax (n + n') 1))).
Lemma inprivate_gain_text : forall G n G' n', inprivate_gain G n G' n' = InPrivate.error_gain G n G' n'.
Proof. intros; unfold inprivate_gain, InPrivate.error_gain, InPrivate.node_score; formula. Qed.

(** inprivate:gain_range *)
Definition inprivate_gain_range (b : R) : R := ((4 * b) * b).
Lemma inprivate_gain_range_text : forall b, inprivate_gain_range b = times 1 (InPrivate.split_range b).
Proof. intros; unfold inprivate_gain_range, InPrivate.split_range; formula. Qed.

(** inprivate:gain_range *)
Definition inprivate_gain_range_replaced (b : R) : R := ((8 * b) * b).
Lemma inprivate_gain_range_replaced_text : forall b, inprivate_gain_range_replaced b = times 2 (InPrivate.split_range b).
Proof. intros; unfold inprivate_gain_range_replaced, InPrivate.split_range; formula. Qed.

(** inprivate:Params.split_charge *)
Definition inprivate_split_charge (e : R) (p : R) (b : R) (d : nat) (k : R) : R := (((p * (e / k)) / ((INR d) - 1)) / ((4 * b) * b)).
Lemma inprivate_split_charge_text : forall P, InPrivate.neighbours P = 1%nat -> inprivate_split_charge (InPrivate.epsilon P) (InPrivate.part_splits P) (InPrivate.cut P) (S (InPrivate.splits P)) (INR (length (InPrivate.outputs P))) = InPrivate.split_slope P.
Proof. intros; unfold inprivate_split_charge, InPrivate.split_slope, InPrivate.tree_budget, InPrivate.split_range; rewrite S_minus_1; formula. Qed.

(** inprivate:Params.split_charge *)
Definition inprivate_split_charge_replaced (e : R) (p : R) (b : R) (d : nat) (k : R) : R := (((p * (e / k)) / ((INR d) - 1)) / ((8 * b) * b)).
Lemma inprivate_split_charge_replaced_text : forall P, InPrivate.neighbours P = 2%nat -> inprivate_split_charge_replaced (InPrivate.epsilon P) (InPrivate.part_splits P) (InPrivate.cut P) (S (InPrivate.splits P)) (INR (length (InPrivate.outputs P))) = InPrivate.split_slope P.
Proof. intros; unfold inprivate_split_charge_replaced, InPrivate.split_slope, InPrivate.tree_budget, InPrivate.split_range; rewrite S_minus_1; formula. Qed.

(** inprivate:Params.leaf_charge *)
Definition inprivate_leaf_charge (e : R) (p : R) (b : R) (k : R) : R := ((1 * (b + 1)) / ((1 - p) * (e / k))).
Lemma inprivate_leaf_charge_text : forall P, InPrivate.counted P = true -> InPrivate.neighbours P = 1%nat -> inprivate_leaf_charge (InPrivate.epsilon P) (InPrivate.part_splits P) (InPrivate.cut P) (INR (length (InPrivate.outputs P))) = InPrivate.leaf_scale P.
Proof. intros; unfold inprivate_leaf_charge, InPrivate.leaf_scale, InPrivate.leaf_range, InPrivate.tree_budget; formula. Qed.

(** inprivate:Params.leaf_charge *)
Definition inprivate_leaf_charge_replaced (e : R) (p : R) (b : R) (k : R) : R := ((2 * (b + 1)) / ((1 - p) * (e / k))).
Lemma inprivate_leaf_charge_replaced_text : forall P, InPrivate.counted P = true -> InPrivate.neighbours P = 2%nat -> inprivate_leaf_charge_replaced (InPrivate.epsilon P) (InPrivate.part_splits P) (InPrivate.cut P) (INR (length (InPrivate.outputs P))) = InPrivate.leaf_scale P.
Proof. intros; unfold inprivate_leaf_charge_replaced, InPrivate.leaf_scale, InPrivate.leaf_range, InPrivate.tree_budget; formula. Qed.

(** inprivate:Contribution.statistics *)
Definition inprivate_error (b : R) (s : R) (y : R) : R := (gridR (Rmax (- (grid_downR b)) (Rmin (grid_downR b) (y - s)))).
Lemma inprivate_error_text : forall P y ts r, (forall y s, InPrivate.loss P y s = sub y s) -> 0 <= grid_down (InPrivate.cut P) -> inprivate_error (InPrivate.cut P) (InPrivate.score_of P ts r) (y r) = InPrivate.error P y ts r.
Proof. intros; unfold inprivate_error, InPrivate.error; formula. Qed.

(** inprivate:Params.leaf_charge *)
Definition inprivate_leaf_charge_classes (e : R) (p : R) (b : R) (k : R) : R := ((9 / 4) / ((1 - p) * (e / k))).
Lemma inprivate_leaf_charge_classes_text : forall P, InPrivate.counted P = false -> InPrivate.neighbours P = 1%nat -> inprivate_leaf_charge_classes (InPrivate.epsilon P) (InPrivate.part_splits P) (InPrivate.cut P) (INR (length (InPrivate.outputs P))) = InPrivate.leaf_scale P.
Proof. intros; unfold inprivate_leaf_charge_classes, InPrivate.leaf_scale, InPrivate.leaf_range, InPrivate.tree_budget; formula. Qed.

(** inprivate:Params.leaf_charge *)
Definition inprivate_leaf_charge_classes_replaced (e : R) (p : R) (b : R) (k : R) : R := ((9 / 2) / ((1 - p) * (e / k))).
Lemma inprivate_leaf_charge_classes_replaced_text : forall P, InPrivate.counted P = false -> InPrivate.neighbours P = 2%nat -> inprivate_leaf_charge_classes_replaced (InPrivate.epsilon P) (InPrivate.part_splits P) (InPrivate.cut P) (INR (length (InPrivate.outputs P))) = InPrivate.leaf_scale P.
Proof. intros; unfold inprivate_leaf_charge_classes_replaced, InPrivate.leaf_scale, InPrivate.leaf_range, InPrivate.tree_budget; formula. Qed.

(** inprivate:Contribution.statistics *)
Definition inprivate_error_classes (b : R) (s : R) (y : R) : R := (gridR (Rmax (- (grid_downR b)) (Rmin (grid_downR b) ((2 * y) / (1 + (exp ((2 * y) * s))))))).
Lemma inprivate_error_classes_text : forall P y ts r, (forall y s, InPrivate.loss P y s = 2 * y / (1 + exp (2 * y * s))) -> 0 <= grid_down (InPrivate.cut P) -> inprivate_error_classes (InPrivate.cut P) (InPrivate.score_of P ts r) (y r) = InPrivate.error P y ts r.
Proof. intros; unfold inprivate_error_classes, InPrivate.error; formula. Qed.

(** inprivate:Contribution.statistics *)
Definition inprivate_curvature_on_grid (b : R) (s : R) (y : R) : R := (gridR ((Rabs (gridR (Rmax (- (grid_downR b)) (Rmin (grid_downR b) ((2 * y) / (1 + (exp ((2 * y) * s)))))))) * (2 - (Rabs (gridR (Rmax (- (grid_downR b)) (Rmin (grid_downR b) ((2 * y) / (1 + (exp ((2 * y) * s))))))))))).
Lemma inprivate_curvature_on_grid_text : forall P y ts r, InPrivate.counted P = false -> (forall y s, InPrivate.loss P y s = 2 * y / (1 + exp (2 * y * s))) -> 0 <= grid_down (InPrivate.cut P) -> inprivate_curvature_on_grid (InPrivate.cut P) (InPrivate.score_of P ts r) (y r) = InPrivate.second P (InPrivate.error P y ts) r.
Proof. intros; unfold inprivate_curvature_on_grid, InPrivate.second, InPrivate.curvature, InPrivate.error; formula. Qed.

(** inprivate:Contribution.label *)
Definition inprivate_label (y : R) : R := y.
Lemma inprivate_label_text : forall y, inprivate_label y = y.
Proof. intros; unfold inprivate_label; formula. Qed.

(** inprivate:Contribution.label *)
Definition inprivate_label_classes (y : R) : R := ((2 * y) - 1).
Lemma inprivate_label_classes_text : forall y, inprivate_label_classes y = 2 * y - 1.
Proof. intros; unfold inprivate_label_classes; formula. Qed.

(** inprivate:Params.coefficients *)
Definition inprivate_coefficient (b : R) (d : R) (s : R) (G : R) (n : R) : R := (Rmax (- b) (Rmin b (G / (Rmax n (Rmax 1 (d * s)))))).
Lemma inprivate_coefficient_text : forall P G n, 0 <= InPrivate.coefficient_bound P -> inprivate_coefficient (InPrivate.coefficient_bound P) (InPrivate.damping P) (InPrivate.leaf_scale P) G n = InPrivate.coefficient P G n.
Proof. intros; unfold inprivate_coefficient, InPrivate.coefficient; formula. Qed.

(** inprivate:train_tree *)
Definition inprivate_utility (G : R) (n : R) (G' : R) (n' : R) : R := ((((G * G) / (Rmax n 1)) + ((G' * G') / (Rmax n' 1))) - (((G + G') * (G + G')) / (Rmax (n + n') 1))).
Lemma inprivate_utility_text : forall e X ls k q, let at_right r := inside ls k r && right q r in let at_left r := inside ls k r && negb (right q r) in inprivate_utility (gsum e X at_left) (count X at_left) (gsum e X at_right) (count X at_right) = InPrivate.split_utility e X ls k q.
Proof. intros; unfold inprivate_utility, InPrivate.split_utility, InPrivate.error_gain, InPrivate.node_score; cbv zeta; formula. Qed.

(** dpxgboost:child_gain *)
Definition dpxgboost_child_gain (G : R) (n : R) (l : R) : R := ((G * G) / (n + l)).
Lemma dpxgboost_child_gain_text : forall G n l, dpxgboost_child_gain G n l = child_gain G n l.
Proof. intros; unfold dpxgboost_child_gain, child_gain; formula. Qed.

(** dpxgboost:gain *)
Definition dpxgboost_gain (G : R) (n : R) (G' : R) (n' : R) (l : R) : R := (((G * G) / (n + l)) + ((G' * G') / (n' + l))).
Lemma dpxgboost_gain_text : forall G n G' n' l, dpxgboost_gain G n G' n' l = gain G n G' n' l.
Proof. intros; unfold dpxgboost_gain, gain, child_gain; formula. Qed.

(** dpxgboost:leaf_value *)
Definition dpxgboost_leaf_value (G : R) (n : R) (l : R) : R := ((- G) / (n + l)).
Lemma dpxgboost_leaf_value_text : forall G n l, dpxgboost_leaf_value G n l = leaf_value G n l.
Proof. intros; unfold dpxgboost_leaf_value, leaf_value; formula. Qed.

(** dpxgboost:sigmoid *)
Definition dpxgboost_sigmoid (s : R) : R := (1 / (1 + (exp (- s)))).
Lemma dpxgboost_sigmoid_text : forall s, dpxgboost_sigmoid s = / (1 + exp (- s)).
Proof. intros; unfold dpxgboost_sigmoid; formula. Qed.

(** dpxgboost:log_gradient_at *)
Definition dpxgboost_log_gradient_at (p : R) (y : R) : R := (p - y).
Lemma dpxgboost_log_gradient_at_text : forall p y, dpxgboost_log_gradient_at p y = p - y.
Proof. intros; unfold dpxgboost_log_gradient_at; formula. Qed.

(** dpxgboost:log_hessian_at *)
Definition dpxgboost_log_hessian_at (p : R) : R := (p * (1 - p)).
Lemma dpxgboost_log_hessian_at_text : forall p, dpxgboost_log_hessian_at p = p * (1 - p).
Proof. intros; unfold dpxgboost_log_hessian_at; formula. Qed.

(** dpxgboost:clip_ratio *)
Definition dpxgboost_clip_ratio (g : R) (h : R) (B : R) : R := (Rmax ((- B) * h) (Rmin (B * h) g)).
Lemma dpxgboost_clip_ratio_text : forall g h B, 0 <= B * h -> dpxgboost_clip_ratio g h B = Rmin (Rmax g (- (B * h))) (B * h).
Proof. intros; unfold dpxgboost_clip_ratio; rewrite Ropp_mult_distr_l_reverse; formula. Qed.

(** dpxgboost:leaf_sensitivity *)
Definition dpxgboost_leaf_sensitivity (b : R) (l : R) : R := ((1 * b) / (1 + l)).
Lemma dpxgboost_leaf_sensitivity_text : forall b l, dpxgboost_leaf_sensitivity b l = times 1 (b / (1 + l)).
Proof. intros; unfold dpxgboost_leaf_sensitivity; formula. Qed.

(** dpxgboost:leaf_sensitivity *)
Definition dpxgboost_leaf_sensitivity_replaced (b : R) (l : R) : R := ((2 * b) / (1 + l)).
Lemma dpxgboost_leaf_sensitivity_replaced_text : forall b l, dpxgboost_leaf_sensitivity_replaced b l = times 2 (b / (1 + l)).
Proof. intros; unfold dpxgboost_leaf_sensitivity_replaced; formula. Qed.

(** dpxgboost:Params.split_charge *)
Definition dpxgboost_split_charge_square (e : R) (b : R) : R := (e / ((4 * b) * b)).
Lemma dpxgboost_split_charge_square_text : forall P e, DPXGBoost.touched P = 1%nat -> DPXGBoost.newton P = false -> dpxgboost_split_charge_square e (DPXGBoost.ratio P) = DPXGBoost.level_slope P e.
Proof. intros; unfold dpxgboost_split_charge_square, DPXGBoost.level_slope, DPXGBoost.gains_range, DPXGBoost.most_weight; formula. Qed.

(** dpxgboost:Params.split_charge *)
Definition dpxgboost_split_charge_square_replaced (e : R) (b : R) : R := (e / ((8 * b) * b)).
Lemma dpxgboost_split_charge_square_replaced_text : forall P e, DPXGBoost.touched P = 2%nat -> DPXGBoost.newton P = false -> dpxgboost_split_charge_square_replaced e (DPXGBoost.ratio P) = DPXGBoost.level_slope P e.
Proof. intros; unfold dpxgboost_split_charge_square_replaced, DPXGBoost.level_slope, DPXGBoost.gains_range, DPXGBoost.most_weight; formula. Qed.

(** dpxgboost:Params.split_charge *)
Definition dpxgboost_split_charge_log (e : R) (b : R) : R := (if (negb (leR 1 (b * (1 / 4)))) then (e / ((1 * b) * b)) else (e / ((1 * b) * b))).
Lemma dpxgboost_split_charge_log_text : forall P e, DPXGBoost.touched P = 1%nat -> DPXGBoost.newton P = true -> DPXGBoost.most_hessian P = 1 / 4 -> dpxgboost_split_charge_log e (DPXGBoost.ratio P) = DPXGBoost.level_slope P e.
Proof. intros; unfold dpxgboost_split_charge_log, DPXGBoost.level_slope, DPXGBoost.gains_range, DPXGBoost.most_weight; formula. Qed.

(** dpxgboost:Params.split_charge *)
Definition dpxgboost_split_charge_log_replaced (e : R) (b : R) : R := (if (negb (leR 1 (b * (1 / 4)))) then (e / ((2 * b) * b)) else (e / ((2 * b) * b))).
Lemma dpxgboost_split_charge_log_replaced_text : forall P e, DPXGBoost.touched P = 2%nat -> DPXGBoost.newton P = true -> DPXGBoost.most_hessian P = 1 / 4 -> dpxgboost_split_charge_log_replaced e (DPXGBoost.ratio P) = DPXGBoost.level_slope P e.
Proof. intros; unfold dpxgboost_split_charge_log_replaced, DPXGBoost.level_slope, DPXGBoost.gains_range, DPXGBoost.most_weight; formula. Qed.

(** dpxgboost:Params.leaf_charge *)
Definition dpxgboost_leaf_charge (e : R) (b : R) (m : R) (l : R) : R := ((1 * ((((2 * m) + l) * b) / ((m + l) * ((m + 1) + l)))) / e).
Lemma dpxgboost_leaf_charge_text : forall P e, DPXGBoost.touched P = 1%nat -> dpxgboost_leaf_charge e (DPXGBoost.most_gradient P) (DPXGBoost.least P) (DPXGBoost.lambda P) = DPXGBoost.leaves_scale P e.
Proof. intros; unfold dpxgboost_leaf_charge, DPXGBoost.leaves_scale, DPXGBoost.leaf_change; formula. Qed.

(** dpxgboost:Params.leaf_charge *)
Definition dpxgboost_leaf_charge_replaced (e : R) (b : R) (m : R) (l : R) : R := ((2 * ((((2 * m) + l) * b) / ((m + l) * ((m + 1) + l)))) / e).
Lemma dpxgboost_leaf_charge_replaced_text : forall P e, DPXGBoost.touched P = 2%nat -> dpxgboost_leaf_charge_replaced e (DPXGBoost.most_gradient P) (DPXGBoost.least P) (DPXGBoost.lambda P) = DPXGBoost.leaves_scale P e.
Proof. intros; unfold dpxgboost_leaf_charge_replaced, DPXGBoost.leaves_scale, DPXGBoost.leaf_change; formula. Qed.

(** dpxgboost:Params.leaf_charge *)
Definition dpxgboost_leaf_charge_plain (e : R) (b : R) (l : R) : R := (((1 * b) / (1 + l)) / e).
Lemma dpxgboost_leaf_charge_plain_text : forall P e, e <> 0 -> DPXGBoost.least P = 1 -> 0 < DPXGBoost.lambda P -> DPXGBoost.touched P = 1%nat -> dpxgboost_leaf_charge_plain e (DPXGBoost.most_gradient P) (DPXGBoost.lambda P) = DPXGBoost.leaves_scale P e.
Proof. intros; unfold dpxgboost_leaf_charge_plain, DPXGBoost.leaves_scale, DPXGBoost.leaf_change; fraction. Qed.

(** dpxgboost:Params.leaf_charge *)
Definition dpxgboost_leaf_charge_plain_replaced (e : R) (b : R) (l : R) : R := (((2 * b) / (1 + l)) / e).
Lemma dpxgboost_leaf_charge_plain_replaced_text : forall P e, e <> 0 -> DPXGBoost.least P = 1 -> 0 < DPXGBoost.lambda P -> DPXGBoost.touched P = 2%nat -> dpxgboost_leaf_charge_plain_replaced e (DPXGBoost.most_gradient P) (DPXGBoost.lambda P) = DPXGBoost.leaves_scale P e.
Proof. intros; unfold dpxgboost_leaf_charge_plain_replaced, DPXGBoost.leaves_scale, DPXGBoost.leaf_change; fraction. Qed.

(** dpxgboost:Params.sketch_charge *)
Definition dpxgboost_sketch_charge (e : R) (m : nat) : R := (((INR m) * 1) / e).
Lemma dpxgboost_sketch_charge_text : forall P e, DPXGBoost.most_hessian P = 1 -> DPXGBoost.touched P = 1%nat -> dpxgboost_sketch_charge e (length (DPXGBoost.sketched P)) = DPXGBoost.histogram_scale P e.
Proof. intros; unfold dpxgboost_sketch_charge, DPXGBoost.histogram_scale; formula. Qed.

(** dpxgboost:Params.sketch_charge *)
Definition dpxgboost_sketch_charge_replaced (e : R) (m : nat) : R := (((INR m) * 2) / e).
Lemma dpxgboost_sketch_charge_replaced_text : forall P e, DPXGBoost.most_hessian P = 1 -> DPXGBoost.touched P = 2%nat -> dpxgboost_sketch_charge_replaced e (length (DPXGBoost.sketched P)) = DPXGBoost.histogram_scale P e.
Proof. intros; unfold dpxgboost_sketch_charge_replaced, DPXGBoost.histogram_scale; formula. Qed.

(** dpxgboost:Contribution.statistics *)
Definition dpxgboost_kept (b : R) (s : R) (y : R) : bool := (leR (Rabs (gridR (s - y))) b).
Lemma dpxgboost_kept_text : forall P y ts r, (forall s y, DPXGBoost.contribution P s y = (grid (sub s y), one)) -> dpxgboost_kept (DPXGBoost.most_gradient P) (DPXGBoost.raw_score P ts r) (y r) = DPXGBoost.kept P y ts r.
Proof. intros; unfold dpxgboost_kept, DPXGBoost.kept, DPXGBoost.both; formula. Qed.

(** dpxgboost:Contribution.label *)
Definition dpxgboost_label (y : R) : R := y.
Lemma dpxgboost_label_text : forall y, dpxgboost_label y = y.
Proof. intros; unfold dpxgboost_label; formula. Qed.

(** dpxgboost:Contribution.label *)
Definition dpxgboost_label_classes (y : R) : R := ((2 * y) - 1).
Lemma dpxgboost_label_classes_text : forall y, dpxgboost_label_classes y = 2 * y - 1.
Proof. intros; unfold dpxgboost_label_classes; formula. Qed.

(** dpxgboost:gains *)
Definition dpxgboost_split_gain (G : R) (n : R) (G' : R) (n' : R) (l : R) : R := (((G * G) / (n + l)) + ((G' * G') / (n' + l))).
Lemma dpxgboost_split_gain_text : forall P gh X ls k q, let at_right r := inside ls k r && right q r in let at_left r := inside ls k r && negb (right q r) in dpxgboost_split_gain (where_ X at_left (fun r => fst (gh r))) (where_ X at_left (DPXGBoost.divisor P gh)) (where_ X at_right (fun r => fst (gh r))) (where_ X at_right (DPXGBoost.divisor P gh)) (DPXGBoost.lambda P) = DPXGBoost.split_gain P gh X ls k q.
Proof. intros; unfold dpxgboost_split_gain, DPXGBoost.split_gain, DPXGBoost.side, child_gain; cbv zeta; formula. Qed.

(** dpxgboost:leaf_values *)
Definition dpxgboost_padded_leaf (G : R) (n : R) (m : R) (l : R) : R := ((- G) / ((Rmax n m) + l)).
Lemma dpxgboost_padded_leaf_text : forall P gh X ls k, dpxgboost_padded_leaf (where_ X (inside ls k) (fun r => fst (gh r))) (count X (inside ls k)) (DPXGBoost.least P) (DPXGBoost.lambda P) = DPXGBoost.padded_leaf P gh X ls k.
Proof. intros; unfold dpxgboost_padded_leaf, DPXGBoost.padded_leaf, leaf_value; formula. Qed.

(** dpxgboost:budget_of *)
Definition dpxgboost_tree_share (e : R) (k : R) (s : R) : R := (((e / k) - 0) * s).
Lemma dpxgboost_tree_share_text : forall e k s, dpxgboost_tree_share e k s = e / k * s.
Proof. intros; unfold dpxgboost_tree_share; formula. Qed.

(** dpxgboost:before_sampling *)
Definition dpxgboost_before_sampling (e : R) (q : R) : R := (if (leR 500 e) then (e - (ln q)) else (ln (1 + ((exp e - 1) / q)))).
Lemma dpxgboost_before_sampling_text : forall e q, 0 <= e < 500 -> 0 < q -> amplified q (dpxgboost_before_sampling e q) = e.
Proof. intros; unfold dpxgboost_before_sampling, leR; destruct (Rle_dec 500 e); [lra|apply DPXGBoost.amplified_inverse; lra]. Qed.

(** dpxgboost:tree_budget *)
Definition dpxgboost_tree_sketch (e : R) (a : R) (b : R) (c : R) : R := ((e / ((((0 + a) + b) + c) + 0)) * a).
Lemma dpxgboost_tree_sketch_text : forall e a b c, dpxgboost_tree_sketch e a b c = e / (a + b + c) * a.
Proof. intros; unfold dpxgboost_tree_sketch; formula. Qed.

(** dpxgboost:tree_budget *)
Definition dpxgboost_tree_splits (e : R) (a : R) (b : R) (c : R) (s : R) : R := (((e / ((((0 + a) + b) + c) + 0)) * b) * s).
Lemma dpxgboost_tree_splits_text : forall e a b c s, dpxgboost_tree_splits e a b c s = e / (a + b + c) * b * s.
Proof. intros; unfold dpxgboost_tree_splits; formula. Qed.

(** dpxgboost:tree_budget *)
Definition dpxgboost_tree_leaves (e : R) (a : R) (b : R) (c : R) : R := ((e / ((((0 + a) + b) + c) + 0)) * c).
Lemma dpxgboost_tree_leaves_text : forall e a b c, dpxgboost_tree_leaves e a b c = e / (a + b + c) * c.
Proof. intros; unfold dpxgboost_tree_leaves; formula. Qed.

(** dpxgboost:tree_budget *)
Definition dpxgboost_tree_whole (e : R) (a : R) (b : R) (c : R) : R := ((e / ((((0 + a) + b) + c) + 0)) * c).
Lemma dpxgboost_tree_whole_text : forall e a b c shares, a + b + c <> 0 -> sumR (fun s => s) shares = 1 -> DPXGBoost.plan_cost (DPXGBoost.Build_tree_plan (Some (dpxgboost_tree_sketch e a b c)) (map (dpxgboost_tree_splits e a b c) shares) (dpxgboost_tree_whole e a b c)) = e.
Proof. intros; unfold dpxgboost_tree_whole, DPXGBoost.plan_cost, dpxgboost_tree_sketch; cbn [DPXGBoost.sketch_eps DPXGBoost.level_eps DPXGBoost.leaf_eps]; rewrite sumR_map; rewrite (sumR_ext _ (fun s => s * (e / (a + b + c) * b))) by (intro; unfold dpxgboost_tree_splits; formula); rewrite sumR_times; match goal with H : sumR _ _ = 1 |- _ => rewrite H end; field; lra. Qed.

(** fedgbdt:leaf_weight *)
Definition fedgbdt_leaf_weight (G : R) (h : R) (l : R) : R := ((- G) / (h + l)).
Lemma fedgbdt_leaf_weight_text : forall G h l, fedgbdt_leaf_weight G h l = FedGBDT.leaf_weight G h l.
Proof. intros; unfold fedgbdt_leaf_weight, FedGBDT.leaf_weight; formula. Qed.

(** fedgbdt:released_leaf_weight *)
Definition fedgbdt_released_leaf_weight (G : R) (h : R) (l : R) : R := (if (leR h 0) then (0 * G) else ((- G) / (h + l))).
Lemma fedgbdt_released_leaf_weight_text : forall G h l, fedgbdt_released_leaf_weight G h l = FedGBDT.released_leaf_weight G h l.
Proof. intros; unfold fedgbdt_released_leaf_weight, FedGBDT.released_leaf_weight, FedGBDT.leaf_weight; formula. Qed.

(** fedgbdt:averaging_weight *)
Definition fedgbdt_averaging_weight (G : R) (h : R) : R := (if (leR h 0) then (((0 * G) + 1) / 2) else (Rmin (Rmax (G / h) (0 * G)) ((0 * G) + 1))).
Lemma fedgbdt_averaging_weight_text : forall G h, fedgbdt_averaging_weight G h = FedGBDT.averaging_weight G h.
Proof. intros; unfold fedgbdt_averaging_weight, FedGBDT.averaging_weight, FedGBDT.half; formula. Qed.

(** fedgbdt:update *)
Definition fedgbdt_update (w : R) (b : R) (e : R) : R := (e * (Rmin (Rmax w (- b)) b)).
Lemma fedgbdt_update_text : forall w b e, fedgbdt_update w b e = FedGBDT.update w b e.
Proof. intros; unfold fedgbdt_update, FedGBDT.update; formula. Qed.

(** fedgbdt:clip_gradient *)
Definition fedgbdt_clip_gradient (g : R) (c : R) : R := (Rmin (Rmax g (- c)) c).
Lemma fedgbdt_clip_gradient_text : forall g c, fedgbdt_clip_gradient g c = clip c g.
Proof. intros; unfold fedgbdt_clip_gradient; formula. Qed.

(** fedgbdt:log_hessian_of *)
Definition fedgbdt_log_hessian_of (g : R) : R := ((Rabs g) * (1 - (Rabs g))).
Lemma fedgbdt_log_hessian_of_text : forall g, fedgbdt_log_hessian_of g = Rabs g * (1 - Rabs g).
Proof. intros; unfold fedgbdt_log_hessian_of; formula. Qed.

(** fedgbdt:squared_norm *)
Definition fedgbdt_squared_norm (g : R) (h : R) : R := ((g * g) + (h * h)).
Lemma fedgbdt_squared_norm_text : forall g h, fedgbdt_squared_norm g h = g * g + h * h.
Proof. intros; unfold fedgbdt_squared_norm; formula. Qed.

(** fedgbdt:gradient_squared_sensitivity *)
Definition fedgbdt_gradient_squared (c : R) : R := ((c * c) + 1).
Lemma fedgbdt_gradient_squared_text : forall c, fedgbdt_gradient_squared c = c * c + 1.
Proof. intros; unfold fedgbdt_gradient_squared; formula. Qed.

(** fedgbdt:newton_squared_sensitivity *)
Definition fedgbdt_newton_squared (c : R) : R := ((c * c) + ((c * (1 - c)) * (c * (1 - c)))).
Lemma fedgbdt_newton_squared_text : forall c, c = 1 -> fedgbdt_newton_squared c = 1.
Proof. intros; unfold fedgbdt_newton_squared; formula. Qed.

(** fedgbdt:gradient_squared_sensitivity *)
Definition fedgbdt_gradient_squared_replaced (c : R) : R := (Rmax ((4 * c) * c) (2 * ((c * c) + 1))).
Lemma fedgbdt_gradient_squared_replaced_text : forall c, fedgbdt_gradient_squared_replaced c = Rmax (4 * (c * c)) (2 * (c * c + 1)).
Proof. intros; unfold fedgbdt_gradient_squared_replaced; formula. Qed.

(** fedgbdt:newton_squared_sensitivity *)
Definition fedgbdt_newton_squared_replaced (c : R) : R := ((4 * c) * c).
Lemma fedgbdt_newton_squared_replaced_text : forall c, c = 1 -> fedgbdt_newton_squared_replaced c = 4.
Proof. intros; unfold fedgbdt_newton_squared_replaced; formula. Qed.

(** fedgbdt:leaf_values *)
Definition fedgbdt_leaf_newton (b : R) (e : R) (l : R) (G : R) (h : R) : R := (if (leR h 0) then (e * (Rmin (Rmax (0 * G) (- b)) b)) else (e * (Rmin (Rmax ((- G) / (h + l)) (- b)) b))).
Lemma fedgbdt_leaf_newton_text : forall P G h, FedGBDT.how P = FedGBDT.Newton -> fedgbdt_leaf_newton (FedGBDT.leaf_bound P) (FedGBDT.step_size P) (FedGBDT.penalty P) G h = FedGBDT.leaf_of P G h.
Proof. intros; unfold fedgbdt_leaf_newton, FedGBDT.leaf_of, FedGBDT.update, FedGBDT.released_leaf_weight, FedGBDT.leaf_weight, FedGBDT.averaging_weight, FedGBDT.half; formula. Qed.

(** fedgbdt:leaf_values *)
Definition fedgbdt_leaf_forest (b : R) (e : R) (l : R) (G : R) (h : R) : R := (if (leR h 0) then (((0 * G) + 1) / 2) else (Rmin (Rmax (G / h) (0 * G)) ((0 * G) + 1))).
Lemma fedgbdt_leaf_forest_text : forall P G h, FedGBDT.how P = FedGBDT.Forest -> fedgbdt_leaf_forest (FedGBDT.leaf_bound P) (FedGBDT.step_size P) (FedGBDT.penalty P) G h = FedGBDT.leaf_of P G h.
Proof. intros; unfold fedgbdt_leaf_forest, FedGBDT.leaf_of, FedGBDT.update, FedGBDT.released_leaf_weight, FedGBDT.leaf_weight, FedGBDT.averaging_weight, FedGBDT.half; formula. Qed.

(** fedgbdt:leaf_values *)
Definition fedgbdt_leaf_mean (b : R) (e : R) (l : R) (G : R) (h : R) : R := (if (leR h 0) then ((2 * (((0 * ((G + h) / 2)) + 1) / 2)) - 1) else ((2 * (Rmin (Rmax (((G + h) / 2) / h) (0 * ((G + h) / 2))) ((0 * ((G + h) / 2)) + 1))) - 1)).
Lemma fedgbdt_leaf_mean_text : forall P G h, FedGBDT.how P = FedGBDT.Mean -> fedgbdt_leaf_mean (FedGBDT.leaf_bound P) (FedGBDT.step_size P) (FedGBDT.penalty P) G h = FedGBDT.leaf_of P G h.
Proof. intros; unfold fedgbdt_leaf_mean, FedGBDT.leaf_of, FedGBDT.update, FedGBDT.released_leaf_weight, FedGBDT.leaf_weight, FedGBDT.averaging_weight, FedGBDT.half; formula. Qed.

(** fedgbdt:Contribution.statistics *)
Definition fedgbdt_gradient (c : R) (s : R) (y : R) : R := (Rmin (Rmax (gridR (s - y)) (- (grid_downR c))) (grid_downR c)).
Lemma fedgbdt_gradient_text : forall c s y, fedgbdt_gradient c s y = clip (grid_down c) (grid (sub s y)).
Proof. intros; unfold fedgbdt_gradient; formula. Qed.

(** fedgbdt:Contribution.statistics *)
Definition fedgbdt_log_g (s : R) (y : R) : R := (gridR ((1 / (1 + (exp (- s)))) - y)).
Lemma fedgbdt_log_g_text : forall s y, fedgbdt_log_g s y = grid (/ (1 + exp (- s)) - y).
Proof. intros; unfold fedgbdt_log_g; cbv zeta; formula. Qed.

(** fedgbdt:Contribution.statistics *)
Definition fedgbdt_log_h (s : R) (y : R) : R := (gridR ((Rabs ((1 / (1 + (exp (- s)))) - y)) * (1 - (Rabs ((1 / (1 + (exp (- s)))) - y))))).
Lemma fedgbdt_log_h_text : forall s y, fedgbdt_log_h s y = let a := Rabs (/ (1 + exp (- s)) - y) in grid (a * (1 - a)).
Proof. intros; unfold fedgbdt_log_h; cbv zeta; formula. Qed.

(** fedgbdt:Params.query_mu *)
Definition fedgbdt_query_mu (m : R) (k : R) : R := (m / (sqrt k)).
Lemma fedgbdt_query_mu_text : forall P (q : FedGBDT.query R) squared hessian m k, FedGBDT.both q = true -> 0 < m -> 0 < k -> 0 < squared -> FedGBDT.sums_deviation P = sqrt squared / fedgbdt_query_mu m k -> k * FedGBDT.query_cost P squared hessian q = m * m / 2.
Proof. intros; unfold fedgbdt_query_mu, FedGBDT.query_cost; match goal with B : FedGBDT.both _ = true, D : FedGBDT.sums_deviation _ = _ |- _ => rewrite B, D end; apply queries_cost; assumption. Qed.

(** fedgbdt:Params.query_mu *)
Definition fedgbdt_score_epsilon (e : R) (k : R) : R := (e / k).
Lemma fedgbdt_score_epsilon_text : forall e k, k <> 0 -> k * fedgbdt_score_epsilon e k = e.
Proof. intros; unfold fedgbdt_score_epsilon; field; assumption. Qed.

(** fedgbdt:Params.query_mu *)
Definition fedgbdt_score_delta (e : R) (k : R) : R := (e / k).
Lemma fedgbdt_score_delta_text : forall e k, k <> 0 -> k * fedgbdt_score_delta e k = e.
Proof. intros; unfold fedgbdt_score_delta; field; assumption. Qed.

(** sgbdt:Contribution.cost *)
Definition sgbdt_cost (a : R) (b : R) (r : R) (s : R) (g : R) (h : R) : R := ((((r * (h / b)) * (h / b)) + (((1 - r) * (g / a)) * (g / a))) / s).
Lemma sgbdt_cost_text : forall P g h, sgbdt_cost (SGBDT.g_star P) (SGBDT.h_star P) (SGBDT.r_1 P) (SGBDT.sigma_squared P) g h = SGBDT.record_cost P g h.
Proof. intros; unfold sgbdt_cost, SGBDT.record_cost; cbv zeta; formula. Qed.

(** sgbdt:Params.variances *)
Definition sgbdt_gradient_variance (a : R) (b : R) (r : R) (s : R) : R := (((a * a) * s) / (2 * (1 - r))).
Lemma sgbdt_gradient_variance_text : forall P, sgbdt_gradient_variance (SGBDT.g_star P) (SGBDT.h_star P) (SGBDT.r_1 P) (SGBDT.sigma_squared P) = SGBDT.gradient_variance P.
Proof. intros; unfold sgbdt_gradient_variance, SGBDT.gradient_variance; formula. Qed.

(** sgbdt:Params.variances *)
Definition sgbdt_support_variance (a : R) (b : R) (r : R) (s : R) : R := (((b * b) * s) / (2 * r)).
Lemma sgbdt_support_variance_text : forall P, sgbdt_support_variance (SGBDT.g_star P) (SGBDT.h_star P) (SGBDT.r_1 P) (SGBDT.sigma_squared P) = SGBDT.support_variance P.
Proof. intros; unfold sgbdt_support_variance, SGBDT.support_variance; formula. Qed.

(** sgbdt:Contribution.statistics *)
Definition sgbdt_g (b : R) (k : R) (s : R) (y : R) : R := (Rmin (Rmax (gridR (s - y)) (- (grid_downR b))) (grid_downR b)).
Lemma sgbdt_g_text : forall b k s y, sgbdt_g b k s y = clip (grid_down b) (grid (sub s y)).
Proof. intros; unfold sgbdt_g; cbv zeta; formula. Qed.

(** sgbdt:Contribution.statistics *)
Definition sgbdt_g_classes (b : R) (k : R) (s : R) (y : R) : R := (Rmin (Rmax (gridR ((1 / (1 + (exp (- s)))) - y)) (- (grid_downR b))) (grid_downR b)).
Lemma sgbdt_g_classes_text : forall b k s y, sgbdt_g_classes b k s y = clip (grid_down b) (grid (/ (1 + exp (- s)) - y)).
Proof. intros; unfold sgbdt_g_classes; cbv zeta; formula. Qed.

(** sgbdt:Contribution.statistics *)
Definition sgbdt_h_classes (b : R) (k : R) (s : R) (y : R) : R := (Rmin (Rmax (gridR ((1 / (1 + (exp (- s)))) * (1 - (1 / (1 + (exp (- s))))))) 0) (grid_downR k)).
Lemma sgbdt_h_classes_text : forall b k s y, sgbdt_h_classes b k s y = let p := / (1 + exp (- s)) in Rmin (Rmax (grid (p * (1 - p))) 0) (grid_down k).
Proof. intros; unfold sgbdt_h_classes; cbv zeta; formula. Qed.

(** sgbdt:leaf_values *)
Definition sgbdt_leaf_additive (l : R) (b : R) (u : R) (w : R) : R := (if (negb (leR (l + w) 0)) then (Rmin (Rmax ((- u) / (l + w)) (- b)) b) else 0).
Lemma sgbdt_leaf_additive_text : forall P u w, SGBDT.added P = true -> sgbdt_leaf_additive (SGBDT.lambda_ P) (SGBDT.beta P) u w = SGBDT.leaf_of P u w.
Proof. intros; unfold sgbdt_leaf_additive, SGBDT.leaf_of; cbv zeta; formula. Qed.

(** sgbdt:leaf_values *)
Definition sgbdt_leaf_max (l : R) (b : R) (u : R) (w : R) : R := (if (negb (leR (Rmax w l) 0)) then (Rmin (Rmax ((- u) / (Rmax w l)) (- b)) b) else 0).
Lemma sgbdt_leaf_max_text : forall P u w, SGBDT.added P = false -> sgbdt_leaf_max (SGBDT.lambda_ P) (SGBDT.beta P) u w = SGBDT.leaf_of P u w.
Proof. intros; unfold sgbdt_leaf_max, SGBDT.leaf_of; cbv zeta; formula. Qed.

(** sgbdt:Accounts.charge *)
Definition sgbdt_spent (s : R) (a : R) (b : R) : R := (if (leR (a + s) b) then (a + s) else s).
Lemma sgbdt_spent_text : forall P y start ts k r, sgbdt_spent (SGBDT.spent P y start ts k r) (SGBDT.price_at P y start (firstn k ts) r) (SGBDT.spendable P) = SGBDT.spent P y start ts (S k) r.
Proof. intros; unfold sgbdt_spent; cbn [SGBDT.spent]; rewrite Rplus_comm; cbv zeta; formula. Qed.

(** sgbdt:Accounts.charge *)
Definition sgbdt_takes_part (s : R) (a : R) (b : R) : R := (if (leR (a + s) b) then 1 else 0).
Lemma sgbdt_takes_part_text : forall P y start ts r, SGBDT.filters P = true -> sgbdt_takes_part (SGBDT.spent P y start ts (length ts) r) (SGBDT.price_at P y start ts r) (SGBDT.spendable P) = if SGBDT.takes_part P y start ts r then 1 else 0.
Proof. intros; unfold sgbdt_takes_part, SGBDT.takes_part; equations; cbn [negb orb]; rewrite Rplus_comm; formula. Qed.

End Formulas.
