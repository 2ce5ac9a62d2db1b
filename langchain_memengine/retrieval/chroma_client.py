"""Clients of Chroma, and what this package asks of its collections."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.errors import ConfigurationError

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

EF_SEARCH = 200
"""Vectors that a search looks at, so the most that it can be asked for."""


@contextmanager
def panics_as_errors() -> Iterator[None]:
    """Turn a panic of Chroma's Rust core, which is no ``Exception``, into an error.

    Raises:
        RuntimeError: It panicked; seen when a page of its database is damaged.
    """
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise RuntimeError(f"it panicked: {error}") from error


def connect(location: Path | str) -> ClientAPI:
    """Return a client of an embedded Chroma's folder, or of the server at an address.

    Raises:
        ConfigurationError: The address is none.
        Exception: Whatever Chroma raises.
    """
    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False)
    if isinstance(location, Path):
        return chromadb.PersistentClient(str(location), settings)
    return chromadb.HttpClient(**_server(location), settings=settings)


def disconnect(client: ClientAPI) -> None:
    """Close a client; the files of an embedded one are complete then."""
    client.close()  # type: ignore[attr-defined]  # the interface lacks it


def collection_name(store_id: str, partition: str, model: str) -> str:
    """Return a legal collection name: any characters may stand in owners and model names."""
    digest = hashlib.sha256("\0".join((store_id, partition, model)).encode()).hexdigest()
    return f"memengine-{digest[:40]}"


def collection(client: ClientAPI, name: str) -> Collection:
    """Return a collection, made if there is none."""
    return client.get_or_create_collection(
        name,
        embedding_function=None,
        configuration={
            "hnsw": {
                "space": "cosine",
                "ef_construction": 200,
                "ef_search": EF_SEARCH,
                "max_neighbors": 32,
            }
        },
    )


def nearest(found: Collection, query: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """Return the numbers of the ``k`` nearest chunks, nearest first; fewer if it is damaged."""
    answer = found.query(query_embeddings=query[np.newaxis], n_results=k, include=["metadatas"])
    rows = (answer["metadatas"] or [[]])[0]
    return np.asarray([int(row["num"]) for row in rows], np.int64)  # type: ignore[arg-type]  # we wrote an int


def _server(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigurationError(
            f"chroma_url {url!r} is no server address. Example: http://localhost:8000"
        )
    ssl = parts.scheme == "https"
    return {"host": parts.hostname, "port": parts.port or (443 if ssl else 8000), "ssl": ssl}
