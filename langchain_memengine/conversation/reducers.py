"""How graph state that several nodes write in one step becomes one value."""

from __future__ import annotations

from collections.abc import Sequence


def join_heads(current: str, update: str) -> str:
    """Return a branch's memory heads after a commit, joined by ``+``.

    An update reads ``new<parent+parent``: the new commit takes the place of its parents, and
    commits that parallel nodes made in the same step stay beside it. Without ``<`` it is added to
    the heads there are.
    """
    new, _, parents = update.partition("<")
    replaced = set(parents.split("+"))
    heads = [head for head in current.split("+") if head and head not in replaced]
    return "+".join(dict.fromkeys([*heads, *filter(None, new.split("+"))]))


def join_users(current: Sequence[str], update: Sequence[str]) -> list[str]:
    """Return the users of a thread, each once, in order of appearance."""
    return list(dict.fromkeys([*current, *update]))
