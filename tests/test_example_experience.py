"""The example of the experience store does what it shows."""

import runpy
from pathlib import Path

EXAMPLE = Path(__file__).parents[1] / "examples" / "experience.py"


def test_an_agent_fails_recovers_succeeds_and_forgets_what_it_does_not_use(capsys):
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    told = dict(line.split(":", 1) for line in capsys.readouterr().out.splitlines())
    told = {name: rest.strip() for name, rest in told.items()}
    assert told == {
        "first run": "read_table FAILED, read_table, add_up",
        "learnt": "error_recovery, tool_chain",
        "second run": "read_table, add_up",
        "weight": "0.039 after 70 more days",  # 0.5 ** (140 / 30), in two steps
        "pruned": "2",
        "left": "0",
    }
