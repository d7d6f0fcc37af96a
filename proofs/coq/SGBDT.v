(** S-GBDT: random trees, Poisson samples, noise of two deviations, an individual Renyi filter, a noisy initial score. *)
From Coq Require Import List Arith Bool ZArith Reals Lra Lia Psatz.
From DP Require Import Program Bounds Privacy Sums Renyi.
Import ListNotations.

(** ** The text *)
Section Text.
Local Open Scope nat_scope.
Context {N : Type} {num : Num N}.
Record sgbdt := {
  gamma : N;  (* chance of a record to be in a tree's sample *)
  gradient_deviation : N; support_deviation : N;
  g_star : N; h_star : N; r_1 : N; sigma_squared : N;
  rate_of_learning : N; lambda_ : N; beta : N; added : bool;  (* support lambda + noisy support, else the larger one *)
  filters : bool; spendable : N; tabulated : N -> N;  (* what a record may spend, and the cost of a round at t *)
  rounds : nat;
  random_splits : nat -> nat -> list (list (cand N));  (* of a score and a round, from public draws *)
  derivatives : N -> N -> N * N;  (* clipped (g, h) of score and label *)
  starts : bool; count_scale : N; labels_scale : N; label_bound : N;
  nearest : N -> N -> N;  (* of a scale: a value on the grid of its noise *)
  start_of : N -> N -> N;  (* from noisy count and sum *)
  classes_ : list (record N -> N) }.
Variable P : sgbdt.

(** Slides "Individual Renyi DP" and "Leaf computation". *)
Definition record_cost (g h : N) : N :=
  let u := div g (g_star P) in let v := div h (h_star P) in
  div (add (mul (mul (r_1 P) v) v) (mul (mul (sub one (r_1 P)) u) u)) (sigma_squared P).
Definition support_variance := div (mul (mul (h_star P) (h_star P)) (sigma_squared P)) (mul (natural 2) (r_1 P)).
Definition gradient_variance := div (mul (mul (g_star P) (g_star P)) (sigma_squared P)) (mul (natural 2) (sub one (r_1 P))).
Definition leaf_of (u w : N) : N :=
  let support := if added P then add (lambda_ P) w else maximum w (lambda_ P) in
  if leb support zero then zero else clip (beta P) (div (opp u) support).
Definition leaves_of (o : list N) : list N :=
  let m := Nat.div2 (length o) in map (fun p => leaf_of (fst p) (snd p)) (combine (firstn m o) (skipn m o)).

Section Score.
Variables (number : nat) (y : record N -> N) (start : N).
(** The score after the first k trees, and what the record contributes then. *)
Definition score_after (ts : list (tree N)) (r : record N) : N := fold_left (fun s t => add s (mul (rate_of_learning P) (output t r))) ts start.
Definition pair_at (ts : list (tree N)) (r : record N) : N * N := derivatives P (score_after ts r) (y r).
Definition price_at (ts : list (tree N)) (r : record N) : N := tabulated P (record_cost (fst (pair_at ts r)) (snd (pair_at ts r))).
(** What the record has spent on the first k trees: it pays where it has room. *)
Fixpoint spent (ts : list (tree N)) (k : nat) (r : record N) : N :=
  match k with
  | 0 => zero
  | S k => let s := spent ts k r in let after := add s (price_at (firstn k ts) r) in if leb after (spendable P) then after else s
  end.
Definition takes_part (ts : list (tree N)) (r : record N) : bool :=
  negb (filters P) || leb (add (spent ts (length ts) r) (price_at ts r)) (spendable P).
Definition leaf_cells (ls : list (list (cand N))) : list (bool * nat) := map (pair false) (seq 0 (2 ^ length ls)) ++ map (pair true) (seq 0 (2 ^ length ls)).
Definition of_cell (ts : list (tree N)) (c : bool * nat) (r : record N) : N := if fst c then snd (pair_at ts r) else fst (pair_at ts r).
Definition cell_deviation (c : bool * nat) : N := if fst c then support_deviation P else gradient_deviation P.
Definition leaf_total ts (X : list (record N)) ls (c : bool * nat) : N := where_ X (fun r => takes_part ts r && inside ls (snd c) r) (of_cell ts c).
(** One round after the other: a random tree, the filter, a sample, noisy sums. *)
Fixpoint grow_trees (D : list (record N)) (n : nat) (ts : list (tree N)) (next : prog N) : prog N :=
  match n with
  | 0 => next
  | S n => let ls := random_splits P number (length ts) in
      Assign [gamma P; sub one (gamma P)] (length D)
        (fun a => Gauss (map (fun c => (cell_deviation c, leaf_total ts (rows 0 (combine D a)) ls c)) (leaf_cells ls))
          (fun o => grow_trees D n (ts ++ [{| levels := ls; leaves := leaves_of o |}]) next))
  end.
End Score.
(** The initial score, from the noisy number of records and the noisy sum of their clamped labels. D0: the records that it
    asks, D: those that trees ask. A run asks the same; the proof changes one after the other. *)
Definition counted_records (D0 : list (record N)) : N := total (fun _ => one) D0.
Definition clamped_labels (y : record N -> N) (D0 : list (record N)) : N := total (fun r => clip (label_bound P) (y r)) D0.
Fixpoint all_classes (number : nat) (ys : list (record N -> N)) (D0 D : list (record N)) : prog N :=
  match ys with
  | [] => Done
  | y :: ys =>
      let trees start := grow_trees number y start D (rounds P) [] (all_classes (S number) ys D0 D) in
      if starts P then
        Noise (count_scale P) [nearest P (count_scale P) (counted_records D0)] (fun n =>
        Noise (labels_scale P) [nearest P (labels_scale P) (clamped_labels y D0)] (fun s => trees (start_of P (nth 0 n zero) (nth 0 s zero))))
      else trees zero
  end.
Definition boosted (D : list (record N)) : prog N := all_classes 0 (classes_ P) D D.
End Text.
Arguments sgbdt : clear implicits.

(** ** The proof *)
Open Scope R_scope.
Section Run.
Context {outputs : Outputs}.
Variables gridR grid_downR : R -> R.
Local Hint Extern 0 (Num R) => exact (numR gridR grid_downR) : typeclass_instances.
Variable P : sgbdt R.
Variable n : nat.  (* the order is n + 1 *)
Hypotheses (Hgamma : 0 <= gamma P <= 1) (Hr1 : 0 < r_1 P < 1) (Hg : 0 < g_star P) (Hh : 0 < h_star P) (Hsigma : 0 < sigma_squared P).
Hypotheses (Hgd : 0 < gradient_deviation P) (Hhd : 0 < support_deviation P).
(** Deviations are no smaller than the roots of the variances. *)
Hypotheses (Hgv : gradient_variance P <= gradient_deviation P * gradient_deviation P)
  (Hhv : support_variance P <= support_deviation P * support_deviation P).
(** The tabulated cost is no smaller than the binomial sum's, over order minus 1. *)
Hypothesis Htable : forall t, 0 <= t -> 0 <= tabulated P t /\ sampled (gamma P) (S n) t <= exp (INR n * tabulated P t).
(** Without a filter every record can pay for all rounds. *)
Hypothesis Hregular : filters P = false -> forall s y, INR (rounds P) * tabulated P (record_cost P (fst (derivatives P s y)) (snd (derivatives P s y))) <= spendable P.
Hypothesis Hspendable : 0 <= spendable P.
(** Clipped derivatives are on the grid of the noise, which has no need to round their sums. *)
Hypothesis Hgrid : forall s y, on_grid (step (gradient_deviation P)) (fst (derivatives P s y)) /\ on_grid (step (support_deviation P)) (snd (derivatives P s y)).

Lemma record_cost_R g h : record_cost P g h = (r_1 P * (h / h_star P) * (h / h_star P) + (1 - r_1 P) * (g / g_star P) * (g / g_star P)) / sigma_squared P.
Proof. reflexivity. Qed.
Lemma record_cost_nonneg g h : 0 <= record_cost P g h.
Proof.
  rewrite record_cost_R. apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat, Hsigma].
  assert (A := Rle_0_sqr (h / h_star P)). assert (B := Rle_0_sqr (g / g_star P)). unfold Rsqr in *.
  assert (0 <= r_1 P * (h / h_star P * (h / h_star P))) by (apply Rmult_le_pos; lra).
  assert (0 <= (1 - r_1 P) * (g / g_star P * (g / g_star P))) by (apply Rmult_le_pos; lra). lra.
Qed.
Lemma part_cost x star share variance d : 0 < star -> 0 < share -> 0 < d -> variance = star * star * sigma_squared P / (2 * share) -> variance <= d * d ->
  x * x / (2 * (d * d)) <= share * (x / star) * (x / star) / sigma_squared P.
Proof.
  intros A B D E L. assert (0 < star * star) by nra. assert (V : 0 < variance) by (rewrite E; apply Rdiv_lt_0_compat; nra).
  apply Rle_trans with (x * x / (2 * variance)).
  - apply Rmult_le_compat_l; [apply Rle_0_sqr|]. apply Rinv_le_contravar; lra.
  - right. rewrite E. field. lra.
Qed.
Lemma whitened g h : g * g / (2 * (gradient_deviation P * gradient_deviation P)) + h * h / (2 * (support_deviation P * support_deviation P)) <= record_cost P g h.
Proof.
  rewrite record_cost_R. unfold Rdiv at 3. rewrite Rmult_plus_distr_r, Rplus_comm. apply Rplus_le_compat.
  - eapply part_cost; [exact Hh|apply Hr1|exact Hhd| |exact Hhv]. unfold support_variance. rewrite natural_R. simpl. reflexivity.
  - eapply part_cost; [exact Hg|lra|exact Hgd| |exact Hgv]. unfold gradient_variance. rewrite natural_R. simpl. reflexivity.
Qed.
Lemma price_nonneg y start ts r : 0 <= price_at P y start ts r.
Proof. unfold price_at. apply Htable, record_cost_nonneg. Qed.

Lemma sumR_same {A} (f g : A -> R) l : (forall a, In a l -> f a = g a) -> sumR f l = sumR g l.
Proof. intro H. apply Rle_antisym; apply sumR_mono; intros a I; rewrite (H a I); lra. Qed.
Section Record.
Variables (D1 : list (record R)) (r : record R) (D2 : list (record R)).
Section Score.
Variables (number : nat) (y : record R -> R) (start : R).
Definition left_over (ts : list (tree R)) : R :=
  if filters P then spendable P - spent P y start ts (length ts) r else spendable P - sumR (fun k => price_at P y start (firstn k ts) r) (seq 0 (length ts)).
Lemma firstn_snoc {A} (l : list A) x k : (k <= length l)%nat -> firstn k (l ++ [x]) = firstn k l.
Proof. intro L. rewrite firstn_app. replace (k - length l)%nat with 0%nat by lia. simpl. apply app_nil_r. Qed.
Lemma spent_snoc ts t k : (k <= length ts)%nat -> spent P y start (ts ++ [t]) k r = spent P y start ts k r.
Proof. induction k as [|k IH]; intro L; cbn [spent]; [reflexivity|]. rewrite IH, firstn_snoc by lia. reflexivity. Qed.
Lemma leR_true x z : leR x z = true -> x <= z.
Proof. unfold leR. destruct (Rle_dec x z); [trivial|discriminate]. Qed.
(** A round takes from what is left what the record pays for it, nothing if it takes no part. *)
Definition pays (ts : list (tree R)) : R := if takes_part P y start ts r then price_at P y start ts r else 0.
Lemma left_over_snoc ts t : left_over (ts ++ [t]) = left_over ts - pays ts.
Proof.
  unfold left_over, pays, takes_part. rewrite app_length. simpl length. rewrite Nat.add_1_r. destruct (filters P).
  - cbn [spent negb orb]. rewrite spent_snoc, firstn_snoc, firstn_all by lia. destruct (leb _ _); simpl; ring.
  - cbn [negb orb]. rewrite seq_S, sumR_app. cbn [Nat.add sumR fold_right]. rewrite firstn_snoc, firstn_all by lia.
    rewrite (sumR_same (fun k => price_at P y start (firstn k (ts ++ [t])) r) (fun k => price_at P y start (firstn k ts) r)); [ring|].
    intros k I. apply in_seq in I. rewrite firstn_snoc by lia. reflexivity.
Qed.
Lemma spent_within ts k : filters P = true -> spent P y start ts k r <= spendable P.
Proof.
  intro F. induction k as [|k IH]; cbn [spent]; [exact Hspendable|]. destruct (leb _ _) eqn:E; [|exact IH]. apply leR_true, E.
Qed.
Lemma left_over_nonneg ts : (length ts <= rounds P)%nat -> 0 <= left_over ts.
Proof.
  intro L. unfold left_over. destruct (filters P) eqn:F; [assert (H := spent_within ts (length ts) F); lra|].
  assert (B : sumR (fun k => price_at P y start (firstn k ts) r) (seq 0 (length ts)) <= INR (length ts) * (spendable P / INR (rounds P))).
  { destruct ts as [|t ts']; [simpl; lra|]. set (ts := t :: ts') in *. assert (0 < INR (rounds P)) by (apply lt_0_INR; simpl in L; lia).
    rewrite <- (seq_length (length ts) 0) at 2. induction (seq 0 (length ts)) as [|k l IH]; [simpl; lra|]. cbn [sumR fold_right length]. rewrite S_INR, Rmult_plus_distr_r.
    assert (K : price_at P y start (firstn k ts) r <= spendable P / INR (rounds P)); [|unfold sumR in IH; lra].
    apply le_div; [assumption|]. rewrite Rmult_comm. apply (Hregular eq_refl). }
  destruct (rounds P) as [|m]; [destruct ts; [simpl in *; lra|simpl in L; lia]|].
  assert (M : 0 < INR (S m)) by (apply lt_0_INR; lia). apply le_INR in L. assert (Q : 0 <= spendable P / INR (S m)) by (apply Rmult_le_pos; [assumption|left; apply Rinv_0_lt_compat, M]).
  assert (INR (length ts) * (spendable P / INR (S m)) <= INR (S m) * (spendable P / INR (S m))) by (apply Rmult_le_compat_r; assumption).
  replace (INR (S m) * (spendable P / INR (S m))) with (spendable P) in H by (field; lra). lra.
Qed.

Definition values (D : list (record R)) ts ls (a : list nat) (c : bool * nat) : R := leaf_total P y start ts (rows 0 (combine D a)) ls c.
Lemma leaf_total_insert ts X1 X2 ls c : leaf_total P y start ts (X1 ++ r :: X2) ls c
  = leaf_total P y start ts (X1 ++ X2) ls c + (if takes_part P y start ts r && inside ls (snd c) r then of_cell P y start ts c r else 0).
Proof. unfold leaf_total. apply sum_insert. Qed.
Lemma values_out ts ls a1 a2 : length a1 = length D1 -> forall j c, j <> 0%nat -> values (D1 ++ r :: D2) ts ls (a1 ++ j :: a2) c = values (D1 ++ D2) ts ls (a1 ++ a2) c.
Proof.
  intros L j c J. unfold values. destruct (combine_insert D1 r D2 a1 j a2 L) as [-> ->]. rewrite (@rows_insert), rows_app.
  destruct (Nat.eqb_spec j 0); [contradiction|]. reflexivity.
Qed.
Definition moves ts : R := if takes_part P y start ts r then record_cost P (fst (pair_at P y start ts r)) (snd (pair_at P y start ts r)) else 0.
Lemma values_in ts ls a1 a2 : length a1 = length D1 ->
  distance (cell_deviation P) (values (D1 ++ r :: D2) ts ls (a1 ++ 0%nat :: a2)) (values (D1 ++ D2) ts ls (a1 ++ a2)) (leaf_cells ls) <= moves ts.
Proof.
  intro L. assert (E : forall c, values (D1 ++ r :: D2) ts ls (a1 ++ 0%nat :: a2) c - values (D1 ++ D2) ts ls (a1 ++ a2) c
    = if takes_part P y start ts r && inside ls (snd c) r then of_cell P y start ts c r else 0).
  { intro c. unfold values. destruct (combine_insert D1 r D2 a1 0%nat a2 L) as [-> ->]. rewrite (@rows_insert), rows_app. simpl app.
    rewrite leaf_total_insert. ring. }
  unfold distance. rewrite (sumR_ext _ (fun c => (if takes_part P y start ts r && inside ls (snd c) r then of_cell P y start ts c r else 0)
    * (if takes_part P y start ts r && inside ls (snd c) r then of_cell P y start ts c r else 0) / (2 * (cell_deviation P c * cell_deviation P c)))) by (intro; rewrite E; reflexivity).
  unfold moves. destruct (takes_part P y start ts r); cbn [andb].
  - unfold leaf_cells. rewrite sumR_app, !sumR_map. unfold of_cell, cell_deviation. cbn [fst snd]. set (g := fst _). set (h := snd _).
    eapply Rle_trans; [|apply whitened]. assert (One : forall x d, 0 < d ->
      sumR (fun k => (if inside ls k r then x else 0) * (if inside ls k r then x else 0) / (2 * (d * d))) (seq 0 (2 ^ length ls)) <= x * x / (2 * (d * d))).
    { intros x d D. assert (X : 0 <= x * x / (2 * (d * d))) by (apply Rmult_le_pos; [apply Rle_0_sqr|left; apply Rinv_0_lt_compat; nra]).
      apply Rle_trans with (sumR (fun k => if Nat.eqb k (node ls r) then x * x / (2 * (d * d)) else 0) (seq 0 (2 ^ length ls)));
        [|apply one_pays; [apply seq_NoDup|exact X]]. apply sumR_mono. intros k _. unfold inside. rewrite (Nat.eqb_sym k).
      destruct (node ls r =? k)%nat; [lra|]. unfold Rdiv. lra. }
    apply Rplus_le_compat; apply One; assumption.
  - right. induction (leaf_cells ls) as [|c l IH]; [reflexivity|]. cbn [sumR fold_right]. unfold sumR in IH. rewrite IH. unfold Rdiv. ring.
Qed.
Lemma values_on_grid D ts ls a c : on_grid (step (cell_deviation P c)) (values D ts ls a c).
Proof.
  unfold values, leaf_total, where_. generalize (rows 0 (combine D a)). intro X. induction X as [|x X [i E]]; [exists 0%Z; simpl; ring|]. cbn [total].
  assert (G : on_grid (step (cell_deviation P c)) (if takes_part P y start ts x && inside ls (snd c) x then of_cell P y start ts c x else zero)).
  { destruct (takes_part P y start ts x && inside ls (snd c) x); [|exists 0%Z; simpl; ring]. unfold of_cell, pair_at, cell_deviation.
    destruct (Hgrid (score_after P start ts x) (y x)). destruct (fst c); assumption. }
  destruct G as [j F]. exists (j + i)%Z. rewrite F, E, plus_IZR. change add with Rplus. ring.
Qed.
Lemma cell_deviation_pos c : 0 < cell_deviation P c.
Proof. unfold cell_deviation. destruct (fst c); assumption. Qed.
Lemma round_cost ts : sampled (gamma P) (S n) (moves ts) <= exp (INR n * pays ts).
Proof.
  unfold moves, pays. destruct (takes_part P y start ts r); [apply Htable, record_cost_nonneg|]. rewrite sampled_0 by assumption. rewrite Rmult_0_r, exp_0. lra.
Qed.
Lemma grow_close b k k' : renyi (S n) b k k' -> forall m ts, (length ts + m = rounds P)%nat ->
  renyi (S n) (INR n * left_over ts + b) (grow_trees P number y start (D1 ++ r :: D2) m ts k) (grow_trees P number y start (D1 ++ D2) m ts k').
Proof.
  intro K. induction m as [|m IH]; intros ts L; cbn [grow_trees].
  - eapply renyi_weaken; [|exact K]. assert (H := left_over_nonneg ts ltac:(lia)). assert (0 <= INR n) by apply pos_INR. nra.
  - rewrite !app_length. cbn [length]. set (ls := random_splits P number (length ts)).
    assert (E : forall o, INR n * left_over ts + b = INR n * pays ts + (INR n * left_over (ts ++ [{| levels := ls; leaves := leaves_of P o |}]) + b))
      by (intro; rewrite left_over_snoc; ring). rewrite (E []).
    apply (renyi_sampled (gamma P) (cell_deviation P) (leaf_cells ls) (length D1) (length D2) (values (D1 ++ r :: D2) ts ls) (values (D1 ++ D2) ts ls) (moves ts));
      auto using cell_deviation_pos, values_on_grid, values_out, values_in, round_cost.
    intro o. assert (E' : left_over (ts ++ [{| levels := ls; leaves := leaves_of P [] |}]) = left_over (ts ++ [{| levels := ls; leaves := leaves_of P o |}])) by (rewrite !left_over_snoc; reflexivity).
    rewrite E'. apply IH. rewrite app_length. simpl. lia.
Qed.
Lemma grow_close_back b k k' : renyi (S n) b k' k -> forall m ts, (length ts + m = rounds P)%nat ->
  renyi (S n) (INR n * left_over ts + b) (grow_trees P number y start (D1 ++ D2) m ts k') (grow_trees P number y start (D1 ++ r :: D2) m ts k).
Proof.
  intro K. induction m as [|m IH]; intros ts L; cbn [grow_trees].
  - eapply renyi_weaken; [|exact K]. assert (H := left_over_nonneg ts ltac:(lia)). assert (0 <= INR n) by apply pos_INR. nra.
  - rewrite !app_length. cbn [length]. set (ls := random_splits P number (length ts)).
    assert (E : forall o, INR n * left_over ts + b = INR n * pays ts + (INR n * left_over (ts ++ [{| levels := ls; leaves := leaves_of P o |}]) + b))
      by (intro; rewrite left_over_snoc; ring). rewrite (E []).
    apply (renyi_sampled_back (gamma P) (cell_deviation P) (leaf_cells ls) (length D1) (length D2) (values (D1 ++ r :: D2) ts ls) (values (D1 ++ D2) ts ls) (moves ts));
      auto using cell_deviation_pos, values_on_grid, values_out, values_in, round_cost.
    intro o. assert (E' : left_over (ts ++ [{| levels := ls; leaves := leaves_of P [] |}]) = left_over (ts ++ [{| levels := ls; leaves := leaves_of P o |}])) by (rewrite !left_over_snoc; reflexivity).
    rewrite E'. apply IH. rewrite app_length. simpl. lia.
Qed.
Lemma left_over_start : left_over [] = spendable P.
Proof. unfold left_over. cbn [length spent seq sumR fold_right]. change zero with 0. destruct (filters P); ring. Qed.
End Score.

Hypothesis Hstarts : starts P = true -> 0 < count_scale P /\ 0 < labels_scale P /\ 0 <= label_bound P.
Theorem trees_close D0 : forall ys number,
  renyi (S n) (INR n * (INR (length ys) * spendable P)) (all_classes P number ys D0 (D1 ++ r :: D2)) (all_classes P number ys D0 (D1 ++ D2)) /\
  renyi (S n) (INR n * (INR (length ys) * spendable P)) (all_classes P number ys D0 (D1 ++ D2)) (all_classes P number ys D0 (D1 ++ r :: D2)).
Proof.
  induction ys as [|y ys IH]; intro number; cbn [all_classes].
  - split; apply renyi_done; simpl; lra.
  - destruct (IH (S number)) as [A B]. cbn [length]. rewrite S_INR.
    replace (INR n * ((INR (length ys) + 1) * spendable P)) with (INR n * spendable P + INR n * (INR (length ys) * spendable P)) by ring.
    assert (T : forall start, renyi (S n) (INR n * spendable P + INR n * (INR (length ys) * spendable P))
        (grow_trees P number y start (D1 ++ r :: D2) (rounds P) [] (all_classes P (S number) ys D0 (D1 ++ r :: D2)))
        (grow_trees P number y start (D1 ++ D2) (rounds P) [] (all_classes P (S number) ys D0 (D1 ++ D2))) /\
      renyi (S n) (INR n * spendable P + INR n * (INR (length ys) * spendable P))
        (grow_trees P number y start (D1 ++ D2) (rounds P) [] (all_classes P (S number) ys D0 (D1 ++ D2)))
        (grow_trees P number y start (D1 ++ r :: D2) (rounds P) [] (all_classes P (S number) ys D0 (D1 ++ r :: D2)))).
    { intro start. split; rewrite <- (left_over_start y start) at 1; [apply grow_close|apply grow_close_back]; auto. }
    destruct (starts P) eqn:F; [|apply T]. destruct (Hstarts eq_refl) as (S1 & S2 & _).
    split; apply renyi_same_noise; auto; intro; apply renyi_same_noise; auto; intro; apply T.
Qed.
End Record.

(** *** The initial score: a factor of exp(start_cost) for each class *)
Hypothesis Hstarts : starts P = true -> 0 < count_scale P /\ 0 < labels_scale P /\ 0 <= label_bound P.
(** Rounding to the grid of that noise moves what differs by one step more at most. *)
Variable start_step : R -> R.
Hypothesis Hrounds : forall b x x', Rabs (nearest P b x - nearest P b x') <= Rabs (x - x') + start_step b.
Definition start_cost : R :=
  if starts P then (1 + start_step (count_scale P)) / count_scale P + (label_bound P + start_step (labels_scale P)) / labels_scale P else 0.
Definition below (c : R) (p p' : prog R) := forall t, 0 <= mass p t <= c * mass p' t.
Lemma gausses_nonneg l o : (forall sv, In sv l -> 0 < fst sv) -> 0 <= gausses step step_positive l o.
Proof.
  unfold gausses. revert o. induction l as [|sv l IH]; intros [|z o] H; simpl; try lra. apply Rmult_le_pos; [|apply IH; intros; apply H; right; assumption].
  left. apply gauss1_pos, H. left. reflexivity.
Qed.
Lemma grow_below number y start D c k k' : 0 <= c -> below c k k' -> forall m ts, below c (grow_trees P number y start D m ts k) (grow_trees P number y start D m ts k').
Proof.
  intros C K. induction m as [|m IH]; intros ts; cbn [grow_trees]; [exact K|]. intro t. cbn [mass].
  assert (W : Forall (fun w => 0 <= w) [gamma P; 1 - gamma P]) by (constructor; [lra|constructor; [lra|constructor]]).
  change (sub one (gamma P)) with (1 - gamma P). rewrite <- expect_mult. split.
  - apply Rle_trans with (expect [gamma P; 1 - gamma P] (length D) (fun _ => 0)); [rewrite expect_0; lra|]. apply expect_le; [exact W|]. intros a _. destruct t as [|o t]; cbn [mass]; [lra|].
    apply Rmult_le_pos; [|apply IH]. apply gausses_nonneg. intros sv I. apply in_map_iff in I. destruct I as (x & <- & _). apply cell_deviation_pos.
  - apply expect_le; [exact W|]. intros a _. destruct t as [|o t]; cbn [mass]; [lra|]. rewrite (Rmult_comm c), Rmult_assoc, (Rmult_comm _ c).
    apply Rmult_le_compat_l; [|apply IH]. apply gausses_nonneg. intros sv I. apply in_map_iff in I. destruct I as (x & <- & _). apply cell_deviation_pos.
Qed.
Lemma noise_below b (v v' c e : R) k k' : 0 < b -> 0 <= c -> Rabs (v - v') <= e -> (forall o, below c (k o) (k' o)) -> below (exp (e / b) * c) (Noise b [v] k) (Noise b [v'] k').
Proof.
  intros B C E K [|o t]; cbn [mass]; [lra|]. specialize (K (map (place b) o) t).
  assert (L := laps_pay b (fun _ : unit => v) (fun _ => v') [tt] o B). cbn [map sumR fold_right] in L. rewrite Rplus_0_r in L.
  assert (X : exp (Rabs (v - v') / b) <= exp (e / b)) by (apply exp_mono, Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, B|exact E]).
  assert (N := laps_nonneg b [v'] o B). split; [apply Rmult_le_pos; tauto|].
  apply Rle_trans with ((exp (e / b) * product (lap1 b) [v'] o) * (c * mass (k' (map (place b) o)) t)); [|right; ring].
  apply Rmult_le_compat; try tauto. eapply Rle_trans; [apply L|]. apply Rmult_le_compat_r; assumption.
Qed.
Lemma start_below D0 D0' D : Rabs (counted_records D0 - counted_records D0') <= 1 ->
  (forall y, starts P = true -> Rabs (clamped_labels P y D0 - clamped_labels P y D0') <= label_bound P) ->
  forall ys number, below (exp (INR (length ys) * start_cost)) (all_classes P number ys D0 D) (all_classes P number ys D0' D).
Proof.
  intros HC HL. induction ys as [|y ys IH]; intro number; cbn [all_classes].
  - intros [|o t]; simpl; rewrite ?Rmult_0_l, ?exp_0; lra.
  - cbn [length]. rewrite S_INR. assert (G : forall start, below (exp (INR (length ys) * start_cost))
      (grow_trees P number y start D (rounds P) [] (all_classes P (S number) ys D0 D)) (grow_trees P number y start D (rounds P) [] (all_classes P (S number) ys D0' D)))
      by (intro; apply grow_below; [left; apply exp_pos|apply IH]).
    unfold start_cost in *. destruct (starts P) eqn:F; [|rewrite !Rmult_0_r in *; apply G]. destruct (Hstarts eq_refl) as (S1 & S2 & S3).
    set (rest := INR (length ys) * _) in *.
    replace ((INR (length ys) + 1) * ((1 + start_step (count_scale P)) / count_scale P + (label_bound P + start_step (labels_scale P)) / labels_scale P))
      with ((1 + start_step (count_scale P)) / count_scale P + ((label_bound P + start_step (labels_scale P)) / labels_scale P + rest)) by (unfold rest; ring).
    rewrite !exp_plus. apply noise_below; [exact S1|apply Rmult_le_pos; left; apply exp_pos|eapply Rle_trans; [apply Hrounds|lra]|]. intro o1.
    apply noise_below; [exact S2|left; apply exp_pos|eapply Rle_trans; [apply Hrounds|]; specialize (HL y eq_refl); lra|]. intro o2. apply G.
Qed.
Lemma total_insert (f : record R -> R) D1 r D2 : total f (D1 ++ r :: D2) = total f (D1 ++ D2) + f r.
Proof. induction D1 as [|x D1 IH]; simpl in *; [ring|]. rewrite IH. ring. Qed.
Lemma start_one D1 r D2 : Rabs (counted_records (D1 ++ r :: D2) - counted_records (D1 ++ D2)) <= 1 /\
  (forall y, starts P = true -> Rabs (clamped_labels P y (D1 ++ r :: D2) - clamped_labels P y (D1 ++ D2)) <= label_bound P).
Proof.
  unfold counted_records, clamped_labels. split; [|intros y F]; rewrite total_insert.
  - change one with 1. replace (_ + 1 - _) with 1 by ring. rewrite Rabs_R1. lra.
  - destruct (Hstarts F) as (_ & _ & B). set (x := total _ _). replace (x + clip (label_bound P) (y r) - x) with (clip (label_bound P) (y r)) by ring.
    rewrite clip_R. apply abs_le. unfold clipR, Rmax, Rmin. destruct (Rle_dec _ (- label_bound P)); destruct (Rle_dec _ (label_bound P)); lra.
Qed.
Definition whole_budget : R := INR (length (classes_ P)) * spendable P.
Definition whole_start : R := INR (length (classes_ P)) * start_cost.
Lemma below_indistinct c e d p q q' : indistinct e d p q -> below (exp c) q q' -> indistinct (e + c) d p q'.
Proof.
  intros I B. apply within_mono with (2 := I). intro t. destruct (B t) as [_ L]. rewrite exp_plus.
  assert (E := exp_pos e). apply Rmult_le_compat_l with (r := exp e) in L; lra.
Qed.
(** ** The theorem: e is free, delta follows at the order n + 1 *)
Theorem add_remove e : (1 <= n)%nat -> forall D1 r D2,
  indistinct (e + whole_start) (delta_of n (INR n * whole_budget) e) (boosted P (D1 ++ r :: D2)) (boosted P (D1 ++ D2)) /\
  indistinct (e + whole_start) (delta_of n (INR n * whole_budget) e) (boosted P (D1 ++ D2)) (boosted P (D1 ++ r :: D2)).
Proof.
  intros L D1 r D2. destruct (start_one D1 r D2) as [A B]. unfold boosted, whole_start, whole_budget. split.
  - apply below_indistinct with (q := all_classes P 0 (classes_ P) (D1 ++ r :: D2) (D1 ++ D2)).
    + apply indistinct_of_renyi; [exact L|]. apply (trees_close D1 r D2 Hstarts).
    + apply start_below; assumption.
  - apply below_indistinct with (q := all_classes P 0 (classes_ P) (D1 ++ D2) (D1 ++ r :: D2)).
    + apply indistinct_of_renyi; [exact L|]. apply (trees_close D1 r D2 Hstarts).
    + apply start_below; [rewrite Rabs_minus_sym; exact A|]. intros y F. rewrite Rabs_minus_sym. apply B, F.
Qed.
End Run.
