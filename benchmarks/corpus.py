"""Made-up text with the statistics of real text, and an embedder that costs nothing."""

from __future__ import annotations

import hashlib

import numpy as np
from langchain_core.embeddings import Embeddings

WORDS_PER_CHUNK = 155
VOCABULARY = 30_000
DIMENSION = 384


def zipf_words(count: int, seed: int) -> list[str]:
    """Return words whose frequencies follow Zipf's law."""
    generator = np.random.default_rng(seed)
    weights = 1.0 / np.arange(1, VOCABULARY + 1)
    numbers = generator.choice(VOCABULARY, size=count, p=weights / weights.sum())
    return [_word(number) for number in numbers.tolist()]


def _word(number: int) -> str:
    """Return a made-up word: three syllables, like ``bateki``."""
    syllables = []
    for _ in range(3):
        number, rest = divmod(number, 40)
        syllables.append("bdfghklm"[rest // 5] + "aeiou"[rest % 5])
    return "".join(syllables)


def chunks(count: int, seed: int = 1) -> list[str]:
    """Return texts of 155 words each."""
    words = zipf_words(count * WORDS_PER_CHUNK, seed)
    return [" ".join(words[i : i + WORDS_PER_CHUNK]) for i in range(0, len(words), WORDS_PER_CHUNK)]


def queries(count: int, seed: int = 2) -> list[str]:
    """Return queries of eight words from the same distribution."""
    words = zipf_words(count * 8, seed)
    return [" ".join(words[i : i + 8]) for i in range(0, len(words), 8)]


class StubEmbeddings(Embeddings):
    """A random direction for each text, the same for the same text."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector a text."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a text."""
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
        return np.random.default_rng(seed).standard_normal(DIMENSION).tolist()
