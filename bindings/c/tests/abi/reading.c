/* Totals, notices, and structs that may grow. */
#include "abi.h"

#include <stdlib.h>
#include <string.h>

/* Totals keep what was removed, and notices name what grew. */
void totals_and_notices(void)
{
  tidemark_ue ue, other;
  tidemark_instance *instance = instance_of(2);
  tidemark_policy *policy = NULL;
  IS(OK, tidemark_policy_new(POLICY, &policy, NULL, 0));
  const tidemark_qos_flow flow = {9, 80};
  IS(OK, tidemark_ue_add(instance, &ue));
  IS(OK, tidemark_ue_add(instance, &other));
  IS(OK, tidemark_drb_add(instance, ue, 1, 12, &flow, 1, policy));
  IS(OK, tidemark_drb_add(instance, ue, 2, 12, &flow, 1, policy));
  IS(OK, tidemark_drb_add(instance, other, 1, 12, &flow, 1, policy));
  tidemark_policy_free(policy);

  tidemark_totals before = {.size = sizeof before}, now = {.size = sizeof now};
  IS(OK, tidemark_read_totals(instance, &before));
  CHECK(before.size == sizeof before && before.ues == 2 && before.drbs == 3 && before.downlink == 0);
  tidemark_notice notices[TIDEMARK_MAX_NOTICES];
  size_t count = 99;
  IS(OK, tidemark_notices(NULL, &before, notices, TIDEMARK_MAX_NOTICES, &count));
  CHECK(count == 0);

  uint8_t packet[1400];
  tidemark_verdict verdict;
  /* A second and a half passes between two calls: what came before the second is shown by then. */
  for (uint64_t k = 0; k < 10; ++k) {
    datagram(packet, 1);
    IS(OK, tidemark_downlink(instance, ue, k * 1500000000, 9, packet, sizeof packet, sizeof packet, &verdict));
    IS(OK, tidemark_downlink(instance, other, k * 1500000000, 10, packet, sizeof packet, sizeof packet, &verdict));
    IS(OK, tidemark_pdcp_pdu(instance, other, k * 1500000000, 1, (uint32_t)k, 1403, false));
    IS(OK, tidemark_read_totals(instance, &now));
    CHECK(now.downlink == 2 * k + 2 && now.sums.packets == k + 1 && now.unknown_qfi == k + 1 && now.sums.pdus == k);
  }
  tidemark_ue_counters counters = {.size = sizeof counters};
  IS(OK, tidemark_read_ue_counters(instance, other, &counters));
  IS(OK, tidemark_read_totals(instance, &now));
  CHECK(now.sums.pdus == 10);
  IS(OK, tidemark_notices(&before, &now, notices, TIDEMARK_MAX_NOTICES, &count));
  CHECK(count == 1 && strcmp(notices[0].name, "unknown_qfi") == 0 && notices[0].severity == TIDEMARK_SEVERITY_WARNING);
  CHECK(notices[0].change == 10 && notices[0].total == 10 && strlen(notices[0].text) > 20);
  IS(OK, tidemark_notices(&now, &now, notices, TIDEMARK_MAX_NOTICES, &count));
  CHECK(count == 0);

  /* What goes stays in the sums, and a slot that is used again begins where it was. */
  IS(OK, tidemark_drb_remove(instance, ue, 1, NULL));
  IS(OK, tidemark_ue_remove(instance, other));
  before = now;
  IS(OK, tidemark_read_totals(instance, &now));
  CHECK(now.ues == 1 && now.drbs == 1 && now.sums.packets == 10 && now.sums.pdus == 10 && now.downlink == 20);
  IS(OK, tidemark_ue_add(instance, &other));
  packet[0] = 0;
  IS(OK, tidemark_uplink(instance, other, 30000000000, packet, 100, sizeof packet));
  IS(NO_DRB, tidemark_pdcp_discard(instance, other, 32000000000, 9, 1));
  IS(OK, tidemark_read_totals(instance, &now));
  CHECK(now.ues == 2 && now.uplink == 1 && now.unparsed == 1 && now.unknown_drb == 1 && now.downlink == 20);
  IS(OK, tidemark_notices(&before, &now, notices, 1, &count));
  CHECK(count == 2 && strcmp(notices[0].name, "unknown_drb") == 0 && notices[0].change == 1);
  IS(OK, tidemark_notices(&before, &now, NULL, 0, &count));
  CHECK(count == 2);
  /* Totals of another instance, or the wrong way round, are no news. */
  IS(OK, tidemark_notices(&now, &before, notices, TIDEMARK_MAX_NOTICES, &count));
  CHECK(count == 0);

  IS(NULL_POINTER, tidemark_read_totals(NULL, &now));
  IS(NULL_POINTER, tidemark_read_totals(instance, NULL));
  IS(BAD_LENGTH, tidemark_read_totals(instance, &(tidemark_totals){.size = 0}));
  tidemark_totals small = {.size = offsetof(tidemark_totals, uplink)};
  IS(OK, tidemark_read_totals(instance, &small));
  CHECK(small.size == offsetof(tidemark_totals, uplink) && small.downlink == 20 && small.uplink == 0);
  IS(OK, tidemark_notices(&small, &now, notices, TIDEMARK_MAX_NOTICES, &count));
  CHECK(count == 3);
  IS(NULL_POINTER, tidemark_notices(NULL, NULL, notices, 1, &count));
  IS(NULL_POINTER, tidemark_notices(NULL, &now, NULL, 1, &count));
  IS(NULL_POINTER, tidemark_notices(NULL, &now, notices, 1, NULL));
  small.size = 3;
  IS(BAD_LENGTH, tidemark_notices(NULL, &small, notices, 1, &count));
  IS(BAD_LENGTH, tidemark_notices(&small, &now, notices, 1, &count));
  tidemark_instance_free(instance);
}

