(** Renyi moments of whole runs whose outputs are countable: discrete Gaussian noise, Poisson samples, conversion. *)
From Coq Require Import List Arith ZArith Reals Lra Lia Psatz FinFun.
From DP Require Import Program Bounds Privacy Sums.
Import ListNotations.
Open Scope R_scope.

(** ** Sums over countably many outputs: every finite part is at most x *)
Definition within {A} (f : A -> R) (x : R) := forall l, NoDup l -> sumR f l <= x.
Lemma sumR_mono {A} (f g : A -> R) l : (forall a, In a l -> f a <= g a) -> sumR f l <= sumR g l.
Proof.
  induction l as [|a l IH]; simpl; intro H; [lra|]. assert (f a <= g a) by (apply H; auto).
  assert (sumR f l <= sumR g l) by (apply IH; auto). unfold sumR in *. lra.
Qed.
Lemma sumR_mult {A} c (f : A -> R) l : sumR (fun a => c * f a) l = c * sumR f l.
Proof. induction l; simpl; [ring|]. rewrite IHl. ring. Qed.
Lemma sumR_plus {A} (f g : A -> R) l : sumR (fun a => f a + g a) l = sumR f l + sumR g l.
Proof. induction l; simpl; [ring|]. rewrite IHl. ring. Qed.
Lemma within_mono {A} (f g : A -> R) x : (forall a, f a <= g a) -> within g x -> within f x.
Proof. intros H G l N. eapply Rle_trans; [apply sumR_mono; intros; apply H|apply G, N]. Qed.
Lemma within_weaken {A} (f : A -> R) x y : x <= y -> within f x -> within f y.
Proof. intros H G l N. specialize (G l N). lra. Qed.
Lemma within_mult {A} c (f : A -> R) x : 0 <= c -> within f x -> within (fun a => c * f a) (c * x).
Proof. intros C G l N. rewrite sumR_mult. apply Rmult_le_compat_l; auto. Qed.
Lemma within_plus {A} (f g : A -> R) x y : within f x -> within g y -> within (fun a => f a + g a) (x + y).
Proof. intros F G l N. rewrite sumR_plus. specialize (F l N). specialize (G l N). lra. Qed.
Lemma within_moved {A} (s : A -> A) (f : A -> R) x : Injective s -> within f x -> within (fun a => f (s a)) x.
Proof. intros I F l N. rewrite <- (sumR_map f s). apply F, Injective_map_NoDup; assumption. Qed.
Lemma within_sum {A K} (f : K -> A -> R) (x : K -> R) ks : (forall k, within (f k) (x k)) ->
  within (fun a => sumR (fun k => f k a) ks) (sumR x ks).
Proof.
  intro H. induction ks as [|k ks IH]; simpl; [|apply within_plus; auto].
  intros l _. induction l; simpl; unfold sumR in *; lra.
Qed.
Lemma sumR_split {A} (f : A -> R) (p : A -> bool) l : sumR f l = sumR f (filter p l) + sumR f (filter (fun a => negb (p a)) l).
Proof. induction l as [|a l IH]; simpl; [ring|]. destruct (p a); simpl; unfold sumR in *; lra. Qed.
Lemma within_single {A} (a0 : A) (f : A -> R) x : (forall a b : A, {a = b} + {a <> b}) -> f a0 <= x -> 0 <= x -> (forall a, a <> a0 -> f a <= 0) -> within f x.
Proof.
  intros D H X Z l N. assert (G : ~ In a0 l -> sumR f l <= 0).
  { clear N. induction l as [|b l IH]; simpl; intro I; [lra|]. assert (f b <= 0) by (apply Z; intro E; apply I; auto).
    assert (sumR f l <= 0) by (apply IH; auto). unfold sumR in *. lra. }
  destruct (in_dec D a0 l) as [I|I]; [|specialize (G I); lra].
  clear G. induction N as [|b l B N IH]; simpl; [simpl in I; tauto|]. destruct (D b a0) as [->|E].
  - assert (sumR f l <= 0).
    { clear IH I. induction l as [|c l IH]; simpl; [lra|]. inversion N; subst. assert (f c <= 0) by (apply Z; intro; subst; apply B; simpl; auto).
      assert (sumR f l <= 0) by (apply IH; [intro; apply B; simpl; auto|assumption]). unfold sumR in *. lra. }
    unfold sumR in *. lra.
  - destruct I as [I|I]; [congruence|]. assert (f b <= 0) by (apply Z, E). specialize (IH I). unfold sumR in *. lra.
Qed.
(** Lists, by their heads: the sum over the tails, bounded whatever the head is, times that over the heads. *)
Lemma within_cons {A} (D : forall a b : A, {a = b} + {a <> b}) (w : A -> R) (F : A -> list A -> R) (f : list A -> R) x y :
  0 <= y -> (forall a, 0 <= w a) -> within w x -> (forall a, within (F a) y) -> f [] <= 0 -> (forall a l, f (a :: l) <= w a * F a l) ->
  within f (x * y).
Proof.
  intros Y W X G Z E l N.
  assert (K : forall H, NoDup H -> forall l, NoDup l -> (forall a t, In (a :: t) l -> In a H) -> sumR f l <= sumR w H * y).
  { induction 1 as [|a H NA NH IH]; clear l N; intros l N I.
    - simpl. rewrite Rmult_0_l. clear N. induction l as [|[|a t] l IL]; simpl; [lra| |].
      + assert (sumR f l <= 0) by (apply IL; intros; eapply I; right; eassumption). unfold sumR in *. lra.
      + exfalso. apply (I a t). left. reflexivity.
    - pose (p := fun t : list A => match t with b :: _ => if D b a then true else false | [] => false end).
      rewrite (sumR_split f p). cbn [sumR fold_right]. rewrite Rmult_plus_distr_r. apply Rplus_le_compat.
      + assert (T : exists ts, NoDup ts /\ filter p l = map (cons a) ts).
        { clear I. induction N as [|t l IN N IL]; [exists []; split; [constructor|reflexivity]|]. destruct IL as (ts & T & M). simpl.
          destruct t as [|b t]; simpl; [exists ts; auto|]. destruct (D b a) as [->|]; [|exists ts; auto].
          exists (t :: ts). split; [|simpl; congruence]. constructor; [|assumption]. intro C. apply IN.
          apply (in_map (cons a)) in C. rewrite <- M in C. apply filter_In in C. apply C. }
        destruct T as (ts & T & ->). rewrite sumR_map. eapply Rle_trans; [apply sumR_mono; intros; apply E|]. rewrite sumR_mult.
        apply Rmult_le_compat_l; [apply W|apply G, T].
      + apply IH; [apply NoDup_filter, N|]. intros b t C. apply filter_In in C. destruct C as [C P]. destruct (I b t C) as [->|]; [|assumption].
        exfalso. simpl in P. destruct (D b b); [discriminate|congruence]. }
  pose (heads := nodup D (flat_map (fun t => match t with a :: _ => [a] | [] => [] end) l)).
  eapply Rle_trans; [apply (K heads); [apply NoDup_nodup|assumption|]|].
  - intros a t I. apply nodup_In, in_flat_map. exists (a :: t). split; [assumption|left; reflexivity].
  - apply Rmult_le_compat_r; [assumption|apply X, NoDup_nodup].
Qed.

(** ** Moments of a ratio of masses, order a: sum of q (p / q)^a *)
Definition pw (a : nat) (p q : R) := q * (p / q) ^ a.
Definition over (p q : R) := 0 <= p /\ 0 <= q /\ (q = 0 -> p = 0).
Lemma pw_nonneg a p q : over p q -> 0 <= pw a p q.
Proof.
  intros (P & Q & Z). unfold pw. apply Rmult_le_pos; [assumption|]. apply pow_le. destruct Q as [Q|<-]; [|unfold Rdiv; rewrite Rinv_0; lra].
  apply Rmult_le_pos; [assumption|left; apply Rinv_0_lt_compat, Q].
Qed.
Lemma pw_mult a p q p' q' : pw a (p * p') (q * q') = pw a p q * pw a p' q'.
Proof.
  unfold pw. replace (p * p' / (q * q')) with (p / q * (p' / q')) by (unfold Rdiv; rewrite Rinv_mult; ring). rewrite Rpow_mult_distr. ring.
