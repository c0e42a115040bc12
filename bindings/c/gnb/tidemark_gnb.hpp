/*
 * Glue between libtidemark and a gNB's CU-UP, for any type of packet buffer: where packets lie in chains of segments, where
 * only some threads may read a clock, where a UE has no thread of its own. docs/guide/embedding-in-a-gnb.md has its place in OCUDU,
 * srsRAN Project and OpenAirInterface.
 *
 * A host writes Segments<its buffer>, has a Session for each PDU session, and calls it at five places. No function throws, and none of the packet path allocates.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef TIDEMARK_GNB_HPP
#define TIDEMARK_GNB_HPP

#include <tidemark.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>

namespace tidemark {
namespace gnb {

/// Access to a host's packet buffer. The host specialises it with two functions.
///
///     static std::size_t size(const Buffer&);            bytes of the whole packet
///     template <class Visit>                             calls visit(std::uint8_t* bytes, std::size_t len) for each segment
///     static void segments(Buffer&, Visit&& visit);      in order, until it returns false
template <class Buffer>
struct Segments;

/// Length of the longest headers that the library may need: IPv6 with extension headers, or IPv4, and TCP with all its options.
/// Nothing after them is read or written.
constexpr std::size_t max_headers = 256;

/// First bytes of a packet in one piece: in place if the first segment has them all, else a copy.
template <class Buffer>
class Head {
public:
  explicit Head(Buffer& buffer) noexcept : buffer_(buffer), size_(Segments<Buffer>::size(buffer)) {
    const std::size_t wanted = std::min(size_, max_headers);
    Segments<Buffer>::segments(buffer, [&](std::uint8_t* bytes, std::size_t len) {
      if (len == 0) {
        return true;
      }
      if (present_ == 0 && len >= wanted) {
        in_place_ = bytes;
        present_ = len;
        return false;
      }
      const std::size_t taken = std::min(len, wanted - present_);
      std::memcpy(copy_ + present_, bytes, taken);
      present_ += taken;
      return present_ < wanted;
    });
  }
  Head(const Head&) = delete;
  Head& operator=(const Head&) = delete;

  std::uint8_t* data() noexcept { return in_place_ != nullptr ? in_place_ : copy_; }
  /// Number of bytes at `data`, and length of the whole packet.
  std::size_t present() const noexcept { return std::min(present_, size_); }
  std::size_t size() const noexcept { return size_; }
  /// Writes changes of the copy back to the packet. Segments without a change are not touched.
  void write_back() noexcept {
    if (in_place_ != nullptr) {
      return;
    }
    std::size_t at = 0;
    Segments<Buffer>::segments(buffer_, [&](std::uint8_t* bytes, std::size_t len) {
      const std::size_t given = std::min(len, present_ - at);
      if (given != 0 && std::memcmp(bytes, copy_ + at, given) != 0) {
        std::memcpy(bytes, copy_ + at, given);
      }
      at += given;
      return at < present_;
    });
  }

private:
  Buffer& buffer_;
  std::size_t size_;
  std::size_t present_ = 0;
  std::uint8_t* in_place_ = nullptr;
  std::uint8_t copy_[max_headers];
};

/// Clock that is read once for each batch of a thread, by the first call in the batch. Outside of a batch each call reads it.
///
///     const BatchClock::Batch batch;   // then the packets of one wake-up
struct BatchClock {
  static std::uint64_t now_ns() noexcept {
    Held& held = of_thread();
    if (held.depth == 0) {
      return read();
    }
    if (held.now_ns == 0) {
      held.now_ns = read();
    }
    return held.now_ns;
  }

  /// A batch of the thread that constructs it, until it is destroyed. A nested batch is part of the outer one.
  class Batch {
  public:
    Batch() noexcept { ++of_thread().depth; }
    ~Batch() {
      if (--of_thread().depth == 0) {
        of_thread().now_ns = 0;
      }
    }
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;
  };

private:
  struct Held {
    std::uint64_t now_ns = 0;
    unsigned depth = 0;
  };
  static Held& of_thread() noexcept {
    thread_local Held held;
    return held;
  }
  static std::uint64_t read() noexcept {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
  }
};

/// No lock, for a host whose calls about a UE never overlap because they run on a strand.
struct NoLock {
  void lock() noexcept {}
  void unlock() noexcept {}
};

/// A PDU session of a UE, with a function for each step of its packets, PDUs and delivery statuses.
///
/// `Clock` has a static `now_ns()`. `Lock` serialises calls about this UE: NoLock on a strand, std::mutex if downlink, uplink and F1-U
/// have their own threads. A call that fails changes nothing and is counted, because a host cannot react to it: the packet
/// passes unchanged.
template <class Buffer, class Clock = BatchClock, class Lock = NoLock>
class Session {
public:
  explicit Session(Ue ue) noexcept : ue_(std::move(ue)) {}

  /// The UE, for set-up, counters and export. Only one call at a time is allowed here too.
  Ue& ue() noexcept { return ue_; }
  std::uint64_t failed() const noexcept { return failed_.load(std::memory_order_relaxed); }

  /// Announces a packet, PDU or report that is handled soon, to prefetch the memory that it reads. Call it for all of a burst before the first is
  /// handled. It needs no lock, and any thread may call it.
  void warm() noexcept { (void)tidemark_warm(ue_.instance(), ue_.handle()); }

  /// Handles a downlink packet between N3 and SDAP: false if it must be discarded. `outer` is the type of service or traffic class of the
  /// outer header, if the host has it.
  [[nodiscard]] bool downlink(Buffer& packet, std::uint8_t qfi, std::optional<std::uint8_t> outer = std::nullopt) noexcept {
    Head<Buffer> head(packet);
    tidemark_verdict verdict = TIDEMARK_VERDICT_PASS;
    if (outer) {
      note(tidemark_decapsulate(*outer, head.data(), head.present(), head.size(), &verdict));
    }
    if (verdict != TIDEMARK_VERDICT_DROP) {
      const std::lock_guard<Lock> guard(lock_);
      note(tidemark_downlink(ue_.instance(), ue_.handle(), Clock::now_ns(), qfi, head.data(), head.present(), head.size(),
                             &verdict));
    }
    head.write_back();
    return verdict != TIDEMARK_VERDICT_DROP;
  }

  /// Handles an uplink packet before N3: writes congestion feedback into acknowledgements.
  void uplink(Buffer& packet) noexcept {
    Head<Buffer> head(packet);
    {
      const std::lock_guard<Lock> guard(lock_);
      note(tidemark_uplink(ue_.instance(), ue_.handle(), Clock::now_ns(), head.data(), head.present(), head.size()));
    }
    head.write_back();
  }

  /// Handles a data or control PDU with its header, from PDCP to F1-U. True if DL USER DATA should ask for a report.
  bool pdu(std::uint8_t drb, Buffer& pdu, bool is_retx) noexcept {
    Head<Buffer> head(pdu);
    bool poll = false;
    const std::lock_guard<Lock> guard(lock_);
    const std::uint64_t now = Clock::now_ns();
    note(tidemark_pdcp_pdu_header(ue_.instance(), ue_.handle(), now, drb, head.data(), head.present(),
                                  static_cast<std::uint32_t>(head.size()), is_retx));
    note(tidemark_wants_report(ue_.instance(), ue_.handle(), now, drb, &poll));
    return poll;
  }
  void discard(std::uint8_t drb, std::uint32_t sn) noexcept {
    const std::lock_guard<Lock> guard(lock_);
    note(tidemark_pdcp_discard(ue_.instance(), ue_.handle(), Clock::now_ns(), drb, sn));
  }

  /// Handles a DL DATA DELIVERY STATUS from F1-U, as bytes of the NR RAN container or as parsed by the host.
  void delivery_status(std::uint8_t drb, const std::uint8_t* frame, std::size_t len) noexcept {
    const std::lock_guard<Lock> guard(lock_);
    note(tidemark_feedback_frame(ue_.instance(), ue_.handle(), Clock::now_ns(), drb, frame, len));
  }
  /// `report.size` is set here.
  void delivery_status(std::uint8_t drb, tidemark_report report) noexcept {
    report.size = sizeof report;
    const std::lock_guard<Lock> guard(lock_);
    note(tidemark_feedback(ue_.instance(), ue_.handle(), Clock::now_ns(), drb, &report));
  }

  /// Notes that a DRB moved to another DU or was re-established. Call it before its PDUs are sent again.
  void handover(std::uint8_t drb) noexcept {
    const std::lock_guard<Lock> guard(lock_);
    note(tidemark_drb_handover(ue_.instance(), ue_.handle(), Clock::now_ns(), drb));
  }

  /// Applies the request of NGAP or E1AP for a QoS flow: one of TIDEMARK_MARKING_.
  Status mark(std::uint8_t qfi, std::uint8_t marking) noexcept {
    const std::lock_guard<Lock> guard(lock_);
    return tidemark_qfi_marking(ue_.instance(), ue_.handle(), qfi, marking);
  }
  /// Gives the congestion of a QoS flow since the last call, for the UPF that marks it.
  Result<tidemark_congestion> congestion(std::uint8_t qfi) noexcept {
    tidemark_congestion congestion{};
    congestion.size = sizeof congestion;
    const std::lock_guard<Lock> guard(lock_);
    const Status status = tidemark_qfi_congestion(ue_.instance(), ue_.handle(), Clock::now_ns(), qfi, &congestion);
    return status ? Result<tidemark_congestion>(congestion) : status;
  }

private:
  void note(Status status) noexcept {
    if (!status) {
      failed_.fetch_add(1, std::memory_order_relaxed);
    }
  }

  Ue ue_;
  Lock lock_;
  std::atomic<std::uint64_t> failed_{0};
};

}  // namespace gnb
}  // namespace tidemark

#endif  // TIDEMARK_GNB_HPP
