"""Where notes are kept on disk: by name, below the root, links left alone."""

import pytest

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.workspace.files import UnreadableFileError
from langchain_memengine.workspace.notes import DiskNotes

USES = {
    "read": lambda notes, name: notes.read(name),
    "update": lambda notes, name: notes.update(name, lambda _: "x"),
    "remove": lambda notes, name: notes.remove(name),
}


@pytest.fixture
def notes(tmp_path):
    return DiskNotes(tmp_path / "root")


def put(notes, *names):
    for name in names:
        notes.update(name, lambda _: "x")


@pytest.mark.parametrize("name", ["../x.md", "/x.md", "users/a/../b/x.md", ""])
@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_names_outside_the_root_are_refused(notes, tmp_path, name, use):
    (tmp_path / "x.md").write_text("outside")
    with pytest.raises(ConfigurationError):
        use(notes, name)
    assert [path.name for path in tmp_path.rglob("*.md")] == ["x.md"]
    assert (tmp_path / "x.md").read_text() == "outside"


@pytest.mark.parametrize("use", [USES["read"], USES["update"]], ids=["read", "update"])
def test_a_linked_note_is_neither_read_nor_replaced(notes, use):
    put(notes, "real.md")
    link = notes.root / "MEMORY.md"
    link.symlink_to("real.md")
    with pytest.raises(UnreadableFileError, match="symbolic link"):
        use(notes, "MEMORY.md")
    assert (notes.root / "real.md").read_text() == "x"
    assert link.is_symlink()


def test_a_note_that_is_not_there_is_empty(notes):
    assert notes.read("MEMORY.md") == ""
    assert not notes.root.exists()


def test_names_are_those_of_markdown_files_without_transcripts(notes):
    put(notes, "b.md", "a/c.md", "archive/t/1.md", "users/ann/archive/t/2.md", "a.txt")
    assert notes.names() == ["a/c.md", "b.md"]
    assert notes.transcripts() == ["archive/t/1.md", "users/ann/archive/t/2.md"]


def test_removing_takes_empty_folders_along_and_says_whether_there_was_one(notes):
    put(notes, "tasks/deep/a.md", "tasks/b.md")
    assert notes.remove("tasks/deep/a.md")
    assert not notes.remove("tasks/deep/a.md")
    assert not (notes.root / "tasks" / "deep").exists()
    assert notes.names() == ["tasks/b.md"]


def test_nothing_is_written_when_a_change_returns_what_it_got(notes):
    notes.update("MEMORY.md", lambda old: old)
    assert not (notes.root / "MEMORY.md").exists()
