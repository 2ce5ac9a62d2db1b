"""The commit graph against plain sets: whatever steps run again, fork or join."""

from datetime import datetime

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from langchain_memengine.conversation.lineage import join_heads
from langchain_memengine.text.heads import split_heads
from tests.fakes.clock import FixedClock
from tests.fakes.engines import make_engine, texts

KEYS = st.lists(st.sampled_from("xyz"), min_size=1, max_size=2, unique=True)


class CommitMachine(RuleBasedStateMachine):
    """Checkpoints of two threads, each with its head; a step commits from any of them."""

    @initialize()
    def start(self):
        self.clock = FixedClock()
        self.engine = make_engine(clock=self.clock)
        self.checkpoints = [("t", ""), ("u", "")]
        self.steps: list[tuple[str, str, list[str], str]] = []
        self.parents: dict[str, set[str]] = {}
        self.words: dict[str, str] = {}  # by commit
        self.created: dict[str, datetime] = {}
        self.ids: dict[tuple[str, frozenset[str], str], str] = {}
        self.newest: dict[str, tuple[str, set[str]]] = {}  # checkpoint and heads by thread
        self.log: list[tuple[datetime, dict[str, set[str]]]] = []

    def teardown(self):
        if hasattr(self, "engine"):
            self.engine.close()

    def run(self, thread, head, keys, checkpoint):
        """Commit with each key from one checkpoint, as parallel nodes do."""
        self.clock.pass_days(1)
        joined = head
        for key in keys:
            parents = frozenset(split_heads(head))
            word = f"w{len(self.words)}"
            update = self.engine.commit(
                thread, head, "fact", [f"common {word}"],
                learnt_from=[key], checkpoint_id=checkpoint,
            )  # fmt: skip
            joined = join_heads(joined, update)
            commit = update.partition("<")[0]
            assert self.ids.setdefault((thread, parents, key), commit) == commit
            self.words.setdefault(commit, word)
            self.created.setdefault(commit, self.clock.now)
            self.parents.setdefault(commit, set(parents))
            old_checkpoint, old = self.newest.get(thread, ("", set()))
            beside = old - parents if old_checkpoint == checkpoint else set()
            self.newest[thread] = (checkpoint, beside | {commit})
        self.log.append((self.clock.now, {t: set(h) for t, (_, h) in self.newest.items()}))
        return joined

    @rule(at=st.integers(0), keys=KEYS)
    def step(self, at, keys):
        thread, head = self.checkpoints[at % len(self.checkpoints)]
        checkpoint = f"c{len(self.steps)}"
        self.steps.append((thread, head, keys, checkpoint))
        self.checkpoints.append((thread, self.run(thread, head, keys, checkpoint)))

    @rule(at=st.integers(0))
    def run_the_same_step_again(self, at):
        if self.steps:
            stored = self.engine.stats().chunks
            self.run(*self.steps[at % len(self.steps)])
            assert self.engine.stats().chunks == stored

    @rule(at=st.integers(0))
    def replay_a_step_from_a_new_checkpoint(self, at):
        if self.steps:
            stored = self.engine.stats().chunks
            thread, head, keys, _ = self.steps[at % len(self.steps)]
            self.steps.append((thread, head, keys, f"c{len(self.steps)}"))
            self.checkpoints.append((thread, self.run(*self.steps[-1])))
            assert self.engine.stats().chunks == stored

    @rule(at=st.integers(0))
    def look_from_a_checkpoint(self, at):
        thread, head = self.checkpoints[at % len(self.checkpoints)]
        heads = {t: h for t, (_, h) in self.newest.items()} | {thread: set(split_heads(head))}
        assert self.seen(thread_id=thread, head=head) == self.expected(heads)

    @rule(at=st.integers(0))
    def look_at_a_time(self, at):
        if self.log:
            then, heads = self.log[at % len(self.log)]
            assert self.seen(as_of=then) == self.expected(heads)

    @rule(at=st.integers(0))
    def look_as_of_a_head(self, at):
        thread, head = self.checkpoints[at % len(self.checkpoints)]
        if head:
            made = max(self.created[commit] for commit in split_heads(head))
            then = next(heads for at, heads in reversed(self.log) if at <= made)
            assert self.seen(as_of=head) == self.expected(then | {thread: set(split_heads(head))})

    @invariant()
    def outside_the_newest_branches_are_seen(self):
        if hasattr(self, "engine"):
            heads = {thread: heads for thread, (_, heads) in self.newest.items()}
            assert self.seen() == self.expected(heads)

    def seen(self, **options):
        found = [text.split()[1] for text in texts(self.engine.search("common", 500, **options))]
        assert len(found) == len(set(found))
        return set(found)

    def expected(self, heads):
        reached: set[str] = set()
        todo = [head for some in heads.values() for head in some]
        while todo:
            commit = todo.pop()
            reached.add(commit)
            todo.extend(self.parents[commit] - reached)
        return {self.words[commit] for commit in reached}


TestCommitMachine = CommitMachine.TestCase
TestCommitMachine.settings = settings(max_examples=15, stateful_step_count=20)
