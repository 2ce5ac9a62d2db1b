"""What is asked of Chroma, away from any."""

import re

import pytest

from langchain_memengine.retrieval.chroma_client import collection_name, panics_as_errors


class PanicException(BaseException):  # named as the Rust bindings name theirs
    """Like the one of Chroma's Rust core: no Exception."""


def test_panic_of_the_rust_core_becomes_an_error():
    with pytest.raises(RuntimeError, match="it panicked: page is malformed"), panics_as_errors():
        raise PanicException("page is malformed")


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, ValueError])
def test_everything_else_passes_as_it_is(kind):
    with pytest.raises(kind), panics_as_errors():
        raise kind


def test_names_are_legal_and_of_one_collection_each():
    names = {
        collection_name(*of)
        for of in [
            ("s", "d", "shared", "m"),
            ("s", "d", "sharedm", ""),
            ("t", "d", "shared", "m"),
            ("s", "e", "shared", "m"),
            ("s", "d", "shared", "n"),
            ("ü/ x", "", "", ""),
        ]
    }
    assert len(names) == 6
    assert all(re.fullmatch("[a-z0-9-]{3,63}", name) for name in names)
