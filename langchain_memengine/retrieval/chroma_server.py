"""Where a Chroma server is, and what may be told to it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.text.digests import digest

API_KEY_VARIABLE = "CHROMA_API_KEY"  # as Chroma's own client calls it
"""Environment variable with the key of a server that wants one; it is sent by https only."""

_LEGAL = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,510}[a-zA-Z0-9]")


@dataclass(frozen=True, slots=True)
class ChromaServer:
    """A Chroma server, and which part of it is used. Its key is read when it is needed.

    Attributes:
        host: Name or address.
        port: Its port.
        ssl: Whether it is asked by https.
        tenant: A legal name; ``None`` is the default one, or that of the key.
        database: Likewise.
    """

    host: str
    port: int
    ssl: bool
    tenant: str | None = None
    database: str | None = None

    @property
    def url(self) -> str:
        """The address."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.ssl else 'http'}://{host}:{self.port}"

    @property
    def key(self) -> str | None:
        """The key to send, if there is one and nobody can listen."""
        return (os.environ.get(API_KEY_VARIABLE) or None) if self.ssl else None

    def __str__(self) -> str:
        """Return the address."""
        return self.url


def server_of(config: MemEngineConfig) -> ChromaServer | None:
    """Return the server that the settings name, ``None`` if they name none.

    Raises:
        ConfigurationError: The address cannot be used.
    """
    if config.chroma_url is None:
        return None
    host, port, ssl = _address(config.chroma_url)
    return ChromaServer(
        host,
        port,
        ssl,
        None if config.chroma_tenant is None else legal_name(config.chroma_tenant),
        None if config.chroma_database is None else legal_name(config.chroma_database),
    )


def legal_name(name: str) -> str:
    """Return a name as it is if Chroma takes it, else one made from its hash."""
    return name if _LEGAL.fullmatch(name) else hashed_name(name)


def hashed_name(*parts: str) -> str:
    """Return a legal name for any texts; others have another one."""
    return f"memengine-{digest(*parts)[:40]}"


def _address(url: str) -> tuple[str, int, bool]:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:  # a port that is no number
        host, port = None, None
    if not host or parts.scheme not in {"http", "https"}:
        # It is not shown: it may hold a password.
        raise ConfigurationError("chroma_url is no server address. Example: http://localhost:8000")
    if parts.username or parts.password or parts.query or parts.path not in {"", "/"}:
        raise ConfigurationError(
            "chroma_url names scheme, host and port only, like http://localhost:8000. A key goes "
            f"into the environment variable {API_KEY_VARIABLE}, a tenant into chroma_tenant."
        )
    ssl = parts.scheme == "https"
    return host, port or (443 if ssl else 8000), ssl
