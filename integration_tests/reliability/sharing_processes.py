"""Processes that share one store, for tests that talk to them."""

import json
from pathlib import Path

from integration_tests.reliability.children import Line
from integration_tests.reliability.chroma_processes import open_store
from tests.fakes.engines import texts


def serve(line: Line, root: Path, *, read_only: bool) -> None:
    """Do what the test tells; say what was found, or that it is done."""
    engine = open_store(root, read_only=read_only)
    line.say("open", engine._maintains)
    for told in line.heard():
        command, *words = told.split()
        if command == "add":
            engine.add_texts([" ".join(words[1:])], ids=[words[0]])
            line.say("done")
        elif command == "delete":
            line.say(engine.delete(words))
        elif command == "keeps":
            line.say(engine._maintains)
        elif command == "search":
            engine.search(" ".join(words), 20)
            engine.wait_for_chroma()
            result = engine.search(" ".join(words), 20)
            line.say(json.dumps([sorted(texts(result)), list(result.degraded)]))


def write(line: Line, root: Path, name: str) -> None:
    """Add texts as fast as possible, search between, and delete some of one's own."""
    with open_store(root) as engine:
        for number in range(40):
            engine.add_texts([f"tea {number} of {name}"], ids=[f"{name}-{number}"])
            if number % 8 == 0:
                assert any(name in text for text in texts(engine.search(f"tea {number} {name}")))
            if number >= 30:
                assert engine.delete([f"{name}-{number - 30}"]) == 1
    line.say("done")


def back_up(line: Line, root: Path, folder: Path) -> None:
    with open_store(root) as engine:
        for number in range(6):
            engine.backup(folder / f"{number}.sqlite")
            line.say(number)
