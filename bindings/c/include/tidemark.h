/*
 * libtidemark: L4S congestion signalling for gNBs. Where each call goes in a CU-UP: docs/guide/embedding.md.
 *
 * Generated from bindings/c/src by `make header`; edit there, not here.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#ifndef TIDEMARK_H
#define TIDEMARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * TIDEMARK_HOT follows every call of the packet path: such a call does not allocate, take locks or make system calls. A
 * host that checks such functions can define it as its own attribute before it includes this file:
 *
 *     #define TIDEMARK_HOT OCUDU_RTSAN_NONBLOCKING
 *
 * By default it is clang's `nonblocking` if the compiler has that attribute, else nothing.
 */
#if !defined(TIDEMARK_HOT) && defined(__clang__) && defined(__has_attribute)
#if __has_attribute(nonblocking)
#define TIDEMARK_HOT __attribute__((nonblocking))
#endif
#endif
#ifndef TIDEMARK_HOT
#define TIDEMARK_HOT
#endif

/* No call throws. */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define TIDEMARK_NOEXCEPT noexcept
#else
#define TIDEMARK_NOEXCEPT
#endif


/**
 * `highest_transmitted_sn` of a report is present.
 */
#define TIDEMARK_REPORT_TRANSMITTED 1

/**
 * `highest_delivered_sn` of a report is present.
 */
#define TIDEMARK_REPORT_DELIVERED 2

/**
 * `desired_buffer_size` of a report is present.
 */
#define TIDEMARK_REPORT_BUFFER_SIZE 4

/**
 * `highest_retransmitted_sn` of a report is present.
 */
#define TIDEMARK_REPORT_RETRANSMITTED 8

/**
 * `highest_delivered_retransmitted_sn` of a report is present.
 */
#define TIDEMARK_REPORT_DELIVERED_RETRANSMITTED 16

/**
 * `egress_bps` and `egress_deviation_bps` of an estimate are known.
 */
#define TIDEMARK_ESTIMATE_EGRESS 1

/**
 * `sojourn_ns` of an estimate is known.
 */
#define TIDEMARK_ESTIMATE_SOJOURN 2

/**
 * `last_sojourn_ns` of an estimate is known.
 */
#define TIDEMARK_ESTIMATE_LAST_SOJOURN 4

/**
 * `head_of_line_ns` of an estimate is known.
 */
#define TIDEMARK_ESTIMATE_HEAD_OF_LINE 8

/**
 * `retransmission_ns` of an estimate is known.
 */
#define TIDEMARK_ESTIMATE_RETRANSMISSION 16

/**
 * Major version of the interface.
 */
#define TIDEMARK_VERSION_MAJOR 0

/**
 * Minor version. While the major version is 0, each minor version has another interface.
 */
#define TIDEMARK_VERSION_MINOR 1

/**
 * Patch version.
 */
#define TIDEMARK_VERSION_PATCH 0

/**
 * The longest packet: an IPv6 header and 65535 bytes.
 */
#define TIDEMARK_MAX_PACKET 65575

/**
 * Largest number of elements in a batch.
 */
#define TIDEMARK_MAX_BATCH 65536

/**
 * Downlink packets of the QoS flow are marked by the law of its DRB. This is the initial state.
 */
#define TIDEMARK_MARKING_DOWNLINK 0

/**
 * Downlink packets of the QoS flow are not marked, neither in themselves nor in acknowledgements.
 */
#define TIDEMARK_MARKING_OFF 1

/**
 * Downlink packets of the QoS flow are not marked here, but at the UPF by the value of `tidemark_qfi_congestion`.
 */
#define TIDEMARK_MARKING_REPORT 2

/**
 * Bytes that `tidemark_congestion_container` writes.
 */
#define TIDEMARK_CONGESTION_CONTAINER 6

/**
 * Largest number of notices at a time.
 */
#define TIDEMARK_MAX_NOTICES 19

/**
 * Outcome of a call. With every status but OK the call changed nothing.
 */
typedef enum tidemark_status {
  /**
   * Success.
   */
  TIDEMARK_STATUS_OK = 0,
  /**
   * A pointer that must not be null is null.
   */
  TIDEMARK_STATUS_NULL_POINTER = 1,
  /**
   * A length is zero or too large.
   */
  TIDEMARK_STATUS_BAD_LENGTH = 2,
  /**
   * A configuration cannot be read, or one of its fields cannot be used.
   */
  TIDEMARK_STATUS_BAD_CONFIG = 3,
  /**
   * A DRB identity is not one of 1 to 32.
   */
  TIDEMARK_STATUS_BAD_DRB = 4,
  /**
   * A QFI is not one of 0 to 63.
   */
  TIDEMARK_STATUS_BAD_QFI = 5,
  /**
   * The bytes are not a DL DATA DELIVERY STATUS, or not the IP packet that the call needs.
   */
  TIDEMARK_STATUS_BAD_FRAME = 6,
  /**
   * The UE was removed or never existed.
   */
  TIDEMARK_STATUS_NO_UE = 7,
  /**
   * The DRB is not set up.
   */
  TIDEMARK_STATUS_NO_DRB = 8,
  /**
   * The DRB is already set up.
   */
  TIDEMARK_STATUS_DRB_EXISTS = 9,
  /**
   * Every slot for a UE is taken.
   */
  TIDEMARK_STATUS_FULL = 10,
  /**
   * Another thread is in a call for this UE. The caller must serialise them.
   */
  TIDEMARK_STATUS_BUSY = 11,
  /**
   * A bug in this library, contained by the call.
   */
  TIDEMARK_STATUS_INTERNAL = 12,
  /**
   * A buffer is too short. The call has written the length that it needs.
   */
  TIDEMARK_STATUS_BUFFER_TOO_SMALL = 13,
  /**
   * The bytes are not the state of a UE, have another version, are cut short, or were changed on the way.
   */
  TIDEMARK_STATUS_BAD_STATE = 14,
} tidemark_status;

/**
 * Action of the caller on a downlink packet.
 */
typedef enum tidemark_verdict {
  /**
   * Forward it; it was not marked.
   */
  TIDEMARK_VERDICT_PASS = 0,
  /**
   * Forward it; CE was set in its IP header.
   */
  TIDEMARK_VERDICT_MARK = 1,
  /**
   * Discard it.
   */
  TIDEMARK_VERDICT_DROP = 2,
} tidemark_verdict;

