// A miniature CU-UP: GTP-U from a UPF on one side, F1-U with NR-U to a DU on the other, libtidemark in between.
//
//     cu_up <n3 port> <f1-u port> <upf port> <du port> <seconds>
//
// Everything is on 127.0.0.1; own port 0 takes a free one. One UE with one PDU session and two DRBs. It ends after so many
// seconds or with the UPF's end marker, and prints what it counted.
//
// What is left out is what has nothing to do with marking: ciphering, control plane, reordering, several UEs' sessions.
#include "gtpu.hpp"
#include "tidemark.h"

#include <arpa/inet.h>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using gtpu::Bytes;

// Who speaks to whom: the tunnels are set up by a control plane that this program does not have.
constexpr std::uint32_t n3_teid = 0x1001;          // from the UPF to here
constexpr std::uint32_t upf_teid = 0x2001;         // from here to the UPF
constexpr std::uint32_t f1u_teid = 0x3000;         // from the DU to here, plus the DRB
constexpr std::uint32_t du_teid = 0x4000;          // from here to the DU, plus the DRB
constexpr std::uint32_t sn_modulus = 1u << 18;     // PDCP SNs of 18 bits
constexpr std::size_t pdcp_header = 3;

// Interactive media over UDP or QUIC is marked in its packets, TCP in its acknowledgements.
constexpr char policy_text[] = R"(
[[rules]]
five_qi = 80
marker = { law = "l4span", tau_s = "10 ms" }
[[rules]]
five_qi = 9
marker = { law = "l4span", tau_s = "10 ms", short_circuit = true }
)";

[[noreturn]] void fail(const char* what, const char* why) {
  std::fprintf(stderr, "cu_up: %s: %s\n", what, why);
  std::exit(1);
}

// Set-up calls only fail for a reason that somebody has to hear of.
void must(const char* what, tidemark_status status) {
  if (status != TIDEMARK_STATUS_OK) {
    fail(what, tidemark_status_text(status));
  }
}

std::uint64_t now_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

// What came over UDP, and the type of service of the IP header that it came in.
struct Datagram {
  Bytes bytes;
  std::uint8_t tos = 0;
};

struct Socket {
  int fd = -1;
  sockaddr_in peer{};

