"""Our controllers in WebRTC: `tidemark stream` sends a moving picture to headless Chromium, without a cell and behind one."""

import csv
import json
import shutil
import signal
import subprocess
import time

import pytest

from conftest import GATEWAY, TIDEMARK, needs

STREAM = TIDEMARK.with_name("tidemark-stream")
PORT = 8089
SECONDS = 20
L4S = ("scream", "prague", "sl4s", "cl4s", "l4s-cc")


@pytest.fixture(scope="module", autouse=True)
def built():
    if not STREAM.exists():
        pytest.skip(f"{STREAM} is not built: run `make stream`")
    if not any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")):
        pytest.skip("Chromium is not installed: run tests/install-packages.sh")


@pytest.fixture
def serve(tmp_path):
    """Starts servers, and ends those that a test leaves running."""
    started = []

    def start(address, *options):
        command = [TIDEMARK, "stream", "serve", "--listen", f"{address}:{PORT}", "--out", tmp_path / "stream", *options]
        started.append(subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
        return tmp_path / "stream"

    yield start
    for server in started:
        server.send_signal(signal.SIGTERM)
        _, errors = server.communicate(timeout=20)
        assert server.returncode == 0 and errors == "", errors


def opened(address, *choices):
    """The command of a browser that watches for SECONDS and ends its stream by itself."""
    page = f"http://{address}:{PORT}/?" + "&".join([f"seconds={SECONDS}", *choices])
    return [str(TIDEMARK), "stream", "open", "--headless", "--time", str(SECONDS + 8), page]


def results(folder):
    """Summary, series and frames of a viewer, once they have been written."""
    deadline = time.monotonic() + 10
    while not (folder / "summary.json").exists():
        assert time.monotonic() < deadline, f"{folder} has no results"
        time.sleep(0.1)
    time.sleep(0.3)
    tables = [list(csv.DictReader((folder / name).open())) for name in ("series.csv", "frames.csv")]
    return json.loads((folder / "summary.json").read_text()), *tables


def checked(folder, feedback="rfc8888"):
    """Results of a viewer; checks that its pictures arrived and changed, and that both ends counted equal marks."""
    summary, series, frames = results(folder)
    browser = summary["browser"]
    print({key: value for key, value in summary.items() if key != "browser"})
    print({key: value for key, value in browser.items() if "With" in key or "freeze" in key.lower() or key.startswith(("frame", "packets", "key"))})
    assert summary["feedback"] == feedback
    # Pictures arrive, in order, each with its own strip; the machine need not decode all of them.
    numbers = [int(frame["frame"]) for frame in frames]
    assert len(numbers) > 5 * SECONDS and numbers == sorted(set(numbers)), len(numbers)
    assert -5 < summary["frame_delay_ms"]["p50"] < 500
    if feedback == "rfc8888":
        assert summary["reports"] > 5 * SECONDS
        assert summary["marks_reported"] == browser["packetsReceivedWithCe"]
    return summary, series


@pytest.fixture
def address():
    """An address of an active device, because Chromium has no candidate on loopback only."""
    made = subprocess.run(["ip", "link", "add", "stream0", "type", "veth", "peer", "name", "stream1"], capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(f"no veth here: {made.stderr.strip()}")
    for command in ("addr add 192.0.2.1/24 dev stream0", "link set stream0 up", "link set stream1 up"):
        subprocess.run(["ip", *command.split()], check=True)
    yield "192.0.2.1"
    subprocess.run(["ip", "link", "del", "stream0"], check=True)


def test_a_stream_without_a_cell_is_shown(serve, address):
    folder = serve(address)
    subprocess.run(opened(address, "controller=scream", "clicks"), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    summary, _ = checked(folder / "viewer-1")
    assert summary["marks_reported"] == 0 and summary["rate_mbps"] > 1
    # A click came back as a white picture.
    assert 0 < summary["click_to_picture_ms"]["p50"] < 1000


def behind_the_cell(serve, shell, tmp_path, controller, *options, l4s=1):
    """Results of a stream to a browser that runs behind a cell of 5 Mbit/s, and that cell's summary."""
    folder = serve(GATEWAY, "--initial", "4 Mbit/s")
    cell = shell(
        "--cell", "5g-static", "--round-trip", "20 ms", "--set", "cell.prbs=10", "--set", "warmup=5 s", *options,
        command=opened(GATEWAY, f"controller={controller}", f"l4s={l4s}"), out=tmp_path / "cell",
    )  # fmt: skip
    assert cell.finish(timeout=SECONDS + 40) == 0, cell.stderr
    return folder / "viewer-1", cell.summary()["ues"][0]


@pytest.mark.parametrize("controller", L4S)
def test_a_stream_behind_the_cell_is_marked_and_both_ends_say_so(serve, shell, tmp_path, controller):
    needs("tcpdump")
    capture = tmp_path / "down.pcap"
    # RTP of what the server sends (RFC 7983 7), of the size of media.
    dump = subprocess.Popen(
        ["tcpdump", "-i", "any", "-U", "-s", "96", "-w", str(capture), f"udp and src host {GATEWAY} and udp[8] & 0xc0 = 0x80 and greater 300"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        folder, ue = behind_the_cell(serve, shell, tmp_path, controller)
    finally:
        dump.terminate()
        dump.wait(timeout=10)
    summary, _ = checked(folder)
    print(controller, ue["queue_ms"], ue["throughput_mbps"], ue["marked"])
    # Those of aL4S-CC answer delays too, and may keep their queue so short that nothing is marked.
    assert summary["marks_reported"] > 0 or controller != "scream" and ue["queue_ms"]["p95"] < 10
    assert ue["queue_ms"]["p95"] < 60
    assert summary["browser"]["packetsReceivedWithEct1"] > 100
    read = subprocess.run(["tcpdump", "-r", str(capture), "-n", "-v", "udp"], capture_output=True, text=True, check=True).stdout
    codepoints = {tos for tos in ("0x0", "0x1", "0x2", "0x3") if f"tos {tos}," in read}
    assert codepoints == {"0x1"}, codepoints


def test_without_l4s_nothing_is_marked(serve, shell, tmp_path):
    folder, ue = behind_the_cell(serve, shell, tmp_path, "scream", l4s=0)
    summary, _ = checked(folder)
    assert summary["marks_reported"] == 0 and ue["marked"] == 0
    assert summary["browser"]["packetsReceivedWithEct1"] == 0
