/* Wrong arguments of the calls that packets take. */
#include "abi.h"

void wrong_arguments_do_no_harm(void)
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
