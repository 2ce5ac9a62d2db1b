"""Whatever a line of an export holds: it comes in or is told by its number, and the rest comes."""

import io
import json
from itertools import count

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.types import Fact
from tests.fakes.clock import START
from tests.fakes.engines import make_engine

HEAD = '{"kind": "memengine export", "version": 1}'
NOBODY = "a line that is none of an export"
ODD = st.text(st.characters(codec=None, categories=None), max_size=8)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**40), 10**40)
    | st.floats()
    | ODD
    | st.sampled_from(["", "2026-05-19T12:00:00", "9999-12-31T23:59:59-10:00", "x" * 3000]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ODD, inner, max_size=3),
    max_leaves=5,
)


def an_export():
    """Return the lines of an export that has all kinds of them."""
    with make_engine() as engine:
        old = engine.remember("Ann likes tea", metadata={"n": [1, {"x": None}]}, thread_id="t")
        engine.update(old.id, text="Ann likes green tea")
        engine.supersede(old.id, engine.remember("Ann likes milk").id)
        engine.add_texts(["Ann lives in Rome"], [{"a": 1}], ids=["x"])
        said = [HumanMessage("tea", id="1"), AIMessage("ok", id="2")]
        engine.archive.commit("t", "", "archive", said, owner=engine.actor.user_id, now=START)
        engine.promote_facts("task", [Fact("chat", "Ann is 40")])
        engine.export(target := io.StringIO())
    return list(map(json.loads, target.getvalue().splitlines()[1:]))


EXPORT = an_export()


def places(value, path=()):
    """Return the path of every value inside a JSON value."""
    inside = value.items() if isinstance(value, dict) else ()
    inside = enumerate(value) if isinstance(value, list) else inside
    return [path, *(place for key, one in inside for place in places(one, (*path, key)))]


def changed(value, path, new):
    """Return a JSON value with another value at a path; ``...`` leaves it out."""
    if not path:
        return new
    step, *rest = path
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[step] = changed(copy[step], rest, new)
    if copy[step] is ...:
        del copy[step]
    return copy


@st.composite
def odd_lines(draw):
    line = draw(st.sampled_from(EXPORT))
    path = draw(st.sampled_from(places(line)[1:]))
    return json.dumps(changed(line, path, draw(VALUES | st.just(...))))


NAMES = count()


@pytest.fixture(scope="module")
def engine():
    """An engine that many examples are imported into."""
    with make_engine() as engine:
        yield engine


def imported(engine, line):
    """Import a line between two good ones; return what the report tells of it."""
    record = next(one for one in EXPORT if one["kind"] == "records")
    good = [
        {"kind": "records", "record": {**record["record"], "id": f"good {next(NAMES)}"}}
        for _ in range(2)
    ]
    first, last = map(json.dumps, good)
    text = "\n".join((HEAD, first, line, last))
    report = engine.import_(io.StringIO(text, newline=""))
    for one in good:
        assert engine.get(one["record"]["id"]).text == record["record"]["text"]
    return report


@settings(max_examples=150)
@given(odd_lines())
@example('{"kind": ["records"]}')
@example('{"kind": {"records": 1}}')
@example('{"kind": NaN}')
@example('{"kind": "records", "record": ' + "[" * 10_000 + "]" * 10_000 + "}")
@example("[" * 10_000)
@example("9" * 10_000)
@example('{"kind": "notes", "name": "' + "x" * 300 + '.md", "text": "x"}')
@example('{"kind": "notes", "name": "\\ud800.md", "text": "\\ud800"}')
def test_a_line_comes_in_or_is_told_by_its_number(engine, line):
    report = imported(engine, line)
    left_out = sum(report.skipped.values())
    assert left_out <= 1
    assert report.lines == dict.fromkeys(report.skipped, (3,))
    taken_in = sum(report.imported.values()) + sum(report.unchanged.values()) - 2
    assert left_out or taken_in >= 1 or json.loads(line)["kind"] == "messages"


def line_of(kind):
    return next(one for one in EXPORT if one["kind"] == kind)


PROVENANCE = line_of("texts")["chunks"][0]["provenance"]
OF_A_CHUNK = ("chunks", 0, "provenance")


@pytest.mark.parametrize(
    ("kind", "path", "new", "reason"),
    [
        ("texts", ("source",), "file:w/a.md", "of a kind that is not imported"),
        ("texts", (*OF_A_CHUNK, "path"), "a.md", "damaged"),
        ("texts", (*OF_A_CHUNK, "workspace_id"), "w", "damaged"),
        ("texts", OF_A_CHUNK, PROVENANCE | {"scope": "personal", "owner": "local"}, "damaged"),
        ("messages", ("commits", 0, "thread_id"), "u", "damaged"),
    ],
)
def test_a_line_under_the_name_of_something_else_comes_in_nowhere(kind, path, new, reason):
    """It would take the place of a file, of everyone's text, or of another conversation."""
    line = json.dumps(changed(line_of(kind), path, new))
    with make_engine() as engine:
        assert engine.import_(io.StringIO(f"{HEAD}\n{line}")).skipped == {f"{kind}: {reason}": 1}
        assert engine.stats().chunks == 0
        assert engine.restore("t") == engine.restore("u") == []


