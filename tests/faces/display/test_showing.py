"""What a person sees of a value, in a notebook and in a terminal."""

import dataclasses
import importlib
import pkgutil
import re
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

import langchain_memengine
from langchain_memengine import Entity, Experience, MemoryRecord, Relation, show
from langchain_memengine.answers import (
    Explanation,
    FileProblem,
    Hit,
    IndexReport,
    Receipt,
    SearchResult,
    Stats,
)
from langchain_memengine.conversation.context import CompactionResult
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.faces.display import showing
from langchain_memengine.faces.display.sheets import MAX_ROWS
from langchain_memengine.knowledge.consolidation_report import Consolidated, ConsolidationReport
from langchain_memengine.knowledge.fact_history import FactVersion
from langchain_memengine.retrieval.recall import Recalled
from langchain_memengine.shown import Shown
from langchain_memengine.storage.graph_values import Subgraph
from langchain_memengine.storage.job_values import Job
from langchain_memengine.storage.record_values import RecordState, Revision
from langchain_memengine.storage.sessions import Session, SessionRecall

NOON = datetime(2026, 5, 19, 12, tzinfo=UTC)
RECEIPT = Receipt(
    keyword_rank=1, bm25=8.0, vector_rank=2, cosine=0.5, vector_path="exact", context_rank=None,
    fused=0.1, age_days=20.0, decay=0.91, access_count=0, access_bonus=0.0, ranking="balanced",
    origin="file", trust="trusted",
)  # fmt: skip


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")


def a_hit(text="Deploys happen on Tuesdays.", path="daily/2026-05-19.md", **receipt):
    return Hit(
        "0123456789abcdef", text, 0.75, f"file:w/{path}", path, 3, 4, "Plan > Deploys", 9, "global",
        "", NOON, {}, replace(RECEIPT, **receipt),
    )  # fmt: skip


def a_record(text, **more):
    return MemoryRecord(
        "r1", "personal", "ann", text, more, "user", "trusted", None, None, NOON, NOON, source=text
    )


def a_job(error):
    return Job(
        7, "fact_extract", '{"secret": "payload"}', "dead", 3, 3, NOON, None, None, "token-1",
        error, "ann", None, None, NOON, NOON,
    )  # fmt: skip


def every_value(text):
    """Return one of each value that is shown, with a text wherever a stranger may write one."""
    hit = a_hit(text, text, origin="user", trust="untrusted")
    record = a_record(text, evidence=text)
    entity = Entity(text, text, (text,), id="e")
    relation = Relation(entity, text, entity, evidence=(text,))
    state = RecordState(record)
    shown_to = {"path": text, "source": text, "start_line": 1, "end_line": 2}
    message = AIMessage(text, tool_calls=[{"name": text, "args": {}, "id": "1"}])
    return [
        replace(hit, heading=text, source=text),
        SearchResult((hit,), (text,)),
        Recalled(text, (hit,), (text,)),
        Explanation("0123456789", found=False, reason=text),
        IndexReport(
            skipped=(FileProblem(text, text),),
            suspicious=(FileProblem(text, text),),
            degraded=(text,),
        ),
        Stats(1, 2, 3, text, 4),
        CompactionResult((HumanMessage(text),), text, (message,), 9, 5, over_limit=True, note=text),
        ConsolidationReport(
            (Consolidated("hidden", text, text, "", text, text, text, text, 1.0, 0.9, "v"),),
            pinned=(text,),
            degraded=(text,),
        ),
        Subgraph((entity,), (relation,), {entity.id: 0}, is_cut=True),
        a_job(text),
        Experience("e", "tool_chain", text, {"run": text}, 0.5, (text,), text, text, NOON),
        record,
        Revision("v", "update", "r1", NOON, None, state, state),
        FactVersion(record, NOON),
        Session("1", text, text, (text,), NOON),
        SessionRecall(text, None, (shown_to,), NOON),
        relation,
    ]


class Tags(HTMLParser):
    """Collects what a browser would see: tags with their attributes, and nothing else."""

    def __init__(self, page):
        super().__init__()
        self.seen = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))


def printed(value):
    class Printer:
        told = ""

        def text(self, words):
            self.told += words

    printer = Printer()
    value._repr_pretty_(printer, False)
    return printer.told


def test_every_value_that_can_be_looked_at_has_a_table():
    for module in pkgutil.walk_packages(
        langchain_memengine.__path__, f"{langchain_memengine.__name__}."
    ):
        if not module.name.rpartition(".")[2].startswith("__"):
            importlib.import_module(module.name)
    kinds = set(Shown.__subclasses__())
    tables = {*showing._SINGLE, *showing._LISTED}
    # A dataclass with slots is made twice; the first of the two is never used.
    assert {kind.__name__ for kind in kinds} == {kind.__name__ for kind in tables}
    assert {type(value) for value in every_value("x")} == tables
    assert all(dataclasses.is_dataclass(kind) for kind in tables)


