"""Records: single memories with an owner, an origin and a history."""

from dataclasses import replace
from datetime import timedelta

import pytest

from langchain_memengine.errors import (
    ConfigurationError,
    NotFoundError,
    ScopeError,
    StorageError,
)
from langchain_memengine.storage.record_values import RecordState
from langchain_memengine.types import (
    Actor,
    Filter,
)
from tests.fakes.clock import START
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, texts

ALICE, BOB = Actor("alice"), Actor("bob")


@pytest.fixture(params=["keyword", "vectors"])
def engine(request, clock):
    embedder = FakeEmbeddings() if request.param == "vectors" else None
    with make_engine(embeddings=embedder, clock=clock) as engine:
        yield engine


def found(engine, query="Ann likes", **options):
    return sorted(texts(engine.search(query, 50, filter=Filter(source="record:*"), **options)))


# Remembering


def test_a_record_is_found_with_all_it_carries(engine):
    record = engine.remember(
        "Ann likes tea",
        metadata={"topic": "drinks"},
        thread_id="t",
        source="chat/1",
        actor=ALICE,
    )
    assert (record.scope, record.owner, record.origin) == ("personal", "alice", "user")
    assert (record.trust, record.thread_id, record.source) == ("trusted", "t", "chat/1")
    assert record.created_at == record.updated_at == START
    (hit,) = engine.search("Ann likes", filter={"topic": "drinks"}, actor=ALICE).hits
    assert (hit.text, hit.source, hit.owner) == ("Ann likes tea", f"record:{record.id}", "alice")
    assert hit.event_at == START
    assert engine.get(record.id, actor=ALICE) == record


def test_the_same_id_again_changes_nothing_or_is_an_update(engine, clock):
    first = engine.remember("Ann likes tea", id="drink")
    changes = engine.stats().change_counter
    clock.pass_days(1)
    assert engine.remember("Ann likes tea", id="drink") == first
    assert engine.stats().change_counter == changes
    second = engine.remember("Ann likes milk", id="drink")
    assert (second.created_at, second.updated_at) == (START, START + timedelta(days=1))
    assert [one.kind for one in engine.revisions("drink")] == ["add", "update"]
    assert found(engine) == ["Ann likes milk"]


def test_users_have_ids_of_their_own_and_both_names_find_the_record(engine):
    mine, theirs, shared = (
        engine.remember(f"{who} likes tea", id="drink", actor=actor)
        for who, actor in (("Alice", ALICE), ("Bob", BOB), ("Everyone", None))
    )
    assert len({mine.id, theirs.id, shared.id}) == 3
    assert shared.id == "drink"
    assert engine.get("drink", actor=ALICE) == engine.get(mine.id, actor=ALICE) == mine
    assert engine.get("drink", actor=BOB) == theirs
    with pytest.raises(NotFoundError, match="no record"):
        engine.get(theirs.id, actor=ALICE)


def test_an_id_of_another_scope_is_taken(engine):
    engine.remember("Tea at four", id="x")
    with pytest.raises(ConfigurationError, match="another scope"):
        engine.remember("Tea at five", id="x", scope="agent_config")
    assert engine.get("x").text == "Tea at four"


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("  \n", {}, "blank"),
        ("tea", {"id": ""}, "0 characters"),
        ("tea", {"id": "x" * 65}, "65 characters"),
        ("tea", {"thread_id": "x" * 256}, "thread_id has 256"),
        ("tea", {"source": "x" * 1025}, "source has 1025"),
        ("tea", {"metadata": {"a": object()}}, "object"),
    ],
)
def test_what_cannot_be_stored_is_named(engine, text, options, message):
    with pytest.raises(ConfigurationError, match=message):
        engine.remember(text, **options)
    assert engine.audit().records == ()


@pytest.mark.parametrize("text", ["Пользователь живёт в Москве", "用户喜欢黑咖啡", "Привет"])
def test_words_of_any_script_are_kept_and_found(engine, text):
    record = engine.remember(text, actor=ALICE)
    assert engine.get(record.id, actor=ALICE).text == text
    assert texts(engine.search(text, actor=ALICE)) == [text]


# Who may write


@pytest.mark.parametrize(
    ("scope", "writers"),
    [
        ("global", {"admin"}),
        ("personal", {"admin", "user"}),
        ("agent_notes", set()),
        ("agent_config", {"admin"}),
        ("wiki", set()),
        ("db_cache", set()),
    ],
)
def test_scopes_are_written_by_whom_the_policy_says(engine, scope, writers):
    for who, actor in (("admin", Actor("root", is_admin=True)), ("user", ALICE)):
        if who in writers:
            assert engine.remember("tea", scope=scope, actor=actor).scope == scope
        else:
            with pytest.raises(ScopeError):
                engine.remember("tea", scope=scope, actor=actor)


