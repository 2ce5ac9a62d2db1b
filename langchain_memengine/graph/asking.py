"""Ask a chat model what texts tell, and read its replies in whatever shape they come."""

from __future__ import annotations

from langchain_memengine.graph.triples import Salvaged, salvage
from langchain_memengine.models.asking import ChatModel
from langchain_memengine.models.extracting import Extractor
from langchain_memengine.models.graph_prompts import Extraction
from langchain_memengine.models.reply_reading import UnreadableReplyError, json_of
from langchain_memengine.models.retrying import Retries


def told_extractor(
    model: ChatModel,
    retries: Retries = Retries(),  # noqa: B008  # frozen
) -> Extractor[Salvaged]:
    """Return what asks a model for entities and relations, and keeps what can be read of them."""
    return Extractor(model, Extraction, read=read_told, retries=retries)


def read_told(answer: object) -> Salvaged:
    """Return what an answer tells.

    Raises:
        UnreadableReplyError: It has not the shape of an answer at all.
        ChatModelError: The model refused.
    """
    found = salvage(json_of(answer))
    if not found.is_reply:
        raise UnreadableReplyError(f"it {found.rejected[0].reason}")
    return found
