"""Values of a JSON file that say where they stand when they are not what was expected."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.text.sanitize import clean_text

_MAX_NUMBER = 2**53  # what a float holds exactly


@dataclass(frozen=True, slots=True)
class JsonValue:
    """A value of a JSON file. Every method raises ``ConfigurationError`` for another type.

    Attributes:
        value: What ``json`` made of it.
        place: Where it stands, like ``questions[0].relevant``; ``""`` for the whole file.
        path: The file.
        shape: How the file should look; shown in errors.
    """

    value: Any
    place: str
    path: Path
    shape: str

    def at(self, place: str) -> JsonValue:
        """Return the value as if it stood elsewhere, for a complaint about that place."""
        return replace(self, place=place)

    def fail(self, problem: str) -> NoReturn:
        """Complain about this value.

        Raises:
            ConfigurationError: Always.
        """
        raise ConfigurationError(
            f"{self.path}: {self.place or 'the file'} {problem}. The right shape: {self.shape}"
        )

    def key(self, name: str) -> JsonValue:
        """Return the value under a key."""
        if name not in self.mapping():
            self.fail(f"has no key {name!r}")
        place = f"{self.place}.{name}" if self.place else name
        return replace(self, value=self.value[name], place=place)

    def mapping(self) -> Mapping[str, Any]:
        """Return the mapping it is."""
        if not isinstance(self.value, dict):
            self.fail("is no mapping")
        return self.value

    def pairs(self) -> Iterator[tuple[str, JsonValue]]:
        """Yield keys and values."""
        for name in self.mapping():
            yield name, self.key(name)

    def elements(self) -> list[JsonValue]:
        """Return the elements of a list; an empty one fails."""
        if not isinstance(self.value, list):
            self.fail("is no list")
        if not self.value:
            self.fail("is empty")
        return [
            replace(self, value=one, place=f"{self.place}[{i}]") for i, one in enumerate(self.value)
        ]

    def text(self) -> str:
        """Return the text it is, storable."""
        if not isinstance(self.value, str):
            self.fail("is no text")
        return clean_text(self.value)

    def some_text(self) -> str:
        """Return the text it is; a blank one fails."""
        text = self.text()
        return text if text.strip() else self.fail("is blank")

    def text_or_empty(self, name: str) -> str:
        """Return the text under a key; ``""`` if there is no such key, or null under it."""
        return "" if self.mapping().get(name) is None else self.key(name).text()

    def number(self) -> int:
        """Return the whole number it is."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            self.fail("is no whole number")
        if abs(self.value) > _MAX_NUMBER:
            self.fail("is too large a number")
        return self.value

    def index(self, count: int) -> int:
        """Return the place in a list of ``count`` that it is, from 0."""
        number = self.number()
        if not 0 <= number < count:
            self.fail(f"is {number}, and there are {count} documents, counted from 0")
        return number


def read_json(path: Path, shape: str) -> JsonValue:
    """Read a file.

    Raises:
        ConfigurationError: It cannot be read, or is no JSON in UTF-8.
    """
    try:
        return JsonValue(json.loads(path.read_text(encoding="utf-8-sig")), "", path, shape)
    except OSError as error:
        raise ConfigurationError(
            f"The data set {path} cannot be read: {error.strerror or error}. Check the path."
        ) from error
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"{path} cannot be read as JSON: {error}. The right shape: {shape}"
        ) from error
