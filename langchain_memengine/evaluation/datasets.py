"""Questions with known answers: the user's own, and published collections read from a path."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.evaluation.json_values import JsonValue, read_json
from langchain_memengine.retrieval.documents import NewDocument
from langchain_memengine.text.sanitize import clean_text


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A question and the documents that answer it.

    Attributes:
        text: What is asked.
        grades: How relevant each relevant document is, by id; above 0, at least one.
        category: Kind of question; ``""`` for none.
    """

    text: str
    grades: Mapping[str, float]
    category: str = ""


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents that are searched together, and the questions asked of them.

    Attributes:
        name: Where it stands in its file, for messages; ``""`` for the whole file.
        documents: What is searched, each id once; empty when the questions are about a memory
            that is there already, where an id is a workspace path or the id of an added text.
        questions: At least one.
        graph: What the documents tell, if somebody has extracted it: a model's reply as
            ``triples.salvage`` reads it, by document id.
    """

    name: str
    documents: tuple[NewDocument, ...]
    questions: tuple[JudgedQuestion, ...]
    graph: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Dataset:
    """One collection or more, evaluated together, each in a store of its own."""

    name: str
    collections: tuple[Collection, ...]


def load_dataset(path: str | Path, kind: str = "file", *, limit: int | None = None) -> Dataset:
    """Read a data set from a JSON file.

    Args:
        path: The file. ``musique`` also reads ``NAME_corpus.json`` beside ``NAME.json``, and the
            triples in ``openie_NAME.json`` if it is there.
        kind: One of ``file``, ``locomo``, ``cranfield``, ``xquad``, ``musique``.
        limit: Only the first questions of each collection, this many; all documents stay.

    Raises:
        ConfigurationError: The kind is unknown, or the file is missing or has another shape; the
            message names the key and the right shape.
    """
    if kind not in _FORMATS:
        raise ConfigurationError(
            f"Unknown data set {kind!r}. Choose one of: {', '.join(DATASETS)}."
        )
    if limit is not None and limit < 1:
        raise ConfigurationError(f"limit={limit} leaves no question. Use 1 or more.")
    path = Path(path).expanduser()
    shape, read = _FORMATS[kind]
    root = read_json(path, shape)
    collections = [_checked(one, root.at(one.name)) for one in read(root)]
    return Dataset(
        path.stem, tuple(replace(one, questions=one.questions[:limit]) for one in collections)
    )


def _checked(collection: Collection, node: JsonValue) -> Collection:
    """Return a collection whose ids are unique, with something to find and something to ask."""
    if not collection.questions:
        node.fail("has no question with a relevant document")
    if not collection.documents:
        return collection
    ids = Counter(document.id for document in collection.documents)
    if twice := [one for one, count in ids.items() if count > 1]:
        node.fail(f"has two documents with the id {twice[0]!r}")
    if not any(re.search(r"\w", document.text) for document in collection.documents):
        node.fail("has no document with a word in it")
    for question in collection.questions:
        if unknown := [one for one in question.grades if one not in ids]:
            node.fail(f"has no document {unknown[0]!r}, which is relevant to {question.text!r}")
    return collection


def _read_file(root: JsonValue) -> Iterator[Collection]:
    questions = tuple(_question(one) for one in root.key("questions").elements())
    listed = root.key("documents").elements() if "documents" in root.mapping() else ()
    yield Collection("", tuple(_document(one) for one in listed), questions)


def _question(node: JsonValue) -> JudgedQuestion:
    grades = {one.some_text(): 1.0 for one in node.key("relevant").elements()}
    return JudgedQuestion(node.key("query").some_text(), grades, node.text_or_empty("category"))


def _document(node: JsonValue) -> NewDocument:
    metadata = node.key("metadata").mapping() if "metadata" in node.mapping() else {}
    return NewDocument(node.key("text").text(), metadata, node.key("id").some_text())


_LOCOMO_CATEGORIES = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}


def _read_locomo(root: JsonValue) -> Iterator[Collection]:
    for conversation in root.elements():
        turns = conversation.key("docs").elements()
        documents = tuple(_turn(turn, str(i)) for i, turn in enumerate(turns))
        questions = []
        for one in conversation.key("queries").elements():
            category = one.key("cat").number()
            name = _LOCOMO_CATEGORIES.get(category, str(category))
            grades = _grades(one.key("rel"), len(documents))
            questions.append(JudgedQuestion(one.key("q").some_text(), grades, name))
        yield Collection(conversation.place, documents, tuple(questions))


def _turn(node: JsonValue, turn_id: str) -> NewDocument:
    speaker = node.key("speaker").text()
    caption = node.text_or_empty("caption")
    seen = f" [image: {caption}]" if caption else ""
    metadata = {
        "speaker": speaker,
        "session": node.key("session").number(),
        "event_at": node.key("time").text(),
    }
    return NewDocument(f"{speaker}: {node.key('text').text()}{seen}", metadata, turn_id)


def _grades(relevant: JsonValue, count: int) -> dict[str, float]:
    return {str(one.index(count)): 1.0 for one in relevant.elements()}


def _read_cranfield(root: JsonValue) -> Iterator[Collection]:
    documents = [
        NewDocument(text.text(), {}, clean_text(one)) for one, text in root.key("docs").pairs()
    ]
    texts, questions = root.key("queries"), []
    for number, judged in root.key("qrels").pairs():
        found = {clean_text(one): float(grade.number()) for one, grade in judged.pairs()}
        grades = {one: grade for one, grade in found.items() if grade > 0}
        if grades:
            questions.append(JudgedQuestion(texts.key(number).some_text(), grades))
    yield Collection("", tuple(documents), tuple(questions))


def _read_xquad(root: JsonValue) -> Iterator[Collection]:
    paragraphs = root.key("paragraphs").elements()
    documents = [NewDocument(one.text(), {}, str(i)) for i, one in enumerate(paragraphs)]
    questions = [
        JudgedQuestion(one.key("q").some_text(), _grades(one.key("rel"), len(documents)))
        for one in root.key("questions").elements()
    ]
    yield Collection("", tuple(documents), tuple(questions))


def _read_musique(root: JsonValue) -> Iterator[Collection]:
    beside = root.path.with_name(f"{root.path.stem}_corpus.json")
    corpus = read_json(beside, _MUSIQUE_CORPUS).elements()
    passages = [f"{one.key('title').text()}\n{one.key('text').text()}" for one in corpus]
    ids = {passage: str(i) for i, passage in enumerate(passages)}
    documents = tuple(NewDocument(passage, {}, one) for passage, one in ids.items())
    questions = tuple(_musique_question(one, ids) for one in root.elements())
    yield Collection("", documents, questions, _musique_graph(root.path, ids))


def _musique_graph(path: Path, ids: Mapping[str, str]) -> dict[str, Any]:
    """Return what was extracted from the passages, if that is beside the questions."""
    beside = path.with_name(f"openie_{path.name}")
    if not beside.is_file():
        return {}
    told = {}
    for one in read_json(beside, _MUSIQUE_OPENIE).key("docs").elements():
        passage = one.key("passage").text()
        if passage in ids:
            told[ids[passage]] = {
                "entities": one.key("extracted_entities").value,
                "relations": one.key("extracted_triples").value,
            }
    return told


def _musique_question(node: JsonValue, ids: Mapping[str, str]) -> JudgedQuestion:
    grades = {}
    for paragraph in node.key("paragraphs").elements():
        title, text = paragraph.key("title").text(), paragraph.key("paragraph_text").text()
        if paragraph.key("is_supporting").value is not True:
            continue
        if f"{title}\n{text}" not in ids:
            paragraph.fail(f"supports the answer, and the corpus lacks it: {title!r}")
        grades[ids[f"{title}\n{text}"]] = 1.0
    if not grades:
        node.fail("has no paragraph that is_supporting")
    return JudgedQuestion(node.key("question").some_text(), grades)


_MUSIQUE_OPENIE = (
    '{"docs": [{"passage": "title\\ntext", "extracted_entities": ["…"], '
    '"extracted_triples": [["…", "…", "…"]]}]}'
)
_MUSIQUE_CORPUS = '[{"title": "…", "text": "…"}]'

_FORMATS: Mapping[str, tuple[str, Callable[[JsonValue], Iterator[Collection]]]] = {
    "file": (
        (
            '{"questions": [{"query": "…", "relevant": ["id or path"], "category": "optional"}], '
            '"documents": [{"id": "…", "text": "…", "metadata": {}}]}; without documents the '
            "questions are asked of a memory"
        ),
        _read_file,
    ),
    "locomo": (
        (
            '[{"docs": [{"speaker": "…", "text": "…", "caption": "", "session": 1, '
            '"time": "2023-05-08T13:56:00"}], "queries": [{"q": "…", "rel": [0], "cat": 1}]}]'
        ),
        _read_locomo,
    ),
    "cranfield": (
        '{"docs": {"id": "text"}, "queries": {"id": "text"}, "qrels": {"query": {"doc": 1}}}',
        _read_cranfield,
    ),
    "xquad": (
        '{"paragraphs": ["…"], "questions": [{"q": "…", "rel": [0]}]}',
        _read_xquad,
    ),
    "musique": (
        (
            '[{"question": "…", "paragraphs": [{"title": "…", "paragraph_text": "…", '
            '"is_supporting": true}]}]'
        ),
        _read_musique,
    ),
}

DATASETS = tuple(_FORMATS)
"""Kinds of data set that can be read."""
