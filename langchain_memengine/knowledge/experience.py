"""The experience store: what worked before, found again by what was wanted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from langchain_memengine import given
from langchain_memengine.knowledge.experience_index import ExperienceIndex, Wanted
from langchain_memengine.knowledge.experience_prompt import experience_prompt
from langchain_memengine.knowledge.experience_upkeep import ExperienceUpkeep
from langchain_memengine.knowledge.new_experience import (
    checked,
    cleaned_tags,
    preference,
    renewed,
    require_kind,
    with_sign,
)
from langchain_memengine.retrieval.recall import fence_nonce
from langchain_memengine.shown import Shown
from langchain_memengine.storage import experiences
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.experience_values import (
    Experience,
    ExperienceKind,
)
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.sanitize import clean_text
from langchain_memengine.text.words import WordSplitter
from langchain_memengine.types import Actor

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from langchain_memengine.knowledge.tool_chains import Recovery


@dataclass(frozen=True, slots=True)
class RecordedRun(Shown):
    """What was learnt from one run of an agent.

    Attributes:
        chain: The tools that were called.
        recoveries: How failed calls were made up for.
    """

    chain: Experience
    recoveries: tuple[Experience, ...] = ()


class ExperienceStore(ExperienceUpkeep):
    """What agents learnt, by user; got as ``engine.experiences``.

    ```python
    store = engine.experiences
    store.record("convert a video to gif", {"tool": "ffmpeg"}, tags=["video"])
    for experience in store.find_similar("make a gif of this video"):
        print(experience.solution)
    ```

    ``user`` is an id in every method: default is the engine's actor, and ``""`` stands for what is
    everyone's. A user finds their own and everyone's experiences, never another's. Threads may
    share a store, and what another process learns is found by the next call.

    Args:
        database: Where they are stored.
        splitter: Makes words of intents.
        clock: Returns the time, aware.
        actor: Who calls, when a call names nobody; everyone's are written by admins only.
        secret: What makes the fence around a prompt's section one that no text can know.
    """

    def __init__(
        self,
        database: Database,
        splitter: WordSplitter,
        *,
        clock: Callable[[], datetime],
        actor: Actor,
        secret: str = "",
    ) -> None:
        super().__init__(database, clock=clock, actor=actor)
        self._splitter = splitter
        self._secret = secret
        self._index = ExperienceIndex(splitter)
        self._index_lock = threading.Lock()

    def record(
        self,
        intent: str,
        solution: Any,
        *,
        kind: ExperienceKind = "task_solution",
        success_score: float = 1.0,
        tags: Sequence[str] = (),
        session: str = "",
        user: str | None = None,
    ) -> Experience:
        """Keep an experience; one that is known already counts as new again, with its uses.

        Args:
            intent: What was wanted, in the words somebody will want it again.
            solution: What was done, any JSON value.
            kind: What was learnt.
            success_score: How well it went, 0 to 1; a failure (0) is kept and never found.
            tags: What else it is about.
            session: Conversation it was learnt in.
            user: Whose it is.

        Raises:
            ConfigurationError: The intent is blank, the score not between 0 and 1, a name longer
                than 255 characters, the tags are a single text, there is no such kind, or the
                solution is no JSON value.
            ScopeError: It is to be everyone's and the engine's actor is no admin.
        """
        new = checked(
            Experience(
                id="",
                kind=kind,
                intent=intent,
                solution=solution,
                success_score=success_score,
                tags=cleaned_tags(tags),
                user=self._owner(user),
                session=session,
                created_at=self._clock(),
            )
        )
        (stored,) = self._keep([new])
        return stored

    def record_tool_chain(
        self,
        messages: Sequence[BaseMessage],
        *,
        tags: Sequence[str] = (),
        session: str = "",
        user: str | None = None,
    ) -> RecordedRun | None:
        """Learn from a finished run of an agent; ``None`` if it used no tool.

        The run is what followed the last thing a human said, and that is the intent. Calls are kept
        with their arguments, without what looks like a secret and bounded in size; answers are not
        kept, but for errors. A call that failed and was followed by a different one of the same
        purpose that did not (the same tool, or another with one of the same texts) is an
        ``error_recovery`` besides.

        Args:
            messages: The conversation, up to the end of the run.
            tags: Added to the names of the tools.
            session: Conversation it was learnt in.
            user: Whose it is.

        Raises:
            ScopeError: It is to be everyone's and the engine's actor is no admin.
        """
        from langchain_memengine.knowledge.tool_chains import read_run

        given.messages(messages)
        run = read_run(messages)
        if run is None:
            return None
        chain = checked(
            Experience(
                id="",
                kind="tool_chain",
                intent=run.request,
                solution={"steps": [step.as_json() for step in run.steps]},
                success_score=run.success_score,
                tags=(*cleaned_tags(tags), *run.tools),
                user=self._owner(user),
                session=session,
                created_at=self._clock(),
            )
        )
        recoveries = [_recovery(recovery, chain) for recovery in run.recoveries()]
        stored = self._keep([chain, *recoveries])
        return RecordedRun(stored[0], tuple(stored[1:]))

    def track_preference(self, user: str, key: str, value: Any) -> Experience:
        """Note a sign of what a user likes, like ``("ann", "answer length", "short")``.

        The confidence (``success_score``) after n signs of the same value is ``1 - 0.5**n``: 0.5,
        0.75, 0.875, … Another value takes the place of the old one and begins at 0.5.

        Raises:
            ConfigurationError: The key is blank, or the value is no JSON value.
            ScopeError: It is to be everyone's and the engine's actor is no admin.
        """
        sign = preference(self._owner(user), key, value, now=self._clock())
        with self._database.write() as tx:
            known = experiences.by_id(tx, [sign.id]).get(sign.id)
            (stored,) = _put(tx, [renewed(with_sign(known, sign), known)])
        return stored

    def find_similar(
        self,
        query: str,
        tags: Sequence[str] | None = None,
        kind: ExperienceKind | None = None,
        limit: int = 10,
        *,
        user: str | None = None,
    ) -> list[Experience]:
        """Return the experiences whose intent is most like a query, best first.

        The score is BM25 of the intent, times weight, times success, times up to 1.5 for tags: each
        tag that it has adds half of its share of the tags asked for. An intent that has no word of
        the query is no hit. Equal scores stand newest first, then by id. Finding is no use: say
        :meth:`use` of what was of use.

        Args:
            query: What is wanted now.
            tags: Those that are welcome; none is required.
            kind: Only this kind.
            limit: How many, at most.
            user: Whose, beside everyone's.

        Raises:
            ConfigurationError: ``limit`` is no whole number from 1 on, or there is no such kind.
        """
        limit = given.whole("limit", limit, least=1)
        if kind is not None:
            require_kind(kind)
        words = self._splitter.query(clean_text(query))
        wanted = Wanted(words, cleaned_tags(tags or ()), kind, limit)
        name = self._user(user)
        # Lock before view: a view opened while waiting would be older than the index.
        with self._index_lock, self._database.read() as tx:
            self._index.follow(tx)
            ids = self._index.best(wanted, name)
            found = experiences.by_id(tx, ids)
        return [found[id_] for id_ in ids]

    def latest(
        self, kind: ExperienceKind | None = None, *, limit: int = 100, user: str | None = None
    ) -> list[Experience]:
        """Return a user's and everyone's experiences, the newest first.

        Raises:
            ConfigurationError: ``limit`` is no whole number from 0 on, or there is no such kind.
        """
        limit = given.whole("limit", limit)
        if kind is not None:
            require_kind(kind)
        with self._database.read() as tx:
            return experiences.latest(tx, self._readable(user), kind, limit=limit)

    def use(self, *ids: str, user: str | None = None) -> int:
        """Count a use of each, from which on it ages; return how many the user has of these."""
        readable = self._readable(user)
        with self._database.write() as tx:
            known = experiences.by_id(tx, [clean_text(one) for one in ids])
            used = [one.id for one in known.values() if one.user in readable]
            experiences.note_use(tx, used, now=self._clock())
        return len(used)

    def prompt(self, learnt: Sequence[Experience], *, thread_id: str | None = None) -> str:
        """Return a section of a system prompt, ``""`` for none; see :func:`experience_prompt`.

        Args:
            learnt: What the agent should know.
            thread_id: Conversation it is for; its fence stays the same all along.
        """
        return experience_prompt(learnt, nonce=fence_nonce(self._secret, thread_id))

    def _keep(self, learnt: Sequence[Experience]) -> list[Experience]:
        """Store experiences in one transaction and return them as they are stored."""
        with self._database.write() as tx:
            known = experiences.by_id(tx, [one.id for one in learnt])
            return _put(tx, [renewed(one, known.get(one.id)) for one in learnt])


def _put(tx: Transaction, learnt: Sequence[Experience]) -> list[Experience]:
    experiences.put(tx, learnt)
    stored = experiences.by_id(tx, [one.id for one in learnt])
    return [stored[one.id] for one in learnt]


def _recovery(recovery: Recovery, chain: Experience) -> Experience:
    """Return a recovery as an experience, found by the failure and by what it happened at."""
    reason = next(iter(recovery.failed.error.splitlines()), "")
    return checked(
        replace(
            chain,
            kind="error_recovery",
            intent=f"{recovery.failed.name} failed: {reason}\n{chain.intent}",
            solution={"failed": recovery.failed.as_json(), "worked": recovery.worked.as_json()},
            success_score=1.0,
        )
    )
