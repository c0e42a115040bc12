/* Every call of libtidemark from C: what it does, and that no wrong argument does harm. */
#include "abi.h"

#include <stdio.h>

int main(void)
{
  versions_and_texts();
  the_end_of_a_tunnel();
  policies();
  instances_refuse_what_cannot_work();
  set_up_and_release();
  a_growing_queue_is_marked();
  the_5qi_says_whether_delay_comes_first();
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
