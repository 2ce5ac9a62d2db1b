"""Write the parts of the documentation that are made from the code.

    python -m docs.generate

Writes ``docs/configuration.md`` from the settings, ``docs/images/search.svg`` from a search in the
demo memory, and the diagrams of ``docs/concepts/`` from their descriptions, so that none can be out
of date without a test noticing.
"""

from __future__ import annotations

import io
import tempfile
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

from pydantic import BaseModel
from rich.console import Console
from rich.text import Text

from docs.diagrams import draw
from langchain_memengine import MemoryEngine
from langchain_memengine.cli.demo_memory import write_demo_files
from langchain_memengine.cli.hits import print_hits
from langchain_memengine.config import MemEngineConfig
from langchain_memengine.rankings import RANKINGS, Ranking
from langchain_memengine.workspace.layout import Layout

DOCS = Path(__file__).parent
NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)

# Rich's own format without its web fonts: the picture loads nothing.
SVG_FORMAT = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
"""


def configuration() -> str:
    """Return the page of all settings."""
    presets = "\n".join(
        f"| `{name}` | " + ", ".join(_changed(ranking)) + " |" for name, ranking in RANKINGS.items()
    )
    return (
        "# Settings\n\n"
        "Written from `langchain_memengine/config.py` and `rankings.py` by "
        "`python -m docs.generate`.\n\n"
        "Each setting is an argument of `MemEngineConfig`, a line in `memengine.toml` in the root, "
        "or an environment variable with the prefix `MEMENGINE_` (`MEMENGINE_RANKING=goclaw`; "
        "lists and mappings as JSON). An argument wins over the environment, the environment over "
        "the file, the file over the default.\n\n"
        f"{_table(MemEngineConfig)}\n"
        "## Ranking\n\n"
        f"{_table(Ranking)}\n"
        "What each preset sets apart from these defaults:\n\n"
        f"| preset | settings |\n|---|---|\n{presets}\n"
    )


def _table(model: type[BaseModel]) -> str:
    rows = ["| setting | default | meaning |", "|---|---|---|"]
    for name, field in model.model_fields.items():
        default = field.get_default(call_default_factory=True)
        shown = default.name if isinstance(default, Ranking) else default
        required = field.is_required()
        choices = _choices(field.annotation)
        meaning = " ".join(filter(None, [field.description, choices]))
        rows.append(f"| `{name}` | {'required' if required else f'`{shown}`'} | {meaning} |")
    return "\n".join(rows) + "\n"


def _choices(annotation: object) -> str:
    values = [value for value in get_args(annotation) if isinstance(value, str)]
    return f"One of {', '.join(f'`{value}`' for value in values)}." if values else ""


def _changed(ranking: Ranking) -> list[str]:
    return [
        f"{name} = {value}"
        for name, field in Ranking.model_fields.items()
        if name != "name" and (value := getattr(ranking, name)) != field.default
    ]


def picture() -> str:
    """Return an SVG of what a search prints."""
    query = "When is the release window?"
    console = Console(
        record=True, width=100, file=io.StringIO(), force_terminal=True, highlight=False
    )
    with tempfile.TemporaryDirectory() as folder:
        write_demo_files(Path(folder), NOW.date())
        state = Layout(Path(folder)).state_dir
        state.mkdir()
        (state / "workspace-id").write_text("0" * 32)  # ids of chunks hang on it
        # The clock of the picture stands still, or ages and scores were others each day.
        with MemoryEngine(
            Path(folder), MemEngineConfig(), embeddings="local", clock=lambda: NOW
        ) as engine:
            console.print(Text(f'$ memengine search "{query}" -k 3', style="bold"))
            print_hits(console, engine.search(query, 3).hits, query, "english")
    return console.export_svg(title="memengine", code_format=SVG_FORMAT, unique_id="memengine")


def diagrams() -> dict[str, str]:
    """Return the SVG of each diagram by its name."""
    described = tomllib.loads((DOCS / "concepts" / "diagrams.toml").read_text(encoding="utf-8"))
    return {name: draw(description) for name, description in described.items()}


def main() -> None:
    """Write all of them."""
    for name, svg in diagrams().items():
        (DOCS / "images" / "concepts" / f"{name}.svg").write_text(svg, encoding="utf-8")
    (DOCS / "configuration.md").write_text(configuration(), encoding="utf-8")
    (DOCS / "images" / "search.svg").write_text(picture(), encoding="utf-8")


if __name__ == "__main__":
    main()
