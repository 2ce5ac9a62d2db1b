"""Data sets from JSON files, and what is said of files of another shape."""

import json

import pytest

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.evaluation.datasets import DATASETS, load_dataset
from langchain_memengine.retrieval.documents import NewDocument

QUESTION = {"query": "Who sings?", "relevant": ["b"]}
DOCUMENTS = [{"id": "a", "text": "A fox sleeps."}, {"id": "b", "text": "A whale sings."}]
LOCOMO = {
    "docs": [
        {"speaker": "Ann", "text": "Hi!", "caption": "", "session": 1, "time": "2023-05-08T13:56"},
        {"speaker": "Bo", "text": "Look", "caption": "a cat", "session": 2, "time": "2023-05-09"},
    ],
    "queries": [{"q": "What did Bo show?", "rel": [1], "cat": 4}, {"q": "?", "rel": [0], "cat": 9}],
}


@pytest.fixture
def load(tmp_path):
    def load(value, kind="file", name="set.json", **options):
        path = tmp_path / name
        path.write_text(json.dumps(value), encoding="utf-8")
        return load_dataset(path, kind, **options)

    return load


def test_file_has_documents_and_questions_with_optional_keys(load):
    document = {"id": "c", "text": "Tea", "metadata": {"team": "core"}}
    question = {"query": "Tea?", "relevant": ["c", "a"], "category": "drinks"}

    dataset = load({"questions": [QUESTION, question], "documents": [*DOCUMENTS, document]})

    (collection,) = dataset.collections
    assert dataset.name == "set"
    assert collection.documents[1:] == (
        NewDocument("A whale sings.", {}, "b"),
        NewDocument("Tea", {"team": "core"}, "c"),
    )
    assert [one.text for one in collection.questions] == ["Who sings?", "Tea?"]
    assert [one.grades for one in collection.questions] == [{"b": 1}, {"c": 1, "a": 1}]
    assert [one.category for one in collection.questions] == ["", "drinks"]


def test_file_without_documents_asks_about_a_memory(load):
    assert load({"questions": [QUESTION]}).collections[0].documents == ()


def test_a_byte_order_mark_does_no_harm(tmp_path):
    path = tmp_path / "set.json"
    path.write_text(json.dumps({"questions": [QUESTION]}), encoding="utf-8-sig")
    assert len(load_dataset(path).collections[0].questions) == 1


def test_locomo_documents_are_turns_and_a_conversation_is_a_collection(load):
    dataset = load([LOCOMO, LOCOMO], "locomo", name="locomo.json")

    assert dataset.name == "locomo"
    first, second = dataset.collections
    assert first.documents == second.documents
    assert first.documents == (
        NewDocument(
            "Ann: Hi!", {"speaker": "Ann", "session": 1, "event_at": "2023-05-08T13:56"}, "0"
        ),
        NewDocument(
            "Bo: Look [image: a cat]",
            {"speaker": "Bo", "session": 2, "event_at": "2023-05-09"},
            "1",
        ),
    )
    assert [(one.grades, one.category) for one in first.questions] == [
        ({"1": 1}, "single-hop"),
        ({"0": 1}, "9"),
    ]


def test_cranfield_keeps_grades_and_drops_questions_without_an_answer(load):
    dataset = load(
        {
            "docs": {"1": "wings", "2": "flow", "3": ""},
            "queries": {"q1": "wing?", "q2": "flow?"},
            "qrels": {"q1": {"1": 3, "2": 1, "3": 0}, "q2": {"1": 0}},
        },
        "cranfield",
    )

    (collection,) = dataset.collections
    assert [one.id for one in collection.documents] == ["1", "2", "3"]
    assert [(one.text, one.grades) for one in collection.questions] == [("wing?", {"1": 3, "2": 1})]


def test_xquad_numbers_its_paragraphs(load):
    dataset = load(
        {"paragraphs": ["One.", "Two."], "questions": [{"q": "Which?", "rel": [1]}]},
        "xquad",
        name="xquad-ru.json",
    )

    assert dataset.name == "xquad-ru"
    assert [one.id for one in dataset.collections[0].documents] == ["0", "1"]
    assert dataset.collections[0].questions[0].grades == {"1": 1}


def paragraph(title, supporting):
    return {"title": title, "paragraph_text": f"On {title}.", "is_supporting": supporting}


MUSIQUE = [{"question": "Who?", "paragraphs": [paragraph("B", True), paragraph("A", False)]}]


def test_musique_finds_supporting_passages_in_the_corpus_beside(load, tmp_path):
    corpus = [{"title": one, "text": f"On {one}."} for one in "ABA"]
    (tmp_path / "m_corpus.json").write_text(json.dumps(corpus), encoding="utf-8")

    (collection,) = load(MUSIQUE, "musique", name="m.json").collections

    assert [one.text for one in collection.documents] == ["A\nOn A.", "B\nOn B."]
    (relevant,) = collection.questions[0].grades
    assert {one.id: one.text for one in collection.documents}[relevant] == "B\nOn B."


