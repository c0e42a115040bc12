"""Fields of summary.json, written from crates/record/src/result.rs by `make reference`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles:
    """Mean and quantiles of a delay, in milliseconds."""

    mean: float
    """Arithmetic mean."""
    p50: float
    """Median."""
    p95: float
    """95th percentile."""
    p99: float
    """99th percentile."""
    p999: float
    """99.9th percentile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnbrResult:
    """Bit rate recommendations to one UE, for one direction."""

    recommendations: int
    """Recommendations that it received."""
    mean_mbps: float
    """Mean of the recommended rates. Unit: Mbit/s."""
    queries: int | None = None
    """Queries that the UE sent; absent if real programs sent them."""
    forbidden: int | None = None
    """Queries that were merged into another one that still waited for bitRateQueryProhibitTimer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """Delay threshold of a law."""

    key: str
    """Key in the law's configuration."""
    delay_ms: float
    """Value of that key. Unit: ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BearerResult:
    """One direction of a data radio bearer, after the warm-up."""

    ue: str
    """UE that it belongs to."""
    drb: int
    """DRB identity: 1 is the default bearer."""
    direction: str
    """Direction: `downlink` to the UE, or `uplink` if the UE sent anything on this bearer."""
    qfi: list[int]
    """QFIs of its QoS flows, in a CSV file as `[1,2]`."""
    five_qi: list[int]
    """5QIs of its QoS flows, in the same order."""
    law: str
    """Marking law; for an uplink, the law of the marker at the gNB."""
    thresholds: list[Threshold] | None = None
    """Delay thresholds of its law, by the law's keys; absent if it has none, or if the law changed during the run."""
    throughput_mbps: float
    """IP bytes that reached the UE, or left the gNB towards the core, as a rate. Unit: Mbit/s."""
    queue_ms: Quantiles | None
    """Time of its packets in the RLC queue; for an uplink, their waiting time at the UE. Unit: ms."""
    marked: int | None = None
    """Packets that its law marked; absent if a CU marks them."""
    dropped: int
    """Packets that were lost to the law, a full queue, a timer, the radio or a handover."""
    delay_budget_ms: float
    """Smallest packet delay budget of its QoS flows (TS 23.501 5.7.3.4). Unit: ms."""
    in_budget: float | None
    """Share of its packets that took no longer than that between the gNB and the UE's IP stack; lost packets count as late. Absent if there were none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UplinkResult:
    """Uplink of a UE, after the warm-up: its packets, acknowledgements and RLC's reports."""

    throughput_mbps: float
    """IP bytes that left its gNB towards the core, as a rate. Unit: Mbit/s."""
    queue_ms: Quantiles | None
    """Waiting time of its packets at the UE: behind others, for grants, and in the transport block that carried them. Unit: ms."""
    mcs_mean: float
    """Mean MCS index of its first transmissions."""
    bler: float
    """Share of first transmissions that failed."""
    prb_share: float
    """Share of the cell's uplink resource blocks that it used, retransmissions included; in a network, share of one cell's blocks."""
    blocks: int
    """First transmissions of transport blocks, one for each grant."""
    harq_retransmissions: int
    """HARQ retransmissions."""
    lost_blocks: int
    """Transport blocks that failed in every transmission that HARQ allows."""
    marked: int
    """Packets that a law marked at the gNB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UeResult:
    """One UE, after the warm-up."""

    name: str
    """Name in the scenario."""
    channel: str
    """Model of its channel."""
    throughput_mbps: float
    """IP bytes delivered to it, as a rate. Unit: Mbit/s."""
    queue_ms: Quantiles | None
    """Time of its downlink packets in the RLC queue. Unit: ms."""
    mcs_mean: float | None
    """Mean MCS index of its first transmissions; absent on a channel without MCS."""
    bler: float | None
    """Share of first transmissions that failed; absent if there were none."""
    marked: int | None = None
    """Downlink packets that its bearers' laws decided to mark, whether they arrived or not; absent if a CU marks them."""
    dropped: int
    """Downlink packets dropped: by the law, by a full queue, by the radio."""
    prb_share: float | None
    """Share of the cell's downlink resource blocks that it used; in a network, share of one cell's blocks."""
    frames_in_budget: float | None = None
    """Share of frames within their delay budget, for the flow with the lowest share; absent if no flow's frames have a budget."""
    satisfied: bool | None = None
    """True if each of its flows with frames is satisfied (TR 38.838); absent if no flow's frames have a delay budget."""
    anbr: AnbrResult | None = None
    """Bit rate recommendations that it received for its downlink; absent if there were none."""
    uplink_anbr: AnbrResult | None = None
    """Bit rate recommendations that it received for its uplink; absent if there were none."""
    uplink: UplinkResult | None = None
    """Uplink; absent if it sent nothing."""
    cell: str | None = None
    """Cell that served it at the end."""
    position_m: tuple[float, float] | None = None
    """Position at the end, in metres east and north of the centre site. Unit: m."""
    handovers: int | None = None
    """Number of handovers."""
    sinr_db: float | None = None
    """Mean of its SINR over time, without fading. Unit: dB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Parts of the mean one-way delay, whose sum is the mean."""

    propagation: float
    """Time on the wire between server and gNB, which has no rate limit."""
    router: float | None = None
    """Time in the queues of routers and on their links; absent if there are no routers on the way."""
    cu: float
    """Time in the CU and on the way to the DU."""
    queuing: float
    """Time in the RLC queue behind other packets."""
    scheduling: float
    """Time at the head of the RLC queue, waiting for the scheduler, and in the air."""
    harq: float
    """Time of HARQ retransmissions."""
    rlc: float
    """Time of RLC retransmissions, after HARQ had given up."""
    reordering: float
    """Time at the UE, waiting for earlier packets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterResult:
    """A router, after the warm-up."""

    name: str
    """Name in the scenario."""
    law: str
    """Law that marks or drops packets in its queue."""
    capacity_mbps: float
    """Mean rate of its link. Unit: Mbit/s."""
    throughput_mbps: float
    """IP bytes that its link carried, as a rate. Unit: Mbit/s."""
    utilisation: float
    """Carried rate as a share of the link's rate."""
    queue_ms: Quantiles | None
    """Time of packets in its queue. Unit: ms."""
    tdq_s: list[tuple[float, float]]
    """For each delay of the scenario's list in milliseconds: time in which the queue was older. Unit: s."""
    marked: int
    """Packets that arrived without CE and left with it."""
    dropped: int
    """Packets dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaResult:
    """The frames of a media flow."""

    frames_sent: int
    """Frames that the encoder produced."""
    frames_discarded: int
    """Frames that the sender discarded before it had sent them."""
    frames_received: int
    """Frames that arrived complete. A frame belongs to the time of its capture."""
    frames_lost: int
    """Frames that did not arrive complete although a later one began to arrive, including those that the sender discarded."""
    freezes: int
    """Freezes as `freezeCount` of W3C webrtc-stats counts them: frames that came later than three times the mean interval of the last thirty, and later than that mean and 150 ms."""
    frozen_s: float
    """Total duration of the freezes (`totalFreezesDuration`). Unit: s."""
    delay_ms: Quantiles | None
    """Delay of frames, from capture to the arrival of the last packet. Unit: ms."""
    sender_queue_ms: Quantiles | None
    """Part of that delay in the sender's queue. Unit: ms."""
    delay_budget_ms: float | None
    """Budget for the delay of a frame without the time on the wire: `delay_budget` of the application; absent if it has none. Unit: ms."""
    in_budget: float | None
    """Share of the frames within the budget. Lost frames are not, nor are those that had been under way for longer at the end. Absent if no frame was due."""
    satisfied: bool | None
    """True if that share is at least `satisfied_at` of the application."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfers:
    """Transfers of known size, each over its own connection, or web pages over one connection."""

    completed: int
    """Transfers that completed."""
    completion_ms: Quantiles | None
    """Time from the opening of the connection to the last byte; for a page, time from its request. Unit: ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Codepoints:
    """Packets by their ECN field."""

    not_ect: int
    """Packets with Not-ECT."""
    ect1: int
    """Packets with ECT(1)."""
    ect0: int
    """Packets with ECT(0)."""
    ce: int
    """Packets with CE."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowResult:
    """One flow, after the warm-up."""

    name: str
    """Name in the scenario."""
    ue: str | None = None
    """UE that receives it; absent for a host on the wire."""
    controller: str
    """Congestion controller of the sender."""
    law: str
    """Marking law of its bearer or, for a host on the wire, of the routers on the way of its data, in their order."""
    routers: list[str] | None = None
    """Names of the routers on the way of its data, in their order; absent if there are none."""
    throughput_mbps: float
    """IP bytes delivered to the UE while the flow was active, as a rate. Unit: Mbit/s."""
    goodput_mbps: float | None
    """Application bytes delivered in order while the flow was active, as a rate; absent if the endpoints are real programs. Unit: Mbit/s."""
    owd_ms: Quantiles | None
    """One-way delay of downlink packets, from the server's IP layer to the UE's. Unit: ms."""
    rtt_ms: Quantiles | None
    """Round-trip time that the sender measured. Unit: ms."""
    queue_ms: Quantiles | None
    """Time of downlink packets in the RLC queue. Unit: ms."""
    router_queue_ms: Quantiles | None = None
    """Time of its data in the queues of all routers on its way; absent if there are none. Unit: ms."""
    transfers: Transfers | None = None
    """Transfers of known size, or web pages, that completed; absent if there were none."""
    media: MediaResult | None = None
    """Frames of video; absent for a flow without frames."""
    sent_packets: int
    """Downlink packets that the sender sent."""
    ecn: Codepoints | None = None
    """Those packets by the ECN field with which they came from the core; absent for a hop, and for a run in virtual time."""
    marked: int
    """Data packets that arrived with CE, no matter where they were marked, and those whose mark the short-circuit put into acknowledgements."""
    dropped: int
    """Downlink packets that the network dropped."""
    retransmissions: int | None
    """Segments that the sender retransmitted; absent if the endpoints are real programs."""
    gave_way: bool | None = None
    """True if the flow reduced its rate when it was marked, false if it did not and took capacity from others; absent if there were too few marks to tell, and for a run in virtual time."""
    buffer_limited: float | None = None
    """Share of the time in which only the size of its send buffer limited the sender: its windows had room, and the path had no queue of half a round trip; absent if that was never so."""
    split_ms: Split | None
    """Parts of the mean one-way delay. Unit: ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lateness:
    """Lateness of deadlines, in microseconds."""

    p50: float
    """Median."""
    p99: float
    """99th percentile."""
    p999: float
    """99.9th percentile."""
    max: float
    """Maximum."""
    deadlines: int
    """Number of deadlines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveResult:
    """State of the machine that ran the cell in real time."""

    lateness_us: Lateness | None
    """Lateness of the cell's deadlines, in microseconds. Unit: µs."""
    busy: float
    """Share of a processor that the cell's thread used."""
    real_time_priority: bool
    """True if the thread had real-time priority (`SCHED_FIFO`)."""
    packets_in: int
    """Packets that came from the core and from UEs."""
    packets_out: int
    """Packets that were passed to the core and to UEs."""
    refused: int
    """Packets that the kernel refused."""
    unroutable: int | None = None
    """Packets that were for no UE of the cell; absent for a hop."""
    unreadable: int | None = None
    """Frames that a hop could not read; absent for a cell."""
    overload: int
    """Packets dropped because the machine was too slow for the cell."""
    not_admitted: int | None
    """Messages and packets refused at GTP-U sockets by address or content; absent for a cell without such sockets."""
    device_drops: int
    """Packets that the network devices dropped because the cell's thread did not read them in time."""
    empty_under_marks: float | None = None
    """Share of the downlink's resource blocks that were empty in those intervals of the series in which a law marked or dropped a packet; absent if there were none, and for a hop."""
    uplink_busy_s: float | None = None
    """Time after the warm-up in which UEs used more than nine tenths of the uplink's resource blocks; absent for a hop. Unit: s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Event: an action that somebody took while a live cell ran, or a handover that a scenario sets."""

    t_s: float
    """Time since the start, the warm-up included. Unit: s."""
    event: str
    """Kind of the action."""
    ue: str | None = None
    """UE that it concerned; absent if it can concern several."""
    detail: str | None = None
    """Arguments of the action: assignments, or the duration of an outage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkCellResult:
    """One cell of a network, after the warm-up."""

    name: str
    """Number of the site, from 1, and letter of the sector."""
    utilisation: float | None
    """Share of its downlink resource blocks that carried data."""
    throughput_mbps: float
    """IP bytes delivered to its UEs, as a rate. Unit: Mbit/s."""
    ues: float | None
    """Number of UEs that it served, as the mean over the intervals of the series."""
    handovers: int
    """Number of UEs that came to it from other cells."""
    satisfied: float | None = None
    """Share of satisfied UEs among those with frames that it served at the end; absent if there were none."""
    position_m: tuple[float, float] | None = None
    """Position in metres east and north of the centre site. Unit: m."""
    azimuth_deg: float | None = None
    """Direction of its antenna, in degrees from east, counterclockwise. Unit: degrees."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellResult:
    """The cell as a whole, after the warm-up."""

    utilisation: float | None
    """Share of the downlink's resource blocks that carried data."""
    uplink_utilisation: float | None = None
    """Share of the uplink's resource blocks that UEs used; absent if they sent nothing."""
    throughput_mbps: float
    """IP bytes delivered to all UEs, as a rate. Unit: Mbit/s."""
    satisfied: float | None = None
    """Share of the UEs with frames that are satisfied, which means that all of their flows are; absent if no flow's frames have a delay budget."""
    conservation: str
    """Statement of this run's conservation check; a run that fails the check has no result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """All that a run measured, with what is needed to repeat it."""

    tidemark: str
    """Version of the program."""
    commit: str | None = None
    """Commit of the sources that the program was built from, followed by `-modified` if they were changed; absent for a program that was not built from a clone."""
    name: str
    """Name of the scenario."""
    description: str | None = None
    """Description of the scenario; absent if it has none."""
    seed: int
    """Seed."""
    duration_s: float
    """Virtual time of the run. Unit: s."""
    warmup_s: float
    """Time at the start that the statistics leave out. Unit: s."""
    interrupted_at_s: float | None = None
    """Virtual time at which the run was interrupted; absent if it ran to its end. Unit: s."""
    warnings: list[str] | None = None
    """Warnings for the user: guaranteed rates that were not met, and parts of the scenario that the run did not use."""
    cell: CellResult
    """The cell as a whole."""
    cells: list[NetworkCellResult] | None = None
    """One entry for each cell of a network; absent for a single cell without a position."""
    live: LiveResult | None = None
    """State of the machine that ran the cell in real time; absent for a run in virtual time."""
    flows: list[FlowResult]
    """One entry for each flow."""
    ues: list[UeResult]
    """One entry for each UE."""
    bearers: list[BearerResult]
    """One entry for each bearer."""
    routers: list[RouterResult] | None = None
    """One entry for each router."""
    jain: float | None = None
    """Jain's index of the flows' rates: the mean over those intervals of the series in which at least two flows were active; absent if there were none."""
    events: list[Event] | None = None
    """Events in the order of their times: what was done to a live cell, or handovers that a scenario sets."""
    scenario: str
    """The whole scenario, as text, with overrides applied."""
