/* Packets that are marked, by a DRB's law or at the end of a tunnel, and QoS flows that are not. */
#include "abi.h"

#include <string.h>

void the_end_of_a_tunnel(void)
{
  uint8_t packet[1400];
  tidemark_verdict verdict = TIDEMARK_VERDICT_DROP;
  /* The outer field's other bits are the DSCP. */
  for (int dscp = 0; dscp < 64; dscp += 21) {
    datagram(packet, 1);
    IS(OK, tidemark_decapsulate((uint8_t)(dscp << 2 | 3), packet, sizeof packet, sizeof packet, &verdict));
    CHECK(verdict == TIDEMARK_VERDICT_MARK && packet[1] == 3 && ones_complement(packet, 20) == 0xFFFF);
    IS(OK, tidemark_decapsulate((uint8_t)(dscp << 2), packet, sizeof packet, sizeof packet, &verdict));
    CHECK(verdict == TIDEMARK_VERDICT_PASS && packet[1] == 3);
    datagram(packet, 2);
    IS(OK, tidemark_decapsulate((uint8_t)(dscp << 2 | 1), packet, sizeof packet, sizeof packet, &verdict));
    CHECK(verdict == TIDEMARK_VERDICT_PASS && packet[1] == 1 && ones_complement(packet, 20) == 0xFFFF);
    datagram(packet, 0);
    IS(OK, tidemark_decapsulate((uint8_t)(dscp << 2 | 3), packet, sizeof packet, sizeof packet, &verdict));
    CHECK(verdict == TIDEMARK_VERDICT_DROP && packet[1] == 0);
  }
  IS(NULL_POINTER, tidemark_decapsulate(3, packet, sizeof packet, sizeof packet, NULL));
  IS(NULL_POINTER, tidemark_decapsulate(3, NULL, sizeof packet, sizeof packet, &verdict));
  CHECK(verdict == TIDEMARK_VERDICT_PASS);
  IS(BAD_LENGTH, tidemark_decapsulate(3, packet, 0, 0, &verdict));
  memset(packet, 0, sizeof packet);
  IS(BAD_FRAME, tidemark_decapsulate(3, packet, sizeof packet, sizeof packet, &verdict));
}

