// Owners of tidemark.hpp: what is moved is removed once, statuses are values, and a refused text says why.
#include <tidemark.hpp>

#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <vector>

using namespace tidemark;

static_assert(!std::is_copy_constructible_v<Ue> && std::is_nothrow_move_constructible_v<Ue>);
static_assert(!std::is_copy_constructible_v<Instance> && std::is_nothrow_move_constructible_v<Instance>);
static_assert(!std::is_copy_constructible_v<Policy> && std::is_nothrow_move_constructible_v<Policy>);

#define CHECK(condition) \
  if (!(condition)) { std::printf("line %d: %s\n", __LINE__, #condition); std::exit(1); }

int main() {
  std::string problem;
  const auto refused = Policy::read("[otherwise]\nlaw = \"l4spam\"\n", &problem);
  CHECK(!refused && refused.status() == TIDEMARK_STATUS_BAD_CONFIG && problem.find("l4spam") != std::string::npos);
  auto policy = Policy::read("[otherwise]\nlaw = \"l4span\"\n");
  CHECK(policy);

  tidemark_instance_config config{};
  config.max_ues = 2;
  CHECK(Instance::make(config).status() == TIDEMARK_STATUS_BAD_CONFIG);
  config.secret[0] = 1;
  auto made = Instance::make(config);
  CHECK(made);
  const Instance instance = *std::move(made);

  std::vector<Ue> ues;
  for (int n = 0; n < 2; ++n) {
    auto ue = instance.add_ue();
    CHECK(ue);
    ues.push_back(*std::move(ue));
  }
  CHECK(instance.add_ue().status() == TIDEMARK_STATUS_FULL);
  const tidemark_qos_flow flow{1, 80};
  CHECK(ues[0].add_drb(1, 18, &flow, 1, *policy));
  CHECK(ues[0].add_drb(1, 18, &flow, 1, *policy) == TIDEMARK_STATUS_DRB_EXISTS);
  CHECK(ues[0].mark(1, TIDEMARK_MARKING_REPORT) && ues[0].mark(1, 3) == TIDEMARK_STATUS_BAD_CONFIG);
  CHECK(ues[0].congestion(1, 1)->dl_congestion == 0 && ues[0].congestion(1, 2).status() == TIDEMARK_STATUS_NO_DRB);
  CHECK(ues[0].handover(1, 1) && ues[0].counters(1) && !ues[0].counters(2) && ues[0].estimate(2, 1));

  // A state that nobody wrote is refused with a reason, and an empty one goes from UE to UE.
  auto state = ues[0].export_state();
  CHECK(state && state->size() == 12);
  CHECK(ues[0].import_state(3, state->data(), state->size()));
  CHECK(ues[1].import_state(3, state->data(), state->size()) == TIDEMARK_STATUS_NO_DRB);
  (*state)[0] ^= 0xFF;
  CHECK(ues[0].import_state(3, state->data(), state->size(), &problem) == TIDEMARK_STATUS_BAD_STATE && !problem.empty());
  CHECK(Ue().export_state().status() == TIDEMARK_STATUS_NULL_POINTER);

  // What is moved from holds nothing, and its slot is given back once.
  const tidemark_ue first = ues[0].handle();
  Ue moved = std::move(ues[0]);
  CHECK(!ues[0] && moved && moved.handle().bits == first.bits && moved.counters(1));
  moved = std::move(ues[1]);
  tidemark_ue_counters counters{};
  counters.size = sizeof counters;
  CHECK(tidemark_read_ue_counters(instance.get(), first, &counters) == TIDEMARK_STATUS_NO_UE);
  CHECK(instance.add_ue());
  CHECK(moved.remove() && !moved && moved.remove());
  CHECK(moved.handover(1).text() != nullptr && !moved.handover(1));
  std::puts("ok");
}
