"""Decide which messages of a conversation go to the archive and which stay.

Pure, linear in the messages, and it never raises, whatever the history looks like. A plan obeys:

1. kept and archived messages are the input, each exactly once, in its order;
2. an AI message with tool calls and all its tool messages stay together, and a tool message whose
   call is not there goes to the archive;
3. the last human message and what follows it stay, and what is kept starts on a human turn, behind
   leading system messages and an optional pin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage

from langchain_memengine import given
from langchain_memengine.conversation.transcript import is_human, tokens_of
from langchain_memengine.text.digests import digest

CountTokens = Callable[[BaseMessage], int]


@dataclass(frozen=True, slots=True)
class CompactionLimits:
    """When a history is compacted, and how far.

    Attributes:
        max_tokens: A history of more is compacted (GoClaw: 40,000); 0 counts messages instead.
        max_messages: The limit when ``max_tokens`` is 0 (GoClaw: 40); 0 is none.
        keep_share: What is kept fits into this share of the limit, so that the start of the
            history, which providers cache, stays for many turns (GoClaw: 60 %).
        flush_tokens: Threshold of the memory flush; the history is also held to half of it, even
            with ``max_tokens`` 0 (GoClaw). 0 when there is no flush.
        hard_limit: A history of more (in the unit of the limit) is compacted even when the model
            fails, with an extractive summary; 0 is twice the limit.
        input_tokens: Input window of the model that answers, of which three quarters are a limit
            too; 0 when unknown.
        overhead_tokens: What every prompt holds besides the messages: system prompt and tools.
        pin_first: Whether the first human message stays, with the answer that closed its turn.
    """

    max_tokens: int = 40_000
    max_messages: int = 40
    keep_share: float = 0.6
    flush_tokens: int = 0
    hard_limit: int = 0
    input_tokens: int = 0
    overhead_tokens: int = 0
    pin_first: bool = False

    def __post_init__(self) -> None:
        """Refuse a share that none can keep.

        Raises:
            ConfigurationError: ``keep_share`` is not between 0 and 1.
        """
        given.real("keep_share", self.keep_share, most=1)

    @property
    def token_limit(self) -> int:
        """The smallest limit in tokens; 0 is none."""
        limits = (self.max_tokens, self.flush_tokens // 2, self.input_tokens * 3 // 4)
        return min((limit for limit in limits if limit > 0), default=0)

    @property
    def message_limit(self) -> int:
        """The limit in messages; 0 is none."""
        return 0 if self.max_tokens > 0 else max(self.max_messages, 0)

    def exceeded(self, tokens: int, messages: int, share: float = 1.0) -> bool:
        """Return whether a history exceeds a share of a limit."""
        return (self.token_limit > 0 and tokens > self.token_limit * share) or (
            self.message_limit > 0 and messages > self.message_limit * share
        )

    def is_beyond_hard_limit(self, tokens: int, messages: int) -> bool:
        """Return whether a history exceeds the hard limit, so that it cannot wait for a model."""
        if self.hard_limit <= 0:
            return self.exceeded(tokens, messages, share=2.0)
        return (tokens if self.token_limit else messages) > self.hard_limit


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """Which messages stay and which go.

    Attributes:
        history: The input; messages without an id of their own got one in a copy.
        kept: What the conversation goes on with.
        pinned: Those of ``kept`` that stood before something archived: leading system messages
            and the pin.
        archived: What goes, oldest first; empty when nothing is to be done.
        removable: Ids of the input that are in ``archived`` only: what a state may remove.
        tokens_before: Tokens of the whole history, with the overhead.
        tokens_after: Tokens of what is kept, with the overhead.
        over_limit: Whether what is kept exceeds the limit: the last turn, or the pin, is too long.
        beyond_hard_limit: Whether the history exceeds the hard limit.
    """

    history: tuple[BaseMessage, ...]
    kept: tuple[BaseMessage, ...]
    pinned: tuple[BaseMessage, ...]
    archived: tuple[BaseMessage, ...]
    removable: tuple[str, ...]
    tokens_before: int
    tokens_after: int
    over_limit: bool
    beyond_hard_limit: bool

    @property
    def note(self) -> str:
        """What a user should know of the plan; ``""`` if there is nothing."""
        if not self.over_limit:
            return ""
        return f"What must stay exceeds the limit: {self.tokens_after} tokens are left."


def plan_compaction(
    messages: Sequence[BaseMessage],
    limits: CompactionLimits,
    count: CountTokens = tokens_of,
) -> CompactionPlan:
    """Plan what of a history stays.

    Nothing goes before the history exceeds the limit. Then the newest messages stay that fit into
    ``keep_share`` of it, from a human turn on; if the last turn alone does not fit, everything
    else goes. Planning for what is kept changes nothing.

    Args:
        messages: Any history. It is not changed: messages without an id, and such that repeat one,
            come back as copies whose id is made from their content and what stands before them.
        limits: When, and how far.
        count: Tokens of a message.
    """
    given.messages(messages)
    counts = [count(message) for message in messages]
    before = sum(counts) + limits.overhead_tokens
    named = with_ids(messages)
    keep = [True] * len(named)
    if limits.exceeded(before, len(named)):
        keep = _kept_places(named, counts, limits)
    kept = tuple(message for message, stays in zip(named, keep, strict=True) if stays)
    after = limits.overhead_tokens + sum(
        tokens for tokens, stays in zip(counts, keep, strict=True) if stays
    )
    last_gone = max((place for place, stays in enumerate(keep) if not stays), default=0)
    return CompactionPlan(
        history=tuple(named),
        kept=kept,
        pinned=tuple(m for m, stays in zip(named[:last_gone], keep, strict=False) if stays),
        archived=tuple(message for message, stays in zip(named, keep, strict=True) if not stays),
        removable=removable_ids(messages, keep),
        tokens_before=before,
        tokens_after=after,
        over_limit=limits.exceeded(after, len(kept)),
        beyond_hard_limit=limits.is_beyond_hard_limit(before, len(named)),
    )


def with_ids(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return the messages, each with an id of its own.

    A missing or repeated id is replaced in a copy by a hash of the id before it and the content,
    so that the same history always gets the same ids, and the same words later on another one.
    """
    seen: set[str] = set()
    named: list[BaseMessage] = []
    previous = ""
    for message in messages:
        own = message.id
        if not own or own in seen:
            own = _made_id(previous, message)
            while own in seen:
                own = digest(own)[:32]
            message = message.model_copy(update={"id": own})  # noqa: PLW2901  # the named one
        seen.add(own)
        named.append(message)
        previous = own
    return named


