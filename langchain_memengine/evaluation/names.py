"""A stand-in for a chat model that reads documents for the graph: it sees nothing but names.

It makes the graph measurable where nobody has extracted one: what it finds is poor, and the same
on every machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableLambda

from langchain_memengine.text.names import entity_key
from langchain_memengine.text.stopwords import STOP_WORDS

MENTIONS, APPEARS_WITH = "mentions", "appears with"

_SPEAKER = re.compile(r"\A([^\W\d_][^:\n]{0,39}):\s")
_SENTENCE_END = re.compile(r"[.!?:;\n\[\]()\"]+(?=\s|\Z)|[\n\[\]()\"]")
_WORD = re.compile(r"[^\W_](?:[\w'’-]*\w)?|,")
_FENCED = re.compile(r"\A<[^>]*>\n(.*)\n</[^>]*>\Z", re.DOTALL)


def name_reader() -> Runnable[list[BaseMessage], str]:
    """Return what answers the graph's question about a text with the names in it."""
    return RunnableLambda(_answer)


def names_in(text: str) -> tuple[str, list[str]]:
    """Return who speaks, ``""`` if a text begins with nobody's name, and the names in the rest.

    A name is a run of capitalised words. A single one at the start of a sentence is none, nor is a
    stop word: every sentence begins with a capital letter. Scripts without capitals have no names.

    >>> names_in("Ann: Hey, Bert! We met in New York. Lovely.")
    ('Ann', ['Bert', 'New York'])
    """
    speaker = _SPEAKER.match(text)
    rest = text[speaker.end() :] if speaker else text
    found: dict[str, str] = {}
    for sentence in _SENTENCE_END.split(rest):
        for name in _runs(sentence):
            found.setdefault(entity_key(name), name)
    return (speaker[1] if speaker else "", list(found.values()))


def triples_of(text: str) -> list[tuple[str, str, str]]:
    """Return that a speaker mentions each name, or that the first name appears with the others."""
    speaker, names = names_in(text)
    if speaker:
        return [(speaker, MENTIONS, one) for one in names if one != speaker]
    return [(names[0], APPEARS_WITH, one) for one in names[1:]]


def _runs(sentence: str) -> Iterator[str]:
    words = [(word, _is_capital(word)) for word in _WORD.findall(sentence)]
    place = 0
    for is_name, group in groupby(words, key=lambda pair: pair[1]):
        run = [word for word, _ in group]
        if is_name and place + len(run) > 1:
            yield " ".join(run)
        place += len(run)


def _is_capital(word: str) -> bool:
    stem = word.casefold().replace("’", "'").partition("'")[0]
    return word[0].isupper() and stem not in STOP_WORDS["english"]


def _answer(question: Sequence[BaseMessage]) -> str:
    asked = next(one for one in map(_fenced, question) if one is not None)
    speaker, names = names_in(asked)
    entities = [{"name": one} for one in ([speaker] if speaker else []) + names]
    return json.dumps({"entities": entities, "relations": triples_of(asked)})


def _fenced(message: BaseMessage) -> str | None:
    found = _FENCED.match(message.text)
    return found[1] if found else None
