"""LangChain's own standard tests of the embedders that come along."""

from langchain_tests.integration_tests import EmbeddingsIntegrationTests
from langchain_tests.unit_tests import EmbeddingsUnitTests

from langchain_memengine.models import local


class WordLlama:
    @property
    def embeddings_class(self):
        return local.WordLlamaEmbeddings


class MiniLM:
    @property
    def embeddings_class(self):
        return local.MiniLMEmbeddings


class TestWordLlamaUnit(WordLlama, EmbeddingsUnitTests):
    pass


class TestWordLlama(WordLlama, EmbeddingsIntegrationTests):
    pass


class TestMiniLMUnit(MiniLM, EmbeddingsUnitTests):
    pass


class TestMiniLM(MiniLM, EmbeddingsIntegrationTests):
    pass
