"""Which evidence of the graph is forgotten with a conversation, an owner or a source."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from langchain_memengine.conversation.source_uris import thread_source
from langchain_memengine.retrieval.filters import source_condition
from langchain_memengine.storage.chunk_values import SHARED_PARTITION, partition_key
from langchain_memengine.storage.doomed_values import DoomedMessage, Selection
from langchain_memengine.text.uris import message_uri


def evidence_condition(wanted: Selection, gone: Sequence[DoomedMessage]) -> Callable[[str], bool]:
    """Return the condition for ids of evidence that goes.

    Memories that are stored are left to the graph itself, which follows them. But it may have read
    a conversation that nothing archived, and been told what no memory tells.
    """
    named = {message_uri(one.thread_id, one.message_id) for one in gone}
    pattern = "*" if wanted.owner is not None else wanted.source or ""
    if wanted.thread_id is not None:
        pattern = thread_source(wanted.thread_id) + "*"
    is_wanted = source_condition(pattern)

    def is_gone(evidence: str) -> bool:
        return evidence.partition("#")[0] in named or is_wanted(evidence)  # "#": pieces of a text

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
