"""Five users do whatever there is to do: no answer to one holds an id or a word of another.

``MEMENGINE_EXAMPLES`` sets how many histories are tried; each has up to 40 operations.
"""

import io
import json
import os
from datetime import timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from langchain_core.messages import HumanMessage

from langchain_memengine.errors import MemEngineError, NotFoundError, ScopeError
from langchain_memengine.types import (
    Actor,
    Filter,
)
from tests.fakes.clock import FixedClock
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine
from tests.fakes.facts import fact, learner

# Names that a careless folder name would make equal.
USERS = ("ann", "Ann", "bob", "b/ob", "")
NAMES = st.sampled_from(["1", "2", "3"])
WHO = st.sampled_from(USERS)
ADMIN = Actor("root", is_admin=True)
THREADS = st.sampled_from(["t", "u"])
QUERIES = st.sampled_from(["common", "common 1", "common secret words of everybody"])


def mark(user):
    """Return a word that every text of a user holds, and no other user's."""
    return f"mark{USERS.index(user)}mark"


class IsolationMachine(RuleBasedStateMachine):
    """What a user may see is what they wrote; nothing here is written for everyone."""

    @initialize()
    def start(self):
        self.clock = FixedClock()
        liked = {
            mark(user): [fact(f"I like {mark(user)}", f"User likes {mark(user)}")] for user in USERS
        }
        self.engine = make_engine(
            embeddings=FakeEmbeddings(), clock=self.clock, chat_model=learner(liked)
        )
        self.ids = {user: set() for user in USERS}  # of records, revisions and chunks
        self.texts = 0

    def teardown(self):
        if hasattr(self, "engine"):
            self.engine.close()

    def words(self, user, name=""):
        self.texts += 1
        return f"common {name} {mark(user)} n{self.texts}"

    def check(self, user, answer):
        """Make sure that an answer holds nothing of anybody else."""
        told = answer if isinstance(answer, str) else repr(answer)
        for other in USERS:
            if other != user:
                assert mark(other) not in told, (user, other)
                for one in self.ids[other]:
                    assert one not in told, (user, other)
        return answer

    def note_hits(self, user, hits):
        self.ids[user].update(hit.id for hit in hits)

    @rule(user=WHO, name=NAMES, thread=THREADS)
    def remember(self, user, name, thread):
        record = self.engine.remember(
            self.words(user, name), id=name, thread_id=thread, source="chat", actor=Actor(user),
            expires_at=self.clock.now + timedelta(days=3) if name == "3" else None,
        )  # fmt: skip
        self.check(user, record)
        self.ids[user].add(record.id)
        self.ids[user].update(r.id for r in self.engine.revisions(name, actor=Actor(user)))

    @rule(user=WHO, name=NAMES)
    def add(self, user, name):
        self.engine.add_texts([self.words(user, name)], ids=[name], actor=Actor(user))

    @rule(user=WHO, thread=THREADS, name=NAMES)
    def archive(self, user, thread, name):
        if user:  # nobody's archive is everyone's
            message = HumanMessage(self.words(user), id=name)
            self.engine.archive.commit(
                thread, "", "archive", [message], owner=user, now=self.clock.now
            )

    @rule(user=WHO, name=NAMES)
    def update(self, user, name):
        try:
            self.check(
                user, self.engine.update(name, text=self.words(user, name), actor=Actor(user))
            )
        except NotFoundError as error:
            self.check(user, str(error))

    @rule(user=WHO, name=NAMES, data=st.data())
    def undo(self, user, name, data):
        try:
            found = self.check(user, self.engine.revisions(name, actor=Actor(user)))
            revision = data.draw(st.sampled_from(found))
            self.check(user, self.engine.undo(revision.id, actor=Actor(user)))
        except MemEngineError as error:
            self.check(user, str(error))

    @rule(user=WHO, old=NAMES, new=NAMES)
    def supersede(self, user, old, new):
        try:
            self.engine.supersede(old, new, actor=Actor(user))
        except MemEngineError as error:
            self.check(user, str(error))

    @rule(user=WHO, thief=WHO, data=st.data())
    def reach_for_what_is_anothers(self, user, thief, data):
        if user == thief or not self.ids[user]:
            return
        one = data.draw(st.sampled_from(sorted(self.ids[user])))
        before = self.everything_of(user)
        actor = Actor(thief)
        for call in (
            lambda: self.engine.get(one, actor=actor),
            lambda: self.engine.update(one, text="taken", actor=actor),
            lambda: self.engine.undo(one, actor=actor),
            lambda: self.engine.forget([one], actor=actor),
            lambda: self.engine.explain("common", one, actor=actor),
            lambda: self.engine.forget(owner=user or "x", actor=actor),
        ):
            with pytest.raises((NotFoundError, ScopeError)):
                call()
        assert self.engine.delete([one], actor=actor) == 0
        for options in ({"source": f"record:{one}"}, {"source": one}):
            assert self.engine.forget(actor=actor, **options).removed == {}
        assert self.everything_of(user) == before

    @rule(
        user=WHO,
        what=st.sampled_from(
            [{"thread": "t"}, *({"source": s} for s in ("chat", "doc:*", "*")), {"ids": ["1"]}]
        ),
    )  # fmt: skip
    def forget(self, user, what):
        others = {other: self.everything_of(other) for other in USERS if other != user}
        try:
            self.check(user, self.engine.forget(actor=Actor(user), **what))
        except NotFoundError as error:
            self.check(user, str(error))
        assert {other: self.everything_of(other) for other in others} == others

    @rule(user=WHO, thread=THREADS)
    def learn(self, user, thread):
        if not user:  # a message by nobody is the engine's own user's
            return
        said = HumanMessage(f"I like {mark(user)}", additional_kwargs={"user_id": user})
        self.engine.learn([said], thread_id=thread, actor=Actor(user))
        assert self.engine.run_jobs().dead == 0
        self.ids[user].update(one.id for one in self.engine.facts(actor=Actor(user)))

    @rule(user=WHO)
    def look_at_facts(self, user):
        actor = Actor(user)
        for subject in ("user", user, mark(user)):
            self.check(user, self.engine.facts(subject=subject, actor=actor))
            self.check(user, self.engine.history_of(subject, actor=actor))

    @rule(user=WHO, query=QUERIES)
    def do_and_look_up_what_was_done(self, user, query):
        store = self.engine.experiences
        if user:  # nobody's is everyone's
            done = store.record(self.words(user), {"do": mark(user)}, user=user)
            self.ids[user].add(done.id)
        found = store.find_similar(query, user=user)
        self.check(user, [one for one in found if one.user])
        assert {one.user for one in found} <= {user}

    @rule(user=WHO, name=NAMES, other=WHO)
    def relate(self, user, name, other):
        graph, actor = self.engine.graph, Actor(user)
        told = [("common", "is", mark(user)), (mark(user), "has", f"common {name}")]
        for evidence in ("app", name):
            graph.add_triples(told, evidence=evidence, actor=actor)
        around = self.check(user, graph.neighbours("common", 3, actor=actor))
        assert around.relations
        for one in around.relations:
            self.check(user, graph.paths(one.source.name, one.target.name, actor=actor))
        self.check(user, graph.find_entities("mark", limit=50, actor=actor))
        self.check(user, self.engine.search("common", 50, graph_hops=2, actor=actor))
        if other != user:
            with pytest.raises(NotFoundError) as refused:
                graph.neighbours(mark(other), actor=actor)
            assert str(refused.value).count(mark(other)) == 1  # as it was asked for

    @rule(user=WHO, data=st.data(), by_source=st.booleans(), is_back=st.booleans())
    def set_aside_or_take_back(self, user, data, by_source, is_back):
        if not self.ids[user]:
            return
        one = data.draw(st.sampled_from(sorted(self.ids[user])))
        meant = {"source": f"record:{one}"} if by_source else {"ids": [one]}
        call = self.engine.release if is_back else self.engine.quarantine
        others = {other: self.everything_of(other) for other in USERS if other != user}
        try:
            call(actor=ADMIN, **meant)
        except NotFoundError:
            return
        assert {other: self.everything_of(other) for other in others} == others
        if not is_back:
            listed = self.engine.list_records(current=False, actor=Actor(user))
            assert one not in {record.id for record in listed}
            hits = self.engine.search("common", 50, actor=Actor(user)).hits
            assert f"record:{one}" not in {hit.source for hit in hits}
        for who in USERS:
            self.check(who, self.engine.quarantined(actor=Actor(who)))
            with pytest.raises(ScopeError):
                call(actor=Actor(who), **meant)

    @rule(query=QUERIES)
    def let_an_admin_look(self, query):
        result = self.engine.search(query, 50, actor=ADMIN)
        assert result.hits == ()
        assert self.engine.recall(query, 50, actor=ADMIN).prompt_fragment() == ""
        assert self.engine.list_records(current=False, actor=ADMIN) == []

    @rule(user=WHO, query=QUERIES, name=NAMES, thread=THREADS)
    def search(self, user, query, name, thread):
        actor = Actor(user)
        for options in (
            {}, {"filter": Filter(source="*")}, {"filter": Filter(scope="personal")},
            {"ranking": "profclaw"}, {"as_of": self.clock.now},
        ):  # fmt: skip
            result = self.check(user, self.engine.search(query, 50, actor=actor, **options))
            self.note_hits(user, result.hits)
        recalled = self.engine.recall(query, 50, actor=actor, thread_id=thread)
        self.check(user, recalled)
        self.check(user, recalled.prompt_fragment())
        for hit in recalled.hits[:2]:
            self.check(user, self.engine.explain(query, hit.id, actor=actor))

    @rule(user=WHO, thread=THREADS)
    def list_all(self, user, thread):
        actor = Actor(user)
        for options in (
            {}, {"current": False}, {"thread_id": thread}, {"source": "*"}, {"owner": "ann"},
        ):  # fmt: skip
            self.check(user, self.engine.list_records(actor=actor, **options))
        self.check(user, self.engine.restore(thread, actor=actor))
        assert {count.owner for count in self.engine.audit(actor=actor).records} <= {
            record.owner for record in self.engine.list_records(current=False, actor=actor)
        }

    @rule(user=WHO, thief=WHO)
    def export(self, user, thief):
        for form in ("jsonl", "markdown"):
            target = io.StringIO()
            self.engine.export(target, format=form, actor=Actor(user))
            self.check(user, target.getvalue())
        if thief != user:
            before = self.everything_of(user)
            target = io.StringIO()
            self.engine.export(target, actor=Actor(user))
            stolen = target.getvalue()
            self.engine.import_(io.StringIO(stolen), actor=Actor(thief))
            assert self.everything_of(user) == before
            for line in map(json.loads, stolen.splitlines()):
                if line["kind"] == "records":
                    with pytest.raises(NotFoundError):
                        self.engine.get(line["record"]["id"], actor=Actor(thief))

    @rule(user=WHO)
    def vacuum(self, user):
        others = {other: self.everything_of(other) for other in USERS if other != user}
        self.engine.vacuum(archive_older_than=timedelta(days=2), actor=Actor(user))
        assert {other: self.everything_of(other) for other in others} == others

    @rule()
    def pass_a_day(self):
        self.clock.pass_days(1)

    def everything_of(self, user):
        target = io.StringIO()
        self.engine.export(target, actor=Actor(user))
        return target.getvalue()


TestIsolationMachine = IsolationMachine.TestCase
TestIsolationMachine.settings = settings(
    max_examples=int(os.environ.get("MEMENGINE_EXAMPLES", "6")), stateful_step_count=40
)
