"""Shows what docstrings call ``:class:`X``` as code, which is what an editor makes of it, too."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_ROLE = re.compile(r":(?:attr|class|func|meth|mod):`~?\.?([^`]+)`")


class Roles(Extension):
    """An extension of the reader of docstrings."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Rewrite the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = _ROLE.sub(r"`\1`", obj.docstring.value)
