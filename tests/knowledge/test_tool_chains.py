"""What is read out of an agent's run."""

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_memengine.knowledge.tool_chains import MAX_STEPS, Recovery, Step, read_run


def call(name, /, answer="fine", *, error=None, **args):
    """Return a tool call and its answer."""
    call_id = f"{name}{args}{answer}{error}"
    messages = [AIMessage("", tool_calls=[{"name": name, "args": args, "id": call_id}])]
    if error is not None:
        messages.append(ToolMessage(error, tool_call_id=call_id, status="error"))
    elif answer is not None:
        messages.append(ToolMessage(answer, tool_call_id=call_id))
    return messages


def run(*calls, request="Sum up May", end="Done."):
    messages = [HumanMessage(request), *(message for pair in calls for message in pair)]
    return read_run([*messages, AIMessage(end)] if end else messages)


def test_request_steps_and_success_are_read():
    found = run(call("read", path="a.csv"), call("add", numbers=[1, 2]))
    assert found.request == "Sum up May"
    assert found.steps == (
        Step("read", {"path": "a.csv"}, ok=True),
        Step("add", {"numbers": [1, 2]}, ok=True),
    )
    assert found.tools == ("read", "add")
    assert found.success_score == 1.0
    assert found.recoveries() == ()


def test_without_tools_or_words_of_a_human_there_is_nothing_to_learn():
    assert read_run([]) is None
    assert run() is None
    assert run(call("read"), request="  ") is None
    assert read_run(call("read")) is None
    picture = [{"type": "image", "url": "https://example.org/a.png"}]
    assert run(call("read"), request=picture) is None


def test_only_the_last_run_counts():
    before = [HumanMessage("Before"), *call("old"), AIMessage("Done.")]
    assert read_run([*before, HumanMessage("Thanks"), AIMessage("Sure.")]) is None
    found = read_run([SystemMessage("s"), *before, HumanMessage("Now"), *call("new")])
    assert (found.request, found.tools) == ("Now", ("new",))


def test_calls_made_at_once_are_told_apart_by_their_ids():
    calls = [{"name": "a", "args": {}, "id": "1"}, {"name": "b", "args": {}, "id": "2"}]
    answers = [
        ToolMessage("broke", tool_call_id="2", status="error"),
        ToolMessage("fine", tool_call_id="1"),
    ]
    found = read_run([HumanMessage("x"), AIMessage("", tool_calls=calls), *answers])
    assert found.steps == (Step("a", {}, ok=True), Step("b", {}, ok=False, error="broke"))


def test_success_is_told_by_the_end():
    fails = call("read", error="gone")
    assert run(fails, call("read")).success_score == 1.0
    assert run(call("read"), fails).success_score == 0.5  # answered all the same
    assert run(call("read"), end="").success_score == 0.5  # cut off
    assert run(fails, end="").success_score == 0.0
    assert run(call("read", answer=None), end="").success_score == 0.0


def test_secrets_and_masses_are_not_kept():
    found = run(
        call("login", password="hunter22", note="x" * 10_000),  # noqa: S106  # what is looked for
        call("get", error=f"Bearer abcdef123 refused {'x' * 1000}"),
        request="Log in with password=hunter22 " + "y" * 1000,
    )
    assert "hunter22" not in str(found)
    assert "abcdef123" not in str(found)
    assert len(str(found)) < 2500


def test_of_a_long_run_the_last_steps_are_kept():
    found = run(*(call("read", page=page) for page in range(MAX_STEPS + 5)))
    assert len(found.steps) == MAX_STEPS
    assert found.steps[0].args == {"page": 5}


# Recoveries


def recovered(*calls):
    return [(r.failed.args, r.worked.name, r.worked.args) for r in run(*calls).recoveries()]


def test_the_same_tool_with_other_arguments_makes_up_for_a_failure():
    found = run(call("read", path="a", error="no a"), call("other"), call("read", path="b"))
    failed = Step("read", {"path": "a"}, ok=False, error="no a")
    assert found.recoveries() == (Recovery(failed, Step("read", {"path": "b"}, ok=True)),)


def test_another_tool_does_if_it_was_given_one_of_the_same_texts():
    failed = call("fetch", url="https://x.org", tries=1, error="refused")
    assert recovered(failed, call("browse", pages=["https://x.org"])) == [
        ({"url": "https://x.org", "tries": 1}, "browse", {"pages": ["https://x.org"]})
    ]
    assert recovered(failed, call("browse", pages=["https://y.org"], tries=1)) == []
    assert recovered(call("fetch", q="de", error="x"), call("translate", to="de")) == []


def test_a_later_failure_or_the_same_call_again_makes_up_for_nothing():
    failed = call("read", path="a", error="busy")
    assert recovered(failed, call("read", path="b", error="no b")) == []
    assert recovered(failed, call("read", path="a")) == []
    assert recovered(call("read", path="b"), failed) == []


def test_a_failure_that_comes_often_is_told_once():
    failed = [call("read", path=str(n), error="no such file") for n in range(3)]
    assert recovered(*failed, call("read", path="b")) == [({"path": "0"}, "read", {"path": "b"})]


def test_calls_that_each_message_numbers_anew_keep_their_own_answers():
    def turn(path, **answer):
        call = {"name": "read", "args": {"path": path}, "id": "call_0"}
        return AIMessage("", tool_calls=[call]), ToolMessage(tool_call_id="call_0", **answer)

    broke, fine = turn("a", content="broke", status="error"), turn("b", content="fine")
    found = read_run([HumanMessage("x"), *broke, *fine, AIMessage("Done.")])
    failed = Step("read", {"path": "a"}, ok=False, error="broke")
    worked = Step("read", {"path": "b"}, ok=True)
    assert found.steps == (failed, worked)
    assert found.recoveries() == (Recovery(failed, worked),)
