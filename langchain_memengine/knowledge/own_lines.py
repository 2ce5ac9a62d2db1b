"""A person's own lines, as a job carries them: nothing of others, and no secrets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_memengine.errors import JobError
from langchain_memengine.knowledge.secrets import without_secrets
from langchain_memengine.text.digests import digest
from langchain_memengine.text.quoting import own_words
from langchain_memengine.text.sanitize import clean_text

MAX_CHARS = 12_000
"""Characters of one job's lines, at most: some 3,000 tokens, which every model reads."""


@dataclass(frozen=True, slots=True)
class OwnLine:
    """What a person said in one message.

    Attributes:
        message_id: Which message.
        text: Their own words, without secrets.
    """

    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class OwnLines:
    """What one person said, in its order.

    Attributes:
        person: Their user id.
        lines: What they said; never blank.
        part: Place among the parts of what they said at a time, from 0.
    """

    person: str
    lines: tuple[OwnLine, ...]
    part: int = 0

    @property
    def key(self) -> str:
        """A hash of who said what: the same lines again have it too."""
        parts = [self.person, *(part for one in self.lines for part in (one.message_id, one.text))]
        return digest(*parts)

    def to_payload(self) -> dict[str, Any]:
        """Return the values that a job carries."""
        lines = [{"id": line.message_id, "text": line.text} for line in self.lines]
        return {"person": self.person, "messages": lines, "part": self.part}

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> OwnLines:
        """Return the lines that :meth:`to_payload` wrote.

        Raises:
            JobError: These are no lines.
        """
        try:
            lines = tuple(OwnLine(str(one["id"]), str(one["text"])) for one in payload["messages"])
            return cls(str(payload["person"]), lines, int(payload.get("part", 0)))
        except (KeyError, TypeError, ValueError) as error:
            raise JobError("The payload names no person or no messages.") from error


def own_lines(person: str, said: Iterable[tuple[str, str]]) -> list[OwnLines]:
    """Return a person's own lines in parts of at most 12,000 characters.

    Args:
        person: Their user id.
        said: Id and text of their messages, in order.
    """
    lines = [
        OwnLine(clean_text(message_id), piece)
        for message_id, text in said
        for piece in _pieces(without_secrets(own_words(clean_text(text))))
    ]
    return [
        OwnLines(clean_text(person), tuple(part), number)
        for number, part in enumerate(_parts(lines))
    ]


def _pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces that fit, cut at the end of a line or a word where there is one."""
    while len(text) > MAX_CHARS:
        cut = max(text.rfind(end, MAX_CHARS // 2, MAX_CHARS) for end in ("\n", " ")) + 1
        cut = cut or MAX_CHARS
        yield text[:cut]
        text = text[cut:]
    if text.strip():
        yield text


def _parts(lines: Sequence[OwnLine]) -> Iterator[list[OwnLine]]:
    part: list[OwnLine] = []
    size = 0
    for line in lines:
        if part and size + len(line.text) > MAX_CHARS:
            yield part
            part, size = [], 0
        part.append(line)
        size += len(line.text)
    if part:
        yield part
