/* Every call of libtidemark from C: what it does, and that no wrong argument does harm. */
#include "layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what)                                                              \
  do {                                                                           \
    if (!(what)) {                                                               \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);         \
      exit(1);                                                                   \
    }                                                                            \
  } while (0)
#define IS(status, call) CHECK((call) == TIDEMARK_STATUS_##status)

static const char POLICY[] =
    "[[rules]]\n"
    "five_qi = 80\n"
    "marker = { law = 'l4span', tau_s = '10 ms' }\n";

static uint16_t ones_complement(const uint8_t *bytes, size_t len)
{
  uint32_t sum = 0;
  for (size_t i = 0; i < len; i += 2) {
    sum += (uint32_t)bytes[i] << 8 | bytes[i + 1];
  }
  while (sum >> 16 != 0) {
    sum = (sum & 0xFFFF) + (sum >> 16);
  }
  return (uint16_t)sum;
}

/* An IPv4 UDP datagram of 1400 bytes with this ECN field. */
static void datagram(uint8_t *packet, uint8_t ecn)
{
  static const uint8_t header[28] = {
      0x45, 0,  0x05, 0x78, 0, 7,  0x40, 0, 64,   17,   0,    0,    192, 0,
      2,    1,  10,   45,   0, 2,  0x01, 0xBB, 0xC3, 0x50, 0x05, 0x64, 0, 0,
  };
  memset(packet, 0xA5, 1400);
  memcpy(packet, header, sizeof header);
  packet[1] = ecn;
  const uint16_t sum = (uint16_t)~ones_complement(packet, 20);
  packet[10] = (uint8_t)(sum >> 8);
  packet[11] = (uint8_t)sum;
}

static void the_end_of_a_tunnel(void)
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

static tidemark_instance *instance_of(uint32_t max_ues)
{
  tidemark_instance_config config = {.size = sizeof config, .max_ues = max_ues, .seed = 1, .secret = {7, 1, 3}};
  tidemark_instance *instance = NULL;
  IS(OK, tidemark_instance_new(&config, &instance));
  CHECK(instance != NULL);
  return instance;
}

static void versions_and_texts(void)
{
  char version[32];
  snprintf(version, sizeof version, "%d.%d.%d", TIDEMARK_VERSION_MAJOR, TIDEMARK_VERSION_MINOR,
           TIDEMARK_VERSION_PATCH);
  CHECK(strcmp(version, tidemark_version()) == 0);
  CHECK(strcmp(tidemark_status_text(TIDEMARK_STATUS_OK), "done") == 0);
  CHECK(tidemark_status_text(-5) != NULL);
}

static void policies(void)
{
  tidemark_policy *policy = NULL;
  char problem[200];
  IS(OK, tidemark_policy_new("", &policy, NULL, 0));
  tidemark_policy_free(policy);

  policy = NULL;
  memset(problem, 'x', sizeof problem);
  IS(BAD_CONFIG, tidemark_policy_new("otherwise = { law = 'l4span', beta = 1.0 }", &policy, problem, sizeof problem));
  CHECK(policy == NULL && strstr(problem, "beta") != NULL);
  IS(BAD_CONFIG, tidemark_policy_new("otherwise = { law = 'red' }", &policy, problem, sizeof problem));
  CHECK(strstr(problem, "l4span") != NULL);
  IS(BAD_CONFIG, tidemark_policy_new("\xFF", &policy, problem, sizeof problem));

  /* Room for three letters and the zero. */
  memset(problem, 'x', sizeof problem);
  IS(BAD_CONFIG, tidemark_policy_new("otherwise = { law = 'l4span', beta = 1.0 }", &policy, problem, 4));
  CHECK(strlen(problem) == 3 && problem[4] == 'x');
  IS(BAD_CONFIG, tidemark_policy_new("=", &policy, problem, 0));
  IS(BAD_CONFIG, tidemark_policy_new("=", &policy, NULL, 100));
  IS(NULL_POINTER, tidemark_policy_new(NULL, &policy, NULL, 0));
  IS(NULL_POINTER, tidemark_policy_new("", NULL, NULL, 0));
  tidemark_policy_free(NULL);
}

