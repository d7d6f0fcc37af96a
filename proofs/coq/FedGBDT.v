(** The federated framework, Algorithm 1: Renyi differential privacy of whole runs, hence (epsilon, delta). *)
From Coq Require Import List Arith Bool ZArith Reals Lra Lia Psatz.
From DP Require Import Program Bounds Privacy Sums Renyi.
Import ListNotations.

(** ** The text *)
Section Text.
Local Open Scope nat_scope.
Context {N : Type} {num : Num N}.
(** Sums over the records of each cell; a record is in one cell or in none, which follows from what was released before.
    both: of (g, h), else of the Hessians for candidates. *)
Record query := { both : bool; width : nat; cell : list (list N) -> record N -> option nat }.
Inductive method := Newton | Forest | Mean.  (* weights of Eq. 3 and 4; means of classes; means of labels in [-1, 1] *)
Record framework := {
  step_size : N; leaf_bound : N; penalty : N; how : method;
  sums_deviation : N; hessian_deviation : N;
  nearest : N -> N -> N;  (* of a deviation: a sum on the grid of its noise *)
  batches : list (list nat);  (* the trees of each batch *)
  before : nat -> nat -> list query;  (* of a score and a tree: histograms or sides for its splits, candidates *)
  splits_of : nat -> nat -> list (list N) -> list (list (cand N));  (* of a score and a tree, from what was released *)
  asks_leaves : bool;
  reused : nat -> nat -> list (list N) -> list N;  (* else: the sums of the leaves, from what was released *)
  derivatives : N -> N -> N * N; second : N -> N -> N;  (* (g, h) of score and label; the Hessian for candidates *)
  labels : list (record N -> N) }.
Variable P : framework.

(** Section 2.1, Eq. 4, and sections 4.4.1 and 4.4.3, repaired. *)
Definition leaf_weight (g h lambda : N) := div (opp g) (add h lambda).
Definition released_leaf_weight (g h lambda : N) := if leb h zero then zero else leaf_weight g h lambda.
Definition update (w beta eta : N) := mul eta (clip beta w).
Definition half := div one (natural 2).
Definition averaging_weight (g h : N) := if leb h zero then half else minimum (maximum (div g h) zero) one.
Definition leaf_of (g h : N) : N :=
  match how P with
  | Newton => update (released_leaf_weight g h (penalty P)) (leaf_bound P) (step_size P)
  | Forest => averaging_weight g h
  | Mean => sub (mul (natural 2) (averaging_weight (mul (add g h) half) h)) one
  end.
Definition leaves_of (o : list N) : list N :=
  let m := Nat.div2 (length o) in map (fun p => leaf_of (fst p) (snd p)) (combine (firstn m o) (skipn m o)).
Definition part_of (batch : list nat) : N :=
  match how P with Newton => div one (natural (length batch)) | _ => div one (natural (length (concat (batches P)))) end.

(** Algorithm 1, line 4: what a record contributes at the scores of a batch. *)
Definition current (ts : list (N * tree N)) (r : record N) : N := fold_left (fun s t => add s (mul (fst t) (output (snd t) r))) ts zero.
Definition statistic (y : record N -> N) (ts : list (N * tree N)) (which : nat) (r : record N) : N :=
  let s := current ts r in
  match which with 0 => fst (derivatives P s (y r)) | 1 => snd (derivatives P s (y r)) | _ => second P s (y r) end.
Definition in_cell (q : query) past (k : nat) (r : record N) : bool := match cell q past r with Some j => (j =? k)%nat | None => false end.
Definition cells (q : query) : list (nat * nat) :=
  if both q then map (pair 0) (seq 0 (width q)) ++ map (pair 1) (seq 0 (width q)) else map (pair 2) (seq 0 (width q)).
Definition deviation (q : query) := if both q then sums_deviation P else hessian_deviation P.

