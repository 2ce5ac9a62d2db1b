"""What every database must do with experiences."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from langchain_memengine.storage import experiences
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.experience_values import Experience, ExperienceStats, IntentRow
from langchain_memengine.storage.times import to_ms
from tests.storage.contract import MANY, NOW

LEARNT = Experience(
    id="1",
    kind="tool_chain",
    intent="make a gif 🎞",
    solution={"steps": [{"name": "ffmpeg", "ok": True}], "größe": None},
    success_score=0.5,
    tags=("video", "ünï"),
    user="ann",
    session="s",
    created_at=NOW,
)


def put(database: Database, *learnt: Experience) -> None:
    with database.write() as tx:
        experiences.put(tx, learnt)


def changes(database: Database) -> int:
    with database.read() as tx:
        return tx.counters().changes


def by_id(one: Experience) -> str:
    return one.id


class ExperienceContract:
    """Experiences of one store."""

    def test_what_is_put_is_read_as_it_was(self, database):
        used = replace(
            LEARNT,
            id="2",
            weight=0.25,
            use_count=3,
            last_used_at=NOW + timedelta(days=1),
            decayed_at=datetime(2027, 1, 1, tzinfo=UTC),
        )
        put(database, LEARNT, used)
        with database.read() as tx:
            assert experiences.by_id(tx, ["2", "1", "0"]) == {"1": LEARNT, "2": used}
            assert experiences.by_id(tx, []) == {}

    def test_those_of_some_users_are_read(self, database):
        later, theirs = replace(LEARNT, id="2", session="t"), replace(LEARNT, id="3", user="bob")
        put(database, LEARNT, later, theirs)
        many = [str(number) for number in range(MANY)]
        with database.read() as tx:
            assert sorted(experiences.all_users(tx)) == ["ann", "bob"]
            assert list(experiences.of_users(tx, [])) == []
            assert sorted(experiences.of_users(tx, [*many, "ann"]), key=by_id) == [LEARNT, later]
            assert list(experiences.of_users(tx, ["ann", "bob"], session="t")) == [later]

    def test_many_are_put_used_and_removed_at_once(self, database):
        many = [replace(LEARNT, id=str(n)) for n in range(MANY)]
        ids = [one.id for one in many]
        put(database, *many)
        with database.write() as tx:
            experiences.note_use(tx, ids, now=NOW)
            assert {one.use_count for one in experiences.by_id(tx, ids).values()} == {1}
            assert experiences.remove(tx, [*ids, "no such"]) == MANY
            assert experiences.by_id(tx, ids) == {}

    def test_putting_a_known_id_replaces_it(self, database):
        put(database, LEARNT)
        put(database, replace(LEARNT, intent="else", user="bob"))
        with database.read() as tx:
            assert experiences.keys(tx) == {("bob", "1")}
            assert experiences.by_id(tx, ["1"])["1"].intent == "else"

    def test_the_latest_of_some_users_stand_newest_first_then_by_id(self, database):
        put(
            database,
            replace(LEARNT, id="b"),
            replace(LEARNT, id="a"),
            replace(LEARNT, id="new", user="", created_at=NOW + timedelta(seconds=1)),
            replace(LEARNT, id="other", kind="task_solution"),
            replace(LEARNT, id="bob's", user="bob"),
        )
        with database.read() as tx:
            every = experiences.latest(tx, ("", "ann"))
            chains = experiences.latest(tx, ("ann",), "tool_chain", limit=1)
        assert [one.id for one in every] == ["new", "a", "b", "other"]
        assert [one.id for one in chains] == ["a"]

    def test_intents_are_told_that_changed_after_a_number(self, database):
        put(database, LEARNT)
        seen = changes(database)
        put(database, replace(LEARNT, id="2", weight=0.5))
        with database.read() as tx:
            assert experiences.intents(tx, after_seq=seen) == [
                IntentRow("2", "ann", "tool_chain", LEARNT.intent, LEARNT.tags, to_ms(NOW), 0.25)
            ]
            assert len(experiences.intents(tx, after_seq=0)) == 2

    def test_uses_change_nothing_that_is_followed(self, database):
        put(database, LEARNT)
        seen = changes(database)
        with database.write() as tx:
            experiences.note_use(tx, ["1"], now=NOW + timedelta(days=1))
            experiences.note_use(tx, ["1"], now=NOW + timedelta(days=2))
        assert changes(database) == seen
        with database.read() as tx:
            used = experiences.by_id(tx, ["1"])["1"]
        assert (used.use_count, used.last_used_at) == (2, NOW + timedelta(days=2))

    def test_age_counts_from_the_latest_of_birth_use_and_decay(self, database):
        later, latest = NOW + timedelta(days=1), NOW + timedelta(days=2)
        put(
            database,
            LEARNT,
            replace(LEARNT, id="2", last_used_at=latest, decayed_at=later),
            replace(LEARNT, id="3", last_used_at=later, decayed_at=latest, weight=0.5),
        )
        with database.read() as tx:
            assert sorted(experiences.weights(tx)) == [
                ("1", 1.0, to_ms(NOW)),
                ("2", 1.0, to_ms(latest)),
                ("3", 0.5, to_ms(latest)),
            ]

    def test_new_weights_are_followed_and_note_when(self, database):
        put(database, LEARNT, replace(LEARNT, id="2"))
        seen = changes(database)
        with database.write() as tx:
            experiences.set_weights(tx, {"2": 0.125}, now=NOW)
        with database.write() as tx:
            experiences.set_weights(tx, {}, now=NOW)
        assert changes(database) == seen + 1
        with database.read() as tx:
            assert [row.quality for row in experiences.intents(tx, after_seq=seen)] == [0.0625]
            assert experiences.by_id(tx, ["2"])["2"].decayed_at == NOW
            assert experiences.by_id(tx, ["1"])["1"] == LEARNT

    def test_what_weighs_less_is_removed_and_that_is_told(self, database):
        weights = {"1": 0.05, "2": 0.049, "3": 1.0}
        put(database, *(replace(LEARNT, id=id_, weight=w) for id_, w in weights.items()))
        with database.write() as tx:
            assert experiences.removed_seq(tx) == 0
            assert experiences.remove_below(tx, 0.05) == 1
            assert experiences.removed_seq(tx) == tx.seq
        seen = changes(database)
        with database.write() as tx:
            assert experiences.remove_below(tx, 0.05) == 0
            assert experiences.keys(tx) == {("ann", "1"), ("ann", "3")}
        assert changes(database) == seen

    def test_counts_go_over_all_users(self, database):
        with database.read() as tx:
            assert experiences.stats(tx) == ExperienceStats()
        put(
            database,
            LEARNT,
            replace(LEARNT, id="2", user="bob", weight=0.5, use_count=3, success_score=1.0),
            replace(LEARNT, id="3", kind="error_recovery", use_count=1, success_score=0.0),
        )
        with database.read() as tx:
            assert experiences.stats(tx) == ExperienceStats(
                total=3,
                by_kind={"error_recovery": 1, "tool_chain": 2},
                uses=4,
                average_weight=2.5 / 3,
                average_success=0.5,
            )


class ExperiencesOfStoresContract:
    """Two stores of one database: ``opened(store_id="a")``."""

    def test_two_stores_do_not_see_each_other(self, opened):
        a, b = opened(store_id="a"), opened(store_id="b")
        put(a, LEARNT)
        put(b, replace(LEARNT, intent="b's"))
        with b.write() as tx:
            experiences.note_use(tx, ["1"], now=NOW)
            experiences.set_weights(tx, {"1": 0.01}, now=NOW)
            assert [row.intent for row in experiences.intents(tx, after_seq=0)] == ["b's"]
            assert len(experiences.weights(tx)) == len(experiences.latest(tx, ("ann",))) == 1
            assert experiences.stats(tx).total == 1
            assert experiences.remove_below(tx, 0.05) == 1
        with a.read() as tx:
            assert experiences.by_id(tx, ["1"]) == {"1": LEARNT}
            assert experiences.removed_seq(tx) == 0
        with b.write() as tx:
            assert experiences.remove(tx, ["1"]) == 0
        with a.read() as tx:
            assert experiences.keys(tx) == {("ann", "1")}