Qed.
Lemma over_mult p q p' q' : over p q -> over p' q' -> over (p * p') (q * q').
Proof.
  intros (P & Q & Z) (P' & Q' & Z'). split; [apply Rmult_le_pos; assumption|]. split; [apply Rmult_le_pos; assumption|].
  intro E. apply Rmult_integral in E. destruct E as [E|E]; [rewrite Z by assumption|rewrite Z' by assumption]; ring.
Qed.
Lemma pw_1 p q : over p q -> pw 1 p q = p.
Proof. intros (P & Q & Z). unfold pw. destruct (Req_dec q 0) as [E|E]; [rewrite (Z E), E; ring|]. field. assumption. Qed.
(** The tangent of a power. *)
Lemma tangent n x y : 0 <= x -> 0 <= y -> INR (S n) * y ^ n * x - INR n * y ^ S n <= x ^ S n.
Proof.
  intros X Y. induction n as [|n IH]; [simpl; lra|].
  assert (P : 0 <= INR (S n) * y ^ n * ((x - y) * (x - y))).
  { apply Rmult_le_pos; [apply Rmult_le_pos; [apply pos_INR|apply pow_le, Y]|apply Rle_0_sqr]. }
  apply Rmult_le_compat_l with (r := x) in IH; [|assumption]. rewrite !S_INR in *. cbn [pow] in *. nra.
Qed.
(** The sum of two: p^a q^(1-a) is convex. *)
Lemma pw_plus n p q p' q' : over p q -> over p' q' -> pw (S n) (p + p') (q + q') <= pw (S n) p q + pw (S n) p' q'.
Proof.
  intros O O'. assert (B := pw_nonneg (S n) _ _ O). assert (B' := pw_nonneg (S n) _ _ O').
  destruct O as (P & Q & Z), O' as (P' & Q' & Z').
  destruct (Req_dec q 0) as [E|E]; [assert (p = 0) by auto; subst; rewrite !Rplus_0_l; lra|].
  destruct (Req_dec q' 0) as [E'|E']; [assert (p' = 0) by auto; subst; rewrite !Rplus_0_r; lra|].
  unfold pw. set (y := (p + p') / (q + q')). assert (Y : 0 <= y) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
  assert (X : 0 <= p / q) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
  assert (X' : 0 <= p' / q') by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
  assert (T := tangent n _ _ X Y). assert (T' := tangent n _ _ X' Y).
  apply Rmult_le_compat_l with (r := q) in T; [|assumption]. apply Rmult_le_compat_l with (r := q') in T'; [|assumption].
  eapply Rle_trans; [|apply Rplus_le_compat; [exact T|exact T']]. right.
  replace (q * (INR (S n) * y ^ n * (p / q) - INR n * y ^ S n)) with (INR (S n) * y ^ n * p - INR n * y ^ S n * q) by (field; assumption).
  replace (q' * (INR (S n) * y ^ n * (p' / q') - INR n * y ^ S n)) with (INR (S n) * y ^ n * p' - INR n * y ^ S n * q') by (field; assumption).
  rewrite S_INR. assert (M : p + p' = y * (q + q')) by (unfold y; field; lra). cbn [pow].
  replace ((INR n + 1) * y ^ n * p - INR n * (y * y ^ n) * q + ((INR n + 1) * y ^ n * p' - INR n * (y * y ^ n) * q'))
    with ((INR n + 1) * y ^ n * (p + p') - INR n * (y * y ^ n) * (q + q')) by ring. rewrite M. ring.
Qed.
Lemma pw_scale a w p q : pw (S a) (w * p) (w * q) = w * pw (S a) p q.
Proof.
  destruct (Req_dec w 0) as [->|W]; [unfold pw; ring|]. unfold pw. replace (w * p / (w * q)) with (p / q); [ring|].
  destruct (Req_dec q 0) as [->|Q]; [unfold Rdiv; rewrite Rmult_0_r, Rinv_0; ring|field; auto].

Qed.
Lemma over_0 : over 0 0.
Proof. unfold over. lra. Qed.
Lemma over_plus p q p' q' : over p q -> over p' q' -> over (p + p') (q + q').
Proof.
  intros (P & Q & Z) (P' & Q' & Z'). split; [lra|]. split; [lra|]. intro E. assert (p = 0) by (apply Z; lra).
  assert (p' = 0) by (apply Z'; lra). lra.
Qed.
Lemma over_scale w p q : 0 <= w -> over p q -> over (w * p) (w * q).
Proof.
  intros W (P & Q & Z). split; [apply Rmult_le_pos; assumption|]. split; [apply Rmult_le_pos; assumption|]. intro E. apply Rmult_integral in E.
  destruct E as [->|E]; [ring|rewrite Z by assumption; ring].
Qed.

(** ** Averages over secret samples *)
Lemma weighted_pw n ws F F' : Forall (fun w => 0 <= w) ws -> forall j, (forall i, over (F i) (F' i)) ->
  over (weighted ws j F) (weighted ws j F') /\ pw (S n) (weighted ws j F) (weighted ws j F') <= weighted ws j (fun i => pw (S n) (F i) (F' i)).
Proof.
  induction 1 as [|w ws W _ IH]; intros j O; simpl weighted; [split; [apply over_0|unfold pw; rewrite Rmult_0_l; lra]|].
  destruct (IH (S j) O) as [A B]. assert (C := over_scale w _ _ W (O j)). split; [apply over_plus; assumption|].
  eapply Rle_trans; [apply pw_plus; assumption|]. rewrite pw_scale. lra.
Qed.
Lemma weighted_le ws F F' : Forall (fun w => 0 <= w) ws -> forall j, (forall i, F i <= F' i) -> weighted ws j F <= weighted ws j F'.
Proof. induction 1 as [|w ws W _ IH]; intros j H; simpl; [lra|]. apply Rplus_le_compat; [apply Rmult_le_compat_l; auto|apply IH, H]. Qed.
Lemma expect_pw n ws m : Forall (fun w => 0 <= w) ws -> forall F F', (forall a, length a = m -> over (F a) (F' a)) ->
  over (expect ws m F) (expect ws m F') /\ pw (S n) (expect ws m F) (expect ws m F') <= expect ws m (fun a => pw (S n) (F a) (F' a)).
Proof.
  intro W. induction m as [|m IH]; intros F F' O; simpl; [split; [apply O; reflexivity|lra]|].
  assert (K : forall j, over (expect ws m (fun a => F (j :: a))) (expect ws m (fun a => F' (j :: a)))).
  { intro j. apply (IH (fun a => F (j :: a)) (fun a => F' (j :: a))). intros a A. apply O. simpl. congruence. }
  destruct (weighted_pw n ws _ _ W 0 K) as [A B]. split; [exact A|]. eapply Rle_trans; [exact B|]. apply weighted_le; [assumption|].
  intro j. apply (IH (fun a => F (j :: a)) (fun a => F' (j :: a))). intros a L. apply O. simpl. congruence.
Qed.
Lemma expect_le ws m : Forall (fun w => 0 <= w) ws -> forall F F', (forall a, length a = m -> F a <= F' a) -> expect ws m F <= expect ws m F'.
Proof.
  intro W. induction m as [|m IH]; intros F F' H; simpl; [apply H; reflexivity|]. apply weighted_le; [assumption|]. intro j.
  apply IH. intros a L. apply H. simpl. congruence.
Qed.
Lemma weighted_plus ws j F G : weighted ws j (fun i => F i + G i) = weighted ws j F + weighted ws j G.
Proof. revert j. induction ws as [|w ws IH]; intro j; simpl; [ring|]. rewrite IH. ring. Qed.
Lemma weighted_mult ws j c F : weighted ws j (fun i => c * F i) = c * weighted ws j F.
Proof. revert j. induction ws as [|w ws IH]; intro j; simpl; [ring|]. rewrite IH. ring. Qed.
Lemma weighted_ext ws j F G : (forall i, F i = G i) -> weighted ws j F = weighted ws j G.
Proof. intro H. revert j. induction ws as [|w ws IH]; intro j; simpl; [reflexivity|]. rewrite H, IH. reflexivity. Qed.
Lemma expect_ext ws m : forall F G, (forall a, length a = m -> F a = G a) -> expect ws m F = expect ws m G.
Proof.
  induction m as [|m IH]; intros F G H; simpl; [apply H; reflexivity|]. apply weighted_ext. intro j. apply IH. intros a L. apply H. simpl. congruence.
Qed.
Lemma expect_plus ws m : forall F G, expect ws m (fun a => F a + G a) = expect ws m F + expect ws m G.
Proof. induction m as [|m IH]; intros F G; simpl; [reflexivity|]. rewrite <- weighted_plus. apply weighted_ext. intro j. apply IH. Qed.
Lemma expect_mult ws m c : forall F, expect ws m (fun a => c * F a) = c * expect ws m F.
Proof. induction m as [|m IH]; intro F; simpl; [reflexivity|]. rewrite <- weighted_mult. apply weighted_ext. intro j. apply IH. Qed.
Lemma expect_0 ws m : expect ws m (fun _ => 0) = 0.
Proof.
  assert (H := expect_mult ws m 0 (fun _ => 1)). rewrite Rmult_0_l in H. etransitivity; [|exact H]. apply expect_ext. intros. ring.
Qed.
Lemma within_expect {A} ws m (f : list nat -> A -> R) x : Forall (fun w => 0 <= w) ws -> sumR (fun w => w) ws = 1 ->
  (forall a, length a = m -> within (f a) x) -> within (fun o => expect ws m (fun a => f a o)) x.
Proof.
  intros W S H l N. assert (E : sumR (fun o => expect ws m (fun a => f a o)) l = expect ws m (fun a => sumR (f a) l)).
  { clear N. induction l as [|o l IH]; simpl.
    - symmetry. apply expect_0.
    - rewrite expect_plus, IH. reflexivity. }
  rewrite E. replace x with (expect ws m (fun _ => x)); [apply expect_le; [assumption|]; intros a L; apply H; assumption|].
  rewrite (expect_ext ws m _ (fun _ => x * 1)) by (intros; ring). rewrite expect_mult, expect_one by assumption. ring.
Qed.
(** One more slot: its coin is averaged first. *)
Lemma expect_slot ws n1 n2 : forall F, expect ws (n1 + S n2) F =
  expect ws (n1 + n2) (fun a => weighted ws 0 (fun j => F (firstn n1 a ++ j :: skipn n1 a))).
Proof.
  induction n1 as [|n1 IH]; intro F; simpl.
  - assert (G : forall vs i, weighted vs i (fun j => expect ws n2 (fun a => F (j :: a))) = expect ws n2 (fun a => weighted vs i (fun j => F (j :: a)))).
    { induction vs as [|v vs IV]; intro i; simpl.
      - symmetry. apply expect_0.
      - rewrite IV, <- expect_mult, <- expect_plus. reflexivity. }
    apply G.
  - apply weighted_ext. intro j. rewrite IH. apply expect_ext. intros. reflexivity.
Qed.

(** ** A release on a Poisson sample: the binomial sum of Mironov, Talwar and Zhang, in both directions *)
Definition sampled (rate : R) (m : nat) (c : R) : R :=
  sumR (fun k => C m k * (rate ^ k * (1 - rate) ^ (m - k)) * exp (INR k * (INR k - 1) * c)) (seq 0 (S m)).
Definition blend (rate p q : R) := rate * p + (1 - rate) * q.
Lemma blend_over rate p q : 0 <= rate <= 1 -> over p q -> over (blend rate p q) q.
Proof.
  intros W (P & Q & Z). assert (0 <= rate * p) by (apply Rmult_le_pos; lra). assert (0 <= (1 - rate) * q) by (apply Rmult_le_pos; lra).
  unfold over, blend. split; [lra|]. split; [assumption|]. intro E. rewrite (Z E), E. ring.
Qed.
Lemma sum_f_sumR f m : sum_f_R0 f m = sumR f (seq 0 (S m)).
Proof. induction m as [|m IH]; [simpl; ring|]. rewrite seq_S, sumR_app, <- IH. cbn [sum_f_R0 sumR fold_right Nat.add]. ring. Qed.
Lemma sample_added {A} rate (p q : A -> R) c m : 0 <= rate <= 1 -> (forall o, over (p o) (q o)) ->
  (forall k, within (fun o => pw k (p o) (q o)) (exp (INR k * (INR k - 1) * c))) ->
  within (fun o => pw m (blend rate (p o) (q o)) (q o)) (sampled rate m c).
Proof.
  intros W O M. apply within_mono with (g := fun o => sumR (fun k => C m k * (rate ^ k * (1 - rate) ^ (m - k)) * pw k (p o) (q o)) (seq 0 (S m))).
  - intro o. right. unfold pw at 1. destruct (Req_dec (q o) 0) as [E|E].
    + rewrite E, Rmult_0_l. symmetry. rewrite (sumR_ext _ (fun k => 0 * 0)); [rewrite sumR_mult; ring|]. intro k. unfold pw. ring.
    + replace (blend rate (p o) (q o) / q o) with (rate * (p o / q o) + (1 - rate)) by (unfold blend; field; assumption).
      rewrite binomial, sum_f_sumR, <- sumR_mult. apply sumR_ext. intro k. unfold pw. rewrite Rpow_mult_distr. ring.
  - apply within_sum. intro k. apply within_mult; [|apply M]. apply Rmult_le_pos; [|apply Rmult_le_pos; apply pow_le; lra].
    unfold C. left. apply Rdiv_lt_0_compat; [apply INR_fact_lt_0|apply Rmult_lt_0_compat; apply INR_fact_lt_0].
Qed.
(** 1 + sum of u^j + u^-j for j up to n: (u^(n+1) - u^-n) / (u - 1). *)
Fixpoint fan (u : R) (n : nat) : R := match n with O => 1 | S n => fan u n + (u ^ S n + (/ u) ^ S n) end.
Lemma fan_factor u n : u <> 0 -> u ^ S n - (/ u) ^ n = (u - 1) * fan u n.
Proof.
  intro U. induction n as [|n IH]; [simpl; ring|]. cbn [fan]. rewrite Rmult_plus_distr_l, <- IH. cbn [pow].
  replace ((u - 1) * (u * u ^ n + / u * (/ u) ^ n)) with (u * (u * u ^ n) - u * u ^ n + (u * / u) * (/ u) ^ n - / u * (/ u) ^ n) by ring.
  rewrite Rinv_r by assumption. ring.
Qed.
Lemma fan_mono u w n : 0 < w -> w <= u -> 1 <= u * w -> fan w n <= fan u n.
Proof.
  intros W L G. induction n as [|n IH]; cbn [fan]; [lra|]. apply Rplus_le_compat; [exact IH|]. rewrite !pow_inv.
  assert (A : w ^ S n <= u ^ S n) by (apply pow_incr; lra). assert (B : 0 < w ^ S n) by (apply pow_lt, W).
  assert (D : 1 <= u ^ S n * w ^ S n) by (rewrite <- Rpow_mult_distr; apply pow_R1_Rle, G).
  set (a := u ^ S n) in *. set (b := w ^ S n) in *. clearbody a b. assert (0 < a) by lra.
  assert (E : a + / a - (b + / b) = (a - b) * (1 - / (a * b))) by (field; lra).
  assert (/ (a * b) <= 1) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
  assert (0 <= (a - b) * (1 - / (a * b))) by (apply Rmult_le_pos; lra). lra.
Qed.
Lemma balance_half n rate q p : 0 <= rate <= 1 -> 0 < q -> q <= p ->
  pw (S n) q (blend rate p q) + pw (S n) p (blend rate q p) <= pw (S n) (blend rate p q) q + pw (S n) (blend rate q p) p.
Proof.
  intros W Q P. set (u := blend rate p q / q). set (w := blend rate q p / p).
  assert (D : q * (u - 1) = rate * (p - q)) by (unfold u, blend; field; lra).
  assert (E : p * (1 - w) = rate * (p - q)) by (unfold w, blend; field; lra).
  assert (N : 0 <= rate * (p - q)) by (apply Rmult_le_pos; lra).
  assert (U : 1 <= u) by (apply Rmult_le_reg_l with q; lra). assert (V : w <= 1) by (apply Rmult_le_reg_l with p; lra).
  assert (Jp : 0 < blend rate q p) by (unfold blend; nra).
  assert (V0 : 0 < w) by (apply Rdiv_lt_0_compat; lra).
  assert (G : 1 <= u * w).
  { apply Rmult_le_reg_l with (q * p); [apply Rmult_lt_0_compat; lra|]. replace (q * p * (u * w)) with (blend rate p q * blend rate q p) by (unfold u, w; field; lra).
    unfold blend. assert (0 <= rate * (1 - rate) * ((p - q) * (p - q))) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra|apply Rle_0_sqr]). nra. }
  assert (B : blend rate p q = q * u) by (unfold u; field; lra). assert (B' : blend rate q p = p * w) by (unfold w; field; lra).
  assert (X : forall r v, 0 < r -> 0 < v -> pw (S n) r (r * v) = r * (/ v) ^ n).
  { intros r v H K. unfold pw. replace (r / (r * v)) with (/ v) by (field; lra). cbn [pow]. field. lra. }
  assert (Y : forall r v, 0 < r -> pw (S n) (r * v) r = r * v ^ S n) by (intros r v H; unfold pw; replace (r * v / r) with v by (field; lra); reflexivity).
  rewrite B, B', !X, !Y by lra. assert (F := fan_factor u n ltac:(lra)). assert (F' := fan_factor w n ltac:(lra)).
  assert (M := fan_mono u w n V0 ltac:(lra) G).
  replace (u ^ S n) with ((u - 1) * fan u n + (/ u) ^ n) by lra. replace (w ^ S n) with ((w - 1) * fan w n + (/ w) ^ n) by lra.
  assert (rate * (p - q) * fan w n <= rate * (p - q) * fan u n) by (apply Rmult_le_compat_l; assumption).
  replace (q * ((u - 1) * fan u n + (/ u) ^ n)) with (q * (u - 1) * fan u n + q * (/ u) ^ n) by ring.
  replace (p * ((w - 1) * fan w n + (/ w) ^ n)) with (- (p * (1 - w)) * fan w n + p * (/ w) ^ n) by ring. rewrite D, E. lra.
Qed.
Lemma balance n rate q p : 0 <= rate <= 1 -> over p q -> over q p ->
  pw (S n) q (blend rate p q) + pw (S n) p (blend rate q p) <= pw (S n) (blend rate p q) q + pw (S n) (blend rate q p) p.
Proof.
  intros W (P & Q & Z) (_ & _ & Z'). destruct Q as [Q|E].
  - destruct P as [P|E]; [|rewrite Z' in Q by congruence; lra]. destruct (Rle_dec q p); [apply balance_half; assumption|].
    assert (H := balance_half n rate p q W P ltac:(lra)). lra.
  - assert (p = 0) by auto. subst. unfold blend, pw. rewrite !Rmult_0_r, !Rplus_0_r. lra.
Qed.
Lemma sumR_incl {A} (f : A -> R) l : (forall a, 0 <= f a) -> NoDup l -> forall l', incl l l' -> sumR f l <= sumR f l'.
Proof.
  intros P. induction 1 as [|a l NA N IH]; intros l' I; [apply sumR_nonneg, P|]. destruct (in_split a l') as (l1 & l2 & ->); [apply I; left; reflexivity|].
  assert (J : incl l (l1 ++ l2)).
  { intros b B. assert (K := I b (or_intror B)). apply in_app_or in K. apply in_or_app. destruct K as [K|[K|K]]; auto. subst. contradiction. }
  apply IH in J. rewrite sumR_app in *. simpl. unfold sumR in *. lra.
Qed.
Lemma within_half {A} (D : forall a b : A, {a = b} + {a <> b}) (s : A -> A) (f : A -> R) x :
  (forall a, s (s a) = a) -> (forall a, 0 <= f a) -> within (fun a => f a + f (s a)) (2 * x) -> within f x.
Proof.
  intros S P H l N. pose (l' := nodup D (l ++ map s l)). assert (N' : NoDup l') by apply NoDup_nodup.
  assert (A1 : sumR f l <= sumR f l') by (apply sumR_incl; auto; intros a I; apply nodup_In, in_or_app; auto).
  assert (A2 : sumR f l' <= sumR f (map s l')).
  { apply sumR_incl; auto. intros a I. apply in_map_iff. exists (s a). split; [apply S|]. unfold l' in *. rewrite nodup_In in *.
    apply in_app_or in I. apply in_or_app. destruct I as [I|I]; [right; apply in_map, I|].
    left. apply in_map_iff in I. destruct I as (b & <- & I). rewrite S. exact I. }
  specialize (H l' N'). rewrite sumR_plus in H. rewrite sumR_map in A2. lra.
Qed.
Lemma sample_removed {A} (D : forall a b : A, {a = b} + {a <> b}) (s : A -> A) rate (p q : A -> R) n x :
  0 <= rate <= 1 -> (forall o, over (p o) (q o)) -> (forall o, over (q o) (p o)) ->
  (forall a, s (s a) = a) -> (forall o, p (s o) = q o) -> (forall o, q (s o) = p o) ->
  within (fun o => pw (S n) (blend rate (p o) (q o)) (q o)) x -> within (fun o => pw (S n) (q o) (blend rate (p o) (q o))) x.
Proof.
  intros W O O' Ss Sp Sq H. assert (I : Injective s) by (intros a b E; rewrite <- (Ss a), E; apply Ss).
  apply (within_half D s); [exact Ss| |].
  - intro o. assert (K := blend_over rate _ _ W (O o)). destruct K as (K1 & K2 & K3). destruct (O o) as (P & Q & Z), (O' o) as (_ & _ & Z').
    unfold pw. apply Rmult_le_pos; [assumption|]. apply pow_le. destruct K1 as [K1|<-]; [|unfold Rdiv; rewrite Rinv_0; lra].
    apply Rmult_le_pos; [assumption|left; apply Rinv_0_lt_compat, K1].
  - apply within_mono with (g := fun o => pw (S n) (blend rate (p o) (q o)) (q o) + pw (S n) (blend rate (p (s o)) (q (s o))) (q (s o))).
    + intro o. rewrite Sp, Sq. apply balance; auto.
    + replace (2 * x) with (x + x) by ring. apply within_plus; [exact H|].
      apply (within_moved s (fun o => pw (S n) (blend rate (p o) (q o)) (q o))); assumption.
Qed.

(** ** Discrete Gaussian noise on a grid *)
Fixpoint range (n : nat) : list Z := match n with O => [0%Z] | S n => Z.of_nat (S n) :: (- Z.of_nat (S n))%Z :: range n end.
Lemma range_all n z : (Z.abs z <= Z.of_nat n)%Z -> In z (range n).
Proof.
  induction n as [|n IH]; intro H; cbn [range]; [left; lia|]. destruct (Z.eq_dec z (Z.of_nat (S n))); [left; congruence|].
  destruct (Z.eq_dec z (- Z.of_nat (S n))); [right; left; congruence|]. right; right. apply IH. lia.
Qed.
Lemma list_in_range (l : list Z) : exists n, incl l (range n).
Proof.
  assert (G : exists n, forall z, In z l -> (Z.abs z <= Z.of_nat n)%Z).
  { induction l as [|z l [n H]]; [exists O; intros z []|]. exists (Nat.max n (Z.abs_nat z)). intros y [<-|I]; [lia|]. specialize (H y I). lia. }
  destruct G as [n H]. exists n. intros z I. apply range_all, H, I.
Qed.
Definition decay (c : R) (z : Z) := exp (- (c * Rabs (IZR z))).
Lemma decay_pow c n : exp (- (c * INR n)) = exp (- c) ^ n.
Proof.
  induction n as [|n IH]; [simpl; rewrite Rmult_0_r, Ropp_0; apply exp_0|]. rewrite S_INR. cbn [pow]. rewrite <- IH, <- exp_plus. f_equal. ring.
Qed.
Lemma range_sum c n : sumR (decay c) (range n) * (1 - exp (- c)) = 1 + exp (- c) - 2 * exp (- c) ^ S n.
Proof.
  induction n as [|n IH]; cbn [range sumR fold_right].
  - unfold decay. rewrite Rabs_R0, Rmult_0_r, Ropp_0, exp_0. simpl. ring.
  - assert (X : decay c (Z.of_nat (S n)) = exp (- c) ^ S n) by (unfold decay; rewrite <- INR_IZR_INZ, Rabs_right by (apply Rle_ge, pos_INR); apply decay_pow).
    assert (Y : decay c (- Z.of_nat (S n)) = exp (- c) ^ S n).
    { unfold decay. rewrite opp_IZR, Rabs_Ropp, <- INR_IZR_INZ, Rabs_right by (apply Rle_ge, pos_INR). apply decay_pow. }
    rewrite X, Y, !Rmult_plus_distr_r. fold (sumR (decay c) (range n)). rewrite IH. cbn [pow]. ring.
Qed.
Lemma decay_sums c : 0 < c -> within (decay c) ((1 + exp (- c)) / (1 - exp (- c))).
Proof.
  intros P l N. destruct (list_in_range l) as [n I]. assert (E : 0 < 1 - exp (- c)).
  { assert (exp (- c) < exp 0) by (apply exp_increasing; lra). rewrite exp_0 in *. lra. }
  apply Rle_trans with (sumR (decay c) (range n)); [apply sumR_incl; auto; intro; left; apply exp_pos|].
  apply Rmult_le_reg_r with (1 - exp (- c)); [assumption|]. rewrite range_sum. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  assert (0 < exp (- c) ^ S n) by apply pow_lt, exp_pos. lra.
Qed.

Section Grid.
Variable step : R.
Hypothesis Hstep : 0 < step.
Definition bell (s v : R) (z : Z) := exp (- ((step * IZR z - v) * (step * IZR z - v)) / (2 * (s * s))).
Lemma bell_decay s z : 0 < s -> bell s 0 z <= decay (step * step / (2 * (s * s))) z.
Proof.
  intro S. unfold bell, decay. apply exp_mono. assert (P : 0 < step * step / (2 * (s * s))) by (apply Rdiv_lt_0_compat; nra).
  replace (- ((step * IZR z - 0) * (step * IZR z - 0)) / (2 * (s * s))) with (- (step * step / (2 * (s * s)) * (IZR z * IZR z))) by (field; lra).
  apply Ropp_le_contravar, Rmult_le_compat_l; [lra|]. rewrite <- mult_IZR, <- abs_IZR. apply IZR_le. nia.
Qed.
Definition sums (s x : R) := exists l, NoDup l /\ x = sumR (bell s 0) l.
Lemma total_exists s : 0 < s -> {m | is_lub (sums s) m}.
Proof.
  intro S. apply completeness.
  - exists ((1 + exp (- (step * step / (2 * (s * s))))) / (1 - exp (- (step * step / (2 * (s * s)))))). intros x (l & N & ->).
    eapply Rle_trans; [apply sumR_mono; intros; apply bell_decay, S|]. apply decay_sums; [|assumption]. apply Rdiv_lt_0_compat; nra.
  - exists 0. exists []. split; [constructor|reflexivity].
Qed.
(** The mass of the bell: the least upper bound of its finite sums. *)
Definition total_bell (s : R) : R := match Rlt_dec 0 s with left positive => proj1_sig (total_exists s positive) | Specif.right _ => 1 end.
Lemma total_within s : 0 < s -> within (bell s 0) (total_bell s).
Proof.
  intros S l N. unfold total_bell. destruct (Rlt_dec 0 s); [|contradiction]. destruct (total_exists s r) as [m U]. simpl. destruct U as [U _]. apply U. exists l. auto.
Qed.
Lemma total_pos s : 0 < s -> 0 < total_bell s.
Proof.
  intro S. eapply Rlt_le_trans; [|apply (total_within s S [0%Z])]; [|constructor; [simpl; tauto|constructor]].
  simpl. rewrite Rplus_0_r. apply exp_pos.
Qed.
(** The probability of output [step * z] for the value v. *)
Definition gauss1 (s v : R) (z : Z) : R := bell s v z / total_bell s.
Definition on_grid (x : R) := exists i, x = step * IZR i.
Lemma gauss1_pos s v z : 0 < s -> 0 < gauss1 s v z.
Proof. intro S. apply Rdiv_lt_0_compat; [apply exp_pos|apply total_pos, S]. Qed.
Lemma bell_moved s j z : bell s (step * IZR j) z = bell s 0 (z - j).
Proof. unfold bell. rewrite minus_IZR. f_equal. f_equal. ring. Qed.
Lemma exp_pow x k : exp x ^ k = exp (INR k * x).
Proof. induction k as [|k IH]; [simpl; rewrite Rmult_0_l, exp_0; reflexivity|]. rewrite S_INR. cbn [pow]. rewrite IH, <- exp_plus. f_equal. ring. Qed.
Theorem gauss1_moment s v v' k : 0 < s -> on_grid v -> on_grid v' ->
  within (fun z => pw k (gauss1 s v z) (gauss1 s v' z)) (exp (INR k * (INR k - 1) * ((v - v') * (v - v') / (2 * (s * s))))).
Proof.
  intros S [i ->] [j ->]. assert (T := total_pos s S).
  set (c := exp (INR k * (INR k - 1) * ((step * IZR i - step * IZR j) * (step * IZR i - step * IZR j) / (2 * (s * s))))).
  set (m := (Z.of_nat k * i + (1 - Z.of_nat k) * j)%Z).
  apply within_mono with (g := fun z => c / total_bell s * bell s (step * IZR m) z).
  - intro z. right. unfold pw, gauss1. replace (bell s (step * IZR i) z / total_bell s / (bell s (step * IZR j) z / total_bell s))
      with (bell s (step * IZR i) z / bell s (step * IZR j) z) by (unfold bell; field; split; [lra|apply Rgt_not_eq, exp_pos]).
    assert (E : bell s (step * IZR j) z * (bell s (step * IZR i) z / bell s (step * IZR j) z) ^ k = c * bell s (step * IZR m) z).
    { unfold bell, c, Rdiv. rewrite <- exp_Ropp, <- exp_plus, exp_pow, <- !exp_plus. f_equal. unfold m.
      rewrite plus_IZR, !mult_IZR, minus_IZR, <- INR_IZR_INZ. field. lra. }
    transitivity (/ total_bell s * (bell s (step * IZR j) z * (bell s (step * IZR i) z / bell s (step * IZR j) z) ^ k)); [unfold Rdiv; ring|].
    rewrite E. field. lra.
  - apply within_weaken with (x := c / total_bell s * total_bell s); [right; field; lra|]. apply within_mult.
    + left. apply Rdiv_lt_0_compat; [apply exp_pos|assumption].
    + apply within_mono with (g := fun z => bell s 0 (z - m)); [intro z; right; apply bell_moved|].
      apply (within_moved (fun z => (z - m)%Z)); [intros a b E; lia|]. apply total_within, S.
Qed.

End Grid.

(** Many values, each with its own deviation, and the grid that goes with it. *)
Section Vector.
Variable step : R -> R.
Hypothesis Hstep : forall s, 0 < step s.
Notation gauss_ s v z := (gauss1 (step s) (Hstep s) s v z).
Definition gausses (l : list (R * R)) (o : list Z) : R := product (fun sv z => gauss_ (fst sv) (snd sv) z) l o.
Definition outs (l : list (R * R)) (o : list Z) : list R := map (fun p => step (fst (fst p)) * IZR (snd p)) (combine l o).
Context {K : Type}.
Variables (s f f' : K -> R).
Hypotheses (Hs : forall k, 0 < s k) (Hf : forall k, on_grid (step (s k)) (f k)) (Hf' : forall k, on_grid (step (s k)) (f' k)).
Definition distance (ks : list K) := sumR (fun k => (f k - f' k) * (f k - f' k) / (2 * (s k * s k))) ks.
Notation with_ g := (map (fun k => (s k, g k))).
Lemma gausses_moment ks a : within (fun o => pw a (gausses (with_ f ks) o) (gausses (with_ f' ks) o)) (exp (INR a * (INR a - 1) * distance ks)).
Proof.
  induction ks as [|k ks IH]; cbn [map].
  - apply (within_single []); [apply list_eq_dec, Z.eq_dec| | |].
    + unfold pw, gausses, distance. simpl. unfold Rdiv. rewrite Rinv_1, Rmult_1_r, pow1, Rmult_0_r, exp_0. lra.
    + left. apply exp_pos.
    + intros [|z o] N; [congruence|]. unfold pw, gausses. simpl. lra.
  - change (distance (k :: ks)) with ((f k - f' k) * (f k - f' k) / (2 * (s k * s k)) + distance ks). rewrite Rmult_plus_distr_l, exp_plus.
    apply (within_cons Z.eq_dec (fun z => pw a (gauss_ (s k) (f k) z) (gauss_ (s k) (f' k) z))
      (fun _ o => pw a (gausses (with_ f ks) o) (gausses (with_ f' ks) o))).
    + left. apply exp_pos.
    + intro z. apply pw_nonneg. assert (P := gauss1_pos (step (s k)) (Hstep (s k)) (s k) (f k) z (Hs k)). assert (P' := gauss1_pos (step (s k)) (Hstep (s k)) (s k) (f' k) z (Hs k)). unfold over. split; [lra|]. split; lra.
    + apply gauss1_moment; auto.
    + intro z. exact IH.
    + unfold pw, gausses. simpl. lra.
    + intros z o. right. unfold gausses. cbn [product fst snd]. apply pw_mult.
Qed.
Lemma gausses_over ks o : over (gausses (with_ f ks) o) (gausses (with_ f' ks) o).
Proof.
  revert o. induction ks as [|k ks IH]; intros [|z o]; unfold gausses; simpl; try (unfold over; repeat split; lra).
  apply over_mult; [|apply IH]. assert (P := gauss1_pos (step (s k)) (Hstep (s k)) (s k) (f k) z (Hs k)). assert (P' := gauss1_pos (step (s k)) (Hstep (s k)) (s k) (f' k) z (Hs k)). unfold over. split; [lra|]. split; lra.
Qed.
(** The reflection at the middle of two values exchanges their laws. *)
Lemma reflection ks : exists m : list Z -> list Z, (forall o, m (m o) = o) /\
  (forall o, gausses (with_ f ks) (m o) = gausses (with_ f' ks) o) /\ (forall o, gausses (with_ f' ks) (m o) = gausses (with_ f ks) o).
Proof.
  induction ks as [|k ks (m & M & A & B)].
  - exists (fun o => o). repeat split.
  - destruct (Hf k) as [i E], (Hf' k) as [j E'].
    exists (fun o => match o with [] => [] | z :: o => (i + j - z)%Z :: m o end). split; [|split].
    + intros [|z o]; [reflexivity|]. rewrite M. f_equal. lia.
    + intros [|z o]; [reflexivity|]. unfold gausses. cbn [map product fst snd]. fold (gausses (with_ f ks) (m o)). rewrite A. unfold gausses. f_equal.
      unfold gauss1. f_equal. rewrite E, E', !bell_moved. unfold bell. f_equal. f_equal. rewrite !minus_IZR, !plus_IZR. ring.
    + intros [|z o]; [reflexivity|]. unfold gausses. cbn [map product fst snd]. fold (gausses (with_ f' ks) (m o)). rewrite B. unfold gausses. f_equal.
      unfold gauss1. f_equal. rewrite E, E', !bell_moved. unfold bell. f_equal. f_equal. rewrite !minus_IZR, !plus_IZR. ring.
Qed.
Lemma outs_same ks o : outs (with_ f ks) o = outs (with_ f' ks) o.
Proof.
  unfold outs. revert o. induction ks as [|k ks IH]; intros [|z o]; try reflexivity. cbn [map combine fst snd]. f_equal. apply IH.
Qed.
End Vector.

(** ** Runs: the probability of a transcript, whose outputs are whole numbers of steps, secret samples averaged over *)
Class Outputs := {
  (** The step of the grid of Gaussian noise of a deviation. *)
  step : R -> R; step_positive : forall s, 0 < step s;
  (** Laplace noise in a discrete form: the probability of output number z at scale b for the value v, and that output. *)
  lap1 : R -> R -> Z -> R; place : R -> Z -> R;
  lap_nonneg : forall b v z, 0 < b -> 0 <= lap1 b v z;
  lap_pays : forall b v v' z, 0 < b -> lap1 b v' z <= exp (Rabs (v' - v) / b) * lap1 b v z;
  lap_mass : forall b v, 0 < b -> within (lap1 b v) 1 }.
Section Runs.
Context {outputs : Outputs}.
Fixpoint mass (p : prog R) (t : list (list Z)) : R :=
  match p, t with
  | Done, [] => 1
  | Gauss l k, o :: t => gausses step step_positive l o * mass (k (outs step l o)) t
  | Noise b v k, o :: t => product (lap1 b) v o * mass (k (map (place b) o)) t
  | Assign w n k, t => expect w n (fun a => mass (k a) t)
  | _, _ => 0
  end.
(** The Renyi moment of order a is at most exp b, over all transcripts. *)
Definition renyi (a : nat) (b : R) (p p' : prog R) :=
  (forall t, over (mass p t) (mass p' t)) /\ within (fun t => pw a (mass p t) (mass p' t)) (exp b).
(** (e, d)-differential privacy in one direction: of every finite set of transcripts. *)
Definition indistinct (e d : R) (p p' : prog R) := within (fun t => mass p t - exp e * mass p' t) d.
Theorem indistinct_events e d p p' : indistinct e d p p' ->
  forall event, NoDup event -> sumR (mass p) event <= exp e * sumR (mass p') event + d.
Proof.
  intros H l N. specialize (H l N). assert (E : sumR (fun t => mass p t - exp e * mass p' t) l = sumR (mass p) l - exp e * sumR (mass p') l).
  { clear. induction l; simpl; [ring|]. rewrite IHl. ring. } lra.
Qed.
Lemma list_dec : forall a b : list Z, {a = b} + {a <> b}.
Proof. apply list_eq_dec, Z.eq_dec. Qed.
Lemma renyi_weaken a b c p p' : b <= c -> renyi a b p p' -> renyi a c p p'.
Proof. intros L [O M]. split; [exact O|]. apply within_weaken with (2 := M), exp_mono, L. Qed.
Lemma renyi_done a b : 0 <= b -> renyi a b Done Done.
Proof.
  intro B. split; [intros [|o t]; unfold over; simpl; repeat split; lra|]. apply (within_single []); [apply list_eq_dec, list_dec| | |].
  - unfold pw. simpl. unfold Rdiv. rewrite Rinv_1, Rmult_1_r, pow1. assert (H := exp_ge_1 b B). lra.
  - left. apply exp_pos.
  - intros [|o t] N; [congruence|]. unfold pw. simpl. lra.
Qed.
(** One release and what follows, whatever came out. *)
Lemma renyi_step a e b p p' (w w' : list Z -> R) k k' :
  (forall t, match t with [] => mass p t = 0 /\ mass p' t = 0 | o :: t => mass p (o :: t) = w o * mass (k o) t /\ mass p' (o :: t) = w' o * mass (k' o) t end) ->
  (forall o, over (w o) (w' o)) -> within (fun o => pw a (w o) (w' o)) (exp e) -> (forall o, renyi a b (k o) (k' o)) -> renyi a (e + b) p p'.
Proof.
  intros E O W K. split.
  - intros [|o t]; [destruct (E []) as [-> ->]; apply over_0|]. destruct (E (o :: t)) as [-> ->]. apply over_mult; [apply O|apply (K o)].
  - rewrite exp_plus. apply (within_cons list_dec (fun o => pw a (w o) (w' o)) (fun o t => pw a (mass (k o) t) (mass (k' o) t))).
    + left. apply exp_pos.
    + intro o. apply pw_nonneg, O.
    + exact W.
    + intro o. apply (K o).
    + destruct (E []) as [-> ->]. unfold pw. lra.
    + intros o t. destruct (E (o :: t)) as [-> ->]. right. apply pw_mult.
Qed.
Lemma renyi_gauss {K} a b (s f f' : K -> R) ks k k' :
  (forall i, 0 < s i) -> (forall i, on_grid (step (s i)) (f i)) -> (forall i, on_grid (step (s i)) (f' i)) -> (forall o, renyi a b (k o) (k' o)) ->
  renyi a (INR a * (INR a - 1) * distance s f f' ks + b) (Gauss (map (fun i => (s i, f i)) ks) k) (Gauss (map (fun i => (s i, f' i)) ks) k').
Proof.
  intros S F F' H. eapply renyi_step with (w := gausses step step_positive (map (fun i => (s i, f i)) ks)) (w' := gausses step step_positive (map (fun i => (s i, f' i)) ks))
    (k := fun o => k (outs step (map (fun i => (s i, f i)) ks) o)) (k' := fun o => k' (outs step (map (fun i => (s i, f' i)) ks) o)).
  - intros [|o t]; simpl; auto.
  - apply gausses_over; auto using step_positive.
  - apply gausses_moment; auto using step_positive.
  - intro o. rewrite (outs_same step s f f'). apply H.
Qed.
(** Laplace noise for the same values costs nothing. *)
Lemma pw_same a p : 0 <= p -> pw a p p = p.
Proof.
  intro P. unfold pw. destruct (Req_dec p 0) as [->|E]; [ring|]. replace (p / p) with 1 by (field; assumption). rewrite pow1. ring.
Qed.
Lemma over_same p : 0 <= p -> over p p.
Proof. unfold over. tauto. Qed.
Lemma laps_nonneg b v o : 0 < b -> 0 <= product (lap1 b) v o.
Proof.
  intro B. revert o. induction v as [|x v IH]; intros [|z o]; simpl; try lra. apply Rmult_le_pos; [apply lap_nonneg, B|apply IH].
Qed.
Lemma laps_within b v : 0 < b -> within (product (lap1 b) v) 1.
Proof.
  intro B. induction v as [|x v IH].
  - apply (within_single []); [apply list_dec|simpl; lra|lra|]. intros [|z o] N; [congruence|simpl; lra].
  - rewrite <- (Rmult_1_r 1). apply (within_cons Z.eq_dec (lap1 b x) (fun _ => product (lap1 b) v)); [lra|intro; apply lap_nonneg, B|apply lap_mass, B|auto|simpl; lra|].
    intros. simpl. lra.
Qed.
Lemma renyi_same_noise a b c v k k' : 0 < c -> (forall o, renyi a b (k o) (k' o)) -> renyi a b (Noise c v k) (Noise c v k').
Proof.
  intros C H. rewrite <- (Rplus_0_l b). eapply renyi_step with (w := product (lap1 c) v) (w' := product (lap1 c) v)
    (k := fun o => k (map (place c) o)) (k' := fun o => k' (map (place c) o)).
  - intros [|o t]; simpl; auto.
  - intro o. apply over_same, laps_nonneg, C.
  - rewrite exp_0. apply within_mono with (g := product (lap1 c) v); [|apply laps_within, C]. intro o. right. apply pw_same, laps_nonneg, C.
  - intro o. apply H.
Qed.

(** A release on a Poisson sample, coin 0 taking part: one more slot, whose record moves the values by [distance] at most c. *)
Section Sampled.
Context {K : Type}.
Variables (rate : R) (s : K -> R) (ks : list K) (n1 n2 : nat) (f : list nat -> K -> R) (f' : list nat -> K -> R) (c : R).
Hypotheses (Hrate : 0 <= rate <= 1) (Hs : forall i, 0 < s i) (Hf : forall a i, on_grid (step (s i)) (f a i)) (Hf' : forall a i, on_grid (step (s i)) (f' a i)).
Hypothesis Hout : forall a1 a2, length a1 = n1 -> length a2 = n2 -> forall j i, j <> 0%nat -> f (a1 ++ j :: a2) i = f' (a1 ++ a2) i.
Hypothesis Hin : forall a1 a2, length a1 = n1 -> length a2 = n2 -> distance s (f (a1 ++ 0%nat :: a2)) (f' (a1 ++ a2)) ks <= c.
Let ws := [rate; 1 - rate].
Let G a o := gausses step step_positive (map (fun i => (s i, f a i)) ks) o.
Let G' a o := gausses step step_positive (map (fun i => (s i, f' a i)) ks) o.
Let with_record a := firstn n1 a ++ 0%nat :: skipn n1 a.
Lemma ws_valid : Forall (fun w => 0 <= w) ws /\ sumR (fun w => w) ws = 1.
Proof. split; [constructor; [lra|constructor; [lra|constructor]]|simpl; ring]. Qed.
Lemma slot_blended o : expect ws (n1 + S n2) (fun a => G a o) = expect ws (n1 + n2) (fun a => blend rate (G (with_record a) o) (G' a o)).
Proof.
  rewrite expect_slot. apply expect_ext. intros a L. unfold ws, blend, with_record. simpl. rewrite Rplus_0_r. f_equal. f_equal. unfold G, G'. f_equal.
  apply map_ext. intro i. f_equal. rewrite Hout; [rewrite firstn_skipn; reflexivity|rewrite firstn_length; lia|rewrite skipn_length; lia|discriminate].
Qed.
Lemma slot_moment a k : length a = (n1 + n2)%nat -> within (fun o => pw k (G (with_record a) o) (G' a o)) (exp (INR k * (INR k - 1) * c)).
Proof.
  intro L. eapply within_weaken; [|apply gausses_moment; auto using step_positive]. apply exp_mono.
  assert (D : distance s (f (with_record a)) (f' a) ks <= c).
  { rewrite <- (firstn_skipn n1 a) at 2. apply Hin; [rewrite firstn_length; lia|rewrite skipn_length; lia]. }
  assert (P : 0 <= INR k * (INR k - 1)) by (destruct k; [simpl; lra|rewrite S_INR; assert (0 <= INR k) by apply pos_INR; nra]).
  apply Rmult_le_compat_l; assumption.
Qed.
Lemma slot_over a o : over (G (with_record a) o) (G' a o) /\ over (G' a o) (G (with_record a) o).
Proof. split; apply gausses_over; auto using step_positive. Qed.
Lemma sampled_in n : within (fun o => pw (S n) (expect ws (n1 + S n2) (fun a => G a o)) (expect ws (n1 + n2) (fun a => G' a o))) (sampled rate (S n) c).
Proof.
  destruct ws_valid as [W S1]. apply within_mono with (g := fun o => expect ws (n1 + n2) (fun a => pw (S n) (blend rate (G (with_record a) o) (G' a o)) (G' a o))).
  - intro o. rewrite slot_blended. apply expect_pw; [assumption|]. intros. apply blend_over; [assumption|apply slot_over].
  - apply within_expect; auto. intros a L. apply sample_added; auto; [intro; apply slot_over|]. intro k. apply slot_moment, L.
Qed.
Lemma blend_back p q : over p q -> over q p -> over q (blend rate p q).
Proof.
  intros (P & Q & Z) (_ & _ & Z'). assert (0 <= rate * p) by (apply Rmult_le_pos; lra). assert (0 <= (1 - rate) * q) by (apply Rmult_le_pos; lra).
  unfold over, blend in *. split; [assumption|]. split; [lra|]. intro E. assert (A : rate * p = 0) by lra. assert (B : (1 - rate) * q = 0) by lra.
  apply Rmult_integral in A. apply Rmult_integral in B. destruct B as [B|B]; [|assumption]. destruct A as [A|A]; [lra|auto].
Qed.
Lemma sampled_out n : within (fun o => pw (S n) (expect ws (n1 + n2) (fun a => G' a o)) (expect ws (n1 + S n2) (fun a => G a o))) (sampled rate (S n) c).
Proof.
  destruct ws_valid as [W S1]. apply within_mono with (g := fun o => expect ws (n1 + n2) (fun a => pw (S n) (G' a o) (blend rate (G (with_record a) o) (G' a o)))).
  - intro o. rewrite slot_blended. apply expect_pw; [assumption|]. intros. apply blend_back; apply slot_over.
  - apply within_expect; auto. intros a L. destruct (reflection step step_positive s (f (with_record a)) (f' a) (Hf _) (Hf' _) ks) as (m & M & A & B).
    apply (sample_removed list_dec m); auto; try (intro; apply slot_over). apply sample_added; auto; [intro; apply slot_over|].
    intro k. apply slot_moment, L.
Qed.
Lemma sampled_over o : over (expect ws (n1 + S n2) (fun a => G a o)) (expect ws (n1 + n2) (fun a => G' a o)) /\
  over (expect ws (n1 + n2) (fun a => G' a o)) (expect ws (n1 + S n2) (fun a => G a o)).
Proof.
  destruct ws_valid as [W _]. rewrite slot_blended. split.
  - apply (expect_pw 0 ws _ W (fun a => blend rate (G (with_record a) o) (G' a o)) (fun a => G' a o)). intros. apply blend_over; [assumption|apply slot_over].
  - apply (expect_pw 0 ws _ W (fun a => G' a o) (fun a => blend rate (G (with_record a) o) (G' a o))). intros. apply blend_back; apply slot_over.
Qed.
Theorem renyi_sampled n e b k k' : sampled rate (S n) c <= exp e -> (forall o, renyi (S n) b (k o) (k' o) ) ->
  renyi (S n) (e + b) (Assign ws (n1 + S n2) (fun a => Gauss (map (fun i => (s i, f a i)) ks) k)) (Assign ws (n1 + n2) (fun a => Gauss (map (fun i => (s i, f' a i)) ks) k')).
Proof.
  intros E H. eapply renyi_step with (w := fun o => expect ws (n1 + S n2) (fun a => G a o)) (w' := fun o => expect ws (n1 + n2) (fun a => G' a o))
    (k := fun o => k (outs step (map (fun i => (s i, 0)) ks) o)) (k' := fun o => k' (outs step (map (fun i => (s i, 0)) ks) o)).
  - intros [|o t]; cbn [mass]; split; try apply expect_0;
      (rewrite Rmult_comm, <- expect_mult; apply expect_ext; intros; unfold G, G'; rewrite (outs_same step s _ (fun _ => 0)); ring).
  - intro o. apply sampled_over.
  - eapply within_weaken; [exact E|apply sampled_in].
  - intro o. apply H.
Qed.
Theorem renyi_sampled_back n e b k k' : sampled rate (S n) c <= exp e -> (forall o, renyi (S n) b (k' o) (k o)) ->
  renyi (S n) (e + b) (Assign ws (n1 + n2) (fun a => Gauss (map (fun i => (s i, f' a i)) ks) k')) (Assign ws (n1 + S n2) (fun a => Gauss (map (fun i => (s i, f a i)) ks) k)).
Proof.
  intros E H. eapply renyi_step with (w := fun o => expect ws (n1 + n2) (fun a => G' a o)) (w' := fun o => expect ws (n1 + S n2) (fun a => G a o))
    (k := fun o => k' (outs step (map (fun i => (s i, 0)) ks) o)) (k' := fun o => k (outs step (map (fun i => (s i, 0)) ks) o)).
  - intros [|o t]; cbn [mass]; split; try apply expect_0;
      (rewrite Rmult_comm, <- expect_mult; apply expect_ext; intros; unfold G, G'; rewrite (outs_same step s _ (fun _ => 0)); ring).
  - intro o. apply sampled_over.
  - eapply within_weaken; [exact E|apply sampled_out].
  - intro o. apply H.
Qed.
End Sampled.
Lemma sampled_0 rate m : 0 <= rate <= 1 -> sampled rate m 0 = 1.
Proof.
  intro W. unfold sampled. transitivity ((rate + (1 - rate)) ^ m); [|replace (rate + (1 - rate)) with 1 by ring; apply pow1].
  rewrite binomial, sum_f_sumR. apply sumR_ext. intro k. rewrite Rmult_0_r, exp_0. ring.
Qed.
Lemma sampled_mono rate m c d : 0 <= rate <= 1 -> c <= d -> sampled rate m c <= sampled rate m d.
Proof.
  intros W L. apply sumR_mono. intros k _. apply Rmult_le_compat_l.
  - apply Rmult_le_pos; [|apply Rmult_le_pos; apply pow_le; lra]. unfold C. left.
    apply Rdiv_lt_0_compat; [apply INR_fact_lt_0|apply Rmult_lt_0_compat; apply INR_fact_lt_0].
  - apply exp_mono, Rmult_le_compat_l; [|assumption]. destruct k; [simpl; lra|rewrite S_INR; assert (0 <= INR k) by apply pos_INR; nra].
Qed.

(** ** Conversion: Canonne, Kamath and Steinke's, at order n + 1 *)
Definition delta_of (n : nat) (b e : R) := exp (b - INR n * e) * (INR n / (INR n + 1)) ^ n / (INR n + 1).
Lemma beyond n e p q : (1 <= n)%nat -> over p q -> p - exp e * q <= exp (- (INR n * e)) * (INR n / (INR n + 1)) ^ n / (INR n + 1) * pw (S n) p q.
Proof.
  intros N O. assert (L : 0 < INR n) by (apply lt_0_INR; lia). destruct O as (P & Q & Z). destruct Q as [Q|E].
  - unfold pw. assert (X : 0 <= p / q) by (apply Rmult_le_pos; [assumption|left; apply Rinv_0_lt_compat, Q]).
    replace p with (q * (p / q)) at 1 by (field; lra). set (x := p / q) in *. clearbody x. set (E := exp e). assert (E0 : 0 < E) by apply exp_pos.
    set (y := E * ((INR n + 1) / INR n)). assert (Y : 0 < y) by (apply Rmult_lt_0_compat; [assumption|apply Rdiv_lt_0_compat; lra]).
    assert (T := tangent n x y X ltac:(lra)). rewrite S_INR in T.
    assert (Yn : 0 < y ^ n) by (apply pow_lt, Y).
    replace (exp (- (INR n * e)) * (INR n / (INR n + 1)) ^ n / (INR n + 1)) with (/ ((INR n + 1) * y ^ n)).
    + apply Rmult_le_compat_l with (r := / ((INR n + 1) * y ^ n)) in T; [|left; apply Rinv_0_lt_compat, Rmult_lt_0_compat; lra].
      replace (/ ((INR n + 1) * y ^ n) * ((INR n + 1) * y ^ n * x - INR n * y ^ S n)) with (x - E) in T
        by (cbn [pow]; unfold y at 3; field; lra).
      apply Rmult_le_compat_l with (r := q) in T; lra.
    + unfold y. rewrite Rpow_mult_distr. replace (exp (- (INR n * e))) with (/ E ^ n) by (unfold E; rewrite exp_pow, exp_Ropp; reflexivity).
      replace (((INR n + 1) / INR n) ^ n) with (/ (INR n / (INR n + 1)) ^ n) by (rewrite <- pow_inv; f_equal; field; lra).
      assert (0 < (INR n / (INR n + 1)) ^ n) by (apply pow_lt, Rdiv_lt_0_compat; lra). assert (0 < E ^ n) by apply pow_lt, E0. field. lra.
  - assert (p = 0) by auto. subst. unfold pw. rewrite !Rmult_0_r, Rmult_0_l, Rmult_0_r. lra.
Qed.
Theorem indistinct_of_renyi n b e p p' : (1 <= n)%nat -> renyi (S n) b p p' -> indistinct e (delta_of n b e) p p'.
Proof.
  intros N [O M]. assert (L : 0 < INR n) by (apply lt_0_INR; lia).
  apply within_mono with (g := fun t => exp (- (INR n * e)) * (INR n / (INR n + 1)) ^ n / (INR n + 1) * pw (S n) (mass p t) (mass p' t)); [intro t; apply beyond; auto|].
  unfold delta_of. replace (exp (b - INR n * e) * (INR n / (INR n + 1)) ^ n / (INR n + 1)) with (exp (- (INR n * e)) * (INR n / (INR n + 1)) ^ n / (INR n + 1) * exp b)
    by (unfold Rminus; rewrite exp_plus; field; lra).
  apply within_mult; [|exact M]. left. apply Rdiv_lt_0_compat; [|lra]. apply Rmult_lt_0_compat; [apply exp_pos|apply pow_lt, Rdiv_lt_0_compat; lra].
Qed.
(** A pure release first adds its epsilon. *)
Lemma laps_pay {K} b (f f' : K -> R) ks o : 0 < b ->
  0 <= product (lap1 b) (map f ks) o <= exp (sumR (fun i => Rabs (f i - f' i)) ks / b) * product (lap1 b) (map f' ks) o.
Proof.
  intro B. revert o. induction ks as [|i ks IH]; intros [|z o]; cbn [map product]; rewrite ?Rmult_0_r; try lra.
  - simpl. unfold Rdiv. rewrite Rmult_0_l, exp_0. lra.
  - specialize (IH o). assert (N := lap_nonneg b (f i) z B). assert (P := lap_pays b (f' i) (f i) z B).
    split; [apply Rmult_le_pos; lra|]. change (sumR (fun i => Rabs (f i - f' i)) (i :: ks)) with (Rabs (f i - f' i) + sumR (fun i => Rabs (f i - f' i)) ks).
    rewrite Rdiv_plus_distr, exp_plus.
    apply Rle_trans with ((exp (Rabs (f i - f' i) / b) * lap1 b (f' i) z) * (exp (sumR (fun i => Rabs (f i - f' i)) ks / b) * product (lap1 b) (map f' ks) o));
      [apply Rmult_le_compat; lra|right; ring].
Qed.
Lemma indistinct_noise {K} e e' d b (f f' : K -> R) ks k k' : 0 < b -> sumR (fun i => Rabs (f i - f' i)) ks / b <= e ->
  (forall o t, 0 <= mass (k' o) t) -> (forall o, indistinct e' d (k o) (k' o)) ->
  indistinct (e + e') d (Noise b (map f ks) k) (Noise b (map f' ks) k').
Proof.
  intros B E P H. assert (D : 0 <= d) by (specialize (H [] [] ltac:(constructor)); simpl in H; exact H).
  rewrite <- (Rmult_1_l d).
  apply (within_cons list_dec (product (lap1 b) (map f ks)) (fun o t => mass (k (map (place b) o)) t - exp e' * mass (k' (map (place b) o)) t)).
  - exact D.
  - intro o. apply (laps_pay b f f' ks o B).
  - apply laps_within, B.
  - intro o. apply H.
  - simpl. lra.
  - intros o t. simpl. assert (G := laps_pay b f f' ks o B). specialize (P (map (place b) o) t). apply exp_mono in E.
    set (m := mass (k' _) t) in *. set (w := product _ (map f ks) o) in *. assert (W' : 0 <= product (lap1 b) (map f' ks) o) by (apply (laps_pay b f' f ks o B)). set (w' := product _ (map f' ks) o) in *. rewrite exp_plus.
    assert (w <= exp e * w') by (eapply Rle_trans; [apply G|apply Rmult_le_compat_r; assumption]).
    assert (exp e' * m * w <= exp e' * m * (exp e * w')) by (apply Rmult_le_compat_l; [apply Rmult_le_pos; [left; apply exp_pos|assumption]|assumption]). lra.
Qed.
End Runs.

(** ** Two-sided geometric noise on a grid of any step, for any value: there are outputs as assumed *)
Definition left_decay (c : R) (m : Z) : R := if (m <=? 0)%Z then decay c m else 0.
Lemma left_range c n : sumR (left_decay c) (range n) * (1 - exp (- c)) = 1 - exp (- c) ^ S n.
Proof.
  induction n as [|n IH]; cbn [range sumR fold_right].
  - unfold left_decay, decay. simpl. rewrite Rabs_R0, Rmult_0_r, Ropp_0, exp_0. ring.
  - assert (X : left_decay c (Z.of_nat (S n)) = 0) by (unfold left_decay; destruct (Z.leb_spec (Z.of_nat (S n)) 0); [lia|reflexivity]).
    assert (Y : left_decay c (- Z.of_nat (S n)) = exp (- c) ^ S n).
    { unfold left_decay. destruct (Z.leb_spec (- Z.of_nat (S n)) 0); [|lia]. unfold decay. rewrite opp_IZR, Rabs_Ropp, <- INR_IZR_INZ, Rabs_right by (apply Rle_ge, pos_INR). apply decay_pow. }
    rewrite X, Y. fold (sumR (left_decay c) (range n)). rewrite Rplus_0_l, Rmult_plus_distr_r, IH. cbn [pow]. ring.
Qed.
Lemma decays_less c : 0 < c -> 0 < exp (- c) < 1.
Proof. intro P. split; [apply exp_pos|]. rewrite <- exp_0. apply exp_increasing. lra. Qed.
Lemma left_sums c : 0 < c -> within (left_decay c) (/ (1 - exp (- c))).
Proof.
  intros P l N. destruct (list_in_range l) as [n I]. assert (E := decays_less c P).
  apply Rle_trans with (sumR (left_decay c) (range n)); [apply sumR_incl; auto; intro z; unfold left_decay; destruct (z <=? 0)%Z; [left; apply exp_pos|lra]|].
  apply Rmult_le_reg_r with (1 - exp (- c)); [lra|]. rewrite left_range, Rinv_l by lra. assert (0 < exp (- c) ^ S n) by apply pow_lt, exp_pos. lra.
Qed.
Definition two_sided1 (h b v : R) (z : Z) : R := exp (- (Rabs (h * IZR z - v) / b)) * ((1 - exp (- (h / b))) / (1 + exp (- (h / b)))).
Lemma two_sided_mass h b v : 0 < h -> 0 < b -> within (two_sided1 h b v) 1.
Proof.
  intros H B. set (c := h / b). assert (P : 0 < c) by (apply Rdiv_lt_0_compat; assumption). assert (E := decays_less c P).
  set (j := (up (v / h) - 1)%Z). set (t := v / h - IZR j). assert (T : 0 <= t < 1).
  { unfold t, j. rewrite minus_IZR. destruct (archimed (v / h)). lra. }
  set (e1 := exp (- (c * t))). set (e2 := exp (- (c * (1 - t)))).
  assert (A : 0 < e1 <= 1) by (split; [apply exp_pos|rewrite <- exp_0; apply exp_mono; assert (0 <= c * t) by (apply Rmult_le_pos; lra); lra]).
  assert (A' : 0 < e2 <= 1) by (split; [apply exp_pos|rewrite <- exp_0; apply exp_mono; assert (0 <= c * (1 - t)) by (apply Rmult_le_pos; lra); lra]).
  assert (M : e1 * e2 = exp (- c)) by (unfold e1, e2; rewrite <- exp_plus; f_equal; ring).
  set (k := (1 - exp (- c)) / (1 + exp (- c))). assert (K : 0 < k) by (apply Rdiv_lt_0_compat; lra).
  apply within_mono with (g := fun z => k * (e1 * left_decay c (z - j) + e2 * left_decay c (1 - (z - j)))).
  - intro z. unfold two_sided1. fold c. fold k. rewrite (Rmult_comm _ k). apply Rmult_le_compat_l; [lra|]. set (m := (z - j)%Z).
    replace (Rabs (h * IZR z - v) / b) with (c * Rabs (IZR m - t)).
    + unfold left_decay. destruct (Z.leb_spec m 0) as [L|L].
      * destruct (Z.leb_spec (1 - m) 0); [lia|]. apply IZR_le in L. rewrite Rmult_0_r, Rplus_0_r. unfold e1, decay. rewrite <- exp_plus. apply exp_mono.
        rewrite !Rabs_left1 by lra. lra.
      * destruct (Z.leb_spec (1 - m) 0) as [G|]; [|lia]. rewrite Rmult_0_r, Rplus_0_l. unfold e2, decay. rewrite <- exp_plus. apply exp_mono.
        assert (Y : 1 <= IZR m) by (apply (IZR_le 1); lia). rewrite minus_IZR, Rabs_right, Rabs_left1 by lra. lra.
    + unfold c, m. replace (IZR (z - j) - t) with ((h * IZR z - v) * / h) by (unfold t; rewrite minus_IZR; field; lra).
      rewrite Rabs_mult, (Rabs_right (/ h)) by (apply Rle_ge; left; apply Rinv_0_lt_compat, H). field. lra.
  - apply within_weaken with (x := k * (e1 * / (1 - exp (- c)) + e2 * / (1 - exp (- c)))).
    + unfold k. replace ((1 - exp (- c)) / (1 + exp (- c)) * (e1 * / (1 - exp (- c)) + e2 * / (1 - exp (- c)))) with ((e1 + e2) / (1 + exp (- c))) by (field; lra).
      apply div_le; [lra|]. rewrite Rmult_1_l, <- M. assert (0 <= (1 - e1) * (1 - e2)) by (apply Rmult_le_pos; lra). lra.
    + apply within_mult; [lra|]. apply within_plus; apply within_mult; try lra.
      * apply (within_moved (fun z => (z - j)%Z)); [intros x y G; lia|apply left_sums, P].
      * apply (within_moved (fun z => (1 - (z - j))%Z)); [intros x y G; lia|apply left_sums, P].
Qed.
Program Definition geometric_outputs (gauss_step laplace_step : R -> R) (positive : forall s, 0 < gauss_step s) (positive' : forall b, 0 < laplace_step b) : Outputs :=
  {| step := gauss_step; lap1 := fun b => two_sided1 (laplace_step b) b; place := fun b z => laplace_step b * IZR z |}.
Next Obligation.
  assert (E := decays_less (laplace_step b / b) (Rdiv_lt_0_compat _ _ (positive' b) H)). apply Rmult_le_pos; [left; apply exp_pos|left; apply Rdiv_lt_0_compat; lra].
Qed.
Next Obligation.
  assert (E := decays_less (laplace_step b / b) (Rdiv_lt_0_compat _ _ (positive' b) H)). unfold two_sided1. rewrite <- Rmult_assoc. apply Rmult_le_compat_r.
  - left. apply Rdiv_lt_0_compat; lra.
  - apply decay_pays, H.
Qed.
Next Obligation. apply two_sided_mass; auto. Qed.
