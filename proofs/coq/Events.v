(** Discrete noise of values on its grid, whole runs: total mass 1, and the probability of every event. *)
From Coq Require Import List Arith ZArith Bool Reals Lra Lia.
From DP Require Import Program Bounds Privacy Sums Renyi Mass.
From DP Require DPBoost InPrivate DPXGBoost FedGBDT SGBDT.
Import ListNotations.
Open Scope R_scope.

Lemma options_nonempty {A B} (f : nat -> A -> B) (ks : list nat) (cs : list A) : cs <> [] -> Forall (fun row => row <> []) (map (fun k => map (f k) cs) ks).
Proof. intro H. apply Forall_forall. intros row I. apply in_map_iff in I. destruct I as (k & <- & _). destruct cs; [contradiction|discriminate]. Qed.

Section DPBoost_.
Variables gridR grid_downR : R -> R.
Local Hint Extern 0 (Num R) => exact (numR gridR grid_downR) : typeclass_instances.
Variable P : params R.
Hypotheses (Hlam : 0 < lam P) (Hb : 0 < bound P) (Heps : 0 < eps P) (Hdepth : (1 <= depth P)%nat)
  (Hchanged : (1 <= changed P)%nat) (Hruns : (1 <= length (runs P))%nat) (Hclasses : (1 <= length (classes P))%nat)
  (Hvalid : Forall DPBoost.valid_blocks (runs P)) (Hcands : cands P <> []).
Lemma grow_proper g X c d : 0 < c -> forall ls k, (forall t, proper (k t)) -> proper (grow P g X c d ls k).
Proof.
  intro C. induction d as [|d IH]; intros ls k K; cbn [grow].
  - constructor; [apply DPBoost.scale_pos; assumption|intro; apply K].
  - constructor; [apply options_nonempty, Hcands|intro; apply IH, K].
Qed.
Lemma blocks_proper y A bs : Forall (fun b => 0 <= fst b /\ 0 < snd b) bs -> forall j ts k, (forall ts, proper (k ts)) -> proper (blocks P y A bs j ts k).
Proof. induction 1 as [|b bs [_ C] _ IH]; intros j ts k K; cbn [blocks]; [apply K|]. apply grow_proper; [exact C|]. intro t. apply IH, K. Qed.
Lemma ensembles_proper y D es : Forall DPBoost.valid_blocks es -> forall ts k, (forall ts, proper (k ts)) -> proper (ensembles P y D es ts k).
Proof.
  induction 1 as [|bs es V _ IH]; intros ts k K; cbn [ensembles]; [apply K|]. destruct (DPBoost.shares_valid gridR grid_downR bs V) as [W S].
  constructor; [exact W|exact S|]. intro a. apply blocks_proper; [apply V|]. intro. apply IH, K.
Qed.
Lemma train_proper D : proper (train P D).
Proof.
  assert (G : forall ys, proper (scores P ys D)); [|apply G].
  induction ys as [|y ys IH]; cbn [scores]; [constructor|]. apply ensembles_proper; [exact Hvalid|]. intro. apply IH.
Qed.
Variables (step : R -> R) (nearest : R -> R -> R).  (* of the scale *)
Hypotheses (Hstep : forall b, 0 < step b) (Hplaces : forall b x, exists n : Z, nearest b x = IZR n * step b)
  (Hnearest : forall b x x', Rabs (nearest b x - nearest b x') <= Rabs (x - x') + step b).
Let noise := rounded step (tree_eps P / 2) (changed P) nearest Hstep (DPBoost.half_pos gridR grid_downR P Heps Hruns Hclasses) Hchanged.
Let countable : Countable noise := rounded_whole step _ _ nearest Hstep _ _ Hplaces.
Theorem dpboost_added : changed P = 1%nat -> forall D1 r D2, @private noise (eps P) (train P (D1 ++ r :: D2)) (train P (D1 ++ D2)).
Proof. intros. apply (@private_of_close noise countable); try apply train_proper. apply DPBoost.add_remove_on_grid; assumption. Qed.
Theorem dpboost_replaced : changed P = 2%nat -> forall D1 r r' D2, @private noise (eps P) (train P (D1 ++ r :: D2)) (train P (D1 ++ r' :: D2)).
Proof. intros. apply (@private_of_close noise countable); try apply train_proper. apply DPBoost.replace_one_on_grid; assumption. Qed.
End DPBoost_.

