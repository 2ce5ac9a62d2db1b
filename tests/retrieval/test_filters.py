"""What a filter lets through."""

import json
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.retrieval.filters import (
    CodedColumn,
    FilterColumns,
    metadata_condition,
)
from langchain_memengine.storage.chunk_values import FilterRow
from langchain_memengine.types import Filter


def row(path="", source="doc:/1", scope="global", **metadata):
    return FilterRow(path, source, scope, json.dumps(metadata))


def passing(rows, **wanted):
    return FilterColumns(rows).mask(Filter(**wanted)).tolist()


def matches(stored, wanted):
    """Return whether a filter on one metadata key lets a stored value through."""
    return passing([row(key=stored)], metadata={"key": wanted}) == [True]


# Paths, sources, scopes

PATHS = ["MEMORY.md", "daily/2026-05-19.md", "a/daily/x.md", "users/anna/MEMORY.md", ""]


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("**", PATHS[:4]),
        ("*", ["MEMORY.md"]),
        ("daily/**", ["daily/2026-05-19.md"]),
        ("/daily/**", ["daily/2026-05-19.md"]),
        ("daily/2026-0?-*.md", ["daily/2026-05-19.md"]),
        ("**/MEMORY.md", ["MEMORY.md", "users/anna/MEMORY.md"]),
        ("users/*/MEMORY.md", ["users/anna/MEMORY.md"]),
        ("memory.md", []),
        ("MEMORY", []),
        ("daily", []),
    ],
)
def test_a_path_glob_matches_whole_paths_and_never_what_is_no_file(glob, found):
    rows = [row(path) for path in PATHS]
    assert passing(rows, path=glob) == [path in found for path in PATHS]


def test_unwanted_sources_are_left_out():
    rows = [row(source=source) for source in ("doc:/1", "doc:/2", "doc:/22")]
    assert passing(rows, not_sources=("doc:/2", "doc:/9")) == [True, False, True]


def test_conditions_can_be_combined():
    rows = [row(a=1, b=1), row(a=1, b=2), row(a=2, b=2)]

    def found(**metadata):
        return passing(rows, metadata=metadata)

    assert found(**{"$and": [{"a": 1}]}) == [True, True, False]
    assert found(**{"$and": [{"a": 1}, {"b": 2}]}) == [False, True, False]
    assert found(**{"$or": [{"a": 2}, {"b": 1}]}) == [True, False, True]
    assert found(**{"$or": [{"a": 2}, {"$and": [{"a": 1}, {"b": 2}]}], "b": 2}) == [
        False,
        True,
        True,
    ]
    for wrong in ([], {"a": 1}, ["a"], None):
        with pytest.raises(ConfigurationError, match="needs a list of filters"):
            found(**{"$and": wrong})


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("doc:anna/1", [True, False, False]),
        ("doc:anna/*", [True, True, False]),
        ("doc:", [False, False, False]),
        ("*", [True, True, True]),
    ],
)
def test_a_source_is_exact_or_a_prefix(source, found):
    rows = [row(source=uri) for uri in ("doc:anna/1", "doc:anna/12", "file:w/a.md")]
    assert passing(rows, source=source) == found


@pytest.mark.parametrize(
    ("sources", "found"),
    [
        ((), [True, True, True]),
        (("doc:anna/1",), [True, False, False]),
        (("doc:anna/1", "file:*"), [True, False, True]),
        (("nothing:*", "x"), [False, False, False]),
    ],
)
def test_one_of_several_sources_must_match(sources, found):
    rows = [row(source=uri) for uri in ("doc:anna/1", "doc:anna/12", "file:w/a.md")]
    assert passing(rows, sources=sources) == found


def test_scopes_are_told_apart():
    assert passing([row(scope="global"), row(scope="agent_notes")], scope="agent_notes") == [
        False,
        True,
    ]


def test_all_conditions_must_hold():
    rows = [row("a.md", tag="x", n=1), row("a.md", tag="x", n=2), row("b.md", tag="x", n=1)]
    wanted = {"path": "a.md", "metadata": {"tag": "x", "n": 1}}
    assert passing(rows, **wanted) == [True, False, False]


def test_no_rows_give_an_empty_mask():
    assert passing([], path="*", metadata={"key": 1}) == []


def test_no_condition_lets_everything_through():
    assert passing([row(), row("a.md")]) == [True, True]


# Metadata


@pytest.mark.parametrize(
    ("stored", "wanted", "verdict"),
    [
        ("red", "red", True),
        ("red", "Red", False),
        (1, 1.0, True),
        (1, "1", False),
        (None, None, True),
        ("", None, False),
        (True, True, True),
        (True, 1, False),  # JSON's true is not 1
        (1, True, False),
        (0, False, False),
        (["red", "blue"], "red", True),
        (["red", "blue"], "re", False),
        (["red", "blue"], ["red", "blue"], True),
        (["red"], ["red", "blue"], False),
        ({"a": 1}, {"a": 1}, True),
        ("redder", "red", False),
        ("red", {"$eq": "red"}, True),
        ("red", {"$ne": "red"}, False),
        ("red", {"$ne": "blue"}, True),
        (["red"], {"$ne": "red"}, False),
        ("red", {"$in": ["blue", "red"]}, True),
        (["red"], {"$in": ["blue", "red"]}, True),
        (True, {"$in": [1]}, False),
        ("red", {"$in": []}, False),
        ("red", {"$nin": []}, True),
        ("red", {"$nin": ["red"]}, False),
        ("red", {"$nin": ["blue"]}, True),
        (5, {"$gt": 5}, False),
        (5, {"$gt": 4.9}, True),
        (5, {"$gte": 5}, True),
        (5, {"$lt": 5}, False),
        (5, {"$lt": 6}, True),
        (5, {"$lte": 5}, True),
        (5, {"$gt": 1, "$lt": 9}, True),
        (5, {"$gt": 1, "$lt": 5}, False),
        (5, {"$gte": 1, "$ne": 5}, False),
        ("2026-05-19", {"$gte": "2026-05-01", "$lt": "2026-06-01"}, True),
    ],
)
def test_conditions_on_one_key(stored, wanted, verdict):
    assert matches(stored, wanted) is verdict


