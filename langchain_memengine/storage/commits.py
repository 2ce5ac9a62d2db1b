"""Memory commits and the heads of each conversation.

A conversation's commits form a graph like those of git. The heads that a conversation made last are
kept with every change of them, so that it can be told what was visible at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, func, insert, select

from langchain_memengine.errors import UnknownCommitError
from langchain_memengine.storage import dialects
from langchain_memengine.storage.conversation_schema import head_changes
from langchain_memengine.storage.schema import (
    commits,
    thread_heads,
)
from langchain_memengine.storage.statements import HotQuery, batches
from langchain_memengine.storage.times import from_ms, to_ms
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.heads import ancestors, joined_heads, split_heads
from langchain_memengine.types import Commit

Parents = dict[str, tuple[str, ...]]
"""Parents by commit id."""


_EVERY = select(commits.c.thread_id, commits.c.id, commits.c.parents).where(
    commits.c.store_id == bindparam("store_id")
)
_ALL_PARENTS = HotQuery(_EVERY)
_PARENTS = HotQuery(_EVERY.where(commits.c.thread_id.in_(bindparam("threads", expanding=True))))


def record(tx: Transaction, commit: Commit, *, checkpoint_id: str | None, now: datetime) -> bool:
    """Store a commit unless it is there, and make it a head of its thread; return if it is new.

    A commit from the checkpoint that made the thread's heads is made beside them, as parallel
    nodes do; one from another checkpoint, or from none, replaces them.

    Args:
        tx: An open write transaction.
        commit: Its parents must be commits of the same thread.
        checkpoint_id: Where the graph's step began, if a graph made the commit.
        now: Time of the change.

    Raises:
        UnknownCommitError: A parent is no commit of the thread.
    """
    known = by_id(tx, [commit.id, *commit.parents])
    require_thread(known, commit.parents, commit.thread_id)
    if commit.id not in known:
        tx.connection.execute(
            insert(commits).values(
                store_id=tx.store_id,
                id=commit.id,
                thread_id=commit.thread_id,
                parents=joined_heads(commit.parents),
                kind=commit.kind,
                created_at=to_ms(commit.created_at),
            )
        )
    _move_heads(tx, commit, checkpoint_id, now)
    return commit.id not in known


def of_threads(tx: Transaction, threads: Sequence[str]) -> list[Commit]:
    """Return all commits of some threads, oldest first."""
    ids = [one for parents in parents_by_thread(tx, threads).values() for one in parents]
    return sorted(by_id(tx, ids).values(), key=lambda commit: (commit.created_at, commit.id))


def restore(tx: Transaction, new: Sequence[Commit], heads: Sequence[str], *, now: datetime) -> None:
    """Store commits of one thread as another store had them, those that are there stay.

    The thread's heads are set unless it has some.
    """
    known = by_id(tx, [commit.id for commit in new])
    rows = [
        {
            "store_id": tx.store_id,
            "id": commit.id,
            "thread_id": commit.thread_id,
            "parents": joined_heads(commit.parents),
            "kind": commit.kind,
            "created_at": to_ms(commit.created_at),
        }
        for commit in new
        if commit.id not in known
    ]
    if rows:
        tx.connection.execute(insert(commits), rows)
    threads = {commit.thread_id for commit in new}
    for thread_id in threads - newest_heads(tx, list(threads)).keys():
        _set_heads(tx, thread_id, "", joined_heads(heads), now)


def by_id(tx: Transaction, ids: Sequence[str]) -> dict[str, Commit]:
    """Return those of these commits that exist."""
    found: dict[str, Commit] = {}
    for batch in batches(ids):
        rows = tx.connection.execute(
            select(
                commits.c.id,
                commits.c.thread_id,
                commits.c.parents,
                commits.c.kind,
                commits.c.created_at,
            ).where(commits.c.store_id == tx.store_id, commits.c.id.in_(batch))
        )
        for commit_id, thread_id, parents, kind, created_ms in rows:
            found[commit_id] = Commit(
                commit_id, thread_id, split_heads(parents), kind, from_ms(created_ms)
            )
    return found


def origin(tx: Transaction, head: str, thread_id: str | None) -> tuple[str, datetime]:
    """Return the thread of a head, and when its latest commit was made.

    Args:
        tx: A view of the database.
        head: Commits of one thread, at least one.
        thread_id: Which thread that must be, if it is known.

    Raises:
        UnknownCommitError: One is no commit, or of another thread than the others.
    """
    heads = split_heads(head)
    known = by_id(tx, heads)
    first = known.get(heads[0])
    if first is None:
        raise UnknownCommitError(heads[0], thread_id)
    require_thread(known, heads, thread_id or first.thread_id)
    return first.thread_id, max(commit.created_at for commit in known.values())


def require_thread(known: Mapping[str, Commit], heads: Iterable[str], thread_id: str) -> None:
    """Make sure that heads are commits of a thread.

    Raises:
        UnknownCommitError: One is not.
    """
    for head in heads:
        if head not in known or known[head].thread_id != thread_id:
            raise UnknownCommitError(head, thread_id)


def parents_by_thread(tx: Transaction, threads: Sequence[str] | None) -> dict[str, Parents]:
    """Return the commit graphs of some threads, or of all (``None``)."""
    found: dict[str, Parents] = {}
    for thread_id, commit_id, parents in _parents(tx, threads):
        # Nearly all commits have one parent, and a store may have very many.
        ids = split_heads(parents) if "+" in parents or not parents else (parents,)
        found.setdefault(thread_id, {})[commit_id] = ids
    return found


def _parents(tx: Transaction, threads: Sequence[str] | None) -> Iterator[tuple[Any, ...]]:
    if threads is None:
        yield from _ALL_PARENTS.rows(tx.connection, {"store_id": tx.store_id})
        return
    for batch in batches(threads):
        values = {"store_id": tx.store_id, "threads": list(batch)}
        yield from _PARENTS.rows(tx.connection, values)


def branch(tx: Transaction, thread_id: str, heads: Iterable[str]) -> frozenset[str]:
    """Return the commits of a thread that some of its heads follow, the heads included."""
    return ancestors(parents_by_thread(tx, [thread_id]).get(thread_id, {}), heads)


def newest_heads(tx: Transaction, threads: Sequence[str] | None) -> dict[str, tuple[str, ...]]:
    """Return the heads that some threads, or all (``None``), made last."""
    every = select(thread_heads.c.thread_id, thread_heads.c.heads).where(
        thread_heads.c.store_id == tx.store_id
    )
    statements = (
        [every]
        if threads is None
        else [every.where(thread_heads.c.thread_id.in_(batch)) for batch in batches(threads)]
    )
    return {
        thread_id: split_heads(heads)
        for statement in statements
        for thread_id, heads in tx.connection.execute(statement)
    }


def heads_at(tx: Transaction, at: datetime) -> dict[str, tuple[str, ...]]:
    """Return the heads that every thread had at a time; a thread without any is left out."""
    last = (
        select(func.max(head_changes.c.num))
        .where(head_changes.c.store_id == tx.store_id, head_changes.c.at <= to_ms(at))
        .group_by(head_changes.c.thread_id)
    )
    rows = tx.connection.execute(
        select(head_changes.c.thread_id, head_changes.c.heads).where(head_changes.c.num.in_(last))
    )
    return {thread_id: split_heads(heads) for thread_id, heads in rows}


def made_after(tx: Transaction, thread_id: str, at: datetime) -> list[str]:
    """Return the commits of a thread that were made after a time."""
    return list(
        tx.connection.execute(
            select(commits.c.id).where(
                commits.c.store_id == tx.store_id,
                commits.c.thread_id == thread_id,
                commits.c.created_at > to_ms(at),
            )
        ).scalars()
    )


def moved_threads(tx: Transaction, *, after_seq: int) -> list[str]:
    """Return the threads whose heads moved after a value of the counter of commits."""
    return list(
        tx.connection.execute(
            select(head_changes.c.thread_id)
            .where(head_changes.c.store_id == tx.store_id, head_changes.c.seq > after_seq)
            .distinct()
        ).scalars()
    )


def _move_heads(tx: Transaction, commit: Commit, checkpoint_id: str | None, now: datetime) -> None:
    row = tx.connection.execute(
        select(thread_heads.c.checkpoint_id, thread_heads.c.heads).where(
            thread_heads.c.store_id == tx.store_id, thread_heads.c.thread_id == commit.thread_id
        )
    ).one_or_none()
    old_checkpoint, old = row or ("", "")
    is_same_step = bool(checkpoint_id) and old_checkpoint == checkpoint_id
    beside = [h for h in split_heads(old) if h not in commit.parents] if is_same_step else []
    heads = joined_heads([*beside, commit.id])
    if (old_checkpoint, old) == (checkpoint_id or "", heads):
        return
    _set_heads(tx, commit.thread_id, checkpoint_id or "", heads, now, is_moved=heads != old)


def _set_heads(
    tx: Transaction,
    thread_id: str,
    checkpoint_id: str,
    heads: str,
    now: datetime,
    *,
    is_moved: bool = True,
) -> None:
    values = {"checkpoint_id": checkpoint_id, "heads": heads, "updated_at": to_ms(now)}
    key = {"store_id": tx.store_id, "thread_id": thread_id}
    dialects.upsert(tx.connection, thread_heads, [{**key, **values}])
    if is_moved:
        tx.touch()
        change = {**key, "seq": tx.commit_seq, "heads": heads, "at": to_ms(now)}
        tx.connection.execute(insert(head_changes).values(**change))
