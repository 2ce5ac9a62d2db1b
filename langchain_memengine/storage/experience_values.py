"""The values around the table of experiences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

from langchain_memengine.shown import Shown

ExperienceKind = Literal["tool_chain", "user_preference", "task_solution", "error_recovery"]
"""What was learnt: the tools that did it, a taste, an approach, or how an error was overcome."""

EXPERIENCE_KINDS: tuple[ExperienceKind, ...] = get_args(ExperienceKind)


@dataclass(frozen=True, slots=True)
class Experience(Shown):
    """Something that worked, or did not, and may help the next time.

    Attributes:
        id: Derived from user, kind and content: learning the same again makes no second one.
        kind: What was learnt.
        intent: What somebody wanted, in words; it is found by them.
        solution: What was done, any JSON value.
        success_score: How well it went, 0 to 1; for a preference, how sure it is.
        tags: What else it is about, casefolded.
        user: Id of the user whose it is; ``""`` for everyone's.
        session: Conversation it was learnt in; ``""`` when there was none.
        weight: 1 when it is new; less with each decay.
        use_count: How often it was used.
        created_at: When it was first learnt (aware UTC).
        last_used_at: When it was last used; ``None`` if never.
        decayed_at: Up to when the age is in the weight; ``None`` before the first decay.
    """

    id: str
    kind: ExperienceKind
    intent: str
    solution: Any
    success_score: float
    tags: tuple[str, ...]
    user: str
    session: str
    created_at: datetime
    weight: float = 1.0
    use_count: int = 0
    last_used_at: datetime | None = None
    decayed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ExperienceImport(Shown):
    """What an import of experiences did, each counted once.

    Attributes:
        added: New here.
        updated: Known here, and now with what the import knew of later, or more of.
        kept: Known here, where nothing in the import was later or more; they stay as they are.
    """

    added: int = 0
    updated: int = 0
    kept: int = 0


@dataclass(frozen=True, slots=True)
class IntentRow:
    """What a search over intents must know of one experience."""

    id: str
    user: str
    kind: str
    intent: str
    tags: tuple[str, ...]
    created_ms: int
    quality: float
    """``weight`` times ``success_score``."""


@dataclass(frozen=True, slots=True)
class ExperienceStats(Shown):
    """How much was learnt, over all users.

    Attributes:
        total: Experiences.
        by_kind: Experiences of each kind that occurs.
        uses: How often experiences were used, those together that still are there.
        average_weight: ``None`` without experiences.
        average_success: ``None`` without experiences.
    """

    total: int = 0
    by_kind: Mapping[str, int] = field(default_factory=dict)
    uses: int = 0
    average_weight: float | None = None
    average_success: float | None = None
