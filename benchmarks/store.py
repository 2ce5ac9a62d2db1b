"""Our store against langgraph's InMemoryStore, with the same embedder: speed and recall.

    python benchmarks/store.py --items 10000 --json
    python benchmarks/store.py --xquad path/to/xquad-en.json --embeddings local

Without ``--xquad`` it times searches over made-up items: of all items, of the share of one user in
ten, of all with a filter that half of them pass, and of all with a put before each search. With it,
it counts how often the paragraph of a question of XQuAD comes first, and is among the first five;
the file is not part of this repository.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Sequence
from itertools import count

from corpus import DIMENSION, StubEmbeddings, chunks, queries
from langgraph.store.base import BaseStore, PutOp
from langgraph.store.memory import InMemoryStore
from search import embeddings_named
from timing import interleaved, report, resident_mb

from langchain_memengine import MemEngineStore, MemoryEngine
from langchain_memengine.evaluation.datasets import load_dataset

ROOT = "memories"
USERS = 10
FIRST = (1, 5)
BATCH = 500


def fill(store: BaseStore, texts: Sequence[str]) -> None:
    """Put texts, dealt out to the users."""
    puts = [
        PutOp((ROOT, f"user{number % USERS}"), str(number), {"text": text, "odd": number % 2 == 1})
        for number, text in enumerate(texts)
    ]
    for start in range(0, len(puts), BATCH):
        store.batch(puts[start : start + BATCH])


def times(stores: dict[str, BaseStore], asked: Sequence[str], turn: int) -> dict[str, object]:
    """Return the times of each way to search, and how many times faster we are."""
    number = count()

    def put_and_search(store: BaseStore, query: str) -> object:
        store.put((ROOT, "new"), str(next(number)), {"text": f"news number {next(number)}"})
        return store.search((ROOT,), query=query)

    ways = {
        "all": lambda store, query: store.search((ROOT,), query=query),
        "one user": lambda store, query: store.search((ROOT, "user3"), query=query),
        "filtered": lambda store, query: store.search((ROOT,), query=query, filter={"odd": True}),
        "put, then all": put_and_search,
    }
    found: dict[str, object] = {}
    for way, ask in ways.items():
        each = interleaved(
            {
                name: lambda query, store=store, ask=ask: ask(store, query)
                for name, store in stores.items()
            },
            asked,
            turn,
        )
        found.update({f"{way}: {name}": taken for name, taken in each.items()})
        found[f"{way}: ratio"] = each["in_memory"]["p50_ms"] / each["memengine"]["p50_ms"]
    return found


def recall(stores: dict[str, BaseStore], path: str) -> dict[str, object]:
    """Return how often the right paragraph is among the first five, in percent."""
    (collection,) = load_dataset(path, "xquad").collections
    found: dict[str, object] = {"questions": len(collection.questions)}
    for name, store in stores.items():
        for document in collection.documents:
            store.put((ROOT,), document.id, {"text": document.text})
        hits = Counter[int]()
        for question in collection.questions:
            items = store.search((ROOT,), query=question.text, limit=max(FIRST))
            for first in FIRST:
                hits[first] += bool({item.key for item in items[:first]} & set(question.grades))
        for first in FIRST:
            found[f"recall@{first}: {name}"] = 100 * hits[first] / len(collection.questions)
    return found


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--turn", type=int, default=10, help="queries asked of each side in a row")
    parser.add_argument("--embeddings", default="stub", help="stub, local or local:minilm")
    parser.add_argument("--xquad", help="path of xquad-en.json: measure recall instead of time")
    parser.add_argument("--whole", action="store_true", help="index whole values, as by default")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    embeddings = (
        StubEmbeddings() if options.embeddings == "stub" else embeddings_named(options.embeddings)
    )
    fields = None if options.whole else ["text"]
    peer = InMemoryStore(index={"dims": DIMENSION, "embed": embeddings, "fields": fields})
    with (
        tempfile.TemporaryDirectory() as root,
        MemoryEngine.open(root, embeddings=embeddings) as engine,
    ):
        stores = {"memengine": MemEngineStore(engine, fields=fields), "in_memory": peer}
        if options.xquad:
            measured = recall(stores, options.xquad)
        else:
            for store in stores.values():
                fill(store, chunks(options.items))
            measured = {
                "items": options.items,
                **times(stores, queries(options.queries), options.turn),
            }
    report(
        {"embeddings": options.embeddings, **measured, "resident_mb": resident_mb()},
        as_json=options.json,
    )


if __name__ == "__main__":
    main()
