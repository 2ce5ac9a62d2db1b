"""Processes with an embedded Chroma that is killed, or damaged while it is open."""

import os
import resource
import shutil
from pathlib import Path
from typing import Any

from integration_tests.reliability.children import Line
from langchain_memengine.engine.memory_engine import MemoryEngine
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine
from tests.fakes.sentences import best, sentence


def open_store(root: Path, **settings: Any) -> MemoryEngine:
    settings = {"vector_search": "chroma", **settings}
    return make_engine(root, embeddings=FakeEmbeddings(), **settings)


def fill(line: Line, root: Path, acknowledged: int) -> None:
    """Add texts without end and let Chroma follow; before that, answers must be right."""
    with open_store(root) as engine:
        if acknowledged:
            check(engine, root, acknowledged)
        line.say("right")
        number = acknowledged
        while True:
            numbers = range(number, number + 200)
            engine.add_texts([sentence(n) for n in numbers], ids=[str(n) for n in numbers])
            number += 200
            line.say(number)
            engine.search("w1")


def check(engine: MemoryEngine, root: Path, acknowledged: int) -> None:
    queries = [sentence(7), sentence(acknowledged - 1), "w7 w100"]
    engine.search(queries[0])
    engine.wait_for_chroma()
    with open_store(root, vector_search="exact", read_only=True) as exact:
        for query in queries:
            require_same(engine, exact, query)
    assert engine.stats().chunks >= acknowledged
    for n in range(0, acknowledged, 97):
        assert engine.search(f"number{n}", 1, ranking="decsr").hits[0].text == sentence(n)


def require_same(engine: MemoryEngine, exact: MemoryEngine, query: str) -> None:
    """Require that Chroma answers as exact vectors do."""
    (cosines, paths), (expected, _) = best(engine, query), best(exact, query)
    assert (cosines, paths) == (expected, {"chroma"}), (engine.root, query, cosines, expected)


def damage_all(line: Line, *roots: Path) -> None:
    """Damage the files under open Chromas, add, and search on; say which store is done."""
    for root in roots:
        with open_store(root) as engine:
            engine.search("w1")
            engine.wait_for_chroma()
            assert best(engine, sentence(7))[1] == {"chroma"}
            engine.add_texts([sentence(n) for n in range(1050, 1300)])
            (generation,) = [p for p in (root / ".memengine/chroma").iterdir() if p.is_dir()]
            damage(root.name, generation)
            for _ in range(3):
                result = engine.search(sentence(1207), 3)
                assert result.hits[0].text == sentence(1207), result.hits
                engine.wait_for_chroma()
            limit_files(resource.RLIM_INFINITY)
        line.say(root)


def damage(kind: str, generation: Path) -> None:
    database = generation / "chroma.sqlite3"
    if kind == "index-removed":
        for path in [path for path in generation.iterdir() if path.is_dir()]:
            shutil.rmtree(path)
    elif kind in {"index-garbage", "metadata-garbage"}:
        for path in generation.rglob("*.bin" if kind == "index-garbage" else "*.pickle"):
            fill_with_garbage(path)
    else:
        {
            "database-removed": Path.unlink,
            "database-garbage": fill_with_garbage,
            "page-flipped": flip_page,
            "database-truncated": lambda path: os.truncate(path, 0),
            "disk-full": lambda path: limit_files(path.stat().st_size),
        }[kind](database)


def fill_with_garbage(path: Path) -> None:
    path.write_bytes(b"Z" * path.stat().st_size)


def flip_page(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[8192:12288] = content[4096:8192]
    path.write_bytes(content)


def limit_files(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def heal_all(line: Line, *roots: Path) -> None:
    """Open each store and compare; a crash of the run before must not be the last word."""
    for root in roots:
        with open_store(root) as engine, open_store(root, vector_search="exact") as exact:
            for _ in range(3):  # what the last run left may have to fail once
                engine.search("w1")
                engine.wait_for_chroma()
            assert engine.search("w1").degraded == (), root
            for query in (sentence(7), sentence(1299), "w7 w100"):
                require_same(engine, exact, query)
            assert engine.stats().chunks == 1300
            embedded = engine._embedding._embedder.embeddings.texts
            assert len(embedded) < 10, "texts were embedded again"
        line.say(root)