def test_lines_are_numbered_as_an_editor_does(tmp_path):
    damaged = '{"kind": "records"}'
    text = "\r\n".join((HEAD, damaged, "", "[1]", damaged, ""))
    with make_engine() as engine:
        report = engine.import_(io.StringIO(text, newline=""))
    assert report.lines == {"records: damaged": (2, 5), NOBODY: (4,)}
    assert report.skipped == {"records: damaged": 2, NOBODY: 1}


def test_a_note_that_cannot_be_written_is_told_and_the_rest_comes_in(tmp_path):
    notes = [
        {"kind": "notes", "name": name, "text": "tea"}
        for name in ("MEMORY.md", "MEMORY.md/x.md", "x" * 300 + ".md", "linked.md", "good.md")
    ]
    text = "\n".join((HEAD, *map(json.dumps, notes)))
    with make_engine(tmp_path) as engine:
        (tmp_path / "linked.md").symlink_to("nowhere.md")
        report = engine.import_(io.StringIO(text))
        assert report.imported == {"notes": 2}
        assert report.lines == {"notes: what is here cannot be read": (3, 4, 5)}
        assert (tmp_path / "good.md").read_text() == "tea"


def test_metadata_comes_back_as_deep_as_it_may_be():
    deep: object = "tea"
    for _ in range(49):
        deep = [deep]
    with make_engine() as one, make_engine() as other:
        record = one.remember("tea", metadata={"deep": deep})
        one.update(record.id, text="green tea")
        one.add_texts(["milk"], [{"deep": deep}])
        one.export(target := io.StringIO())
        report = other.import_(io.StringIO(target.getvalue()))
        assert (report.imported, report.skipped) == ({"records": 1, "texts": 1}, {})
        assert other.get(record.id) == one.get(record.id)


@settings(max_examples=100)
@given(
    st.lists(
        st.fixed_dictionaries(
            {"memory": st.just("tea")},
            optional=dict.fromkeys(("id", "user_id", "created_at", "metadata", "data"), VALUES),
        ),
        max_size=3,
    )
)
@example([{"memory": "tea", "id": "\ud800"}, {"memory": "milk", "metadata": {"\ud800": "\0"}}])
def test_any_memory_of_mem0_comes_in_or_is_counted(engine, memories):
    last = {"memory": "last", "id": f"last {next(NAMES)}"}
    report = engine.import_(io.StringIO(json.dumps([*memories, last])))
    counted = (report.imported, report.unchanged, report.skipped)
    assert sum(sum(one.values()) for one in counted) == len(memories) + 1
    assert len(engine.list_records(source=f"mem0:{last['id']}")) == 1


@settings(max_examples=100)
@given(
    st.dictionaries(
        st.sampled_from(["id", "conversation_id", "title", "create_time", "current_node"]), VALUES
    ),
    st.dictionaries(
        ODD,
        st.fixed_dictionaries(
            {},
            optional={
                "parent": VALUES,
                "message": VALUES
                | st.fixed_dictionaries(
                    {
                        "author": VALUES | st.just({"role": "user"}),
                        "content": VALUES | st.just({"parts": ["tea"]}),
                    },
                    optional={"id": VALUES, "create_time": VALUES},
                ),
            },
        )
        | VALUES,
        max_size=3,
    ),
)
def test_any_conversation_of_chatgpt_comes_in_or_is_counted(engine, told, mapping):
    said = {"author": {"role": "user"}, "content": {"parts": ["last"]}}
    good = {"id": f"last {next(NAMES)}", "mapping": {"a": {"message": said}}}
    report = engine.import_(io.StringIO(json.dumps([{**told, "mapping": mapping}, good])))
    assert report.imported["texts"] >= 1
    again = engine.import_(io.StringIO(json.dumps([good])))
    assert again.unchanged == {"texts": 1}


@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 9_000 + "]" * 9_000, b"\xff", "9" * 10_000])
def test_what_is_no_text_or_no_export_is_said(text, tmp_path):
    origin = tmp_path / "export.json"
    origin.write_bytes(text if isinstance(text, bytes) else text.encode())
    with make_engine() as engine:
        for given_as in (origin, origin.open("rb"), origin.open(encoding="utf-8")):
            with pytest.raises(ConfigurationError, match=r"export|cannot be read|opened as bytes"):
                engine.import_(given_as)
            given_as.close() if given_as is not origin else None
        with pytest.raises(ConfigurationError, match="cannot be read"):
            engine.import_(given_as)  # it was closed
