"""Ask an engine a data set's questions, through its public methods, and measure the answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from langchain_core.documents import Document

from langchain_memengine.answers import Hit
from langchain_memengine.config import MemEngineConfig, load_config
from langchain_memengine.engine.memory_engine import CONFIGURED, MemoryEngine
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.evaluation.baselines import Baselines
from langchain_memengine.evaluation.datasets import Collection, Dataset
from langchain_memengine.evaluation.metrics import DEPTH, scores
from langchain_memengine.evaluation.names import name_reader
from langchain_memengine.evaluation.results import (
    SYSTEM,
    WITHOUT_GRAPH,
    Answered,
    Evaluation,
    figures,
    figures_by_category,
    paired_tests,
)
from langchain_memengine.graph.documents import GraphDocument
from langchain_memengine.graph.triples import salvage
from langchain_memengine.models.asking import ChatModel
from langchain_memengine.models.embedding import Embedder, EmbeddingsLike
from langchain_memengine.models.providers import make_embedder
from langchain_memengine.rankings import Ranking, checked_ranking
from langchain_memengine.retrieval.documents import NewDocument, document_id
from langchain_memengine.types import Progress
from langchain_memengine.workspace.files import read_text
from langchain_memengine.workspace.layout import owner_folder, slug

GRAPH_HOPS = 2
"""Relations that are followed when the ranking names no number."""


def evaluate(
    dataset: Dataset,
    *,
    ranking: Ranking | str | None = None,
    embeddings: EmbeddingsLike | str | None = CONFIGURED,
    baselines: bool = False,
    progress: Progress | None = None,
    engine: MemoryEngine | None = None,
    graph: bool | Literal["names"] = False,
) -> Evaluation:
    """Ask every question of a data set and measure what comes back.

    Each collection gets a store of its own, in memory. Settings that are no arguments here come
    from ``MEMENGINE_*`` variables, such as ``MEMENGINE_LANGUAGE``.

    Args:
        dataset: What :func:`load_dataset` returns, or one of your own.
        ranking: A preset's name or a ranking of your own; default: as the settings say.
        embeddings: As in ``MemoryEngine.open``; ``None`` searches by keyword only.
        baselines: Also ask plain retrievers, and test the difference.
        progress: Called with (questions done, questions to do).
        engine: The memory that is asked when the data set has no documents. It searches with the
            embedder it has; ``embeddings`` then only tells the baselines which one that is.
        graph: Follow the graph, as it comes with the data set or as the engine has it; the same
            search without it is one more baseline. ``"names"`` makes one of the names that the
            documents mention, by a stand-in for a chat model.

    Raises:
        ConfigurationError: The ranking or embedder is unknown, a document's metadata cannot be
            stored, there is no graph of the documents to follow, the baselines have nothing to
            search or would use another embedder, or the data set has no documents and there is no
            engine.
        EmbeddingError: The embedder fails for a baseline.
    """
    settings = engine.config if engine else _own_settings()
    chosen = None if ranking is None else checked_ranking(ranking)
    embedder = _embedder(settings, embeddings)
    name = embedder.name if embedder else None
    own = chosen or settings.ranking
    run = _Run(own, _counting(dataset, progress), (own.graph_hops or GRAPH_HOPS) if graph else None)
    for collection in dataset.collections:
        with _asked(collection, engine, embedder, reads_names=graph == "names") as memory:
            if graph and collection.documents:
                if graph != "names":
                    memory.graph.add_graph_documents(_told(collection))
                memory.run_jobs()  # which reads the documents, and embeds the names
            searched = collection.documents
            if baselines and not searched:
                searched = _files_of(memory)
            run.ask(collection, memory, _peers(searched, memory, embedder) if baselines else None)
            name = memory.embedding_name
    return Evaluation(
        dataset=dataset.name,
        ranking=run.ranking.name,
        embeddings=name,
        overall=figures(run.answered),
        per_category=figures_by_category(run.answered),
        paired=paired_tests(run.answered),
        degraded=run.problems(),
    )


class _Run:
    """The questions that were asked so far, and what went wrong."""

    def __init__(self, ranking: Ranking, count: Callable[[], None], hops: int | None) -> None:
        self.ranking = ranking
        self._hops = hops
        self.answered: list[Answered] = []
        self._count = count
        self._problems: list[str] = []
        self._shortfalls: Counter[str] = Counter()

    def ask(self, collection: Collection, memory: MemoryEngine, peers: Baselines | None) -> None:
        """Ask all questions of a collection."""
        found: set[str] = set()
        for question in collection.questions:
            ranked = self._ranked(question.text, memory, self._hops)
            found.update(ranked)
            rankings = {SYSTEM: ranked, **(peers.rank(question.text) if peers else {})}
            if self._hops is not None:
                rankings[WITHOUT_GRAPH] = self._ranked(question.text, memory, 0)
            measured = {name: scores(ids, question.grades) for name, ids in rankings.items()}
            self.answered.append(Answered(question.category, measured))
            self._count()
        self._note_strangers(collection, memory, found, peers)

    def problems(self) -> tuple[str, ...]:
        """Return what made the result poorer than asked, in words, each once."""
        asked = len(self.answered)
        shortfalls = [f"{n} of {asked} searches: {what}" for what, n in self._shortfalls.items()]
        return (*dict.fromkeys(self._problems), *shortfalls)

    def _ranked(self, query: str, memory: MemoryEngine, hops: int | None) -> list[str]:
        """Return the best 25 documents, each at the rank of its first chunk."""
        k = DEPTH
        while True:
            result = memory.search(query, k, ranking=self.ranking, graph_hops=hops)
            ids = list(dict.fromkeys(map(_document_of, result.hits)))
            if len(ids) >= DEPTH or len(result.hits) < k:
                self._shortfalls.update(set(result.degraded))
                return ids[:DEPTH]
            k *= 2

    def _note_strangers(
        self,
        collection: Collection,
        memory: MemoryEngine,
        found: set[str],
        peers: Baselines | None,
    ) -> None:
        """Note relevant documents that cannot be found, by the engine or by the baselines."""
        listed = {document.id for document in collection.documents} or set(memory.indexed_files())
        named = {one for question in collection.questions for one in question.grades}
        for one in sorted(named - listed):
            if one not in found:
                self._problems.append(
                    f"{one!r} is called relevant, and neither a file nor a text that any search "
                    "found has that name; check its spelling"
                )
            elif peers is not None:
                self._problems.append(f"baselines: they see files only, not the text {one!r}")
        self._problems += peers.problems if peers else ()


def _counting(dataset: Dataset, progress: Progress | None) -> Callable[[], None]:
    """Return what is called after each question."""
    total = sum(len(collection.questions) for collection in dataset.collections)
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    return count


def _own_settings(reader: ChatModel | None = None) -> MemEngineConfig:
    """Return the settings of a store in memory: never those of one that is in use."""
    return load_config(
        database_url=None,
        jobs_url=None,
        chroma_url=None,
        sources={},
        sync_on_open=False,
        sync_on_search=False,
        worker="off",
        chat_model=None,
        graph_learning="all" if reader else "off",
    )


def _embedder(
    settings: MemEngineConfig, embeddings: EmbeddingsLike | str | None
) -> Embedder | None:
    spec = settings.embeddings if embeddings is CONFIGURED else embeddings
    return make_embedder(
        None if spec == "none" else spec,
        batch_size=settings.embedding_batch_size,
        attempts=settings.embedding_attempts,
    )


@contextmanager
def _asked(
    collection: Collection,
    engine: MemoryEngine | None,
    embedder: Embedder | None,
    *,
    reads_names: bool,
) -> Iterator[MemoryEngine]:
    """Open the memory that a collection's questions are asked of."""
    documents = collection.documents
    if documents:
        spec = embedder.embeddings if embedder else None
        reader = name_reader() if reads_names else None
        with MemoryEngine(
            None, _own_settings(reader), embeddings=spec, chat_model=reader
        ) as memory:
            memory.add_texts(
                [one.text for one in documents],
                [one.metadata for one in documents],
                ids=[one.id for one in documents],
            )
            yield memory
    elif engine is None:
        raise ConfigurationError(
            "The data set has no documents to search. Add them, or pass engine=, the memory to ask."
        )
    elif reads_names:
        raise ConfigurationError(
            "The data set has no documents whose names could make a graph. "
            "Follow the one that the memory has: graph=True."
        )
    else:
        yield engine


