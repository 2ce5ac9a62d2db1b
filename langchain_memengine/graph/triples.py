"""Statements as people and models write them, read as relations."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.models.reply_reading import UnreadableReplyError, json_in
from langchain_memengine.storage.graph_values import Entity, Relation
from langchain_memengine.text.names import MAX_NAME_CHARS, display_name, entity_key
from langchain_memengine.text.sanitize import as_utc, clean_text

TripleLike = Relation | Iterable[str] | Mapping[str, Any]
"""A relation, three texts (source, type, target), or a mapping of them."""

_PARTS = 3
_MAX_DEPTH = 4
_MAX_SHOWN = 200
# What models call the parts of a statement, whatever they were told; the first that is there
# counts.
_SOURCE = ("source", "subject", "head", "from", "source_node_id", "source_id", "start", "node_1")
_TARGET = ("target", "object", "tail", "to", "target_node_id", "target_id", "end", "node_2")
_TYPE = ("type", "relation", "predicate", "relationship", "relation_type", "label", "edge", "name")
_NAME = ("name", "id", "entity", "title", "text", "value", "label")
_KIND = ("type", "entity_type", "kind", "category", "label")
_ENTITIES = ("entities", "nodes", "entity", "node")
_RELATIONS = ("relations", "relationships", "triples", "edges", "relation", "facts", "triplets")
_ALIASES = ("aliases", "alias", "also_known_as")


@dataclass(frozen=True, slots=True)
class Rejected:
    """A part of a reply that is no statement.

    Attributes:
        part: The part as JSON, cut to 200 characters.
        reason: What is wrong with it.
    """

    part: str
    reason: str


@dataclass(frozen=True, slots=True)
class Salvaged:
    """What a model's reply tells, whatever its shape.

    Attributes:
        entities: Entities that it lists.
        relations: Relations between named ends, with the types that its entities give them.
        rejected: What could not be read.
        is_reply: Whether it had the shape of an answer at all; an empty answer has.
    """

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    is_reply: bool = True


class _UnreadableError(ValueError):
    """A part cannot be read; the message says why."""


@dataclass(slots=True)
class _Reading:
    entities: dict[str, Entity] = field(default_factory=dict)
    relations: list[Relation] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)

    def reject(self, part: object, reason: object) -> None:
        self.rejected.append(Rejected(_shown(part), str(reason)))


def read_triples(triples: Iterable[TripleLike]) -> list[Relation]:
    """Return statements as relations.

    Raises:
        ConfigurationError: One lacks a part, or has one that is no name.
    """
    found = []
    for place, one in enumerate(triples):
        try:
            found.append(_checked(one) if isinstance(one, Relation) else _relation(one, {}))
        except _UnreadableError as error:
            raise ConfigurationError(
                f"Triple {place} cannot be read: {error}. "
                'Write it like ("Anna", "works at", "ACME").'
            ) from error
    return found


def read_entities(entities: Iterable[Entity]) -> list[Entity]:
    """Return entities as they can be stored.

    Raises:
        ConfigurationError: One has no name, or a part that is none.
    """
    try:
        return [_sound(one, "name") for one in entities]
    except _UnreadableError as error:
        raise ConfigurationError(f"An entity cannot be read: it {error}.") from error


def salvage(reply: Any) -> Salvaged:
    """Return what a reply tells, without those of its parts that tell nothing.

    Lists may be bare, JSON texts, or under other names than were asked for; a relation may be
    three texts, a mapping, or have mappings as its ends. Nothing raises.
    """
    value = _unpacked(reply)
    if isinstance(value, list):
        value = {"relations": value}
    if not isinstance(value, Mapping):
        return Salvaged(rejected=(Rejected(_shown(reply), "is no JSON object"),), is_reply=False)
    nodes, relations = _under(value, _ENTITIES), _under(value, _RELATIONS)
    if nodes is None and relations is None:
        if _first(value, _SOURCE) is None:
            reason = "has neither entities nor relations"
            return Salvaged(rejected=(Rejected(_shown(reply), reason),), is_reply=False)
        relations = value  # one relation, alone
    reading = _Reading()
    for node in _listed(nodes):
        _read_node(node, reading)
    for one in _listed(relations):
        _read_relation(one, reading)
    return Salvaged(
        tuple(reading.entities.values()), tuple(reading.relations), tuple(reading.rejected)
    )


def _read_node(node: object, reading: _Reading) -> None:
    try:
        entity = _entity(node)
    except _UnreadableError as error:
        reading.reject(node, error)
    else:
        reading.entities.setdefault(entity_key(entity.name), entity)


def _read_relation(one: object, reading: _Reading) -> None:
    try:
        reading.relations.append(_relation(one, reading.entities))
    except _UnreadableError as error:
        reading.reject(one, error)


def _relation(value: object, known: Mapping[str, Entity]) -> Relation:
    value = _unpacked(value)
    if isinstance(value, Mapping):
        ends = [_first(value, _SOURCE), _first(value, _TARGET)]
        kind, rest = _first(value, _TYPE), value
        types = [_first(value, (f"{end}_type",)) for end in ("source", "target")]
        if isinstance(kind, Mapping):
            kind = _first(kind, (*_TYPE, *_NAME))
    elif isinstance(value, Iterable) and not isinstance(value, str):
        parts = list(value)
        if len(parts) != _PARTS:
            raise _UnreadableError(f"has {len(parts)} parts instead of 3")
        ends, kind, rest, types = [parts[0], parts[2]], parts[1], {}, [None, None]
    else:
        raise _UnreadableError("is no triple")
    source, target = (
        _end(end, kind_of_end, known, place)
        for end, kind_of_end, place in zip(ends, types, ("source", "target"), strict=True)
    )
    return Relation(
        source,
        _name(kind, "relation"),
        target,
        confidence=_confidence(rest.get("confidence")),
        valid_from=_moment(rest.get("valid_from")),
        valid_to=_moment(rest.get("valid_to")),
    )


def _end(value: object, kind: object, known: Mapping[str, Entity], place: str) -> Entity:
    entity = _entity(value, place)
    if not entity.type and isinstance(kind, str):
        entity = Entity(entity.name, display_name(kind)[:MAX_NAME_CHARS], entity.aliases)
    listed = known.get(entity_key(entity.name))
    if listed is not None and entity.type in {"", listed.type}:
        return replace(entity, type=listed.type, aliases=listed.aliases, id=listed.id)
    return entity


def _entity(value: object, place: str = "entity") -> Entity:
    value = value if isinstance(value, str) else _unpacked(value)
    if not isinstance(value, Mapping):
        return Entity(_name(value, place))
    found = next((name for name in _NAME if _is_name(value.get(name))), None)
    kind = next((value[name] for name in _KIND if name != found and _is_name(value.get(name))), "")
    name = _name(value.get(found) if found else None, place)
    aliases = _aliases(_listed(_first(value, _ALIASES)), name)
    return Entity(name, display_name(clean_text(str(kind)))[:MAX_NAME_CHARS], aliases)


def _aliases(values: Iterable[object], name: str) -> tuple[str, ...]:
    """Return other names for a name; what is none costs only itself."""
    found: dict[str, None] = {}
    for value in values:
        try:
            alias = _name(value, "alias")
        except _UnreadableError:
            continue
        if entity_key(alias) != entity_key(name):
            found[alias] = None
    return tuple(found)


def _checked(relation: Relation) -> Relation:
    return replace(
        relation,
        source=_sound(relation.source, "source"),
        type=_name(relation.type, "relation"),
        target=_sound(relation.target, "target"),
        confidence=_confidence(relation.confidence),
    )


def _sound(entity: Entity, place: str) -> Entity:
    """Return an entity as it can be stored."""
    name = _name(entity.name, place)
    kind = display_name(clean_text(entity.type))[:MAX_NAME_CHARS]
    return replace(entity, name=name, type=kind, aliases=_aliases(entity.aliases, name))


def _is_name(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and bool(str(value).strip())


def _name(value: object, place: str) -> str:
    if value is None:
        raise _UnreadableError(f"has no {place}")
    if not _is_name(value):
        raise _UnreadableError(f"has a {place} that is no name")
    name = display_name(clean_text(str(value)))
    if not entity_key(name):
        raise _UnreadableError(f"has a {place} without a letter")
    if len(entity_key(name)) > MAX_NAME_CHARS or len(name) > MAX_NAME_CHARS:
        raise _UnreadableError(f"has a {place} of more than {MAX_NAME_CHARS} characters")
    return name


def _confidence(value: object) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]  # whatever it is, float() says if it is one
    except (TypeError, ValueError, OverflowError):
        return 1.0
    return 1.0 if math.isnan(number) else min(max(number, 0.0), 1.0)


def _moment(value: object) -> datetime | None:
    """Return a time that is written in ISO 8601; what is no time is none."""
    try:
        return as_utc(datetime.fromisoformat(value)) if isinstance(value, str) else None
    except (ValueError, ConfigurationError):
        return None


def _under(value: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)


def _first(value: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    folded = {str(key).casefold(): inner for key, inner in value.items()}
    return next((folded[name] for name in names if folded.get(name) is not None), None)


def _listed(value: Any) -> Iterator[Any]:
    """Yield the elements of a list, of a JSON text of one, or a lone element."""
    value = _unpacked(value)
    if isinstance(value, list):
        yield from value
    elif value is not None:
        yield value


def _unpacked(value: Any, depth: int = 0) -> Any:
    """Return the JSON value that a text holds; other values as they are."""
    if hasattr(value, "model_dump"):
        return value.model_dump()
    if not isinstance(value, str) or depth == _MAX_DEPTH:
        return list(value) if isinstance(value, tuple) else value
    try:
        return _unpacked(json_in(value), depth + 1)
    except UnreadableReplyError:
        return value


def _shown(part: object) -> str:
    if hasattr(part, "model_dump"):
        part = part.model_dump()
    return json.dumps(part, ensure_ascii=False, default=str)[:_MAX_SHOWN]
