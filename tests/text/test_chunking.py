from hashlib import sha256

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.text.chunking import chunk_markdown
from langchain_memengine.text.cutting import Cutter
from langchain_memengine.text.markdown import front_matter, line_starts, split_lines
from langchain_memengine.text.tokens import estimate_tokens

PIECES = [
    "# A\n", "## 09:30 — x\n", "```\n", "~~~\n", "\n", "\n\n", "| a | b |\n", "word ", "A b. ",
    "\r", "\r\n", "中文。", "e\u0301", "\u0301", "\ud800", "\x00", "\u2028", "\x85", "    ",
    "1234567890" * 5, "x" * 70, "- b\n", "---\n", "title: x\n",
]  # fmt: skip
any_markdown = st.text(st.characters()) | st.lists(st.sampled_from(PIECES)).map("".join)
bounds = st.sampled_from([(400, 80), (16, 5), (16, 0), (3, 1), (1, 0)])


def digest(text):
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def texts(content, *args, **kwargs):
    return [chunk.text for chunk in chunk_markdown(content, *args, **kwargs)]


def test_each_section_with_a_body_is_a_chunk_under_its_path():
    content = "intro\n\n# A\nalpha\n\n## B\nbeta\n\n# C\ngamma\n"
    chunks = chunk_markdown(content, source="file:w/x.md")
    assert [(c.ord, c.start_line, c.end_line, c.heading, c.text) for c in chunks] == [
        (0, 1, 1, "", "intro"),
        (1, 3, 4, "A", "# A\nalpha"),
        (2, 6, 7, "A > B", "## B\nbeta"),
        (3, 9, 10, "C", "# C\ngamma"),
    ]
    assert chunks[1].id == digest("file:w/x.md\x003\x00# A\nalpha")
    assert chunks[1].hash == digest("# A\nalpha")
    assert chunks[1].tokens == 3  # 9 characters
    assert {chunk.source for chunk in chunks} == {"file:w/x.md"}


def test_a_bare_heading_goes_with_its_sub_section_but_not_with_a_sibling():
    content = "# Day\n\n## 09:30 — a\nx\n## 10:00 — b\n## 11:00 — c\ny"
    assert [(c.heading, c.text) for c in chunk_markdown(content)] == [
        ("Day > 09:30 — a", "# Day\n\n## 09:30 — a\nx"),
        ("Day > 10:00 — b", "## 10:00 — b"),
        ("Day > 11:00 — c", "## 11:00 — c\ny"),
    ]


def test_without_header_splitting_small_sections_share_a_chunk():
    content = "# A\na\n# B\nb"
    assert texts(content, split_on_headers=False) == [content]
    assert chunk_markdown(content, split_on_headers=False)[0].heading == "A"


def test_headings_in_fenced_code_do_not_split():
    content = "# A\n```\n# not\n```\nend"
    assert texts(content) == [content]


def test_front_matter_of_a_file_is_in_no_chunk_and_lines_still_count_it():
    chunks = chunk_markdown("---\ntitle: T\n---\n\n# A\nb", skip_front_matter=True)
    assert [(c.text, c.start_line, c.end_line) for c in chunks] == [("# A\nb", 5, 6)]


def test_front_matter_that_is_no_yaml_is_text():
    content = "---\nBudget: 10:30: with Anna\n---\nb"
    (chunk,) = chunk_markdown(content, skip_front_matter=True)
    assert chunk.text == content


def test_what_looks_like_front_matter_in_other_texts_is_text():
    chunks = chunk_markdown("---\nwifi: hunter2\n---\n# A\nb")
    assert [(c.text, c.start_line, c.end_line) for c in chunks] == [
        ("---\nwifi: hunter2\n---", 1, 3),
        ("# A\nb", 4, 5),
    ]


@pytest.mark.parametrize(
    "content", ["", " ", "\n\r\n\t\x0c\u2028", "---\na: 1\n---\n", "\n" * 9_999]
)
def test_blank_text_gives_no_chunk(content):
    assert chunk_markdown(content, skip_front_matter=True) == []


def test_paragraphs_are_kept_whole_while_they_fit():
    paragraph = "abcd" * 10  # 10 tokens
    content = "\n\n".join([paragraph] * 4)
    assert texts(content, 22, 0) == [f"{paragraph}\n\n{paragraph}"] * 2


def test_long_paragraphs_are_cut_at_lines_then_sentences_then_words():
    assert texts("aaaa aaaa\nbbbb bbbb\ncccc cccc", 3, 0) == ["aaaa aaaa", "bbbb bbbb", "cccc cccc"]
    assert texts("One two. Six ten! Sea?", 3, 0) == ["One two.", "Six ten!", "Sea?"]
    assert texts("你好吗。我很好。", 4, 0) == ["你好吗。", "我很好。"]
    assert texts("aaaa bbbb cccc dddd", 3, 0) == ["aaaa bbbb", "cccc dddd"]
    assert texts("a" * 10, 1, 0) == ["aaaa", "aaaa", "aa"]