static void instances_refuse_what_cannot_work(void)
{
  tidemark_instance *instance = NULL;
  tidemark_instance_config config = {.size = sizeof config, .max_ues = 1, .secret = {1}};
  IS(NULL_POINTER, tidemark_instance_new(NULL, &instance));
  IS(NULL_POINTER, tidemark_instance_new(&config, NULL));
  config.max_ues = 0;
  IS(BAD_CONFIG, tidemark_instance_new(&config, &instance));
  config.max_ues = 1u << 20 | 1;
  IS(BAD_CONFIG, tidemark_instance_new(&config, &instance));
  config.max_ues = 1;
  config.reserved = 1;
  IS(BAD_CONFIG, tidemark_instance_new(&config, &instance));
  config.reserved = 0;
  config.secret[0] = 0;
  IS(BAD_CONFIG, tidemark_instance_new(&config, &instance));
  CHECK(instance == NULL);
  tidemark_instance_free(NULL);
}

static void set_up_and_release(void)
{
  tidemark_instance *instance = instance_of(2);
  tidemark_policy *policy = NULL;
  IS(OK, tidemark_policy_new(POLICY, &policy, NULL, 0));
  tidemark_ue ue, other, none = {0};
  IS(OK, tidemark_ue_add(instance, &ue));
  IS(OK, tidemark_ue_add(instance, &other));
  IS(FULL, tidemark_ue_add(instance, &none));
  CHECK(ue.bits != 0 && ue.bits != other.bits && none.bits == 0);

  const tidemark_qos_flow flows[2] = {{9, 80}, {63, 9}};
  IS(BAD_DRB, tidemark_drb_add(instance, ue, 0, 18, flows, 2, policy));
  IS(BAD_DRB, tidemark_drb_add(instance, ue, 33, 18, flows, 2, policy));
  IS(BAD_CONFIG, tidemark_drb_add(instance, ue, 1, 17, flows, 2, policy));
  IS(BAD_LENGTH, tidemark_drb_add(instance, ue, 1, 18, flows, 0, policy));
  IS(BAD_LENGTH, tidemark_drb_add(instance, ue, 1, 18, flows, SIZE_MAX, policy));
  const tidemark_qos_flow wrong = {64, 80};
  IS(BAD_QFI, tidemark_drb_add(instance, ue, 1, 18, &wrong, 1, policy));
  IS(NULL_POINTER, tidemark_drb_add(NULL, ue, 1, 18, flows, 2, policy));
  IS(NULL_POINTER, tidemark_drb_add(instance, ue, 1, 18, NULL, 2, policy));
  IS(NULL_POINTER, tidemark_drb_add(instance, ue, 1, 18, flows, 2, NULL));
  IS(OK, tidemark_drb_add(instance, ue, 1, 18, flows, 2, policy));
  IS(DRB_EXISTS, tidemark_drb_add(instance, ue, 1, 12, flows, 2, policy));
  IS(OK, tidemark_drb_add(instance, ue, 32, 12, flows + 1, 1, policy));

  IS(OK, tidemark_drb_reconfigure(instance, ue, 4, 1, 12, flows, 1, policy));
  IS(BAD_DRB, tidemark_drb_reconfigure(instance, ue, 4, 0, 18, flows, 1, policy));
  IS(NO_DRB, tidemark_drb_reconfigure(instance, ue, 4, 2, 18, flows, 1, policy));
  IS(BAD_CONFIG, tidemark_drb_reconfigure(instance, ue, 4, 1, 17, flows, 1, policy));
  IS(BAD_LENGTH, tidemark_drb_reconfigure(instance, ue, 4, 1, 18, flows, 0, policy));
  IS(BAD_QFI, tidemark_drb_reconfigure(instance, ue, 4, 1, 18, &wrong, 1, policy));
  IS(NO_UE, tidemark_drb_reconfigure(instance, none, 4, 1, 18, flows, 1, policy));
  IS(NULL_POINTER, tidemark_drb_reconfigure(NULL, ue, 4, 1, 18, flows, 1, policy));
  IS(NULL_POINTER, tidemark_drb_reconfigure(instance, ue, 4, 1, 18, NULL, 1, policy));
  IS(NULL_POINTER, tidemark_drb_reconfigure(instance, ue, 4, 1, 18, flows, 1, NULL));
  /* DRBs outlive the policy that they were set up by. */
  tidemark_policy_free(policy);

  IS(OK, tidemark_qfi_map(instance, ue, 5, 32));
  IS(BAD_QFI, tidemark_qfi_map(instance, ue, 64, 32));
  IS(NO_DRB, tidemark_qfi_map(instance, ue, 5, 2));
  IS(NO_UE, tidemark_qfi_map(instance, none, 5, 32));
  IS(NULL_POINTER, tidemark_qfi_map(NULL, ue, 5, 32));
  IS(OK, tidemark_ue_handover(instance, ue, 5));
  IS(NULL_POINTER, tidemark_ue_handover(NULL, ue, 5));
  IS(OK, tidemark_drb_handover(instance, ue, 5, 32));
  IS(NO_DRB, tidemark_drb_handover(instance, ue, 5, 2));
  IS(NO_DRB, tidemark_drb_handover(instance, ue, 5, 33));
  IS(NO_UE, tidemark_drb_handover(instance, none, 5, 32));
  IS(NULL_POINTER, tidemark_drb_handover(NULL, ue, 5, 32));

  tidemark_drb_counters last = {.size = sizeof last};
  memset(&last, 0xFF, sizeof last);
  last.size = sizeof last;
  IS(OK, tidemark_drb_remove(instance, ue, 1, &last));
  CHECK(last.packets == 0 && !last.reports_are_blind);
  IS(NO_DRB, tidemark_drb_remove(instance, ue, 1, NULL));
  IS(OK, tidemark_drb_remove(instance, ue, 32, NULL));
  IS(NULL_POINTER, tidemark_drb_remove(NULL, ue, 1, NULL));

  IS(OK, tidemark_ue_remove(instance, ue));
  IS(NO_UE, tidemark_ue_remove(instance, ue));
  IS(NO_UE, tidemark_ue_handover(instance, ue, 5));
  IS(OK, tidemark_ue_add(instance, &none));
  CHECK(none.bits != ue.bits);
  IS(NULL_POINTER, tidemark_ue_add(NULL, &ue));
  IS(NULL_POINTER, tidemark_ue_add(instance, NULL));
  IS(NULL_POINTER, tidemark_ue_remove(NULL, ue));
  tidemark_instance_free(instance);
}

