"""Ways along relations: the shortest ones between two entities, and how far one gets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from langchain_memengine.storage.graph_reading import MAX_HOPS
from langchain_memengine.storage.graph_values import Relation, Subgraph

Steps = Callable[[Sequence[str]], Sequence[Relation]]
"""Entity ids to all relations that start or end at one of them."""


def shortest_paths(
    starts: Sequence[str], goals: Sequence[str], steps: Steps, *, max_hops: int, max_paths: int
) -> list[tuple[Relation, ...]]:
    """Return the shortest chains of relations between two entities, followed either way.

    Args:
        starts: Ids of the entity at one end.
        goals: Ids of the entity at the other; one that is also a start needs no path.
        steps: What leads on from entities; asked once a hop.
        max_hops: Relations in a path, at most.
        max_paths: Paths, at most; those that read first come first.

    Returns:
        Paths of the same length, none if there is no way.
    """
    ends = set(goals)
    arrivals: dict[str, list[tuple[str, Relation]]] = {one: [] for one in starts}
    frontier = list(arrivals)
    for _ in range(max_hops):
        if not frontier or ends & set(frontier):
            break
        fresh: dict[str, list[tuple[str, Relation]]] = {}
        here = set(frontier)
        for relation in steps(frontier):
            one, other = relation.source.id, relation.target.id
            for near, far in ((one, other), (other, one)):
                if near in here and far not in arrivals:
                    fresh.setdefault(far, []).append((near, relation))
        arrivals |= fresh
        frontier = list(fresh)
    reached = [goal for goal in frontier if goal in ends and arrivals[goal]]
    found = (path for goal in reached for path in _back(goal, arrivals))
    return [path for path, _ in zip(found, range(max_paths), strict=False)]


def along(found: Subgraph, relations: Sequence[Relation], hops: int) -> Subgraph:
    """Return what of a piece of the graph is within some hops when only these relations hold."""
    distance = {one: 0 for one, hop in found.hops.items() if hop == 0}
    kept: list[Relation] = []
    for hop in range(1, min(hops, MAX_HOPS) + 1):
        near = set(distance)
        touching = [one for one in relations if not near.isdisjoint(_ends(one))]
        for one in touching:
            for end in _ends(one):
                distance.setdefault(end, hop)
        kept = touching
    entities = [one for one in found.entities if one.id in distance]
    entities.sort(key=lambda one: distance[one.id])
    return replace(found, entities=tuple(entities), relations=tuple(kept), hops=distance)


def _ends(relation: Relation) -> tuple[str, str]:
    return relation.source.id, relation.target.id


def _back(
    goal: str, arrivals: dict[str, list[tuple[str, Relation]]]
) -> Iterator[tuple[Relation, ...]]:
    if not arrivals[goal]:
        yield ()
    for before, relation in arrivals[goal]:
        for path in _back(before, arrivals):
            yield (*path, relation)
