"""The engine against a dict: whatever is done, a search finds exactly what is there to be found.

``MEMENGINE_MACHINE`` sets how many examples are tried.
"""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from langchain_memengine.conversation.lineage import join_heads
from langchain_memengine.types import Actor
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, texts, write

EXAMPLES = int(os.environ.get("MEMENGINE_MACHINE", "12"))
STEPS = 20

USERS = ("local", "alice")
DOWN = ConnectionError("nobody answers")
IDS = st.sampled_from(["1", "2", "3"])
NAMES = st.sampled_from(["a.md", "daily/2026-05-01.md", "users/alice/a.md", "users/alice/b.md"])


class EngineMachine(RuleBasedStateMachine):
    """Documents and files, each with a word that occurs nowhere else, and one they all have.

    Attributes:
        steps: Over all examples: how often everything was compared, and how often it crashed.
    """

    steps = 0
    crashes = 0

    @initialize()
    def start(self):
        self.root = Path(tempfile.mkdtemp(prefix="memengine-"))
        self.documents: dict[tuple[str, str], str] = {}  # (owner, id): text; "" is everyone
        self.files: dict[str, str] = {}
        self.words = 0
        self.head = ""
        self.engine = self.opened()

    def teardown(self):
        if hasattr(self, "engine"):
            self.engine.close()
            shutil.rmtree(self.root)

    def opened(self):
        return make_engine(self.root, embeddings=FakeEmbeddings(8), vector_search="exact")

    def new_text(self):
        self.words += 1
        return f"common unique{self.words}x"

    @rule(ids=st.lists(IDS, min_size=1, max_size=3), user=st.sampled_from(USERS))
    def put_documents(self, ids, user):
        actor = self.actor(user)
        new = [self.new_text() for _ in ids]
        self.engine.add_texts(new, ids=ids, actor=actor)
        owner = "" if user == "local" else user
        self.documents.update({(owner, i): text for i, text in zip(ids, new, strict=True)})

    @rule(one=IDS)
    def put_a_personal_document(self, one):
        text = self.new_text()
        self.engine.add_texts([text], ids=[one], scope="personal")
        self.documents["local", one] = text

    @rule(one=IDS)
    def delete_as_admin(self, one):
        keys = self.documents.keys() & {("", one), ("local", one)}
        assert self.engine.delete([one]) == len(keys)
        for key in keys:
            del self.documents[key]

    @rule(one=IDS)
    def delete_as_alice(self, one):
        if ("alice", one) in self.documents or ("", one) not in self.documents:
            existed = self.documents.pop(("alice", one), None) is not None
            assert self.engine.delete([one], actor=Actor("alice")) == existed

    @rule(name=NAMES, sections=st.integers(0, 3))
    def write_file(self, name, sections):
        parts = [self.new_text() for _ in range(sections)]
        self.files[name] = "\n\n".join(f"# h\n\n{part}" for part in parts)
        write(self.root, name, self.files[name])

    @rule(name=NAMES)
    def append_to_file(self, name):
        self.files[name] = self.files.get(name, "") + f"\n\n# h\n\n{self.new_text()}"
        write(self.root, name, self.files[name])

    @rule(name=NAMES)
    def delete_file(self, name):
        if self.files.pop(name, None) is not None:
            (self.root / name).unlink()

    @rule(name=NAMES, new=NAMES)
    def rename_file(self, name, new):
        if name in self.files and name != new:
            self.files[new] = self.files.pop(name)
            (self.root / new).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).rename(self.root / new)

    @rule()
    def learn_in_a_conversation(self):
        text = self.new_text()
        update = self.engine.commit("thread", self.head, "fact", [text])
        self.head = join_heads(self.head, update)
        self.documents["", update] = text

    @rule()
    def lose_the_embedder(self):
        """The next call of it fails; keywords find everything meanwhile."""
        self.engine._embedding._required().embeddings._faults = [DOWN]

    @rule()
    def do_the_jobs(self):
        self.engine._embedding._required().embeddings._faults = []
        self.engine.run_jobs()
        assert self.engine.jobs("dead") == []

    @rule(one=IDS, deletes=st.booleans())
    def change_in_a_second_engine(self, one, deletes):
        """Another engine on the root, as in another process, that has not the lock."""
        with self.opened() as second:
            assert not second._maintains
            if deletes:
                keys = self.documents.keys() & {("", one), ("local", one)}
                assert second.delete([one]) == len(keys)
                for key in keys:
                    del self.documents[key]
            else:
                self.documents["", one] = self.new_text()
                second.add_texts([self.documents["", one]], ids=[one])
            self.compare(second)

    @rule()
    def reopen(self):
        self.engine.close()
        self.engine = self.opened()

    @rule()
    def crash(self):
        """Go on with a copy of the files, which knows nothing of what the engine has in memory."""
        copy = Path(tempfile.mkdtemp(prefix="memengine-"))
        shutil.copytree(self.root, copy, dirs_exist_ok=True)
        self.engine.close()
        shutil.rmtree(self.root)
        self.root = copy
        self.engine = self.opened()
        EngineMachine.crashes += 1

    @rule(user=st.sampled_from(USERS))
    def find_each_by_its_word(self, user):
        for word in self.visible(user):
            found = texts(self.engine.search(word, actor=self.actor(user)))
            assert [word in text.split() for text in found].count(True) == 1, (word, found)
            assert word in found[0].split()
        for word in self.everything() - self.visible(user):
            assert word not in " ".join(texts(self.engine.search(word, actor=self.actor(user))))

    @invariant()
    def everything_visible_is_found_and_nothing_else(self):
        if hasattr(self, "engine"):
            self.compare(self.engine)
            EngineMachine.steps += 1

    def compare(self, engine):
        for user in USERS:
            found = engine.search("common", 500, actor=self.actor(user))
            words = [text.split()[-1] for text in texts(found)]
            assert len(words) == len(set(words))
            assert set(words) == self.visible(user)

    def actor(self, user):
        return Actor(user, is_admin=user == "local")

    def visible(self, user):
        owned = [t for (owner, _), t in self.documents.items() if owner in {"", user}]
        read = [
            text
            for name, text in self.files.items()
            if not name.startswith("users/") or name.startswith(f"users/{user}/")
        ]
        return {word for text in owned + read for word in text.split() if word.startswith("uni")}

    def everything(self):
        return {
            word
            for text in [*self.documents.values(), *self.files.values()]
            for word in text.split()
            if word.startswith("uni")
        }


@pytest.mark.timeout(120 + 2 * EXAMPLES)
def test_whatever_is_done_exactly_what_is_there_is_found(record_property):
    run_state_machine_as_test(
        EngineMachine, settings=settings(max_examples=EXAMPLES, stateful_step_count=STEPS)
    )
    counts = {"steps compared": EngineMachine.steps, "crashes": EngineMachine.crashes}
    record_property("figures", ("engine against a dict", counts))
