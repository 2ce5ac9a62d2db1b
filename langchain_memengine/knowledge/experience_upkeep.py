"""What keeps an experience store lean and movable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from langchain_memengine.errors import ConfigurationError, ScopeError
from langchain_memengine.knowledge.experience_files import from_json, to_json
from langchain_memengine.knowledge.new_experience import checked, require_name
from langchain_memengine.storage import experiences
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.experience_values import ExperienceStats
from langchain_memengine.storage.times import to_ms
from langchain_memengine.text.sanitize import clean_text
from langchain_memengine.types import Actor

_DAY_MS = timedelta(days=1) // timedelta(milliseconds=1)


class ExperienceUpkeep:
    """The part of the store that forgets, counts, and moves experiences."""

    def __init__(self, database: Database, *, clock: Callable[[], datetime], actor: Actor) -> None:
        self._database = database
        self._clock = clock
        self._actor = actor

    def forget(self, *ids: str, user: str | None = None) -> int:
        """Remove a user's own experiences; return how many those were.

        Everyone's are removed by an admin who names ``user=""``. Other ids are ignored.

        Raises:
            ScopeError: They are everyone's and the engine's actor is no admin.
        """
        owner = self._owner(user)
        with self._database.write() as tx:
            known = experiences.by_id(tx, [clean_text(one) for one in ids])
            return experiences.remove(tx, [one.id for one in known.values() if one.user == owner])

    def apply_decay(self, half_life_days: float = 30) -> int:
        """Let unused experiences of all users lose weight; return how many did.

        ``weight · 0.5^(days / half_life_days)``, with the days since the last use or the last
        decay, whichever is later. However often it is called in a time without uses, the weight
        at the end is the same. A use spares what was not yet taken.

        Raises:
            ConfigurationError: The half-life is not above 0.
        """
        if not half_life_days > 0:
            raise ConfigurationError(f"half_life_days={half_life_days} must be above 0.")
        now = self._clock()
        now_ms = to_ms(now)
        half_life_ms = half_life_days * _DAY_MS
        with self._database.write() as tx:
            new = {
                id_: weight * 0.5 ** ((now_ms - since_ms) / half_life_ms)
                for id_, weight, since_ms in experiences.weights(tx)
                if since_ms < now_ms
            }
            experiences.set_weights(tx, new, now=now)
        return len(new)

    def prune_expired(self, min_weight: float = 0.05) -> int:
        """Remove the experiences of all users that weigh less; return how many those were."""
        with self._database.write() as tx:
            return experiences.remove_below(tx, min_weight)

    def stats(self) -> ExperienceStats:
        """Return how much was learnt, over all users."""
        with self._database.read() as tx:
            return experiences.stats(tx)

    def export_json(self, *, user: str | None = None) -> str:
        """Return a user's and everyone's experiences as a JSON text."""
        with self._database.read() as tx:
            return to_json(experiences.latest(tx, self._readable(user)))

    def import_json(self, text: str, *, user: str | None = None) -> int:
        """Store what :meth:`export_json` returned; return how many experiences those were.

        Everyone's stay everyone's when the engine's actor is an admin; all else becomes the user's
        own. Importing twice makes nothing twice.

        Raises:
            ConfigurationError: It is no such text; nothing was stored.
            ScopeError: All are to be everyone's and the engine's actor is no admin.
        """
        owner = self._owner(user)
        stays = {""} if self._actor.is_admin else set()
        learnt = [
            checked(one if one.user in stays else replace(one, user=owner))
            for one in from_json(text)
        ]
        with self._database.write() as tx:
            experiences.put(tx, list({one.id: one for one in learnt}.values()))
        return len(learnt)

    def _user(self, user: str | None) -> str:
        """Return who calls: the engine's actor when nobody is named."""
        name = self._actor.user_id if user is None else user
        require_name("user", name)
        return name

    def _readable(self, user: str | None) -> tuple[str, str]:
        return ("", self._user(user))

    def _owner(self, user: str | None) -> str:
        """Return whose a new experience is.

        Raises:
            ScopeError: It is to be everyone's and the engine's actor is no admin.
        """
        owner = self._user(user)
        if owner == "" and not self._actor.is_admin:
            raise ScopeError(
                f"{self._actor.user_id!r} may not write what is everyone's: it needs an admin. "
                "Name a user, or open the engine with Actor(..., is_admin=True)."
            )
        return owner
