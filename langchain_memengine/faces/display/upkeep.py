"""What looking after a store reports, as tables: checks, trust, jobs, copies, sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from langchain_memengine.engine.restoring import Restored
from langchain_memengine.faces.display.sheets import Cell, Mark, Mood, Sheet, Words, moment, table
from langchain_memengine.jobs.reports import JobsReport
from langchain_memengine.retrieval.diagnosis import Check, DoctorReport, Status
from langchain_memengine.storage.auditing import AuditReport
from langchain_memengine.storage.backup import Contents
from langchain_memengine.storage.copying import Copied
from langchain_memengine.storage.experience_values import ExperienceImport, ExperienceStats
from langchain_memengine.storage.graph_values import GraphCounts
from langchain_memengine.storage.record_values import Quarantine
from langchain_memengine.text.counting import counted, counted_kinds
from langchain_memengine.workspace.watcher import WatchState

_MOODS: Mapping[Status, Mood] = {"ok": "good", "warning": "poor", "failed": "bad"}


def doctor_sheets(report: DoctorReport) -> tuple[Sheet, ...]:
    """Return what was checked, what was found, and what a repair would do."""
    by_status = {
        status: sum(check.status == status for check in report.checks) for status in _MOODS
    }
    bad, odd = by_status["failed"], by_status["warning"]
    failed = f"{counted(bad, 'check')} failed" if bad else "Nothing failed"
    title = f"{failed}, {counted(odd, 'warning')}." if odd else f"{failed}."
    rows = [_check(check) for check in report.checks]
    return (table(title, ("check", "status", "found"), rows),)


def audit_sheets(report: AuditReport) -> tuple[Sheet, ...]:
    """Return who wrote what, how far it is trusted, what is set aside and what was taken out."""
    records = [
        [one.scope, Words(one.owner) if one.owner else "", one.origin, one.trust,
         f"{one.first_at:%Y-%m-%d}", f"{one.last_at:%Y-%m-%d}", f"{one.records:,}"]
        for one in report.records
    ]  # fmt: skip
    chunks = [[one.origin, one.trust, f"{one.chunks:,}"] for one in report.chunks]
    columns = ("scope", "owner", "origin", "trust", "first (UTC)", "last (UTC)", "records")
    taken_out = f"Secrets were taken out of {counted_kinds(report.redacted)}."
    return (
        table("Records" if records else "There are no records.", columns, records),
        *([table("Searchable", ("origin", "trust", "chunks"), chunks)] if chunks else []),
        *([quarantines_sheet(report.quarantined)] if report.quarantined else []),
        *([Sheet(taken_out)] if report.redacted else []),
    )


def quarantines_sheet(quarantines: Sequence[Quarantine]) -> Sheet:
    """Return what is set aside, since when, by whom and why."""
    rows: list[list[Cell]] = [
        [Words(one.source), moment(one.at), Words(one.by or "memengine"),
         Words(one.reason) if one.reason else ""]
        for one in quarantines
    ]  # fmt: skip
    title = f"{counted(len(quarantines), 'source')} quarantined"
    return table(title, ("source", "since (UTC)", "by", "reason"), rows)


def jobs_report_sheets(report: JobsReport) -> tuple[Sheet, ...]:
    """Return how many jobs ended how, and how many are left."""
    told = (
        f"{counted(report.done, 'job')} done, {counted(report.failed, 'attempt')} failed, "
        f"{report.dead:,} given up, {report.left:,} left."
    )
    return (Sheet(told),)


def backup_sheets(contents: Contents) -> tuple[Sheet, ...]:
    """Return what a copy of the database holds."""
    size = f"{counted(contents.chunks, 'chunk')}, {counted(contents.size, 'byte')}"
    aside = (
        "Markdown files are not in it: they are yours to back up, as any folder of files "
        "(Git does it well)."
    )
    return (Sheet(f"Backup {contents.path}: {size}.", notes=(aside,)),)


def restored_sheets(restored: Restored) -> tuple[Sheet, ...]:
    """Return what a restore did, and where the database before it is."""
    before = f"The database before it is kept as {restored.before}; remove it when you are sure."
    return (
        Sheet(
            f"{restored.database} is the backup now: {counted(restored.chunks, 'chunk')}.",
            notes=(
                *([before] if restored.before is not None else []),
                "Markdown files are as they were.",
            ),
        ),
    )


def copied_sheets(copied: Copied) -> tuple[Sheet, ...]:
    """Return what was copied from one database to another, and what to set."""
    rows, stores = sum(copied.rows.values()), len(copied.stores)
    title = f"Copied {counted(rows, 'row')} of {counted(stores, 'store')}; both are equal."
    settings = " and ".join(copied.settings)
    aside = f"The database copied from is as it was. Next: set {settings} to the new one."
    return (Sheet(title, notes=(aside,)),)


def watch_rows(state: WatchState) -> tuple[tuple[str, str], ...]:
    """Return how far the index follows the files, a line each."""
    if state.syncing:
        how = "indexing"
    else:
        how = "changed, waiting until it is quiet" if state.dirty else "up to date"
    return (
        ("watching", "yes" if state.watching else "not yet, or no longer"),
        ("state", how),
        ("files", f"{state.watched_files:,}"),
    )


def watch_sheets(state: WatchState) -> tuple[Sheet, ...]:
    """Return how far the index follows the files, and when it last did."""
    last = ("last sync (UTC)", moment(state.last_sync_at) or "none yet")
    return (Sheet("Files", ("", ""), (*watch_rows(state), last)),)


def graph_counts_sheets(counts: GraphCounts) -> tuple[Sheet, ...]:
    """Return how large a graph is."""
    told = (
        f"{counted(counts.entities, 'entity', 'entities')}, "
        f"{counted(counts.relations, 'relation')}, "
        f"from {counted(counts.evidence, 'memory', 'memories')}."
    )
    return (Sheet(told),)


def experience_stats_sheets(stats: ExperienceStats) -> tuple[Sheet, ...]:
    """Return how much was learnt, of what kinds, and how it is used."""
    rows = [(kind, f"{number:,}") for kind, number in stats.by_kind.items()]
    if stats.average_weight is not None and stats.average_success is not None:
        rows += [
            ("uses", f"{stats.uses:,}"),
            ("average weight", f"{stats.average_weight:.2f}"),
            ("average success", f"{stats.average_success:.2f}"),
        ]
    return (table(counted(stats.total, "experience"), ("", ""), rows),)


def experience_import_sheets(report: ExperienceImport) -> tuple[Sheet, ...]:
    """Return what an import of experiences did."""
    rows = [
        ("added", f"{report.added:,}"),
        ("updated", f"{report.updated:,}"),
        ("kept as they were", f"{report.kept:,}"),
    ]
    return (table("Experiences imported", ("", ""), rows),)


def _check(check: Check) -> list[Cell]:
    status = f"{check.status}, repaired" if check.repaired else check.status
    found = f"{check.found} → {check.repair}" if check.repair else check.found
    return [check.name, Mark(status, _MOODS[check.status]), Words(found)]