@pytest.mark.parametrize("origin", ["tool", "file", "assistant", "llm_extract"])
def test_what_no_person_said_never_becomes_personal(engine, origin):
    for actor in (ALICE, Actor("root", is_admin=True)):
        with pytest.raises(ScopeError, match="own words as evidence"):
            engine.remember("Ann is an admin", origin=origin, scope="personal", actor=actor)
    with pytest.raises(ScopeError):
        engine.remember("Ann is an admin", origin=origin, actor=ALICE)
    assert engine.audit().records == ()


def test_extracted_words_need_evidence_and_others_cannot_have_any(engine):
    record = engine.remember(
        "Ann likes tea", origin="llm_extract", evidence="I like tea", actor=ALICE
    )
    assert (record.metadata, record.trust) == ({"evidence": "I like tea"}, "unverified")
    with pytest.raises(ScopeError):
        engine.remember("Ann likes tea", origin="tool", evidence="I like tea", actor=ALICE)
    with pytest.raises(ScopeError):
        engine.remember("Ann likes tea", origin="llm_extract", evidence=" ", actor=ALICE)


@pytest.mark.parametrize(
    ("origin", "usual", "refused"),
    [
        ("user", "trusted", []),
        ("assistant", "unverified", ["trusted"]),
        ("llm_extract", "unverified", ["trusted"]),
        ("tool", "untrusted", ["trusted", "unverified"]),
    ],
)
def test_trust_is_never_more_than_the_origin_has(engine, origin, usual, refused):
    options = {"origin": origin, "scope": "global" if origin == "user" else "agent_notes"}
    assert engine.remember("tea", **options).trust == usual
    assert engine.remember("tea", trust="untrusted", **options).trust == "untrusted"
    for trust in refused:
        with pytest.raises(ScopeError, match="at most"):
            engine.remember("tea", trust=trust, **options)


def test_notes_of_an_agent_are_read_by_everyone_and_changed_by_an_admin_only(engine):
    note = engine.remember("The build takes tea", origin="tool", scope="agent_notes", actor=ALICE)
    assert found(engine, "tea", actor=BOB) == ["The build takes tea"]
    (hit,) = engine.search("tea", actor=BOB).hits
    assert (hit.receipt.origin, hit.receipt.trust) == ("tool", "untrusted")
    with pytest.raises(ScopeError):
        engine.update(note.id, text="tea", actor=BOB)
    assert engine.update(note.id, text="The build takes milk").text == "The build takes milk"


# What is not current


def test_a_record_is_found_only_while_it_is_valid(engine, clock):
    engine.remember("Ann likes tea", valid_from=START + timedelta(days=1))
    engine.remember("Ann likes milk", expires_at=START + timedelta(days=1))
    assert found(engine) == ["Ann likes milk"]
    assert [r.text for r in engine.list_records()] == ["Ann likes milk"]
    clock.pass_days(1)
    assert found(engine) == ["Ann likes tea"]
    assert [r.text for r in engine.list_records()] == ["Ann likes tea"]
    assert len(engine.list_records(current=False)) == 2


def test_what_would_never_be_valid_is_refused(engine, clock):
    for hours in (0, 1):
        with pytest.raises(ConfigurationError, match="Nothing is valid from"):
            engine.remember(
                "plums", valid_from=clock.now, expires_at=clock.now - timedelta(hours=hours)
            )
    assert engine.remember("plums", expires_at=clock.now - timedelta(hours=1)).text == "plums"


def test_what_is_over_takes_no_place_from_what_is_valid(engine, clock):
    for i in range(80):
        engine.remember(f"Ann likes tea {i}", expires_at=START + timedelta(days=1), actor=ALICE)
    engine.remember("Somebody called Ann sometimes likes a cup of tea", actor=ALICE)
    clock.pass_days(2)
    assert texts(engine.search("Ann likes tea", 3, actor=ALICE)) == [
        "Somebody called Ann sometimes likes a cup of tea"
    ]


def test_a_superseded_record_is_not_found_and_explain_says_why(engine, clock):
    old = engine.remember("Ann likes tea", actor=ALICE)
    (hit,) = engine.search("Ann", actor=ALICE).hits
    clock.pass_days(1)
    new = engine.remember("Ann likes milk", actor=ALICE)
    engine.supersede(old.id, new.id, actor=ALICE)
    assert found(engine, actor=ALICE) == ["Ann likes milk"]
    assert found(engine, as_of=START, actor=ALICE) == ["Ann likes tea"]
    assert [r.id for r in engine.list_records(actor=ALICE)] == [new.id]
    assert engine.get(old.id, actor=ALICE) == old
    assert "superseded" in engine.explain("Ann", hit.id, actor=ALICE).reason
    (revision,) = [r for r in engine.revisions(old.id, actor=ALICE) if r.kind == "supersede"]
    engine.undo(revision.id, actor=ALICE)
    assert found(engine, actor=ALICE) == ["Ann likes milk", "Ann likes tea"]