/* 1000 packets of 1400 bytes in 200 ms, of which the radio carries two thirds. */
void a_growing_queue_is_marked(void)
{
  tidemark_instance *instance = instance_of(1);
  tidemark_policy *policy = NULL;
  IS(OK, tidemark_policy_new(POLICY, &policy, NULL, 0));
  tidemark_ue ue;
  IS(OK, tidemark_ue_add(instance, &ue));
  const tidemark_qos_flow flow = {9, 80};
  IS(OK, tidemark_drb_add(instance, ue, 4, 18, &flow, 1, policy));

  uint8_t packet[1400];
  uint64_t now = 1000000, marks = 0;
  bool wanted = true;
  tidemark_drb_estimate estimate = {.size = sizeof estimate};
  IS(OK, tidemark_read_estimate(instance, ue, now, 4, &estimate));
  CHECK(estimate.known == 0 && estimate.backlog == 0);
  for (uint32_t sn = 0; sn < 1000; ++sn, now += 200000) {
    tidemark_verdict verdict = TIDEMARK_VERDICT_DROP;
    datagram(packet, 1);
    IS(OK, tidemark_downlink(instance, ue, now, 9, packet, sizeof packet, sizeof packet, &verdict));
    CHECK(verdict == TIDEMARK_VERDICT_PASS || verdict == TIDEMARK_VERDICT_MARK);
    CHECK(packet[1] == (verdict == TIDEMARK_VERDICT_MARK ? 3 : 1));
    CHECK(ones_complement(packet, 20) == 0xFFFF);
    marks += verdict == TIDEMARK_VERDICT_MARK;
    IS(OK, tidemark_pdcp_pdu(instance, ue, now, 4, sn, sizeof packet + 3, false));
    if (sn % 50 == 24) {
      const tidemark_report report = {.size = sizeof report, .fields = TIDEMARK_REPORT_TRANSMITTED, .highest_transmitted_sn = sn * 2 / 3};
      IS(OK, tidemark_feedback(instance, ue, now, 4, &report));
      IS(OK, tidemark_wants_report(instance, ue, now, 4, &wanted));
      CHECK(!wanted);
    }
    if (sn % 50 == 49) {
      /* The same as bytes: PDU type 1, highest transmitted SN indication, desired buffer size 1000000. */
      const uint32_t high = sn * 2 / 3;
      const uint8_t frame[10] = {0x18, 0, 0x00, 0x0F, 0x42, 0x40, 0, (uint8_t)(high >> 8), (uint8_t)high, 0};
      IS(OK, tidemark_feedback_frame(instance, ue, now, 4, frame, sizeof frame));
    }
  }
  CHECK(marks > 500);
  IS(OK, tidemark_pdcp_discard(instance, ue, now, 4, 999));
  IS(OK, tidemark_wants_report(instance, ue, now + 30000000, 4, &wanted));
  CHECK(wanted);

  IS(OK, tidemark_read_estimate(instance, ue, now, 4, &estimate));
  CHECK((estimate.known & TIDEMARK_ESTIMATE_SOJOURN) != 0 && estimate.sojourn_ns > 50000000);
  CHECK((estimate.known & TIDEMARK_ESTIMATE_EGRESS) != 0 && estimate.egress_bps / 1000000 - 32 < 12);
  CHECK((estimate.known & TIDEMARK_ESTIMATE_RETRANSMISSION) == 0 && estimate.retransmission_ns == 0);
  CHECK(estimate.packets == 1000 - 667 - 1 && estimate.probability > 0.9);
  tidemark_drb_counters counters = {.size = sizeof counters};
  IS(OK, tidemark_read_drb_counters(instance, ue, 4, &counters));
  CHECK(counters.counters.packets == 1000 && counters.counters.pdus == 1000 && counters.counters.l4s_packets == 1000);
  CHECK(counters.counters.l4s_marks == marks && counters.counters.classic_marks == 0 && counters.counters.drops == 0);
  CHECK(counters.counters.discards == 1 && counters.counters.reports == 40 && counters.counters.empty_reports == 0);

  /* A packet that is not ECT is never marked, at whatever queue. */
  datagram(packet, 0);
  tidemark_verdict verdict;
  IS(OK, tidemark_downlink(instance, ue, now, 9, packet, sizeof packet, sizeof packet, &verdict));
  CHECK(verdict == TIDEMARK_VERDICT_PASS && packet[1] == 0);

  /* On the way up nothing but TCP feedback is touched. */
  uint8_t before[1400];
  memcpy(before, packet, sizeof packet);
  IS(OK, tidemark_uplink(instance, ue, now, packet, sizeof packet, sizeof packet));
  CHECK(memcmp(before, packet, sizeof packet) == 0);
  tidemark_policy_free(policy);
  tidemark_instance_free(instance);
}

/* Marks of a DRB of this 5QI in 300 ms of a queue that takes 20 ms. */
static uint64_t marks_of(uint8_t five_qi)
{
  const uint64_t ms = 1000000;
  tidemark_instance *instance = instance_of(1);
  tidemark_policy *policy = NULL;
  IS(OK, tidemark_policy_new("otherwise = { law = 'tide', mode = 'by-5qi' }", &policy, NULL, 0));
  tidemark_ue ue;
  const tidemark_qos_flow flow = {9, five_qi};
  IS(OK, tidemark_ue_add(instance, &ue));
  IS(OK, tidemark_drb_add(instance, ue, 1, 18, &flow, 1, policy));
  tidemark_policy_free(policy);

  uint8_t packet[1400];
  uint64_t marks = 0, now = 0;
  uint32_t sn = 0;
  /* Four SDUs a millisecond come and go, with 80 queued. */
  for (uint32_t sent = 0; sent < 1200; sent += 4, now += ms) {
    for (; sn < sent + 80; ++sn) {
      tidemark_verdict verdict;
      datagram(packet, 1);
      IS(OK, tidemark_downlink(instance, ue, now, 9, packet, sizeof packet, sizeof packet, &verdict));
      marks += verdict == TIDEMARK_VERDICT_MARK;
      IS(OK, tidemark_pdcp_pdu(instance, ue, now, 1, sn, 1403, false));
    }
    const tidemark_report report = {.size = sizeof report, .fields = TIDEMARK_REPORT_TRANSMITTED, .highest_transmitted_sn = sent + 3};
    IS(OK, tidemark_feedback(instance, ue, now + ms, 1, &report));
  }
  tidemark_instance_free(instance);
  return marks;
}

