"""Random texts that a store draws once and keeps."""

from __future__ import annotations

import secrets

from langchain_memengine.storage.database import Database
from langchain_memengine.storage.transaction import Transaction

_BYTES = 16


def drawn_once(database: Database, key: str) -> str:
    """Return the text that the database has under a key, drawn and kept if it has none.

    A database that may not be written keeps none: then it is another one each time.
    """
    with database.read() as tx:
        known = tx.get_meta(key)
    if known is not None or database.read_only:
        return known or secrets.token_hex(_BYTES)
    with database.write() as tx:
        known = tx.get_meta(key)  # another process may have been faster
        if known is None:
            return drawn_anew(tx, key)
    return known


def drawn_anew(tx: Transaction, key: str) -> str:
    """Draw the text under a key again, whatever it was."""
    drawn = secrets.token_hex(_BYTES)
    tx.set_meta(key, drawn)
    return drawn
