"""Run the same odd conversations through ours and its peers, and count what each one breaks.

    python benchmarks/compaction.py --histories 1000

The histories are those of the property test, as a graph's state holds them (with ids, each once).
A peer that is not installed is left out: pip install 'langchain>=1.2' langmem
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

from langchain_core.messages import BaseMessage, RemoveMessage, SystemMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages
from timing import report

sys.path.insert(0, str(Path(__file__).parents[1]))  # the fakes of the tests

from langchain_memengine.conversation.compaction import CompactionLimits, tool_groups
from langchain_memengine.conversation.summaries import with_previous_context
from langchain_memengine.conversation.summarization import Summarizer
from langchain_memengine.conversation.thread import Thread
from langchain_memengine.conversation.transcript import is_human
from langchain_memengine.models.asking import answered
from tests.fakes.archives import MemoryArchive
from tests.fakes.chat_models import ScriptedChatModel
from tests.fakes.histories import history

LIMIT = 400
POINTS = {
    1: "each message kept or told, once, in order",
    2: "calls and results together, no orphans",
    3: "last turn verbatim, starts on a human turn",
    4: "nothing removed that is not archived",
    5: "a failing model loses nothing, the turn goes on",
    6: "removals per id",
    7: "again on the same or an edited history",
    8: "plain values in the state",
    9: "trimmed messages can be had back",
}


@dataclass
class Outcome:
    """What became of a history.

    Attributes:
        shown: The messages the model goes on with, without the summary.
        archived: Ids that can be had back besides.
        state: What else the state holds.
        removes_all: Whether everything was removed at once.
        stored: The messages of the state afterwards.
    """

    shown: list[BaseMessage]
    stored: list[BaseMessage]
    archived: set[str] = field(default_factory=set)
    state: dict[str, Any] = field(default_factory=dict)
    removes_all: bool = False


Compact = Callable[[list[BaseMessage], ScriptedChatModel, dict[str, Any]], Outcome]


def ours() -> Compact:
    """Return the steps of our summarization node."""
    archive = MemoryArchive()

    def compact(
        messages: list[BaseMessage], model: ScriptedChatModel, state: dict[str, Any]
    ) -> Outcome:
        limits = CompactionLimits(max_tokens=LIMIT)
        node = Summarizer(archive, limits, piece_tokens=8000, trims=True, on_trimmed=None)
        thread = Thread("t", "u", ("u",), "", datetime(2026, 1, 1, tzinfo=UTC))
        update = answered(node.steps({**state, "messages": messages}, thread), model).store()
        removals = update.pop("messages", [])
        left = list(add_messages(messages, removals))
        return Outcome(left, left, set(archive.ids("t")), update)

    return compact


def ours_in_turns(limit: int, summary: str) -> Callable[[list[BaseMessage]], Any]:
    """Return what our node leaves of a history, turn after turn, and what the model is shown."""
    node = Summarizer(
        MemoryArchive(),
        CompactionLimits(max_tokens=limit),
        piece_tokens=100_000,
        trims=True,
        on_trimmed=None,
    )
    state: dict[str, Any] = {}

    def prompt(history: list[BaseMessage]) -> tuple[list[BaseMessage], list[BaseMessage]]:
        head = state.get("memory_head", "").partition("<")[0]
        thread = Thread("t", "u", ("u",), head, datetime(2026, 1, 1, tzinfo=UTC))
        model = ScriptedChatModel(replies=[summary])
        update = answered(node.steps({**state, "messages": history}, thread), model).store()
        left = list(add_messages(history, update.pop("messages", [])))
        state.update(update)
        return left, with_previous_context(left, state.get("summary", ""))

    return prompt


def langchain() -> Compact:
    """Return LangChain's middleware, with our limit and our share of it."""
    from langchain.agents.middleware import SummarizationMiddleware

    def compact(
        messages: list[BaseMessage], model: ScriptedChatModel, state: dict[str, Any]
    ) -> Outcome:
        middleware = SummarizationMiddleware(
            model, trigger=("tokens", LIMIT), keep=("tokens", LIMIT * 6 // 10)
        )
        update = middleware.before_model({**state, "messages": messages}, None) or {}
        changes = update.pop("messages", [])
        left = list(add_messages(messages, changes))
        known = {message.id for message in messages}
        shown = [message for message in left if message.id in known]
        removed_all = any(
            isinstance(one, RemoveMessage) and one.id == REMOVE_ALL_MESSAGES for one in changes
        )
        return Outcome(shown, left, state=update, removes_all=removed_all)

    return compact


def langmem() -> Compact:
    """Return langmem's node, with our limit; it leaves the state's messages alone."""
    from langmem.short_term import SummarizationNode

    def compact(
        messages: list[BaseMessage], model: ScriptedChatModel, state: dict[str, Any]
    ) -> Outcome:
        node = SummarizationNode(model=model, max_tokens=LIMIT, max_summary_tokens=128)
        update = node.invoke({**state, "messages": messages})
        known = {message.id for message in messages}
        shown = [m for m in update.pop("summarized_messages") if m.id in known]
        return Outcome(shown, messages, {m.id for m in messages}, update)

    return compact


def tagged(data: bytes) -> list[BaseMessage]:
    """Return a history in which each message's text has a tag of its own."""
    messages = list(add_messages([], history(data)))
    for place, message in enumerate(messages):
        tag = f"«{place}»"
        message.content = (
            f"{tag} {message.content}"
            if isinstance(message.content, str)
            else [{"type": "text", "text": tag}, *message.content]
        )
        message.id = message.id or tag
    return messages


def told(model: ScriptedChatModel, messages: Sequence[BaseMessage]) -> set[str]:
    """Return the ids of the messages whose tags the model was shown."""
    prompts = "\n".join(str(message.content) for call in model.calls for message in call)
    return {str(m.id) for place, m in enumerate(messages) if f"«{place}»" in prompts}


def broken(compact: Compact, data: bytes) -> set[int] | None:
    """Return the points that break on a history; ``None`` when nothing had to go."""
    messages = tagged(data)
    model = ScriptedChatModel(replies=["They spoke of kilns."])
    try:
        outcome = compact(list(messages), model, {})
    except Exception:  # noqa: BLE001  # whatever a peer raises is a finding
        return {3, 7}
    if len(outcome.shown) == len(messages):
        return None
    found = structure(messages, outcome, told(model, messages))
    left = {message.id for message in outcome.stored} | outcome.archived
    if any(message.id not in left for message in messages):
        found |= {4, 9}
    if outcome.removes_all:
        found.add(6)
    if not is_plain(outcome.state):
        found.add(8)
    if fails_badly(compact, messages):
        found.add(5)
    if not runs_again(compact, messages, outcome):
        found.add(7)
    return found


def structure(messages: list[BaseMessage], outcome: Outcome, seen: set[str]) -> set[int]:
    """Return which of the points 1 to 3 break."""
    found: set[int] = set()
    ids = [message.id for message in messages]
    kept = [message.id for message in outcome.shown]
    in_order = kept == [one for one in ids if one in set(kept)]
    if not in_order or set(ids) - set(kept) - seen - outcome.archived:
        found.add(1)
    _, orphans_before = tool_groups(messages)
    _, orphans = tool_groups(outcome.shown)
    if orphans:
        found.add(2)
    humans = [place for place, message in enumerate(messages) if is_human(message)]
    if humans:
        last_turn = [ids[p] for p in range(humans[-1], len(ids)) if p not in orphans_before]
        window = [m for m in outcome.shown if not isinstance(m, SystemMessage)]
        if not set(last_turn) <= set(kept) or (window and not is_human(window[0])):
            found.add(3)
    return found


def fails_badly(compact: Compact, messages: list[BaseMessage]) -> bool:
    """Return whether a failing model ends the turn or costs text."""
    for reply in (ConnectionError("429"), "", " "):
        try:
            outcome = compact(list(messages), ScriptedChatModel(replies=[reply]), {})
        except Exception:  # noqa: BLE001  # the turn is not answered
            return True
        have = {message.id for message in outcome.stored} | outcome.archived
        if any(m.id not in have for m in messages) or len(outcome.shown) < len(messages):
            archived = {m.id for m in messages} - {m.id for m in outcome.shown}
            if not archived <= outcome.archived or not outcome.state.get("memory_note"):
                return True
    return False


def runs_again(compact: Compact, messages: list[BaseMessage], outcome: Outcome) -> bool:
    """Return whether another run changes nothing, and an edited history does not raise."""
    model = ScriptedChatModel(replies=["They spoke of kilns."])
    gone = {message.id for message in messages} - {message.id for message in outcome.shown}
    edited = [
        message.model_copy(update={"id": "edited"}) if message.id in gone else message
        for message in outcome.stored
    ]
    try:
        again = compact(list(outcome.stored), model, dict(outcome.state))
        compact(edited, model, dict(outcome.state))
    except Exception:  # noqa: BLE001  # the graph is stuck
        return False
    own = {message.id for message in messages}  # not a summary that stands among them
    shown = [message.id for message in again.shown if message.id in own]
    return shown == [message.id for message in outcome.shown]


def is_plain(value: Any) -> bool:
    """Return whether strict serialization gives a value back as it is."""
    match value:
        case dict():
            return all(map(is_plain, value.values()))
        case list():
            return all(map(is_plain, value))
        case _:
            return value is None or isinstance(value, str | int | float | BaseMessage)


def main() -> None:
    """Print for each contestant how many of the compacted histories break each point."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--histories", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    draw = random.Random(options.seed)
    histories = [draw.randbytes(draw.randint(8, 40)) for _ in range(options.histories)]
    result: dict[str, Any] = {"histories": len(histories)}
    for name, contestant in {"ours": ours, "langchain": langchain, "langmem": langmem}.items():
        try:
            contestant()
        except ImportError:
            result[name] = "not installed"
            continue
        counts: Counter[int] = Counter()
        compacted = 0
        for data in histories:
            with patch("time.sleep"):  # a peer waits between tries, and we make it fail on purpose
                found = broken(contestant(), data)
            compacted += found is not None
            counts.update(found or ())
        points = {f"{point} {POINTS[point]}": counts[point] for point in POINTS}
        result[name] = {"compacted": compacted, **points}
    if options.json:
        report(result, as_json=True)
        return
    print_table(result)


def print_table(result: dict[str, Any]) -> None:
    """Print one line a point, one column a contestant."""
    names = [name for name, value in result.items() if isinstance(value, dict)]
    print(f"{result['histories']} histories; how many of those compacted break a point\n")
    print(f"{'':<52}" + "".join(f"{name:>12}" for name in names))
    for line in ("compacted", *(f"{point} {text}" for point, text in POINTS.items())):
        print(f"{line:<52}" + "".join(f"{result[name][line]:>12}" for name in names))


if __name__ == "__main__":
    main()
