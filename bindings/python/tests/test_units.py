"""Numbers with units: in scenarios, in laws and in tables of studies."""

import datetime

import numpy as np
import pytest
import tidemark
from tidemark import kb, mbps, ms, s, us

FIRST_LOOK = "scenarios/first-look.toml"
SHORT = {"duration": s(2), "warmup": s(1)}


def test_a_quantity_is_the_text_of_a_scenario():
    written = [str(quantity) for quantity in (us(125), ms(10), ms(2.5), s(0.1 + 0.2), mbps(np.float64(40)), kb(64))]
    assert written == ["125 us", "10 ms", "2.5 ms", "0.3 s", "40 Mbit/s", "64 kB"]
    texts = tidemark.run(FIRST_LOOK, set={"duration": "2 s", "warmup": "1 s", "flow.*.round_trip": "15 ms"})
    numbers = tidemark.run(FIRST_LOOK, set=SHORT | {"flow.*.round_trip": ms(15)})
    assert texts.summary_json == numbers.summary_json
    assert tidemark.law("step", threshold=ms(5)).json() == tidemark.law("step", threshold="5 ms").json()


def test_a_dict_has_quantities_and_numbers_of_numpy():
    link = {"name": "link", "rate": mbps(10)}
    flow = {
        "name": "bulk",
        "count": np.int64(2),
        "round_trip": ms(20),
        "router": "link",
        "sender": {"controller": "cubic"},
    }
    result = tidemark.run({"name": "wire", "duration": s(2), "warmup": s(0), "router": [link], "flow": [flow]})
    assert result.flows.height == 2


def test_columns_of_a_varied_quantity_are_numbers_with_a_unit(tmp_path):
    vary = {"flow.*.round_trip": [ms(10), ms(17.5)], "marker.law": ["none"]}
    table = tidemark.Study(FIRST_LOOK, vary=vary, set=SHORT, seeds=1, metrics=["owd_ms.p95"]).run(tmp_path / "a")
    for frame in (table.frame, table.means):
        assert frame["flow.*.round_trip"].unique().sort().to_list() == [10, 17.5]
        assert set(frame["marker.law"]) == {"none"}
    assert table.units == {"flow.*.round_trip": "ms", "owd_ms.p95": "ms"}


def test_values_of_several_units_stay_texts(tmp_path):
    vary = {"flow.*.round_trip": [us(500), ms(10)]}
    table = tidemark.Study(FIRST_LOOK, vary=vary, set=SHORT, seeds=1).run(tmp_path / "a")
    assert set(table.frame["flow.*.round_trip"]) == {"500 us", "10 ms"}
    assert "flow.*.round_trip" not in table.units


def test_what_is_no_value_says_what_would_be_right():
    with pytest.raises(tidemark.ScenarioError, match=r"timedelta.*ms\(10\)"):
        tidemark.run(FIRST_LOOK, set={"duration": datetime.timedelta(seconds=2)})
    with pytest.raises(ValueError, match="finite"):
        ms(float("nan"))
    with pytest.raises(tidemark.ScenarioError, match="Mbit/s"):
        tidemark.check(FIRST_LOOK, set={"duration": mbps(10)})