/**
 * Severity of a notice.
 */
typedef enum tidemark_severity {
  /**
   * Normal in a working network; only a sudden increase is worth a look.
   */
  TIDEMARK_SEVERITY_INFO = 0,
  /**
   * Some packets are not marked as they should be.
   */
  TIDEMARK_SEVERITY_WARNING = 1,
  /**
   * The host breaks the rules of the interface.
   */
  TIDEMARK_SEVERITY_ERROR = 2,
} tidemark_severity;

/**
 * Rules that choose the law of a QoS flow. It is read-only, so any thread may use it.
 */
typedef struct tidemark_policy tidemark_policy;

/**
 * The UEs of a CU-UP, or of one of its threads.
 */
typedef struct tidemark_instance tidemark_instance;

/**
 * Settings of an instance.
 */
typedef struct tidemark_instance_config {
  /**
   * Size of this struct, `sizeof`; set by the caller. BAD_LENGTH without it.
   */
  size_t size;
  /**
   * Largest number of UEs at a time, 1 to 1048576. Each takes about 1 KiB from the start.
   */
  uint32_t max_ues;
  /**
   * Reserved for later use; must be 0.
   */
  uint32_t reserved;
  /**
   * Seed of the random draws: the same seed and the same calls give the same verdicts.
   */
  uint64_t seed;
  /**
   * Key of the flow hash, so that no outsider can craft packets that collide in the flow table.
   * 16 random bytes, for example from getrandom(2); all zeros are rejected.
   */
  uint8_t secret[16];
} tidemark_instance_config;

/**
 * Handle of a UE in an instance, to be passed on unchanged. The handle of a removed UE, one of another instance, and one of zeros are
 * rejected.
 *
 * QFIs identify QoS flows only within one PDU session (TS 23.501 5.7.1.1), so a UE with several PDU sessions needs a UE here for each.
 */
typedef struct tidemark_ue {
  /**
   * Slot of the UE, and its generation in the slot.
   */
  uint64_t bits;
} tidemark_ue;

/**
 * A QoS flow of a DRB.
 */
typedef struct tidemark_qos_flow {
  /**
   * QoS flow identifier, 0 to 63.
   */
  uint8_t qfi;
  /**
   * 5QI of the flow (TS 23.501 table 5.7.4-1); 0 if not known.
   */
  uint8_t five_qi;
} tidemark_qos_flow;

/**
 * Counters of one DRB since it was set up, or sums over several DRBs. New counters are added at the end, because hosts of the C library
 * rely on the positions.
 */
typedef struct tidemark_counters {
  /**
   * Downlink packets seen.
   */
  uint64_t packets;
  /**
   * SDUs handed to the DU.
   */
  uint64_t pdus;
  /**
   * Packets of L4S flows.
   */
  uint64_t l4s_packets;
  /**
   * Packets of classic flows.
   */
  uint64_t classic_packets;
  /**
   * Packets that arrived with CE already set.
   */
  uint64_t ce_packets;
  /**
   * Packets of L4S flows marked.
   */
  uint64_t l4s_marks;
  /**
   * Packets of classic flows marked.
   */
  uint64_t classic_marks;
  /**
   * Marks that went into acknowledgements instead of packets.
   */
  uint64_t short_circuited;
  /**
   * Acknowledgements rewritten.
   */
  uint64_t rewritten_acks;
  /**
   * Packets dropped, by the law or by overload protection.
   */
  uint64_t drops;
  /**
   * SDUs discarded by PDCP.
   */
  uint64_t discards;
  /**
   * Reports received.
   */
  uint64_t reports;
  /**
   * Reports without a highest transmitted or retransmitted SN.
   */
  uint64_t empty_reports;
  /**
   * SNs in reports or discards that were never sent or were forgotten long ago.
   */
  uint64_t unknown_sns;
  /**
   * SDUs handed over with an SN that is still queued or far from the last one.
   */
  uint64_t repeated_sns;
  /**
   * SNs skipped by the SDUs handed over.
   */
  uint64_t skipped_sns;
  /**
   * Restarts of the SNs.
   */
  uint64_t sn_restarts;
  /**
   * SDUs queued beyond the profile table, of which only the sum is known.
   */
  uint64_t beyond_table;
  /**
   * Transmission times evicted before the delivery was reported.
   */
  uint64_t untimed_deliveries;
  /**
   * Flows evicted from the flow table by others.
   */
  uint64_t flows_evicted;
  /**
   * Flows refused for want of a slot in the flow table.
   */
  uint64_t flows_refused;
  /**
   * 1 once the reports turn out to follow arrivals instead of transmissions. Such reports carry no information about the queue, and marking
   * by them is blind. The DU of OpenAirInterface does this. A sum is the number of such DRBs.
   */
  uint64_t blind_drbs;
  /**
   * Downlink packets that came when the DU had not reported on its queue for longer than `report_timeout`. The queue is then unknown,
   * and they are not marked for it.
   */
  uint64_t reports_missing;
  /**
   * Marks of `short_circuited` for which no acknowledgement had room, so that the sender has not read them. The next packet of the flow
   * is marked instead.
   */
  uint64_t marks_let_go;
  /**
   * Packets of `drops` that overload protection dropped, because their flows ignored marks.
   */
  uint64_t overload_drops;
  /**
   * Reports of an SN that an earlier report had passed: they came out of order, or twice.
   */
  uint64_t stale_reports;
  /**
   * Reports, after sixteen such, whose SNs are not those of the DRB: CU and DU use different SN lengths. Nothing is marked until the SNs
   * of the DU match.
   */
  uint64_t mismatched_reports;
} tidemark_counters;

/**
 * Counters of one DRB.
 */
typedef struct tidemark_drb_counters {
  /**
   * Size of this struct, `sizeof`. The caller sets it before each call, which changes it to the number of bytes written.
   */
  size_t size;
  /**
   * Counters since the DRB was set up.
   */
  struct tidemark_counters counters;
} tidemark_drb_counters;

