"""A progress bar for long work, in a terminal or a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from langchain_memengine.types import Progress


def shown_progress(
    progress: Progress | bool,  # noqa: FBT001  # public methods pass on what they were given
    title: str,
    *,
    unit: str,
) -> AbstractContextManager[Progress | None]:
    """Return a context with what is called as work goes on: the caller's own, a bar's, or none."""
    if callable(progress):
        return nullcontext(progress)
    return progress_bar(title, unit=unit) if progress else nullcontext()


@contextmanager
def progress_bar(title: str, *, unit: str) -> Iterator[Progress]:
    """Show a bar while the block runs; yields the callback that moves it.

    Nothing is shown before the first call, so short work stays silent.
    """
    from tqdm.auto import tqdm

    bars: list[Any] = []  # tqdm.auto has no type that covers terminal and notebook

    def advance(done: int, total: int) -> None:
        if not bars:
            bars.append(tqdm(desc=title, unit=unit, total=total, leave=False))
        bars[0].total = total
        bars[0].update(done - bars[0].n)

    try:
        yield advance
    finally:
        for bar in bars:
            bar.close()
