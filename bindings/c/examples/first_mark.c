/* The shortest use of libtidemark: one UE, one DRB, a queue that grows in the DU, and the packet that is marked first. */
#include "tidemark.h"

#include <stdio.h>

int main(void)
{
  tidemark_policy *policy;
  tidemark_instance *instance;
  tidemark_ue ue;
  const tidemark_instance_config config = {.size = sizeof config, .max_ues = 1, .secret = "16 random bytes"};
  const tidemark_qos_flow flow = {.qfi = 1, .five_qi = 80};
  char problem[400] = "";
  if (tidemark_policy_new("otherwise = { law = 'tide', mode = 'by-5qi' }", &policy, problem, sizeof problem) ||
      tidemark_instance_new(&config, &instance) || tidemark_ue_add(instance, &ue) ||
      tidemark_drb_add(instance, ue, 1, 18, &flow, 1, policy)) {
    fprintf(stderr, "first_mark: set-up failed: %s\n", problem);
    return 1;
  }
  tidemark_policy_free(policy);

  /* 24 Mbit/s of ECT(1) packets of 1500 bytes, of which the radio carries 16. */
  int marked = 0;
  for (uint32_t sn = 0; sn < 400 && !marked; ++sn) {
    const uint64_t now = sn * UINT64_C(500000);
    uint8_t packet[1500] = {0x45, 1, 0x05, 0xDC, 0, 0, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 10, 45, 0, 2};
    tidemark_verdict verdict;
    tidemark_downlink(instance, ue, now, flow.qfi, packet, sizeof packet, sizeof packet, &verdict);
    tidemark_pdcp_pdu(instance, ue, now, 1, sn, sizeof packet + 3, false);
    if (sn % 10 == 9) {
      const tidemark_report report = {.size = sizeof report, .fields = TIDEMARK_REPORT_TRANSMITTED, .highest_transmitted_sn = sn * 2 / 3};
      tidemark_feedback(instance, ue, now, 1, &report);
    }
    if (verdict == TIDEMARK_VERDICT_MARK) {
      tidemark_drb_estimate estimate = {.size = sizeof estimate};
      tidemark_read_estimate(instance, ue, now, 1, &estimate);
      printf("packet %u is marked after %.1f ms: %.1f kB stand before it, %.1f ms at %.1f Mbit/s\n", sn,
             (double)now * 1e-6, (double)estimate.backlog * 1e-3, (double)estimate.sojourn_ns * 1e-6,
             (double)estimate.egress_bps * 1e-6);
      marked = 1;
    }
  }
  tidemark_instance_free(instance);
  return marked ? 0 : 1;
}
