"""What a user may set, every default with its source.

Precedence: argument > environment ``MEMENGINE_*`` > ``memengine.toml`` in the root > default.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import ErrorDetails

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.given import MOST_DAYS
from langchain_memengine.rankings import (
    RANKINGS,
    Ranking,
    Real,
    Whole,
    changed_preset,
    ranking_named,
)

CONFIG_FILE = "memengine.toml"
ENVIRONMENT_PREFIX = "MEMENGINE_"


class MemEngineConfig(BaseModel):
    """Every setting of an engine."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    store_id: str = Field(
        "default", min_length=1, description="Keeps stores in one database apart."
    )
    database_url: str | None = Field(
        None,
        description="SQLAlchemy URL: `sqlite:///PATH`, `postgresql+psycopg://…`, "
        "`mysql+pymysql://…`, or `clickhousedb://…` beside `jobs_url`; default: SQLite in "
        "`.memengine/`, in memory without a root.",
    )
    jobs_url: str | None = Field(
        None,
        description="Beside ClickHouse: SQLAlchemy URL of the database for all that needs "
        "transactions; default: SQLite in `.memengine/`.",
    )
    graph_url: str | None = Field(
        None,
        description="SQLAlchemy URL of the graph, which may be `database_url`; default: "
        "`kg.sqlite` in `.memengine/`, in memory without a root.",
    )
    chroma_url: str | None = Field(
        None,
        description="`http://host:port` of a Chroma server, or `https://api.trychroma.com` for "
        "Chroma Cloud, with its key in the environment variable `CHROMA_API_KEY`; default: a "
        "folder in `.memengine/`.",
    )
    chroma_tenant: str | None = Field(
        None, description="Tenant on the Chroma server; default: its own, or that of the key."
    )
    chroma_database: str | None = Field(
        None, description="Database on the Chroma server; default: its own, or that of the key."
    )
    embeddings: str | None = Field(
        "local",
        description="`local` (WordLlama), `local:minilm`, `openai:MODEL`, `google_genai:MODEL`, "
        "`ollama:MODEL`, or `none` for keyword search only.",
    )
    chat_model: str | None = Field(
        None,
        description="`openai:MODEL`, `google_genai:MODEL` or `ollama:MODEL`: learns facts from "
        "conversations in the background; without one that work waits.",
    )
    ranking: Ranking = Field(
        default=RANKINGS["balanced"],
        description=f"One of {', '.join(RANKINGS)}; a preset with other numbers, "
        'like `{preset = "balanced", date_boost = 0}`; or a Ranking of your own.',
    )
    language: str = Field(
        "english",
        description="Stop words and stemming: a Snowball language, `auto` per text, or `none`.",
    )
    bm25_k1: Real = Field(0.9, ge=0, description="BM25: saturation of the term frequency.")
    bm25_b: Real = Field(0.4, ge=0, le=1, description="BM25: strength of the length norm.")
    chunk_tokens: Whole = Field(
        400,
        ge=16,
        description="Tokens a chunk. GoClaw, decsr: 400; profClaw: about 375.",
    )
    overlap_tokens: Whole = Field(
        80,
        ge=0,
        validate_default=True,
        description="Tokens shared with the next. GoClaw, decsr: 80; profClaw: about 50.",
    )
    split_on_headers: bool = Field(
        default=True, description="Whether a heading of a file begins a new chunk. profClaw."
    )
    pinned_cap: Whole = Field(4000, ge=0, description="Characters of MEMORY.md in a recall. decsr.")
    include: tuple[str, ...] = Field(("**/*.md", "**/*.mdx", "**/*.txt"), description="profClaw.")
    exclude: tuple[str, ...] = Field(
        ("node_modules/**", "dist/**", ".git/**"),
        description="At any depth; with a `/` in front, in the root only. profClaw. "
        "`.memengine/` and `archive/` are never indexed as files.",
    )
    sources: Mapping[str, Path] = Field(
        default_factory=dict, description="More folders to index, by name, beside the root."
    )
    max_file_bytes: Whole = Field(
        5_000_000, ge=1, description="Larger files are skipped, with a report."
    )
    sync_on_open: bool = Field(
        default=True, description="Index changed files when opened. profClaw."
    )
    sync_on_search: bool = Field(
        default=True, description="Index changed files before a search. profClaw."
    )
    stat_interval_seconds: Real = Field(
        2.0, ge=0, description="A search looks for changed files at most this often."
    )
    watch_debounce_ms: Whole = Field(
        2000, ge=0, description="A watcher indexes when it was quiet for so long. profClaw."
    )
    file_process: Literal["auto", "off"] = Field(
        "auto",
        description="Large syncs: `auto` reads and cuts their files in a process of its own, so "
        "that searches stay fast, `off` does it in this one.",
    )
    max_staleness_seconds: Real = Field(
        0.0,
        ge=0,
        description="A search asks the database what others changed at most this often; 0 is each "
        "time. What this engine changed is found at once, what is gone is never returned.",
    )
    vector_search: Literal["auto", "chroma", "exact"] = Field(
        "auto",
        description="`auto`: exact up to `exact_max_chunks` and for filtered queries, else Chroma.",
    )
    exact_max_chunks: Whole = Field(
        100_000, ge=0, description="Measured: up to there, exact is the faster one."
    )
    min_cosine: Real | None = Field(
        None,
        ge=-1,
        le=1,
        description="Similarity that alone makes a hit; default: calibrated per store.",
    )
    busy_timeout_ms: Whole = Field(5000, ge=0, description="Wait for another writer, at most.")
    embedding_batch_size: Whole = Field(64, ge=1, description="Texts in one call to an embedder.")
    embedding_attempts: Whole = Field(
        4, ge=1, description="Tries of a call that may succeed later."
    )
    maintain_indexes: bool = Field(
        default=True,
        description="Write the derived index files, if no other engine does, or once that has "
        "ended; if false, follow the database in memory. `memengine worker` leaves them to engines "
        "that search.",
    )
    worker: Literal["auto", "off"] = Field(
        "auto",
        description="Queued jobs: `auto` does them in a thread that starts with the first one, "
        "`off` leaves them to `memengine worker` or `run_jobs()`. GoClaw.",
    )
    graph_learning: Literal["off", "facts", "all"] = Field(
        "facts",
        description="What a chat model reads into the graph in the background: `facts` that it "
        "learnt, or `all`, also files, texts and messages as they come. GoClaw.",
    )
    worker_drain_seconds: Real = Field(
        10.0, ge=0, description="Wait for the job in hand when an engine closes, at most."
    )
    consolidate_at: str | None = Field(
        "03:00",
        pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$",
        description="Local time of the nightly consolidation, or `none`. GoClaw.",
    )
    timezone: str | None = Field(
        None, description="Whose local time, like `Europe/Berlin`; default: the machine's."
    )
    fold_after_days: Real = Field(
        30.0,
        ge=0,
        le=MOST_DAYS,
        description="Age from which records and logs are folded into MEMORY.md.",
    )

    @field_validator("ranking", mode="before")
    @classmethod
    def _ranking_by_name(cls, value: object) -> object:
        if isinstance(value, Mapping) and "preset" in value:
            return changed_preset(value)
        return ranking_named(value) if isinstance(value, str) else value

    @field_validator("embeddings", "chat_model", "consolidate_at", mode="before")
    @classmethod
    def _none_by_name(cls, value: object) -> object:
        return None if value == "none" else value

    @field_validator("overlap_tokens")
    @classmethod
    def _overlap_below_size(cls, value: int, info: Any) -> int:
        size = info.data.get("chunk_tokens", 400)
        if value * 2 > size:
            raise ValueError(f"overlap_tokens={value} must be at most half of chunk_tokens={size}")
        return value


