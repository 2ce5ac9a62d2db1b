"""When to make a failed call again: one rule for every provider, whose clients all have others."""

from __future__ import annotations

from dataclasses import dataclass

from langchain_memengine.models.failures import is_transient, retry_after_seconds

FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a call is made again, and how long that may take.

    Attributes:
        attempts: Tries, the first one included.
        deadline_seconds: No try starts later than this after the first.
    """

    attempts: int = 4
    deadline_seconds: float = 120

    def wait_seconds(self, error: Exception, attempt: int, elapsed_seconds: float) -> float | None:
        """Return the wait before the next try, or ``None`` for no next try.

        What the provider asks for in ``Retry-After`` counts, else waits double from 0.5 to 8 s.

        Args:
            error: How the last try failed.
            attempt: Its number, from 1.
            elapsed_seconds: Time since the first try began.
        """
        if attempt >= self.attempts or not is_transient(error):
            return None
        wait = retry_after_seconds(error)
        if wait is None:
            wait = min(FIRST_WAIT_SECONDS * 2 ** (attempt - 1), LONGEST_WAIT_SECONDS)
        return None if elapsed_seconds + wait > self.deadline_seconds else wait