/* 1000 packets of 1400 bytes in 200 ms, of which the radio carries two thirds. */
static void a_growing_queue_is_marked(void)
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
  CHECK(counters.packets == 1000 && counters.pdus == 1000 && counters.l4s_packets == 1000);
  CHECK(counters.l4s_marks == marks && counters.classic_marks == 0 && counters.drops == 0);
  CHECK(counters.discards == 1 && counters.reports == 40 && counters.empty_reports == 0);

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

/* E1AP's modification names the DRBs one after another: each is re-established, and its unacknowledged PDUs are sent again. */
static void a_handover_drb_by_drb(void)
{
  tidemark_instance *instance = instance_of(1);
  tidemark_policy *policy = NULL;
  IS(OK, tidemark_policy_new(POLICY, &policy, NULL, 0));
  tidemark_ue ue;
  IS(OK, tidemark_ue_add(instance, &ue));
  for (uint8_t drb = 1; drb <= 2; ++drb) {
    const tidemark_qos_flow flow = {drb, 80};
    IS(OK, tidemark_drb_add(instance, ue, drb, 18, &flow, 1, policy));
    for (uint32_t sn = 0; sn < 4; ++sn) {
      IS(OK, tidemark_pdcp_pdu(instance, ue, 1, drb, sn, 1403, false));
    }
  }
  tidemark_policy_free(policy);
  for (uint8_t drb = 1; drb <= 2; ++drb) {
    IS(OK, tidemark_drb_handover(instance, ue, 2, drb));
    for (uint32_t sn = 1; sn < 4; ++sn) {
      IS(OK, tidemark_pdcp_pdu(instance, ue, 2, drb, sn, 1403, false));
    }
  }
  for (uint8_t drb = 1; drb <= 2; ++drb) {
    tidemark_drb_estimate estimate = {.size = sizeof estimate};
    IS(OK, tidemark_read_estimate(instance, ue, 2, drb, &estimate));
    CHECK(estimate.packets == 3 && estimate.standing == 3 * 1403);
  }
  tidemark_instance_free(instance);
}

