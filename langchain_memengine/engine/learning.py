"""Learn from what people say, and tell what is believed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from langchain_memengine import given
from langchain_memengine.engine.branching import Branching
from langchain_memengine.engine.remembering import Remembering
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.knowledge.fact_history import FactVersion, versions
from langchain_memengine.retrieval import visibility
from langchain_memengine.retrieval.branches import hidden_commits
from langchain_memengine.retrieval.current_records import all_known
from langchain_memengine.retrieval.record_chunks import record_id, record_source
from langchain_memengine.storage import commits, jobs, quarantines, supersessions
from langchain_memengine.storage.job_values import Effect, Handler, Job, JobContext
from langchain_memengine.storage.record_values import MemoryRecord, RecordFilter
from langchain_memengine.text.heads import split_heads
from langchain_memengine.text.quoting import name_key
from langchain_memengine.types import (
    Actor,
    Filter,
)

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from langchain_memengine.knowledge.beliefs import BeliefRevision
    from langchain_memengine.knowledge.facts import FactExtraction
    from langchain_memengine.models.extracting import Extractor
    from langchain_memengine.models.reply_reading import Shape

_SIMILAR = 20


class Learning(Branching, Remembering):
    """The chapter of the engine for facts: queued, learnt in the background, and revised."""

    def learn(
        self,
        messages: Sequence[BaseMessage],
        *,
        thread_id: str | None = None,
        head: str = "",
        actor: Actor | None = None,
    ) -> int:
        """Queue the learning of facts from what people said; return the number of jobs queued.

        Each person's own words are learnt from apart and become their own memory. What the
        assistant, tools and system prompts say is left out, and so is what people paste as
        somebody else's; secrets are taken out before anything is stored. The same messages again
        are queued once. Jobs are done by an engine with a chat model, and wait for one.

        Args:
            messages: A conversation or a part of it. A message is by the person in its
                ``additional_kwargs["user_id"]``, else its ``name``, else by the actor: whoever
                may write these may speak for anybody.
            thread_id: Which conversation.
            head: The branch's ``memory_head``, so that a fork hides what it did not hear.
            actor: Who wrote the messages that name nobody.

        Raises:
            ConfigurationError: One is no message; nothing is queued.
            UnknownCommitError: The head is none of the thread's; nothing is queued.
            StorageError: The database failed; nothing is queued.
        """
        from langchain_memengine.conversation.compaction import with_ids
        from langchain_memengine.conversation.lineage import checked_thread
        from langchain_memengine.conversation.transcript import by_person
        from langchain_memengine.knowledge.facts import extraction_job
        from langchain_memengine.knowledge.own_lines import own_lines

        given.messages(messages)
        actor = actor or self.actor
        thread = None if thread_id is None else checked_thread(thread_id)
        commit_id = self._newest_commit(thread, head)
        new = [
            extraction_job(
                lines,
                owner=visibility.owner_of("personal", Actor(lines.person)),
                thread_id=thread,
                commit_id=commit_id,
            )
            for person, own in by_person(with_ids(messages), actor.user_id).items()
            for lines in own_lines(person, [(str(m.id), str(m.text)) for m in own])
        ]
        if not new:
            return 0
        now = self._clock()
        with self._database.write() as tx:
            return sum(jobs.put(tx, one, now=now) is not None for one in new)

    def facts(
        self,
        *,
        subject: str | None = None,
        actor: Actor | None = None,
        head: str | None = None,
    ) -> list[MemoryRecord]:
        """Return the facts that hold, as far as the actor may know them, newest first.

        Args:
            subject: Only about this: ``"user"`` for the actor themselves, or a name.
            actor: Whose facts, beside those about the environment.
            head: A ``memory_head``: its conversation counts as that branch has it.
        """
        return self._known_facts(subject, actor, head, current=True)

    def history_of(
        self,
        subject: str,
        *,
        actor: Actor | None = None,
        head: str | None = None,
    ) -> tuple[FactVersion, ...]:
        """Return everything that was ever learnt about a subject, oldest first, and until when.

        Args:
            subject: ``"user"`` for the actor themselves, or a name.
            actor: Whose facts, beside those about the environment.
            head: A ``memory_head``: its conversation counts as that branch has it.
        """
        facts = self._known_facts(subject, actor, head, current=False)
        with self._database.read() as tx:
            over = supersessions.of_records(tx, [fact.id for fact in facts])
            made = [one.commit_id for one in over if one.commit_id is not None]
            hidden = hidden_commits(tx, made, head)
            aside = quarantines.hidden_sources(tx)
        standing = [
            one
            for one in over
            if one.commit_id not in hidden and record_source(one.new_id) not in aside
        ]
        return versions(facts, standing)

    async def alearn(self, messages: Sequence[BaseMessage], **options: Any) -> int:
        """Queue the learning of facts without blocking the event loop, see :meth:`learn`."""
        return await asyncio.to_thread(self.learn, messages, **options)

    def _known_facts(
        self, subject: str | None, actor: Actor | None, head: str | None, *, current: bool
    ) -> list[MemoryRecord]:
        from langchain_memengine.knowledge.learnt_facts import is_fact, subject_of

        places = visibility.readable_places(actor or self.actor)
        wanted = RecordFilter(origin="llm_extract", valid_at=self._clock() if current else None)
        with self._database.read() as tx:
            found = all_known(tx, places, wanted, current=current, head=head)
        return [
            one
            for one in found
            if is_fact(one) and (subject is None or subject_of(one) == name_key(subject))
        ]

    def _newest_commit(self, thread_id: str | None, head: str) -> str | None:
        """Return the commit that was made last of a head; facts carry one commit."""
        heads = split_heads(head)
        if not heads:
            return None
        if thread_id is None:
            raise ConfigurationError("A head belongs to a conversation. Pass its thread_id too.")
        with self._database.read() as tx:
            known = commits.by_id(tx, heads)
        commits.require_thread(known, heads, thread_id)
        return max(heads, key=lambda one: (known[one].created_at, one))

    def _chapter_handlers(self) -> Mapping[str, Handler]:
        others = super()._chapter_handlers()
        if self._chat_model is None:
            return others
        return {
            **others,
            "fact_extract": self._extract_facts,
            "belief_revision": self._revise_beliefs,
        }

    def _extract_facts(self, job: Job, context: JobContext) -> Effect | None:
        return self._fact_extraction(job, context)

    def _revise_beliefs(self, job: Job, context: JobContext) -> Effect | None:
        return self._belief_revision(job, context)

    # The model is made when the first job needs it: a command that only searches need not load
    # its client.

    @cached_property
    def _fact_extraction(self) -> FactExtraction:
        from langchain_memengine.knowledge.facts import FactExtraction
        from langchain_memengine.models.fact_prompts import ExtractedFacts

        return FactExtraction(
            self._database,
            self._records,
            self._extractor(ExtractedFacts),
            feeds_graph=self.config.graph_learning != "off",
        )

    @cached_property
    def _belief_revision(self) -> BeliefRevision:
        from langchain_memengine.knowledge.beliefs import BeliefRevision
        from langchain_memengine.models.fact_prompts import Verdicts

        extractor = self._extractor(Verdicts)
        return BeliefRevision(self._database, self._records, extractor, self._similar_facts)

    def _extractor(self, shape: type[Shape]) -> Extractor[Shape]:
        from langchain_memengine.models.chat_providers import make_chat_model
        from langchain_memengine.models.extracting import Extractor

        if self._chat_model is None:
            raise ConfigurationError("There is no chat model. Open the engine with one.")
        return Extractor(make_chat_model(self._chat_model), shape)

    def _similar_facts(self, fact: MemoryRecord, person: str) -> dict[str, float]:
        """Return the cosines of the facts that a person may read and that are most like one."""
        wanted = Filter(source=f"{record_source('')}*", scope=fact.scope)
        asked = self._query(fact.text, _SIMILAR, None, wanted, Actor(person))
        hits = self._searcher.search(asked).hits
        found = {record_id(hit.source): hit.cosine or 0.0 for hit in hits}
        return {one: cosine for one, cosine in found.items() if one is not None}
