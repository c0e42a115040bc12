/** Fields of summary.json, written from crates/record/src/result.rs by `make reference`. */

/** All that a run measured, with what is needed to repeat it. */
export interface RunResult {
  /** Version of the program. */
  tidemark: string;
  /** Commit of the sources that the program was built from, with `-modified` behind it where they were changed; absent for a program that was not built from a clone. */
  commit?: string | null;
  /** Name of the scenario. */
  name: string;
  /** Purpose of the scenario; absent where it says none. */
  description?: string | null;
  /** Seed. */
  seed: number;
  /** Virtual seconds. */
  duration_s: number;
  /** Seconds at the start that the statistics leave out. */
  warmup_s: number;
  /** Virtual seconds at which the run was interrupted; absent where it came to its end. */
  interrupted_at_s?: number | null;
  /** Warnings for the user: guaranteed rates that were not met, and parts of the scenario that the run took no notice of. */
  warnings?: string[];
  /** The cell as a whole. */
  cell: CellResult;
  /** One entry a cell of a network; absent where there is one cell without a place. */
  cells?: NetworkCellResult[];
  /** State of the machine that ran the cell in real time; absent for a run in virtual time. */
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
  /** Share of the UEs with frames that are satisfied: all of their flows are; absent where no flow's frames have a budget. */
  satisfied?: number | null;
  /** The statement that the conservation check of this run made; a run that fails it has no result. */
  conservation: string;
}

/** One cell of a network, after the warm-up. */
export interface NetworkCellResult {
  /** Number of the site, from 1, and letter of the sector. */
  name: string;
  /** Share of its downlink resource blocks that carried data. */
  utilisation: number | null;
  /** IP bytes delivered to its UEs, as a rate. */
  throughput_mbps: number;
  /** UEs that it served, the mean over the series' intervals. */
  ues: number | null;
  /** UEs that came to it from other cells. */
  handovers: number;
  /** Share of the UEs with frames that it served at the end that are satisfied: all of their flows are; absent where there were none. */
  satisfied?: number | null;
}

/** Place of a cell. */
export interface CellPlace {
  /** Position: metres east and north of the centre site. */
  position_m: [number, number];
  /** Direction in which it looks, in degrees from east, counterclockwise. */
  azimuth_deg: number;
}

/** Event of a live cell: what somebody did to it while it ran. */
export interface Event {
  /** Seconds since the start, the warm-up included. */
  t_s: number;
  /** Action that was taken. */
  event: string;
  /** UE that it was done to; absent where more than one can be concerned. */
  ue?: string | null;
  /** Arguments of the action: assignments, or the length of an outage. */
  detail?: string | null;
}

/** State of the machine that ran the cell in real time. */
export interface LiveResult {
  /** Lateness of the cell's deadlines, in microseconds. */
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
  /** Packets for no UE of the cell; absent for a hop. */
  unroutable?: number | null;
  /** Frames that a hop could not read; absent for a cell. */
  unreadable?: number | null;
  /** Packets dropped because the machine was too slow for the cell. */
  overload: number;
  /** Messages and packets refused at GTP-U sockets by address or content; absent for a cell without such sockets. */
  not_admitted: number | null;
  /** Packets that the devices lost because the cell's thread did not read them in time. */
  device_drops: number;
  /** Share of the downlink's resource blocks that were empty in the intervals of the series in which a law marked or dropped a packet; absent where there was none, and for a hop. */
  empty_under_marks?: number | null;
  /** Seconds of the measured time in which UEs used more than nine tenths of the uplink's resource blocks; absent for a hop. */
  uplink_busy_s?: number | null;
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
  /** Name in the scenario. */
  name: string;
  /** The UE that it ends at; absent for a host on the wire. */
  ue?: string | null;
  /** The sender's congestion controller. */
  controller: string;
  /** The marking law of its bearer or, for a host on the wire, of the routers of its data, in their order. */
  law: string;
  /** Names of the routers on the way of its data, in their order; absent where there is none. */
  routers?: string[];
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
  /** True where the flow gave way to its marks, false where it did not and took the room of others; absent where too few marks tell, and for a run in virtual time. */
  gave_way?: boolean | null;
  /** Share of the time in which the sender waited for room in its send buffer alone: its windows had room, and the path no queue of half a round trip; absent where it never did. */
  buffer_limited?: number | null;
  /** Mean one-way delay, taken apart. */
  split_ms: Split | null;
}

/** Transfers of known size, each over a connection of its own, or pages of the web over one. */
export interface Transfers {
  /** Transfers that completed. */
  completed: number;
  /** Time from the opening of the connection to the last byte; of a page from its request. */
  completion_ms: Quantiles | null;
}

