"""Scanning, reading and writing files nobody vouches for."""

import errno
import hashlib
import os
import socket
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from langchain_memengine.answers import FileProblem
from langchain_memengine.errors import ConfigurationError, StorageError, StorageFullError
from langchain_memengine.workspace import durable, files
from langchain_memengine.workspace.files import (
    FileStat,
    UnreadableFileError,
    read_text,
    scan,
    update_text,
    write_atomic,
)

INCLUDE = ("**/*.md", "**/*.txt")
EXCLUDE = ("node_modules/**", ".git/**")
ODD_NAMES = [
    *("-rf", "--help", ".hidden", " edge ", "CON", "nul", "a.", "%2e%2e", "a\\b", "a:b", "a?b*[c]"),
    *(
        "line\nbreak",
        "tab\t",
        "\x1b[31m",
        "\u202egpj",
        "\u200b",
        "e\u0301",
        "\u00e9",
        "名前",
        "x" * 252,
    ),
]
posix_only = pytest.mark.skipif(os.name == "nt", reason="needs pipes and byte names")


def put(root: Path, name: str, content: bytes = b"x") -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def found(root: Path, **changes) -> list[str]:
    settings = {"include": INCLUDE, "exclude": EXCLUDE, "max_bytes": 1000} | changes
    return [file.path for file in scan(root, **settings).files]


def skipped(root: Path) -> list[tuple[str, str]]:
    return [(p.path, p.reason) for p in scan(root, INCLUDE, EXCLUDE, 1000).skipped]


def reason_for(root: Path, path: str, max_bytes: int | None = 1000) -> str:
    with pytest.raises(UnreadableFileError) as error:
        read_text(root, path, max_bytes)
    assert error.value.path == path
    return error.value.reason


# Scan


def test_scan_lists_what_is_included_sorted_with_size_and_time(tmp_path):
    put(tmp_path, "b.md", b"12345")
    put(tmp_path, "a/c.TXT")
    put(tmp_path, "a.md")
    put(tmp_path, "a.png")
    os.utime(tmp_path / "b.md", ns=(7, 1_700_000_000_000_000_000))
    result = scan(tmp_path, INCLUDE, EXCLUDE, 1000)
    assert [file.path for file in result.files] == ["a.md", "a/c.TXT", "b.md"]
    assert result.files[2] == FileStat("b.md", 5, 1_700_000_000_000_000_000)
    assert result.skipped == []


def test_scan_prunes_excluded_folders_at_any_depth(tmp_path):
    for name in ("node_modules/a.md", "x/node_modules/y/a.md", "my_node_modules/a.md", "Dist/a.md"):
        put(tmp_path, name)
    assert found(tmp_path) == ["Dist/a.md", "my_node_modules/a.md"]
    assert found(tmp_path, exclude=["node_modules", "Dist/"]) == ["my_node_modules/a.md"]


def test_a_slash_in_front_of_a_pattern_means_the_root(tmp_path):
    for name in ("private/a.md", "x/private/b.md", "draft.md", "x/draft.md"):
        put(tmp_path, name)
    assert found(tmp_path, exclude=["/private/**", "/draft.md"]) == ["x/draft.md", "x/private/b.md"]
    assert found(tmp_path, exclude=["/private"]) == ["draft.md", "x/draft.md", "x/private/b.md"]
    assert found(tmp_path, include=["/x/*.md"], exclude=[]) == ["x/draft.md"]


def test_scan_does_not_enter_an_excluded_folder(tmp_path, monkeypatch):
    put(tmp_path, "x/node_modules/y/a.md")
    listed = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: listed.append(path) or scandir(path))
    found(tmp_path)
    assert listed == [tmp_path, tmp_path / "x"]


def test_scan_excludes_single_files(tmp_path):
    put(tmp_path, "a.md")
    put(tmp_path, "x/draft-1.md")
    assert found(tmp_path, exclude=["draft-*.md"]) == ["a.md"]


def test_scan_leaves_out_state_and_archives_silently(tmp_path):
    for name in (
        ".memengine/a.md",
        "x/.memengine/a.md",
        "archive/s/a.md",
        "Archive/a.md",
        "users/bob/archive/a.md",
        "users/bob/.memengine/a.md",
        "users/archive/a.md",
        "projects/archive/a.md",
    ):
        put(tmp_path, name)
    result = scan(tmp_path, INCLUDE, EXCLUDE, 1000)
    assert [file.path for file in result.files] == ["projects/archive/a.md", "users/archive/a.md"]
    assert result.skipped == []


