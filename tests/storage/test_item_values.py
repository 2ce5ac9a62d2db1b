"""How namespaces and keys become texts and sources."""

from langchain_memengine.storage.item_values import (
    namespace_of,
    path_of,
    root_of,
    source_of,
    source_prefix,
)
from tests.storage.contract_items import ODD


def test_a_namespace_s_text_is_a_prefix_of_what_is_under_it_and_of_nothing_else():
    assert path_of(("a", "b")).startswith(path_of(("a",)))
    assert not path_of(("ab",)).startswith(path_of(("a",)))
    assert not path_of(('a","b',)).startswith(path_of(("a",)))
    assert namespace_of(path_of(ODD)) == ODD
    assert namespace_of(path_of(())) == () == namespace_of("")


def test_a_source_is_under_its_namespace_and_no_other():
    assert source_of(("a", "b"), "k").startswith(source_prefix(("a",)))
    assert not source_of(("ab",), "k").startswith(source_prefix(("a",)))
    assert len({source_of(space, "k") for space in [(), ("a",), ("a", "k"), ("k",)]}) == 4
    assert root_of(("a", "b")) == root_of(("a",)) != root_of(("b",))
    assert root_of(()) == ""
