"""The id that tells a folder's own file rows from those of others."""

import re

import pytest

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.workspace import identity
from langchain_memengine.workspace.identity import workspace_id


def put(root, content):
    path = root / ".memengine" / "workspace-id"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_the_workspace_id_is_made_once(tmp_path):
    first = workspace_id(tmp_path)
    assert re.fullmatch(r"[0-9a-f]{32}", first)
    assert workspace_id(tmp_path) == first
    assert workspace_id(tmp_path / "other") != first


def test_an_id_made_by_another_process_meanwhile_is_taken(tmp_path, monkeypatch):
    path = tmp_path / ".memengine" / "workspace-id"
    text_of = identity._text_of

    def not_there_at_first(file):
        if path.exists():
            return text_of(file)
        put(tmp_path, b"0123456789abcdef" * 2)
        return ""

    monkeypatch.setattr(identity, "_text_of", not_there_at_first)
    assert workspace_id(tmp_path) == "0123456789abcdef" * 2


def test_an_empty_id_file_is_filled_and_a_damaged_one_refused(tmp_path):
    path = put(tmp_path, b"")
    assert path.read_text() != workspace_id(tmp_path) == path.read_text().strip()
    path.write_text("my laptop")
    with pytest.raises(ConfigurationError, match="no workspace id"):
        workspace_id(tmp_path)


def test_a_folder_that_lost_its_id_is_again_what_its_files_are_known_by(tmp_path):
    known = ["docs-0123456789ab", "f" * 32, "e" * 32]
    assert workspace_id(tmp_path, known=lambda: known) == "f" * 32
    assert workspace_id(tmp_path, known=lambda: ["e" * 32]) == "f" * 32


def test_who_only_reads_writes_no_id(tmp_path):
    assert workspace_id(tmp_path, known=lambda: ["f" * 32], read_only=True) == "f" * 32
    assert re.fullmatch(r"[0-9a-f]{32}", workspace_id(tmp_path, read_only=True))
    assert list(tmp_path.iterdir()) == []
