"""Our controllers in WebRTC: `tidemark stream` sends a moving picture to headless Chromium, without a cell and behind one."""

import contextlib
import csv
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request

import capacity
import pytest

from conftest import BRIEF, GATEWAY, TIDEMARK, needs

STREAM = TIDEMARK.with_name("tidemark-stream")
WHEP = pathlib.Path(__file__).with_name("whep.py")
PORT = 8089
SECONDS = 20
# Length of a pattern of capacities. The paper's has five parts of a fifth.
PATTERN_S = 20 if BRIEF else 50
L4S = ("scream", "prague-video", "al4s", "l4s-cc")
# The network's thresholds, with which aL4S-CC is cL4S.
KNOWN = ("--low", "5 ms", "--high", "10 ms")
# A cell of 7 Mbit/s.
CONSTANT = ("--cell", "5g-static", "--set", "cell.prbs=10")


@pytest.fixture(scope="module", autouse=True)
def built():
    if not STREAM.exists():
        pytest.skip(f"{STREAM} is not built: run `make stream`")
    # `make test` does not build it.
    of_command, own = (subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()[1:] for program in (TIDEMARK, STREAM))
    if BRIEF and of_command != own:
        pytest.skip(f"{STREAM} is of other sources than {TIDEMARK.name}: run `make stream`")
    if not any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")):
        pytest.skip("Chromium is not installed: run tests/install-packages.sh")


@pytest.fixture
def serve(tmp_path):
    """Starts servers, and ends those that a test leaves running."""
    started = []

    def start(address, *options):
        command = [TIDEMARK, "stream", "serve", "--listen", f"{address}:{PORT}", "--out", tmp_path / "stream", *options]
        with (tmp_path / "said").open("w") as said:
            started.append(subprocess.Popen([str(word) for word in command], stdout=said, stderr=subprocess.PIPE, text=True))
        return tmp_path / "stream"

    yield start
    for server in started:
        # A test may skip before the server has its address, until when a signal ends it at once.
        has_begun = "http://" in (tmp_path / "said").read_text()
        server.send_signal(signal.SIGTERM)
        _, errors = server.communicate(timeout=20)
        assert not has_begun or server.returncode == 0 and errors == "", errors


def opened(address, *choices, seconds=SECONDS):
    """The command of a browser that watches for some seconds and ends its stream by itself."""
    page = f"http://{address}:{PORT}/?" + "&".join([f"seconds={seconds}", *choices])
    return [str(TIDEMARK), "stream", "open", "--headless", "--time", str(seconds + 8), page]


