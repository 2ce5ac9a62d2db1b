"""Facts learnt in the background: from own words, once, revised, by person and branch."""

import io
from datetime import timedelta

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from sqlalchemy import select

from langchain_memengine.conversation.compaction import CompactionLimits
from langchain_memengine.conversation.lineage import join_heads
from langchain_memengine.errors import ChatModelError, ConfigurationError, UnknownCommitError
from langchain_memengine.faces.nodes import summarization_node
from langchain_memengine.jobs.reports import JobsReport
from langchain_memengine.storage.job_schema import jobs as job_table
from langchain_memengine.storage.job_values import JobContext
from langchain_memengine.types import Actor
from tests.fakes.archives import MemoryArchive
from tests.fakes.chat_models import ScriptedChatModel
from tests.fakes.clock import START, FixedClock
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, texts
from tests.fakes.facts import contradicting, fact, learner
from tests.fakes.graphs import chat_graph, config

ANN, BOB = Actor("ann"), Actor("bob")
HOME = {"relation": "lives in", "exclusive": True}
FACTS = {
    "in Rome": [fact("I live in Rome", "User lives in Rome.", **HOME)],
    "to Bern": [fact("I moved to Bern", "User lives in Bern.", **HOME)],
    "tea": [fact("I like tea", "User likes tea.")],
    "rum": [fact("I like rum", "User likes rum.")],
    "Tuesdays": [
        fact("deploy on Tuesdays", "The shop deploys on Tuesdays.", "deploys on",
             about="environment", subject="shop"),
    ],
}  # fmt: skip


@pytest.fixture
def engine():
    with make_engine(chat_model=learner(FACTS, contradicting)) as engine:
        yield engine


def learn(engine, *said, actor=ANN, **options):
    """Let somebody say something, do all jobs, and let a day pass."""
    queued = engine.learn([HumanMessage(one) for one in said], actor=actor, **options)
    engine.run_jobs()
    engine._clock.pass_days(1)
    return queued


def told(engine, actor=ANN, **options):
    return sorted(record.text for record in engine.facts(actor=actor, **options))


def payloads(engine):
    with engine._database.read() as tx:
        return "".join(tx.connection.execute(select(job_table.c.payload)).scalars())


def test_each_person_is_learnt_from_in_their_own_words(engine):
    messages = [
        HumanMessage("I live in Rome", name="ann"),
        AIMessage("I like rum"),
        HumanMessage("I like tea", additional_kwargs={"user_id": "bob"}, name="ann"),
        HumanMessage("We deploy on Tuesdays"),
    ]
    assert engine.learn(messages, thread_id="t", actor=ANN) == 2
    assert engine.run_jobs().done == 4
    assert told(engine) == ["The shop deploys on Tuesdays.", "User lives in Rome."]
    assert told(engine, BOB) == ["The shop deploys on Tuesdays.", "User likes tea."]
    assert texts(engine.search("tea", actor=ANN)) == []
    assert texts(engine.search("tea", actor=BOB)) == ["User likes tea."]


def test_without_a_model_the_work_waits_and_is_done_by_an_engine_with_one(tmp_path):
    with make_engine(tmp_path) as engine:
        assert learn(engine, "I like tea") == 1
        assert [job.state for job in engine.jobs()] == ["ready"]
        assert (engine.stats().jobs_ready, engine.stats().jobs_unknown) == (1, 1)
    with make_engine(tmp_path, chat_model=learner(FACTS)) as engine:
        assert engine.run_jobs() == JobsReport(done=2)
        assert told(engine) == ["User likes tea."]


def test_same_words_are_learnt_from_once_however_often_they_come(engine):
    assert [learn(engine, "I like tea", thread_id="t") for _ in range(3)] == [1, 0, 0]
    engine._clock.pass_days(30)  # rows of finished jobs are gone by then
    assert learn(engine, "I like tea", thread_id="t") == 0
    assert learn(engine, "I like tea", thread_id="u") == 1
    assert told(engine) == ["User likes tea."]
    assert len(engine._chat_model.calls) == 2


def test_failing_model_delays_and_loses_nothing():
    answers = iter([ChatModelError("down"), "no JSON", "no JSON"])
    model = learner(FACTS)
    respond = model.replies

    def flaky(messages):
        return next(answers, None) or respond(messages)

    with make_engine(chat_model=ScriptedChatModel(replies=flaky)) as engine:
        learn(engine, "I like tea")
        assert [job.state for job in engine.jobs()] == ["ready"]
        assert engine.facts(actor=ANN) == []
        assert engine.run_jobs() == JobsReport(failed=1, left=1)
        engine._clock.pass_days(1)
        assert engine.run_jobs() == JobsReport(done=2)
        assert told(engine) == ["User likes tea."]