/**
 * Report on a DRB's queue, from a DL DATA DELIVERY STATUS (TS 38.425 5.5.2.2). Every field may be missing; before the first
 * transmission all are.
 */
typedef struct tidemark_report {
  /**
   * Size of this struct, `sizeof`; set by the caller. BAD_LENGTH without it.
   */
  size_t size;
  /**
   * Fields that are present: a sum of `TIDEMARK_REPORT_...`. Other bits are ignored.
   */
  uint32_t fields;
  /**
   * Highest PDCP SN whose first segment was handed to the lower layers.
   */
  uint32_t highest_transmitted_sn;
  /**
   * Highest PDCP SN delivered to the UE in sequence; RLC AM only.
   */
  uint32_t highest_delivered_sn;
  /**
   * Desired buffer size for the data radio bearer, in bytes.
   */
  uint32_t desired_buffer_size;
  /**
   * Highest PDCP SN handed to the lower layers among the retransmissions to the DU, for example after a handover.
   */
  uint32_t highest_retransmitted_sn;
  /**
   * Highest PDCP SN delivered in sequence among the retransmissions to the DU; RLC AM only.
   */
  uint32_t highest_delivered_retransmitted_sn;
} tidemark_report;

/**
 * A packet in a batch.
 */
typedef struct tidemark_packet {
  /**
   * UE that receives or sent the packet.
   */
  struct tidemark_ue ue;
  /**
   * First bytes of the packet, from its IP header on.
   */
  uint8_t *packet;
  /**
   * Number of bytes at `packet`.
   */
  size_t present;
  /**
   * Length of the whole packet.
   */
  size_t len;
  /**
   * QoS flow of a downlink packet; ignored for an uplink packet.
   */
  uint8_t qfi;
  /**
   * Written: the verdict on a downlink packet; PASS for an uplink packet, and after any error.
   */
  enum tidemark_verdict verdict;
  /**
   * Written: the status of the single call.
   */
  enum tidemark_status status;
} tidemark_packet;

/**
 * A PDCP data PDU in a batch.
 */
typedef struct tidemark_pdu {
  /**
   * UE that receives the PDU.
   */
  struct tidemark_ue ue;
  /**
   * PDCP SN.
   */
  uint32_t sn;
  /**
   * Length of the PDU in bytes.
   */
  uint32_t size;
  /**
   * DRB identity.
   */
  uint8_t drb;
  /**
   * True for a PDU that PDCP sends again.
   */
  bool is_retx;
  /**
   * Written: the status of the single call.
   */
  enum tidemark_status status;
} tidemark_pdu;

/**
 * A DU's report on a DRB, in a batch.
 */
typedef struct tidemark_drb_report {
  /**
   * UE of the DRB.
   */
  struct tidemark_ue ue;
  /**
   * The report.
   */
  const struct tidemark_report *report;
  /**
   * DRB identity.
   */
  uint8_t drb;
  /**
   * Written: the status of the single call.
   */
  enum tidemark_status status;
} tidemark_drb_report;

/**
 * Congestion of a QoS flow.
 */
typedef struct tidemark_congestion {
  /**
   * Size of this struct, `sizeof`. The caller sets it before each call, which changes it to the number of bytes written.
   */
  size_t size;
  /**
   * Downlink packets of the QoS flow so far that came while its DRB's law did not mark it.
   */
  uint64_t packets;
  /**
   * DL Congestion Information (TS 38.415 5.5.2.2): the share of packets to mark, in hundredths of a percent, 0 to 10000.
   */
  uint16_t dl_congestion;
} tidemark_congestion;

/**
 * Counters of a UE's packets, apart from those of its DRBs.
 */
typedef struct tidemark_ue_counters {
  /**
   * Size of this struct, `sizeof`. The caller sets it before each call, which changes it to the number of bytes written.
   */
  size_t size;
  /**
   * Downlink packets.
   */
  uint64_t downlink;
  /**
   * Uplink packets.
   */
  uint64_t uplink;
  /**
   * Packets of either direction whose headers could not be read, or were not all in the given bytes; they pass unchanged.
   */
  uint64_t unparsed;
  /**
   * Downlink packets of a QoS flow that no DRB carries; they pass unchanged.
   */
  uint64_t unknown_qfi;
  /**
   * Reports and PDCP events for a DRB that is not set up.
   */
  uint64_t unknown_drb;
} tidemark_ue_counters;

/**
 * Estimates about a DRB. An unknown field is 0, and its flag is missing in `known`.
 */
typedef struct tidemark_drb_estimate {
  /**
   * Size of this struct, `sizeof`. The caller sets it before each call, which changes it to the number of bytes written.
   */
  size_t size;
  /**
   * Known fields, among those that can be unknown: a sum of `TIDEMARK_ESTIMATE_...`.
   */
  uint32_t known;
  /**
   * SDUs handed to the DU that no report has covered yet.
   */
  uint32_t packets;
  /**
   * Estimated bytes queued in the DU now, also between reports.
   */
  uint64_t backlog;
  /**
   * Bytes handed to the DU that no report has covered yet.
   */
  uint64_t standing;
  /**
   * Egress rate in bit/s.
   */
  uint64_t egress_bps;
  /**
   * Standard deviation of the egress rate in bit/s.
   */
  uint64_t egress_deviation_bps;
  /**
   * Predicted wait of a packet that arrives now, in ns.
   */
  uint64_t sojourn_ns;
  /**
   * Wait of the last SDU that was transmitted, as of its report, in ns.
   */
  uint64_t last_sojourn_ns;
  /**
   * Estimated age of the oldest SDU in the DU now, also between reports, in ns.
   */
  uint64_t head_of_line_ns;
  /**
   * Time from first transmission to delivery of the last SDU delivered, in ns; RLC AM only.
   */
  uint64_t retransmission_ns;
  /**
   * Time since the last report, or since a queue began after it, in ns.
   */
  uint64_t report_age_ns;
  /**
   * Probability of a mark or a drop that the law gave the last packet, 0 to 1.
   */
  double probability;
} tidemark_drb_estimate;

/**
 * Totals of an instance since it was made. `ues`, `drbs` and `sums.blind_drbs` are current numbers; all others only grow.
 */
