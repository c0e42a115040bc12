// A miniature CU-UP: GTP-U from a UPF on one side, F1-U with NR-U to a DU on the other, libtidemark in between by the glue of gnb/.
//
//     cu_up <n3> <f1-u> <upf> <du> <seconds> [segment octets] [policy file]
//
// Ends are [address:]port, on 127.0.0.1 unless said; an own port of 0 takes a free one. Packets lie in chains of segments, as a gNB's pool
// hands them out. One UE with one PDU session and two DRBs. It ends after so many seconds or with the UPF's end marker, and prints
// what it counted. At SIGUSR1 the UE moves to a second instance, as it would to another CU-UP: by bytes.
//
// What is left out is what has nothing to do with marking: ciphering, control plane, reordering, several UEs' sessions.
#include "gtpu.hpp"
#include "tidemark_gnb.hpp"

#include <arpa/inet.h>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <poll.h>
#include <string>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <vector>

namespace {

// Who speaks to whom: the tunnels are set up by a control plane that this program does not have.
constexpr std::uint32_t n3_teid = 0x1001;          // from the UPF to here
constexpr std::uint32_t upf_teid = 0x2001;         // from here to the UPF
constexpr std::uint32_t f1u_teid = 0x3000;         // from the DU to here, plus the DRB
constexpr std::uint32_t du_teid = 0x4000;          // from here to the DU, plus the DRB
constexpr std::uint32_t sn_modulus = 1u << 18;     // PDCP SNs of 18 bits
constexpr std::size_t pdcp_header = 3;
constexpr std::size_t longest = 9'300;             // datagram: a packet of 9000 octets and headers

// Delay first or throughput first, by the DRB's 5QI; best effort, which is TCP for the most part, is marked in its acknowledgements.
constexpr char policy_text[] = R"(
[otherwise]
law = "tide"
mode = "by-5qi"
[[rules]]
five_qi = 9
marker = { law = "tide", mode = "by-5qi", short_circuit = true }
)";

[[noreturn]] void fail(const char* what, const char* why) {
  std::fprintf(stderr, "cu_up: %s: %s\n", what, why);
  std::exit(1);
}

// Set-up calls only fail for a reason that somebody has to hear of.
void must(const char* what, tidemark::Status status) {
  if (!status) {
    fail(what, status.text());
  }
}

// A packet as the host keeps it: segments of memory that is not its own.
struct Packet {
  std::vector<iovec> segments;

  std::size_t size() const {
    std::size_t sum = 0;
    for (const iovec& segment : segments) {
      sum += segment.iov_len;
    }
    return sum;
  }
  void push_front(void* octets, std::size_t len) { segments.insert(segments.begin(), iovec{octets, len}); }
  void drop_front(std::size_t len) {
    while (len != 0 && !segments.empty()) {
      iovec& first = segments.front();
      const std::size_t taken = std::min(len, first.iov_len);
      first.iov_base = static_cast<std::uint8_t*>(first.iov_base) + taken;
      first.iov_len -= taken;
      len -= taken;
      if (first.iov_len == 0) {
        segments.erase(segments.begin());
      }
    }
  }
  void cut(std::size_t size) {
    for (std::size_t n = 0; n < segments.size(); ++n) {
      segments[n].iov_len = std::min(segments[n].iov_len, size);
      size -= segments[n].iov_len;
    }
  }
};

}  // namespace

// All that the glue has to know of it.
template <>
struct tidemark::gnb::Segments<Packet> {
  static std::size_t size(const Packet& packet) { return packet.size(); }
  template <class Visit>
  static void segments(Packet& packet, Visit&& visit) {
    for (iovec& segment : packet.segments) {
      if (!visit(static_cast<std::uint8_t*>(segment.iov_base), segment.iov_len)) {
        return;
      }
    }
  }
};

