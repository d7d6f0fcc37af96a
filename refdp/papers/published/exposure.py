"""The records themselves, for printed readings that take split candidates from them. No other code may have them."""

from __future__ import annotations

from refdp.data.memory import Memory
from refdp.data.nothing import Nothing
from refdp.data.population import Population
from refdp.data.records import Records
from refdp.errors import InvalidParameter


def exposed(population: Population) -> Records | None:
    """The records of a population in memory; None where there are none at all, and only a plan is asked for.

    Errors: InvalidParameter for any other population: its records do not travel.
    """
    if isinstance(population, Nothing):
        return None
    if isinstance(population, Memory):
        return population.exposed()
    raise InvalidParameter("candidates are taken from the records themselves, which only records in memory allow")