typedef struct tidemark_totals {
  /**
   * Size of this struct, `sizeof`. The caller sets it before each call, which changes it to the number of bytes written.
   */
  size_t size;
  /**
   * UEs, each counted from its first DRB on or earlier.
   */
  uint64_t ues;
  /**
   * DRBs.
   */
  uint64_t drbs;
  /**
   * Calls that were refused with BUSY.
   */
  uint64_t busy;
  /**
   * Downlink packets.
   */
  uint64_t downlink;
  /**
   * Uplink packets.
   */
  uint64_t uplink;
  /**
   * Packets of either direction whose headers could not be read, or were not all in the given bytes.
   */
  uint64_t unparsed;
  /**
   * Downlink packets of a QoS flow that no DRB carries.
   */
  uint64_t unknown_qfi;
  /**
   * Reports and PDCP events for a DRB that is not set up.
   */
  uint64_t unknown_drb;
  /**
   * Sums over the DRBs.
   */
  struct tidemark_counters sums;
} tidemark_totals;

/**
 * A total that grew.
 */
typedef struct tidemark_notice {
  /**
   * Name of the field of `tidemark_totals`, or of its `sums`; it lives as long as the program.
   */
  const char *name;
  /**
   * Meaning as an English sentence; it lives as long as the program.
   */
  const char *text;
  /**
   * Value now.
   */
  uint64_t total;
  /**
   * Growth since the earlier totals.
   */
  uint64_t change;
  /**
   * Severity.
   */
  enum tidemark_severity severity;
} tidemark_notice;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Meaning of a status, in English. Never null; the text lives as long as the program.
 */
const char *tidemark_status_text(int32_t status) TIDEMARK_NOEXCEPT;

/**
 * Version of the running library, such as "0.1.0". The macros give the version of this header.
 */
const char *tidemark_version(void) TIDEMARK_NOEXCEPT;

/**
 * Reads a policy in TOML, with the keys of Tidemark's scenarios. Rules are tried in order. The first one with the flow's QFI
 * or 5QI, or with neither key, decides.
 *
 * ```toml
 * [otherwise]
 * law = "tide"
 * mode = "by-5qi"
 * [[rules]]
 * five_qi = 9
 * marker = { law = "tide", mode = "throughput-first", short_circuit = true }
 * ```
 *
 * With an empty text nothing is marked. An error in the text is written to `problem`, cut to `problem_len` bytes with a
 * terminating zero; `problem` may be null.
 *
 * Fails with NULL_POINTER, BAD_CONFIG.
 *
 * # Safety
 * `text` is null or a C string, `problem` null or of `problem_len` bytes, `policy` null or valid for a write.
 */
enum tidemark_status tidemark_policy_new(const char *text,
                                         struct tidemark_policy **policy,
                                         char *problem,
                                         size_t problem_len)
TIDEMARK_NOEXCEPT;

/**
 * Frees a policy. DRBs that were set up with it are not affected. `policy` may be null.
 *
 * # Safety
 * `policy` is null or came from `tidemark_policy_new` and was not freed.
 */
void tidemark_policy_free(struct tidemark_policy *policy) TIDEMARK_NOEXCEPT;

/**
 * Makes an instance: a slab for the UEs of a CU-UP, or of one of its threads.
 *
 * Calls for different UEs may come from different threads at the same time. The caller must serialise calls for one UE; a gNB
 * runs them on one strand. A call that overlaps another one for the same UE returns BUSY and does nothing.
 *
 * Fails with NULL_POINTER; BAD_LENGTH for an invalid `size` of `config`; BAD_CONFIG for a field that cannot be used, or that this library
 * does not know yet.
 *
 * # Safety
 * `config` is null or valid, `instance` null or valid for a write.
 */
enum tidemark_status tidemark_instance_new(const struct tidemark_instance_config *config,
                                           struct tidemark_instance **instance)
TIDEMARK_NOEXCEPT;

/**
 * Frees an instance with all its UEs. `instance` may be null.
 *
 * # Safety
 * `instance` is null or came from `tidemark_instance_new` and was not freed; no other call is under way in it.
 */
void tidemark_instance_free(struct tidemark_instance *instance)
TIDEMARK_NOEXCEPT;

/**
 * Adds a UE, without DRBs. Any thread may do so at any time.
 *
 * Fails with NULL_POINTER; FULL if every slot is taken.
 *
 * # Safety
 * `instance` is null or lives, `ue` is null or valid for a write.
 */
enum tidemark_status tidemark_ue_add(const struct tidemark_instance *instance,
                                     struct tidemark_ue *ue)
TIDEMARK_NOEXCEPT;

/**
 * Removes a UE with its DRBs. Calls with its handle return NO_UE from then on.
 *
 * Fails with NULL_POINTER, NO_UE, BUSY.
 *
 * # Safety
 * `instance` is null or lives.
 */
enum tidemark_status tidemark_ue_remove(const struct tidemark_instance *instance,
                                        struct tidemark_ue ue)
TIDEMARK_NOEXCEPT;

/**
 * Sets up a DRB that carries these QoS flows, and allocates all memory that it will ever use. The first flow decides which
 * rule of the policy applies. A QoS flow that another DRB carried moves to this one. `sn_bits` is the length of the DRB's
 * PDCP SNs, 12 or 18.
 *
 * Fails with NULL_POINTER, NO_UE, BUSY; BAD_LENGTH for no flow, or more than 64; BAD_DRB, BAD_QFI, DRB_EXISTS; BAD_CONFIG
 * for another `sn_bits`.
 *
 * # Safety
 * `instance` is null or lives, `flows` is null or valid for `flow_count` flows, `policy` is null or was not freed.
 */
enum tidemark_status tidemark_drb_add(const struct tidemark_instance *instance,
                                      struct tidemark_ue ue,
                                      uint8_t drb,
                                      uint8_t sn_bits,
                                      const struct tidemark_qos_flow *flows,
                                      size_t flow_count,
                                      const struct tidemark_policy *policy)
TIDEMARK_NOEXCEPT;

