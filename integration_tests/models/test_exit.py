"""A process that ends while a thread still embeds ends well."""

import subprocess
import sys
from importlib.util import find_spec

import pytest

PROCESSES = 2

SCRIPT = """
import itertools, sys, threading
from langchain_memengine.config import MemEngineConfig
from langchain_memengine.engine.memory_engine import MemoryEngine

engine = MemoryEngine.open(
    None, embeddings="local:minilm", config=MemEngineConfig(worker_drain_seconds=0)
)
engine.add_texts(["tea"])
busy = threading.Event()

def embed():
    for number in itertools.count():
        engine._embedder.embed_texts([f"tea {i} " * 40 + str(number) for i in range(8)])
        busy.set()

threading.Thread(target=embed, daemon=True).start()
busy.wait()
if sys.argv[1] == "closed":
    engine.close()
"""


@pytest.mark.skipif(find_spec("onnxruntime") is None, reason="the extra minilm is not installed")
@pytest.mark.parametrize("how", ["closed", "left open"])
def test_the_end_of_a_process_is_no_abort(how):
    ending = [
        subprocess.Popen(  # noqa: S603  # this Python, on the script above
            [sys.executable, "-c", SCRIPT, how], stderr=subprocess.PIPE, text=True
        )
        for _ in range(PROCESSES)
    ]
    told = [process.communicate(timeout=120)[1] for process in ending]
    assert [process.returncode for process in ending] == [0] * PROCESSES, told
