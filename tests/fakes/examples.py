"""The programs of `examples/`, as modules that a test can call."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Load an example by the name of its file, for as long as the test runs."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # where its annotations are looked up
    spec.loader.exec_module(module)
    return module
