"""How hits are shown."""

from rich.console import Console

from langchain_memengine.answers import Hit, Receipt
from langchain_memengine.cli.hits import bar_of, excerpt, receipts_of
from langchain_memengine.text.words import WordSplitter

SPLITTER = WordSplitter("english")


def shown(text, query, max_lines=3, width=80):
    return excerpt(Console(width=width), text, query, SPLITTER, max_lines)


def highlighted(text, query):
    lines = shown(text, query)
    return sorted(line.plain[span.start : span.end] for line in lines for span in line.spans)


def receipt(**changes):
    values = {
        "keyword_rank": 1, "bm25": 8.0, "vector_rank": 2, "cosine": 0.5, "vector_path": "exact",
        "context_rank": None, "fused": 0.1, "age_days": 20.0, "decay": 0.91, "access_count": 0,
        "access_bonus": 0.0, "ranking": "balanced", "origin": "file", "trust": "trusted",
    }  # fmt: skip
    return Receipt(**values | changes)


def test_headings_in_front_and_blank_lines_are_left_out():
    lines = [line.plain for line in shown("# Title\n\nOne.\n\nTwo.\n", "x")]

    assert lines == ["One.", "Two."]


def test_a_text_of_nothing_but_headings_is_shown():
    assert [line.plain for line in shown("# Title", "x")] == ["# Title"]


def test_more_text_than_fits_is_announced():
    lines = [line.plain for line in shown("1\n2\n3\n4", "x")]

    assert lines == ["1", "2", "3 …"]


def test_the_excerpt_starts_where_the_words_begin_when_the_first_lines_have_none():
    lines = [line.plain for line in shown("a\nb\nc\nd cats\ne", "cat")]

    assert lines == ["d cats", "e"]


def test_no_line_is_wider_than_the_console():
    lines = shown("word " * 200, "word", width=40)

    assert len(lines) == 3
    assert max(len(line.plain) for line in lines) <= 36


def test_words_are_highlighted_as_the_index_sees_them():
    assert highlighted("The deploys were a success.", "the deploying") == ["deploys"]
    assert highlighted("Печать билетов падала", "билет") == ["билетов"]
    assert highlighted("退款三天到账", "到账多久") == ["到账"]


def test_a_bar_is_filled_by_its_share():
    assert bar_of(0.5, "cyan", 4).plain == "██░░"
    assert bar_of(-1, "cyan", 4).plain == "░░░░"
    assert bar_of(7, "cyan", 4).plain == "████"


def a_hit(**changes):
    return Hit(
        "0123456789abcdef", "Tea.", 0.1, "file:w/a.md", "a.md", 1, 1, "", 1, "global", "", None, {},
        receipt(**changes),
    )  # fmt: skip


def receipts(*hits, width=76):
    """Return the lines of the receipts, as plain text; the best of the hits fills its bar."""
    return [[line.plain for line in lines] for lines in receipts_of(hits, width)]


def test_a_receipt_shows_the_parts_that_applied():
    best = a_hit(bm25=16.0)
    assert receipts(best, a_hit())[1] == [
        "bm25 ███░░░ 8.0 #1 · cosine ███░░░ 0.50 #2 · 20 d ×0.91 · 01234567"
    ]
    ((named,),) = receipts(a_hit(author_boost=0.2, date_boost=0.5))
    assert named.endswith(" · cosine ███░░░ 0.50 #2 · +author+date · 01234567")
    only_cosine = a_hit(bm25=None, keyword_rank=None, age_days=None, vector_rank=None)
    assert receipts(only_cosine) == [["cosine ███░░░ 0.50 · 01234567"]]


def test_where_one_receipt_does_not_fit_all_have_shorter_bars_or_none():
    hits = (a_hit(context_rank=1), a_hit())  # 79 and 66 columns with bars of six
    assert [lines[0].count("█") for lines in receipts(*hits, width=79)] == [9, 9]
    assert receipts(*hits, width=75) == [
        ["bm25 ████ 8.0 #1 · cosine ██░░ 0.50 #2 · context #1 · 20 d ×0.91 · 01234567"],
        ["bm25 ████ 8.0 #1 · cosine ██░░ 0.50 #2 · 20 d ×0.91 · 01234567"],
    ]
    assert receipts(*hits, width=74)[1] == ["bm25 8.0 #1 · cosine 0.50 #2 · 20 d ×0.91 · 01234567"]


def test_a_narrow_terminal_breaks_a_receipt_between_its_parts():
    hit = a_hit(context_rank=1)
    assert receipts(hit, width=34) == [
        ["bm25 8.0 #1 · cosine 0.50 #2", "context #1 · 20 d ×0.91 · 01234567"]
    ]
    assert receipts(hit, width=5)[0][0] == "bm25 8.0 #1"  # a part stays whole


def test_the_widest_receipt_is_one_line_of_eighty_columns():
    wide = {"bm25": 123.4, "keyword_rank": 999, "cosine": -0.12, "vector_rank": 999,
            "context_rank": 999, "age_days": 9999.0}  # fmt: skip
    for named in ({}, {"author_boost": 0.2, "date_boost": 0.5}):
        assert len(receipts(a_hit(**wide, **named), width=76)[0]) == 1


def test_a_word_is_highlighted_with_the_diacritics_that_the_query_lacks():
    assert highlighted("Lunch at the café in Zürich", "zuerich cafe") == ["Zürich", "café"]
