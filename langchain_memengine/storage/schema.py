"""The tables. One set for every database.

What differs between databases is in ``column_types`` and ``dialects``.
Times are integer milliseconds since 1970 UTC. ``store_id`` keeps several stores in one database
apart. ``seq`` is the value of the change counter when a row became visible as it is.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    text,
)

from langchain_memengine.storage.column_types import (
    DOUBLE,
    KEY_TEXT,
    LONG_BLOB,
    LONG_TEXT,
    MAX_KEY_CHARS,
    MAX_MYSQL_KEY_CHARS,
    ROW_NUMBER,
    Words,
)

metadata = MetaData()


def store_column() -> Column[str]:
    """Return the column that keeps stores in one database apart."""
    return Column("store_id", Words(64), nullable=False)


def time_column(name: str, *, nullable: bool = True) -> Column[int]:
    """Return a column of milliseconds since 1970 UTC."""
    return Column(name, BigInteger, nullable=nullable)


def _provenance() -> list[Column[str] | Column[int]]:
    """Return the columns that every remembered text carries, as :class:`types.Provenance`."""
    return [
        Column("scope", Words(16), nullable=False),
        Column("owner", Words(255), nullable=False, default=""),
        Column("origin", Words(16), nullable=False),
        Column("trust", Words(16), nullable=False),
        Column("thread_id", Words(255)),
        Column("commit_id", Words(64)),
        time_column("event_at"),
        time_column("valid_from"),
        time_column("expires_at"),
        Column("source", Words(MAX_KEY_CHARS), nullable=False),
        Column("metadata", LONG_TEXT, nullable=False, default="{}"),
        time_column("created_at", nullable=False),
    ]


meta = Table(
    "meta",
    metadata,
    store_column(),
    Column("key", Words(64), nullable=False),
    Column("value", LONG_TEXT, nullable=False),
    PrimaryKeyConstraint("store_id", "key"),
)

counters = Table(
    "counters",
    metadata,
    store_column(),
    Column("name", Words(16), nullable=False),
    Column("value", BigInteger, nullable=False),
    PrimaryKeyConstraint("store_id", "name"),
)

files = Table(
    "files",
    metadata,
    store_column(),
    Column("workspace_id", Words(128), nullable=False),
    Column("path", KEY_TEXT, nullable=False),
    Column("source", KEY_TEXT, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("mtime_ns", BigInteger, nullable=False),
    Column("hash", Words(64), nullable=False),
    Column("problem", LONG_TEXT),
    time_column("indexed_at", nullable=False),
    PrimaryKeyConstraint("store_id", "workspace_id", "path"),
)

chunks = Table(
    "chunks",
    metadata,
    Column("num", ROW_NUMBER, primary_key=True, autoincrement=True),
    store_column(),
    Column("id", Words(64), nullable=False),
    Column("partition_key", Words(128), nullable=False),
    Column("workspace_id", Words(128), nullable=False, default=""),
    Column("path", Words(MAX_KEY_CHARS), nullable=False, default=""),
    Column("ord", Integer, nullable=False),
    Column("start_line", Integer, nullable=False),
    Column("end_line", Integer, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("heading", LONG_TEXT, nullable=False, default=""),
    Column("text", LONG_TEXT, nullable=False),
    Column("text_hash", Words(64), nullable=False),
    *_provenance(),
    Column("seq", BigInteger, nullable=False),
    UniqueConstraint("store_id", "id", name="uq_chunks_id"),
    Index(
        "ix_chunks_source",
        "store_id",
        "source",
        mysql_length={"source": MAX_MYSQL_KEY_CHARS},
        mariadb_length={"source": MAX_MYSQL_KEY_CHARS},
    ),
    Index("ix_chunks_partition", "store_id", "partition_key", "num"),
    Index("ix_chunks_seq", "store_id", "seq"),
    Index("ix_chunks_text_hash", "store_id", "text_hash"),
    Index("ix_chunks_commit", "store_id", "commit_id"),
    # Of the few chunks that are not valid for ever; where there is no partial index, of all.
    Index(
        "ix_chunks_limited",
        "store_id",
        "partition_key",
        sqlite_where=text("valid_from IS NOT NULL OR expires_at IS NOT NULL"),
        postgresql_where=text("valid_from IS NOT NULL OR expires_at IS NOT NULL"),
    ),
    # Numbers are never used twice: derived indexes and tombstones name chunks by number.
    sqlite_autoincrement=True,
)

tombstones = Table(
    "tombstones",
    metadata,
    store_column(),
    Column("num", BigInteger, nullable=False),
    Column("chunk_id", Words(64), nullable=False),
    Column("partition_key", Words(128), nullable=False),
    Column("seq", BigInteger, nullable=False),
    time_column("at", nullable=False),
    PrimaryKeyConstraint("store_id", "num"),
    Index("ix_tombstones_seq", "store_id", "seq"),
)

embeddings = Table(
    "embeddings",
    metadata,
    store_column(),
    Column("text_hash", Words(64), nullable=False),
    Column("model", Words(255), nullable=False),
    Column("dimension", Integer, nullable=False),
    Column("vector", LONG_BLOB, nullable=False),
    PrimaryKeyConstraint("store_id", "text_hash", "model"),
)

chunk_access = Table(
    "chunk_access",
    metadata,
    store_column(),
    Column("chunk_id", Words(64), nullable=False),
    Column("count", BigInteger, nullable=False),
    time_column("last_at", nullable=False),
    Column("seq", BigInteger, nullable=False),
    PrimaryKeyConstraint("store_id", "chunk_id"),
    Index("ix_chunk_access_seq", "store_id", "seq"),
)

documents = Table(
    "documents",
    metadata,
    store_column(),
    Column("name", KEY_TEXT, nullable=False),
    Column("text", LONG_TEXT, nullable=False),
    time_column("updated_at", nullable=False),
    PrimaryKeyConstraint("store_id", "name"),
)

memories = Table(
    "memories",
    metadata,
    store_column(),
    Column("id", Words(64), nullable=False),
    Column("text", LONG_TEXT, nullable=False),
    *_provenance(),
    time_column("updated_at", nullable=False),
    Column("seq", BigInteger, nullable=False),
    PrimaryKeyConstraint("store_id", "id"),
    Index("ix_memories_owner", "store_id", "scope", "owner"),
)

memory_revisions = Table(
    "memory_revisions",
    metadata,
    store_column(),
    Column("id", Words(64), nullable=False),
    Column("kind", Words(32), nullable=False),
    Column("target_id", Words(64), nullable=False),
    Column("before", LONG_TEXT),
    Column("after", LONG_TEXT),
    Column("commit_id", Words(64)),
    time_column("at", nullable=False),
    PrimaryKeyConstraint("store_id", "id"),
    Index("ix_memory_revisions_target", "store_id", "target_id"),
)

supersessions = Table(
    "supersessions",
    metadata,
    store_column(),
    Column("old_id", Words(64), nullable=False),
    Column("new_id", Words(64), nullable=False),
    Column("commit_id", Words(64)),
    Column("confidence", DOUBLE),
    time_column("at", nullable=False),
    PrimaryKeyConstraint("store_id", "old_id", "new_id"),
)

commits = Table(
    "commits",
    metadata,
    store_column(),
    Column("id", Words(64), nullable=False),
    Column("thread_id", Words(255), nullable=False),
    Column("parents", LONG_TEXT, nullable=False),
    Column("kind", Words(32), nullable=False),
    time_column("created_at", nullable=False),
    PrimaryKeyConstraint("store_id", "id"),
    Index("ix_commits_thread", "store_id", "thread_id"),
)

thread_heads = Table(
    "thread_heads",
    metadata,
    store_column(),
    Column("thread_id", Words(255), nullable=False),
    Column("checkpoint_id", Words(255), nullable=False),
    Column("heads", LONG_TEXT, nullable=False),
    time_column("updated_at", nullable=False),
    PrimaryKeyConstraint("store_id", "thread_id"),
)

schema_migrations = Table(
    "schema_migrations",
    metadata,
    Column("name", Words(64), primary_key=True),
    time_column("applied_at", nullable=False),
)

INITIAL_TABLES = (
    meta,
    counters,
    files,
    chunks,
    tombstones,
    embeddings,
    chunk_access,
    documents,
    memories,
    memory_revisions,
    supersessions,
    commits,
    thread_heads,
)
