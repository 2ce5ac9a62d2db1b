"""What gives a value a look of its own, in a terminal and in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_memengine.faces.display.showing import Display


class Shown:
    """A value that ``print`` tells in words and IPython as a table; its ``repr`` stays exact.

    How it looks is decided by ``faces.display``. That is the one place where a value reaches
    upwards, and only when somebody looks at it: see decision 7.
    """

    __slots__ = ()

    def __str__(self) -> str:
        """Return plain text, without what could steer a terminal."""
        return str(self._display())

    def _repr_html_(self) -> str:
        return self._display().html

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: FBT001  # IPython's call
        self._display()._repr_pretty_(printer, cycle)

    def _display(self) -> Display:
        from langchain_memengine.faces.display.showing import show

        return show(self)
