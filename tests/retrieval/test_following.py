"""What is read of a partition is read once for each state of the database."""

from types import SimpleNamespace

from langchain_memengine.retrieval.following import PerPartition
from langchain_memengine.storage.change_counters import Counters


def test_a_partition_is_read_again_after_a_change_only():
    reads = []
    found = PerPartition(lambda _tx, partition: reads.append(partition.key) or len(reads))

    def of(key, changes):
        return found.of(None, SimpleNamespace(key=key), Counters(changes, accesses=0))

    assert [of("a", 1), of("b", 1), of("a", 1), of("a", 2), of("b", 1)] == [1, 2, 1, 3, 2]
    assert reads == ["a", "b", "a"]


def test_few_partitions_are_kept():
    reads = []
    found = PerPartition(lambda _tx, partition: reads.append(partition.key))
    for key in [*map(str, range(65)), "64", "1", "0"]:
        found.of(None, SimpleNamespace(key=key), Counters(1, accesses=0))
    assert reads == [*map(str, range(65)), "0"]
