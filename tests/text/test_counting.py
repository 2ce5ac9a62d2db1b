"""Numbers of things have the plural that belongs to them."""

from langchain_memengine.text.counting import counted, counted_kinds


def test_one_is_singular_and_every_other_number_plural():
    assert counted(1, "file") == "1 file"
    assert counted(0, "file") == "0 files"
    assert counted(2, "entity", "entities") == "2 entities"
    assert counted(1, "entity", "entities") == "1 entity"
    assert counted(12345, "chunk") == "12,345 chunks"


def test_kinds_that_are_named_in_the_plural_lose_it_where_there_is_one():
    ones = dict.fromkeys(
        ("records", "recorded queries", "access counts", "messages of several users",
         "notes with quarantined words"),
        1,
    )  # fmt: skip
    assert counted_kinds(ones) == (
        "1 record, 1 recorded query, 1 access count, 1 message of several users, "
        "1 note with quarantined words"
    )
    assert counted_kinds({"records": 2, "notes": 0}) == "2 records, 0 notes"
    assert counted_kinds({}) == "nothing"
