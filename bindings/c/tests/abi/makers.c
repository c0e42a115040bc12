/* Instances and packets that the tests begin with. */
#include "abi.h"

#include <string.h>

uint16_t ones_complement(const uint8_t *bytes, size_t len)
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

void datagram(uint8_t *packet, uint8_t ecn)
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

size_t segment(uint8_t *packet, int uplink, uint8_t ace_high, uint8_t flags, uint32_t seq, uint32_t ack, uint16_t data)
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

uint8_t ace(const uint8_t *packet)
{
  return (uint8_t)((packet[32] & 1) << 2 | packet[33] >> 6);
}

tidemark_instance *instance_of(uint32_t max_ues)
{
  tidemark_instance_config config = {.size = sizeof config, .max_ues = max_ues, .seed = 1, .secret = {7, 1, 3}};
  tidemark_instance *instance = NULL;
  IS(OK, tidemark_instance_new(&config, &instance));
  CHECK(instance != NULL);
  return instance;
}

tidemark_instance *marking(uint8_t sn_bits, tidemark_ue *ue)
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