/* Of two QoS flows on one DRB, one is marked there and one elsewhere. */
static void each_qos_flow_is_marked_as_it_was_asked_for(void)
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

/* A TCP segment between server and UE, of which only the header is there, with a checksum. */
static size_t segment(uint8_t *packet, int uplink, uint8_t ace_high, uint8_t flags, uint32_t seq, uint32_t ack, uint16_t data)
{
  static const uint8_t addresses[2][4] = {{192, 0, 2, 1}, {10, 45, 0, 2}};
  const uint16_t len = (uint16_t)(40 + data);
  memset(packet, 0, len);
  packet[0] = 0x45;
  packet[1] = data ? 1 : 0;
  packet[2] = (uint8_t)(len >> 8);
  packet[3] = (uint8_t)len;
  packet[8] = 64;
  packet[9] = 6;
  memcpy(packet + 12, addresses[uplink], 4);
  memcpy(packet + 16, addresses[!uplink], 4);
  const uint16_t sum = (uint16_t)~ones_complement(packet, 20);
  packet[10] = (uint8_t)(sum >> 8);
  packet[11] = (uint8_t)sum;
  const uint16_t ports[2] = {443, 50000};
  for (int i = 0; i < 2; ++i) {
    packet[20 + 2 * i] = (uint8_t)(ports[uplink ^ i] >> 8);
    packet[21 + 2 * i] = (uint8_t)ports[uplink ^ i];
  }
  for (int i = 0; i < 4; ++i) {
    packet[24 + i] = (uint8_t)(seq >> (24 - 8 * i));
    packet[28 + i] = (uint8_t)(ack >> (24 - 8 * i));
  }
  packet[32] = (uint8_t)(0x50 | ace_high);
  packet[33] = flags;
  return len;
}

static uint8_t ace(const uint8_t *packet)
{
  return (uint8_t)((packet[32] & 1) << 2 | packet[33] >> 6);
}

enum { SYN = 2, ACK = 16, ECE = 64, CWR = 128 };

/* A segment goes down and is marked; the acknowledgement of a client that saw no CE: its ACE field as the sender reads it. */
static uint8_t exchange(tidemark_instance *instance, tidemark_ue ue, uint32_t segments)
{
  uint8_t packet[1440];
  tidemark_verdict verdict;
  size_t len = segment(packet, 0, 1, ECE | ACK, 1000 + (segments - 1) * 1400, 501, 1400);
  IS(OK, tidemark_downlink(instance, ue, 200000000, 9, packet, len, len, &verdict));
  len = segment(packet, 1, 1, ECE | ACK, 501, 1000 + segments * 1400, 0);
  IS(OK, tidemark_uplink(instance, ue, 200000000, packet, len, len));
  return ace(packet);
}

static tidemark_ue ue_with_a_queue(tidemark_instance *instance, uint8_t drb)
{
  tidemark_policy *policy = NULL;
  const char *text = "[otherwise]\nlaw = 'step'\nthreshold = '1 us'\nshort_circuit = true\n";
  IS(OK, tidemark_policy_new(text, &policy, NULL, 0));
  tidemark_ue ue;
  IS(OK, tidemark_ue_add(instance, &ue));
  const tidemark_qos_flow flow = {9, 80};
  IS(OK, tidemark_drb_add(instance, ue, drb, 18, &flow, 1, policy));
  tidemark_policy_free(policy);
  for (uint32_t sn = 0; sn < 2; ++sn) {
    IS(OK, tidemark_pdcp_pdu(instance, ue, 1000000, drb, sn, 1403, false));
  }
  const uint8_t frame[10] = {0x18, 0, 0x00, 0x0F, 0x42, 0x40, 0, 0, 0, 0};
  IS(OK, tidemark_feedback_frame(instance, ue, 150000000, drb, frame, sizeof frame));
  return ue;
}

