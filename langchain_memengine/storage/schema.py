"""The tables. One set for every database; what differs between them is in ``dialects``.

Times are integer milliseconds since 1970 UTC. ``store_id`` keeps several stores in one database
apart. ``seq`` is the value of the change counter when a row became visible as it is.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()

# SQLite aliases its row id only for a column declared INTEGER.
_RowNumber = BigInteger().with_variant(Integer, "sqlite")


def _store() -> Column[str]:
    return Column("store_id", String(64), nullable=False)


def _time(name: str, *, nullable: bool = True) -> Column[int]:
    return Column(name, BigInteger, nullable=nullable)


def _provenance() -> list[Column[str] | Column[int]]:
    """Return the columns that every remembered text carries, as :class:`types.Provenance`."""
    return [
        Column("scope", String(16), nullable=False),
        Column("owner", String(255), nullable=False, default=""),
        Column("origin", String(16), nullable=False),
        Column("trust", String(16), nullable=False),
        Column("thread_id", String(255)),
        Column("commit_id", String(64)),
        _time("event_at"),
        _time("valid_from"),
        _time("expires_at"),
        Column("source", String(1024), nullable=False),
        Column("metadata", Text, nullable=False, default="{}"),
        _time("created_at", nullable=False),
    ]


meta = Table(
    "meta",
    metadata,
    _store(),
    Column("key", String(64), nullable=False),
    Column("value", Text, nullable=False),
    PrimaryKeyConstraint("store_id", "key"),
)

counters = Table(
    "counters",
    metadata,
    _store(),
    Column("name", String(16), nullable=False),
    Column("value", BigInteger, nullable=False),
    PrimaryKeyConstraint("store_id", "name"),
)

files = Table(
    "files",
    metadata,
    _store(),
    Column("workspace_id", String(128), nullable=False),
    Column("path", String(1024), nullable=False),
    Column("source", String(1024), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("mtime_ns", BigInteger, nullable=False),
    Column("hash", String(64), nullable=False),
    Column("problem", Text),
    _time("indexed_at", nullable=False),
    PrimaryKeyConstraint("store_id", "workspace_id", "path"),
)

chunks = Table(
    "chunks",
    metadata,
    Column("num", _RowNumber, primary_key=True, autoincrement=True),
    _store(),
    Column("id", String(64), nullable=False),
    Column("partition_key", String(128), nullable=False),
    Column("workspace_id", String(128), nullable=False, default=""),
    Column("path", String(1024), nullable=False, default=""),
    Column("ord", Integer, nullable=False),
    Column("start_line", Integer, nullable=False),
    Column("end_line", Integer, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("heading", Text, nullable=False, default=""),
    Column("text", Text, nullable=False),
    Column("text_hash", String(64), nullable=False),
    *_provenance(),
    Column("seq", BigInteger, nullable=False),
    UniqueConstraint("store_id", "id", name="uq_chunks_id"),
    Index("ix_chunks_source", "store_id", "source"),
    Index("ix_chunks_partition", "store_id", "partition_key", "num"),
    Index("ix_chunks_seq", "store_id", "seq"),
    Index("ix_chunks_text_hash", "store_id", "text_hash"),
    Index("ix_chunks_commit", "store_id", "commit_id"),
    # Numbers are never used twice: derived indexes and tombstones name chunks by number.
    sqlite_autoincrement=True,
)

tombstones = Table(
    "tombstones",
    metadata,
    _store(),
    Column("num", BigInteger, nullable=False),
    Column("chunk_id", String(64), nullable=False),
    Column("partition_key", String(128), nullable=False),
    Column("seq", BigInteger, nullable=False),
    _time("at", nullable=False),
    PrimaryKeyConstraint("store_id", "num"),
    Index("ix_tombstones_seq", "store_id", "seq"),
)

embeddings = Table(
    "embeddings",
    metadata,
    _store(),
    Column("text_hash", String(64), nullable=False),
    Column("model", String(255), nullable=False),
    Column("dimension", Integer, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    PrimaryKeyConstraint("store_id", "text_hash", "model"),
)

chunk_access = Table(
    "chunk_access",
    metadata,
    _store(),
    Column("chunk_id", String(64), nullable=False),
    Column("count", Integer, nullable=False),
    _time("last_at", nullable=False),
    Column("seq", BigInteger, nullable=False),
    PrimaryKeyConstraint("store_id", "chunk_id"),
    Index("ix_chunk_access_seq", "store_id", "seq"),
)

documents = Table(
    "documents",
    metadata,
    _store(),
    Column("name", String(1024), nullable=False),
    Column("text", Text, nullable=False),
    _time("updated_at", nullable=False),
    PrimaryKeyConstraint("store_id", "name"),
)

memories = Table(
    "memories",
    metadata,
    _store(),
    Column("id", String(64), nullable=False),
    Column("text", Text, nullable=False),
    *_provenance(),
    _time("updated_at", nullable=False),
    Column("seq", BigInteger, nullable=False),
    PrimaryKeyConstraint("store_id", "id"),
    Index("ix_memories_owner", "store_id", "scope", "owner"),
)

memory_revisions = Table(
    "memory_revisions",
    metadata,
    _store(),
    Column("id", String(64), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("target_id", String(64), nullable=False),
    Column("before", Text),
    Column("after", Text),
    Column("commit_id", String(64)),
    _time("at", nullable=False),
    PrimaryKeyConstraint("store_id", "id"),
    Index("ix_memory_revisions_target", "store_id", "target_id"),
)

supersessions = Table(
    "supersessions",
    metadata,
    _store(),
    Column("old_id", String(64), nullable=False),
    Column("new_id", String(64), nullable=False),
    Column("commit_id", String(64)),
    Column("confidence", Float),
    _time("at", nullable=False),
    PrimaryKeyConstraint("store_id", "old_id", "new_id"),
)

commits = Table(
    "commits",
    metadata,
    _store(),
    Column("id", String(64), nullable=False),
    Column("thread_id", String(255), nullable=False),
    Column("parents", Text, nullable=False),
    Column("kind", String(32), nullable=False),
    _time("created_at", nullable=False),
    PrimaryKeyConstraint("store_id", "id"),
    Index("ix_commits_thread", "store_id", "thread_id"),
)

thread_heads = Table(
    "thread_heads",
    metadata,
    _store(),
    Column("thread_id", String(255), nullable=False),
    Column("checkpoint_id", String(255), nullable=False),
    Column("heads", Text, nullable=False),
    _time("updated_at", nullable=False),
    PrimaryKeyConstraint("store_id", "thread_id"),
)

jobs = Table(
    "jobs",
    metadata,
    Column("num", _RowNumber, primary_key=True, autoincrement=True),
    _store(),
    Column("kind", String(64), nullable=False),
    Column("payload", Text, nullable=False),
    Column("dedupe_key", String(255)),
    # The key while the job is not finished, then NULL, which every database lets occur often.
    Column("live_key", String(255)),
    Column("keeps_key", Boolean, nullable=False),
    Column("state", String(16), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("max_attempts", Integer, nullable=False),
    _time("run_at", nullable=False),
    _time("lease_until"),
    Column("token", String(36)),
    Column("error", Text),
    Column("owner", String(255), nullable=False, default=""),
    Column("thread_id", String(255)),
    Column("commit_id", String(64)),
    _time("created_at", nullable=False),
    _time("finished_at"),
    UniqueConstraint("store_id", "live_key", name="uq_jobs_live_key"),
    Index("ix_jobs_state", "store_id", "state", "run_at", "num"),
    # A worker that was given up names its job by number long after the row was pruned.
    sqlite_autoincrement=True,
)

schedules = Table(
    "schedules",
    metadata,
    _store(),
    Column("name", String(64), nullable=False),
    Column("kind", String(64), nullable=False),
    Column("payload", Text, nullable=False),
    Column("at", String(5), nullable=False),
    Column("timezone", String(64), nullable=False),
    _time("next_run_at", nullable=False),
    Column("enabled", Boolean, nullable=False),
    PrimaryKeyConstraint("store_id", "name"),
)

# A moved head takes the next value of the counter of commits, so that readers know what is new.
head_changes = Table(
    "head_changes",
    metadata,
    Column("num", _RowNumber, primary_key=True, autoincrement=True),
    _store(),
    Column("thread_id", String(255), nullable=False),
    Column("heads", Text, nullable=False),
    _time("at", nullable=False),
    Column("seq", BigInteger, nullable=False),
    Index("ix_head_changes_seq", "store_id", "seq"),
    sqlite_autoincrement=True,
)

# The key is a hash of owner, thread, message id and content: the same message may be archived on
# two branches, and an edited one has the same id and other content.
messages = Table(
    "messages",
    metadata,
    _store(),
    Column("key", String(64), nullable=False),
    Column("owner", String(255), nullable=False),
    Column("thread_id", String(255), nullable=False),
    Column("message_id", String(255), nullable=False),
    Column("body", Text, nullable=False),
    _time("created_at", nullable=False),
    PrimaryKeyConstraint("store_id", "key"),
    Index("ix_messages_thread", "store_id", "thread_id", "message_id"),
)

archived_messages = Table(
    "archived_messages",
    metadata,
    Column("num", _RowNumber, primary_key=True, autoincrement=True),
    _store(),
    Column("commit_id", String(64), nullable=False),
    Column("message_key", String(64), nullable=False),
    UniqueConstraint("store_id", "commit_id", "message_key", name="uq_archived_messages"),
    Index("ix_archived_messages_key", "store_id", "message_key"),
    sqlite_autoincrement=True,
)

history_messages = Table(
    "history_messages",
    metadata,
    Column("num", _RowNumber, primary_key=True, autoincrement=True),
    _store(),
    Column("owner", String(255), nullable=False),
    Column("thread_id", String(255), nullable=False),
    Column("message_id", String(255), nullable=False),
    Column("message_key", String(64), nullable=False),
    UniqueConstraint("store_id", "owner", "thread_id", "message_id", name="uq_history_messages"),
    Index("ix_history_messages_key", "store_id", "message_key"),
    sqlite_autoincrement=True,
)

sessions = Table(
    "sessions",
    metadata,
    _store(),
    Column("id", String(64), nullable=False),
    Column("owner", String(255), nullable=False),
    Column("thread_id", String(255), nullable=False),
    Column("sources", Text, nullable=False),
    _time("created_at", nullable=False),
    _time("archived_at"),
    PrimaryKeyConstraint("store_id", "id"),
    Index("ix_sessions_thread", "store_id", "thread_id"),
)

session_recalls = Table(
    "session_recalls",
    metadata,
    Column("num", _RowNumber, primary_key=True, autoincrement=True),
    _store(),
    Column("session_id", String(64), nullable=False),
    Column("query", Text, nullable=False),
    Column("head", Text),
    Column("hits", Text, nullable=False),
    _time("at", nullable=False),
    Index("ix_session_recalls_session", "store_id", "session_id", "num"),
    sqlite_autoincrement=True,
)

experiences = Table(
    "experiences",
    metadata,
    _store(),
    Column("id", String(64), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("intent", Text, nullable=False),
    Column("solution", Text, nullable=False),
    Column("success_score", Float, nullable=False),
    Column("tags", Text, nullable=False),
    Column("user", String(255), nullable=False),
    Column("session", String(255), nullable=False),
    Column("weight", Float, nullable=False),
    Column("use_count", Integer, nullable=False),
    _time("created_at", nullable=False),
    _time("last_used_at"),
    _time("decayed_at"),
    Column("seq", BigInteger, nullable=False),
    PrimaryKeyConstraint("store_id", "id"),
    Index("ix_experiences_user", "store_id", "user", "created_at"),
    Index("ix_experiences_seq", "store_id", "seq"),
)

schema_migrations = Table(
    "schema_migrations",
    metadata,
    Column("name", String(64), primary_key=True),
    _time("applied_at", nullable=False),
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

JOB_TABLES = (jobs, schedules)
CONVERSATION_TABLES = (
    head_changes,
    messages,
    archived_messages,
    history_messages,
    sessions,
    session_recalls,
)

EXPERIENCE_TABLES = (experiences,)
