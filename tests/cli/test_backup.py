"""backup, restore and migrate."""

import sqlite3

import pytest

from langchain_memengine.engine.memory_engine import MemoryEngine


@pytest.fixture
def saved(memengine, root, tmp_path):
    """A backup of a memory that knows of boxes."""
    memengine("add", "Kittens like boxes.", "--id", "cats", "--root", root)
    file = tmp_path / "backup.sqlite"
    assert memengine("backup", file, "--root", root).exit_code == 0
    return file


def found(memengine, root, query):
    return [hit["text"] for hit in memengine.json("search", query, "--root", root)["hits"]]


def test_a_backup_is_a_whole_database_and_says_what_is_not_in_it(memengine, root, tmp_path):
    memengine("add", "Kittens like boxes.", "--root", root)
    result = memengine("backup", tmp_path / "one.sqlite", "--root", root)

    assert "one.sqlite: 1 chunk," in result.stdout.replace("\n", " ")
    assert "Markdown files are not in it" in result.stdout
    with sqlite3.connect(tmp_path / "one.sqlite") as database:
        assert database.execute("pragma integrity_check").fetchone() == ("ok",)
        assert database.execute("select text from chunks").fetchall() == [("Kittens like boxes.",)]
    database.close()


def test_a_backup_for_programs_tells_its_place_and_size(memengine, root, tmp_path):
    told = memengine.json("backup", tmp_path / "one.sqlite", "--root", root)
    assert told["path"] == str(tmp_path / "one.sqlite")
    assert told["size"] == (tmp_path / "one.sqlite").stat().st_size


def test_a_file_is_replaced_only_by_force(memengine, root, saved):
    before = saved.read_bytes()
    refused = memengine("backup", saved, "--root", root)

    assert (refused.exit_code, "memengine backup --force" in refused.stderr) == (2, True)
    assert saved.read_bytes() == before
    assert memengine("backup", saved, "--force", "--root", root).exit_code == 0


def test_a_restore_brings_back_what_was_there_and_keeps_what_is(memengine, root, saved):
    memengine("forget", "cats", "--yes", "--root", root)
    assert found(memengine, root, "boxes") == []

    result = memengine("restore", saved, "--root", root)

    assert result.exit_code == 0
    assert "Next: memengine sync" in result.stdout
    assert "kept as" in result.stdout
    assert len(list((root / ".memengine").glob("memory.sqlite.before-restore-*"))) == 1
    assert found(memengine, root, "boxes") == ["Kittens like boxes."]


def test_a_restore_for_programs_tells_both_places(memengine, root, saved):
    told = memengine.json("restore", saved, "--root", root)
    assert told["chunks"] == 1
    assert told["database"] == str(root / ".memengine" / "memory.sqlite")
    assert told["before"].startswith(told["database"] + ".before-restore-")


def test_a_restore_to_where_nothing_is_keeps_nothing(memengine, saved, tmp_path):
    told = memengine.json("restore", saved, "--root", tmp_path / "new")
    assert (told["before"], told["chunks"]) == (None, 1)


def test_what_is_no_backup_is_refused_and_the_memory_stays(memengine, root, saved, tmp_path):
    (tmp_path / "broken.sqlite").write_bytes(b"no database at all")
    result = memengine("restore", tmp_path / "broken.sqlite", "--root", root)

    assert result.exit_code == 1
    assert result.stderr.startswith("error: ")
    assert found(memengine, root, "boxes") == ["Kittens like boxes."]


def test_migrate_copies_into_an_empty_database_only(memengine, root, tmp_path):
    memengine("sync", "--root", root)
    urls = [
        "--from",
        f"sqlite:///{root}/.memengine/memory.sqlite",
        "--to",
        f"sqlite:///{tmp_path}/new",
    ]
    result = memengine("migrate", *urls)
    assert result.exit_code == 0, result.stderr
    assert "of 1 store; both are equal" in result.stdout
    assert "Next: set database_url to the new one." in result.stdout
    refused = memengine("migrate", *urls)
    assert (refused.exit_code, "not empty" in refused.stderr) == (1, True)
    (tmp_path / "new").unlink()
    done = memengine.json("migrate", *urls)
    assert (done["stores"], done["rows"]["chunks"]) == (["default"], 2)


def test_migrate_says_which_settings_name_what_was_copied(memengine, root, tmp_path):
    """A graph may be in a database of its own, or in that of the memory."""
    memengine("sync", "--root", root)
    with MemoryEngine.open(root, embeddings=None) as engine:
        engine.graph.add_triples([("Anna", "knows", "Bert")])
    url, both = f"sqlite:///{root}/.memengine", f"sqlite:///{tmp_path}/both"
    for source, target, settings in [
        (f"{url}/memory.sqlite", both, "database_url"),
        (f"{url}/kg.sqlite", both, "graph_url"),
        (both, f"sqlite:///{tmp_path}/new", "database_url and graph_url"),
    ]:
        result = memengine("migrate", "--from", source, "--to", target)
        assert f"Next: set {settings} to the new one." in result.stdout, result.stderr
