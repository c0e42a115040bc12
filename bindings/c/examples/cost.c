/* What each call costs: median and 99th percentile of single calls through the C interface, at 64 and 4096 UEs of 4 TCP
 * flows each, and what UEs and DRBs take of memory. `make bench` runs it; `cost <rounds>` takes fewer. */
#include "tidemark.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FLOWS = 4, DATA_LEN = 1400, ACK_LEN = 52, MARKED = 128, QFI = 1, DRB = 1, SN_MODULUS = 1 << 18 };

struct load {
  tidemark_instance *instance;
  tidemark_ue *ues;
  uint32_t *sn, *acked;
  uint32_t ue_count, standing, turn;
  uint64_t now;
  uint8_t data[FLOWS][DATA_LEN], acks[FLOWS][ACK_LEN], ack[ACK_LEN];
};

static void put32(uint8_t *at, uint32_t value)
{
  at[0] = (uint8_t)(value >> 24);
  at[1] = (uint8_t)(value >> 16);
  at[2] = (uint8_t)(value >> 8);
  at[3] = (uint8_t)value;
}

/* An IPv4 TCP segment with the AccECN bits `ace`. Nobody looks at its checksums: they are only ever updated. */
static void segment(uint8_t *packet, uint16_t len, int down, int port, uint8_t ecn, uint8_t ace, uint8_t flags)
{
  static const uint8_t server[4] = {192, 0, 2, 1}, client[4] = {10, 45, 0, 2};
  const uint8_t ports[2][2] = {{1, 0xBB}, {0xC3, (uint8_t)port}};
  memset(packet, 0, len);
  packet[0] = 0x45;
  packet[1] = ecn;
  packet[2] = (uint8_t)(len >> 8);
  packet[3] = (uint8_t)len;
  packet[8] = 64;
  packet[9] = 6;
  memcpy(packet + 12, down ? server : client, 4);
  memcpy(packet + 16, down ? client : server, 4);
  memcpy(packet + 20, ports[down ? 0 : 1], 2);
  memcpy(packet + 22, ports[down ? 1 : 0], 2);
  packet[32] = (uint8_t)(5 << 4 | ace >> 2);
  packet[33] = (uint8_t)((ace & 3) << 6 | flags);
}

static void must(tidemark_status status)
{
  if (status != TIDEMARK_STATUS_OK) {
    fprintf(stderr, "cost: %s\n", tidemark_status_text((int32_t)status));
    exit(1);
  }
}

