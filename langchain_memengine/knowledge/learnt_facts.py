"""Facts as records: what of a model's reply may be kept, whose it is, and under which id."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from langchain_memengine.knowledge.own_lines import OwnLine, OwnLines
from langchain_memengine.knowledge.secrets import without_secrets
from langchain_memengine.models.fact_prompts import USER, ExtractedFact
from langchain_memengine.retrieval import visibility
from langchain_memengine.storage.record_values import MemoryRecord, Place
from langchain_memengine.text.digests import digest
from langchain_memengine.text.quoting import is_quote, name_key, rests_on, text_key
from langchain_memengine.text.sanitize import clean_text
from langchain_memengine.text.uris import uri_part
from langchain_memengine.types import Actor

FACT = "fact"
"""Value of ``metadata["kind"]`` of every learnt fact."""

MAX_TEXT_CHARS = 500
MAX_NAME_CHARS = 80
PART_MS = 100  # more than the facts of one part


@dataclass(frozen=True, slots=True)
class Lesson:
    """The conversation that facts are learnt in.

    Attributes:
        lines: What the person said.
        thread_id: Which conversation, if any.
        commit_id: Memory commit of the branch they belong to, if any.
        at: When the lines were handed over.
    """

    lines: OwnLines
    thread_id: str | None
    commit_id: str | None
    at: datetime


def place_of(fact: ExtractedFact, person: str) -> Place:
    """Return where a fact goes: to the person, unless it is about what everyone works with."""
    if fact.about == "person" or name_key(fact.subject) in {USER, name_key(person), ""}:
        return "personal", visibility.owner_of("personal", Actor(person))
    return "agent_notes", ""


def fact_records(found: Iterable[ExtractedFact], lesson: Lesson) -> list[MemoryRecord]:
    """Return the records of the facts that a person's own words prove, in the order of the words.

    What has no verified quote from one of their messages, or says more than the quote, is left
    out, and so is what says the same as another one. The same facts of the same lesson have the
    same ids whenever they are learnt.
    """
    proven = [
        (place, line, fact)
        for fact in found
        if (evidence := _evidence(fact, lesson.lines)) is not None
        for place, line in [evidence]
    ]
    proven.sort(key=lambda one: one[0])
    records: dict[str, MemoryRecord] = {}
    for _, line, fact in proven:
        record = _record(fact, line, lesson, number=len(records))
        records.setdefault(record.id, record)
    return list(records.values())


def subject_of(record: MemoryRecord) -> str:
    """Return the key of whom or what a fact is about."""
    return name_key(str(record.metadata.get("subject", "")))


def relation_of(record: MemoryRecord) -> str:
    """Return the key of what a fact says about its subject."""
    return name_key(str(record.metadata.get("relation", "")))


def is_fact(record: MemoryRecord) -> bool:
    """Return whether a record is a learnt fact."""
    return record.metadata.get("kind") == FACT


def _evidence(fact: ExtractedFact, lines: OwnLines) -> tuple[int, OwnLine] | None:
    """Return the first line that proves a fact, with its place; ``None`` if none does."""
    is_short = 0 < len(fact.text.strip()) <= MAX_TEXT_CHARS and all(
        0 < len(name.strip()) <= MAX_NAME_CHARS for name in (fact.subject, fact.relation)
    )
    # A secret that the lines lost can only be made up; one they kept is no better.
    if not is_short or without_secrets(fact.text) != fact.text:
        return None
    if not rests_on(fact.text, fact.quote):
        return None
    for number, line in enumerate(lines.lines):
        if is_quote(fact.quote, line.text):
            return number, line
    return None


def _record(fact: ExtractedFact, line: OwnLine, lesson: Lesson, *, number: int) -> MemoryRecord:
    scope, owner = place_of(fact, lesson.lines.person)
    text, subject, relation = (
        " ".join(clean_text(part).split()) for part in (fact.text, fact.subject, fact.relation)
    )
    if name_key(subject) in {USER, name_key(lesson.lines.person)}:
        subject = USER
    metadata = {
        "kind": FACT,
        "subject": subject,
        "relation": name_key(relation),
        "exclusive": fact.exclusive,
        "message_id": line.message_id,
    }
    if scope == "personal":  # what everyone reads does not quote anybody
        metadata["evidence"] = clean_text(fact.quote.strip())
    # What is said later is newer, also within one lesson: it may correct what was said before.
    at = lesson.at + timedelta(milliseconds=PART_MS * lesson.lines.part + number)
    key = (
        scope, owner, lesson.thread_id or "", lesson.commit_id or "",
        name_key(subject), name_key(relation), text_key(text),
    )  # fmt: skip
    return MemoryRecord(
        id=digest(FACT, *key)[:32],
        scope=scope,
        owner=owner,
        text=text,
        metadata=metadata,
        origin="llm_extract",
        trust=visibility.trust_of(
            "llm_extract", "trusted" if scope == "personal" else None, has_evidence=True
        ),
        thread_id=lesson.thread_id,
        commit_id=lesson.commit_id,
        created_at=at,
        updated_at=at,
        source=_source(lesson.thread_id or "", line.message_id),
    )


def _source(thread_id: str, message_id: str) -> str:
    """Return what a fact was learnt from, as the archive names the message."""
    return f"message:{uri_part(thread_id)}/{uri_part(message_id)}"
