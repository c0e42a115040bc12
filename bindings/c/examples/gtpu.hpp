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
  std::uint8_t* data = nullptr;
  std::size_t len = 0;
};

struct Message {
  std::uint8_t type = 0;
  std::uint32_t teid = 0;
  Bytes nr_ran;
  Bytes pdu_session;
  Bytes payload;
};

// Reads a datagram. Nothing in it is used before it was checked against the datagram's end.
inline std::optional<Message> read(Bytes datagram) {
  std::uint8_t* const at = datagram.data;
  if (datagram.len < 8 || at[0] >> 4 != 3) {
    return std::nullopt;
  }
  const std::size_t end = std::size_t{8} + (std::size_t{at[2]} << 8 | at[3]);
  if (end > datagram.len) {
    return std::nullopt;
  }
  Message message;
  message.type = at[1];
  message.teid = std::uint32_t{at[4]} << 24 | std::uint32_t{at[5]} << 16 | std::uint32_t{at[6]} << 8 | at[7];
  std::size_t next = 8;
  if ((at[0] & 7) != 0) {
    if (end < 12) {
      return std::nullopt;
    }
    std::uint8_t kind = (at[0] & 4) != 0 ? at[11] : 0;
    next = 12;
    while (kind != 0) {
      const std::size_t len = next < end ? std::size_t{at[next]} * 4 : 0;
      if (len == 0 || next + len > end) {
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
  message.payload = {at + next, end - next};
  return message;
}

// Puts the header of a G-PDU with one extension header before a payload, which needs so much room before it.
// The extension header's content is two bytes less than a multiple of four.
constexpr std::size_t room(std::size_t content_len) { return 12 + content_len + 2; }
inline Bytes wrap(Bytes payload, std::uint32_t teid, std::uint8_t kind, const std::uint8_t* content,
                  std::size_t content_len) {
  const std::size_t header = room(content_len);
  std::uint8_t* const at = payload.data - header;
  const std::size_t len = payload.len + header - 8;
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
  std::memcpy(at, fixed, sizeof fixed);
  std::memcpy(at + sizeof fixed, content, content_len);
  at[header - 1] = 0;
  return {at, payload.len + header};
}

}  // namespace gtpu
