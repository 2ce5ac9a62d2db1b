"""Conditions on the values of items, as langgraph's stores understand them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_memengine.errors import ConfigurationError

Test = Callable[[Any, Any], bool]


def matches(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Return whether a value satisfies all conditions, by its top-level keys.

    A plain value means equality; of a mapping only the keys that are named count. A mapping with
    operators means ``$eq``, ``$ne``, ``$gt``, ``$gte``, ``$lt``, ``$lte``, all of them. A missing
    key is ``None``: it equals ``None``, differs from anything else, and is in no range. Numbers,
    and texts of them, are compared as numbers, other texts as texts.

    Raises:
        ConfigurationError: There is no such operator.
    """
    return all(_holds(value.get(key), condition) for key, condition in wanted.items())


def _holds(value: Any, condition: Any) -> bool:
    if isinstance(condition, Mapping):
        if any(str(key).startswith("$") for key in condition):
            tests = [(_operator(name), operand) for name, operand in condition.items()]
            return all(test(value, operand) for test, operand in tests)
        return isinstance(value, Mapping) and matches(value, condition)
    if isinstance(condition, list | tuple):
        return (
            _is_list(value) and len(value) == len(condition) and all(map(_holds, value, condition))
        )
    return bool(value == condition)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _operator(name: str) -> Test:
    try:
        return _OPERATORS[name]
    except KeyError:
        raise ConfigurationError(
            f"Unknown operator {name!r} in a filter. Choose from: {', '.join(_OPERATORS)}."
        ) from None


def _ordered(compare: Test) -> Test:
    def test(value: Any, operand: Any) -> bool:
        if value is None or operand is None:
            return False
        try:
            return bool(compare(float(value), float(operand)))
        except (TypeError, ValueError, OverflowError):
            both_texts = isinstance(value, str) and isinstance(operand, str)
            return both_texts and bool(compare(value, operand))

    return test


_OPERATORS: Mapping[str, Test] = {
    "$eq": lambda value, operand: bool(value == operand),
    "$ne": lambda value, operand: bool(value != operand),
    "$gt": _ordered(lambda a, b: a > b),
    "$gte": _ordered(lambda a, b: a >= b),
    "$lt": _ordered(lambda a, b: a < b),
    "$lte": _ordered(lambda a, b: a <= b),
}
