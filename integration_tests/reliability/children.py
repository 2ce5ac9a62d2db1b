"""Processes to talk to and to kill, forked from one that has imported everything."""

from collections.abc import Callable, Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Concatenate, ParamSpec, Self

Arguments = ParamSpec("Arguments")

_forking = get_context("forkserver")
_forking.set_forkserver_preload(
    [
        "tests.fakes.lean_imports",
        "chromadb",
        "integration_tests.reliability.chroma_processes",
        "integration_tests.reliability.sharing_processes",
    ]
)


class Line:
    """A child's end of the line to its test; what is said and heard are words."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def say(self, *words: object) -> None:
        self._connection.send(" ".join(map(str, words)))

    def heard(self) -> Iterator[str]:
        """Yield what the test tells, until it lets go."""
        try:
            while True:
                yield self._connection.recv()
        except EOFError:
            return


Program = Callable[Concatenate[Line, Arguments], None]


class Child:
    """A process that runs a function of a module; it is killed at the end of a ``with`` block."""

    def __init__(
        self, program: Program, *arguments: Arguments.args, **options: Arguments.kwargs
    ) -> None:
        self._line, theirs = _forking.Pipe()
        self.process = _forking.Process(
            target=program, args=(Line(theirs), *arguments), kwargs=options
        )
        self.process.start()
        theirs.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()
        self._line.close()

    def hear(self) -> str:
        """Return what it says next, ``""`` when it has ended."""
        try:
            return self._line.recv()
        except (EOFError, OSError):  # killed in the middle of a word, too
            return ""

    def tell(self, words: str) -> None:
        self._line.send(words)

    def ask(self, words: str) -> str:
        """Tell it something and return what it says then."""
        self.tell(words)
        return self.hear()

    def kill(self) -> list[str]:
        """End it with SIGKILL; return what it had said that nobody has heard yet."""
        self.process.kill()
        return self.rest()

    def rest(self) -> list[str]:
        """Wait for its end and return what nobody has heard yet."""
        words = list(iter(self.hear, ""))
        self.process.join(60)
        return words


def run(program: Program, *arguments: Arguments.args) -> list[str]:
    """Run a function to its end, which must be a good one; return what it said."""
    with Child(program, *arguments) as child:
        words = child.rest()
        assert child.process.exitcode == 0, (child.process.exitcode, words)
    return words
