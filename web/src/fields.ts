/** Fields of summary.json, written from crates/record/src/result.rs by `make reference`. */

/** All that a run measured, with what is needed to repeat it. */
export interface RunResult {
  /** Version of the program. */
  tidemark: string;
  /** Commit of the sources that the program was built from, followed by `-modified` if they were changed; absent for a program that was not built from a clone. */
  commit?: string | null;
  /** Name of the scenario. */
  name: string;
  /** Description of the scenario; absent if it has none. */
  description?: string | null;
  /** Seed. */
  seed: number;
  /** Virtual time of the run. */
  duration_s: number;
  /** Time at the start that the statistics leave out. */
  warmup_s: number;
  /** Virtual time at which the run was interrupted; absent if it ran to its end. */
  interrupted_at_s?: number | null;
  /** Warnings for the user: guaranteed rates that were not met, and parts of the scenario that the run did not use. */
  warnings?: string[];
  /** The cell as a whole. */
  cell: CellResult;
  /** One entry for each cell of a network; absent for a single cell without a position. */
  cells?: NetworkCellResult[];
  /** State of the machine that ran the cell in real time; absent for a run in virtual time. */
  live?: LiveResult | null;
  /** One entry for each flow. */
  flows: FlowResult[];
  /** One entry for each UE. */
  ues: UeResult[];
  /** One entry for each bearer. */
  bearers: BearerResult[];
  /** One entry for each router. */
  routers?: RouterResult[];
  /** Jain's index of the flows' rates: the mean over those intervals of the series in which at least two flows were active; absent if there were none. */
  jain?: number | null;
  /** Events in the order of their times: what was done to a live cell, or handovers that a scenario sets. */
  events?: Event[];
  /** The whole scenario, as text, with overrides applied. */
  scenario: string;
}

/** The cell as a whole, after the warm-up. */
export interface CellResult {
  /** Share of the downlink's resource blocks that carried data. */
  utilisation: number | null;
  /** Share of the uplink's resource blocks that UEs used; absent if they sent nothing. */
  uplink_utilisation?: number | null;
  /** IP bytes delivered to all UEs, as a rate. */
  throughput_mbps: number;
  /** Share of the UEs with frames that are satisfied, which means that all of their flows are; absent if no flow's frames have a delay budget. */
  satisfied?: number | null;
  /** Statement of this run's conservation check; a run that fails the check has no result. */
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
  /** Number of UEs that it served, as the mean over the intervals of the series. */
  ues: number | null;
  /** Number of UEs that came to it from other cells. */
  handovers: number;
  /** Share of satisfied UEs among those with frames that it served at the end; absent if there were none. */
  satisfied?: number | null;
}

/** Site of a cell. */
export interface CellPlace {
  /** Position in metres east and north of the centre site. */
  position_m: [number, number];
  /** Direction of its antenna, in degrees from east, counterclockwise. */
  azimuth_deg: number;
}

/** Event: an action that somebody took while a live cell ran, or a handover that a scenario sets. */
export interface Event {
  /** Time since the start, the warm-up included. */
  t_s: number;
  /** Kind of the action. */
  event: string;
  /** UE that it concerned; absent if it can concern several. */
  ue?: string | null;
  /** Arguments of the action: assignments, or the duration of an outage. */
  detail?: string | null;
}

/** State of the machine that ran the cell in real time. */
export interface LiveResult {
  /** Lateness of the cell's deadlines, in microseconds. */
  lateness_us: Lateness | null;
  /** Share of a processor that the cell's thread used. */
  busy: number;
  /** True if the thread had real-time priority (`SCHED_FIFO`). */
  real_time_priority: boolean;
  /** Packets that came from the core and from UEs. */
  packets_in: number;
  /** Packets that were passed to the core and to UEs. */
  packets_out: number;
  /** Packets that the kernel refused. */
  refused: number;
  /** Packets that were for no UE of the cell; absent for a hop. */
  unroutable?: number | null;
  /** Frames that a hop could not read; absent for a cell. */
  unreadable?: number | null;
  /** Packets dropped because the machine was too slow for the cell. */
  overload: number;
  /** Messages and packets refused at GTP-U sockets by address or content; absent for a cell without such sockets. */
  not_admitted: number | null;
  /** Packets that the network devices dropped because the cell's thread did not read them in time. */
  device_drops: number;
  /** Share of the downlink's resource blocks that were empty in those intervals of the series in which a law marked or dropped a packet; absent if there were none, and for a hop. */
  empty_under_marks?: number | null;
  /** Time after the warm-up in which UEs used more than nine tenths of the uplink's resource blocks; absent for a hop. */
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
  /** Maximum. */
  max: number;
  /** Number of deadlines. */
  deadlines: number;
}

