"""What the knobs make of a ranking."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.faces.lab.knobs import KNOBS, as_code, changes, ranking_of, settings_of
from langchain_memengine.rankings import RANKINGS, Ranking

PRESETS = pytest.mark.parametrize("preset", RANKINGS.values(), ids=list(RANKINGS))


@PRESETS
def test_knobs_that_nobody_turned_leave_a_preset_as_it_is(preset):
    assert ranking_of(preset, settings_of(preset)) is preset
    assert as_code(preset, settings_of(preset)) == f'RANKINGS["{preset.name}"]'


@PRESETS
def test_every_preset_stands_within_the_limits(preset):
    for knob in KNOBS:
        assert knob.low <= settings_of(preset)[knob.name] <= knob.high


def test_the_half_life_stands_for_the_rate_of_the_decay():
    assert settings_of(RANKINGS["goclaw"])["half_life_days"] == 46  # ln 2 / 0.015 = 46.2
    turned = settings_of(RANKINGS["goclaw"]) | {"half_life_days": 10}
    assert changes(RANKINGS["goclaw"], turned) == {"decay_rate": 0.069315}  # ln 2 / 10
    never = RANKINGS["goclaw"].model_copy(update={"decay_rate": 0.0})
    assert settings_of(never)["half_life_days"] == 365


def test_the_line_of_python_makes_the_same_ranking():
    base = RANKINGS["decsr"]
    turned = settings_of(base) | {"k": 3, "alpha": 0.25, "half_life_days": 30}
    code = as_code(base, turned)
    assert code == (
        'RANKINGS["decsr"].model_copy(update={"k": 3, "alpha": 0.25, "decay_rate": 0.023105})'
    )
    made = eval(code, {"RANKINGS": RANKINGS})  # noqa: S307  # the code that was just made
    assert made.model_copy(update={"name": "yours"}) == ranking_of(base, turned)


@given(st.sampled_from(sorted(RANKINGS)), st.data())
def test_wherever_the_knobs_stand_they_make_a_ranking_that_is_valid(name, data):
    settings = {
        knob.name: knob.low
        + knob.step * data.draw(st.integers(0, round((knob.high - knob.low) / knob.step)))
        for knob in KNOBS
    }
    made = ranking_of(RANKINGS[name], settings)
    assert Ranking.model_validate(made.model_dump()) == made


def test_every_knob_is_a_number_of_rankings():
    assert {knob.name for knob in KNOBS} - {"half_life_days"} <= set(Ranking.model_fields)
