"""The types of columns that databases would otherwise read in their own ways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, Dialect, Float, Integer, LargeBinary, String, Text, TypeDecorator
from sqlalchemy.dialects import mysql
from sqlalchemy.types import TypeEngine

_MYSQL = ("mysql", "mariadb")

MAX_KEY_CHARS = 1024
"""Longest name, path or source that is a key."""
MAX_MYSQL_KEY_CHARS = 570
"""The same on MySQL: an entry of an index has at most 3,072 bytes, 768 of them for what is beside
it, and a character takes up to four."""

MAX_KEY_BYTES = 2280
"""The same in UTF-8: an entry of PostgreSQL's indexes has at most 2,704 bytes, the rest of them for
what is beside it."""


@dataclass(frozen=True, slots=True)
class KeyLimit:
    """How long the names can be that are keys of a database.

    Attributes:
        chars: At most so many characters.
        utf8_bytes: And at most so many bytes.
    """

    chars: int
    utf8_bytes: int

    def problem(self, name: str) -> str | None:
        """Return in words why a name is too long; ``None`` if it is not."""
        size = len(name.encode())
        if len(name) <= self.chars and size <= self.utf8_bytes:
            return None
        return (
            f"its name has {len(name):,} characters ({size:,} bytes) as it is stored, and this "
            f"database holds {self.chars:,} ({self.utf8_bytes:,} bytes)"
        )


class Words(TypeDecorator[str]):
    """Text that is compared and sorted character by character, on every database.

    Servers have rules of their own: one takes ``a`` for ``A``, or for ``a`` with a blank behind it;
    another sorts ``~`` before the letters.

    Args:
        length: Longest text, in characters; ``None`` for any, where MySQL's ``TEXT`` ends at 64 KB.
        mysql_length: Longest text on MySQL, where it must be shorter to be in an index.
    """

    impl = String
    cache_ok = True

    def __init__(self, length: int | None = None, *, mysql_length: int | None = None) -> None:
        super().__init__(length)
        self.length = length
        self.mysql_length = mysql_length or length

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return the column's type on a database."""
        return dialect.type_descriptor(self._type(dialect))

    def _type(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name in _MYSQL:
            return self._mysql_type(is_mariadb=getattr(dialect, "is_mariadb", False))
        collation = "C" if dialect.name == "postgresql" else None
        return Text(collation=collation) if self.length is None else String(self.length, collation)

    def _mysql_type(self, *, is_mariadb: bool) -> TypeEngine[Any]:
        # Neither of them knows the other's collation without padding.
        collation = "utf8mb4_nopad_bin" if is_mariadb else "utf8mb4_0900_bin"
        if self.mysql_length is None:
            return mysql.LONGTEXT(charset="utf8mb4", collation=collation)
        return mysql.VARCHAR(self.mysql_length, charset="utf8mb4", collation=collation)


LONG_TEXT = Words()
"""Text of any length."""
KEY_TEXT = Words(MAX_KEY_CHARS, mysql_length=MAX_MYSQL_KEY_CHARS)
"""A name, path or source that is a key."""
LONG_BLOB = LargeBinary().with_variant(mysql.LONGBLOB(), *_MYSQL)
"""Bytes of any number; MySQL's ``BLOB`` ends at 64 KB."""
DOUBLE = Float(53)
"""A Python float, with all its bits; MySQL's ``FLOAT`` has half of them."""
# SQLite aliases its row id only for a column declared INTEGER.
ROW_NUMBER = BigInteger().with_variant(Integer, "sqlite")
"""A number that the database gives to a new row."""
