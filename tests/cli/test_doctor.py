"""doctor in a terminal."""

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


def test_damaged_database_is_one_line_that_names_the_way_out(memengine, root):
    memengine("sync", "--root", root)
    (root / ".memengine/memory.sqlite").write_bytes(b"\x5a" * 8192)
    for command in ("doctor", "search x", "backup b"):
        result = memengine(*command.split(), "--root", root)
        assert result.exit_code == 1
        assert "memengine restore FILE" in result.stderr
        assert result.stderr.count("\n") == 1