/** The frames of a media flow. */
export interface MediaResult {
  /** Frames that the encoder made. */
  frames_sent: number;
  /** Frames of these that the sender threw away before it had sent them. */
  frames_discarded: number;
  /** Frames of those sent that arrived whole: a frame counts by its capture. */
  frames_received: number;
  /** Frames that did not although later ones began; those that the sender threw away included. */
  frames_lost: number;
  /** Freezes as `freezeCount` of W3C webrtc-stats counts them: frames that came after three times the mean time between the last thirty, and after 150 ms more than that mean. */
  freezes: number;
  /** Time in which the picture stood still, in all freezes (`totalFreezesDuration`). */
  frozen_s: number;
  /** Delay of frames, from the capture to the arrival of the last packet. */
  delay_ms: Quantiles | null;
  /** Part of that delay in the sender's own queue. */
  sender_queue_ms: Quantiles | null;
  /** Budget for the delay of a frame, the time on the wire left out: `delay_budget` of the application; absent for one without. */
  delay_budget_ms: number | null;
  /** Share of the frames that met it. Lost ones did not, nor did those under way for longer at the end. Absent where no frame was due. */
  in_budget: number | null;
  /** True where that share is at least `satisfied_at` of the application. */
  satisfied: boolean | null;
}

/** Freeze of a picture: a row of `freezes.csv`. Those of the warm-up are among them. */
export interface Freeze {
  /** Name of the flow. */
  flow: string;
  /** Time at which the frame that stood was shown. */
  t_s: number;
  /** Time until the next frame. */
  frozen_s: number;
}

/** Time in which the queue of a router was older than a delay (TDQ): a row of `tdq.csv`. */
export interface RouterTdq {
  /** Name of the router. */
  router: string;
  /** Delay, one of the router's `tdq`. */
  older_than_ms: number;
  /** Seconds in which its queue was older. */
  tdq_s: number;
}

/** A router, after the warm-up. */
export interface RouterResult {
  /** Name in the scenario. */
  name: string;
  /** Law that marks or drops in its queue. */
  law: string;
  /** The mean rate of its link. */
  capacity_mbps: number;
  /** IP bytes that its link carried, as a rate. */
  throughput_mbps: number;
  /** The one as a share of the other. */
  utilisation: number;
  /** Time of packets in its queue. */
  queue_ms: Quantiles | null;
  /** Seconds in which the queue was older than each of the scenario's delays in milliseconds. */
  tdq_s: ([number, number])[];
  /** Packets that left it with CE and had come without. */
  marked: number;
  /** Packets dropped. */
  dropped: number;
}

/** The mean one-way delay, taken apart; the parts add up to the mean. */
export interface Split {
  /** Time on the wire between server and gNB, which has no rate. */
  propagation: number;
  /** Time in the queues of routers and on their links, packet by packet at their rate; absent where there is none on the way. */
  router?: number | null;
  /** Time in the CU and on the way to the DU. */
  cu: number;
  /** Time in the RLC queue behind other packets. */
  queuing: number;
  /** Time at the head of the RLC queue, waiting for the scheduler, and in the air. */
  scheduling: number;
  /** HARQ retransmission. */
  harq: number;
  /** RLC retransmission, where HARQ had given up. */
  rlc: number;
  /** Time at the UE, waiting for packets before it. */
  reordering: number;
}

/** One UE, after the warm-up. */
export interface UeResult {
  /** Name in the scenario. */
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
  /** Share of the cell's downlink resource blocks that it used; in a network, of one cell's. */
  prb_share: number | null;
  /** Share of frames that met their budget, of the flow where it is least; absent where no flow's frames have one. */
  frames_in_budget?: number | null;
  /** True where each of its flows with frames is satisfied (TR 38.838); absent where no flow's frames have a budget. */
  satisfied?: boolean | null;
  /** Bit rate recommendations that it got for its downlink; absent where there were none. */
  anbr?: AnbrResult | null;
  /** Bit rate recommendations that it got for its uplink; absent where there were none. */
  uplink_anbr?: AnbrResult | null;
  /** Uplink; absent where it sent nothing. */
  uplink?: UplinkResult | null;
}

