"""A hook of the site: notebooks that were run are pages of it, with their output.

``python -m docs.notebooks`` writes them; a site that is built without it has the list of them only.
"""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

WRITTEN = Path(__file__).parents[1] / "build" / "notebooks"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages that were written behind the others in the navigation."""
    pages: list[object] = [f"notebooks/{page.name}" for page in sorted(WRITTEN.glob("*.md"))]
    if pages and config.nav is not None:
        config.nav.append({"Notebooks, run": pages})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that were written, and their pictures."""
    for path in sorted(WRITTEN.rglob("*.*")):
        uri = f"notebooks/{path.relative_to(WRITTEN).as_posix()}"
        files.append(File.generated(config, uri, abs_src_path=str(path)))
    return files