static void a_ue_moves_to_another_cu_up(void)
{
  tidemark_instance *here = instance_of(2);
  tidemark_instance_config config = {.size = sizeof config, .max_ues = 2, .seed = 2, .secret = {9, 2, 4}};
  tidemark_instance *there = NULL;
  IS(OK, tidemark_instance_new(&config, &there));
  const tidemark_ue ue = ue_with_a_queue(here, 1);

  /* A UE's connection with AccECN. */
  uint8_t packet[1440];
  tidemark_verdict verdict;
  size_t len = segment(packet, 1, 1, SYN | ECE | CWR, 500, 0, 0);
  IS(OK, tidemark_uplink(here, ue, 100000000, packet, len, len));
  len = segment(packet, 0, 0, SYN | ACK | CWR, 999, 501, 0);
  IS(OK, tidemark_downlink(here, ue, 100000000, 9, packet, len, len, &verdict));
  for (uint32_t segments = 1; segments <= 3; ++segments) {
    CHECK(exchange(here, ue, segments) == ((5 + segments) & 7));
  }

  uint8_t state[400];
  size_t wanted = 0;
  IS(BUFFER_TOO_SMALL, tidemark_ue_export(here, ue, NULL, 0, &wanted));
  CHECK(wanted > 12 && wanted <= sizeof state);
  size_t size = 0;
  memset(state, 0xEE, sizeof state);
  IS(BUFFER_TOO_SMALL, tidemark_ue_export(here, ue, state, wanted - 1, &size));
  CHECK(size == wanted && state[0] == 0xEE);
  IS(OK, tidemark_ue_export(here, ue, state, sizeof state, &size));
  CHECK(size == wanted && memcmp(state, "TMUE", 4) == 0 && state[size] == 0xEE);
  IS(NULL_POINTER, tidemark_ue_export(NULL, ue, state, sizeof state, &size));
  IS(NULL_POINTER, tidemark_ue_export(here, ue, NULL, 1, &size));
  IS(NULL_POINTER, tidemark_ue_export(here, ue, state, sizeof state, NULL));
  IS(NO_UE, tidemark_ue_export(there, ue, state, sizeof state, &size));

  /* What is wrong with bytes is said, and nothing has changed. */
  char problem[100];
  tidemark_ue empty;
  IS(OK, tidemark_ue_add(there, &empty));
  IS(NO_DRB, tidemark_ue_import(there, empty, 0, state, size, problem, sizeof problem));
  CHECK(strstr(problem, "drb") != NULL);
  const tidemark_ue moved = ue_with_a_queue(there, 7);
  IS(BAD_STATE, tidemark_ue_import(there, moved, 0, state, size - 1, problem, sizeof problem));
  CHECK(strstr(problem, "length") != NULL);
  IS(BAD_STATE, tidemark_ue_import(there, moved, 0, state, 0, NULL, 0));
  state[5] = 9;
  IS(BAD_STATE, tidemark_ue_import(there, moved, 0, state, size, problem, sizeof problem));
  CHECK(strcmp(problem, "byte 4, version: must be 1, not 9") == 0);
  state[5] = 1;
  IS(NULL_POINTER, tidemark_ue_import(NULL, moved, 0, state, size, NULL, 0));
  IS(NULL_POINTER, tidemark_ue_import(there, moved, 0, NULL, size, NULL, 0));
  IS(NO_UE, tidemark_ue_import(there, (tidemark_ue){0}, 0, state, size, NULL, 0));

  IS(OK, tidemark_ue_import(there, moved, 0, state, size, problem, sizeof problem));
  IS(OK, tidemark_ue_remove(here, ue));
  for (uint32_t segments = 4; segments <= 20; ++segments) {
    CHECK(exchange(there, moved, segments) == ((5 + segments) & 7));
  }
  tidemark_instance_free(here);
  tidemark_instance_free(there);
}

