"""Which partition a memory is indexed in, and what marking chunks as changed reads."""

import pytest

from langchain_memengine.storage import chunks
from langchain_memengine.storage.chunk_values import partition_key
from langchain_memengine.storage.database import Database
from tests.fakes.clock import START


@pytest.mark.parametrize(
    ("scope", "owner", "key"),
    [
        ("global", "", "shared"),
        ("agent_notes", "", "shared"),
        ("personal", "anna", "personal/anna"),
        ("agent_config", "", "agent_config"),
        ("wiki", "", "wiki"),
        ("db_cache", "", "db_cache"),
    ],
)
def test_what_not_everyone_reads_is_in_a_partition_of_its_own(scope, owner, key):
    assert partition_key(scope, owner) == key


def test_chunks_that_wait_for_a_vector_are_marked_by_their_texts_and_not_by_reading_all():
    database = Database("sqlite://", store_id="s", now=START, busy_timeout_ms=0)
    sent = []
    with database.write() as tx:
        driver = tx.connection.connection.driver_connection
        driver.set_trace_callback(sent.append)
        chunks.touch_hashes(tx, ["a", "b"])
        driver.set_trace_callback(None)
        (update,) = [statement for statement in sent if statement.startswith("UPDATE chunks")]
        ((*_, step),) = driver.execute(f"EXPLAIN QUERY PLAN {update}").fetchall()
    database.close()
    assert "ix_chunks_text_hash" in step
