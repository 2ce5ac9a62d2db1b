"""What an import counts on its way."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from langchain_memengine.reports import ImportReport


@dataclass(slots=True)
class ImportTally:
    """Counts of what an import met, by kind or reason.

    Attributes:
        imported: What is new here.
        unchanged: What was here.
        skipped: What was left out, by why.
        lines: Numbers of the lines that were left out, by why.
    """

    imported: Counter[str] = field(default_factory=Counter)
    unchanged: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    lines: dict[str, list[int]] = field(default_factory=dict)

    def leave_out(self, why: str, line: int) -> None:
        """Count a line that is left out."""
        self.skipped[why] += 1
        self.lines.setdefault(why, []).append(line)

    def report(self) -> ImportReport:
        """Return the counts, without what did not occur."""
        imported, unchanged, skipped = (
            {kind: number for kind, number in one.items() if number}
            for one in (self.imported, self.unchanged, self.skipped)
        )
        lines = {why: tuple(numbers) for why, numbers in self.lines.items()}
        return ImportReport(imported, unchanged, skipped, lines)