Section Score.
Variables (number : nat) (y : record N -> N) (D : list (record N)).
Definition answer ts past q (c : nat * nat) : N := where_ D (in_cell q past (snd c)) (statistic y ts (fst c)).
Fixpoint ask ts (qs : list query) (past : list (list N)) (next : list (list N) -> prog N) : prog N :=
  match qs with
  | [] => next past
  | q :: qs => Gauss (map (fun c => (deviation q, nearest P (deviation q) (answer ts past q c))) (cells q)) (fun o => ask ts qs (past ++ [o]) next)
  end.
(** Lines 5 to 9, of every tree of a batch. *)
Fixpoint grow_all ts (batch : list nat) past (done : list (list (list (cand N)))) (next : list (list N) -> list (list (list (cand N))) -> prog N) : prog N :=
  match batch with
  | [] => next past done
  | t :: batch => ask ts (before P number t) past
      (fun past => grow_all ts batch past (done ++ [splits_of P number t past]) next)
  end.
(** Line 10: leaves. *)
Definition leaf_query (ls : list (list (cand N))) : query :=
  {| both := true; width := (2 ^ length ls)%nat; cell := fun _ r => Some (node ls r) |}.
Definition grown (done : list (list (list (cand N)))) (sums : list (list N)) : list (tree N) :=
  map (fun p => {| levels := fst p; leaves := leaves_of (snd p) |}) (combine done sums).
Definition weigh ts (batch : list nat) past done (next : list (list N) -> list (tree N) -> prog N) : prog N :=
  if asks_leaves P then ask ts (map leaf_query done) past (fun after => next after (grown done (skipn (length past) after)))
  else next past (grown done (map (fun t => reused P number t past) batch)).
(** Lines 3 to 12. *)
Fixpoint boost_all (bs : list (list nat)) (past : list (list N)) ts (next : prog N) : prog N :=
  match bs with
  | [] => next
  | b :: bs => grow_all ts b past [] (fun past done => weigh ts b past done
      (fun past trees => boost_all bs past (ts ++ map (pair (part_of b)) trees) next))
  end.
End Score.
Fixpoint all_scores (number : nat) (ys : list (record N -> N)) (D : list (record N)) : prog N :=
  match ys with
  | [] => Done
  | y :: ys => boost_all number y D (batches P) [] [] (all_scores (S number) ys D)
  end.
Definition federated (D : list (record N)) : prog N := all_scores 0 (labels P) D.
End Text.
Arguments query : clear implicits.
Arguments framework : clear implicits.

(** ** The proof *)
Open Scope R_scope.
Section Run.
Context {outputs : Outputs}.
Variables gridR grid_downR : R -> R.
Local Hint Extern 0 (Num R) => exact (numR gridR grid_downR) : typeclass_instances.
Variable P : framework R.
(** What one (g, h) query and one Hessian query cost at order a, over a (a - 1). *)
Variables (squared hessian_squared : R).  (* squared sensitivities *)
Definition query_cost (q : query R) : R :=
  if both q then squared / (2 * (sums_deviation P * sums_deviation P)) else hessian_squared / (2 * (hessian_deviation P * hessian_deviation P)).
Definition tree_cost (number t : nat) : R :=
  sumR query_cost (before P number t) + (if asks_leaves P then squared / (2 * (sums_deviation P * sums_deviation P)) else 0).
Definition batch_cost (number : nat) (b : list nat) : R := sumR (tree_cost number) b.
Fixpoint spending (number : nat) (ys : list (record R -> R)) : R :=
  match ys with [] => 0 | _ :: ys => sumR (batch_cost number) (batches P) + spending (S number) ys end.
