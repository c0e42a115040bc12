//! Results of a run. A figure that could not be measured is absent, never zero.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidemark_core::Ecn;

use crate::distribution::Distribution;
use crate::fields::results;
use crate::subject::Direction;

/// Actions on a live cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// Change of law, thresholds or channel.
    Set,
    /// No coverage for a while.
    Outage,
    /// A move to another cell.
    Handover,
}

results! {
    /// All that a run measured, with what is needed to repeat it.
    #[derive(Clone, Debug, Serialize)]
    pub struct RunResult {
        /// Version of the program.
        pub tidemark: &'static str = [csv],
        /// Commit of the sources that the program was built from, followed by `-modified` if they were changed; absent for a program
        /// that was not built from a clone.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub commit: Option<String> = [csv],
        /// Name of the scenario.
        pub name: String = [csv],
        /// Description of the scenario; absent if it has none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub description: Option<String>,
        /// Seed.
        pub seed: u64 = [csv],
        /// Virtual time of the run.
        pub duration_s: f64 = decimals(6) [csv],
        /// Time at the start that the statistics leave out.
        pub warmup_s: f64 = decimals(6) [csv],
        /// Virtual time at which the run was interrupted; absent if it ran to its end.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub interrupted_at_s: Option<f64> = decimals(6) [csv],
        /// Warnings for the user: guaranteed rates that were not met, and parts of the scenario that the run did not use.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub warnings: Vec<String>,
        /// The cell as a whole.
        pub cell: CellResult = [csv],
        /// One entry for each cell of a network; absent for a single cell without a position.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub cells: Vec<NetworkCellResult>,
        /// State of the machine that ran the cell in real time; absent for a run in virtual time.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub live: Option<LiveResult>,
        /// One entry for each flow.
        pub flows: Vec<FlowResult>,
        /// One entry for each UE.
        pub ues: Vec<UeResult>,
        /// One entry for each bearer.
        pub bearers: Vec<BearerResult>,
        /// One entry for each router.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub routers: Vec<RouterResult>,
        /// Jain's index of the flows' rates: the mean over those intervals of the series in which at least two flows were active;
        /// absent if there were none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub jain: Option<f64> = decimals(6) [csv],
        /// Events in the order of their times: what was done to a live cell, or handovers that a scenario sets.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub events: Vec<Event>,
        /// Freezes of the flows' pictures, flow by flow; at most a thousand for each flow.
        #[serde(skip)]
        pub freezes: Vec<Freeze>,
        /// Time series.
        #[serde(skip)]
        pub series: Series,
        /// Text of `marks.csv`; `None` if the run recorded no marks.
        #[serde(skip)]
        pub marks: Option<String>,
        /// The whole scenario, as text, with overrides applied.
        pub scenario: String,
    }

    /// The cell as a whole, after the warm-up.
    #[derive(Clone, Debug, Serialize)]
    pub struct CellResult {
        /// Share of the downlink's resource blocks that carried data.
        pub utilisation: Option<f64> = decimals(6) [csv],
        /// Share of the uplink's resource blocks that UEs used; absent if they sent nothing.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub uplink_utilisation: Option<f64> = decimals(6) [csv],
        /// IP bytes delivered to all UEs, as a rate.
        pub throughput_mbps: f64 = decimals(6) [csv],
        /// Share of the UEs with frames that are satisfied, which means that all of their flows are; absent if no flow's frames have a
        /// delay budget.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub satisfied: Option<f64> = decimals(6) [csv],
        /// Statement of this run's conservation check; a run that fails the check has no result.
        pub conservation: String,
    }

    /// One cell of a network, after the warm-up.
    #[derive(Clone, Debug, Serialize)]
    pub struct NetworkCellResult {
        /// Number of the site, from 1, and letter of the sector.
        pub name: String = [csv, "cell"],
        /// Share of its downlink resource blocks that carried data.
        pub utilisation: Option<f64> = decimals(6) [csv, "used %"],
        /// IP bytes delivered to its UEs, as a rate.
        pub throughput_mbps: f64 = decimals(6) [csv, "Mbit/s"],
        /// Number of UEs that it served, as the mean over the intervals of the series.
        pub ues: Option<f64> = decimals(3) [csv, "UEs"],
        /// Number of UEs that came to it from other cells.
        pub handovers: u64 = [csv, "handovers"],
        /// Share of satisfied UEs among those with frames that it served at the end; absent if there were none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub satisfied: Option<f64> = decimals(6) [csv, "satisfied %"],
        /// Site of the cell in a network.
        #[serde(flatten)]
        pub place: Option<CellPlace> = [csv],
    }

    /// Site of a cell.
    #[derive(Clone, Debug, Serialize)]
    pub struct CellPlace {
        /// Position in metres east and north of the centre site.
        pub position_m: [f64; 2] = decimals(1) [csv],
        /// Direction of its antenna, in degrees from east, counterclockwise.
        pub azimuth_deg: f64 = decimals(1) [csv],
    }

    /// Event: an action that somebody took while a live cell ran, or a handover that a scenario sets.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Event {
        /// Time since the start, the warm-up included.
        pub t_s: f64 = decimals(6),
        /// Kind of the action.
        pub event: EventKind,
        /// UE that it concerned; absent if it can concern several.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub ue: Option<String>,
        /// Arguments of the action: assignments, or the duration of an outage.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub detail: Option<String>,
    }

    /// State of the machine that ran the cell in real time.
    #[derive(Clone, Debug, Serialize)]
    pub struct LiveResult {
        /// Lateness of the cell's deadlines, in microseconds.
        pub lateness_us: Option<Lateness>,
        /// Share of a processor that the cell's thread used.
        pub busy: f64,
        /// True if the thread had real-time priority (`SCHED_FIFO`).
        pub real_time_priority: bool,
        /// Packets that came from the core and from UEs.
        pub packets_in: u64,
        /// Packets that were passed to the core and to UEs.
        pub packets_out: u64,
        /// Packets that the kernel refused.
        pub refused: u64,
        /// Packets that were for no UE of the cell; absent for a hop.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub unroutable: Option<u64>,
        /// Frames that a hop could not read; absent for a cell.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub unreadable: Option<u64>,
        /// Packets dropped because the machine was too slow for the cell.
        pub overload: u64,
        /// Messages and packets refused at GTP-U sockets by address or content; absent for a cell without such sockets.
        pub not_admitted: Option<u64>,
        /// Packets that the network devices dropped because the cell's thread did not read them in time.
        pub device_drops: u64,
        /// Share of the downlink's resource blocks that were empty in those intervals of the series in which a law marked or dropped a packet;
        /// absent if there were none, and for a hop.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub empty_under_marks: Option<f64> = decimals(3),
        /// Time after the warm-up in which UEs used more than nine tenths of the uplink's resource blocks; absent for a
        /// hop.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub uplink_busy_s: Option<f64> = decimals(6),
    }

    /// Lateness of deadlines, in microseconds.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
    pub struct Lateness {
        /// Median.
        pub p50: f64,
        /// 99th percentile.
        pub p99: f64,
        /// 99.9th percentile.
        pub p999: f64,
        /// Maximum.
        pub max: f64,
        /// Number of deadlines.
        pub deadlines: u64,
    }

    /// One flow, after the warm-up.
    #[derive(Clone, Debug, Serialize)]
    pub struct FlowResult {
        /// Name in the scenario.
        pub name: String = [csv, "flow"],
        /// UE that receives it; absent for a host on the wire.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub ue: Option<String> = [csv],
        /// Congestion controller of the sender.
        pub controller: String = [csv, "controller"],
        /// Marking law of its bearer or, for a host on the wire, of the routers on the way of its data, in their order.
        pub law: String = [csv, "law"],
        /// Names of the routers on the way of its data, in their order; absent if there are none.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub routers: Vec<String>,
        /// IP bytes delivered to the UE while the flow was active, as a rate.
        pub throughput_mbps: f64 = decimals(6) [csv, "Mbit/s"],
        /// Application bytes delivered in order while the flow was active, as a rate; absent if the endpoints are real programs.
        pub goodput_mbps: Option<f64> = decimals(6) [csv],
        /// One-way delay of downlink packets, from the server's IP layer to the UE's.
        pub owd_ms: Option<Quantiles> = [csv, "one-way ms"],
        /// Round-trip time that the sender measured.
        pub rtt_ms: Option<Quantiles> = [csv, "RTT ms"],
        /// Time of downlink packets in the RLC queue.
        pub queue_ms: Option<Quantiles> = [csv],
        /// Time of its data in the queues of all routers on its way; absent if there are none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub router_queue_ms: Option<Quantiles> = [csv],
        /// Transfers of known size, or web pages, that completed; absent if there were none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub transfers: Option<Transfers> = [csv],
        /// Frames of video; absent for a flow without frames.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub media: Option<MediaResult> = [csv],
        /// Downlink packets that the sender sent.
        pub sent_packets: u64 = [csv],
        /// Those packets by the ECN field with which they came from the core; absent for a hop, and for a run in virtual time.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub ecn: Option<Codepoints> = [csv],
        /// Data packets that arrived with CE, no matter where they were marked, and those whose mark the short-circuit put into
        /// acknowledgements.
        pub marked: u64 = [csv, "marks"],
        /// Downlink packets that the network dropped.
        pub dropped: u64 = [csv, "drops"],
        /// Segments that the sender retransmitted; absent if the endpoints are real programs.
        pub retransmissions: Option<u64> = [csv, "retx"],
        /// True if the flow reduced its rate when it was marked, false if it did not and took capacity from others; absent if there were too few
        /// marks to tell, and for a run in virtual time.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub gave_way: Option<bool>,
        /// Share of the time in which only the size of its send buffer limited the sender: its windows had room, and the path had no queue of half
        /// a round trip; absent if that was never so.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub buffer_limited: Option<f64> = decimals(3),
        /// Parts of the mean one-way delay.
        pub split_ms: Option<Split> = [csv],
        /// Distribution of the one-way delay.
        #[serde(skip)]
        pub owd: Distribution,
        /// Distribution of the round-trip time.
        #[serde(skip)]
        pub rtt: Distribution,
        /// Distribution of the time in the RLC queue.
        #[serde(skip)]
        pub queue: Distribution,
        /// Distribution of the time in the queues of routers.
        #[serde(skip)]
        pub router_queue: Distribution,
        /// Distribution of the completion times.
        #[serde(skip)]
        pub completions: Distribution,
        /// Distribution of the frame delay.
        #[serde(skip)]
        pub frames: Distribution,
        /// Distribution of the frames' time in the sender's queue.
        #[serde(skip)]
        pub sender_queue: Distribution,
    }

    /// Packets by their ECN field.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
    pub struct Codepoints {
        /// Packets with Not-ECT.
        pub not_ect: u64 = [csv],
        /// Packets with ECT(1).
        pub ect1: u64 = [csv],
        /// Packets with ECT(0).
        pub ect0: u64 = [csv],
        /// Packets with CE.
        pub ce: u64 = [csv],
    }

    /// Transfers of known size, each over its own connection, or web pages over one connection.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize)]
    pub struct Transfers {
        /// Transfers that completed.
        pub completed: u64 = [csv, "completed"],
        /// Time from the opening of the connection to the last byte; for a page, time from its request.
        pub completion_ms: Option<Quantiles> = [csv, "completion ms"],
    }

    /// The frames of a media flow.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize)]
    pub struct MediaResult {
        /// Frames that the encoder produced.
        pub frames_sent: u64 = [csv, "frames"],
        /// Frames that the sender discarded before it had sent them.
        pub frames_discarded: u64 = [csv],
        /// Frames that arrived complete. A frame belongs to the time of its capture.
        pub frames_received: u64 = [csv],
        /// Frames that did not arrive complete although a later one began to arrive, including those that the sender discarded.
        pub frames_lost: u64 = [csv, "lost"],
        /// Freezes as `freezeCount` of W3C webrtc-stats counts them: frames that came later than three times the mean interval of the last
        /// thirty, and later than that mean and 150 ms.
        pub freezes: u64 = [csv, "freezes"],
        /// Total duration of the freezes (`totalFreezesDuration`).
        pub frozen_s: f64 = decimals(6) [csv, "frozen s", 3],
        /// Delay of frames, from capture to the arrival of the last packet.
        pub delay_ms: Option<Quantiles> = [csv, "frame ms"],
        /// Part of that delay in the sender's queue.
        pub sender_queue_ms: Option<Quantiles> = [csv],
        /// Budget for the delay of a frame without the time on the wire: `delay_budget` of the application; absent if it has none.
        pub delay_budget_ms: Option<f64> = decimals(3) [csv, "budget ms", 0],
        /// Share of the frames within the budget. Lost frames are not, nor are those that had been under way for longer at the end. Absent if no
        /// frame was due.
        pub in_budget: Option<f64> = decimals(6) [csv, "met %", 2],
        /// True if that share is at least `satisfied_at` of the application.
        pub satisfied: Option<bool> = [csv, "satisfied"],
    }

    /// Freeze of a picture: a row of `freezes.csv`, which includes those of the warm-up.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Freeze {
        /// Name of the flow.
        pub flow: String = [csv],
        /// Time at which the frozen frame was shown.
        pub t_s: f64 = decimals(6) [csv],
        /// Time until the next frame.
        pub frozen_s: f64 = decimals(6) [csv],
    }

    /// Time in which a router's queue was older than a given delay (TDQ): a row of `tdq.csv`.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct RouterTdq {
        /// Name of the router.
        pub router: String = [csv],
        /// Delay from the router's list `tdq`.
        pub older_than_ms: f64 = decimals(6) [csv],
        /// Time in which its queue was older.
        pub tdq_s: f64 = decimals(6) [csv],
    }

    /// A router, after the warm-up.
    #[derive(Clone, Debug, Serialize)]
    pub struct RouterResult {
        /// Name in the scenario.
        pub name: String = [csv, "router"],
        /// Law that marks or drops packets in its queue.
        pub law: String = [csv, "law"],
        /// Mean rate of its link.
        pub capacity_mbps: f64 = decimals(6) [csv, "link Mbit/s"],
        /// IP bytes that its link carried, as a rate.
        pub throughput_mbps: f64 = decimals(6) [csv, "Mbit/s"],
        /// Carried rate as a share of the link's rate.
        pub utilisation: f64 = decimals(6) [csv, "used %"],
        /// Time of packets in its queue.
        pub queue_ms: Option<Quantiles> = [csv, "queue ms"],
        /// For each delay of the scenario's list in milliseconds: time in which the queue was older.
        pub tdq_s: Vec<(f64, f64)> = decimals(6),
        /// Packets that arrived without CE and left with it.
        pub marked: u64 = [csv, "marks"],
        /// Packets dropped.
        pub dropped: u64 = [csv, "drops"],
        /// Distribution of the time in the queue.
        #[serde(skip)]
        pub queue: Distribution,
    }

    /// Parts of the mean one-way delay, whose sum is the mean.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize)]
    pub struct Split {
        /// Time on the wire between server and gNB, which has no rate limit.
        pub propagation: f64 = decimals(3),
        /// Time in the queues of routers and on their links; absent if there are no routers on the way.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub router: Option<f64> = decimals(3),
        /// Time in the CU and on the way to the DU.
        pub cu: f64 = decimals(3),
        /// Time in the RLC queue behind other packets.
        pub queuing: f64 = decimals(3),
        /// Time at the head of the RLC queue, waiting for the scheduler, and in the air.
        pub scheduling: f64 = decimals(3),
        /// Time of HARQ retransmissions.
        pub harq: f64 = decimals(3),
        /// Time of RLC retransmissions, after HARQ had given up.
        pub rlc: f64 = decimals(3),
        /// Time at the UE, waiting for earlier packets.
        pub reordering: f64 = decimals(3),
    }

    /// One UE, after the warm-up.
    #[derive(Clone, Debug, Serialize)]
    pub struct UeResult {
        /// Name in the scenario.
        pub name: String = [csv, "UE"],
        /// Model of its channel.
        pub channel: String = [csv, "channel"],
        /// IP bytes delivered to it, as a rate.
        pub throughput_mbps: f64 = decimals(6) [csv, "Mbit/s"],
        /// Time of its downlink packets in the RLC queue.
        pub queue_ms: Option<Quantiles> = [csv, "RLC queue ms"],
        /// Mean MCS index of its first transmissions; absent on a channel without MCS.
        pub mcs_mean: Option<f64> = decimals(3) [csv, "MCS"],
        /// Share of first transmissions that failed; absent if there were none.
        pub bler: Option<f64> = decimals(6) [csv, "BLER %"],
        /// Downlink packets that its bearers' laws decided to mark, whether they arrived or not; absent if a CU marks them.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub marked: Option<u64> = [csv, "marks"],
        /// Downlink packets dropped: by the law, by a full queue, by the radio.
        pub dropped: u64 = [csv, "drops"],
        /// Share of the cell's downlink resource blocks that it used; in a network, share of one cell's blocks.
        pub prb_share: Option<f64> = decimals(6) [csv, "PRB %"],
        /// Share of frames within their delay budget, for the flow with the lowest share; absent if no flow's frames have a budget.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub frames_in_budget: Option<f64> = decimals(6) [csv],
        /// True if each of its flows with frames is satisfied (TR 38.838); absent if no flow's frames have a delay budget.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub satisfied: Option<bool> = [csv, "satisfied"],
        /// Bit rate recommendations that it received for its downlink; absent if there were none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub anbr: Option<AnbrResult> = [csv],
        /// Bit rate recommendations that it received for its uplink; absent if there were none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub uplink_anbr: Option<AnbrResult> = [csv],
        /// Uplink; absent if it sent nothing.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub uplink: Option<UplinkResult> = ["uplink"],
        /// Position and cell of a UE in a network.
        #[serde(flatten)]
        pub place: Option<UePlace> = [csv],
    }

    /// Uplink of a UE, after the warm-up: its packets, acknowledgements and RLC's reports.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize)]
    pub struct UplinkResult {
        /// IP bytes that left its gNB towards the core, as a rate.
        pub throughput_mbps: f64 = decimals(6) [csv],
        /// Waiting time of its packets at the UE: behind others, for grants, and in the transport block that carried them.
        pub queue_ms: Option<Quantiles> = [csv],
        /// Mean MCS index of its first transmissions.
        pub mcs_mean: f64 = decimals(3) [csv, "MCS"],
        /// Share of first transmissions that failed.
        pub bler: f64 = decimals(6) [csv, "BLER %"],
        /// Share of the cell's uplink resource blocks that it used, retransmissions included; in a network, share of one cell's blocks.
        pub prb_share: f64 = decimals(6) [csv, "PRB %"],
        /// First transmissions of transport blocks, one for each grant.
        pub blocks: u64 = [csv],
        /// HARQ retransmissions.
        pub harq_retransmissions: u64 = [csv],
        /// Transport blocks that failed in every transmission that HARQ allows.
        pub lost_blocks: u64 = [csv],
        /// Packets that a law marked at the gNB.
        pub marked: u64 = [csv],
    }

    /// One direction of a data radio bearer, after the warm-up.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct BearerResult {
        /// UE that it belongs to.
        pub ue: String = [csv, "UE"],
        /// DRB identity: 1 is the default bearer.
        pub drb: u8 = [csv, "DRB"],
        /// Direction: `downlink` to the UE, or `uplink` if the UE sent anything on this bearer.
        pub direction: Direction = [csv, "direction"],
        /// QFIs of its QoS flows, in a CSV file as `[1,2]`.
        pub qfi: Vec<u8> = [csv, "QFI"],
        /// 5QIs of its QoS flows, in the same order.
        pub five_qi: Vec<u8> = [csv, "5QI"],
        /// Marking law; for an uplink, the law of the marker at the gNB.
        pub law: String = [csv, "law"],
        /// Delay thresholds of its law, by the law's keys; absent if it has none, or if the law changed during the run.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub thresholds: Vec<Threshold>,
        /// IP bytes that reached the UE, or left the gNB towards the core, as a rate.
        pub throughput_mbps: f64 = decimals(6) [csv, "Mbit/s"],
        /// Time of its packets in the RLC queue; for an uplink, their waiting time at the UE.
        pub queue_ms: Option<Quantiles> = [csv, "queue ms"],
        /// Packets that its law marked; absent if a CU marks them.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub marked: Option<u64> = [csv, "marks"],
        /// Packets that were lost to the law, a full queue, a timer, the radio or a handover.
        pub dropped: u64 = [csv, "drops"],
        /// Smallest packet delay budget of its QoS flows (TS 23.501 5.7.3.4).
        pub delay_budget_ms: f64 = decimals(3) [csv, "budget ms", 0],
        /// Share of its packets that took no longer than that between the gNB and the UE's IP stack; lost packets count as late. Absent if there
        /// were none.
        pub in_budget: Option<f64> = decimals(6) [csv, "met %", 2],
    }

    /// Delay threshold of a law.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Threshold {
        /// Key in the law's configuration.
        pub key: String,
        /// Value of that key.
        pub delay_ms: f64 = decimals(3),
    }

    /// Bit rate recommendations to one UE, for one direction.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize)]
    pub struct AnbrResult {
        /// Recommendations that it received.
        pub recommendations: u64 = [csv],
        /// Mean of the recommended rates.
        pub mean_mbps: f64 = decimals(6) [csv],
        /// Queries that the UE sent; absent if real programs sent them.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub queries: Option<u64> = [csv],
        /// Queries that were merged into another one that still waited for bitRateQueryProhibitTimer.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub forbidden: Option<u64> = [csv],
    }

    /// A UE of a network, after the warm-up.
    #[derive(Clone, Debug, Serialize)]
    pub struct UePlace {
        /// Cell that served it at the end.
        pub cell: String = [csv],
        /// Position at the end, in metres east and north of the centre site.
        pub position_m: [f64; 2] = decimals(1) [csv],
        /// Number of handovers.
        pub handovers: u64 = [csv],
        /// Mean of its SINR over time, without fading.
        pub sinr_db: Option<f64> = decimals(3) [csv],
    }

    /// One mark with its reasons, or one drop that a law decided on: a row of `marks.csv`. Times count from the start, the warm-up included.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct MarkResult {
        /// Name of the flow.
        pub flow: String = [csv],
        /// Number of the packet from 1: in a simulated run, among the packets that the flow's sender sent; in a live cell, among those that
        /// came from the core.
        pub packet: u64 = [csv],
        /// Time at which the sender sent it; in a live cell, time at which it came from the core.
        pub sent_s: f64 = decimals(9) [csv],
        /// Time of the decision.
        pub t_s: f64 = decimals(9) [csv],
        /// UE of the bearer.
        pub ue: String = [csv],
        /// DRB identity of the bearer: 1 is the default bearer.
        pub drb: u8 = [csv],
        /// Length of the IP packet, in bytes.
        pub bytes: u64 = [csv],
        /// ECN field before the decision.
        pub came: Cow<'static, str> = [csv],
        /// Decision: `mark`, `short-circuit` for a mark that acknowledgements carry instead, or `drop`.
        pub verdict: Cow<'static, str> = [csv],
        /// Marking law.
        pub law: Cow<'static, str> = [csv],
        /// Rule of the law that gave the probability.
        pub rule: Cow<'static, str> = [csv],
        /// Probability of a mark for a packet that is not dropped.
        pub mark_odds: f64 = [csv],
        /// Probability of a drop.
        pub drop_odds: f64 = [csv],
        /// Kind of the draw: `certain` for a probability of 0 or 1, `random`, or `regular` if probabilities are added up.
        pub draw_kind: Cow<'static, str> = [csv],
        /// Random number, which was below the probability; or sum of the probabilities, which was above 1.
        pub draw: Option<f64> = [csv],
        /// Age that the law used: of the oldest SDU in the queue, or of the packet itself if it is marked as it
        /// leaves; 0 for laws that use neither.
        pub age_ms: f64 = decimals(6) [csv],
        /// Backlog that the marker estimated.
        pub estimated_kb: f64 = decimals(3) [csv],
        /// Egress rate that the marker estimated.
        pub estimated_mbps: Option<f64> = decimals(6) [csv],
        /// Standard deviation of that rate.
        pub deviation_mbps: Option<f64> = decimals(6) [csv],
        /// Sojourn time that follows from backlog and rate.
        pub estimated_ms: Option<f64> = decimals(6) [csv],
        /// Age of the last delivery status report.
        pub report_age_ms: f64 = decimals(6) [csv],
        /// True backlog of the RLC queue. This field and the next two are absent for a CU, which does not see the queue.
        pub queued_kb: Option<f64> = decimals(3) [csv],
        /// SDUs in the RLC queue.
        pub queued_packets: Option<u64> = [csv],
        /// Age of the oldest SDU in the RLC queue.
        pub queued_ms: Option<f64> = decimals(6) [csv],
        /// Cause of the packet's loss: `law`, `full queue`, `radio`, `handover` or `discard timer`; empty for a packet that was not lost.
        pub lost: Cow<'static, str> = [csv],
        /// Time of arrival at the receiver; absent for a packet that was lost or still under way, and for those of a CU.
        pub arrived_s: Option<f64> = decimals(9) [csv],
        /// Part of its one-way delay on the wire between server and gNB. All parts are absent for a packet that did not arrive.
        pub propagation_ms: Option<f64> = decimals(6) [csv],
        /// Part in the queues of routers and on their links; absent if there are no routers on the way.
        pub router_ms: Option<f64> = decimals(6) [csv],
        /// Part in the CU and on the way to the DU.
        pub cu_ms: Option<f64> = decimals(6) [csv],
        /// Part in the RLC queue behind other packets.
        pub queuing_ms: Option<f64> = decimals(6) [csv],
        /// Part at the head of the RLC queue, waiting for the scheduler, and in the air.
        pub scheduling_ms: Option<f64> = decimals(6) [csv],
        /// Part in HARQ retransmissions.
        pub harq_ms: Option<f64> = decimals(6) [csv],
        /// Part in RLC retransmissions.
        pub rlc_ms: Option<f64> = decimals(6) [csv],
        /// Part at the UE, waiting for earlier packets.
        pub reordering_ms: Option<f64> = decimals(6) [csv],
        /// Time at which feedback reported the mark to the sender; absent if none did, and if the senders are real programs.
        pub answered_s: Option<f64> = decimals(9) [csv],
        /// Congestion window before that feedback.
        pub window_before_kb: Option<f64> = decimals(3) [csv],
        /// Congestion window after it.
        pub window_after_kb: Option<f64> = decimals(3) [csv],
        /// Pacing rate, or target rate of the encoder, before it.
        pub rate_before_mbps: Option<f64> = decimals(6) [csv],
        /// Pacing rate, or target rate of the encoder, after it.
        pub rate_after_mbps: Option<f64> = decimals(6) [csv],
    }

    /// Time series with one value for each interval; `None` if there was nothing to measure.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct Series {
        /// End of each interval.
        pub t_s: Vec<f64> = decimals(6),
        /// Series of each flow.
        pub flows: FlowSeries,
        /// Series of each UE.
        pub ues: UeSeries,
        /// Series of each UE's uplink.
        pub uplinks: UplinkSeries,
        /// Series of each router.
        pub routers: RouterSeries,
        /// Series of each cell of a network.
        pub cells: CellSeries,
    }

    /// Series of flows. The outer index is the flow, the inner one the interval.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct FlowSeries {
        /// IP bytes delivered in the interval, as a rate.
        pub throughput_mbps: Vec<Vec<f64>> = decimals(6) [csv],
        /// Mean of the interval's round-trip times.
        pub rtt_ms: Vec<Vec<Option<f64>>> = decimals(3) [csv],
        /// Packets of the interval that arrived with CE, or whose mark the short-circuit put into acknowledgements.
        pub marks: Vec<Vec<u64>> = [csv],
        /// Congestion window at the end of the interval, in kB.
        pub cwnd_kb: Vec<Vec<Option<f64>>> = decimals(3) [csv],
        /// Pacing rate at the end of the interval. This series and the following ones are empty for a flow that never has a value.
        pub pacing_mbps: Vec<Vec<Option<f64>>> = decimals(6) [csv, 3],
        /// Target rate of the encoder at the end of the interval.
        pub target_mbps: Vec<Vec<Option<f64>>> = decimals(6) [csv, 3],
        /// Share of marks that a scalable controller estimates (Prague's alpha), at the end of the interval.
        pub alpha: Vec<Vec<Option<f64>>> = decimals(6) [csv],
        /// Mean delay of the frames that arrived in the interval.
        pub frame_delay_ms: Vec<Vec<Option<f64>>> = decimals(3) [csv],
    }

    /// Series of UEs. The outer index is the UE, the inner one the interval.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct UeSeries {
        /// Mean RLC queue delay of the packets that arrived in the interval.
        pub queue_ms: Vec<Vec<Option<f64>>> = decimals(3) [csv],
        /// MCS index at the end of the interval.
        pub mcs: Vec<Vec<Option<f64>>> = decimals(3) [csv],
        /// IP bytes delivered in the interval, as a rate.
        pub throughput_mbps: Vec<Vec<f64>> = decimals(6) [csv],
        /// Packets in the RLC queue at the end of the interval; empty if they were not counted.
        pub queued: Vec<Vec<u32>> = [csv],
        /// Share of its cell's downlink resource blocks that carried its data in the interval.
        pub prb_share: Vec<Vec<Option<f64>>> = decimals(6) [csv],
        /// Packets of the interval that arrived with Not-ECT in their ECN field.
        pub not_ect: Vec<Vec<u32>> = [csv],
        /// Packets of the interval that arrived with ECT(1), the identifier of L4S.
        pub ect1: Vec<Vec<u32>> = [csv],
        /// Packets of the interval that arrived with ECT(0).
        pub ect0: Vec<Vec<u32>> = [csv],
        /// Packets of the interval that arrived with CE.
        pub ce: Vec<Vec<u32>> = [csv],
        /// Sum over the UE's logical channels of the last bit rate that ANBR recommended by the end of the interval; empty if no UE
        /// received any.
        pub recommended_mbps: Vec<Vec<Option<f64>>> = decimals(6) [csv, 3],
        /// Metres east of the centre site at the end of the interval. This series and the following ones are empty for a cell without a
        /// position.
        pub east_m: Vec<Vec<f64>> = decimals(1) [csv],
        /// Metres north of the centre site at the end of the interval.
        pub north_m: Vec<Vec<f64>> = decimals(1) [csv],
        /// SINR at the end of the interval, without fading.
        pub sinr_db: Vec<Vec<f64>> = decimals(1) [csv],
        /// Number of the cell that serves it at the end of the interval, in the order of the cells, from 0.
        pub cell: Vec<Vec<u32>> = [csv],
    }

    /// Series of UEs' uplinks. The outer index is the UE, the inner one the interval.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct UplinkSeries {
        /// IP bytes that left its gNB in the interval, as a rate.
        pub throughput_mbps: Vec<Vec<f64>> = decimals(6) [csv],
        /// Mean waiting time at the UE of the packets that left its gNB in the interval.
        pub queue_ms: Vec<Vec<Option<f64>>> = decimals(3) [csv],
        /// Backlog at the UE at the end of the interval that the gNB knew from buffer status reports.
        pub reported_kb: Vec<Vec<f64>> = decimals(3) [csv],
        /// Mean MCS index of the interval's first transmissions.
        pub mcs: Vec<Vec<Option<f64>>> = decimals(3) [csv],
        /// Sum of the last bit rates that ANBR recommended for the uplink, as for the downlink.
        pub recommended_mbps: Vec<Vec<Option<f64>>> = decimals(6) [csv, 3],
    }

    /// Series of a network's cells. The outer index is the cell, the inner one the interval.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct CellSeries {
        /// IP bytes delivered in the interval, as a rate.
        pub throughput_mbps: Vec<Vec<f64>> = decimals(6) [csv],
        /// Share of its downlink resource blocks that carried data.
        pub utilisation: Vec<Vec<Option<f64>>> = decimals(6) [csv],
        /// Number of UEs at the end of the interval.
        pub ues: Vec<Vec<u32>> = [csv],
        /// Number of UEs that came from other cells in the interval.
        pub handovers: Vec<Vec<u64>> = [csv],
    }

    /// Series of routers. The outer index is the router, the inner one the interval.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct RouterSeries {
        /// IP bytes that its link carried in the interval, as a rate.
        pub throughput_mbps: Vec<Vec<f64>> = decimals(6) [csv],
        /// Rate of its link at the end of the interval.
        pub capacity_mbps: Vec<Vec<f64>> = decimals(6) [csv, 3],
        /// Mean time in its queue of the packets that left it in the interval.
        pub queue_ms: Vec<Vec<Option<f64>>> = decimals(3) [csv],
        /// Packets that it marked in the interval.
        pub marks: Vec<Vec<u64>> = [csv],
    }

    /// Mean and quantiles of a delay, in milliseconds.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize)]
    pub struct Quantiles {
        /// Arithmetic mean.
        pub mean: f64 = decimals(3) ["mean"],
        /// Median.
        pub p50: f64 = decimals(3) ["p50"],
        /// 95th percentile.
        pub p95: f64 = decimals(3) ["p95"],
        /// 99th percentile.
        pub p99: f64 = decimals(3) ["p99"],
        /// 99.9th percentile.
        pub p999: f64 = decimals(3) ["p99.9"],
    }
}

impl Codepoints {
    /// Counts a packet.
    pub fn count(&mut self, ecn: Ecn) {
        *match ecn {
            Ecn::NotEct => &mut self.not_ect,
            Ecn::Ect1 => &mut self.ect1,
            Ecn::Ect0 => &mut self.ect0,
            Ecn::Ce => &mut self.ce,
        } += 1;
    }
    /// True if a packet arrived as `sent`, or was marked on its way.
    pub fn keep(&self, sent: Ecn) -> bool {
        let unmarked = match sent {
            Ecn::NotEct | Ecn::Ce => 0,
            Ecn::Ect1 => self.ect1,
            Ecn::Ect0 => self.ect0,
        };
        unmarked + self.ce > 0
    }
}
