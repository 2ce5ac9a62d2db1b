"""experiences list, stats, prune and export."""

import json
import re
from datetime import UTC, datetime

import pytest

from tests.fakes.clock import FixedClock
from tests.fakes.engines import make_engine

# Commands read the real clock: one experience is old whatever it says, the others never are.
LONG_AGO = datetime(2001, 1, 1, tzinfo=UTC)
FAR_AHEAD = datetime(2999, 1, 1, tzinfo=UTC)


@pytest.fixture
def learnt(root):
    """A memory with an old experience of ann's, and new ones: everyone's and the local user's."""
    with make_engine(root, clock=FixedClock(LONG_AGO)) as engine:
        engine.experiences.record("ann's old tea", 1, user="ann")
    with make_engine(root, clock=FixedClock(FAR_AHEAD)) as engine:
        engine.experiences.record("brew \x1b[31mtea", {"steps": []}, kind="tool_chain", user="")
        engine.experiences.track_preference("local", "tea", "green")
    return root


def test_the_list_shows_what_a_user_has(memengine, learnt):
    result = memengine("experiences", "list", "--root", learnt)
    assert result.exit_code == 0
    assert result.stdout.startswith("2 experiences\n")
    for kind in ("tool_chain", "user_preference"):
        assert re.search(rf"^ 2999-01-01 +{kind} ", result.stdout, re.MULTILINE)
    assert "\x1b" not in result.stdout
    found = memengine.json("experiences", "list", "--user", "ann", "-n", 2, "--root", learnt)
    assert [one["user"] for one in found] == ["", "ann"]
    (one,) = memengine.json("experiences", "list", "--kind", "tool_chain", "--root", learnt)
    assert one["solution"] == {"steps": []}


def test_an_empty_memory_says_so(memengine, root):
    assert memengine("experiences", "list", "--root", root).stdout == "There are no experiences.\n"
    assert memengine("experiences", "stats", "--root", root).stdout == "0 experiences\n"


def test_an_unknown_kind_is_refused(memengine, root):
    result = memengine("experiences", "list", "--kind", "skill", "--root", root)
    assert result.exit_code == 2
    assert "tool_chain" in result.stderr


def test_stats_count_all_users(memengine, learnt):
    found = memengine.json("experiences", "stats", "--root", learnt)
    assert found["total"] == 3
    assert found["by_kind"] == {"task_solution": 1, "tool_chain": 1, "user_preference": 1}
    result = memengine("experiences", "stats", "--root", learnt)
    assert result.stdout.splitlines()[0] == "3 experiences"
    assert "average weight 1.00 average success 0.83" in " ".join(result.stdout.split())


def test_prune_ages_and_removes_what_lay_unused(memengine, learnt):
    result = memengine("experiences", "prune", "--root", learnt)
    assert result.stdout == "1 experience aged, 1 removed.\n"
    assert memengine.json("experiences", "stats", "--root", learnt)["total"] == 2
    assert (
        memengine.json("experiences", "prune", "--min-weight", 2, "--root", learnt)["removed"] == 2
    )
    result = memengine("experiences", "prune", "--half-life", 0, "--root", learnt)
    assert result.exit_code == 2
    assert "half_life_days=0" in result.stderr


def test_what_is_exported_can_be_imported(memengine, learnt):
    text = memengine("experiences", "export", "--user", "ann", "--root", learnt).stdout
    assert len(json.loads(text)["experiences"]) == 2
    with make_engine() as engine:
        assert engine.experiences.import_json(text, user="ann").added == 2
