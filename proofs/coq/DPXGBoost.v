(** DP-XGBoost, repaired: histograms for candidates, splits, leaves, on secret Poisson samples of the records. *)
From Coq Require Import List Arith ZArith Bool Reals Lra Lia Psatz.
From DP Require Import Program Bounds Privacy Sums.
Import ListNotations.

(** ** The text *)
Section Text.
Context {N : Type} {num : Num N}.
Record tree_plan := { sketch_eps : option N; level_eps : list N; leaf_eps : N }.  (* None: public candidates *)
Record settings := {
  plans : list tree_plan; rate : N; lambda : N; learning : N; most_gradient : N; most_hessian : N;
  newton : bool; ratio : N;  (* |g| <= ratio h for gains that divide by Hessians, ratio 1 for those that divide by counts *)
  least : N;  (* a leaf's count is at least that *)
  touched : nat;  (* 1 add-remove, 2 replace-one *)
  sketched : list (record N -> nat); width : nat;  (* the bin of a record, of each feature that is sketched *)
  edges : nat -> list N -> list (cand N);  (* candidates of a tree from its noisy histograms *)
  contribution : N -> N -> N * N;  (* gradient and Hessian of score and label *)
  heads : list (record N -> N) }.
Variable P : settings.

(** Eq. 3 to 7 and what each release is charged. *)
Definition most_weight := if newton P then most_hessian P else one.
Definition gains_range := times 4 (mul most_weight (mul (ratio P) (ratio P))).
Definition leaf_change (b n l : N) := div (mul (add (times 2 n) l) b) (mul (add n l) (add (add n one) l)).
Definition histogram_scale (e : N) := div (times (touched P) (times (length (sketched P)) (most_hessian P))) e.
Definition level_slope (e : N) := div e (times (touched P) gains_range).
Definition leaves_scale (e : N) := div (times (touched P) (leaf_change (most_gradient P) (least P) (lambda P))) e.

(** Section 3: gradients at the current scores, filtered. *)
Definition raw_score (ts : list (tree N)) (r : record N) : N := fold_left (fun s t => add s (mul (learning P) (output t r))) ts zero.
Definition both (y : record N -> N) (ts : list (tree N)) (r : record N) := contribution P (raw_score ts r) (y r).
Definition kept (y : record N -> N) (ts : list (tree N)) (r : record N) : bool := leb (absolute (fst (both y ts r))) (most_gradient P).
Definition divisor (gh : record N -> N * N) (r : record N) : N := if newton P then snd (gh r) else one.

Section One.
Variables (gh : record N -> N * N) (X : list (record N)).
Let g r := fst (gh r).
(** Section 4.1: histograms of Hessians. *)
Definition bin (c : (record N -> nat) * nat) : N := where_ X (fun r => fst c r =? snd c) (fun r => snd (gh r)).
Definition bins := flat_map (fun s => map (pair s) (seq 0 (width P))) (sketched P).
(** Section 4.2. *)
Definition side (p : record N -> bool) := child_gain (where_ X p g) (where_ X p (divisor gh)) (lambda P).
Definition split_gain ls k q :=
  add (side (fun r => inside ls k r && negb (right q r))) (side (fun r => inside ls k r && right q r)).
(** Section 4.3. *)
Definition padded_leaf ls k := leaf_value (where_ X (inside ls k) g) (maximum (count X (inside ls k)) (least P)) (lambda P).
Fixpoint boost_tree (options : list (cand N)) (last : N) (es : list N) (ls : list (list (cand N))) (next : tree N -> prog N) : prog N :=
  match es with
  | [] => Noise (leaves_scale last) (map (padded_leaf ls) (nodes ls)) (fun o => next {| levels := ls; leaves := o |})
  | e :: es => Choose (level_slope e) (map (fun k => map (split_gain ls k) options) (nodes ls))
                 (fun cs => boost_tree options last es (ls ++ [map (fun i => nth i options nowhere) cs]) next)
  end.
Definition whole_tree (number : nat) (p : tree_plan) (next : tree N -> prog N) : prog N :=
  match sketch_eps p with
  | None => boost_tree (edges P number []) (leaf_eps p) (level_eps p) [] next
  | Some e => Noise (histogram_scale e) (map bin bins) (fun o => boost_tree (edges P number o) (leaf_eps p) (level_eps p) [] next)
  end.
End One.

(** Section 4.4: every tree on its own secret sample. *)
Fixpoint boost (y : record N -> N) (D : list (record N)) (ps : list tree_plan) (number : nat) (ts : list (tree N)) (next : prog N) : prog N :=
  match ps with
  | [] => next
  | p :: ps => Assign [rate P; sub one (rate P)] (length D)
      (fun a => whole_tree (both y ts) (filter (kept y ts) (rows 0 (combine D a))) number p
                  (fun t => boost y D ps (S number) (ts ++ [t]) next))
  end.
Fixpoint all_heads (ys : list (record N -> N)) (D : list (record N)) : prog N :=
  match ys with [] => Done | y :: ys => boost y D (plans P) 0 [] (all_heads ys D) end.
Definition dpxgboost (D : list (record N)) : prog N := all_heads (heads P) D.
End Text.
Arguments settings : clear implicits.
Arguments tree_plan : clear implicits.

(** ** The proof *)
Open Scope R_scope.
Section Run.
Context {noise : Additive}.
Variables gridR grid_downR : R -> R.
Local Hint Extern 0 (Num R) => exact (numR gridR grid_downR) : typeclass_instances.
Let count_nonneg := @count_nonneg gridR grid_downR.
Let count_cases := @count_cases gridR grid_downR.
Let gsum_bound := @gsum_bound gridR grid_downR.
Variable P : settings R.
Definition valid_plan (p : tree_plan R) :=
  (forall e, sketch_eps p = Some e -> 0 < e) /\ Forall (fun e => 0 < e) (level_eps p) /\ 0 < leaf_eps p.
Hypotheses (Hlambda : 0 < lambda P) (Hgradient : 0 < most_gradient P) (Hratio : 0 < ratio P) (Hleast : exists m, (1 <= m)%nat /\ least P = INR m)
  (Htouched : (1 <= touched P)%nat) (Hsketched : (1 <= length (sketched P))%nat) (Hhessian : 0 < most_hessian P)
  (Hrate : 0 <= rate P <= 1) (Hplans : Forall valid_plan (plans P)).
(** What is assumed about a record's contribution. *)
Hypothesis Hcontribution : forall s y, let (g, h) := contribution P s y in
  Rabs g <= most_gradient P -> 0 <= h <= most_hessian P /\ Rabs g <= (if newton P then h else 1) * ratio P.

Definition plan_cost (p : tree_plan R) : R :=
  (match sketch_eps p with None => 0 | Some e => e end) + sumR (fun e => e) (level_eps p) + leaf_eps p.
Let m := INR (touched P).
Lemma m_pos : 0 < m.
Proof. apply INR_pos, Htouched. Qed.

Lemma most_weight_pos : 0 < most_weight P.
Proof. unfold most_weight. destruct (newton P); [assumption|]. change one with 1. lra. Qed.
Lemma gains_range_R : gains_range P = 4 * (most_weight P * (ratio P * ratio P)).
Proof. unfold gains_range. rewrite times_R. simpl. ring. Qed.
Lemma gains_range_pos : 0 < gains_range P.
Proof.
  rewrite gains_range_R. assert (W := most_weight_pos). assert (0 < ratio P * ratio P) by (apply Rmult_lt_0_compat; assumption).
  assert (0 < most_weight P * (ratio P * ratio P)) by (apply Rmult_lt_0_compat; assumption). lra.
Qed.
Lemma leaf_change_R b n l : leaf_change b n l = padded_bound l n b.
Proof. unfold leaf_change, padded_bound. rewrite times_R. replace (INR 2) with 2 by (simpl; ring). reflexivity. Qed.
Lemma least_ge : 1 <= least P.
Proof. destruct Hleast as (n & A & ->). apply (le_INR 1 n A). Qed.
Lemma leaf_change_pos : 0 < leaf_change (most_gradient P) (least P) (lambda P).
Proof.
  rewrite leaf_change_R. unfold padded_bound. assert (L := least_ge).
  apply Rdiv_lt_0_compat; apply Rmult_lt_0_compat; lra.
Qed.

Section Tree.
Variables (gh : record R -> R * R) (X1 : list (record R)) (r : record R) (X2 : list (record R)).
Let X' := X1 ++ r :: X2.
Let X := X1 ++ X2.
Definition fine (r : record R) := Rabs (fst (gh r)) <= most_gradient P /\ 0 <= snd (gh r) <= most_hessian P
  /\ 0 <= divisor P gh r <= most_weight P /\ Rabs (fst (gh r)) <= divisor P gh r * ratio P.
Hypotheses (HX : Forall fine X) (Hr : fine r).
Lemma weighted_sums p Y : Forall fine Y ->
  Rabs (where_ Y p (fun r => fst (gh r))) <= where_ Y p (divisor P gh) * ratio P /\ 0 <= where_ Y p (divisor P gh).
Proof.
  unfold where_. induction 1 as [|x Y (_ & _ & W & G) _ [I J]]; simpl in *; [rewrite Rabs_R0; lra|].
  destruct (p x); simpl; [|rewrite !Rplus_0_l; split; assumption].
  split; [|lra]. eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.
Lemma side_same p : p r = false -> side P gh X' p = side P gh X p.
Proof. intro E. unfold side, X'. rewrite !sum_insert, E, !Rplus_0_r. reflexivity. Qed.
Lemma side_change p : p r = true -> - (3 * (most_weight P * (ratio P * ratio P))) <= side P gh X' p - side P gh X p
  <= most_weight P * (ratio P * ratio P).
Proof.
  intro E. unfold side, X', child_gain. rewrite !sum_insert, E. fold X. destruct (weighted_sums p X HX) as [B C].
  destruct Hr as (_ & _ & W & G). change (@add R _) with Rplus. change (@mul R _) with Rmult. change (@div R _) with Rdiv.
  set (g := where_ X p (fun r => fst (gh r))) in *. set (h := where_ X p (divisor P gh)) in *. clearbody g h.
  assert (A1 : 0 < h + lambda P) by lra.
  assert (S := score_change (h + lambda P) (ratio P) g (fst (gh r)) (divisor P gh r) A1 (proj1 W)).
  assert (B' : Rabs g <= (h + lambda P) * ratio P).
  { eapply Rle_trans; [exact B|]. apply Rmult_le_compat_r; lra. }
  specialize (S B' G). replace (h + divisor P gh r + lambda P) with (h + lambda P + divisor P gh r) by ring.
  assert (0 <= ratio P * ratio P) by apply Rle_0_sqr.
  assert (divisor P gh r * (ratio P * ratio P) <= most_weight P * (ratio P * ratio P)) by (apply Rmult_le_compat_r; lra). lra.
Qed.
Lemma split_gain_same ls k q : k <> node ls r -> split_gain P gh X' ls k q = split_gain P gh X ls k q.
Proof.
  intro K. assert (I : inside ls k r = false) by (unfold inside; destruct (Nat.eqb_spec (node ls r) k); congruence).
  unfold split_gain. rewrite !side_same; [reflexivity| |]; rewrite I; reflexivity.
Qed.
Lemma split_gain_change ls q : - (3 * (most_weight P * (ratio P * ratio P)))
  <= split_gain P gh X' ls (node ls r) q - split_gain P gh X ls (node ls r) q <= most_weight P * (ratio P * ratio P).
Proof.
  unfold split_gain. set (pl := fun r => _ && negb _). set (pr := fun r => _ && _).
  assert (I : inside ls (node ls r) r = true) by apply Nat.eqb_refl. change (@add R _) with Rplus.
  destruct (right q r) eqn:E.
  - rewrite (side_same pl) by (unfold pl; rewrite E; apply andb_false_r).
    assert (H := side_change pr). unfold pr in H at 1. rewrite E, I in H. specialize (H eq_refl). lra.
  - rewrite (side_same pr) by (unfold pr; rewrite E; apply andb_false_r).
    assert (H := side_change pl). unfold pl in H at 1. rewrite E, I in H. specialize (H eq_refl). lra.
Qed.
Lemma gains_near s ls options i : 0 <= s ->
  near (s * gains_range P)
    (product (choose1 s) (map (fun k => map (split_gain P gh X' ls k) options) (nodes ls)) i)
    (product (choose1 s) (map (fun k => map (split_gain P gh X ls k) options) (nodes ls)) i).
Proof.
  intro S. assert (R := gains_range_pos). apply one_row with (k0 := node ls r).
  - apply seq_NoDup.
  - apply Rmult_le_pos; lra.
  - intros k K. apply map_ext. intro q. apply split_gain_same, K.
  - intros. apply choose1_nonneg.
  - rewrite gains_range_R. set (w := most_weight P * (ratio P * ratio P)). replace (4 * w) with (w - - (3 * w)) by ring.
    apply choose_near; [assumption|]. intro q. apply split_gain_change.
Qed.

Lemma leaf_same ls k : k <> node ls r -> padded_leaf P gh X' ls k = padded_leaf P gh X ls k.
Proof. intro K. unfold padded_leaf, count, X'. rewrite !same_elsewhere by assumption. reflexivity. Qed.
Lemma count_whole Y p : exists n, count Y p = INR n.
Proof.
  unfold count, where_. induction Y as [|x Y [n IH]]; simpl in *; [exists 0%nat; reflexivity|]. rewrite IH.
  destruct (p x); [exists (S n); rewrite S_INR; simpl; ring|exists n; simpl; ring].
Qed.
Lemma leaf_moves ls : Rabs (padded_leaf P gh X' ls (node ls r) - padded_leaf P gh X ls (node ls r))
  <= leaf_change (most_gradient P) (least P) (lambda P).
Proof.
  rewrite leaf_change_R. unfold padded_leaf, leaf_value. rewrite !maximum_R. set (p := inside ls (node ls r)).
  assert (E : p r = true) by apply Nat.eqb_refl.
  assert (B : Rabs (where_ X p (fun r => fst (gh r))) <= count X p * most_gradient P).
  { apply (gsum_bound (fun r => fst (gh r))). eapply Forall_impl; [|exact HX]. intros x F. apply F. }
  assert (C : count X p + 1 <= least P \/ least P <= count X p).
  { destruct (count_whole X p) as [n ->]. destruct Hleast as (j & _ & ->). rewrite <- S_INR.
    destruct (le_lt_dec j n) as [L|L]; [right|left]; apply le_INR; lia. }
  assert (N : 0 <= count X p) by apply count_nonneg.
  assert (H := padded_change (lambda P) (least P) (most_gradient P) (count X p) _ (fst (gh r)) Hlambda Hgradient least_ge N C B (proj1 Hr)).
  unfold count, X' in *. rewrite !sum_insert. fold X. rewrite !E. exact H.
Qed.
Lemma leaves_change ls : sumR (fun k => Rabs (padded_leaf P gh X' ls k - padded_leaf P gh X ls k)) (nodes ls)
  <= leaf_change (most_gradient P) (least P) (lambda P).
Proof.
  assert (L := leaf_change_pos). eapply Rle_trans; [|apply one_pays with (k0 := node ls r) (ks := nodes ls); [apply seq_NoDup|left; exact L]].
  induction (nodes ls) as [|k ks IH]; [simpl; lra|]. cbn [sumR fold_right]. unfold sumR in IH. apply Rplus_le_compat; [|exact IH].
  destruct (Nat.eqb_spec k (node ls r)) as [->|N]; [apply leaf_moves|].
  rewrite leaf_same by assumption. unfold Rminus. rewrite Rplus_opp_r, Rabs_R0. lra.
Qed.
Lemma leaf_elsewhere ls k : (k =? node ls r)%nat = false -> padded_leaf P gh X' ls k = padded_leaf P gh X ls k.
Proof. intro H. apply leaf_same. intro E. rewrite E, Nat.eqb_refl in H. discriminate. Qed.
Lemma one_leaf ls : sumR (fun k => if (k =? node ls r)%nat then 1 else 0) (nodes ls) <= INR 1.
Proof. apply one_pays; [apply seq_NoDup|simpl; lra]. Qed.
Lemma bins_change : sumR (fun c => Rabs (bin gh X' c - bin gh X c)) (bins P) <= INR (length (sketched P)) * most_hessian P.
Proof.
  unfold bins. clear Hsketched. induction (sketched P) as [|f fs IH]; [simpl; lra|].
  cbn [flat_map length]. rewrite sumR_app, S_INR, sumR_map.
  assert (O : sumR (fun x => Rabs (where_ X' (fun r => f r =? x)%nat (fun r => snd (gh r)) - where_ X (fun r => f r =? x)%nat (fun r => snd (gh r)))) (seq 0 (width P))
    <= Rabs (snd (gh r))).
  { eapply Rle_trans; [|apply one_pays with (k0 := f r) (ks := seq 0 (width P)); [apply seq_NoDup|apply Rabs_pos]].
    right. apply sumR_ext. intro k. unfold X'. rewrite sum_insert. fold X. rewrite Nat.eqb_sym.
    destruct (Nat.eqb_spec k (f r)); [f_equal; ring|]. rewrite Rplus_0_r. unfold Rminus. rewrite Rplus_opp_r. apply Rabs_R0. }
  destruct Hr as (_ & H & _). rewrite Rabs_right in O by lra.
  rewrite Rmult_plus_distr_r, Rmult_1_l, Rplus_comm. apply Rplus_le_compat; [exact IH|]. eapply Rle_trans; [exact O|apply H].
Qed.
Lemma bin_elsewhere (c : (record R -> nat) * nat) : (fst c r =? snd c)%nat = false -> bin gh X' c = bin gh X c.
Proof. intro H. unfold bin, X'. rewrite sum_insert, H. fold X. apply Rplus_0_r. Qed.
Lemma one_bin_each : sumR (fun c : (record R -> nat) * nat => if (fst c r =? snd c)%nat then 1 else 0) (bins P) <= INR (length (sketched P)).
Proof.
  unfold bins. clear Hsketched. induction (sketched P) as [|f fs IH]; [simpl; lra|].
  cbn [flat_map length]. rewrite sumR_app, S_INR, sumR_map. cbn [fst snd].
  assert (O := one_pays 1 (f r) (seq 0 (width P)) (seq_NoDup _ _) Rle_0_1).
  rewrite (sumR_ext (fun k => if (f r =? k)%nat then 1 else 0) (fun k => if (k =? f r)%nat then 1 else 0)); [lra|].
  intro k. rewrite Nat.eqb_sym. reflexivity.
Qed.
End Tree.

(** ** A tree that sees the record costs its plan, in parts of [touched] *)
Lemma level_slope_pos e : 0 < e -> 0 < level_slope P e.
Proof.
  intro E. unfold level_slope. rewrite times_R. assert (R := gains_range_pos). assert (M := m_pos).
  apply Rdiv_lt_0_compat; [assumption|apply Rmult_lt_0_compat; assumption].
Qed.
Lemma level_cost e : level_slope P e * gains_range P = e / m.
Proof. unfold level_slope. rewrite times_R. assert (R := gains_range_pos). assert (M := m_pos). change div with Rdiv. fold m. field. split; lra. Qed.
Lemma leaves_scale_pos e : 0 < e -> 0 < leaves_scale P e.
Proof.
  intro E. unfold leaves_scale. rewrite times_R. assert (R := leaf_change_pos). assert (M := m_pos).
  apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat|]; assumption.
Qed.
Lemma leaves_cost e : 0 < e -> leaf_change (most_gradient P) (least P) (lambda P) / leaves_scale P e = e / m.
Proof.
  intro E. unfold leaves_scale. rewrite times_R. assert (R := leaf_change_pos). assert (M := m_pos). change div with Rdiv. fold m. field. split; lra.
Qed.
Lemma histogram_scale_R e : histogram_scale P e = m * (INR (length (sketched P)) * most_hessian P) / e.
Proof. unfold histogram_scale. rewrite !times_R. reflexivity. Qed.
Lemma histogram_pos : 0 < INR (length (sketched P)) * most_hessian P.
Proof. apply Rmult_lt_0_compat; [apply INR_pos|]; assumption. Qed.
Lemma histogram_scale_pos e : 0 < e -> 0 < histogram_scale P e.
Proof. intro E. rewrite histogram_scale_R. apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; [apply m_pos|apply histogram_pos]|assumption]. Qed.
Lemma histogram_cost e : 0 < e -> INR (length (sketched P)) * most_hessian P / histogram_scale P e = e / m.
Proof. intro E. rewrite histogram_scale_R. assert (H := histogram_pos). assert (M := m_pos). field. assert (I := INR_pos _ Hsketched). lra. Qed.

(** What noise must pay: a change of one leaf, and of one bin of each feature, by the sensitivity. *)
Definition leaf_budget e := exists p, In p (plans P) /\ leaf_eps p = e.
Definition sketch_budget e := exists p, In p (plans P) /\ sketch_eps p = Some e.
Definition leaves_pay := forall e gh X1 r X2 ls o, leaf_budget e -> 0 < e -> Forall (fine gh) (X1 ++ X2) -> fine gh r ->
  near (e / m) (product (noise1 (leaves_scale P e)) (map (padded_leaf P gh (X1 ++ r :: X2) ls) (nodes ls)) o)
    (product (noise1 (leaves_scale P e)) (map (padded_leaf P gh (X1 ++ X2) ls) (nodes ls)) o).
Definition bins_pay := forall e gh X1 r X2 o, sketch_budget e -> 0 < e -> Forall (fine gh) (X1 ++ X2) -> fine gh r ->
  near (e / m) (product (noise1 (histogram_scale P e)) (map (bin gh (X1 ++ r :: X2)) (bins P)) o)
    (product (noise1 (histogram_scale P e)) (map (bin gh (X1 ++ X2)) (bins P)) o).
Hypotheses (Hleaves : leaves_pay) (Hbins : bins_pay).
Lemma boost_tree_near gh X1 r X2 options last f k k' : Forall (fine gh) (X1 ++ X2) -> fine gh r -> leaf_budget last -> 0 < last ->
  (forall t, close f (k t) (k' t)) -> forall es, Forall (fun e => 0 < e) es -> forall ls,
  close ((sumR (fun e => e) es + last) / m + f)
    (boost_tree P gh (X1 ++ r :: X2) options last es ls k) (boost_tree P gh (X1 ++ X2) options last es ls k').
Proof.
  intros HX Hr LB L K. assert (M := m_pos). induction 1 as [|e es E _ IH]; intro ls; cbn [boost_tree].
  - eapply close_weaken; [|right; simpl; rewrite Rplus_0_l; reflexivity].
    apply close_noise; [|intro; apply K]. intro o. apply Hleaves; assumption.
  - eapply close_weaken; [apply close_choose with (e := e / m); [|intro; apply IH]|right; simpl; field; lra].
    intro i. rewrite <- level_cost. apply gains_near; try assumption. left. apply level_slope_pos, E.
Qed.
Lemma boost_tree_same gh X options last f k k' : 0 < last -> (forall t, close f (k t) (k' t)) ->
  forall es ls, close f (boost_tree P gh X options last es ls k) (boost_tree P gh X options last es ls k').
Proof.
  intros L K. induction es as [|e es IH]; intro ls; cbn [boost_tree]; (eapply close_weaken; [|right; apply Rplus_0_l]).
  - apply close_noise; [|intro; apply K]. intro o. apply near_refl; [lra|]. apply product_nonneg. intros. apply noise_nonneg, leaves_scale_pos, L.
  - apply close_choose; [|intro; apply IH]. intro i. apply near_refl; [lra|]. apply product_nonneg. intros. apply choose1_nonneg.
Qed.
Lemma whole_tree_near gh X1 r X2 number p f k k' : Forall (fine gh) (X1 ++ X2) -> fine gh r -> In p (plans P) -> valid_plan p ->
  (forall t, close f (k t) (k' t)) ->
  close (plan_cost p / m + f) (whole_tree P gh (X1 ++ r :: X2) number p k) (whole_tree P gh (X1 ++ X2) number p k').
Proof.
  intros HX Hr HI (S & L & E) K. assert (M := m_pos). assert (LB : leaf_budget (leaf_eps p)) by (exists p; auto).
  assert (SB : forall e, sketch_eps p = Some e -> sketch_budget e) by (intros e H; exists p; auto).
  unfold whole_tree, plan_cost. destruct (sketch_eps p) as [e|].
  - eapply close_weaken; [apply close_noise with (e := e / m); [|intro; apply boost_tree_near; eassumption]|right; field; lra].
    intro o. apply Hbins; auto.
  - eapply close_weaken; [apply boost_tree_near; eassumption|right; field; lra].
Qed.
Lemma whole_tree_same gh X number p f k k' : valid_plan p -> (forall t, close f (k t) (k' t)) ->
  close f (whole_tree P gh X number p k) (whole_tree P gh X number p k').
Proof.
  intros (S & L & E) K. unfold whole_tree. destruct (sketch_eps p) as [e|]; [|apply boost_tree_same; assumption].
  eapply close_weaken; [|right; apply Rplus_0_l]. apply close_noise; [|intro; apply boost_tree_same; assumption].
  intro o. apply near_refl; [lra|]. apply product_nonneg. intros. apply noise_nonneg, histogram_scale_pos. auto.
Qed.

(** ** Every tree on its own sample *)
Lemma kept_fine y ts r : kept P y ts r = true -> fine (both P y ts) r.
Proof.
  intro H. unfold kept in H. rewrite absolute_R in H. apply leb_le in H.
  assert (C := Hcontribution (raw_score P ts r) (y r)). unfold fine, divisor, most_weight, both in *.
  destruct (contribution P (raw_score P ts r) (y r)) as [g h]. cbn [fst snd] in *. destruct (C H) as [A B].
  repeat split; try tauto; destruct (newton P); try lra; change one with 1 in *; lra.
Qed.
Lemma kept_all y ts X : Forall (fine (both P y ts)) (filter (kept P y ts) X).
Proof. apply Forall_forall. intros r H. apply filter_In in H. apply kept_fine, H. Qed.
Lemma plan_cost_pos p : valid_plan p -> 0 <= plan_cost p / m.
Proof.
  intros (S & L & E). assert (M := m_pos). apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat, M]. unfold plan_cost.
  assert (A : 0 <= sumR (fun e => e) (level_eps p)) by (clear -L; induction L; simpl; lra).
  assert (B : 0 <= match sketch_eps p with None => 0 | Some e => e end).
  { destruct (sketch_eps p) as [e|]; [left; apply S; reflexivity|lra]. }
  lra.
Qed.
Definition tree_cost p := amplified (rate P) (plan_cost p / m).
Lemma tree_cost_nonneg p : valid_plan p -> 0 <= tree_cost p.
Proof.
  intro V. assert (E := plan_cost_pos p V). assert (X := exp_ge_1 _ E). unfold tree_cost.
  destruct (Rle_lt_dec 0 (amplified (rate P) (plan_cost p / m))) as [L|L]; [exact L|].
  apply exp_increasing in L. rewrite amplified_exp, exp_0 in L by lra. nra.
Qed.
Section Record.
Variables (D1 : list (record R)) (r : record R) (D2 : list (record R)).
Lemma boost_near y f k k' : 0 <= f -> close f k k' -> forall ps, Forall valid_plan ps ->
  (forall p, In p ps -> In p (plans P)) -> forall number ts, close (sumR tree_cost ps + f) (boost P y (D1 ++ r :: D2) ps number ts k) (boost P y (D1 ++ D2) ps number ts k').
Proof.
  intros F K. induction 1 as [|p ps V VS IH]; intros HI number ts; cbn [boost].
  - eapply close_weaken; [apply K|simpl; lra].
  - rewrite !app_length. cbn [length]. eapply close_weaken; [|right; symmetry; apply Rplus_assoc].
    intro t. cbn [density]. apply (expect_sampled (rate P) (plan_cost p / m)); [assumption|apply plan_cost_pos, V| |].
    all: intros a1 a2 L1 L2; destruct (combine_insert D1 r D2 a1 0%nat a2 L1) as [E1 E2];
      destruct (combine_insert D1 r D2 a1 1%nat a2 L1) as [E3 _]; rewrite ?E1, ?E2, ?E3, rows_insert, rows_app, !filter_app; cbn [Nat.eqb app filter].
    + assert (T : forall u, close (sumR tree_cost ps + f) (boost P y (D1 ++ r :: D2) ps (S number) (ts ++ [u]) k) (boost P y (D1 ++ D2) ps (S number) (ts ++ [u]) k')) by (intro; apply IH; intros q Q; apply HI; right; exact Q).
      destruct (kept P y ts r) eqn:U; cbn [app].
      * refine (whole_tree_near (both P y ts) _ r _ number p _ _ _ _ _ (HI p (or_introl eq_refl)) V T t); [rewrite <- filter_app; apply kept_all|apply kept_fine, U].
      * eapply close_weaken; [apply whole_tree_same; [exact V|exact T]|].
        rewrite <- (Rplus_0_l (sumR tree_cost ps + f)) at 1. apply Rplus_le_compat_r, plan_cost_pos, V.
    + refine (whole_tree_same (both P y ts) _ number p _ _ _ V _ t). intro; apply IH; intros q Q; apply HI; right; exact Q.
Qed.
Lemma costs_nonneg ps : Forall valid_plan ps -> 0 <= sumR tree_cost ps.
Proof. induction 1 as [|p ps V _ IH]; cbn [sumR fold_right]; [lra|]. apply Rplus_le_le_0_compat; [apply tree_cost_nonneg, V|exact IH]. Qed.
Lemma sum_costs_nonneg : 0 <= sumR tree_cost (plans P).
Proof. apply costs_nonneg, Hplans. Qed.
Lemma heads_near ys : close (INR (length ys) * sumR tree_cost (plans P)) (all_heads P ys (D1 ++ r :: D2)) (all_heads P ys (D1 ++ D2)).
Proof.
  assert (C := sum_costs_nonneg). induction ys as [|y ys IH]; cbn [all_heads length].
  - simpl. rewrite Rmult_0_l. apply close_done. lra.
  - eapply close_weaken; [apply boost_near; [|exact IH|assumption|trivial]|rewrite S_INR; lra]. apply Rmult_le_pos; [apply pos_INR|assumption].
Qed.
End Record.

Lemma add_remove_noise : touched P = 1%nat -> forall D1 r D2,
  close (INR (length (heads P)) * sumR (fun p => amplified (rate P) (plan_cost p)) (plans P)) (dpxgboost P (D1 ++ r :: D2)) (dpxgboost P (D1 ++ D2)).
Proof.
  intros T D1 r D2. eapply close_weaken; [apply heads_near|]. right. f_equal. apply sumR_ext. intro p. unfold tree_cost, m. rewrite T.
  simpl INR. f_equal. field.
Qed.
Lemma replace_one_noise : touched P = 2%nat -> rate P = 1 -> forall D1 r r' D2,
  close (INR (length (heads P)) * sumR plan_cost (plans P)) (dpxgboost P (D1 ++ r :: D2)) (dpxgboost P (D1 ++ r' :: D2)).
Proof.
  intros T W D1 r r' D2.
  assert (H : sumR plan_cost (plans P) = sumR tree_cost (plans P) + sumR tree_cost (plans P)).
  { generalize (plans P). intro ps. induction ps as [|p ps IH]; cbn [sumR fold_right]; [lra|]. unfold sumR in IH. rewrite IH.
    unfold tree_cost, amplified, m. rewrite T, W.
    replace (1 + 1 * (exp (plan_cost p / INR 2) - 1)) with (exp (plan_cost p / INR 2)) by ring. rewrite ln_exp. simpl INR. field. }
  rewrite H, Rmult_plus_distr_l. eapply close_trans; [apply heads_near|apply close_sym, heads_near].
Qed.
End Run.

(** ** The theorems: noise that pays for any change, and discrete noise of values that are first rounded to its grid *)
Section Theorems.
Variables gridR grid_downR : R -> R.
Local Hint Extern 0 (Num R) => exact (numR gridR grid_downR) : typeclass_instances.
Variable P : settings R.
Hypotheses (Hlambda : 0 < lambda P) (Hgradient : 0 < most_gradient P) (Hratio : 0 < ratio P) (Hleast : exists m, (1 <= m)%nat /\ least P = INR m)
  (Htouched : (1 <= touched P)%nat) (Hsketched : (1 <= length (sketched P))%nat) (Hhessian : 0 < most_hessian P)
  (Hrate : 0 <= rate P <= 1) (Hplans : Forall valid_plan (plans P)).
(** What is assumed about a record's contribution. *)
Hypothesis Hcontribution : forall s y, let (g, h) := contribution P s y in
  Rabs g <= most_gradient P -> 0 <= h <= most_hessian P /\ Rabs g <= (if newton P then h else 1) * ratio P.
Section AnyLaw.
Context {law : Law}.
Lemma law_leaves : leaves_pay gridR grid_downR P.
Proof.
  intros e gh X1 r X2 ls o B E HX Hr. assert (S : 0 < leaves_scale P e) by (apply leaves_scale_pos; assumption).
  rewrite <- (leaves_cost gridR grid_downR) by assumption. apply noises_near; [exact S|].
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, S|]. apply leaves_change; assumption.
Qed.
Lemma law_bins : bins_pay gridR grid_downR P.
Proof.
  intros e gh X1 r X2 o B E HX Hr. assert (S : 0 < histogram_scale P e) by (apply histogram_scale_pos; assumption).
  rewrite <- (histogram_cost gridR grid_downR) by assumption. apply noises_near; [exact S|].
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, S|]. apply bins_change; assumption.
Qed.
Theorem add_remove : touched P = 1%nat -> forall D1 r D2,
  close (INR (length (heads P)) * sumR (fun p => amplified (rate P) (plan_cost p)) (plans P)) (dpxgboost P (D1 ++ r :: D2)) (dpxgboost P (D1 ++ D2)).
Proof. apply add_remove_noise; auto using law_leaves, law_bins. Qed.
Theorem replace_one : touched P = 2%nat -> rate P = 1 -> forall D1 r r' D2,
  close (INR (length (heads P)) * sumR plan_cost (plans P)) (dpxgboost P (D1 ++ r :: D2)) (dpxgboost P (D1 ++ r' :: D2)).
Proof. apply replace_one_noise; auto using law_leaves, law_bins. Qed.
End AnyLaw.
Section OnGrid.
Variables (step wide : R -> R) (nearest : R -> R -> R).  (* of the scale *)
Hypotheses (Hstep : forall b, 0 < step b) (Hwide : forall b, 0 < b -> 0 < wide b)
  (Hplaces : forall b x, exists n : Z, nearest b x = IZR n * step b)
  (Hnearest : forall b x x', Rabs (nearest b x - nearest b x') <= Rabs (x - x') + step b).
(** The noise is as wide as the largest change of values on the grid over the budget of the release. *)
Definition wide_enough (b e change : R) (each : nat) :=
  step b * IZR (Int_part (INR (touched P) * change / step b + INR (touched P * each))) / e <= wide b.
Hypotheses (Hleaves : forall e, leaf_budget P e -> wide_enough (leaves_scale P e) e (leaf_change (most_gradient P) (least P) (lambda P)) 1)
  (Hbins : forall e, sketch_budget P e -> wide_enough (histogram_scale P e) e (INR (length (sketched P)) * most_hessian P) (length (sketched P))).
Let noise := rounded_to step wide nearest Hstep Hwide.
Lemma rounded_leaves : @leaves_pay noise gridR grid_downR P.
Proof.
  intros e gh X1 r X2 ls o B E HX Hr.
  apply rounded_to_near with (hit := fun k => (k =? node ls r)%nat) (each := 1%nat) (change := leaf_change (most_gradient P) (least P) (lambda P)); auto.
  - apply leaves_scale_pos; assumption.
  - apply Hleaves, B.
  - intros k H. apply leaf_elsewhere, H.
  - apply one_leaf.
  - apply leaves_change; assumption.
Qed.
Lemma rounded_bins : @bins_pay noise gridR grid_downR P.
Proof.
  intros e gh X1 r X2 o B E HX Hr.
  apply rounded_to_near with (hit := fun c : (record R -> nat) * nat => (fst c r =? snd c)%nat) (each := length (sketched P))
    (change := INR (length (sketched P)) * most_hessian P); auto.
  - apply histogram_scale_pos; assumption.
  - apply Hbins, B.
  - intros c H. apply bin_elsewhere, H.
  - apply one_bin_each; assumption.
  - apply bins_change; assumption.
Qed.
Theorem add_remove_on_grid : touched P = 1%nat -> forall D1 r D2,
  @close noise (INR (length (heads P)) * sumR (fun p => amplified (rate P) (plan_cost p)) (plans P)) (dpxgboost P (D1 ++ r :: D2)) (dpxgboost P (D1 ++ D2)).
Proof. apply add_remove_noise; auto using rounded_leaves, rounded_bins. Qed.
Theorem replace_one_on_grid : touched P = 2%nat -> rate P = 1 -> forall D1 r r' D2,
  @close noise (INR (length (heads P)) * sumR plan_cost (plans P)) (dpxgboost P (D1 ++ r :: D2)) (dpxgboost P (D1 ++ r' :: D2)).
Proof. apply replace_one_noise; auto using rounded_leaves, rounded_bins. Qed.
End OnGrid.
End Theorems.

(** ** What records contribute *)
Lemma square_loss_contributes g : forall b, 0 < b -> Rabs g <= b -> 0 <= 1 <= 1 /\ Rabs g <= 1 * b.
Proof. intros. lra. Qed.
(** Log loss: p = 1/(1 + exp(-s)), g = p - y, h = p (1 - p). *)
Lemma log_loss_contributes s y : let p := / (1 + exp (- s)) in (y = 0 \/ y = 1) -> Rabs (p - y) <= 1 /\ 0 <= p * (1 - p) <= 1 / 4.
Proof.
  intros p Y. assert (E := exp_pos (- s)). assert (0 < p) by (apply Rinv_0_lt_compat; lra).
  assert (p < 1) by (unfold p; rewrite <- Rinv_1; apply Rinv_lt_contravar; lra). clearbody p.
  assert (0 <= (p - 1 / 2) * (p - 1 / 2)) by apply Rle_0_sqr.
  split; [destruct Y as [-> | ->]; apply Rabs_le; lra|]. split; [apply Rmult_le_pos; lra|lra].
Qed.
Lemma clipped_ratio B h g : 0 <= B * h -> Rabs (Rmin (Rmax g (- (B * h))) (B * h)) <= h * B.
Proof. intro H. apply Rabs_le. unfold Rmin, Rmax. destruct (Rle_dec g _); destruct (Rle_dec _ (B * h)); lra. Qed.
(** A tree's budget before sampling, log(1 + (exp e - 1)/rate), costs e after it. *)
Lemma amplified_inverse rate e : 0 < rate -> 0 <= e -> amplified rate (ln (1 + (exp e - 1) / rate)) = e.
Proof.
  intros W E. assert (X := exp_ge_1 e E). unfold amplified. assert (0 <= (exp e - 1) / rate) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat, W]).
  rewrite exp_ln by lra. replace (1 + rate * (1 + (exp e - 1) / rate - 1)) with (exp e) by (field; lra). apply ln_exp.
Qed.
