"""A worker in the background of an application."""

from __future__ import annotations

import logging
import threading

from langchain_memengine.jobs.worker import Worker

logger = logging.getLogger(__name__)


class WorkerThread:
    """Runs a worker in a thread of its own, which starts when there is something to do."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    @property
    def is_running(self) -> bool:
        """Whether the thread was started and has not ended."""
        return self._thread is not None and self._thread.is_alive()

    def wake(self) -> None:
        """Let the worker look for jobs now; start it if it is not running."""
        with self._lock:
            if self._stop.is_set():
                return
            if not self.is_running:
                self._thread = threading.Thread(
                    target=self._worker.run_forever,
                    args=(self._stop,),
                    name="memengine-worker",
                    daemon=True,  # a process that ends must not wait for a model
                )
                self._thread.start()
        self._worker.wake()

    def drain(self, timeout_seconds: float) -> bool:
        """Finish the job in hand and begin no other; return whether that was in time.

        A job that is not finished comes back when its lease has run out. The thread itself may ask,
        as when ``on_job_failed`` closes the engine; then there is nothing to wait for.
        """
        with self._lock:
            self._stop.set()
        self._worker.wake()
        if self._thread in {None, threading.current_thread()}:
            return True
        self._thread.join(timeout_seconds)
        if self.is_running:
            logger.warning("a job was still being done when the engine closed; it is done again")
        return not self.is_running
