"""What an event means for the index."""

import pytest

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.workspace.folder_events import (
    Consequence,
    WatchedFolder,
    _tree,
    consequence,
)

FILES, FOLDERS, NOTHING = Consequence.FILES, Consequence.FOLDERS, Consequence.NOTHING


@pytest.fixture
def tree(tmp_path):
    for name in ("daily", "node_modules/x", ".memengine", "archive", "users/anna/archive"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "daily")
    return _tree(WatchedFolder(tmp_path, ("**/*.md",), ("node_modules/**",)))


def test_only_folders_that_are_read_are_watched(tree, tmp_path):
    assert tree.folders == {str(tmp_path / name) for name in ("", "daily", "users", "users/anna")}


@pytest.mark.parametrize(
    ("kind", "name", "meant"),
    [
        ("modified", "a.md", FILES),
        ("added", "daily/A.MD", FILES),
        ("deleted", "daily/a.md", FILES),
        ("modified", "daily/a.md.swp", NOTHING),
        ("added", "daily/4913", NOTHING),
        ("deleted", "daily/a.md~", NOTHING),
        ("added", "node_modules/a.md", NOTHING),
        ("modified", ".memengine/a.md", NOTHING),
        ("added", "elsewhere/a.md", NOTHING),
        ("modified", "daily", NOTHING),
        ("deleted", "daily", FOLDERS),
        ("added", "daily", FOLDERS),
        ("deleted", "gone-before-it-was-watched", NOTHING),
    ],
)
def test_consequence_of_one_event(tree, tmp_path, kind, name, meant):
    assert tree.consequence(kind, str(tmp_path / name)) is meant


def test_a_new_folder_is_to_be_watched_unless_nothing_in_it_is_read(tree, tmp_path):
    (tmp_path / "new").mkdir()
    (tmp_path / "daily/archive").mkdir()
    (tmp_path / "other").symlink_to(tmp_path / "new")
    (tmp_path / "daily/.memengine").mkdir()
    meant = {
        name: tree.consequence("added", str(tmp_path / name))
        for name in ("new", "daily/archive", "other", "daily/.memengine", "link")
    }
    assert meant.pop("new") is FOLDERS
    assert meant.pop("daily/archive") is FOLDERS  # only an owner's own archive is left out
    assert set(meant.values()) == {NOTHING}


def test_of_many_events_the_gravest_counts(tree, tmp_path):
    file, other = ("modified", str(tmp_path / "a.md")), ("added", str(tmp_path / "b.tmp"))
    gone = ("deleted", str(tmp_path / "daily"))
    assert consequence([tree], []) is NOTHING
    assert consequence([tree], [other]) is NOTHING
    assert consequence([tree], [other, file]) is FILES
    assert consequence([tree], [file, gone, other]) is FOLDERS


def test_a_folder_that_is_not_there_cannot_be_watched(tmp_path):
    with pytest.raises(ConfigurationError, match="cannot be listed"):
        _tree(WatchedFolder(tmp_path / "none", ("*.md",), ()))
