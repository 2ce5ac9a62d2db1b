"""An embedded Chroma that is killed, or damaged while it is open: healed, with nothing lost.

Such damage may crash the process that has it open, so that is always another one. What is damaged
between two runs is never opened: see tests/engine/test_chroma_damage.py.
"""

import itertools
import json
import os
import random
import shutil
import time

import pytest

from integration_tests.reliability.children import Child, run
from langchain_memengine.errors import StorageError
from langchain_memengine.retrieval.chroma_folder import ChromaFolder
from langchain_memengine.retrieval.chroma_probe import Question, probe
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine
from tests.fakes.sentences import sentence

KILLS = int(os.environ.get("MEMENGINE_CHROMA_KILLS", "3"))

# Adds texts without end, and lets Chroma follow each batch; before that, answers must be right.
WRITER = """
root, first, acknowledged = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with engine_of(root) as engine:
    if first:
        queries = [sentence(7), sentence(acknowledged - 1), "w7 w100"]
        engine.search(queries[0])
        engine.wait_for_chroma()
        exact = engine_of(root, vector_search="exact", read_only=True)
        for query in queries:
            (cosines, paths), (expected, _) = best(engine, query), best(exact, query)
            assert (cosines, paths) == (expected, {"chroma"}), (query, cosines, expected, paths)
        assert engine.stats().chunks >= acknowledged
        for n in range(0, acknowledged, 97):
            assert engine.search(f"number{n}", 1, ranking="decsr").hits[0].text == sentence(n)
    say("right")
    number = acknowledged
    while True:
        texts = [sentence(n) for n in range(number, number + 200)]
        engine.add_texts(texts, ids=[str(n) for n in range(number, number + 200)])
        number += 200
        say(number)
        engine.search("w1")
"""


@pytest.mark.timeout(120 + 20 * KILLS)
def test_killed_in_bulk_upserts_loses_nothing_and_answers_as_exact_vectors(
    tmp_path, record_property
):
    """Each round opens what the kill before left, and checks it."""
    generator = random.Random(7)  # noqa: S311  # not a secret
    acknowledged = 0
    for round_number in itertools.count():
        with Child(WRITER, tmp_path, round_number, acknowledged) as child:
            assert child.hear() == "right", f"round {round_number}"
            if round_number == KILLS:
                break
            acknowledged = int(child.hear())
            time.sleep(generator.uniform(0.05, 0.6))
            acknowledged = max([acknowledged, *map(int, child.kill())])
    assert acknowledged >= 200 * KILLS
    counts = {"kills": KILLS, "texts acknowledged": acknowledged, "lost": 0}
    record_property("figures", ("Chroma killed while it is filled", counts))


# Damages the files under open Chromas, adds, and searches on; says which store it is done with.
DAMAGER = """
import os, resource, shutil
from pathlib import Path

def garbage(path):
    path.write_bytes(b"Z" * path.stat().st_size)

def flip(path):
    content = bytearray(path.read_bytes())
    content[8192:12288] = content[4096:8192]
    path.write_bytes(content)

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

def damage(kind, generation):
    database = generation / "chroma.sqlite3"
    if kind == "index-removed":
        for path in [path for path in generation.iterdir() if path.is_dir()]:
            shutil.rmtree(path)
    elif kind in ("index-garbage", "metadata-garbage"):
        for path in generation.rglob("*.bin" if kind == "index-garbage" else "*.pickle"):
            garbage(path)
    else:
        {
            "database-removed": Path.unlink,
            "database-garbage": garbage,
            "page-flipped": flip,
            "database-truncated": lambda path: os.truncate(path, 0),
            "disk-full": lambda path: limit(path.stat().st_size),
        }[kind](database)

for root in sys.argv[1:]:
    with engine_of(root) as engine:
        engine.search("w1")
        engine.wait_for_chroma()
        assert best(engine, sentence(7))[1] == {"chroma"}
        engine.add_texts([sentence(n) for n in range(1050, 1300)])
        (generation,) = [p for p in Path(root, ".memengine/chroma").iterdir() if p.is_dir()]
        damage(Path(root).name, generation)
        for _ in range(3):
            result = engine.search(sentence(1207), 3)
            assert result.hits[0].text == sentence(1207), result.hits
            engine.wait_for_chroma()
        limit(resource.RLIM_INFINITY)
    say(root)
"""

