"""The marker from Python, and laws and controllers in Python."""

import pytest
import tidemark

FIRST_LOOK = "scenarios/first-look.toml"
SHORT = {"duration": "3 s", "warmup": "1 s"}


def overloaded(law, **fields):
    """Gives a marker whose queue receives 60 Mbit/s and sends 40, and its verdicts."""
    drb = tidemark.Drb(law)
    verdicts = []
    for sn in range(1000):
        verdicts.append(drb.downlink(sn * 200e-6, 1500, **fields).verdict)
        if sn % 25 == 24:
            drb.report(sn * 200e-6, transmitted=sn * 2 // 3)
    return verdicts, drb


def test_a_queue_that_grows_is_estimated_and_marked():
    verdicts, drb = overloaded(tidemark.law("l4span"))
    estimate = drb.estimate(0.2)
    # A third of 1000 packets of 1500 bytes waits, at 40 Mbit/s.
    assert estimate.rate_mbps == pytest.approx(40, rel=0.05)
    assert estimate.backlog == pytest.approx(500e3, rel=0.05)
    assert estimate.sojourn_ms == pytest.approx(100, rel=0.1)
    assert verdicts.count("mark") == drb.counters["l4s_marks"] > 500
    assert drb.counters["reports"] == 40


def test_packets_that_cannot_carry_a_mark_get_none():
    verdicts, _ = overloaded(tidemark.law("step"), ecn="not-ect")
    assert "mark" not in verdicts


def test_every_law_has_parameters_and_properties():
    for law in tidemark.laws():
        assert law.acts_on and law.signals_to
        assert tidemark.law(law.name, **tidemark.parameters(law)).json() == law.json()


def test_a_wrong_parameter_is_named():
    with pytest.raises(tidemark.ScenarioError, match="treshold"):
        tidemark.law("step", treshold="5 ms")
    with pytest.raises(tidemark.ScenarioError, match="-5 ms"):
        tidemark.law("step", threshold="-5 ms")
    with pytest.raises(tidemark.ScenarioError, match="no-such-law"):
        tidemark.law("no-such-law")
    with pytest.raises(tidemark.ScenarioError, match="unknown name `stepp`: did you mean `step`"):
        tidemark.law("stepp")


def test_wrong_arguments_are_errors_and_no_panics():
    drb = tidemark.Drb(tidemark.law("step"))
    drb.downlink(1.0, 1500)
    for wrong in (lambda: drb.downlink(0.5, 1500), lambda: drb.downlink(float("nan"), 1500)):
        with pytest.raises(ValueError, match="now_s"):
            wrong()
    with pytest.raises(ValueError, match="ecn"):
        drb.downlink(1.0, 1500, ecn="ect2")
    with pytest.raises(ValueError, match="sn_bits"):
        tidemark.Drb(tidemark.law("step"), sn_bits=16)
    with pytest.raises(TypeError, match="arrive"):
        tidemark.Drb(object)


class Step:
    """A copy of the law `step`."""

    def arrive(self, arrival):
        if arrival.flow_class == "l4s":
            return float(arrival.head_of_line_ms > THRESHOLD_MS)
        return None


THRESHOLD_MS = 5.3


def test_a_law_in_python_does_what_the_same_law_in_rust_does():
    rust = tidemark.run(FIRST_LOOK, set=SHORT, law=tidemark.law("step", threshold=f"{THRESHOLD_MS:g} ms"))
    python = tidemark.run(FIRST_LOOK, set=SHORT, law=Step)
    assert set(python.flows["law"]) == {"Step"}
    assert python.flows.drop("law").equals(rust.flows.drop("law"))
    assert rust.flows["marked"].sum() > 0


def test_a_law_of_an_object_takes_the_place_of_the_scenarios():
    given = tidemark.run(FIRST_LOOK, set=SHORT, law=tidemark.law("ramp"))
    assert given.flows.equals(tidemark.run(FIRST_LOOK, set=SHORT | {"marker.law": "ramp"}).flows)


class Sojourn:
    """Marks packets that have waited long, as they leave the queue."""

    def leave(self, departure):
        return float(departure.sojourn_ms > 5), 0.0


def test_a_law_can_decide_where_packets_leave_the_queue():
    result = tidemark.run(FIRST_LOOK, set=SHORT, law=Sojourn)
    assert result.flows["marked"].sum() > 0


class FailingLaw:
    def arrive(self, arrival):
        if arrival.now_s > 0.5:
            raise ZeroDivisionError("of the law")


class FailingAtBirth:
    def __init__(self):
        raise LookupError("of the constructor")

    def arrive(self, arrival):
        return 0.0


class NoChance:
    def arrive(self, arrival):
        return 1.5


@pytest.mark.parametrize(
    ("law", "error", "text"),
    [
        (FailingLaw, ZeroDivisionError, "of the law"),
        (FailingAtBirth, LookupError, "of the constructor"),
        (NoChance, ValueError, "NoChance.arrive: 1.5"),
    ],
)
def test_what_a_law_raises_ends_the_run(law, error, text):
    with pytest.raises(error, match=text):
        tidemark.run(FIRST_LOOK, set={"duration": "1440 min"}, law=law)


class Aimd(tidemark.Controller):
    """Grows by a segment per round trip; shrinks by half of the marked share."""

    def __init__(self, *, mss, initial_window):
        super().__init__(mss=mss, initial_window=initial_window)
        self.round_end = 0
        self.acked = self.marked = 0

    def on_ack(self, ack):
        self.acked += ack.acked
        self.marked += ack.marked
        if ack.prior_delivered >= self.round_end:
            share = self.marked / max(1, self.acked)
            self.window = max(2 * self.mss, self.window * (1 - share / 2) + self.mss)
            self.round_end, self.acked, self.marked = ack.delivered, 0, 0

    def on_congestion(self, now_s, signal, in_flight):
        self.window = max(2 * self.mss, self.window / 2)

    def on_timeout(self, now_s, in_flight):
        self.window = self.mss


def test_a_controller_in_python_shares_the_cell():
    result = tidemark.run(FIRST_LOOK, controllers={"prague-desk": Aimd})
    flow = result.summary.flows[0]
    assert (flow.controller, result.summary.flows[1].controller) == ("Aimd", "prague")
    assert flow.throughput_mbps > 3 and flow.marked > 0 and flow.owd_ms.p95 < 100


def test_every_flow_can_have_it():
    result = tidemark.run(FIRST_LOOK, set=SHORT, controllers={"*": Aimd})
    assert set(result.flows["controller"]) == {"Aimd"}


class FailingController(tidemark.Controller):
    def on_ack(self, ack):
        raise ZeroDivisionError("of the controller")


class NoWindow(tidemark.Controller):
    def on_ack(self, ack):
        self.window = float("nan")


def test_what_a_controller_raises_ends_the_run():
    long = {"duration": "1440 min"}
    with pytest.raises(ZeroDivisionError, match="of the controller"):
        tidemark.run(FIRST_LOOK, set=long, controllers={"*": FailingController})
    with pytest.raises(ValueError, match="NoWindow: window NaN"):
        tidemark.run(FIRST_LOOK, set=long, controllers={"*": NoWindow})
    with pytest.raises(tidemark.ScenarioError, match="prague-desk"):
        tidemark.run(FIRST_LOOK, controllers={"nobody": Aimd})
