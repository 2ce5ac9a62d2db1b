"""The commands about background work: worker, jobs list, jobs retry, jobs cancel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from langchain_memengine.answers import as_json
from langchain_memengine.cli import options
from langchain_memengine.cli.failing import exit_if, usage_error
from langchain_memengine.cli.grouping import command_group
from langchain_memengine.cli.opening import opened, warn
from langchain_memengine.cli.stopping import stopped_by_signals
from langchain_memengine.cli.terminal import print_json, print_shown, say
from langchain_memengine.errors import JobError, NotFoundError
from langchain_memengine.text.counting import counted

if TYPE_CHECKING:
    from langchain_memengine.jobs.reports import JobOutcome
    from langchain_memengine.storage.job_values import Job, JobState

_ALL = 1_000_000
_NOT_FOR_EYES = ("token", "payload_json")  # a proof of the worker's, and what `payload` shows

app = command_group("jobs", "See and steer the queued background work.")

Numbers = Annotated[
    list[int] | None, typer.Argument(metavar="ID", help="Numbers from `memengine jobs list`.")
]


def worker(
    *,
    once: Annotated[
        bool, typer.Option("--once", help="Do what is due and end; do not wait for more.")
    ] = False,
    root: options.Root = options.DEFAULT_ROOT,
    embeddings: options.Embeddings = None,
    as_json_wanted: options.Json = False,
) -> None:
    """Do the queued jobs of a memory as they come; Ctrl+C finishes the one in hand."""
    from langchain_memengine.jobs.reports import JobsReport

    outcomes: Counter[JobOutcome] = Counter()

    def show(job: Job, outcome: JobOutcome) -> None:
        outcomes[outcome] += 1
        if not as_json_wanted:
            at = f"{datetime.now(UTC).astimezone():%H:%M:%S}"
            attempt = f"attempt {job.attempts} of {job.max_attempts}"
            say(f"{at}  {outcome:6}  {job.kind} {job.num}, {attempt}")

    with (
        opened(root, embeddings, maintain_indexes=False) as engine,
        stopped_by_signals() as stop,
    ):
        if once:
            engine.run_jobs(stop=stop, on_outcome=show)
        else:
            if not as_json_wanted:
                say("Waiting for jobs. Ctrl+C ends, after the job in hand.")
            engine.work(stop, show)
        left = engine.stats()
    report = JobsReport(
        outcomes["done"], outcomes["failed"], outcomes["dead"], left.jobs_ready + left.jobs_running
    )
    if as_json_wanted:
        print_json(as_json(report))
    else:
        print_shown(report)
    if once:
        if report.dead:
            warn(("jobs were given up. See: memengine jobs list --state dead",))
        exit_if(report.failed or report.dead)


@app.command("list")
def list_jobs(
    *,
    state: Annotated[
        str | None,
        typer.Option("--state", metavar="STATE", help="ready, running, done, dead or cancelled."),
    ] = None,
    limit: Annotated[
        int, typer.Option("-n", min=1, metavar="N", help="Jobs, at most, newest first.")
    ] = 50,
    root: options.Root = options.DEFAULT_ROOT,
    as_json_wanted: options.Json = False,
) -> None:
    """Show the jobs of a memory, newest first."""
    wanted = _state(state)
    with opened(root, None) as engine:
        found = engine.jobs(wanted, limit=limit)
    if as_json_wanted:
        print_json([_shown(job) for job in found])
    elif found:
        print_shown(found)
    else:
        say(f"There are no {'' if wanted is None else wanted + ' '}jobs.")


@app.command()
def retry(
    nums: Numbers = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="All dead jobs.")] = False,
    root: options.Root = options.DEFAULT_ROOT,
    as_json_wanted: options.Json = False,
) -> None:
    """Queue dead jobs again, with all their attempts."""
    if every == bool(nums):
        usage_error("Give the numbers of dead jobs, or --all.")
    with opened(root, None) as engine:
        chosen = [job.num for job in engine.jobs("dead", limit=_ALL)] if every else nums or []
        changed, problems = _each(engine.retry_job, chosen)
    _report(changed, problems, "retried", as_json_wanted=as_json_wanted)


@app.command()
def cancel(
    nums: Numbers = None,
    *,
    root: options.Root = options.DEFAULT_ROOT,
    as_json_wanted: options.Json = False,
) -> None:
    """Take jobs out of the queue; what is just being done about them is not kept."""
    if not nums:
        usage_error("Give the numbers of the jobs to cancel. See: memengine jobs list")
    with opened(root, None) as engine:
        changed, problems = _each(engine.cancel_job, nums)
    _report(changed, problems, "cancelled", as_json_wanted=as_json_wanted)


def _each(change: Callable[[int], None], nums: list[int]) -> tuple[list[int], tuple[str, ...]]:
    """Change each job; return the numbers of those that could be, and the problems of the rest."""
    changed, problems = [], []
    for num in nums:
        try:
            change(num)
        except (JobError, NotFoundError) as error:
            problems.append(str(error))
        else:
            changed.append(num)
    return changed, tuple(problems)


def _report(
    changed: list[int], problems: tuple[str, ...], done: str, *, as_json_wanted: bool
) -> None:
    if as_json_wanted:
        print_json({done: changed, "problems": list(problems)})
    else:
        say(f"{counted(len(changed), 'job')} {done}.")
    warn(problems)
    exit_if(problems)


def _state(name: str | None) -> JobState | None:
    from langchain_memengine.storage.job_values import JOB_STATES

    for state in JOB_STATES:
        if state == name:
            return state
    if name is not None:
        usage_error(f"--state {name} is no state. Use one of: {', '.join(JOB_STATES)}.")
    return None


def _shown(job: Job) -> dict[str, Any]:
    """Return a job as JSON values; a damaged payload is shown as the text it is."""
    try:
        payload: Any = job.payload
    except JobError:
        payload = job.payload_json
    values = {name: value for name, value in as_json(job).items() if name not in _NOT_FOR_EYES}
    return {**values, "payload": payload}
