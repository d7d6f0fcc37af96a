"""Entry points into dpsprt: what a reader sees is when the test stops, and how."""

from dpsprt import DPSPRT


def test(records, seed):
    sequential = DPSPRT(mu0=0.3, mu1=0.7, alpha=0.05, beta=0.05, epsilon=1.0, random_seed=seed)
    for step, value in enumerate(records[:, 0].tolist()):
        stopped, decision = sequential.add_sample(int(value))
        if stopped:
            return [step, 1.0 if "1" in str(decision) else 0.0]
    return [len(records), -1.0]
