"""What operations on everything somebody has report: forgotten, exported, imported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from langchain_memengine.shown import Shown


@dataclass(frozen=True, slots=True)
class ForgetReport(Shown):
    """What was forgotten.

    Attributes:
        removed: How many there were of each kind: ``records``, ``revisions``, ``chunks``,
            ``embeddings``, ``access counts``, ``messages``, ``notes``, ``sessions``,
            ``recorded queries``, ``jobs``, ``experiences``; kinds without any are left out.
        out_of_reach: Where the words may still be, in sentences; what the engine knows of them
            comes first, what it cannot know after.
    """

    removed: Mapping[str, int] = field(default_factory=dict)
    out_of_reach: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """How many there were of all kinds together."""
        return sum(self.removed.values())


@dataclass(frozen=True, slots=True)
class ExportReport(Shown):
    """What an export holds, and what it does not.

    Attributes:
        exported: How much of each kind: ``records``, ``texts``, ``messages``, ``notes``.
        left_out: How much was left out, by what it is; kinds without any are not named.
    """

    exported: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImportReport(Shown):
    """What an import did, each by kind: ``records``, ``texts``, ``messages``, ``notes``.

    Attributes:
        imported: What is new.
        unchanged: What was there already, just the same.
        skipped: What was left out, by reason.
        lines: Numbers of the lines that were left out, from 1 on, by the same reasons; of exports
            that have no lines, none.
    """

    imported: Mapping[str, int] = field(default_factory=dict)
    unchanged: Mapping[str, int] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)
    lines: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