/** One flow, after the warm-up. */
export interface FlowResult {
  /** Name in the scenario. */
  name: string;
  /** UE that receives it; absent for a host on the wire. */
  ue?: string | null;
  /** Congestion controller of the sender. */
  controller: string;
  /** Marking law of its bearer or, for a host on the wire, of the routers on the way of its data, in their order. */
  law: string;
  /** Names of the routers on the way of its data, in their order; absent if there are none. */
  routers?: string[];
  /** IP bytes delivered to the UE while the flow was active, as a rate. */
  throughput_mbps: number;
  /** Application bytes delivered in order while the flow was active, as a rate; absent if the endpoints are real programs. */
  goodput_mbps: number | null;
  /** One-way delay of downlink packets, from the server's IP layer to the UE's. */
  owd_ms: Quantiles | null;
  /** Round-trip time that the sender measured. */
  rtt_ms: Quantiles | null;
  /** Time of downlink packets in the RLC queue. */
  queue_ms: Quantiles | null;
  /** Time of its data in the queues of all routers on its way; absent if there are none. */
  router_queue_ms?: Quantiles | null;
  /** Transfers of known size, or web pages, that completed; absent if there were none. */
  transfers?: Transfers | null;
  /** Frames of video; absent for a flow without frames. */
  media?: MediaResult | null;
  /** Downlink packets that the sender sent. */
  sent_packets: number;
  /** Those packets by the ECN field with which they came from the core; absent for a hop, and for a run in virtual time. */
  ecn?: Codepoints | null;
  /** Data packets that arrived with CE, no matter where they were marked, and those whose mark the short-circuit put into acknowledgements. */
  marked: number;
  /** Downlink packets that the network dropped. */
  dropped: number;
  /** Segments that the sender retransmitted; absent if the endpoints are real programs. */
  retransmissions: number | null;
  /** True if the flow reduced its rate when it was marked, false if it did not and took capacity from others; absent if there were too few marks to tell, and for a run in virtual time. */
  gave_way?: boolean | null;
  /** Share of the time in which only the size of its send buffer limited the sender: its windows had room, and the path had no queue of half a round trip; absent if that was never so. */
  buffer_limited?: number | null;
  /** Parts of the mean one-way delay. */
  split_ms: Split | null;
}

/** Packets by their ECN field. */
export interface Codepoints {
  /** Packets with Not-ECT. */
  not_ect: number;
  /** Packets with ECT(1). */
  ect1: number;
  /** Packets with ECT(0). */
  ect0: number;
  /** Packets with CE. */
  ce: number;
}

/** Transfers of known size, each over its own connection, or web pages over one connection. */
export interface Transfers {
  /** Transfers that completed. */
  completed: number;
  /** Time from the opening of the connection to the last byte; for a page, time from its request. */
  completion_ms: Quantiles | null;
}

/** The frames of a media flow. */
export interface MediaResult {
  /** Frames that the encoder produced. */
  frames_sent: number;
  /** Frames that the sender discarded before it had sent them. */
  frames_discarded: number;
  /** Frames that arrived complete. A frame belongs to the time of its capture. */
  frames_received: number;
  /** Frames that did not arrive complete although a later one began to arrive, including those that the sender discarded. */
  frames_lost: number;
  /** Freezes as `freezeCount` of W3C webrtc-stats counts them: frames that came later than three times the mean interval of the last thirty, and later than that mean and 150 ms. */
  freezes: number;
  /** Total duration of the freezes (`totalFreezesDuration`). */
  frozen_s: number;
  /** Delay of frames, from capture to the arrival of the last packet. */
  delay_ms: Quantiles | null;
  /** Part of that delay in the sender's queue. */
  sender_queue_ms: Quantiles | null;
  /** Budget for the delay of a frame without the time on the wire: `delay_budget` of the application; absent if it has none. */
  delay_budget_ms: number | null;
  /** Share of the frames within the budget. Lost frames are not, nor are those that had been under way for longer at the end. Absent if no frame was due. */
  in_budget: number | null;
  /** True if that share is at least `satisfied_at` of the application. */
  satisfied: boolean | null;
}