@pytest.mark.parametrize("operator", ["$gt", "$gte", "$lt", "$lte"])
@pytest.mark.parametrize(
    ("stored", "operand"), [("text", 1), (1, "text"), (None, 1), ([1], 1), ({"a": 1}, 1)]
)
def test_what_cannot_be_compared_is_in_no_range(operator, stored, operand):
    assert not matches(stored, {operator: operand})


@pytest.mark.parametrize(
    "wanted",
    [None, "x", {"$eq": None}, {"$ne": "x"}, {"$nin": ["x"]}, {"$in": [None]}, {"$lt": 9}],
)
def test_a_missing_key_never_matches(wanted):
    assert passing([row(other=1)], metadata={"key": wanted}) == [False]


def test_each_row_is_judged_by_its_own_value():
    stored = [1, 1.0, True, "1", None, [1], 2]
    rows = [*(row(key=value) for value in stored), row()]
    assert passing(rows, metadata={"key": 1}) == [
        True, True, False, False, False, True, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize("rows", [[], [row(key=1)]])
def test_an_unknown_operator_is_refused_by_name(rows):
    with pytest.raises(ConfigurationError, match=r"'\$regex'.*'key'.*\$nin"):
        passing(rows, metadata={"key": {"$regex": "x"}})


@pytest.mark.parametrize("wanted", [{"$gt": 1, "lt": 9}, {"gte": 1, "$lt": 9}, {"$not": 1, "x": 2}])
def test_what_is_no_operator_beside_one_is_refused(wanted):
    with pytest.raises(ConfigurationError, match=r"'(lt|gte|\$not)'.*'key'.*\$nin"):
        passing([row(key=5)], metadata={"key": wanted})


@pytest.mark.parametrize("name", ["$not", "$nor", "$in", "$gt", "$where"])
def test_a_word_of_other_filters_is_no_name_of_metadata(name):
    with pytest.raises(ConfigurationError, match=rf"\{name}.*\$and or \$or"):
        passing([row(key=5)], metadata={name: [{"key": 5}]})


def test_a_name_that_is_no_text_is_looked_for_as_it_is_stored():
    assert passing([row(**{"2026": "x"}), row()], metadata={2026: "x"}) == [True, False]


def test_a_condition_stands_alone():
    condition = metadata_condition("n", {"$gte": 2})
    assert [condition(value) for value in (1, 2, "2")] == [False, True, False]


def test_a_condition_is_asked_once_for_each_different_value():
    asked = []
    column = CodedColumn(["a", "b", "a", "a"])
    assert column.matching(lambda value: asked.append(value) or value == "a").tolist() == [
        True, False, True, True,
    ]  # fmt: skip
    assert asked == ["a", "b"]


def test_truth_is_no_number_in_lists_and_ranges_either():
    assert metadata_condition("a", True)([True])
    assert not metadata_condition("a", 1)([True])
    assert not metadata_condition("a", {"$gte": 1})(True)


@pytest.mark.parametrize("operand", [5, "red", {"a": 1}])
def test_membership_needs_a_list(operand):
    with pytest.raises(ConfigurationError, match="needs a list"):
        metadata_condition("a", {"$in": operand})


def test_a_date_is_compared_as_it_is_stored():
    noon = datetime(2026, 5, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    assert metadata_condition("a", noon)("2026-05-01T10:00:00+00:00")
    assert metadata_condition("a", {"$lt": noon})("2026-05-01T09:59:59+00:00")


def test_columns_that_grew_are_those_of_all_rows():
    rows = [FilterRow(f"{i}.md", f"doc:{i % 3}/{i}", "global", f'{{"n": {i}}}') for i in range(9)]
    grown = FilterColumns(rows[:4])
    wanted = Filter(source="doc:1/*", path="*.md", scope="global", metadata={"n": {"$gt": 1}})
    assert grown.mask(wanted).tolist() == [False] * 4  # every column is there before it grows
    grown.extend(rows[4:])
    grown.extend([])
    assert len(grown) == 9
    assert grown.mask(wanted).tolist() == FilterColumns(rows).mask(wanted).tolist()
    assert np.flatnonzero(grown.mask(wanted)).tolist() == [4, 7]


@pytest.mark.parametrize("prefix", ["doc:*", "doc:a*", "doc:a/*", "doc:a/b/*", "doc:a/b*", "*"])
def test_a_prefix_that_ends_a_folder_means_what_every_prefix_means(prefix):
    sources = ["doc:a/b/c", "doc:a/b", "doc:a", "doc:ab/c", "doc:", "x"]
    columns = FilterColumns([FilterRow("", source, "global", "{}") for source in sources])
    expected = [source.startswith(prefix[:-1]) for source in sources]
    assert columns.mask(Filter(source=prefix)).tolist() == expected
    assert columns.mask(Filter(sources=(prefix, "nowhere"))).tolist() == expected
