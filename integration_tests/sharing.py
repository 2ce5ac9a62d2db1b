"""Two engines of one store."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from langchain_memengine.engine.memory_engine import MemoryEngine
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, write


@contextmanager
def two_engines(
    root: Path, settings: dict[str, str]
) -> Iterator[tuple[MemoryEngine, MemoryEngine]]:
    """Yield one with a folder, in which there is a file about tea, and one without."""
    write(root, "MEMORY.md", "# Tea\n\nWe drink green tea from Uji.")
    with (
        make_engine(root, embeddings=FakeEmbeddings(), **settings) as one,
        make_engine(embeddings=FakeEmbeddings(), **settings) as two,
    ):
        one.sync()
        yield one, two
