"""Entry point into insurance-fairness-ldp."""

import warnings

from insurance_fairness_ldp import KaryRandomisedResponse

warnings.simplefilter("ignore")
MECHANISM = KaryRandomisedResponse(epsilon=1.0, categories=[0, 1, 2])


def response(records, seed):
    return MECHANISM.privatise(records[:, 0].astype(int), random_state=seed % 2**32)
