"""A sync of N files of which none changed: processor time, and how many of them are opened.

    python benchmarks/syncing.py --files 10000 --json

The peer is what can be saved by knowing size and time: reading every file and hashing it.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from pathlib import Path
from typing import Any

from corpus import zipf_words
from timing import cpu_seconds, report

from langchain_memengine import MemoryEngine

FOLDERS = 100
WORDS_PER_FILE = 40


def write_files(root: Path, count: int) -> None:
    """Write notes into 100 folders."""
    words = zipf_words(count * WORDS_PER_FILE, seed=1)
    for number in range(count):
        folder = root / f"notes/{number % FOLDERS:02}"
        folder.mkdir(parents=True, exist_ok=True)
        text = " ".join(words[number * WORDS_PER_FILE : (number + 1) * WORDS_PER_FILE])
        (folder / f"note-{number:05}.md").write_text(f"# Note {number}\n\n{text}\n")


def hash_all(root: Path) -> None:
    """Read every note and hash it, as a sync without memory would."""
    for path in root.rglob("*.md"):
        hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=9, help="unchanged syncs")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    opened: list[str] = []

    def note_opened(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and str(arguments[0]).endswith(".md"):
            opened.append(str(arguments[0]))

    sys.addaudithook(note_opened)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        with MemoryEngine.open(root, embeddings=None) as engine:
            write_files(root, options.files)
            opened.clear()
            first = cpu_seconds(engine.sync)
            read_first = len(opened)
            opened.clear()
            unchanged = sorted(cpu_seconds(engine.sync) for _ in range(options.times))
            read_again = len(opened)
        hashed = cpu_seconds(lambda: hash_all(root))
    median = unchanged[len(unchanged) // 2]
    report(
        {
            "files": options.files,
            "first_sync_cpu_s": first,
            "first_sync_read": read_first,
            "unchanged_cpu_s": {"least": unchanged[0], "p50": median, "most": unchanged[-1]},
            "unchanged_read": read_again,
            "hashing_cpu_s": hashed,
            "ratio": hashed / median,
        },
        as_json=options.json,
    )


if __name__ == "__main__":
    main()