Hypotheses (Hsums : 0 < sums_deviation P) (Hhessian : 0 < hessian_deviation P).
(** Rounding to the grid of the noise: onto it, and it moves what differs by one step more at most. *)
Hypotheses (Hnearest : forall d x, on_grid (step d) (nearest P d x))
  (Hrounds : forall d x x', Rabs (nearest P d x - nearest P d x') <= Rabs (x - x') + step d).

Lemma deviation_pos q : 0 < deviation P q.
Proof. unfold deviation. destruct (both q); assumption. Qed.

Definition asked y D ts past q c : R := nearest P (deviation P q) (answer P y D ts past q c).
Section Neighbours.
Variables D D' : list (record R).
Hypothesis Hclose : forall y ts past q,
  distance (fun _ => deviation P q) (asked y D ts past q) (asked y D' ts past q) (cells q) <= query_cost q.
Variable a : nat.
Notation weight_ := (INR a * (INR a - 1)).
Lemma weight_nonneg : 0 <= weight_.
Proof. destruct a; [simpl; lra|]. rewrite S_INR. assert (0 <= INR n) by apply pos_INR. nra. Qed.
Lemma ask_close y ts b k k' : forall qs past, (forall past, renyi a b (k past) (k' past)) ->
  renyi a (weight_ * sumR query_cost qs + b) (ask P y D ts qs past k) (ask P y D' ts qs past k').
Proof.
  induction qs as [|q qs IH]; intros past H; cbn [ask].
  - simpl. rewrite Rmult_0_r, Rplus_0_l. apply H.
  - change (sumR query_cost (q :: qs)) with (query_cost q + sumR query_cost qs). rewrite Rmult_plus_distr_l, Rplus_assoc.
    eapply renyi_weaken; [|apply renyi_gauss with (s := fun _ => deviation P q) (f := asked y D ts past q) (f' := asked y D' ts past q)].
    + apply Rplus_le_compat_r, Rmult_le_compat_l; [apply weight_nonneg|apply Hclose].
    + intro. apply deviation_pos.
    + intro. apply Hnearest.
    + intro. apply Hnearest.
    + intro o. apply IH, H.
Qed.
Lemma grow_all_close (number : nat) y ts b k k' : forall batch past done,
  (forall past done', length done' = (length done + length batch)%nat -> renyi a b (k past done') (k' past done')) ->
  renyi a (weight_ * sumR (fun t => sumR query_cost (before P number t)) batch + b)
    (grow_all P number y D ts batch past done k) (grow_all P number y D' ts batch past done k').
Proof.
  induction batch as [|t batch IH]; intros past done H; cbn [grow_all].
  - simpl. rewrite Rmult_0_r, Rplus_0_l. apply H. simpl. lia.
  - change (sumR (fun t => sumR query_cost (before P number t)) (t :: batch))
      with (sumR query_cost (before P number t) + sumR (fun t => sumR query_cost (before P number t)) batch).
    rewrite Rmult_plus_distr_l, Rplus_assoc. apply ask_close. intro past'. apply IH. intros past2 done2 L.
    apply H. rewrite L, app_length. simpl. lia.
Qed.
Definition leaf_cost : R := if asks_leaves P then squared / (2 * (sums_deviation P * sums_deviation P)) else 0.
Lemma weigh_close (number : nat) y ts b k k' batch past done : length done = length batch -> (forall past trees, renyi a b (k past trees) (k' past trees)) ->
  renyi a (weight_ * (INR (length batch) * leaf_cost) + b) (weigh P number y D ts batch past done k) (weigh P number y D' ts batch past done k').
Proof.
  intros L H. unfold weigh, leaf_cost. destruct (asks_leaves P).
  - eapply renyi_weaken; [|apply ask_close; intro; apply H]. right. do 2 f_equal.
    rewrite <- L. clear. induction done as [|ls done IH]; [simpl; ring|]. cbn [map length]. rewrite S_INR.
    change (sumR query_cost (leaf_query ls :: map leaf_query done)) with (query_cost (leaf_query ls) + sumR query_cost (map leaf_query done)).
    rewrite IH. unfold query_cost at 1. simpl. ring.
  - rewrite !Rmult_0_r, Rplus_0_l. apply H.