/**
 * Reconfigures a DRB. It carries these QoS flows too from now on, and is marked by the rule of the policy for the first of
 * them. Its counters are kept, and so are its TCP connections and the counters in their acknowledgements. (After
 * `tidemark_drb_remove` and `tidemark_drb_add` the latter would seem to go backwards to the senders.) The state of the DU's
 * queue is kept too, unless `sn_bits` changes. In that case it is forgotten as by `tidemark_ue_handover`, and PDUs that PDCP
 * retransmits, or that are still under way, must be announced. This call allocates and frees memory.
 *
 * Fails with NULL_POINTER, NO_UE, BUSY; BAD_LENGTH for no flow, or more than 64; BAD_DRB, BAD_QFI, NO_DRB; BAD_CONFIG for another
 * `sn_bits` than 12 and 18. Nothing has changed then.
 *
 * # Safety
 * `instance` is null or lives, `flows` is null or valid for `flow_count` flows, `policy` is null or was not freed.
 */
enum tidemark_status tidemark_drb_reconfigure(const struct tidemark_instance *instance,
                                              struct tidemark_ue ue,
                                              uint64_t now_ns,
                                              uint8_t drb,
                                              uint8_t sn_bits,
                                              const struct tidemark_qos_flow *flows,
                                              size_t flow_count,
                                              const struct tidemark_policy *policy)
TIDEMARK_NOEXCEPT;

/**
 * Releases a DRB. Its final counters are written to `counters`, which may be null, or must have its `size` set. Its TCP connections, and the counters
 * in their acknowledgements, go to another DRB of the UE, if there is one. To change the law or the SN length, use
 * `tidemark_drb_reconfigure`.
 *
 * Fails with NULL_POINTER, BAD_LENGTH, NO_UE, NO_DRB, BUSY.
 *
 * # Safety
 * `instance` is null or lives, `counters` is null or valid for a write.
 */
enum tidemark_status tidemark_drb_remove(const struct tidemark_instance *instance,
                                         struct tidemark_ue ue,
                                         uint8_t drb,
                                         struct tidemark_drb_counters *counters)
TIDEMARK_NOEXCEPT;

/**
 * Maps a QoS flow to a DRB, even if another DRB carried it before.
 *
 * Fails with NULL_POINTER, NO_UE, BUSY, BAD_QFI, NO_DRB.
 *
 * # Safety
 * `instance` is null or lives.
 */
enum tidemark_status tidemark_qfi_map(const struct tidemark_instance *instance,
                                      struct tidemark_ue ue,
                                      uint8_t qfi,
                                      uint8_t drb)
TIDEMARK_NOEXCEPT;

/**
 * Notes that the UE moved to another DU or cell, or that its DRBs were re-established. The measurements of the old radio and
 * its queues are forgotten, and PDUs that PDCP retransmits must be announced again. Flows and their counters are kept. Call it
 * once, before the first of these PDUs is announced. In a loop over DRBs it would forget the PDUs that earlier DRBs retransmitted;
 * use `tidemark_drb_handover` there.
 *
 * Fails with NULL_POINTER, NO_UE, BUSY.
 *
 * # Safety
 * `instance` is null or lives.
 */
enum tidemark_status tidemark_ue_handover(const struct tidemark_instance *instance,
                                          struct tidemark_ue ue,
                                          uint64_t now_ns)
TIDEMARK_NOEXCEPT;

/**
 * Decapsulates a packet at the end of a tunnel, for example on N3: combines the outer header's ECN field with that of the packet
 * (RFC 6040 4.2; RFC 9601 for GTP-U). `outer` is the outer header's type of service or traffic class; only its two lowest
 * bits count. `packet` has the first `present` bytes of the inner packet of `len` bytes, from its IP header on; the header
 * without options and extension headers is enough. `verdict` is MARK if the packet became CE. It is DROP if the packet was
 * marked in the tunnel and its transport does not understand ECN. With PASS the inner field may still change from ECT(0) to
 * ECT(1). `verdict` is PASS after any error. Call this before `tidemark_downlink`, which counts packets that arrive with CE.
 *
 * Fails with NULL_POINTER, BAD_LENGTH; BAD_FRAME if the bytes are not an IP packet.
 *
 * # Safety
 * `packet` is null or valid for `present` bytes that nobody else uses meanwhile, `verdict` is null or valid for a write.
 */
enum tidemark_status tidemark_decapsulate(uint8_t outer,
                                          uint8_t *packet,
                                          size_t present,
                                          size_t len,
                                          enum tidemark_verdict *verdict)
TIDEMARK_NOEXCEPT TIDEMARK_HOT;

/**
 * Decides on a downlink packet of this QoS flow, before PDCP. `packet` has the first `present` bytes of the packet of `len` bytes, from its
 * IP header on and unciphered; if packets are stored in segments, pass the first segment. It must contain the IP and TCP headers with
 * their options; nothing after them is read or written. A mark is set in place, with the header's checksum. A packet that cannot be
 * read or belongs to no DRB passes unchanged, and is counted as `unparsed` or `unknown_qfi`. `verdict` is PASS after any error.
 *
 * `now_ns` is a clock of the caller's choice. It must be the same for all calls about a UE, and must not step back.
 *
 * Fails with NULL_POINTER, BAD_LENGTH, NO_UE, BUSY.
 *
 * # Safety
 * `instance` is null or lives, `packet` is null or valid for `present` bytes that nobody else uses meanwhile, `verdict` is
 * null or valid for a write.
 */
enum tidemark_status tidemark_downlink(const struct tidemark_instance *instance,
                                       struct tidemark_ue ue,
                                       uint64_t now_ns,
                                       uint8_t qfi,
                                       uint8_t *packet,
                                       size_t present,
                                       size_t len,
                                       enum tidemark_verdict *verdict)
TIDEMARK_NOEXCEPT TIDEMARK_HOT;

/**
 * Decides on a packet that leaves the caller's own queue after `sojourn_ns`; `behind` bytes remain in the queue. `packet`,
 * `present` and `len` are as in `tidemark_downlink`. Laws that decide when packets leave the queue do so here. They pass
 * everything in `tidemark_downlink`, and neither mark nor drop if this call is not made. Every other law passes everything
 * here. After a DROP the caller asks for the next packet of the queue, at the same time. `verdict` is PASS after any error.
 *
 * Fails with NULL_POINTER, BAD_LENGTH, NO_UE, NO_DRB, BUSY.
 *
 * # Safety
 * `instance` is null or lives, `packet` is null or valid for `present` bytes that nobody else uses meanwhile, `verdict` is
 * null or valid for a write.
 */
