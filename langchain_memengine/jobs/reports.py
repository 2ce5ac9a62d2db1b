"""How attempts end, and how many ended how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from langchain_memengine.shown import Shown

JobOutcome = Literal["done", "failed", "dead", "lost"]
"""How an attempt ended: ``failed`` is tried again, ``lost`` was no longer this worker's job."""


@dataclass(frozen=True, slots=True)
class JobsReport(Shown):
    """What a worker did.

    Attributes:
        done: Jobs done.
        failed: Attempts that failed and will be made again.
        dead: Jobs given up.
        left: Jobs that wait or are being done, of all kinds.
    """

    done: int = 0
    failed: int = 0
    dead: int = 0
    left: int = 0