/** Freeze of a picture: a row of `freezes.csv`, which includes those of the warm-up. */
export interface Freeze {
  /** Name of the flow. */
  flow: string;
  /** Time at which the frozen frame was shown. */
  t_s: number;
  /** Time until the next frame. */
  frozen_s: number;
}

/** Time in which a router's queue was older than a given delay (TDQ): a row of `tdq.csv`. */
export interface RouterTdq {
  /** Name of the router. */
  router: string;
  /** Delay from the router's list `tdq`. */
  older_than_ms: number;
  /** Time in which its queue was older. */
  tdq_s: number;
}

/** A router, after the warm-up. */
export interface RouterResult {
  /** Name in the scenario. */
  name: string;
  /** Law that marks or drops packets in its queue. */
  law: string;
  /** Mean rate of its link. */
  capacity_mbps: number;
  /** IP bytes that its link carried, as a rate. */
  throughput_mbps: number;
  /** Carried rate as a share of the link's rate. */
  utilisation: number;
  /** Time of packets in its queue. */
  queue_ms: Quantiles | null;
  /** For each delay of the scenario's list in milliseconds: time in which the queue was older. */
  tdq_s: ([number, number])[];
  /** Packets that arrived without CE and left with it. */
  marked: number;
  /** Packets dropped. */
  dropped: number;
}

/** Parts of the mean one-way delay, whose sum is the mean. */
export interface Split {
  /** Time on the wire between server and gNB, which has no rate limit. */
  propagation: number;
  /** Time in the queues of routers and on their links; absent if there are no routers on the way. */
  router?: number | null;
  /** Time in the CU and on the way to the DU. */
  cu: number;
  /** Time in the RLC queue behind other packets. */
  queuing: number;
  /** Time at the head of the RLC queue, waiting for the scheduler, and in the air. */
  scheduling: number;
  /** Time of HARQ retransmissions. */
  harq: number;
  /** Time of RLC retransmissions, after HARQ had given up. */
  rlc: number;
  /** Time at the UE, waiting for earlier packets. */
  reordering: number;
}

/** One UE, after the warm-up. */
export interface UeResult {
  /** Name in the scenario. */
  name: string;
  /** Model of its channel. */
  channel: string;
  /** IP bytes delivered to it, as a rate. */
  throughput_mbps: number;
  /** Time of its downlink packets in the RLC queue. */
  queue_ms: Quantiles | null;
  /** Mean MCS index of its first transmissions; absent on a channel without MCS. */
  mcs_mean: number | null;
  /** Share of first transmissions that failed; absent if there were none. */
  bler: number | null;
  /** Downlink packets that its bearers' laws decided to mark, whether they arrived or not; absent if a CU marks them. */
  marked?: number | null;
  /** Downlink packets dropped: by the law, by a full queue, by the radio. */
  dropped: number;
  /** Share of the cell's downlink resource blocks that it used; in a network, share of one cell's blocks. */
  prb_share: number | null;
  /** Share of frames within their delay budget, for the flow with the lowest share; absent if no flow's frames have a budget. */
  frames_in_budget?: number | null;
  /** True if each of its flows with frames is satisfied (TR 38.838); absent if no flow's frames have a delay budget. */
  satisfied?: boolean | null;
  /** Bit rate recommendations that it received for its downlink; absent if there were none. */
  anbr?: AnbrResult | null;
  /** Bit rate recommendations that it received for its uplink; absent if there were none. */
  uplink_anbr?: AnbrResult | null;
  /** Uplink; absent if it sent nothing. */
  uplink?: UplinkResult | null;
}

