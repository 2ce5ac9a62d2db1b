"""The tables of conversations: messages, archive, histories, sessions, and how heads moved."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
)

from langchain_memengine.storage.column_types import LONG_TEXT, ROW_NUMBER, Words
from langchain_memengine.storage.schema import metadata, store_column, time_column

# A moved head takes the next value of the counter of commits, so that readers know what is new.
head_changes = Table(
    "head_changes",
    metadata,
    Column("num", ROW_NUMBER, primary_key=True, autoincrement=True),
    store_column(),
    Column("thread_id", Words(255), nullable=False),
    Column("heads", LONG_TEXT, nullable=False),
    time_column("at", nullable=False),
    Column("seq", BigInteger, nullable=False),
    Index("ix_head_changes_seq", "store_id", "seq"),
    sqlite_autoincrement=True,
)

# The key is a hash of owner, thread, message id and content: the same message may be archived on
# two branches, and an edited one has the same id and other content.
messages = Table(
    "messages",
    metadata,
    store_column(),
    Column("key", Words(64), nullable=False),
    Column("owner", Words(255), nullable=False),
    Column("thread_id", Words(255), nullable=False),
    Column("message_id", Words(255), nullable=False),
    Column("body", LONG_TEXT, nullable=False),
    time_column("created_at", nullable=False),
    PrimaryKeyConstraint("store_id", "key"),
    Index("ix_messages_thread", "store_id", "thread_id", "message_id"),
)

archived_messages = Table(
    "archived_messages",
    metadata,
    Column("num", ROW_NUMBER, primary_key=True, autoincrement=True),
    store_column(),
    Column("commit_id", Words(64), nullable=False),
    Column("message_key", Words(64), nullable=False),
    UniqueConstraint("store_id", "commit_id", "message_key", name="uq_archived_messages"),
    Index("ix_archived_messages_key", "store_id", "message_key"),
    sqlite_autoincrement=True,
)

history_messages = Table(
    "history_messages",
    metadata,
    Column("num", ROW_NUMBER, primary_key=True, autoincrement=True),
    store_column(),
    # A folder name; all four columns must fit into one entry of an index.
    Column("owner", Words(255, mysql_length=190), nullable=False),
    Column("thread_id", Words(255), nullable=False),
    Column("message_id", Words(255), nullable=False),
    Column("message_key", Words(64), nullable=False),
    UniqueConstraint("store_id", "owner", "thread_id", "message_id", name="uq_history_messages"),
    Index("ix_history_messages_key", "store_id", "message_key"),
    sqlite_autoincrement=True,
)

sessions = Table(
    "sessions",
    metadata,
    store_column(),
    Column("id", Words(64), nullable=False),
    Column("owner", Words(255), nullable=False),
    Column("thread_id", Words(255), nullable=False),
    Column("sources", LONG_TEXT, nullable=False),
    time_column("created_at", nullable=False),
    time_column("archived_at"),
    PrimaryKeyConstraint("store_id", "id"),
    Index("ix_sessions_thread", "store_id", "thread_id"),
)

session_recalls = Table(
    "session_recalls",
    metadata,
    Column("num", ROW_NUMBER, primary_key=True, autoincrement=True),
    store_column(),
    Column("session_id", Words(64), nullable=False),
    Column("query", LONG_TEXT, nullable=False),
    Column("head", LONG_TEXT),
    Column("hits", LONG_TEXT, nullable=False),
    time_column("at", nullable=False),
    Index("ix_session_recalls_session", "store_id", "session_id", "num"),
    sqlite_autoincrement=True,
)

CONVERSATION_TABLES = (
    head_changes,
    messages,
    archived_messages,
    history_messages,
    sessions,
    session_recalls,
)
