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
from integration_tests.reliability.chroma_processes import damage_all, fill, heal_all
from langchain_memengine.errors import StorageError
from langchain_memengine.retrieval.chroma_folder import ChromaFolder
from langchain_memengine.retrieval.chroma_probe import Question, probe
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine
from tests.fakes.sentences import sentence

KILLS = int(os.environ.get("MEMENGINE_CHROMA_KILLS", "3"))


@pytest.mark.timeout(120 + 60 * KILLS)  # each round fills more, and machines are busy
def test_killed_in_bulk_upserts_loses_nothing_and_answers_as_exact_vectors(
    tmp_path, record_property
):
    """Each round opens what the kill before left, and checks it."""
    generator = random.Random(7)  # noqa: S311  # not a secret
    acknowledged = 0
    for round_number in itertools.count():
        with Child(fill, tmp_path, acknowledged) as child:
            assert child.hear() == "right", f"round {round_number}"
            if round_number == KILLS:
                break
            acknowledged = int(child.hear())
            time.sleep(generator.uniform(0.05, 0.6))
            acknowledged = max([acknowledged, *map(int, child.kill())])
    assert acknowledged >= 200 * KILLS
    counts = {"kills": KILLS, "texts acknowledged": acknowledged, "lost": 0}
    record_property("figures", ("Chroma killed while it is filled", counts))


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
        with Child(damage_all, *todo) as child:
            done = child.rest()
            crashed = child.process.exitcode < 0
        todo = todo[len(done) :]
        assert not todo or crashed, todo[0]
        todo = todo[1:]
    healed = run(heal_all, *roots)
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
    assert (first.status, first.found) == ("ok", "1 collection, sampled vectors find themselves")
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
