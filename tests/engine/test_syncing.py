"""What a sync indexes, leaves alone, reports, and makes up for later."""

import os
from pathlib import Path

import pytest

from langchain_memengine.answers import FileProblem
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.retrieval import sources
from langchain_memengine.storage import sqlite
from langchain_memengine.storage.column_types import KeyLimit
from langchain_memengine.types import Actor
from tests.fakes.clock import START, FixedClock
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, texts, write

DOWN = ConnectionError("no route to the embedder")


@pytest.fixture
def reads(monkeypatch):
    """The paths of all files that are read from now on."""
    read: list[str] = []

    def counted(root, path, max_bytes):
        read.append(path)
        return original(root, path, max_bytes)

    original = sources.read_text
    monkeypatch.setattr(sources, "read_text", counted)
    return read


def counts(report):
    return (report.indexed, report.unchanged, report.removed)


# What changed


def test_report_counts_indexed_unchanged_and_removed_files(tmp_path):
    write(tmp_path, "a.md", "tea")
    gone = write(tmp_path, "b.md", "coffee")
    with make_engine(tmp_path) as engine:
        assert counts(engine.sync()) == (2, 0, 0)
        write(tmp_path, "a.md", "green tea")
        write(tmp_path, "tasks/c.txt", "water")
        gone.unlink()
        assert counts(engine.sync()) == (2, 0, 1)
        assert counts(engine.sync()) == (0, 2, 0)
        assert engine.indexed_files() == ["a.md", "tasks/c.txt"]


def test_unchanged_sync_reads_no_file_embeds_nothing_and_changes_nothing(tmp_path, reads):
    write(tmp_path, "a.md", "tea")
    embeddings = FakeEmbeddings()
    with make_engine(tmp_path, embeddings=embeddings) as engine:
        engine.sync()
        assert reads == ["a.md"]
        calls, before = len(embeddings.calls), engine.stats()
        engine.sync()
        assert (reads, len(embeddings.calls), engine.stats()) == (["a.md"], calls, before)


def test_touched_file_with_the_same_bytes_is_read_and_counts_as_unchanged(tmp_path, reads):
    write(tmp_path, "a.md", "tea")
    with make_engine(tmp_path) as engine:
        engine.sync()
        counter = engine.stats().change_counter
        write(tmp_path, "a.md", "tea")
        assert counts(engine.sync()) == (0, 1, 0)
        engine.sync()
        assert reads == ["a.md", "a.md"]
        assert engine.stats().change_counter == counter


def test_line_inserted_on_top_embeds_nothing_that_was_known(tmp_path):
    sections = [f"## part {i}\n\nword{i} of the section\n" for i in range(5)]
    write(tmp_path, "a.md", "\n".join(sections))
    embeddings = FakeEmbeddings()
    with make_engine(tmp_path, embeddings=embeddings) as engine:
        assert engine.sync().embedded == 5
        embeddings.calls.clear()
        write(tmp_path, "a.md", "\n".join(["## new\n\non top\n", *sections]))
        report = engine.sync()
        assert (report.chunks, report.embedded, report.reused) == (6, 1, 5)
        assert embeddings.calls == [["## new\n\non top"]]
        (hit,) = engine.search("word3").hits
        assert hit.start_line == 17  # four lines a section, five of them before it: 16


def test_edited_file_leaves_no_old_chunk(tmp_path):
    five = [f"## part {i}\n\nword{i}\n" for i in range(5)]
    write(tmp_path, "a.md", "\n".join(five))
    with make_engine(tmp_path) as engine:
        engine.sync()
        assert engine.stats().chunks == 5
        write(tmp_path, "a.md", "\n".join(five[:3]))
        assert len(engine.search("word2").hits) == 1
        assert engine.search("word3").hits == ()
        assert engine.stats().chunks == 3
        write(tmp_path, "a.md", "")
        assert engine.search("word2").hits == ()
        assert (engine.stats().chunks, engine.stats().files) == (0, 1)


