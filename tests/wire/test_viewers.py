"""The trace and the senders' logs of `tidemark run --pcap`, read by the parsers of Perfetto and of quiche."""

import collections
import csv
import json
import os
import shutil
import subprocess

import pytest
from conftest import ROOT

BEGIN, END, INSTANT = 1, 2, 3


@pytest.fixture(scope="module")
def events(captures):
    """Events of the trace by their track's name and its parent's, each with its track; Perfetto's own definition decodes them."""
    trace_pb2 = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="the package perfetto is missing")
    trace = trace_pb2.Trace()
    trace.ParseFromString((captures / "packets.pftrace").read_bytes())
    tracks = {packet.track_descriptor.uuid: packet.track_descriptor for packet in trace.packet if packet.HasField("track_descriptor")}
    found = collections.defaultdict(list)
    for packet in trace.packet:
        if packet.HasField("track_event"):
            track = tracks[packet.track_event.track_uuid]
            found[tracks[track.parent_uuid].name, track.name].append((packet.timestamp, packet.track_event))
    return found


def annotations(event):
    return {one.name: getattr(one, one.WhichOneof("value")) for one in event.debug_annotations}


def test_slices_of_a_track_follow_one_another(events):
    open_on = {}
    for of_layer in events.values():
        for at, event in sorted(of_layer, key=lambda one: (one[0], one[1].type != END)):
            since = open_on.get(event.track_uuid)
            if event.type == BEGIN:
                assert since is None, "a slice begins in another one"
                open_on[event.track_uuid] = at
            elif event.type == END:
                assert since is not None and since < at
                open_on[event.track_uuid] = None
    assert open_on and not any(open_on.values())


def test_each_layer_has_a_track_and_each_packet_its_stays(events, captures):
    (downlink,) = {bearer for bearer, _ in events if bearer.endswith("downlink")}
    assert downlink == "ue, DRB 1, downlink"
    layers = {layer for bearer, layer in events if bearer == downlink}
    assert {"network", "RLC queue", "scheduling and air", "PDCP reordering", "marks and losses"} <= layers
    flows = {row["flow"]: row for row in csv.DictReader((captures / "out/flows.csv").open())}
    stays = collections.Counter(event.name.removesuffix(" CE") for _, event in events[downlink, "network"] if event.type == BEGIN)
    for name, row in flows.items():
        # The columns have what was sent after the warm-up; the trace has all of the run.
        assert stays[name] >= int(row["sent_packets"]) * 0.9


def test_instants_are_the_marks_with_their_reasons(events, captures):
    instants = [annotations(event) for (_, layer), of_layer in events.items() if layer == "marks and losses" for _, event in of_layer if event.name == "marked"]
    marks = list(csv.DictReader((captures / "out/marks.csv").open()))
    assert marks
    for mark in marks:
        (same,) = [one for one in instants if one["packet"] == int(mark["packet"]) and one["flow"].removesuffix(" CE") == mark["flow"]]
        assert (same["law"], same["rule"], same["odds"]) == (mark["law"], mark["rule"], float(mark["mark_odds"]))


def test_the_trace_processor_finds_no_error(captures):
    processor = pytest.importorskip("perfetto.trace_processor", reason="the package perfetto is missing")
    # Without a path the package would fetch its newest program from the network.
    program = shutil.which("trace_processor_shell")
    if program is None:
        pytest.skip("Perfetto's trace_processor_shell is not in the path")
    trace = processor.TraceProcessor(str(captures / "packets.pftrace"), config=processor.TraceProcessorConfig(bin_path=program))
    with trace:
        errors = trace.query("select name, value from stats where severity = 'error' and value > 0")
        assert [(row.name, row.value) for row in errors] == []
        (slices,) = trace.query("select count(*) as slices from slice where dur > 0")
        assert slices.slices > 5_000


@pytest.fixture(scope="module")
def quiche():
    """Reader of qlog by quiche's crate."""
    if os.environ.get("BRIEF"):
        pytest.skip("quiche's crate qlog takes a minute to compile: run `make wire-test`")
    target = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "wire-qlog"
    manifest = ROOT / "tests/wire/qlog/Cargo.toml"
    built = subprocess.run(
        ["cargo", "build", "--quiet", "--locked", "--manifest-path", manifest, "--target-dir", target], capture_output=True, text=True, env={**os.environ, "RUSTC_WORKSPACE_WRAPPER": ""}
    )
    if built.returncode != 0 and ("download" in built.stderr or "registry" in built.stderr):
        pytest.skip(f"quiche's crate qlog can't be had: {built.stderr.splitlines()[0]}")
    assert built.returncode == 0, built.stderr
    return lambda log: json.loads(subprocess.run([target / "debug/tidemark-wire-qlog", log], capture_output=True, check=True, text=True).stdout)


@pytest.mark.parametrize("number, name", [(1, "l4s"), (2, "classic"), (3, "video")])
def test_quiche_reads_every_event_of_a_sender(captures, quiche, number, name):
    log = captures / f"{number}-{name}.sqlog"
    read = quiche(log)
    assert read["title"] == name
    # Events that its reader can't parse are left out by it, and its names tell those that are in no schema.
    records = [json.loads(record) for record in log.read_text().split("\x1e")[1:]]
    written = collections.Counter(record["name"] for record in records[1:])
    assert read["events"] == dict(written)
    assert set(written) == {"quic:packet_sent", "quic:recovery_metrics_updated"}
    times = [record["time"] for record in records[1:]]
    assert times == sorted(times)
