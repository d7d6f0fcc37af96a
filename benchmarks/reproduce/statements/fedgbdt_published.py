"""Figures printed in Maddock et al. (2022): test AUC as (mean, standard deviation), and average ranks."""

from __future__ import annotations

from collections.abc import Mapping

Printed = tuple[float, float]

_FIVE = ("bank_full", "give_me_some_credit", "credit_default", "adult", "nomao")

_TABLE_4: Mapping[tuple[str, str], tuple[Printed, ...]] = {
    ("histogram", "gradient"): ((.6288, .0688), (.5748, .0852), (.6288, .0569), (.6749, .0524), (.8483, .0138)),
    ("histogram", "averaging"): ((.7249, .0274), (.6769, .058), (.6751, .0246), (.6373, .0457), (.8885, .0038)),
    ("histogram", "newton"): ((.7562, .0337), (.7522, .0162), (.6575, .0486), (.8013, .0225), (.8758, .0075)),
    ("partially-random", "gradient"): ((.676, .0376), (.7094, .0312), (.6239, .0486), (.7688, .0253), (.8766, .0072)),
    ("partially-random", "averaging"): ((.7803, .0309), (.7165, .0337), (.6864, .0249), (.8281, .0183), (.8904, .0055)),
    ("partially-random", "newton"): ((.7998, .0203), (.7676, .0196), (.6882, .0207), (.8416, .0108), (.88, .0072)),
    ("totally-random", "gradient"): ((.8508, .0061), (.7847, .0097), (.7392, .008), (.8737, .0056), (.8965, .0047)),
    ("totally-random", "averaging"): ((.8382, .0116), (.7846, .0106), (.7285, .0109), (.8666, .0043), (.8875, .0055)),
    ("totally-random", "newton"): ((.8486, .0075), (.7983, .0062), (.7344, .0088), (.8718, .0049), (.8883, .007)),
}  # fmt: skip
TABLE_4 = {(*key, data): value for key, row in _TABLE_4.items() for data, value in zip(_FIVE, row, strict=True)}
"""By splits, update and data set; the caption says epsilon = 0.5."""

_CANDIDATES = ("iterative-hessian", "quantiles", "log", "uniform")
_TABLE_5: Mapping[str, tuple[Printed, ...]] = {
    "bank_full": ((.8749, .0066), (.8695, .0087), (.8698, .0087), (.8734, .0074)),
    "give_me_some_credit": ((.8462, .0035), (.8367, .0045), (.8339, .0058), (.7822, .0247)),
    "credit_default": ((.7377, .0084), (.738, .0083), (.7495, .008), (.7461, .0092)),
    "adult": ((.8888, .0035), (.8823, .0047), (.8848, .0054), (.8862, .0034)),
    "higgs": ((.7211, .0181), (.7352, .0082), (.688, .0141), (.6449, .0293)),
    "nomao": ((.9026, .0041), (.8987, .0052), (.9003, .0061), (.9021, .005)),
}  # fmt: skip
TABLE_5 = {(name, data): value for data, row in _TABLE_5.items() for name, value in zip(_CANDIDATES, row, strict=True)}
"""By candidates and data set."""

_TABLE_6: Mapping[str, tuple[Printed, ...]] = {
    "B=10": ((.7876, .0233), (.7585, .0147), (.719, .0156), (.8438, .0086), (.8859, .0056)),
    "B=20": ((.819, .0108), (.7591, .0194), (.7199, .0164), (.86, .0057), (.8929, .0055)),
    "B=200": ((.7752, .0143), (.7578, .0194), (.71, .0146), (.8443, .0065), (.8858, .0061)),
    "DP-RF": ((.7663, .0127), (.7441, .0196), (.7106, .0106), (.8382, .0105), (.8852, .0058)),
    "B=1": ((.7866, .0224), (.7693, .016), (.695, .0134), (.8371, .0148), (.8669, .0088)),
}  # fmt: skip
TABLE_6 = {(batch, data): value for batch, row in _TABLE_6.items() for data, value in zip(_FIVE, row, strict=True)}
"""By batch and data set."""

TABLE_7: Mapping[str, tuple[float, float, float]] = {
    "DP-EBM": (5.83, 4.5, 3.5),
    "DP-EBM Newton": (4.0, 3.33, 3.17),
    "DP-GBM": (9.0, 9.0, 9.0),
    "DP-RF": (4.5, 6.67, 7.0),
    "DP-TR Batch Newton IH EBM (p=0.25)": (1.17, 2.33, 3.33),
    "DP-TR Batch Newton IH EBM (p=1)": (2.0, 3.5, 4.67),
    "DP-TR Newton IH": (5.33, 4.5, 3.83),
    "DP-TR Newton IH EBM": (5.17, 3.17, 2.67),
    "FEVERLESS": (8.0, 8.0, 7.83),
}
"""Average rank over six data sets at epsilon 0.1, 0.5 and 1."""

AUTHORS_CREDIT_1: Mapping[str, tuple[tuple[float, ...], ...]] = {
    "DP-EBM": ((.7609, .7436, .7654), (.7897, .7734, .7760), (.7990, .7979, .8008)),
    "DP-EBM Newton": ((.7292, .7101, .7626), (.7920, .7994, .7710), (.7918, .7960, .7841)),
    "DP-TR Newton IH": ((.7992, .7995, .8016), (.8366, .8303, .8344), (.8478, .8450, .8490)),
    "DP-TR Newton IH EBM": ((.7883, .7840, .7921), (.8282, .8355, .8356), (.8450, .8427, .8421)),
}  # fmt: skip
"""Test AUC of Credit 1 at T = 100 and epsilon 0.1, 0.5, 1: three runs of one split, in the authors' repository
(Samuel-Maddock/federated-boosted-dp-trees, replication_fig6.csv), rounded to four digits."""