static uint64_t clock_ns(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* The calls. Each concerns the UE whose turn it is. */
static void next(struct load *load)
{
  load->turn = (load->turn + 1) % load->ue_count;
  load->now += load->turn == 0 ? 700000 : 0;
}
static void nothing(struct load *load)
{
  (void)load;
}
static void downlink(struct load *load)
{
  uint8_t *packet = load->data[load->sn[load->turn] % FLOWS];
  tidemark_verdict verdict;
  tidemark_downlink(load->instance, load->ues[load->turn], load->now, QFI, packet, DATA_LEN, DATA_LEN, &verdict);
}
static void pdu(struct load *load)
{
  uint32_t *sn = &load->sn[load->turn];
  tidemark_pdcp_pdu(load->instance, load->ues[load->turn], load->now, DRB, *sn, DATA_LEN + 3, false);
  *sn = (*sn + 1) % SN_MODULUS;
}
static void report(struct load *load)
{
  const uint32_t sn = (load->sn[load->turn] - load->standing - 1) % SN_MODULUS;
  const tidemark_report report = {.size = sizeof report, .fields = TIDEMARK_REPORT_TRANSMITTED | TIDEMARK_REPORT_DELIVERED,
                                  .highest_transmitted_sn = sn,
                                  .highest_delivered_sn = sn};
  tidemark_feedback(load->instance, load->ues[load->turn], load->now, DRB, &report);
}
static void report_frame(struct load *load)
{
  const uint32_t sn = (load->sn[load->turn] - load->standing - 1) % SN_MODULUS;
  const uint8_t high = (uint8_t)(sn >> 16), middle = (uint8_t)(sn >> 8), low = (uint8_t)sn;
  const uint8_t frame[14] = {0x1C, 0, 0, 0x0F, 0x42, 0x40, high, middle, low, high, middle, low, 0, 0};
  tidemark_feedback_frame(load->instance, load->ues[load->turn], load->now, DRB, frame, sizeof frame);
}
static void uplink(struct load *load)
{
  tidemark_uplink(load->instance, load->ues[load->turn], load->now, load->ack, ACK_LEN, ACK_LEN);
}
static void wants_report(struct load *load)
{
  bool wanted;
  tidemark_wants_report(load->instance, load->ues[load->turn], load->now, DRB, &wanted);
}
static void read_ue(struct load *load)
{
  tidemark_ue_counters counters = {.size = sizeof counters};
  tidemark_read_ue_counters(load->instance, load->ues[load->turn], &counters);
}
static void read_counters(struct load *load)
{
  tidemark_drb_counters counters = {.size = sizeof counters};
  tidemark_read_drb_counters(load->instance, load->ues[load->turn], DRB, &counters);
}
static void read_estimate(struct load *load)
{
  tidemark_drb_estimate estimate = {.size = sizeof estimate};
  tidemark_read_estimate(load->instance, load->ues[load->turn], load->now, DRB, &estimate);
}

/* What goes around a call, unmeasured, so that the load stands where it stood. */
static void packet_came(struct load *load)
{
  downlink(load);
  pdu(load);
}
static void queue_moved(struct load *load)
{
  pdu(load);
  report(load);
}
/* One more segment is acknowledged, with the option's counter of its bytes. */
static void acknowledged(struct load *load)
{
  const uint32_t flow = load->turn % FLOWS;
  uint32_t *acked = &load->acked[load->turn];
  /* What is acknowledged has to be sent, now and then at least. */
  if (*acked % (1 << 23) < 1360) {
    put32(load->data[flow] + 24, *acked);
    tidemark_verdict verdict;
    tidemark_downlink(load->instance, load->ues[load->turn], load->now, QFI, load->data[flow], DATA_LEN, DATA_LEN,
                       &verdict);
  }
  *acked += 1360;
  memcpy(load->ack, load->acks[flow], ACK_LEN);
  put32(load->ack + 28, *acked);
  const uint32_t received = *acked - 999;
  load->ack[42] = (uint8_t)(received >> 16);
  load->ack[43] = (uint8_t)(received >> 8);
  load->ack[44] = (uint8_t)received;
}

static const struct {
  const char *name;
  void (*before)(struct load *), (*call)(struct load *), (*after)(struct load *);
} CALLS[] = {
    {"(the clock)", nothing, nothing, nothing},
    {"tidemark_downlink", nothing, downlink, queue_moved},
    {"tidemark_pdcp_pdu", downlink, pdu, report},
    {"tidemark_feedback", packet_came, report, nothing},
    {"tidemark_feedback_frame", packet_came, report_frame, nothing},
    {"tidemark_uplink", acknowledged, uplink, nothing},
    {"tidemark_wants_report", nothing, wants_report, nothing},
    {"tidemark_read_ue_counters", nothing, read_ue, nothing},
    {"tidemark_read_drb_counters", nothing, read_counters, nothing},
    {"tidemark_read_estimate", nothing, read_estimate, nothing},
};

static size_t allocated(void)
{
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

static void set_up(struct load *load, uint32_t ue_count, uint32_t standing, const char *policy_text)
{
  const tidemark_instance_config config = {.size = sizeof config, .max_ues = ue_count, .seed = 1, .secret = {3, 1, 4}};
  const tidemark_qos_flow flow = {QFI, 9};
  tidemark_policy *policy;
  memset(load, 0, sizeof *load);
  load->ue_count = ue_count;
  load->standing = standing;
  load->now = 100000000;
  load->ues = calloc(ue_count, sizeof *load->ues);
  load->sn = calloc(ue_count, sizeof *load->sn);
  load->acked = calloc(ue_count, sizeof *load->acked);
  if (load->ues == NULL || load->sn == NULL || load->acked == NULL) {
    exit(1);
  }
  must(tidemark_instance_new(&config, &load->instance));
  must(tidemark_policy_new(policy_text, &policy, NULL, 0));
  for (uint32_t k = 0; k < ue_count; ++k) {
    must(tidemark_ue_add(load->instance, &load->ues[k]));
    must(tidemark_drb_add(load->instance, load->ues[k], DRB, 18, &flow, 1, policy));
    load->acked[k] = 1000;
    for (int port = 0; port < FLOWS; ++port) {
      /* The handshake of two ends that both have AccECN. */
      tidemark_verdict verdict;
      segment(load->acks[0], 40, 0, port, 0, 7, 0x02);
      put32(load->acks[0] + 24, 1);
      must(tidemark_uplink(load->instance, load->ues[k], 0, load->acks[0], 40, 40));
      segment(load->data[0], 40, 1, port, 0, 2, 0x12);
      put32(load->data[0] + 24, 999);
      put32(load->data[0] + 28, 2);
      must(tidemark_downlink(load->instance, load->ues[k], 0, QFI, load->data[0], 40, 40, &verdict));
    }
  }
  tidemark_policy_free(policy);
  for (int port = 0; port < FLOWS; ++port) {
    segment(load->data[port], DATA_LEN, 1, port, 1, 0, 0x10);
    put32(load->data[port] + 24, 1000);
    put32(load->data[port] + 28, 2);
    /* An acknowledgement with the AccECN option: kind 174, 11 bytes. */
    segment(load->acks[port], ACK_LEN, 0, port, 0, 5, 0x10);
    load->acks[port][32] = (uint8_t)(8 << 4 | 1);
    load->acks[port][40] = 174;
    load->acks[port][41] = 11;
    load->acks[port][51] = 1;
    put32(load->acks[port] + 24, 2);
  }
  for (uint64_t k = 0; k < (uint64_t)ue_count * (standing + 8); ++k) {
    next(load);
    packet_came(load);
  }
  for (uint64_t k = 0; k < (uint64_t)ue_count * 32; ++k) {
    next(load);
    packet_came(load);
    report(load);
  }
  /* A queue that is marked stands once: from then on every acknowledgement tells marks, in packets and in bytes. */
  for (uint32_t k = 0; k < ue_count; ++k) {
    next(load);
    acknowledged(load);
    uplink(load);
  }
  for (uint64_t k = 0; k < (uint64_t)ue_count * MARKED; ++k) {
    next(load);
    packet_came(load);
  }
  for (uint32_t k = 0; k < ue_count; ++k) {
    next(load);
    acknowledged(load);
    uplink(load);
    report(load);
  }
}

static void tear_down(struct load *load)
{
  tidemark_instance_free(load->instance);
  free(load->ues);
  free(load->sn);
  free(load->acked);
}

static int compare(const void *a, const void *b)
{
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
  static const struct {
    uint32_t ues, standing;
  } LOADS[] = {{64, 4}, {64, 1024}, {4096, 4}};
  static const char POLICY[] = "otherwise = { law = 'l4span', short_circuit = true }";
  const size_t rounds = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 400000;
  uint32_t *nanos = malloc(rounds * sizeof *nanos);
  if (rounds < 100 || nanos == NULL) {
    fprintf(stderr, "usage: cost [rounds, at least 100]\n");
    return 1;
  }

  printf("libtidemark %s: ns of single calls, median / p99, the clock taken off\n", tidemark_version());
  printf("%-28s", "");
  for (size_t l = 0; l < sizeof LOADS / sizeof *LOADS; ++l) {
    printf("%6u UEs, %4u standing", LOADS[l].ues, LOADS[l].standing);
  }
  uint32_t results[sizeof CALLS / sizeof *CALLS][sizeof LOADS / sizeof *LOADS][2];
  for (size_t l = 0; l < sizeof LOADS / sizeof *LOADS; ++l) {
    struct load load;
    set_up(&load, LOADS[l].ues, LOADS[l].standing, POLICY);
    for (size_t c = 0; c < sizeof CALLS / sizeof *CALLS; ++c) {
      for (size_t round = 0; round < rounds; ++round) {
        next(&load);
        CALLS[c].before(&load);
        const uint64_t start = clock_ns();
        CALLS[c].call(&load);
        nanos[round] = (uint32_t)(clock_ns() - start);
        CALLS[c].after(&load);
      }
      qsort(nanos, rounds, sizeof *nanos, compare);
      results[c][l][0] = nanos[rounds / 2];
      results[c][l][1] = nanos[rounds * 99 / 100];
    }
    uint64_t rewritten = 0;
    for (uint32_t k = 0; k < load.ue_count; ++k) {
      tidemark_drb_counters counters = {.size = sizeof counters};
      must(tidemark_read_drb_counters(load.instance, load.ues[k], DRB, &counters));
      rewritten += counters.rewritten_acks;
    }
    if (rewritten < rounds * 9 / 10) {
      fprintf(stderr, "cost: of %zu acknowledgements %llu were rewritten\n", rounds, (unsigned long long)rewritten);
      return 1;
    }
    tear_down(&load);
  }
  for (size_t c = 0; c < sizeof CALLS / sizeof *CALLS; ++c) {
    printf("\n%-28s", CALLS[c].name);
    for (size_t l = 0; l < sizeof LOADS / sizeof *LOADS; ++l) {
      const uint32_t clock = c == 0 ? 0 : results[0][l][0];
      const uint32_t median = results[c][l][0], p99 = results[c][l][1];
      printf("%14u /%8u", median > clock ? median - clock : 0, p99 > clock ? p99 - clock : 0);
    }
  }
  free(nanos);

  printf("\n\nbytes\n");
  const uint32_t ues = 256;
  const size_t empty = allocated();
  const tidemark_instance_config config = {.size = sizeof config, .max_ues = ues, .secret = {1}};
  tidemark_instance *instance;
  must(tidemark_instance_new(&config, &instance));
  const size_t idle = allocated();
  printf("%-28s%8zu\n", "slot for a UE", (idle - empty) / ues);
  static const char *const POLICIES[][2] = {
      {"DRB of 16384 SDUs, 64 flows", "otherwise = { law = 'l4span' }"},
      {"DRB of 1024 SDUs, 64 flows", "otherwise = { law = 'l4span', profile_capacity = 1024 }"},
      {"DRB of 1024 SDUs, 8 flows", "otherwise = { law = 'l4span', profile_capacity = 1024, flow_capacity = 8 }"},
  };
  for (size_t p = 0; p < sizeof POLICIES / sizeof *POLICIES; ++p) {
    tidemark_policy *policy;
    tidemark_ue all[256];
    const tidemark_qos_flow flow = {QFI, 9};
    must(tidemark_policy_new(POLICIES[p][1], &policy, NULL, 0));
    const size_t before = allocated();
    for (uint32_t k = 0; k < ues; ++k) {
      must(tidemark_ue_add(instance, &all[k]));
      must(tidemark_drb_add(instance, all[k], DRB, 18, &flow, 1, policy));
    }
    printf("%-28s%8zu\n", POLICIES[p][0], (allocated() - before) / ues);
    for (uint32_t k = 0; k < ues; ++k) {
      must(tidemark_ue_remove(instance, all[k]));
    }
    tidemark_policy_free(policy);
  }
  tidemark_instance_free(instance);
  return 0;
}
