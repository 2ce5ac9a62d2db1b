"""What a person sees of a value, in a notebook and in a terminal."""

import dataclasses
import importlib
import inspect
import pkgutil
import re
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

import langchain_memengine
from langchain_memengine import (
    Entity,
    Experience,
    ExperienceStore,
    MemoryEngine,
    MemoryRecord,
    Relation,
    show,
)
from langchain_memengine.answers import (
    Explanation,
    FileProblem,
    Hit,
    IndexReport,
    Receipt,
    SearchResult,
    Stats,
)
from langchain_memengine.conversation.context import CompactionResult, MemoryStats
from langchain_memengine.conversation.flush import FlushResult
from langchain_memengine.conversation.sessions import MemorySessions
from langchain_memengine.engine.restoring import Restored
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.faces.display import showing
from langchain_memengine.faces.display.html import COLOURS
from langchain_memengine.faces.display.html import html as html_of
from langchain_memengine.faces.display.sheets import MAX_ROWS
from langchain_memengine.graph.knowledge_graph import KnowledgeGraph
from langchain_memengine.jobs.reports import JobsReport
from langchain_memengine.knowledge.consolidation_report import Consolidated, ConsolidationReport
from langchain_memengine.knowledge.experience import RecordedRun
from langchain_memengine.knowledge.fact_history import FactVersion
from langchain_memengine.reports import ExportReport, ForgetReport, ImportReport
from langchain_memengine.retrieval.diagnosis import Check, DoctorReport
from langchain_memengine.retrieval.recall import Recalled
from langchain_memengine.shown import Shown
from langchain_memengine.storage.auditing import AuditReport, ChunkCount
from langchain_memengine.storage.backup import Contents
from langchain_memengine.storage.copying import Copied
from langchain_memengine.storage.experience_values import ExperienceImport, ExperienceStats
from langchain_memengine.storage.graph_values import GraphCounts, Subgraph
from langchain_memengine.storage.job_values import Job
from langchain_memengine.storage.record_values import (
    Hiding,
    Quarantine,
    RecordCount,
    RecordState,
    Revision,
)
from langchain_memengine.storage.sessions import Session, SessionRecall
from langchain_memengine.workspace.watcher import WatchState
from tests.contrast import NIGHT, SEEN, WHITE, contrast

NOON = datetime(2026, 5, 19, 12, tzinfo=UTC)
HARMLESS = "memory.sqlite"
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


def an_experience(text):
    return Experience("e", "tool_chain", text, {"run": text}, 0.5, (text,), text, text, NOON)


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
        RecordedRun(an_experience(text), (an_experience(text),)),
        CompactionResult((HumanMessage(text),), text, (message,), 9, 5, over_limit=True, note=text),
        ConsolidationReport(
            (Consolidated("hidden", text, text, "", text, text, text, text, 1.0, 0.9, "v"),),
            pinned=(text,),
            degraded=(text,),
        ),
        Subgraph((entity,), (relation,), {entity.id: 0}, is_cut=True),
        a_job(text),
        an_experience(text),
        record,
        Revision("v", "update", "r1", NOON, None, state, state),
        FactVersion(record, NOON),
        Session("1", text, text, (text,), NOON),
        SessionRecall(text, None, (shown_to,), NOON),
        relation,
        entity,
        Quarantine(text, text, text, NOON),
        ForgetReport({text: 2}, (text,)),
        ExportReport({text: 2}, {text: 1}),
        ImportReport({text: 2}, {}, {text: 1}),
        FlushResult((HumanMessage(text),), (message,), text, 9, 5, note=text),
        MemoryStats(2, 9, {"person": 9}, 0, 40, 0.05),
        DoctorReport((Check(text, "warning", text, text),)),
        AuditReport(
            (RecordCount("personal", text, "user", "trusted", 1, NOON, NOON),),
            (ChunkCount("user", "trusted", 1),),
            (Quarantine(text, text, text, NOON),),
            {"records": 1},
        ),
        JobsReport(1, 2, 3, 4),
        Contents(Path(HARMLESS), 4096, 1, 2),
        Restored(Path(HARMLESS), Path(HARMLESS), 1),
        Copied({"chunks": 2}, ("default",), ("database_url",)),
        WatchState(dirty=True, syncing=False, last_sync_at=NOON, watched_files=3, watching=True),
        GraphCounts(1, 1, 2),
        ExperienceStats(2, {"tool_chain": 2}, 1, 0.5, 1.0),
        ExperienceImport(1, 2, 3),
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


