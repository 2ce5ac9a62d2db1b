"""Products of arrays on one thread."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache

from threadpoolctl import LibController, ThreadpoolController


class OneBlasThread:
    """Keeps products on one thread: a second one spins longer than it helps, at any size here.

    The limit is the process's. Of several threads inside at once, the first to enter sets it and
    the last to leave puts back what was there.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._before: list[int] = []

    def __enter__(self) -> None:
        """Set the limit, unless another thread has."""
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._before = [library.num_threads for library in _blas_libraries()]
                for library in _blas_libraries():
                    _limit(library, 1)

    def __exit__(self, *_: object) -> None:
        """Lift the limit, unless another thread is still inside."""
        with self._lock:
            self._inside -= 1
            if not self._inside:
                for library, threads in zip(_blas_libraries(), self._before, strict=True):
                    _limit(library, threads)


ONE_BLAS_THREAD = OneBlasThread()


@cache
def _blas_libraries() -> Sequence[LibController]:
    """Return the handles themselves: the limit of threadpoolctl costs ten times as much."""
    libraries: list[LibController] = ThreadpoolController().select(user_api="blas").lib_controllers
    return libraries


def _limit(library: LibController, threads: int) -> None:
    """Set a limit from any thread.

    Since 3.8, threadpoolctl obeys one thread for OpenBLAS and ignores all others without a word:
    the first that ever set a limit, until it is told to forget it.
    """
    forget = getattr(library, "clear_controlling_thread", None)
    if forget:
        forget(force=True)
    library.set_num_threads(threads)
    if forget:
        forget(force=True)