static void laws_that_decide_at_a_queue_do_so_where_packets_leave_it(void)
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

/* An instance with one UE and its DRB 1, which marks everything and counts SNs of so many bits. */
static tidemark_instance *marking(uint8_t sn_bits, tidemark_ue *ue)
{
  tidemark_instance *instance = instance_of(1);
  tidemark_policy *policy = NULL;
  IS(OK, tidemark_policy_new("otherwise = { law = 'step', threshold = '1 us' }", &policy, NULL, 0));
  IS(OK, tidemark_ue_add(instance, ue));
  const tidemark_qos_flow flow = {9, 80};
  IS(OK, tidemark_drb_add(instance, *ue, 1, sn_bits, &flow, 1, policy));
  tidemark_policy_free(policy);
  /* A queue that the DU has begun to send, so that it has an age. */
  const tidemark_report report = {.size = sizeof report, .fields = TIDEMARK_REPORT_TRANSMITTED, .highest_transmitted_sn = 0};
  for (uint32_t sn = 0; sn < 100; ++sn) {
    IS(OK, tidemark_pdcp_pdu(instance, *ue, 0, 1, sn, 1403, false));
  }
  IS(OK, tidemark_feedback(instance, *ue, 5000000, 1, &report));
  return instance;
}

/* The first segment of a packet is all that a call touches: here it is a block of its own, which the sanitizer watches. */
static void headers_are_enough(void)
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
  CHECK(marks > 20 && drb.l4s_marks == marks);
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

static void pdus_by_their_headers(void)
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
    CHECK(counters.pdus == 102 && counters.skipped_sns == 0 && counters.repeated_sns == 0 && counters.sn_restarts == 0);
    /* A status report and feedback of header compression have no SN. */
    const uint8_t control[2] = {0x00, 0x10};
    IS(OK, tidemark_pdcp_pdu_header(instance, ue, 0, 1, &control[0], 1, 9, false));
    IS(OK, tidemark_pdcp_pdu_header(instance, ue, 0, 1, &control[1], 1, 9, false));
    IS(OK, tidemark_read_drb_counters(instance, ue, 1, &counters));
    CHECK(counters.pdus == 102);
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
    CHECK(counters.pdus == 104 && counters.repeated_sns == 0);
    tidemark_instance_free(instance);
  }
}

/* What is wrong with one element is its own affair. */
static void batches(void)
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

