"""Shortest ways along relations, on a graph small enough to draw."""

from langchain_memengine.graph.paths import along, shortest_paths
from langchain_memengine.storage.graph_values import Entity, Relation, Subgraph

A, B, C, D, E = (Entity(name) for name in "ABCDE")


def rel(one, other):
    return Relation(one, "to", other)


# A → B → D, A → C → D, D → E: two ways of the same length from A to D.
AB, BD, AC, CD, DE = rel(A, B), rel(B, D), rel(A, C), rel(C, D), rel(D, E)
ALL = (AB, BD, AC, CD, DE)


def steps(ids):
    here = set(ids)
    return [one for one in ALL if here & {one.source.id, one.target.id}]


def paths(start, goal, max_hops=6, max_paths=9):
    return shortest_paths([start.id], [goal.id], steps, max_hops=max_hops, max_paths=max_paths)


def test_all_shortest_ways_are_found_in_the_order_they_are_read():
    assert paths(A, D) == [(AB, BD), (AC, CD)]
    assert paths(A, E) == [(AB, BD, DE), (AC, CD, DE)]


def test_relations_are_followed_against_their_direction_too():
    assert paths(E, D) == [(DE,)]
    assert paths(B, C) == [(AB, AC), (BD, CD)]


def test_ways_beyond_the_limits_are_left_out():
    assert paths(A, E, max_hops=2) == []
    assert paths(A, D, max_paths=1) == [(AB, BD)]


def test_a_goal_that_is_a_start_needs_no_way_and_a_stranger_has_none():
    assert paths(A, A) == []
    assert paths(A, Entity("Z")) == []


def test_each_hop_asks_once():
    asked = []
    shortest_paths(
        [A.id], [E.id], lambda ids: asked.append(set(ids)) or steps(ids), max_hops=6, max_paths=1
    )
    assert asked == [{A.id}, {B.id, C.id}, {D.id}]


def test_a_piece_of_the_graph_shrinks_to_what_still_holds():
    hops = {A.id: 0, B.id: 1, C.id: 1, D.id: 2}
    found = Subgraph((A, B, C, D), (AB, AC, BD, CD), hops)
    kept = along(found, [AB, BD, DE], 2)
    assert kept.entities == (A, B, D)
    assert kept.relations == (AB, BD)
    assert kept.hops == {A.id: 0, B.id: 1, D.id: 2}
    assert along(found, [BD], 2).entities == (A,)  # nothing leads away from A any more