@pytest.mark.parametrize("block", ["```\n{}\n\n{}\n```", "| {} |\n|---|\n| {} |"])
def test_code_and_tables_stay_whole_while_they_fit(block):
    block = block.format("abcd" * 8, "efgh" * 8)  # about 20 tokens
    content = f"{'word ' * 14}\n{block}\n{'tail ' * 14}"
    assert block in texts(content, 24, 0)


def test_a_heading_takes_some_of_a_long_paragraph_with_it():
    content = "# Title\n\n" + "Some words here. " * 6
    assert texts(content, 25, 0)[0].startswith("# Title\n\nSome words here.")


def test_overlap_starts_at_a_line_a_sentence_or_a_word():
    lines = texts("\n".join(f"line {n} abcd" for n in "abcdefgh"), 12, 4)
    assert lines[0].endswith("line d abcd")  # four lines of 3 tokens
    assert lines[1].startswith("line d abcd")
    sentences = texts("Ab cd. Ef gh! Ij kl? Mn op. Qr st.", 6, 3)
    assert sentences[0].endswith("Ij kl?")
    assert sentences[1].startswith("Ij kl?")
    words = texts("word " * 40, 12, 4)
    assert all(text.startswith("word") for text in words)
    assert len(words) > len("word " * 40) / 4 / 12  # they do overlap


def test_overlap_never_crosses_a_heading():
    assert texts("aaaa aaaa aaaa\n# B\nbbbb", 4, 3) == ["aaaa aaaa aaaa", "# B\nbbbb"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_in_an_editor(end):
    content = end.join(["# A", "x\u2028y\x0bz\x0c\x85", "", "# B", "b"])
    assert [(c.start_line, c.end_line) for c in chunk_markdown(content)] == [(1, 2), (4, 5)]


def test_equal_texts_in_one_line_have_different_ids():
    chunks = chunk_markdown("abcd" * 3, 1, 0, source="s")
    assert [chunk.text for chunk in chunks] == ["abcd"] * 3
    first = "s\x001\x00abcd"
    assert [c.id for c in chunks] == [
        digest(first),
        digest(f"{first}\x001"),
        digest(f"{first}\x002"),
    ]
    assert len({chunk.hash for chunk in chunks}) == 1


def test_first_line_keeps_its_indentation():
    assert texts("\n\n    code\n  more\n\n") == ["    code\n  more"]


def test_a_huge_line_is_cut_into_full_chunks():
    chunks = chunk_markdown("x" * 1_000_000)
    assert len(chunks) == 782  # 1,280 characters new in each: ceil(1,000,000 / 1,280)
    assert {chunk.tokens for chunk in chunks[1:-1]} == {400}
    assert {(chunk.start_line, chunk.end_line) for chunk in chunks} == {(1, 1)}


def test_marks_without_weight_do_not_make_a_chunk_endless():
    assert max(map(len, texts("\u0301" * 50_000))) <= 8 * 400


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (-1, 0), (10, 10), (10, -1)])
def test_impossible_sizes_are_refused(size, overlap):
    with pytest.raises(ConfigurationError, match=f"{size} tokens cannot overlap by {overlap}"):
        chunk_markdown("x", size, overlap)


@given(any_markdown, bounds, st.booleans(), st.booleans())
@example("a\r\n\r\nb", (1, 0), True, True)
def test_chunks_cover_the_body_in_order_within_their_bounds(content, bound, split, is_file):
    size, overlap = bound
    chunks = chunk_markdown(
        content, size, overlap, split_on_headers=split, skip_front_matter=is_file
    )
    cutter = Cutter(content, size, overlap, skip_front_matter=is_file)
    spans = list(cutter.spans(split_on_headers=split))
    assert [content[start:end] for start, end, _ in spans] == [chunk.text for chunk in chunks]
    starts = [*line_starts(content), len(content)]
    front = front_matter(content)
    covered = starts[front.body_line - 1] if is_file and not front.error else 0
    for start, end, _ in spans:
        assert not content[covered:start].strip()
        assert estimate_tokens(content[start:covered]) <= overlap
        assert end > covered
        covered = end
    assert not content[covered:].strip()
    assert all(chunk.text.strip() and chunk.tokens <= size for chunk in chunks)


@given(any_markdown, bounds)
def test_chunks_stand_in_the_lines_they_name(content, bound):
    lines = split_lines(content)
    for chunk in chunk_markdown(content, *bound):
        named = lines[chunk.start_line - 1 : chunk.end_line]
        inside = split_lines(chunk.text)
        assert len(inside) == len(named)
        assert named[0].endswith(inside[0]) or len(named) == 1
        assert named[-1].startswith(inside[-1]) or len(named) == 1
        assert inside[1:-1] == named[1:-1]
        assert inside[0] in named[0]


@given(any_markdown, bounds)
def test_ids_are_unique_and_the_same_every_time(content, bound):
    chunks = chunk_markdown(content, *bound, source="s")
    assert chunks == chunk_markdown(content, *bound, source="s")
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    assert [chunk.ord for chunk in chunks] == list(range(len(chunks)))
    assert not {c.id for c in chunks} & {c.id for c in chunk_markdown(content, *bound, source="t")}
