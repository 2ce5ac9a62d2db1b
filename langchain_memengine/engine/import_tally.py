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
    """

    imported: Counter[str] = field(default_factory=Counter)
    unchanged: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)

    def report(self) -> ImportReport:
        """Return the counts, without what did not occur."""
        counts = (self.imported, self.unchanged, self.skipped)
        return ImportReport(*({k: n for k, n in one.items() if n} for one in counts))