def test_deleted_file_leaves_nothing(tmp_path):
    path = write(tmp_path, "a.md", "tea")
    with make_engine(tmp_path, embeddings=FakeEmbeddings()) as engine:
        assert len(engine.search("tea").hits) == 1
        path.unlink()
        assert engine.search("tea").hits == ()
        assert (engine.stats().chunks, engine.stats().files, engine.stats().embeddings) == (0, 0, 0)


# Files that cannot be indexed


def test_failing_file_stops_no_other_and_is_retried(tmp_path, monkeypatch):
    for name in ("a.md", "b.md", "c.md"):
        write(tmp_path, name, f"tea of {name[0]}")
    original = sources.read_text

    def broken(root, path, max_bytes):
        if path == "b.md":
            raise OSError(5, "Input/output error")
        return original(root, path, max_bytes)

    with make_engine(tmp_path) as engine:
        with monkeypatch.context() as patch:
            patch.setattr(sources, "read_text", broken)
            report = engine.sync()
            assert report.indexed == 2
            assert [problem.path for problem in report.failed] == ["b.md"]
            assert "Input/output error" in report.failed[0].reason
            assert not report.complete
            result = engine.search("tea")
            assert sorted(texts(result)) == ["tea of a", "tea of c"]
            assert any("b.md" in note for note in result.degraded)
        result = engine.search("tea")
        assert sorted(texts(result)) == ["tea of a", "tea of b", "tea of c"]
        assert (result.auto_synced, result.degraded) == (True, ())