def test_scan_skips_links_with_a_reason(tmp_path):
    root = tmp_path / "root"
    put(tmp_path, "out/secret.md")
    put(root, "a.md")
    (root / "file.md").symlink_to(tmp_path / "out" / "secret.md")
    (root / "folder").symlink_to(tmp_path / "out")
    (root / "loop.md").symlink_to(root / "loop.md")
    (root / "picture.png").symlink_to(root / "a.md")
    (root / "node_modules").symlink_to(tmp_path / "out")
    assert found(root) == ["a.md"]
    link = "a symbolic link; links are not followed"
    assert skipped(root) == [("file.md", link), ("folder/", link), ("loop.md", link)]


@posix_only
def test_scan_skips_pipes_and_sockets_that_match(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe.md")
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.md")
        assert found(tmp_path) == []
        reason = "not a regular file"
        assert skipped(tmp_path) == [("pipe.md", reason), ("socket.md", reason)]
        assert reason_for(tmp_path, "socket.md")


@posix_only
@pytest.mark.parametrize("stem", ODD_NAMES)
def test_a_file_of_any_utf8_name_is_found_and_read(tmp_path, stem):
    try:
        put(tmp_path, f"{stem}.md", b"tea")
        put(tmp_path, f"{stem}/{stem}.md", b"coffee")
    except OSError:
        pytest.skip("this file system does not take the name")
    assert found(tmp_path) == sorted([f"{stem}.md", f"{stem}/{stem}.md"])
    assert read_text(tmp_path, f"{stem}.md", 1000).text == "tea"
    assert read_text(tmp_path, f"{stem}/{stem}.md", 1000).text == "coffee"


@pytest.mark.parametrize("nanoseconds", [2**63, 30 * 10**18, 0, -1, -(10**19)])
def test_any_time_of_change_fits_a_64_bit_column(tmp_path, nanoseconds):
    path = put(tmp_path, "a.md")
    try:
        os.utime(path, ns=(nanoseconds, nanoseconds))
    except (OSError, OverflowError):
        pytest.skip("this system keeps no such time")
    (file,) = scan(tmp_path, INCLUDE, EXCLUDE, 1000).files
    assert file.mtime_ns == max(-(2**63), min(path.stat().st_mtime_ns, 2**63 - 1))
    assert read_text(tmp_path, "a.md", 1000).mtime_ns == file.mtime_ns


@posix_only
def test_scan_skips_names_that_are_not_utf8(tmp_path):
    try:
        put(tmp_path, "bad\udcff.md")
        put(tmp_path, "dir\udcfe/a.md")
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    put(tmp_path, "naïve 名前.md")
    put(tmp_path, "bad\udcff.png")
    odd = "its name is not valid UTF-8"
    assert found(tmp_path) == ["naïve 名前.md"]
    assert skipped(tmp_path) == [(r"bad\udcff.md", odd), (r"dir\udcfe/", odd)]


def test_scan_skips_what_is_too_large(tmp_path):
    put(tmp_path, "fits.md", b"x" * 1000)
    put(tmp_path, "large.md", b"x" * 1001)
    assert found(tmp_path) == ["fits.md"]
    assert skipped(tmp_path) == [("large.md", "1001 bytes, more than the 1000 allowed")]


def test_scan_reports_a_folder_that_cannot_be_listed(tmp_path, monkeypatch):
    put(tmp_path, "closed/a.md")
    put(tmp_path, "gone/a.md")
    scandir = os.scandir

    def refuse(path):
        if path.name == "closed":
            raise PermissionError(errno.EACCES, "Permission denied")
        if path.name == "gone":
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    result = scan(tmp_path, INCLUDE, EXCLUDE, 1000)
    assert result.files == []
    assert result.failed == [FileProblem("closed/", "Permission denied")]


@pytest.mark.parametrize("name", ["missing", "file"])
def test_scan_of_a_root_that_is_no_folder_raises(tmp_path, name):
    put(tmp_path, "file")
    with pytest.raises(ConfigurationError, match="cannot be listed"):
        scan(tmp_path / name, INCLUDE, EXCLUDE, 1000)


def test_scan_without_patterns_finds_nothing(tmp_path):
    put(tmp_path, "a.md")
    assert found(tmp_path, include=[]) == []
    assert found(tmp_path, exclude=[]) == ["a.md"]


# Read


@pytest.mark.parametrize(
    "content",
    [
        "é\r\nx\n".encode(),
        b"\xef\xbb\xbf" + "é\r\nx\n".encode(),
        b"\xff\xfe" + "é\r\nx\n".encode("utf-16-le"),
        b"\xfe\xff" + "é\r\nx\n".encode("utf-16-be"),
        b"\xff\xfe\x00\x00" + "é\r\nx\n".encode("utf-32-le"),
        b"\x00\x00\xfe\xff" + "é\r\nx\n".encode("utf-32-be"),
    ],
)
def test_read_decodes_unicode_and_keeps_line_ends(tmp_path, content):
    path = put(tmp_path, "x/a.md", content)
    file = read_text(tmp_path, "x/a.md", 1000)
    assert file.text == "é\r\nx\n"
    assert file.hash == hashlib.sha256(content).hexdigest()
    assert (file.path, file.size) == ("x/a.md", len(content))
    assert file.mtime_ns == path.stat().st_mtime_ns


def test_an_empty_file_is_an_empty_text(tmp_path):
    put(tmp_path, "a.md", b"")
    assert read_text(tmp_path, "a.md", 1000).text == ""


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"caf\xe9", "not UTF-8"),
        (b"\x89PNG\r\n\x00\x01", "binary"),
        (b"a\x00b", "binary"),
        ("ab".encode("utf-16-le"), "binary"),
        (b"\xff\xfea", "not UTF-16"),
        (b"\xff\xfea\x00\x00\x00", "binary"),
        (b"\x00\x00\xfe\xff\xff\xff\xff\xff", "not UTF-32"),
    ],
)
def test_read_names_the_reason_why_bytes_are_no_text(tmp_path, content, reason):
    put(tmp_path, "a.md", content)
    assert reason_for(tmp_path, "a.md") == reason


