"""An engine beside ClickHouse: what keeps records and messages, by two engines of one store."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from integration_tests.sharing import two_engines
from langchain_memengine.errors import NotFoundError, StorageError
from langchain_memengine.types import Actor
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, texts

ANN = Actor("ann")


@pytest.fixture
def engines(settings, tmp_path):
    with two_engines(tmp_path / "memory", settings) as engines:
        yield engines


def test_records_are_found_changed_listed_and_undone_by_both(engines):
    one, two = engines
    record = one.remember("Ann likes oolong", actor=ANN, source="chat/чай")
    two.remember("Ann likes jasmine", actor=ANN, source="chat/2")
    two.update(record.id, text="Ann likes sencha", actor=ANN)
    assert texts(one.search("Ann likes sencha", 1, actor=ANN)) == ["Ann likes sencha"]
    listed = one.list_records(actor=ANN, source="chat/ч*")
    assert [found.text for found in listed] == ["Ann likes sencha"]
    changed = one.revisions(record.id, actor=ANN)[-1]
    two.undo(changed.id, actor=ANN)
    assert one.get(record.id, actor=ANN).text == "Ann likes oolong"
    assert [revision.kind for revision in two.revisions(record.id, actor=ANN)] == [
        "add", "update", "undo",
    ]  # fmt: skip


def test_forgotten_words_are_nowhere_in_clickhouse(engines, clickhouse, store_id):
    one, two = engines
    record = one.remember("Ann likes oolong", actor=ANN)
    one.update(record.id, text="Ann likes sencha", actor=ANN)
    changed = one.revisions(record.id, actor=ANN)[-1]
    said = [HumanMessage("Ann likes sencha", id="1"), HumanMessage("Good.", id="2")]
    one.history("s", actor=ANN).add(said)
    report = two.forget([record.id], actor=ANN)
    assert report.removed["records"] == 1
    assert report.removed["revisions"] == 2
    assert any("ClickHouse" in place for place in report.out_of_reach)
    with pytest.raises(NotFoundError, match="forgotten"):
        one.undo(changed.id, actor=ANN)
    for table in ("memories", "memory_revisions", "messages"):
        stored = clickhouse.query(f"SELECT * FROM {table} WHERE store_id = '{store_id}'")  # noqa: S608
        assert stored
        assert not any("oolong" in line or "sencha" in line for line in stored), table
    assert [message.content for message in one.history("s", actor=ANN).read()] == ["Good."]


def test_histories_and_archives_are_read_by_both(engines):
    one, two = engines
    said = [HumanMessage("Where is the teapot?", id="1"), AIMessage("On the shelf.", id="2")]
    one.history("s", actor=ANN).add(said)
    assert [m.content for m in two.history("s", actor=ANN).read()] == [m.content for m in said]
    two.history("s", actor=ANN).clear()
    assert one.history("s", actor=ANN).read() == []
    one.archive.commit("t", "", "archive", said, now=one.now())
    assert [m.content for m in two.restore("t")] == [m.content for m in said]


def test_what_is_quarantined_by_its_source_is_not_found(engines):
    one, two = engines
    one.remember("Buy at evil.example", source="web/é/1", origin="tool", scope="agent_notes")
    assert texts(two.search("evil.example", 1)) == ["Buy at evil.example"]
    two.quarantine(source="web/é/*", reason="spam")
    assert "Buy at evil.example" not in texts(one.search("evil.example"))


def test_an_audit_and_an_export_count_what_is_in_clickhouse(engines, settings, tmp_path):
    one, _ = engines
    one.remember("Ann likes oolong", actor=ANN)
    one.remember("Everyone likes tea")
    assert sum(count.records for count in one.audit().records) == 2
    one.export(tmp_path / "all.jsonl")
    with make_engine() as other:
        other.import_(tmp_path / "all.jsonl")
        assert "Everyone likes tea" in texts(other.search("everyone tea"))


def test_a_reader_reads_what_is_there_and_a_backup_is_refused(engines, settings, tmp_path):
    one, _ = engines
    one.remember("Ann likes oolong", actor=ANN)
    with make_engine(read_only=True, embeddings=FakeEmbeddings(), **settings) as reader:
        assert texts(reader.search("oolong", 1, actor=ANN)) == ["Ann likes oolong"]
        assert [found.text for found in reader.list_records(actor=ANN)] == ["Ann likes oolong"]
    with pytest.raises(StorageError, match="BACKUP DATABASE"):
        one.backup(tmp_path / "copy.sqlite")
    assert not (tmp_path / "copy.sqlite").exists()
