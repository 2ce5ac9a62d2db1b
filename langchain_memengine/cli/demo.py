"""The command that shows in a minute what a memory can do: on its own story, or on any folder."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from langchain_memengine.answers import IndexReport
from langchain_memengine.cli import options
from langchain_memengine.cli.demo_memory import Question, demo_questions, write_demo_files
from langchain_memengine.cli.demo_report import (
    Answer,
    answers_as_json,
    falls_short,
    show_answers,
    show_next,
    show_step,
)
from langchain_memengine.cli.failing import exit_if, usage_error
from langchain_memengine.cli.opening import warn
from langchain_memengine.cli.terminal import bar, output, print_json
from langchain_memengine.text.counting import counted
from langchain_memengine.text.printable import clean_line

if TYPE_CHECKING:
    from langchain_memengine.engine.memory_engine import MemoryEngine

_HITS = 2
_SAMPLES = 3
_MIN_WORDS, _MAX_WORDS = 2, 9


def demo(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="DIR", help="A folder of notes of your own; it is only read."),
    ] = None,
    *,
    ask: Annotated[
        list[str] | None,
        typer.Option("--ask", metavar="QUESTION", help="Ask this instead; repeat it."),
    ] = None,
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="DIR", help="Keep the demo memory in DIR.")
    ] = None,
    embeddings: options.Embeddings = None,
    as_json: options.Json = False,
) -> None:
    """Show what a memory can do: on an invented team's, or on a folder of notes."""
    questions = [Question(options.require_query(text), "your question") for text in ask or ()]
    if folder is not None and keep is not None:
        usage_error("--keep keeps the invented memory; a folder of yours stays where it is.")
    from langchain_memengine.engine.parts import utc_now

    console = Console(quiet=True) if as_json else output()
    now = utc_now()
    if folder is not None:
        partial = _on_folder(console, folder, questions, embeddings, as_json=as_json)
    else:
        with _place(keep) as root:
            partial = show_story(
                console, root, questions, embeddings, now, kept=keep is not None, as_json=as_json
            )
    exit_if(partial)


def show_story(
    console: Console,
    root: Path,
    questions: Sequence[Question],
    embeddings: str | None,
    now: datetime,
    *,
    kept: bool = False,
    as_json: bool = False,
) -> bool:
    """Write, index and question the demo memory; return whether something fell short.

    Args:
        console: Where the steps are shown.
        root: An empty folder.
        questions: What to ask; the story's own questions when empty.
        embeddings: An embedder by name; ``None`` for the one the settings name.
        now: The story ends the day before.
        kept: Whether the folder stays, so that it can be recommended.
        as_json: Print the results as JSON on standard output.
    """
    from langchain_memengine.engine.memory_engine import MemoryEngine

    files = write_demo_files(root, now.date())
    place = shlex.quote(str(root)) if kept else "a temporary folder"
    show_step(console, 1, f"Wrote {len(files)} Markdown files of an invented team to {place}.")
    config = _config(embeddings)
    with MemoryEngine(root, config, embeddings=config.embeddings, clock=lambda: now) as engine:
        report = _indexed(console, engine)
        answers = _answers(engine, questions or demo_questions(now.date()))
        fragment = engine.recall(answers[-1].question.text, _HITS).prompt_fragment()
        show_answers(console, answers, fragment, engine.config.language)
        if as_json:
            print_json(answers_as_json(answers, fragment, report))
    at = shlex.quote(str(root)) if kept else "memory"
    first = (
        [f'memengine search "storm" --root {at}', f'memengine recall "refunds" --root {at}']
        if kept
        else ["memengine demo DIR            the same on a folder of your notes, only read"]
    )
    show_next(console, [*first, "memengine init DIR            a memory of your own"])
    return falls_short(answers, report)