def test_a_column_of_times_says_that_they_are_utc():
    named = set()
    for value in every_value("x"):
        for sheet in showing.sheets_of(value):
            for row in sheet.rows:
                names = sheet.columns if any(sheet.columns) else [row[0]] * len(row)
                cells = zip(names, row, strict=True)
                named |= {name for name, cell in cells if re.match(r"\d{4}-\d\d-\d\d", str(cell))}
    assert {"at (UTC)", "put (UTC)", "last sync (UTC)", "first (UTC)"} <= named
    assert [name for name in named if not name.endswith(" (UTC)")] == []


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


def test_bars_and_marks_are_seen_on_light_and_dark_pages():
    style = html_of([]).partition("</style>")[0]
    colours = set(re.findall(r"#[0-9a-f]{6}", style))
    assert set(COLOURS.values()) < colours
    assert contrast("#000000", WHITE) == 21  # as its definition says
    for colour in colours:
        assert contrast(colour, WHITE) >= SEEN, colour
        assert contrast(colour, NIGHT) >= SEEN, colour


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
    assert re.search(r"^ # +9$", told, re.MULTILINE)
    assert re.search(
        r"^ keyword +8.00 #1$", told, re.MULTILINE
    )  # without a bar: there is no best one to measure it by
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
    assert re.search(r"indexed +3 files, 8 chunks\n", told)
    assert "Left out: 1 file" in told
    assert re.search(r"skipped +a\.md +binary", told)
    assert "Left out" not in printed(IndexReport())
    odd = printed(IndexReport(suspicious=(FileProblem("b.md", "It gives instructions."),)))
    assert "Indexed, and not trusted: 1 file" in odd
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


@settings(max_examples=10)
@given(st.sampled_from(HOSTILE) | st.text())
@example(" ".join(HOSTILE))
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


def dataclasses_of_the_package():
    """Return every dataclass of the package by its name."""
    modules = (
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(
            langchain_memengine.__path__, f"{langchain_memengine.__name__}."
        )
        if not module.name.rpartition(".")[2].startswith("__")
    )
    return {
        name: kind
        for module in modules
        for name, kind in vars(module).items()
        if dataclasses.is_dataclass(kind) and kind.__module__ == module.__name__
    }


def answers_of(*kinds):
    """Return the names of the classes that public calls of these are annotated to return."""
    members = (
        getattr(member, "fget", member)
        for kind in kinds
        for name, member in inspect.getmembers(kind)
        if not name.startswith("_")
    )
    annotations = (getattr(one, "__annotations__", {}).get("return", "") for one in members)
    return {name for one in annotations for name in re.findall(r"\w+", str(one))}


def test_every_answer_of_a_public_call_is_printed_in_words_and_its_repr_stays_exact():
    known = dataclasses_of_the_package()
    asked = (MemoryEngine, MemorySessions, ExperienceStore, KnowledgeGraph)
    answers = {known[name] for name in answers_of(*asked) & set(known)}
    assert {ForgetReport, Explanation, FactVersion, DoctorReport, Session, Relation} <= answers
    dumb = {kind.__name__ for kind in answers if kind.__str__ is object.__str__}
    # One is a picture, the others are what one part of the engine hands to the next.
    assert dumb == {"GraphPicture", "Evidence", "Told", "NewDocument", "NameMerge"}
    assert repr(ForgetReport({"records": 1})) == (
        "ForgetReport(removed={'records': 1}, out_of_reach=())"
    )


def test_what_was_forgotten_is_printed_with_where_else_it_may_be():
    report = ForgetReport({"records": 1, "recorded queries": 2}, ("Backups.", "Git."))
    assert [" ".join(line.split()) for line in str(report).splitlines() if line] == [
        "Forgotten:", "records 1", "recorded queries 2", "Out of reach:", "Backups.", "Git.",
    ]  # fmt: skip
    assert str(ForgetReport()) == "There was nothing to forget."


def test_exports_and_imports_are_printed_as_counts_and_reasons():
    told = str(ExportReport({"records": 1, "notes": 2}, {"quarantined records": 1}))
    assert told == "Exported: 1 record, 2 notes.\nLeft out: 1 quarantined record."
    left_out, lines = {"blank": 1, "too long": 7}, {"too long": (2, 3, 5, 8, 13, 21, 34)}
    told = str(ImportReport({"records": 3}, {}, left_out, lines))
    assert [" ".join(line.split()) for line in told.splitlines() if line] == [
        "What the import did",
        "imported 3 records",
        "unchanged nothing",
        "skipped 1: blank",
        "skipped 7: too long (line 2, 3, 5, 8, 13 and 2 more)",
    ]