def _told(collection: Collection) -> Iterator[GraphDocument]:
    """Yield what the documents tell, as far as it can be read.

    Raises:
        ConfigurationError: Nobody has extracted it.
    """
    if not collection.graph:
        raise ConfigurationError(
            "The data set brings no graph of its documents. For musique put openie_NAME.json "
            "beside NAME.json; a memory's own graph is followed when the file has no documents; "
            'graph="names" (--graph-names) makes one of the names in them.'
        )
    for one, reply in collection.graph.items():
        found = salvage(reply)
        yield GraphDocument.of(found.entities, found.relations, Document("", id=one))


def _files_of(memory: MemoryEngine) -> tuple[NewDocument, ...]:
    """Return the files that the memory's own user finds, whole, by path."""
    readable = {None, slug(memory.actor.user_id)}
    folders = [memory.root, *memory.config.sources.values()]
    found = []
    for path in dict.fromkeys(memory.indexed_files()):
        home = next((one for one in folders if one is not None and (one / path).is_file()), None)
        if home is not None and owner_folder(path) in readable:
            text = read_text(home, path, memory.config.max_file_bytes).text
            found.append(NewDocument(text, {}, path))
    return tuple(found)


def _peers(
    documents: Sequence[NewDocument], memory: MemoryEngine, embedder: Embedder | None
) -> Baselines:
    name = embedder.name if embedder else None
    if name != memory.embedding_name:
        raise ConfigurationError(
            f"The memory uses the embedder {memory.embedding_name}, the baselines would use "
            f"{name}. Pass the memory's own as embeddings=."
        )
    return Baselines(documents, embedder)


def _document_of(hit: Hit) -> str:
    return hit.path or document_id(hit.source) or hit.source
