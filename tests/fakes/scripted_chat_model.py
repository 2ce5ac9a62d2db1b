"""A chat model that answers from a list, with tools and structured output."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field, PrivateAttr

Reply = str | dict[str, Any] | AIMessage | Exception


class ScriptedChatModel(BaseChatModel):
    """Gives its replies in turn.

    A text is an answer, a dict the arguments of a call of the first tool (which is how structured
    output comes), an exception is raised. A callable answers every call from its messages.

    Attributes:
        replies: What it says, or how it finds out.
        calls: The messages of each call, also of those that failed.
    """

    replies: list[Any] | Callable[[list[BaseMessage]], Any]
    calls: list[list[BaseMessage]] = Field(default_factory=list)
    _given: int = PrivateAttr(0)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], *, tool_choice: Any = None, **kwargs: Any) -> Any:
        named = [convert_to_openai_tool(tool) for tool in tools]
        return self.bind(tools=named, tool_choice=tool_choice, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        *,
        tools: Sequence[dict[str, Any]] = (),
        **kwargs: Any,
    ) -> ChatResult:
        self.calls.append(messages)
        reply = self._next(messages)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, dict):
            name = tools[0]["function"]["name"] if tools else "tool"
            call = {"name": name, "args": reply, "id": f"call_{len(self.calls)}"}
            reply = AIMessage("", tool_calls=[call])
        message = AIMessage(reply) if isinstance(reply, str) else reply
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _next(self, messages: list[BaseMessage]) -> Any:
        if callable(self.replies):
            return self.replies(messages)
        assert self._given < len(self.replies), "the script has no more replies"
        self._given += 1
        return self.replies[self._given - 1]
