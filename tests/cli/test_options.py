"""What the texts of shared options mean."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from langchain_memengine.cli.failing import UsageProblem
from langchain_memengine.cli.options import (
    actor_of,
    filter_of,
    key_values,
    require_query,
    require_ranking,
)
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.types import Actor, Filter


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("year=2024", 2024),
        ("share=0.5", 0.5),
        ("open=true", True),
        ('year="2024"', "2024"),
        ("team=core", "core"),
        ("empty=", ""),
        ("none=null", "null"),
        ("list=[1]", "[1]"),
        ("name=NaN", "NaN"),
        ("name=-Infinity", "-Infinity"),
        ("power=1e999", "1e999"),
        ("deep=" + "[" * 9999, "[" * 9999),
        ("formula=a=b", "a=b"),
    ],
)
def test_a_value_is_a_scalar_of_json_or_else_text(text, value):
    ((_, found),) = key_values([text], "--meta")
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("text", ["team", "=core", " =core", ""])
def test_what_is_no_pair_is_refused_with_an_example(text):
    with pytest.raises(UsageProblem, match=r"--meta .* is no KEY=VALUE\. Write --meta team=core"):
        key_values([text], "--meta")


def test_no_options_let_everything_pass():
    assert filter_of(None, None, None, None) == Filter()


def test_the_same_key_twice_means_either_other_keys_mean_both():
    found = filter_of(None, ["team=core", "team=docs", "year=2024"], None, None)
    assert found.metadata == {"team": {"$in": ["core", "docs"]}, "year": 2024}


def test_a_day_begins_in_utc_and_a_time_keeps_its_own_zone():
    found = filter_of("daily/**", None, "2026-05-19", " 2026-05-20T10:00+02:00 ")
    assert found.path == "daily/**"
    assert found.since == datetime(2026, 5, 19, tzinfo=UTC)
    assert found.until == datetime(2026, 5, 20, 10, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize("option", ["--since", "--until"])
def test_what_is_no_date_is_refused_by_the_name_of_its_option(option):
    dates = ("soon", None) if option == "--since" else (None, "soon")
    with pytest.raises(UsageProblem, match=f"{option} soon is no date"):
        filter_of(None, None, *dates)


def test_nobody_named_is_the_default_and_a_name_is_no_admin():
    assert actor_of(None) is None
    assert actor_of("ann") == Actor("ann", is_admin=False)
    with pytest.raises(UsageProblem, match="--user is empty"):
        actor_of(" ")


def test_a_query_asks_something_and_holds_no_invalid_bytes():
    assert require_query("tea\udcff") == "tea\ufffd"
    with pytest.raises(UsageProblem, match="The query is empty"):
        require_query(" \n")


def test_a_ranking_exists():
    assert require_ranking(None) is None
    assert require_ranking("goclaw") == "goclaw"
    with pytest.raises(ConfigurationError, match="best"):
        require_ranking("best")
