"""Settings: where they come from, and what cannot work."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from langchain_memengine.config import MemEngineConfig, load_config
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.rankings import RANKINGS


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch):
    for name in MemEngineConfig.model_fields:
        monkeypatch.delenv(f"MEMENGINE_{name.upper()}", raising=False)


def toml(folder: Path, text: str) -> Path:
    (folder / "memengine.toml").write_text(text, encoding="utf-8")
    return folder


# Precedence


def test_argument_comes_before_environment_before_file_before_default(tmp_path, monkeypatch):
    assert load_config(tmp_path).chunk_tokens == 400
    toml(tmp_path, "chunk_tokens = 300")
    assert load_config(tmp_path).chunk_tokens == 300
    monkeypatch.setenv("MEMENGINE_CHUNK_TOKENS", "200")
    assert load_config(tmp_path).chunk_tokens == 200
    assert load_config(tmp_path, chunk_tokens=500).chunk_tokens == 500
    assert load_config().chunk_tokens == 200


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path):
    toml(tmp_path, "\ufeffchunk_tokens = 300")
    assert load_config(tmp_path).chunk_tokens == 300


def test_each_setting_comes_from_the_best_place_that_has_it(tmp_path, monkeypatch):
    toml(tmp_path, 'language = "german"\npinned_cap = 1')
    monkeypatch.setenv("MEMENGINE_PINNED_CAP", "2")
    config = load_config(tmp_path, ranking="goclaw")
    assert (config.language, config.pinned_cap, config.ranking.name) == ("german", 2, "goclaw")


def test_environment_holds_json_for_lists_and_tables(monkeypatch):
    monkeypatch.setenv("MEMENGINE_INCLUDE", '["**/*.rst"]')
    monkeypatch.setenv("MEMENGINE_SOURCES", '{"docs": "/a/docs"}')
    monkeypatch.setenv("MEMENGINE_SYNC_ON_OPEN", "false")
    monkeypatch.setenv("MEMENGINE_EMBEDDINGS", "none")
    config = load_config()
    assert config.include == ("**/*.rst",)
    assert config.sources == {"docs": Path("/a/docs")}
    assert (config.sync_on_open, config.embeddings) == (False, None)


@pytest.mark.parametrize("where", ["file", "environment", "argument"])
def test_a_preset_can_be_named_with_the_numbers_that_are_other(tmp_path, monkeypatch, where):
    changed = {"preset": "balanced", "date_boost": 0, "k": 9}
    if where == "file":
        text = 'ranking = {preset = "balanced", date_boost = 0, k = 9}\n'
        (tmp_path / "memengine.toml").write_text(text)
    if where == "environment":
        monkeypatch.setenv("MEMENGINE_RANKING", json.dumps(changed))
    given = {"ranking": changed} if where == "argument" else {}
    update = {"name": "yours", "date_boost": 0.0, "k": 9}
    wanted = RANKINGS["balanced"].model_copy(update=update)
    assert load_config(tmp_path, **given).ranking == wanted
    named = load_config(ranking=changed | {"name": "notes"}).ranking
    assert named == wanted.model_copy(update={"name": "notes"})


def test_file_holds_tables(tmp_path):
    text = '[sources]\ndocs = "/a/docs"\n[ranking]\nname = "mine"\nmethod = "rrf"\nrrf_k = 5\n'
    config = load_config(toml(tmp_path, text))
    assert config.sources == {"docs": Path("/a/docs")}
    assert (config.ranking.name, config.ranking.rrf_k, config.ranking.k) == ("mine", 5.0, 6)


# What cannot work


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"chunk_size": 5}, "chunk_size"),
        ({"chunk_tokens": "many"}, "chunk_tokens"),
        ({"chunk_tokens": 15}, "chunk_tokens"),
        ({"overlap_tokens": 201}, "overlap_tokens=201 must be at most half of chunk_tokens=400"),
        ({"chunk_tokens": 100}, "overlap_tokens=80 must be at most half of chunk_tokens=100"),
        ({"overlap_tokens": -1}, "overlap_tokens"),
        ({"ranking": "best"}, "Unknown ranking preset 'best'"),
        ({"ranking": {"preset": "best"}}, "Unknown ranking preset 'best'"),
        ({"ranking": {"preset": "rrf", "rrf_kk": 9}}, "but there is 'rrf_k'"),
        ({"ranking": {"name": "x", "method": "magic"}}, "ranking.method"),
        ({"ranking": {"name": "x", "method": "rrf", "rrf_k": 0}}, "ranking.rrf_k"),
        ({"vector_search": "faiss"}, "vector_search"),
        ({"min_cosine": 2}, "min_cosine"),
        ({"bm25_b": 1.1}, "bm25_b"),
        ({"store_id": ""}, "store_id"),
        ({"stat_interval_seconds": -1}, "stat_interval_seconds"),
    ],
)
def test_setting_that_cannot_work_is_named(settings, named):
    with pytest.raises(ConfigurationError, match="The settings cannot work") as caught:
        load_config(**settings)
    assert named in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"languag": "german"}, "languag: There is no such setting, but there is 'language'."),
        ({"zzz": 1}, "zzz: There is no such setting."),
        (
            {"ranking": {"name": "x", "method": "rrf", "rrf_kk": 9}},
            "ranking.rrf_kk: There is no such setting, but there is 'rrf_k'.",
        ),
    ],
)
def test_setting_with_a_typing_error_is_told_what_it_may_have_been(settings, told):
    with pytest.raises(ConfigurationError) as caught:
        load_config(**settings)
    assert str(caught.value) == f"The settings cannot work. {told}"


def test_every_wrong_setting_is_named_at_once():
    with pytest.raises(ConfigurationError) as caught:
        load_config(bm25_b=2, min_cosine=2, nonsense=1)
    assert all(name in str(caught.value) for name in ("bm25_b", "min_cosine", "nonsense"))


def test_unknown_setting_in_the_file_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match="chunk_size"):
        load_config(toml(tmp_path, "chunk_size = 5"))


@pytest.mark.parametrize("text", ["chunk_tokens =", "= 3", "\x00"])
def test_file_that_is_no_toml_is_named(tmp_path, text):
    with pytest.raises(ConfigurationError, match=r"memengine\.toml cannot be read as TOML"):
        load_config(toml(tmp_path, text))


def test_file_that_is_no_utf8_is_named(tmp_path):
    (tmp_path / "memengine.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match=r"memengine\.toml"):
        load_config(tmp_path)


def test_environment_that_is_no_json_is_named(monkeypatch):
    monkeypatch.setenv("MEMENGINE_INCLUDE", '["**/*.md"')
    with pytest.raises(ConfigurationError, match="MEMENGINE_INCLUDE cannot be read as JSON"):
        load_config()


def test_empty_environment_variable_is_a_value(monkeypatch):
    monkeypatch.setenv("MEMENGINE_STORE_ID", "")
    with pytest.raises(ConfigurationError, match="store_id"):
        load_config()


def test_half_the_chunk_is_the_largest_overlap():
    config = load_config(chunk_tokens=100, overlap_tokens=50)
    assert (config.chunk_tokens, config.overlap_tokens) == (100, 50)


# Values


def test_settings_are_frozen():
    with pytest.raises(ValidationError):
        MemEngineConfig().chunk_tokens = 5
    with pytest.raises(ValidationError):
        RANKINGS["rrf"].k = 5


def test_every_setting_is_described():
    for name, field in MemEngineConfig.model_fields.items():
        assert field.description, name


def test_defaults_are_those_of_the_sources():
    config = MemEngineConfig()
    assert (config.chunk_tokens, config.overlap_tokens, config.pinned_cap) == (400, 80, 4000)
    assert config.include == ("**/*.md", "**/*.mdx", "**/*.txt")
    assert config.exclude == ("node_modules/**", "dist/**", ".git/**")
    assert (config.embeddings, config.ranking.name) == ("local", "balanced")
