"""Hashes of algorithms: they differ after any change of behaviour, and only then."""

import os
import subprocess
import sys
import threading
import types

import numpy as np
import pytest
import tidemark
from tidemark.code import Code

LAW = """
import helper

LIMIT_MS = 5.0
SLOPES = {"l4s": (1, 2), "classic": (3, 4)}

def share(sojourn_ms):
    return min(1.0, sojourn_ms * SLOPES["l4s"][0] / LIMIT_MS)

class Base:
    factor = 2

    def weigh(self, value):
        return value * self.factor

class Square(Base):
    def arrive(self, arrival):
        from helper import late
        if arrival.flow_class in {"l4s", "classic"}:
            return self.weigh(share(arrival.sojourn_ms or 0) ** 2) * helper.gain() + late()
"""
HELPER = """
def gain():
    return 0.5

def late():
    return 0

def unused():
    return 7
"""


def hash_of(law=LAW, helper=HELPER, name="Square"):
    """Hash of a law in a module made from its text, without a file, like code of a REPL."""
    of_law, of_helper = types.ModuleType("own_law"), types.ModuleType("helper")
    sys.modules |= {"own_law": of_law, "helper": of_helper}
    try:
        exec(compile(helper, "<helper>", "exec"), vars(of_helper))
        exec(compile(law, "<law>", "exec"), vars(of_law))
        return Code.of(getattr(of_law, name), {}).hash
    finally:
        del sys.modules["own_law"], sys.modules["helper"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("** 2", "** 3"),
        ("LIMIT_MS = 5.0", "LIMIT_MS = 6.0"),
        ("(3, 4)", "(3, 5)"),
        ("min(1.0,", "max(1.0,"),
        ("factor = 2", "factor = 3"),
        ("value * self.factor", "value + self.factor"),
        ('{"l4s", "classic"}', '{"l4s"}'),
    ],
)
def test_another_law_has_another_hash(old, new):
    assert old in LAW
    assert hash_of(LAW.replace(old, new)) != hash_of()


@pytest.mark.parametrize(("old", "new"), [("return 0.5", "return 0.4"), ("return 0\n", "return 1\n")])
def test_what_a_law_calls_in_another_file_is_part_of_it(old, new):
    assert hash_of(helper=HELPER.replace(old, new, 1)) != hash_of()


def test_comments_and_code_that_is_not_used_change_nothing():
    assert hash_of(LAW.replace("class Square", "# A comment.\n\n\nclass Square")) == hash_of()
    assert hash_of(LAW + "\nOTHER = 1\n") == hash_of()
    assert hash_of(helper=HELPER.replace("return 7", "return 8")) == hash_of()


def limited(limit):
    class Limited:
        def arrive(self, arrival):
            return float(arrival.head_of_line_ms > limit)

    return Limited


def test_values_of_a_closure_and_arrays_are_part_of_a_law():
    assert Code.of(limited(5), {}).hash == Code.of(limited(5), {}).hash != Code.of(limited(6), {}).hash
    arrays = [Code.of(limited(np.arange(3.0) + shift), {}).hash for shift in (0, 0, 1)]
    assert arrays[0] == arrays[1] != arrays[2]


def test_code_that_was_run_without_a_module_is_read_too():
    def made(limit):
        place = {}
        exec(f"class Law:\n    def arrive(self, arrival):\n        return {limit}", place)
        return Code.of(place["Law"], {}).hash

    assert made(0.5) == made(0.5) != made(0.6)


class Aimd(tidemark.Controller):
    """A controller."""

    def on_ack(self, ack):
        self.window += self.mss * ack.acked / self.window


def test_a_controller_is_keyed_with_its_flow_and_a_law_with_its_parameters():
    first = Code.of(None, {"a": Aimd}).hash
    assert len({first, Code.of(None, {"b": Aimd}).hash, Code.of(Aimd, {}).hash}) == 3
    laws = [Code.of(tidemark.law("step", threshold=tidemark.ms(threshold)), {}).hash for threshold in (5, 5, 6)]
    assert laws[0] == laws[1] != laws[2]


OF_MANY_PARTS = """
import abc, collections, dataclasses, enum, functools, logging, random, re
import numpy as np

LOG = logging.getLogger("law")
RANDOM, WEIGHTS, PATTERN = random.Random(1), np.ones((3, 3)), re.compile("a+")
Point = collections.namedtuple("Point", "a b")

class Kind(enum.Enum):
    FIRST = 1

@dataclasses.dataclass
class State:
    number: int = 0
    items: list = dataclasses.field(default_factory=list)

@functools.lru_cache
def twice(value):
    return value * 2

def passed_on(method):
    @functools.wraps(method)
    def call(*arguments):
        return method(*arguments)
    return call

class Base(abc.ABC):
    @abc.abstractmethod
    def arrive(self, arrival): ...

class Square(Base):
    def __init__(self):
        self.state = State()

    @property
    def kind(self):
        return Kind.FIRST

    @passed_on
    def arrive(self, arrival):
        LOG.debug(PATTERN.match("a")), RANDOM.random()
        return twice(np.mean(WEIGHTS)) + Point(1, 2).a
"""


@pytest.mark.parametrize("law", [LAW, OF_MANY_PARTS], ids=["a few functions", "many kinds of values"])
def test_another_process_comes_to_the_same_hash(law, tmp_path):
    (tmp_path / "own_law.py").write_text(law)
    (tmp_path / "helper.py").write_text(HELPER)
    code = "from tidemark.code import Code; import own_law; print(Code.of(own_law.Square, {}).hash)"

    def hash_with(seed: str) -> str:
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(tmp_path)}
        return subprocess.check_output([sys.executable, "-c", code], env=environment, text=True)

    assert hash_with("1") == hash_with("2") == hash_of(law) + "\n"


@pytest.mark.parametrize(
    ("old", "new"), [("value * 2", "value * 3"), ("number: int = 0", "number: int = 1"), ("FIRST = 1", "FIRST = 2")]
)
def test_changes_behind_caches_and_in_dataclasses_and_enums_are_seen(old, new):
    assert hash_of(OF_MANY_PARTS.replace(old, new)) != hash_of(OF_MANY_PARTS)


def test_a_law_goes_to_another_process_as_it_is_here():
    """A file that was edited but not loaded again is not read by workers."""
    code = Code.of(limited(5), {"*": Aimd})
    check = (
        "import sys, pickle; law, controllers = pickle.load(sys.stdin.buffer); print(law.__name__, controllers[0][1])"
    )
    printed = subprocess.check_output([sys.executable, "-c", check], input=code.pickled, cwd="/")
    assert printed == f"Limited <class '{__name__}.Aimd'>\n".encode()


def test_a_value_that_nothing_tells_from_another_is_refused():
    with pytest.raises(tidemark.StudyError, match=r"Limited.*lock.*tidemark\.run"):
        Code.of(limited(threading.Lock()), {})
