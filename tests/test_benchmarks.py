"""No benchmark is run here, but what they use of the package is there."""

import ast
import importlib
import importlib.util
import sys
from pathlib import Path

import pytest

from langchain_memengine.retrieval.staleness import KnownCounters
from langchain_memengine.storage import stored_chunks

FOLDER = Path(__file__).parents[1] / "benchmarks"
FILES = sorted(FOLDER.glob("*.py"))
OURS = ("langchain_memengine", "tests.")

pytestmark = pytest.mark.skipif(not FILES, reason="the source distribution has no benchmarks")


def imported(tree):
    """Yield (module, name, name here) of what a file takes from this repository."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(OURS):
            for one in node.names:
                yield node.module, one.name, one.asname or one.name


def member(module, name):
    found = importlib.import_module(module)
    return getattr(found, name, None) or importlib.import_module(f"{module}.{name}")


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_a_benchmark_uses_public_names_that_exist(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    here = {alias: member(module, name) for module, name, alias in imported(tree)}
    used = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    for node in used:
        if isinstance(node.value, ast.Name) and node.value.id in here:
            assert hasattr(here[node.value.id], node.attr), f"line {node.lineno}: {node.attr}"
    private = {
        node.attr
        for node in used
        if node.attr.startswith("_")
        and not node.attr.endswith("__")
        and not (isinstance(node.value, ast.Name) and node.value.id == "self")
    }
    assert private <= {"_make"}  # of named tuples


def test_searches_that_check_nothing_find_the_same(engine, monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    for name in ("corpus", "timing"):  # names of theirs that others may have, too
        monkeypatch.delitem(sys.modules, name, raising=False)
    for owner, name in ((stored_chunks, "visible_by_num"), (KnownCounters, "at")):
        monkeypatch.setattr(owner, name, getattr(owner, name))  # which puts it back afterwards
    spec = importlib.util.spec_from_file_location("benchmark_checks", FOLDER / "checks.py")
    checks = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, checks)
    spec.loader.exec_module(checks)
    engine.add_texts(["tea at five", "milk in the tea", "coffee"])
    for name, ask in checks.contestants(engine).items():
        hits = sorted(hit.text for hit in ask("tea").hits)
        assert hits == ["milk in the tea", "tea at five"], name