/* Hosts of an older header have smaller structs, of a newer one larger ones: both in memory of just that size. */
void structs_may_grow(void)
{
  tidemark_ue ue;
  tidemark_instance *instance = marking(12, &ue);

  /* Counters as they were before `pdus`, and with 24 bytes that this library doesn't know. */
  const size_t older = offsetof(tidemark_drb_counters, counters.pdus), newer = sizeof(tidemark_drb_counters) + 24;
  tidemark_drb_counters now = {.size = sizeof now};
  IS(OK, tidemark_read_drb_counters(instance, ue, 1, &now));
  CHECK(now.size == sizeof now && now.counters.pdus == 100);
  for (size_t size = 0; size < 9000; ++size) {
    if (size != older && size != newer && size >= sizeof(size_t) && size <= 4096) {
      continue;
    }
    uint8_t *bytes = malloc(size < sizeof(size_t) ? sizeof(size_t) : size);
    CHECK(bytes != NULL);
    memset(bytes, 0xFF, size);
    memcpy(bytes, &size, sizeof size);
    if (size == older || size == newer) {
      IS(OK, tidemark_read_drb_counters(instance, ue, 1, (tidemark_drb_counters *)(void *)bytes));
      const size_t known = size == older ? older : sizeof now;
      CHECK(memcmp(bytes, &known, sizeof known) == 0);
      CHECK(memcmp(bytes + sizeof known, (const uint8_t *)&now + sizeof known, known - sizeof known) == 0);
      for (size_t at = known; at < size; ++at) {
        CHECK(bytes[at] == 0);
      }
    } else {
      IS(BAD_LENGTH, tidemark_read_drb_counters(instance, ue, 1, (tidemark_drb_counters *)(void *)bytes));
    }
    free(bytes);
  }

  /* A report as it was before retransmissions, whose flags mean nothing in it, and a longer one. */
  const size_t sizes[2] = {offsetof(tidemark_report, highest_retransmitted_sn), sizeof(tidemark_report) + 8};
  for (int k = 0; k < 2; ++k) {
    uint8_t *bytes = malloc(sizes[k]);
    CHECK(bytes != NULL);
    memset(bytes, 0, sizes[k]);
    const tidemark_report report = {.size = sizes[k], .fields = TIDEMARK_REPORT_TRANSMITTED, .highest_transmitted_sn = 9 + 10 * (unsigned)k};
    memcpy(bytes, &report, sizes[k] < sizeof report ? sizes[k] : sizeof report);
    IS(OK, tidemark_feedback(instance, ue, 6000000, 1, (const tidemark_report *)(const void *)bytes));
    tidemark_drb_estimate estimate = {.size = sizeof estimate};
    IS(OK, tidemark_read_estimate(instance, ue, 6000000, 1, &estimate));
    CHECK(estimate.packets == 90 - 10 * (unsigned)k);
    free(bytes);
  }
  tidemark_report forgotten = {.fields = TIDEMARK_REPORT_TRANSMITTED};
  IS(BAD_LENGTH, tidemark_feedback(instance, ue, 0, 1, &forgotten));
  forgotten.size = SIZE_MAX;
  IS(BAD_LENGTH, tidemark_feedback(instance, ue, 0, 1, &forgotten));

  tidemark_ue_counters all = {.size = sizeof(size_t) + 8};
  IS(OK, tidemark_read_ue_counters(instance, ue, &all));
  CHECK(all.size == sizeof(size_t) + 8 && all.uplink == 0);
  /* What can't be written changes nothing. */
  IS(BAD_LENGTH, tidemark_drb_remove(instance, ue, 1, &(tidemark_drb_counters){.size = 0}));
  IS(OK, tidemark_drb_remove(instance, ue, 1, &now));
  CHECK(now.counters.reports == 3);
  tidemark_instance_free(instance);

  /* A setting that this library doesn't know is refused, and zeros are none. */
  struct {
    tidemark_instance_config config;
    uint64_t later;
  } config = {.config = {.size = sizeof config, .max_ues = 1, .secret = {1}}};
  IS(OK, tidemark_instance_new(&config.config, &instance));
  tidemark_instance_free(instance);
  config.later = 1;
  IS(BAD_CONFIG, tidemark_instance_new(&config.config, &instance));
  config.config.size = 0;
  IS(BAD_LENGTH, tidemark_instance_new(&config.config, &instance));
}
