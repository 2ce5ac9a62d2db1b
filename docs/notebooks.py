"""Run the notebooks and write what they show as pages of the documentation.

    python -m docs.notebooks [NAME …]

Each of ``notebooks/*.ipynb``, or those whose names begin so, is executed in a kernel of its own,
two at a time, and written with its output to ``build/notebooks/NAME.md``, from where the site takes
it. A notebook that fails ends the run with its traceback. The notebooks themselves stay without
output, so that a change of them can be read.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient
from nbconvert import MarkdownExporter
from nbconvert.filters import strip_ansi
from nbformat import NotebookNode
from traitlets.config import Config

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "build" / "notebooks"
CELL_SECONDS = 60
AT_A_TIME = 2
WIDGET = "application/vnd.jupyter.widget-view+json"


def sources(names: list[str]) -> list[Path]:
    """Return the notebooks whose names begin so, in order; all of them when none is named."""
    found = sorted((ROOT / "notebooks").glob("*.ipynb"))
    return [path for path in found if not names or path.stem.startswith(tuple(names))]


def executed(path: Path) -> NotebookNode:
    """Return a notebook with its output, executed in a kernel of its own.

    Raises:
        CellExecutionError: A cell failed.
    """
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    with TemporaryDirectory() as sockets:
        # Files, not ports: nobody else reaches the kernel, and two never want the same port.
        place = {"transport": "ipc", "ip": str(Path(sockets, "kernel"))}
        NotebookClient(
            notebook,
            timeout=CELL_SECONDS,
            kernel_name="python3",
            config=Config(KernelManager=place),
        ).execute()
    return notebook


def for_a_page(notebook: NotebookNode) -> NotebookNode:
    """Return a notebook without progress bars, which a kernel draws, and colours of terminals."""
    for cell in notebook.cells:
        cell.outputs = [
            output
            for output in cell.get("outputs", ())
            if WIDGET not in output.get("data", {}) or "text/html" in output.data
        ]
        for output in cell.outputs:
            if output.output_type == "stream":
                output.text = strip_ansi(output.text)
    return notebook


def write_page(notebook: NotebookNode, name: str) -> Path:
    """Write an executed notebook as Markdown, its pictures beside it; return the page's path."""
    page, resources = MarkdownExporter().from_notebook_node(
        for_a_page(notebook), {"output_files_dir": f"{name}_files"}
    )
    for picture, content in resources["outputs"].items():
        target = PAGES / picture
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    PAGES.mkdir(parents=True, exist_ok=True)
    path = PAGES / f"{name}.md"
    path.write_text(page, encoding="utf-8")
    return path


def run(source: Path) -> str:
    """Execute a notebook, write its page, and return a line that says how long it took."""
    started = time.perf_counter()
    page = write_page(executed(source), source.stem)
    took = time.perf_counter() - started
    return f"{source.name}: {took:.1f} s, {page.relative_to(ROOT)}"


def main(names: list[str]) -> None:
    """Execute notebooks and write their pages."""
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        for line in pool.map(run, sources(names)):
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
