"""Which evidence of the graph is forgotten with a conversation, an owner or a source."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from langchain_memengine.retrieval.filters import source_condition
from langchain_memengine.storage.chunk_values import SHARED_PARTITION, partition_key
from langchain_memengine.storage.doomed_values import DoomedMessage, Selection
from langchain_memengine.storage.graph_schema import REFERENCE_PART_CHARS
from langchain_memengine.text.uris import MAX_PART_CHARS, message_uri

_PART_CHARS = (MAX_PART_CHARS, REFERENCE_PART_CHARS)  # the graph keeps long URIs shortened


def evidence_condition(wanted: Selection, gone: Sequence[DoomedMessage]) -> Callable[[str], bool]:
    """Return the condition for ids of evidence that goes.

    Memories that are stored are left to the graph itself, which follows them. But it may have read
    a conversation that nothing archived, and been told what no memory tells.
    """
    named = {
        message_uri(one.thread_id, one.message_id, part_chars=chars)
        for one in gone
        for chars in _PART_CHARS
    }
    is_wanted = source_condition("*" if wanted.owner is not None else wanted.source or "")
    beginnings: tuple[str, ...] = ()
    if (thread := wanted.thread_id) is not None:
        beginnings = tuple(message_uri(thread, "", part_chars=chars) for chars in _PART_CHARS)

    def is_gone(evidence: str) -> bool:
        whole = evidence.partition("#")[0]  # of a text that was read in pieces
        return whole in named or is_wanted(evidence) or evidence.startswith(beginnings)

    return is_gone


def partitions_in_reach(
    wanted: Selection, owners: Collection[str] | None
) -> tuple[str, ...] | None:
    """Return whose evidence may go; ``None`` is everybody's.

    Args:
        wanted: What is to be forgotten.
        owners: Who is within reach, ``""`` for what is everyone's; ``None`` is everybody.
    """
    if wanted.owner is not None:
        owners = (wanted.owner,)
    if owners is None:
        return None
    return tuple(partition_key("personal", one) if one else SHARED_PARTITION for one in owners)
