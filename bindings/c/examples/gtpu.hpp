// GTP-U (TS 29.281), as much as a CU-UP needs between a UPF and a DU: G-PDUs with one extension header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace gtpu {

constexpr std::uint8_t end_marker = 254;
constexpr std::uint8_t g_pdu = 255;
constexpr std::uint8_t nr_ran_container = 0x84;       // on F1-U: NR-U
constexpr std::uint8_t pdu_session_container = 0x85;  // on N3: which QoS flow

struct Bytes {
  const std::uint8_t* data = nullptr;
  std::size_t len = 0;
};

struct Message {
  std::uint8_t type = 0;
  std::uint32_t teid = 0;
  Bytes nr_ran;
  Bytes pdu_session;
  std::size_t header = 0;   // octets before the payload
  std::size_t payload = 0;  // and of the payload
};

// Reads the headers of a datagram of so many octets, all of which lie in `head`. Nothing is used before it was checked against the end.
inline std::optional<Message> read(Bytes head, std::size_t size) {
  const std::uint8_t* const at = head.data;
  if (head.len < 8 || at[0] >> 4 != 3) {
    return std::nullopt;
  }
  const std::size_t end = std::size_t{8} + (std::size_t{at[2]} << 8 | at[3]);
  if (end > size) {
    return std::nullopt;
  }
  const std::size_t readable = end < head.len ? end : head.len;
  Message message;
  message.type = at[1];
  message.teid = std::uint32_t{at[4]} << 24 | std::uint32_t{at[5]} << 16 | std::uint32_t{at[6]} << 8 | at[7];
  std::size_t next = 8;
  if ((at[0] & 7) != 0) {
    if (readable < 12) {
      return std::nullopt;
    }
    std::uint8_t kind = (at[0] & 4) != 0 ? at[11] : 0;
    next = 12;
    while (kind != 0) {
      const std::size_t len = next < readable ? std::size_t{at[next]} * 4 : 0;
      if (len == 0 || next + len > readable) {
        return std::nullopt;
      }
      const Bytes content{at + next + 1, len - 2};
      if (kind == nr_ran_container) {
        message.nr_ran = content;
      } else if (kind == pdu_session_container) {
        message.pdu_session = content;
      }
      kind = at[next + len - 1];
      next += len;
    }
  }
  message.header = next;
  message.payload = end - next;
  return message;
}

// Header of a G-PDU with one extension header, whose content is two octets less than a multiple of four.
class Header {
public:
  Header(std::size_t payload, std::uint32_t teid, std::uint8_t kind, const std::uint8_t* content, std::size_t content_len)
      : len_(12 + content_len + 2) {
    const std::size_t len = payload + len_ - 8;
    const std::uint8_t fixed[13] = {
        0x34,
        g_pdu,
        static_cast<std::uint8_t>(len >> 8),
        static_cast<std::uint8_t>(len),
        static_cast<std::uint8_t>(teid >> 24),
        static_cast<std::uint8_t>(teid >> 16),
        static_cast<std::uint8_t>(teid >> 8),
        static_cast<std::uint8_t>(teid),
        0,
        0,
        0,
        kind,
        static_cast<std::uint8_t>((content_len + 2) / 4),
    };
    std::memcpy(octets_, fixed, sizeof fixed);
    std::memcpy(octets_ + sizeof fixed, content, content_len);
    octets_[len_ - 1] = 0;
  }
  std::uint8_t* data() { return octets_; }
  std::size_t size() const { return len_; }

private:
  std::uint8_t octets_[32];
  std::size_t len_;
};

}  // namespace gtpu
