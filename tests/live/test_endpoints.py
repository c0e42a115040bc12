"""`tidemark net send` and `tidemark net receive`: our own L4S pair as real programs, over paths that are good, marked and broken."""

import json
import resource
import subprocess

import pytest

from conftest import GATEWAY, ROOT, TIDEMARK, UE, needs
from test_probe import ECT1_RULES, filtered
from test_shell import wait_for

# The first seconds' rate on an empty cell of 40 Mbit/s, in Mbit/s at the least: SCReAM's first version climbs by 200 kbit/s a second.
LEAST = {"udp-prague": 30, "scream": 15, "scream-v1": 2, "al4s": 5}
# By its paper's text aL4S-CC climbs too slowly to fill the cell in seconds; by the printed Eq. 5 it does.
CLIMBING = {"al4s": ["--set", "sender.growth=printed"]}
BRIEFLY = ["udp-prague", "scream"]
CONTROLLERS = [name if name in BRIEFLY else pytest.param(name, marks=pytest.mark.full) for name in LEAST]


def start(command, *arguments):
    return subprocess.Popen(
        [TIDEMARK, "net", command, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(process, code=0):
    """Gives an end's output lines, the last of which is the summary, and its stderr."""
    out, err = process.communicate(timeout=30)
    assert process.returncode == code, (process.args, out, err)
    return [json.loads(line) for line in out.splitlines()], err


@pytest.mark.brief
@pytest.mark.parametrize("listener", ["send", "receive"])
@pytest.mark.parametrize("controller", [*CONTROLLERS, pytest.param("sdn-l4s", marks=pytest.mark.full)])
def test_either_end_may_wait_for_the_other(controller, listener):
    caller = "receive" if listener == "send" else "send"
    options = ["--controller", controller, "--time", "2 s", "--interval", "500 ms"]
    waiting = start(listener, "--listen", 4100, *options)
    lines = {caller: finish(start(caller, "127.0.0.1:4100", *options))[0], listener: finish(waiting)[0]}
    for role in lines.values():
        assert [line["kind"] for line in role] == ["interval"] * (len(role) - 1) + ["summary"] and len(role) >= 4
    sent, received = lines["send"][-1], lines["receive"][-1]
    assert sent["verdict"] == received["verdict"] == "kept"
    # The first version of SCReAM knows classic ECN only.
    ect = "ect0" if controller == "scream-v1" else "ect1"
    assert received["ecn"][ect] == received["packets"] > 100
    # A loopback loses nothing; what was under way at the end is all that may be missing.
    assert sent["packets"] - 300 < received["packets"] <= sent["packets"]
    assert sent["rtt_ms"]["p50"] < 30
    if controller != "udp-prague":
        assert received["frames"] > 90 and received["frames_lost"] == 0


@pytest.mark.parametrize("controller", LEAST)
def test_a_flow_is_marked_by_the_cell_and_keeps_its_queue_short(shell, tmp_path, controller):
    options = ["--controller", controller, "--time", "8 s", *CLIMBING.get(controller, [])]
    cell = shell("--cell", "5g-static", "--set", "warmup=3 s", "--round-trip", "20 ms", out=tmp_path,
                 command=[TIDEMARK, "net", "send", "--listen", "4100", *options])  # fmt: skip
    wait_for(lambda: GATEWAY in subprocess.getoutput("ip -brief address"), "no cell")
    # The UE sends: nothing marks its uplink. The other way round the server sends and the UE is marked.
    up = finish(start("receive", f"{UE}:4100", *options))[0][-1]
    assert cell.finish() == 0
    assert up["ecn"]["ce"] == 0 and up["packets"] > 1000
    server = start("send", "--listen", 4100, *options)
    cell = shell("--cell", "5g-static", "--set", "warmup=3 s", "--round-trip", "20 ms", out=tmp_path,
                 command=[TIDEMARK, "net", "receive", f"{GATEWAY}:4100", *options])  # fmt: skip
    assert cell.finish() == 0, cell.stderr
    sent, received = finish(server)[0][-1], json.loads(cell.stdout.splitlines()[-1])
    ue = cell.summary()["ues"][0]
    print(controller, ue["queue_ms"], ue["throughput_mbps"], ue["marked"])
    assert ue["marked"] > 20 or controller == "scream-v1"
    assert ue["throughput_mbps"] > LEAST[controller]
    assert ue["queue_ms"]["p50"] < 20
    # Both ends count every mark, and the cell those after its warm-up, of which some still wait in it when the ends leave.
    assert received["ecn"]["ce"] > ue["marked"] - 50 and abs(sent["marked"] - received["marked"]) < 50


@pytest.mark.parametrize(
    ("controller", "path"),
    [
        ("udp-prague", "bleached"),
        ("scream", "black-holed"),
        ("udp-prague", "black-holed"),
        ("scream", "bleached"),
    ],
)
def test_a_path_that_breaks_ecn_is_reported_by_both_ends(shell, controller, path):
    options = ["--controller", controller, "--time", "5 s"]
    with filtered(ECT1_RULES[path]):
        server = start("receive", "--listen", 4100, *options)
        cell = shell("--cell", "5g-static", command=[TIDEMARK, "net", "send", f"{GATEWAY}:4100", *options])
        assert cell.finish() == 2, cell.stdout
        lines, errors = finish(server, code=2)
    assert cell.stdout, cell.stderr
    for summary, said in [(json.loads(cell.stdout.splitlines()[-1]), cell.stderr), (lines[-1], errors)]:
        assert summary["verdict"] == path
        assert ("bleaches ECN" if path == "bleached" else "black hole") in said


@pytest.mark.parametrize("arguments", [("receive", "--listen", 4101), ("send", "127.0.0.1:4101")])
def test_who_waits_sleeps(arguments):
    """A real-time thread that does not sleep occupies a whole processor."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    finish(start(*arguments, "--patience", "2 s"), code=2)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert used < 0.5, f"{used:.2f} s of the processor in 2 s of waiting"


def test_what_is_wrong_is_said():
    _, said = finish(start("receive", "127.0.0.1:4101", "--patience", "300 ms"), code=2)
    assert "tidemark net send --listen 4101" in said
    _, said = finish(start("send", "--listen", 4101, "--patience", "300 ms"), code=2)
    assert "tidemark net receive HOST:PORT" in said
    _, said = finish(start("send", "nowhere"), code=2)
    assert "write HOST:PORT" in said
    _, said = finish(start("send", "--listen", 4101, "--controller", "scream", "--set", "sender.rates.min=0 bit/s"), code=2)
    assert "rates.min" in said and "must be above 0 bit/s" in said
    scenario = ROOT / "scenarios/first-look.toml"
    _, said = finish(start("send", "--listen", 4101, "--scenario", scenario, "--flow", "nobody"), code=2)
    assert "--flow" in said and "use " in said


def test_a_dissector_that_we_did_not_write_reads_the_media_and_its_reports(tmp_path):
    needs("tshark")
    needs("tcpdump")
    capture = tmp_path / "pair.pcap"
    sniffer = subprocess.Popen(["tcpdump", "-q", "-U", "--immediate-mode", "-i", "lo", "-w", capture, "udp port 4100"], stderr=subprocess.PIPE, text=True)
    while "listening" not in sniffer.stderr.readline():
        assert sniffer.poll() is None
    options = ["--controller", "scream", "--time", "1 s", "--set", "sender.rates.max=4 Mbit/s"]
    server = start("send", "--listen", 4100, *options)
    finish(start("receive", "127.0.0.1:4100", *options))
    finish(server)
    sniffer.terminate()
    sniffer.wait()

    def fields(display, *names):
        rules = ["-d", "udp.port==4100,rtp", "-o", "rtp.heuristic_rtp:TRUE"]
        command = ["tshark", "-r", capture, *rules, "-Y", display, "-T", "fields", *sum((["-e", name] for name in names), [])]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return [line.split("\t") for line in text.splitlines()]

    media = fields("rtp", "ip.dsfield.ecn", "rtp.p_type", "rtp.ext.rfc5285.id")
    assert len(media) > 50 and set(map(tuple, media)) == {("1", "96", "1")}
    reports = fields("rtcp.pt == 205", "ip.dsfield.ecn", "rtcp.rtpfb.fmt")
    assert len(reports) > 5 and {fmt for _, fmt in reports} == {"11"}
    assert not fields("_ws.malformed", "frame.number")
