"""Experiences as a JSON text, out and in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from pydantic import TypeAdapter, ValidationError

from langchain_memengine.answers import as_json
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.storage.experience_values import Experience
from langchain_memengine.text.sanitize import as_utc

FORMAT = "memengine-experiences"
VERSION = 1

_EXPERIENCES = TypeAdapter(list[Experience])


def to_json(learnt: Sequence[Experience]) -> str:
    """Return experiences as a JSON text."""
    told = {"format": FORMAT, "version": VERSION, "experiences": as_json(learnt)}
    return json.dumps(told, ensure_ascii=False, indent=2)


def from_json(text: str) -> list[Experience]:
    """Return the experiences of a text that :func:`to_json` made.

    Raises:
        ConfigurationError: It is no such text.
    """
    try:
        told = json.loads(text)
        if not isinstance(told, dict) or told.get("format") != FORMAT:
            raise ConfigurationError("The text holds no experiences: export_json() writes such.")
        if told.get("version") != VERSION:
            raise ConfigurationError(
                f"The experiences are of version {told.get('version')!r}; this release reads "
                f"{VERSION}. Upgrade langchain-memengine."
            )
        learnt = _EXPERIENCES.validate_python(told.get("experiences"))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ConfigurationError(f"Experience {place} cannot be: {first['msg']}.") from error
    except (ValueError, RecursionError) as error:  # what json.loads raises
        raise ConfigurationError(f"The text is no JSON: {error}") from error
    return [_in_utc(one) for one in learnt]


def _in_utc(one: Experience) -> Experience:
    """Return an experience whose times compare with others: a naive one is read as UTC."""
    return replace(
        one,
        created_at=as_utc(one.created_at),
        last_used_at=None if one.last_used_at is None else as_utc(one.last_used_at),
        decayed_at=None if one.decayed_at is None else as_utc(one.decayed_at),
    )
