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
    assert sections(told) == {
        "ann": [
            "User likes hiking.",
            "User lives in Bern.",
            "The shop deploys on Thursdays.",
            WALNUTS,
        ],
        "bob": ["The shop deploys on Thursdays.", "User lives in Oslo."],
        "what ann is asked about": ["User lives in Bern."],
        "what was believed of ann": [
            'User lives in Rome. (until 18 May; "I live in Rome")',
            'User is allergic to peanuts. (until 11 May; "I am allergic to peanuts")',
            f'{WALNUTS} (still; "I am allergic to walnuts, not to peanuts")',
            'User lives in Bern. (still; "I moved to Bern")',
            'User likes hiking. (still; "I like hiking")',
        ],
        "what the nightly job merged": ["The tests of the shop take 12 minutes."],
        "notes of tools after an undo": [
            "week 3: The tests of the shop take 120 minutes.",
            "week 2: - The tests of the shop take **12** minutes",
            "week 1: The tests of the shop take 12 minutes.",
        ],
        "records after ann was forgotten": [
            "2 of everyone (llm_extract)",
            "3 of everyone (tool)",
            "1 of bob (llm_extract)",
        ],
        "files that still hold what ann said": [],
    }
    for never in ("Paris", "hates", "breakfast", "hunter22"):
        assert never not in told
