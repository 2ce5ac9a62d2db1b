"""A small LangGraph app that learns a graph from what people say and answers from it.

Run it with any LangChain chat model; here a scripted one stands in, so that nothing is called::

    python examples/graph.py
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, NotRequired

from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from langchain_memengine import MemoryEngine, graph_extraction

REPLY = """{"entities": [{"name": "Anna", "type": "Person"}, {"name": "Bert", "type": "Person"},
{"name": "PostgreSQL", "type": "Product"}], "relations": [
{"source": "Anna", "type": "works with", "target": "Bert"},
{"source": "Bert", "type": "chose", "target": "PostgreSQL"}]}"""


class State(TypedDict):
    """What the app's nodes share; the extraction takes ``messages``, returns ``graph_counts``."""

    messages: Annotated[list[AnyMessage], add_messages]
    graph_counts: NotRequired[dict[str, int]]


def run(root: Path, model: BaseChatModel) -> list[str]:
    """Let the app hear one message; return who the person works with that chose the database."""
    with MemoryEngine.open(root, embeddings=None) as engine:
        builder = StateGraph(State)
        builder.add_node("learn", graph_extraction(engine, model))
        builder.add_edge(START, "learn")
        builder.add_edge("learn", END)
        app = builder.compile()

        said = HumanMessage("I, Anna, work with Bert. He chose PostgreSQL.", id="1")
        state = app.invoke({"messages": [said]}, {"configurable": {"thread_id": "monday"}})
        print(f"learnt {state['graph_counts']['relations']} relations")

        (path,) = engine.graph.paths("Anna", "PostgreSQL")
        around = engine.graph.neighbours("PostgreSQL", hops=2)
        (root / "graph.html").write_text(engine.graph.picture(around).html, encoding="utf-8")
        return [str(relation) for relation in path]


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        print("\n".join(run(Path(folder), GenericFakeChatModel(messages=iter([REPLY])))))
