/* Policies, instances, UEs and DRBs: what sets them up, and what is refused. */
#include "abi.h"

#include <stdio.h>
#include <string.h>

void versions_and_texts(void)
{
  char version[32];
  snprintf(version, sizeof version, "%d.%d.%d", TIDEMARK_VERSION_MAJOR, TIDEMARK_VERSION_MINOR,
           TIDEMARK_VERSION_PATCH);
  CHECK(strcmp(version, tidemark_version()) == 0);
  CHECK(strcmp(tidemark_status_text(TIDEMARK_STATUS_OK), "done") == 0);
  CHECK(tidemark_status_text(-5) != NULL);
}

void policies(void)
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
  IS(BAD_CONFIG, tidemark_policy_new("\n[otherwise]\nlaw = 'l4spam'\n", &policy, problem, sizeof problem));
  CHECK(strstr(problem, "line 2: unknown name `l4spam`: did you mean `l4span`? Expected one of") == problem);
  IS(BAD_CONFIG, tidemark_policy_new("[[rules]]\nfive_qi = 'nine'\n", &policy, problem, sizeof problem));
  CHECK(strcmp(problem, "line 2: must be a whole number from 0 to 255, not \"nine\"") == 0);
  IS(BAD_CONFIG, tidemark_policy_new("\xFF", &policy, problem, sizeof problem));
  CHECK(strcmp(problem, "the text is not UTF-8 from byte 1 on") == 0);

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

void instances_refuse_what_cannot_work(void)
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

void set_up_and_release(void)
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
  CHECK(last.counters.packets == 0 && last.counters.blind_drbs == 0);
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