enum tidemark_status tidemark_dequeue(const struct tidemark_instance *instance,
                                      struct tidemark_ue ue,
                                      uint64_t now_ns,
                                      uint8_t drb,
                                      uint8_t *packet,
                                      size_t present,
                                      size_t len,
                                      uint64_t sojourn_ns,
                                      uint64_t behind,
                                      enum tidemark_verdict *verdict)
TIDEMARK_NOEXCEPT TIDEMARK_HOT;

/**
 * Announces a call about this UE, to prefetch the memory that it will need. A caller with several packets or frames announces
 * each before the first call. The waits for memory, which are most of a call's cost with thousands of UEs, then overlap.
 * The call changes nothing, and may run while other calls use the UE.
 *
 * Fails with NULL_POINTER; NO_UE for a handle that no UE can have.
 *
 * # Safety
 * `instance` is null or lives.
 */
enum tidemark_status tidemark_warm(const struct tidemark_instance *instance,
                                   struct tidemark_ue ue)
TIDEMARK_NOEXCEPT TIDEMARK_HOT;

/**
 * Notes that PDCP sends a data PDU with this SN and a `size` in bytes to the DU. `is_retx` is true if PDCP sends it again, like all
 * unconfirmed PDUs after a handover. A repeated PDU counts only if this DU has not got it before, so a host can announce every PDU
 * without tracking that.
 *
 * Fails with NULL_POINTER, NO_UE, NO_DRB, BUSY.
 *
 * # Safety
 * `instance` is null or lives.
 */
enum tidemark_status tidemark_pdcp_pdu(const struct tidemark_instance *instance,
                                       struct tidemark_ue ue,
                                       uint64_t now_ns,
                                       uint8_t drb,
                                       uint32_t sn,
                                       uint32_t size,
                                       bool is_retx)
TIDEMARK_NOEXCEPT TIDEMARK_HOT;

/**
 * Does the work of `tidemark_pdcp_pdu` for a host that has the PDU but not its SN. `header` has the PDU's first `present` bytes, of which at
 * most three are read, and `size` is the size of the PDU in bytes. The SN length is that of the DRB (TS 38.323 6.2.2). A control PDU, which
 * has no SN and no reports, returns OK and changes nothing.
 *
 * Fails with NULL_POINTER, NO_UE, NO_DRB, BUSY; BAD_LENGTH for an incomplete header.
 *
 * # Safety
 * `instance` is null or lives, `header` is null or valid for `present` bytes.
 */
enum tidemark_status tidemark_pdcp_pdu_header(const struct tidemark_instance *instance,
                                              struct tidemark_ue ue,
                                              uint64_t now_ns,
                                              uint8_t drb,
                                              const uint8_t *header,
                                              size_t present,
                                              uint32_t size,
                                              bool is_retx)
TIDEMARK_NOEXCEPT TIDEMARK_HOT;

/**
 * Notes that PDCP discarded an SDU that had this SN.
 *
 * Fails with NULL_POINTER, NO_UE, NO_DRB, BUSY.
 *
 * # Safety
 * `instance` is null or lives.
 */
enum tidemark_status tidemark_pdcp_discard(const struct tidemark_instance *instance,
                                           struct tidemark_ue ue,
                                           uint64_t now_ns,
                                           uint8_t drb,
                                           uint32_t sn)
TIDEMARK_NOEXCEPT TIDEMARK_HOT;

/**
 * Takes the DU's report on a DRB, from a frame that the caller has parsed. Fields of a newer header than that of this library are ignored.
 *
 * Fails with NULL_POINTER, NO_UE, NO_DRB, BUSY; BAD_LENGTH for an invalid `size`.
 *
 * # Safety
 * `instance` is null or lives, `report` is null or valid.
 */
enum tidemark_status tidemark_feedback(const struct tidemark_instance *instance,
                                       struct tidemark_ue ue,
                                       uint64_t now_ns,
                                       uint8_t drb,
                                       const struct tidemark_report *report)
TIDEMARK_NOEXCEPT TIDEMARK_HOT;

/**
 * Takes the DU's report on a DRB: the `len` bytes of a DL DATA DELIVERY STATUS in the NR RAN container
 * (TS 38.425 5.5.2.2), from its PDU type on.
 *
 * Fails with NULL_POINTER, BAD_LENGTH, BAD_FRAME, NO_UE, NO_DRB, BUSY.
 *
 * # Safety
 * `instance` is null or lives, `frame` is null or valid for `len` bytes.
 */
enum tidemark_status tidemark_feedback_frame(const struct tidemark_instance *instance,
                                             struct tidemark_ue ue,
                                             uint64_t now_ns,
                                             uint8_t drb,
                                             const uint8_t *frame,
                                             size_t len)
TIDEMARK_NOEXCEPT TIDEMARK_HOT;

/**
 * Handles an uplink packet, after PDCP. `packet`, `present` and `len` are as in `tidemark_downlink`. If the feedback of its flow is
 * short-circuited, it is written in place, with the checksum. All other packets pass unchanged.
 *
 * Fails with NULL_POINTER, BAD_LENGTH, NO_UE, BUSY.
 *
 * # Safety
 * `instance` is null or lives, `packet` is null or valid for `present` bytes that nobody else uses meanwhile.
 */
enum tidemark_status tidemark_uplink(const struct tidemark_instance *instance,
                                     struct tidemark_ue ue,
                                     uint64_t now_ns,
                                     uint8_t *packet,
                                     size_t present,
                                     size_t len)
TIDEMARK_NOEXCEPT TIDEMARK_HOT;

/**
 * Sets `wanted` to true if the next frame to the DU should ask for a report on this DRB, with the report polling flag of DL USER
 * DATA (TS 38.425 5.5.3.7). False for a DRB that is not set up, and after any error.
 *
 * Fails with NULL_POINTER, NO_UE, BUSY.
 *
 * # Safety
 * `instance` is null or lives, `wanted` is null or valid for a write.
 */
enum tidemark_status tidemark_wants_report(const struct tidemark_instance *instance,
                                           struct tidemark_ue ue,
                                           uint64_t now_ns,
                                           uint8_t drb,
                                           bool *wanted)