  void open(std::uint16_t own_port, std::uint16_t peer_port) {
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    own.sin_port = htons(own_port);
    peer = own;
    peer.sin_port = htons(peer_port);
    fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (fd < 0 || bind(fd, reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) {
      fail("socket", "cannot be bound");
    }
    const int on = 1;
    setsockopt(fd, IPPROTO_IP, IP_RECVTOS, &on, sizeof on);
  }
  std::uint16_t port() const {
    sockaddr_in own{};
    socklen_t len = sizeof own;
    getsockname(fd, reinterpret_cast<sockaddr*>(&own), &len);
    return ntohs(own.sin_port);
  }
  // The type of service of what is sent from now on.
  void set_tos(int tos) const { setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof tos); }
  void send(Bytes datagram) const {
    // UDP: what does not get through is lost, as on a real F1-U.
    (void)!sendto(fd, datagram.data, datagram.len, 0, reinterpret_cast<const sockaddr*>(&peer), sizeof peer);
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

class CuUp {
public:
  CuUp(std::uint16_t n3_port, std::uint16_t f1u_port, std::uint16_t upf_port, std::uint16_t du_port) {
    n3.open(n3_port, upf_port);
    f1u.open(f1u_port, du_port);
    tidemark_instance_config config{};
    config.size = sizeof config;
    config.max_ues = 64;
    if (getrandom(config.secret, sizeof config.secret, 0) != sizeof config.secret) {
      fail("getrandom", "no random numbers");
    }
    must("instance", tidemark_instance_new(&config, &instance));
    char problem[400];
    tidemark_policy* policy = nullptr;
    if (tidemark_policy_new(policy_text, &policy, problem, sizeof problem) != TIDEMARK_STATUS_OK) {
      fail("policy", problem);
    }
    must("UE", tidemark_ue_add(instance, &ue));
    for (const Drb& drb : drbs) {
      const tidemark_qos_flow flow{drb.qfi, drb.five_qi};
      must("DRB", tidemark_drb_add(instance, ue, drb.id, 18, &flow, 1, policy));
    }
    tidemark_policy_free(policy);
  }
  ~CuUp() { tidemark_instance_free(instance); }
  CuUp(const CuUp&) = delete;
  CuUp& operator=(const CuUp&) = delete;

  // The GTP-U receive path, where the N3 tunnel ends and SDAP maps QoS flows to DRBs. False once the session is over.
  bool from_upf(Datagram datagram) {
    const auto message = gtpu::read(datagram.bytes);
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
    if (drb == nullptr) {
      return true;
    }
    const std::uint64_t now = now_ns();
    Bytes packet = message->payload;
    tidemark_verdict verdict = TIDEMARK_VERDICT_PASS;
    tidemark_decapsulate(datagram.tos, packet.data, packet.len, packet.len, &verdict);
    if (verdict == TIDEMARK_VERDICT_DROP) {
      return true;
    }
    tidemark_downlink(instance, ue, now, qfi, packet.data, packet.len, packet.len, &verdict);
    if (verdict == TIDEMARK_VERDICT_DROP) {
      return true;
    }
    to_du(*drb, packet, now);
    return true;
  }

  // The F1-U receive path: delivery status and uplink PDUs.
  void from_du(Bytes datagram) {
    const auto message = gtpu::read(datagram);
    if (!message || message->type != gtpu::g_pdu) {
      return;
    }
    for (const Drb& drb : drbs) {
      if (message->teid != f1u_teid + drb.id) {
        continue;
      }
      const std::uint64_t now = now_ns();
      // PDU type 1 is DL DATA DELIVERY STATUS; it may come alone or with an uplink PDU.
      if (message->nr_ran.len != 0 && message->nr_ran.data[0] >> 4 == 1) {
        tidemark_feedback_frame(instance, ue, now, drb.id, message->nr_ran.data, message->nr_ran.len);
      }
      if (message->payload.len > pdcp_header) {
        to_upf(drb, {message->payload.data + pdcp_header, message->payload.len - pdcp_header}, now);
      }
    }
  }

  void print() const {
    for (const Drb& drb : drbs) {
      tidemark_drb_counters counters{};
      counters.size = sizeof counters;
      must("counters", tidemark_read_drb_counters(instance, ue, drb.id, &counters));
      std::printf("drb %d: %llu packets, %llu marks, %llu acknowledgements rewritten, %llu reports\n", drb.id,
                  static_cast<unsigned long long>(counters.packets),
                  static_cast<unsigned long long>(counters.l4s_marks + counters.classic_marks),
                  static_cast<unsigned long long>(counters.rewritten_acks),
                  static_cast<unsigned long long>(counters.reports));
    }
  }

  Socket n3;
  Socket f1u;

private:
  // PDCP and the F1-U bearer.
  void to_du(Drb& drb, Bytes packet, std::uint64_t now) {
    const std::uint32_t sn = drb.next_sn;
    drb.next_sn = (sn + 1) % sn_modulus;
    Bytes pdu{packet.data - pdcp_header, packet.len + pdcp_header};
    pdu.data[0] = static_cast<std::uint8_t>(0x80 | sn >> 16);
    pdu.data[1] = static_cast<std::uint8_t>(sn >> 8);
    pdu.data[2] = static_cast<std::uint8_t>(sn);
    // Here a real PDCP ciphers. The SN is known, and the PDU is on its way: the library hears of it.
    tidemark_pdcp_pdu(instance, ue, now, drb.id, sn, static_cast<std::uint32_t>(pdu.len), false);

    bool poll = false;
    tidemark_wants_report(instance, ue, now, drb.id, &poll);
    // DL USER DATA: PDU type 0, report polling, NR-U sequence number (TS 38.425 5.5.2.1).
    const std::uint32_t nru_sn = drb.next_nru_sn++;
    const std::uint8_t frame[6] = {
        static_cast<std::uint8_t>(poll),          0,
        static_cast<std::uint8_t>(nru_sn >> 16), static_cast<std::uint8_t>(nru_sn >> 8),
        static_cast<std::uint8_t>(nru_sn),       0,
    };
    f1u.send(gtpu::wrap(pdu, du_teid + drb.id, gtpu::nr_ran_container, frame, sizeof frame));
  }

  // The uplink GTP-U transmit path: the packet is in clear again.
  void to_upf(const Drb& drb, Bytes packet, std::uint64_t now) {
    tidemark_uplink(instance, ue, now, packet.data, packet.len, packet.len);
    // The tunnel's ECN field is a copy of the packet's (RFC 6040 4.1), in IPv4 and in IPv6.
    n3.set_tos(packet.data[0] >> 4 == 4 ? packet.data[1] & 3 : packet.data[1] >> 4 & 3);
    const std::uint8_t container[2] = {0x10, drb.qfi};
    n3.send(gtpu::wrap(packet, upf_teid, gtpu::pdu_session_container, container, sizeof container));
  }

  Drb* carrier_of(std::uint8_t qfi) {
    for (Drb& drb : drbs) {
      if (drb.qfi == qfi) {
        return &drb;
      }
    }
    return nullptr;
  }

  tidemark_instance* instance = nullptr;
  tidemark_ue ue{};
  std::array<Drb, 2> drbs{{{1, 1, 80}, {2, 9, 9}}};
};

// Room before a datagram: headers that are put before a payload are longer than those that came with it.
constexpr std::size_t headroom = 64;

Datagram receive(const Socket& socket, std::array<std::uint8_t, 9000>& buffer) {
  iovec room{buffer.data() + headroom, buffer.size() - headroom};
  alignas(cmsghdr) char control[64];
  msghdr message{};
  message.msg_iov = &room;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t len = recvmsg(socket.fd, &message, MSG_DONTWAIT);
  Datagram datagram{{buffer.data() + headroom, len > 0 ? static_cast<std::size_t>(len) : 0}};
  for (cmsghdr* at = CMSG_FIRSTHDR(&message); len > 0 && at != nullptr; at = CMSG_NXTHDR(&message, at)) {
    if (at->cmsg_level == IPPROTO_IP && at->cmsg_type == IP_TOS) {
      datagram.tos = *CMSG_DATA(at);
    }
  }
  return datagram;
}

std::uint16_t port(const char* text) { return static_cast<std::uint16_t>(std::strtoul(text, nullptr, 10)); }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    fail("usage", "cu_up <n3 port> <f1-u port> <upf port> <du port> <seconds>");
  }
  CuUp cu_up(port(argv[1]), port(argv[2]), port(argv[3]), port(argv[4]));
  std::printf("n3 %d f1-u %d\n", cu_up.n3.port(), cu_up.f1u.port());
  std::fflush(stdout);

  const std::uint64_t end = now_ns() + std::strtoull(argv[5], nullptr, 10) * 1'000'000'000;
  std::array<std::uint8_t, 9000> buffer;
  pollfd sockets[2] = {{cu_up.n3.fd, POLLIN, 0}, {cu_up.f1u.fd, POLLIN, 0}};
  for (bool goes_on = true; goes_on && now_ns() < end;) {
    if (poll(sockets, 2, 100) <= 0) {
      continue;
    }
    if ((sockets[0].revents & POLLIN) != 0) {
      goes_on = cu_up.from_upf(receive(cu_up.n3, buffer));
    }
    if ((sockets[1].revents & POLLIN) != 0) {
      cu_up.from_du(receive(cu_up.f1u, buffer).bytes);
    }
  }
  cu_up.print();
}