def test_one_fact_is_printed_a_line_for_each_thing_that_is_known_of_it(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    version = FactVersion(a_record("Ann lives in a house by the sea in Rome."), NOON, "r2")
    lines = [" ".join(line.split()) for line in str(version).splitlines()]
    assert lines[0] == "1 version"
    assert "since (UTC) 2026-05-19 12:00" in lines
    assert "until (UTC) 2026-05-19 12:00" in lines
    assert "replaced by r2" in lines


def test_checks_are_counted_and_each_says_what_a_repair_would_do():
    report = DoctorReport(
        (
            Check("rows", "warning", "1 vector of no text", "remove them"),
            Check("disk", "failed", "0 MiB free"),
            Check("lock", "ok", "free", repaired=True),
        )
    )
    told = str(report)
    flat = " ".join(told.split())
    assert told.startswith("1 check failed, 1 warning.\n")
    assert "rows warning 1 vector of no text → remove them" in flat
    assert "lock ok, repaired free" in flat
    page = report._repr_html_()
    assert '<td class="mark bad">failed</td>' in page
    assert str(DoctorReport(())) == "Nothing failed."


def test_an_audit_shows_who_wrote_what_and_what_is_set_aside():
    count = RecordCount("personal", "ann", "user", "trusted", 2, NOON, NOON)
    aside = Quarantine("web/*", "a joke", "", NOON)
    told = str(AuditReport((count,), (ChunkCount("file", "unverified", 7),), (aside,),
                           {"records": 1, "chunks": 2}))  # fmt: skip
    flat = " ".join(told.split())
    assert "personal ann user trusted 2026-05-19 2026-05-19 2" in flat
    assert "file unverified 7" in flat
    assert "1 source quarantined" in flat
    assert "web/* 2026-05-19 12:00 memengine a joke" in flat
    assert told.endswith("Secrets were taken out of 1 record, 2 chunks.")
    assert str(AuditReport()) == "There are no records."


def test_sizes_and_counts_are_printed_as_sentences():
    assert str(JobsReport(1, 2, 3, 4)) == "1 job done, 2 attempts failed, 3 given up, 4 left."
    assert str(GraphCounts(1, 1, 2)) == "1 entity, 1 relation, from 2 memories."
    assert str(MemoryStats(2, 900, {}, 1000, 0, 0.9)) == (
        "2 messages, 900 tokens of 1,000: 90% of the limit"
    )
    assert str(Contents(Path("b.sqlite"), 4096, 1, 2)).splitlines()[0] == (
        "Backup b.sqlite: 1 chunk, 4,096 bytes."
    )
    told = str(Restored(Path("memory.sqlite"), None, 2)).splitlines()
    assert told == [
        "memory.sqlite is the backup now: 2 chunks.",
        "Markdown files are as they were.",
    ]
    flat = " ".join(str(Stats(1, 2, 1, "local", 4, jobs_dead=1)).split())
    assert flat == (
        "The store files 1 chunks 2 embeddings 1 of 2 chunks model local changes 4 "
        "jobs 0 ready, 0 running, 1 dead"
    )


def test_a_hidden_chunk_is_told_of_by_what_it_is_hidden_behind():
    after = RecordState(hiding=Hiding("0123456789", NOON))
    told = str(Revision("v1", "hide", "c1", NOON, None, RecordState(), after))
    assert re.search(r"hide +2026-05-19 12:00 +— +hidden behind 01234567 +v1", told)


def test_long_words_of_a_sentence_are_not_broken(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    path = Path("/srv/memories/of/everybody/in/one/place/backup.sqlite")
    lines = str(Contents(path, 4096, 1, 2)).splitlines()
    assert any(str(path) in line for line in lines)
    assert all(len(line) <= 40 or str(path) in line for line in lines)


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_id_is_cut_where_the_terminal_is_narrow(monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    ids = [f"000000-{number:020d}" for number in range(2)]
    state = RecordState(a_record("Ann lives in a house by the sea."))
    told = str(show([Revision(one, "quarantine", "r1", NOON, None, state, state) for one in ids]))
    assert max(map(len, told.splitlines())) <= width
    words = told.split()
    assert [word for word in words if word.startswith("000000-")] == ids
    assert words.count("quarantine") == 2
    assert " ".join(words).count("2026-05-19 12:00") == 2
