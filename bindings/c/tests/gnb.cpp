// Glue of gnb/: packets in chains of segments of any size come out as the same packets in one piece do, and what was decided is the same.
#include <tidemark_gnb.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

using namespace tidemark;

#define CHECK(condition) \
  if (!(condition)) { std::printf("line %d: %s\n", __LINE__, #condition); std::exit(1); }

// A host's buffer: a chain of segments, the first with less room, as headroom takes it.
struct Chain {
  std::vector<std::vector<std::uint8_t>> segments;

  Chain(const std::vector<std::uint8_t>& bytes, std::size_t first, std::size_t size) {
    for (std::size_t at = 0, len; at < bytes.size(); at += len) {
      len = std::min(at == 0 ? first : size, bytes.size() - at);
      segments.emplace_back(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.begin() + static_cast<std::ptrdiff_t>(at + len));
    }
  }
  std::vector<std::uint8_t> whole() const {
    std::vector<std::uint8_t> bytes;
    for (const auto& segment : segments) {
      bytes.insert(bytes.end(), segment.begin(), segment.end());
    }
    return bytes;
  }
};

template <>
struct tidemark::gnb::Segments<Chain> {
  static std::size_t size(const Chain& chain) { return chain.whole().size(); }
  template <class Visit>
  static void segments(Chain& chain, Visit&& visit) {
    for (auto& segment : chain.segments) {
      if (!visit(segment.data(), segment.size())) {
        return;
      }
    }
  }
};

struct TestClock {
  static inline std::uint64_t now = 1'000'000'000;
  static std::uint64_t now_ns() { return now; }
};
using Session = gnb::Session<Chain, TestClock>;

std::uint16_t checksum(const std::uint8_t* bytes, std::size_t len, std::uint32_t sum = 0) {
  for (std::size_t at = 0; at < len; ++at) {
    sum += at % 2 == 0 ? std::uint32_t{bytes[at]} << 8 : bytes[at];
  }
  while (sum >> 16 != 0) {
    sum = (sum & 0xFFFF) + (sum >> 16);
  }
  return static_cast<std::uint16_t>(~sum);
}

// TCP between 192.0.2.1 port 443 and 10.45.0.2, with 24 octets of options; flags are AE, CWR, ECE, ... , FIN (RFC 9768 3.1).
std::vector<std::uint8_t> tcp(bool down, std::uint16_t flags, std::uint32_t seq, std::uint32_t ack, std::size_t payload, std::uint8_t ecn) {
  std::vector<std::uint8_t> packet(64 + payload, 0xA5);
  const std::uint8_t server[4] = {192, 0, 2, 1}, client[4] = {10, 45, 0, 2};
  const std::uint8_t fixed[12] = {0x45, ecn, static_cast<std::uint8_t>(packet.size() >> 8), static_cast<std::uint8_t>(packet.size()), 0, 1, 0, 0, 64, 6, 0, 0};
  std::copy(fixed, fixed + 12, packet.begin());
  std::copy(down ? server : client, (down ? server : client) + 4, packet.begin() + 12);
  std::copy(down ? client : server, (down ? client : server) + 4, packet.begin() + 16);
  const std::uint16_t sum = checksum(packet.data(), 20);
  packet[10] = static_cast<std::uint8_t>(sum >> 8);
  packet[11] = static_cast<std::uint8_t>(sum);
  std::uint8_t* const at = packet.data() + 20;
  const std::uint16_t source = down ? 443 : 50'000, destination = down ? 50'000 : 443;
  const std::uint8_t header[20] = {
      static_cast<std::uint8_t>(source >> 8), static_cast<std::uint8_t>(source), static_cast<std::uint8_t>(destination >> 8),
      static_cast<std::uint8_t>(destination), static_cast<std::uint8_t>(seq >> 24), static_cast<std::uint8_t>(seq >> 16),
      static_cast<std::uint8_t>(seq >> 8), static_cast<std::uint8_t>(seq), static_cast<std::uint8_t>(ack >> 24),
      static_cast<std::uint8_t>(ack >> 16), static_cast<std::uint8_t>(ack >> 8), static_cast<std::uint8_t>(ack),
      static_cast<std::uint8_t>(11 << 4 | flags >> 8), static_cast<std::uint8_t>(flags), 0xFF, 0xFF, 0, 0, 0, 0};
  std::copy(header, header + 20, at);
  std::fill(at + 20, at + 44, std::uint8_t{1});
  const std::size_t len = packet.size() - 20;
  std::uint32_t pseudo = 6 + static_cast<std::uint32_t>(len);
  for (std::size_t n = 12; n < 20; n += 2) {
    pseudo += std::uint32_t{packet[n]} << 8 | packet[n + 1];
  }
  const std::uint16_t tcp_sum = checksum(at, len, pseudo);
  at[16] = static_cast<std::uint8_t>(tcp_sum >> 8);
  at[17] = static_cast<std::uint8_t>(tcp_sum);
  return packet;
}

struct Outcome {
  std::vector<std::vector<std::uint8_t>> packets;
  tidemark_drb_counters counters;
};

// A connection with AccECN whose queue in the DU grows, through buffers of this shape.
Outcome connection(std::size_t first, std::size_t size, bool short_circuit) {
  tidemark_instance_config config{};
  config.max_ues = 1;
  config.secret[0] = 1;
  auto instance = Instance::make(config);
  CHECK(instance);
  auto policy = Policy::read(short_circuit ? "[otherwise]\nlaw = \"l4span\"\nshort_circuit = true\n" : "[otherwise]\nlaw = \"l4span\"\n");
  auto ue = instance->add_ue();
  CHECK(policy && ue);
  const tidemark_qos_flow flow{9, 9};
  CHECK(ue->add_drb(2, 18, &flow, 1, *policy));
  Session session(*std::move(ue));
  TestClock::now = 1'000'000'000;

  Outcome outcome{};
  std::uint32_t sn = 0;
  const auto down = [&](const std::vector<std::uint8_t>& bytes) {
    Chain packet(bytes, first, size);
    session.warm();
    if (!session.downlink(packet, 9, std::uint8_t{bytes[1]})) {
      return;
    }
    outcome.packets.push_back(packet.whole());
    // PDCP's header of three octets, a control PDU now and then between them.
    auto pdu = outcome.packets.back();
    pdu.insert(pdu.begin(), {static_cast<std::uint8_t>(0x80 | sn >> 16), static_cast<std::uint8_t>(sn >> 8), static_cast<std::uint8_t>(sn)});
    ++sn;
    Chain data(pdu, first, size), control({0x00, 1, 2, 3, 4}, first, size);
    session.pdu(2, data, false);
    session.pdu(2, control, false);
  };
  const auto up = [&](const std::vector<std::uint8_t>& bytes) {
    Chain packet(bytes, first, size);
    session.uplink(packet);
    outcome.packets.push_back(packet.whole());
  };
  up(tcp(false, 0x1C2, 500, 0, 0, 0));
  down(tcp(true, 0x092, 1'000, 501, 0, 0));
  up(tcp(false, 0x090, 501, 1'001, 0, 0));
  for (std::uint32_t round = 0; round < 300; ++round) {
    for (int n = 0; n < 4; ++n) {
      down(tcp(true, 0x010, 1'001 + (round * 4 + static_cast<std::uint32_t>(n)) * 1'201, 501, 1'201, 1));
    }
    TestClock::now += 4'000'000;
    tidemark_report report{};
    report.fields = TIDEMARK_REPORT_TRANSMITTED;
    report.highest_transmitted_sn = round * 2;
    session.delivery_status(2, report);
    up(tcp(false, 0x150, 501, 1'001 + round * 2 * 1'201, 0, 0));
  }
  outcome.counters = *session.ue().counters(2);
  CHECK(session.failed() == 0);
  return outcome;
}

void segments_change_nothing() {
  for (const bool short_circuit : {false, true}) {
    const Outcome whole = connection(100'000, 100'000, short_circuit);
    CHECK(whole.counters.counters.l4s_marks > 100 && whole.counters.counters.pdus == 1'201 && whole.counters.counters.unknown_sns == 0);
    CHECK((whole.counters.counters.rewritten_acks > 0) == short_circuit);
    for (const auto& shape : std::vector<std::array<std::size_t, 2>>{{64, 64}, {100, 100}, {2048, 2048}, {1, 1}, {20, 2048}, {63, 1}}) {
      const Outcome other = connection(shape[0], shape[1], short_circuit);
      CHECK(other.packets == whole.packets);
      CHECK(other.counters.counters.l4s_marks == whole.counters.counters.l4s_marks && other.counters.counters.pdus == whole.counters.counters.pdus);
    }
  }
}

// A QoS flow whose UPF marks: the packets pass, and the share that would have been marked is told.
void a_upf_is_told_what_to_mark() {
  tidemark_instance_config config{};
  config.max_ues = 1;
  config.secret[0] = 1;
  auto instance = Instance::make(config);
  auto policy = Policy::read("[otherwise]\nlaw = \"l4span\"\n");
  auto ue = instance->add_ue();
  const tidemark_qos_flow flow{9, 9};
  CHECK(ue->add_drb(2, 18, &flow, 1, *policy));
  Session session(*std::move(ue));
  CHECK(session.mark(9, TIDEMARK_MARKING_REPORT) && session.mark(64, TIDEMARK_MARKING_OFF) == TIDEMARK_STATUS_BAD_QFI);
  for (std::uint32_t n = 0; n < 400; ++n) {
    Chain packet(tcp(true, 0x010, 1 + n * 1'201, 1, 1'201, 1), 100, 100);
    CHECK(session.downlink(packet, 9) && (packet.whole()[1] & 3) == 1);
    Chain pdu({0x80, static_cast<std::uint8_t>(n >> 8), static_cast<std::uint8_t>(n)}, 3, 3);
    pdu.segments.push_back(std::vector<std::uint8_t>(1'265));
    session.pdu(2, pdu, false);
    TestClock::now += 1'000'000;
    if (n % 5 == 4) {
      tidemark_report report{};
      report.fields = TIDEMARK_REPORT_TRANSMITTED;
      report.highest_transmitted_sn = n / 2;
      session.delivery_status(2, report);
    }
  }
  const auto congestion = session.congestion(9);
  CHECK(congestion && congestion->packets == 400 && congestion->dl_congestion > 1'000);
  CHECK(session.failed() == 0);
}

// Packets without a byte, empty segments, and what is no packet pass as they came.
void odd_buffers() {
  tidemark_instance_config config{};
  config.max_ues = 1;
  config.secret[0] = 1;
  auto instance = Instance::make(config);
  Session session(*instance->add_ue());
  Chain empty({}, 1, 1), odd({0x45}, 1, 1);
  odd.segments.insert(odd.segments.begin(), 2, {});
  odd.segments.push_back({});
  CHECK(session.downlink(empty, 9, std::uint8_t{3}) && session.downlink(odd, 9, std::uint8_t{3}));
  session.uplink(empty);
  session.uplink(odd);
  CHECK(!session.pdu(1, empty, false) && odd.whole() == std::vector<std::uint8_t>{0x45});
  session.handover(1);
  session.discard(1, 5);
  CHECK(session.failed() > 0);
}

// Within a batch a thread's clock stands; another thread's goes on.
void a_batch_reads_the_clock_once() {
  using gnb::BatchClock;
  const std::uint64_t before = BatchClock::now_ns();
  const auto later = [] { std::this_thread::sleep_for(std::chrono::microseconds(50)); };
  {
    const BatchClock::Batch batch;
    const std::uint64_t held = BatchClock::now_ns();
    later();
    CHECK(held > before && BatchClock::now_ns() == held);
    {
      const BatchClock::Batch within;
      CHECK(BatchClock::now_ns() == held);
    }
    CHECK(BatchClock::now_ns() == held);
    std::thread([&] { CHECK(BatchClock::now_ns() > held); }).join();
  }
  const std::uint64_t after = BatchClock::now_ns();
  later();
  CHECK(BatchClock::now_ns() > after);
}

// A host without strands: two threads in one session, kept apart by its lock.
void a_lock_keeps_threads_apart() {
  tidemark_instance_config config{};
  config.max_ues = 1;
  config.secret[0] = 1;
  auto instance = Instance::make(config);
  auto policy = Policy::read("");
  auto ue = instance->add_ue();
  const tidemark_qos_flow flow{9, 9};
  CHECK(ue->add_drb(2, 18, &flow, 1, *policy));
  gnb::Session<Chain, gnb::BatchClock, std::mutex> session(*std::move(ue));
  const auto run = [&](bool down) {
    for (std::uint32_t n = 0; n < 20'000; ++n) {
      Chain packet(tcp(down, 0x010, n, n, 0, 1), 64, 64);
      if (down) {
        (void)session.downlink(packet, 9);
      } else {
        session.uplink(packet);
      }
    }
  };
  std::thread other(run, true);
  run(false);
  other.join();
  CHECK(session.failed() == 0);
}

int main() {
  segments_change_nothing();
  a_upf_is_told_what_to_mark();
  odd_buffers();
  a_batch_reads_the_clock_once();
  a_lock_keeps_threads_apart();
  std::puts("ok");
}