/* 5QI 80 has 10 ms, and is marked above 5; 5QI 9 may have 30. An unknown 5QI is best effort, too. */
void the_5qi_says_whether_delay_comes_first(void)
{
  CHECK(marks_of(80) > 100 && marks_of(9) == 0 && marks_of(0) == 0);
}

void laws_that_decide_at_a_queue_do_so_where_packets_leave_it(void)
{
  tidemark_instance *instance = instance_of(1);
  tidemark_policy *policy = NULL;
  const char *text = "[otherwise]\nlaw = 'drop-head'\n[[rules]]\nfive_qi = 80\nmarker = { law = 'ecn-codel' }\n";
  IS(OK, tidemark_policy_new(text, &policy, NULL, 0));
  tidemark_ue ue;
  IS(OK, tidemark_ue_add(instance, &ue));
  const tidemark_qos_flow flows[] = {{9, 80}, {5, 9}};
  IS(OK, tidemark_drb_add(instance, ue, 1, 18, &flows[0], 1, policy));
  IS(OK, tidemark_drb_add(instance, ue, 2, 18, &flows[1], 1, policy));
  tidemark_policy_free(policy);

  const uint64_t ms = 1000000;
  uint8_t packet[1400];
  datagram(packet, 1);
  tidemark_verdict verdict;
  IS(OK, tidemark_downlink(instance, ue, 0, 5, packet, sizeof packet, sizeof packet, &verdict));
  CHECK(verdict == TIDEMARK_VERDICT_PASS);
  IS(OK, tidemark_dequeue(instance, ue, 1, 2, packet, sizeof packet, sizeof packet, 99 * ms, 50000, &verdict));
  CHECK(verdict == TIDEMARK_VERDICT_PASS);
  IS(OK, tidemark_dequeue(instance, ue, 2, 2, packet, sizeof packet, sizeof packet, 101 * ms, 50000, &verdict));
  CHECK(verdict == TIDEMARK_VERDICT_DROP);

  /* CoDel waits for an interval above its target; then the packet is marked, in place and with its checksum. */
  unsigned marks = 0;
  for (uint64_t now = 0; now < 400; now += 10) {
    datagram(packet, 1);
    IS(OK, tidemark_dequeue(instance, ue, now * ms, 1, packet, sizeof packet, sizeof packet, 20 * ms, 50000, &verdict));
    CHECK(verdict != TIDEMARK_VERDICT_DROP);
    CHECK((packet[1] == 3) == (verdict == TIDEMARK_VERDICT_MARK));
    CHECK(ones_complement(packet, 20) == 0xFFFF);
    CHECK(now >= 100 || verdict == TIDEMARK_VERDICT_PASS);
    marks += verdict == TIDEMARK_VERDICT_MARK;
  }
  CHECK(marks >= 2);
  IS(NO_DRB, tidemark_dequeue(instance, ue, 0, 3, packet, sizeof packet, sizeof packet, 0, 0, &verdict));
  IS(BAD_LENGTH, tidemark_dequeue(instance, ue, 0, 1, packet, 0, 0, 0, 0, &verdict));
  IS(NULL_POINTER, tidemark_dequeue(instance, ue, 0, 1, NULL, 1, 1, 0, 0, &verdict));
  IS(NULL_POINTER, tidemark_dequeue(instance, ue, 0, 1, packet, 1, 1, 0, 0, NULL));
  tidemark_instance_free(instance);
}