def test_file_of_another_user_that_fails_is_named_to_admins_only(tmp_path, monkeypatch):
    for name in ("a.md", "users/bob/debts.md", "users/Carla/plans.md"):
        write(tmp_path, name, "tea")

    def denied(*args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(sources, "read_text", denied)
    with make_engine(tmp_path) as engine:
        for actor, named in (
            (Actor("ann"), ["a.md"]),
            (Actor("bob"), ["a.md", "users/bob/debts.md"]),
            (Actor("Carla"), ["a.md", "users/Carla/plans.md"]),
            (engine.actor, ["a.md", "users/Carla/plans.md", "users/bob/debts.md"]),
        ):
            told = engine.search("tea", actor=actor).degraded
            assert [note.split(": ")[1] for note in told] == named


def test_file_that_may_not_be_read_is_retried_though_it_did_not_change(tmp_path, monkeypatch):
    write(tmp_path, "a.md", "tea")

    def denied(*args):
        raise PermissionError(13, "Permission denied")

    with make_engine(tmp_path) as engine:
        with monkeypatch.context() as patch:
            patch.setattr("langchain_memengine.workspace.opening.os.open", denied)
            report = engine.sync()
            assert report.failed == (FileProblem("a.md", "Permission denied"),)
        assert engine.sync().indexed == 1


def test_front_matter_that_cannot_be_stored_fails_its_own_file_only(tmp_path):
    write(tmp_path, "a.md", f"---\nnumber: 0x{'f' * 5000}\n---\n\ntea\n")
    write(tmp_path, "b.md", "tea")
    with make_engine(tmp_path) as engine:
        report = engine.sync()
        assert report.indexed == 1
        assert [problem.path for problem in report.failed] == ["a.md"]


def test_a_name_that_the_database_cannot_hold_is_one_files_problem(tmp_path, monkeypatch, reads):
    monkeypatch.setattr(sqlite, "KEY_LIMIT", KeyLimit(chars=60, utf8_bytes=240))
    long = f"{'n' * 60}.md"
    write(tmp_path, "a.md", "tea")
    write(tmp_path, long, "coffee")
    with make_engine(tmp_path) as engine:
        for expected in ((1, 0, 0), (0, 1, 0)):
            report = engine.sync()
            assert counts(report) == expected
            assert [problem.path for problem in report.skipped] == [long]
            assert "this database holds 60" in report.skipped[0].reason
        with pytest.raises(ConfigurationError, match="this database holds 60"):
            engine.index_file(long)
        assert reads == ["a.md"]
        assert texts(engine.search("tea coffee")) == ["tea"]


def test_binary_file_is_skipped_keeps_its_chunks_and_is_read_once(tmp_path, reads):
    write(tmp_path, "a.md", "tea")
    with make_engine(tmp_path) as engine:
        engine.sync()
        write(tmp_path, "a.md", b"\x00\x01 no text")
        for _ in range(2):
            report = engine.sync()
            assert report.skipped == (FileProblem("a.md", "binary"),)
            assert counts(report) == (0, 0, 0)
        assert reads == ["a.md", "a.md"]
        assert texts(engine.search("tea")) == ["tea"]
        write(tmp_path, "a.md", "coffee")
        assert engine.sync().skipped == ()
        assert texts(engine.search("tea coffee")) == ["coffee"]


def test_binary_file_that_is_deleted_takes_its_chunks_along(tmp_path):
    path = write(tmp_path, "a.md", "tea")
    with make_engine(tmp_path) as engine:
        engine.sync()
        write(tmp_path, "a.md", b"\x00")
        engine.sync()
        path.unlink()
        assert engine.sync().removed == 1
        assert engine.search("tea").hits == ()


def test_file_that_became_too_large_keeps_its_chunks(tmp_path):
    write(tmp_path, "a.md", "tea")
    with make_engine(tmp_path, max_file_bytes=20) as engine:
        engine.sync()
        write(tmp_path, "a.md", "coffee " * 10)
        report = engine.sync()
        assert [problem.path for problem in report.skipped] == ["a.md"]
        assert texts(engine.search("tea")) == ["tea"]
        with pytest.raises(ConfigurationError, match=r"a\.md.*more than the 20 allowed"):
            engine.index_file("a.md")
        assert texts(engine.search("tea")) == ["tea"]


def replaced_by_a_link(path):
    path.unlink()
    path.symlink_to(path.parent / "secret.txt")


def replaced_by_a_pipe(path):
    path.unlink()
    os.mkfifo(path)


def replaced_by_a_folder(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("happens", "reason"),
    [
        (Path.unlink, None),
        (replaced_by_a_link, "a symbolic link; links are not followed"),
        (replaced_by_a_pipe, "not a regular file"),
        (replaced_by_a_folder, "not a regular file"),
        (lambda path: path.write_bytes(b"\0"), "binary"),
        (lambda path: path.write_bytes(b"x" * 5_000_001), "5000001 bytes, more than the 5000000"),
    ],
    ids=["deleted", "link", "pipe", "folder", "binary", "huge"],
)
def test_what_happens_to_a_file_during_a_sync_concerns_that_file_alone(
    tmp_path, monkeypatch, happens, reason
):
    for name in ("a.md", "b.md", "c.md"):
        write(tmp_path, name, f"tea of {name[0]}")
    (tmp_path / "secret.txt").write_text("tea, secret")
    original = sources.read_text

    def read(root, path, max_bytes):
        if path == "b.md":
            happens(tmp_path / path)
        return original(root, path, max_bytes)

    with make_engine(tmp_path, include=("*.md",), sync_on_search=False) as engine:
        with monkeypatch.context() as patch:
            patch.setattr(sources, "read_text", read)
            report = engine.sync()
        assert (report.indexed, report.failed) == (2, ())
        told = [(problem.path, problem.reason) for problem in report.skipped]
        assert [path for path, _ in told] == ([] if reason is None else ["b.md"])
        assert all(why.startswith(reason) for _, why in told)
        assert sorted(texts(engine.search("tea"))) == ["tea of a", "tea of c"]
        again = engine.sync()
        assert (again.indexed, again.unchanged, again.failed) == (0, 2, ())
        assert sorted(texts(engine.search("tea"))) == ["tea of a", "tea of c"]


def test_file_of_any_date_is_indexed_with_an_age(tmp_path):
    for name, nanoseconds in (("past.md", -(2**62)), ("future.md", 2**63), ("far.md", 30 * 10**18)):
        path = write(tmp_path, name, f"tea {name}")
        try:
            os.utime(path, ns=(nanoseconds, nanoseconds))
        except (OSError, OverflowError):
            pytest.skip("this system keeps no such time")
    with make_engine(tmp_path) as engine:
        assert engine.sync().indexed == 3
        assert counts(engine.sync()) == (0, 3, 0)
        ages = {hit.path: hit.receipt.age_days for hit in engine.search("tea").hits}
        assert ages["past.md"] > 40_000
        assert ages["future.md"] == ages["far.md"] == 0.0


# One file


def test_index_file_says_whether_it_was_stale(tmp_path):
    path = write(tmp_path, "a.md", "tea")
    write(tmp_path, "b.md", "tea, too")
    with make_engine(tmp_path, sync_on_search=False) as engine:
        assert engine.index_file("a.md") is True
        assert engine.index_file("a.md") is False
        assert texts(engine.search("tea")) == ["tea"]
        path.unlink()
        assert engine.index_file("a.md") is True
        assert engine.search("tea").hits == ()
        with pytest.raises(ConfigurationError, match=r"'a\.md'"):
            engine.index_file("a.md")


def test_index_file_takes_a_path_however_it_is_written(tmp_path, monkeypatch):
    write(tmp_path, "daily/a.md", "tea")
    monkeypatch.chdir(tmp_path.parent)
    with make_engine(tmp_path) as engine:
        assert engine.index_file(tmp_path / "daily" / "a.md")
        for path in (str(tmp_path / "daily" / "a.md"), "./daily/a.md", Path("daily/a.md")):
            assert not engine.index_file(path)
        with pytest.raises(ConfigurationError, match="outside the workspace"):
            engine.index_file(tmp_path.parent / "a.md")


def test_index_file_says_why_it_cannot(tmp_path):
    write(tmp_path, "a.md", b"\x00")
    write(tmp_path, "a.csv", "tea")
    with make_engine(tmp_path) as engine:
        with pytest.raises(ConfigurationError, match="binary"):
            engine.index_file("a.md")
        with pytest.raises(ConfigurationError, match="patterns leave it out"):
            engine.index_file("a.csv")


# The embedder


def test_outage_costs_embeddings_but_no_text(tmp_path):
    write(tmp_path, "a.md", "tea")
    embeddings = FakeEmbeddings(fail_with=[DOWN])
    with make_engine(tmp_path, embeddings=embeddings, sync_on_search=False) as engine:
        report = engine.sync()
        assert (report.indexed, report.chunks, report.embedded, report.pending) == (1, 1, 0, 1)
        assert len(report.degraded) == 1
        assert "embeddings" in report.degraded[0]
        assert not report.complete
        assert engine.stats().embeddings == 0
        repaired = engine.sync()
        assert (repaired.indexed, repaired.embedded, repaired.pending) == (0, 1, 0)
        assert repaired.complete
        result = engine.search("tea")
        assert result.degraded == ()
        assert result.hits[0].cosine == pytest.approx(1.0)


def test_search_says_that_embeddings_are_missing(tmp_path):
    write(tmp_path, "a.md", "tea")
    embeddings = FakeEmbeddings()
    with make_engine(tmp_path, embeddings=embeddings, sync_on_search=False) as engine:
        engine.sync()
        write(tmp_path, "b.md", "more tea")
        embeddings._faults = [DOWN]
        assert engine.sync().pending == 1
        result = engine.search("tea")
        assert sorted(texts(result)) == ["more tea", "tea"]
        assert result.degraded == ("vector: 1 chunk without an embedding yet",)


def test_short_answer_never_becomes_a_wrong_vector(tmp_path):
    words = ["tea", "coffee", "water"]
    embeddings = FakeEmbeddings(fail_with=[None, lambda vectors: vectors[:1]])
    with make_engine(embeddings=embeddings) as engine:
        engine.add_texts(words)
        engine.sync()
        for word in words:
            best = engine.search(word).hits[0]
            assert (best.text, best.cosine) == (word, pytest.approx(1.0))


def test_text_that_means_nothing_to_the_embedder_is_reported_and_not_sent_again(tmp_path):
    write(tmp_path, "a.md", "tea")
    zeros = lambda vectors: [[0.0] * len(vectors[0])]  # noqa: E731  # one line among faults
    embeddings = FakeEmbeddings(fail_with=[None, zeros])
    with make_engine(tmp_path, embeddings=embeddings) as engine:
        report = engine.sync()
        assert (report.embedded, report.pending) == (0, 0)
        assert report.degraded[0].startswith("embeddings: 1 text without a meaning")
        sent = len(embeddings.calls)
        assert engine.sync().degraded == ()
        assert len(embeddings.calls) == sent
        assert texts(engine.search("tea")) == ["tea"]


class OtherEmbeddings(FakeEmbeddings):
    """Another model, with vectors of another length."""

    model = "other"


def test_another_model_degrades_to_keywords_until_reembed(tmp_path):
    write(tmp_path, "a.md", "tea")
    with make_engine(tmp_path, embeddings=FakeEmbeddings(64)) as engine:
        engine.sync()
    with make_engine(tmp_path, embeddings=OtherEmbeddings(32)) as engine:
        write(tmp_path, "b.md", "green tea")
        report = engine.sync()
        assert report.indexed == 1
        assert "engine.reembed()" in report.degraded[0]
        result = engine.search("tea")
        assert [hit.cosine for hit in result.hits] == [None, None]
        assert "engine.reembed()" in result.degraded[-1]
        repaired = engine.reembed()
        assert (repaired.embedded, repaired.pending, repaired.degraded) == (2, 0, ())
        result = engine.search("tea")
        assert result.degraded == ()
        assert all(hit.cosine for hit in result.hits)
        assert engine.sync().complete
    with make_engine(tmp_path, embeddings=FakeEmbeddings(64)) as engine:
        assert "engine.reembed()" in engine.search("tea").degraded[0]


def test_same_name_with_other_weights_is_another_model(tmp_path):
    class Shuffled(FakeEmbeddings):
        def _vector(self, text):
            return super()._vector(text)[::-1]

    Shuffled.__name__ = "FakeEmbeddings"
    write(tmp_path, "a.md", "tea")
    with make_engine(tmp_path, embeddings=FakeEmbeddings()) as engine:
        engine.sync()
    with make_engine(tmp_path, embeddings=Shuffled()) as engine:
        assert "engine.reembed()" in engine.search("tea").degraded[0]
        assert engine.reembed().embedded == 1
        assert engine.search("tea").hits[0].cosine == pytest.approx(1.0)


def test_engine_whose_model_was_replaced_by_another_engine_falls_back_to_keywords(tmp_path):
    write(tmp_path, "a.md", "tea")
    with (
        make_engine(tmp_path, embeddings=FakeEmbeddings(64)) as old,
        make_engine(tmp_path, embeddings=FakeEmbeddings(32)) as new,
    ):
        old.sync()
        assert old.search("tea").hits[0].cosine == pytest.approx(1.0)
        new.reembed()
        assert [hit.cosine for hit in old.search("tea").hits] == [None]
        assert new.search("tea").hits[0].cosine == pytest.approx(1.0)


# Dry run


def test_dry_run_counts_and_writes_nothing(tmp_path, reads):
    write(tmp_path, "a.md", "twelve chars")
    write(tmp_path, "b.md", "2024")
    embeddings = FakeEmbeddings()
    with make_engine(tmp_path, embeddings=embeddings, sync_on_search=False) as engine:
        before = engine.stats()
        report = engine.sync(dry_run=True)
        assert report.dry_run
        assert (report.indexed, report.chunks, report.embedded) == (2, 2, 2)
        assert report.tokens == 3 + 4  # 12 / 4 characters, and a token for each digit
        assert (embeddings.calls, engine.stats()) == ([], before)
        assert engine.search("twelve").hits == ()
        engine.sync()
        (tmp_path / "a.md").unlink()
        assert engine.sync(dry_run=True).removed == 1
        assert engine.stats().files == 2


def test_progress_is_reported_by_file(tmp_path):
    for i in range(3):
        write(tmp_path, f"{i}.md", f"tea {i}")
    seen: list[tuple[int, int]] = []
    with make_engine(tmp_path) as engine:
        engine.sync(progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (3, 3)


# More folders


def test_named_sources_are_indexed_beside_the_root(tmp_path):
    root = tmp_path / "memory"
    write(root, "a.md", "tea at the root")
    write(tmp_path / "docs", "a.md", "tea of the documents")
    write(tmp_path / "wiki", "a.md", "tea of the wiki")
    named = {"docs": tmp_path / "docs", "wiki": tmp_path / "wiki"}
    with make_engine(root, sources=named) as engine:
        assert counts(engine.sync()) == (3, 0, 0)
        assert len({hit.source for hit in engine.search("tea").hits}) == 3
        assert engine.indexed_files() == ["a.md", "a.md", "a.md"]
        (tmp_path / "docs" / "a.md").unlink()
        assert counts(engine.sync()) == (0, 2, 1)
        assert sorted(texts(engine.search("tea"))) == ["tea at the root", "tea of the wiki"]


def test_engine_without_a_named_source_removes_none_of_its_rows(tmp_path):
    root = tmp_path / "memory"
    write(tmp_path / "docs", "a.md", "tea")
    with make_engine(root, sources={"docs": tmp_path / "docs"}) as engine:
        engine.sync()
    with make_engine(root) as engine:
        assert engine.sync().removed == 0
        assert texts(engine.search("tea")) == ["tea"]


def test_files_of_one_name_in_several_folders_do_not_stand_around_each_other(tmp_path):
    root, docs = tmp_path / "memory", tmp_path / "docs"
    write(root, "README.md", "The kiln is hot.")
    write(docs, "README.md", "The roof is red.")
    write(docs, "HOUSES.md", "The roof is tin.")
    with make_engine(root, sources={"docs": docs}) as engine:
        engine.sync()
        hits = {hit.text: hit.receipt for hit in engine.search("kiln roof").hits}
        one, other = hits["The roof is red."], hits["The roof is tin."]
        assert (one.context_rank, one.fused) == (other.context_rank, other.fused)


def test_the_files_of_a_folder_that_is_no_source_any_more_can_be_forgotten(tmp_path):
    root = tmp_path / "memory"
    write(root, "a.md", "tea at the root")
    write(tmp_path / "docs", "a.md", "tea of the documents")
    write(tmp_path / "docs", "users/alice/b.md", "tea of alice")
    with make_engine(root, sources={"docs": tmp_path / "docs"}) as engine:
        engine.sync()
    with make_engine(root) as engine:
        engine.forget(owner="alice")
        assert engine.search("alice", actor=Actor("alice")).hits == ()
        report = engine.forget(source="file:docs-*")
        assert any("does not follow" in line for line in report.out_of_reach)
        assert texts(engine.search("tea")) == ["tea at the root"]
        assert (root / "a.md").exists()
        assert engine.stats().files == 1
    assert (tmp_path / "docs" / "a.md").exists()
    with make_engine(root, sources={"docs": tmp_path / "docs"}) as engine:
        engine.sync()
        assert len(engine.search("tea", actor=Actor("alice")).hits) == 3


def test_a_folder_that_lost_its_id_has_no_file_twice(tmp_path):
    write(tmp_path, "a.md", "tea")
    with make_engine(tmp_path) as engine:
        engine.sync()
    (tmp_path / ".memengine" / "workspace-id").unlink()
    with make_engine(tmp_path, read_only=True) as engine:
        assert texts(engine.search("tea")) == ["tea"]
        assert not (tmp_path / ".memengine" / "workspace-id").exists()
    with make_engine(tmp_path) as engine:
        assert counts(engine.sync()) == (0, 1, 0)
        (tmp_path / "a.md").unlink()
        engine.sync()
        assert engine.search("tea").hits == ()


# What a file's chunks carry


def test_files_under_users_are_personal(tmp_path):
    write(tmp_path, "users/alice/notes.md", "tea")
    write(tmp_path, "notes.md", "tea for all")
    with make_engine(tmp_path) as engine:
        engine.sync()
        assert texts(engine.search("tea", actor=Actor("bob"))) == ["tea for all"]
        found = {hit.text: hit for hit in engine.search("tea", actor=Actor("alice")).hits}
        assert (found["tea"].scope, found["tea"].owner) == ("personal", "alice")
        assert (found["tea for all"].scope, found["tea for all"].owner) == ("global", "")


def test_age_comes_from_name_and_entry_then_front_matter_then_mtime(tmp_path):
    write(tmp_path, "daily/2026-05-09.md", "## 06:00 — build\n\nalpha\n\n## 18:00 — test\n\nbeta\n")
    write(tmp_path, "dated.md", "---\ndate: 2026-04-19\n---\n\ngamma\n")
    write(tmp_path, "plain.md", "delta", at=START.replace(day=18))
    write(tmp_path, "MEMORY.md", "epsilon")
    write(tmp_path, "later.md", "zeta", at=START.replace(day=20))
    with make_engine(tmp_path, clock=FixedClock(START)) as engine:

        def age(word):
            return engine.search(word).hits[0].receipt.age_days

        assert age("alpha") == pytest.approx(10.25)  # 9 May 06:00 to 19 May 12:00
        assert age("beta") == pytest.approx(9.75)
        assert age("gamma") == pytest.approx(30.5)
        assert age("delta") == pytest.approx(1.0)
        assert age("epsilon") is None
        assert age("zeta") == 0.0


def test_what_front_matter_says_is_found_once_a_file(tmp_path):
    front = "---\ntitle: Kiln\ntags: [pottery]\nrating: 5\ndate: 2026-05-01\nof: {a: b}\n---\n"
    write(tmp_path, "n1.md", f"{front}\n# One\n\nIt is hot.\n\n# Two\n\nIt is cold.\n")
    write(tmp_path, "n2.md", front.replace("Kiln", "Oven"))
    with make_engine(tmp_path, embeddings=FakeEmbeddings()) as engine:
        assert [(hit.path, hit.heading) for hit in engine.search("kiln").hits] == [("n1.md", "One")]
        assert texts(engine.search("oven")) == [front.replace("Kiln", "Oven").rstrip()]
        assert {hit.path for hit in engine.search("pottery").hits} == {"n1.md", "n2.md"}
        assert [hit.path for hit in engine.search("2026-05-01").hits] == ["n2.md"]


def test_tags_links_and_front_matter_become_metadata(tmp_path):
    write(
        tmp_path,
        "a.md",
        '---\nproject: apollo\ntags: [one, "\\ud800"]\n---\n\ntea with [[Milk]] #two\n',
    )
    with make_engine(tmp_path) as engine:
        (hit,) = engine.search("tea").hits
        assert hit.metadata == {
            "project": "apollo",
            "tags": ["one", "\ufffd", "two"],
            "links": ["Milk"],
        }
        assert len(engine.search("tea", filter={"tags": "two"}).hits) == 1
        assert engine.search("tea", filter={"project": "gemini"}).hits == ()


# When a search syncs


def test_search_syncs_only_when_it_may(tmp_path):
    write(tmp_path, "a.md", "tea")
    with make_engine(tmp_path, stat_interval_seconds=3600) as engine:
        assert engine.search("tea").auto_synced is True
        write(tmp_path, "b.md", "tea")
        result = engine.search("tea")
        assert (result.auto_synced, len(result.hits)) == (False, 1)
        engine.append_daily("note", "tea")  # what the engine writes itself is looked for
        assert len(engine.search("tea").hits) == 3


def test_search_answers_when_the_folder_is_gone(tmp_path):
    root = tmp_path / "memory"
    write(tmp_path / "docs", "a.md", "tea")
    with make_engine(root, sources={"docs": tmp_path / "docs"}) as engine:
        engine.sync()
        (tmp_path / "docs" / "a.md").unlink()
        (tmp_path / "docs").rmdir()
        result = engine.search("tea")
        assert texts(result) == ["tea"]
        assert result.degraded[0].startswith("sync: ")


def test_another_engine_re_embedding_is_noticed_by_the_next_search(tmp_path):
    write(tmp_path, "a.md", "tea")
    with (
        make_engine(tmp_path, embeddings=FakeEmbeddings(8)) as first,
        make_engine(tmp_path, embeddings=FakeEmbeddings(16)) as second,
    ):
        first.sync()
        assert first.search("tea").degraded == ()
        second.reembed()
        result = first.search("tea")
        assert texts(result) == ["tea"]
        assert "engine.reembed()" in result.degraded[0]
