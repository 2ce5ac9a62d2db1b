"""The engine as a document index: LangChain's own suite, its ``index()``, and whose documents."""

import pytest
from langchain_core.documents import Document
from langchain_core.indexing import InMemoryRecordManager, aindex, index
from langchain_tests.integration_tests.indexer import (
    AsyncDocumentIndexTestSuite,
    DocumentIndexerTestSuite,
)

from langchain_memengine.errors import ConfigurationError, ScopeError
from langchain_memengine.faces.document_index import MemEngineDocumentIndex
from langchain_memengine.types import Actor
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine

LONG = "---\ntitle: Tea\n---\n\n# Tea\n\n\n" + "Green tea.  \n" * 400 + "\nThe end. \n\n"


@pytest.fixture
def engine():
    with make_engine(embeddings=FakeEmbeddings()) as engine:
        yield engine


@pytest.fixture
def documents(engine):
    return MemEngineDocumentIndex(engine=engine)


class TestStandard(DocumentIndexerTestSuite):
    @pytest.fixture
    def index(self, documents):
        return documents


class TestStandardAsync(AsyncDocumentIndexTestSuite):
    @pytest.fixture
    async def index(self, documents):
        return documents


def pages(*texts, source="a.md"):
    return [Document(text, metadata={"source": source}) for text in texts]


def found(documents, query):
    return {document.page_content for document in documents.invoke(query, k=20)}


class TestIndexing:
    @pytest.fixture
    def records(self):
        manager = InMemoryRecordManager("tests")
        manager.create_schema()
        return manager

    def counts(self, records, documents, new, **options):
        answer = index(
            new, records, documents, source_id_key="source", key_encoder="sha256", **options
        )
        return (
            answer["num_added"], answer["num_updated"], answer["num_skipped"], answer["num_deleted"]
        )  # fmt: skip

    def test_incremental_cleanup_replaces_what_its_source_no_longer_has(self, records, documents):
        def run(new):
            return self.counts(records, documents, new, cleanup="incremental")

        assert run(pages("tea one", "tea two")) == (2, 0, 0, 0)
        assert run(pages("tea one", "tea two")) == (0, 0, 2, 0)
        assert run(pages("tea one", "tea three")) == (1, 0, 1, 1)
        assert run(pages("tea four", source="b.md")) == (1, 0, 0, 0)
        assert found(documents, "tea") == {"tea one", "tea three", "tea four"}

    def test_full_cleanup_leaves_what_was_given_last(self, records, documents):
        def run(new, **options):
            return self.counts(records, documents, new, cleanup="full", **options)

        run(pages("tea one", "tea two") + pages("tea four", source="b.md"))
        assert run(pages("tea two", "tea three")) == (1, 0, 1, 2)
        assert found(documents, "tea") == {"tea two", "tea three"}
        assert run([]) == (0, 0, 0, 2)
        assert found(documents, "tea") == set()

    def test_a_forced_update_writes_again(self, records, documents):
        self.counts(records, documents, pages("tea"), cleanup="incremental")
        again = self.counts(
            records, documents, pages("tea"), cleanup="incremental", force_update=True
        )
        assert again == (0, 1, 0, 0)

    async def test_it_works_without_blocking(self, records, documents):
        options = {"cleanup": "full", "source_id_key": "source", "key_encoder": "sha256"}
        await aindex(pages("tea one", "tea two"), records, documents, **options)
        answer = await aindex(pages("tea two"), records, documents, **options)
        assert answer["num_deleted"] == 1
        assert [one.page_content for one in await documents.ainvoke("tea")] == ["tea two"]

    def test_what_it_cleans_up_is_only_its_own(self, records, documents, engine):
        engine.add_texts(["tea of the application"], ids=["app"])
        self.counts(records, documents, pages("tea"), cleanup="full")
        self.counts(records, documents, [], cleanup="full")
        assert found(documents, "tea") == {"tea of the application"}


