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
    """Bit rate recommendations to one UE, of one direction."""

    recommendations: int
    """Recommendations that came."""
    mean_mbps: float
    """Mean of the recommended rates. Unit: Mbit/s."""
    queries: int | None = None
    """Queries that the UE sent; absent where real programs asked."""
    forbidden: int | None = None
    """Queries that found another one waiting for bitRateQueryProhibitTimer, which was sent for both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """Delay that a law holds a queue to."""

    key: str
    """Key of the law."""
    delay_ms: float
    """Delay that the key has. Unit: ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BearerResult:
    """One direction of a data radio bearer, after the warm-up."""

    ue: str
    """The UE that it belongs to."""
    drb: int
    """DRB identity: 1 is the default bearer."""
    direction: str
    """Direction: `downlink` to the UE, or `uplink`, if the UE sent anything by this bearer."""
    qfi: list[int]
    """QFIs of its QoS flows, in a CSV file as `[1,2]`."""
    five_qi: list[int]
    """5QIs of its QoS flows, in the same order."""
    law: str
    """Marking law; of an uplink that of the marker at the gNB."""
    thresholds: list[Threshold] | None = None
    """Delays that its law holds its queue to, by the law's keys; absent where it has none, and where the law changed during the run."""
    throughput_mbps: float
    """IP bytes that reached the UE, or left the gNB towards the core, as a rate. Unit: Mbit/s."""
    queue_ms: Quantiles | None
    """Time of its packets in the RLC queue; of an uplink their wait at the UE. Unit: ms."""
    marked: int | None = None
    """Packets that its law marked; absent where it is a CU's."""
    dropped: int
    """Packets that were lost: to the law, a full queue, a timer, the radio or a handover."""
    delay_budget_ms: float
    """The least packet delay budget of its QoS flows (TS 23.501 5.7.3.4). Unit: ms."""
    in_budget: float | None
    """Share of its packets that took no longer than that between the gNB and the UE's IP stack; lost ones did. Absent where there were none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UplinkResult:
    """Uplink of a UE, after the warm-up: its packets, acknowledgements and RLC's reports."""

    throughput_mbps: float
    """IP bytes that left its gNB towards the core, as a rate. Unit: Mbit/s."""
    queue_ms: Quantiles | None
    """Wait of its packets at the UE: behind others, for its grants, and in the block that carried them. Unit: ms."""
    mcs_mean: float
    """Mean MCS index over its first transmissions."""
    bler: float
    """Share of first transmissions that failed."""
    prb_share: float
    """Share of the cell's uplink resource blocks that it used, retransmissions included; in a network, of one cell's."""
    blocks: int
    """First transmissions of transport blocks, each by a grant."""
    harq_retransmissions: int
    """HARQ retransmissions."""
    lost_blocks: int
    """Transport blocks that failed as often as they may."""
    marked: int
    """Packets that a law marked at the gNB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UeResult:
    """One UE, after the warm-up."""

    name: str
    """Name in the scenario."""
    channel: str
    """The model of its channel."""
    throughput_mbps: float
    """IP bytes delivered to it, as a rate. Unit: Mbit/s."""
    queue_ms: Quantiles | None
    """Time of its downlink packets in the RLC queue. Unit: ms."""
    mcs_mean: float | None
    """Mean MCS index over its first transmissions; absent on a channel without MCS."""
    bler: float | None
    """Share of first transmissions that failed; absent where there were none."""
    marked: int | None = None
    """Downlink packets that its bearers' laws decided to mark, whether they arrived or not; absent where they are a CU's."""
    dropped: int
    """Downlink packets dropped: by the law, by a full queue, by the radio."""
    prb_share: float | None
    """Share of the cell's downlink resource blocks that it used; in a network, of one cell's."""
    frames_in_budget: float | None = None
    """Share of frames that met their budget, of the flow where it is least; absent where no flow's frames have one."""
    satisfied: bool | None = None
    """True where each of its flows with frames is satisfied (TR 38.838); absent where no flow's frames have a budget."""
    anbr: AnbrResult | None = None
    """Bit rate recommendations that it got for its downlink; absent where there were none."""
    uplink_anbr: AnbrResult | None = None
    """Bit rate recommendations that it got for its uplink; absent where there were none."""
    uplink: UplinkResult | None = None
    """Uplink; absent where it sent nothing."""
    cell: str | None = None
    """The cell that served it at the end."""
    position_m: tuple[float, float] | None = None
    """Position at the end: metres east and north of the centre site. Unit: m."""
    handovers: int | None = None
    """Times that it changed cells."""
    sinr_db: float | None = None
    """Mean over time of its SINR in dB, fading left out. Unit: dB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """The mean one-way delay, taken apart; the parts add up to the mean."""

    propagation: float
    """Time on the wire between server and gNB, which has no rate."""
    router: float | None = None
    """Time in the queues of routers and on their links, packet by packet at their rate; absent where there is none on the way."""
    cu: float
    """Time in the CU and on the way to the DU."""
    queuing: float
    """Time in the RLC queue behind other packets."""
    scheduling: float
    """Time at the head of the RLC queue, waiting for the scheduler, and in the air."""
    harq: float
    """HARQ retransmission."""
    rlc: float
    """RLC retransmission, where HARQ had given up."""
    reordering: float
    """Time at the UE, waiting for packets before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterResult:
    """A router, after the warm-up."""

    name: str
    """Name in the scenario."""
    law: str
    """Law that marks or drops in its queue."""
    capacity_mbps: float
    """The mean rate of its link. Unit: Mbit/s."""
    throughput_mbps: float
    """IP bytes that its link carried, as a rate. Unit: Mbit/s."""
    utilisation: float
    """The one as a share of the other."""
    queue_ms: Quantiles | None
    """Time of packets in its queue. Unit: ms."""
    tdq_s: list[tuple[float, float]]
    """Seconds in which the queue was older than each of the scenario's delays in milliseconds. Unit: s."""
    marked: int
    """Packets that left it with CE and had come without."""
    dropped: int
    """Packets dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaResult:
    """The frames of a media flow."""

    frames_sent: int
    """Frames that the encoder made."""
    frames_discarded: int
    """Frames of these that the sender threw away before it had sent them."""
    frames_received: int
    """Frames of those sent that arrived whole: a frame counts by its capture."""
    frames_lost: int
    """Frames that did not although later ones began; those that the sender threw away included."""
    freezes: int
    """Freezes as `freezeCount` of W3C webrtc-stats counts them: frames that came after three times the mean time between the last thirty, and after 150 ms more than that mean."""
    frozen_s: float
    """Time in which the picture stood still, in all freezes (`totalFreezesDuration`). Unit: s."""
    delay_ms: Quantiles | None
    """Delay of frames, from the capture to the arrival of the last packet. Unit: ms."""
    sender_queue_ms: Quantiles | None
    """Part of that delay in the sender's own queue. Unit: ms."""
    delay_budget_ms: float | None
    """Budget for the delay of a frame, the time on the wire left out: `delay_budget` of the application; absent for one without. Unit: ms."""
    in_budget: float | None
    """Share of the frames that met it. Lost ones did not, nor did those under way for longer at the end. Absent where no frame was due."""
    satisfied: bool | None
    """True where that share is at least `satisfied_at` of the application."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfers:
    """Transfers of known size, each over a connection of its own, or pages of the web over one."""

    completed: int
    """Transfers that completed."""
    completion_ms: Quantiles | None
    """Time from the opening of the connection to the last byte; of a page from its request. Unit: ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowResult:
    """One flow, after the warm-up."""

    name: str
    """Name in the scenario."""
    ue: str | None = None
    """The UE that it ends at; absent for a host on the wire."""
    controller: str
    """The sender's congestion controller."""
    law: str
    """The marking law of its bearer or, for a host on the wire, of the routers of its data, in their order."""
    routers: list[str] | None = None
    """Names of the routers on the way of its data, in their order; absent where there is none."""
    throughput_mbps: float
    """IP bytes delivered to the UE while the flow was active, as a rate. Unit: Mbit/s."""
    goodput_mbps: float | None
    """Application bytes delivered in order while the flow was active, as a rate; absent where the endpoints are not ours. Unit: Mbit/s."""
    owd_ms: Quantiles | None
    """One-way delay of downlink packets, from the server's IP layer to the UE's. Unit: ms."""
    rtt_ms: Quantiles | None
    """Round-trip time as the sender measured it. Unit: ms."""
    queue_ms: Quantiles | None
    """Time of downlink packets in the RLC queue. Unit: ms."""
    router_queue_ms: Quantiles | None = None
    """Time of its data in the queues of routers, together; absent where there is no router on its way. Unit: ms."""
    transfers: Transfers | None = None
    """Transfers of known size, or pages of the web, that completed; absent where there were none."""
    media: MediaResult | None = None
    """Frames; absent where the flow carries none."""
    sent_packets: int
    """Downlink packets that the sender handed to the network."""
    marked: int
    """Packets of its data that arrived with CE, whoever marked them, and those whose mark the short-circuit put into acknowledgements."""
    dropped: int
    """Downlink packets that the network dropped."""
    retransmissions: int | None
    """Segments that the sender sent again; absent where the endpoints are not ours."""
    gave_way: bool | None = None
    """True where the flow gave way to its marks, false where it did not and took the room of others; absent where too few marks tell, and for a run in virtual time."""
    buffer_limited: float | None = None
    """Share of the time in which the sender waited for room in its send buffer alone: its windows had room, and the path no queue of half a round trip; absent where it never did."""
    split_ms: Split | None
    """Mean one-way delay, taken apart. Unit: ms."""


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
    """The worst."""
    deadlines: int
    """Deadlines served."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveResult:
    """State of the machine that ran the cell in real time."""

    lateness_us: Lateness | None
    """Lateness of the cell's deadlines, in microseconds. Unit: µs."""
    busy: float
    """Share of one processor that the cell's thread used."""
    real_time_priority: bool
    """True if the thread went before ordinary ones (`SCHED_FIFO`)."""
    packets_in: int
    """Packets from the core and from UEs."""
    packets_out: int
    """Packets handed to the core and to UEs."""
    refused: int
    """Packets that the kernel refused."""
    unroutable: int | None = None
    """Packets for no UE of the cell; absent for a hop."""
    unreadable: int | None = None
    """Frames that a hop could not read; absent for a cell."""
    overload: int
    """Packets dropped because the machine was too slow for the cell."""
    not_admitted: int | None
    """Messages and packets refused at GTP-U sockets by address or content; absent for a cell without such sockets."""
    device_drops: int
    """Packets that the devices lost because the cell's thread did not read them in time."""
    empty_under_marks: float | None = None
    """Share of the downlink's resource blocks that were empty in the intervals of the series in which a law marked or dropped a packet; absent where there was none, and for a hop."""
    uplink_busy_s: float | None = None
    """Seconds of the measured time in which UEs used more than nine tenths of the uplink's resource blocks; absent for a hop. Unit: s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Event of a live cell: what somebody did to it while it ran."""

    t_s: float
    """Seconds since the start, the warm-up included. Unit: s."""
    event: str
    """Action that was taken."""
    ue: str | None = None
    """UE that it was done to; absent where more than one can be concerned."""
    detail: str | None = None
    """Arguments of the action: assignments, or the length of an outage."""


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
    """UEs that it served, the mean over the series' intervals."""
    handovers: int
    """UEs that came to it from other cells."""
    satisfied: float | None = None
    """Share of the UEs with frames that it served at the end that are satisfied: all of their flows are; absent where there were none."""
    position_m: tuple[float, float] | None = None
    """Position: metres east and north of the centre site. Unit: m."""
    azimuth_deg: float | None = None
    """Direction in which it looks, in degrees from east, counterclockwise. Unit: degrees."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellResult:
    """The cell as a whole, after the warm-up."""

    utilisation: float | None
    """Share of the downlink's resource blocks that carried data."""
    uplink_utilisation: float | None = None
    """Share of the uplink's resource blocks that UEs sent on; absent where they sent nothing."""
    throughput_mbps: float
    """IP bytes delivered to all UEs, as a rate. Unit: Mbit/s."""
    satisfied: float | None = None
    """Share of the UEs with frames that are satisfied: all of their flows are; absent where no flow's frames have a budget."""
    conservation: str
    """The statement that the conservation check of this run made; a run that fails it has no result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """All that a run measured, with what is needed to repeat it."""

    tidemark: str
    """Version of the program."""
    commit: str | None = None
    """Commit of the sources that the program was built from, with `-modified` behind it where they were changed; absent for a program that was not built from a clone."""
    name: str
    """Name of the scenario."""
    description: str | None = None
    """Purpose of the scenario; absent where it says none."""
    seed: int
    """Seed."""
    duration_s: float
    """Virtual seconds. Unit: s."""
    warmup_s: float
    """Seconds at the start that the statistics leave out. Unit: s."""
    interrupted_at_s: float | None = None
    """Virtual seconds at which the run was interrupted; absent where it came to its end. Unit: s."""
    warnings: list[str] | None = None
    """Warnings for the user: guaranteed rates that were not met, and parts of the scenario that the run took no notice of."""
    cell: CellResult
    """The cell as a whole."""
    cells: list[NetworkCellResult] | None = None
    """One entry a cell of a network; absent where there is one cell without a place."""
    live: LiveResult | None = None
    """State of the machine that ran the cell in real time; absent for a run in virtual time."""
    flows: list[FlowResult]
    """One entry a flow."""
    ues: list[UeResult]
    """One entry a UE."""
    bearers: list[BearerResult]
    """One entry a bearer."""
    routers: list[RouterResult] | None = None
    """One entry a router."""
    jain: float | None = None
    """Jain's index of the flows' rates, the mean over the series' intervals in which two or more were alive; absent where that never was so."""
    events: list[Event] | None = None
    """Events of a live cell while it ran, in order."""
    scenario: str
    """The whole scenario, as text, with overrides applied."""
