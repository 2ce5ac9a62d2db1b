"""A tally becomes a report."""

from langchain_memengine.answers import (
    FileProblem,
    IndexReport,
)
from langchain_memengine.errors import EmbeddingError
from langchain_memengine.retrieval.tally import Tally


def test_counts_become_those_of_the_report():
    problem = FileProblem("a.md", "binary")
    listed = {"skipped": [problem], "failed": [problem], "suspicious": [problem]}
    tally = Tally(1, 2, 3, 4, 5, 6, 7, **listed)
    assert tally.report(pending=8, dry_run=True) == IndexReport(
        1, 2, 3, (problem,), (problem,), (problem,), 4, 5, 6, 8, 7, (), dry_run=True
    )


def test_nothing_done_is_complete():
    assert Tally().report(pending=0) == IndexReport()
    assert IndexReport().complete


def test_outage_and_hopeless_texts_are_told():
    tally = Tally(hopeless=2, outage=EmbeddingError("it is down"))
    report = tally.report(pending=0)
    assert report.degraded[0] == "embeddings: it is down"
    assert report.degraded[1].startswith("embeddings: 2 texts without a meaning")
    assert not report.complete
