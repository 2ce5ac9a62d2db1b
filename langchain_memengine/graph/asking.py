"""Ask a chat model what a text tells, and get the most out of its reply."""

from __future__ import annotations

from typing import Any

from langchain_core.exceptions import OutputParserException
from langchain_core.language_models import BaseChatModel
from pydantic import ValidationError

from langchain_memengine.graph.triples import Salvaged, salvage
from langchain_memengine.models.graph_prompts import (
    Extraction,
    extraction_messages,
    repair_messages,
    reply_of,
)


class Asker:
    """Asks one model; the schema is prepared once for all texts."""

    def __init__(self, model: BaseChatModel) -> None:
        self._model = model
        self._structured = model.with_structured_output(Extraction, include_raw=True)

    def ask(self, text: str) -> Salvaged:
        """Return what the model reads in a text.

        A reply that cannot be read at all is asked for once more, as plain text.

        Raises:
            Exception: The provider failed; its own error, for the caller to judge.
        """
        reply = self._reply(text)
        found = salvage(reply)
        if found.is_reply:
            return found
        shown = reply if isinstance(reply, str) else ""
        again = self._model.invoke(repair_messages(text, shown, found.rejected[0].reason))
        return salvage(reply_of({"raw": again}))

    def _reply(self, text: str) -> Any:
        """Return the reply in the schema, or what came instead of it.

        Some clients raise for a reply that does not fit, even if asked to return it raw.
        """
        try:
            return reply_of(self._structured.invoke(extraction_messages(text)))
        except OutputParserException as error:
            return error.llm_output or ""
        except ValidationError as error:
            given = error.errors()[0]["input"] if error.errors() else ""
            return given if isinstance(given, str | dict | list) else ""
