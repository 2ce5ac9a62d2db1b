"""Learn from what agents did."""

from __future__ import annotations

from functools import cached_property

from langchain_memengine.engine.parts import EngineParts
from langchain_memengine.knowledge.experience import ExperienceStore
from langchain_memengine.text.words import WordSplitter


class Experiencing(EngineParts):
    """The chapter of the engine about experiences."""

    @cached_property
    def experiences(self) -> ExperienceStore:
        """What agents learnt, in this engine's database and for its actor."""
        return ExperienceStore(
            self._database,
            WordSplitter(self.config.language),
            clock=self._clock,
            actor=self.actor,
            secret=self._secret,
        )
