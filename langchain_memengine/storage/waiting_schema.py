"""The table of what has yet to go to ClickHouse."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, PrimaryKeyConstraint, Table

from langchain_memengine.storage.column_types import Words
from langchain_memengine.storage.schema import metadata, store_column

waiting = Table(
    "waiting",
    metadata,
    store_column(),
    Column("table_name", Words(32), nullable=False),
    Column("key", Words(64), nullable=False),
    # The value of the change counter when the row became as it is.
    Column("version", BigInteger, nullable=False),
    Column("removed", Boolean, nullable=False),
    PrimaryKeyConstraint("store_id", "table_name", "key"),
)

WAITING_TABLES = (waiting,)
