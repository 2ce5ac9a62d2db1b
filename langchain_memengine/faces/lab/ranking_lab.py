"""The ranking lab as a view in a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

from langchain_memengine.answers import (
    Explanation,
    Hit,
    SearchResult,
)
from langchain_memengine.engine.memory_engine import MemoryEngine
from langchain_memengine.errors import MemEngineError, MissingDependencyError
from langchain_memengine.faces.display.hits import place_of
from langchain_memengine.faces.display.html import html
from langchain_memengine.faces.display.sheets import Sheet, excerpt
from langchain_memengine.faces.display.showing import show
from langchain_memengine.faces.lab.comparing import Comparison, compare, comparison_sheet
from langchain_memengine.faces.lab.knobs import KNOBS, Knob, as_code, ranking_of, settings_of
from langchain_memengine.faces.lab.rank_flow import rank_flow
from langchain_memengine.rankings import RANKINGS, Ranking
from langchain_memengine.text.printable import clean_line
from langchain_memengine.types import Actor

_EXPECTED = 5
_CHOICE_CHARS = 60
_WIDE = {"width": "50em", "max_width": "100%"}


class RankingLab:
    """Turn the knobs of a ranking, and see what becomes of the order, and why.

    In a notebook the lab shows itself: a question, a preset to start from, a slider for each knob,
    a table of the ranks under every preset and under yours, a picture of how they change, and for
    every memory why it is, or is not, in your answer. Needs the extra ``notebooks``.

    ```python
    lab = RankingLab(engine, "When is the release window?")
    lab  # the view
    lab.ranking  # what the knobs make, for MemEngineConfig(ranking=lab.ranking)
    ```

    Args:
        engine: The memory that is asked.
        query: The first question.
        preset: Name of the preset to start from.
        actor: Who asks; default: the engine's actor.

    Raises:
        MissingDependencyError: ``ipywidgets`` is not installed.
    """

    def __init__(
        self,
        engine: MemoryEngine,
        query: str,
        preset: str = "balanced",
        *,
        actor: Actor | None = None,
    ) -> None:
        try:
            import ipywidgets as widgets
        except ImportError as error:
            raise MissingDependencyError(
                "ipywidgets", extra="notebooks", needed_for="RankingLab"
            ) from error
        self._engine = engine
        self._actor = actor
        self._is_quiet = False
        self._found: dict[str, Hit] = {}
        self._wanted: dict[str, Hit] = {}
        self.query = widgets.Text(query, description="question", layout=_WIDE)
        self.preset = widgets.Dropdown(
            options=list(RANKINGS), value=preset, description="start from"
        )
        self.knobs = {knob.name: _slider(widgets, knob) for knob in KNOBS}
        self.table, self.flow, self.code = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self.memory = widgets.Dropdown(description="why", layout=_WIDE)
        self.expected = widgets.Text(
            description="or",
            placeholder="words of a memory that you expected, and Enter",
            continuous_update=False,
            layout=_WIDE,
        )
        self.reason = widgets.HTML()
        self.view = self._laid_out(widgets)
        self._reset()
        self._observe()

    @property
    def ranking(self) -> Ranking:
        """The ranking that the knobs make."""
        return ranking_of(RANKINGS[self.preset.value], self._settings())

    @property
    def comparison(self) -> Comparison:
        """What the question finds under every preset and under yours."""
        return compare(self._search, self.preset.value, self.ranking)

    def explain(self, chunk_id: str) -> Explanation:
        """Return why a memory is, or is not, in your answer."""
        ranking = self.ranking
        return self._engine.explain(
            self.query.value, chunk_id, ranking.k, ranking=ranking, actor=self._actor
        )

    def _repr_mimebundle_(self, **_options: Any) -> dict[str, Any]:
        """Return the view, and for pages without one what it shows now."""
        shown: dict[str, Any] = self.view._repr_mimebundle_()  # IPython's protocol
        still = "".join(part.value for part in (self.table, self.flow, self.code, self.reason))
        return {**shown, "text/html": still}

    def _laid_out(self, widgets: Any) -> Any:
        knobs = widgets.VBox([self.preset, *self.knobs.values()], layout={"flex": "0 0 auto"})
        table = widgets.Box([self.table], layout={"flex": "1 1 30em", "overflow": "auto"})
        upper = widgets.Box(
            [knobs, table], layout={"flex_flow": "row wrap", "align_items": "flex-start"}
        )
        why = widgets.VBox([self.memory, self.expected, self.reason])
        return widgets.VBox([self.query, upper, self.code, self.flow, why])

    def _observe(self) -> None:
        self.preset.observe(self._reset, "value")
        for turned in (self.query, *self.knobs.values()):
            turned.observe(self._refresh, "value")
        self.expected.observe(self._expect, "value")
        self.memory.observe(self._refresh_reason, "value")

    def _settings(self) -> dict[str, float]:
        return {name: slider.value for name, slider in self.knobs.items()}

    def _search(self, ranking: Ranking, k: int) -> SearchResult:
        return self._engine.search(self.query.value, k, ranking=ranking, actor=self._actor)

    def _reset(self, _change: object = None) -> None:
        """Set the knobs to the preset; those that its method does not read cannot be turned."""
        base = RANKINGS[self.preset.value]
        values = settings_of(base)
        with self._quiet():
            for knob in KNOBS:
                slider = self.knobs[knob.name]
                slider.value = values[knob.name]
                slider.disabled = base.method not in knob.methods
        self._refresh()

    def _refresh(self, _change: object = None) -> None:
        if self._is_quiet:
            return
        with _failures_in(self.table):
            self._show(self.comparison)

    def _show(self, comparison: Comparison) -> None:
        self.table.value = html([comparison_sheet(comparison)])
        self.flow.value = rank_flow(
            {name: comparison.ranks(name) for name in comparison.results},
            {key: place_of(hit) for key, hit in comparison.hits.items()},
        )
        code = as_code(RANKINGS[self.preset.value], self._settings())
        # Our own words; the site's Markdown would tear quotes that are escaped out of their place.
        self.code.value = f"<code>{escape(code, quote=False)}</code>"
        self._found = comparison.hits
        self._offer(self.memory.value)

    def _expect(self, _change: object = None) -> None:
        """Look for the memory that somebody expected, and explain that one."""
        words = self.expected.value.strip()
        with _failures_in(self.reason):
            hits = self._engine.search(words, _EXPECTED, actor=self._actor).hits
            self._wanted = {hit.id: hit for hit in hits}
            self._offer(hits[0].id if hits else None)

    def _offer(self, chosen: str | None) -> None:
        """Offer to explain what was expected and all that was found; choose this, or the first."""
        offered = self._wanted | self._found
        with self._quiet():
            self.memory.options = [(_choice(hit), key) for key, hit in offered.items()]
            self.memory.value = chosen if chosen in offered else next(iter(offered), None)
        self._refresh_reason()

    def _refresh_reason(self, _change: object = None) -> None:
        if self._is_quiet:
            return
        chosen = self.memory.value
        with _failures_in(self.reason):
            self.reason.value = show(self.explain(chosen)).html if chosen else ""

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        """Change widgets without an answer to each change."""
        self._is_quiet = True
        try:
            yield
        finally:
            self._is_quiet = False


@contextmanager
def _failures_in(place: Any) -> Iterator[None]:
    """Show there why the memory did not answer: a widget's caller would never see it."""
    try:
        yield
    except MemEngineError as error:
        silent = Sheet("The memory did not answer.", warnings=(str(error),))
        place.value = html([silent])


def _slider(widgets: Any, knob: Knob) -> Any:
    is_whole = knob.step == 1
    kind, number = (widgets.IntSlider, int) if is_whole else (widgets.FloatSlider, float)
    return kind(
        min=number(knob.low),
        max=number(knob.high),
        step=number(knob.step),
        description=knob.label,
        tooltip=knob.tip,
        style={"description_width": "11em"},
        layout={"width": "27em"},
    )


def _choice(hit: Hit) -> str:
    return clean_line(f"{place_of(hit)}: {excerpt(hit.text, _CHOICE_CHARS)}")
