"""How a command opens the memory it works on."""

import json
import os
from pathlib import Path

import pytest

from langchain_memengine.cli import opening
from langchain_memengine.cli.failing import UsageProblem
from langchain_memengine.cli.opening import (
    blank_advice,
    index_changes,
    opened,
    opened_fresh,
    require_folder,
    warn,
)
from langchain_memengine.cli.options import DEFAULT_ROOT
from langchain_memengine.errors import ConfigurationError, StorageError
from langchain_memengine.workspace.blank_memory import BLANK_MEMORY


def test_a_root_that_is_not_there_is_refused_with_the_command_that_makes_it(tmp_path):
    place = tmp_path / "my notes"
    with pytest.raises(UsageProblem, match=f"Run: memengine init '{place}'"):
        require_folder(place)
    assert not place.exists()


def test_a_root_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "note.md").write_text("tea")
    with pytest.raises(UsageProblem, match="is a file, not a folder"):
        require_folder(tmp_path / "note.md")


def test_a_root_may_begin_at_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "notes").mkdir()
    assert require_folder(Path("~/notes")) == tmp_path / "notes"


def test_opening_indexes_nothing_and_starts_no_thread(memengine, root):
    with opened(root, None) as engine:
        assert engine.stats().chunks == 0
        assert (engine.config.worker, engine.config.sync_on_open) == ("off", False)
        assert engine.config.embeddings is None  # as the environment says


def test_an_option_wins_over_the_environment(memengine, root):
    with opened(root, "local", language="german") as engine:
        assert (engine.config.embeddings, engine.config.language) == ("local", "german")


def test_a_setting_that_cannot_work_is_an_error(memengine, root):
    with pytest.raises(ConfigurationError, match="nonsense"), opened(root, "nonsense"):
        pass


def test_opening_fresh_indexes_what_changed(memengine, root):
    with opened_fresh(root, None) as (engine, problems):
        assert (engine.stats().files, problems) == (2, ())


def test_who_switched_that_off_is_not_overruled(memengine, root, monkeypatch):
    monkeypatch.setenv("MEMENGINE_SYNC_ON_SEARCH", "false")
    with opened_fresh(root, None) as (engine, problems):
        assert (engine.stats().files, problems) == (0, ())


def test_what_cannot_be_listed_is_told_and_keeps_nothing_else_out(memengine, root, monkeypatch):
    (root / "closed").mkdir()
    scandir = os.scandir

    def refusing(path):
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with opened_fresh(root, None) as (engine, problems):
        assert engine.stats().files == 2
    assert [problem.startswith("sync: closed") for problem in problems] == [True]


def test_a_sync_that_fails_as_a_whole_is_a_problem_and_no_end(memengine, root, monkeypatch):
    with opened(root, None) as engine:

        def failing(**_):
            raise StorageError("The disk is full. Make room.")

        monkeypatch.setattr(engine, "sync", failing)
        assert index_changes(engine) == ("sync: The disk is full. Make room.",)


def test_a_new_memory_holds_nothing_to_find_and_says_what_to_do(memengine, tmp_path):
    memengine("init", "brain")
    assert (tmp_path / "brain" / "MEMORY.md").read_text(encoding="utf-8") == BLANK_MEMORY
    with opened_fresh(tmp_path / "brain", None) as (engine, _):
        assert engine.stats().chunks == 0
        assert engine.search("pinned facts").hits == ()
    advice = blank_advice(Path("brain"))
    assert advice.endswith('memengine add "Deploys happen on Tuesdays." --root brain')
    for command in ("stats", "search x"):
        assert advice in memengine(*command.split(), "--root", "brain").stdout
    assert blank_advice(DEFAULT_ROOT).endswith('add "Deploys happen on Tuesdays."')


def test_the_same_problem_is_told_once(capsys):
    warn(("a is broken", "b is broken", "a is broken"))
    told = capsys.readouterr().err
    assert (told.count("a is broken"), told.count("b is broken")) == (1, 1)


def test_a_memory_that_may_not_be_written_is_read_all_the_same(memengine, root, monkeypatch):
    memengine("sync", "--root", root)
    (root / "new.md").write_text("A new note on deploys.\n", encoding="utf-8")
    database = root / ".memengine" / "memory.sqlite"
    before = database.read_bytes()
    monkeypatch.setattr(opening, "may_only_be_read", lambda _folder: True)

    found = memengine("search", "deploy", "--root", root, "--json")
    assert [hit["path"] for hit in json.loads(found.stdout)["hits"]] == ["deploy.md"]
    assert "may not be written: it is read as it is" in found.stderr
    assert memengine("stats", "--root", root).exit_code == 0
    for writing in (("add", "x"), ("add", "x", "--daily", "Log"), ("sync",), ("worker", "--once")):
        refused = memengine(*writing, "--root", root)
        assert refused.exit_code == 1
        assert refused.stderr.startswith(f"error: {root} may not be written; nothing was changed.")
    assert memengine("audit", "--root", root).stderr == ""  # there is nothing to index for it
    assert database.read_bytes() == before