TIDEMARK_NOEXCEPT TIDEMARK_HOT;

/**
 * Decides on downlink packets, each as with `tidemark_downlink`, at one time: the clock is read once. An error in one element does not
 * affect the others. Returns OK if all elements have that status, else the first other status.
 *
 * For other threads a batch is one call about all its UEs, from its first element to its last. A call in another thread about one of them may
 * fail with BUSY, or make an element fail with it.
 *
 * Fails with NULL_POINTER, with BAD_LENGTH for more than `TIDEMARK_MAX_BATCH` packets, of which none is then handled, and with the elements' errors.
 *
 * # Safety
 * `instance` is null or lives, `packets` is null or valid for `count` packets, each of which is as in `tidemark_downlink`.
 */
enum tidemark_status tidemark_downlink_batch(const struct tidemark_instance *instance,
                                             uint64_t now_ns,
                                             struct tidemark_packet *packets,
                                             size_t count)
TIDEMARK_NOEXCEPT TIDEMARK_HOT;

/**
 * Handles uplink packets, each as with `tidemark_uplink`, at one time. Statuses and threads are as in
 * `tidemark_downlink_batch`.
 *
 * Fails with NULL_POINTER, with BAD_LENGTH for more than `TIDEMARK_MAX_BATCH` packets, and with the elements' errors.
 *
 * # Safety
 * `instance` is null or lives, `packets` is null or valid for `count` packets, each of which is as in `tidemark_uplink`.
 */
enum tidemark_status tidemark_uplink_batch(const struct tidemark_instance *instance,
                                           uint64_t now_ns,
                                           struct tidemark_packet *packets,
                                           size_t count)
TIDEMARK_NOEXCEPT TIDEMARK_HOT;

/**
 * Notes PDCP data PDUs, each as with `tidemark_pdcp_pdu`, at one time. Statuses and threads are as in
 * `tidemark_downlink_batch`.
 *
 * Fails with NULL_POINTER, with BAD_LENGTH for more than `TIDEMARK_MAX_BATCH` PDUs, and with the elements' errors.
 *
 * # Safety
 * `instance` is null or lives, `pdus` is null or valid for `count` PDUs.
 */
enum tidemark_status tidemark_pdcp_pdu_batch(const struct tidemark_instance *instance,
                                             uint64_t now_ns,
                                             struct tidemark_pdu *pdus,
                                             size_t count)
TIDEMARK_NOEXCEPT TIDEMARK_HOT;

/**
 * Takes reports of DUs, each as with `tidemark_feedback`, at one time. Statuses and threads are as in
 * `tidemark_downlink_batch`.
 *
 * Fails with NULL_POINTER, with BAD_LENGTH for more than `TIDEMARK_MAX_BATCH` reports, and with the elements' errors.
 *
 * # Safety
 * `instance` is null or lives, `reports` is null or valid for `count` reports, each of which is as in `tidemark_feedback`.
 */
enum tidemark_status tidemark_feedback_batch(const struct tidemark_instance *instance,
                                             uint64_t now_ns,
                                             struct tidemark_drb_report *reports,
                                             size_t count)
TIDEMARK_NOEXCEPT TIDEMARK_HOT;

/**
 * Sets the marking of a QoS flow's downlink packets from now on: `marking` is one of `TIDEMARK_MARKING_...`. It belongs to the QoS flow in any
 * DRB, and can be set before the flow is mapped to one. Packets that are not marked here still count in the queue, and the law can still drop
 * them. Marks that already wait for acknowledgements are still sent, and the counters in acknowledgements go on. The first QoS flow of a UE
 * that is not `TIDEMARK_MARKING_DOWNLINK` allocates memory.
 *
 * Fails with NULL_POINTER, NO_UE, BUSY, BAD_QFI; BAD_CONFIG for another `marking`.
 *
 * # Safety
 * `instance` is null or lives.
 */
enum tidemark_status tidemark_qfi_marking(const struct tidemark_instance *instance,
                                          struct tidemark_ue ue,
                                          uint8_t qfi,
                                          uint8_t marking)
TIDEMARK_NOEXCEPT;

/**
 * Gives the congestion of a QoS flow's downlink, for a report to the UPF: the share of its L4S packets since the last call that the DRB's law would
 * have marked. Call it once for each report. If there were no such packets, the share is that of the last call while something is queued in the
 * DRB, and then zero.
 *
 * Fails with NULL_POINTER, BAD_LENGTH, NO_UE, BUSY, BAD_QFI; NO_DRB for a QoS flow that no DRB carries; BAD_CONFIG for one that is marked here.
 *
 * # Safety
 * `instance` is null or lives, `congestion` is null or valid for a write.
 */
enum tidemark_status tidemark_qfi_congestion(const struct tidemark_instance *instance,
                                             struct tidemark_ue ue,
                                             uint64_t now_ns,
                                             uint8_t qfi,
                                             struct tidemark_congestion *congestion)
TIDEMARK_NOEXCEPT TIDEMARK_HOT;

/**
 * Writes an UL PDU SESSION INFORMATION (TS 38.415 5.5.2.2) with the QFI and the DL Congestion Information. It is the content of a GTP-U extension
 * header of type 0x85, for an uplink packet of the QoS flow, or for one without payload if the UE sends none. `dl_congestion` is in hundredths of
 * a percent.
 *
 * Fails with NULL_POINTER, BAD_QFI; BAD_CONFIG for a `dl_congestion` above 10000.
 *
 * # Safety
 * `container` is null or valid for a write of `TIDEMARK_CONGESTION_CONTAINER` bytes.
 */
enum tidemark_status tidemark_congestion_container(uint8_t qfi,
                                                   uint16_t dl_congestion,
                                                   uint8_t (*container)[TIDEMARK_CONGESTION_CONTAINER])
TIDEMARK_NOEXCEPT TIDEMARK_HOT;

/**
 * Reads the counters of a UE's packets, apart from those of its DRBs. Also updates the UE's part in the instance's totals.
 *
 * Fails with NULL_POINTER, BAD_LENGTH, NO_UE, BUSY.
 *
 * # Safety
 * `instance` is null or lives, `counters` is null or valid for a write.
 */