/** Uplink of a UE, after the warm-up: its packets, acknowledgements and RLC's reports. */
export interface UplinkResult {
  /** IP bytes that left its gNB towards the core, as a rate. */
  throughput_mbps: number;
  /** Wait of its packets at the UE: behind others, for its grants, and in the block that carried them. */
  queue_ms: Quantiles | null;
  /** Mean MCS index over its first transmissions. */
  mcs_mean: number;
  /** Share of first transmissions that failed. */
  bler: number;
  /** Share of the cell's uplink resource blocks that it used, retransmissions included; in a network, of one cell's. */
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
  /** Direction: `downlink` to the UE, or `uplink`, if the UE sent anything by this bearer. */
  direction: string;
  /** QFIs of its QoS flows, in a CSV file as `[1,2]`. */
  qfi: number[];
  /** 5QIs of its QoS flows, in the same order. */
  five_qi: number[];
  /** Marking law; of an uplink that of the marker at the gNB. */
  law: string;
  /** Delays that its law holds its queue to, by the law's keys; absent where it has none, and where the law changed during the run. */
  thresholds?: Threshold[];
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

/** Delay that a law holds a queue to. */
export interface Threshold {
  /** Key of the law. */
  key: string;
  /** Delay that the key has. */
  delay_ms: number;
}

/** Bit rate recommendations to one UE, of one direction. */
export interface AnbrResult {
  /** Recommendations that came. */
  recommendations: number;
  /** Mean of the recommended rates. */
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
  /** Position at the end: metres east and north of the centre site. */
  position_m: [number, number];
  /** Times that it changed cells. */
  handovers: number;
  /** Mean over time of its SINR in dB, fading left out. */
  sinr_db: number | null;
}

/** One mark with its reasons, or a drop that a law decided on: a row of `marks.csv`. Times run from the start, the warm-up included. */
export interface MarkResult {
  /** Name of the flow. */
  flow: string;
  /** Number of the packet: in a simulated run among those that the flow's sender sent, from 1; in a live cell among those that came from the core. */
  packet: number;
  /** Time at which the sender sent it; in a live cell, at which it came from the core. */
  sent_s: number;
  /** Time of the decision. */
  t_s: number;
  /** UE of the bearer. */
  ue: string;
  /** DRB identity of the bearer: 1 is the default bearer. */
  drb: number;
  /** Length of the IP packet, in bytes. */
  bytes: number;
  /** ECN field before the decision. */
  came: string;
  /** Fate of the packet: `mark`, `short-circuit` for a mark that acknowledgements carry in its place, or `drop`. */
  verdict: string;
  /** Marking law. */
  law: string;
  /** Rule of the law that gave the odds. */
  rule: string;
  /** Chance of a mark, for a packet that is not dropped. */
  mark_odds: number;
  /** Chance of a drop. */
  drop_odds: number;
  /** Kind of the draw: `certain` for odds of 0 or 1, `random`, or `regular` where odds are added up. */
  draw_kind: string;
  /** Number drawn, which was below the odds; or sum of the odds, which was above 1. */
  draw: number | null;
  /** Age that the law was given: of the oldest SDU in the queue, or of the packet itself where it leaves; 0 for laws that look at neither. */
  age_ms: number;
  /** Backlog that the marker estimated. */
  estimated_kb: number;
  /** Egress rate that the marker estimated. */
  estimated_mbps: number | null;
  /** Standard deviation of that rate. */
  deviation_mbps: number | null;
  /** Sojourn time that follows from the two. */
  estimated_ms: number | null;
  /** Age of the last delivery status report. */
  report_age_ms: number;
  /** True backlog of the RLC queue. It and the next two are absent for a CU, which does not see the queue. */
  queued_kb: number | null;
  /** SDUs in the RLC queue. */
  queued_packets: number | null;
  /** Age of the oldest of these. */
  queued_ms: number | null;
  /** Cause of the packet's loss: `law`, `full queue`, `radio`, `handover` or `discard timer`; empty for one that was not lost. */
  lost: string;
  /** Arrival at its end; absent for a packet that was lost or still under way, and for a CU's. */
  arrived_s: number | null;
  /** Part of its one-way delay on the wire between server and gNB. Parts are absent for a packet that did not arrive. */
  propagation_ms: number | null;
  /** Part in the queues of routers and on their links; absent where there is none on the way. */
  router_ms: number | null;
  /** Part in the CU and on the way to the DU. */
  cu_ms: number | null;
  /** Part in the RLC queue behind other packets. */
  queuing_ms: number | null;
  /** Part at the head of the RLC queue, waiting for the scheduler, and in the air. */
  scheduling_ms: number | null;
  /** Part in HARQ retransmission. */
  harq_ms: number | null;
  /** Part in RLC retransmission. */
  rlc_ms: number | null;
  /** Part at the UE, waiting for packets before it. */
  reordering_ms: number | null;
  /** Time at which feedback told the sender of the mark; absent where it did not, and where senders are not ours. */
  answered_s: number | null;
  /** Congestion window before that feedback. */
  window_before_kb: number | null;
  /** Congestion window after it. */
  window_after_kb: number | null;
  /** Pacing rate, or target of the encoder, before it. */
  rate_before_mbps: number | null;
  /** Pacing rate, or target of the encoder, after it. */
  rate_after_mbps: number | null;
}

/** Time series, one value an interval; `None` where there was nothing to measure. */
export interface Series {
  /** The end of each interval, in seconds. */
  t_s: number[];
  /** Series of each flow. */
  flows: FlowSeries;
  /** Series of each UE. */
  ues: UeSeries;
  /** Series of what each UE sends. */
  uplinks: UplinkSeries;
  /** Series of each router. */
  routers: RouterSeries;
  /** Series of each cell of a network. */
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
  /** Pacing rate at the end of the interval. It and those below have no values for a flow that never has any. */
  pacing_mbps: ((number | null)[])[];
  /** Rate that the controller asks of the encoder at the end of the interval. */
  target_mbps: ((number | null)[])[];
  /** Share of marks that a scalable controller estimates (Prague's alpha), at the end of the interval. */
  alpha: ((number | null)[])[];
  /** Mean delay of the frames that arrived in the interval. */
  frame_delay_ms: ((number | null)[])[];
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
  /** Metres east of the centre site at the end of the interval. It and those below are empty for a cell without a place. */
  east_m: number[][];
  /** Metres north of it. */
  north_m: number[][];
  /** SINR at the end of the interval, fading left out. */
  sinr_db: number[][];
  /** Number of the cell that serves it at the end of the interval, in the order of the cells, from 0. */
  cell: number[][];
}

/** Series per UE of what it sends: outer index the UE, inner the interval. */
export interface UplinkSeries {
  /** IP bytes that left its gNB in the interval, as a rate. */
  throughput_mbps: number[][];
  /** Mean wait at the UE of the packets that left its gNB in the interval. */
  queue_ms: ((number | null)[])[];
  /** Bytes that the gNB took to wait at the UE at the end of the interval, from buffer status reports. */
  reported_kb: number[][];
  /** Mean MCS index over the interval's first transmissions. */
  mcs: ((number | null)[])[];
  /** Bit rates that ANBR recommended last for the uplink; as for the downlink. */
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

/** Version of the program whose results these are. */
export const VERSION = "0.1.0";

/** Kind of every field, by type; one that can be absent ends with a question mark. */
export const FIELDS: Record<string, Record<string, string>> = {
  RunResult: { tidemark: "string", commit: "string?", name: "string", description: "string?", seed: "number", duration_s: "number", warmup_s: "number", interrupted_at_s: "number?", warnings: "string[]?", cell: "CellResult", cells: "NetworkCellResult[]?", live: "LiveResult?", flows: "FlowResult[]", ues: "UeResult[]", bearers: "BearerResult[]", routers: "RouterResult[]?", jain: "number?", events: "Event[]?", scenario: "string" },
  CellResult: { utilisation: "number", uplink_utilisation: "number?", throughput_mbps: "number", satisfied: "number?", conservation: "string" },
  NetworkCellResult: { name: "string", utilisation: "number", throughput_mbps: "number", ues: "number", handovers: "number", satisfied: "number?", position_m: "[number, number]?", azimuth_deg: "number?" },
  CellPlace: { position_m: "[number, number]", azimuth_deg: "number" },
  Event: { t_s: "number", event: "string", ue: "string?", detail: "string?" },
  LiveResult: { lateness_us: "Lateness", busy: "number", real_time_priority: "boolean", packets_in: "number", packets_out: "number", refused: "number", unroutable: "number?", unreadable: "number?", overload: "number", not_admitted: "number", device_drops: "number", empty_under_marks: "number?", uplink_busy_s: "number?" },
  Lateness: { p50: "number", p99: "number", p999: "number", max: "number", deadlines: "number" },
  FlowResult: { name: "string", ue: "string?", controller: "string", law: "string", routers: "string[]?", throughput_mbps: "number", goodput_mbps: "number", owd_ms: "Quantiles", rtt_ms: "Quantiles", queue_ms: "Quantiles", router_queue_ms: "Quantiles?", transfers: "Transfers?", media: "MediaResult?", sent_packets: "number", marked: "number", dropped: "number", retransmissions: "number", gave_way: "boolean?", buffer_limited: "number?", split_ms: "Split" },
  Transfers: { completed: "number", completion_ms: "Quantiles" },
  MediaResult: { frames_sent: "number", frames_discarded: "number", frames_received: "number", frames_lost: "number", freezes: "number", frozen_s: "number", delay_ms: "Quantiles", sender_queue_ms: "Quantiles", delay_budget_ms: "number", in_budget: "number", satisfied: "boolean" },
  Freeze: { flow: "string", t_s: "number", frozen_s: "number" },
  RouterTdq: { router: "string", older_than_ms: "number", tdq_s: "number" },
  RouterResult: { name: "string", law: "string", capacity_mbps: "number", throughput_mbps: "number", utilisation: "number", queue_ms: "Quantiles", tdq_s: "([number, number])[]", marked: "number", dropped: "number" },
  Split: { propagation: "number", router: "number?", cu: "number", queuing: "number", scheduling: "number", harq: "number", rlc: "number", reordering: "number" },
  UeResult: { name: "string", channel: "string", throughput_mbps: "number", queue_ms: "Quantiles", mcs_mean: "number", bler: "number", marked: "number?", dropped: "number", prb_share: "number", frames_in_budget: "number?", satisfied: "boolean?", anbr: "AnbrResult?", uplink_anbr: "AnbrResult?", uplink: "UplinkResult?", cell: "string?", position_m: "[number, number]?", handovers: "number?", sinr_db: "number?" },
  UplinkResult: { throughput_mbps: "number", queue_ms: "Quantiles", mcs_mean: "number", bler: "number", prb_share: "number", blocks: "number", harq_retransmissions: "number", lost_blocks: "number", marked: "number" },
  BearerResult: { ue: "string", drb: "number", direction: "string", qfi: "number[]", five_qi: "number[]", law: "string", thresholds: "Threshold[]?", throughput_mbps: "number", queue_ms: "Quantiles", marked: "number?", dropped: "number", delay_budget_ms: "number", in_budget: "number" },
  Threshold: { key: "string", delay_ms: "number" },
  AnbrResult: { recommendations: "number", mean_mbps: "number", queries: "number?", forbidden: "number?" },
  UePlace: { cell: "string", position_m: "[number, number]", handovers: "number", sinr_db: "number" },
  MarkResult: { flow: "string", packet: "number", sent_s: "number", t_s: "number", ue: "string", drb: "number", bytes: "number", came: "string", verdict: "string", law: "string", rule: "string", mark_odds: "number", drop_odds: "number", draw_kind: "string", draw: "number", age_ms: "number", estimated_kb: "number", estimated_mbps: "number", deviation_mbps: "number", estimated_ms: "number", report_age_ms: "number", queued_kb: "number", queued_packets: "number", queued_ms: "number", lost: "string", arrived_s: "number", propagation_ms: "number", router_ms: "number", cu_ms: "number", queuing_ms: "number", scheduling_ms: "number", harq_ms: "number", rlc_ms: "number", reordering_ms: "number", answered_s: "number", window_before_kb: "number", window_after_kb: "number", rate_before_mbps: "number", rate_after_mbps: "number" },
  Series: { t_s: "number[]", flows: "FlowSeries", ues: "UeSeries", uplinks: "UplinkSeries", routers: "RouterSeries", cells: "CellSeries" },
  FlowSeries: { throughput_mbps: "number[][]", rtt_ms: "((number)[])[]", marks: "number[][]", cwnd_kb: "((number)[])[]", pacing_mbps: "((number)[])[]", target_mbps: "((number)[])[]", alpha: "((number)[])[]", frame_delay_ms: "((number)[])[]" },
  UeSeries: { queue_ms: "((number)[])[]", mcs: "((number)[])[]", throughput_mbps: "number[][]", queued: "number[][]", recommended_mbps: "((number)[])[]", east_m: "number[][]", north_m: "number[][]", sinr_db: "number[][]", cell: "number[][]" },
  UplinkSeries: { throughput_mbps: "number[][]", queue_ms: "((number)[])[]", reported_kb: "number[][]", mcs: "((number)[])[]", recommended_mbps: "((number)[])[]" },
  CellSeries: { throughput_mbps: "number[][]", utilisation: "((number)[])[]", ues: "number[][]", handovers: "number[][]" },
  RouterSeries: { throughput_mbps: "number[][]", capacity_mbps: "number[][]", queue_ms: "((number)[])[]", marks: "number[][]" },
  Quantiles: { mean: "number", p50: "number", p95: "number", p99: "number", p999: "number" },
};
