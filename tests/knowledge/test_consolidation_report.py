"""What a consolidation tells of itself: to its caller, and in the notes."""

from langchain_memengine.knowledge.consolidation_report import (
    MAX_QUOTED_CHARS,
    Consolidated,
    ConsolidationReport,
    digest,
)
from langchain_memengine.text.erasing import MIN_CHARS

HIDDEN = Consolidated(
    "hidden", "1", "2", "", "a.md:1-2", "b.md:3-4", "Tea\nat four.", "says all of it and more",
    similarity=0.85, cosine=0.934, revision="r1",
)  # fmt: skip
MERGED = Consolidated(
    "merged", "n1", "n2", "", "record:n1", "record:n2", "Deploys happen on Tuesdays.",
    "says the same",
)  # fmt: skip
HIDDEN_LINE = (
    "hidden a.md:1-2 (b.md:3-4 says all of it and more, similarity 0.85, cosine 0.93; undo r1)"
)
MERGED_LINE = "merged record:n1 (record:n2 says the same, similarity 1.00)"


def test_a_report_counts_first_and_then_tells_each_entry_with_what_undoes_it():
    report = ConsolidationReport(entries=(HIDDEN, MERGED), private=3, examined=1)
    assert report.counts == {"hidden": 1, "merged": 1, "folded": 0}
    told = str(report).splitlines()
    assert told[:2] == [
        "1 hidden, 1 merged, 0 folded; 1 text examined.",
        "3 more in other users' memories; their DREAMS.md tells which.",
    ]
    flat = " ".join(" ".join(told).split())
    for part in ("hidden Tea at four. b.md:3-4 r1", "merged Deploys happen on Tuesdays."):
        assert part in flat
    assert (str(HIDDEN), str(MERGED)) == (HIDDEN_LINE, MERGED_LINE)


def test_a_diff_shows_what_searches_lose_and_what_is_pinned():
    report = ConsolidationReport(entries=(HIDDEN,), pinned=("- Tea is at four.\n",))
    assert report.diff().splitlines() == [
        "--- a.md:1-2", "+++ a.md:1-2", "@@ -1,2 +0,0 @@", "-Tea", "-at four.",
        "--- MEMORY.md", "+++ MEMORY.md", "@@ -0,0 +1 @@", "+- Tea is at four.",
    ]  # fmt: skip
    assert ConsolidationReport().diff() == ""


def test_a_digest_quotes_records_that_can_be_forgotten_in_it_and_no_chunks():
    too_short, too_long = ("x" * (MIN_CHARS - 1), "x" * (MAX_QUOTED_CHARS + 1))
    merged = [MERGED, *(Consolidated("merged", "n", "k", "", "r", "s", text, "says the same")
                        for text in (too_short, too_long))]  # fmt: skip
    unquoted = "- merged r (s says the same, similarity 1.00)"
    assert digest([HIDDEN, *merged], pinned=2).splitlines() == [
        f"- {HIDDEN_LINE}",
        f"- {MERGED_LINE}: Deploys happen on Tuesdays.",
        unquoted,
        unquoted,
        "- lines added to MEMORY.md: 2",
    ]
