/** Rows of live programs, written by `make reference` from what they declare. */

import type { Lateness } from "../fields.ts";

/** A live cell at one time. */
export interface Snapshot {
  /** Name of the scenario. */
  name: string;
  /** Seconds since the start. */
  t_s: number;
  /** UEs in the scenario's order. */
  ues: UeSnapshot[];
  /** Flows of programs, the most active ones first. */
  flows: FlowSnapshot[];
  /** Lateness of the cell's deadlines, in microseconds. */
  lateness_us: Lateness | null;
  /** Share of a processor that the cell's thread used. */
  busy: number;
  /** Packets read from the devices. */
  packets_in: number;
  /** Packets written to the devices. */
  packets_out: number;
  /** Packets that the kernel refused. */
  refused: number;
  /** Packets dropped because the machine was too slow. */
  overload: number;
  /** Messages and packets refused at the cell's GTP-U socket, by reason; empty without one. */
  not_admitted?: Record<string, number>;
  /** Share of the uplink's resource blocks that UEs used in the last interval; absent where it had no uplink slot. */
  uplink_use: number | null;
  /** Warning if the machine is too slow or the uplink too narrow. */
  warning: string | null;
  /** The last marks and drops of the cell's laws, in order of time; none at a DU, whose CU decides. */
  marks: MarkSnapshot[];
}

/** A UE at one time; rates and delays are of the last interval. */
export interface UeSnapshot {
  /** Name in the scenario. */
  name: string;
  /** Model of its channel. */
  channel: string;
  /** Law of its default bearer. */
  law: string;
  /** Rate to the UE. */
  down_mbps: number;
  /** Rate from the UE. */
  up_mbps: number;
  /** Mean time of delivered packets in the RLC queue; absent where none was delivered. */
  queue_ms: number | null;
  /** 95th percentile of the time in the RLC queue. */
  queue_p95_ms: number | null;
  /** 95th percentile of the wait of packets at the UE. */
  uplink_queue_p95_ms: number | null;
  /** Bytes in the RLC queue. */
  backlog_bytes: number;
  /** MCS index used last. */
  mcs: number | null;
  /** IP bytes delivered to the UE since the start. */
  delivered_bytes: number;
  /** Downlink packets that the law marked; absent at a DU, whose CU knows it. */
  marked: number | null;
  /** Packets that it received with CE, whoever marked them. */
  ce_packets: number;
  /** Downlink packets dropped. */
  dropped: number;
  /** HARQ retransmissions. */
  harq_retransmissions: number;
  /** Flows that SDAP forgot to make room for others. */
  forgotten_flows: number;
  /** Rate recommended last (ANBR), over all logical channels of a direction; absent without `anbr`. */
  recommended_down_mbps: number | null;
  /** Rate recommended last for the uplink, likewise. */
  recommended_up_mbps: number | null;
}

/** A flow of a program at one time; rates are of the last interval, counters from the flow's start. */
export interface FlowSnapshot {
  /** Name of the flow. */
  name: string;
  /** UE of the flow. */
  ue: string;
  /** Rate of the flow. */
  down_mbps: number;
  /** Rate from the UE; absent where none of its packets were seen. */
  up_mbps: number | null;
  /** Packets from the core, by the ECN field that they arrived with. */
  ect1: number;
  /** Packets that arrived with ECT(0). */
  ect0: number;
  /** Packets that arrived with Not-ECT. */
  not_ect: number;
  /** Packets that arrived with CE. */
  ce: number;
  /** Packets that the law marked; absent at a DU, whose CU knows it. */
  marked: number | null;
  /** Packets dropped on the way to the UE. */
  dropped: number;
  /** Median of the recent round trips that the cell sees in the flow's packets; absent where it sees none. */
  round_trip_ms: number | null;
}

/** A mark, or a drop by a law, with its reasons. */
export interface MarkSnapshot {
  /** Seconds since the start. */
  t_s: number;
  /** Name of the flow. */
  flow: string;
  /** Number of the packet among those from the core. */
  packet: number;
  /** `mark`, `short-circuit` (a mark that acknowledgements carry) or `drop`. */
  verdict: string;
  /** Law that decided. */
  law: string;
  /** Rule of the law. */
  rule: string;
  /** Time in the RLC queue as the marker estimated it; absent while it has no rate. */
  estimated_ms: number | null;
  /** True age of the oldest packet in the RLC queue. */
  queued_ms: number | null;
}

/** A CU at one time. */
export interface CuStatus {
  /** Name of the scenario. */
  name: string;
  /** Seconds since the start. */
  t_s: number;
  /** PDCP PDUs sent to the DU. */
  downlink: number;
  /** Packets from the DU. */
  uplink: number;
  /** Downlink packets marked. */
  marked: number;
  /** Packets dropped by the laws. */
  dropped: number;
  /** Packets that waited because the DU wanted no more. */
  held: number;
  /** Packets dropped because too many waited. */
  overflow: number;
  /** Delivery statuses. */
  reports: number;
  /** NR-U sequence numbers that the DU reported as lost. */
  lost: number;
  /** Packets for no UE. */
  unroutable: number;
  /** Messages and packets refused at F1-U, by reason. */
  not_admitted: Record<string, number>;
  /** Warning if reports are useless. */
  warning: string | null;
  /** Counters of the markers, by name, in sum over the bearers. */
  marker: Record<string, number>;
  /** Bearers, in the order of their tunnels. */
  bearers: BearerStatus[];
}

/** A bearer, and its marker's estimate of the DU's queue. */
export interface BearerStatus {
  /** Name of the UE. */
  ue: string;
  /** Number among the UE's DRBs. */
  drb: number;
  /** Law of the bearer. */
  law: string;
  /** Downlink packets of the bearer. */
  packets: number;
  /** Downlink packets marked. */
  marked: number;
  /** Packets dropped by the law. */
  dropped: number;
  /** PDCP PDUs sent to the DU. */
  sent_bytes: number;
  /** PDCP PDUs that wait here until the DU wants them. */
  held_bytes: number;
  /** Delivery statuses. */
  reports: number;
  /** NR-U SNs reported as lost. */
  lost: number;
  /** Bytes sent, but not yet reported as transmitted or lost. */
  standing_bytes: number;
  /** Estimate of the bytes that are queued now, between reports. */
  backlog_bytes: number;
  /** Estimated wait of a packet that arrives now; absent while nothing was measured. */
  queue_ms: number | null;
  /** Estimated rate at which the queue empties; absent while nothing was measured. */
  egress_mbps: number | null;
  /** Time since the last delivery status, or since a queue formed after it. */
  report_age_ms: number;
}

/** A hop at one time. */
export interface HopStatus {
  /** Name of the scenario. */
  name: string;
  /** Seconds since the start. */
  t_s: number;
  /** Directions, each with its link. */
  ways: WayStatus[];
  /** Packets that the kernel refused. */
  refused: number;
  /** Frames that could not be read. */
  unreadable: number;
  /** Packets dropped because the machine was too slow. */
  overload: number;
  /** Frames that nobody read in time. */
  lost_by_ports: number;
}

/** One direction. */
export interface WayStatus {
  /** Name of the direction. */
  name: string;
  /** Rate of the link now. */
  rate_mbps: number;
  /** IP bytes that the link carried. */
  carried_bytes: number;
  /** 95th percentile of the time in the queue over the last interval; absent where no packet left it. */
  queue_p95_ms: number | null;
  /** Packets that arrived. */
  packets_in: number;
  /** Packets that left. */
  packets_out: number;
  /** Packets marked by the queue. */
  marked: number;
  /** Packets dropped by the queue. */
  dropped: number;
}