/* Of two QoS flows on one DRB, one is marked there and one elsewhere. */
void each_qos_flow_is_marked_as_it_was_asked_for(void)
{
  tidemark_instance *instance = instance_of(1);
  tidemark_policy *policy = NULL;
  IS(OK, tidemark_policy_new(POLICY, &policy, NULL, 0));
  tidemark_ue ue, none = {0};
  IS(OK, tidemark_ue_add(instance, &ue));
  const tidemark_qos_flow flows[] = {{9, 80}, {10, 80}};
  /* The core asks with the QoS flow, before there is a DRB. */
  IS(OK, tidemark_qfi_marking(instance, ue, 10, TIDEMARK_MARKING_OFF));
  tidemark_congestion congestion = {.size = sizeof congestion};
  IS(NO_DRB, tidemark_qfi_congestion(instance, ue, 0, 10, &congestion));
  IS(OK, tidemark_drb_add(instance, ue, 4, 18, flows, 2, policy));
  tidemark_policy_free(policy);

  uint8_t packet[1400];
  unsigned marks[2] = {0, 0};
  uint64_t now = 0;
  for (uint32_t sn = 0; sn < 2000; ++sn, now += 200000) {
    tidemark_verdict verdict;
    const unsigned other = sn & 1;
    datagram(packet, 1);
    IS(OK, tidemark_downlink(instance, ue, now, (uint8_t)(9 + other), packet, sizeof packet, sizeof packet, &verdict));
    CHECK(verdict == TIDEMARK_VERDICT_PASS || verdict == TIDEMARK_VERDICT_MARK);
    marks[other] += verdict == TIDEMARK_VERDICT_MARK;
    IS(OK, tidemark_pdcp_pdu(instance, ue, now, 4, sn, sizeof packet + 3, false));
    if (sn % 25 == 24) {
      const tidemark_report report = {.size = sizeof report, .fields = TIDEMARK_REPORT_TRANSMITTED, .highest_transmitted_sn = sn * 2 / 3};
      IS(OK, tidemark_feedback(instance, ue, now, 4, &report));
    }
    if (sn == 999) {
      CHECK(marks[0] > 250 && marks[1] == 0);
      IS(OK, tidemark_qfi_congestion(instance, ue, now, 10, &congestion));
      CHECK(congestion.packets == 500 && congestion.dl_congestion > 5000);
      IS(OK, tidemark_qfi_marking(instance, ue, 10, TIDEMARK_MARKING_REPORT));
    }
  }
  CHECK(marks[0] > 700 && marks[1] == 0);
  IS(OK, tidemark_qfi_congestion(instance, ue, now, 10, &congestion));
  CHECK(congestion.packets == 1000 && congestion.dl_congestion > 9000 && congestion.dl_congestion <= 10000);
  IS(OK, tidemark_qfi_marking(instance, ue, 10, TIDEMARK_MARKING_DOWNLINK));
  IS(BAD_CONFIG, tidemark_qfi_congestion(instance, ue, now, 10, &congestion));
  datagram(packet, 1);
  tidemark_verdict verdict;
  IS(OK, tidemark_downlink(instance, ue, now, 10, packet, sizeof packet, sizeof packet, &verdict));
  CHECK(verdict == TIDEMARK_VERDICT_MARK);

  /* For the UPF: PDU type 1, QFI 10 with New IE Flag, the flag of the downlink's congestion, 12.34 %, padding. */
  const uint8_t expected[TIDEMARK_CONGESTION_CONTAINER] = {0x10, 0x4A, 0x04, 0x04, 0xD2, 0x00};
  uint8_t container[TIDEMARK_CONGESTION_CONTAINER];
  IS(OK, tidemark_congestion_container(10, 1234, &container));
  CHECK(memcmp(container, expected, sizeof expected) == 0);

  IS(BAD_QFI, tidemark_congestion_container(64, 1234, &container));
  IS(BAD_CONFIG, tidemark_congestion_container(10, 10001, &container));
  IS(NULL_POINTER, tidemark_congestion_container(10, 1234, NULL));
  IS(BAD_QFI, tidemark_qfi_marking(instance, ue, 64, TIDEMARK_MARKING_OFF));
  IS(BAD_CONFIG, tidemark_qfi_marking(instance, ue, 10, 3));
  IS(NO_UE, tidemark_qfi_marking(instance, none, 10, TIDEMARK_MARKING_OFF));
  IS(NULL_POINTER, tidemark_qfi_marking(NULL, ue, 10, TIDEMARK_MARKING_OFF));
  IS(BAD_QFI, tidemark_qfi_congestion(instance, ue, now, 64, &congestion));
  IS(NO_DRB, tidemark_qfi_congestion(instance, ue, now, 11, &congestion));
  IS(NO_UE, tidemark_qfi_congestion(instance, none, now, 10, &congestion));
  IS(NULL_POINTER, tidemark_qfi_congestion(instance, ue, now, 10, NULL));
  congestion.size = 0;
  IS(BAD_LENGTH, tidemark_qfi_congestion(instance, ue, now, 10, &congestion));
  IS(NULL_POINTER, tidemark_qfi_congestion(NULL, ue, now, 10, &congestion));
  tidemark_instance_free(instance);
}
