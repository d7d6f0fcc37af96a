"""A filter after the sample."""

from refdp import Interval, Numeric, Schema

SCHEMA = Schema((Numeric("x", 0.0, 1.0),), Interval(0.0, 1.0))
EPSILON = 1.0
RELATION = "add-remove"
