"""doctor, backup and restore in a terminal."""

import json


def test_doctor_prints_a_table_and_succeeds(memengine, root):
    memengine("sync", "--root", root)
    result = memengine("doctor", "--root", root)
    assert result.exit_code == 0, result.stderr
    assert "database" in result.stdout
    assert "sound (quick check): 2 chunks" in " ".join(result.stdout.split())
    found = memengine.json("doctor", "--root", root, "--thorough", "--repair")
    assert found["ok"] is True
    assert set(found["checks"][0]) == {"name", "status", "found", "repair", "repaired"}


def test_doctor_fails_when_something_did(memengine, root, monkeypatch):
    memengine("sync", "--root", root)
    usage = type("Usage", (), {"free": 0})
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    result = memengine("doctor", "--root", root, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["ok"] is False
    table = memengine("doctor", "--root", root)
    assert table.exit_code == 1
    assert "→ free space" in " ".join(table.stdout.split())


def test_backup_and_restore_say_what_they_did(memengine, root, tmp_path):
    memengine("sync", "--root", root)
    result = memengine("backup", "b.sqlite", "--root", root)
    assert result.exit_code == 0, result.stderr
    assert "Wrote b.sqlite: 2 chunks" in result.stdout
    assert "Markdown files are not in it" in result.stdout
    refused = memengine("backup", "b.sqlite", "--root", root)
    assert (refused.exit_code, "exists" in refused.stderr) == (2, True)
    assert memengine.json("backup", "b.sqlite", "--root", root, "--force")["chunks"] == 2
    (root / "more.md").write_text("More tea.")
    memengine("sync", "--root", root)
    result = memengine("restore", "b.sqlite", "--root", root)
    assert result.exit_code == 0, result.stderr
    assert "is kept as" in result.stdout
    assert memengine.json("stats", "--root", root)["chunks"] == 3  # it syncs before it counts
    fresh = memengine.json("restore", tmp_path / "b.sqlite", "--root", tmp_path / "new")
    assert (fresh["before"], fresh["chunks"]) == (None, 2)


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
    refused = memengine("migrate", *urls)
    assert (refused.exit_code, "not empty" in refused.stderr) == (1, True)
    (tmp_path / "new").unlink()
    done = memengine.json("migrate", *urls)
    assert (done["stores"], done["rows"]["chunks"]) == (["default"], 2)


def test_damaged_database_is_one_line_that_names_the_way_out(memengine, root):
    memengine("sync", "--root", root)
    (root / ".memengine/memory.sqlite").write_bytes(b"\x5a" * 8192)
    for command in ("doctor", "search x", "backup b"):
        result = memengine(*command.split(), "--root", root)
        assert result.exit_code == 1
        assert "memengine restore FILE" in result.stderr
        assert result.stderr.count("\n") == 1
