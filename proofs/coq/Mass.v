(** Discrete noise makes a run's outputs countable: densities are probabilities, of total mass 1, and every event, of
    finitely many transcripts or not, has one. *)
From Coq Require Import List Arith ZArith Reals Lra Lia FinFun Classical_Prop.
From DP Require Import Program Bounds Privacy Sums Renyi.
Import ListNotations.
Open Scope R_scope.

(** ** Nonnegative functions whose finite sums approach 1 *)
Definition whole {A} (f : A -> R) := (forall a, 0 <= f a) /\ within f 1 /\ forall e, 0 < e -> exists l, NoDup l /\ 1 - e <= sumR f l.
Definition decided (A : Type) := forall a b : A, {a = b} + {a <> b}.
Lemma lists_decided {A} : decided A -> decided (list A).
Proof. intro D. exact (list_eq_dec D). Qed.
Lemma entries_decided : decided (entry R).
Proof. intros [i|o] [j|u]; try (right; discriminate); [destruct (list_eq_dec Nat.eq_dec i j)|destruct (list_eq_dec Req_EM_T o u)]; [left|right|left|right]; congruence. Qed.
Lemma whole_ext {A} (f g : A -> R) : (forall a, f a = g a) -> whole f -> whole g.
Proof.
  intros E (P & W & L). split; [intro a; rewrite <- E; apply P|]. split.
  - intros l N. rewrite <- (sumR_ext f g l E). apply W, N.
  - intros e H. destruct (L e H) as (l & N & B). exists l. split; [assumption|]. rewrite <- (sumR_ext f g l E). exact B.
Qed.
Lemma whole_at {A} (D : decided A) (a0 : A) (f : A -> R) : f a0 = 1 -> (forall a, a <> a0 -> f a = 0) -> whole f.
Proof.
  intros H Z. assert (P : forall a, 0 <= f a) by (intro a; destruct (D a a0) as [->|N]; [|rewrite Z by assumption]; lra).
  split; [exact P|]. split.
  - apply (within_single a0); auto; [lra|lra|]. intros a N. rewrite Z by assumption. lra.
  - intros e E. exists [a0]. split; [constructor; [intros []|constructor]|]. simpl. lra.