namespace {

using tidemark::gnb::BatchClock;
using Session = tidemark::gnb::Session<Packet>;

volatile std::sig_atomic_t to_move = 0;

// What came over UDP, and the type of service of the IP header that it came in.
struct Datagram {
  Packet packet;
  std::uint8_t tos = 0;
};

// Memory of one datagram in segments, none beside the other.
class Pool {
public:
  explicit Pool(std::size_t segment) {
    for (std::size_t len = 0; len < longest; len += segment) {
      memory.emplace_back(segment);
    }
  }
  Packet all() {
    Packet packet;
    for (auto& segment : memory) {
      packet.segments.push_back({segment.data(), segment.size()});
    }
    return packet;
  }

private:
  std::vector<std::vector<std::uint8_t>> memory;
};

struct Socket {
  int fd = -1;
  sockaddr_in peer{};

  static sockaddr_in end(const std::string& text) {
    const auto colon = text.find(':');
    sockaddr_in end{};
    end.sin_family = AF_INET;
    const std::string address = colon == std::string::npos ? "127.0.0.1" : text.substr(0, colon);
    if (inet_pton(AF_INET, address.c_str(), &end.sin_addr) != 1) {
      fail(text.c_str(), "is no [address:]port");
    }
    end.sin_port = htons(static_cast<std::uint16_t>(std::strtoul(text.c_str() + (colon == std::string::npos ? 0 : colon + 1), nullptr, 10)));
    return end;
  }
  void open(const char* own, const char* other) {
    const sockaddr_in address = end(own);
    peer = end(other);
    fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (fd < 0 || bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      fail(own, "cannot be bound");
    }
    const int on = 1, room = 4 << 20;
    setsockopt(fd, IPPROTO_IP, IP_RECVTOS, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  }
  std::uint16_t port() const {
    sockaddr_in own{};
    socklen_t len = sizeof own;
    getsockname(fd, reinterpret_cast<sockaddr*>(&own), &len);
    return ntohs(own.sin_port);
  }
  // The type of service of what is sent from now on.
  void set_tos(int tos) const { setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof tos); }
  void send(Packet& packet) {
    msghdr message{};
    message.msg_name = &peer;
    message.msg_namelen = sizeof peer;
    message.msg_iov = packet.segments.data();
    message.msg_iovlen = packet.segments.size();
    // UDP: what does not get through is lost, as on a real F1-U.
    (void)!sendmsg(fd, &message, 0);
  }
  // False where nothing is left.
  bool receive(Pool& pool, Datagram& datagram) const {
    datagram = {pool.all(), 0};
    alignas(cmsghdr) char control[64];
    msghdr message{};
    message.msg_iov = datagram.packet.segments.data();
    message.msg_iovlen = datagram.packet.segments.size();
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t len = recvmsg(fd, &message, MSG_DONTWAIT);
    if (len < 0) {
      return false;
    }
    datagram.packet.cut(static_cast<std::size_t>(len));
    for (cmsghdr* at = CMSG_FIRSTHDR(&message); at != nullptr; at = CMSG_NXTHDR(&message, at)) {
      if (at->cmsg_level == IPPROTO_IP && at->cmsg_type == IP_TOS) {
        datagram.tos = *CMSG_DATA(at);
      }
    }
    return true;
  }
};

// A DRB: where its PDCP and its F1-U bearer are with their numbers.
struct Drb {
  std::uint8_t id;
  std::uint8_t qfi;
  std::uint8_t five_qi;
  std::uint32_t next_sn = 0;
  std::uint32_t next_nru_sn = 0;
};

// Reads the GTP-U header from a packet's first segment and takes it off.
std::optional<gtpu::Message> unwrap(Packet& packet) {
  if (packet.segments.empty()) {
    return std::nullopt;
  }
  const iovec& first = packet.segments.front();
  const auto message = gtpu::read({static_cast<const std::uint8_t*>(first.iov_base), first.iov_len}, packet.size());
  if (message) {
    packet.drop_front(message->header);
    packet.cut(message->payload);
  }
  return message;
}

constexpr std::array<Drb, 2> drbs_at_first{{{1, 1, 80}, {2, 9, 9}}};

// What a CU-UP has of the library: an instance, and in it the UE's session.
class Marking {
public:
  explicit Marking(const char* policy) : instance(make_instance()), session(make_ue(instance, policy)) {}

private:
  static tidemark::Instance make_instance() {
    tidemark_instance_config config{};
    config.max_ues = 64;
    if (getrandom(config.secret, sizeof config.secret, 0) != sizeof config.secret) {
      fail("getrandom", "no random numbers");
    }
    auto made = tidemark::Instance::make(config);
    must("instance", made.status());
    return *std::move(made);
  }
  static tidemark::Ue make_ue(const tidemark::Instance& instance, const char* text) {
    std::string problem;
    const auto policy = tidemark::Policy::read(text, &problem);
    if (!policy) {
      fail("policy", problem.c_str());
    }
    auto ue = instance.add_ue();
    must("UE", ue.status());
    for (const Drb& drb : drbs_at_first) {
      const tidemark_qos_flow flow{drb.qfi, drb.five_qi};
      must("DRB", ue->add_drb(drb.id, 18, &flow, 1, *policy));
    }
    return *std::move(ue);
  }
  tidemark::Instance instance;

public:
  Session session;
};

class CuUp {
public:
  CuUp(char** ends, const char* text) : policy(text), marking(std::make_unique<Marking>(text)) {
    n3.open(ends[0], ends[2]);
    f1u.open(ends[1], ends[3]);
  }