# Opens each store and compares; a crash of the run before must not be the last word.
HEALED = """
for root in sys.argv[1:]:
    with engine_of(root) as engine, engine_of(root, vector_search="exact") as exact:
        for _ in range(3):  # what the last run left may have to fail once
            engine.search("w1")
            engine.wait_for_chroma()
        assert engine.search("w1").degraded == (), root
        for query in (sentence(7), sentence(1299), "w7 w100"):
            (cosines, paths), (expected, _) = best(engine, query), best(exact, query)
            assert (cosines, paths) == (expected, {"chroma"}), (root, cosines, expected, paths)
        assert engine.stats().chunks == 1300
        assert len(engine._embedding._embedder.embeddings.texts) < 10, "texts were embedded again"
    say(root)
"""

KINDS = [
    "index-removed",
    "index-garbage",
    "metadata-garbage",
    "database-removed",
    "database-garbage",
    "page-flipped",
    "database-truncated",
    "disk-full",
]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Return a store of 1,050 texts that Chroma has written to disk."""
    root = tmp_path_factory.mktemp("chroma") / "store"
    with make_engine(root, embeddings=FakeEmbeddings(), vector_search="chroma") as engine:
        engine.add_texts([sentence(n) for n in range(1050)])
        engine.search("w1")
        engine.wait_for_chroma()
    return root


def test_damage_while_it_is_open_is_healed(store, tmp_path, record_property):
    """A crash of the process that has it open is Chroma's, and must not be the last word."""
    roots = [shutil.copytree(store, tmp_path / kind) for kind in KINDS]
    todo = list(roots)
    while todo:
        with Child(DAMAGER, *todo) as child:
            done = child.rest()
            crashed = child.process.returncode < 0
        todo = todo[len(done) :]
        assert not todo or crashed, todo[0]
        todo = todo[1:]
    healed = run(HEALED, *roots)
    assert healed == [str(root) for root in roots]
    record_property(
        "figures", ("Chroma damaged while it is open", {"kinds": len(KINDS), "healed": len(healed)})
    )


# The doctor asks Chroma in a process of its own


def doctored(root, **options):
    with make_engine(root, embeddings=FakeEmbeddings(), vector_search="chroma") as engine:
        return engine.doctor(**options)["chroma"]


def test_doctor_verifies_repairs_and_keeps_the_receipt(store, tmp_path):
    root = tmp_path / "store"
    shutil.copytree(store, root)
    chroma = root / ".memengine/chroma"
    first = doctored(root)
    assert (first.status, first.found) == ("ok", "1 collections, sampled vectors find themselves")
    before = json.loads((chroma / "receipt.json").read_text())["generation"]

    # A folder that is as it was left, but was left wrong: only asking it tells.
    generation = chroma / before
    for path in generation.rglob("*.bin"):
        path.write_bytes(b"Z" * path.stat().st_size)
    folder = ChromaFolder(chroma, json.loads((chroma / "receipt.json").read_text())["database"])
    folder.finish(generation, 1)
    assert folder.condition().problem == ""
    found = doctored(root)
    assert found.status == "failed", found
    repaired = doctored(root, repair=True)
    assert (repaired.status, repaired.repaired) == ("ok", True)
    assert json.loads((chroma / "receipt.json").read_text())["generation"] != before
    (chroma / "receipt.json").unlink()
    unclean = doctored(root)
    assert unclean.status == "warning"
    assert unclean.found.startswith("it was not closed by its last process")


def test_chroma_that_hangs_is_not_waited_for(store):
    receipt = json.loads((store / ".memengine/chroma/receipt.json").read_text())
    folder = ChromaFolder(store / ".memengine/chroma", receipt["database"])
    with pytest.raises(StorageError, match="did not answer"):
        probe(folder, {"any": Question(vectors={})}, seconds=0.01)
