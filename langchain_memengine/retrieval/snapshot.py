"""Partitions on disk, so that opening a store maps its indexes instead of building them again.

Each partition has a folder, named by the hash of its key:

```
manifest.json         what the arrays reflect, and which folder holds them
<generation>/*.npy    arrays, mapped copy-on-write: what is written stays in memory
<generation>/*.json   lists of texts
```

A new generation is written beside the old one and becomes current when the manifest is replaced;
whoever mapped the old one keeps it. What does not fit the database or this program is not used:
everything here can be derived from SQL.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from pydantic import BaseModel, ConfigDict

from langchain_memengine.retrieval import array_files
from langchain_memengine.retrieval.derived_files import remove
from langchain_memengine.retrieval.partition import Partition, Standing
from langchain_memengine.storage.change_counters import Counters
from langchain_memengine.text.digests import digest
from langchain_memengine.workspace.durable import make_folder, sync_folder
from langchain_memengine.workspace.files import write_atomic

logger = logging.getLogger(__name__)

FORMAT_VERSION = 6
"""Raised with every change of the files' meaning, so that older ones are built again."""

_MANIFEST = "manifest.json"
_QUANTIZED_ARRAYS = ("codes", "scales", "errors", "norms", "offsets")
_SLOT_ARRAYS = (
    "event_days",
    "accesses",
    "lengths",
    "alive",
    "present",
    "groups",
    "places",
    "authors",
)


@dataclass(frozen=True, slots=True)
class Origin:
    """What snapshots are made from; one of another origin is not used.

    Attributes:
        store_id: The store.
        database: Identity of the database, so that a new one in the same place, or a backup that
            was restored, is not mistaken for the old one.
        words: Fingerprint of the word splitter.
    """

    store_id: str
    database: str
    words: str


class _Manifest(BaseModel):
    model_config = ConfigDict(frozen=True)

    version: int
    store_id: str
    database: str
    words: str
    partition: str
    changes: int
    accesses: int
    model: str | None
    generation: str
    arrays: dict[str, array_files.ArrayFile]
    texts: dict[str, int]

    def mismatch(self, key: str, origin: Origin, counters: Counters) -> str:
        """Return what makes the snapshot useless here, ``""`` if nothing does."""
        expected = {
            "version": FORMAT_VERSION,
            "partition": key,
            "store_id": origin.store_id,
            "database": origin.database,
            "words": origin.words,
        }
        for name, value in expected.items():
            if getattr(self, name) != value:
                return f"its {name} is {getattr(self, name)!r}, not {value!r}"
        if self.changes > counters.changes or self.accesses > counters.accesses:
            return "it is newer than the database"
        return ""


def folder_of(folder: Path, key: str) -> Path:
    """Return the folder of a partition below the folder of all snapshots."""
    return folder / digest(key)


def save(partition: Partition, folder: Path, origin: Origin) -> None:
    """Write a partition; the snapshot before it stays valid until this one is complete.

    Only one process may do this at a time; others may load meanwhile.

    Raises:
        OSError: A file cannot be written; the snapshot before is untouched.
        StorageError: The manifest cannot be written; the snapshot before is untouched.
    """
    home = folder_of(folder, partition.key)
    generation = home / uuid4().hex
    make_folder(generation)
    try:
        arrays, texts = partition.to_arrays()
        manifest = _Manifest(
            version=FORMAT_VERSION,
            store_id=origin.store_id,
            database=origin.database,
            words=origin.words,
            partition=partition.key,
            **partition.standing._asdict(),
            generation=generation.name,
            arrays={
                name: array_files.write_array(generation, name, a) for name, a in arrays.items()
            },
            texts={name: array_files.write_texts(generation, name, t) for name, t in texts.items()},
        )
        sync_folder(generation)
        write_atomic(home / _MANIFEST, manifest.model_dump_json(indent=1))
    except BaseException:
        remove(generation)
        raise
    for old in home.iterdir():
        if old.is_dir() and old != generation:
            remove(old)


def load(folder: Path, empty: Partition, origin: Origin, counters: Counters) -> Partition | None:
    """Fill a partition from its snapshot.

    Args:
        folder: Folder of all snapshots.
        empty: An empty partition; to be thrown away if the answer is ``None``.
        origin: What the snapshot must have been made from.
        counters: Where the database stands; the partition may stand before that, and follow.

    Returns:
        The partition, or ``None`` if there is no snapshot or it cannot be used.
    """
    home = folder_of(folder, empty.key)
    try:
        manifest = _Manifest.model_validate_json((home / _MANIFEST).read_bytes())
        problem = manifest.mismatch(empty.key, origin, counters)
        if not problem:
            arrays, texts = _read(home / manifest.generation, manifest)
            standing = Standing(manifest.changes, manifest.accesses, manifest.model)
            empty.restore(arrays, texts, standing)
            return empty
    except FileNotFoundError as error:
        if error.filename == str(home / _MANIFEST):
            return None  # never saved
        problem = str(error)
    except (OSError, ValueError, LookupError) as error:  # damaged, in whatever way
        problem = f"{type(error).__name__}: {error}"
    logger.info(
        "The snapshot of partition %r in %s is not used: %s. Its index is built from the database.",
        empty.key,
        home,
        problem,
    )
    return None


def newest_change(folder: Path, database: str) -> int:
    """Return the highest change that a snapshot of this database reflects, 0 if there is none."""
    changes = (one.changes for _, one in _manifests(folder) if one.database == database)
    return max(changes, default=0)


def unlisted(folder: Path) -> list[Path]:
    """Return the generations that no manifest names: a crash left them, or they are written now."""
    listed = {path.parent / manifest.generation for path, manifest in _manifests(folder)}
    return [path for path in folder.glob("*/*") if path.is_dir() and path not in listed]


def _manifests(folder: Path) -> Iterator[tuple[Path, _Manifest]]:
    for path in folder.glob(f"*/{_MANIFEST}"):
        with suppress(OSError, ValueError):  # one that is damaged is not used anyway
            yield path, _Manifest.model_validate_json(path.read_bytes())


def _read(folder: Path, manifest: _Manifest) -> tuple[array_files.Arrays, array_files.Texts]:
    arrays = {
        name: array_files.read_array(folder, name, of) for name, of in manifest.arrays.items()
    }
    texts = {name: array_files.read_texts(folder, name, of) for name, of in manifest.texts.items()}
    _require_consistent(arrays, texts)
    return arrays, texts


def _require_consistent(arrays: array_files.Arrays, texts: array_files.Texts) -> None:
    """Reject arrays that would fail in the middle of a search."""
    slots, terms = len(arrays["nums"]), len(texts["vocabulary"])
    lengths = dict.fromkeys(_SLOT_ARRAYS, slots)
    lengths |= {"posting_starts": terms + 1, "frequencies": terms}
    lengths["posting_slots"] = lengths["posting_counts"] = int(arrays["posting_starts"][-1])
    if "matrix" in arrays:
        lengths["matrix"] = slots
    if "codes" in arrays:
        lengths |= dict.fromkeys(_QUANTIZED_ARRAYS, slots)
        lengths["centre"] = arrays["matrix"].shape[1]
    wrong = [name for name, length in lengths.items() if len(arrays[name]) != length]
    if wrong:
        raise ValueError(f"lengths do not fit together: {', '.join(wrong)}")