  // The GTP-U receive path, where the N3 tunnel ends and SDAP maps QoS flows to DRBs. False once the session is over.
  bool from_upf(Datagram& datagram) {
    Packet& packet = datagram.packet;
    const auto message = unwrap(packet);
    if (!message || message->teid != n3_teid) {
      return true;
    }
    if (message->type == gtpu::end_marker) {
      return false;
    }
    if (message->type != gtpu::g_pdu || message->pdu_session.len < 2) {
      return true;
    }
    const std::uint8_t qfi = message->pdu_session.data[1] & 0x3F;
    Drb* const drb = carrier_of(qfi);
    if (drb != nullptr && marking->session.downlink(packet, qfi, datagram.tos)) {
      to_du(*drb, packet);
    }
    return true;
  }

  // The F1-U receive path: delivery status and uplink PDUs.
  void from_du(Datagram& datagram) {
    Packet& packet = datagram.packet;
    const auto message = unwrap(packet);
    if (!message || message->type != gtpu::g_pdu) {
      return;
    }
    for (const Drb& drb : drbs) {
      if (message->teid != f1u_teid + drb.id) {
        continue;
      }
      // PDU type 1 is DL DATA DELIVERY STATUS; it may come alone or with an uplink PDU.
      if (message->nr_ran.len != 0 && message->nr_ran.data[0] >> 4 == 1) {
        marking->session.delivery_status(drb.id, message->nr_ran.data, message->nr_ran.len);
      }
      if (message->payload > pdcp_header) {
        packet.drop_front(pdcp_header);
        to_upf(drb, packet);
      }
    }
  }

  // Moves the UE to another instance, of another secret: its marks go on in the counters of its acknowledgements. The DU stays, so that
  // what is queued there is announced by nobody anew.
  void move() {
    const auto state = marking->session.ue().export_state();
    must("export", state.status());
    print();
    marking = std::make_unique<Marking>(policy);
    must("import", marking->session.ue().import_state(BatchClock::now_ns(), state->data(), state->size()));
    std::printf("moved: %zu bytes\n", state->size());
  }

  void print() {
    for (const Drb& drb : drbs) {
      const auto counters = marking->session.ue().counters(drb.id);
      must("counters", counters.status());
      const auto& now = counters->counters;
      const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
      std::printf("drb %d: %llu packets, %llu marks, %llu acknowledgements rewritten, %llu reports, %llu let go\n", drb.id, number(now.packets),
                  number(now.l4s_marks + now.classic_marks), number(now.rewritten_acks), number(now.reports), number(now.marks_let_go));
    }
  }

