/*
 * libtidemark for C++17: RAII owners of the objects of tidemark.h, and statuses as values. Functions throw only if memory is short.
 * The calls and their errors are documented in tidemark.h.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef TIDEMARK_HPP
#define TIDEMARK_HPP

#include "tidemark.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tidemark {

/// Outcome of a call; false unless it is OK: `if (const Status status = ue.handover(now); !status) log(status.text());`
class [[nodiscard]] Status {
public:
  constexpr Status(tidemark_status code = TIDEMARK_STATUS_OK) noexcept : code_(code) {}
  constexpr explicit operator bool() const noexcept { return code_ == TIDEMARK_STATUS_OK; }
  constexpr tidemark_status code() const noexcept { return code_; }
  /// Meaning in English. The text lives as long as the program.
  const char* text() const noexcept { return tidemark_status_text(code_); }
  friend constexpr bool operator==(Status one, Status other) noexcept { return one.code_ == other.code_; }
  friend constexpr bool operator!=(Status one, Status other) noexcept { return one.code_ != other.code_; }

private:
  tidemark_status code_;
};

/// A value, or the status that explains why there is none.
template <class Value>
class [[nodiscard]] Result {
public:
  Result(Status status) noexcept : status_(status) {}
  Result(Value value) noexcept : value_(std::move(value)) {}
  explicit operator bool() const noexcept { return value_.has_value(); }
  Status status() const noexcept { return status_; }
  /// The value. The result must have one.
  Value& operator*() & noexcept { return *value_; }
  const Value& operator*() const& noexcept { return *value_; }
  Value&& operator*() && noexcept { return std::move(*value_); }
  Value* operator->() noexcept { return &*value_; }
  const Value* operator->() const noexcept { return &*value_; }

private:
  Status status_{};
  std::optional<Value> value_;
};

/// Rules that choose the law of a QoS flow. DRBs that were set up with it may outlive it.
class Policy {
public:
  /// Reads a policy in TOML. An error in it is written to `problem`, if that is given.
  static Result<Policy> read(const char* text, std::string* problem = nullptr) {
    tidemark_policy* made = nullptr;
    char why[400] = "";
    const Status status = tidemark_policy_new(text, &made, why, sizeof why);
    if (!status) {
      if (problem != nullptr) {
        *problem = why;
      }
      return status;
    }
    return Policy(made);
  }
  const tidemark_policy* get() const noexcept { return owned_.get(); }

private:
  struct Free {
    void operator()(tidemark_policy* policy) const noexcept { tidemark_policy_free(policy); }
  };
  explicit Policy(tidemark_policy* made) noexcept : owned_(made) {}
  std::unique_ptr<tidemark_policy, Free> owned_;
};

/// A UE of an instance, which must outlive it. The destructor removes the UE. The caller must serialise calls about one UE.
class Ue {
public:
  Ue() noexcept = default;
  Ue(Ue&& other) noexcept : instance_(std::exchange(other.instance_, nullptr)), handle_(std::exchange(other.handle_, {})) {}
  Ue& operator=(Ue&& other) noexcept {
    Ue taken(std::move(other));
    std::swap(instance_, taken.instance_);
    std::swap(handle_, taken.handle_);
    return *this;
  }
  Ue(const Ue&) = delete;
  Ue& operator=(const Ue&) = delete;
  ~Ue() { (void)remove(); }

  /// True until the UE is removed or moved from.
  explicit operator bool() const noexcept { return instance_ != nullptr; }
  /// The instance and the handle, for calls of tidemark.h that have no function here.
  const tidemark_instance* instance() const noexcept { return instance_; }
  tidemark_ue handle() const noexcept { return handle_; }

  /// Removes the UE early, to get the status. It is BUSY, and the UE stays, if another thread is in a call about it.
  Status remove() noexcept {
    if (instance_ == nullptr) {
      return TIDEMARK_STATUS_OK;
    }
    const Status status = tidemark_ue_remove(instance_, handle_);
    if (status != TIDEMARK_STATUS_BUSY) {
      instance_ = nullptr;
      handle_ = {};
    }
    return status;
  }
  Status add_drb(std::uint8_t drb, std::uint8_t sn_bits, const tidemark_qos_flow* flows, std::size_t flow_count,
                 const Policy& policy) noexcept {
    return tidemark_drb_add(instance_, handle_, drb, sn_bits, flows, flow_count, policy.get());
  }
  Status reconfigure_drb(std::uint64_t now_ns, std::uint8_t drb, std::uint8_t sn_bits, const tidemark_qos_flow* flows,
                         std::size_t flow_count, const Policy& policy) noexcept {
    return tidemark_drb_reconfigure(instance_, handle_, now_ns, drb, sn_bits, flows, flow_count, policy.get());
  }
  Status remove_drb(std::uint8_t drb, tidemark_drb_counters* last = nullptr) noexcept {
    return tidemark_drb_remove(instance_, handle_, drb, last);
  }
  Status map(std::uint8_t qfi, std::uint8_t drb) noexcept { return tidemark_qfi_map(instance_, handle_, qfi, drb); }
  /// `marking` is one of TIDEMARK_MARKING_...
  Status mark(std::uint8_t qfi, std::uint8_t marking) noexcept {
    return tidemark_qfi_marking(instance_, handle_, qfi, marking);
  }
  Result<tidemark_congestion> congestion(std::uint64_t now_ns, std::uint8_t qfi) noexcept {
    tidemark_congestion congestion{};
    congestion.size = sizeof congestion;
    const Status status = tidemark_qfi_congestion(instance_, handle_, now_ns, qfi, &congestion);
    return status ? Result<tidemark_congestion>(congestion) : status;
  }
  Status handover(std::uint64_t now_ns) noexcept { return tidemark_ue_handover(instance_, handle_, now_ns); }
  Status handover(std::uint64_t now_ns, std::uint8_t drb) noexcept {
    return tidemark_drb_handover(instance_, handle_, now_ns, drb);
  }
  /// State of its TCP connections for the CU-UP to which it moves. It throws only if memory is short.
  Result<std::vector<std::uint8_t>> export_state() const {
    std::vector<std::uint8_t> state;
    for (;;) {
      std::size_t len = 0;
      const Status status = tidemark_ue_export(instance_, handle_, state.data(), state.size(), &len);
      if (status != TIDEMARK_STATUS_BUFFER_TOO_SMALL) {
        state.resize(len);
        return status ? Result<std::vector<std::uint8_t>>(std::move(state)) : status;
      }
      state.resize(len);
    }
  }
  /// Imports a state from another CU-UP, after its DRBs are set up. An error in the bytes is written to `problem`, if that is given.
  Status import_state(std::uint64_t now_ns, const std::uint8_t* state, std::size_t len, std::string* problem = nullptr) {
    char why[200] = "";
    const Status status = tidemark_ue_import(instance_, handle_, now_ns, state, len, why, sizeof why);
    if (!status && problem != nullptr) {
      *problem = why;
    }
    return status;
  }
  Result<tidemark_ue_counters> counters() const noexcept {
    tidemark_ue_counters counters{};
    counters.size = sizeof counters;
    const Status status = tidemark_read_ue_counters(instance_, handle_, &counters);
    return status ? Result<tidemark_ue_counters>(counters) : status;
  }
  Result<tidemark_drb_counters> counters(std::uint8_t drb) const noexcept {
    tidemark_drb_counters counters{};
    counters.size = sizeof counters;
    const Status status = tidemark_read_drb_counters(instance_, handle_, drb, &counters);
    return status ? Result<tidemark_drb_counters>(counters) : status;
  }
  Result<tidemark_drb_estimate> estimate(std::uint64_t now_ns, std::uint8_t drb) const noexcept {
    tidemark_drb_estimate estimate{};
    estimate.size = sizeof estimate;
    const Status status = tidemark_read_estimate(instance_, handle_, now_ns, drb, &estimate);
    return status ? Result<tidemark_drb_estimate>(estimate) : status;
  }

private:
  friend class Instance;
  Ue(const tidemark_instance* instance, tidemark_ue handle) noexcept : instance_(instance), handle_(handle) {}
  const tidemark_instance* instance_ = nullptr;
  tidemark_ue handle_{};
};

/// The UEs of a CU-UP, or of one of its threads. It must outlive its UEs.
class Instance {
public:
  /// `config.size` is set here.
  static Result<Instance> make(tidemark_instance_config config) noexcept {
    config.size = sizeof config;
    tidemark_instance* made = nullptr;
    const Status status = tidemark_instance_new(&config, &made);
    return status ? Result<Instance>(Instance(made)) : status;
  }
  /// Adds a UE, without DRBs. Any thread may do so at any time.
  Result<Ue> add_ue() const noexcept {
    tidemark_ue handle{};
    const Status status = tidemark_ue_add(owned_.get(), &handle);
    return status ? Result<Ue>(Ue(owned_.get(), handle)) : status;
  }
  const tidemark_instance* get() const noexcept { return owned_.get(); }

private:
  struct Free {
    void operator()(tidemark_instance* instance) const noexcept { tidemark_instance_free(instance); }
  };
  explicit Instance(tidemark_instance* made) noexcept : owned_(made) {}
  std::unique_ptr<tidemark_instance, Free> owned_;
};

}  // namespace tidemark

#endif  // TIDEMARK_HPP
