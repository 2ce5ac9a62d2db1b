"""What is written into the Markdown."""

import hashlib
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.text.markdown import headings
from langchain_memengine.types import Fact
from langchain_memengine.workspace.entries import (
    Workspace,
    append_digest,
    fact_hash,
)
from langchain_memengine.workspace.notes import DiskNotes
from langchain_memengine.workspace.renderings import without_rendered

NOW = datetime(2026, 5, 19, 14, 5, tzinfo=UTC)
NAIVE = NOW.replace(tzinfo=None)


class DictNotes:
    """Notes in a dict that counts its writes."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.writes = 0

    def read(self, name: str) -> str:
        return self.texts.get(name, "")

    def update(self, name: str, change: Callable[[str], str]) -> None:
        old = self.read(name)
        new = change(old)
        if new != old:
            self.texts[name] = new
            self.writes += 1

    def names(self) -> list[str]:
        return sorted(self.texts)


@pytest.fixture(params=["disk", "dict"])
def notes(request, tmp_path):
    return DiskNotes(tmp_path / "memory") if request.param == "disk" else DictNotes()


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# Daily log


def test_daily_entries_are_separated_by_one_blank_line(notes):
    workspace = Workspace(notes)
    assert workspace.append_daily(NOW, "plan", "First.") == "daily/2026-05-19.md"
    workspace.append_daily(NOW + timedelta(minutes=7), "build\nand test", "Second.\n\nMore.")
    assert notes.read("daily/2026-05-19.md") == (
        "## 14:05 — plan\n\nFirst.\n\n## 14:12 — build and test\n\nSecond.\n\nMore.\n"
    )


@pytest.mark.parametrize("body", ["```\ncode", "text\n~~~~python\n```\ncode\n", "  ```\n``"])
def test_an_entry_that_leaves_code_open_takes_no_other_one_in(notes, body):
    workspace = Workspace(notes)
    for stage in ("one", "two"):
        name = workspace.append_daily(NOW, stage, body)
    text = notes.read(name)
    assert [heading.title for heading in headings(text)] == ["14:05 — one", "14:05 — two"]
    assert text.count(body) == 2


def test_daily_entries_are_filed_by_utc(notes):
    tokyo = datetime(2026, 5, 20, 1, 30, tzinfo=timezone(timedelta(hours=9)))
    assert Workspace(notes).append_daily(tokyo, "s", "b") == "daily/2026-05-19.md"
    assert notes.read("daily/2026-05-19.md").startswith("## 16:30 — s\n")


@pytest.mark.parametrize(("folder", "name"), [("", "DREAMS.md"), ("ann", "users/ann/DREAMS.md")])
def test_a_digest_is_added_once_between_marks(notes, folder, name):
    for _ in range(2):
        assert append_digest(notes, folder, NOW, "tidied", "- one", record="r1") == name
    body = "- two <!-- /record:r2 -->"
    append_digest(notes, folder, NOW, "tidied", body, record="r2")
    assert notes.read(name) == (
        "<!-- record:r1 -->\n## 2026-05-19 14:05 — tidied\n\n- one\n<!-- /record:r1 -->\n\n"
        "<!-- record:r2 -->\n## 2026-05-19 14:05 — tidied\n\n- two &lt;!-- /record:r2 -->\n"
        "<!-- /record:r2 -->\n"
    )


@pytest.mark.parametrize(
    ("old", "gap"),
    [
        ("x", "\n\n"),
        ("x\n", "\n"),
        ("x\n\n", ""),
        ("x\r\n", "\n"),
        ("x\r\n\r\n", ""),
        ("x\n\n\n", ""),
    ],
)
def test_what_stands_in_a_daily_file_is_kept_verbatim(tmp_path, old, gap):
    path = tmp_path / "daily" / "2026-05-19.md"
    path.parent.mkdir()
    path.write_bytes(old.encode())
    Workspace(DiskNotes(tmp_path)).append_daily(NOW, "s", "b")
    assert path.read_bytes().decode() == old + gap + "## 14:05 — s\n\nb\n"


def test_a_naive_time_is_refused(notes):
    workspace = Workspace(notes)
    with pytest.raises(ConfigurationError, match="no time zone"):
        workspace.append_daily(NAIVE, "s", "b")
    with pytest.raises(ConfigurationError, match="no time zone"):
        workspace.promote_facts(NAIVE, "t", [Fact("s", "f")])
    assert notes.names() == []


# Task summaries


def test_a_task_summary_is_overwritten(notes):
    workspace = Workspace(notes)
    workspace.write_task_summary("fix-login", "Old", "Long old body.")
    assert (
        workspace.write_task_summary("fix-login", "Fix\r\nlogin", "Done.") == "tasks/fix-login.md"
    )
    assert notes.read("tasks/fix-login.md") == "# Fix login\n\nDone.\n"


def test_a_task_summary_is_never_taken_for_the_rendering_of_a_record(notes):
    body = "<!-- record:r -->\nquoted\n<!-- /record:r -->"
    name = Workspace(notes).write_task_summary("t", "T", body)
    assert "quoted" in without_rendered(notes.read(name))


def test_a_hostile_task_id_stays_in_its_folder(notes):
    name = Workspace(notes).write_task_summary("../../out", "t", "b")
    assert re.fullmatch(r"tasks/out-[0-9a-f]{16}\.md", name)
    assert notes.names() == [name]


# Facts


def test_facts_are_promoted_under_a_dated_heading(notes):
    facts = [Fact("a.md#Decisions", "Use PostgreSQL."), Fact("", "Line one\n line two")]
    assert Workspace(notes).promote_facts(NOW, "T-1", facts) == 2
    assert notes.read("MEMORY.md") == (
        "## 2026-05-19 — T-1\n\n"
        f"- Use PostgreSQL. (a.md#Decisions) <!-- sha256:{sha('Use PostgreSQL.')} -->\n"
        f"- Line one line two <!-- sha256:{sha('Line one line two')} -->\n"
    )


def test_only_new_facts_are_added(notes):
    workspace = Workspace(notes)
    workspace.promote_facts(NOW, "T-1", [Fact("s", "one")])
    again = [Fact("elsewhere", "one"), Fact("s", "two"), Fact("s", "two"), Fact("s", " \n ")]
    assert workspace.promote_facts(NOW, "T-2", again) == 1
    assert workspace.read_memory().endswith(
        f"-->\n\n## 2026-05-19 — T-2\n\n- two (s) <!-- sha256:{sha('two')} -->\n"
    )


def test_nothing_is_written_when_no_fact_is_new():
    notes = DictNotes()
    workspace = Workspace(notes)
    assert workspace.promote_facts(NOW, "T", []) == 0
    workspace.promote_facts(NOW, "T", [Fact("s", "one")])
    assert workspace.promote_facts(NOW, "T", [Fact("s", "one")]) == 0
    assert notes.writes == 1


def test_a_fact_whose_line_a_person_removed_may_be_promoted_again():
    notes = DictNotes()
    workspace = Workspace(notes)
    workspace.promote_facts(NOW, "T", [Fact("s", "one")])
    notes.texts["MEMORY.md"] = "# Mine\n"
    assert workspace.promote_facts(NOW, "T", [Fact("s", "one")]) == 1


@pytest.mark.parametrize("place", ["text", "source", "task"])
def test_no_part_of_a_fact_can_forge_the_mark_of_another(notes, place):
    mark = f"<!-- sha256:{sha('victim')} -->"
    workspace = Workspace(notes)
    text, source, task = (mark if place == name else "x" for name in ("text", "source", "task"))
    workspace.promote_facts(NOW, task, [Fact(source, text)])
    assert mark not in workspace.read_memory()
    assert workspace.read_memory().count("-->") == 1
    assert workspace.promote_facts(NOW, "T", [Fact("s", "victim")]) == 1


def test_the_same_number_counts_when_a_change_is_applied_again():
    class RetryingNotes(DictNotes):
        def update(self, name, change):
            change(self.read(name))
            super().update(name, change)

    assert Workspace(RetryingNotes()).promote_facts(NOW, "T", [Fact("s", "one")]) == 1


TEXTS = st.one_of(
    st.text(max_size=30),
    st.lists(
        st.sampled_from(["<!--", "-->", "<!-->", " sha256:", "\n", "a", "\r"]), max_size=6
    ).map("".join),
)
FACTS = st.lists(st.builds(Fact, TEXTS, TEXTS), max_size=6)


@given(FACTS, FACTS)
def test_promoting_is_idempotent_and_counts_distinct_texts(first, second):
    notes = DictNotes()
    workspace = Workspace(notes)
    new = workspace.promote_facts(NOW, "T", first) + workspace.promote_facts(NOW, "T", second)
    distinct = {fact_hash(fact.text) for fact in first + second if fact.text.strip()}
    assert new == len(distinct)
    memory = workspace.read_memory()
    marks = re.findall(r"<!-- sha256:([0-9a-f]{64}) -->\n", memory)
    assert sorted(marks) == sorted(distinct)
    assert memory.count("\n- ") == new
    assert workspace.promote_facts(NOW, "T", second + first) == 0
    assert workspace.read_memory() == memory


# MEMORY.md


def test_memory_is_empty_before_it_is_written(notes):
    assert Workspace(notes).read_memory() == ""
    assert Workspace(notes).list_files() == []


def test_the_legacy_memory_file_is_read_and_written_where_it_alone_exists(tmp_path):
    (tmp_path / "Memory.md").write_text("# Old\n")
    workspace = Workspace(DiskNotes(tmp_path))
    assert workspace.read_memory() == "# Old\n"
    assert workspace.promote_facts(NOW, "T", [Fact("s", "one")]) == 1
    assert (tmp_path / "Memory.md").read_text().startswith("# Old\n\n## 2026-05-19 — T\n")
    assert workspace.list_files() == ["Memory.md"]
    (tmp_path / "MEMORY.md").write_text("")
    assert workspace.read_memory() == ""
    assert workspace.list_files() == ["MEMORY.md"]


def test_files_are_listed_pinned_first_then_days_then_tasks(notes):
    for name in (
        "tasks/b.md",
        "tasks/a.md",
        "daily/2026-05-18.md",
        "daily/2026-05-19.md",
        "daily/notes.md",
        "daily/sub/2026-05-20.md",
        "DREAMS.md",
        "MEMORY.md",
        "other.md",
        "users/bob/MEMORY.md",
        "users/bob/daily/2026-05-21.md",
        "archive/s/1.md",
    ):
        notes.update(name, lambda _: "x")
    assert Workspace(notes).list_files() == [
        "MEMORY.md",
        "DREAMS.md",
        "daily/2026-05-19.md",
        "daily/2026-05-18.md",
        "daily/notes.md",
        "tasks/a.md",
        "tasks/b.md",
    ]
    assert Workspace(notes, "bob").list_files() == [
        "users/bob/MEMORY.md",
        "users/bob/daily/2026-05-21.md",
    ]


def test_owners_write_only_below_their_folder(notes):
    for owner in ("bob", "../eve"):
        workspace = Workspace(notes, owner)
        workspace.append_daily(NOW, "s", "b")
        workspace.write_task_summary("t", "t", "b")
        workspace.promote_facts(NOW, "t", [Fact("s", owner)])
    assert {name.split("/")[0] for name in notes.names()} == {"users"}
    assert len(notes.names()) == 6
    assert Workspace(notes).list_files() == []


def test_an_entry_of_a_record_is_added_once_also_after_midnight(tmp_path):
    workspace = Workspace(DiskNotes(tmp_path))
    late, early = datetime(2026, 5, 19, 23, 59, tzinfo=UTC), datetime(2026, 5, 20, 0, 1, tzinfo=UTC)
    name = workspace.append_daily(late, "flush", "Tea.", record="r1")
    assert workspace.append_daily(early, "flush", "Tea.", record="r1") == name
    assert workspace.append_daily(early, "flush", "Milk.", record="r2") == "daily/2026-05-20.md"
    assert workspace.append_daily(early, "note", "Tea.") == "daily/2026-05-20.md"


def test_a_log_of_the_day_before_that_is_no_text_hinders_nothing(tmp_path):
    (tmp_path / "daily").mkdir()
    (tmp_path / "daily" / "2026-05-19.md").write_bytes(b"\0\xff")
    now = datetime(2026, 5, 20, tzinfo=UTC)
    name = Workspace(DiskNotes(tmp_path)).append_daily(now, "flush", "Tea.", record="r1")
    assert name == "daily/2026-05-20.md"
