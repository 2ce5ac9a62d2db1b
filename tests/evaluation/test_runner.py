"""Evaluations of tiny memories whose figures can be worked out by hand."""

import json

import pytest

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.evaluation.datasets import Collection, Dataset, JudgedQuestion
from langchain_memengine.evaluation.metrics import METRICS
from langchain_memengine.evaluation.runner import evaluate
from langchain_memengine.rankings import RANKINGS
from langchain_memengine.retrieval.documents import NewDocument
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, write

DOCUMENTS = (
    NewDocument("The red fox sleeps.", {}, "a"),
    NewDocument("A blue whale sings.", {"team": "core"}, "b/ü"),
    NewDocument("Green tea at noon.", {}, "c"),
)
WHALE = JudgedQuestion("blue whale", {"b/ü": 1.0}, "animals")
TEA = JudgedQuestion("tea", {"c": 1.0, "a": 1.0}, "drinks")  # only c has the word
NOTHING = JudgedQuestion("zebra", {"a": 1.0})


def dataset(*questions, documents=DOCUMENTS):
    return Dataset("tiny", (Collection("", documents, questions),))


@pytest.fixture(autouse=True)
def no_settings(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMENGINE_EMBEDDINGS", "none")


def test_means_are_over_all_questions_and_by_category():
    found = evaluate(dataset(WHALE, TEA, NOTHING)).to_dict()

    assert list(found) == [
        *("dataset", "ranking", "embeddings", "n", "system", "baselines"),
        *("per_category", "paired", "degraded"),
    ]
    assert (found["dataset"], found["ranking"], found["embeddings"], found["n"]) == (
        *("tiny", "balanced", None, 3),
    )
    # NDCG of TEA: 1 / (1 + 1/log2(3)) = 0.61315
    assert found["system"] == pytest.approx(
        {
            "recall@1": 1.5 / 3,
            "recall@2": 1.5 / 3,
            "recall@5": 1.5 / 3,
            "recall@10": 1.5 / 3,
            "recall@25": 1.5 / 3,
            "ndcg@10": 1.61315 / 3,
            "mrr": 2 / 3,
        },
        abs=1e-5,
    )
    assert list(found["per_category"]) == ["animals", "drinks"]
    assert found["per_category"]["drinks"]["n"] == 1
    assert found["per_category"]["drinks"]["system"]["recall@10"] == 0.5
    assert found["baselines"] == found["paired"] == {}
    assert json.loads(json.dumps(found)) == found


def test_each_collection_has_a_store_of_its_own():
    other = Collection("[1]", (NewDocument("A blue whale dives.", {}, "z"),), (NOTHING,))
    both = Dataset("two", (Collection("[0]", DOCUMENTS, (WHALE,)), other))

    assert evaluate(both).overall.system["mrr"] == 0.5
    asks_the_other = Collection("[1]", other.documents, (JudgedQuestion("whale", {"z": 1.0}),))
    found = evaluate(Dataset("two", (both.collections[0], asks_the_other)))
    assert found.overall.system["recall@1"] == 1


def test_baselines_are_compared_question_by_question():
    found = evaluate(dataset(WHALE, TEA, NOTHING), baselines=True)

    # BM25 ranks what does not match behind what does: b a c, c a b, a b c.
    bm25 = found.overall.baselines["bm25"]
    assert (bm25["recall@1"], bm25["recall@5"], bm25["mrr"]) == pytest.approx((2.5 / 3, 1, 1))
    assert found.per_category["drinks"].baselines["bm25"]["recall@5"] == 1
    assert list(found.paired) == ["bm25"]
    assert list(found.paired["bm25"]) == ["recall@10", "ndcg@10"]
    # Ours are 1, 0.5 and 0: less by 0, 0.5 and 1, and two signs of four are as extreme.
    test = found.paired["bm25"]["recall@10"]
    assert (test.difference, test.low, test.high) == pytest.approx((-0.5, -1, 0))
    assert test.p == pytest.approx(0.5, abs=0.02)


def test_with_an_embedder_all_baselines_are_there_and_share_it():
    pytest.importorskip("langchain_community", reason="the extra `bench` is not installed")
    found = evaluate(dataset(WHALE, TEA), embeddings=FakeEmbeddings(), baselines=True)

    assert found.embeddings == "FakeEmbeddings/bag-of-words"
    assert list(found.overall.baselines) == ["bm25", "dense", "rrf60", "ensemble"]
    assert [list(one) for one in found.overall.baselines.values()] == [list(METRICS)] * 4
    assert found.overall.baselines["dense"]["recall@1"] == 0.75
    assert found.degraded == ()


@pytest.mark.parametrize("ranking", ["goclaw", RANKINGS["decsr"]])
def test_the_ranking_is_the_one_that_was_asked_for(ranking):
    name = ranking if isinstance(ranking, str) else ranking.name
    assert evaluate(dataset(WHALE), ranking=ranking).ranking == name


def test_a_document_counts_once_at_its_first_chunk_however_many_it_has(monkeypatch):
    monkeypatch.setenv("MEMENGINE_CHUNK_TOKENS", "16")
    monkeypatch.setenv("MEMENGINE_OVERLAP_TOKENS", "0")
    # Forty chunks that say it three times come before the one that says it once.
    long = "\n\n".join(f"Storm storm storm number {i} {'x' * 40}." for i in range(40))
    documents = (NewDocument(long, {}, "long"), NewDocument("One storm.", {}, "short"))
    question = JudgedQuestion("storm", {"short": 1.0})

    found = evaluate(dataset(question, documents=documents))

    assert found.overall.system["mrr"] == 0.5


def test_progress_counts_questions_over_all_collections():
    calls = []
    both = Dataset("two", (Collection("", DOCUMENTS, (WHALE, TEA)),) * 2)

    evaluate(both, progress=lambda *call: calls.append(call))

    assert calls == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_searches_that_fall_short_are_counted(monkeypatch):
    monkeypatch.setenv("MEMENGINE_EMBEDDING_ATTEMPTS", "1")
    down = FakeEmbeddings(fail_with=[ConnectionError("nobody is there")] * 99)

    found = evaluate(dataset(WHALE, TEA), embeddings=down)

    assert found.overall.system["mrr"] == 1
    (problem,) = found.degraded
    assert problem.startswith("2 of 2 searches: vector: ")


@pytest.fixture
def memory(tmp_path):
    root = tmp_path / "notes"
    write(root, "deploy.md", "We deploy on Tuesdays.")
    write(root, "users/bob/secret.md", "Bob deploys on Sundays.")
    with make_engine(root) as engine:
        engine.add_texts(["The machine is on floor two."], ids=["coffee"])
        engine.sync()
        yield engine


DEPLOY = JudgedQuestion("when do we deploy?", {"deploy.md": 1.0})
COFFEE = JudgedQuestion("coffee machine", {"coffee": 1.0})


def test_without_documents_the_engine_is_asked_by_path_and_by_id(memory):
    found = evaluate(dataset(DEPLOY, COFFEE, documents=()), engine=memory, ranking="rrf")

    assert found.overall.n == 2
    assert found.overall.system["recall@1"] == 1
    assert (found.ranking, found.degraded) == ("rrf", ())


def test_baselines_of_a_memory_search_the_files_its_user_may_read(memory):
    sunday = JudgedQuestion("sundays", {"users/bob/secret.md": 1.0})

    found = evaluate(
        dataset(DEPLOY, sunday, documents=()), engine=memory, embeddings=None, baselines=True
    )

    assert found.overall.system["recall@25"] == 0.5
    assert found.overall.baselines["bm25"]["recall@25"] == 0.5


def test_a_name_that_is_not_there_is_told(memory):
    typo = JudgedQuestion("deploy", {"deploi.md": 1.0})

    found = evaluate(
        dataset(typo, COFFEE, documents=()), engine=memory, embeddings=None, baselines=True
    )

    assert found.degraded == (
        "baselines: they see files only, not the text 'coffee'",
        (
            "'deploi.md' is called relevant, and neither a file nor a text that any search found "
            "has that name; check its spelling"
        ),
    )


def test_what_cannot_work_is_a_configuration_error(memory):
    with pytest.raises(ConfigurationError, match="no documents to search"):
        evaluate(dataset(DEPLOY, documents=()))
    with pytest.raises(ConfigurationError, match="ranking preset 'best'"):
        evaluate(dataset(WHALE), ranking="best")
    with pytest.raises(ConfigurationError, match="embedder 'nonsense' is unknown"):
        evaluate(dataset(WHALE), embeddings="nonsense")
    with pytest.raises(ConfigurationError, match="Pass the memory's own as embeddings="):
        evaluate(dataset(DEPLOY, documents=()), engine=memory, baselines=True, embeddings="local")


def test_no_store_in_use_is_touched(monkeypatch, tmp_path):
    monkeypatch.setenv("MEMENGINE_DATABASE_URL", f"sqlite:///{tmp_path / 'live.sqlite'}")

    evaluate(dataset(WHALE))

    assert list(tmp_path.iterdir()) == []


JOINED = Collection(
    "",
    (
        NewDocument("Anna shares an office with Bert.", {}, "a"),
        NewDocument("Bert likes whales.", {}, "b"),
        NewDocument("Green tea at noon.", {}, "c"),
    ),
    (JudgedQuestion("office of Anna", {"a": 1.0, "b": 1.0}),),
    {
        "a": {"entities": ["Anna"], "relations": [["Anna", "shares an office with", "Bert"]]},
        "b": {"relations": [["Bert", "likes", "whales"], ["broken"]]},
    },
)


def test_the_graph_is_followed_and_compared_with_not_doing_so():
    found = evaluate(Dataset("tiny", (JOINED,)), graph=True)
    assert found.overall.system["recall@2"] == 1
    assert found.overall.baselines["no graph"]["recall@2"] == 0.5
    assert list(found.paired["no graph"]) == ["recall@2", "recall@5"]
    assert found.paired["no graph"]["recall@2"].difference == 0.5
    without = evaluate(Dataset("tiny", (JOINED,)))
    assert without.overall.system == found.overall.baselines["no graph"]


def test_a_memory_is_asked_with_the_graph_it_has():
    with make_engine() as engine:
        engine.add_texts([one.text for one in JOINED.documents], ids=["a", "b", "c"])
        engine.graph.add_triples([("Anna", "shares with", "Bert")], evidence="a")
        engine.graph.add_triples([("Bert", "likes", "whales")], evidence="b")
        own = Dataset("own", (Collection("", (), JOINED.questions),))
        found = evaluate(own, engine=engine, graph=True)
    assert (found.overall.system["recall@2"], found.overall.baselines["no graph"]["recall@2"]) == (
        1,
        0.5,
    )


def test_a_graph_of_names_is_made_where_nobody_extracted_one():
    told = (
        NewDocument("the office of Anna is near the desk of Bert.", {}, "a"),
        NewDocument("nobody likes whales but Bert.", {}, "b"),
        NewDocument("Green tea at noon.", {}, "c"),
    )
    asked = dataset(JudgedQuestion("office of Anna", {"a": 1.0, "b": 1.0}), documents=told)
    found = evaluate(asked, graph="names")
    assert (found.overall.system["recall@2"], found.overall.baselines["no graph"]["recall@2"]) == (
        1,
        0.5,
    )
    assert found.degraded == ()


def test_documents_without_a_graph_cannot_be_followed():
    with pytest.raises(ConfigurationError, match="brings no graph"):
        evaluate(dataset(TEA), graph=True)
    with make_engine() as engine, pytest.raises(ConfigurationError, match="no documents whose"):
        evaluate(dataset(TEA, documents=()), engine=engine, graph="names")
