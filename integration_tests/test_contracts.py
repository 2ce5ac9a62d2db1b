"""Which contract runs on which database: each on each, but for what one says it cannot do."""

import ast
from collections import defaultdict
from importlib import import_module
from itertools import product
from pathlib import Path

from integration_tests.clickhouse.test_contracts import NEEDS_TRANSACTIONS
from integration_tests.servers.starting import KINDS

ROOT = Path(__file__).parents[1]
DATABASES = {
    "tests": ["sqlite"],
    "integration_tests/servers": list(KINDS),
    "integration_tests/clickhouse": ["clickhouse"],
}
"""On which databases the tests of a folder run."""

BESIDE_CLICKHOUSE = NEEDS_TRANSACTIONS | {"StoreContract"}
"""Contracts of what is never in ClickHouse: the graph, and the items of a store."""


def test_every_contract_runs_on_every_database():
    contracts = {name for path in ROOT.glob("tests/**/*.py") for name in contracts_in(path)}
    assert len(contracts) > 20
    runs = product(contracts, [kind for kinds in DATABASES.values() for kind in kinds])
    expected = {run for run in runs if run not in product(BESIDE_CLICKHOUSE, ["clickhouse"])}
    assert found() == expected


def contracts_in(path: Path) -> list[str]:
    """Return the contracts that a file defines."""
    nodes = ast.parse(path.read_text()).body
    names = [node.name for node in nodes if isinstance(node, ast.ClassDef)]
    return [name for name in names if name.endswith("Contract")]


def found() -> set[tuple[str, str]]:
    """Return which contract has a class of tests on which database."""
    classes = defaultdict(list)
    for folder in DATABASES:
        for path in ROOT.glob(f"{folder}/**/test_*.py"):
            if "ontract" in path.read_text():
                module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
                classes[folder] += [
                    one for name, one in vars(module).items() if name.startswith("Test")
                ]
    return {
        (contract.__name__, kind)
        for folder, kinds in DATABASES.items()
        for one, kind in product(classes[folder], kinds)
        for contract in one.__mro__[1:]
        if contract.__name__.endswith("Contract")
    }
