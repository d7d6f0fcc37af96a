"""Entry points into diffprivlib: bounds and classes are given, so that nothing has to be read off the data."""

import warnings

import numpy as np
from diffprivlib import models, tools
from diffprivlib.accountant import BudgetAccountant

warnings.simplefilter("ignore")
LOW, HIGH = np.zeros(1), np.ones(1)


def settings(seed):
    return {"epsilon": 1.0, "random_state": seed, "accountant": BudgetAccountant()}


def total(records, seed):
    return tools.sum(records[:, 0], bounds=(0, 1), **settings(seed))


def mean(records, seed):
    return tools.mean(records[:, 0], bounds=(0, 1), **settings(seed))


def variance(records, seed):
    return tools.var(records[:, 0], bounds=(0, 1), **settings(seed))


def deviation(records, seed):
    return tools.std(records[:, 0], bounds=(0, 1), **settings(seed))


def quantile(records, seed):
    return tools.quantile(records[:, 0], 0.9, bounds=(0, 1), **settings(seed))


def squares(records, seed):
    return tools.histogram2d(records[:, 0], records[:, 1], bins=2, range=[(0, 1), (0, 1)], **settings(seed))[0]


def nonzero(records, seed):
    return tools.count_nonzero(records[:, 1], **settings(seed))


def histogram(records, seed):
    return tools.histogram(records[:, 0], bins=3, range=(0, 1), **settings(seed))[0]


def median(records, seed):
    return tools.median(records[:, 0], bounds=(0, 1), **settings(seed))


def bayes(records, seed):
    model = models.GaussianNB(bounds=(LOW, HIGH), priors=[0.5, 0.5], **settings(seed))
    return fitted(model.fit(records[:, :1], with_classes(records)))


def logistic(records, seed):
    return fitted(models.LogisticRegression(data_norm=1.0, **settings(seed)).fit(records[:, :1], with_classes(records)))


def linear(records, seed):
    model = models.LinearRegression(bounds_X=(LOW, HIGH), bounds_y=(0, 1), **settings(seed))
    return fitted(model.fit(records[:, :1], records[:, 1]))


def through_origin(records, seed):
    model = models.LinearRegression(bounds_X=(LOW, HIGH), bounds_y=(0, 1), fit_intercept=False, **settings(seed))
    return fitted(model.fit(records[:, :1], records[:, 1]))


def kmeans(records, seed):
    return models.KMeans(2, bounds=(np.zeros(2), np.ones(2)), **settings(seed)).fit(records).cluster_centers_


def pca(records, seed):
    model = models.PCA(1, bounds=(np.zeros(2), np.ones(2)), data_norm=2.0, **settings(seed)).fit(records)
    return [model.components_, model.mean_]


def scaler(records, seed):
    model = models.StandardScaler(bounds=(np.zeros(2), np.ones(2)), **settings(seed)).fit(records)
    return [model.mean_, model.var_]


def forest(records, seed):
    model = models.RandomForestClassifier(2, bounds=(LOW, HIGH), classes=[0, 1], max_depth=2, **settings(seed))
    return [tree.tree_.value for tree in model.fit(records[:, :1], records[:, 1].round()).estimators_]


def with_classes(records):
    """Labels 0 and 1; the first two records have one each, so that both classes are always there."""
    return np.concatenate([[0, 1], records[2:, 1].round()]).astype(int)


def fitted(model):
    """What scikit-learn calls the fitted attributes, without what is no number."""
    names = ("theta_", "var_", "coef_", "intercept_")
    return [np.asarray(getattr(model, name)) for name in names if hasattr(model, name)]
