"""Two processes share one store: what one puts, changes or removes, the other searches."""

import subprocess
import sys

import pytest

from langchain_memengine import MemEngineStore, MemoryEngine

PROGRAM = """
import sys
from langchain_memengine import MemEngineStore, MemoryEngine

with MemoryEngine.open(sys.argv[1]) as engine:
    store = MemEngineStore(engine, fields=["text"])
    print("ready", flush=True)
    for line in sys.stdin:
        exec(line)
        print("done", flush=True)
"""

ODD = ("ünïcødé/☕", "*", " %2F_a\\b ")


class Other:
    """A store in another process, on the same folder."""

    def __init__(self, root):
        self._process = subprocess.Popen(  # noqa: S603  # this interpreter and our own program
            [sys.executable, "-c", PROGRAM, str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        assert self._process.stdout.readline() == "ready\n"

    def do(self, statement):
        self._process.stdin.write(f"{statement}\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n"

    def end(self):
        self._process.communicate(timeout=60)
        assert self._process.returncode == 0


@pytest.fixture
def root(tmp_path):
    MemoryEngine.open(tmp_path).close()
    return tmp_path


@pytest.fixture(params=["opened first", "opened second"])
def pair(root, request):
    """Our store and the other process's: the first to open keeps the derived files."""
    other = Other(root) if request.param == "opened second" else None
    with MemoryEngine.open(root) as engine:
        other = other or Other(root)
        yield MemEngineStore(engine, fields=["text"]), other
        other.end()


def keys(store, namespace, query, **options):
    return [item.key for item in store.search(namespace, query=query, **options)]


def test_what_another_process_puts_changes_and_removes_is_seen_by_the_next_search(pair):
    store, other = pair
    store.put(("ann", "notes"), "kiln", {"text": "The kiln reaches 900 degrees."})
    other.do('store.put(("ann", "notes"), "tea", {"text": "Ann drinks green tea.", "n": 2})')
    assert keys(store, ("ann",), "tea") == ["tea", "kiln"]
    assert keys(store, ("ann",), "tea", filter={"n": {"$gte": 2}}) == ["tea"]
    other.do('assert store.search(("ann",), query="kiln")[0].key == "kiln"')
    other.do('store.put(("ann", "notes"), "tea", {"text": "Ann fires on Fridays."})')
    assert store.search(("ann",), query="Fridays")[0].value == {"text": "Ann fires on Fridays."}
    other.do('store.delete(("ann", "notes"), "kiln")')
    assert keys(store, ("ann",), "kiln") == ["tea"]
    store.delete(("ann", "notes"), "tea")
    other.do('assert store.search(("ann",), query="Fridays") == []')
    assert store.list_namespaces() == []


def test_namespaces_of_any_characters_are_the_same_in_both(pair):
    store, other = pair
    other.do(f"store.put({ODD!r}, 'k', {{'text': 'tea'}})")
    assert store.list_namespaces() == [ODD]
    assert keys(store, ODD, "tea") == keys(store, ODD[:1], "tea") == ["k"]
    assert keys(store, ("ünïcødé",), "tea") == []


def test_an_item_whose_time_is_over_is_gone_in_both(pair):
    store, other = pair
    other.do('store.put(("ann",), "short", {"text": "tea now"}, ttl=0)')
    other.do('store.put(("ann",), "long", {"text": "tea later"}, ttl=60)')
    assert keys(store, ("ann",), "tea") == ["long"]
    assert store.get(("ann",), "short") is None
    other.do('assert [item.key for item in store.search(("ann",), query="tea")] == ["long"]')
