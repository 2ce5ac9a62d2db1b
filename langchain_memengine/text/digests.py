"""Hashes by which texts, and what is made from them, are known."""

from __future__ import annotations

from hashlib import sha256


def digest(*parts: str) -> str:
    """Return the SHA-256 of some texts with a NUL between them, hexadecimal.

    Any text has one, whatever a database or a file would make of it: of a lone surrogate the bytes
    that UTF-8 would have for it are taken.
    """
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