Qed.
Lemma batch_cost_R number b : batch_cost number b = sumR (fun t => sumR query_cost (before P number t)) b + INR (length b) * leaf_cost.
Proof.
  unfold batch_cost, tree_cost. fold leaf_cost. induction b as [|t b IH]; [simpl; ring|]. cbn [length]. rewrite S_INR.
  change (sumR (fun t => sumR query_cost (before P number t) + leaf_cost) (t :: b))
    with (sumR query_cost (before P number t) + leaf_cost + sumR (fun t => sumR query_cost (before P number t) + leaf_cost) b).
  rewrite IH. change (sumR (fun t => sumR query_cost (before P number t)) (t :: b))
    with (sumR query_cost (before P number t) + sumR (fun t => sumR query_cost (before P number t)) b). ring.
Qed.
Lemma boost_close (number : nat) y b k k' : renyi a b k k' -> forall bs past ts,
  renyi a (weight_ * sumR (batch_cost number) bs + b) (boost_all P number y D bs past ts k) (boost_all P number y D' bs past ts k').
Proof.
  intro H. induction bs as [|batch bs IH]; intros past ts; cbn [boost_all].
  - simpl. rewrite Rmult_0_r, Rplus_0_l. apply H.
  - change (sumR (batch_cost number) (batch :: bs)) with (batch_cost number batch + sumR (batch_cost number) bs). rewrite batch_cost_R.
    replace (weight_ * (sumR (fun t => sumR query_cost (before P number t)) batch + INR (length batch) * leaf_cost + sumR (batch_cost number) bs) + b)
      with (weight_ * sumR (fun t => sumR query_cost (before P number t)) batch + (weight_ * (INR (length batch) * leaf_cost) + (weight_ * sumR (batch_cost number) bs + b))) by ring.
    apply grow_all_close. intros past' done L. apply weigh_close; [exact L|]. intros. apply IH.
