"""Filters on the slots of a partition, applied before the best are chosen."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.retrieval.growing import GrowingArray
from langchain_memengine.retrieval.visibility import require_known_scope
from langchain_memengine.storage.chunk_values import FilterRow
from langchain_memengine.text.sanitize import clean_metadata
from langchain_memengine.types import Filter
from langchain_memengine.workspace.globs import glob_regex

Mask = NDArray[np.bool_]
Condition = Callable[[Any], bool]

_MISSING = object()


def as_filter(given: Filter | Mapping[str, Any] | None) -> Filter:
    """Return a filter as it was given; a plain mapping is one on metadata, none lets all pass.

    Raises:
        ConfigurationError: It is neither, names a scope that there is not, or holds a single text
            where several sources belong, of which each letter would be one.
    """
    if not isinstance(given, Filter | Mapping | None):
        raise ConfigurationError(
            f"filter is a {type(given).__name__}. Pass a Filter, or a mapping of conditions on "
            "metadata."
        )
    found = given if isinstance(given, Filter) else Filter(metadata=given or {})
    for name in ("sources", "not_sources"):
        if isinstance(getattr(found, name), str):
            raise ConfigurationError(f"{name} of a filter is a single text. Pass a tuple of them.")
    if found.scope is not None:
        require_known_scope(found.scope)
    return found


class CodedColumn:
    """A column with few different values: a condition is evaluated once for each of them."""

    def __init__(self, values: Iterable[Any]) -> None:
        self._code_of: dict[str, int] = {}
        self._distinct: list[Any] = []
        self._codes = GrowingArray(np.int32)
        self.extend(values)

    def extend(self, values: Iterable[Any]) -> None:
        """Append rows."""
        rows: list[int] = []
        for value in values:
            key = "" if value is _MISSING else json.dumps(value, sort_keys=True)
            code = self._code_of.setdefault(key, len(self._code_of))
            if code == len(self._distinct):
                self._distinct.append(value)
            rows.append(code)
        self._codes.extend(np.asarray(rows, np.int32))

    def matching(self, condition: Condition) -> Mask:
        """Return which rows have a value that satisfies the condition; missing ones never do."""
        verdicts = [value is not _MISSING and condition(value) for value in self._distinct]
        mask: Mask = np.asarray(verdicts, np.bool_)[self._codes.values]
        return mask


class FilterColumns:
    """Path, source, scope and metadata of the chunks of a partition, by slot.

    Args:
        rows: One for each slot.
    """

    def __init__(self, rows: Sequence[FilterRow] = ()) -> None:
        self._rows: list[FilterRow] = list(rows)
        self._metadata: list[Mapping[str, Any]] = []
        self._columns: dict[str, CodedColumn] = {}
        self._metadata_columns: dict[str, CodedColumn] = {}

    def __len__(self) -> int:
        """Return the number of slots."""
        return len(self._rows)

    def extend(self, rows: Sequence[FilterRow]) -> None:
        """Append slots."""
        self._rows += rows
        for name, column in self._columns.items():
            column.extend(_FIELDS[name](row) for row in rows)
        if self._metadata_columns:
            new = self._parsed()
            for key, column in self._metadata_columns.items():
                column.extend(metadata.get(key, _MISSING) for metadata in new)

    def mask(self, wanted: Filter) -> Mask:
        """Return which slots pass everything but the time range.

        Raises:
            ConfigurationError: A metadata condition has an unknown operator.
        """
        mask = np.ones(len(self._rows), np.bool_)
        if wanted.path is not None:
            mask &= self._field("path").matching(_path_condition(wanted.path))
        if wanted.sources:
            mask &= self._field("source").matching(_sources_condition(wanted.sources))
        if wanted.not_sources:
            mask &= ~self._field("source").matching(wanted.not_sources.__contains__)
        if wanted.source is not None:
            # Whatever begins with "a/b/" is in a folder that does; of folders there are few.
            name = "folder" if wanted.source.endswith("/*") else "source"
            mask &= self._field(name).matching(source_condition(wanted.source))
        if wanted.scope is not None:
            mask &= self._field("scope").matching(lambda scope: bool(scope == wanted.scope))
        return mask & self._metadata_mask(wanted.metadata)

    def _metadata_mask(self, conditions: Mapping[str, Any]) -> Mask:
        """Return which slots satisfy all conditions; ``$and`` and ``$or`` hold lists of them."""
        mask = np.ones(len(self._rows), np.bool_)
        for name, condition in conditions.items():
            key = str(name)  # as it is stored
            if key.startswith("$"):
                combined = [self._metadata_mask(part) for part in _parts(key, condition)]
                mask &= _COMBINATIONS[key].reduce(combined, axis=0)
            else:
                mask &= self._metadata_column(key).matching(metadata_condition(key, condition))
        return mask

    def _field(self, name: str) -> CodedColumn:
        if name not in self._columns:
            self._columns[name] = CodedColumn(map(_FIELDS[name], self._rows))
        return self._columns[name]

    def _metadata_column(self, key: str) -> CodedColumn:
        if key not in self._metadata_columns:
            self._parsed()
            self._metadata_columns[key] = CodedColumn(
                metadata.get(key, _MISSING) for metadata in self._metadata
            )
        return self._metadata_columns[key]

    def _parsed(self) -> list[Mapping[str, Any]]:
        """Read the metadata of the slots that are new since the last time; return it."""
        new = [json.loads(row.metadata_json) for row in self._rows[len(self._metadata) :]]
        self._metadata += new
        return new


_FIELDS: Mapping[str, Callable[[FilterRow], str]] = {
    "path": lambda row: row.path,
    "source": lambda row: row.source,
    "folder": lambda row: row.source[: row.source.rfind("/") + 1],
    "scope": lambda row: row.scope,
}

_COMBINATIONS = {"$and": np.logical_and, "$or": np.logical_or}


def _parts(key: str, conditions: Any) -> list[Mapping[str, Any]]:
    if key not in _COMBINATIONS:
        raise ConfigurationError(
            f"A filter has no {key!r} beside the names of metadata. Use $and or $or with a list of "
            f"filters, and operators within the condition on a name: {', '.join(_OPERATORS)}."
        )
    parts = list(conditions) if isinstance(conditions, list | tuple) else []
    if not parts or not all(isinstance(part, Mapping) for part in parts):
        raise ConfigurationError(f"{key!r} in a filter needs a list of filters, and at least one.")
    return parts


def _path_condition(glob: str) -> Condition:
    pattern = glob_regex(glob.removeprefix("/"))  # the root, as in the patterns of the settings
    return lambda path: bool(path and pattern.match(path))


def source_condition(wanted: str) -> Condition:
    """Return the condition for a source URI: equality, or a prefix that ends with ``*``."""
    if wanted.endswith("*"):
        prefix = wanted[:-1]
        return lambda source: bool(source.startswith(prefix))
    return lambda source: bool(source == wanted)


def _sources_condition(wanted: Sequence[str]) -> Condition:
    """Return the condition for one of several sources; however many, each URI is looked up once."""
    whole = frozenset(source for source in wanted if not source.endswith("*"))
    beginnings = tuple(source[:-1] for source in wanted if source.endswith("*"))
    return lambda uri: uri in whole or uri.startswith(beginnings)


def metadata_condition(key: str, wanted: Any) -> Condition:
    """Return the condition for one metadata key.

    A plain value means equality, or membership when the stored value is a list. A mapping with a
    key that begins with ``$`` holds operators and nothing else: ``$eq``, ``$ne``, ``$in``,
    ``$nin``, ``$gt``, ``$gte``, ``$lt``, ``$lte``; all of them must hold. Values that cannot be
    compared do not match. Dates are compared as ISO 8601 text in UTC, as they are stored.

    Raises:
        ConfigurationError: An operator is unknown, or a value cannot be compared.
    """
    (wanted,) = clean_metadata({key: wanted}).values()
    if not (isinstance(wanted, dict) and any(k.startswith("$") for k in wanted)):
        return lambda value: _equals(value, wanted)
    unknown = sorted(set(wanted) - set(_OPERATORS))
    if unknown:
        raise ConfigurationError(
            f"Unknown operator {unknown[0]!r} in the filter on {key!r}. "
            f"Choose from: {', '.join(_OPERATORS)}."
        )
    for operator in wanted.keys() & {"$in", "$nin"}:
        if not isinstance(wanted[operator], list):
            raise ConfigurationError(
                f"{operator!r} in the filter on {key!r} needs a list of values."
            )
    tests = [(_OPERATORS[operator], operand) for operator, operand in wanted.items()]
    return lambda value: all(test(value, operand) for test, operand in tests)


def _equals(value: Any, wanted: Any) -> bool:
    if isinstance(value, list) and not isinstance(wanted, list):
        return any(_equals(inner, wanted) for inner in value)
    # JSON's true is not 1.
    return bool(value == wanted) and isinstance(value, bool) is isinstance(wanted, bool)


def _compares(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def test(value: Any, operand: Any) -> bool:
        if isinstance(value, bool) or isinstance(operand, bool):
            return False  # truth has no order
        try:
            return bool(compare(value, operand))
        except TypeError:
            return False  # text against a number: not in the range

    return test


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": _equals,
    "$ne": lambda value, operand: not _equals(value, operand),
    "$in": lambda value, operands: any(_equals(value, operand) for operand in operands),
    "$nin": lambda value, operands: not any(_equals(value, operand) for operand in operands),
    "$gt": _compares(lambda a, b: a > b),
    "$gte": _compares(lambda a, b: a >= b),
    "$lt": _compares(lambda a, b: a < b),
    "$lte": _compares(lambda a, b: a <= b),
}