enum tidemark_status tidemark_read_ue_counters(const struct tidemark_instance *instance,
                                               struct tidemark_ue ue,
                                               struct tidemark_ue_counters *counters)
TIDEMARK_NOEXCEPT TIDEMARK_HOT;

/**
 * Reads the counters of a DRB since it was set up.
 *
 * Fails with NULL_POINTER, BAD_LENGTH, NO_UE, NO_DRB, BUSY.
 *
 * # Safety
 * `instance` is null or lives, `counters` is null or valid for a write.
 */
enum tidemark_status tidemark_read_drb_counters(const struct tidemark_instance *instance,
                                                struct tidemark_ue ue,
                                                uint8_t drb,
                                                struct tidemark_drb_counters *counters)
TIDEMARK_NOEXCEPT TIDEMARK_HOT;

/**
 * Reads the estimates about a DRB at this time.
 *
 * Fails with NULL_POINTER, BAD_LENGTH, NO_UE, NO_DRB, BUSY.
 *
 * # Safety
 * `instance` is null or lives, `estimate` is null or valid for a write.
 */
enum tidemark_status tidemark_read_estimate(const struct tidemark_instance *instance,
                                            struct tidemark_ue ue,
                                            uint64_t now_ns,
                                            uint8_t drb,
                                            struct tidemark_drb_estimate *estimate)
TIDEMARK_NOEXCEPT TIDEMARK_HOT;

/**
 * Reads the totals of an instance. Any thread may call this at any time: it neither waits for other calls nor makes them wait or fail. A UE's
 * part is at most 1.1 s older than its last call with a time, or as of the last `tidemark_read_ue_counters`, whichever is later. Removed UEs
 * stay fully included. Each total is correct by itself, but two totals may differ by packets counted in between.
 *
 * Fails with NULL_POINTER, BAD_LENGTH.
 *
 * # Safety
 * `instance` is null or lives, `totals` is null or valid for a write.
 */
enum tidemark_status tidemark_read_totals(const struct tidemark_instance *instance,
                                          struct tidemark_totals *totals)
TIDEMARK_NOEXCEPT;

/**
 * Compares totals with earlier ones and writes a notice for each that grew and that a host should log, the most severe first. `before` is
 * null if there are no earlier totals. `count` becomes the number of notices, at most `TIDEMARK_MAX_NOTICES`, of which at most `capacity` are
 * written. The host keeps the totals, so it decides where and how often to ask, and several readers may ask.
 *
 * Fails with NULL_POINTER, BAD_LENGTH.
 *
 * # Safety
 * `before` is null or valid, `now` and `count` are null or valid, `notices` is null or valid for `capacity` notices.
 */
enum tidemark_status tidemark_notices(const struct tidemark_totals *before,
                                      const struct tidemark_totals *now,
                                      struct tidemark_notice *notices,
                                      size_t capacity,
                                      size_t *count)
TIDEMARK_NOEXCEPT;

/**
 * Notes that a DRB moved to another DU or cell, or was re-established: `tidemark_ue_handover` for one DRB. It is for hosts that loop over DRBs,
 * as for E1AP's Bearer Context Modification: PDUs that other DRBs have already retransmitted are not forgotten. The measurements of the
 * DRB's old radio and its queue are forgotten, and PDUs that PDCP retransmits must be announced again. Flows and their counters
 * are kept.
 *
 * Fails with NULL_POINTER, NO_UE, NO_DRB, BUSY.
 *
 * # Safety
 * `instance` is null or lives.
 */
enum tidemark_status tidemark_drb_handover(const struct tidemark_instance *instance,
                                           struct tidemark_ue ue,
                                           uint64_t now_ns,
                                           uint8_t drb)
TIDEMARK_NOEXCEPT;

/**
 * Writes a UE's TCP connections for the CU-UP to which it moves: the agreed ECN mode, the additions to the counters in their
 * acknowledgements, and the marks that no acknowledgement has carried yet. Without this state the senders would read false marks.
 * The bytes are the same on every machine (docs/concepts/relocation.md).
 *
 * `len` becomes the length of the state in bytes, also with BUFFER_TOO_SMALL. To get only the length, pass a null `buffer` and a `capacity` of 0.
 * It is 12 bytes and 136 for each connection. The UE itself does not change. Export after its last uplink packet here: marks
 * carried by acknowledgements after the export would be missing at the other CU-UP.
 *
 * Fails with NULL_POINTER, NO_UE, BUSY, BUFFER_TOO_SMALL. `buffer` is then unchanged.
 *
 * # Safety
 * `instance` is null or lives, `buffer` is null or valid for `capacity` bytes, `len` is null or valid for a write.
 */
enum tidemark_status tidemark_ue_export(const struct tidemark_instance *instance,
                                        struct tidemark_ue ue,
                                        uint8_t *buffer,
                                        size_t capacity,
                                        size_t *len)
TIDEMARK_NOEXCEPT;

/**
 * Imports a UE's TCP connections from another CU-UP: the `len` bytes that `tidemark_ue_export` wrote there. Call it after the UE's DRBs are
 * set up and before its first packet here. Connections go to the DRB of the same identity, or to the one that was set up first, from which
 * their packets move them. If a DRB's `flow_capacity` is smaller, the weakest are forgotten and counted. With another law, or one without
 * short-circuit, the counters in acknowledgements still go on as long as the connection.
 *
 * The bytes need not be trusted. An error in them and its position are written to `problem`, cut to `problem_len` bytes with a terminating
 * zero; `problem` may be null.
 *
 * Fails with NULL_POINTER, NO_UE, BUSY; NO_DRB if none is set up yet; BAD_STATE. Nothing has changed then.
 *
 * # Safety
 * `instance` is null or lives, `state` is null or valid for `len` bytes, `problem` is null or valid for `problem_len` bytes.
 */
enum tidemark_status tidemark_ue_import(const struct tidemark_instance *instance,
                                        struct tidemark_ue ue,
                                        uint64_t now_ns,
                                        const uint8_t *state,
                                        size_t len,
                                        char *problem,
                                        size_t problem_len)
TIDEMARK_NOEXCEPT;

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TIDEMARK_H */
