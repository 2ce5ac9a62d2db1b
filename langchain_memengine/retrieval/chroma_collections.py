"""The collections of one store in one Chroma, whose client is opened at the first use."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_memengine.errors import StorageError
from langchain_memengine.retrieval import chroma_client
from langchain_memengine.retrieval.chroma_client import panics_as_errors
from langchain_memengine.retrieval.chroma_folder import ChromaFolder
from langchain_memengine.retrieval.chroma_server import ChromaServer
from langchain_memengine.retrieval.derived_files import remove

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

Location = ChromaFolder | ChromaServer
"""Where a Chroma is: embedded in a folder, or a server."""

BATCH = 500
"""Vectors written at once, unless a server takes fewer: searches wait for no more than that."""


class ChromaCollections:
    """Opens a Chroma and finds its collections; one for each (partition, model).

    For one thread at a time. All methods pass on whatever Chroma raises.

    Attributes:
        location: Where Chroma is.
    """

    def __init__(self, location: Location, store_id: str, database: str) -> None:
        """Remember where it is.

        Args:
            location: Where Chroma is.
            store_id: Whose collections.
            database: Identity of the database that fills them.
        """
        self.location = location
        self._store_id = store_id
        self._database = database
        self._client: ClientAPI | None = None
        self._generation: Path | None = None
        self._found: dict[str, Collection] = {}
        self._closed = False

    @property
    def batch(self) -> int:
        """How many vectors to write at once."""
        most = self._open().get_max_batch_size()
        return min(BATCH, most) if most > 0 else BATCH

    def name(self, partition: str, model: str) -> str:
        """Return the name of a collection."""
        return chroma_client.collection_name(self._store_id, self._database, partition, model)

    def known(self, partition: str, model: str) -> Collection:
        """Return a collection as it was last looked up: others may have removed it since."""
        name = self.name(partition, model)
        return self._found[name] if name in self._found else self.looked_up(partition, model)

    def looked_up(self, partition: str, model: str) -> Collection:
        """Return a collection as it is now, made if there is none."""
        name = self.name(partition, model)
        self._found[name] = chroma_client.collection(self._open(), name)
        return self._found[name]

    def remove(self, partition: str, model: str) -> None:
        """Remove a collection; one that is not there is no error."""
        name = self.name(partition, model)
        self._found.pop(name, None)
        try:
            self._open().delete_collection(name)
        except Exception as error:
            if not chroma_client.is_gone(error):
                raise

    def let_go(self, highest: int) -> None:
        """Close the client; it is opened again when it is needed.

        Args:
            highest: The highest value of the change counter that its collections reflect.
        """
        self._found.clear()
        client, self._client = self._client, None
        if client is not None:
            chroma_client.disconnect(client)
            if isinstance(self.location, ChromaFolder) and self._generation is not None:
                self.location.finish(self._generation, highest)

    def abandon(self) -> None:
        """Close a client that failed; files that it had open are removed."""
        self._found.clear()
        client, self._client = self._client, None
        if client is not None:
            # It failed already, and is never used again.
            with suppress(Exception), panics_as_errors():
                chroma_client.disconnect(client)
        if self._generation is not None:
            remove(self._generation)

    def close(self) -> None:
        """Let nothing open it again."""
        self._closed = True

    def _open(self) -> ClientAPI:
        if self._closed:
            raise StorageError("This engine was closed.")
        if self._client is None:
            if isinstance(self.location, ChromaFolder):
                self._generation = self.location.begin()
                self._client = chroma_client.connect(self._generation)
            else:
                self._client = chroma_client.connect(self.location)
        return self._client
