"""The example of an agent runs."""

import pytest

from tests.fakes.examples import example as load_example


@pytest.fixture
def example(monkeypatch):
    return load_example("agent", monkeypatch)


def test_agent_remembers_forgets_and_can_be_rewound(example, tmp_path, capsys):
    fridays, noon, dusk = (
        f"The kiln fires {when}." for when in ("on Fridays", "at noon", "at dusk")
    )
    assert example.run(tmp_path) == [fridays, f"{noon} {fridays}", fridays, dusk]
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "> Save: The kiln fires on Fridays."
    saved = told[1].removeprefix("Saved with the id ").removesuffix(".")
    assert (told[-3], told[-1]) == (f"Deleted the memory {saved}.", dusk)