Qed.
(** Lists, by their heads: each head's tails sum to 1. *)
Lemma whole_cons {A} (D : decided A) (w : A -> R) (F : A -> list A -> R) (f : list A -> R) :
  whole w -> (forall a, whole (F a)) -> f [] = 0 -> (forall a l, f (a :: l) = w a * F a l) -> whole f.
Proof.
  intros (P & W & L) G Z E. split; [|split].
  - intros [|a l]; [lra|]. rewrite E. apply Rmult_le_pos; [apply P|apply G].
  - rewrite <- (Rmult_1_r 1). apply (within_cons D w F); auto; [lra|apply G|lra|]. intros. rewrite E. lra.
  - intros e H. destruct (L (e / 2) ltac:(lra)) as (hs & N & B).
    assert (T : exists l, NoDup l /\ (forall a t, In (a :: t) l -> In a hs) /\ ~ In [] l /\ (1 - e / 2) * sumR w hs <= sumR f l).
    { clear B. induction N as [|a hs NA N (l & M & I & O & S)]; [exists []; repeat split; try constructor; simpl; auto; lra|].
      destruct (G a) as (_ & _ & T). destruct (T (e / 2) ltac:(lra)) as (ts & K & B). exists (map (cons a) ts ++ l).
      split; [|split; [|split]].
      - clear -NA M I K. induction K as [|t ts J K IH]; [exact M|]. simpl. constructor; [|exact IH]. intro C. apply in_app_or in C. destruct C as [C|C].
        + apply in_map_iff in C. destruct C as (u & Q & C). injection Q as ->. contradiction.
        + apply NA. eapply I, C.
      - intros b t C. apply in_app_or in C. destruct C as [C|C]; [|right; eapply I, C]. apply in_map_iff in C.
        destruct C as (u & Q & _). injection Q as -> ->. left. reflexivity.
      - intro C. apply in_app_or in C. destruct C as [C|C]; [|contradiction]. apply in_map_iff in C. destruct C as (u & Q & _). discriminate.
      - rewrite sumR_app, sumR_map. rewrite (sumR_ext _ (fun t => w a * F a t)) by (intro; apply E). rewrite sumR_mult.
        change (sumR w (a :: hs)) with (w a + sumR w hs). assert (w a * (1 - e / 2) <= w a * sumR (F a) ts) by (apply Rmult_le_compat_l; [apply P|exact B]). lra. }
    destruct T as (l & M & _ & _ & S). exists l. split; [exact M|]. assert (U := W hs N).
    assert (0 <= sumR w hs) by (apply sumR_nonneg, P). destruct (Rle_dec (e / 2) 1).
    + assert ((1 - e / 2) * (1 - e / 2) <= (1 - e / 2) * sumR w hs) by (apply Rmult_le_compat_l; lra).
      assert (0 <= (e / 2) * (e / 2)) by apply Rle_0_sqr. lra.
    + assert (0 <= sumR f l); [|lra]. apply sumR_nonneg. intros [|a t]; [lra|]. rewrite E. apply Rmult_le_pos; [apply P|apply G].
Qed.
(** Rows of a release, each with its own law. *)
Lemma whole_product {A B} (D : decided B) (p : A -> B -> R) l : (forall a, In a l -> whole (p a)) -> whole (product p l).
Proof.
  induction l as [|a l IH]; intro H.
  - apply (whole_at (lists_decided D) []); [reflexivity|]. intros [|b o] N; [congruence|reflexivity].
  - apply (whole_cons D (p a) (fun _ => product p l)); [apply H; left; reflexivity|intro; apply IH; intros; apply H; right; assumption|reflexivity|].
    intros. reflexivity.
Qed.
(** Averages over secret assignments. *)
Lemma whole_weighted {A} (D : decided A) ws (f : nat -> A -> R) : Forall (fun w => 0 <= w) ws -> forall e, 0 < e -> (forall j, whole (f j)) -> forall j,
  exists l, NoDup l /\ forall l', NoDup l' -> incl l l' -> sumR (fun w => w) ws * (1 - e) <= sumR (fun a => weighted ws j (fun j => f j a)) l'.
Proof.
  intros W e E H. induction W as [|w ws P W IH]; intro j.
  - exists []. split; [constructor|]. intros l' _ _. simpl. assert (sumR (fun _ : A => 0) l' = 0) by (clear; induction l'; simpl; lra). lra.
  - destruct (IH (S j)) as (l & N & B). destruct (H j) as (Pj & Wj & Lj). destruct (Lj e E) as (m & M & C). exists (nodup D (l ++ m)).
    split; [apply NoDup_nodup|]. intros l' N' I. cbn [weighted]. rewrite sumR_plus, sumR_mult. simpl sumR at 1.
    assert (incl m l') by (intros a Q; apply I, nodup_In, in_or_app; right; exact Q). assert (incl l l') by (intros a Q; apply I, nodup_In, in_or_app; left; exact Q).
    assert (K : sumR (f j) m <= sumR (f j) l') by (apply sumR_incl; assumption). specialize (B l' N' H1).
    assert (w * (1 - e) <= w * sumR (f j) l') by (apply Rmult_le_compat_l; lra). unfold sumR in *. lra.
Qed.
Lemma weighted_positive ws : Forall (fun w => 0 <= w) ws -> forall j F, (forall i, 0 <= F i) -> 0 <= weighted ws j F.
Proof. induction 1 as [|w ws P _ IH]; intros j F H; simpl; [lra|]. assert (0 <= w * F j) by (apply Rmult_le_pos; auto). specialize (IH (S j) F H). lra. Qed.
Lemma expect_positive ws n : Forall (fun w => 0 <= w) ws -> forall F, (forall a, 0 <= F a) -> 0 <= expect ws n F.
Proof. intro W. induction n as [|n IH]; intros F H; simpl; [apply H|]. apply weighted_positive; [assumption|]. intro j. apply IH. intro. apply H. Qed.
Lemma whole_expect {A} (D : decided A) ws : Forall (fun w => 0 <= w) ws -> sumR (fun w => w) ws = 1 -> forall n (f : list nat -> A -> R),
  (forall a, whole (f a)) -> whole (fun t => expect ws n (fun a => f a t)).
Proof.
  intros W S. induction n as [|n IH]; intros f H; [apply H|]. assert (K : forall j, whole (fun t => expect ws n (fun a => f (j :: a) t))).
  { intro j. apply (IH (fun a => f (j :: a))). intro. apply H. }
  split; [|split].
  - intro t. apply expect_positive; [assumption|]. intro. apply H.
  - apply within_expect; auto. intros a _. apply H.
  - intros e E. destruct (whole_weighted D ws (fun j t => expect ws n (fun a => f (j :: a) t)) W e E K 0) as (l & N & B). exists l.
    split; [exact N|]. specialize (B l N ltac:(intros a Q; exact Q)). rewrite S, Rmult_1_l in B. exact B.
Qed.

(** ** Mechanisms *)
Lemma choose_whole s u : u <> [] -> whole (choose1 s u).
Proof.
  intro H. assert (T := choose_total s u H). change (sumR (choose1 s u) (seq 0 (length u)) = 1) in T. split; [intro; apply choose1_nonneg|]. split.
  - intros l N. rewrite <- T. rewrite (sumR_split (choose1 s u) (fun i => i <? length u)%nat).
    assert (sumR (choose1 s u) (filter (fun i => negb (i <? length u)%nat) l) <= 0).
    { clear N. induction l as [|i l IH]; simpl; [lra|]. destruct (Nat.ltb_spec i (length u)) as [L|L]; simpl; [exact IH|].
      assert (choose1 s u i = 0) by (unfold choose1; rewrite (proj2 (nth_error_None u i)) by lia; reflexivity). unfold sumR in *. lra. }
    assert (sumR (choose1 s u) (filter (fun i => (i <? length u)%nat) l) <= sumR (choose1 s u) (seq 0 (length u))); [|lra].
    apply sumR_incl; [intro; apply choose1_nonneg|apply NoDup_filter, N|]. intros i I. apply filter_In in I. destruct I as [_ I].
    apply Nat.ltb_lt in I. apply in_seq. lia.
  - intros e E. exists (seq 0 (length u)). split; [apply seq_NoDup|]. rewrite T. lra.
Qed.
Lemma Int_part_whole z : Int_part (IZR z) = z.
Proof.
  destruct (base_Int_part (IZR z)) as [A B]. apply le_IZR in A. assert (IZR z < IZR (Int_part (IZR z)) + 1) as C by lra.
  rewrite <- plus_IZR in C. apply lt_IZR in C. lia.
Qed.
Lemma grid_point_at step z : 0 < step -> grid_point step (IZR z * step) = 1.
Proof.
  intro S. unfold grid_point. assert (E : Int_part (IZR z * step / step) = z).
  { replace (IZR z * step / step) with (IZR z) by (field; lra). apply Int_part_whole. }
  rewrite E. destruct (Req_EM_T _ _); [reflexivity|congruence].
Qed.
Lemma grid_point_off step o : (forall z, o <> IZR z * step) -> grid_point step o = 0.
Proof. intro H. unfold grid_point. destruct (Req_EM_T _ _) as [E|]; [|reflexivity]. exfalso. apply (H _ (eq_sym E)). Qed.
(** A law on whole numbers, moved to a grid. *)
Lemma whole_placed (h : R) (f : Z -> R) (g : R -> R) : 0 < h -> whole f -> (forall z, g (IZR z * h) = f z) -> (forall o, (forall z, o <> IZR z * h) -> g o = 0) -> whole g.
Proof.
  intros H (P & W & L) G Z. pose (index := fun o => Int_part (o / h)).
  assert (J : forall z, index (IZR z * h) = z).
  { intro z. unfold index. replace (IZR z * h / h) with (IZR z) by (field; lra). apply Int_part_whole. }
  assert (C : forall o, o = IZR (index o) * h \/ g o = 0).
  { intro o. destruct (Req_EM_T o (IZR (index o) * h)) as [|N]; [left; assumption|right]. apply Z. intros z E. apply N. rewrite E, J. reflexivity. }
  split; [|split].
  - intro o. destruct (C o) as [->| ->]; [rewrite G; apply P|lra].
  - intros l N. pose (on := fun o => if Req_EM_T o (IZR (index o) * h) then true else false). rewrite (sumR_split g on).
    assert (A : sumR g (filter (fun o => negb (on o)) l) = 0).
    { clear N. induction l as [|o l IH]; simpl; [reflexivity|]. destruct (on o) eqn:E; simpl; [exact IH|]. unfold sumR in *. rewrite IH. unfold on in E.
      destruct (Req_EM_T o (IZR (index o) * h)); [discriminate|]. destruct (C o); [contradiction|lra]. }
    rewrite A, Rplus_0_r. assert (B : sumR g (filter on l) = sumR f (map index (filter on l))).
    { rewrite sumR_map. clear N A. induction l as [|o l IH]; simpl; [reflexivity|]. destruct (on o) eqn:E; simpl; [|exact IH]. unfold sumR in *. rewrite IH. f_equal.
      unfold on in E. destruct (Req_EM_T o (IZR (index o) * h)) as [Q|]; [|discriminate]. rewrite Q at 1. apply G. }
    rewrite B. apply W. assert (M : NoDup (filter on l)) by apply NoDup_filter, N.
    assert (O : forall o, In o (filter on l) -> o = IZR (index o) * h).
    { intros o I. apply filter_In in I. destruct I as [_ I]. unfold on in I. destruct (Req_EM_T o (IZR (index o) * h)); [assumption|discriminate]. }
    clear -M O. induction M as [|o m I M IH]; simpl; constructor; [|apply IH; intros; apply O; right; assumption].
    intro C. apply I. apply in_map_iff in C. destruct C as (u & E & K). rewrite (O o (or_introl eq_refl)), <- E, <- (O u (or_intror K)). exact K.
  - intros e E. destruct (L e E) as (l & N & B). exists (map (fun z => IZR z * h) l). split.
    + apply Injective_map_NoDup; [|exact N]. intros a b Q. rewrite <- (J a), Q. apply J.
    + rewrite sumR_map. rewrite (sumR_ext _ f) by (intro; apply G). exact B.
Qed.
Lemma whole_moved (s : Z) (f : Z -> R) : whole f -> whole (fun z => f (z - s)%Z).
Proof.
  intros (P & W & L). split; [intro; apply P|]. split.
  - apply (within_moved (fun z => (z - s)%Z)); [intros a b E; lia|exact W].
  - intros e E. destruct (L e E) as (l & N & B). exists (map (fun z => (z + s)%Z) l). split.
    + apply Injective_map_NoDup; [intros a b Q; lia|exact N].
    + rewrite sumR_map. rewrite (sumR_ext _ f); [exact B|]. intro z. f_equal. lia.
Qed.
Lemma power_small x : 0 < x < 1 -> forall e, 0 < e -> exists n, x ^ n <= e.
Proof.
  intros X e E. destruct (pow_lt_1_zero x ltac:(rewrite Rabs_right; lra) e E) as [n H]. exists n. specialize (H n (le_n n)).
  rewrite Rabs_right in H; [lra|]. apply Rle_ge. left. apply pow_lt. lra.
Qed.
Lemma range_NoDup n : NoDup (range n).
Proof.
  assert (B : forall n z, In z (range n) -> (Z.abs z <= Z.of_nat n)%Z).
  { clear. induction n as [|n IH]; intros z H; cbn [range] in H; [destruct H as [<-|[]]; lia|]. destruct H as [<-|[<-|H]]; [lia|lia|]. apply IH in H. lia. }
  induction n as [|n IH]; cbn [range]; [constructor; [intros []|constructor]|]. constructor; [|constructor; [|exact IH]].
  - intros [H|H]; [lia|]. apply B in H. lia.
  - intro H. apply B in H. lia.
Qed.
(** Two-sided geometric noise on the whole numbers. *)
Lemma decay_whole c : 0 < c -> whole (fun z => (1 - exp (- c)) / (1 + exp (- c)) * decay c z).
Proof.
  intro C. assert (X : 0 < exp (- c) < 1) by (split; [apply exp_pos|rewrite <- exp_0; apply exp_increasing; lra]). set (k := (1 - exp (- c)) / (1 + exp (- c))).
  assert (K : 0 < k) by (apply Rdiv_lt_0_compat; lra). split; [|split].
  - intro z. apply Rmult_le_pos; [lra|left; apply exp_pos].
  - apply within_weaken with (x := k * ((1 + exp (- c)) / (1 - exp (- c)))); [right; unfold k; field; lra|]. apply within_mult; [lra|apply decay_sums, C].
  - intros e E. destruct (power_small (exp (- c)) X (e / 2) ltac:(lra)) as [n N]. exists (range n). split; [apply range_NoDup|]. rewrite sumR_mult.
    assert (R := range_sum c n). cbn [pow] in R. set (p := exp (- c) ^ n) in *. assert (0 <= p) by (left; apply pow_lt; lra).
    replace (sumR (decay c) (range n)) with ((1 + exp (- c) - 2 * (exp (- c) * p)) / (1 - exp (- c))) by (rewrite <- R; field; lra).
    unfold k. replace ((1 - exp (- c)) / (1 + exp (- c)) * ((1 + exp (- c) - 2 * (exp (- c) * p)) / (1 - exp (- c)))) with (1 - 2 * p * (exp (- c) / (1 + exp (- c)))) by (field; lra).
    assert (Q : exp (- c) / (1 + exp (- c)) <= 1) by (apply Rmult_le_reg_r with (1 + exp (- c)); [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra).
    assert (2 * p * (exp (- c) / (1 + exp (- c))) <= 2 * p * 1) by (apply Rmult_le_compat_l; lra). lra.
Qed.
Lemma placed_whole h b i : 0 < h -> 0 < b -> whole (placed1 h b (IZR i * h)).
Proof.
  intros H B. set (c := h / b). assert (C : 0 < c) by (apply Rdiv_lt_0_compat; assumption).
  apply (whole_placed h (fun z => (1 - exp (- c)) / (1 + exp (- c)) * decay c (z - i))); [exact H|apply (whole_moved i (fun z => _ * decay c z)), decay_whole, C| |].
  - intro z. unfold placed1. rewrite grid_point_at by assumption. unfold geometric1. fold c. rewrite Rmult_1_r, Rmult_comm. f_equal. unfold decay. f_equal. f_equal.
    replace (IZR z * h - IZR i * h) with (IZR (z - i) * h) by (rewrite minus_IZR; ring). rewrite Rabs_mult, (Rabs_right h) by lra. unfold c. field. lra.
  - intros o O. unfold placed1. rewrite grid_point_off by assumption. ring.
Qed.

(** ** Runs *)
Class Countable (noise : Additive) := noise_whole : forall b v, 0 < b -> whole (noise1 b v).
Lemma rounded_to_whole step wide nearest Hstep Hwide : (forall b x, exists n : Z, nearest b x = IZR n * step b) -> Countable (rounded_to step wide nearest Hstep Hwide).
Proof. intros G b v B. destruct (G b v) as [n E]. cbn. rewrite E. apply placed_whole; auto. Qed.
Lemma rounded_whole step e touched nearest Hstep He Htouched : (forall b x, exists n : Z, nearest b x = IZR n * step b) ->
  Countable (rounded step e touched nearest Hstep He Htouched).
Proof. intros G b v B. destruct (G b v) as [n E]. cbn. rewrite E. apply placed_whole; [auto|apply widened_pos; auto]. Qed.

(** A program whose every request is one that a mechanism answers. *)
Inductive proper : prog R -> Prop :=
| ProperDone : proper Done
| ProperChoose s u k : Forall (fun row => row <> []) u -> (forall i, proper (k i)) -> proper (Choose s u k)
| ProperNoise b v k : 0 < b -> (forall o, proper (k o)) -> proper (Noise b v k)
| ProperAssign w n k : Forall (fun w => 0 <= w) w -> sumR (fun w => w) w = 1 -> (forall a, proper (k a)) -> proper (Assign w n k).
Lemma whole_entries {A} (inject : A -> entry R) (back : entry R -> option A) (f : A -> R) : (forall a, back (inject a) = Some a) ->
  (forall x a, back x = Some a -> x = inject a) -> whole f -> whole (fun x => match back x with Some a => f a | None => 0 end).
Proof.
  intros B I (P & W & L). split; [|split].
  - intro x. destruct (back x); [apply P|lra].
  - intros l N. pose (as_ := flat_map (fun x => match back x with Some a => [a] | None => [] end) l).
    assert (E : sumR (fun x => match back x with Some a => f a | None => 0 end) l = sumR f as_).
    { unfold as_. clear N. induction l as [|x l IH]; simpl; [reflexivity|]. rewrite sumR_app. unfold sumR in *. rewrite <- IH. destruct (back x); simpl; lra. }
    rewrite E. apply W. unfold as_. clear E as_. induction N as [|x l NI N IH]; simpl; [constructor|]. destruct (back x) as [a|] eqn:Q; [|exact IH]. simpl. constructor; [|exact IH].
    intro C. apply in_flat_map in C. destruct C as (y & Y & C). destruct (back y) as [b|] eqn:Q'; [|destruct C]. destruct C as [->|[]].
    apply I in Q. apply I in Q'. subst. contradiction.
  - intros e E. destruct (L e E) as (l & N & S). exists (map inject l). split.
    + apply Injective_map_NoDup; [|exact N]. intros a b Q. assert (K := B a). rewrite Q, B in K. congruence.
    + rewrite sumR_map. rewrite (sumR_ext _ f); [exact S|]. intro a. rewrite B. reflexivity.
Qed.
Theorem total_mass {noise : Additive} {countable : Countable noise} p : proper p -> whole (density p).
Proof.
  induction 1 as [|s u k U _ IH|b v k B _ IH|w n k W S _ IH].
  - apply (whole_at (lists_decided entries_decided) []); [reflexivity|]. intros [|x t] N; [congruence|reflexivity].
  - apply (whole_cons entries_decided (fun x => match (match x with Chosen i => Some i | Noisy _ => None end) with Some i => product (choose1 s) u i | None => 0 end)
      (fun x => match x with Chosen i => density (k i) | Noisy _ => density (k []) end)).
    + apply (whole_entries (fun i => Chosen i)); [reflexivity|intros [i|o] a E; congruence|]. apply whole_product; [exact Nat.eq_dec|].
      intros row R. apply choose_whole. rewrite Forall_forall in U. apply U, R.
    + intros [i|o]; apply IH.
    + reflexivity.
    + intros [i|o] t; cbn [density]; [reflexivity|ring].
  - apply (whole_cons entries_decided (fun x => match (match x with Chosen _ => None | Noisy o => Some o end) with Some o => product (noise1 b) v o | None => 0 end)
      (fun x => match x with Chosen _ => density (k []) | Noisy o => density (k o) end)).
    + apply (whole_entries (fun o => Noisy o)); [reflexivity|intros [i|o] a E; congruence|]. apply whole_product; [exact Req_EM_T|]. intros x _. apply noise_whole, B.
    + intros [i|o]; apply IH.
    + reflexivity.
    + intros [i|o] t; cbn [density]; [ring|reflexivity].
  - eapply whole_ext; [|apply (whole_expect (lists_decided entries_decided) w W S n (fun a => density (k a)) IH)]. intro t. cbn [density]. destruct t; reflexivity.
Qed.

(** ** Probabilities of events *)
Definition event := list (entry R) -> Prop.
Definition parts (f : list (entry R) -> R) (E : event) (x : R) := exists l, NoDup l /\ Forall E l /\ x = sumR f l.
(** The probability of an event: the least upper bound of the sums over its finite parts. *)
Definition probability {noise : Additive} (p : prog R) (E : event) (x : R) := is_lub (parts (density p) E) x.
Lemma probability_exists {noise : Additive} p E : whole (density p) -> exists x, probability p E x /\ 0 <= x <= 1.
Proof.
  intros (P & W & _). destruct (completeness (parts (density p) E)) as [x L].
  - exists 1. intros y (l & N & _ & ->). apply W, N.
  - exists 0. exists []. repeat split; constructor.
  - exists x. split; [exact L|]. destruct L as [U V]. split; [apply U; exists []; repeat split; constructor|]. apply V. intros y (l & N & _ & ->). apply W, N.
Qed.
Lemma probability_all {noise : Additive} p : whole (density p) -> probability p (fun _ => True) 1.
Proof.
  intros (P & W & L). split; [intros y (l & N & _ & ->); apply W, N|]. intros b U. apply Rnot_lt_le. intro H.
  destruct (L ((1 - b) / 2) ltac:(lra)) as (l & N & S). assert (K : sumR (density p) l <= b); [|lra]. apply U. exists l. repeat split; auto.
  apply Forall_forall. trivial.
Qed.
Lemma probability_le {noise : Additive} c p p' E x y : 0 <= c -> (forall t, density p t <= c * density p' t) -> probability p E x -> probability p' E y -> x <= c * y.
Proof.
  intros C H [_ V] [U _]. apply V. intros z (l & N & F & ->). eapply Rle_trans; [apply sumR_le, H|]. apply Rmult_le_compat_l; [exact C|]. apply U. exists l. auto.
Qed.
(** Two runs, of total mass 1 each, whose every event has probabilities within a factor exp e of each other. *)
Definition private {noise : Additive} (e : R) (p p' : prog R) :=
  probability p (fun _ => True) 1 /\ probability p' (fun _ => True) 1 /\
  forall E, exists x y, probability p E x /\ probability p' E y /\ x <= exp e * y /\ y <= exp e * x.
Theorem private_of_close {noise : Additive} {countable : Countable noise} e p p' : proper p -> proper p' -> close e p p' -> private e p p'.
Proof.
  intros A B H. apply total_mass in A. apply total_mass in B. split; [apply probability_all, A|]. split; [apply probability_all, B|]. intro E.
  destruct (probability_exists p E A) as (x & X & _), (probability_exists p' E B) as (y & Y & _). exists x, y. split; [exact X|]. split; [exact Y|]. split.
  - apply (probability_le (exp e) p p' E); auto; [left; apply exp_pos|]. intro t. apply (H t).
  - apply (probability_le (exp e) p' p E); auto; [left; apply exp_pos|]. intro t. apply (H t).
Qed.

(** ** Runs with Gaussian noise: their transcripts are numbers of steps *)
Section Numbers.
Context {outputs : Outputs}.
Lemma gauss1_whole s v : 0 < s -> on_grid (step s) v -> whole (gauss1 (step s) (step_positive s) s v).
Proof.
  intros S [i ->]. assert (T := total_pos (step s) (step_positive s) s S).
  assert (W : whole (fun z => bell (step s) s 0 z / total_bell (step s) (step_positive s) s)).
  { set (m := total_bell (step s) (step_positive s) s) in *. split; [|split].
    - intro z. left. apply Rdiv_lt_0_compat; [apply exp_pos|exact T].
    - apply within_mono with (g := fun z => / m * bell (step s) s 0 z); [intro; right; unfold Rdiv; ring|].
      apply within_weaken with (x := / m * m); [right; field; lra|]. apply within_mult; [left; apply Rinv_0_lt_compat, T|]. apply total_within, S.
    - intros e E. assert (U : exists l, NoDup l /\ m - m * e < sumR (bell (step s) s 0) l).
      { apply NNPP. intro N. assert (B : m <= m - m * e); [|assert (0 < m * e) by (apply Rmult_lt_0_compat; assumption); lra].
        unfold m at 1. unfold total_bell. destruct (Rlt_dec 0 s); [|contradiction]. destruct (total_exists (step s) (step_positive s) s r) as [x L]. simpl. apply L.
        intros y (l & D & ->). apply Rnot_lt_le. intro G. apply N. exists l. split; assumption. }
      destruct U as (l & D & U). exists l. split; [exact D|]. rewrite (sumR_ext _ (fun z => / m * bell (step s) s 0 z)) by (intro; unfold Rdiv; ring).
      rewrite sumR_mult. apply Rmult_le_reg_l with m; [exact T|]. rewrite <- Rmult_assoc, Rinv_r by lra. lra. }
  eapply whole_ext; [|apply (whole_moved i), W]. intro z. unfold gauss1. rewrite bell_moved. reflexivity.
Qed.
Inductive fitting : prog R -> Prop :=
| FittingDone : fitting Done
| FittingGauss l k : Forall (fun sv => 0 < fst sv /\ on_grid (step (fst sv)) (snd sv)) l -> (forall o, fitting (k o)) -> fitting (Gauss l k)
| FittingNoise b v k : Forall (fun x => whole (lap1 b x)) v -> (forall o, fitting (k o)) -> fitting (Noise b v k)
| FittingAssign w n k : Forall (fun w => 0 <= w) w -> sumR (fun w => w) w = 1 -> (forall a, fitting (k a)) -> fitting (Assign w n k).
Theorem total_numbers p : fitting p -> whole (mass p).
Proof.
  induction 1 as [|l k L _ IH|b v k V _ IH|w n k W S _ IH].
  - apply (whole_at (lists_decided list_dec) []); [reflexivity|]. intros [|x t] N; [congruence|reflexivity].
  - apply (whole_cons list_dec (gausses step step_positive l) (fun o => mass (k (outs step l o)))); try reflexivity; [|intro; apply IH].
    apply whole_product; [exact Z.eq_dec|]. intros [s x] I. rewrite Forall_forall in L. destruct (L _ I) as [A B]. apply gauss1_whole; assumption.
  - apply (whole_cons list_dec (product (lap1 b) v) (fun o => mass (k (map (place b) o)))); try reflexivity; [|intro; apply IH].
    apply whole_product; [exact Z.eq_dec|]. intros x I. rewrite Forall_forall in V. apply V, I.
  - eapply whole_ext; [|apply (whole_expect (lists_decided list_dec) w W S n (fun a => mass (k a)) IH)]. intro t. cbn [mass]. destruct t; reflexivity.
Qed.
(** (e, d)-differential privacy of every event in one direction, both runs of total mass 1. *)
Definition chance (p : prog R) (E : list (list Z) -> Prop) (x : R) := is_lub (fun s => exists l, NoDup l /\ Forall E l /\ s = sumR (mass p) l) x.
Definition private_within (e d : R) (p p' : prog R) :=
  chance p (fun _ => True) 1 /\ chance p' (fun _ => True) 1 /\ forall E, exists x y, chance p E x /\ chance p' E y /\ x <= exp e * y + d.
Lemma chance_exists p E : whole (mass p) -> exists x, chance p E x.
Proof.
  intros (P & W & _). destruct (completeness (fun s => exists l, NoDup l /\ Forall E l /\ s = sumR (mass p) l)) as [x L].
  - exists 1. intros y (l & N & _ & ->). apply W, N.
  - exists 0. exists []. repeat split; constructor.
  - exists x. exact L.
Qed.
Lemma chance_all p : whole (mass p) -> chance p (fun _ => True) 1.
Proof.
  intros (P & W & L). split; [intros y (l & N & _ & ->); apply W, N|]. intros b U. apply Rnot_lt_le. intro H.
  destruct (L ((1 - b) / 2) ltac:(lra)) as (l & N & S). assert (K : sumR (mass p) l <= b); [|lra]. apply U. exists l. repeat split; auto.
  apply Forall_forall. trivial.
Qed.
Theorem private_of_indistinct e d p p' : fitting p -> fitting p' -> indistinct e d p p' -> private_within e d p p'.
Proof.
  intros A B H. apply total_numbers in A. apply total_numbers in B. split; [apply chance_all, A|]. split; [apply chance_all, B|]. intro E.
  destruct (chance_exists p E A) as (x & X), (chance_exists p' E B) as (y & Y). exists x, y. split; [exact X|]. split; [exact Y|].
  apply X. intros z (l & N & F & ->). eapply Rle_trans; [apply (indistinct_events e d p p' H l N)|]. apply Rplus_le_compat_r, Rmult_le_compat_l; [left; apply exp_pos|].
  apply Y. exists l. auto.
Qed.
End Numbers.
(** Two-sided geometric noise of a value on its grid. *)
Lemma two_sided_whole h b i : 0 < h -> 0 < b -> whole (two_sided1 h b (IZR i * h)).
Proof.
  intros H B. set (c := h / b). assert (C : 0 < c) by (apply Rdiv_lt_0_compat; assumption).
  eapply whole_ext; [|apply (whole_moved i), (decay_whole c C)]. intro z. unfold two_sided1. fold c. rewrite Rmult_comm. f_equal. unfold decay. f_equal. f_equal.
  replace (h * IZR z - IZR i * h) with (IZR (z - i) * h) by (rewrite minus_IZR; ring). rewrite Rabs_mult, (Rabs_right h) by lra. unfold c. field. lra.
Qed.
