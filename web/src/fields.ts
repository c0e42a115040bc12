/** Fields of summary.json, written from crates/record/src/result.rs by `make reference`. */

/** Everything a run measured, with what is needed to repeat it. */
export interface RunResult {
  /** Version of the program. */
  tidemark: string;
  /** Name of the scenario. */
  name: string;
  /** Seed. */
  seed: number;
  /** Virtual seconds. */
  duration_s: number;
  /** Seconds at the start that the statistics leave out. */
  warmup_s: number;
  /** Virtual seconds at which the run was interrupted; absent where it came to its end. */
  interrupted_at_s?: number | null;
  /** What the user should hear of: guaranteed rates that were not met, and what of the scenario the run took no notice of. */
  warnings?: string[];
  /** The cell as a whole. */
  cell: CellResult;
  /** One entry a cell of a network; absent where there is one cell without a place. */
  cells?: NetworkCellResult[];
  /** How the machine fared that ran the cell in real time; absent for a run in virtual time. */
  live?: LiveResult | null;
  /** One entry a flow. */
  flows: FlowResult[];
  /** One entry a UE. */
  ues: UeResult[];
  /** One entry a bearer. */
  bearers: BearerResult[];
  /** One entry a router. */
  routers?: RouterResult[];
  /** Jain's index of the flows' rates, the mean over the series' intervals in which two or more were alive; absent where that never was so. */
  jain?: number | null;
  /** Events of a live cell while it ran, in order. */
  events?: Event[];
  /** The whole scenario, as text, with overrides applied. */
  scenario: string;
}

/** The cell as a whole, after the warm-up. */
export interface CellResult {
  /** Share of the downlink's resource blocks that carried data. */
  utilisation: number | null;
  /** Share of the uplink's resource blocks that UEs sent on; absent where they sent nothing. */
  uplink_utilisation?: number | null;
  /** IP bytes delivered to all UEs, as a rate. */
  throughput_mbps: number;
  /** The statement that the conservation check of this run made; a run that fails it has no result. */
  conservation: string;
}

/** One cell of a network, after the warm-up. */
export interface NetworkCellResult {
  /** Its site, from 1, and the letter of its sector. */
  name: string;
  /** Share of its downlink resource blocks that carried data. */
  utilisation: number | null;
  /** IP bytes delivered to its UEs, as a rate. */
  throughput_mbps: number;
  /** UEs that it served, the mean over the series' intervals. */
  ues: number | null;
  /** UEs that came to it from other cells. */
  handovers: number;
}

/** Event of a live cell: what somebody did to it while it ran. */
export interface Event {
  /** Seconds since the start, the warm-up included. */
  t_s: number;
  /** Action that was taken. */
  event: string;
  /** To which UE; absent where more than one can be concerned. */
  ue?: string | null;
  /** Arguments of the action: assignments, or the length of an outage. */
  detail?: string | null;
}

/** How the machine fared that ran the cell in real time. */
export interface LiveResult {
  /** How late the cell's deadlines were served, in microseconds. */
  lateness_us: Lateness | null;
  /** Share of one processor that the cell's thread used. */
  busy: number;
  /** True if the thread went before ordinary ones (`SCHED_FIFO`). */
  real_time_priority: boolean;
  /** Packets from the core and from UEs. */
  packets_in: number;
  /** Packets handed to the core and to UEs. */
  packets_out: number;
  /** Packets that the kernel refused. */
  refused: number;
  /** Packets for no UE of the cell. */
  unroutable: number;
  /** Packets dropped because the machine was too slow for the cell. */
  overload: number;
  /** Packets that the devices lost because the cell's thread did not read them in time. */
  device_drops: number;
  /** Seconds of the measured time in which UEs used more than nine tenths of the uplink's resource blocks. */
  uplink_busy_s: number;
}

/** Lateness of deadlines, in microseconds. */
export interface Lateness {
  /** Median. */
  p50: number;
  /** 99th percentile. */
  p99: number;
  /** 99.9th percentile. */
  p999: number;
  /** The worst. */
  max: number;
  /** Deadlines served. */
  deadlines: number;
}

