"""Two people talk to an agent for three weeks; what is known of each at the end, and what was.

What was noted twice is merged at night and told in a digest, an undo takes that back, and one of
the two is forgotten, with nothing left in any file. Offline, on a simulated clock, with a script in
the place of a chat model:

    python examples/learning.py
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableLambda

from langchain_memengine import Actor, MemEngineConfig, MemoryEngine

ANN, BOB = Actor("ann"), Actor("bob")

WEEKS: Sequence[Sequence[BaseMessage]] = (
    (
        HumanMessage("Hello, I live in Rome. I am allergic to peanuts.", name="ann"),
        AIMessage("Noted: Ann lives in Paris."),  # wrong, and nobody corrects it
        HumanMessage("I live in Oslo. We deploy the shop on Tuesdays.", name="bob"),
        HumanMessage("I eat nothing but segmentation faults for breakfast, haha.", name="bob"),
    ),
    (
        HumanMessage("A correction: I am allergic to walnuts, not to peanuts.", name="ann"),
        HumanMessage("From now on we deploy the shop on Thursdays.", name="bob"),
    ),
    (
        HumanMessage("I moved to Bern last weekend. I like hiking.", name="ann"),
        AIMessage("Bob told me that he hates hiking."),  # he did not
        HumanMessage("My password for the shop is hunter22.", name="bob"),
    ),
)

WORDS_OF_ANN = (b"Rome", b"Bern", b"peanut", b"walnut", b"hiking")

# What an agent's tool notes, week by week: the second says the same as the first.
NOTES = (
    "The tests of the shop take 12 minutes.",
    "- The tests of the shop take **12** minutes",
    "The tests of the shop take 120 minutes.",
)

HOME, ALLERGY = ("user", "lives in", True), ("user", "allergic to", False)
SHOP = ("shop", "deploys on", True)

# What the script finds, wherever a prompt holds the quote: (quote, fact, (subject, relation, one)).
FOUND = (
    ("I live in Rome", "User lives in Rome.", HOME),
    ("I am allergic to peanuts", "User is allergic to peanuts.", ALLERGY),
    ("I live in Oslo", "User lives in Oslo.", HOME),
    ("we deploy the shop on Tuesdays", "The shop deploys on Tuesdays.", SHOP),
    (
        "I am allergic to walnuts, not to peanuts",
        "User is allergic to walnuts, not to peanuts.",
        ALLERGY,
    ),
    ("we deploy the shop on Thursdays", "The shop deploys on Thursdays.", SHOP),
    ("I moved to Bern", "User lives in Bern.", HOME),
    ("I like hiking", "User likes hiking.", ("user", "likes", False)),
)

# What it makes up every time, as models do: the agent's claims. No person's words prove them.
MADE_UP = (
    ("Ann lives in Paris", "User lives in Paris.", HOME),
    ("he hates hiking", "User hates hiking.", ("user", "hates", False)),
)


def script(prompt: Sequence[BaseMessage]) -> str:
    """Answer as a chat model would: facts for a transcript, verdicts for a new fact."""
    asked = str(prompt[1].content)
    if asked.startswith("New fact:"):
        older = re.findall(r"^\[(\d+)\]", asked, re.MULTILINE)
        verdicts = [{"number": int(number), "verdict": "contradicts"} for number in older]
        return json.dumps({"reasoning": "Only one can be true.", "verdicts": verdicts})
    found = [one for one in FOUND if one[0].lower() in asked.lower()]
    facts = [
        {
            "quote": quote,
            "about": "environment" if subject == "shop" else "person",
            "subject": subject,
            "relation": relation,
            "exclusive": exclusive,
            "text": text,
        }
        for quote, text, (subject, relation, exclusive) in (*found, *MADE_UP)
    ]
    return json.dumps({"reasoning": "The breakfast is a joke.", "facts": facts})


class SimulatedClock:
    """The time; it passes when it is told to."""

    def __init__(self) -> None:
        self.now = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        """Return the time now."""
        return self.now


def talk(engine: MemoryEngine, clock: SimulatedClock) -> None:
    """Let three weeks pass, and print what is said."""
    for week, (messages, note) in enumerate(zip(WEEKS, NOTES, strict=True), start=1):
        print(f"what was said in week {week}:")
        for message in messages:
            print(f"  {message.name or 'the agent'}: {message.text}")
        engine.learn(messages, thread_id=f"week {week}")
        engine.remember(note, scope="agent_notes", origin="tool", source=f"week {week}")
        engine.run_jobs()  # what a worker does in the background; at 03:00 it consolidates
        clock.now += timedelta(weeks=1)
    engine.run_jobs()


def tell_what_is_known(engine: MemoryEngine) -> None:
    """Print what holds of each person, and what was believed of one."""
    for actor in (ANN, BOB):
        print(f"what is known of {actor.user_id}, from their own words:")
        for record in engine.facts(actor=actor):
            print(f"  {record.text}")
    print("what is found for ann when she asks where she lives:")
    print(f"  {engine.search('Where does the user live?', 1, actor=ANN).hits[0].text}")
    print("what was believed of ann:")
    for version in engine.history_of("user", actor=ANN):
        until = f"until {version.until:%d %B}" if version.until else "still"
        evidence = version.fact.metadata["evidence"]
        print(f'  {version.fact.text} ({until}; "{evidence}")')


def tell_what_was_tidied_up(engine: MemoryEngine, root: Path) -> None:
    """Print the digest of the nights, and take back what it tells of."""
    print("what the nightly job merged into a later note that says the same, in its digest:")
    digest = (root / "DREAMS.md").read_text(encoding="utf-8")
    for revision, text in re.findall(r"^- merged .*undo (\S+)\): (.*)$", digest, re.MULTILINE):
        print(f"  {text}")
        engine.undo(revision)
    print("notes of tools, now that this is undone:")
    for note in engine.list_records(scope="agent_notes", origin="tool"):
        print(f"  {note.source}: {note.text}")


def forget_ann(engine: MemoryEngine) -> None:
    """Forget one of the two, and print whose records are left."""
    engine.forget(owner=ANN.user_id)
    print("records after ann was forgotten:")
    for count in engine.audit().records:
        whose = f"{count.owner}'s own" if count.owner else "for everyone"
        print(f"  {count.records} {whose} (origin: {count.origin})")


def tell_where_words_are_left(root: Path) -> None:
    """Print which files still hold what ann said: the database, the notes, the index."""
    files = [file for file in root.rglob("*") if file.is_file()]
    holding = [f for f in files if any(word in f.read_bytes() for word in WORDS_OF_ANN)]
    print(f"files that still hold what ann said, of {len(files)}:")
    for name in [file.name for file in holding] or ["none"]:
        print(f"  {name}")


def main() -> None:
    """Let three weeks pass, and tell what was learnt, merged and forgotten."""
    clock = SimulatedClock()
    with TemporaryDirectory() as folder:
        # An application opens its memory with MemoryEngine.open("memory", chat_model="openai:…").
        with MemoryEngine(
            Path(folder),
            MemEngineConfig(worker="off", timezone="Europe/Berlin"),
            embeddings="local",
            chat_model=RunnableLambda(script),
            clock=clock,
        ) as engine:
            talk(engine, clock)
            tell_what_is_known(engine)
            tell_what_was_tidied_up(engine, Path(folder))
            forget_ann(engine)
        tell_where_words_are_left(Path(folder))


if __name__ == "__main__":
    main()
