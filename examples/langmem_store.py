"""langmem's tools on our store: an agent notes things for each user and finds them after a restart.

It needs langmem (``pip install langmem``). Run it with any LangChain chat model; here a scripted
one stands in, so that nothing is called::

    python examples/langmem_store.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langmem import create_manage_memory_tool, create_search_memory_tool

from langchain_memengine import MemEngineStore, MemoryEngine

NAMESPACE = ("{user_id}", "memories")  # the user first: each has an index of their own


class ScriptedModel(BaseChatModel):
    """Stands in for a chat model: notes what it is told to, looks everything else up."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],  # noqa: ARG002
        **_options: Any,
    ) -> Runnable[Any, AIMessage]:
        """Return the model: it knows its tools by heart."""
        return self

    def _generate(
        self, messages: list[BaseMessage], *_arguments: Any, **_options: Any
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=_reply(messages[-1]))])


def _reply(last: BaseMessage) -> AIMessage:
    if isinstance(last, ToolMessage):
        return AIMessage(last.text)
    order, _, text = last.text.partition(": ")
    if order == "Note":
        call = {"name": "manage_memory", "args": {"content": text, "action": "create"}}
    else:
        call = {"name": "search_memory", "args": {"query": last.text, "limit": 1}}
    return AIMessage("", tool_calls=[{**call, "id": "call"}])


@contextmanager
def opened(root: Path) -> Iterator[Any]:
    """Open the agent on its files, as each process does."""
    tools = [create_manage_memory_tool(NAMESPACE), create_search_memory_tool(NAMESPACE)]
    with MemoryEngine.open(root) as engine:
        store = MemEngineStore(engine, fields=["content"])  # was: InMemoryStore(index={...})
        yield create_agent(ScriptedModel(), tools, store=store)


def ask(agent: Any, user: str, text: str) -> str:
    """Let a user say something; return the answer."""
    said = {"messages": [{"role": "user", "content": text}]}
    out = agent.invoke(said, {"configurable": {"user_id": user}})
    answer = str(out["messages"][-1].text)
    print(f"{user}> {text}\n{answer}")
    return answer


def run(root: Path) -> list[str]:
    """Let two users note something, and ask after a restart; return what was answered."""
    with opened(root) as agent:
        ask(agent, "ann", "Note: Ann fires the kiln on Fridays.")
        ask(agent, "ann", "Note: Ann drinks green tea.")
        ask(agent, "bob", "Note: Bob glazes on Mondays.")
    with opened(root) as agent:
        return [ask(agent, user, "When does the kiln fire?") for user in ("ann", "bob")]


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        ann, bob = run(Path(folder))
    assert "Fridays" in ann
    assert "tea" not in ann
    assert "kiln" not in bob
