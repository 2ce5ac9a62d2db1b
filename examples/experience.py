"""An agent that fails, recovers, and does better the next time; offline, on a simulated clock.

python examples/experience.py
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.tools import tool

from langchain_memengine import MemEngineConfig, MemoryEngine

DAYS_UNUSED = 140


class SimulatedClock:
    """The time; it passes when it is told to."""

    def __init__(self) -> None:
        self.now = datetime(2026, 5, 19, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        """Return the time now."""
        return self.now

    def pass_days(self, days: float) -> None:
        """Move on by some days."""
        self.now += timedelta(days=days)


@tool
def read_table(path: str) -> str:
    """Read a table."""
    tables = {"sales/may.csv": "region,total\nnorth,120\nsouth,80"}
    if path not in tables:
        raise FileNotFoundError(f"{path} does not exist. There are: {', '.join(tables)}")
    return tables[path]


@tool
def add_up(numbers: list[int]) -> int:
    """Add numbers up."""
    return sum(numbers)


TOOLS = {one.name: one for one in (read_table, add_up)}


class ScriptedAgent:
    """Stands for a model that knows what to do by now, and else has to find out.

    A real one is told the same: a system prompt, the request, and what its tools answered.
    """

    def run(self, request: str, system_prompt: str) -> list[BaseMessage]:
        """Do what is requested; return the messages of the run."""
        messages: list[BaseMessage] = [HumanMessage(request)]
        if "sales/may.csv" not in system_prompt:  # nobody told where the table is
            self._call(messages, "read_table", {"path": "may.xlsx"})
        self._call(messages, "read_table", {"path": "sales/may.csv"})
        self._call(messages, "add_up", {"numbers": [120, 80]})
        messages.append(AIMessage("Sales in May came to 200."))
        return messages

    def _call(self, messages: list[BaseMessage], name: str, args: dict[str, object]) -> None:
        call = ToolCall(name=name, args=args, id=f"call_{len(messages)}", type="tool_call")
        messages.append(AIMessage("", tool_calls=[call]))
        try:
            messages.append(TOOLS[name].invoke(call))
        except FileNotFoundError as error:
            failure = ToolMessage(str(error), name=name, tool_call_id=call["id"], status="error")
            messages.append(failure)


def calls(messages: Sequence[BaseMessage]) -> list[str]:
    """Return what was called, with a mark at what failed."""
    return [
        f"{message.name}{' FAILED' if message.status == 'error' else ''}"
        for message in messages
        if isinstance(message, ToolMessage)
    ]


def main() -> None:
    """Run the agent twice, then leave what it learnt unused."""
    clock, agent = SimulatedClock(), ScriptedAgent()
    with MemoryEngine(None, MemEngineConfig(), embeddings=None, clock=clock) as engine:
        store = engine.experiences

        request = "Add up the sales of May"
        first = agent.run(request, store.prompt(store.find_similar(request)))
        print("first run: ", ", ".join(calls(first)))
        store.record_tool_chain(first)
        print("learnt:    ", ", ".join(sorted(store.stats().by_kind)))

        clock.pass_days(7)
        request = "What did sales in May add up to?"
        offered = store.find_similar(request)
        second = agent.run(request, store.prompt(offered))
        print("second run:", ", ".join(calls(second)))
        store.use(*(one.id for one in offered))

        for days in (DAYS_UNUSED / 2, DAYS_UNUSED / 2):  # half-life 30 days, in two steps or in one
            clock.pass_days(days)
            store.apply_decay()
            (chain,) = store.latest("tool_chain")
            print(f"weight:     {chain.weight:.3f} after {days:.0f} more days")
        print("pruned:    ", store.prune_expired())
        print("left:      ", len(store.find_similar(request)))


if __name__ == "__main__":
    main()
