"""A conversation of 200 turns that is compacted, rewound and forked, and what is remembered of it.

Run it with ``python examples/conversation.py``: it needs no key and no network. A potter tells an
assistant about batches of pots. LangGraph's checkpointer keeps the branches of the conversation,
the engine keeps what they leave behind, and after every turn the script checks that each message is
either in the state or in the archive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from langchain_memengine import (
    Actor,
    CompactionLimits,
    MemoryEngine,
    MemoryState,
    summarization_node,
    with_previous_context,
)

THREAD, USER = "pottery", "anna"
CHAT: RunnableConfig = {"configurable": {"thread_id": THREAD, "user_id": USER}}
LIMITS = CompactionLimits(max_tokens=600)
TURNS, REWOUND, FORKED, SEVERAL = 200, 50, 30, 10


def model(state: MemoryState) -> dict[str, Any]:
    """Answer as a chat model would; for every tenth batch it looks into the kiln's log first."""
    prompt = with_previous_context(state["messages"], state.get("summary", ""))
    require_acceptable(prompt)
    last = prompt[-1]
    if isinstance(last, HumanMessage) and "0 is" in str(last.text):
        call = {"name": "kiln_log", "args": {"of": last.id}, "id": f"call-{last.id}"}
        return {"messages": [AIMessage("", tool_calls=[call], id=f"ask-{last.id}")]}
    return {"messages": [AIMessage(f"Noted: {last.text}", id=f"answer-{last.id}")]}


def tools(state: MemoryState) -> dict[str, Any]:
    """Read the kiln's log, as often as the model asks."""
    asked = state["messages"][-1]
    assert isinstance(asked, AIMessage)
    found = [
        ToolMessage("The log has 1,040 degrees.", tool_call_id=call["id"], id=f"log-{call['id']}")
        for call in asked.tool_calls
    ]
    return {"messages": found}


def after_model(state: MemoryState) -> str:
    """Return which node follows the model."""
    last = state["messages"][-1]
    return "tools" if isinstance(last, AIMessage) and last.tool_calls else "summarize"


def build(engine: MemoryEngine, saver: SqliteSaver) -> CompiledStateGraph[Any]:
    """Return the graph: the model with its tool, and the memory behind it."""
    return (
        StateGraph(MemoryState)
        .add_node("model", model)
        .add_node("tools", tools)
        .add_node("summarize", summarization_node(engine, limits=LIMITS))
        .add_edge(START, "model")
        .add_conditional_edges("model", after_model, ["tools", "summarize"])
        .add_edge("tools", "model")
        .compile(checkpointer=saver)
    )


def require_acceptable(prompt: list[BaseMessage]) -> None:
    """Make sure that every provider would take these messages; Gemini is the strictest.

    System messages come first, a human one follows, roles alternate, each call is answered by the
    messages right behind it, and there is no answer without its call.
    """
    turns = prompt[sum(isinstance(message, SystemMessage) for message in prompt) :]
    assert turns
    assert isinstance(turns[0], HumanMessage)
    assert not any(isinstance(message, SystemMessage) for message in turns)
    open_calls: set[str | None] = set()
    for before, after in pairwise(turns):
        if isinstance(before, AIMessage):
            open_calls = {call["id"] for call in before.tool_calls}
        if isinstance(after, ToolMessage):
            assert after.tool_call_id in open_calls
            open_calls.discard(after.tool_call_id)
        else:
            assert not open_calls
            assert isinstance(after, AIMessage) is not isinstance(before, AIMessage)


@dataclass(frozen=True)
class Branch:
    """A place in the conversation.

    Attributes:
        said: Ids of all messages that led here, oldest first.
        at: The checkpoint.
        head: The memory commits that the branch ends with here.
    """

    said: tuple[str | None, ...]
    at: RunnableConfig
    head: str


class Pottery:
    """The conversation: its graph, and its memory."""

    def __init__(self, engine: MemoryEngine, app: CompiledStateGraph[Any]) -> None:
        self.engine = engine
        self.app = app
        self.compactions = 0
        self._archived: dict[str, list[str | None]] = {"": []}  # by head: what it has never changes

    def say(self, branch: Branch, text: str) -> Branch:
        """Run one turn from a place, and return the place it leads to, with nothing lost."""
        asked = HumanMessage(text, id=f"turn-{len(branch.said)}-{text}")
        said = [*branch.said, asked.id]
        for step in self.app.stream({"messages": [asked]}, branch.at, stream_mode="updates"):
            for node in step.keys() & {"model", "tools"}:
                said += [message.id for message in step[node]["messages"]]
        state = self.app.get_state(CHAT)
        head = state.values.get("memory_head", "")
        self.compactions += head != branch.head
        kept = [message.id for message in state.values["messages"]]
        assert self.archived(head) + kept == said, "each message is on one side, in order"
        return Branch(tuple(said), state.config, head)

    def archived(self, head: str) -> list[str | None]:
        """Return the ids of what a branch no longer carries along."""
        if head not in self._archived:
            restored = self.engine.restore(THREAD, head=head, actor=Actor(USER))
            self._archived[head] = [message.id for message in restored]
        return self._archived[head]

    def remembered(self, branch: Branch, batch: str) -> bool:
        """Return whether the archive tells of a batch, as seen from a place."""
        found = self.engine.search(
            f"batch {batch}", 50, thread_id=THREAD, head=branch.head, actor=Actor(USER)
        )
        return any(f"Batch {batch} " in hit.text for hit in found.hits)

    def tell(self, title: str, branch: Branch, batches: Sequence[str]) -> dict[str, bool]:
        """Print, and return, which batches are remembered at a place."""
        known = {batch: self.remembered(branch, batch) for batch in batches}
        carried = len(branch.said) - len(self.archived(branch.head))
        print(f"{title}: {len(branch.said)} messages, {carried} of them in the state")
        print("  remembered:", ", ".join(b for b, seen in known.items() if seen) or "none")
        print("  hidden:    ", ", ".join(b for b, seen in known.items() if not seen) or "none")
        return known


def main() -> None:
    """Tell 200 batches, rewind to the 50th, go on differently, and come back."""
    with (
        TemporaryDirectory() as folder,
        MemoryEngine.open(Path(folder) / "memory", embeddings=None) as engine,
        SqliteSaver.from_conn_string(f"{folder}/chat.sqlite") as saver,
    ):
        pottery = Pottery(engine, build(engine, saver))
        now = Branch((), CHAT, "")
        for number in range(1, TURNS + 1):
            now = pottery.say(now, f"Batch a{number} is fired and glazed.")
            if number == REWOUND:
                early = now
        assert pottery.compactions >= SEVERAL
        print(f"{TURNS} turns were compacted {pottery.compactions} times")
        batches = ["a1", "a25", "a100", "a150", "b1", "b10"]
        known = pottery.tell("After turn 200", now, batches)
        assert known == {batch: batch.startswith("a") for batch in batches}

        known = pottery.tell("Rewound to turn 50", early, batches)
        assert known == {batch: batch in {"a1", "a25"} for batch in batches}

        fork = early
        for number in range(1, FORKED + 1):
            fork = pottery.say(fork, f"Batch b{number} is fired and glazed.")
        known = pottery.tell(f"Forked there, {FORKED} turns later", fork, batches)
        assert known == {batch: batch in {"a1", "a25", "b1", "b10"} for batch in batches}

        back = pottery.say(now, "Batch a201 is fired and glazed.")
        known = pottery.tell("Back on the first branch", back, batches)
        assert known == {batch: batch.startswith("a") for batch in batches}


if __name__ == "__main__":
    main()