def test_attempt_of_a_worker_that_died_leaves_nothing_behind(engine):
    engine.learn([HumanMessage("I like tea")], actor=ANN)
    (job,) = engine.jobs()
    assert engine._extract_facts(job, JobContext(START, lambda: False)) is not None
    assert engine.facts(actor=ANN) == []  # the effect is the worker's to apply
    assert engine.run_jobs().done == 2
    (record,) = engine.facts(actor=ANN)
    assert len(engine.revisions(record.id, actor=ANN)) == 1


def test_secrets_are_stored_nowhere_and_asked_nobody(engine):
    secret = "sk-proj-a1B2c3D4e5F6g7H8i9J0"  # noqa: S105  # nobody's
    engine.learn([HumanMessage(f"I like tea, and my key is {secret}")], actor=ANN)
    assert secret not in payloads(engine)
    assert "[redacted]" in payloads(engine)
    engine.run_jobs()
    assert secret not in "".join(engine._chat_model.prompts())
    assert told(engine) == ["User likes tea."]


def test_words_are_stored_as_they_are_written_and_not_after_they_were_learnt_from(engine):
    """As reported for llama_index (#15055): escaped on disk, and fed back so."""
    engine.learn([HumanMessage("Привет, I like tea")], actor=ANN)
    assert "Привет" in payloads(engine)
    engine.run_jobs()
    assert "tea" not in payloads(engine)
    assert "Привет" in engine._chat_model.prompts()[0]


# Beliefs


@pytest.mark.parametrize("embeddings", [None, FakeEmbeddings()], ids=["keywords", "vectors"])
def test_what_no_longer_holds_gives_way_and_is_kept_as_history(embeddings):
    """As reported for mem0 (#4896): two names of one person, both returned."""
    model = learner(FACTS, contradicting)
    with make_engine(chat_model=model, embeddings=embeddings) as engine:
        learn(engine, "I live in Rome")
        learn(engine, "I moved to Bern")
        assert told(engine) == ["User lives in Bern."]
        assert texts(engine.search("where does the user live", actor=ANN)) == [
            "User lives in Bern."
        ]
        rome, bern = engine.history_of("user", actor=ANN)
        assert (rome.fact.text, rome.until) == ("User lives in Rome.", START + timedelta(days=1))
        assert (bern.fact.text, bern.until, rome.replaced_by) == (
            "User lives in Bern.", None, bern.fact.id,
        )  # fmt: skip
        assert engine.history_of("user", actor=BOB) == ()


def test_correction_within_one_message_wins(engine):
    learn(engine, "I live in Rome. No: I moved to Bern")
    assert told(engine) == ["User lives in Bern."]


def test_fact_that_is_learnt_late_is_the_older_one_all_the_same():
    answers = iter([ChatModelError("down")])
    model = learner(FACTS, contradicting)
    respond = model.replies

    def flaky(messages):
        return next(answers, None) or respond(messages)

    with make_engine(chat_model=ScriptedChatModel(replies=flaky)) as engine:
        engine.learn([HumanMessage("I live in Rome")], actor=ANN)
        assert engine.run_jobs().failed == 1
        engine._clock.now += timedelta(milliseconds=100)  # the first job waits half a second
        engine.learn([HumanMessage("I moved to Bern")], actor=ANN, thread_id="t")
        assert engine.run_jobs().done == 2
        engine._clock.pass_days(1)
        assert engine.run_jobs().done == 2
        assert told(engine) == ["User lives in Bern."]


def test_parts_of_a_long_talk_are_in_order(engine):
    talk = ["I live in Rome", "blah " * 2_400, "I moved to Bern"]
    assert learn(engine, *talk) > 1
    assert told(engine) == ["User lives in Bern."]


def test_going_back_to_what_was_believed_before_is_believed(engine):
    for number, said in enumerate(["I live in Rome", "I moved to Bern", "Again I live in Rome"]):
        learn(engine, said, thread_id=str(number))
    assert told(engine) == ["User lives in Rome."]
    assert [one.until is None for one in engine.history_of("user", actor=ANN)] == [
        False, False, True,
    ]  # fmt: skip


def test_love_and_hate_are_about_the_same():
    """As reported for mem0 (#4536): love and hate, and both are gone."""
    model = learner(
        {
            "love": [fact("I love coffee", "User loves coffee.", "loves")],
            "hate": [fact("I hate coffee", "User hates coffee.", "hates")],
        },
        contradicting,
    )
    with make_engine(chat_model=model) as engine:
        learn(engine, "I love coffee")
        learn(engine, "I hate coffee now")
        assert told(engine) == ["User hates coffee."]
        assert len(engine.history_of("user", actor=ANN)) == 2


