"""What a branch of a conversation may see of what conversations learnt.

Each conversation's newest branch is visible everywhere; inside a conversation its own branch is
visible instead. What other branches learnt is hidden, and comes back with them. So does a memory
that only another branch superseded. What is quarantined is seen from nowhere, and takes the place
of nothing.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.errors import UnknownCommitError
from langchain_memengine.retrieval.query import Vantage
from langchain_memengine.retrieval.record_chunks import record_source
from langchain_memengine.retrieval.view import View
from langchain_memengine.storage import commit_chunks, commits, quarantines, supersessions
from langchain_memengine.storage.change_counters import Counters
from langchain_memengine.storage.commits import Parents
from langchain_memengine.storage.record_values import Quarantine, Supersession
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.heads import ancestors, split_heads

_KEPT = 32
_NOTHING: frozenset[str] = frozenset()

Heads = Mapping[str, Iterable[str]]


class Unseen(NamedTuple):
    """What cannot be seen from a vantage.

    Attributes:
        hidden: Memory commits, and sources of superseded and quarantined memories.
        mask: Positions of a view that can be seen; ``None`` if all can.
    """

    hidden: frozenset[str]
    mask: NDArray[np.bool_] | None


_ALL_SEEN = Unseen(_NOTHING, None)


class Branches:
    """Answers what is hidden, following the counter of commits; for one thread at a time.

    A store without commits costs nothing: its counter says so.
    """

    def __init__(self) -> None:
        self._hidden: dict[str, frozenset[str]] = {}
        self._seen = 0
        self._superseded: tuple[int, Sequence[Supersession]] = (0, ())
        self._quarantines: tuple[int, Sequence[Quarantine]] = (0, ())
        self._latest: OrderedDict[tuple[object, ...], Unseen] = OrderedDict()

    def unseen(self, tx: Transaction, view: View, counters: Counters, vantage: Vantage) -> Unseen:
        """Return what of a view cannot be seen from a vantage.

        Raises:
            UnknownCommitError: The head is none of the thread's.
        """
        if not (counters.commits or vantage.head or vantage.as_of):
            return _ALL_SEEN
        places = tuple((partition.key, len(partition.nums)) for partition in view.partitions)
        key = (counters.changes, counters.commits, places, vantage)
        if key not in self._latest:
            self._latest[key] = self._look(tx, view, counters, vantage)
            if len(self._latest) > _KEPT:
                self._latest.popitem(last=False)
        self._latest.move_to_end(key)
        return self._latest[key]

    def _look(self, tx: Transaction, view: View, counters: Counters, vantage: Vantage) -> Unseen:
        if vantage.as_of is None:
            self._follow(tx, counters)
            by_thread = self._hidden
        else:
            by_thread = _hidden(
                commits.parents_by_thread(tx, None), commits.heads_at(tx, vantage.as_of)
            )
        if vantage.head is not None and vantage.thread_id is not None:
            own = _off_branch(tx, vantage.thread_id, vantage.head, vantage.as_of)
            by_thread = {**by_thread, vantage.thread_id: own}
        hidden = _NOTHING.union(*by_thread.values())
        aside = self._set_aside(tx, counters)
        over = (
            one
            for one in self._supersessions(tx, counters)
            if record_source(one.new_id) not in aside
        )
        sources = aside | _superseded(over, hidden, vantage.as_of)
        return Unseen(hidden | sources, _mask(tx, view, hidden, sources, vantage.as_of))

    def _supersessions(self, tx: Transaction, counters: Counters) -> Sequence[Supersession]:
        if counters.commits != self._superseded[0]:
            self._superseded = (counters.commits, supersessions.everything(tx))
        return self._superseded[1]

    def _set_aside(self, tx: Transaction, counters: Counters) -> frozenset[str]:
        """Return the sources of what is quarantined; without any nothing is asked."""
        if counters.commits != self._quarantines[0]:
            self._quarantines = (counters.commits, quarantines.everything(tx))
        return quarantines.hidden_sources(tx, self._quarantines[1])

    def _follow(self, tx: Transaction, counters: Counters) -> None:
        """Bring what is hidden everywhere up to the database as ``tx`` sees it."""
        if counters.commits == self._seen:
            return
        # A view that began before the latest one reads everything again: it is rare.
        is_later = counters.commits > self._seen > 0
        threads = commits.moved_threads(tx, after_seq=self._seen) if is_later else None
        fresh = _hidden(commits.parents_by_thread(tx, threads), commits.newest_heads(tx, threads))
        known = {t: h for t, h in self._hidden.items() if threads is not None and t not in threads}
        self._hidden = {**known, **fresh}
        self._seen = counters.commits


def hidden_commits(
    tx: Transaction, commit_ids: Iterable[str], head: str | None = None
) -> frozenset[str]:
    """Return those of these memory commits that no conversation's newest branch follows.

    With a head its conversation counts as that branch has it.
    """
    wanted = frozenset(commit_ids)
    known = commits.by_id(tx, [*wanted, *split_heads(head or "")])
    threads = list({commit.thread_id for commit in known.values()})
    heads = commits.newest_heads(tx, threads)
    for one in split_heads(head or ""):
        if one in known:
            heads = {**heads, known[one].thread_id: split_heads(head or "")}
    off = _hidden(commits.parents_by_thread(tx, threads), heads)
    return wanted & _NOTHING.union(*off.values())


def abandoned_commits(tx: Transaction) -> frozenset[str]:
    """Return the memory commits that no conversation's newest branch follows."""
    off = _hidden(commits.parents_by_thread(tx, None), commits.newest_heads(tx, None))
    return _NOTHING.union(*off.values())


def _superseded(
    known: Iterable[Supersession], hidden: frozenset[str], as_of: datetime | None
) -> frozenset[str]:
    """Return the sources of records that something took the place of, as far as can be seen."""
    return frozenset(
        record_source(one.old_id)
        for one in known
        if one.commit_id not in hidden and (as_of is None or one.at <= as_of)
    )


def _hidden(parents: Mapping[str, Parents], heads: Heads) -> dict[str, frozenset[str]]:
    """Return the commits that no head follows, by thread; threads without any are left out."""
    found = {}
    for thread, own in parents.items():
        off = frozenset(own) - ancestors(own, heads.get(thread, ()))
        if off:
            found[thread] = off
    return found


def _off_branch(tx: Transaction, thread: str, head: str, as_of: datetime | None) -> frozenset[str]:
    """Return the commits of a thread that its branch does not follow, or not yet then."""
    own = commits.parents_by_thread(tx, [thread]).get(thread, {})
    heads = split_heads(head)
    for commit in heads:
        if commit not in own:
            raise UnknownCommitError(commit, thread)
    later = commits.made_after(tx, thread, as_of) if as_of is not None else ()
    return frozenset(own) - (ancestors(own, heads) - frozenset(later))


def _mask(
    tx: Transaction,
    view: View,
    hidden: frozenset[str],
    sources: frozenset[str],
    as_of: datetime | None,
) -> NDArray[np.bool_] | None:
    unseen = []
    for partition in view.partitions:
        nums = commit_chunks.nums_of_commits(tx, partition.key, sorted(hidden))
        nums += commit_chunks.nums_of_sources(tx, partition.key, sorted(sources))
        if as_of is not None:
            nums += commit_chunks.nums_stored_after(tx, partition.key, as_of)
        unseen.append(np.asarray(nums, np.int64))
    return view.all_but(unseen)
