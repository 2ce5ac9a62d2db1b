"""sessions list and audit."""

import pytest

from langchain_memengine.types import Actor
from tests.fakes.clock import FixedClock
from tests.fakes.engines import make_engine


@pytest.fixture
def asked(root):
    """Two sessions of ann's, of which the newer one searched twice; returns its id."""
    clock = FixedClock()
    with make_engine(root, clock=clock) as engine:
        engine.sync()
        sessions = engine.sessions(Actor("ann"))
        sessions.create("old")
        clock.pass_days(1)
        session = sessions.create("tea\x1b[31m room", ["file:*"])
        sessions.search(session, "deploy")
        sessions.search(session, "nothing like it")
    return session.id


def test_the_list_shows_the_users_own_newest_first(memengine, root, asked):
    shown = memengine("sessions", "list", "--user", "ann", "--root", root)
    assert shown.exit_code == 0
    assert shown.stdout.startswith("2 sessions\n")
    assert asked in shown.stdout
    assert "file:*" in shown.stdout
    assert "\x1b" not in shown.stdout
    found = memengine.json("sessions", "list", "--user", "ann", "-n", 1, "--root", root)
    assert [(one["id"], one["sources"][0]) for one in found] == [(asked, "file:*")]
    assert memengine("sessions", "list", "--root", root).stdout == "There are no sessions.\n"


def test_the_audit_shows_what_it_was_shown_for_each_query(memengine, root, asked):
    shown = memengine("sessions", "audit", asked, "--user", "ann", "--root", root)
    assert shown.exit_code == 0
    assert shown.stdout.startswith("2 queries\n")
    assert "deploy.md:1-3" in shown.stdout
    first, second = memengine.json("sessions", "audit", asked, "--user", "ann", "--root", root)
    assert (first["query"], [hit["path"] for hit in first["hits"]]) == ("deploy", ["deploy.md"])
    assert (second["query"], second["hits"]) == ("nothing like it", [])


def test_a_session_that_asked_nothing_says_so(memengine, root, asked):
    older = memengine.json("sessions", "list", "--user", "ann", "--root", root)[1]["id"]
    shown = memengine("sessions", "audit", older, "--user", "ann", "--root", root)
    assert shown.stdout == "The session has asked nothing yet.\n"


def test_another_users_session_is_not_there(memengine, root, asked):
    result = memengine("sessions", "audit", asked, "--user", "bob", "--root", root)
    assert result.exit_code == 1
    assert "There is no session" in result.stderr
