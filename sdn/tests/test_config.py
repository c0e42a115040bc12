"""Configurations: what is right is read, what is wrong is named with what would be right."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark_sdn import units
from tidemark_sdn.config import Config, ConfigError, _read, parse

LEAST = """
[[switch]]
name = "s1"
datapath_id = "0000000000000001"
agent = "unix:/run/agent.sock"
"""


def test_defaults_are_those_that_are_written() -> None:
    config = parse(LEAST)
    assert config.mode == "sound"
    assert config.sound.target == 0.015
    assert config.sound.ramp_low == pytest.approx(0.8e-3)
    assert config.queues.l4s_size == 100_000
    assert config.switch[0].rate == 1e9
    assert config.match.dscp is None


def test_ports_have_rates_of_their_own() -> None:
    config = parse(LEAST + '[[switch.port]]\nname = "line"\nrate = "40 Mbit/s"\n')
    assert config.switch[0].port_named("line").rate == 40e6
    assert config.switch[0].port_named("other").rate is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"f\.toml: \[\[switch\]\] is missing"),
        (LEAST + "[sound]\ntarget = 15", r"f\.toml: sound\.target: 15 is not a number with one of the units.*'10 ms'"),
        (LEAST + "[sound]\ntraget = '15 ms'", r"sound\.traget: unknown key: use virtual_rate"),
        (LEAST + "[sound]\ntarget = '0 ms'", "must be above zero"),
        (LEAST + "[sound]\nramp_low = '2 ms'", r"f\.toml: sound: ramp_low must be below ramp_high"),
        (LEAST + "[literal]\nq1 = 80", "80 is not a number from 0 to 1"),
        ("mode = 'quick'" + LEAST, "'quick' is not one of sound, literal"),
        (LEAST.replace("0000000000000001", "1"), r"switch\.0\.datapath_id: '1' is not 16 hexadecimal digits"),
        (LEAST.replace("unix:", "tcp:"), "write unix:/path or tls:host:port"),
        (LEAST + LEAST, "two switches have the name 's1'"),
        ("[[switch]]\nname = 's1'", r"switch\.0\.datapath_id: is missing"),
        ("switch = 3", r"switch: must be a list of tables"),
        (LEAST + "[tls]\ncertificate = 'a'", r"tls\.private_key: is missing"),
        ("[", r"f\.toml: Invalid"),
        (
            LEAST + "[openflow]\nlisten = '6653'",
            r"openflow\.listen: '6653' is not an address with a port: write 0\.0\.0\.0:6653",
        ),
        (LEAST + "[openflow]\nlisten = '0.0.0.0:66530'", "is not an address with a port"),
        (
            LEAST.replace("unix:/run/agent.sock", "tls:h:1"),
            r"f\.toml: agent 'tls:h:1' of switch s1 needs a table \[tls\]",
        ),
        (LEAST + "[[switch.port]]\nname='a'\n" * 2, r"switch\.0: two ports have the name 'a'"),
    ],
)
def test_what_is_wrong_is_named(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse(text, "f.toml")


@given(st.text())
def test_no_text_gets_further_than_an_error(text: str) -> None:
    try:
        parse(text)
    except ConfigError as error:
        assert str(error).startswith("configuration: ")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(["switch", "sound", "literal", "rules", "queues", "tls", "mode", "socket", "period"]), JSON)
def test_no_value_gets_further_than_an_error(name: str, value: object) -> None:
    with pytest.raises(ConfigError):
        _read(Config, {name: value}, "f: ")


@given(st.floats(1, 1e11))
def test_rates_are_read_as_they_are_written(rate: float) -> None:
    assert units.parse_rate(re.sub(r"e\+\d+", "", units.format_rate(rate))) == pytest.approx(rate, rel=1e-3)
