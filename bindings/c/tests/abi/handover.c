/* UEs that move: to another DU, DRB by DRB, and to another CU-UP. */
#include "abi.h"

#include <string.h>

/* E1AP's modification names the DRBs one after another: each is re-established, and its unacknowledged PDUs are sent again. */
void a_handover_drb_by_drb(void)
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

void a_ue_moves_to_another_cu_up(void)
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
