"""A table of the figures that tests record, at the end of a run.

A test gives them by ``record_property("figures", (what, {unit: number, …}))``; numbers of the same
row are added up.
"""

from collections import Counter

import pytest

# What tests share is no test module: pytest must be told to explain its assertions.
pytest.register_assert_rewrite("integration_tests.reliability.checking")

ROW = "{:<42} {}"


def figures(reports: list[pytest.TestReport]) -> dict[str, Counter[str]]:
    """Return the counts of each row."""
    rows: dict[str, Counter[str]] = {}
    for report in reports:
        for name, value in report.user_properties:
            if name == "figures" and report.when == "call":
                what, counts = value
                rows.setdefault(what, Counter()).update(counts)
    return rows


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [
        report
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, [])
        if isinstance(report, pytest.TestReport)
    ]
    rows = figures(reports)
    if rows:
        terminalreporter.section("figures")
        for what, counts in rows.items():
            told = ", ".join(f"{number:,} {unit}" for unit, number in counts.items())
            terminalreporter.write_line(ROW.format(what, told))