/** Uplink of a UE, after the warm-up: its packets, acknowledgements and RLC's reports. */
export interface UplinkResult {
  /** IP bytes that left its gNB towards the core, as a rate. */
  throughput_mbps: number;
  /** Waiting time of its packets at the UE: behind others, for grants, and in the transport block that carried them. */
  queue_ms: Quantiles | null;
  /** Mean MCS index of its first transmissions. */
  mcs_mean: number;
  /** Share of first transmissions that failed. */
  bler: number;
  /** Share of the cell's uplink resource blocks that it used, retransmissions included; in a network, share of one cell's blocks. */
  prb_share: number;
  /** First transmissions of transport blocks, one for each grant. */
  blocks: number;
  /** HARQ retransmissions. */
  harq_retransmissions: number;
  /** Transport blocks that failed in every transmission that HARQ allows. */
  lost_blocks: number;
  /** Packets that a law marked at the gNB. */
  marked: number;
}

/** One direction of a data radio bearer, after the warm-up. */
export interface BearerResult {
  /** UE that it belongs to. */
  ue: string;
  /** DRB identity: 1 is the default bearer. */
  drb: number;
  /** Direction: `downlink` to the UE, or `uplink` if the UE sent anything on this bearer. */
  direction: string;
  /** QFIs of its QoS flows, in a CSV file as `[1,2]`. */
  qfi: number[];
  /** 5QIs of its QoS flows, in the same order. */
  five_qi: number[];
  /** Marking law; for an uplink, the law of the marker at the gNB. */
  law: string;
  /** Delay thresholds of its law, by the law's keys; absent if it has none, or if the law changed during the run. */
  thresholds?: Threshold[];
  /** IP bytes that reached the UE, or left the gNB towards the core, as a rate. */
  throughput_mbps: number;
  /** Time of its packets in the RLC queue; for an uplink, their waiting time at the UE. */
  queue_ms: Quantiles | null;
  /** Packets that its law marked; absent if a CU marks them. */
  marked?: number | null;
  /** Packets that were lost to the law, a full queue, a timer, the radio or a handover. */
  dropped: number;
  /** Smallest packet delay budget of its QoS flows (TS 23.501 5.7.3.4). */
  delay_budget_ms: number;
  /** Share of its packets that took no longer than that between the gNB and the UE's IP stack; lost packets count as late. Absent if there were none. */
  in_budget: number | null;
}

/** Delay threshold of a law. */
export interface Threshold {
  /** Key in the law's configuration. */
  key: string;
  /** Value of that key. */
  delay_ms: number;
}

/** Bit rate recommendations to one UE, for one direction. */
export interface AnbrResult {
  /** Recommendations that it received. */
  recommendations: number;
  /** Mean of the recommended rates. */
  mean_mbps: number;
  /** Queries that the UE sent; absent if real programs sent them. */
  queries?: number | null;
  /** Queries that were merged into another one that still waited for bitRateQueryProhibitTimer. */
  forbidden?: number | null;
}

/** A UE of a network, after the warm-up. */
export interface UePlace {
  /** Cell that served it at the end. */
  cell: string;
  /** Position at the end, in metres east and north of the centre site. */
  position_m: [number, number];
  /** Number of handovers. */
  handovers: number;
  /** Mean of its SINR over time, without fading. */
  sinr_db: number | null;
}