def test_a_supersession_counts_on_its_branch_only(engine):
    base = engine.commit("t", "", "fact", ["base"]).partition("<")[0]
    left = engine.commit("t", base, "fact", ["left"]).partition("<")[0]
    old = engine.remember("Ann likes tea")
    new = engine.remember("Ann likes milk")
    engine._records.supersede(old.id, new.id, now=START, commit_id=left)
    assert found(engine) == ["Ann likes milk"]
    assert found(engine, thread_id="t", head=base) == ["Ann likes milk", "Ann likes tea"]
    engine.commit("t", base, "fact", ["right"])  # the left branch is abandoned
    assert found(engine) == ["Ann likes milk", "Ann likes tea"]
    assert [r.text for r in engine.list_records()] != ["Ann likes milk"]
    engine.commit("t", left, "fact", ["left goes on"])
    assert found(engine) == ["Ann likes milk"]


def test_nobody_supersedes_what_they_may_not_write(engine):
    shared, mine = engine.remember("Tea at four"), engine.remember("Tea at five", actor=ALICE)
    with pytest.raises(ScopeError):
        engine.supersede(shared.id, mine.id, actor=ALICE)
    with pytest.raises(NotFoundError):
        engine.supersede(mine.id, shared.id, actor=BOB)
    with pytest.raises(ConfigurationError, match="own place"):
        engine.supersede(shared.id, shared.id)


def test_no_record_gives_way_to_one_that_its_readers_do_not_find(engine, clock):
    engine.remember("plums for all", id="all", scope="global")
    engine.remember("plums of mine", id="mine", scope="personal")
    engine.remember("plums later", id="later", valid_from=clock.now + timedelta(days=1))
    for new, told in (("mine", "others who read"), ("later", "not valid before")):
        with pytest.raises(ConfigurationError, match=told):
            engine.supersede("all", new)
    assert "plums for all" in texts(engine.search("plums", actor=ALICE))
    engine.supersede("mine", "all")
    clock.pass_days(2)
    engine.supersede("all", "later")
    assert texts(engine.search("plums", actor=ALICE)) == ["plums later"]


def test_records_never_take_one_another_s_place(engine):
    for name, drink in (("a", "tea"), ("b", "milk"), ("c", "wine")):
        engine.remember(f"Ann likes {drink}", id=name)
    engine.supersede("a", "b")
    engine.supersede("b", "c")
    for gone in ("b", "c"):
        with pytest.raises(ConfigurationError, match=f"'{gone}' took the place of 'a' before"):
            engine.supersede(gone, "a")
    assert found(engine) == ["Ann likes wine"]
    (made,) = [one for one in engine.revisions("a") if one.kind == "supersede"]
    engine.undo(made.id)
    engine.supersede("c", "a")
    assert found(engine) == ["Ann likes tea"]


def test_an_id_that_is_too_long_names_no_record(engine):
    engine.remember("Ann likes tea", id="a" * 64)
    engine.add_texts(["Ann likes milk"], ids=["a" * 65])
    engine.forget(["a" * 65])
    assert texts(engine.search("Ann likes", 9)) == ["Ann likes tea"]
    with pytest.raises(NotFoundError):
        engine.get("a" * 65)


# Listing


def test_lists_are_filtered_and_paged_newest_first(engine, clock):
    for i in range(5):
        engine.remember(f"tea {i}", thread_id=f"t{i % 2}", source=f"chat/{i}", actor=ALICE)
        clock.pass_days(i % 2)
    engine.remember("tea of all")
    options = {"actor": ALICE, "scope": "personal"}
    everything = engine.list_records(**options)
    pages = [engine.list_records(limit=2, **options)]
    while pages[-1]:
        pages.append(engine.list_records(limit=2, after=pages[-1][-1], **options))
    assert [len(page) for page in pages] == [2, 2, 1, 0]
    assert [r.id for page in pages for r in page] == [r.id for r in everything]
    assert [r.created_at for r in everything] == sorted(
        (r.created_at for r in everything), reverse=True
    )

    def listed(**wanted):
        return sorted(r.text for r in engine.list_records(actor=ALICE, **wanted))

    assert listed(thread_id="t1") == ["tea 1", "tea 3"]
    assert listed(source="chat/3") == ["tea 3"]
    assert listed(source="chat/*") == [f"tea {i}" for i in range(5)]
    assert listed(owner="alice") == [f"tea {i}" for i in range(5)]
    assert listed(since=START + timedelta(days=1), until=START + timedelta(days=2)) == [
        "tea 2",
        "tea 3",
    ]
    assert listed(origin="tool") == listed(trust="untrusted") == []
    assert [r.text for r in engine.list_records(owner="alice")] == []
    with pytest.raises(ConfigurationError):
        engine.list_records(limit=-1)


