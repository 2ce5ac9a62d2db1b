"""Remove rows and everything that was built from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from langchain_memengine.engine.derived import CHROMA_DIR
from langchain_memengine.engine.parts import FORGOTTEN_AT
from langchain_memengine.engine.writing import Writing
from langchain_memengine.reports import ForgetReport
from langchain_memengine.retrieval import visibility
from langchain_memengine.retrieval.derived_files import clear
from langchain_memengine.retrieval.note_erasing import Erased
from langchain_memengine.storage import doomed, forgetting, store_items
from langchain_memengine.storage.doomed_values import Doomed, DoomedChunk
from langchain_memengine.text.erasing import Erasure
from langchain_memengine.types import Actor
from langchain_memengine.workspace.layout import Layout


class Erasing(Writing):
    """The part of forgetting that removes what was found."""

    def _remove(
        self,
        found: Doomed,
        erased: Erased,
        removed: Counter[str],
        beyond: Sequence[str],
        *,
        keep_history: bool,
    ) -> ForgetReport:
        """Remove rows and everything that is derived from them."""
        main = self._sources[0].workspace_id
        touched = [*erased.changed, *erased.removed]
        gone = list(found.chunks)
        if touched:
            with self._database.read() as tx:
                gone = unique([*gone, *doomed.chunks_of_paths(tx, main, touched)])
            self.sync()
        removed["notes"] += len(touched)
        self._access_counts.forget(chunk.id for chunk in gone)
        with self._database.write() as tx:
            removed.update(
                forgetting.remove(
                    tx, found, now=self._clock(), workspace_id=main, keep_history=keep_history
                )
            )
            removed.update(forgetting.remove_unused(tx, gone))
            if gone:
                tx.set_meta(FORGOTTEN_AT, str(tx.seq))
        lost = self._drop_derived({chunk.partition_key for chunk in gone})
        left = dict.fromkeys([self.graph.scrub(), self._database.scrub()])
        lost = (*lost, *(place for place in left if place is not None))
        counted = {kind: number for kind, number in removed.items() if number}
        return ForgetReport(counted, (*beyond, *lost))

    def _drop_derived(self, partitions: set[str]) -> tuple[str, ...]:
        """Drop what was built from these partitions; return what could not be reached."""
        if not partitions:
            return ()
        words = self._partitions.discard(sorted(partitions))
        self._take_over()  # nobody else would remove what an engine that has ended left in Chroma
        vectors = self._drop_vectors(partitions)
        return (*words, vectors) if vectors else tuple(words)

    def _drop_vectors(self, partitions: set[str]) -> str | None:
        """Drop the vectors of these partitions from Chroma; return where there still are some."""
        if self._derived.chroma is not None:
            index, _ = self._derived.chroma
            with self._database.read() as tx:
                model = self._embedding.model(tx)
            return index.start_over([(one, model or "") for one in sorted(partitions)])
        if self.config.chroma_url is not None:
            return "Vectors on the Chroma server, until an engine that uses it searches."
        folder = None if self.root is None else Layout(self.root).state_dir / CHROMA_DIR
        if folder is None or not folder.exists():
            return None
        if not self._maintains:
            return "Vectors in the Chroma folder, which another process maintains."
        return clear(folder, "Vectors")

    def _still_holding(
        self, words: Erasure, known: Sequence[DoomedChunk], actor: Actor
    ) -> list[str]:
        """Return sentences on texts that hold the same words and were not asked for."""
        if not words:
            return []
        keys = {*visibility.readable_partitions(actor)}
        if actor.is_admin:
            keys |= {chunk.partition_key for chunk in known}
        with self._database.read() as tx:
            left = doomed.holding_sources(tx, sorted(keys), words.holds)
        return [f"{source} holds the same words and was not asked for." for source in left]

    def _items_left(self, words: Erasure, owner: str | None, actor: Actor) -> list[str]:
        """Return sentences on items of stores, which are the application's own."""
        with self._database.read() as tx:
            named = 0 if owner is None else store_items.naming(tx, owner)
            held = store_items.holding(tx, words.is_in_json) if words and actor.is_admin else 0
        told = (
            (named, f"in namespaces named {owner!r}"),
            (held, "that hold the same words"),
        )
        return [
            f"Items of a LangGraph store {which}: {number:,}. Delete them with the store."
            for number, which in told
            if number
        ]


def unique(found: Sequence[DoomedChunk]) -> list[DoomedChunk]:
    """Return each chunk once, in their order."""
    return list({chunk.id: chunk for chunk in found}.values())
