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

LAYOUT(sizeof(tidemark_instance_config) == 32);
LAYOUT(offsetof(tidemark_instance_config, seed) == 8);
LAYOUT(offsetof(tidemark_instance_config, secret) == 16);

LAYOUT(sizeof(tidemark_report) == 24);
LAYOUT(offsetof(tidemark_report, highest_transmitted_sn) == 4);
LAYOUT(offsetof(tidemark_report, highest_delivered_sn) == 8);
LAYOUT(offsetof(tidemark_report, desired_buffer_size) == 12);
LAYOUT(offsetof(tidemark_report, highest_delivered_retransmitted_sn) == 20);

LAYOUT(sizeof(tidemark_ue_counters) == 40);
LAYOUT(offsetof(tidemark_ue_counters, unknown_drb) == 32);

LAYOUT(sizeof(tidemark_drb_counters) == 192);
LAYOUT(offsetof(tidemark_drb_counters, l4s_marks) == 40);
LAYOUT(offsetof(tidemark_drb_counters, reports) == 88);
LAYOUT(offsetof(tidemark_drb_counters, reports_are_blind) == 168);
LAYOUT(offsetof(tidemark_drb_counters, reports_missing) == 176);
LAYOUT(offsetof(tidemark_drb_counters, marks_let_go) == 184);

LAYOUT(sizeof(tidemark_drb_estimate) == 88);
LAYOUT(offsetof(tidemark_drb_estimate, backlog) == 8);
LAYOUT(offsetof(tidemark_drb_estimate, sojourn_ns) == 40);
LAYOUT(offsetof(tidemark_drb_estimate, report_age_ns) == 72);
LAYOUT(offsetof(tidemark_drb_estimate, probability) == 80);

#endif
