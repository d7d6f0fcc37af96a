"""Entry points into distributed-random-forest."""

from distributed_random_forest.models.dp_rf import DPRandomForest


def fit(records, seed):
    return DPRandomForest(n_estimators=1, max_depth=1, epsilon=1.0, random_state=seed % 2**31, n_jobs=1).fit(
        records[:, :1], records[:, 1].astype(int)
    )


def forest(records, seed):
    tree = fit(records, seed)._trees[0].tree_
    return [tree.threshold[0], *tree.value[-2:, 0].ravel()] if tree.node_count > 1 else [2.0, 0.0, 0.0, 0.0, 0.0]


def summary(records, seed):
    return {name: float(share) for name, share in fit(records, seed).training_summary["class_distribution"].items()}
