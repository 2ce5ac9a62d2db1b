"""What every database must do when it looks for what is to be forgotten."""

from datetime import timedelta

from sqlalchemy import event

from langchain_memengine.storage import chunks, doomed, messages
from langchain_memengine.storage.doomed_values import Selection
from langchain_memengine.storage.messages import StoredMessage
from langchain_memengine.types import Provenance
from tests.storage.contract import MANY, NOW, piece

LATER = NOW + timedelta(days=1)


def archive(database, owner, *message_ids, thread="t"):
    """Archive messages, each with its chunk; return the sources of the chunks."""
    stored = [StoredMessage(owner, thread, one, f'{{"by": "{owner}"}}') for one in message_ids]
    by_source = {
        f"message:{thread}/{one}#{owner}": [
            (
                piece(f"{owner} said {one}", source=f"message:{thread}/{one}#{owner}"),
                Provenance("personal", owner, thread_id=thread, metadata={"message_id": one}),
            )
        ]
        for one in message_ids
    }
    with database.write() as tx:
        messages.archive(tx, f"commit of {owner}", stored, now=NOW)
        chunks.replace_sources(tx, by_source, now=NOW)
    return list(by_source)


class DoomedContract:
    """What forgetting finds."""

    def test_a_message_of_another_user_with_the_same_ids_is_not_found(self, database):
        mine, _ = archive(database, "anna", "1", "2")
        archive(database, "bert", "1")
        archive(database, "anna", "1", thread="u")
        with database.read() as tx:
            for wanted in (Selection(source=mine), Selection(sources=(mine,))):
                found = doomed.select_rows(tx, wanted)
                assert [(m.thread_id, m.body) for m in found.messages] == [("t", '{"by": "anna"}')]
                assert [(chunk.owner, chunk.message_id) for chunk in found.chunks] == [
                    ("anna", "1")
                ]

    def test_many_messages_are_found_with_their_chunks(self, database):
        ids = [str(number) for number in range(MANY)]
        sources = archive(database, "anna", *ids)
        archive(database, "bert", "1")
        with database.read() as tx:
            found = doomed.select_rows(tx, Selection(sources=tuple(sources)))
            assert len(found.messages) == len(found.chunks) == MANY
            asked = []
            event.listen(tx.connection, "before_cursor_execute", lambda *sent: asked.append(sent))
            assert len(doomed.chunks_of_messages(tx, found.messages)) == MANY
            assert len(asked) < 10  # three batches of keys, then the conversation once
            old = doomed.old_archive(tx, LATER, ["anna"])
            assert {message.key for message in old.messages} == {m.key for m in found.messages}
            assert sorted(chunk.source for chunk in old.chunks) == sorted(sources)
            assert doomed.old_archive(tx, NOW, None).messages == []
