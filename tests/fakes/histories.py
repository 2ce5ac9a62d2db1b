"""Conversations as nobody would write them, decoded from bytes: short ones come from short bytes.

They hold parallel, missing, swapped and late tool results, orphans, reused call ids, missing and
repeated ids, several people, images, lists of blocks, huge messages, and strange roles.
"""

from collections.abc import Callable

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 200}}
PEOPLE = ("", "anna", "bob", "anna")


class _Writer:
    def __init__(self) -> None:
        self.messages: list[BaseMessage] = []
        self.calls = 0

    def say(self, message: BaseMessage) -> None:
        message.id = f"m{len(self.messages)}"
        self.messages.append(message)

    def human(self, arg: int) -> None:
        person = PEOPLE[arg % 4]
        text = f"Question {len(self.messages)}. " + "please " * arg
        if arg % 8 == 7:
            self.say(HumanMessage(text, additional_kwargs={"user_id": person or "cleo"}))
        else:
            self.say(HumanMessage(text, name=person or None))

    def answer(self, arg: int) -> None:
        self.say(AIMessage(f"Answer {len(self.messages)}. " + "well " * arg))

    def call(self, arg: int) -> list[str]:
        ids = [self._call_id(arg) for _ in range(arg % 3 + 1)]
        calls = [{"name": "look", "args": {"q": "x" * arg}, "id": one} for one in ids]
        self.say(AIMessage("", tool_calls=calls))
        return ids

    def result(self, call_id: str, arg: int = 3) -> None:
        self.say(ToolMessage(f"Result {len(self.messages)} " + "row " * arg, tool_call_id=call_id))

    def _call_id(self, arg: int) -> str:
        self.calls += 1
        return "again" if arg == 15 else f"call{self.calls}"

    def agent_turn(self, arg: int) -> None:
        for one in self.call(arg):
            self.result(one, arg)
        if arg % 2:
            self.answer(arg)

    def broken_turn(self, arg: int) -> None:
        ids = self.call(arg)
        for one in reversed(ids[arg % 2 :]):
            self.result(one)

    def late_result(self, arg: int) -> None:
        ids = self.call(arg)
        self.human(arg)
        for one in ids:
            self.result(one)

    def orphan(self, arg: int) -> None:
        self.result(f"nobody{arg}", arg)

    def image(self, arg: int) -> None:
        self.say(
            HumanMessage(["What is this?", IMAGE, {"type": "text", "text": "Look."}][: arg + 1])
        )

    def blocks(self, arg: int) -> None:
        content = [
            {"type": "thinking", "thinking": "hm " * arg},
            {"type": "text", "text": "So it is."},
            {"type": "odd", "payload": ["?"] * arg},
        ]
        self.say(AIMessage(content[: arg % 4]))

    def huge(self, arg: int) -> None:
        kinds: tuple[Callable[[str], BaseMessage], ...] = (HumanMessage, AIMessage)
        self.say(kinds[arg % 2]("огромный " * 20 * (arg + 1)))

    def nameless(self, arg: int) -> None:
        (self.human, self.answer)[arg % 2](arg)
        self.messages[-1].id = None

    def twice(self, arg: int) -> None:
        if not self.messages:
            return
        earlier = self.messages[-1 - arg % len(self.messages)]
        copy = earlier.model_copy(deep=True)
        if arg % 2:
            copy.content = "edited"
        self.messages.append(copy)

    def strange(self, arg: int) -> None:
        kinds = (
            SystemMessage("Be brief."),
            ChatMessage("Hello?", role="user"),
            ChatMessage("Hm.", role="critic"),
            AIMessage(""),
        )
        self.say(kinds[arg % 4])


_OPERATIONS = (
    *(_Writer.human, _Writer.human, _Writer.human, _Writer.answer, _Writer.answer),
    *(_Writer.agent_turn, _Writer.agent_turn, _Writer.broken_turn, _Writer.late_result),
    *(_Writer.orphan, _Writer.image, _Writer.blocks, _Writer.huge, _Writer.nameless),
    *(_Writer.twice, _Writer.strange),
)


def history(data: bytes) -> list[BaseMessage]:
    """Return the messages that bytes stand for: each byte is one turn or less."""
    writer = _Writer()
    if data[:1] and data[0] % 2:
        writer.say(SystemMessage("You are a kiln operator."))
    for byte in data:
        _OPERATIONS[byte % 16](writer, byte // 16)
    return writer.messages
