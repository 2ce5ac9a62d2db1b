"""Generated files and queries: nothing raises, everything is indexed or reported, all is found.

``MEMENGINE_FUZZ`` sets how many files and queries there are, ``MEMENGINE_FUZZ_SEED`` where the
generator begins; a failure names the seed of its batch.
"""

import codecs
import os
import random
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from langchain_memengine.answers import (
    FileProblem,
    Hit,
)
from langchain_memengine.retrieval import sources
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine

COUNT = int(os.environ.get("MEMENGINE_FUZZ", "500"))
SEED = int(os.environ.get("MEMENGINE_FUZZ_SEED", "0"))
BATCH = 500
MAX_BYTES = 200_000

MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
LINE_ENDS = ("\n", "\n", "\n", "\r\n", "\r")
WORDS = (
    *("tea", "coffee", "common", "user_id", "C++", "v1.2.3", "src/app/main.py", "-5", "3.14"),
    *("Straße", "İstanbul", "Привет", "мир", "低头思故乡", "しりとり", "끝말잇기", "हिन्दी", "ไทย"),
    *("e\u0301", "\u202eabc\u202c", "\u2028", "\u2029", "\x0b", "\x0c", "\x85", "\x1c", "\x1b[31m"),
    *("\ufeff", "\u200d", "👩‍👩‍👧‍👦", "\U00020000", "\ufdfa", "a" * 300, "x." * 60, "<!-- x -->"),
    *(
        "[[Note|alias]]",
        "[[#only]]",
        "#tag/sub",
        "#12",
        "`#code`",
        "**bold**",
        "</memory>",
        "{{x}}",
    ),
)
LINES = (
    *("# Title", "## 09:30 — build", "###### six", "#no heading", "   ## indented ##", "Title\t"),
    *(
        "---",
        "...",
        "===",
        "```",
        "```python",
        "~~~",
        "````",
        "> quote",
        "- item",
        "1. one",
        "* * *",
    ),
    *(
        "| a | b |",
        "|---|---|",
        "| [[x]] | `|` |",
        "    code",
        "<div>",
        "[ref]: http://x",
        "",
        "",
        "",
    ),
    *("date: 2026-02-30", "tags: [a, b", "a: &x [*x]", "key: !!python/object:os.system", "\t"),
)
NAMES = (
    *(
        "plain",
        "with space",
        " edge ",
        "-rf",
        "--help",
        ".hidden",
        "CON",
        "nul",
        "a.b.c",
        "100%",
        "%2e",
    ),
    *("a?b", "a*b", "[ab]", "a\\b", "a'b\"c", "$(x)", "a;b", "line\nbreak", "tab\tname", "\x1b[2J"),
    *(
        "\u202egpj",
        "名前",
        "e\u0301",
        "\u00e9",
        "👩‍👧",
        "x" * 200,
        "ß",
        "İ",
        "#",
        "~",
        "daily",
        "users",
    ),
)
QUERIES = (
    *(
        "",
        " ",
        "\0",
        "\ud800",
        '"',
        "'",
        "tea OR",
        "NEAR(tea, 2)",
        "tea*",
        "-tea",
        "(((",
        "a AND b",
    ),
    *("'; DROP TABLE chunks; --", "$and", "{'a': 1}", "%s%n", "../../etc/passwd", "^tea", "\u202e"),
)


@dataclass(frozen=True)
class Fuzzed:
    """A generated file, what stands in it, and the word that stands nowhere else."""

    path: str
    needle: str
    text: str | None  # what an editor shows; None when these bytes are no text


def needle_of(number: int) -> str:
    """Return a word of letters alone, another one for each number up to 8,000.

    All are of one length, so that what damage leaves of one is never another one.
    """
    letters = ""
    for _ in range(3):
        number, digit = divmod(number, 20)
        letters += "bcdfghjklmnpqrstvwxz"[digit]
    return f"q{letters}q"


def any_text(rng: random.Random, length: int) -> str:
    return "".join(
        chr(rng.choice((rng.randrange(0xD800), rng.randrange(0x250)))) for _ in range(length)
    )


