"""Tools with which an agent looks up what worked before, and notes what did."""

from __future__ import annotations

from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field

from langchain_memengine.answers import as_json
from langchain_memengine.engine.memory_engine import MemoryEngine
from langchain_memengine.faces.running import caller, thread_id_in
from langchain_memengine.text.redaction import redacted_text

MAX_SOLUTION_CHARS = 2_000


class ExperienceSearchInput(BaseModel):
    """What ``experience_search`` is given."""

    query: str = Field(description="What you are about to do, or the error you met.")
    tags: list[str] = Field(default=[], description="Topics or tool names, if any.")
    limit: int = Field(default=3, ge=1, le=10)


class ExperienceRecordInput(BaseModel):
    """What ``experience_record`` is given."""

    intent: str = Field(description="What was wanted, in the user's words.")
    solution: str = Field(description="What worked, step by step, or what to avoid.")
    kind: Literal["task_solution", "error_recovery"] = "task_solution"
    success: float = Field(default=1.0, ge=0, le=1, description="How well it went.")
    tags: list[str] = Field(default=[], description="Topics or tool names, if any.")


def experience_tools(engine: MemoryEngine) -> list[BaseTool]:
    """Return the tools ``experience_search`` and ``experience_record``.

    They work for the user of the run, found as by ``memory_tools``; what they record is that user's
    own. A search counts what it returns as used.
    The model reads fenced text; the experiences are the artifact, as JSON: a checkpointer
    brings back no other types.
    """

    def search(
        query: str,
        config: RunnableConfig,
        tags: list[str] | None = None,
        limit: int = 3,
    ) -> tuple[str, list[dict[str, Any]]]:
        store, user = engine.experiences, caller(engine, config).user_id
        found = store.find_similar(query, tags, limit=limit, user=user)
        if found and not engine.read_only:
            store.use(*(one.id for one in found), user=user)
        told = store.prompt(found, thread_id=thread_id_in(config))
        return told or "Nothing like this was done before.", as_json(found)

    def record(
        intent: str,
        solution: str,
        config: RunnableConfig,
        kind: Literal["task_solution", "error_recovery"] = "task_solution",
        success: float = 1.0,
        tags: list[str] | None = None,
    ) -> tuple[str, dict[str, Any]]:
        learnt = engine.experiences.record(
            redacted_text(intent),
            redacted_text(solution, MAX_SOLUTION_CHARS),
            kind=kind,
            success_score=success,
            tags=tags or (),
            user=caller(engine, config).user_id,
        )
        return f"Recorded as {learnt.id}.", as_json(learnt)

    # Without coroutines of their own, LangChain runs both in a thread when they are awaited.
    return [
        StructuredTool(
            name="experience_search",
            description="Look up how something like this was done before, before you do it.",
            args_schema=ExperienceSearchInput,
            func=search,
            response_format="content_and_artifact",
        ),
        StructuredTool(
            name="experience_record",
            description="Note how a task was solved or an error overcome, for the next time.",
            args_schema=ExperienceRecordInput,
            func=record,
            response_format="content_and_artifact",
        ),
    ]
