"""How long the graph takes to answer: walks of 1 to 3 hops over entities that all look alike.

Run: python benchmarks/graph.py --entities 10000 --relations 40000
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from langchain_memengine.storage import graph, graph_reading
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.graph_schema import GRAPH
from langchain_memengine.storage.graph_values import Entity, Evidence, Relation

NOW = datetime(2026, 1, 1, tzinfo=UTC)
READABLE = ("shared", "personal/somebody")
WALKS = 200
PER_MEMORY = 4


def fill(database: Database, entities: list[Entity], relations: int) -> float:
    """Learn random relations, four a memory; return the seconds it took."""
    chance = random.Random(1)
    learnt = [
        (
            Evidence(f"memory {i}", "shared"),
            (),
            [
                Relation(
                    chance.choice(entities),
                    f"relation {chance.randrange(20)}",
                    chance.choice(entities),
                )
                for _ in range(PER_MEMORY)
            ],
        )
        for i in range(relations // PER_MEMORY)
    ]
    started = time.perf_counter()
    with database.write() as tx:
        graph.learn(tx, learnt, now=NOW)
    return time.perf_counter() - started


def walk_ms(database: Database, starts: list[Entity], hops: int) -> tuple[float, float, float]:
    """Return median milliseconds of the walk alone and with all it reports, and relations found."""
    bare, whole, found = [], [], 0
    for entity in starts:
        with database.read() as tx:
            started = time.perf_counter()
            graph_reading.rows_around(tx, [entity.id], hops, partitions=READABLE, at=NOW)
            between = time.perf_counter()
            answer = graph_reading.around(tx, [entity.id], hops, partitions=READABLE, at=NOW)
            ended = time.perf_counter()
        bare.append(between - started)
        whole.append(ended - between)
        found += len(answer.relations)
    return median(bare) * 1000, median(whole) * 1000, found / len(starts)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entities", type=int, default=10_000)
    parser.add_argument("--relations", type=int, default=40_000)
    size = parser.parse_args()
    entities = [Entity(f"Entity {i}", "Thing") for i in range(size.entities)]
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'kg.sqlite'}"
        database = Database(url, store_id="s", now=NOW, busy_timeout_ms=0, schema=GRAPH)
        print(
            f"learnt {size.relations} relations in {fill(database, entities, size.relations):.1f} s"
        )
        starts = random.Random(2).choices(entities, k=WALKS)
        print("hops  walk ms  with names and evidence ms  relations")
        for hops in (1, 2, 3):
            bare, whole, found = walk_ms(database, starts[: WALKS // hops], hops)
            print(f"{hops:4}  {bare:7.2f}  {whole:26.2f}  {found:9.0f}")
        database.close()


if __name__ == "__main__":
    main()
