"""What databases would do in ways of their own: collations, long values, floats, odd characters."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from langchain_memengine.storage import (
    access,
    chunks,
    doomed,
    embeddings,
    experiences,
    exports,
    files,
    originals,
    records,
)
from langchain_memengine.storage.column_types import MAX_MYSQL_KEY_CHARS
from langchain_memengine.storage.documents import TableNotes, all_documents
from langchain_memengine.storage.files import IndexedFile
from langchain_memengine.storage.originals import Original
from langchain_memengine.text.sanitize import clean_text
from tests.storage.contract import NOW, keep
from tests.storage.contract_experiences import LEARNT
from tests.storage.contract_records import record

# Each pair is one and the same to some collation; sorted by code point.
NAMES = [
    "",
    " ",
    "A",
    "STRASSE",
    "a",
    "a ",
    "b",
    "e\u0301",
    "z",
    "~",
    "Ä",
    "ß",
    "é",
    "И",
    "и",
    "🙂",
]
PLANETS = "".join(chr(0x1F300 + n % 700) for n in range(MAX_MYSQL_KEY_CHARS))  # 4 bytes each

storable = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


class BoundaryContract:
    """The same on every database."""

    def test_names_are_compared_and_sorted_character_by_character(self, database):
        notes = TableNotes(database, lambda: NOW)
        for name in reversed(NAMES):
            notes.update(name, lambda _, name=name: f"text of {name!r}")
        assert notes.names() == NAMES == sorted(NAMES)
        assert [notes.read(name) for name in NAMES] == [f"text of {name!r}" for name in NAMES]
        assert notes.remove("a")
        assert notes.names() == [name for name in NAMES if name != "a"]

    def test_patterns_tell_capitals_and_blanks_apart(self, database):
        sources = ["doc:/a", "doc:/A", "doc:/a b", "doc:/á", "doc:/%", "doc:/_"]
        for source in sources:
            keep(database, "text", source=source)

        def found(pattern):
            with database.read() as tx:
                gone = doomed.select_rows(tx, doomed.Selection(source=pattern))
            return sorted(chunk.source for chunk in gone.chunks)

        assert found("doc:/a*") == ["doc:/a", "doc:/a b"]
        assert found("doc:/A*") == found("doc:/A") == ["doc:/A"]
        assert found("doc:/%*") == ["doc:/%"]
        assert found("doc:/_*") == ["doc:/_"]
        assert found("*") == sorted(sources)
        with database.read() as tx:
            exported = [source for source, _ in exports.texts(tx, ["shared"], ["doc:/a"])]
        assert exported == ["doc:/a", "doc:/a b"]

    def test_records_are_found_by_the_beginning_of_their_source(self, database):
        with database.write() as tx:
            for number, source in enumerate(["Web/a", "web/a", "web/"]):
                records.put(tx, record(str(number), source=source))
        with database.read() as tx:
            found = records.matching(tx, records.source_is("web/*"))
        assert sorted(one.source for one in found) == ["web/", "web/a"]

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
    @given(text=st.text(max_size=50))
    def test_any_text_that_was_cleaned_comes_back(self, database, text):
        with database.write() as tx:
            tx.set_meta("key", clean_text(text))
        with database.read() as tx:
            assert tx.get_meta("key") == clean_text(text)

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
    @given(names=st.sets(storable.filter(lambda name: len(name) < 50), max_size=6))
    def test_different_names_are_different_files(self, database, names):
        put = [IndexedFile(name, f"file:w/{name}", 1, 1, "h") for name in names]
        with database.write() as tx:
            files.forget(tx, "w", list(files.of_workspace(tx, "w")))
            files.put(tx, "w", put, now=NOW)
        with database.read() as tx:
            assert files.of_workspace(tx, "w") == {one.path: one for one in put}

    def test_long_texts_and_vectors_come_back(self, database):
        text = "ä🙂\n" * 50_000  # 350 KB; MySQL's TEXT and BLOB end at 64
        (chunk,) = keep(database, text)
        vector = np.arange(50_000, dtype=np.float32)
        with database.write() as tx:
            embeddings.put(tx, {chunk.hash: vector}, "m", touch=False)
        with database.read() as tx:
            (row,) = chunks.index_rows(tx, "shared")
            _, vectors = embeddings.vectors_of_partition(tx, "shared", "m")
        assert row.text == text
        assert np.array_equal(vectors[0], vector)

    def test_the_longest_names_fit_into_every_key(self, database):
        path = IndexedFile(PLANETS, PLANETS, 2**60, 2**62, "h")
        keep(database, "text", source=PLANETS)
        with database.write() as tx:
            files.put(tx, "w" * 64, [path], now=NOW)
            originals.put(tx, {PLANETS: Original("text", {})})
        TableNotes(database, lambda: NOW).update(PLANETS, lambda _: "note")
        with database.read() as tx:
            assert files.of_workspace(tx, "w" * 64) == {PLANETS: path}
            assert originals.by_sources(tx, [PLANETS])[PLANETS].text == "text"
            assert list(chunks.scopes_of_sources(tx, [PLANETS])) == [PLANETS]
            assert [note.name for note in all_documents(tx)] == [PLANETS]

    @pytest.mark.parametrize("weight", [0.1 + 0.2, 1 / 3, 5e-324, 1.7976931348623157e308])
    def test_floats_keep_all_their_bits(self, database, weight):
        with database.write() as tx:
            experiences.put(tx, [replace(LEARNT, weight=weight)])
        with database.read() as tx:
            assert experiences.by_id(tx, [LEARNT.id])[LEARNT.id].weight == weight

    def test_counts_go_on_beyond_32_bits(self, database):
        (chunk,) = keep(database, "text")
        for _ in range(2):
            with database.write() as tx:
                access.record(tx, {chunk.id: 2**31}, now=NOW)
        with database.read() as tx:
            (row,) = chunks.index_rows(tx, "shared")
            assert access.counts_of_partition(tx, "shared") == {row.num: 2**32}
