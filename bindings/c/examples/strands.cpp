// UEs on a pool of threads, as a gNB runs them: what concerns one UE is serialised on its strand, strands run wherever a
// thread is free, and one instance of libtidemark serves them all without a lock.
#include "tidemark.h"

#include <atomic>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace {

// Runs its tasks one after another, each on whichever thread comes by.
class Strand {
public:
  void post(std::function<void()> task) {
    const std::lock_guard<std::mutex> guard(mutex);
    tasks.push_back(std::move(task));
  }
  // Runs one task, unless another thread is at it or there is none. True if there was one.
  bool run_one() {
    if (busy.test_and_set(std::memory_order_acquire)) {
      return false;
    }
    std::function<void()> task;
    {
      const std::lock_guard<std::mutex> guard(mutex);
      if (!tasks.empty()) {
        task = std::move(tasks.front());
        tasks.pop_front();
      }
    }
    if (task) {
      task();
    }
    busy.clear(std::memory_order_release);
    return static_cast<bool>(task);
  }

private:
  std::mutex mutex;
  std::deque<std::function<void()>> tasks;
  std::atomic_flag busy = ATOMIC_FLAG_INIT;
};

struct Ue {
  Strand strand;
  tidemark_ue handle{};
};

constexpr int ue_count = 16;
constexpr int thread_count = 4;
constexpr std::uint32_t packet_count = 1000;

}  // namespace

int main() {
  tidemark_instance_config config{};
  config.size = sizeof config;
  config.max_ues = ue_count;
  config.secret[0] = 1;  // a real host draws all 16 at random
  tidemark_instance* instance = nullptr;
  tidemark_policy* policy = nullptr;
  if (tidemark_instance_new(&config, &instance) != TIDEMARK_STATUS_OK ||
      tidemark_policy_new("otherwise = { law = 'step', threshold = '5 ms' }", &policy, nullptr, 0) !=
          TIDEMARK_STATUS_OK) {
    return 1;
  }

  std::atomic<unsigned> failures{0};
  const auto check = [&failures](tidemark_status status) { failures += status != TIDEMARK_STATUS_OK; };
  std::vector<Ue> ues(ue_count);
  for (Ue& ue : ues) {
    ue.strand.post([&] {
      const tidemark_qos_flow flow{1, 80};
      check(tidemark_ue_add(instance, &ue.handle));
      check(tidemark_drb_add(instance, ue.handle, 1, 18, &flow, 1, policy));
    });
    for (std::uint32_t sn = 0; sn < packet_count; ++sn) {
      const std::uint64_t now = sn * std::uint64_t{500000};
      ue.strand.post([&, sn, now] {
        std::uint8_t packet[20] = {0x45, 1, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 10, 45, 0, 2};
        tidemark_verdict verdict;
        check(tidemark_downlink(instance, ue.handle, now, 1, packet, sizeof packet, sizeof packet, &verdict));
        check(tidemark_pdcp_pdu(instance, ue.handle, now, 1, sn, sizeof packet + 3, false));
      });
      if (sn % 10 == 9) {
        ue.strand.post([&, sn, now] {
          tidemark_report report{};
          report.size = sizeof report;
          report.fields = TIDEMARK_REPORT_TRANSMITTED;
          report.highest_transmitted_sn = sn / 2;
          check(tidemark_feedback(instance, ue.handle, now, 1, &report));
        });
      }
    }
  }

  std::vector<std::thread> pool;
  for (int k = 0; k < thread_count; ++k) {
    pool.emplace_back([&] {
      for (bool any = true; any;) {
        any = false;
        for (Ue& ue : ues) {
          any |= ue.strand.run_one();
        }
      }
    });
  }
  for (std::thread& thread : pool) {
    thread.join();
  }
  // A thread that found every strand busy has left: what is left is run here.
  for (Ue& ue : ues) {
    while (ue.strand.run_one()) {
    }
  }

  std::uint64_t marks = 0;
  for (const Ue& ue : ues) {
    tidemark_drb_counters counters{};
    counters.size = sizeof counters;
    check(tidemark_read_drb_counters(instance, ue.handle, 1, &counters));
    failures += counters.counters.packets != packet_count;
    marks += counters.counters.l4s_marks;
  }
  tidemark_policy_free(policy);
  tidemark_instance_free(instance);
  std::printf("%d UEs on %d threads: %llu of %llu packets marked, %u calls failed\n", ue_count, thread_count,
              static_cast<unsigned long long>(marks),
              static_cast<unsigned long long>(packet_count) * ue_count, failures.load());
  return failures == 0 ? 0 : 1;
}
