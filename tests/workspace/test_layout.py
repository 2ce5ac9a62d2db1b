"""Names and paths of a workspace."""

import hashlib
import re
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.workspace.layout import (
    Layout,
    daily_date,
    daily_name,
    inside,
    owner_folder,
    owner_prefix,
    slug,
    task_name,
)


def sha16(identifier: str) -> str:
    return hashlib.sha256(identifier.encode()).hexdigest()[:16]


@pytest.mark.parametrize("identifier", ["bob", "task-42", "v1.2.3", "_x", "a" * 80, "0", "console"])
def test_a_safe_identifier_is_its_own_slug(identifier):
    assert slug(identifier) == identifier


@pytest.mark.parametrize(
    ("identifier", "prefix"),
    [
        ("Bob", "bob"),
        ("", "id"),
        (".", "id"),
        ("..", "id"),
        (".hidden", "hidden"),
        ("-rf", "rf"),
        ("a.", "a"),
        ("con", "con"),
        ("NUL", "nul"),
        ("com1", "com1"),
        ("lpt9.txt", "lpt9-txt"),
        ("../../../out/x", "out-x"),
        ("/etc/passwd", "etc-passwd"),
        ("a\0b", "a-b"),
        ("abc\n", "abc"),
        ("\u202ecba", "cba"),
        ("Zoë", "zo"),
        ("名前", "id"),
        ("x" * 300, "x" * 63),
    ],
)
def test_an_unsafe_identifier_keeps_a_readable_prefix_and_gets_its_hash(identifier, prefix):
    assert slug(identifier) == f"{prefix}-{sha16(identifier)}"


def test_an_identifier_that_looks_hashed_cannot_take_the_place_of_another():
    forged = slug("Bob")
    assert slug(forged) == f"bob-{sha16('Bob')}-{sha16(forged)}"


def test_a_lone_surrogate_has_a_slug():
    assert re.fullmatch(r"bad-[0-9a-f]{16}", slug("bad\udcff"))


AWKWARD = st.one_of(
    st.text(max_size=120),
    st.text(alphabet="aAb.-_/\\01: ", max_size=12),
    st.text(alphabet="ab.", max_size=6).map(slug).map(slug),
    st.sampled_from(["con", "CON", "aux.md", "..", "a..", "users/bob", "C:x"]),
)


@given(AWKWARD)
def test_every_slug_is_one_safe_part_of_a_path(identifier):
    name = slug(identifier)
    assert re.fullmatch(r"[a-z0-9_][a-z0-9._-]{0,79}", name)
    assert not name.endswith(".")
    assert not re.fullmatch(r"(con|prn|aux|nul|com\d|lpt\d)", name.split(".")[0])


@given(AWKWARD, AWKWARD)
def test_different_identifiers_have_different_slugs(one, other):
    identifiers = {one, other, slug(one), slug(other), one.upper(), one + "."}
    assert len({slug(identifier) for identifier in identifiers}) == len(identifiers)


@given(AWKWARD)
def test_no_identifier_leaves_the_root(identifier):
    root = Path("/nowhere/memory")
    assert Layout(root).task_path(identifier).parent == root / "tasks"
    if identifier:
        assert Layout(root).user(identifier).root.parent == root / "users"


def test_names_of_days_tasks_and_owners():
    assert daily_name(date(2026, 5, 19)) == "daily/2026-05-19.md"
    assert daily_name(datetime(2026, 5, 19, 23, 59, tzinfo=UTC)) == "daily/2026-05-19.md"
    assert daily_name(date(987, 1, 2)) == "daily/0987-01-02.md"
    assert task_name("fix-login") == "tasks/fix-login.md"
    assert owner_prefix("bob") == "users/bob/"
    assert owner_prefix("") == ""


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("users/bob/MEMORY.md", "bob"),
        ("users/bob/daily/2026-05-19.md", "bob"),
        ("Users/Bob/x.md", "Bob"),
        ("users/readme.md", None),
        ("MEMORY.md", None),
        ("docs/users/bob/x.md", None),
    ],
)
def test_owner_folder_is_the_part_below_users(path, folder):
    assert owner_folder(path) == folder


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("daily/2026-05-19.md", date(2026, 5, 19)),
        ("daily/2026-05-19-standup.txt", date(2026, 5, 19)),
        ("users/bob/daily/2026-05-19.md", date(2026, 5, 19)),
        ("daily/2026-02-30.md", None),
        ("daily/2026-05-190.md", None),
        ("daily/notes.md", None),
        ("tasks/2026-05-19.md", None),
        ("2026-05-19.md", None),
        ("docs/daily/2026-05-19.md", None),
    ],
)
def test_daily_date_is_read_from_names_in_daily_folders_only(path, day):
    assert daily_date(path) == day


def test_create_makes_the_folders_and_may_be_repeated(tmp_path):
    layout = Layout(tmp_path / "a" / "memory")
    layout.create()
    layout.create()
    assert sorted(path.name for path in layout.root.iterdir()) == [".memengine", "daily", "tasks"]


def test_a_file_as_root_is_a_configuration_error(tmp_path):
    root = tmp_path / "memory"
    root.write_text("x")
    with pytest.raises(ConfigurationError, match="cannot be made"):
        Layout(root).create()
    with pytest.raises(ConfigurationError, match="cannot be made"):
        Layout(root / "below").create()


def test_paths_of_a_layout(tmp_path):
    layout = Layout(tmp_path)
    assert layout.dreams_path == tmp_path / "DREAMS.md"
    assert layout.state_dir == tmp_path / ".memengine"
    assert layout.daily_path(date(2026, 5, 19)) == tmp_path / "daily" / "2026-05-19.md"
    assert layout.user("bob").memory_path == tmp_path / "users" / "bob" / "MEMORY.md"
    assert layout.user("") == layout


def test_the_legacy_memory_file_is_used_only_when_it_alone_exists(tmp_path):
    layout = Layout(tmp_path)
    assert layout.memory_path.name == "MEMORY.md"
    (tmp_path / "Memory.md").write_text("old")
    assert layout.memory_path.name == "Memory.md"
    (tmp_path / "MEMORY.md").write_text("new")
    assert layout.memory_path.name == "MEMORY.md"


def test_name_is_relative_with_slashes(tmp_path):
    layout = Layout(tmp_path)
    assert layout.name(tmp_path / "daily" / "x.md") == "daily/x.md"
    assert layout.name(tmp_path / "tasks" / ".." / "x.md") == "x.md"
    with pytest.raises(ConfigurationError, match="outside the workspace"):
        layout.name(tmp_path.parent / "x.md")


def test_name_finds_the_way_through_a_linked_root(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert Layout(tmp_path / "link").name(tmp_path / "real" / "x.md") == "x.md"
    assert Layout(tmp_path / "link").memory_path == tmp_path / "link" / "MEMORY.md"


@pytest.mark.parametrize("name", ["", ".", "..", "../x.md", "a/../b.md", "/etc/passwd", "a\0.md"])
def test_inside_refuses_names_that_leave_the_root(tmp_path, name):
    with pytest.raises(ConfigurationError):
        inside(tmp_path, name)


def test_links_that_lead_out_are_refused(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "daily").symlink_to(tmp_path)
    (root / "users").symlink_to(tmp_path)
    (root / "loop").symlink_to(root / "loop")
    with pytest.raises(ConfigurationError, match="symbolic link"):
        Layout(root).daily_path(date(2026, 5, 19))
    with pytest.raises(ConfigurationError, match="symbolic link"):
        Layout(root).user("bob")
    with pytest.raises(ConfigurationError):
        inside(root, "loop/x.md")