@contextlib.contextmanager
def codepoints(folder):
    """Gives a set that has the ECN fields of all media packets of the server once the block has ended."""
    needs("tcpdump")
    capture, found = folder / "down.pcap", set()
    # RTP of what the server sends (RFC 7983 7), of the size of media.
    dump = subprocess.Popen(
        ["tcpdump", "-i", "any", "-U", "-s", "96", "-w", str(capture), f"udp and src host {GATEWAY} and udp[8] & 0xc0 = 0x80 and greater 300"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield found
    finally:
        dump.terminate()
        dump.wait(timeout=10)
    read = subprocess.run(["tcpdump", "-r", str(capture), "-n", "-v", "udp"], capture_output=True, text=True, check=True).stdout
    found.update(tos for tos in ("0x0", "0x1", "0x2", "0x3") if f"tos {tos}," in read)


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
    assert summary["reports"] > 5 * SECONDS
    if feedback == "rfc8888":
        assert summary["marks_reported"] == browser["packetsReceivedWithCe"]
        # Nothing is bleached: with L4S everything arrives as ECT(1) or CE, without it nothing does.
        with_ecn = browser["packetsReceivedWithEct1"] + browser["packetsReceivedWithCe"]
        assert with_ecn == (browser["packetsReceived"] if summary["l4s"] else 0)
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


def test_a_stream_without_a_cell_is_shown_compared_and_reported(serve, address):
    folder = serve(address, "--reference", "15") / "viewer-1"
    subprocess.run(opened(address, "controller=scream", "clicks"), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    summary, _ = checked(folder)
    assert summary["marks_reported"] == 0 and summary["rate_mbps"] > 1
    # A click came back as a white picture.
    assert 0 < summary["click_to_picture_ms"]["p50"] < 1000
    ssim = summary["ssim"]
    print(ssim)
    assert ssim["pictures"] > SECONDS / 2 and 0.6 < ssim["p5"] <= ssim["p50"] <= 1
    assert len((folder / "ssim.csv").read_text().splitlines()) == ssim["pictures"] + 1
    recorded = (folder / "report.html").read_text().split('id="recorded">')[1].split("</script>")[0]
    recorded = json.loads(recorded)
    assert recorded["summary"] == summary and len(recorded["points"]) > SECONDS / 2


def test_two_controllers_side_by_side_are_both_shown(serve, address):
    folder = serve(address)
    subprocess.run(opened(address, "controller=scream", "beside=prague-video"), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    both = {summary["controller"]: summary["frames_shown"] for summary, *_ in map(results, sorted(folder.iterdir()))}
    assert set(both) == {"scream", "prague-video"} and min(both.values()) > SECONDS, both


def behind_the_cell(serve, shell, tmp_path, controller, *options, known=(), cell=CONSTANT, l4s=1, seconds=SECONDS):
    """Folder of a stream to a browser behind a cell, and of that cell's results."""
    folder = serve(GATEWAY, "--initial", "4 Mbit/s", *known)
    command = opened(GATEWAY, f"controller={controller}", f"l4s={l4s}", seconds=seconds)
    cell = shell("--round-trip", "20 ms", "--set", "warmup=5 s", *cell, *options, command=command, out=tmp_path / "cell")
    assert cell.finish(timeout=seconds + 40) == 0, cell.stderr
    return folder / "viewer-1", cell


@pytest.mark.parametrize(
    ("controller", "known"), [*(pytest.param(name, (), id=name) for name in L4S), pytest.param("al4s", KNOWN, id="al4s-known")]
)
def test_a_stream_behind_the_cell_is_marked_and_both_ends_say_so(serve, shell, tmp_path, controller, known):
    with codepoints(tmp_path) as on_the_wire:
        folder, cell = behind_the_cell(serve, shell, tmp_path, controller, known=known)
    summary, _ = checked(folder)
    ue = cell.summary()["ues"][0]
    print(controller, ue["queue_ms"], ue["throughput_mbps"], ue["marked"])
    # The others may stay below the cell's rate, with so short a queue that nothing is marked.
    assert summary["marks_reported"] > 0 or controller != "scream" and ue["queue_ms"]["p95"] < 10
    assert ue["queue_ms"]["p95"] < 60
    assert summary["browser"]["packetsReceivedWithEct1"] > 100
    assert on_the_wire == {"0x1"}


@pytest.mark.brief
@pytest.mark.parametrize("pattern", ["paper", pytest.param("drive", marks=pytest.mark.full)])
@pytest.mark.parametrize("controller", ["scream", *(pytest.param(name, marks=pytest.mark.full) for name in (*L4S[1:], "gcc"))])
def test_a_stream_follows_the_capacity_of_the_cell(serve, shell, tmp_path, controller, pattern):
    rates = capacity.paper(PATTERN_S) if pattern == "paper" else capacity.drive(PATTERN_S)
    if rates is None:
        pytest.skip(f"no measured trace here: {capacity.DRIVE}")
    trace = capacity.written(rates, tmp_path / "capacity.txt")
    with codepoints(tmp_path) as on_the_wire:
        folder, cell = behind_the_cell(serve, shell, tmp_path, controller, cell=("--cell", f"trace:{trace}"), seconds=PATTERN_S)
    feedback, ecn = ("transport-wide", "0x0") if controller == "gcc" else ("rfc8888", "0x1")
    summary, _ = checked(folder, feedback)
    ue = cell.summary()["ues"][0]
    print(controller, ue["queue_ms"], ue["throughput_mbps"], ue["marked"])
    assert on_the_wire == {ecn}
    carried = capacity.carried(tmp_path / "cell", rates)
    print(controller, carried)
    # The others answer delays too, and a busy machine adds to them.
    assert carried.when_most > 1.3 * carried.when_least or controller not in ("scream", "prague-video")


# A namespace can't look up the name that Firefox gives instead of its address.
FIREFOX = """
user_pref("media.peerconnection.ice.obfuscate_host_addresses", false);
user_pref("media.autoplay.default", 0);
user_pref("devtools.console.stdout.content", true);
"""


def test_firefox_is_shown_the_picture_and_reports_no_marks(serve, address, tmp_path):
    firefox = shutil.which("firefox-esr") or shutil.which("firefox")
    if firefox is None:
        pytest.skip("Firefox is not installed: install firefox-esr")
    profile = tmp_path / "profile"
    profile.mkdir()
    (profile / "user.js").write_text(FIREFOX)
    folder = serve(address)
    page = f"http://{address}:{PORT}/?seconds={SECONDS}&controller=scream"
    command = ["timeout", str(SECONDS + 20), firefox, "--headless", "--no-remote", "--profile", str(profile), page]
    said = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "HOME": str(tmp_path)}).stdout
    if "refused: the offer must ask for one video, with a=recvonly and H.264" in said:
        pytest.skip("this Firefox has no H.264: its OpenH264 plugin is not installed, and MOZ_GMP_PATH names no folder of one")
    checked(folder / "viewer-1", "transport-wide")


# The server's format, and elements that write each picture to a file, in grey.
CAPS = (
    "application/x-rtp,media=video,clock-rate=90000,payload=102,encoding-name=H264,"
    "packetization-mode=(string)1,profile-level-id=(string)42e01f,level-asymmetry-allowed=(string)1"
)
ELEMENTS = "rtph264depay ! h264parse ! openh264dec ! videoconvert ! video/x-raw,format=GRAY8,width=640,height=360 ! multifilesink location="


def frame_number(luma, width=640, height=360):
    """Number of the frame in the strip of a picture: 24 cells of 32 in the upper of two rows, each an eighteenth of the height."""
    line, cell = luma[height // 36 * width :][:width], width // 32
    return sum((line[index * cell + cell // 2] > 125) << (23 - index) for index in range(24))


def watched_by_whepsrc(url, shown):
    """Watches by GStreamer's own WHEP client, whose offer would ask for sound as well."""
    needs("gst-launch-1.0")
    if subprocess.run(["gst-inspect-1.0", "--exists", "whepsrc"]).returncode != 0:
        pytest.skip("this GStreamer has no whepsrc: it is one of gst-plugins-rs, of which Debian 12 has no package")
    pipeline = f"whepsrc whep-endpoint={url} audio-caps=EMPTY video-caps={CAPS} ! {ELEMENTS}{shown}/%05d"
    command = ["timeout", "--signal=INT", str(SECONDS), "gst-launch-1.0", *pipeline.split()]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


def watched_by_webrtcbin(url, shown):
    """Watches by the WebRTC of GStreamer that whepsrc is made of."""
    # Of the packages of Debian, which this environment does not see.
    command = ["/usr/bin/python3", "-B", WHEP, url, CAPS, f"{ELEMENTS}{shown}/%05d", str(SECONDS)]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if run.returncode == 77:
        pytest.skip(f"GStreamer's WebRTC is not installed: {run.stdout.strip()}")
    return run.stdout


@pytest.mark.parametrize("watched", [watched_by_whepsrc, watched_by_webrtcbin])
def test_gstreamer_is_shown_the_picture_by_whep(serve, address, tmp_path, watched):
    shown = tmp_path / "shown"
    shown.mkdir()
    folder = serve(address)
    said = watched(f"http://{address}:{PORT}/whep", shown)
    numbers = [frame_number(file.read_bytes()) for file in sorted(shown.iterdir())]
    assert len(numbers) > 5 * SECONDS and numbers == sorted(set(numbers)), said
    # It has no feedback on single packets, so that the rate is fixed.
    summary, *_ = results(folder / "viewer-1")
    assert summary["feedback"] == "none" and summary["frames_sent"] >= len(numbers)


def asked(path, token=None, body=None):
    """Status and text of the server's answer to a page."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(f"http://{GATEWAY}:{PORT}{path}", data=body and body.encode(), headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return None, "null"


def test_the_page_has_the_cell_and_changes_its_law_by_the_token(serve, shell, tmp_path):
    serve(GATEWAY, "--cell", "0")
    cell = shell("--cell", "5g-static", "--set", "marker.law=ramp", command=["sleep", "6"], out=tmp_path / "cell")
    deadline = time.monotonic() + 10
    while (state := json.loads(asked("/cell")[1])) is None:
        assert time.monotonic() < deadline, "the server finds no cell"
        time.sleep(0.1)
    assert state["now"]["name"] == "5g-static" and "queue_p95_ms" in state["now"]["ues"][0]
    token = (tmp_path / "said").read_text().split("#token=")[1].split()[0]
    assert asked("/ctl", body="set\nmarker.law=step")[0] == 403
    assert asked("/ctl", token, "set\nmarker.law=no")[0] == 400
    assert asked("/ctl", token, "set\nmarker.law=step")[0] == 200
    settings = {setting["name"]: setting for setting in json.loads(asked("/cell")[1])["controls"]["ues"][0]["settings"]}
    assert settings["Law"]["kind"] == "step"
    assert cell.finish() == 0, cell.stderr
    assert [event["event"] for event in cell.summary()["events"]] == ["set"]


def test_without_l4s_nothing_is_marked(serve, shell, tmp_path):
    folder, cell = behind_the_cell(serve, shell, tmp_path, "scream", l4s=0)
    summary, _ = checked(folder)
    assert summary["marks_reported"] == 0 and cell.summary()["ues"][0]["marked"] == 0
