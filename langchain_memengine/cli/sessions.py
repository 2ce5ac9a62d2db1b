"""The commands about memory sessions: list, audit."""

from __future__ import annotations

from typing import Annotated

import typer

from langchain_memengine.answers import as_json
from langchain_memengine.cli import options
from langchain_memengine.cli.grouping import command_group
from langchain_memengine.cli.opening import opened
from langchain_memengine.cli.terminal import print_json, print_shown, say

app = command_group("sessions", "See which memories influenced which answer of a conversation.")


@app.command("list")
def list_sessions(
    *,
    limit: Annotated[
        int, typer.Option("-n", min=1, metavar="N", help="Sessions, at most, newest first.")
    ] = 50,
    user: options.User = None,
    root: options.Root = options.DEFAULT_ROOT,
    as_json_wanted: options.Json = False,
) -> None:
    """Show a user's sessions, newest first."""
    with opened(root, None) as engine:
        found = engine.sessions(options.actor_of(user)).latest(limit)
    if as_json_wanted:
        print_json(as_json(found))
    elif found:
        print_shown(found)
    else:
        say("There are no sessions.")


@app.command()
def audit(
    session: Annotated[
        str, typer.Argument(metavar="ID", help="A session's id, from `memengine sessions list`.")
    ],
    *,
    user: options.User = None,
    root: options.Root = options.DEFAULT_ROOT,
    as_json_wanted: options.Json = False,
) -> None:
    """Show which files and chunks a session was shown for which query, in order."""
    with opened(root, None) as engine:
        sessions = engine.sessions(options.actor_of(user))
        recalls = sessions.audit(sessions.get(session))
    if as_json_wanted:
        print_json(as_json(recalls))
    elif recalls:
        print_shown(recalls)
    else:
        say("The session has asked nothing yet.")
