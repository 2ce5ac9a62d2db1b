"""The storage contracts on PostgreSQL and MariaDB."""

import pytest

from tests.storage.contracts import CONTRACTS, held_to

globals().update(held_to(CONTRACTS))


@pytest.fixture
def histories():
    return 8  # each step of them asks a server
