"""What a quarantine holds for, and under which id it is kept."""

from datetime import UTC, datetime

import pytest

from langchain_memengine.storage.record_values import Quarantine, quarantine_target

NOW = datetime(2026, 5, 19, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("source", "covered", "others"),
    [
        ("web/a", ["web/a"], ["web/ab", "web/", "Web/a", ""]),
        ("web/*", ["web/", "web/a", "web/a/b"], ["web", "my web/a"]),
        ("*", ["", "web/a"], []),
        ("web/**", ["web/*", "web/*a"], ["web/a"]),
    ],
)
def test_a_quarantine_covers_its_source_or_what_begins_so(source, covered, others):
    quarantine = Quarantine(source, "why", "", NOW)
    assert [one for one in [*covered, *others] if quarantine.covers(one)] == covered


def test_the_quarantine_of_a_record_is_kept_under_its_id_any_other_under_a_hash():
    assert Quarantine("record:r1", "why", "", NOW).target_id == "r1"
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-2
    assert quarantine_target("abc") == digest
    assert len(quarantine_target("record:*")) == len(digest)  # no record can have that id