/** One mark with its reasons, or one drop that a law decided on: a row of `marks.csv`. Times count from the start, the warm-up included. */
export interface MarkResult {
  /** Name of the flow. */
  flow: string;
  /** Number of the packet from 1: in a simulated run, among the packets that the flow's sender sent; in a live cell, among those that came from the core. */
  packet: number;
  /** Time at which the sender sent it; in a live cell, time at which it came from the core. */
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
  /** Decision: `mark`, `short-circuit` for a mark that acknowledgements carry instead, or `drop`. */
  verdict: string;
  /** Marking law. */
  law: string;
  /** Rule of the law that gave the probability. */
  rule: string;
  /** Probability of a mark for a packet that is not dropped. */
  mark_odds: number;
  /** Probability of a drop. */
  drop_odds: number;
  /** Kind of the draw: `certain` for a probability of 0 or 1, `random`, or `regular` if probabilities are added up. */
  draw_kind: string;
  /** Random number, which was below the probability; or sum of the probabilities, which was above 1. */
  draw: number | null;
  /** Age that the law used: of the oldest SDU in the queue, or of the packet itself if it is marked as it leaves; 0 for laws that use neither. */
  age_ms: number;
  /** Backlog that the marker estimated. */
  estimated_kb: number;
  /** Egress rate that the marker estimated. */
  estimated_mbps: number | null;
  /** Standard deviation of that rate. */
  deviation_mbps: number | null;
  /** Sojourn time that follows from backlog and rate. */
  estimated_ms: number | null;
  /** Age of the last delivery status report. */
  report_age_ms: number;
  /** True backlog of the RLC queue. This field and the next two are absent for a CU, which does not see the queue. */
  queued_kb: number | null;
  /** SDUs in the RLC queue. */
  queued_packets: number | null;
  /** Age of the oldest SDU in the RLC queue. */
  queued_ms: number | null;
  /** Cause of the packet's loss: `law`, `full queue`, `radio`, `handover` or `discard timer`; empty for a packet that was not lost. */
  lost: string;
  /** Time of arrival at the receiver; absent for a packet that was lost or still under way, and for those of a CU. */
  arrived_s: number | null;
  /** Part of its one-way delay on the wire between server and gNB. All parts are absent for a packet that did not arrive. */
  propagation_ms: number | null;
  /** Part in the queues of routers and on their links; absent if there are no routers on the way. */
  router_ms: number | null;
  /** Part in the CU and on the way to the DU. */
  cu_ms: number | null;
  /** Part in the RLC queue behind other packets. */
  queuing_ms: number | null;
  /** Part at the head of the RLC queue, waiting for the scheduler, and in the air. */
  scheduling_ms: number | null;
  /** Part in HARQ retransmissions. */
  harq_ms: number | null;
  /** Part in RLC retransmissions. */
  rlc_ms: number | null;
  /** Part at the UE, waiting for earlier packets. */
  reordering_ms: number | null;
  /** Time at which feedback reported the mark to the sender; absent if none did, and if the senders are real programs. */
  answered_s: number | null;
  /** Congestion window before that feedback. */
  window_before_kb: number | null;
  /** Congestion window after it. */
  window_after_kb: number | null;
  /** Pacing rate, or target rate of the encoder, before it. */
  rate_before_mbps: number | null;
  /** Pacing rate, or target rate of the encoder, after it. */
  rate_after_mbps: number | null;
}

/** Time series with one value for each interval; `None` if there was nothing to measure. */
export interface Series {
  /** End of each interval. */
  t_s: number[];
  /** Series of each flow. */
  flows: FlowSeries;
  /** Series of each UE. */
  ues: UeSeries;
  /** Series of each UE's uplink. */
  uplinks: UplinkSeries;
  /** Series of each router. */
  routers: RouterSeries;
  /** Series of each cell of a network. */
  cells: CellSeries;
}

/** Series of flows. The outer index is the flow, the inner one the interval. */
export interface FlowSeries {
  /** IP bytes delivered in the interval, as a rate. */
  throughput_mbps: number[][];
  /** Mean of the interval's round-trip times. */
  rtt_ms: ((number | null)[])[];
  /** Packets of the interval that arrived with CE, or whose mark the short-circuit put into acknowledgements. */
  marks: number[][];
  /** Congestion window at the end of the interval, in kB. */
  cwnd_kb: ((number | null)[])[];
  /** Pacing rate at the end of the interval. This series and the following ones are empty for a flow that never has a value. */
  pacing_mbps: ((number | null)[])[];
  /** Target rate of the encoder at the end of the interval. */
  target_mbps: ((number | null)[])[];
  /** Share of marks that a scalable controller estimates (Prague's alpha), at the end of the interval. */
  alpha: ((number | null)[])[];
  /** Mean delay of the frames that arrived in the interval. */
  frame_delay_ms: ((number | null)[])[];
}