Section InPrivate_.
Import InPrivate.
Variables gridR grid_downR : R -> R.
Local Hint Extern 0 (Num R) => exact (numR gridR grid_downR) : typeclass_instances.
Variable P : rules R.
Hypotheses (Hcut : 0 < cut P) (Heps : 0 < epsilon P) (Hpart : 0 < part_splits P < 1) (Hneighbours : (1 <= neighbours P)%nat)
  (Houtputs : (1 <= length (outputs P))%nat) (Hturns : Forall (fun w => 0 <= w) (turns P) /\ sumR (fun w => w) (turns P) <= 1).
Hypothesis Hgrid : forall x, Rabs x <= grid_downR (cut P) -> Rabs (gridR x) <= cut P.
Hypothesis Hdown : 0 <= grid_downR (cut P).
Hypothesis Hsecond : counted P = true \/ forall y ts r, Rabs (error P y ts r) + Rabs (gridR (curvature (error P y ts r))) <= 9 / 4.
Hypothesis Hcands : candidates P <> [].
Lemma new_tree_proper e X d : forall ls k, (forall t, proper (k t)) -> proper (new_tree P e X d ls k).
Proof.
  induction d as [|d IH]; intros ls k K; cbn [new_tree].
  - constructor; [apply scales; assumption|intro; apply K].
  - constructor; [apply options_nonempty, Hcands|intro; apply IH, K].
Qed.
Lemma turn_proper X ys : forall tss done k, (forall tss, proper (k tss)) -> proper (turn P X ys tss done k).
Proof. induction ys as [|y ys IH]; intros [|ts tss] done k K; cbn [turn]; try apply K. apply new_tree_proper. intro t. apply IH, K. Qed.
Lemma digging_proper D : proper (digging P D).
Proof.
  unfold digging. destruct Hturns as [T1 T2]. destruct (@rest_valid gridR grid_downR (turns P) T1 T2) as [W S].
  constructor; [exact W|exact S|]. intro a.
  assert (G : forall n j tss, proper (all_turns P (combine D a) n j tss)); [|apply G].
  induction n as [|n IH]; intros j tss; cbn [all_turns]; [constructor|]. apply turn_proper. intro. apply IH.
