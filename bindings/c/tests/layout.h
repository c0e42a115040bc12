/* The layout of everything that crosses the border, as src/types.rs has it too. */
#ifndef TIDEMARK_TEST_LAYOUT_H
#define TIDEMARK_TEST_LAYOUT_H

#include "tidemark.h"

#ifdef __cplusplus
#define LAYOUT(what) static_assert(what, #what)
#else
#define LAYOUT(what) _Static_assert(what, #what)
#endif

LAYOUT(sizeof(tidemark_status) == 4);
LAYOUT(sizeof(tidemark_verdict) == 4);
LAYOUT(sizeof(tidemark_ue) == 8);
LAYOUT(sizeof(tidemark_qos_flow) == 2);

LAYOUT(sizeof(tidemark_instance_config) == 40);
LAYOUT(offsetof(tidemark_instance_config, seed) == 16);
LAYOUT(offsetof(tidemark_instance_config, secret) == 24);

LAYOUT(sizeof(tidemark_report) == 32);
LAYOUT(offsetof(tidemark_report, highest_transmitted_sn) == 12);
LAYOUT(offsetof(tidemark_report, highest_delivered_sn) == 16);
LAYOUT(offsetof(tidemark_report, desired_buffer_size) == 20);
LAYOUT(offsetof(tidemark_report, highest_delivered_retransmitted_sn) == 28);

LAYOUT(sizeof(tidemark_ue_counters) == 48);
LAYOUT(offsetof(tidemark_ue_counters, unknown_drb) == 40);

LAYOUT(sizeof(tidemark_counters) == 216);
LAYOUT(offsetof(tidemark_counters, l4s_marks) == 40);
LAYOUT(offsetof(tidemark_counters, reports) == 88);
LAYOUT(offsetof(tidemark_counters, blind_drbs) == 168);
LAYOUT(offsetof(tidemark_counters, reports_missing) == 176);
LAYOUT(offsetof(tidemark_counters, marks_let_go) == 184);
LAYOUT(offsetof(tidemark_counters, overload_drops) == 192);
LAYOUT(offsetof(tidemark_counters, mismatched_reports) == 208);
LAYOUT(sizeof(tidemark_drb_counters) == 224);
LAYOUT(offsetof(tidemark_drb_counters, counters) == 8);

LAYOUT(sizeof(tidemark_drb_estimate) == 96);
LAYOUT(offsetof(tidemark_drb_estimate, backlog) == 16);
LAYOUT(offsetof(tidemark_drb_estimate, sojourn_ns) == 48);
LAYOUT(offsetof(tidemark_drb_estimate, report_age_ns) == 80);
LAYOUT(sizeof(tidemark_totals) == 288);
LAYOUT(offsetof(tidemark_totals, sums) == 72);
LAYOUT(sizeof(tidemark_severity) == 4);
LAYOUT(sizeof(tidemark_notice) == 40);
LAYOUT(offsetof(tidemark_notice, severity) == 32);

LAYOUT(sizeof(tidemark_packet) == 48);
LAYOUT(offsetof(tidemark_packet, qfi) == 32);
LAYOUT(offsetof(tidemark_packet, verdict) == 36);
LAYOUT(offsetof(tidemark_packet, status) == 40);
LAYOUT(sizeof(tidemark_pdu) == 24);
LAYOUT(offsetof(tidemark_pdu, drb) == 16);
LAYOUT(offsetof(tidemark_pdu, status) == 20);
LAYOUT(sizeof(tidemark_drb_report) == 24);
LAYOUT(offsetof(tidemark_drb_report, status) == 20);

LAYOUT(offsetof(tidemark_drb_estimate, probability) == 88);

LAYOUT(sizeof(tidemark_congestion) == 24);
LAYOUT(offsetof(tidemark_congestion, dl_congestion) == 16);

#endif
