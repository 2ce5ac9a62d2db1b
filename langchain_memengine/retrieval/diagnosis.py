"""What a doctor finds: checks with a status, what was found, and what repairing would do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from langchain_memengine.errors import MemEngineError
from langchain_memengine.shown import Shown

Status = Literal["ok", "warning", "failed"]
"""``warning``: works, but poorer than it could. ``failed``: something is damaged or missing."""


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check.

    Attributes:
        name: What was checked.
        status: How it stands now, after a repair too.
        found: What was found, in words.
        repair: What repairing would do, or who else can; ``""`` if there is nothing to do.
        repaired: Whether it was repaired; ``found`` is what was found afterwards.
    """

    name: str
    status: Status
    found: str
    repair: str = ""
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class DoctorReport(Shown):
    """The result of all checks, in the order they were made."""

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing failed; warnings may be left."""
        return all(check.status != "failed" for check in self.checks)

    def __getitem__(self, name: str) -> Check:
        """Return the check of this name.

        Raises:
            KeyError: There was none.
        """
        return {check.name: check for check in self.checks}[name]


@dataclass(frozen=True, slots=True)
class Finding:
    """What an examination found.

    Attributes:
        status: How it stands.
        found: What was found, in words.
        repair: What ``mend`` would do, or what a person can.
        mend: Repairs it; ``None`` if there is nothing to repair, or nothing that a program may.
    """

    status: Status
    found: str
    repair: str = ""
    mend: Callable[[], None] | None = None


Examination = Callable[[], Finding]


def examine(examinations: Mapping[str, Examination], *, repair: bool) -> DoctorReport:
    """Make all examinations, and repair what they find if asked to.

    What was repaired is examined again. An examination that fails is a failed check.
    """
    return DoctorReport(
        tuple(_check(name, one, repair=repair) for name, one in examinations.items())
    )


def _check(name: str, examination: Examination, *, repair: bool) -> Check:
    try:
        finding = examination()
        if not repair or finding.mend is None:
            return Check(name, finding.status, finding.found, finding.repair)
        finding.mend()
        again = examination()
    except (MemEngineError, OSError) as error:
        return Check(name, "failed", str(error))
    return Check(name, again.status, again.found, again.repair, repaired=True)
