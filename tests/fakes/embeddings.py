"""An embedder for tests: no model, yet texts that share words are near each other."""

import hashlib
import re
from collections.abc import Callable, Sequence

from langchain_core.embeddings import Embeddings

Answer = list[list[float]]
Fault = Exception | Callable[[Answer], Answer] | None


class FakeEmbeddings(Embeddings):
    """Counts words into ``size`` numbers by their hash; the same text always has the same vector.

    Args:
        size: Length of a vector.
        fail_with: What happens to each call in turn: an exception is raised, a callable gets the
            right answer and returns the one to give, ``None`` lets the call be. Calls after the
            last one are answered rightly.

    Attributes:
        calls: The texts of each call, also of those that failed.
        texts: All texts of all calls.
    """

    model = "bag-of-words"

    def __init__(self, size: int = 64, fail_with: Sequence[Fault] = ()) -> None:
        self.size = size
        self.calls: list[list[str]] = []
        self._faults = list(fail_with)

    @property
    def texts(self) -> list[str]:
        return [text for call in self.calls for text in call]

    def embed_documents(self, texts: list[str]) -> Answer:
        self.calls.append(list(texts))
        answer = [self._vector(text) for text in texts]
        fault = self._faults.pop(0) if self._faults else None
        if fault is None:
            return answer
        if isinstance(fault, Exception):
            raise fault
        return fault(answer)

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.size
        for word in re.findall(r"\w+", text.casefold()) or [text]:
            digest = hashlib.blake2b(word.encode(), digest_size=4).digest()
            vector[int.from_bytes(digest) % self.size] += 1.0
        return vector
