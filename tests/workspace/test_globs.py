"""Globs match as documented, as their definition says, and in linear time."""

from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from langchain_memengine.workspace.globs import glob_regex


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("**/*.md", ["a.md", "x/a.md", "x/y/.md"], ["a.mdx", "a.md/b", "xmd"]),
        ("*.md", ["a.md", ".md"], ["x/a.md"]),
        ("daily/**", ["daily/a", "daily/x/y"], ["daily", "x/daily/a", "dailyx/a"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["ab", "a/xb", "x/a/b"]),
        ("a/**/b*/**/c", ["a/b/c", "a/x/b1/y/z/c", "a/c/b/c"], ["a/c", "a/xb/c"]),
        ("a**b", ["ab", "axyb"], ["a/b"]),
        ("a?c", ["abc", "a\nc"], ["ac", "a/c"]),
        ("[a-c]x", ["ax", "cx"], ["dx", "-x"]),
        ("[!a-c]x", ["dx", "!x"], ["ax", "/x"]),
        ("[]-]", ["]", "-"], ["["]),
        ("[+-9]", ["0", "."], ["/"]),
        ("[z-a]", [], ["z", "a", "m", ""]),
        ("[ab", ["[ab"], ["a"]),
        ("a.b(c)", ["a.b(c)"], ["axb(c)", "a.bc"]),
        ("**", ["a", "a/b"], []),
        ("**/**/a", ["a", "x/y/a"], ["ba"]),
        ("[&&~~||[]", ["&", "~", "|", "["], ["a"]),
        ("a", ["a"], ["A", "a\n"]),
    ],
)
def test_glob_matches_as_documented(pattern, matching, others):
    regex = glob_regex(pattern)
    assert [path for path in [*matching, *others] if regex.search(path)] == matching


def reference_match(pattern: str, path: str) -> bool:
    """Decide by trying everything: the definition, in exponential time without the cache."""
    parts, names = pattern.split("/"), path.split("/")

    @cache
    def one_part(part: str, name: str) -> bool:
        if not part:
            return not name
        if part[0] == "*":
            return one_part(part[1:], name) or (bool(name) and one_part(part, name[1:]))
        return bool(name) and part[0] in {"?", name[0]} and one_part(part[1:], name[1:])

    @cache
    def all_parts(i: int, j: int) -> bool:
        if i == len(parts):
            return j == len(names)
        if parts[i] == "**":
            if i + 1 == len(parts):
                return j < len(names)
            return all_parts(i + 1, j) or (j < len(names) and all_parts(i, j + 1))
        return j < len(names) and one_part(parts[i], names[j]) and all_parts(i + 1, j + 1)

    return all_parts(0, 0)


NAMES = st.text(alphabet="ab", min_size=1, max_size=4)
PARTS = st.one_of(st.just("**"), st.text(alphabet="ab*?", min_size=1, max_size=5))


@given(st.lists(PARTS, min_size=1, max_size=5), st.lists(NAMES, min_size=1, max_size=6))
@example(["**", "a", "**", "a", "b"], ["a", "b", "a", "a", "b"])
@example(["*ab*b"], ["aabb"])
def test_glob_agrees_with_the_definition(parts, names):
    pattern, path = "/".join(parts), "/".join(names)
    assert bool(glob_regex(pattern).match(path)) == reference_match(pattern, path)


@given(st.text(max_size=20), st.text(max_size=20))
def test_any_text_is_a_glob(pattern, path):
    glob_regex(pattern).match(path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 20 + "b", "a" * 3000),
        ("**/a/" * 12 + "b", "a/" * 1000 + "c"),
        ("**/*a*a*a/" * 6 + "b", "aaaa/" * 500 + "c"),
    ],
)
@pytest.mark.timeout(20)
def test_a_hostile_glob_does_not_backtrack(pattern, path):
    assert not glob_regex(pattern).match(path)  # milliseconds; backtracking would take years
