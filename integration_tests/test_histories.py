"""Several processes write to one chat history at the same time."""

import itertools
import subprocess
import sys

from langchain_memengine import MemEngineChatMessageHistory, MemoryEngine

WRITERS = 2
MESSAGES = 60

PROGRAM = """
import sys, time
from langchain_core.messages import HumanMessage
from langchain_memengine import MemEngineChatMessageHistory, MemoryEngine

root, writer, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with MemoryEngine.open(root, embeddings=None) as engine:
    history = MemEngineChatMessageHistory(engine, "chat")
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(count):
        history.add_messages([HumanMessage(f"{writer} {number}")])
        time.sleep(0.002)  # or SQLite lets one process finish before the other begins
"""


def test_two_processes_that_write_sixty_messages_each_lose_none(tmp_path):
    MemoryEngine.open(tmp_path, embeddings=None).close()
    writers = [
        subprocess.Popen(  # noqa: S603  # this interpreter and our own program
            [sys.executable, "-c", PROGRAM, str(tmp_path), f"w{number}", str(MESSAGES)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(WRITERS)
    ]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=60)
        assert writer.returncode == 0
    with MemoryEngine.open(tmp_path, embeddings=None) as engine:
        found = [m.content for m in MemEngineChatMessageHistory(engine, "chat").messages]
    assert len(found) == WRITERS * MESSAGES
    for number in range(WRITERS):
        mine = [text for text in found if text.startswith(f"w{number} ")]
        assert mine == [f"w{number} {place}" for place in range(MESSAGES)]
    switches = sum(one[:2] != two[:2] for one, two in itertools.pairwise(found))
    assert switches > 1  # they did write at the same time
