"""A chat model that follows a script: texts, tool calls, structured output and failures."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

Reply = str | dict[str, Any] | AIMessage | Exception
"""A text, the arguments of the first tool, a whole message, or what is raised."""


class ScriptedChatModel(BaseChatModel):
    """Gives one reply to every call, several in turn and each once, or replies as a function says.

    Attributes:
        replies: What it says, or how it finds out from the messages.
        profile: What it says of itself.
        calls: The messages of each call, also of those that failed.
    """

    replies: list[Any] | Callable[[list[BaseMessage]], Any] = Field(default_factory=list)
    profile: dict[str, Any] | None = None
    calls: list[list[BaseMessage]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: Any = None, **kwargs: Any
    ) -> Runnable[Any, AIMessage]:
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def prompts(self) -> list[str]:
        """Return the text of each prompt so far, all of its messages joined."""
        return ["\n".join(str(message.text) for message in call) for call in self.calls]

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self.calls.append(list(messages))
        message = _message(self._reply(messages), kwargs.get("tools") or [], len(self.calls))
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _reply(self, messages: list[BaseMessage]) -> Reply:
        if callable(self.replies):
            return self.replies(messages)
        if len(self.replies) == 1:
            return self.replies[0]
        number = len(self.calls)
        assert number <= len(self.replies), f"call {number} of a script of {len(self.replies)}"
        return self.replies[number - 1]


def _message(reply: Reply, tools: list[dict[str, Any]], number: int) -> AIMessage:
    if isinstance(reply, Exception):
        raise reply
    if isinstance(reply, dict):
        name = tools[0]["function"]["name"] if tools else "tool"
        return AIMessage("", tool_calls=[{"name": name, "args": reply, "id": f"call_{number}"}])
    return AIMessage(reply) if isinstance(reply, str) else reply.model_copy()