/* Totals keep what was removed, and notices name what grew. */
static void totals_and_notices(void)
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
    CHECK(now.downlink == 2 * k + 2 && now.packets == k + 1 && now.unknown_qfi == k + 1 && now.pdus == k);
  }
  tidemark_ue_counters counters = {.size = sizeof counters};
  IS(OK, tidemark_read_ue_counters(instance, other, &counters));
  IS(OK, tidemark_read_totals(instance, &now));
  CHECK(now.pdus == 10);
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
  CHECK(now.ues == 1 && now.drbs == 1 && now.packets == 10 && now.pdus == 10 && now.downlink == 20);
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
static void structs_may_grow(void)
{
  tidemark_ue ue;
  tidemark_instance *instance = marking(12, &ue);

  /* Counters as they were before `pdus`, and with 24 bytes that this library doesn't know. */
  const size_t older = offsetof(tidemark_drb_counters, pdus), newer = sizeof(tidemark_drb_counters) + 24;
  tidemark_drb_counters now = {.size = sizeof now};
  IS(OK, tidemark_read_drb_counters(instance, ue, 1, &now));
  CHECK(now.size == sizeof now && now.pdus == 100);
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
      /* Not the padding behind the bool: nobody promises what is there. */
      const size_t padding = offsetof(tidemark_drb_counters, reports_are_blind) + 1, after = offsetof(tidemark_drb_counters, reports_missing);
      const size_t before = known < padding ? known : padding;
      CHECK(memcmp(bytes + sizeof known, (const uint8_t *)&now + sizeof known, before - sizeof known) == 0);
      CHECK(known < after || memcmp(bytes + after, (const uint8_t *)&now + after, known - after) == 0);
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
  CHECK(now.reports == 3);
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

static void wrong_arguments_do_no_harm(void)
{
  tidemark_instance *instance = instance_of(1);
  tidemark_policy *policy = NULL;
  IS(OK, tidemark_policy_new(POLICY, &policy, NULL, 0));
  tidemark_ue ue, gone = {0x100000000};
  IS(OK, tidemark_ue_add(instance, &gone));
  IS(OK, tidemark_ue_remove(instance, gone));
  IS(OK, tidemark_ue_add(instance, &ue));
  const tidemark_qos_flow flow = {9, 80};
  IS(OK, tidemark_drb_add(instance, ue, 1, 12, &flow, 1, policy));
  tidemark_policy_free(policy);

  uint8_t packet[1400];
  datagram(packet, 1);
  tidemark_verdict verdict = TIDEMARK_VERDICT_DROP;
  IS(NULL_POINTER, tidemark_downlink(NULL, ue, 0, 9, packet, sizeof packet, sizeof packet, &verdict));
  CHECK(verdict == TIDEMARK_VERDICT_PASS);
  verdict = TIDEMARK_VERDICT_DROP;
  IS(NULL_POINTER, tidemark_downlink(instance, ue, 0, 9, NULL, sizeof packet, sizeof packet, &verdict));
  CHECK(verdict == TIDEMARK_VERDICT_PASS);
  IS(NULL_POINTER, tidemark_downlink(instance, ue, 0, 9, packet, sizeof packet, sizeof packet, NULL));
  IS(BAD_LENGTH, tidemark_downlink(instance, ue, 0, 9, packet, 0, 0, &verdict));
  IS(BAD_LENGTH, tidemark_downlink(instance, ue, 0, 9, packet, TIDEMARK_MAX_PACKET + 1, TIDEMARK_MAX_PACKET + 1, &verdict));
  IS(BAD_LENGTH, tidemark_downlink(instance, ue, 0, 9, packet, SIZE_MAX, SIZE_MAX, &verdict));
  IS(NO_UE, tidemark_downlink(instance, gone, 0, 9, packet, sizeof packet, sizeof packet, &verdict));
  const tidemark_ue zero = {0}, all_ones = {UINT64_MAX};
  IS(NO_UE, tidemark_downlink(instance, zero, 0, 9, packet, sizeof packet, sizeof packet, &verdict));
  IS(NO_UE, tidemark_downlink(instance, all_ones, 0, 9, packet, sizeof packet, sizeof packet, &verdict));

  IS(NULL_POINTER, tidemark_uplink(NULL, ue, 0, packet, sizeof packet, sizeof packet));
  IS(NULL_POINTER, tidemark_uplink(instance, ue, 0, NULL, sizeof packet, sizeof packet));
  IS(BAD_LENGTH, tidemark_uplink(instance, ue, 0, packet, 0, 0));
  IS(BAD_LENGTH, tidemark_uplink(instance, ue, 0, packet, SIZE_MAX, SIZE_MAX));
  IS(NO_UE, tidemark_uplink(instance, gone, 0, packet, sizeof packet, sizeof packet));

  IS(NULL_POINTER, tidemark_pdcp_pdu(NULL, ue, 0, 1, 0, 1403, false));
  IS(NO_UE, tidemark_pdcp_pdu(instance, gone, 0, 1, 0, 1403, false));
  IS(NO_DRB, tidemark_pdcp_pdu(instance, ue, 0, 2, 0, 1403, false));
  IS(NO_DRB, tidemark_pdcp_pdu(instance, ue, 0, 255, 0, 1403, false));
  IS(NULL_POINTER, tidemark_pdcp_discard(NULL, ue, 0, 1, 0));
  IS(NO_DRB, tidemark_pdcp_discard(instance, ue, 0, 0, 0));

  /* SNs beyond 12 bits, and ones that were never sent. */
  tidemark_report report = {.size = sizeof report, .fields = UINT32_MAX, .highest_transmitted_sn = UINT32_MAX};
  IS(OK, tidemark_feedback(instance, ue, 0, 1, &report));
  IS(NO_DRB, tidemark_feedback(instance, ue, 0, 32, &report));
  IS(NO_UE, tidemark_feedback(instance, gone, 0, 1, &report));
  IS(NULL_POINTER, tidemark_feedback(instance, ue, 0, 1, NULL));
  IS(NULL_POINTER, tidemark_feedback(NULL, ue, 0, 1, &report));

  const uint8_t frame[] = {0x18, 0, 0, 0, 0, 0, 0, 0};
  IS(BAD_FRAME, tidemark_feedback_frame(instance, ue, 0, 1, frame, sizeof frame)); /* the SN is cut off */
  IS(BAD_FRAME, tidemark_feedback_frame(instance, ue, 0, 1, packet, sizeof packet));
  IS(BAD_LENGTH, tidemark_feedback_frame(instance, ue, 0, 1, frame, 0));
  IS(NULL_POINTER, tidemark_feedback_frame(instance, ue, 0, 1, NULL, 8));
  IS(NULL_POINTER, tidemark_feedback_frame(NULL, ue, 0, 1, frame, sizeof frame));

  bool wanted = true;
  const tidemark_ue nobody = {0x100000005};
  IS(NO_UE, tidemark_warm(instance, nobody));
  IS(OK, tidemark_warm(instance, ue));
  IS(NULL_POINTER, tidemark_warm(NULL, ue));
  IS(NO_UE, tidemark_wants_report(instance, gone, 0, 1, &wanted));
  CHECK(!wanted);
  IS(OK, tidemark_wants_report(instance, ue, 0, 77, &wanted));
  CHECK(!wanted);
  IS(NULL_POINTER, tidemark_wants_report(instance, ue, 0, 1, NULL));

  tidemark_ue_counters counters = {.size = sizeof counters};
  IS(NULL_POINTER, tidemark_read_ue_counters(instance, ue, NULL));
  IS(NO_UE, tidemark_read_ue_counters(instance, gone, &counters));
  tidemark_drb_counters drb = {.size = sizeof drb};
  IS(NULL_POINTER, tidemark_read_drb_counters(instance, ue, 1, NULL));
  IS(NO_DRB, tidemark_read_drb_counters(instance, ue, 3, &drb));
  tidemark_drb_estimate estimate = {.size = sizeof estimate};
  IS(NULL_POINTER, tidemark_read_estimate(instance, ue, 0, 1, NULL));
  IS(NO_DRB, tidemark_read_estimate(instance, ue, 0, 0, &estimate));

  /* What cannot be placed passes, and is counted. */
  verdict = TIDEMARK_VERDICT_DROP;
  IS(OK, tidemark_downlink(instance, ue, 0, 10, packet, sizeof packet, sizeof packet, &verdict));
  CHECK(verdict == TIDEMARK_VERDICT_PASS);
  IS(OK, tidemark_downlink(instance, ue, 0, 200, packet, sizeof packet, sizeof packet, &verdict));
  packet[0] = 0;
  IS(OK, tidemark_downlink(instance, ue, 0, 9, packet, sizeof packet, sizeof packet, &verdict));
  IS(OK, tidemark_downlink(instance, ue, 0, 9, packet, 1, 1, &verdict));
  IS(OK, tidemark_read_ue_counters(instance, ue, &counters));
  CHECK(counters.downlink == 4 && counters.unknown_qfi == 2 && counters.unparsed == 2);
  CHECK(counters.unknown_drb == 4 && counters.uplink == 0);
  tidemark_instance_free(instance);
}

int main(void)
{
  versions_and_texts();
  the_end_of_a_tunnel();
  policies();
  instances_refuse_what_cannot_work();
  set_up_and_release();
  a_growing_queue_is_marked();
  a_handover_drb_by_drb();
  a_ue_moves_to_another_cu_up();
  each_qos_flow_is_marked_as_it_was_asked_for();
  laws_that_decide_at_a_queue_do_so_where_packets_leave_it();
  headers_are_enough();
  pdus_by_their_headers();
  batches();
  totals_and_notices();
  structs_may_grow();
  wrong_arguments_do_no_harm();
  puts("ok");
  return 0;
}
