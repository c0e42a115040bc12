/* What each call costs: median and 99th percentile of single calls through the C interface, at 64, 1024 and 4096 UEs of 4 TCP
 * flows each, and what UEs and DRBs take of memory. `make bench` runs it; `cost <rounds>` takes fewer.
 *
 * A gNB's order of calls is its traffic's: UEs come in an order that is drawn anew for each pass over them, with a flow that is drawn
 * too, and their DRBs were set up in another order. The columns 'in order' have UEs in the order of their set-up instead, which
 * caches and address translation like best. A report and its packet are one pass over all UEs apart. A call in a burst is a
 * sixteenth of 16 calls for 16 UEs, with those of tidemark_warm that go before them; one of a batch is a sixteenth of a batched call. */
#include "tidemark.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FLOWS = 4, DATA_LEN = 1400, ACK_LEN = 52, MARKED = 128, BURST = 16, HEADERS = 64, QFI = 1, DRB = 1, SN_MODULUS = 1 << 18 };

/* What the host keeps of a UE. */
struct ue {
  tidemark_ue handle;
  uint32_t sn, acked[FLOWS];
};

/* A UE that something happens to, on one of its flows. */
struct turn {
  struct ue *ue;
  uint32_t flow;
  uint8_t packet[HEADERS], ack[ACK_LEN];
};

struct load {
  tidemark_instance *instance;
  struct ue *ues;
  /* UEs in the order of their turns, and how many of them had theirs. */
  uint32_t *order, position;
  uint32_t ue_count, standing;
  bool is_scattered;
  uint64_t now, random;
  /* Headers of the flows' packets. */
  uint8_t data[FLOWS][HEADERS], acks[FLOWS][ACK_LEN];
  /* The turns of a burst, and the one at hand. */
  struct turn turns[BURST], *turn;
  tidemark_policy *policy;
  /* Another CU-UP, with one UE that moved there. */
  tidemark_instance *there;
  tidemark_ue moved;
  uint8_t state[12 + 136 * FLOWS];
  size_t state_len;
};

static void put32(uint8_t *at, uint32_t value)
{
  at[0] = (uint8_t)(value >> 24);
  at[1] = (uint8_t)(value >> 16);
  at[2] = (uint8_t)(value >> 8);
  at[3] = (uint8_t)value;
}

/* A number below `bound`, of a generator with a fixed seed (Marsaglia, "Xorshift RNGs", 2003). */
static uint32_t drawn(uint64_t *state, uint32_t bound)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return (uint32_t)((*state >> 32) * bound >> 32);
}

static void shuffle(uint32_t *numbers, uint32_t count, uint64_t *state)
{
  for (uint32_t last = count - 1; last > 0; --last) {
    const uint32_t other = drawn(state, last + 1), number = numbers[last];
    numbers[last] = numbers[other];
    numbers[other] = number;
  }
}

/* Makes a packet one of this UE: each has an address of its own. */
static void address(uint8_t *packet, int down, uint32_t ue)
{
  packet[down ? 18 : 14] = (uint8_t)(ue >> 8);
  packet[down ? 19 : 15] = (uint8_t)ue;
}

/* The first `first` bytes of an IPv4 TCP segment of `len` with the AccECN bits `ace`. Nobody looks at its checksums: they are only ever
 * updated. */
