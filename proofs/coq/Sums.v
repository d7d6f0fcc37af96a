(** The text over the reals, and what one more record changes in its sums: common to all papers. *)
From Coq Require Import List Arith Bool Reals Lra Lia Psatz.
From DP Require Import Program Bounds Privacy.
Import ListNotations.
Open Scope R_scope.

Lemma INR_pos n : (1 <= n)%nat -> 0 < INR n.
Proof. intro H. apply lt_0_INR. lia. Qed.
Lemma combine_insert {A B} (D1 : list A) r D2 (a1 : list B) i a2 : length a1 = length D1 ->
  combine (D1 ++ r :: D2) (a1 ++ i :: a2) = combine D1 a1 ++ (r, i) :: combine D2 a2 /\
  combine (D1 ++ D2) (a1 ++ a2) = combine D1 a1 ++ combine D2 a2.
Proof.
  revert a1. induction D1 as [|x D1 IH]; intros [|y a1] L; simpl in *; try discriminate; [auto|].
  destruct (IH a1) as [E F]; [congruence|]. rewrite E, F. auto.
Qed.


(** The real numbers, with any rounding of gradients. *)
Definition numR (gridR grid_downR : R -> R) : Num R := {|
  zero := 0; one := 1; add := Rplus; sub := Rminus; mul := Rmult; div := Rdiv; opp := Ropp; leb := leR;
  grid := gridR; grid_down := grid_downR |}.

Section Reals.
Context {gridR grid_downR : R -> R}.
Local Hint Extern 0 (Num R) => exact (numR gridR grid_downR) : typeclass_instances.

(** ** Formulas in the reals *)
Lemma minimum_R x y : minimum x y = Rmin x y.
Proof. unfold minimum, Rmin; simpl; unfold leR. destruct (Rle_dec x y); reflexivity. Qed.
Lemma maximum_R x y : maximum x y = Rmax x y.
Proof. unfold maximum, Rmax; simpl; unfold leR. destruct (Rle_dec x y); reflexivity. Qed.
Lemma clip_R c x : clip c x = clipR c x.
Proof. unfold clip, clipR. rewrite minimum_R, maximum_R. reflexivity. Qed.
Lemma absolute_R x : absolute x = Rabs x.
Proof. unfold absolute. rewrite maximum_R. simpl. unfold Rmax, Rabs. destruct (Rle_dec x (- x)), (Rcase_abs x); lra. Qed.
Lemma times_R n x : times n x = INR n * x.
Proof. induction n; simpl times; [simpl; ring|]. rewrite IHn, S_INR. simpl. ring. Qed.
Lemma natural_R n : natural n = INR n.
Proof. unfold natural. rewrite times_R. simpl. ring. Qed.
Lemma total_R {A} (f : A -> R) l : total f l = sumR f l.
Proof. induction l; simpl; congruence. Qed.
(** ** Sums over records: one more record *)
Section Sums.
Variables (g : record R -> R) (b : R).
Definition bounded X := Forall (fun r => Rabs (g r) <= b) X.
Lemma sum_insert p f X1 r X2 :
  where_ (X1 ++ r :: X2) p f = where_ (X1 ++ X2) p f + (if p r then f r else 0).
Proof. unfold where_. induction X1; simpl in *; [ring|]. rewrite IHX1. ring. Qed.
Lemma count_cases X p : count X p = 0 \/ 1 <= count X p.
Proof. unfold count, where_. induction X as [|r X IH]; simpl in *; [lra|]. destruct (p r); simpl; lra. Qed.
Lemma gsum_bound X p : bounded X -> Rabs (gsum g X p) <= count X p * b.
Proof.
  unfold gsum, count, where_. induction 1 as [|r X B _ IH]; simpl in *; [rewrite Rabs_R0; lra|].
  eapply Rle_trans; [apply Rabs_triang|]. destruct (p r); simpl; [lra|]. rewrite Rabs_R0. lra.
Qed.
End Sums.

Lemma count_nonneg X p : 0 <= count X p.
Proof. destruct (count_cases X p); lra. Qed.
Lemma leb_le x y : leb x y = true -> x <= y.
Proof. simpl. unfold leR. destruct (Rle_dec x y); [trivial|discriminate]. Qed.

(** ** A record is in one node: what it adds to the sums of all of them *)
Lemma same_elsewhere (f : record R -> R) X1 r X2 ls k : k <> node ls r -> where_ (X1 ++ r :: X2) (inside ls k) f = where_ (X1 ++ X2) (inside ls k) f.
Proof. intro K. rewrite sum_insert. unfold inside. destruct (Nat.eqb_spec (node ls r) k); [congruence|ring]. Qed.
Lemma one_node (f : record R -> R) X1 r X2 ls : sumR (fun k => Rabs (where_ (X1 ++ r :: X2) (inside ls k) f - where_ (X1 ++ X2) (inside ls k) f)) (nodes ls)
  <= Rabs (f r).
Proof.
  eapply Rle_trans; [|apply one_pays with (k0 := node ls r) (ks := nodes ls); [apply seq_NoDup|apply Rabs_pos]].
  right. apply sumR_ext. intro k. rewrite sum_insert. unfold inside. rewrite Nat.eqb_sym.
  destruct (Nat.eqb_spec k (node ls r)); [f_equal; ring|]. rewrite Rplus_0_r. unfold Rminus. rewrite Rplus_opp_r. apply Rabs_R0.
Qed.
Lemma two_sides (f : record R -> R) X p q : where_ X (fun r => p r && negb (q r)) f + where_ X (fun r => p r && q r) f = where_ X p f.
Proof. unfold where_. induction X as [|r X IH]; simpl in *; [ring|]. destruct (p r), (q r); simpl in *; lra. Qed.

(** ** Records of a block *)
Lemma rows_insert j A1 r i A2 :
  rows (N := R) j (A1 ++ (r, i) :: A2) = rows j A1 ++ (if i =? j then [r] else []) ++ rows j A2.
Proof. unfold rows. rewrite filter_app, map_app. simpl. destruct (i =? j); reflexivity. Qed.
Lemma rows_app j A1 A2 : rows (N := R) j (A1 ++ A2) = rows j A1 ++ rows j A2.
Proof. unfold rows. rewrite filter_app, map_app. reflexivity. Qed.
Lemma rest_valid ws : Forall (fun w => 0 <= w) ws -> sumR (fun w => w) ws <= 1 ->
  Forall (fun w => 0 <= w) (with_rest ws) /\ sumR (fun w => w) (with_rest ws) = 1.
Proof.
  intros B S. unfold with_rest. rewrite total_R.
  assert (A : forall l v, sumR (fun w => w) (l ++ [v]) = sumR (fun w => w) l + v).
  { induction l; intro v; simpl; [ring|]. rewrite IHl. ring. }
  split; [apply Forall_app; split; [assumption|constructor; [simpl; lra|constructor]]|rewrite A; simpl; ring].
Qed.
End Reals.
