"""What gives a value a look of its own in a notebook."""

from __future__ import annotations

from typing import Any


class Shown:
    """A value that IPython shows as a table; how it looks is decided by ``faces.display``.

    That is the one place where a value reaches upwards, and only when somebody looks at it: see
    decision 7.
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        from langchain_memengine.faces.display.showing import show

        return show(self).html

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: FBT001  # IPython's call
        from langchain_memengine.faces.display.showing import show

        show(self)._repr_pretty_(printer, cycle)
