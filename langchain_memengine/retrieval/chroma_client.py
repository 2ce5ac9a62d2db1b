"""Clients of Chroma, and what this package asks of its collections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np
from numpy.typing import NDArray

from langchain_memengine.retrieval.chroma_server import ChromaServer, hashed_name

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection
    from chromadb.config import Settings

EF_SEARCH = 200
"""Vectors that a search looks at, so the most that it can be asked for."""

CONNECT_SECONDS = 3.0
"""Time for a server to say that it is there."""

ANSWER_SECONDS = 30.0
"""Time for any other answer of a server: Chroma's own client would wait for ever."""


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


def connect(location: Path | ChromaServer) -> ClientAPI:
    """Return a client of an embedded Chroma's folder, or of a server.

    Raises:
        Exception: Whatever Chroma raises.
    """
    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False)
    if isinstance(location, Path):
        return chromadb.PersistentClient(str(location), settings)
    return _connected(location, settings)


def _connected(server: ChromaServer, settings: Settings) -> ClientAPI:
    """Return a client of a server; tenant and database are made if they have names of their own."""
    from chromadb.api.client import Client
    from chromadb.config import DEFAULT_DATABASE, DEFAULT_TENANT

    key = server.key
    httpx.get(f"{server.url}/api/v2/heartbeat", timeout=CONNECT_SECONDS).raise_for_status()
    settings.chroma_api_impl = "chromadb.api.fastapi.FastAPI"
    settings.chroma_server_host = server.host
    settings.chroma_server_http_port = server.port
    settings.chroma_server_ssl_enabled = server.ssl
    if key is None:
        _make_room(server, settings)
        client = Client(
            server.tenant or DEFAULT_TENANT, server.database or DEFAULT_DATABASE, settings
        )
    else:  # the key says whose tenant it is
        settings.chroma_server_headers = {"x-chroma-token": key}
        settings.chroma_overwrite_singleton_tenant_database_access_from_auth = True
        client = Client(server.tenant, server.database, settings)
    for session in _sessions(client):
        session.timeout = httpx.Timeout(ANSWER_SECONDS)
    return client


def _make_room(server: ChromaServer, settings: Settings) -> None:
    """Make the tenant and the database of a server that has no keys, unless they are there."""
    from chromadb.api.client import AdminClient
    from chromadb.config import DEFAULT_TENANT
    from chromadb.errors import ChromaError

    if server.tenant is None and server.database is None:
        return
    admin = AdminClient(settings)
    sessions = _sessions(admin)
    try:
        for session in sessions:
            session.timeout = httpx.Timeout(ANSWER_SECONDS)
        if server.tenant is not None:
            with suppress(ChromaError):  # it is there; whatever else it is, connecting tells
                admin.create_tenant(server.tenant)
        if server.database is not None:
            with suppress(ChromaError):
                admin.create_database(server.database, server.tenant or DEFAULT_TENANT)
    finally:
        for session in sessions:
            session.close()


def disconnect(client: ClientAPI) -> None:
    """Close a client; the files of an embedded one are complete then."""
    sessions = _sessions(client)
    client.close()  # type: ignore[attr-defined]  # the interface lacks it
    for session in sessions:  # closing the client leaves its sockets to the garbage collector
        session.close()


def _sessions(client: Any) -> list[httpx.Client]:
    """Return what a client of a server sends its requests with; none for an embedded one.

    Nothing public reaches them, nor the client of its own that it looks for its tenant with.
    """
    servers = [one._server for one in (client, getattr(client, "_admin_client", None)) if one]  # noqa: SLF001
    return [server._session for server in servers if hasattr(server, "_session")]  # noqa: SLF001


def collection_name(store_id: str, database: str, partition: str, model: str) -> str:
    """Return a legal name: any characters may stand in owners and model names.

    Args:
        store_id: The store.
        database: Identity of its database: others on the same server may have such a store too.
        partition: Key of the partition.
        model: Identity of the embedding model.
    """
    return hashed_name(store_id, database, partition, model)


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


def is_gone(error: Exception) -> bool:
    """Return whether an error says that a collection was removed, or made anew, by others."""
    from chromadb.errors import NotFoundError

    return isinstance(error, NotFoundError)


def upsert(into: Collection, nums: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
    """Write the vectors of chunks under their numbers."""
    into.upsert(ids=[str(num) for num in nums.tolist()], embeddings=vectors)


def delete(out_of: Collection, nums: Sequence[int]) -> None:
    """Remove the vectors of chunks; those that are not there are no error."""
    out_of.delete(ids=[str(num) for num in nums])


def numbers(of: Collection, page: int, lock: AbstractContextManager[object]) -> NDArray[np.int64]:
    """Return the numbers of all chunks that a collection holds.

    Args:
        of: The collection.
        page: How many are read at once.
        lock: Held meanwhile.
    """
    found: list[int] = []
    while True:
        with lock:
            ids = of.get(limit=page, offset=len(found), include=[])["ids"]
        found.extend(map(int, ids))
        if len(ids) < page:
            return np.asarray(found, np.int64)


def nearest(found: Collection, query: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """Return the numbers of the ``k`` nearest chunks, nearest first; fewer if it is damaged."""
    answer = found.query(query_embeddings=query[np.newaxis], n_results=k, include=[])
    return np.asarray([int(num) for num in answer["ids"][0]], np.int64)
