"""Entry points into PipelineDP, with a public partition; each row is one privacy id and a value."""

import pipeline_dp


def aggregate(records, metric):
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=1.0, total_delta=1e-6)
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    rows = [(place, "all", value) for place, value in enumerate(records[:, 1].tolist())]
    parameters = pipeline_dp.AggregateParams(
        metrics=[metric],
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
        min_value=1,
        max_value=5,
    )
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: row[2],
    )
    result = engine.aggregate(rows, parameters, extractors, public_partitions=["all"])
    accountant.compute_budgets()
    return [list(metrics) for _, metrics in result]


def count(records, seed):
    return aggregate(records, pipeline_dp.Metrics.COUNT)


def total(records, seed):
    return aggregate(records, pipeline_dp.Metrics.SUM)