def any_line(rng: random.Random) -> str:
    match rng.randrange(10):
        case 0 | 1 | 2:
            return rng.choice(LINES)
        case 3:
            return any_text(rng, rng.randrange(30)).replace("\0", "")
        case 4:
            return rng.choice(WORDS) * rng.randrange(40)
        case _:
            return " ".join(rng.choices(WORDS, k=rng.randrange(1, 12)))


def document(rng: random.Random, needle: str) -> str:
    """Return Markdown with the needle in a line of its own or among other words."""
    size = rng.choice((0, 1, 3, 10, 30, 100))
    lines = [any_line(rng) for _ in range(size)]
    if rng.random() < 0.02:
        lines.append(rng.choice(WORDS) * 20_000)
    if rng.random() < 0.2:
        head = ["---", *rng.choices(LINES, k=3), "tags: [x]", rng.choice(("---", "...", "--"))]
        lines = head + lines
    # Behind any front matter, which is in no chunk: a fence that opens it must not close later.
    last = max((i for i, line in enumerate(lines) if line.rstrip() in {"---", "..."}), default=-1)
    at = rng.randrange(last + 1, len(lines) + 1)
    lines.insert(
        at, rng.choice(("{}", "# {}", "- {} common", "| {} |", "tea {} tea")).format(needle)
    )
    end = rng.choice(LINE_ENDS)
    ends = [end if rng.random() < 0.95 else rng.choice(LINE_ENDS) for _ in lines]
    return "".join(line + end for line, end in zip(lines, ends, strict=True))


def encoded(rng: random.Random, text: str) -> bytes:
    """Return the bytes of a text, in a good encoding, a bad one, or damaged."""
    encoding = rng.choice(("utf-8",) * 6 + ("latin-1", "cp1251", "utf-16-le", "marked"))
    mark = b""
    if encoding == "marked":
        mark, encoding = rng.choice(list(MARKS.items()))
    content = mark + text.encode(encoding, "replace")
    if rng.random() < 0.1:
        at = rng.randrange(len(content) + 1)
        content = content[:at] + rng.randbytes(rng.randrange(1, 4)) + content[at:]
    if rng.random() < 0.05:
        content = content[: rng.randrange(len(content) + 1)]
    if rng.random() < 0.01:
        content += b"x" * MAX_BYTES
    return content


def as_an_editor_reads(content: bytes) -> str | None:
    mark = next((mark for mark in MARKS if content.startswith(mark)), b"")
    try:
        text = content.removeprefix(mark).decode(MARKS.get(mark, "utf-8"))
    except UnicodeDecodeError:
        return None
    return None if "\0" in text or len(content) > MAX_BYTES else text


def make_file(rng: random.Random, root: Path, number: int) -> Fuzzed:
    needle = needle_of(number)
    folders = [rng.choice(NAMES) for _ in range(rng.choice((0, 0, 0, 1, 2, 5)))]
    name = f"{rng.choice(NAMES)}{number}{rng.choice(('.md', '.MD', '.mdx', '.txt'))}"
    path = "/".join([*("f" + folder for folder in folders), name])
    content = encoded(rng, document(rng, needle))
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(content)
    text = as_an_editor_reads(content)
    return Fuzzed(path, needle, text)


def make_oddities(root: Path, outside: Path) -> list[FileProblem]:
    """Make what must never be read, and return the report it must get."""
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    link = "a symbolic link; links are not followed"
    (root / "link.md").symlink_to(outside / "secret.md")
    (root / "folder").symlink_to(outside)
    (root / "loop.md").symlink_to("loop.md")
    os.mkfifo(root / "pipe.md")
    os.close(os.open(os.fsencode(root) + b"/bad\xff.md", os.O_CREAT))
    return [
        FileProblem(r"bad\udcff.md", "its name is not valid UTF-8"),
        FileProblem("folder/", link),
        FileProblem("link.md", link),
        FileProblem("loop.md", link),
        FileProblem("pipe.md", "not a regular file"),
    ]