def test_hits_show_place_text_score_and_bars_of_each_leg():
    result = SearchResult((a_hit(), a_hit(bm25=None, keyword_rank=None, age_days=None)), (), False,
                          {"total": 3.25})  # fmt: skip
    told = printed(result)
    assert told.splitlines()[0] == "2 hits · ranking balanced · 3.2 ms"
    flat = " ".join(told.split())
    for part in ("keyword", "vector", "age", "██████ 8.00 #1", "███░░░ 0.50 #2", "20 d ×0.91"):
        assert part in flat, part
    assert "context" not in told  # no hit has it: there is no column
    page = result._repr_html_()
    assert '<i class="keyword" style="width:100%"></i></span>8.00 #1</td>' in page
    assert '<i class="vector" style="width:50%"></i></span>0.50 #2</td>' in page
    assert '<i class="time" style="width:91%"></i></span>20 d ×0.91</td>' in page
    assert "daily/2026-05-19.md:3-4<small>Plan › Deploys</small>" in page
    assert "<a " not in page


def test_places_that_are_no_files_are_cut_to_what_fits():
    page = show(
        replace(a_hit(path=""), source="message:pottery/0123456789abcdef#0123456789abcdef")
    ).html
    assert "message:pottery/0123456789abcde…" in page
    assert "doc:/tea<" in show(replace(a_hit(path=""), source="doc:/tea")).html


def test_plain_text_stays_text_inside_a_notebook(monkeypatch):
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert printed(IndexReport(indexed=3)).startswith("What the sync did")


