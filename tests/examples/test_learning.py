"""The example of learning does what it shows."""

import runpy
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "learning.py"
WALNUTS = "User is allergic to walnuts, not to peanuts."


def sections(told: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in told.splitlines():
        if line.startswith("  "):
            found[[*found][-1]].append(line.strip())
        else:
            found[line.removesuffix(":")] = []
    return found


def test_two_people_are_known_by_what_they_said_themselves(capsys):
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    told = capsys.readouterr().out
    shown = sections(told)
    talk = [shown.pop(f"what was said in week {week}") for week in (1, 2, 3)]
    assert list(map(len, talk)) == [4, 2, 3]
    assert talk[0][1] == "the agent: Noted: Ann lives in Paris."
    left = next(title for title in shown if title.startswith("files that still hold"))
    assert shown.pop(left) == ["none"]
    assert shown == {
        "what is known of ann, from their own words": [
            "User likes hiking.",
            "User lives in Bern.",
            "The shop deploys on Thursdays.",
            WALNUTS,
        ],
        "what is known of bob, from their own words": [
            "The shop deploys on Thursdays.",
            "User lives in Oslo.",
        ],
        "what is found for ann when she asks where she lives": ["User lives in Bern."],
        "what was believed of ann": [
            'User lives in Rome. (until 18 May; "I live in Rome")',
            'User is allergic to peanuts. (until 11 May; "I am allergic to peanuts")',
            f'{WALNUTS} (still; "I am allergic to walnuts, not to peanuts")',
            'User lives in Bern. (still; "I moved to Bern")',
            'User likes hiking. (still; "I like hiking")',
        ],
        "what the nightly job merged into a later note that says the same, in its digest": [
            "The tests of the shop take 12 minutes."
        ],
        "notes of tools, now that this is undone": [
            "week 3: The tests of the shop take 120 minutes.",
            "week 2: - The tests of the shop take **12** minutes",
            "week 1: The tests of the shop take 12 minutes.",
        ],
        "records after ann was forgotten": [
            "2 for everyone (origin: llm_extract)",
            "3 for everyone (origin: tool)",
            "1 bob's own (origin: llm_extract)",
        ],
    }
    for never in ("Paris", "hates", "breakfast", "hunter22"):
        assert never not in repr(shown)
