"""consolidate and undo."""

import pytest

from tests.fakes.clock import FixedClock
from tests.fakes.engines import make_engine

STAGING = "The staging server runs in Frankfurt and has eight cores.\n"


@pytest.fixture
def twice(root):
    """The memory of the other tests, with one text in two files."""
    (root / "a.md").write_text(STAGING, encoding="utf-8")
    (root / "b.md").write_text(f"- {STAGING}", encoding="utf-8")
    return root


def test_a_dry_run_shows_a_diff_and_changes_nothing(memengine, twice):
    result = memengine("consolidate", "--dry-run", "--root", twice)
    assert result.exit_code == 0, result.stderr
    assert "1 would be hidden, 0 would be merged" in result.stdout
    assert "+++ a.md:1-1" in result.stdout or "+++ b.md:1-1" in result.stdout
    report = memengine.json("consolidate", "--dry-run", "--root", twice)
    assert (report["hidden"], report["dry_run"]) == (1, True)
    assert report["diff"].startswith("--- ")
    assert not (twice / "DREAMS.md").exists()


def test_what_is_consolidated_is_undone_by_its_revision(memengine, twice):
    report = memengine.json("consolidate", "--root", twice)
    (entry,) = report["entries"]
    assert "diff" not in report
    assert len(memengine.json("search", "staging", "--root", twice)["hits"]) == 1
    assert entry["revision"] in (twice / "DREAMS.md").read_text(encoding="utf-8")
    assert "Undone." in memengine("undo", entry["revision"], "--root", twice).stdout
    assert len(memengine.json("search", "staging", "--root", twice)["hits"]) == 2
    result = memengine("undo", entry["revision"], "--root", twice)
    assert result.exit_code == 1
    assert "changed after" in result.stderr


def test_the_entries_are_shown_with_what_undoes_them(memengine, twice):
    result = memengine("consolidate", "--fold", "--root", twice)
    assert "1 hidden, 0 merged, 0 folded" in result.stdout
    (revision,) = memengine.json("revisions", "--root", twice)
    assert revision["id"] in result.stdout


def test_an_undo_of_what_is_no_record_tells_programs_so(memengine, twice):
    (entry,) = memengine.json("consolidate", "--root", twice)["entries"]
    told = memengine.json("undo", entry["revision"], "--root", twice)
    assert told == {"revision": entry["revision"], "record": None}


def test_an_undo_shows_the_record_as_it_is_then(memengine, root):
    with make_engine(root) as engine:
        record = engine.remember("We use ruff.")
        engine.update(record.id, text="We use black.")
        revision = engine.revisions(record.id)[-1].id
    assert "We use ruff." in memengine("undo", revision, "--root", root).stdout
    assert memengine("undo", "nothing", "--root", root).exit_code == 1


def test_other_users_may_not_consolidate(memengine, twice):
    result = memengine("consolidate", "--user", "bob", "--root", twice)
    assert result.exit_code == 1
    assert "needs an admin" in result.stderr


def test_revisions_are_listed_with_the_ids_that_undo_takes(memengine, root):
    clock = FixedClock()
    with make_engine(root, clock=clock) as engine:
        engine.remember("We use ruff.", id="linter")
        clock.pass_days(1)
        engine.update("linter", text="We use black.")
        clock.pass_days(1)
        engine.remember("Tea is at four.")
    shown = memengine("revisions", "--root", root)
    assert shown.stdout.startswith("3 revisions\n")
    newest = memengine.json("revisions", "-n", 2, "--root", root)
    assert [one["kind"] for one in newest] == ["add", "update"]
    for name in ("linter", "record:linter:1-1", "record:linter"):
        found = memengine.json("revisions", name, "--root", root)
        assert [one["kind"] for one in found] == ["update", "add"]
        assert [one["target_id"] for one in found] == ["linter"] * 2
    assert "We use ruff." in memengine("undo", found[0]["id"], "--root", root).stdout
    assert memengine.json("revisions", "--user", "bob", "-n", 9, "--root", root) != []


def test_a_memory_without_revisions_says_so_and_an_unknown_id_names_the_way(memengine, root):
    told = memengine("revisions", "--root", root)
    assert told.stdout == "Nothing was changed yet: there are no revisions.\n"
    refused = memengine("undo", "nothing", "--root", root)
    assert "See: memengine revisions" in refused.stderr
    assert memengine("revisions", "nothing", "--root", root).exit_code == 1