def test_read_refuses_what_is_too_large(tmp_path):
    put(tmp_path, "a.md", b"x" * 1001)
    assert reason_for(tmp_path, "a.md") == "1001 bytes, more than the 1000 allowed"
    assert read_text(tmp_path, "a.md", None).size == 1001


@pytest.mark.parametrize("name", ["missing.md", "no/folder.md", "file.md/below.md"])
def test_a_file_that_disappeared_is_gone(tmp_path, name):
    put(tmp_path, "file.md")
    with pytest.raises(UnreadableFileError) as error:
        read_text(tmp_path, name, 1000)
    assert error.value.gone


def test_a_file_that_is_there_is_not_gone(tmp_path):
    put(tmp_path, "a.md", b"\x00")
    with pytest.raises(UnreadableFileError) as error:
        read_text(tmp_path, "a.md", 1000)
    assert not error.value.gone


def test_read_refuses_links_also_on_the_way(tmp_path):
    put(tmp_path, "x/a.md")
    (tmp_path / "link.md").symlink_to("x/a.md")
    (tmp_path / "y").symlink_to("x")
    assert "symbolic link" in reason_for(tmp_path, "link.md")
    assert "symbolic link" in reason_for(tmp_path, "y/a.md")


@posix_only
@pytest.mark.parametrize("swapped", ["x", "x/y", "x/y/a.md"])
def test_a_folder_swapped_for_a_link_behind_the_check_leads_nowhere(tmp_path, monkeypatch, swapped):
    secret = put(tmp_path, "secret/y/a.md", b"secret")
    root = tmp_path / "root"
    put(root, "x/y/a.md", b"tea")
    target = {"x": secret.parent.parent, "x/y": secret.parent, "x/y/a.md": secret}[swapped]
    open_below = files.open_below

    def swap_and_open(*arguments):
        (root / swapped).rename(root / "away")
        (root / swapped).symlink_to(target)
        return open_below(*arguments)

    monkeypatch.setattr(files, "open_below", swap_and_open)
    with pytest.raises(UnreadableFileError):
        read_text(root, "x/y/a.md", 1000)


@posix_only
def test_reading_leaves_no_file_open(tmp_path):
    put(tmp_path, "x/y/a.md")
    open_before = len(list(Path("/dev/fd").iterdir()))
    read_text(tmp_path, "x/y/a.md", 1000)
    for missing in ("x/y/b.md", "x/z/a.md", "x/y/a.md/b.md"):
        with pytest.raises(UnreadableFileError):
            read_text(tmp_path, missing, 1000)
    assert len(list(Path("/dev/fd").iterdir())) == open_before


@posix_only
def test_read_of_a_pipe_or_folder_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    assert reason_for(tmp_path, "pipe.md") == "not a regular file"
    assert reason_for(tmp_path, "folder.md") == "not a regular file"


@pytest.mark.parametrize("name", ["../a.md", "/etc/hostname", "x/../../a.md", "a\0.md"])
def test_read_stays_inside_the_root(tmp_path, name):
    put(tmp_path, "a.md")
    (tmp_path / "root").mkdir()
    assert reason_for(tmp_path / "root", name) == "outside the workspace"


