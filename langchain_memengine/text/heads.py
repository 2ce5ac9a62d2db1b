"""Heads: the memory commits a branch ends with, as the plain string a graph's state can hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from langchain_memengine.text.sanitize import clean_text


def split_heads(head: str) -> tuple[str, ...]:
    """Return the commit ids of ``a+b``, each once, in their order; none of ``""``."""
    return tuple(dict.fromkeys(part for part in clean_text(head).split("+") if part))


def joined_heads(heads: Iterable[str]) -> str:
    """Return ``a+b`` of commit ids, each once, in their order."""
    return "+".join(dict.fromkeys(heads))


def ancestors(parents: Mapping[str, Iterable[str]], heads: Iterable[str]) -> frozenset[str]:
    """Return the commits that heads follow, the heads included.

    Args:
        parents: Parents by commit; a commit that is no key has none and is no ancestor.
        heads: Where to begin.
    """
    seen: set[str] = set()
    todo = [head for head in heads if head in parents]
    while todo:
        commit = todo.pop()
        if commit not in seen:
            seen.add(commit)
            todo.extend(parent for parent in parents[commit] if parent in parents)
    return frozenset(seen)