def test_musique_takes_along_what_was_extracted_from_its_passages(load, tmp_path):
    corpus = [{"title": one, "text": f"On {one}."} for one in "AB"]
    (tmp_path / "m_corpus.json").write_text(json.dumps(corpus), encoding="utf-8")
    told = {"extracted_entities": ["B"], "extracted_triples": [["B", "is", "on"]]}
    docs = [{"passage": "B\nOn B.", **told}, {"passage": "strange", **told}]
    (tmp_path / "openie_m.json").write_text(json.dumps({"docs": docs}), encoding="utf-8")

    (collection,) = load(MUSIQUE, "musique", name="m.json").collections

    assert collection.graph == {"1": {"entities": ["B"], "relations": [["B", "is", "on"]]}}


def test_musique_names_a_passage_that_the_corpus_lacks(load, tmp_path):
    with pytest.raises(ConfigurationError, match=r"m_corpus\.json cannot be read"):
        load(MUSIQUE, "musique", name="m.json")
    (tmp_path / "m_corpus.json").write_text('[{"title": "A", "text": "On A."}]')
    with pytest.raises(ConfigurationError, match=r"\[0\]\.paragraphs\[0\] .* lacks it: 'B'"):
        load(MUSIQUE, "musique", name="m.json")
    unanswered = [{"question": "Who?", "paragraphs": [paragraph("A", False)]}]
    with pytest.raises(ConfigurationError, match=r"\[0\] has no paragraph that is_supporting"):
        load(unanswered, "musique", name="m.json")


def test_limit_takes_the_first_questions_of_each_collection(load):
    dataset = load([LOCOMO, LOCOMO], "locomo", limit=1)

    assert [len(one.questions) for one in dataset.collections] == [1, 1]
    assert [len(one.documents) for one in dataset.collections] == [2, 2]
    with pytest.raises(ConfigurationError, match="limit=0"):
        load([LOCOMO], "locomo", limit=0)


def test_unknown_kind_names_the_kinds(load):
    with pytest.raises(ConfigurationError, match=", ".join(DATASETS)):
        load({}, "squad")


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ([], "the file is no mapping"),
        ({}, "the file has no key 'questions'"),
        ({"questions": []}, "questions is empty"),
        ({"questions": {}}, "questions is no list"),
        ({"questions": [QUESTION, "q"]}, r"questions\[1\] is no mapping"),
        ({"questions": [{"query": "q"}]}, r"questions\[0\] has no key 'relevant'"),
        ({"questions": [{**QUESTION, "relevant": []}]}, r"questions\[0\].relevant is empty"),
        ({"questions": [{**QUESTION, "relevant": "b"}]}, r"questions\[0\].relevant is no list"),
        ({"questions": [{**QUESTION, "relevant": [1]}]}, r"relevant\[0\] is no text"),
        ({"questions": [{**QUESTION, "query": " "}]}, r"questions\[0\].query is blank"),
        ({"questions": [{**QUESTION, "category": 3}]}, r"questions\[0\].category is no text"),
        ({"questions": [QUESTION], "documents": []}, "documents is empty"),
        ({"questions": [QUESTION], "documents": [{"id": "b"}]}, "has no key 'text'"),
        ({"questions": [QUESTION], "documents": DOCUMENTS[:1]}, "no document 'b'"),
        ({"questions": [QUESTION], "documents": DOCUMENTS * 2}, "two documents with the id 'a'"),
        ({"questions": [QUESTION], "documents": [{"id": "b", "text": "…"}]}, "with a word in it"),
    ],
)
def test_another_shape_is_named_with_the_right_one(load, value, complaint):
    with pytest.raises(ConfigurationError, match=complaint) as raised:
        load(value)
    assert 'The right shape: {"questions": [{"query": "…"' in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("place", [2, -1, True, "1"])
def test_a_place_outside_the_documents_is_refused(load, place):
    broken = {**LOCOMO, "queries": [{"q": "?", "rel": [place], "cat": 1}]}
    with pytest.raises(ConfigurationError, match=r"\[0\]\.queries\[0\]\.rel\[0\] is "):
        load([broken], "locomo")


def test_cranfield_with_a_grade_that_no_float_holds_is_refused(load):
    huge = {"docs": {"1": "a"}, "queries": {"1": "a"}, "qrels": {"1": {"1": 10**400}}}
    with pytest.raises(ConfigurationError, match=r"qrels\.1\.1 is too large a number"):
        load(huge, "cranfield")


def test_cranfield_without_any_answer_is_refused(load):
    nothing = {"docs": {"1": "x"}, "queries": {"q": "x?"}, "qrels": {"q": {"1": 0}}}
    with pytest.raises(ConfigurationError, match="no question with a relevant document"):
        load(nothing, "cranfield")


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_json_is_a_configuration_error(tmp_path, content):
    path = tmp_path / "set.json"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"set\.json cannot be read as JSON"):
        load_dataset(path)


def test_a_missing_file_is_a_configuration_error(tmp_path):
    with pytest.raises(ConfigurationError, match=r"none\.json cannot be read: No such file"):
        load_dataset(tmp_path / "none.json")