def test_a_long_document_comes_back_as_it_was_and_is_found_in_pieces(documents, engine):
    metadata = {"deep": {"list": [1, None, "x"]}, "f": 1.5}
    documents.upsert([Document(LONG, id="long", metadata=metadata)])
    assert documents.get(["long"]) == [Document(LONG, id="long", metadata=metadata)]
    assert engine.stats().chunks > 3
    assert {piece.id for piece in documents.invoke("green tea")} == {"long"}
    documents.delete(["long"])
    assert documents.get(["long"]) == documents.invoke("green tea") == []
    assert engine.stats().chunks == 0


def test_a_document_that_was_changed_or_deleted_otherwise_is_no_longer_given_back(
    documents, engine
):
    documents.upsert([Document("tea", id="1"), Document("milk", id="2")])
    engine.add_texts(["coffee"], ids=["1"])
    engine.delete(["2"])
    assert documents.get(["1", "2"]) == []
    assert documents.delete(["1"])["num_deleted"] == 0
    assert [hit.text for hit in engine.search("coffee").hits] == ["coffee"]


def test_a_quarantined_document_is_not_given_back_and_can_be_deleted(documents, engine):
    documents.upsert([Document(id="a", page_content="tea"), Document(id="b", page_content="cake")])
    engine.quarantine(["a"])
    assert [one.id for one in documents.get(["a", "b"])] == ["b"]
    assert documents.delete(["a"])["num_deleted"] == 1


def test_of_documents_with_one_id_the_last_counts_in_every_respect(documents):
    answer = documents.upsert([Document("tea", id="a"), Document("milk", id="a")])
    assert answer == {"succeeded": ["a"], "failed": []}
    assert [one.page_content for one in documents.get(["a"])] == ["milk"]
    answer = documents.upsert([Document("tea", id="a"), Document(" ", id="a")])
    assert answer == {"succeeded": [], "failed": ["a"]}
    assert documents.get(["a"]) == []
    assert found(documents, "tea milk") == set()


def test_blank_documents_fail_and_the_others_are_kept(documents):
    answer = documents.upsert([Document(" \n", id="blank"), Document("tea", id="tea")])
    assert answer == {"succeeded": ["tea"], "failed": ["blank"]}
    assert [one.id for one in documents.get(["blank", "tea"])] == ["tea"]


def test_documents_that_cannot_be_stored_leave_nothing_behind(documents):
    with pytest.raises(ConfigurationError):
        documents.upsert([Document("tea", id="1"), Document("x", metadata={"a": object()})])
    assert documents.get(["1"]) == []


def test_documents_belong_to_their_user(engine, documents):
    ann = MemEngineDocumentIndex(engine=engine, user_id="ann")
    bob = MemEngineDocumentIndex(engine=engine, user_id="bob")
    ann.upsert([Document("Ann's tea", id="1")])
    bob.upsert([Document("Bob's tea", id="1")])
    documents.upsert([Document("Everyone's tea", id="1"), Document("More tea", id="2")])
    assert ann.get(["1", "2"])[0].page_content == "Ann's tea"
    assert found(bob, "tea") == {"Bob's tea", "Everyone's tea", "More tea"}
    assert bob.delete(["1"])["num_deleted"] == 1
    assert bob.get(["1"])[0].page_content == "Everyone's tea"
    assert ann.get(["1"])[0].page_content == "Ann's tea"
    with pytest.raises(ScopeError):
        bob.delete(["2"])
    engine.delete(["1"], actor=Actor("ann"))
    assert ann.get(["1"])[0].page_content == "Everyone's tea"


def test_files_are_searched_only_when_source_says_so(tmp_path):
    (tmp_path / "tea.md").write_text("tea of a file", encoding="utf-8")
    with make_engine(tmp_path) as engine:
        documents = MemEngineDocumentIndex(engine=engine)
        documents.upsert([Document("tea", id="1")])
        assert found(documents, "tea") == {"tea"}
        assert {one.page_content for one in documents.invoke("tea", source=None)} == {
            "tea",
            "tea of a file",
        }
