"""Open another Chroma than that which searches, and tell what its collections hold.

    python -m langchain_memengine.retrieval.chroma_probe < questions.json

Chroma may end the process that opens a damaged folder. This one may end: nobody else does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from langchain_memengine.errors import StorageError
from langchain_memengine.retrieval import chroma_client, chroma_folder
from langchain_memengine.retrieval.chroma_collections import Location
from langchain_memengine.retrieval.chroma_folder import ChromaFolder
from langchain_memengine.retrieval.chroma_server import ChromaServer
from langchain_memengine.retrieval.self_hits import NEAREST

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

TIME_LIMIT_SECONDS = 60.0


class Question(BaseModel):
    """What to ask one collection.

    Attributes:
        vectors: Vectors that it should know, by chunk number.
    """

    model_config = ConfigDict(frozen=True)

    vectors: dict[int, list[float]]


class Answer(BaseModel):
    """What one collection answered.

    Attributes:
        count: How many vectors it holds.
        metadata: What is noted about it.
        nearest: The chunks nearest to each vector asked for, by its chunk number.
    """

    model_config = ConfigDict(frozen=True)

    count: int
    metadata: dict[str, Any]
    nearest: dict[int, list[int]]


class _Task(BaseModel):
    home: Path
    database: str
    questions: dict[str, Question]


_ANSWERS = TypeAdapter(dict[str, Answer])


def probe(
    location: Location,
    questions: Mapping[str, Question],
    *,
    seconds: float = TIME_LIMIT_SECONDS,
) -> dict[str, Answer]:
    """Ask the collections of a Chroma that this process does not have open.

    An embedded one that is sound has a receipt of a clean stop again afterwards.

    Args:
        location: A folder whose index lock this process holds, or a server.
        questions: By name of the collection; those that are not there are left out.
        seconds: Time limit of a folder; a server has one for each answer.

    Raises:
        StorageError: It failed, or took too long; or the process that asked a folder was ended.
    """
    if isinstance(location, ChromaFolder):
        return _probe_folder(location, questions, seconds)
    try:
        return _ask(location, questions)
    except Exception as error:  # Chroma's client may raise anything
        raise StorageError(f"Chroma at {location} failed: {error}.") from error


def _probe_folder(
    folder: ChromaFolder, questions: Mapping[str, Question], seconds: float
) -> dict[str, Answer]:
    task = _Task(home=folder.home, database=folder.database, questions=dict(questions))
    package = str(Path(__file__).parents[2])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    where = f"Chroma at {folder.home}"
    try:
        done = subprocess.run(  # noqa: S603  # this interpreter and a module of this package
            [sys.executable, "-m", __name__],
            input=task.model_dump_json().encode(),
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            capture_output=True,
            timeout=seconds,
            check=True,
        )
        return _ANSWERS.validate_json(done.stdout)
    except subprocess.TimeoutExpired as error:
        raise StorageError(f"{where} did not answer in {seconds:.0f} seconds.") from error
    except subprocess.CalledProcessError as error:
        raise StorageError(f"{where} failed: {_last_words(error)}.") from error
    except (ValidationError, OSError) as error:
        raise StorageError(f"{where} could not be asked: {error}.") from error


def _last_words(error: subprocess.CalledProcessError) -> str:
    if error.returncode < 0:
        return f"its process was ended by signal {-error.returncode}"
    lines = error.stderr.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"its process ended with {error.returncode}"


def _answer(task: _Task) -> dict[str, Answer]:
    folder = ChromaFolder(task.home, task.database)
    changes = chroma_folder.newest_change(task.home, task.database)
    generation = folder.begin()
    answers = _ask(generation, task.questions)
    folder.finish(generation, changes)
    return answers


def _ask(location: Path | ChromaServer, questions: Mapping[str, Question]) -> dict[str, Answer]:
    client = chroma_client.connect(location)
    try:
        there = {one.name for one in client.list_collections()}
        return {
            name: _answer_of(chroma_client.collection(client, name), questions[name])
            for name in questions.keys() & there
        }
    finally:
        chroma_client.disconnect(client)


def _answer_of(collection: Collection, question: Question) -> Answer:
    return Answer(
        count=collection.count(),
        metadata=dict(collection.metadata or {}),
        nearest={num: _nearest(collection, vector) for num, vector in question.vectors.items()},
    )


def _nearest(collection: Collection, vector: Sequence[float]) -> list[int]:
    found = chroma_client.nearest(collection, np.asarray(vector, np.float32), NEAREST)
    return [int(num) for num in found]


def main() -> None:
    """Answer the questions on standard input on standard output."""
    # Where this is installed, what Chroma imports makes a parser of addresses of it, for a second.
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
    answers = _answer(_Task.model_validate_json(sys.stdin.buffer.read()))
    sys.stdout.write(json.dumps({name: a.model_dump() for name, a in answers.items()}))


if __name__ == "__main__":
    main()