def test_a_name_longer_than_the_system_allows_is_unreadable(tmp_path):
    assert reason_for(tmp_path, "x" * 300 + ".md")


def edit_during_reads(monkeypatch, path: Path, times: int) -> list[int]:
    """Append a byte to the file after each of the first status calls that open a read."""
    fstat = os.fstat
    calls: list[int] = []

    def fstat_then_edit(descriptor):
        status = fstat(descriptor)
        if len(calls) % 2 == 0 and len(calls) < 2 * times:
            with path.open("ab") as handle:
                handle.write(b"!")
        calls.append(status.st_size)
        return status

    monkeypatch.setattr(files.os, "fstat", fstat_then_edit)
    return calls


def test_a_file_edited_while_it_is_read_is_read_again(tmp_path, monkeypatch):
    path = put(tmp_path, "a.md", b"x")
    calls = edit_during_reads(monkeypatch, path, times=2)
    assert read_text(tmp_path, "a.md", 1000).text == "x!!"
    assert len(calls) == 6


def test_a_file_that_never_stays_the_same_is_unreadable(tmp_path, monkeypatch):
    path = put(tmp_path, "a.md", b"x")
    edit_during_reads(monkeypatch, path, times=99)
    assert "kept changing" in reason_for(tmp_path, "a.md")


# Write


def test_write_replaces_the_whole_file_and_leaves_nothing_else(tmp_path):
    path = put(tmp_path, "x/a.md", b"a much longer old text")
    write_atomic(path, "né\r\nw\n")
    assert path.read_bytes() == b"n\xc3\xa9\r\nw\n"
    assert names_in(path.parent) == ["a.md"]


def test_write_makes_missing_folders(tmp_path):
    write_atomic(tmp_path / "x" / "y" / "a.md", "text")
    assert (tmp_path / "x" / "y" / "a.md").read_text() == "text"


@posix_only
def test_write_keeps_the_permissions_of_the_old_file(tmp_path):
    path = put(tmp_path, "a.md")
    path.chmod(0o640)
    write_atomic(path, "new")
    assert path.stat().st_mode & 0o777 == 0o640


@posix_only
def test_no_word_of_a_private_file_is_ever_in_one_that_others_may_read(tmp_path, monkeypatch):
    path = put(tmp_path, "a.md")
    path.chmod(0o600)
    modes = []
    flush = os.fsync

    def watched(descriptor):
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode):
            modes.append(stat.S_IMODE(status.st_mode))
        flush(descriptor)

    monkeypatch.setattr(durable.os, "fsync", watched)
    write_atomic(path, "secret")
    assert modes == [0o600]


def test_written_text_can_always_be_read_again(tmp_path):
    write_atomic(tmp_path / "a.md", "a\0b \udcff")
    assert read_text(tmp_path, "a.md", 1000).text == "a\ufffdb \\udcff"