def removable_ids(messages: Sequence[BaseMessage], keep: Sequence[bool]) -> tuple[str, ...]:
    """Return the ids of the messages that go, but for an id that a message has that stays."""
    stay = {message.id for message, stays in zip(messages, keep, strict=True) if stays}
    gone = (message.id for message, stays in zip(messages, keep, strict=True) if not stays)
    return tuple(dict.fromkeys(one for one in gone if one and one not in stay))


def tool_groups(messages: Sequence[BaseMessage]) -> tuple[list[int], set[int]]:
    """Return for each place where a cut before it must move back to, and the orphans' places.

    A cut before place ``i`` splits no call from its answers exactly if the list holds ``i`` there.
    A tool message is an orphan when no AI message before it made its call.
    """
    callers: dict[str, int] = {}
    begins = list(range(len(messages) + 1))
    orphans: set[int] = set()
    spans: dict[int, int] = {}
    for place, message in enumerate(messages):
        if isinstance(message, AIMessage):
            callers.update(dict.fromkeys(_call_ids(message), place))
        elif isinstance(message, ToolMessage):
            caller = callers.get(message.tool_call_id)
            if caller is None:
                orphans.add(place)
            else:
                spans[caller] = place
    _move_into_groups(begins, spans)
    return begins, orphans


def leading_system(messages: Sequence[BaseMessage]) -> int:
    """Return how many system messages a history starts with."""
    return next(
        (i for i, message in enumerate(messages) if not isinstance(message, SystemMessage)),
        len(messages),
    )


def _move_into_groups(begins: list[int], spans: dict[int, int]) -> None:
    """Let each place inside a group point to the group's start; overlapping groups are one."""
    group_start = group_end = -1
    for start, end in sorted(spans.items()):
        if start > group_end:
            group_start = start
        for place in range(max(start, group_end) + 1, end + 1):
            begins[place] = group_start
        group_end = max(group_end, end)


def _kept_places(
    messages: Sequence[BaseMessage], counts: Sequence[int], limits: CompactionLimits
) -> list[bool]:
    """Return which places of a history that exceeds the limit stay."""
    begins, orphans = tool_groups(messages)
    systems = leading_system(messages)
    humans = [place for place, message in enumerate(messages) if is_human(message)]
    cuts = [place for place in humans if begins[place] == place]
    pins = _pins(messages, humans) if limits.pin_first else ()
    always = {*range(systems), *pins}
    cut = _cut(cuts, always, orphans, counts, limits) if cuts else 0
    return [
        (place >= cut or place in always) and place not in orphans for place in range(len(messages))
    ]


def _cut(
    cuts: Sequence[int],
    always: set[int],
    orphans: set[int],
    counts: Sequence[int],
    limits: CompactionLimits,
) -> int:
    """Return the first cut behind which the newest messages fit, or else the last one."""
    total = len(counts)
    tokens = [0 if place in orphans else counts[place] for place in range(total)]
    heads = [0, *accumulate(tokens[place] if place in always else 0 for place in range(total))]
    number = [0, *accumulate(int(place in always) for place in range(total))]
    tails = [*accumulate(reversed(tokens), initial=0)]
    present = [*accumulate((place not in orphans for place in reversed(range(total))), initial=0)]
    for cut in cuts:
        kept_tokens = limits.overhead_tokens + heads[cut] + tails[total - cut]
        kept_messages = number[cut] + present[total - cut]
        if not limits.exceeded(kept_tokens, kept_messages, limits.keep_share):
            return cut
    return cuts[-1]


def _pins(messages: Sequence[BaseMessage], humans: Sequence[int]) -> tuple[int, ...]:
    """Return the places of the first human message and of the answer that closed its turn.

    The answer keeps roles alternating when a human message follows the pin.
    """
    if not humans:
        return ()
    end = (humans[1] if len(humans) > 1 else len(messages)) - 1
    answer = messages[end]
    closed = end > humans[0] and isinstance(answer, AIMessage) and not _call_ids(answer)
    return (humans[0], end) if closed else (humans[0],)


def _call_ids(message: AIMessage) -> list[str]:
    calls = (*message.tool_calls, *message.invalid_tool_calls)
    return [call["id"] for call in calls if call["id"] is not None]


def _made_id(previous: str, message: BaseMessage) -> str:
    own = getattr(message, "tool_calls", ""), getattr(message, "tool_call_id", "")
    return digest(*map(str, (previous, message.type, message.content, *own)))[:32]
