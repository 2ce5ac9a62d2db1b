"""Which partition a memory is indexed in."""

import pytest

from langchain_memengine.storage.chunk_values import partition_key


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