def test_unrelated_facts_are_not_retired_by_a_model_that_contradicts_everything():
    """As reported for graphiti (#1728): a small model ends half of all unrelated facts."""
    things = ["tea", "rum", "chess", "C", "C++", "Rome", "-5 degrees", "5 stars", "猫", "кофе"]
    owned = ["a boat", "two dogs", "a house in Kiel"]
    said = {f"I like {one}!": [fact(f"I like {one}", f"User likes {one}.")] for one in things}
    said |= {f"I own {one}!": [fact(f"I own {one}", f"User owns {one}.", "owns")] for one in owned}
    said["I live"] = [fact("I live in Oslo", "User lives in Oslo.", **HOME)]
    said["name"] = [fact("my name is Ann", "User's name is Ann.", "name", exclusive=True)]
    model = learner(said, contradicting)
    with make_engine(chat_model=model, embeddings=FakeEmbeddings()) as engine:
        for key in [*said][:-2]:
            learn(engine, key)
        learn(engine, "I live in Oslo")
        learn(engine, "my name is Ann")
        assert len(told(engine)) == len(said)


def test_facts_are_searched_for_only_where_their_meaning_can_matter():
    said = {one: [fact(f"I like {one}", f"User likes {one}.")] for one in ("tea", "rum", "milk")}
    said["cups"] = [fact("I own cups", "User owns cups.", "owns")]
    with make_engine(chat_model=learner(said), embeddings=FakeEmbeddings()) as engine:
        searched, similar = [], engine._similar_facts
        engine._similar_facts = lambda new, who: searched.append(new.text) or similar(new, who)
        learn(engine, "I like tea. I like rum. I like milk.")
        assert searched == []  # of one relation: only what is exclusive can contradict
        learn(engine, "I own cups")
        assert searched == ["User owns cups."]


def test_what_says_the_same_is_kept_once():
    model = learner(
        {
            "named": [fact("I am named Ann", "User is named Ann.", "name", exclusive=True)],
            "name is": [fact("my name is Ann", "User's name is Ann.", "name", exclusive=True)],
        },
        lambda new, older: ["same"] * len(older),
    )
    clock = FixedClock(START.replace(microsecond=123))  # finer than what is stored
    with make_engine(chat_model=model, clock=clock) as engine:
        learn(engine, "I am named Ann")
        learn(engine, "my name is Ann")
        assert told(engine) == ["User is named Ann."]
        (first, again) = engine.history_of("user", actor=ANN)
        assert again.replaced_by == first.fact.id
        (_, merged) = engine.revisions(again.fact.id, actor=ANN)
        assert merged.kind == "merge"
        engine.undo(merged.id, actor=ANN)
        assert told(engine) == ["User is named Ann.", "User's name is Ann."]


def test_a_fact_that_was_retired_comes_back_by_undo_at_any_time_of_a_real_clock():
    between = FixedClock(START + timedelta(microseconds=336_810))  # no whole milliseconds
    with make_engine(chat_model=learner(FACTS, contradicting), clock=between) as engine:
        learn(engine, "I live in Rome")
        learn(engine, "I moved to Bern")
        assert told(engine) == ["User lives in Bern."]
        (rome,) = [
            one.fact for one in engine.history_of("user", actor=ANN) if "Rome" in one.fact.text
        ]
        engine.undo(engine.revisions(rome.id, actor=ANN)[-1].id, actor=ANN)
        assert told(engine) == ["User lives in Bern.", "User lives in Rome."]


@pytest.mark.parametrize(
    "verdicts",
    [
        [],
        [{"number": 7, "verdict": "contradicts"}],
        [{"number": 1, "verdict": "contradicts"}, {"number": 1, "verdict": "same"}],
    ],
)
def test_verdict_that_cannot_be_meant_changes_nothing(verdicts):
    model = learner(FACTS)
    respond = model.replies

    def judge(messages):
        judging = str(messages[-1].text).startswith("New fact:")
        return {"reasoning": "", "verdicts": verdicts} if judging else respond(messages)

    with make_engine(chat_model=ScriptedChatModel(replies=judge)) as engine:
        learn(engine, "I live in Rome")
        learn(engine, "I moved to Bern")
        assert told(engine) == ["User lives in Bern.", "User lives in Rome."]


def test_other_peoples_facts_are_never_candidates(engine):
    learn(engine, "I live in Rome", actor=BOB)
    learn(engine, "I moved to Bern")
    assert told(engine, BOB) == ["User lives in Rome."]
    assert told(engine) == ["User lives in Bern."]
    assert "Rome" not in "".join(engine._chat_model.prompts()[2:])


def test_facts_of_one_subject(engine):
    learn(engine, "I like tea. We deploy on Tuesdays")
    assert told(engine, subject="Shop") == ["The shop deploys on Tuesdays."]
    assert told(engine, subject="user") == ["User likes tea."]