# History


def test_an_undo_restores_exactly_and_can_be_undone(engine, clock):
    first = engine.remember("Ann likes tea", metadata={"a": [1, "é"]}, actor=ALICE)
    clock.pass_days(1)
    second = engine.update(first.id, text="Ann likes milk", metadata={}, actor=ALICE)
    added, updated = engine.revisions(first.id, actor=ALICE)
    assert (updated.before, updated.after) == (RecordState(first), RecordState(second))
    assert engine.undo(updated.id, actor=ALICE) == first == engine.get(first.id, actor=ALICE)
    assert found(engine, actor=ALICE) == ["Ann likes tea"]
    undone = engine.revisions(first.id, actor=ALICE)[-1]
    assert engine.undo(undone.id, actor=ALICE) == second
    with pytest.raises(StorageError, match="changed after"):
        engine.undo(added.id, actor=ALICE)


def test_undoing_an_addition_removes_the_record(engine):
    record = engine.remember("Ann likes tea")
    (added,) = engine.revisions(record.id)
    assert engine.undo(added.id) is None
    assert found(engine) == []
    with pytest.raises(NotFoundError):
        engine.get(record.id)
    engine.undo(engine.revisions(record.id)[-1].id)
    assert engine.get(record.id) == record


def test_history_of_others_is_closed(engine):
    mine = engine.remember("Ann likes tea", actor=ALICE)
    (added,) = engine.revisions(mine.id, actor=ALICE)
    for call in (
        lambda: engine.revisions(mine.id, actor=BOB),
        lambda: engine.undo(added.id, actor=BOB),
        lambda: engine.update(mine.id, text="x", actor=BOB),
        lambda: engine.undo("nothing"),
    ):
        with pytest.raises(NotFoundError):
            call()
    assert engine.get(mine.id, actor=ALICE) == mine


def test_what_was_done_last_is_listed_newest_first_to_who_may_read_it(engine, clock):
    engine.remember("Tea is at four.", id="tea")
    clock.pass_days(1)
    engine.remember("I like milk.", actor=ALICE)
    clock.pass_days(1)
    engine.update("tea", text="Tea is at five.")
    seen = {actor: engine.latest_revisions(actor=actor) for actor in (None, ALICE, BOB)}
    assert [one.kind for one in seen[None]] == ["update", "add"]  # nobody else's personal memory
    assert [one.kind for one in seen[ALICE]] == ["update", "add", "add"]
    assert seen[BOB] == seen[None]
    assert engine.latest_revisions(limit=1) == seen[None][:1]
    engine.forget(["tea"])
    assert engine.latest_revisions() == []
    with pytest.raises(ConfigurationError, match="limit=-1"):
        engine.latest_revisions(limit=-1)


def test_a_change_that_somebody_else_overtakes_is_made_on_top_of_theirs(engine):
    record = engine.remember("Ann likes tea", id="x")
    keeper, overtaken = engine._records, []

    def change(state):
        if not overtaken:
            overtaken.append(state)
            engine.update("x", metadata={"by": "another"})
        return replace(state, record=replace(state.record, text="Ann likes milk"))

    keeper.change({"x": change}, "update", now=START)
    assert (engine.get("x").text, engine.get("x").metadata) == (
        "Ann likes milk",
        {"by": "another"},
    )
    assert overtaken[0].record == record


def test_an_audit_counts_what_the_actor_may_know_of(engine):
    engine.remember("tea", actor=ALICE)
    engine.remember("tea", actor=BOB)
    engine.remember("tea", origin="tool", scope="agent_notes")
    counted = [(c.scope, c.owner, c.origin, c.trust, c.records) for c in engine.audit().records]
    assert counted == [
        ("agent_notes", "", "tool", "untrusted", 1),
        ("personal", "alice", "user", "trusted", 1),
        ("personal", "bob", "user", "trusted", 1),
    ]
    assert {count.owner for count in engine.audit(actor=ALICE).records} == {"", "alice"}


def test_words_that_look_like_front_matter_are_found(engine):
    engine.remember("---\nwifi: hunter2\n---")
    assert found(engine, "wifi") == ["---\nwifi: hunter2\n---"]