def full_disk(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_file_is_on_disk_before_it_takes_its_place_and_the_folder_after(tmp_path, monkeypatch):
    steps = []
    fsync, replace = os.fsync, Path.replace

    def noted_fsync(descriptor):
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        steps.append("sync folder" if is_folder else "sync file")
        fsync(descriptor)

    monkeypatch.setattr(durable.os, "fsync", noted_fsync)
    monkeypatch.setattr(Path, "replace", lambda *a: steps.append("replace") or replace(*a))
    write_atomic(tmp_path / "a.md", "text")
    assert steps == ["sync file", "replace", "sync folder"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_and_no_temporary_one(tmp_path, monkeypatch, call):
    path = put(tmp_path, "a.md", b"old")
    target = durable.os if call == "fsync" else durable.Path
    monkeypatch.setattr(target, call, full_disk)
    with pytest.raises(StorageFullError, match="disk is full"):
        write_atomic(path, "new")
    assert path.read_bytes() == b"old"
    assert names_in(tmp_path) == ["a.md"]


def test_a_file_where_a_folder_should_be_is_a_storage_error(tmp_path):
    put(tmp_path, "file")
    with pytest.raises(StorageError, match="cannot be written"):
        write_atomic(tmp_path / "file" / "a.md", "x")
    with pytest.raises(StorageError, match="cannot be written"):
        update_text(tmp_path / "a.md", str.upper, lock=tmp_path / "file" / "lock")


def test_update_changes_what_is_there(tmp_path):
    path = put(tmp_path, "a.md", b"\xef\xbb\xbfone\r\n")
    assert update_text(path, lambda old: old + "two\n", lock=tmp_path / "lock") == "one\r\ntwo\n"
    assert path.read_bytes() == b"one\r\ntwo\n"


def test_update_starts_from_an_empty_text(tmp_path):
    seen = []
    update_text(tmp_path / "a.md", lambda old: seen.append(old) or "new", lock=tmp_path / "lock")
    assert seen == [""]
    assert (tmp_path / "a.md").read_text() == "new"


def test_update_that_changes_nothing_writes_nothing(tmp_path):
    path = put(tmp_path, "a.md", b"\xef\xbb\xbfsame")
    update_text(path, lambda old: old, lock=tmp_path / "lock")
    update_text(tmp_path / "b.md", lambda old: old, lock=tmp_path / "lock")
    assert path.read_bytes() == b"\xef\xbb\xbfsame"
    assert not (tmp_path / "b.md").exists()


def test_update_leaves_a_file_that_is_no_text_alone(tmp_path):
    path = put(tmp_path, "a.md", b"caf\xe9")
    with pytest.raises(UnreadableFileError, match="not UTF-8"):
        update_text(path, lambda old: old + "x", lock=tmp_path / "lock")
    assert path.read_bytes() == b"caf\xe9"


def test_update_takes_up_an_edit_made_meanwhile(tmp_path):
    path = put(tmp_path, "a.md", b"one\n")
    edits = iter([b"one edited\n"])

    def change(old: str) -> str:
        for edit in edits:
            path.write_bytes(edit)
        return old + "two\n"

    update_text(path, change, lock=tmp_path / "lock")
    assert path.read_text() == "one edited\ntwo\n"
    assert names_in(tmp_path) == ["a.md", "lock"]


def test_update_takes_up_an_edit_that_keeps_size_and_time(tmp_path):
    path = put(tmp_path, "a.md", b"one\n")
    before = path.stat()
    edits = iter([b"ONE\n"])

    def change(old: str) -> str:
        for edit in edits:
            path.write_bytes(edit)
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        return old + "two\n"

    update_text(path, change, lock=tmp_path / "lock")
    assert path.read_text() == "ONE\ntwo\n"


@pytest.mark.parametrize("first", [b"one\n", None], ids=["replaced", "new"])
def test_update_takes_up_a_file_that_an_editor_put_in_place_meanwhile(tmp_path, first):
    path = tmp_path / "a.md"
    if first is not None:
        path.write_bytes(first)
    saved = iter([put(tmp_path, "a.md.swp", b"mine\n")])

    def change(old: str) -> str:
        for file in saved:
            file.replace(path)
        return old + "ours\n"

    update_text(path, change, lock=tmp_path / "lock")
    assert path.read_text() == "mine\nours\n"


def test_update_starts_anew_when_the_file_is_deleted_meanwhile(tmp_path):
    path = put(tmp_path, "a.md", b"one\n")

    def change(old: str) -> str:
        path.unlink(missing_ok=True)
        return old + "two\n"

    update_text(path, change, lock=tmp_path / "lock")
    assert path.read_text() == "two\n"


def test_update_leaves_what_became_no_text_meanwhile(tmp_path):
    path = put(tmp_path, "a.md", b"one\n")

    def change(old: str) -> str:
        path.write_bytes(b"\x00\x01")
        return old + "two\n"

    with pytest.raises(UnreadableFileError, match="binary"):
        update_text(path, change, lock=tmp_path / "lock")
    assert path.read_bytes() == b"\x00\x01"
    assert names_in(tmp_path) == ["a.md", "lock"]


def test_update_gives_up_on_a_file_that_is_edited_all_the_time(tmp_path):
    path = tmp_path / "a.md"

    def change(old: str) -> str:
        path.write_text(old + "edit")
        return old + "ours"

    with pytest.raises(StorageError, match="another program changed it"):
        update_text(path, change, lock=tmp_path / "lock")
    assert path.read_text() == "editeditedit"


def test_an_error_in_a_change_frees_the_lock(tmp_path):
    path = put(tmp_path, "a.md", b"old")
    with pytest.raises(ZeroDivisionError):
        update_text(path, lambda _: str(1 / 0), lock=tmp_path / "lock")
    update_text(path, lambda old: old + " and new", lock=tmp_path / "lock")
    assert path.read_text() == "old and new"


def test_threads_that_append_lose_nothing(tmp_path):
    path, lock = tmp_path / "a.md", tmp_path / "lock"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: update_text(path, lambda old: f"{old}{n}\n", lock=lock), range(40)))
    assert sorted(map(int, path.read_text().split())) == list(range(40))