def any_query(rng: random.Random, files: list[Fuzzed]) -> str:
    match rng.randrange(5):
        case 0:
            return rng.choice(QUERIES)
        case 1:
            return any_text(rng, rng.randrange(200))
        case 2:
            return " ".join(rng.choices(WORDS, k=rng.randrange(1, 200)))
        case 3:
            return rng.choice(files).needle + rng.choice(QUERIES) + rng.choice(WORDS)
        case _:
            return rng.choice(LINES) + rng.choice(WORDS)


def editor_lines(text: str) -> list[str]:
    return re.split(r"\r\n|\r|\n", text)


def check_lines(hit: Hit, text: str) -> None:
    """The text of a hit stands in the lines it names, as an editor numbers them."""
    shown = editor_lines(text)[hit.start_line - 1 : hit.end_line]
    first, *rest = editor_lines(hit.text)
    assert len(shown) == len(rest) + 1
    if not rest:
        assert first in shown[0]
        return
    assert shown[0].endswith(first)
    assert shown[1:-1] == rest[:-1]
    assert shown[-1].startswith(rest[-1])


@pytest.fixture
def reads(monkeypatch):
    read: list[str] = []
    original = sources.read_text

    def counted(root, path, max_bytes):
        read.append(path)
        return original(root, path, max_bytes)

    monkeypatch.setattr(sources, "read_text", counted)
    return read


@pytest.mark.parametrize("start", range(0, COUNT, BATCH))
def test_any_files_are_indexed_or_reported_and_any_query_is_answered(
    tmp_path, reads, start, record_property
):
    seed = SEED + start
    rng = random.Random(seed)  # noqa: S311  # to be repeated, not to be secret
    root = tmp_path / "memory"
    root.mkdir()
    oddities = make_oddities(root, tmp_path / "outside")
    made = [make_file(rng, root, number) for number in range(min(BATCH, COUNT - start))]
    files = {file.path: file for file in made}
    readable = {path: file.text for path, file in files.items() if file.text is not None}
    embeddings = FakeEmbeddings(16)
    settings = {"max_file_bytes": MAX_BYTES, "sync_on_search": False}
    with make_engine(root, embeddings=embeddings, **settings) as engine:
        report = engine.sync()
        assert report.failed == report.degraded == (), f"seed {seed}"
        assert engine.indexed_files() == sorted(readable), f"seed {seed}"
        reported = {problem.path: problem for problem in report.skipped}
        assert reported.keys() == files.keys() - readable.keys() | {odd.path for odd in oddities}
        assert all(problem.reason for problem in report.skipped)
        assert [reported[odd.path] for odd in oddities] == oddities

        before = (list(reads), len(embeddings.calls))
        again = engine.sync()
        assert (again.indexed, again.removed, again.embedded) == (0, 0, 0)
        assert (again.unchanged, set(again.skipped)) == (len(readable), set(report.skipped))
        assert (reads, len(embeddings.calls)) == before

        for path, text in readable.items():
            needle = files[path].needle
            if not re.search(rf"(?<!\S){needle}(?!\S)", text):
                continue  # the damage hit the needle
            assert engine.search(needle).hits[0].path == path, f"seed {seed}, {needle}"
        for hit in engine.search("common tea", 100_000).hits:
            check_lines(hit, readable[hit.path])
        for _ in made:
            query = any_query(rng, made)
            result = engine.search(query, 5)
            scores = [hit.score for hit in result.hits]
            assert len(scores) <= 5, f"seed {seed}, {query!r}"
            assert scores == sorted(scores, reverse=True)
            assert result.degraded == ()

        gone = made[::3]
        for file in gone:
            (root / file.path).unlink()
        engine.sync()
        assert engine.indexed_files() == sorted(readable.keys() - {file.path for file in gone})
        for file in gone:
            assert file.path not in {hit.path for hit in engine.search(file.needle).hits}
    record_property(
        "figures",
        ("fuzzed files and queries", {"files": len(made), "queries": len(made)}),
    )
