/* Shared by the tests of the interface from C. */
#ifndef TIDEMARK_TESTS_ABI_H
#define TIDEMARK_TESTS_ABI_H

#include "../layout.h"

#include <stdio.h>
#include <stdlib.h>

#define CHECK(what)                                                              \
  do {                                                                           \
    if (!(what)) {                                                               \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);         \
      exit(1);                                                                   \
    }                                                                            \
  } while (0)
#define IS(status, call) CHECK((call) == TIDEMARK_STATUS_##status)

#define POLICY \
  "[[rules]]\n" \
  "five_qi = 80\n" \
  "marker = { law = 'l4span', tau_s = '10 ms' }\n"

/* One's complement sum of 16-bit words; 0xFFFF over a header whose checksum is right. */
uint16_t ones_complement(const uint8_t *bytes, size_t len);
/* An IPv4 UDP datagram of 1400 bytes with this ECN field. */
void datagram(uint8_t *packet, uint8_t ecn);
/* A TCP segment between server and UE, of which only the header is there, with a checksum. */
size_t segment(uint8_t *packet, int uplink, uint8_t ace_high, uint8_t flags, uint32_t seq, uint32_t ack, uint16_t data);
/* ACE field of a segment. */
uint8_t ace(const uint8_t *packet);
/* An instance with room for so many UEs. */
tidemark_instance *instance_of(uint32_t max_ues);
/* An instance with one UE and its DRB 1, which marks everything and counts SNs of so many bits. */
tidemark_instance *marking(uint8_t sn_bits, tidemark_ue *ue);

void versions_and_texts(void);
void the_end_of_a_tunnel(void);
void policies(void);
void instances_refuse_what_cannot_work(void);
void set_up_and_release(void);
void a_growing_queue_is_marked(void);
void the_5qi_says_whether_delay_comes_first(void);
void a_handover_drb_by_drb(void);
void a_ue_moves_to_another_cu_up(void);
void each_qos_flow_is_marked_as_it_was_asked_for(void);
void laws_that_decide_at_a_queue_do_so_where_packets_leave_it(void);
void headers_are_enough(void);
void pdus_by_their_headers(void);
void batches(void);
void totals_and_notices(void);
void structs_may_grow(void);
void wrong_arguments_do_no_harm(void);

#endif
