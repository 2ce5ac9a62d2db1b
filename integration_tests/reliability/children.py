"""Python processes to kill, and what they say."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

_START = """
import sys
from pathlib import Path
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine
from tests.fakes.sentences import best, sentence

def engine_of(root, **settings):
    settings = {"vector_search": "chroma", **settings}
    return make_engine(Path(root), embeddings=FakeEmbeddings(), **settings)

def say(*words):
    print(*words, flush=True)
"""


class Child:
    """A process that runs a program; it is killed at the end of a ``with`` block.

    The program may use ``engine_of``, ``sentence``, ``best``, ``say`` and ``sys.argv[1:]``.
    """

    def __init__(self, program: str, *arguments: object):
        self.process = subprocess.Popen(  # noqa: S603  # this interpreter and our own program
            [sys.executable, "-c", _START + program, *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.kill()
        self.process.stdin.close()
        self.process.stdout.close()

    def hear(self) -> str:
        """Return the next line it says, ``""`` when it has ended."""
        return self.process.stdout.readline().strip()

    def tell(self, words: str) -> None:
        """Write a line to its standard input."""
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()

    def ask(self, words: str) -> str:
        """Tell it something and return the line it says then."""
        self.tell(words)
        return self.hear()

    def kill(self) -> list[str]:
        """End it with SIGKILL; return the lines it had said that nobody has heard yet."""
        self.process.kill()
        return self.rest()

    def rest(self) -> list[str]:
        """Wait for its end and return the lines that nobody has heard yet."""
        lines = self.process.stdout.read().splitlines()
        self.process.wait(60)
        return lines


def run(program: str, *arguments: object) -> list[str]:
    """Run a program to its end, which must be a good one; return the lines it said."""
    with Child(program, *arguments) as child:
        lines = child.rest()
        assert child.process.returncode == 0, (child.process.returncode, lines)
    return lines
