"""LangChain's own standard tests of a retriever."""

import pytest
from langchain_tests.integration_tests import RetrieversIntegrationTests

from langchain_memengine import MemEngineRetriever
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine


class TestMemEngineRetriever(RetrieversIntegrationTests):
    """``k`` is a maximum: the suite counts exactly, so more than enough texts match."""

    @pytest.fixture(autouse=True)
    def _engine(self):
        with make_engine(embeddings=FakeEmbeddings()) as engine:
            engine.add_texts([f"tea number{i}" for i in range(5)])
            self.engine = engine
            yield

    @property
    def retriever_constructor(self):
        return MemEngineRetriever

    @property
    def retriever_constructor_params(self):
        return {"engine": self.engine}

    @property
    def retriever_query_example(self):
        return "tea"