def _on_folder(
    console: Console,
    folder: Path,
    questions: Sequence[Question],
    embeddings: str | None,
    *,
    as_json: bool,
) -> bool:
    from langchain_memengine.engine.memory_engine import MemoryEngine

    name = shlex.quote(str(folder))
    if not folder.expanduser().is_dir():
        usage_error(f"There is no folder {name}. Name a folder of notes.")
    source = folder.expanduser()
    show_step(console, 1, f"Reading {name}; nothing is written there.")
    config = _config(embeddings, sources={"demo": source})
    with MemoryEngine.open(None, config=config) as engine:
        report = _indexed(console, engine)
        answers = _answers(engine, questions or sample_questions(engine, source))
        if not answers:
            usage_error(f"{name} has no Markdown or text to ask about. Name a folder of notes.")
        fragment = engine.recall(answers[-1].question.text, _HITS).prompt_fragment()
        show_answers(console, answers, fragment, engine.config.language)
        if as_json:
            print_json(answers_as_json(answers, fragment, report))
    show_next(
        console,
        [
            f'memengine demo {name} --ask "…"',
            f"memengine init {name}    adds .memengine, daily, tasks and MEMORY.md there",
        ],
    )
    return falls_short(answers, report)


def sample_questions(engine: MemoryEngine, folder: Path) -> list[Question]:
    """Return questions that headings of the folder's files answer, spread over its files."""
    from langchain_memengine.text.markdown import headings
    from langchain_memengine.workspace.files import read_text

    titles: dict[str, None] = {}
    paths = engine.indexed_files()
    step = max(1, len(paths) // 100)  # a hundred files are enough to choose from
    for path in paths[::step]:
        text = read_text(folder, path, engine.config.max_file_bytes).text
        found = [clean_line(heading.title) for heading in headings(text)]
        words = (title for title in found if _MIN_WORDS <= len(title.split()) <= _MAX_WORDS)
        title = next(words, next(iter(found), "") or Path(path).stem)
        titles.setdefault(title)
    chosen = list(titles)
    spread = sorted({len(chosen) * part // _SAMPLES for part in range(_SAMPLES)}) if chosen else []
    return [Question(chosen[at], "a heading of yours") for at in spread]


@contextmanager
def _place(keep: Path | None) -> Iterator[Path]:
    if keep is None:
        with TemporaryDirectory(prefix="memengine-demo-") as folder:
            yield Path(folder)
        return
    keep = keep.expanduser()
    if keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
        usage_error(f"{shlex.quote(str(keep))} is not an empty folder. Name a new one with --keep.")
    yield keep


def _config(embeddings: str | None, **settings: Any) -> Any:
    """Return the settings of a demo: never those of a store that is in use."""
    from langchain_memengine.config import load_config

    chosen = {} if embeddings is None else {"embeddings": embeddings}
    return load_config(
        **{"sources": {}, **settings, **chosen},
        database_url=None,
        jobs_url=None,
        graph_url=None,
        chroma_url=None,
        chat_model=None,  # nobody who looks at a demo means to pay for it
        vector_search="exact",
        sync_on_open=False,
        sync_on_search=False,
    )


def _indexed(console: Console, engine: MemoryEngine) -> IndexReport:
    with bar("Indexing") as progress:
        report = engine.sync(progress=progress or False)
    skipped = len(report.skipped) + len(report.failed)
    left_out = f"; {counted(skipped, 'file')} left out" if skipped else ""
    model = engine.embedding_name or "keywords only"
    size = f"{counted(report.indexed, 'file')} as {counted(report.chunks, 'chunk')}"
    made = f"Indexed {size} ({model}{left_out})."
    show_step(console, 2, made)
    warn((*report.degraded, *(f"{p.path}: {p.reason}" for p in report.failed)))
    return report


def _answers(engine: MemoryEngine, questions: Sequence[Question]) -> list[Answer]:
    answers = []
    for question in questions:
        result = engine.search(question.text, _HITS)
        top = result.hits[0].path if result.hits else None
        beyond = question.needs_embedder and engine.embedding_name is None
        checked = question.expected is not None and not beyond
        passed = top == question.expected if checked else None
        answers.append(Answer(question, result.hits, passed, result.degraded))
    return answers
