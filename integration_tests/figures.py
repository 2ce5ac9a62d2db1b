"""The figures behind what docs/reliability.md promises, in one table.

    python -m integration_tests.figures [TESTS …]

The tests that give them run in parts at the same time, more than there are cores: most of them wait
for processes that they start. Tests that are named are one part more.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

Rows = dict[str, Counter[str]]

PARTS = (
    (
        "integration_tests/reliability/test_failpoints.py",
        # Beside the others: what records the figures belongs to the integration tests.
        "tests/engine/test_model_machine.py",
    ),
    (
        "integration_tests/reliability/test_engine_kills.py",
        "integration_tests/reliability/test_chroma_damage.py",
    ),
    (
        "integration_tests/reliability/test_job_kills.py",
        "integration_tests/reliability/test_fuzzed_files.py",
        "integration_tests/models/test_provider_faults.py",
        "tests/engine/test_chroma_damage.py",
    ),
)
WITHOUT_FIGURES = "not doctor and not hangs and not worker and not heartbeat and not later"
"""Words in the names of tests that take long and count nothing, and of a second round."""


def lines(rows: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Yield the lines of a table."""
    for what, counts in rows.items():
        yield f"{what:<34}" + ", ".join(f"{number:,} {unit}" for unit, number in counts.items())


def _run(part: tuple[str, ...], folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-k", WITHOUT_FIGURES, *part]
    return subprocess.Popen(  # noqa: S603  # this interpreter and our own tests
        [*command, "--no-header", "--durations=0", "--durations-min=5"],
        env={**os.environ, "MEMENGINE_FIGURES": str(folder / "figures")},
        stdout=(folder / "output").open("w"),
        stderr=subprocess.STDOUT,
        text=True,
    )


def main() -> int:
    """Run all parts and print the table; show the output of those that failed."""
    started = time.monotonic()
    rows: dict[str, Mapping[str, int]] = {}
    failed = 0
    parts = [*PARTS, tuple(sys.argv[1:])] if sys.argv[1:] else PARTS
    with tempfile.TemporaryDirectory() as name:
        folders = [Path(name, str(number)) for number in range(len(parts))]
        for folder in folders:
            folder.mkdir()
        running = [_run(part, folder) for part, folder in zip(parts, folders, strict=True)]
        for process, folder in zip(running, folders, strict=True):
            if process.wait() != 0:
                failed += 1
                sys.stdout.write((folder / "output").read_text())
            if (folder / "figures").exists():
                rows |= json.loads((folder / "figures").read_text())
    told = "\n".join(lines(rows))
    sys.stdout.write(f"{told}\n{time.monotonic() - started:.0f} seconds")
    sys.stdout.write(f", {failed} of {len(parts)} parts FAILED\n" if failed else "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
