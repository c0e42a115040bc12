/* Packets by their first bytes, PDUs by their headers, and batches. */
#include "abi.h"

#include <stdlib.h>
#include <string.h>

/* The first segment of a packet is all that a call touches: here it is a block of its own, which the sanitizer watches. */
void headers_are_enough(void)
{
  tidemark_ue ue;
  tidemark_instance *instance = marking(12, &ue);
  uint8_t whole[1400];
  unsigned marks = 0;
  for (size_t present = 1; present <= sizeof whole; present += present < 40 ? 1 : 97) {
    datagram(whole, 1);
    uint8_t *front = malloc(present);
    CHECK(front != NULL);
    memcpy(front, whole, present);
    tidemark_verdict verdict = TIDEMARK_VERDICT_DROP;
    IS(OK, tidemark_downlink(instance, ue, 6000000, 9, front, present, sizeof whole, &verdict));
    /* 20 bytes of IP, and the ports. */
    CHECK(verdict == (present < 24 ? TIDEMARK_VERDICT_PASS : TIDEMARK_VERDICT_MARK));
    CHECK(present < 24 ? memcmp(front, whole, present) == 0 : front[1] == 3 && ones_complement(front, 20) == 0xFFFF);
    marks += verdict == TIDEMARK_VERDICT_MARK;

    memcpy(front, whole, present);
    IS(OK, tidemark_uplink(instance, ue, 6000000, front, present, sizeof whole));
    CHECK(memcmp(front, whole, present) == 0);
    IS(OK, tidemark_dequeue(instance, ue, 6000000, 1, front, present, sizeof whole, 1, 1, &verdict));
    CHECK(verdict == TIDEMARK_VERDICT_PASS && memcmp(front, whole, present) == 0);

    /* The end of a tunnel needs the fixed header alone. */
    const tidemark_status status = tidemark_decapsulate(3, front, present, sizeof whole, &verdict);
    CHECK(status == (present < 20 ? TIDEMARK_STATUS_BAD_FRAME : TIDEMARK_STATUS_OK));
    CHECK(present < 20 ? memcmp(front, whole, present) == 0 : front[1] == 3);
    free(front);
  }
  tidemark_drb_counters drb = {.size = sizeof drb};
  IS(OK, tidemark_read_drb_counters(instance, ue, 1, &drb));
  CHECK(marks > 20 && drb.counters.l4s_marks == marks);
  tidemark_ue_counters counters = {.size = sizeof counters};
  IS(OK, tidemark_read_ue_counters(instance, ue, &counters));
  CHECK(counters.unparsed == 3 * 23);

  /* More is there than the packet has, or the packet is longer than it can be. */
  tidemark_verdict verdict;
  IS(BAD_LENGTH, tidemark_downlink(instance, ue, 0, 9, whole, 1400, 1399, &verdict));
  IS(BAD_LENGTH, tidemark_uplink(instance, ue, 0, whole, 1400, TIDEMARK_MAX_PACKET + 1));
  IS(BAD_LENGTH, tidemark_dequeue(instance, ue, 0, 1, whole, 2, 1, 0, 0, &verdict));
  IS(BAD_LENGTH, tidemark_decapsulate(3, whole, 1400, 40, &verdict));
  /* The IP header says more than there is. */
  datagram(whole, 1);
  IS(OK, tidemark_downlink(instance, ue, 6000000, 9, whole, 60, 1399, &verdict));
  CHECK(verdict == TIDEMARK_VERDICT_PASS && whole[1] == 1);
  tidemark_instance_free(instance);
}

void pdus_by_their_headers(void)
{
  tidemark_ue ue;
  tidemark_drb_counters counters = {.size = sizeof counters};
  tidemark_drb_estimate estimate = {.size = sizeof estimate};
  for (int is_long = 0; is_long < 2; ++is_long) {
    tidemark_instance *instance = marking(is_long ? 18 : 12, &ue);
    /* A data PDU with SN 100: the D/C bit, reserved bits, the SN (TS 38.323 6.2.2.2, 6.2.2.3). What follows is not read. */
    const uint8_t data[2][3] = {{0x80, 100, 0xEE}, {0x80, 0, 100}}, odd[2][3] = {{0xF0, 101, 0}, {0xFC, 0, 101}};
    const size_t header = is_long ? 3 : 2;
    IS(OK, tidemark_pdcp_pdu_header(instance, ue, 0, 1, data[is_long], header, 1000, false));
    IS(OK, tidemark_pdcp_pdu_header(instance, ue, 0, 1, odd[is_long], 500, 1000, false));
    IS(OK, tidemark_read_drb_counters(instance, ue, 1, &counters));
    CHECK(counters.counters.pdus == 102 && counters.counters.skipped_sns == 0 && counters.counters.repeated_sns == 0 && counters.counters.sn_restarts == 0);
    /* A status report and feedback of header compression have no SN. */
    const uint8_t control[2] = {0x00, 0x10};
    IS(OK, tidemark_pdcp_pdu_header(instance, ue, 0, 1, &control[0], 1, 9, false));
    IS(OK, tidemark_pdcp_pdu_header(instance, ue, 0, 1, &control[1], 1, 9, false));
    IS(OK, tidemark_read_drb_counters(instance, ue, 1, &counters));
    CHECK(counters.counters.pdus == 102);
    IS(BAD_LENGTH, tidemark_pdcp_pdu_header(instance, ue, 0, 1, data[is_long], header - 1, 1000, false));
    IS(BAD_LENGTH, tidemark_pdcp_pdu_header(instance, ue, 0, 1, data[is_long], 0, 1000, false));
    IS(NULL_POINTER, tidemark_pdcp_pdu_header(instance, ue, 0, 1, NULL, header, 1000, false));
    IS(NULL_POINTER, tidemark_pdcp_pdu_header(NULL, ue, 0, 1, data[is_long], header, 1000, false));
    IS(NO_DRB, tidemark_pdcp_pdu_header(instance, ue, 0, 2, data[is_long], header, 1000, false));
    const tidemark_ue nobody = {0};
    IS(NO_UE, tidemark_pdcp_pdu_header(instance, nobody, 0, 1, data[is_long], header, 1000, false));

    /* What this DU was sent before does not count again, by either call. What a new one is sent does. */
    IS(OK, tidemark_pdcp_pdu_header(instance, ue, 0, 1, data[is_long], header, 1000, true));
    IS(OK, tidemark_pdcp_pdu(instance, ue, 0, 1, 101, 1000, true));
    IS(OK, tidemark_read_estimate(instance, ue, 0, 1, &estimate));
    CHECK(estimate.packets == 101 && estimate.standing == 99 * 1403 + 2 * 1000);
    IS(OK, tidemark_drb_handover(instance, ue, 0, 1));
    IS(OK, tidemark_pdcp_pdu_header(instance, ue, 0, 1, data[is_long], header, 1000, true));
    IS(OK, tidemark_pdcp_pdu(instance, ue, 0, 1, 101, 1000, true));
    IS(OK, tidemark_read_estimate(instance, ue, 0, 1, &estimate));
    CHECK(estimate.packets == 2 && estimate.standing == 2 * 1000);
    IS(OK, tidemark_read_drb_counters(instance, ue, 1, &counters));
    CHECK(counters.counters.pdus == 104 && counters.counters.repeated_sns == 0);
    tidemark_instance_free(instance);
  }
}

