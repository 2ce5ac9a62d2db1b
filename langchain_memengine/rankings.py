"""How a search ranks: every number of it, and the presets with their sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
)

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.given import MOST

FusionMethod = Literal["rrf", "blend", "rerank", "similarity"]


def _no_truth_value(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("Input should be a number, not a truth value")  # noqa: TRY004  # pydantic's
    return value


Whole = Annotated[int, BeforeValidator(_no_truth_value), Field(le=MOST)]
"""A whole number in the settings."""

Real = Annotated[
    float, BeforeValidator(_no_truth_value), Field(ge=-MOST, le=MOST, allow_inf_nan=False)
]
"""Any number in the settings."""


class Ranking(BaseModel):
    """How the legs of a search become one order. Every number can be set.

    Use a preset by name (``"goclaw"``) or change one:
    ``RANKINGS["rrf"].model_copy(update={"rrf_k": 20})``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", revalidate_instances="always")

    name: str = Field(description="Shown in receipts.")
    method: FusionMethod = Field(
        description="`rrf`: sum of weight / (rrf_k + rank) over keyword, vector and context lists. "
        "`blend`: weighted sum of their normalised scores. `rerank`: the best BM25 "
        "candidates ordered by alpha * bm25_norm + (1 - alpha) * cosine. `similarity`: cosine, or "
        "bm25_norm without an embedder."
    )
    k: Whole = Field(6, ge=1, description="Results returned when the caller names no number.")
    fetch_factor: Whole = Field(10, ge=1, description="Candidates a leg, as a multiple of k.")
    min_fetch: Whole = Field(50, ge=1, description="Candidates a leg, at least.")
    rrf_k: Real = Field(60.0, gt=0, description="Rank constant of reciprocal rank fusion.")
    keyword_weight: Real = Field(1.0, ge=0, description="Weight of the keyword leg.")
    vector_weight: Real = Field(1.0, ge=0, description="Weight of the vector leg.")
    vector_gain: Real = Field(
        0.0,
        ge=0,
        description="Share by which `vector_weight` rises for each standard deviation that the "
        "nearest text stands out by, beyond what chance gives; it doubles at most.",
    )
    context_weight: Real = Field(
        0.0, ge=0, description="Weight of what stands around: the file or conversation as a whole."
    )
    before_weight: Real = Field(
        0.36, ge=0, description="Share of the chunk before it in what stands around."
    )
    after_weight: Real = Field(
        0.29, ge=0, description="Share of the chunk after it in what stands around."
    )
    graph_hops: Whole = Field(
        0, ge=0, le=6, description="Relations that the graph leg follows; 0 leaves the leg out."
    )
    graph_weight: Real = Field(
        2.0,
        ge=0,
        description="Weight of the graph leg: of its list in `rrf`, else of its score, as a share "
        "of the best score of the other legs.",
    )
    rank_weight: Real = Field(
        0.0, ge=0, description="Share of the reciprocal ranks in `blend`; 1 is a top rank in a leg."
    )
    author_boost: Real = Field(
        0.0, ge=0, description="Added where the query names the author, and not all authors."
    )
    date_boost: Real = Field(
        0.0, ge=0, description="Added to what happened at a time that the query names."
    )
    alpha: float = Field(0.5, description="Share of BM25 in `rerank`; outside 0 to 1 means 0.5.")
    min_score: Real | None = Field(
        None, description="Lower scores are no hits (before decay and bonus)."
    )
    decay_rate: Real = Field(0.015, ge=0, description="Per day beyond `decay_after_days`.")
    decay_after_days: Real = Field(14.0, ge=0, description="Younger memories do not decay.")
    decay_floor: Real = Field(0.4, ge=0, le=1, description="Decay never goes below.")
    decay_weight: Real = Field(
        1.0,
        ge=0,
        le=1,
        description="The score is multiplied by (1 - w) + w * decay; 0 switches off.",
    )
    access_bonus: Real = Field(0.0, ge=0, description="Added for each access.")
    access_cap: Whole = Field(10, ge=0, description="Accesses counted, at most.")
    mmr_lambda: Real | None = Field(
        None,
        ge=0,
        le=1,
        description="Maximal marginal relevance: 1 relevance only, 0 diversity only.",
    )

    @field_validator("alpha")
    @classmethod
    def _alpha_in_range(cls, value: float) -> float:
        return value if 0.0 <= value <= 1.0 else 0.5  # decsr: "out-of-range values default to 0.5"

    def fetch_k(self, k: int) -> int:
        """Return how many candidates each leg contributes for ``k`` results."""
        return max(self.min_fetch, self.fetch_factor * k)


RANKINGS: Mapping[str, Ranking] = {
    # GoClaw, "Hybrid Search Engine" and "Rank Enhancement Logic".
    "goclaw": Ranking(name="goclaw", method="rrf", access_bonus=0.002),
    # decsr, SearchOptions: K = 8, RerankCandidates = 4 * K. Its HybridAlpha has the zero value 0,
    # pure cosine; half and half is the honest default for a hybrid.
    "decsr": Ranking(
        name="decsr", method="rerank", k=8, fetch_factor=4, min_fetch=1, decay_weight=0.0
    ),
    # profClaw, DEFAULT_MEMORY_CONFIG.query: maxResults 6, minScore 0.1.
    "profclaw": Ranking(name="profclaw", method="similarity", min_score=0.1, decay_weight=0.0),
    # The custom RRF over keyword, vector and context lists: a small constant and a lighter dense
    # side (measured: +6 to +13 NDCG over 60 and 1 : 1), a soft decay, and a bonus smaller than one
    # rank step at rank 100.
    "rrf": Ranking(
        name="rrf",
        method="rrf",
        rrf_k=10.0,
        vector_weight=0.5,
        context_weight=0.3,
        decay_weight=0.1,
        access_bonus=0.000003,
    ),
    # The best measured mixture: scores keep how much better the best one is, which ranks forget.
    "balanced": Ranking(
        name="balanced",
        method="blend",
        rrf_k=10.0,
        vector_weight=0.8,
        vector_gain=0.5,
        context_weight=0.8,
        rank_weight=0.05,
        author_boost=0.2,
        date_boost=0.5,
        decay_weight=0.1,
        access_bonus=0.000003,
    ),
}


def changed_preset(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return all settings of a ranking that names its ``preset`` and what is other than there.

    It is called ``yours`` unless it says otherwise.

    Raises:
        ConfigurationError: There is no preset of that name.
    """
    changes = dict(settings)
    preset = ranking_named(str(changes.pop("preset")))
    return {**preset.model_dump(), "name": "yours", **changes}


def ranking_named(name: str) -> Ranking:
    """Return a ranking preset.

    Raises:
        ConfigurationError: There is no preset of that name.
    """
    try:
        return RANKINGS[name]
    except KeyError:
        raise ConfigurationError(
            f"Unknown ranking preset {name!r}. Choose one of: {', '.join(RANKINGS)}."
        ) from None


def checked_ranking(given: Ranking | str) -> Ranking:
    """Return the ranking that is meant: a preset by its name, or one of the user's own.

    ``model_copy`` takes any name and any value; here they are looked at.

    Raises:
        ConfigurationError: There is no such preset, or the ranking has a value that cannot work or
            that no ranking has.
    """
    if isinstance(given, str):
        return ranking_named(given)
    try:
        return Ranking.model_validate(given)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, e['loc'])) or given!r}: {e['msg']}"
            for e in error.errors(include_url=False)
        )
        raise ConfigurationError(f"This ranking cannot work. {problems}.") from error