  Socket n3;
  Socket f1u;

private:
  // PDCP and the F1-U bearer.
  void to_du(Drb& drb, Packet& packet) {
    const std::uint32_t sn = drb.next_sn;
    drb.next_sn = (sn + 1) % sn_modulus;
    std::uint8_t header[pdcp_header] = {static_cast<std::uint8_t>(0x80 | sn >> 16), static_cast<std::uint8_t>(sn >> 8), static_cast<std::uint8_t>(sn)};
    packet.push_front(header, sizeof header);
    // Here a real PDCP ciphers. The SN is known, and the PDU is on its way: the library hears of it, and says whether to ask for a report.
    const bool poll = marking->session.pdu(drb.id, packet, false);
    // DL USER DATA: PDU type 0, report polling, NR-U sequence number (TS 38.425 5.5.2.1).
    const std::uint32_t nru_sn = drb.next_nru_sn++;
    const std::uint8_t frame[6] = {
        static_cast<std::uint8_t>(poll),          0,
        static_cast<std::uint8_t>(nru_sn >> 16), static_cast<std::uint8_t>(nru_sn >> 8),
        static_cast<std::uint8_t>(nru_sn),       0,
    };
    gtpu::Header gtpu(packet.size(), du_teid + drb.id, gtpu::nr_ran_container, frame, sizeof frame);
    packet.push_front(gtpu.data(), gtpu.size());
    f1u.send(packet);
  }

  // The uplink GTP-U transmit path: the packet is in clear again.
  void to_upf(const Drb& drb, Packet& packet) {
    marking->session.uplink(packet);
    // The tunnel's ECN field is a copy of the packet's (RFC 6040 4.1), in IPv4 and in IPv6.
    tidemark::gnb::Head<Packet> head(packet);
    if (head.present() < 2) {
      return;
    }
    n3.set_tos(head.data()[0] >> 4 == 4 ? head.data()[1] & 3 : head.data()[1] >> 4 & 3);
    const std::uint8_t container[2] = {0x10, drb.qfi};
    gtpu::Header gtpu(packet.size(), upf_teid, gtpu::pdu_session_container, container, sizeof container);
    packet.push_front(gtpu.data(), gtpu.size());
    n3.send(packet);
  }

  Drb* carrier_of(std::uint8_t qfi) {
    for (Drb& drb : drbs) {
      if (drb.qfi == qfi) {
        return &drb;
      }
    }
    return nullptr;
  }

  const char* policy;
  std::unique_ptr<Marking> marking;
  std::array<Drb, 2> drbs = drbs_at_first;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6 || argc > 8) {
    fail("usage", "cu_up <n3> <f1-u> <upf> <du> <seconds> [segment octets] [policy file]");
  }
  // The headers of both tunnels lie in the first segment.
  const std::size_t segment = argc > 6 ? std::max<std::size_t>(64, std::strtoul(argv[6], nullptr, 10)) : 2'048;
  std::string text = policy_text;
  if (argc > 7) {
    std::ifstream file(argv[7]);
    text.assign(std::istreambuf_iterator<char>(file), {});
    if (!file) {
      fail(argv[7], "cannot be read");
    }
  }
  CuUp cu_up(argv + 1, text.c_str());
  std::printf("n3 %d f1-u %d\n", cu_up.n3.port(), cu_up.f1u.port());
  std::fflush(stdout);

  std::signal(SIGUSR1, [](int) { to_move = 1; });
  const std::uint64_t end = BatchClock::now_ns() + std::strtoull(argv[5], nullptr, 10) * 1'000'000'000;
  Pool pool(segment);
  Datagram datagram;
  pollfd sockets[2] = {{cu_up.n3.fd, POLLIN, 0}, {cu_up.f1u.fd, POLLIN, 0}};
  for (bool goes_on = true; goes_on && BatchClock::now_ns() < end;) {
    const int ready = poll(sockets, 2, 100);
    if (to_move != 0) {
      to_move = 0;
      cu_up.move();
    }
    if (ready <= 0) {
      continue;
    }
    // A wake-up's packets have one time, and no more than 32 of them, so that it is true.
    const BatchClock::Batch batch;
    for (int n = 0; n < 32 && goes_on && cu_up.n3.receive(pool, datagram); ++n) {
      goes_on = cu_up.from_upf(datagram);
    }
    for (int n = 0; n < 32 && cu_up.f1u.receive(pool, datagram); ++n) {
      cu_up.from_du(datagram);
    }
  }
  cu_up.print();
}