/** Series of UEs. The outer index is the UE, the inner one the interval. */
export interface UeSeries {
  /** Mean RLC queue delay of the packets that arrived in the interval. */
  queue_ms: ((number | null)[])[];
  /** MCS index at the end of the interval. */
  mcs: ((number | null)[])[];
  /** IP bytes delivered in the interval, as a rate. */
  throughput_mbps: number[][];
  /** Packets in the RLC queue at the end of the interval; empty if they were not counted. */
  queued: number[][];
  /** Share of its cell's downlink resource blocks that carried its data in the interval. */
  prb_share: ((number | null)[])[];
  /** Packets of the interval that arrived with Not-ECT in their ECN field. */
  not_ect: number[][];
  /** Packets of the interval that arrived with ECT(1), the identifier of L4S. */
  ect1: number[][];
  /** Packets of the interval that arrived with ECT(0). */
  ect0: number[][];
  /** Packets of the interval that arrived with CE. */
  ce: number[][];
  /** Sum over the UE's logical channels of the last bit rate that ANBR recommended by the end of the interval; empty if no UE received any. */
  recommended_mbps: ((number | null)[])[];
  /** Metres east of the centre site at the end of the interval. This series and the following ones are empty for a cell without a position. */
  east_m: number[][];
  /** Metres north of the centre site at the end of the interval. */
  north_m: number[][];
  /** SINR at the end of the interval, without fading. */
  sinr_db: number[][];
  /** Number of the cell that serves it at the end of the interval, in the order of the cells, from 0. */
  cell: number[][];
}

/** Series of UEs' uplinks. The outer index is the UE, the inner one the interval. */
export interface UplinkSeries {
  /** IP bytes that left its gNB in the interval, as a rate. */
  throughput_mbps: number[][];
  /** Mean waiting time at the UE of the packets that left its gNB in the interval. */
  queue_ms: ((number | null)[])[];
  /** Backlog at the UE at the end of the interval that the gNB knew from buffer status reports. */
  reported_kb: number[][];
  /** Mean MCS index of the interval's first transmissions. */
  mcs: ((number | null)[])[];
  /** Sum of the last bit rates that ANBR recommended for the uplink, as for the downlink. */
  recommended_mbps: ((number | null)[])[];
}

/** Series of a network's cells. The outer index is the cell, the inner one the interval. */
export interface CellSeries {
  /** IP bytes delivered in the interval, as a rate. */
  throughput_mbps: number[][];
  /** Share of its downlink resource blocks that carried data. */
  utilisation: ((number | null)[])[];
  /** Number of UEs at the end of the interval. */
  ues: number[][];
  /** Number of UEs that came from other cells in the interval. */
  handovers: number[][];
}

/** Series of routers. The outer index is the router, the inner one the interval. */
export interface RouterSeries {
  /** IP bytes that its link carried in the interval, as a rate. */
  throughput_mbps: number[][];
  /** Rate of its link at the end of the interval. */
  capacity_mbps: number[][];
  /** Mean time in its queue of the packets that left it in the interval. */
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
  FlowResult: { name: "string", ue: "string?", controller: "string", law: "string", routers: "string[]?", throughput_mbps: "number", goodput_mbps: "number", owd_ms: "Quantiles", rtt_ms: "Quantiles", queue_ms: "Quantiles", router_queue_ms: "Quantiles?", transfers: "Transfers?", media: "MediaResult?", sent_packets: "number", ecn: "Codepoints?", marked: "number", dropped: "number", retransmissions: "number", gave_way: "boolean?", buffer_limited: "number?", split_ms: "Split" },
  Codepoints: { not_ect: "number", ect1: "number", ect0: "number", ce: "number" },
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
  UeSeries: { queue_ms: "((number)[])[]", mcs: "((number)[])[]", throughput_mbps: "number[][]", queued: "number[][]", prb_share: "((number)[])[]", not_ect: "number[][]", ect1: "number[][]", ect0: "number[][]", ce: "number[][]", recommended_mbps: "((number)[])[]", east_m: "number[][]", north_m: "number[][]", sinr_db: "number[][]", cell: "number[][]" },
  UplinkSeries: { throughput_mbps: "number[][]", queue_ms: "((number)[])[]", reported_kb: "number[][]", mcs: "((number)[])[]", recommended_mbps: "((number)[])[]" },
  CellSeries: { throughput_mbps: "number[][]", utilisation: "((number)[])[]", ues: "number[][]", handovers: "number[][]" },
  RouterSeries: { throughput_mbps: "number[][]", capacity_mbps: "number[][]", queue_ms: "((number)[])[]", marks: "number[][]" },
  Quantiles: { mean: "number", p50: "number", p95: "number", p99: "number", p999: "number" },
};
