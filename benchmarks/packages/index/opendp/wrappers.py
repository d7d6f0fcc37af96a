"""Entry points into OpenDP. Its noise comes from the system's generator and takes no seed."""

import opendp.prelude as dp

dp.enable_features("contrib")


def space():
    return dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()


def count(records, seed):
    return (space() >> dp.t.then_count() >> dp.m.then_laplace(1.0))(records[:, 0].tolist())


def total(records, seed):
    chain = space() >> dp.t.then_clamp((2.0, 3.0)) >> dp.t.then_sum() >> dp.m.then_laplace(3.0)
    return chain(records[:, 0].tolist())


def total_gaussian(records, seed):
    chain = space() >> dp.t.then_clamp((0.0, 1.0)) >> dp.t.then_sum() >> dp.m.then_gaussian(2.4)
    return chain(records[:, 0].tolist())
