"""How long a failed job waits."""

import pytest

from langchain_memengine.storage.job_values import BackOff


@pytest.mark.parametrize(
    ("attempts", "chance", "seconds"),
    [
        (1, 1.0, 2.0),
        (1, 0.0, 1.0),
        (2, 1.0, 4.0),
        (3, 0.5, 6.0),  # of 8: half, and half of the other half
        (6, 1.0, 60.0),  # 64 is over the cap
        (10_000, 0.0, 30.0),
    ],
)
def test_a_job_waits_exponentially_longer_up_to_the_cap(attempts, chance, seconds):
    assert BackOff(base_seconds=2, cap_seconds=60).seconds(attempts, chance) == seconds
