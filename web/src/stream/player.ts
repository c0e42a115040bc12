/** One stream: its connection, its picture, and what both ends of it say. */

import { signal } from "@preact/signals";
import { quantile } from "../bands.ts";
import type { Measured } from "../read.ts";
import { scaledLuma } from "./luma.ts";
import { delayOf, readStrip } from "./strip.ts";

export interface Choice {
  controller: string;
  l4s: boolean;
}

/** State of a sender at one time; counters are totals. */
interface Row {
  time_s: number;
  target_mbps: number;
  sent_mbps: number;
  rtt_ms: Measured;
  marks: number;
}

interface State {
  controller: string;
  feedback: "rfc8888" | "transport-wide" | "none" | null;
  /** Number of frames from one picture that the server compares to the next. */
  reference: number | null;
  rows: Row[];
}

/** Figures of a stream since the last query. */
export type Now = Record<"target_mbps" | "sent_mbps" | "rtt_ms" | "marks_per_s" | "delay_p95_ms" | "freezes", Measured>;
export const NOTHING: Now = { target_mbps: null, sent_mbps: null, rtt_ms: null, marks_per_s: null, delay_p95_ms: null, freezes: null };

const NOTICES: Record<string, string> = {
  "transport-wide": "This browser reports no marks: packets leave without ECN, and the controller sees only delays and losses. `tidemark stream open` starts Chromium with the flag that makes it report marks.",
  none: "This browser reports no packets: the rate is fixed.",
};
/** Longest wait for candidates, which must all be in the one offer. */
const GATHERING_MS = 1_000;
/** Time after which a click counts as lost. */
const CLICK_MS = 3_000;
/** Luma of the picture's middle above which it is white. */
const WHITE = 210;
/** Largest number of pictures in one report: four nearly fill a request. */
const MAX_PICTURES = 4;
/** Time in which everything sent is reported. */
const DRAINED_MS = 1_500;

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** What one connection has seen. */
class Seen {
  rows = 0;
  /** Number of the last frame. */
  frame: number | null = null;
  last: Row | null = null;
  /** Delays in ms since the last query, and frames since the last report. */
  delays: number[] = [];
  frames: [frame: number, delay: number, width: number][] = [];
  clicks: number[] = [];
  reference: number | null = null;
  pictures: [frame: number, luma: number[]][] = [];
  clicked: number | null = null;
  inbound: { freezeCount?: number } | null = null;
}