Qed.
Theorem federated_close : renyi a (weight_ * spending 0 (labels P)) (federated P D) (federated P D').
Proof.
  unfold federated. generalize 0%nat. induction (labels P) as [|y ys IH]; intro number; cbn [all_scores spending].
  - rewrite Rmult_0_r. apply renyi_done. lra.
  - rewrite Rmult_plus_distr_l. apply boost_close, IH.
Qed.
End Neighbours.

(** *** What one record changes in a query: t is the step that rounding adds to every sum that it touches *)
Section Cells.
Variables (c c' : option nat) (x x' t : R).
Definition hit (c : option nat) (k : nat) := match c with Some j => (j =? k)%nat | None => false end.
Definition same_cell := match c, c' with Some j, Some j' => (j =? j')%nat | None, None => true | _, _ => false end.
Definition moved := if same_cell then (Rabs (x - x') + t) * (Rabs (x - x') + t) else (Rabs x + t) * (Rabs x + t) + (Rabs x' + t) * (Rabs x' + t).
Definition jump (k : nat) : R :=
  if hit c k then (if hit c' k then Rabs (x - x') + t else Rabs x + t) else if hit c' k then Rabs x' + t else 0.
Lemma squares_moved ks : NoDup ks -> sumR (fun k => jump k * jump k) ks <= moved.
Proof.
  intro N. unfold moved, same_cell, jump. assert (X := Rle_0_sqr (Rabs x + t)). assert (X' := Rle_0_sqr (Rabs x' + t)). assert (Y := Rle_0_sqr (Rabs (x - x') + t)). unfold Rsqr in *.
  set (p := Rabs x + t) in *. set (p' := Rabs x' + t) in *. set (q := Rabs (x - x') + t) in *.
  assert (One : forall k0 e, 0 <= e -> sumR (fun k => if Nat.eqb k k0 then e else 0) ks <= e) by (intros; apply one_pays; assumption).
  assert (Two : forall k0 k1 e e', 0 <= e -> 0 <= e' -> sumR (fun k => (if Nat.eqb k k0 then e else 0) + (if Nat.eqb k k1 then e' else 0)) ks <= e + e').
  { intros. rewrite sumR_plus. apply Rplus_le_compat; apply One; assumption. }
  unfold hit. destruct c as [j|], c' as [j'|].
  - destruct (Nat.eqb_spec j j') as [->|Ne].
    + eapply Rle_trans; [|apply (One j' _ Y)]. apply sumR_mono. intros k _. rewrite (Nat.eqb_sym k). destruct (j' =? k)%nat; lra.
    + eapply Rle_trans; [|apply (Two j j' _ _ X X')]. apply sumR_mono. intros k _. rewrite (Nat.eqb_sym k j), (Nat.eqb_sym k j').
      destruct (Nat.eqb_spec j k), (Nat.eqb_spec j' k); subst; try congruence; lra.
  - eapply Rle_trans; [|apply Rle_trans with (1 := One j _ X); lra]. apply sumR_mono. intros k _. rewrite (Nat.eqb_sym k). destruct (j =? k)%nat; lra.
  - eapply Rle_trans; [|apply Rle_trans with (1 := One j' _ X'); lra]. apply sumR_mono. intros k _. rewrite (Nat.eqb_sym k). destruct (j' =? k)%nat; lra.
  - apply Rle_trans with 0; [|exact Y]. clear. induction ks as [|k l IH]; simpl; unfold sumR in *; lra.
Qed.
End Cells.
Lemma distance_scaled {K} (s : R) (f f' : K -> R) ks : distance (fun _ => s) f f' ks = sumR (fun k => (f k - f' k) * (f k - f' k)) ks / (2 * (s * s)).
Proof. unfold distance. apply sumR_scale. Qed.
Lemma square_le x z : Rabs x <= z -> x * x <= z * z.
Proof. intro H. assert (X := Rabs_pos x). replace (x * x) with (Rabs x * Rabs x) by (unfold Rabs; destruct (Rcase_abs x); ring). apply Rmult_le_compat; assumption. Qed.
(** Squared changes of a query: both cells, whatever the record and the replacement are. *)
Lemma query_squares (f f' : nat * nat -> R) (q : query R) past (g : nat -> record R -> R) (r : record R) (g' : nat -> record R -> R) (r' : record R) t :
  (forall c, Rabs (f c - f' c) <= jump (cell q past r) (cell q past r') (g (fst c) r) (g' (fst c) r') t (snd c)) ->
  sumR (fun c => (f c - f' c) * (f c - f' c)) (cells q) <=
  (if both q then moved (cell q past r) (cell q past r') (g 0%nat r) (g' 0%nat r') t + moved (cell q past r) (cell q past r') (g 1%nat r) (g' 1%nat r') t
   else moved (cell q past r) (cell q past r') (g 2%nat r) (g' 2%nat r') t).
Proof.
  intro H. eapply Rle_trans; [apply sumR_mono; intros c _; apply square_le, H|].
  unfold cells. destruct (both q).
  - rewrite sumR_app, !sumR_map. cbn [fst snd]. apply Rplus_le_compat; apply squares_moved, seq_NoDup.
  - rewrite sumR_map. cbn [fst snd]. apply squares_moved, seq_NoDup.
Qed.
Lemma answer_insert y D1 r D2 ts past q c : answer P y (D1 ++ r :: D2) ts past q c
  = answer P y (D1 ++ D2) ts past q c + (if hit (cell q past r) (snd c) then statistic P y ts (fst c) r else 0).
Proof. unfold answer. rewrite sum_insert. reflexivity. Qed.

(** Squared changes with the step t of the noise's grid in every sum that is touched; `rounded_squared` bounds them. *)
Let t_sums := step (sums_deviation P).
Let t_hessian := step (hessian_deviation P).
(** Add-remove: one record. *)
Definition within_sensitivity := forall s y, let (g, h) := derivatives P s y in
  (Rabs g + t_sums) * (Rabs g + t_sums) + (Rabs h + t_sums) * (Rabs h + t_sums) <= squared /\
  (Rabs (second P s y) + t_hessian) * (Rabs (second P s y) + t_hessian) <= hessian_squared.
(** Replace-one: two records in the same cell, or in different ones. *)
Definition within_sensitivity_replaced := forall s y s' y', let (g, h) := derivatives P s y in let (g', h') := derivatives P s' y' in
  (Rabs (g - g') + t_sums) * (Rabs (g - g') + t_sums) + (Rabs (h - h') + t_sums) * (Rabs (h - h') + t_sums) <= squared /\
  (Rabs g + t_sums) * (Rabs g + t_sums) + (Rabs g' + t_sums) * (Rabs g' + t_sums) +
    ((Rabs h + t_sums) * (Rabs h + t_sums) + (Rabs h' + t_sums) * (Rabs h' + t_sums)) <= squared /\
  (Rabs (second P s y - second P s' y') + t_hessian) * (Rabs (second P s y - second P s' y') + t_hessian) <= hessian_squared /\
  (Rabs (second P s y) + t_hessian) * (Rabs (second P s y) + t_hessian) + (Rabs (second P s' y') + t_hessian) * (Rabs (second P s' y') + t_hessian) <= hessian_squared.
Lemma deviation_squared q : 0 < 2 * (deviation P q * deviation P q).
Proof. assert (H := deviation_pos q). nra. Qed.
Lemma query_cost_R q : query_cost q = (if both q then squared else hessian_squared) / (2 * (deviation P q * deviation P q)).
Proof. unfold query_cost, deviation. destruct (both q); reflexivity. Qed.
Lemma distance_sym {K} s (f f' : K -> R) ks : distance s f f' ks = distance s f' f ks.
Proof. apply sumR_ext. intro. unfold Rdiv. ring. Qed.
Lemma step_of q : step (deviation P q) = if both q then t_sums else t_hessian.
Proof. unfold deviation, t_sums, t_hessian. destruct (both q); reflexivity. Qed.
Lemma one_more : within_sensitivity -> forall D1 r D2 y ts past q,
  distance (fun _ => deviation P q) (asked y (D1 ++ r :: D2) ts past q) (asked y (D1 ++ D2) ts past q) (cells q) <= query_cost q.
Proof.
  intros W D1 r D2 y ts past q. rewrite distance_scaled, query_cost_R. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, deviation_squared|].
  eapply Rle_trans; [apply (query_squares _ _ q past (statistic P y ts) r (fun _ _ => 0) r (step (deviation P q)))|].
  - intro c. unfold asked, jump. rewrite answer_insert. destruct (hit _ _).
    + eapply Rle_trans; [apply Hrounds|]. rewrite Rminus_0_r. right. f_equal. f_equal. ring.
    + rewrite Rplus_0_r. unfold Rminus. rewrite Rplus_opp_r, Rabs_R0. lra.
  - rewrite step_of. specialize (W (current ts r) (y r)). unfold statistic, moved. destruct (derivatives P (current ts r) (y r)) as [g h]. cbn [fst snd].
    destruct W as [W W']. assert (S : same_cell (cell q past r) (cell q past r) = true) by (unfold same_cell; destruct (cell q past r); [apply Nat.eqb_refl|reflexivity]).
    rewrite S, !Rminus_0_r. destruct (both q); lra.
Qed.
Lemma one_replaced : within_sensitivity_replaced -> forall D1 r r' D2 y ts past q,
  distance (fun _ => deviation P q) (asked y (D1 ++ r :: D2) ts past q) (asked y (D1 ++ r' :: D2) ts past q) (cells q) <= query_cost q.
Proof.
  intros W D1 r r' D2 y ts past q. rewrite distance_scaled, query_cost_R. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, deviation_squared|].
  eapply Rle_trans; [apply (query_squares _ _ q past (statistic P y ts) r (statistic P y ts) r' (step (deviation P q)))|].
  - intro c. unfold asked, jump. rewrite !answer_insert. destruct (hit (cell q past r) _), (hit (cell q past r') _).
    + eapply Rle_trans; [apply Hrounds|]. right. f_equal. f_equal. ring.
    + eapply Rle_trans; [apply Hrounds|]. right. f_equal. f_equal. ring.
    + eapply Rle_trans; [apply Hrounds|]. right. f_equal. rewrite Rabs_minus_sym. f_equal. ring.
    + rewrite !Rplus_0_r. unfold Rminus. rewrite Rplus_opp_r, Rabs_R0. lra.
  - rewrite step_of. specialize (W (current ts r) (y r) (current ts r') (y r')). unfold statistic, moved.
    destruct (derivatives P (current ts r) (y r)) as [g h], (derivatives P (current ts r') (y r')) as [g' h']. cbn [fst snd].
    destruct (same_cell _ _), (both q); lra.
Qed.

(** ** The theorems: e and the order n + 1 are free, delta follows *)
Definition loss (n : nat) : R := INR (S n) * (INR (S n) - 1) * spending 0 (labels P).
Theorem add_remove_renyi a : within_sensitivity -> forall D1 r D2,
  renyi a (INR a * (INR a - 1) * spending 0 (labels P)) (federated P (D1 ++ r :: D2)) (federated P (D1 ++ D2)) /\
  renyi a (INR a * (INR a - 1) * spending 0 (labels P)) (federated P (D1 ++ D2)) (federated P (D1 ++ r :: D2)).
Proof.
  intros W D1 r D2. split; apply federated_close; intros; [|rewrite distance_sym]; apply one_more, W.
Qed.
Theorem replace_one_renyi a : within_sensitivity_replaced -> forall D1 r r' D2,
  renyi a (INR a * (INR a - 1) * spending 0 (labels P)) (federated P (D1 ++ r :: D2)) (federated P (D1 ++ r' :: D2)).
Proof. intros W D1 r r' D2. apply federated_close. intros. apply one_replaced, W. Qed.
Theorem add_remove n e : (1 <= n)%nat -> within_sensitivity -> forall D1 r D2,
  indistinct e (delta_of n (loss n) e) (federated P (D1 ++ r :: D2)) (federated P (D1 ++ D2)) /\
  indistinct e (delta_of n (loss n) e) (federated P (D1 ++ D2)) (federated P (D1 ++ r :: D2)).
Proof. intros L W D1 r D2. destruct (add_remove_renyi (S n) W D1 r D2). split; apply indistinct_of_renyi; assumption. Qed.
Theorem replace_one n e : (1 <= n)%nat -> within_sensitivity_replaced -> forall D1 r r' D2,
  indistinct e (delta_of n (loss n) e) (federated P (D1 ++ r :: D2)) (federated P (D1 ++ r' :: D2)).
Proof. intros L W D1 r r' D2. apply indistinct_of_renyi, replace_one_renyi; assumption. Qed.
End Run.

(** ** Squared sensitivities: what discharges the hypotheses *)
Lemma newton_squared g h : Rabs g <= 1 -> 0 <= h <= Rabs g * (1 - Rabs g) -> g * g + h * h <= 1.
Proof.
  intros G [H L]. assert (P := Rabs_pos g). assert (E : g * g = Rabs g * Rabs g) by (unfold Rabs; destruct (Rcase_abs g); ring).
  rewrite E. set (x := Rabs g) in *. clearbody x. assert (h * h <= x * (1 - x) * (x * (1 - x))) by (apply Rmult_le_compat; lra).
  assert (0 <= x * (1 - x)) by (apply Rmult_le_pos; lra). nra.
Qed.
Lemma clipped_squared c g : Rabs g <= c -> g * g + 1 * 1 <= c * c + 1.
Proof. intro G. apply abs_inv in G. nra. Qed.
Lemma clipped_squared_replaced c g g' : Rabs g <= c -> Rabs g' <= c ->
  (g - g') * (g - g') + (1 - 1) * (1 - 1) <= Rmax (4 * (c * c)) (2 * (c * c + 1)) /\ g * g + 1 * 1 + (g' * g' + 1 * 1) <= Rmax (4 * (c * c)) (2 * (c * c + 1)).
Proof.
  intros G G'. apply abs_inv in G. apply abs_inv in G'. assert (A := Rmax_l (4 * (c * c)) (2 * (c * c + 1))).
  assert (B := Rmax_r (4 * (c * c)) (2 * (c * c + 1))). split; [eapply Rle_trans; [|exact A]|eapply Rle_trans; [|exact B]]; nra.
Qed.
Lemma no_squares (l : list R) : sumR (fun x => x * x) l <= 0 -> sumR (fun x => Rabs x) l <= 0.
Proof.
  assert (Y : forall l, 0 <= sumR (fun x => x * x) l) by (intro k; apply sumR_nonneg; intro; apply Rle_0_sqr).
  induction l as [|x l IH]; simpl; intro Z; [lra|]. assert (X := Rle_0_sqr x). unfold Rsqr in X. assert (K := Y l). unfold sumR in *.
  assert (x * x = 0) by lra. assert (x = 0) by (apply Rmult_integral in H; tauto). subst. rewrite Rabs_R0.
  assert (fold_right (fun x s => Rabs x + s) 0 l <= 0) by (apply IH; lra). lra.
Qed.
(** A step more in n coordinates: the root of the squared sensitivity grows by step * root n (Cauchy and Schwarz). *)
Lemma rounded_squared b t (xs : list R) : 0 <= b -> 0 <= t -> sumR (fun x => x * x) xs <= b * b ->
  sumR (fun x => (Rabs x + t) * (Rabs x + t)) xs <= (b + t * sqrt (INR (length xs))) * (b + t * sqrt (INR (length xs))).
Proof.
  intros B T H. set (n := INR (length xs)). assert (N : 0 <= n) by apply pos_INR. assert (Q := sqrt_pos n). assert (Q2 := sqrt_sqrt n N).
  assert (E : sumR (fun x => (Rabs x + t) * (Rabs x + t)) xs = sumR (fun x => x * x) xs + 2 * t * sumR (fun x => Rabs x) xs + n * (t * t)).
  { unfold n. clear. induction xs as [|x xs IH]; [simpl; ring|]. cbn [length]. rewrite S_INR. cbn [sumR fold_right]. unfold sumR in IH. rewrite IH.
    replace (x * x) with (Rabs x * Rabs x) by (unfold Rabs; destruct (Rcase_abs x); ring). ring. }
  assert (A : forall c, 2 * c * sumR (fun x => Rabs x) xs <= sumR (fun x => x * x) xs + n * (c * c)).
  { intro c. unfold n. clear. induction xs as [|x xs IH]; [simpl; lra|]. cbn [length]. rewrite S_INR. cbn [sumR fold_right]. unfold sumR in IH.
    assert (0 <= (Rabs x - c) * (Rabs x - c)) by apply Rle_0_sqr. assert (x * x = Rabs x * Rabs x) by (unfold Rabs; destruct (Rcase_abs x); ring). lra. }
  assert (L : sumR (fun x => Rabs x) xs <= b * sqrt n).
  { destruct xs as [|x xs']; [simpl; apply Rmult_le_pos; assumption|]. set (xs := x :: xs') in *. assert (n0 : 0 < n) by (apply lt_0_INR; simpl; lia).
    assert (s0 : 0 < sqrt n) by (apply sqrt_lt_R0, n0). destruct B as [B|<-].
    - specialize (A (b / sqrt n)). replace (n * (b / sqrt n * (b / sqrt n))) with (b * b) in A by (rewrite <- Q2 at 1; field; lra).
      apply Rmult_le_reg_l with (2 * (b / sqrt n)); [apply Rmult_lt_0_compat; [lra|apply Rdiv_lt_0_compat; assumption]|].
      replace (2 * (b / sqrt n) * (b * sqrt n)) with (2 * (b * b)) by (field; lra). lra.
    - rewrite Rmult_0_l. apply no_squares. lra. }
  rewrite E. assert (2 * t * sumR (fun x => Rabs x) xs <= 2 * t * (b * sqrt n)) by (apply Rmult_le_compat_l; lra).
  replace ((b + t * sqrt n) * (b + t * sqrt n)) with (b * b + 2 * t * (b * sqrt n) + sqrt n * sqrt n * (t * t)) by ring. rewrite Q2. lra.
Qed.
