"""What an embedder answered, checked and brought to length 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.errors import EmbeddingError

FloatArray = NDArray[np.float32]

ONE_ROW_A_TEXT = 2  # dimensions of the array


def unit_vector(answer: Any) -> FloatArray | None:
    """Return the unit vector of one vector, ``None`` if anything about it looks wrong.

    The short way for queries; :func:`as_matrix` and :func:`unit_vectors` tell what is wrong.
    """
    try:
        vector = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    norm = float(vector @ vector) ** 0.5 if vector.ndim == 1 and len(vector) else 0.0
    return (vector / norm).astype(np.float32) if 0.0 < norm < np.inf else None


def as_matrix(answer: Any, count: int, *, name: str) -> NDArray[np.float64]:
    """Return an answer as an array of shape (count, dimension), dimension at least 1.

    float64, so that the squares of large float32 values do not overflow.

    Raises:
        EmbeddingError: The answer is not one vector a text, all of one length.
    """
    try:
        returned = len(answer)
        matrix = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise EmbeddingError(
            f"{name} returned something else than vectors of one length for {count} texts. "
            "Check that the model is an embedding model."
        ) from error
    if returned != count:
        raise EmbeddingError(
            f"{name} returned {returned} vectors for {count} texts. "
            "Lower the batch size, or report it to the provider."
        )
    if matrix.ndim != ONE_ROW_A_TEXT or matrix.shape[1] == 0:
        raise EmbeddingError(
            f"{name} returned an answer of shape {matrix.shape} for {count} texts. "
            "Check that the model is an embedding model."
        )
    return matrix


def unit_vectors(
    matrix: NDArray[np.float64], texts: Sequence[str], *, name: str
) -> list[FloatArray | EmbeddingError]:
    """Return the unit vector of each text, or an error where there is none.

    A vector of zeros or with numbers that are not finite has no direction. Its error tells the
    text's place and length, never its content.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        norms = np.linalg.norm(matrix, axis=1)
    outcomes: list[FloatArray | EmbeddingError] = []
    for i, norm in enumerate(norms):
        if np.isfinite(norm) and norm > 0:
            outcomes.append((matrix[i] / norm).astype(np.float32))
            continue
        fault = "only zeros" if norm == 0 else "numbers that are not finite"
        outcomes.append(
            EmbeddingError(
                f"{name} returned {fault} for text {i} of the {len(texts)} in its batch "
                f"({len(texts[i])} characters). Only keywords can find this text.",
                text_at_fault=True,
            )
        )
    return outcomes
