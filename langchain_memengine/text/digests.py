"""Hashes by which texts, and what is made from them, are known."""

from __future__ import annotations

from hashlib import sha256

_HASH_DIGITS = 32


def digest(*parts: str) -> str:
    """Return the SHA-256 of some texts with a NUL between them, hexadecimal.

    Any text has one, whatever a database or a file would make of it: of a lone surrogate the bytes
    that UTF-8 would have for it are taken.
    """
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def bounded(name: str, max_chars: int) -> str:
    """Return a name of at most ``max_chars`` characters, which no other name has.

    One that is longer is cut, and ends with ``~`` and a hash of all of it.
    """
    if len(name) <= max_chars:
        return name
    return f"{name[: max_chars - _HASH_DIGITS - 1]}~{digest(name)[:_HASH_DIGITS]}"