/** One flow, after the warm-up. */
export interface FlowResult {
  /** Its name in the scenario. */
  name: string;
  /** The UE that it ends at; absent for a host on the wire. */
  ue?: string | null;
  /** The sender's congestion controller. */
  controller: string;
  /** The marking law of its bearer or, for a host on the wire, of the routers of its data, in their order. */
  law: string;
  /** IP bytes delivered to the UE while the flow was active, as a rate. */
  throughput_mbps: number;
  /** Application bytes delivered in order while the flow was active, as a rate; absent where the endpoints are not ours. */
  goodput_mbps: number | null;
  /** One-way delay of downlink packets, from the server's IP layer to the UE's. */
  owd_ms: Quantiles | null;
  /** Round-trip time as the sender measured it. */
  rtt_ms: Quantiles | null;
  /** Time of downlink packets in the RLC queue. */
  queue_ms: Quantiles | null;
  /** Time of its data in the queues of routers, together; absent where there is no router on its way. */
  router_queue_ms?: Quantiles | null;
  /** Transfers of known size, or pages of the web, that completed; absent where there were none. */
  transfers?: Transfers | null;
  /** Frames; absent where the flow carries none. */
  media?: MediaResult | null;
  /** Downlink packets that the sender handed to the network. */
  sent_packets: number;
  /** Packets of its data that arrived with CE, whoever marked them, and those whose mark the short-circuit put into acknowledgements. */
  marked: number;
  /** Downlink packets that the network dropped. */
  dropped: number;
  /** Segments that the sender sent again; absent where the endpoints are not ours. */
  retransmissions: number | null;
  /** Mean one-way delay, taken apart. */
  split_ms: Split | null;
}

/** Transfers of known size, each over a connection of its own, or pages of the web over one. */
export interface Transfers {
  /** How many completed. */
  completed: number;
  /** From the opening of the connection to the last byte; of a page from its request. */
  completion_ms: Quantiles | null;
}

/** The frames of a media flow. */
export interface MediaResult {
  /** Frames that the encoder made. */
  frames_sent: number;
  /** Of these, frames that the sender threw away before it had sent them. */
  frames_discarded: number;
  /** Frames that arrived whole. */
  frames_received: number;
  /** Frames that did not although later ones began; those that the sender threw away included. */
  frames_lost: number;
  /** Freezes as WebRTC counts them. */
  freezes: number;
  /** How long the picture stood still in them. */
  frozen_s: number;
  /** From the capture to the arrival of the last packet. */
  delay_ms: Quantiles | null;
  /** Of it, in the sender's own queue. */
  sender_queue_ms: Quantiles | null;
}

/** A router, after the warm-up. */
export interface RouterResult {
  /** Its name in the scenario. */
  name: string;
  /** What marks or drops in its queue. */
  law: string;
  /** The mean rate of its link. */
  capacity_mbps: number;
  /** IP bytes that its link carried, as a rate. */
  throughput_mbps: number;
  /** The one as a share of the other. */
  utilisation: number;
  /** Time of packets in its queue. */
  queue_ms: Quantiles | null;
  /** For each of the scenario's delays in milliseconds, the seconds in which the queue was older. */
  tdq_s: ([number, number])[];
  /** Packets that left it with CE and had come without. */
  marked: number;
  /** Packets dropped. */
  dropped: number;
}

/** The mean one-way delay, taken apart; the parts add up to the mean. */
export interface Split {
  /** On the wire between server and gNB, which has no rate. */
  propagation: number;
  /** In the queues of routers and on their links, packet by packet at their rate; absent where there is none on the way. */
  router?: number | null;
  /** In the CU and on its way to the DU. */
  cu: number;
  /** In the RLC queue behind other packets. */
  queuing: number;
  /** At the head of the RLC queue, waiting for the scheduler, and in the air. */
  scheduling: number;
  /** HARQ retransmission. */
  harq: number;
  /** RLC retransmission, where HARQ had given up. */
  rlc: number;
  /** At the UE, waiting for packets before it. */
  reordering: number;
}

/** One UE, after the warm-up. */
export interface UeResult {
  /** Its name in the scenario. */
  name: string;
  /** The model of its channel. */
  channel: string;
  /** IP bytes delivered to it, as a rate. */
  throughput_mbps: number;
  /** Time of its downlink packets in the RLC queue. */
  queue_ms: Quantiles | null;
  /** Mean MCS index over its first transmissions; absent on a channel without MCS. */
  mcs_mean: number | null;
  /** Share of first transmissions that failed; absent where there were none. */
  bler: number | null;
  /** Downlink packets that its bearers' laws decided to mark, whether they arrived or not; absent where they are a CU's. */
  marked?: number | null;
  /** Downlink packets dropped: by the law, by a full queue, by the radio. */
  dropped: number;
  /** Its share of the cell's downlink resource blocks; in a network, of one cell's. */
  prb_share: number | null;
  /** Bit rate recommendations that it got for its downlink; absent where there were none. */
  anbr?: AnbrResult | null;
  /** The same for its uplink. */
  uplink_anbr?: AnbrResult | null;
  /** What it sent; absent where it sent nothing. */
  uplink?: UplinkResult | null;
}

