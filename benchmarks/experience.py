"""What worked before among N experiences: find_similar, in CPU time.

python benchmarks/experience.py --experiences 50000 --json
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
from corpus import zipf_words
from timing import interleaved, report

from langchain_memengine import Experience, ExperienceStore
from langchain_memengine.knowledge.new_experience import checked
from langchain_memengine.storage import experiences
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.experience_values import EXPERIENCE_KINDS
from langchain_memengine.text.words import WordSplitter
from langchain_memengine.types import (
    LOCAL_ADMIN,
)

NOW = datetime(2026, 11, 30, tzinfo=UTC)
INTENT_WORDS = 12
QUERY_WORDS = 8
TAGS = tuple(f"tool{n}" for n in range(20))


def learnt(count: int) -> list[Experience]:
    """Return experiences with solutions of four steps, a tenth of them everyone's."""
    words = zipf_words(count * INTENT_WORDS, seed=1)
    draw = np.random.default_rng(2)
    step = {"name": "read_file", "args": {"path": "reports/2026/may.csv"}, "ok": True}
    template = Experience("", "tool_chain", "x", None, 1.0, (), "", "", NOW)
    return [
        checked(
            replace(
                template,
                kind=EXPERIENCE_KINDS[at % 4],
                intent=" ".join(words[at * INTENT_WORDS : (at + 1) * INTENT_WORDS]),
                solution={"number": at, "steps": [step] * 4},
                success_score=float(draw.uniform(0.5, 1.0)),
                tags=(TAGS[at % len(TAGS)],),
                user="" if at % 10 == 0 else "local",
                created_at=NOW - timedelta(minutes=at),
            )
        )
        for at in range(count)
    ]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--experiences", type=int, default=50_000)
    parser.add_argument("--queries", type=int, default=400)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    database = Database("sqlite://", store_id="bench", now=NOW, busy_timeout_ms=0)
    with database.write() as tx:
        experiences.put(tx, learnt(options.experiences))
    store = ExperienceStore(database, WordSplitter("english"), clock=lambda: NOW, actor=LOCAL_ADMIN)
    words = zipf_words(options.queries * QUERY_WORDS, seed=3)
    asked = [" ".join(words[at : at + QUERY_WORDS]) for at in range(0, len(words), QUERY_WORDS)]

    started = time.process_time()
    store.find_similar(asked[0])
    loading = time.process_time() - started
    times = interleaved(
        {
            "find_similar": store.find_similar,
            "with tags and kind": lambda query: store.find_similar(
                query, tags=TAGS[:2], kind="tool_chain"
            ),
            "record and find_similar": lambda query: (
                store.record(query, 1),
                store.find_similar(query),
            ),
        },
        asked,
    )
    report(
        {
            "experiences": options.experiences,
            **times,
            "first_search_s": loading,
        },
        as_json=options.json,
    )


if __name__ == "__main__":
    main()
