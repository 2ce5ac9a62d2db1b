"""An agent with a memory: across conversations and processes, forgetting, and rewinding.

Run it with any LangChain chat model; here a scripted one stands in, so that nothing is called::

    python examples/agent.py
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from langchain.agents import create_agent
from langchain.tools import ToolRuntime
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from langchain_memengine import MemoryEngine, MemoryMiddleware, memory_tools

CALLS = {
    "Save": ("memory_save", "text"),
    "Forget": ("memory_search", "query"),  # first find it: the id is what is forgotten
    "For now": ("learn", "text"),
}


class ScriptedModel(BaseChatModel):
    """Stands in for a chat model: calls a tool when told to, else repeats what it remembers."""

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
        return ChatResult(generations=[ChatGeneration(message=_reply(messages))])


def _reply(messages: list[BaseMessage]) -> AIMessage:
    said = next(message for message in reversed(messages) if isinstance(message, HumanMessage))
    order, _, text = said.text.partition(": ")
    answer = messages[-1]
    if isinstance(answer, ToolMessage):
        found = re.search(r"^\[id (\w+)", answer.text, re.MULTILINE)
        return _call("memory_forget", "id", found[1]) if found else AIMessage(answer.text)
    if order in CALLS:
        return _call(*CALLS[order], text)
    remembered = re.findall(r"<memory [^>]*>\n(.*?)\n</memory>", messages[0].text, re.DOTALL)
    return AIMessage(" ".join(sorted(remembered)) or "I do not know.")


def _call(tool: str, argument: str, value: str) -> AIMessage:
    call = {"name": tool, "args": {argument: value}, "id": f"call-{uuid4()}"}
    return AIMessage("", tool_calls=[call])


def learn_tool(engine: MemoryEngine) -> BaseTool:
    """Return a tool of this application's own: its word holds on one branch of a conversation."""

    @tool
    def learn(text: str, runtime: ToolRuntime) -> Command[Any]:
        """Remember something that this conversation brought up."""
        head = engine.commit(
            runtime.config.get("configurable", {})["thread_id"],
            runtime.state.get("memory_head", ""),
            "fact",
            [text],
        )
        done = ToolMessage("Learnt.", tool_call_id=runtime.tool_call_id)
        return Command(update={"messages": [done], "memory_head": head})

    return learn


@contextmanager
def opened(root: Path) -> Iterator[Any]:
    """Open the agent on its files, as each process does."""
    with (
        MemoryEngine.open(root / "memory", embeddings=None) as engine,
        SqliteSaver.from_conn_string(str(root / "chats.sqlite")) as checkpoints,
    ):
        tools = [*memory_tools(engine), learn_tool(engine)]
        yield create_agent(
            ScriptedModel(),
            system_prompt="You help in a pottery.",
            middleware=[MemoryMiddleware(engine, tools=tools)],
            checkpointer=checkpoints,
        )


def ask(agent: Any, text: str, config: RunnableConfig) -> str:
    """Say something in a conversation, or at one of its checkpoints; return the answer."""
    out = agent.invoke({"messages": [{"role": "user", "content": text}]}, config)
    answer = str(out["messages"][-1].text)
    print(f"> {text}\n{answer}")
    return answer


def chat(thread_id: str) -> RunnableConfig:
    """Return the config of a conversation."""
    return {"configurable": {"thread_id": thread_id}}


def run(root: Path) -> list[str]:
    """Let three processes ask the same question; return what was answered."""
    question = "When does the kiln fire?"
    monday, tuesday = chat("monday"), chat("tuesday")
    answers = []
    with opened(root) as agent:
        ask(agent, "Save: The kiln fires on Fridays.", monday)
    with opened(root) as agent:  # another conversation in another process
        answers.append(ask(agent, question, tuesday))
        before = agent.get_state(tuesday).config
        ask(agent, "For now: The kiln fires at noon.", tuesday)
        answers.append(ask(agent, question, tuesday))
        answers.append(ask(agent, question, before))  # rewound: "at noon" is not said yet
        ask(agent, "For now: The kiln fires at dusk.", tuesday)
    with opened(root) as agent:
        ask(agent, "Forget: The kiln fires on Fridays.", monday)
        answers.append(ask(agent, question, chat("wednesday")))
    return answers


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        run(Path(folder))
