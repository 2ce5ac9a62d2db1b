"""Which databases the settings choose, and which do not go together."""

import pytest

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.engine.state_store import state_store
from langchain_memengine.errors import ConfigurationError, MissingDependencyError
from langchain_memengine.storage import servers
from tests.storage.contract import NOW

CLICKHOUSE = "clickhousedb://me:hunter2@h/x"


def opened(file=None, **settings):
    return state_store(MemEngineConfig(**settings), file, NOW, read_only=False)


def test_sqlite_in_the_folder_unless_a_url_says_otherwise(tmp_path):
    opened(tmp_path / "a.sqlite").close()
    opened(tmp_path / "b.sqlite", database_url=f"sqlite:///{tmp_path}/c.sqlite").close()
    opened().close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.sqlite", "c.sqlite"]


@pytest.mark.parametrize("url", [None, "sqlite://"])
def test_a_second_database_stands_beside_clickhouse_only(url):
    with pytest.raises(ConfigurationError, match="beside ClickHouse only"):
        opened(database_url=url, jobs_url="sqlite://")


def test_clickhouse_needs_a_database_that_lasts_beside_it():
    with pytest.raises(ConfigurationError, match="Set jobs_url"):
        opened(database_url=CLICKHOUSE)


def test_clickhouse_is_no_database_for_jobs(tmp_path):
    with pytest.raises(ConfigurationError, match="no transactions") as refused:
        opened(tmp_path / "a.sqlite", database_url=CLICKHOUSE, jobs_url=CLICKHOUSE)
    assert "hunter2" not in str(refused.value)


def test_the_missing_driver_of_clickhouse_is_named_with_its_extra(tmp_path, monkeypatch):
    monkeypatch.setattr(servers, "find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match=r"langchain-memengine\[clickhouse\]"):
        opened(tmp_path / "a.sqlite", database_url=CLICKHOUSE)