export class Player {
  readonly choice = signal<Choice>({ controller: "", l4s: true });
  readonly said = signal("connecting");
  readonly notice = signal("");
  readonly click = signal<Measured>(null);
  private video: HTMLVideoElement | null = null;
  private readonly pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true }) as CanvasRenderingContext2D;
  private peer: RTCPeerConnection | null = null;
  private resource: string | null = null;
  private seen = new Seen();

  constructor(choice: Choice) {
    this.choice.value = choice;
  }

  /** Plays in this element. */
  playIn(video: HTMLVideoElement | null): void {
    if (video === null || video === this.video) return;
    this.video = video;
    void this.start();
  }

  async choose(choice: Choice): Promise<void> {
    this.choice.value = choice;
    await this.start();
  }

  private async start(): Promise<void> {
    await this.stop();
    this.seen = new Seen();
    this.said.value = "connecting";
    const peer = new RTCPeerConnection();
    this.peer = peer;
    peer.addTransceiver("video", { direction: "recvonly" });
    peer.ontrack = ({ track, receiver }) => this.show(peer, track, receiver);
    await peer.setLocalDescription();
    await Promise.race([gathered(peer), pause(GATHERING_MS)]);
    const { controller, l4s } = this.choice.value;
    const headers = { "Content-Type": "application/sdp" };
    const answer = await fetch(`/whep?controller=${controller}&l4s=${Number(l4s)}`, { method: "POST", headers, body: peer.localDescription?.sdp ?? "" });
    const text = await answer.text();
    if (peer !== this.peer) return;
    if (answer.status !== 201) {
      this.said.value = text.trim();
      console.info(`refused: ${text.trim()}`);
      return;
    }
    this.resource = answer.headers.get("Location");
    await peer.setRemoteDescription({ type: "answer", sdp: text });
  }

  private show(peer: RTCPeerConnection, track: MediaStreamTrack, receiver: RTCRtpReceiver): void {
    // Frames are shown as they come: a delay of the browser's own would hide the network's.
    receiver.jitterBufferTarget = 0;
    if (this.video === null) return;
    this.video.srcObject = new MediaStream([track]);
    this.video.requestVideoFrameCallback((_, frame) => this.see(peer, frame));
  }

  /** Reads a frame that is shown. */
  private see(peer: RTCPeerConnection, { expectedDisplayTime, width, height }: VideoFrameCallbackMetadata): void {
    const { pen, video, seen } = this;
    if (peer !== this.peer || video === null) return;
    if (pen.canvas.width !== width || pen.canvas.height !== height) Object.assign(pen.canvas, { width, height });
    pen.drawImage(video, 0, 0, width, height);
    const { data } = pen.getImageData(0, 0, width, height);
    const strip = readStrip(data, width, height);
    // The video may show the next frame already, which is then read a second time.
    if (strip && strip.frame !== seen.frame) {
      seen.frame = strip.frame;
      const delay = delayOf(strip, performance.timeOrigin + expectedDisplayTime);
      seen.delays.push(delay);
      seen.frames.push([strip.frame, delay, width]);
      if (seen.reference !== null && strip.frame % seen.reference === 0 && seen.pictures.length < MAX_PICTURES) {
        seen.pictures.push([strip.frame, scaledLuma(data, width, height)]);
      }
    }
    if (seen.clicked !== null && (data[4 * ((height >> 1) * width + (width >> 1)) + 1] ?? 0) > WHITE) {
      this.click.value = expectedDisplayTime - seen.clicked;
      seen.clicks.push(this.click.value);
      seen.clicked = null;
    }
    video.requestVideoFrameCallback((_, frame) => this.see(peer, frame));
  }

  /** Makes the picture white, to measure the time until that is shown. */
  flash(): void {
    const { seen } = this;
    if (this.resource === null || seen.clicked !== null) return;
    const at = performance.now();
    seen.clicked = at;
    void fetch(`${this.resource}/flash`, { method: "POST" });
    // A later click has a time of its own.
    setTimeout(() => seen.clicked === at && (seen.clicked = null), CLICK_MS);
  }

  /** Asks the server for its sender's state; gives the figures since the last query. */
  async look(): Promise<Now> {
    const { seen, resource } = this;
    const answer = resource === null ? null : await fetch(`${resource}/state?from=${seen.rows}`).catch(() => null);
    if (!answer?.ok || seen !== this.seen) return NOTHING;
    const { controller, feedback, reference, rows } = (await answer.json()) as State;
    const [before, row] = [seen.last ?? rows[0], rows.at(-1)];
    if (!row || !before || seen !== this.seen) return NOTHING;
    seen.rows += rows.length;
    seen.last = row;
    seen.reference = reference;
    this.said.value = `${controller}, ${feedback}`;
    this.notice.value = controller === "gcc" ? "" : (NOTICES[feedback ?? ""] ?? "");
    const delays = Float64Array.from(seen.delays.splice(0)).sort();
    const span = row.time_s - before.time_s;
    return {
      target_mbps: row.target_mbps,
      sent_mbps: row.sent_mbps,
      rtt_ms: row.rtt_ms,
      marks_per_s: span > 0 ? (row.marks - before.marks) / span : null,
      delay_p95_ms: delays.length > 0 ? quantile(delays, 0.95) : null,
      freezes: seen.inbound?.freezeCount ?? null,
    };
  }

  /** Tells the server what was seen. */
  async tell(): Promise<void> {
    const { seen, peer, resource } = this;
    if (resource === null || peer === null) return;
    const all = [...(await peer.getStats()).values()] as { type: string; kind?: string; freezeCount?: number }[];
    if (seen !== this.seen) return;
    seen.inbound = all.find(({ type, kind }) => type === "inbound-rtp" && kind === "video") ?? null;
    const body = JSON.stringify({ frames: seen.frames.splice(0), clicks: seen.clicks.splice(0), pictures: seen.pictures.splice(0), inbound: seen.inbound });
    await fetch(`${resource}/shown`, { method: "POST", body }).catch(() => {});
  }

  /** Ends the stream so that both ends have counted the same packets: nothing more is sent, and everything is reported. */
  async finish(): Promise<void> {
    // A refused stream has nothing to end.
    if (this.resource === null) return;
    await fetch(`${this.resource}/pause`, { method: "POST" });
    await pause(DRAINED_MS);
    await this.tell();
    await this.stop();
    this.said.value = "ended";
  }

  private async stop(): Promise<void> {
    this.peer?.close();
    const { resource } = this;
    this.resource = null;
    if (resource !== null) await fetch(resource, { method: "DELETE" }).catch(() => {});
  }

  /** Ends the stream of a page that goes away. */
  leave(): void {
    if (this.resource !== null) void fetch(this.resource, { method: "DELETE", keepalive: true });
  }
}

/** Waits for the last candidate. */
function gathered(peer: RTCPeerConnection): Promise<void> {
  return new Promise((done) => {
    const look = (): void => {
      if (peer.iceGatheringState === "complete") done();
    };
    peer.onicegatheringstatechange = look;
    look();
  });
}