def load_config(root: Path | None = None, **arguments: Any) -> MemEngineConfig:
    """Return the settings for a root: arguments over environment over file over defaults.

    Args:
        root: Folder that may hold ``memengine.toml``; ``None`` reads no file.
        **arguments: Settings by name.

    Raises:
        ConfigurationError: A setting is unknown or has a value that cannot work.
    """
    return _checked({**_from_file(root), **_from_environment(os.environ), **arguments})


def changed_config(config: MemEngineConfig, **changes: Any) -> MemEngineConfig:
    """Return settings with some of them changed, all of them checked: a copy may hold anything.

    Raises:
        ConfigurationError: A setting is unknown or has a value that cannot work.
    """
    return _checked({**vars(config), **changes})


def _checked(settings: Mapping[str, Any]) -> MemEngineConfig:
    try:
        return MemEngineConfig.model_validate(settings)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, e['loc']))}: {_problem(e)}"
            for e in error.errors(include_url=False)
        )
        raise ConfigurationError(
            f"The settings cannot work. {problems.removesuffix('.')}."
        ) from error


def _problem(error: ErrorDetails) -> str:
    """Return what is wrong with one setting; of an unknown one, what may have been meant."""
    if error["type"] != "extra_forbidden":
        return error["msg"].removeprefix("Value error, ")
    fields = Ranking.model_fields if len(error["loc"]) > 1 else MemEngineConfig.model_fields
    near = get_close_matches(str(error["loc"][-1]), fields, n=1)
    return "There is no such setting" + (f", but there is '{near[0]}'" if near else "")


def _from_file(root: Path | None) -> dict[str, Any]:
    path = root / CONFIG_FILE if root else None
    if path is None or not path.is_file():
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ConfigurationError(
            f"{path} cannot be read as TOML: {error}. Correct or remove it."
        ) from error


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return ``MEMENGINE_*`` variables by setting; structured values are written as JSON."""
    found: dict[str, Any] = {}
    for name in MemEngineConfig.model_fields:
        value = environment.get(ENVIRONMENT_PREFIX + name.upper())
        if value is not None:
            found[name] = _from_json(name, value) if value.startswith(("[", "{")) else value
    return found


def _from_json(name: str, value: str) -> Any:
    try:
        return json.loads(value)
    except json.JSONDecodeError as error:
        raise ConfigurationError(
            f"{ENVIRONMENT_PREFIX}{name.upper()} cannot be read as JSON: {error}. Correct it."
        ) from error
