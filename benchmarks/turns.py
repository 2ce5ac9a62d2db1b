"""Count what a long conversation sends to its model, and how often the prompt's start stays.

    python benchmarks/turns.py --turns 500

Each turn asks about 100 tokens and is answered with 300. A provider's cache serves a prompt that
begins with the whole prompt of the turn before; every other turn is paid in full.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable
from typing import Any

from compaction import ours_in_turns
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.graph.message import add_messages
from timing import report

from langchain_memengine.conversation.compaction import CompactionLimits
from langchain_memengine.conversation.transcript import tokens_of
from tests.fakes.chat_models import ScriptedChatModel

Prompt = Callable[[list[BaseMessage]], tuple[list[BaseMessage], list[BaseMessage]]]
"""Takes the history before the model; returns the history that is left, and what is sent."""

PARAGRAPH = (
    "They spoke of kilns, of shelves and of what is to be fired next. " * 7
)  # 455 characters


def no_compaction(history: list[BaseMessage]) -> tuple[list[BaseMessage], list[BaseMessage]]:
    """Send everything."""
    return history, history


def langchain(limit: int) -> Prompt:
    """Return LangChain's middleware with our limit and our share of it."""
    from langchain.agents.middleware import SummarizationMiddleware

    middleware = SummarizationMiddleware(
        ScriptedChatModel(replies=[PARAGRAPH]),
        trigger=("tokens", limit),
        keep=("tokens", limit * 6 // 10),
    )

    def prompt(history: list[BaseMessage]) -> tuple[list[BaseMessage], list[BaseMessage]]:
        update = middleware.before_model({"messages": history}, None) or {}
        left = list(add_messages(history, update.get("messages", [])))
        return left, left

    return prompt


def run(prompt: Prompt, turns: int) -> dict[str, float]:
    """Return what a conversation sends: tokens a turn, and turns whose prompt kept its start."""
    history: list[BaseMessage] = []
    before: list[Any] = []
    sent = kept = largest = 0
    for number in range(turns):
        question = HumanMessage(f"Question {number}. ".ljust(388, "?"), id=f"h{number}")
        history, shown = prompt([*history, question])
        tokens = sum(map(tokens_of, shown))
        contents = [message.content for message in shown]
        sent, largest = sent + tokens, max(largest, tokens)
        kept += contents[: len(before)] == before
        before = contents
        history = [*history, AIMessage(f"Answer {number}. ".ljust(1188, "."), id=f"a{number}")]
    return {
        "tokens a turn": round(sent / turns),
        "largest prompt": largest,
        "turns that keep the start": kept,
    }


def main() -> None:
    """Print a line for each way to keep a conversation."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--turns", type=int, default=500)
    parser.add_argument("--limit", type=int, default=CompactionLimits().max_tokens)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    result: dict[str, Any] = {
        "turns": options.turns,
        "ours": run(ours_in_turns(options.limit, PARAGRAPH), options.turns),
    }
    try:
        result["langchain"] = run(langchain(options.limit), options.turns)
    except ImportError:
        result["langchain"] = "not installed"
    result["no compaction"] = run(no_compaction, options.turns)
    report(result, as_json=options.json)


if __name__ == "__main__":
    main()
