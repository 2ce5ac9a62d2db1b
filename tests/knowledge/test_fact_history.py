"""How long facts held."""

from dataclasses import replace
from datetime import timedelta

from langchain_memengine.knowledge.fact_history import FactVersion, versions
from langchain_memengine.storage.record_values import MemoryRecord, Supersession
from tests.fakes.clock import START

BERN = MemoryRecord(
    "bern", "personal", "anna", "Anna lives in Bern.", {}, "user", "trusted",
    None, None, START, START,
)  # fmt: skip


def later(days):
    return START + timedelta(days=days)


def fact(name, day):
    return replace(BERN, id=name, created_at=later(day))


def over(old, new, day):
    return Supersession(old, new, None, later(day))


def test_a_fact_held_until_the_first_that_took_its_place():
    bern, rome, oslo = fact("bern", 0), fact("rome", 5), fact("oslo", 9)
    took_over = [over("bern", "oslo", 9), over("bern", "rome", 5), over("rome", "oslo", 9)]
    assert versions([oslo, rome, bern], took_over) == (
        FactVersion(bern, later(5), "rome"),
        FactVersion(rome, later(9), "oslo"),
        FactVersion(oslo),
    )


def test_of_equal_times_the_smaller_id_comes_first():
    one, two = fact("a", 0), fact("b", 0)
    ended = [over("a", "z", 1), over("a", "y", 1)]
    assert versions([two, one], ended) == (FactVersion(one, later(1), "y"), FactVersion(two))