/** What a UE sent, after the warm-up: its packets, acknowledgements and RLC's reports. */
export interface UplinkResult {
  /** IP bytes that left its gNB towards the core, as a rate. */
  throughput_mbps: number;
  /** Wait of its packets at the UE: behind others, for its grants, and in the block that carried them. */
  queue_ms: Quantiles | null;
  /** Mean MCS index over its first transmissions. */
  mcs_mean: number;
  /** Share of first transmissions that failed. */
  bler: number;
  /** Its share of the cell's uplink resource blocks, retransmissions included; in a network, of one cell's. */
  prb_share: number;
  /** First transmissions of transport blocks, each by a grant. */
  blocks: number;
  /** HARQ retransmissions. */
  harq_retransmissions: number;
  /** Transport blocks that failed as often as they may. */
  lost_blocks: number;
  /** Packets that a law marked at the gNB. */
  marked: number;
}

/** One direction of a data radio bearer, after the warm-up. */
export interface BearerResult {
  /** The UE that it belongs to. */
  ue: string;
  /** DRB identity: 1 is the default bearer. */
  drb: number;
  /** Which way: what was sent to the UE, or what the UE sent, if it sent anything by this bearer. */
  direction: string;
  /** QFIs of its QoS flows. */
  qfi: number[];
  /** Their 5QIs, in the same order. */
  five_qi: number[];
  /** Its marking law; of an uplink that of the marker at the gNB. */
  law: string;
  /** IP bytes that reached the UE, or left the gNB towards the core, as a rate. */
  throughput_mbps: number;
  /** Time of its packets in the RLC queue; of an uplink their wait at the UE. */
  queue_ms: Quantiles | null;
  /** Packets that its law marked; absent where it is a CU's. */
  marked?: number | null;
  /** Packets that were lost: to the law, a full queue, a timer, the radio or a handover. */
  dropped: number;
  /** The least packet delay budget of its QoS flows (TS 23.501 5.7.3.4). */
  delay_budget_ms: number;
  /** Share of its packets that took no longer than that between the gNB and the UE's IP stack; lost ones did. Absent where there were none. */
  in_budget: number | null;
}

/** Bit rate recommendations to one UE, of one direction. */
export interface AnbrResult {
  /** How many came. */
  recommendations: number;
  /** Their mean. */
  mean_mbps: number;
  /** Queries that the UE sent; absent where real programs asked. */
  queries?: number | null;
  /** Queries that found another one waiting for bitRateQueryProhibitTimer, which was sent for both. */
  forbidden?: number | null;
}

/** A UE of a network, after the warm-up. */
export interface UePlace {
  /** The cell that served it at the end. */
  cell: string;
  /** Where it was at the end: metres east and north of the centre site. */
  position_m: [number, number];
  /** Times that it changed cells. */
  handovers: number;
  /** Mean over time of its SINR in dB, fading left out. */
  sinr_db: number | null;
}

/** Time series, one value an interval; `None` where there was nothing to measure. */
export interface Series {
  /** The end of each interval, in seconds. */
  t_s: number[];
  /** Per flow. */
  flows: FlowSeries;
  /** Per UE. */
  ues: UeSeries;
  /** Per UE, what it sends. */
  uplinks: UplinkSeries;
  /** Per router. */
  routers: RouterSeries;
  /** Per cell of a network. */
  cells: CellSeries;
}

/** Series per flow: outer index the flow, inner the interval. */
export interface FlowSeries {
  /** IP bytes delivered in the interval, as a rate. */
  throughput_mbps: number[][];
  /** Mean round-trip time of the interval's samples. */
  rtt_ms: ((number | null)[])[];
  /** Packets of the interval that arrived with CE, or whose mark the short-circuit put into acknowledgements. */
  marks: number[][];
  /** Congestion window at the end of the interval, in kB. */
  cwnd_kb: ((number | null)[])[];
}

/** Series per UE: outer index the UE, inner the interval. */
export interface UeSeries {
  /** Mean RLC queue delay of the packets that arrived in the interval. */
  queue_ms: ((number | null)[])[];
  /** MCS index at the end of the interval. */
  mcs: ((number | null)[])[];
  /** IP bytes delivered in the interval, as a rate. */
  throughput_mbps: number[][];
  /** Packets in the RLC queue at the end of the interval; empty where nobody looked. */
  queued: number[][];
  /** The bit rates that ANBR recommended last until the end of the interval, all logical channels of the UE together; empty where no UE got any. */
  recommended_mbps: ((number | null)[])[];
}

/** Series per UE of what it sends: outer index the UE, inner the interval. */
export interface UplinkSeries {
  /** IP bytes that left its gNB in the interval, as a rate. */
  throughput_mbps: number[][];
  /** Mean wait at the UE of the packets that left its gNB in the interval. */
  queue_ms: ((number | null)[])[];
  /** What the gNB took to wait at the UE at the end of the interval, from buffer status reports. */
  reported_kb: number[][];
  /** Mean MCS index over the interval's first transmissions. */
  mcs: ((number | null)[])[];
  /** As for the downlink. */
  recommended_mbps: ((number | null)[])[];
}