# Branches


def step(engine, head, kind):
    return join_heads(head, engine.commit("t", head, kind, [kind], actor=ANN))


def test_fork_hides_what_the_abandoned_branch_learnt_and_retired(engine):
    """A fact that an abandoned branch retired is current again."""
    base = step(engine, "", "base")
    learn(engine, "I live in Rome", thread_id="t", head=base)
    left = step(engine, base, "left")
    learn(engine, "I moved to Bern", thread_id="t", head=left)
    assert told(engine) == ["User lives in Bern."]

    right = step(engine, base, "right")
    assert told(engine) == ["User lives in Rome."]
    assert told(engine, head=left) == ["User lives in Bern."]
    (rome,) = engine.history_of("user", actor=ANN)
    assert (rome.fact.text, rome.until) == ("User lives in Rome.", None)
    learn(engine, "I moved to Bern", thread_id="t", head=right)  # may be learnt anew
    assert told(engine) == told(engine, head=left) == ["User lives in Bern."]


def test_branch_that_was_left_knows_what_it_has_learnt(engine):
    base = step(engine, "", "base")
    left = step(engine, base, "left")
    learn(engine, "I like tea", thread_id="t", head=left)
    further = step(engine, left, "further")
    step(engine, base, "right")
    learn(engine, "As I said, I like tea", thread_id="t", head=further)
    assert len(engine.history_of("user", actor=ANN, head=further)) == 1


def test_joined_heads_learn_on_the_newest(engine):
    one = engine.commit("t", "", "one", ["1"]).partition("<")[0]
    engine._clock.pass_days(1)
    two = engine.commit("t", "", "two", ["2"]).partition("<")[0]
    learn(engine, "I like tea", thread_id="t", head=f"{one}+{two}")
    assert [record.commit_id for record in engine.facts(actor=ANN)] == [two]


def test_head_of_another_conversation_or_of_none_is_refused(engine):
    head = step(engine, "", "base")
    with pytest.raises(UnknownCommitError):
        engine.learn([HumanMessage("I like tea")], thread_id="u", head=head)
    with pytest.raises(ConfigurationError, match="thread_id"):
        engine.learn([HumanMessage("I like tea")], head=head)
    assert engine.jobs() == []


# The node


def talk(engine, **options):
    limits = CompactionLimits(max_tokens=60)
    graph = chat_graph(summarization_node(engine, limits=limits, **options))
    for number in range(5):
        said = HumanMessage(f"I like tea, and said so {number} times.", id=f"h{number}")
        out = graph.invoke({"messages": [said]}, config(user_id="ann"))
    return out


def test_node_queues_the_learning_of_what_it_trims(engine):
    head = talk(engine)["memory_head"]
    (job, *_) = [one for one in engine.jobs() if one.kind == "fact_extract"]
    assert (job.owner, job.thread_id, job.commit_id) == ("ann", "t", head)
    engine.run_jobs()
    assert told(engine) == ["User likes tea."]


def test_node_learns_nothing_if_told_so(engine):
    talk(engine, learn=False)
    assert engine.jobs() == []


def test_with_an_archive_of_ones_own_facts_belong_to_no_branch(engine):
    talk(engine, archive=MemoryArchive())
    engine.run_jobs()
    (record,) = engine.facts(actor=ANN)
    assert record.commit_id is None


# The model


def test_unusable_model_is_refused_when_the_engine_opens():
    with pytest.raises(ConfigurationError, match="names no model"):
        make_engine(chat_model="openai:")


def test_model_without_a_key_fails_the_job_and_not_the_engine(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with make_engine(chat_model="openai:gpt-5-mini", clock=FixedClock()) as engine:
        learn(engine, "I like tea")
        assert "OPENAI_API_KEY" in (engine.jobs()[0].error or "")


def test_what_an_abandoned_branch_learnt_stays_hidden_after_an_export(engine):
    def committed(head, text):
        said = [HumanMessage(text, id=text)]
        update = engine.archive.commit("t", head, "archive", said, owner="", now=engine.now())
        return join_heads(head, update)

    left = committed("", "left")
    learn(engine, "I like tea", thread_id="t", head=left)
    right = committed("", "right")
    learn(engine, "I like rum", thread_id="t", head=right)
    assert told(engine) == ["User likes rum."]
    export = io.StringIO()
    engine.export(export, actor=ANN)
    assert "left" not in export.getvalue()  # what the conversation keeps is not hers alone
    with make_engine() as other:
        other.import_(io.StringIO(export.getvalue()), actor=ANN)
        assert told(other) == ["User likes rum."]
        assert told(other, head=left) == ["User likes tea."]
