"""A formula outside its range."""

from refdp import Interval, Numeric, Schema

SCHEMA = Schema((Numeric("x", 0.0, 1.0),), Interval(0.0, 1.0))
EPSILON = 10.0
DELTA = 0.01
RELATION = "add-remove"