/** Series per cell of a network: outer index the cell, inner the interval. */
export interface CellSeries {
  /** IP bytes delivered in the interval, as a rate. */
  throughput_mbps: number[][];
  /** Share of its downlink resource blocks that carried data. */
  utilisation: ((number | null)[])[];
  /** UEs at the end of the interval. */
  ues: number[][];
  /** UEs that came from other cells in the interval. */
  handovers: number[][];
}

/** Series per router: outer index the router, inner the interval. */
export interface RouterSeries {
  /** IP bytes that its link carried in the interval, as a rate. */
  throughput_mbps: number[][];
  /** Rate of its link at the end of the interval. */
  capacity_mbps: number[][];
  /** Mean time in its queue of the packets whose turn came in the interval. */
  queue_ms: ((number | null)[])[];
  /** Packets that it marked in the interval. */
  marks: number[][];
}

/** Mean and quantiles of a delay, in milliseconds. */
export interface Quantiles {
  /** Arithmetic mean. */
  mean: number;
  /** Median. */
  p50: number;
  /** 95th percentile. */
  p95: number;
  /** 99th percentile. */
  p99: number;
  /** 99.9th percentile. */
  p999: number;
}

/** Names of the fields of each type: those that are always there, and those that can be missing. */
export const FIELDS = {
  RunResult: { always: ["tidemark", "name", "seed", "duration_s", "warmup_s", "cell", "flows", "ues", "bearers", "scenario"], sometimes: ["interrupted_at_s", "warnings", "cells", "live", "routers", "jain", "events"] },
  CellResult: { always: ["utilisation", "throughput_mbps", "conservation"], sometimes: ["uplink_utilisation"] },
  NetworkCellResult: { always: ["name", "utilisation", "throughput_mbps", "ues", "handovers"], sometimes: [] },
  Event: { always: ["t_s", "event"], sometimes: ["ue", "detail"] },
  LiveResult: { always: ["lateness_us", "busy", "real_time_priority", "packets_in", "packets_out", "refused", "unroutable", "overload", "device_drops", "uplink_busy_s"], sometimes: [] },
  Lateness: { always: ["p50", "p99", "p999", "max", "deadlines"], sometimes: [] },
  FlowResult: { always: ["name", "controller", "law", "throughput_mbps", "goodput_mbps", "owd_ms", "rtt_ms", "queue_ms", "sent_packets", "marked", "dropped", "retransmissions", "split_ms"], sometimes: ["ue", "router_queue_ms", "transfers", "media"] },
  Transfers: { always: ["completed", "completion_ms"], sometimes: [] },
  MediaResult: { always: ["frames_sent", "frames_discarded", "frames_received", "frames_lost", "freezes", "frozen_s", "delay_ms", "sender_queue_ms"], sometimes: [] },
  RouterResult: { always: ["name", "law", "capacity_mbps", "throughput_mbps", "utilisation", "queue_ms", "tdq_s", "marked", "dropped"], sometimes: [] },
  Split: { always: ["propagation", "cu", "queuing", "scheduling", "harq", "rlc", "reordering"], sometimes: ["router"] },
  UeResult: { always: ["name", "channel", "throughput_mbps", "queue_ms", "mcs_mean", "bler", "dropped", "prb_share"], sometimes: ["marked", "anbr", "uplink_anbr", "uplink"] },
  UplinkResult: { always: ["throughput_mbps", "queue_ms", "mcs_mean", "bler", "prb_share", "blocks", "harq_retransmissions", "lost_blocks", "marked"], sometimes: [] },
  BearerResult: { always: ["ue", "drb", "direction", "qfi", "five_qi", "law", "throughput_mbps", "queue_ms", "dropped", "delay_budget_ms", "in_budget"], sometimes: ["marked"] },
  AnbrResult: { always: ["recommendations", "mean_mbps"], sometimes: ["queries", "forbidden"] },
  UePlace: { always: ["cell", "position_m", "handovers", "sinr_db"], sometimes: [] },
  Series: { always: ["t_s", "flows", "ues", "uplinks", "routers", "cells"], sometimes: [] },
  FlowSeries: { always: ["throughput_mbps", "rtt_ms", "marks", "cwnd_kb"], sometimes: [] },
  UeSeries: { always: ["queue_ms", "mcs", "throughput_mbps", "queued", "recommended_mbps"], sometimes: [] },
  UplinkSeries: { always: ["throughput_mbps", "queue_ms", "reported_kb", "mcs", "recommended_mbps"], sometimes: [] },
  CellSeries: { always: ["throughput_mbps", "utilisation", "ues", "handovers"], sometimes: [] },
  RouterSeries: { always: ["throughput_mbps", "capacity_mbps", "queue_ms", "marks"], sometimes: [] },
  Quantiles: { always: ["mean", "p50", "p95", "p99", "p999"], sometimes: [] },
} as const;
