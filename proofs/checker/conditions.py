"""Conditions that claims rest on and that no evidence checks: data, so that they go with a claim into what uses it."""

from __future__ import annotations

from refdp.ledger.claims import Condition

HALF = Condition("square-loss-with-half", "the square loss carries the factor 1/2, so that its second derivative is 1")
ONE_OWNER = Condition("one-owner", "no record is held by two owners")
NO_EMPTY_LEAF = Condition("no-empty-leaf", "no leaf is empty on either of two neighbours")