static void segment(uint8_t *packet, size_t first, uint16_t len, int down, int port, uint8_t ecn, uint8_t ace, uint8_t flags)
{
  static const uint8_t server[4] = {192, 0, 2, 1}, client[4] = {10, 45, 0, 2};
  const uint8_t ports[2][2] = {{1, 0xBB}, {0xC3, (uint8_t)port}};
  memset(packet, 0, first);
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

/* Makes the packet of the turn's flow. */
static void take_flow(struct turn *turn, const struct load *load, uint32_t flow)
{
  turn->flow = flow;
  memcpy(turn->packet, load->data[flow], HEADERS);
  address(turn->packet, 1, (uint32_t)(turn->ue - load->ues));
}

/* Passes the turn to the next UE. The host has its own numbers at hand. */
static void next(struct load *load, struct turn *turn)
{
  load->position = (load->position + 1) % load->ue_count;
  if (load->position == 0) {
    load->now += 700000;
    if (load->is_scattered) {
      shuffle(load->order, load->ue_count, &load->random);
    }
  }
  turn->ue = &load->ues[load->order[load->position]];
  take_flow(turn, load, load->is_scattered ? drawn(&load->random, FLOWS) : turn->ue->sn % FLOWS);
  load->turn = turn;
}

/* The calls. Each concerns the UE whose turn it is. */
static void nothing(struct load *load)
{
  (void)load;
}
static void warm(struct load *load)
{
  tidemark_warm(load->instance, load->turn->ue->handle);
}
static void downlink(struct load *load)
{
  tidemark_verdict verdict;
  tidemark_downlink(load->instance, load->turn->ue->handle, load->now, QFI, load->turn->packet, HEADERS, DATA_LEN,
                     &verdict);
}
static void pdu(struct load *load)
{
  struct ue *ue = load->turn->ue;
  tidemark_pdcp_pdu(load->instance, ue->handle, load->now, DRB, ue->sn, DATA_LEN + 3, false);
  ue->sn = (ue->sn + 1) % SN_MODULUS;
}
static void report(struct load *load)
{
  const uint32_t sn = (load->turn->ue->sn - load->standing - 1) % SN_MODULUS;
  const tidemark_report report = {.size = sizeof report,
                                  .fields = TIDEMARK_REPORT_TRANSMITTED | TIDEMARK_REPORT_DELIVERED,
                                  .highest_transmitted_sn = sn,
                                  .highest_delivered_sn = sn};
  tidemark_feedback(load->instance, load->turn->ue->handle, load->now, DRB, &report);
}
static void report_frame(struct load *load)
{
  const uint32_t sn = (load->turn->ue->sn - load->standing - 1) % SN_MODULUS;
  const uint8_t high = (uint8_t)(sn >> 16), middle = (uint8_t)(sn >> 8), low = (uint8_t)sn;
  const uint8_t frame[14] = {0x1C, 0, 0, 0x0F, 0x42, 0x40, high, middle, low, high, middle, low, 0, 0};
  tidemark_feedback_frame(load->instance, load->turn->ue->handle, load->now, DRB, frame, sizeof frame);
}
static void uplink(struct load *load)
{
  tidemark_uplink(load->instance, load->turn->ue->handle, load->now, load->turn->ack, ACK_LEN, ACK_LEN);
}
static void wants_report(struct load *load)
{
  bool wanted;
  tidemark_wants_report(load->instance, load->turn->ue->handle, load->now, DRB, &wanted);
}
static void read_ue(struct load *load)
{
  tidemark_ue_counters counters = {.size = sizeof counters};
  tidemark_read_ue_counters(load->instance, load->turn->ue->handle, &counters);
}
static void read_counters(struct load *load)
{
  tidemark_drb_counters counters = {.size = sizeof counters};
  tidemark_read_drb_counters(load->instance, load->turn->ue->handle, DRB, &counters);
}
static void read_estimate(struct load *load)
{
  tidemark_drb_estimate estimate = {.size = sizeof estimate};
  tidemark_read_estimate(load->instance, load->turn->ue->handle, load->now, DRB, &estimate);
}

static void handover(struct load *load)
{
  tidemark_drb_handover(load->instance, load->turn->ue->handle, load->now, DRB);
}
static void export_ue(struct load *load)
{
  must(tidemark_ue_export(load->instance, load->turn->ue->handle, load->state, sizeof load->state, &load->state_len));
}
static void import_ue(struct load *load)
{
  must(tidemark_ue_import(load->there, load->moved, load->now, load->state, load->state_len, NULL, 0));
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
/* One more segment of the turn's flow is acknowledged, with the option's counter of its bytes. */
static void acknowledged(struct load *load)
{
  struct turn *turn = load->turn;
  uint32_t *acked = &turn->ue->acked[turn->flow];
  /* What is acknowledged has to be sent, now and then at least. */
  if (*acked % (1 << 23) < 1360) {
    put32(turn->packet + 24, *acked);
    downlink(load);
  }
  *acked += 1360;
  memcpy(turn->ack, load->acks[turn->flow], ACK_LEN);
  address(turn->ack, 0, (uint32_t)(turn->ue - load->ues));
  put32(turn->ack + 28, *acked);
  const uint32_t received = *acked - 999;
  turn->ack[42] = (uint8_t)(received >> 16);
  turn->ack[43] = (uint8_t)(received >> 8);
  turn->ack[44] = (uint8_t)received;
}
/* PDCP has sent again what was queued, and the DU goes on. */
static void queue_rebuilt(struct load *load)
{
  for (uint32_t k = 0; k <= load->standing; ++k) {
    pdu(load);
  }
  report(load);
}
/* The other CU-UP has set the UE up, and has its state. */
static void prepared(struct load *load)
{
  const tidemark_qos_flow flow = {QFI, 9};
  export_ue(load);
  must(tidemark_ue_add(load->there, &load->moved));
  must(tidemark_drb_add(load->there, load->moved, DRB, 18, &flow, 1, load->policy));
}
static void moved_on(struct load *load)
{
  must(tidemark_ue_remove(load->there, load->moved));
}
/* Packets of all of the UE's flows come at once. */
static void burst_came(struct load *load)
{
  for (uint32_t k = 0; k < MARKED; ++k) {
    take_flow(load->turn, load, k % FLOWS);
    packet_came(load);
  }
}
static void all_acknowledged(struct load *load)
{
  for (uint32_t flow = 0; flow < FLOWS; ++flow) {
    take_flow(load->turn, load, flow);
    acknowledged(load);
    uplink(load);
  }
}

/* Batched calls, for the UEs of a burst. */
static void downlink_batch(struct load *load)
{
  tidemark_packet packets[BURST];
  for (size_t k = 0; k < BURST; ++k) {
    struct turn *turn = &load->turns[k];
    packets[k].ue = turn->ue->handle;
    packets[k].packet = turn->packet;
    packets[k].present = HEADERS;
    packets[k].len = DATA_LEN;
    packets[k].qfi = QFI;
  }
  tidemark_downlink_batch(load->instance, load->now, packets, BURST);
}
static void uplink_batch(struct load *load)
{
  tidemark_packet packets[BURST];
  for (size_t k = 0; k < BURST; ++k) {
    struct turn *turn = &load->turns[k];
    packets[k].ue = turn->ue->handle;
    packets[k].packet = turn->ack;
    packets[k].present = ACK_LEN;
    packets[k].len = ACK_LEN;
  }
  tidemark_uplink_batch(load->instance, load->now, packets, BURST);
}
static void pdu_batch(struct load *load)
{
  tidemark_pdu pdus[BURST];
  for (size_t k = 0; k < BURST; ++k) {
    struct ue *ue = load->turns[k].ue;
    pdus[k].ue = ue->handle;
    pdus[k].sn = ue->sn;
    pdus[k].size = DATA_LEN + 3;
    pdus[k].drb = DRB;
    pdus[k].is_retx = false;
    ue->sn = (ue->sn + 1) % SN_MODULUS;
  }
  tidemark_pdcp_pdu_batch(load->instance, load->now, pdus, BURST);
}
static void report_batch(struct load *load)
{
  tidemark_report values[BURST];
  tidemark_drb_report reports[BURST];
  for (size_t k = 0; k < BURST; ++k) {
    const struct ue *ue = load->turns[k].ue;
    const uint32_t sn = (ue->sn - load->standing - 1) % SN_MODULUS;
    values[k] = (tidemark_report){.size = sizeof *values,
                                  .fields = TIDEMARK_REPORT_TRANSMITTED | TIDEMARK_REPORT_DELIVERED,
                                  .highest_transmitted_sn = sn,
                                  .highest_delivered_sn = sn};
    reports[k].ue = ue->handle;
    reports[k].report = &values[k];
    reports[k].drb = DRB;
  }
  tidemark_feedback_batch(load->instance, load->now, reports, BURST);
}

struct call {
  const char *name;
  void (*before)(struct load *), (*call)(struct load *), (*after)(struct load *);
  /* One UE's call; one that comes now and then, of which a 64th as many are timed; as many as are in a burst after each was announced; one call
   * for all of a burst. */
  enum { SINGLE, SELDOM, ANNOUNCED, BATCH } how;
};

static const struct call CALLS[] = {
    {"(the clock)", nothing, nothing, nothing, SINGLE},
    {"tidemark_downlink", nothing, downlink, queue_moved, SINGLE},
    {"tidemark_pdcp_pdu", downlink, pdu, report, SINGLE},
    {"tidemark_feedback", nothing, report, packet_came, SINGLE},
    {"tidemark_feedback_frame", nothing, report_frame, packet_came, SINGLE},
    {"tidemark_uplink", acknowledged, uplink, nothing, SINGLE},
    {"tidemark_wants_report", nothing, wants_report, nothing, SINGLE},
    {"tidemark_read_ue_counters", nothing, read_ue, nothing, SINGLE},
    {"tidemark_read_drb_counters", nothing, read_counters, nothing, SINGLE},
    {"tidemark_read_estimate", nothing, read_estimate, nothing, SINGLE},
    {"tidemark_downlink, in bursts", nothing, downlink, queue_moved, ANNOUNCED},
    {"tidemark_feedback, in bursts", nothing, report, packet_came, ANNOUNCED},
    {"tidemark_uplink, in bursts", acknowledged, uplink, nothing, ANNOUNCED},
    {"tidemark_downlink_batch", nothing, downlink_batch, queue_moved, BATCH},
    {"tidemark_pdcp_pdu_batch", downlink, pdu_batch, report, BATCH},
    {"tidemark_feedback_batch", nothing, report_batch, packet_came, BATCH},
    {"tidemark_uplink_batch", acknowledged, uplink_batch, nothing, BATCH},
    {"tidemark_ue_export, 4 flows", nothing, export_ue, nothing, SELDOM},
    {"tidemark_ue_import, 4 flows", prepared, import_ue, moved_on, SELDOM},
    {"tidemark_drb_handover", nothing, handover, queue_rebuilt, SELDOM},
};

static size_t allocated(void)
{
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/* Sets up a UE's DRB, on which each flow's connection has begun: the handshake of two ends that both have AccECN. */
static void set_up_ue(struct load *load, uint32_t ue, const tidemark_policy *policy)
{
  const tidemark_qos_flow flow = {QFI, 9};
  const tidemark_ue handle = load->ues[ue].handle;
  must(tidemark_drb_add(load->instance, handle, DRB, 18, &flow, 1, policy));
  for (int port = 0; port < FLOWS; ++port) {
    tidemark_verdict verdict;
    uint8_t syn[40], answer[40];
    segment(syn, sizeof syn, sizeof syn, 0, port, 0, 7, 0x02);
    put32(syn + 24, 1);
    address(syn, 0, ue);
    must(tidemark_uplink(load->instance, handle, 0, syn, sizeof syn, sizeof syn));
    segment(answer, sizeof answer, sizeof answer, 1, port, 0, 2, 0x12);
    put32(answer + 24, 999);
    put32(answer + 28, 2);
    address(answer, 1, ue);
    must(tidemark_downlink(load->instance, handle, 0, QFI, answer, sizeof answer, sizeof answer, &verdict));
    load->ues[ue].acked[port] = 1000;
  }
}

static void set_up(struct load *load, uint32_t ue_count, uint32_t standing, bool is_scattered, const char *policy_text)
{
  const tidemark_instance_config config = {.size = sizeof config, .max_ues = ue_count, .seed = 1, .secret = {3, 1, 4}};
  const tidemark_instance_config other = {.size = sizeof other, .max_ues = 1, .seed = 2, .secret = {1, 5, 9}};
  memset(load, 0, sizeof *load);
  load->ue_count = ue_count;
  load->standing = standing;
  load->is_scattered = is_scattered;
  load->now = 100000000;
  load->random = 88172645463325252;
  load->ues = calloc(ue_count, sizeof *load->ues);
  load->order = calloc(ue_count, sizeof *load->order);
  if (load->ues == NULL || load->order == NULL) {
    exit(1);
  }
  must(tidemark_instance_new(&config, &load->instance));
  must(tidemark_instance_new(&other, &load->there));
  must(tidemark_policy_new(policy_text, &load->policy, NULL, 0));
  for (uint32_t k = 0; k < ue_count; ++k) {
    must(tidemark_ue_add(load->instance, &load->ues[k].handle));
    load->order[k] = k;
  }
  if (is_scattered) {
    shuffle(load->order, ue_count, &load->random);
  }
  for (uint32_t k = 0; k < ue_count; ++k) {
    set_up_ue(load, load->order[k], load->policy);
  }
  for (int port = 0; port < FLOWS; ++port) {
    segment(load->data[port], HEADERS, DATA_LEN, 1, port, 1, 0, 0x10);
    put32(load->data[port] + 24, 1000);
    put32(load->data[port] + 28, 2);
    /* An acknowledgement with the AccECN option: kind 174, 11 bytes. */
    segment(load->acks[port], ACK_LEN, ACK_LEN, 0, port, 0, 5, 0x10);
    load->acks[port][32] = (uint8_t)(8 << 4 | 1);
    load->acks[port][40] = 174;
    load->acks[port][41] = 11;
    load->acks[port][51] = 1;
    put32(load->acks[port] + 24, 2);
  }
  for (uint64_t k = 0; k < (uint64_t)ue_count * (standing + 8); ++k) {
    next(load, load->turns);
    packet_came(load);
  }
  for (uint64_t k = 0; k < (uint64_t)ue_count * 32; ++k) {
    next(load, load->turns);
    packet_came(load);
    report(load);
  }
  /* A queue that is marked stands once: from then on every acknowledgement tells marks, in packets and in bytes. */
  for (uint32_t k = 0; k < ue_count; ++k) {
    next(load, load->turns);
    all_acknowledged(load);
  }
  load->now += 700000;
  for (uint32_t k = 0; k < ue_count; ++k) {
    next(load, load->turns);
    burst_came(load);
  }
  for (uint32_t k = 0; k < ue_count; ++k) {
    next(load, load->turns);
    all_acknowledged(load);
    report(load);
  }
}

static void tear_down(struct load *load)
{
  tidemark_instance_free(load->instance);
  tidemark_instance_free(load->there);
  tidemark_policy_free(load->policy);
  free(load->ues);
  free(load->order);
}

static int compare(const void *a, const void *b)
{
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* Nanoseconds of one call, or of a burst of them after they were announced, with the clock's own. */
static uint32_t timed(struct load *load, const struct call *call)
{
  const size_t turns = call->how <= SELDOM ? 1 : BURST;
  for (size_t k = 0; k < turns; ++k) {
    next(load, &load->turns[k]);
    call->before(load);
  }
  load->turn = load->turns;
  const uint64_t start = clock_ns();
  if (call->how == ANNOUNCED) {
    for (size_t k = 0; k < turns; ++k) {
      load->turn = &load->turns[k];
      warm(load);
    }
    for (size_t k = 0; k < turns; ++k) {
      load->turn = &load->turns[k];
      call->call(load);
    }
  } else {
    call->call(load);
  }
  const uint64_t end = clock_ns();
  for (size_t k = 0; k < turns; ++k) {
    load->turn = &load->turns[k];
    call->after(load);
  }
  return (uint32_t)(end - start);
}

/* Median and 99th percentile of so many calls. */
static void distribution(struct load *load, const struct call *call, size_t rounds, uint32_t *nanos, uint32_t result[2])
{
  for (size_t round = 0; round < rounds; ++round) {
    nanos[round] = timed(load, call);
  }
  qsort(nanos, rounds, sizeof *nanos, compare);
  result[0] = nanos[rounds / 2];
  result[1] = nanos[rounds * 99 / 100];
}

/* Every acknowledgement was to carry marks: those that don't cost less. */
static void check_rewritten(const struct load *load, uint64_t acknowledgements)
{
  uint64_t rewritten = 0;
  for (uint32_t k = 0; k < load->ue_count; ++k) {
    tidemark_drb_counters counters = {.size = sizeof counters};
    must(tidemark_read_drb_counters(load->instance, load->ues[k].handle, DRB, &counters));
    rewritten += counters.counters.rewritten_acks;
  }
  if (rewritten < acknowledgements * 9 / 10) {
    fprintf(stderr, "cost: of %llu acknowledgements %llu were rewritten\n", (unsigned long long)acknowledgements,
            (unsigned long long)rewritten);
    exit(1);
  }
}

int main(int argc, char **argv)
{
  static const struct {
    uint32_t ues, standing;
    bool is_scattered;
  } LOADS[] = {{64, 4, false}, {64, 4, true},    {64, 1024, true}, {1024, 4, false},
               {1024, 4, true}, {4096, 4, false}, {4096, 4, true}};
  enum { CALL_COUNT = sizeof CALLS / sizeof *CALLS, LOAD_COUNT = sizeof LOADS / sizeof *LOADS };
  static const char POLICY[] = "otherwise = { law = 'l4span', short_circuit = true }";
  const size_t rounds = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 400000;
  uint32_t *nanos = malloc(rounds * sizeof *nanos);
  if (rounds < 100 || nanos == NULL) {
    fprintf(stderr, "usage: cost [rounds, at least 100]\n");
    return 1;
  }

  static struct load load;
  static uint32_t results[CALL_COUNT][LOAD_COUNT][2];
  for (size_t l = 0; l < LOAD_COUNT; ++l) {
    set_up(&load, LOADS[l].ues, LOADS[l].standing, LOADS[l].is_scattered, POLICY);
    for (size_t c = 0; c < CALL_COUNT; ++c) {
      const size_t calls = CALLS[c].how == SINGLE ? rounds : CALLS[c].how == SELDOM ? rounds / 64 : rounds / BURST;
      distribution(&load, &CALLS[c], calls, nanos, results[c][l]);
    }
    check_rewritten(&load, 3 * rounds - 2 * (rounds % BURST));
    tear_down(&load);
  }
  free(nanos);
  printf("libtidemark %s: ns of single calls, median / p99, the clock taken off\n%-30s", tidemark_version(), "UEs");
  for (size_t l = 0; l < LOAD_COUNT; ++l) {
    printf("%14u", LOADS[l].ues);
  }
  printf("\n%-30s", "SDUs queued at each");
  for (size_t l = 0; l < LOAD_COUNT; ++l) {
    printf("%14u", LOADS[l].standing);
  }
  printf("\n%-30s", "order");
  for (size_t l = 0; l < LOAD_COUNT; ++l) {
    printf("%14s", LOADS[l].is_scattered ? "scattered" : "in order");
  }
  for (size_t c = 0; c < CALL_COUNT; ++c) {
    printf("\n%-30s", CALLS[c].name);
    for (size_t l = 0; l < LOAD_COUNT; ++l) {
      const uint32_t clock = c == 0 ? 0 : results[0][l][0], burst = CALLS[c].how <= SELDOM ? 1 : BURST;
      const uint32_t median = results[c][l][0], p99 = results[c][l][1];
      printf("%6u / %5u", median > clock ? (median - clock) / burst : 0, p99 > clock ? (p99 - clock) / burst : 0);
    }
  }

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
