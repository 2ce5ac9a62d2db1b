"""Derived files go as a whole, or it is told what is left."""

import os
import shutil

import pytest

from langchain_memengine.retrieval.derived_files import clear, remove


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "home"
    for name in ("a", "b", "c"):
        (folder / name).mkdir(parents=True)
        (folder / name / "file").write_text("secret")
    return folder


def test_a_file_a_folder_and_nothing_are_gone(folder):
    assert remove(folder / "a" / "file")
    assert remove(folder)
    assert remove(folder)
    assert not folder.exists()


def test_a_file_that_stays_keeps_no_other(folder, monkeypatch):
    kept = (folder / "b" / "file").stat().st_ino
    unlink = os.unlink

    def refuse(path, *, dir_fd=None):
        if os.stat(path, dir_fd=dir_fd, follow_symlinks=False).st_ino == kept:
            raise PermissionError(path)
        unlink(path, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", refuse)
    left = f"Words in {folder}, which could not be removed: remove it."
    assert clear(folder, "Words") == left
    assert [path.name for path in folder.rglob("*")] == ["b", "file"]
    monkeypatch.undo()
    assert clear(folder, "Words") is None


def test_what_is_behind_a_link_goes_and_the_link_stays(folder, tmp_path, monkeypatch):
    link = tmp_path / "link"
    link.symlink_to(folder, target_is_directory=True)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", lambda *_, **__: None)
        assert clear(link, "Words") is not None
    assert clear(link, "Words") is None
    assert list(folder.iterdir()) == []
    folder.rmdir()
    assert clear(link, "Words") is None
    assert link.is_symlink()
