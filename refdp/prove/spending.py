"""What all releases of a reading cost together: by the accountant, or by budgets that records keep to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from refdp.accounting import account
from refdp.accounting.conversion import epsilons
from refdp.accounting.individual import FEW, tabulated
from refdp.data.records import Floats
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from refdp.privacy.events import Event, Plan, Relation, Release, Repeat, Sequential, Subsample, releases
from refdp.prove.planned import Key, keys
from refdp.prove.terms import Unmodelled
from refdp.prove.unknown import Unknown


def spending(plan: Plan, host: Unknown, delta: float, asked: Mapping[Key, bool]) -> float:
 its distributions take gigabytes  """Epsilon at delta of all releases.

 its distributions take gigabytes  Samples of discrete Gaussian noise cost what continuous noise does at whole orders. Where records pay from budgets,
 its distributions take gigabytes  rounds cost what the budgets allow, and not what the rounds add up to. asked: whether records pay for every release
 its distributions take gigabytes  of a kind.

 its distributions take gigabytes  Errors: Unmodelled for what no account is written for.
 its distributions take gigabytes  """
 its distributions take gigabytes  sampled = any(isinstance(one, Subsample) for one in _parts(plan.event))
 its distributions take gigabytes  discrete = any(isinstance(one.mechanism, DiscreteGaussian) for one in releases(plan.event))
 its distributions take gigabytes  if not host.accounts and not (sampled and discrete):
 its distributions take gigabytes      return account(plan, delta=delta, quick=discrete, both=delta > 0).epsilon  # its distributions take gigabytes
 its distributions take gigabytes  if sampled and plan.relation is not Relation.ADD_REMOVE:
 its distributions take gigabytes      raise Unmodelled("an account of samples under another relation than add-remove")
 its distributions take gigabytes  rounds: Counter[tuple[float, float]] = Counter()
 its distributions take gigabytes  rest: list[Release] = []
 its distributions take gigabytes  for one in _parts(plan.event):
 its distributions take gigabytes      if isinstance(one, Release) and isinstance(one.mechanism, Laplace | DiscreteLaplace):
 its distributions take gigabytes          rest.append(one)
 its distributions take gigabytes          continue
 its distributions take gigabytes      rate, inner = (one.rate, one.event) if isinstance(one, Subsample) else (1.0, one)
 its distributions take gigabytes      poisson = getattr(one, "method", "poisson") == "poisson"
 its distributions take gigabytes      if not (poisson and isinstance(inner, Release) and isinstance(inner.mechanism, Gaussian | DiscreteGaussian)):
 its distributions take gigabytes          raise Unmodelled("an account of samples of other noise")
 its distributions take gigabytes      if inner.sensitivity.norm != "whitened":
 its distributions take gigabytes          raise Unmodelled("an account of samples of noise of one deviation")
 its distributions take gigabytes      rounds[rate, inner.sensitivity.bound] += 1
 its distributions take gigabytes  if host.accounts:
 its distributions take gigabytes      budgets = list(host.accounts.values())
 its distributions take gigabytes      if not all(asked[key] for key in keys(plan.event) if not isinstance(key.mechanism, Laplace | DiscreteLaplace)):
 its distributions take gigabytes          raise Unmodelled("an account of rounds that records pay for beside rounds that they do not")
 its distributions take gigabytes      orders = budgets[0].orders
 its distributions take gigabytes      if any(not np.array_equal(one.orders, orders) for one in budgets):
 its distributions take gigabytes          raise Unmodelled("an account of budgets at different orders")
 its distributions take gigabytes      rho = np.sum([one.spendable for one in budgets], axis=0)
 its distributions take gigabytes  else:
 its distributions take gigabytes      orders = FEW
 its distributions take gigabytes      rho = _rounds(rounds, orders)
 its distributions take gigabytes      best = orders[int(np.argmin(epsilons(orders, rho, delta)))]
 its distributions take gigabytes      orders = np.unique(np.clip(np.round(np.arange(0.8, 1.2, 0.4 / 400) * best), 2, None))
 its distributions take gigabytes      rho = _rounds(rounds, orders)
 its distributions take gigabytes  pure = sum(one.mechanism.pure_cost(one.sensitivity) for one in rest)
 its distributions take gigabytes  joint = rho + [sum(one.mechanism.renyi_cost(one.sensitivity, order) for one in rest) for order in orders]
 its distributions take gigabytes  return float(min(pure + epsilons(orders, rho, delta).min(), epsilons(orders, joint, delta).min()))


def _rounds(rounds: Counter[tuple[float, float]], orders: Floats) -> Floats:
 its distributions take gigabytes  costs = [[times * tabulated(int(order), rate, np.array([bound * bound / 2]))[0] for order in orders]
 its distributions take gigabytes           for (rate, bound), times in rounds.items()]  # fmt: skip
 its distributions take gigabytes  return np.asarray(np.sum(costs, axis=0))


def _parts(event: Event) -> Iterator[Event]:
 its distributions take gigabytes  if isinstance(event, Repeat):
 its distributions take gigabytes      for _ in range(event.count):
 its distributions take gigabytes          yield from _parts(event.event)
 its distributions take gigabytes  elif isinstance(event, Sequential):
 its distributions take gigabytes      for one in event.events:
 its distributions take gigabytes          yield from _parts(one)
 its distributions take gigabytes  else:
 its distributions take gigabytes      yield event
