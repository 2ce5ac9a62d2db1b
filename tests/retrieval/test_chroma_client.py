"""What is asked of Chroma, away from any."""

import pytest

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.retrieval.chroma_client import (
    collection_name,
    connect,
    panics_as_errors,
)


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
            ("s", "shared", "m"),
            ("s", "sharedm", ""),
            ("t", "shared", "m"),
            ("ü/ x", "", ""),
        ]
    }
    assert len(names) == 4
    assert all(name.isascii() and 3 <= len(name) <= 63 for name in names)


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://host", "http://"])
def test_address_that_is_none_is_refused(url):
    with pytest.raises(ConfigurationError, match="is no server address"):
        connect(url)
