"""Make experiences that can be stored: checked, cleaned, and known by their content."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.retrieval.documents import require_list
from langchain_memengine.storage.experience_values import (
    EXPERIENCE_KINDS,
    Experience,
    ExperienceKind,
)
from langchain_memengine.text.digests import digest
from langchain_memengine.text.sanitize import clean_metadata, clean_text

MAX_NAME_CHARS = 255
MAX_USES = 2**31 - 1


def checked(one: Experience) -> Experience:
    """Return an experience as it can be stored, under the id of its content.

    Raises:
        ConfigurationError: A value is none that it can have.
    """
    require_kind(one.kind)
    intent = clean_text(one.intent).strip()
    if not intent:
        raise ConfigurationError("An experience needs an intent: what was wanted, in words.")
    for name, number in (("success_score", one.success_score), ("weight", one.weight)):
        if not 0 <= number <= 1:
            raise ConfigurationError(f"{name}={number} must be from 0 to 1.")
    if not 0 <= one.use_count <= MAX_USES:
        raise ConfigurationError(f"use_count={one.use_count} must be from 0 to {MAX_USES}.")
    require_name("user", one.user)
    require_name("session", one.session)
    cleaned = replace(
        one,
        intent=intent,
        solution=clean_metadata({"solution": one.solution})["solution"],
        tags=cleaned_tags(one.tags),
    )
    return replace(cleaned, id=_identity(cleaned))


def preference(user: str, key: str, value: Any, *, now: datetime) -> Experience:
    """Return the first sign of a preference.

    Raises:
        ConfigurationError: The key is blank, or the value is no JSON value.
    """
    key = clean_text(key).strip()
    if not key:
        raise ConfigurationError("A preference needs a key: what it is about, in words.")
    value = clean_metadata({"value": value})["value"]
    told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return checked(
        Experience(
            id="",
            kind="user_preference",
            intent=f"{key}: {told}",
            solution={"key": key, "value": value, "signs": 1},
            success_score=0.5,
            tags=(),
            user=user,
            session="",
            created_at=now,
        )
    )


def with_sign(known: Experience | None, sign: Experience) -> Experience:
    """Return the preference after one more sign: surer if it tells the same, else begun anew."""
    if known is None or known.solution["value"] != sign.solution["value"]:
        return sign
    signs = known.solution["signs"] + 1
    solution = {**sign.solution, "signs": signs}
    return replace(sign, solution=solution, success_score=1 - 0.5**signs)


def renewed(new: Experience, known: Experience | None) -> Experience:
    """Return what is learnt again: as good as new, with the uses of before."""
    if known is None:
        return new
    return replace(
        new,
        created_at=known.created_at,
        use_count=known.use_count,
        last_used_at=known.last_used_at,
        decayed_at=new.created_at,
    )


def cleaned_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Return tags as they are compared: casefolded, stripped, each once, in order.

    Raises:
        ConfigurationError: They are a single text.
    """
    require_list("tags", tags)
    names = (clean_text(tag).strip().casefold() for tag in tags)
    return tuple(dict.fromkeys(name for name in names if name))


def require_kind(kind: ExperienceKind) -> None:
    """Make sure that there is such a kind.

    Raises:
        ConfigurationError: There is none.
    """
    if kind not in EXPERIENCE_KINDS:
        raise ConfigurationError(
            f"There are no experiences of kind {kind!r}. Use one of: {', '.join(EXPERIENCE_KINDS)}."
        )


def require_name(what: str, name: str) -> None:
    """Make sure that every database can hold a name as it is: another spelling is another's.

    Raises:
        ConfigurationError: It is longer than 255 characters or holds NUL or lone surrogates.
    """
    if len(name) > MAX_NAME_CHARS or name != clean_text(name):
        raise ConfigurationError(
            f"A {what} is a text of up to {MAX_NAME_CHARS} characters without NUL and lone "
            f"surrogates. This one has {len(name)} characters: {name[:40]!r}."
        )


def _identity(one: Experience) -> str:
    """Return the id: of a preference by what it is about, of anything else by all it tells."""
    match one.solution:
        case {"key": str() as key, "value": _, "signs": int() as signs} if (
            one.kind == "user_preference" and signs > 0
        ):
            content: list[Any] = [key]
        case _:
            content = [one.intent, one.solution]
    told = json.dumps([one.user, one.kind, *content], ensure_ascii=False, sort_keys=True)
    return digest(told)[:32]
