"""The folder of an embedded Chroma: which of its generations may be opened, and which never.

Chroma keeps no promise when its process is killed: its files may be damaged, and opening damaged
files can crash the next process, without an exception to catch. So a generation is opened only
with the receipt of a clean stop, in which every file is summed up:

```
receipt.json      the last clean stop: of which generation, and what its files were
<generation>/     what Chroma keeps
```

The receipt is removed before a generation is opened, and written when it is closed. What has no
receipt, or does not fit it, is never opened again: it is removed, and a new generation is filled
from the database.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from langchain_memengine.retrieval.derived_files import remove, sums
from langchain_memengine.workspace.durable import make_folder, sync_folder
from langchain_memengine.workspace.files import write_atomic

logger = logging.getLogger(__name__)

_VERSION = 2
_RECEIPT = "receipt.json"


class Condition(NamedTuple):
    """What is known of the folder without opening it in Chroma.

    Attributes:
        generation: The one that may be opened; ``None`` if there is none.
        problem: Why there is none; ``""`` if there never was one.
    """

    generation: Path | None
    problem: str


class _Receipt(BaseModel):
    model_config = ConfigDict(frozen=True)

    version: int
    database: str
    generation: str = Field(pattern=r"^[0-9a-f]{32}$")
    changes: int
    files: dict[str, tuple[int, int]]


class ChromaFolder:
    """The folder of one store's embedded Chroma.

    Only the holder of the store's index lock may use it.

    Attributes:
        home: The folder; it need not exist.
        database: Identity of the database that fills it.
    """

    def __init__(self, home: Path, database: str) -> None:
        """Remember where it is.

        Args:
            home: The folder.
            database: Identity of the database that fills it.
        """
        self.home = home
        self.database = database

    def condition(self) -> Condition:
        """Return which generation may be opened; reads all of its files."""
        receipt = _read(self.home)
        if receipt is None:
            left = self.home.is_dir() and any(self.home.iterdir())
            return Condition(None, "it was not closed by its last process" if left else "")
        if (receipt.version, receipt.database) != (_VERSION, self.database):
            return Condition(None, "it was filled from another database")
        generation = self.home / receipt.generation
        try:
            found = sums(generation)
        except OSError as error:
            return Condition(None, f"a file cannot be read: {error}")
        changed = sorted(
            name
            for name in receipt.files.keys() | found.keys()
            if receipt.files.get(name) != found.get(name)
        )
        if changed:
            return Condition(None, f"{changed[0]} is not as it was left")
        return Condition(generation, "")

    def begin(self) -> Path:
        """Return the generation to open: that of the last clean stop, or a new one.

        From here to :meth:`finish` there is no receipt. All other generations are removed.

        Raises:
            OSError: The folder cannot be written.
        """
        kept, problem = self.condition()
        if problem:
            logger.warning("Chroma in %s is built again from the database: %s.", self.home, problem)
        make_folder(self.home)
        (self.home / _RECEIPT).unlink(missing_ok=True)
        sync_folder(self.home)
        generation = kept or self.home / uuid4().hex
        for other in self.home.iterdir():
            if other != generation:
                remove(other)
        generation.mkdir(exist_ok=True)
        return generation

    def finish(self, generation: Path, changes: int) -> None:
        """Write the receipt of a generation that Chroma has closed.

        Args:
            generation: What :meth:`begin` returned.
            changes: The highest value of the change counter that it reflects.

        Raises:
            OSError: A file cannot be read.
            StorageError: The receipt cannot be written.
        """
        receipt = _Receipt(
            version=_VERSION,
            database=self.database,
            generation=generation.name,
            changes=changes,
            files=dict(sums(generation)),
        )
        write_atomic(self.home / _RECEIPT, receipt.model_dump_json(indent=1))


def newest_change(home: Path, database: str) -> int:
    """Return the highest change that a receipt of this database knows of, 0 if there is none."""
    receipt = _read(home)
    return receipt.changes if receipt and receipt.database == database else 0


def _read(home: Path) -> _Receipt | None:
    try:
        return _Receipt.model_validate_json((home / _RECEIPT).read_bytes())
    except (OSError, ValidationError):  # never written, or damaged
        return None
