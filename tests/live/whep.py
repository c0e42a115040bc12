"""Watches a stream by WHEP with GStreamer's WebRTC, as its `whepsrc` does.

It is run by Debian's Python. Code 77 says that packages are missing, of gstreamer1.0-plugins-good, gstreamer1.0-plugins-bad, gstreamer1.0-nice,
python3-gi and gir1.2-gst-plugins-bad-1.0.
"""

import argparse
import re
import sys
import urllib.parse
import urllib.request

try:
    import gi

    for name in ("Gst", "GstSdp", "GstWebRTC"):
        gi.require_version(name, "1.0")
    from gi.repository import GLib, Gst, GstSdp, GstWebRTC
except (ImportError, ValueError) as error:
    MISSING = error
else:
    MISSING = None


class Viewer:
    """A pipeline that offers one video with all candidates, and plays what is answered."""

    def __init__(self, url, caps, elements):
        self.url, self.caps, self.elements, self.resource, self.reply = url, caps, elements, None, None
        self.loop, self.pipeline, self.bin = GLib.MainLoop(), Gst.Pipeline.new(), Gst.ElementFactory.make("webrtcbin")
        self.bin.set_property("bundle-policy", "max-bundle")
        self.bin.connect("notify::ice-gathering-state", lambda *_: GLib.idle_add(self.exchange))
        self.bin.connect("pad-added", self.play)
        self.pipeline.add(self.bin)

    def watch(self, seconds):
        """Plays for so long, and ends the stream."""
        self.pipeline.set_state(Gst.State.PLAYING)
        self.bin.emit("add-transceiver", GstWebRTC.WebRTCRTPTransceiverDirection.RECVONLY, Gst.Caps.from_string(self.caps))
        self.bin.emit("create-offer", None, Gst.Promise.new_with_change_func(self.offer))
        GLib.timeout_add_seconds(seconds, self.loop.quit)
        self.loop.run()
        self.pipeline.set_state(Gst.State.NULL)
        urllib.request.urlopen(urllib.request.Request(self.resource, method="DELETE")).close()

    def offer(self, promise, *_):
        # The description lives as long as the reply.
        self.reply = promise.get_reply()
        self.bin.emit("set-local-description", self.reply.get_value("offer"), Gst.Promise.new())

    def exchange(self):
        if self.bin.get_property("ice-gathering-state") != GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            return
        offer = self.bin.get_property("local-description").sdp.as_text()
        request = urllib.request.Request(self.url, offer.encode(), {"Content-Type": "application/sdp"})
        with urllib.request.urlopen(request) as answer:
            self.resource = urllib.parse.urljoin(self.url, answer.headers["Location"])
            _, description = GstSdp.SDPMessage.new_from_text(answer.read().decode())
        answer = GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, description)
        self.bin.emit("set-remote-description", answer, Gst.Promise.new())

    def play(self, _, pad):
        part = Gst.parse_bin_from_description(self.elements, True)
        self.pipeline.add(part)
        part.sync_state_with_parent()
        pad.link(part.get_static_pad("sink"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("caps", help="format of the offered video")
    parser.add_argument("elements", help="what takes its packets, in GStreamer's notation")
    parser.add_argument("seconds", type=int)
    arguments = parser.parse_args()
    if MISSING:
        print(MISSING)
        return 77
    Gst.init(None)
    names = re.findall(r"(?:^|! )(\w+)(?= |$)", arguments.elements)
    if missing := [name for name in ("webrtcbin", "nicesrc", *names) if Gst.ElementFactory.find(name) is None]:
        print("GStreamer has no", *missing)
        return 77
    Viewer(arguments.url, arguments.caps, arguments.elements).watch(arguments.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
