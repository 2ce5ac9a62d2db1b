"""The engine against a dict: whatever is done, a search finds exactly what is there to be found."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from langchain_memengine.types import Actor
from tests.fakes.engines import make_engine, texts, write

USERS = ("local", "alice")
IDS = st.sampled_from(["1", "2", "3"])
NAMES = st.sampled_from(["a.md", "daily/2026-05-01.md", "users/alice/a.md", "users/alice/b.md"])


class EngineMachine(RuleBasedStateMachine):
    """Documents and files, each with a word that occurs nowhere else, and one they all have."""

    @initialize()
    def start(self):
        self.root = Path(tempfile.mkdtemp(prefix="memengine-"))
        self.documents: dict[tuple[str, str], str] = {}  # (owner, id): text; "" is everyone
        self.files: dict[str, str] = {}
        self.words = 0
        self.engine = make_engine(self.root)

    def teardown(self):
        if hasattr(self, "engine"):
            self.engine.close()
            shutil.rmtree(self.root)

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

    @rule()
    def reopen(self):
        self.engine.close()
        self.engine = make_engine(self.root)

    @rule(user=st.sampled_from(USERS))
    def find_each_by_its_word(self, user):
        for word in self.visible(user):
            found = texts(self.engine.search(word, actor=self.actor(user)))
            assert len(found) == 1, (word, found)
            assert word in found[0]
        for word in self.everything() - self.visible(user):
            assert self.engine.search(word, actor=self.actor(user)).hits == ()

    @invariant()
    def everything_visible_is_found_and_nothing_else(self):
        if not hasattr(self, "engine"):
            return
        for user in USERS:
            found = self.engine.search("common", 500, actor=self.actor(user))
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


TestEngineMachine = EngineMachine.TestCase
TestEngineMachine.settings = settings(max_examples=15, stateful_step_count=20)