def test_a_narrow_terminal_gets_the_numbers_without_bars(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    told = printed(SearchResult((a_hit(),)))
    assert "█" not in told
    assert max(map(len, told.splitlines())) <= 80
    for number in ("8.00 #1", "0.50 #2", "20 d ×0.91", "0.7500", "01234567"):
        assert number in told


def test_receipts_show_more_columns_where_more_applied():
    page = show(
        a_hit(
            access_count=4, access_bonus=0.008, context_rank=3, graph_rank=2, author_boost=0.2,
            date_boost=0.5, trust="untrusted",
        )
    ).html  # fmt: skip
    assert re.findall(r"<th>([^<]*)</th>", page)[5:] == [
        "context", "graph", "named", "age", "used", "trust", "id",
    ]  # fmt: skip
    for cell in ("#3", "#2", "author +0.20, date +0.50", "4 × (+0.0080)", "untrusted, file"):
        assert f"<td>{cell}</td>" in page


def test_places_become_links_into_the_folder_that_is_named():
    page = show(SearchResult((a_hit(path="notes/a b.md"),)), root="memory/").html
    assert '<a href="memory/notes/a%20b.md" target="_blank">notes/a b.md:3-4</a>' in page
    hostile = show(SearchResult((a_hit(path='javascript:alert("1")'),)), root="memory").html
    assert '<a href="memory/javascript%3Aalert%28%221%22%29" ' in hostile
    assert "<a " not in show(SearchResult((a_hit(path=""),)), root="memory").html


def test_nothing_found_says_where_to_ask_on():
    assert printed(SearchResult((), ("vector: down",))).splitlines() == [
        "Nothing was found.",
        "A hit needs a matching word or a near meaning; engine.explain(query, id) tells more.",
        "! vector: down",
    ]


def test_an_explanation_shows_the_reason_and_the_hit_at_its_own_rank():
    told = printed(
        Explanation(
            "0123456789", False, "It ranks 9, and only the best 6 were asked for.", 9, a_hit()
        )
    )
    assert told.splitlines()[:2] == [
        "Not among the hits, rank 9",
        "It ranks 9, and only the best 6 were asked for.",
    ]
    assert re.search(r"^ ?9 ", told, re.MULTILINE)
    assert "  8.00 #1  " in told  # without a bar: there is no best one to measure it by
    assert printed(Explanation("0123456789", False, "No word.")).splitlines() == [
        "Not found", "No word.", "chunk 01234567",
    ]  # fmt: skip


def test_a_recall_shows_what_is_pinned_and_what_was_found():
    told = printed(Recalled("# All\n\nUse UTC.", (a_hit(),)))
    assert "Pinned: 15 characters of MEMORY.md" in told
    assert "Use UTC." in told
    assert "Recalled: 1" in told
    assert printed(Recalled("", ())).splitlines() == [
        "Nothing is pinned.", "Nothing else was recalled.",
    ]  # fmt: skip


def test_a_compaction_shows_what_went_and_what_stayed():
    went = (
        HumanMessage("Hello."),
        AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": "1"}]),
    )
    result = CompactionResult((HumanMessage("And now?"),), "They met.", went, 1200, 40, False)
    told = printed(result)
    assert told.startswith("2 messages went, 1 stayed · 1,200 → 40 tokens\nSummary\n")
    gone, stayed = told.split("Stayed")
    assert "Hello." in gone
    assert "calls look" in gone
    assert "They met." in gone
    assert "And now?" in stayed
    warned = printed(replace(result, note="The model failed.", over_limit=True))
    assert "! The model failed.\n! It is over the limit all the same." in warned


def test_a_sync_shows_counts_and_what_was_left_out():
    report = IndexReport(indexed=3, chunks=8, skipped=(FileProblem("a.md", "binary"),))
    told = printed(report)
    assert re.search(r"indexed +3\n", told)
    assert "Left out: 1" in told
    assert re.search(r"skipped +a\.md +binary", told)
    assert "Left out" not in printed(IndexReport())
    odd = printed(IndexReport(suspicious=(FileProblem("b.md", "It gives instructions."),)))
    assert "Indexed, and not trusted: 1" in odd
    assert re.search(r"b\.md +It gives instructions\.", odd)
    assert printed(IndexReport(dry_run=True)).startswith("What a sync would do")


def test_jobs_show_neither_payload_nor_token():
    page = show([a_job("Gave up."), a_job(None)]).html
    assert "2 jobs" in page
    assert "Gave up." in page
    assert "payload" not in page
    assert "token-1" not in page


def test_long_lists_say_how_many_are_not_shown():
    told = str(show([a_record("One.")] * (MAX_ROWS + 2)))
    assert told.splitlines()[:2] == ["32 records", "2 more are not shown."]
    assert told.count("One.") == 2 * MAX_ROWS  # the text, and its source below it


def test_an_audit_shows_queries_with_their_places():
    hit = {"path": "a.md", "source": "file:w/a.md", "start_line": 1, "end_line": 2}
    told = str(
        show([SessionRecall("tea?", None, (hit,) * 7, NOON), SessionRecall("x", None, (), NOON)])
    )
    flat = " ".join(told.split())
    assert told.startswith("2 queries")
    assert "2026-05-19 12:00 tea? 7 a.md:1-2, a.md:1-2, a.md:1-2, a.md:1-2, a.md:1-2, and" in flat


def test_facts_and_their_versions_show_until_when():
    told = str(show([FactVersion(a_record("In Rome."), NOON), FactVersion(a_record("In Bern."))]))
    assert re.search(r"In Rome\. +2026-05-19 12:00 +2026-05-19 12:00", told)
    assert re.search(r"In Bern\. +2026-05-19 12:00 +still", told)


def test_revisions_show_before_after_and_the_id_to_undo():
    told = str(
        show(
            [Revision("v1", "add", "r1", NOON, None, RecordState(), RecordState(a_record("New.")))]
        )
    )
    assert re.search(r"add +2026-05-19 12:00 +— +New\. +v1", told)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (3, "show() has no table for a int."),
        ([3], "show() has no table for a list of int."),
        ([a_job(None), a_record("x")], "show() has no table for a list of Job, MemoryRecord."),
    ],
)
def test_other_values_are_refused_by_name(value, said):
    with pytest.raises(ConfigurationError, match=re.escape(said)) as refused:
        show(value)
    assert "Experience" in str(refused.value)


def test_an_empty_list_is_shown_as_one():
    assert str(show([])) == "Nothing to show: the list is empty."


HOSTILE = (
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</td></table><iframe src=//x>",
    "\"' onmouseover=alert(1) x='", "<style>*{display:none}</style>", "</style><b>",
    "javascript:alert(1)", "&lt;script&gt;", "<!--", "\x1b]0;owned\x07\x1b[2J", "\u202etxt.exe",
    "a\x00b\ud800",
)  # fmt: skip
EXPECTED_TAGS = {
    "div", "style", "p", "table", "thead", "tbody", "tr", "th", "td", "span", "i", "small", "a",
}  # fmt: skip


@settings(max_examples=30)
@given(st.sampled_from(HOSTILE) | st.text())
def test_no_memory_gets_out_of_its_text(text):
    for value in every_value(text):
        page = show(value, root="memory").html
        for tag, attributes in Tags(page).seen:
            assert tag in EXPECTED_TAGS
            assert set(attributes) <= {"class", "style", "href", "target"}
            if tag == "style":
                assert not attributes
            assert attributes.get("href", "memory/").startswith("memory/")
            assert re.fullmatch(r"(width:\d+%)?", attributes.get("style", ""))
        assert page.count("</style>") == 1
        assert "url(" not in page[: page.index("</style>")]
        assert not set(printed(value)) & set("\x1b\x07\x9b\x9c\r\u202e\0")