/* What is wrong with one element is its own affair. */
void batches(void)
{
  tidemark_ue ue;
  const tidemark_ue nobody = {0};
  tidemark_instance *instance = marking(12, &ue);
  uint8_t bytes[3][1400];
  tidemark_packet packets[4];
  memset(packets, 0xFF, sizeof packets);
  for (int k = 0; k < 3; ++k) {
    datagram(bytes[k], 1);
    packets[k].ue = k == 1 ? nobody : ue;
    packets[k].packet = bytes[k];
    packets[k].present = 100;
    packets[k].len = sizeof bytes[k];
    packets[k].qfi = 9;
  }
  packets[3] = packets[0];
  packets[3].present = 0;
  IS(NO_UE, tidemark_downlink_batch(instance, 6000000, packets, 4));
  CHECK(packets[0].status == TIDEMARK_STATUS_OK && packets[0].verdict == TIDEMARK_VERDICT_MARK && bytes[0][1] == 3);
  CHECK(packets[1].status == TIDEMARK_STATUS_NO_UE && packets[1].verdict == TIDEMARK_VERDICT_PASS && bytes[1][1] == 1);
  CHECK(packets[2].status == TIDEMARK_STATUS_OK && packets[2].verdict == TIDEMARK_VERDICT_MARK && bytes[2][1] == 3);
  CHECK(packets[3].status == TIDEMARK_STATUS_BAD_LENGTH && packets[3].verdict == TIDEMARK_VERDICT_PASS);
  IS(NO_UE, tidemark_uplink_batch(instance, 6000000, packets, 3));
  CHECK(packets[2].status == TIDEMARK_STATUS_OK && packets[2].verdict == TIDEMARK_VERDICT_PASS && bytes[2][1] == 3);

  tidemark_pdu pdus[3] = {
      {.ue = ue, .drb = 1, .sn = 100, .size = 1000},
      {.ue = ue, .drb = 2, .sn = 101, .size = 1000},
      {.ue = ue, .drb = 1, .sn = 99, .size = 1000, .is_retx = true},
  };
  IS(NO_DRB, tidemark_pdcp_pdu_batch(instance, 6000000, pdus, 3));
  CHECK(pdus[0].status == TIDEMARK_STATUS_OK && pdus[1].status == TIDEMARK_STATUS_NO_DRB && pdus[2].status == TIDEMARK_STATUS_OK);

  const tidemark_report report = {.size = sizeof report, .fields = TIDEMARK_REPORT_TRANSMITTED, .highest_transmitted_sn = 90};
  tidemark_drb_report reports[2] = {{.ue = ue, .drb = 1, .report = NULL}, {.ue = ue, .drb = 1, .report = &report}};
  IS(NULL_POINTER, tidemark_feedback_batch(instance, 6000000, reports, 2));
  CHECK(reports[0].status == TIDEMARK_STATUS_NULL_POINTER && reports[1].status == TIDEMARK_STATUS_OK);
  IS(OK, tidemark_feedback_batch(instance, 6000000, reports + 1, 1));
  tidemark_drb_estimate estimate = {.size = sizeof estimate};
  IS(OK, tidemark_read_estimate(instance, ue, 6000000, 1, &estimate));
  CHECK(estimate.packets == 10);

  IS(OK, tidemark_downlink_batch(instance, 0, NULL, 0));
  IS(NULL_POINTER, tidemark_downlink_batch(instance, 0, NULL, 1));
  IS(NULL_POINTER, tidemark_downlink_batch(NULL, 0, packets, 1));
  IS(BAD_LENGTH, tidemark_downlink_batch(instance, 0, packets, TIDEMARK_MAX_BATCH + 1));
  IS(BAD_LENGTH, tidemark_uplink_batch(instance, 0, packets, SIZE_MAX));
  IS(NULL_POINTER, tidemark_pdcp_pdu_batch(NULL, 0, pdus, 3));
  IS(NULL_POINTER, tidemark_feedback_batch(NULL, 0, reports, 2));
  tidemark_instance_free(instance);
}
