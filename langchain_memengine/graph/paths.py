"""The shortest ways from one entity to another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from langchain_memengine.storage.graph_values import Relation

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
        if ends & set(frontier):
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


def _back(
    goal: str, arrivals: dict[str, list[tuple[str, Relation]]]
) -> Iterator[tuple[Relation, ...]]:
    if not arrivals[goal]:
        yield ()
    for before, relation in arrivals[goal]:
        for path in _back(before, arrivals):
            yield (*path, relation)
