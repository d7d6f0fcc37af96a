(** Renyi moments of adaptive programs: composition, samples, conversion. Nothing is said about integrals but that they are
    monotone and homogeneous, and about a bell but that its mass does not depend on where its middle is. *)
From Coq Require Import List Arith Reals Lra Psatz.
From DP Require Import Program Privacy.
Import ListNotations.
Open Scope R_scope.

(** ** Adaptive composition *)
Section Moment.
Variables (O : Type) (I : (O -> R) -> R).  (* how densities are added up over the outputs of one release *)
Hypotheses (mono : forall f f', (forall o, 0 <= f o <= f' o) -> I f <= I f')
  (homo : forall c f, 0 <= c -> I (fun o => c * f o) = c * I f).
(** A run as an analyst sees it: one release after another, each chosen by what was released before. The weight of an
    output is p(o)^a q(o)^(1-a), p and q its densities on the two data sets; the moment is exp((a - 1) D_a). *)
Inductive run := End | Step (w : O -> R) (next : O -> run).
Fixpoint moment (r : run) : R := match r with End => 1 | Step w next => I (fun o => w o * moment (next o)) end.
Lemma I_nonneg f : (forall o, 0 <= f o) -> 0 <= I f.
Proof.
  intro H. replace 0 with (I (fun o => 0 * f o)) by (rewrite homo; lra). apply mono. intro o. specialize (H o). lra.
Qed.
(** Costs of releases that are fixed beforehand. *)
Inductive costs : list R -> run -> Prop :=
| CEnd : costs [] End
| CStep e es w next : (forall o, 0 <= w o) -> I w <= exp e -> (forall o, costs es (next o)) -> costs (e :: es) (Step w next).
(** The individual filter: a release may cost what the record's budget still holds; its cost follows from the outputs so far. *)
Inductive filtered : R -> run -> Prop :=
| FEnd b : 0 <= b -> filtered b End
| FStep b e w next : 0 <= b - e -> (forall o, 0 <= w o) -> I w <= exp e -> (forall o, filtered (b - e) (next o)) -> filtered b (Step w next).
Theorem filter_holds r : forall b, filtered b r -> 0 <= moment r <= exp b.
Proof.
  induction r as [|w next IH]; intros b F; inversion F as [? B|? e ? ? B W E N]; subst; cbn [moment].
  - assert (X := exp_ge_1 b B). lra.
  - assert (K : forall o, 0 <= moment (next o) <= exp (b - e)) by (intro o; apply (IH o), N). split.
    + apply I_nonneg. intro o. apply Rmult_le_pos; [apply W|apply K].
    + replace b with ((b - e) + e) by ring. rewrite exp_plus.
      eapply Rle_trans; [apply (mono _ (fun o => exp (b - e) * w o))|].
      * intro o. destruct (K o) as [A C]. specialize (W o). split; [apply Rmult_le_pos; assumption|].
        rewrite Rmult_comm. apply Rmult_le_compat_r; assumption.
      * rewrite homo by (left; apply exp_pos). apply Rmult_le_compat_l; [left; apply exp_pos|exact E].
Qed.
Theorem renyi_composes es : forall r, costs es r -> Forall (fun e => 0 <= e) es -> 0 <= moment r <= exp (sumR (fun e => e) es).
Proof.
  intros r C P. apply filter_holds. revert r C. induction es as [|e es IH]; intros r C; inversion C as [|? ? w next W E N]; subst; inversion P; subst.
  - apply FEnd. simpl. lra.
  - cbn [sumR fold_right]. assert (S : 0 <= sumR (fun e => e) es) by (clear -H2; induction H2; simpl; lra). unfold sumR in *.
    apply FStep with (e := e); [lra|exact W|exact E|]. intro o.
    replace (e + fold_right (fun x s => x + s) 0 es - e) with (fold_right (fun x s => x + s) 0 es) by ring. apply IH; auto.
Qed.
End Moment.

(** ** Gaussian and discrete Gaussian noise: completing the square *)
Definition bell (s v o : R) := exp (- ((o - v) * (o - v)) / (2 * (s * s))).
Definition gaussian_cost (a s d : R) := a * (a - 1) * (d * d) / (2 * (s * s)).
Lemma bell_tilt a s v v' o : s <> 0 ->
  exp (a * (- ((o - v) * (o - v)) / (2 * (s * s))) + (1 - a) * (- ((o - v') * (o - v')) / (2 * (s * s))))
  = exp (gaussian_cost a s (v - v')) * bell s (a * v + (1 - a) * v') o.
Proof. intro S. unfold bell, gaussian_cost. rewrite <- exp_plus. f_equal. field. assumption. Qed.

Section Gaussian.
Variables (O : Type) (I : (O -> R) -> R) (place : O -> R).
Hypothesis homo : forall c f, 0 <= c -> I (fun o => c * f o) = c * I f.
Hypothesis same : forall f f', (forall o, f o = f' o) -> I f = I f'.
Variables (s mass : R).
Hypotheses (Hs : s <> 0) (Hmass : 0 < mass).
Definition tilted a v v' (o : O) := / mass * exp (a * (- ((place o - v) * (place o - v)) / (2 * (s * s)))
  + (1 - a) * (- ((place o - v') * (place o - v')) / (2 * (s * s)))).  (* p^a q^(1-a), both bells over the mass *)
