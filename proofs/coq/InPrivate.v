(** InPrivate Digging, Algorithms 1 and 2, repaired: every owner's records are eps-differentially private. *)
From Coq Require Import List Arith ZArith Bool Reals Lra Lia Psatz.
From DP Require Import Program Bounds Privacy Sums.
Import ListNotations.

(** ** The text *)
Section Text.
Context {N : Type} {num : Num N}.
Record rules := {
  epsilon : N; splits : nat; part_splits : N; cut : N; coefficient_bound : N; damping : N; weight : N;
  neighbours : nat;  (* 1 add-remove, 2 replace-one *)
  candidates : list (cand N); turns : list N;  (* chance of a record to be used in each turn *)
  loss : N -> N -> N;  (* residual of label and score *)
  counted : bool;  (* square loss: leaves divide by counts; else by the sums of |r| (2 - |r|) *)
  outputs : list (record N -> N) }.
Variable P : rules.

(** Section III-B: the error of a node falls by G_L^2/n_L + G_R^2/n_R - G^2/n. *)
Definition node_score (G n : N) := div (mul G G) (maximum n one).
Definition error_gain (GL nL GR nR : N) :=
  sub (add (node_score GL nL) (node_score GR nR)) (node_score (add GL GR) (add nL nR)).
Definition curvature (r : N) := mul (absolute r) (sub (times 2 one) (absolute r)).
Definition split_range (b : N) := times 4 (mul b b).
Definition leaf_range := if counted P then add (cut P) one else div (natural 9) (natural 4).
Definition tree_budget := div (epsilon P) (natural (length (outputs P))).
Definition split_slope := div (div (mul (part_splits P) tree_budget) (natural (splits P))) (times (neighbours P) (split_range (cut P))).
Definition leaf_scale := div (times (neighbours P) leaf_range) (mul (sub one (part_splits P)) tree_budget).

(** Eq. 6 and 13, cut to the bound and rounded to the grid. *)
Definition score_of (ts : list (tree N)) (r : record N) : N := fold_left (fun s t => add s (mul (weight P) (output t r))) ts zero.
Definition error (y : record N -> N) (ts : list (tree N)) (r : record N) : N :=
  grid (clip (grid_down (cut P)) (loss P (y r) (score_of ts r))).
Definition second (e : record N -> N) (r : record N) : N := if counted P then one else grid (curvature (e r)).

(** Algorithm 1. *)
Definition split_utility (e : record N -> N) (X : list (record N)) ls k q :=
  let go_right r := inside ls k r && right q r in
  let go_left r := inside ls k r && negb (right q r) in
  error_gain (gsum e X go_left) (count X go_left) (gsum e X go_right) (count X go_right).
Definition leaf_sum (e : record N -> N) (X : list (record N)) ls (cell : bool * nat) :=
  where_ X (inside ls (snd cell)) (if fst cell then second e else e).
Definition cells (ls : list (list (cand N))) := map (pair false) (nodes ls) ++ map (pair true) (nodes ls).
Definition coefficient (G n : N) := clip (coefficient_bound P) (div G (maximum n (maximum one (mul (damping P) leaf_scale)))).
Definition coefficients (ls : list (list (cand N))) (o : list N) :=
  let m := length (nodes ls) in map (fun p => coefficient (fst p) (snd p)) (combine (firstn m o) (skipn m o)).
Fixpoint new_tree (e : record N -> N) (X : list (record N)) (d : nat) ls (next : tree N -> prog N) : prog N :=
  match d with
  | 0 => Noise leaf_scale (map (leaf_sum e X ls) (cells ls)) (fun o => next {| levels := ls; leaves := coefficients ls o |})
  | S d => Choose split_slope (map (fun k => map (split_utility e X ls k) (candidates P)) (nodes ls))
             (fun cs => new_tree e X d (ls ++ [map (fun i => nth i (candidates P) nowhere) cs]) next)
  end.

(** Algorithm 2: in every turn one tree for each output, from the records of that turn. *)
Fixpoint turn (X : list (record N)) (ys : list (record N -> N)) (tss done : list (list (tree N)))
    (next : list (list (tree N)) -> prog N) : prog N :=
  match ys, tss with
  | y :: ys, ts :: tss => new_tree (error y ts) X (splits P) [] (fun t => turn X ys tss (done ++ [ts ++ [t]]) next)
  | _, _ => next done
  end.
Fixpoint all_turns (A : list (record N * nat)) (n j : nat) (tss : list (list (tree N))) : prog N :=
  match n with
  | 0 => Done
  | S n => turn (rows j A) (outputs P) tss [] (fun tss => all_turns A n (S j) tss)
  end.
Definition digging (D : list (record N)) : prog N :=
  Assign (with_rest (turns P)) (length D)
    (fun a => all_turns (combine D a) (length (turns P)) 0 (map (fun _ => []) (outputs P))).
End Text.
Arguments rules : clear implicits.

(** ** The proof *)
Open Scope R_scope.
Section Run.
Context {noise : Additive}.
Variables gridR grid_downR : R -> R.
Local Hint Extern 0 (Num R) => exact (numR gridR grid_downR) : typeclass_instances.
Let count_nonneg := @count_nonneg gridR grid_downR.
Let count_cases := @count_cases gridR grid_downR.
Let gsum_bound := @gsum_bound gridR grid_downR.
Variable P : rules R.
Hypotheses (Hcut : 0 < cut P) (Heps : 0 < epsilon P) (Hpart : 0 < part_splits P < 1) (Hneighbours : (1 <= neighbours P)%nat)
  (Houtputs : (1 <= length (outputs P))%nat) (Hturns : Forall (fun w => 0 <= w) (turns P) /\ sumR (fun w => w) (turns P) <= 1).
(** What is assumed about a record's contribution: rounding keeps it within the cut, and residual and rounded curvature
    together within 9/4, which `rounded_curvature` shows for rounding to the nearest multiple. *)
Hypothesis Hgrid : forall x, Rabs x <= grid_downR (cut P) -> Rabs (gridR x) <= cut P.
Hypothesis Hdown : 0 <= grid_downR (cut P).
Hypothesis Hsecond : counted P = true \/ forall y ts r, Rabs (error P y ts r) + Rabs (gridR (curvature (error P y ts r))) <= 9 / 4.

Lemma error_bounded y ts r : Rabs (error P y ts r) <= cut P.
Proof.
  unfold error. apply Hgrid. rewrite clip_R. simpl. assert (S := clip_spec (grid_downR (cut P))). apply abs_le.
  unfold clipR, Rmax, Rmin. destruct (Rle_dec _ (- grid_downR (cut P))); destruct (Rle_dec _ (grid_downR (cut P))); lra.
Qed.
Lemma leaf_range_R : leaf_range P = if counted P then cut P + 1 else 9 / 4.
Proof. unfold leaf_range. rewrite !natural_R. destruct (counted P); simpl; [reflexivity|lra]. Qed.
Lemma contribution y ts r : Rabs (error P y ts r) + Rabs (second P (error P y ts) r) <= leaf_range P.
Proof.
  rewrite leaf_range_R. unfold second. assert (B := error_bounded y ts r). destruct Hsecond as [E|W].
  - rewrite E. change (@one R _) with 1. rewrite Rabs_R1. lra.
  - destruct (counted P); [change (@one R _) with 1; rewrite Rabs_R1; lra|]. exact (W y ts r).
Qed.
Lemma split_range_R b : split_range b = 4 * (b * b).
Proof. unfold split_range. rewrite times_R. simpl. ring. Qed.

Section Tree.
Variables (e : record R -> R) (X1 : list (record R)) (r : record R) (X2 : list (record R)).
Hypotheses (HX : forall r, Rabs (e r) <= cut P).
Let X' := X1 ++ r :: X2.
Let X := X1 ++ X2.
Lemma all_bounded Y : bounded e (cut P) Y.
Proof. apply Forall_forall. intros. apply HX. Qed.
Lemma node_score_R G n : node_score G n = G * G / Rmax n 1.
Proof. unfold node_score. rewrite maximum_R. reflexivity. Qed.
Lemma node_score_change p : p r = true ->
  - (3 * (cut P * cut P)) <= node_score (gsum e X' p) (count X' p) - node_score (gsum e X p) (count X p) <= cut P * cut P.
Proof.
  intro E. rewrite !node_score_R. unfold gsum, count, X'. rewrite !sum_insert. fold X. rewrite E.
  assert (C : count X p = 0 \/ 1 <= count X p) by apply count_cases.
  assert (B : Rabs (gsum e X p) <= count X p * cut P) by (apply gsum_bound, all_bounded).
  unfold gsum, count in *. change one with 1 in *. set (G := where_ X p e) in *. set (n := where_ X p (fun _ => 1)) in *. clearbody G n.
  destruct C as [Z|L].
  - rewrite Z in *. rewrite Rmult_0_l in B. assert (G = 0) by (apply abs_inv in B; lra). subst G.
    rewrite Rmax_left, Rmax_right by lra. assert (A := abs_inv _ _ (HX r)).
    assert (0 <= (cut P - e r) * (cut P + e r)) by (apply Rmult_le_pos; lra). assert (0 <= e r * e r) by apply Rle_0_sqr. lra.
  - rewrite !Rmax_left by lra. assert (H := score_change n (cut P) G (e r) 1). specialize (HX r).
    replace (1 * (cut P * cut P)) with (cut P * cut P) in H by ring. apply H; lra.
Qed.
Lemma node_score_same p : p r = false -> node_score (gsum e X' p) (count X' p) = node_score (gsum e X p) (count X p).
Proof. intro E. unfold gsum, count, X'. rewrite !sum_insert, E, !Rplus_0_r. reflexivity. Qed.

Lemma whole_gain Y ls k q : split_utility e Y ls k q =
  node_score (gsum e Y (fun r => inside ls k r && negb (right q r))) (count Y (fun r => inside ls k r && negb (right q r)))
  + node_score (gsum e Y (fun r => inside ls k r && right q r)) (count Y (fun r => inside ls k r && right q r))
  - node_score (gsum e Y (inside ls k)) (count Y (inside ls k)).
Proof. unfold split_utility, error_gain. unfold gsum, count. change (@add R _) with Rplus. rewrite !two_sides. reflexivity. Qed.
Definition parent ls := node_score (gsum e X' (inside ls (node ls r))) (count X' (inside ls (node ls r)))
  - node_score (gsum e X (inside ls (node ls r))) (count X (inside ls (node ls r))).
Lemma split_utility_same ls k q : k <> node ls r -> split_utility e X' ls k q = split_utility e X ls k q.
Proof.
  intro K. assert (I : inside ls k r = false) by (unfold inside; destruct (Nat.eqb_spec (node ls r) k); congruence).
  rewrite !whole_gain. rewrite !node_score_same; [reflexivity| | |]; rewrite ?I; reflexivity.
Qed.
Lemma split_utility_change ls q : - (3 * (cut P * cut P)) - parent ls
  <= split_utility e X' ls (node ls r) q - split_utility e X ls (node ls r) q <= cut P * cut P - parent ls.
Proof.
  rewrite !whole_gain. unfold parent. set (pl := fun r => _ && negb _). set (pr := fun r => _ && _).
  assert (I : inside ls (node ls r) r = true) by apply Nat.eqb_refl. destruct (right q r) eqn:E.
  - rewrite (node_score_same pl) by (unfold pl; rewrite E; apply andb_false_r).
    assert (H := node_score_change pr). unfold pr in H at 1. rewrite E, I in H. specialize (H eq_refl). lra.
  - rewrite (node_score_same pr) by (unfold pr; rewrite E; apply andb_false_r).
    assert (H := node_score_change pl). unfold pl in H at 1. rewrite E, I in H. specialize (H eq_refl). lra.
Qed.
Lemma splits_near s ls i : 0 <= s ->
  near (s * split_range (cut P))
    (product (choose1 s) (map (fun k => map (split_utility e X' ls k) (candidates P)) (nodes ls)) i)
    (product (choose1 s) (map (fun k => map (split_utility e X ls k) (candidates P)) (nodes ls)) i).
Proof.
  intro S. rewrite split_range_R. apply one_row with (k0 := node ls r).
  - apply seq_NoDup.
  - apply Rmult_le_pos; [assumption|]. assert (0 <= cut P * cut P) by apply Rle_0_sqr. lra.
  - intros k K. apply map_ext. intro q. apply split_utility_same, K.
  - intros. apply choose1_nonneg.
  - replace (4 * (cut P * cut P)) with ((cut P * cut P - parent ls) - (- (3 * (cut P * cut P)) - parent ls)) by ring.
    apply choose_near; [assumption|]. intro q. apply split_utility_change.
Qed.
Lemma leaves_change ls : Rabs (e r) + Rabs (second P e r) <= leaf_range P ->
  sumR (fun c => Rabs (leaf_sum P e X' ls c - leaf_sum P e X ls c)) (cells ls) <= leaf_range P.
Proof.
  intro L. eapply Rle_trans; [|exact L]. unfold cells. rewrite sumR_app, !sumR_map. unfold leaf_sum. cbn [fst snd].
  apply Rplus_le_compat; apply one_node.
Qed.
Lemma leaf_sum_same ls c : (snd c =? node ls r)%nat = false -> leaf_sum P e X' ls c = leaf_sum P e X ls c.
Proof. intro H. apply same_elsewhere. intro E. rewrite E, Nat.eqb_refl in H. discriminate. Qed.
Lemma two_cells ls : sumR (fun c : bool * nat => if (snd c =? node ls r)%nat then 1 else 0) (cells ls) <= INR 2.
Proof.
  unfold cells. rewrite sumR_app, !sumR_map. cbn [fst snd]. assert (O := one_pays 1 (node ls r) (nodes ls) (seq_NoDup _ _) Rle_0_1). simpl INR. lra.
Qed.
End Tree.

(** ** Algorithm 1: a tree costs its budget if it sees the record, nothing if it does not *)
Definition share_of_one : R := tree_budget P / INR (neighbours P).
Lemma tree_budget_R : tree_budget P = epsilon P / INR (length (outputs P)).
Proof. unfold tree_budget. rewrite natural_R. reflexivity. Qed.
Lemma tree_budget_pos : 0 < tree_budget P.
Proof. rewrite tree_budget_R. apply Rdiv_lt_0_compat; auto using INR_pos. Qed.
Lemma share_pos : 0 < share_of_one.
Proof. apply Rdiv_lt_0_compat; [apply tree_budget_pos|apply INR_pos, Hneighbours]. Qed.
Lemma leaf_range_pos : 0 < leaf_range P.
Proof. rewrite leaf_range_R. destruct (counted P); lra. Qed.
Lemma leaf_scale_R : leaf_scale P = INR (neighbours P) * leaf_range P / ((1 - part_splits P) * tree_budget P).
Proof. unfold leaf_scale. rewrite times_R. reflexivity. Qed.
Lemma leaf_scale_pos : 0 < leaf_scale P.
Proof.
  rewrite leaf_scale_R. assert (0 < INR (neighbours P)) by (apply INR_pos, Hneighbours). assert (T := tree_budget_pos). assert (R := leaf_range_pos).
  apply Rdiv_lt_0_compat; apply Rmult_lt_0_compat; lra.
Qed.
Lemma leaf_cost : leaf_range P / leaf_scale P = (1 - part_splits P) * share_of_one.
Proof.
  rewrite leaf_scale_R. unfold share_of_one. assert (0 < INR (neighbours P)) by (apply INR_pos, Hneighbours).
  assert (T := tree_budget_pos). assert (R := leaf_range_pos). field. lra.
Qed.
Lemma split_slope_R : split_slope P = part_splits P * tree_budget P / INR (splits P) / (INR (neighbours P) * split_range (cut P)).
Proof. unfold split_slope. rewrite natural_R, times_R. reflexivity. Qed.
Lemma split_range_pos : 0 < split_range (cut P).
Proof. rewrite split_range_R. assert (0 < cut P * cut P) by (apply Rmult_lt_0_compat; assumption). lra. Qed.
Lemma split_slope_nonneg : (1 <= splits P)%nat -> 0 <= split_slope P.
Proof.
  intro H. rewrite split_slope_R. assert (A := INR_pos _ H). assert (B := INR_pos _ Hneighbours). assert (C := split_range_pos).
  assert (T := tree_budget_pos). left.
  revert A B C T. generalize (INR (splits P)) (INR (neighbours P)) (split_range (cut P)) (tree_budget P). intros a b c t A B C T.
  repeat (apply Rdiv_lt_0_compat || apply Rmult_lt_0_compat); lra.
Qed.
Lemma split_cost : (1 <= splits P)%nat -> split_slope P * split_range (cut P) = part_splits P * share_of_one / INR (splits P).
Proof.
  intro H. rewrite split_slope_R. unfold share_of_one. assert (A := INR_pos _ H). assert (B := INR_pos _ Hneighbours). assert (C := split_range_pos).
  field. lra.
Qed.

(** What noise must pay: a change of the sums of one leaf by the sensitivity. *)
Definition pays := forall e X1 r X2 ls o, Rabs (e r) + Rabs (second P e r) <= leaf_range P ->
  near ((1 - part_splits P) * share_of_one) (product (noise1 (leaf_scale P)) (map (leaf_sum P e (X1 ++ r :: X2) ls) (cells ls)) o)
    (product (noise1 (leaf_scale P)) (map (leaf_sum P e (X1 ++ X2) ls) (cells ls)) o).
Hypothesis Hpays : pays.
Lemma new_tree_near e f k k' X1 r X2 : (forall r, Rabs (e r) <= cut P) -> Rabs (e r) + Rabs (second P e r) <= leaf_range P ->
  (forall t, close f (k t) (k' t)) -> forall d ls, (d <= splits P)%nat ->
  close (INR d * (part_splits P * share_of_one / INR (splits P)) + ((1 - part_splits P) * share_of_one + f))
    (new_tree P e (X1 ++ r :: X2) d ls k) (new_tree P e (X1 ++ X2) d ls k').
Proof.
  intros HX L K. induction d as [|d IH]; intros ls D; cbn [new_tree].
  - eapply close_weaken; [|right; simpl; rewrite Rmult_0_l, Rplus_0_l; reflexivity].
    apply close_noise; [|intro; apply K]. intro o. apply Hpays, L.
  - eapply close_weaken; [apply close_choose with (e := part_splits P * share_of_one / INR (splits P)); [|intro; apply IH; lia]|right; rewrite S_INR; ring].
    intro i. rewrite <- split_cost by lia. apply splits_near; [assumption|apply split_slope_nonneg; lia].
Qed.
Lemma new_tree_same e f k k' X : 0 <= f -> (forall t, close f (k t) (k' t)) -> forall d ls,
  close f (new_tree P e X d ls k) (new_tree P e X d ls k').
Proof.
  intros F K. induction d as [|d IH]; intro ls; cbn [new_tree]; (eapply close_weaken; [|right; apply Rplus_0_l]).
  - apply close_noise; [|intro; apply K]. intro o. apply near_refl; [lra|].
    apply product_nonneg. intros. apply noise_nonneg, leaf_scale_pos.
  - apply close_choose; [|intro; apply IH]. intro i. apply near_refl; [lra|]. apply product_nonneg. intros. apply choose1_nonneg.
Qed.

(** ** Algorithm 2: a record is used in one turn at most *)
Lemma turn_near X1 r X2 f k k' : 0 <= f -> (forall tss, close f (k tss) (k' tss)) -> forall ys tss done,
  close (INR (length ys) * share_of_one + f) (turn P (X1 ++ r :: X2) ys tss done k) (turn P (X1 ++ X2) ys tss done k').
Proof.
  intros F K. assert (S := share_pos). induction ys as [|y ys IH]; intros tss done; cbn [turn].
  - eapply close_weaken; [apply K|simpl; lra].
  - assert (0 <= INR (length ys)) by apply pos_INR. cbn [length]. rewrite S_INR. destruct tss as [|ts tss].
    + eapply close_weaken; [apply K|]. assert (0 <= INR (length ys) * share_of_one) by (apply Rmult_le_pos; lra). lra.
    + eapply close_weaken; [apply new_tree_near with (f := INR (length ys) * share_of_one + f); auto using error_bounded, contribution|].
      destruct (splits P) as [|d] eqn:D.
      * simpl. assert (0 <= part_splits P * share_of_one) by (apply Rmult_le_pos; lra). lra.
      * right. assert (0 < INR (Datatypes.S d)) by (apply INR_pos; lia). field. lra.
Qed.
Lemma turn_same X f k k' : 0 <= f -> (forall tss, close f (k tss) (k' tss)) -> forall ys tss done,
  close f (turn P X ys tss done k) (turn P X ys tss done k').
Proof.
  intros F K. induction ys as [|y ys IH]; intros tss done; cbn [turn]; [apply K|]. destruct tss as [|ts tss]; [apply K|].
  apply new_tree_same; [assumption|]. intro t. apply IH.
Qed.
Let one_turn := INR (length (outputs P)) * share_of_one.
Lemma all_turns_near A1 r i A2 : forall n j tss,
  close (if (j <=? i)%nat then one_turn else 0) (all_turns P (A1 ++ (r, i) :: A2) n j tss) (all_turns P (A1 ++ A2) n j tss).
Proof.
  assert (S := share_pos). assert (0 < INR (length (outputs P))) by (apply INR_pos, Houtputs).
  assert (O : 0 <= one_turn) by (apply Rmult_le_pos; lra).
  induction n as [|n IH]; intros j tss; cbn [all_turns]; [apply close_done; destruct (j <=? i)%nat; lra|].
  rewrite rows_insert, rows_app. destruct (Nat.eqb_spec i j) as [<-|N].
  - rewrite Nat.leb_refl. cbn [app]. eapply close_weaken; [apply turn_near with (f := 0); [lra|]|unfold one_turn; lra].
    intro tss'. assert (L : (Datatypes.S i <=? i)%nat = false) by (apply Nat.leb_gt; lia). generalize (IH (Datatypes.S i) tss'). rewrite L. trivial.
  - cbn [app]. apply turn_same; [destruct (j <=? i)%nat; lra|]. intro tss'. eapply close_weaken; [apply IH|]. right.
    destruct (Nat.leb_spec j i), (Nat.leb_spec (Datatypes.S j) i); try reflexivity; lia.
Qed.
Lemma one_record D1 r D2 : close (epsilon P / INR (neighbours P)) (digging P (D1 ++ r :: D2)) (digging P (D1 ++ D2)).
Proof.
  unfold digging. rewrite !app_length. destruct Hturns as [T1 T2]. destruct (@rest_valid gridR grid_downR (turns P) T1 T2) as [W S].
  cbn [length]. apply close_assign; [exact W|exact S|]. intros a1 i a2 L1 L2.
  destruct (combine_insert D1 r D2 a1 i a2 L1) as [-> ->].
  eapply close_weaken; [apply all_turns_near|]. cbn [Nat.leb]. right. unfold one_turn, share_of_one. rewrite tree_budget_R.
  assert (0 < INR (length (outputs P))) by (apply INR_pos, Houtputs). assert (0 < INR (neighbours P)) by (apply INR_pos, Hneighbours). field. lra.
Qed.
Lemma add_remove_noise : neighbours P = 1%nat -> forall D1 r D2, close (epsilon P) (digging P (D1 ++ r :: D2)) (digging P (D1 ++ D2)).
Proof. intros C D1 r D2. eapply close_weaken; [apply one_record|]. rewrite C. simpl. lra. Qed.
Lemma replace_one_noise : neighbours P = 2%nat -> forall D1 r r' D2,
  close (epsilon P) (digging P (D1 ++ r :: D2)) (digging P (D1 ++ r' :: D2)).
Proof.
  intros C D1 r r' D2. eapply close_weaken; [eapply close_trans; [apply one_record|apply close_sym, one_record]|]. rewrite C. simpl. lra.
Qed.
End Run.

(** ** The theorems: noise that pays for any change, and discrete noise of sums that are first rounded to its grid *)
Section Theorems.
Variables gridR grid_downR : R -> R.
Local Hint Extern 0 (Num R) => exact (numR gridR grid_downR) : typeclass_instances.
Variable P : rules R.
Hypotheses (Hcut : 0 < cut P) (Heps : 0 < epsilon P) (Hpart : 0 < part_splits P < 1) (Hneighbours : (1 <= neighbours P)%nat)
  (Houtputs : (1 <= length (outputs P))%nat) (Hturns : Forall (fun w => 0 <= w) (turns P) /\ sumR (fun w => w) (turns P) <= 1).
(** What is assumed about a record's contribution: rounding keeps it within the cut, and residual and rounded curvature
    together within 9/4, which `rounded_curvature` shows for rounding to the nearest multiple. *)
Hypothesis Hgrid : forall x, Rabs x <= grid_downR (cut P) -> Rabs (gridR x) <= cut P.
Hypothesis Hdown : 0 <= grid_downR (cut P).
Hypothesis Hsecond : counted P = true \/ forall y ts r, Rabs (error P y ts r) + Rabs (gridR (curvature (error P y ts r))) <= 9 / 4.
Lemma scales : 0 < leaf_scale P.
Proof. apply leaf_scale_pos; assumption. Qed.
Lemma leaves_pay : leaf_range P / leaf_scale P = (1 - part_splits P) * share_of_one gridR grid_downR P.
Proof. apply leaf_cost; assumption. Qed.
Section AnyLaw.
Context {law : Law}.
Lemma law_pays : pays gridR grid_downR P.
Proof.
  intros e X1 r X2 ls o L. rewrite <- leaves_pay. apply noises_near; [apply scales|].
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, scales|]. apply leaves_change, L.
Qed.
Theorem add_remove : neighbours P = 1%nat -> forall D1 r D2, close (epsilon P) (digging P (D1 ++ r :: D2)) (digging P (D1 ++ D2)).
Proof. apply add_remove_noise; auto using law_pays. Qed.
Theorem replace_one : neighbours P = 2%nat -> forall D1 r r' D2,
  close (epsilon P) (digging P (D1 ++ r :: D2)) (digging P (D1 ++ r' :: D2)).
Proof. apply replace_one_noise; auto using law_pays. Qed.
End AnyLaw.
Section OnGrid.
Variables (step : R -> R) (nearest : R -> R -> R).  (* of the scale *)
Hypotheses (Hstep : forall b, 0 < step b) (Hplaces : forall b x, exists n : Z, nearest b x = IZR n * step b)
  (Hnearest : forall b x x', Rabs (nearest b x - nearest b x') <= Rabs (x - x') + step b).
Let budget := (1 - part_splits P) * tree_budget P.
Lemma budget_pos : 0 < budget.
Proof. assert (0 < tree_budget P) by (apply tree_budget_pos; assumption). apply Rmult_lt_0_compat; lra. Qed.
Lemma two_each : (1 <= neighbours P * 2)%nat.
Proof. lia. Qed.
Let noise := rounded step budget (neighbours P * 2) nearest Hstep budget_pos two_each.
Lemma rounded_leaves_pay : @pays noise gridR grid_downR P.
Proof.
  intros e X1 r X2 ls o L. assert (S := scales). assert (N : 0 < INR (neighbours P)) by (apply INR_pos, Hneighbours).
  replace ((1 - part_splits P) * share_of_one gridR grid_downR P) with (budget / INR (neighbours P)) by (unfold share_of_one, budget; field; lra).
  apply rounded_near with (hit := fun c : bool * nat => (snd c =? node ls r)%nat) (each := 2%nat) (change := leaf_range P); auto.
  - assert (K := leaves_pay). unfold share_of_one in K. fold budget in K. set (s := leaf_scale P) in *.
    apply Rmult_eq_compat_r with (r := s) in K. replace (leaf_range P / s * s) with (leaf_range P) in K by (field; lra). rewrite K.
    unfold budget. field. lra.
  - intros c H. apply leaf_sum_same, H.
  - apply two_cells.
  - apply leaves_change, L.
Qed.
Theorem add_remove_on_grid : neighbours P = 1%nat -> forall D1 r D2,
  @close noise (epsilon P) (digging P (D1 ++ r :: D2)) (digging P (D1 ++ D2)).
Proof. apply add_remove_noise; auto using rounded_leaves_pay. Qed.
Theorem replace_one_on_grid : neighbours P = 2%nat -> forall D1 r r' D2,
  @close noise (epsilon P) (digging P (D1 ++ r :: D2)) (digging P (D1 ++ r' :: D2)).
Proof. apply replace_one_noise; auto using rounded_leaves_pay. Qed.
End OnGrid.
End Theorems.

(** ** What the log loss contributes: Eq. 6, labels -1 and 1 *)
Lemma log_loss_residual y f : y = 1 \/ y = - 1 -> Rabs (2 * y / (1 + exp (2 * y * f))) < 2.
Proof.
  intro Y. assert (E := exp_pos (2 * y * f)). set (u := exp (2 * y * f)) in *. assert (I : 0 < / (1 + u)) by (apply Rinv_0_lt_compat; lra).
  assert (J : / (1 + u) < 1) by (rewrite <- Rinv_1; apply Rinv_lt_contravar; lra).
  unfold Rdiv. destruct Y as [-> | ->]; apply Rabs_def1; lra.
Qed.
(** A residual within 2 on a grid that 9/4 is on, and its curvature rounded to the nearest multiple: 9/4 together. *)
Lemma rounded_curvature t m k z x c : 0 < t -> 9 / 4 = IZR m * t -> x = IZR k * t -> c = IZR z * t -> Rabs x <= 2 ->
  Rabs (c - Rabs x * (2 - Rabs x)) <= t / 2 -> Rabs x + Rabs c <= 9 / 4.
Proof.
  intros T M K Z X C. assert (A : Rabs x = IZR (Z.abs k) * t) by (rewrite K, Rabs_mult, <- abs_IZR, (Rabs_right t) by lra; reflexivity).
  assert (P := Rabs_pos x). set (a := Rabs x) in *. apply abs_inv in C. assert (0 <= a * (2 - a)) by (apply Rmult_le_pos; lra).
  assert (Y : (0 <= z)%Z).
  { apply Znot_gt_le. intro G. assert (L : (z <= -1)%Z) by lia. apply IZR_le in L. rewrite Z in C.
    assert (IZR z * t <= -1 * t) by (apply Rmult_le_compat_r; lra). lra. }
  assert (0 <= c) by (rewrite Z; apply Rmult_le_pos; [apply (IZR_le 0 z Y)|lra]). rewrite (Rabs_right c) by lra.
  assert (0 <= (a - 3 / 2) * (a - 3 / 2)) by apply Rle_0_sqr. assert (U : a + c <= 9 / 4 + t / 2) by lra.
  assert (I : (Z.abs k + z <= m)%Z).
  { apply Z.lt_succ_r, lt_IZR. rewrite succ_IZR, plus_IZR. apply Rmult_lt_reg_r with t; [assumption|]. lra. }
  apply IZR_le in I. rewrite plus_IZR in I. apply Rmult_le_compat_r with (r := t) in I; lra.
Qed.
