// libtidemark from C++: the header as a gNB includes it, with its own real-time attribute, and UEs on many threads.
#if defined(__GNUC__)
#define TIDEMARK_HOT __attribute__((hot))
#endif
#include "layout.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#define CHECK(what)                                                                                                   \
  do {                                                                                                                \
    if (!(what)) {                                                                                                    \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);                                         \
      std::exit(1);                                                                                                   \
    }                                                                                                                 \
  } while (false)

namespace {

struct Deleter {
  void operator()(tidemark_instance* instance) const noexcept { tidemark_instance_free(instance); }
  void operator()(tidemark_policy* policy) const noexcept { tidemark_policy_free(policy); }
};
using Instance = std::unique_ptr<tidemark_instance, Deleter>;
using Policy = std::unique_ptr<tidemark_policy, Deleter>;

// Nothing throws, and everything by value may be copied as bytes.
static_assert(noexcept(tidemark_downlink_batch(nullptr, 0, nullptr, 0)), "");
static_assert(noexcept(tidemark_pdcp_pdu_header(nullptr, tidemark_ue{}, 0, 0, nullptr, 0, 0, false)), "");
static_assert(noexcept(tidemark_downlink(nullptr, tidemark_ue{}, 0, 0, nullptr, 0, 0, nullptr)), "");
static_assert(noexcept(tidemark_policy_new(nullptr, nullptr, nullptr, 0)), "");
static_assert(std::is_trivial<tidemark_ue>::value && std::is_standard_layout<tidemark_ue>::value, "");
static_assert(std::is_trivial<tidemark_congestion>::value && noexcept(tidemark_congestion_container(0, 0, nullptr)), "");
static_assert(std::is_trivial<tidemark_drb_counters>::value && std::is_trivial<tidemark_drb_estimate>::value, "");

constexpr int ues_per_thread = 8;
constexpr std::uint32_t packets_per_ue = 500;

std::array<std::uint8_t, 60> packet_of(std::uint8_t ue) {
  return {0x60, 0x10, 0, 0, 0, 20, 17, 64, 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
          0x20, 0x01, 0x0d, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, ue, 1, 0xBB, 0xC3, 0x50, 0, 20};
}

// One thread's UEs come, carry traffic, and go.
std::uint64_t serve(const tidemark_instance* instance, const tidemark_policy* policy) {
  std::uint64_t marks = 0;
  std::vector<tidemark_ue> ues(ues_per_thread);
  const tidemark_qos_flow flow{1, 80};
  for (auto& ue : ues) {
    CHECK(tidemark_ue_add(instance, &ue) == TIDEMARK_STATUS_OK);
    CHECK(tidemark_drb_add(instance, ue, 1, 12, &flow, 1, policy) == TIDEMARK_STATUS_OK);
  }
  for (std::uint32_t sn = 0; sn < packets_per_ue; ++sn) {
    const std::uint64_t now = sn * std::uint64_t{1000000};
    for (std::uint8_t k = 0; k < ues_per_thread; ++k) {
      const tidemark_ue ue = ues[k];
      auto packet = packet_of(k);
      // One by one, and as a batch.
      tidemark_packet element{ue, packet.data(), packet.size(), packet.size(), 1, {}, {}};
      auto& verdict = element.verdict;
      if (k % 2 == 0) {
        CHECK(tidemark_downlink(instance, ue, now, 1, packet.data(), packet.size(), packet.size(), &verdict) ==
              TIDEMARK_STATUS_OK);
      } else {
        CHECK(tidemark_downlink_batch(instance, now, &element, 1) == TIDEMARK_STATUS_OK);
        CHECK(element.status == TIDEMARK_STATUS_OK);
      }
      // Bits 4 and 5 of an IPv6 header's second octet are the ECN field: CE is both.
      CHECK(((packet[1] & 0x30) == 0x30) == (verdict == TIDEMARK_VERDICT_MARK));
      marks += verdict == TIDEMARK_VERDICT_MARK;
      CHECK(tidemark_pdcp_pdu(instance, ue, now, 1, sn, 62, false) == TIDEMARK_STATUS_OK);
      if (sn % 10 == 9) {
        tidemark_report report{};
        report.size = sizeof report;
        report.fields = TIDEMARK_REPORT_TRANSMITTED;
        report.highest_transmitted_sn = sn / 2;
        CHECK(tidemark_feedback(instance, ue, now, 1, &report) == TIDEMARK_STATUS_OK);
      }
    }
  }
  for (const auto ue : ues) {
    tidemark_drb_counters counters{};
    counters.size = sizeof counters;
    CHECK(tidemark_read_drb_counters(instance, ue, 1, &counters) == TIDEMARK_STATUS_OK);
    CHECK(counters.counters.packets == packets_per_ue && counters.counters.pdus == packets_per_ue);
    CHECK(tidemark_ue_remove(instance, ue) == TIDEMARK_STATUS_OK);
    CHECK(tidemark_read_drb_counters(instance, ue, 1, &counters) == TIDEMARK_STATUS_NO_UE);
  }
  return marks;
}

// Two threads on one UE is the caller's mistake: each call is either done or refused, and nothing is lost unseen.
void meet(const tidemark_instance* instance, const tidemark_policy* policy) {
  tidemark_ue ue{};
  const tidemark_qos_flow flow{1, 80};
  CHECK(tidemark_ue_add(instance, &ue) == TIDEMARK_STATUS_OK);
  CHECK(tidemark_drb_add(instance, ue, 1, 18, &flow, 1, policy) == TIDEMARK_STATUS_OK);
  std::atomic<std::uint64_t> done{0}, refused{0};
  const auto hammer = [&] {
    for (int round = 0; round < 20000; ++round) {
      auto packet = packet_of(0);
      tidemark_verdict verdict;
      const auto status = tidemark_downlink(instance, ue, 0, 1, packet.data(), packet.size(), packet.size(), &verdict);
      CHECK(status == TIDEMARK_STATUS_OK || status == TIDEMARK_STATUS_BUSY);
      ++(status == TIDEMARK_STATUS_OK ? done : refused);
    }
  };
  tidemark_totals before{}, now{};
  before.size = now.size = sizeof now;
  CHECK(tidemark_read_totals(instance, &before) == TIDEMARK_STATUS_OK);
  std::thread one(hammer), two(hammer);
  // Reading the totals refuses nobody, and they only grow.
  std::uint64_t last = 0;
  for (int round = 0; round < 1000; ++round) {
    CHECK(tidemark_read_totals(instance, &now) == TIDEMARK_STATUS_OK);
    CHECK(now.sums.packets + now.busy >= last);
    last = now.sums.packets + now.busy;
  }
  one.join();
  two.join();
  tidemark_drb_counters counters{};
  counters.size = sizeof counters;
  CHECK(tidemark_read_drb_counters(instance, ue, 1, &counters) == TIDEMARK_STATUS_OK);
  CHECK(done + refused == 40000 && counters.counters.packets == done);
  tidemark_ue_counters all{};
  all.size = sizeof all;
  CHECK(tidemark_read_ue_counters(instance, ue, &all) == TIDEMARK_STATUS_OK);
  CHECK(tidemark_read_totals(instance, &now) == TIDEMARK_STATUS_OK);
  CHECK(now.sums.packets - before.sums.packets == done && now.busy - before.busy == refused);
  CHECK(tidemark_ue_remove(instance, ue) == TIDEMARK_STATUS_OK);
}

}  // namespace

int main() {
  constexpr int threads = 4;
  tidemark_instance_config config{};
  config.size = sizeof config;
  config.max_ues = threads * ues_per_thread;
  config.secret[3] = 9;
  tidemark_instance* made = nullptr;
  CHECK(tidemark_instance_new(&config, &made) == TIDEMARK_STATUS_OK);
  const Instance instance(made);
  tidemark_policy* read = nullptr;
  CHECK(tidemark_policy_new("otherwise = { law = 'step', threshold = '5 ms', profile_capacity = 1024 }", &read, nullptr,
                            0) == TIDEMARK_STATUS_OK);
  const Policy policy(read);

  // Twice, so that every slot is taken by a second UE.
  for (int round = 0; round < 2; ++round) {
    std::vector<std::thread> pool;
    std::atomic<std::uint64_t> marks{0};
    for (int k = 0; k < threads; ++k) {
      pool.emplace_back([&] { marks += serve(instance.get(), policy.get()); });
    }
    for (auto& thread : pool) {
      thread.join();
    }
    CHECK(marks > threads * ues_per_thread * packets_per_ue / 2);
  }
  meet(instance.get(), policy.get());
  std::puts("ok");
}