(** Mass of the tilted bell: equal for Gaussians; at most that of a bell on the grid for discrete Gaussians. *)
Theorem gaussian_moment a v v' : I (fun o => bell s (a * v + (1 - a) * v') (place o)) <= mass ->
  I (tilted a v v') <= exp (gaussian_cost a s (v - v')).
Proof.
  intro M. rewrite (same _ (fun o => (/ mass * exp (gaussian_cost a s (v - v'))) * bell s (a * v + (1 - a) * v') (place o))).
  - assert (E := exp_pos (gaussian_cost a s (v - v'))). assert (J : 0 < / mass) by (apply Rinv_0_lt_compat, Hmass).
    rewrite homo by (apply Rmult_le_pos; lra).
    apply Rle_trans with (/ mass * exp (gaussian_cost a s (v - v')) * mass).
    + apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|exact M].
    + right. field. lra.
  - intro o. unfold tilted. rewrite bell_tilt by assumption. ring.
Qed.
(** At integer orders the tilted bell of a discrete Gaussian has its middle on the grid again. *)
Lemma middle_on_grid (step : R) (i j a : Z) : IZR a * (step * IZR i) + (1 - IZR a) * (step * IZR j) = step * IZR (a * i + (1 - a) * j).
Proof. rewrite plus_IZR, !mult_IZR, minus_IZR. ring. Qed.
End Gaussian.

(** ** Poisson samples at integer orders: (1 - rate + rate x)^a, x the ratio of the densities with and without the record *)
Section Sample.
Variables (O : Type) (I : (O -> R) -> R).
Hypotheses (mono : forall f f', (forall o, 0 <= f o <= f' o) -> I f <= I f')
  (homo : forall c f, 0 <= c -> I (fun o => c * f o) = c * I f)
  (plus : forall f g, (forall o, 0 <= f o) -> (forall o, 0 <= g o) -> I (fun o => f o + g o) <= I f + I g).
Variables (rate : R) (q x : O -> R).
Hypotheses (Hrate : 0 <= rate <= 1) (Hq : forall o, 0 <= q o) (Hx : forall o, 0 <= x o).
Lemma sum_bound {K} (f : K -> O -> R) ks : (forall k o, 0 <= f k o) -> I (fun o => sumR (fun k => f k o) ks) <= sumR (fun k => I (f k)) ks.
Proof.
  intro P. induction ks as [|k ks IH]; cbn [sumR fold_right].
  - assert (Z := homo 0 (fun _ => 0) (Rle_refl 0)). rewrite Rmult_0_l in Z. rewrite <- Z. apply mono. intro. lra.
  - eapply Rle_trans; [apply plus; [apply P|]|].
    + intro o. apply sumR_nonneg. intro. apply P.
    + apply Rplus_le_compat_l, IH.
Qed.
Theorem sampled_moment (n : nat) (moments : nat -> R) : (forall k, I (fun o => q o * x o ^ k) <= moments k) ->
  I (fun o => q o * ((1 - rate) + rate * x o) ^ n)
  <= sumR (fun k => C n k * (rate ^ k * (1 - rate) ^ (n - k)) * moments k) (seq 0 (S n)).
Proof.
  intro M. assert (E : forall o, q o * ((1 - rate) + rate * x o) ^ n
    = sumR (fun k => (C n k * (rate ^ k * (1 - rate) ^ (n - k))) * (q o * x o ^ k)) (seq 0 (S n))).
  { intro o. rewrite Rplus_comm, binomial.
    assert (G : forall f m, sum_f_R0 f m = sumR f (seq 0 (S m))).
    { intros f m. induction m as [|m IH]; [simpl; ring|]. rewrite seq_S, sumR_app, <- IH. cbn [sum_f_R0 sumR fold_right Nat.add]. ring. }
    rewrite G. generalize (seq 0 (S n)). intro l. induction l as [|k l IH]; cbn [sumR fold_right]; [ring|].
    rewrite Rmult_plus_distr_l. unfold sumR in IH. rewrite IH. f_equal. rewrite Rpow_mult_distr. ring. }
  assert (W : forall k, 0 <= C n k * (rate ^ k * (1 - rate) ^ (n - k))).
  { intro k. apply Rmult_le_pos; [|apply Rmult_le_pos; apply pow_le; lra]. unfold C. left.
    apply Rdiv_lt_0_compat; [apply INR_fact_lt_0|apply Rmult_lt_0_compat; apply INR_fact_lt_0]. }
  assert (T : forall k o, 0 <= q o * x o ^ k) by (intros; apply Rmult_le_pos; [apply Hq|apply pow_le, Hx]).
  eapply Rle_trans; [apply (mono _ (fun o => sumR (fun k => (C n k * (rate ^ k * (1 - rate) ^ (n - k))) * (q o * x o ^ k)) (seq 0 (S n))))|].
  - intro o. split; [apply Rmult_le_pos; [apply Hq|apply pow_le]; assert (H := Hx o); assert (0 <= rate * x o) by (apply Rmult_le_pos; lra); lra|right; apply E].
  - eapply Rle_trans; [apply (sum_bound (fun k o => (C n k * (rate ^ k * (1 - rate) ^ (n - k))) * (q o * x o ^ k)))|].
    + intros k o. apply Rmult_le_pos; [apply W|apply T].
    + generalize (seq 0 (S n)). intro l. induction l as [|k l IH]; cbn [sumR fold_right]; [lra|]. apply Rplus_le_compat; [|exact IH].
      rewrite homo by apply W. apply Rmult_le_compat_l; [apply W|apply M].
Qed.
End Sample.

(** ** Conversion to (epsilon, delta): an event's mass beyond exp(eps) times the other's is at most E[ratio^(n+1)] e^(-n eps) *)
Section Conversion.
Variables (O : Type) (I : (O -> R) -> R).
Hypotheses (mono : forall f f', (forall o, 0 <= f o <= f' o) -> I f <= I f')
  (homo : forall c f, 0 <= c -> I (fun o => c * f o) = c * I f)
  (plus : forall f g, (forall o, 0 <= f o) -> (forall o, 0 <= g o) -> I (fun o => f o + g o) <= I f + I g).
Lemma beyond e x n : 0 <= x -> x <= exp e + exp (- (INR n * e)) * x ^ S n.
Proof.
  intro X. destruct (Rle_lt_dec x (exp e)) as [L|L].
  - assert (0 <= exp (- (INR n * e)) * x ^ S n) by (apply Rmult_le_pos; [left; apply exp_pos|apply pow_le, X]). lra.
  - assert (E : exp (INR n * e) <= x ^ n).
    { clear X. induction n as [|n IH]; [simpl; rewrite Rmult_0_l, exp_0; lra|]. rewrite S_INR, Rmult_plus_distr_r, exp_plus, Rmult_1_l.
      rewrite Rmult_comm. cbn [pow]. assert (A := exp_pos e). assert (B := exp_pos (INR n * e)). apply Rmult_le_compat; lra. }
    assert (P := exp_pos e). assert (G : 1 <= exp (- (INR n * e)) * x ^ n).
    { apply Rmult_le_compat_l with (r := exp (- (INR n * e))) in E; [|left; apply exp_pos]. rewrite <- exp_plus in E.
      replace (- (INR n * e) + INR n * e) with 0 in E by ring. rewrite exp_0 in E. exact E. }
    cbn [pow]. replace (exp (- (INR n * e)) * (x * x ^ n)) with (x * (exp (- (INR n * e)) * x ^ n)) by ring.
    assert (x * 1 <= x * (exp (- (INR n * e)) * x ^ n)) by (apply Rmult_le_compat_l; lra). lra.
Qed.
(** q: density without the record; x: the ratio; event: any function from 0 to 1. *)
Theorem delta_of_moment (q x event : O -> R) n e b : (forall o, 0 <= q o) -> (forall o, 0 <= x o) -> (forall o, 0 <= event o <= 1) ->
  I (fun o => q o * x o ^ S n) <= exp b ->
  I (fun o => event o * (q o * x o)) <= exp e * I (fun o => event o * q o) + exp (b - INR n * e).
Proof.
  intros Q X E M. assert (P := exp_pos e). assert (N := exp_pos (- (INR n * e))).
  assert (T : forall o, 0 <= q o * x o ^ S n) by (intro; apply Rmult_le_pos; [apply Q|apply pow_le, X]).
  assert (U : forall o, 0 <= event o * q o) by (intro o; apply Rmult_le_pos; [apply E|apply Q]).
  eapply Rle_trans; [apply (mono _ (fun o => exp e * (event o * q o) + exp (- (INR n * e)) * (q o * x o ^ S n)))|].
  - intro o. split; [apply Rmult_le_pos; [apply E|apply Rmult_le_pos; auto]|]. assert (B := beyond e (x o) n (X o)).
    apply Rle_trans with (event o * q o * (exp e + exp (- (INR n * e)) * x o ^ S n)).
    + rewrite <- Rmult_assoc. apply Rmult_le_compat_l; [apply U|exact B].
    + assert (A : 0 <= exp (- (INR n * e)) * (q o * x o ^ S n)) by (apply Rmult_le_pos; [lra|apply T]).
      assert (event o * (exp (- (INR n * e)) * (q o * x o ^ S n)) <= 1 * (exp (- (INR n * e)) * (q o * x o ^ S n))) by (apply Rmult_le_compat_r; [exact A|apply E]). lra.
  - eapply Rle_trans; [apply plus; intro o; apply Rmult_le_pos; try lra; auto|]. rewrite !homo by lra. apply Rplus_le_compat_l.
    unfold Rminus. rewrite (exp_plus b), (Rmult_comm (exp b)). apply Rmult_le_compat_l; [lra|exact M].
Qed.
End Conversion.