Qed.
Variables (step : R -> R) (nearest : R -> R -> R).  (* of the scale *)
Hypotheses (Hstep : forall b, 0 < step b) (Hplaces : forall b x, exists n : Z, nearest b x = IZR n * step b)
  (Hnearest : forall b x x', Rabs (nearest b x - nearest b x') <= Rabs (x - x') + step b).
Let noise := rounded step ((1 - part_splits P) * tree_budget P) (neighbours P * 2) nearest Hstep
  (budget_pos gridR grid_downR P Heps Hpart Houtputs) (two_each P Hneighbours Houtputs).
Let countable : Countable noise := rounded_whole step _ _ nearest Hstep _ _ Hplaces.
Theorem inprivate_added : neighbours P = 1%nat -> forall D1 r D2, @private noise (epsilon P) (digging P (D1 ++ r :: D2)) (digging P (D1 ++ D2)).
Proof. intros. apply (@private_of_close noise countable); try apply digging_proper. apply add_remove_on_grid; assumption. Qed.
Theorem inprivate_replaced : neighbours P = 2%nat -> forall D1 r r' D2,
  @private noise (epsilon P) (digging P (D1 ++ r :: D2)) (digging P (D1 ++ r' :: D2)).
Proof. intros. apply (@private_of_close noise countable); try apply digging_proper. apply replace_one_on_grid; assumption. Qed.
End InPrivate_.

Section DPXGBoost_.
Import DPXGBoost.
Variables gridR grid_downR : R -> R.
Local Hint Extern 0 (Num R) => exact (numR gridR grid_downR) : typeclass_instances.
Variable P : settings R.
Hypotheses (Hlambda : 0 < lambda P) (Hgradient : 0 < most_gradient P) (Hratio : 0 < ratio P) (Hleast : exists m, (1 <= m)%nat /\ least P = INR m)
  (Htouched : (1 <= touched P)%nat) (Hsketched : (1 <= length (sketched P))%nat) (Hhessian : 0 < most_hessian P)
  (Hrate : 0 <= rate P <= 1) (Hplans : Forall valid_plan (plans P)).
Hypothesis Hcontribution : forall s y, let (g, h) := contribution P s y in
  Rabs g <= most_gradient P -> 0 <= h <= most_hessian P /\ Rabs g <= (if newton P then h else 1) * ratio P.
Hypothesis Hedges : forall number o, edges P number o <> [].
Lemma boost_tree_proper gh X options last : options <> [] -> 0 < last -> forall es ls k, (forall t, proper (k t)) -> proper (boost_tree P gh X options last es ls k).
Proof.
  intros O L. induction es as [|e es IH]; intros ls k K; cbn [boost_tree].
  - constructor; [apply leaves_scale_pos; assumption|intro; apply K].
  - constructor; [apply options_nonempty, O|intro; apply IH, K].
Qed.
Lemma whole_tree_proper gh X number p k : valid_plan p -> (forall t, proper (k t)) -> proper (whole_tree P gh X number p k).
Proof.
  intros (S & L & E) K. unfold whole_tree. destruct (sketch_eps p) as [e|].
  - constructor; [apply histogram_scale_pos; auto|intro o; apply boost_tree_proper; auto].
  - apply boost_tree_proper; auto.
Qed.
Lemma boost_proper y D ps : Forall valid_plan ps -> forall number ts k, proper k -> proper (boost P y D ps number ts k).
Proof.
  induction 1 as [|p ps V _ IH]; intros number ts k K; cbn [boost]; [exact K|]. constructor.
  - constructor; [apply Hrate|constructor; [|constructor]]. change (0 <= 1 - rate P). lra.
  - change (rate P + (1 - rate P + 0) = 1). lra.
  - intro a. apply whole_tree_proper; [exact V|]. intro t. apply IH, K.
Qed.
Lemma dpxgboost_proper D : proper (dpxgboost P D).
Proof.
  assert (G : forall ys, proper (all_heads P ys D)); [|apply G].
  induction ys as [|y ys IH]; cbn [all_heads]; [constructor|]. apply boost_proper; assumption.
Qed.
Variables (step wide : R -> R) (nearest : R -> R -> R).  (* of the scale *)
Hypotheses (Hstep : forall b, 0 < step b) (Hwide : forall b, 0 < b -> 0 < wide b)
  (Hplaces : forall b x, exists n : Z, nearest b x = IZR n * step b)
  (Hnearest : forall b x x', Rabs (nearest b x - nearest b x') <= Rabs (x - x') + step b).
Let wide_ := wide_enough P step wide.
Hypotheses (Hleaves : forall e, leaf_budget P e -> wide_ (leaves_scale P e) e (leaf_change (most_gradient P) (least P) (lambda P)) 1%nat)
  (Hbins : forall e, sketch_budget P e -> wide_ (histogram_scale P e) e (INR (length (sketched P)) * most_hessian P) (length (sketched P))).
Let noise := rounded_to step wide nearest Hstep Hwide.
Let countable : Countable noise := rounded_to_whole step wide nearest Hstep Hwide Hplaces.
Theorem dpxgboost_added : touched P = 1%nat -> forall D1 r D2,
  @private noise (INR (length (heads P)) * sumR (fun p => amplified (rate P) (plan_cost p)) (plans P)) (dpxgboost P (D1 ++ r :: D2)) (dpxgboost P (D1 ++ D2)).
Proof. intros. apply (@private_of_close noise countable); try apply dpxgboost_proper. apply add_remove_on_grid; assumption. Qed.
Theorem dpxgboost_replaced : touched P = 2%nat -> rate P = 1 -> forall D1 r r' D2,
  @private noise (INR (length (heads P)) * sumR plan_cost (plans P)) (dpxgboost P (D1 ++ r :: D2)) (dpxgboost P (D1 ++ r' :: D2)).
Proof. intros. apply (@private_of_close noise countable); try apply dpxgboost_proper. apply replace_one_on_grid; assumption. Qed.
End DPXGBoost_.

Section FedGBDT_.
Import FedGBDT.
Context {outputs : Outputs}.
Variables gridR grid_downR : R -> R.
Local Hint Extern 0 (Num R) => exact (numR gridR grid_downR) : typeclass_instances.
Variable P : framework R.
Variables (squared hessian_squared : R).  (* squared sensitivities *)
Hypotheses (Hsums : 0 < sums_deviation P) (Hhessian : 0 < hessian_deviation P).
Hypotheses (Hnearest : forall d x, on_grid (step d) (nearest P d x))
  (Hrounds : forall d x x', Rabs (nearest P d x - nearest P d x') <= Rabs (x - x') + step d).
Lemma ask_fitting y D ts qs : forall past k, (forall past, fitting (k past)) -> fitting (ask P y D ts qs past k).
Proof.
  induction qs as [|q qs IH]; intros past k K; cbn [ask]; [apply K|]. constructor.
  - apply Forall_forall. intros sv I. apply in_map_iff in I. destruct I as (c & <- & _). cbn [fst snd]. split; [apply deviation_pos; assumption|apply Hnearest].
  - intro o. apply IH, K.
Qed.
Lemma boost_fitting number y D bs : forall past ts k, fitting k -> fitting (boost_all P number y D bs past ts k).
Proof.
  induction bs as [|b bs IH]; intros past ts k K; cbn [boost_all]; [exact K|].
  assert (G : forall batch past done k, (forall past done, fitting (k past done)) -> fitting (grow_all P number y D ts batch past done k)).
  { induction batch as [|t batch IB]; intros past' done k' K'; cbn [grow_all]; [apply K'|]. apply ask_fitting. intro. apply IB, K'. }
  apply G. intros past' done. unfold weigh. destruct (asks_leaves P); [apply ask_fitting; intro|]; apply IH, K.
Qed.
Lemma federated_fitting D : fitting (federated P D).
Proof.
  assert (G : forall ys number, fitting (all_scores P number ys D)); [|apply G].
  induction ys as [|y ys IH]; intro number; cbn [all_scores]; [constructor|]. apply boost_fitting, IH.
Qed.
Theorem fedgbdt_added n e : (1 <= n)%nat -> within_sensitivity P squared hessian_squared -> forall D1 r D2, let d := delta_of n (loss P squared hessian_squared n) e in
  private_within e d (federated P (D1 ++ r :: D2)) (federated P (D1 ++ D2)) /\ private_within e d (federated P (D1 ++ D2)) (federated P (D1 ++ r :: D2)).
Proof.
  intros N W D1 r D2. destruct (add_remove gridR grid_downR P squared hessian_squared Hsums Hhessian Hnearest Hrounds n e N W D1 r D2) as [A B].
  split; apply private_of_indistinct; auto using federated_fitting.
Qed.
Theorem fedgbdt_replaced n e : (1 <= n)%nat -> within_sensitivity_replaced P squared hessian_squared -> forall D1 r r' D2,
  private_within e (delta_of n (loss P squared hessian_squared n) e) (federated P (D1 ++ r :: D2)) (federated P (D1 ++ r' :: D2)).
Proof.
  intros N W D1 r r' D2. apply private_of_indistinct; auto using federated_fitting.
  apply (replace_one gridR grid_downR P squared hessian_squared Hsums Hhessian Hnearest Hrounds n e N W).
Qed.
End FedGBDT_.

Section SGBDT_.
Import SGBDT.
Context {outputs : Outputs}.
Variables gridR grid_downR : R -> R.
Local Hint Extern 0 (Num R) => exact (numR gridR grid_downR) : typeclass_instances.
Variable P : sgbdt R.
Variable n : nat.  (* the order is n + 1 *)
Hypotheses (Hgamma : 0 <= gamma P <= 1) (Hr1 : 0 < r_1 P < 1) (Hg : 0 < g_star P) (Hh : 0 < h_star P) (Hsigma : 0 < sigma_squared P)
  (Hgd : 0 < gradient_deviation P) (Hhd : 0 < support_deviation P)
  (Hgv : gradient_variance P <= gradient_deviation P * gradient_deviation P)
  (Hhv : support_variance P <= support_deviation P * support_deviation P)
  (Htable : forall t, 0 <= t -> 0 <= tabulated P t /\ sampled (gamma P) (S n) t <= exp (INR n * tabulated P t))
  (Hregular : filters P = false -> forall s y, INR (rounds P) * tabulated P (record_cost P (fst (derivatives P s y)) (snd (derivatives P s y))) <= spendable P)
  (Hspendable : 0 <= spendable P)
  (Hgrid : forall s y, on_grid (step (gradient_deviation P)) (fst (derivatives P s y)) /\ on_grid (step (support_deviation P)) (snd (derivatives P s y)))
  (Hstarts : starts P = true -> 0 < count_scale P /\ 0 < labels_scale P /\ 0 <= label_bound P).
Variable start_step : R -> R.
Hypothesis Hrounds : forall b x x', Rabs (nearest P b x - nearest P b x') <= Rabs (x - x') + start_step b.
(** The initial score's noise has total mass 1 for values that are rounded to its grid: [two_sided_whole]. *)
Hypothesis Hplaces : forall b x, 0 < b -> whole (lap1 b (nearest P b x)).
Lemma trees_fitting number y start D m : forall ts k, fitting k -> fitting (grow_trees P number y start D m ts k).
Proof.
  induction m as [|m IH]; intros ts k K; cbn [grow_trees]; [exact K|]. constructor.
  - constructor; [apply Hgamma|constructor; [|constructor]]. change (0 <= 1 - gamma P). lra.
  - change (gamma P + (1 - gamma P + 0) = 1). lra.
  - intro a. constructor; [|intro; apply IH, K]. apply Forall_forall. intros sv I. apply in_map_iff in I. destruct I as (c & <- & _). cbn [fst snd].
    split; [apply cell_deviation_pos; assumption|]. apply (values_on_grid gridR grid_downR P Hgrid y start D ts).
Qed.
Lemma boosted_fitting D : fitting (boosted P D).
Proof.
  assert (G : forall ys number, fitting (all_classes P number ys D D)); [|apply G].
  induction ys as [|y ys IH]; intro number; cbn [all_classes]; [constructor|]. destruct (starts P) eqn:F; [|apply trees_fitting, IH].
  destruct (Hstarts eq_refl) as (A & B & _). constructor; [constructor; [apply Hplaces, A|constructor]|]. intro o.
  constructor; [constructor; [apply Hplaces, B|constructor]|]. intro u. apply trees_fitting, IH.
Qed.
Theorem sgbdt_added e : (1 <= n)%nat -> forall D1 r D2, let d := delta_of n (INR n * whole_budget P) e in
  private_within (e + whole_start P start_step) d (boosted P (D1 ++ r :: D2)) (boosted P (D1 ++ D2)) /\
  private_within (e + whole_start P start_step) d (boosted P (D1 ++ D2)) (boosted P (D1 ++ r :: D2)).
Proof.
  intros N D1 r D2. destruct (add_remove gridR grid_downR P n Hgamma Hr1 Hg Hh Hsigma Hgd Hhd Hgv Hhv Htable Hregular Hspendable Hgrid Hstarts start_step Hrounds e N D1 r D2) as [A B].
  split; apply private_of_indistinct; auto using boosted_fitting.
Qed.
End SGBDT_.
