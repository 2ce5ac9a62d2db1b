"""Which entity a name means."""

import numpy as np
import pytest

from langchain_memengine.graph.resolution import NameMerge, mentions, renamed, resolve
from langchain_memengine.storage.graph_values import Entity, Relation
from langchain_memengine.text.names import entity_key

APPLE, FRUIT = Entity("Apple", "Company"), Entity("Apple", "Fruit")
POSTGRES = Entity("PostgreSQL", "Database", aliases=("Postgres",))


def known(*entities):
    found = {}
    for entity in entities:
        for name in (entity.name, *entity.aliases):
            found.setdefault(entity_key(name), []).append(entity)
    return found


@pytest.mark.parametrize(
    ("new", "means"),
    [
        (Entity("apple", "company"), APPLE),  # the same name and type, in any case
        (Entity("Postgres", "Database"), POSTGRES),  # an alias of the only one of its type
        (Entity("PG", "Database", aliases=("Postgres",)), POSTGRES),
        (Entity("Postgres"), POSTGRES),  # no type, and only one is called so
    ],
)
def test_a_name_means_the_entity_that_is_known_by_it(new, means):
    found = resolve(new, known(APPLE, FRUIT, POSTGRES))
    assert found.id == means.id
    assert found.name == new.name


@pytest.mark.parametrize(
    "new",
    [
        Entity("Apple"),  # no type, and two are called so
        Entity("Apple", "Person"),  # none of this type
        Entity("Pear", "Fruit"),
    ],
)
def test_a_name_that_means_none_or_two_is_a_new_entity(new):
    assert resolve(new, known(APPLE, FRUIT)) == new


def merge(new, candidates, vectors):
    return NameMerge(lambda names: np.asarray([vectors[name] for name in names])).merged(
        new, candidates
    )


def test_names_near_enough_are_merged_with_the_nearest_of_their_type():
    new = Entity("Postgre", "Database")
    near, nearer = POSTGRES, Entity("Postgres DB", "Database")
    vectors = {"Postgre": [2, 0], "PostgreSQL": [0.93, 0.3676], "Postgres DB": [1, 0.1]}
    # Cosines: 0.93, and 1 / sqrt(1.01) = 0.995.
    assert merge([new], {new.id: [near, nearer]}, vectors) == {new.id: nearer}
    assert merge([new], {new.id: [near]}, vectors) == {new.id: near}


def test_names_of_other_types_or_too_far_away_are_not_merged():
    new = Entity("Mercury", "Planet")
    vectors = {"Mercury": [1, 0], "Mercurius": [0.91, 0.4146]}  # cosine 0.91
    metal, god = Entity("Mercury", "Metal"), Entity("Mercurius", "Planet")
    assert merge([new], {new.id: [metal, god]}, vectors) == {}


def test_without_candidates_nothing_is_embedded():
    def embed(_names):
        raise AssertionError

    assert NameMerge(embed).merged([APPLE], {}) == {}
    assert NameMerge(embed).merged([APPLE], {APPLE.id: [APPLE]}) == {}


def test_everything_spoken_of_is_mentioned_and_relations_follow_their_ends():
    relation = Relation(APPLE, "uses", POSTGRES)
    assert mentions([FRUIT], [relation]) == {one.id: one for one in (APPLE, POSTGRES, FRUIT)}
    other = Entity("Apple Inc.", "Company")
    assert renamed(relation, {APPLE.id: other}) == Relation(other, "uses", POSTGRES)
