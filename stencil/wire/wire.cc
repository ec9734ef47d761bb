// A frame on the wire, as a grammar. Integers inside the header are protobuf's own encoding.
//
//   frame    := header payload?
//   header   := protobuf Header (proto/wire.proto), 1 .. kMaxHeaderBytes bytes
//   payload  := payload_size raw bytes: values of one bucket in `codec`, little-endian
//
//   Header.kind             0 .. 8, the place in MessageBody
//   Header.from             0 .. 2^31 - 1
//   Header.state            0 .. 4, WorkerState
//   Header.calm             0 .. 2^21, hops
//   Header.status           0 .. 3, ReplyStatus
//   Header.codec            0 .. 255, a CodecNumber; likewise Hello.codec. Whether this run sends
//                           is for the receiver to decide
//   Header.divisor          0, 2 or 3
//   Header.hello            present exactly in a Hello
//   Hello.progress          finite, 0 or more
//   Header.text, .term, .marks
//                           empty but in a Refusal
//   Hello.terms             at most kMaxTerms
//   Header.payload_size     length of the payload part; 0 when there is none
//   Header.payload_checksum XXH3 (64 bits) of the payload; 0 when there is none, and on links whose
//                           cipher authenticates each byte (Integrity::kProven)
//   every text              at most kMaxTextBytes of UTF-8 without control characters: it may be
//                           shown in a terminal and written to JSON
//
// Unknown protobuf fields are skipped, so that the Hello of a newer protocol can still be read and
// refused with both versions named.

#include "stencil/wire/wire.h"

#include <wire.pb.h>
#if defined(__x86_64__)
#include <xxh_x86dispatch.h>  // XXH3 with the best instruction set of the machine
#else
#include <xxhash.h>
#endif

#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "stencil/core/array_list.h"
#include "stencil/core/topology.h"

namespace stencil {
namespace {

constexpr std::size_t kMaxTextBytes = 512;
constexpr int kMaxTerms = 32;

bool is_continuation(unsigned char byte) {
  return (byte & 0xC0) == 0x80;
}

/// Well-formed UTF-8 (RFC 3629: shortest form, no surrogates) without C0, DEL and C1 controls.
bool is_printable(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      if (lead < 0x20 || lead == 0x7F) return false;
      ++i;
      continue;
    }
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || i + length > text.size()) return false;
    std::uint32_t point = lead & (0x7FU >> length);
    for (std::size_t k = 1; k < length; ++k) {
      const auto byte = static_cast<unsigned char>(text[i + k]);
      if (!is_continuation(byte)) return false;
      point = point << 6 | (byte & 0x3FU);
    }
    constexpr std::uint32_t kSmallest[] = {0xA0, 0x800, 0x10000};
    if (point < kSmallest[length - 2] || point > 0x10FFFF) return false;
    if (point >= 0xD800 && point <= 0xDFFF) return false;
    i += length;
  }
  return true;
}

/// A text of ours as the other side accepts it: cut to its length at a character, control
/// characters replaced by spaces.
std::string presentable(const std::string& text) {
  std::string result = text;
  if (result.size() > kMaxTextBytes) {
    std::size_t end = kMaxTextBytes;
    while (end > 0 && is_continuation(static_cast<unsigned char>(result[end]))) --end;
    result.resize(end);
  }
  for (char& c : result) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) c = ' ';
  }
  if (is_printable(result)) return result;
  for (char& c : result) {
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  }
  return result;
}

std::uint64_t checksum(std::span<const std::byte> payload) {
  return payload.empty() ? 0 : XXH3_64bits(payload.data(), payload.size());
}

void encode_hello(const Hello& hello, Rank from, proto::Hello& out) {
  out.set_protocol(hello.protocol);
  out.set_run_id(hello.run_id);
  out.set_topology(hello.topology);
  out.set_generation(hello.generation);
  out.set_layout_hash(hello.layout_hash);
  out.set_initial_hash(hello.initial_hash);
  if (hello.initial_rank != from) out.set_initial_rank(hello.initial_rank);
  out.set_mode(hello.mode);
  out.set_codec(hello.codec.number);
  out.set_codec_share(hello.codec.parameter);
  out.set_last_answered(hello.last_answered);
  out.set_last_completed(hello.last_completed);
  out.set_meeting(hello.meeting);
  out.set_progress(hello.progress);
  out.set_life_high(hello.life.high);
  out.set_life_low(hello.life.low);
  out.set_host(presentable(hello.host));
  for (const TermHash& term : hello.terms) {
    proto::Term* const added = out.add_terms();
    added->set_name(term.name);
    added->set_hash(term.hash);
  }
}

/// The place of a body in MessageBody.
template <typename Body, std::size_t place = 0>
constexpr std::uint32_t place_of() {
  if constexpr (std::is_same_v<std::variant_alternative_t<place, MessageBody>, Body>) {
    return place;
  } else {
    return place_of<Body, place + 1>();
  }
}
template <typename Body>
constexpr std::uint32_t kKindOf = place_of<Body>();

Error malformed(std::string text) {
  return {Fault::kMalformed, std::move(text)};
}

Error out_of_range(std::string_view field, std::int64_t value) {
  return {Fault::kOutOfRange,
          "header field '" + std::string(field) + "' is out of range: " + std::to_string(value)};
}

/// Returns nothing where every field is within the range that the grammar above gives.
std::optional<Error> check_header(const proto::Header& header) {
  constexpr std::uint32_t kKinds = std::variant_size_v<MessageBody> - 1;
  constexpr std::uint32_t kMaxSettledHops = 2 * std::uint32_t{Topology::kMaxSize};
  constexpr auto kStates = static_cast<std::uint32_t>(WorkerState::kFrozen);
  constexpr std::uint32_t kLargestCodec = std::numeric_limits<CodecNumber>::max();
  constexpr auto kStatuses = static_cast<std::uint32_t>(ReplyStatus::kRejected);
  if (header.kind() > kKinds) return out_of_range("kind", header.kind());
  if (header.from() < 0) return out_of_range("from", header.from());
  if (header.state() > kStates) return out_of_range("state", header.state());
  if (header.calm() > kMaxSettledHops) return out_of_range("calm", header.calm());
  if (header.status() > kStatuses) return out_of_range("status", header.status());
  if (header.codec() > kLargestCodec) return out_of_range("codec", header.codec());
  if (header.divisor() != 0 && header.divisor() != 2 && header.divisor() != 3)
    return out_of_range("divisor", header.divisor());
  if (header.has_hello() != (header.kind() == kKindOf<Hello>))
    return malformed(header.has_hello() ? "a Hello inside another kind of message"
                                        : "a Hello message without its Hello");
  const bool says = !header.text().empty() || !header.term().empty() || !header.marks().empty();
  if (says && header.kind() != kKindOf<Refusal>)
    return malformed("a text in a message that has none");
  for (const std::string* text : {&header.text(), &header.term()}) {
    if (text->size() > kMaxTextBytes || !is_printable(*text))
      return malformed("a text that is too long or not printable");
  }
  if (header.marks().size() > 2 * ArrayList::kMostMarks)
    return malformed("a Refusal of too many marks");
  if (!header.has_hello()) return std::nullopt;
  const proto::Hello& hello = header.hello();
  if (hello.codec() > kLargestCodec) return out_of_range("hello.codec", hello.codec());
  if (hello.initial_rank() < kNoRank)
    return out_of_range("hello.initial_rank", hello.initial_rank());
  if (!std::isfinite(hello.progress()) || hello.progress() < 0)
    return malformed("a Hello whose progress is no number of steps");
  for (const std::string* text :
       {&hello.run_id(), &hello.topology(), &hello.mode(), &hello.meeting(), &hello.host()}) {
    if (text->size() > kMaxTextBytes || !is_printable(*text))
      return malformed("a text of Hello that is too long or not printable");
  }
  if (hello.terms_size() > kMaxTerms) return malformed("a Hello of too many terms");
  for (const proto::Term& term : hello.terms()) {
    if (term.name().size() > kMaxTextBytes || !is_printable(term.name()))
      return malformed("a term of Hello whose name is too long or not printable");
  }
  return std::nullopt;
}

Hello decode_hello(proto::Hello& from, Rank sender) {
  std::vector<TermHash> terms;
  for (proto::Term& term : *from.mutable_terms()) {
    terms.push_back({std::move(*term.mutable_name()), term.hash()});
  }
  return {.protocol = from.protocol(),
          .run_id = std::move(*from.mutable_run_id()),
          .topology = std::move(*from.mutable_topology()),
          .generation = from.generation(),
          .layout_hash = from.layout_hash(),
          .initial_hash = from.initial_hash(),
          .initial_rank = from.has_initial_rank() ? from.initial_rank() : sender,
          .mode = std::move(*from.mutable_mode()),
          .codec = {static_cast<CodecNumber>(from.codec()), from.codec_share()},
          .last_answered = from.last_answered(),
          .last_completed = from.last_completed(),
          .meeting = std::move(*from.mutable_meeting()),
          .progress = from.progress(),
          .life = {from.life_high(), from.life_low()},
          .host = std::move(*from.mutable_host()),
          .terms = std::move(terms)};
}

/// Writes the fields of each kind of message; the fields of other kinds stay 0.
struct EncodeBody {
  proto::Header& header;

  void operator()(const Hello& hello) const {
    encode_hello(hello, header.from(), *header.mutable_hello());
  }
  void operator()(const Refusal& refusal) const {
    header.set_text(presentable(refusal.text));
    header.set_term(refusal.term);
    header.set_answer(refusal.answer);
    header.set_taken(refusal.taken);
    header.set_marks(refusal.marks);
  }
  void operator()(const Offer& offer) const {
    header.set_sequence(offer.sequence);
    header.set_bucket(offer.bucket);
    header.set_ahead(offer.ahead);
    header.set_codec(offer.codec);
  }
  void operator()(const Reply& reply) const {
    header.set_sequence(reply.sequence);
    header.set_bucket(reply.bucket);
    header.set_divisor(reply.divisor);
    header.set_status(static_cast<std::uint32_t>(reply.status));
    header.set_codec(reply.codec);
  }
  void operator()(const Pull& pull) const {
    header.set_bucket(pull.bucket);
    header.set_round(pull.round);
  }
  void operator()(const Snapshot& snapshot) const {
    header.set_bucket(snapshot.bucket);
    header.set_round(snapshot.round);
    header.set_codec(snapshot.codec);
  }
  void operator()(HelloRequest request) const { header.set_known(request.known); }
  void operator()(Heartbeat heartbeat) const {
    header.set_first_batch(heartbeat.first_batch);
    header.set_grid(heartbeat.grid);
  }
  void operator()(Leave leave) const { header.set_paused(leave.paused); }
};

MessageBody decode_body(proto::Header& header, const Payload& payload) {
  const auto codec = static_cast<CodecNumber>(header.codec());
  switch (header.kind()) {
    case kKindOf<Hello>:
      return decode_hello(*header.mutable_hello(), header.from());
    case kKindOf<HelloRequest>:
      return HelloRequest{header.known()};
    case kKindOf<Refusal>:
      return Refusal{header.text(), header.term(), header.answer(), header.taken(), header.marks()};
    case kKindOf<Offer>:
      return Offer{header.sequence(), header.bucket(), header.ahead(), codec, payload};
    case kKindOf<Reply>:
      return Reply{header.sequence(),
                   header.bucket(),
                   static_cast<std::uint8_t>(header.divisor()),
                   static_cast<ReplyStatus>(header.status()),
                   codec,
                   payload};
    case kKindOf<Pull>:
      return Pull{header.bucket(), header.round()};
    case kKindOf<Snapshot>:
      return Snapshot{header.bucket(), header.round(), codec, payload};
    case kKindOf<Leave>:
      return Leave{header.paused()};
    default:
      return Heartbeat{header.first_batch(), header.grid()};
  }
}

}  // namespace

Frame encode_frame(const Message& message, Integrity link) {
  const Payload payload = payload_of(message);
  proto::Header header;
  header.set_kind(static_cast<std::uint32_t>(message.body.index()));
  header.set_from(message.header.from);
  header.set_sender_epoch(message.header.sender_epoch);
  header.set_receiver_epoch(message.header.receiver_epoch);
  header.set_state(static_cast<std::uint32_t>(message.header.state));
  header.set_step(message.header.step);
  header.set_calm(message.header.settled_hops);
  header.set_said(message.header.number);
  header.set_completed(message.header.completed);
  std::visit(EncodeBody{header}, message.body);
  header.set_payload_size(view(payload).size());
  if (link == Integrity::kChecksum) header.set_payload_checksum(checksum(view(payload)));

  Frame frame;
  frame.header.resize(header.ByteSizeLong());
  header.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(frame.header.data()));
  frame.payload = payload;
  frame.urgent = message.is<Heartbeat>() || message.is<Pull>();
  return frame;
}

Result<Message> decode_frame(const Frame& frame, Integrity link) {
  if (frame.header.empty() || frame.header.size() > kMaxHeaderBytes)
    return malformed("a header of " + std::to_string(frame.header.size()) +
                     " bytes, expected 1 .. " + std::to_string(kMaxHeaderBytes));
  proto::Header header;
  if (!header.ParseFromArray(frame.header.data(), static_cast<int>(frame.header.size())))
    return malformed("a header that is no protobuf Header");
  if (std::optional<Error> error = check_header(header)) return *std::move(error);

  const std::span<const std::byte> payload = view(frame.payload);
  if (header.payload_size() != payload.size())
    return Error{Fault::kPayloadSize, "a payload of " + std::to_string(payload.size()) +
                                          " bytes where the header says " +
                                          std::to_string(header.payload_size())};
  const bool vouched = link == Integrity::kProven && header.payload_checksum() == 0;
  if (!vouched && header.payload_checksum() != checksum(payload))
    return Error{Fault::kChecksum, "the payload does not match its checksum"};

  Message message;
  message.header = {.from = header.from(),
                    .sender_epoch = header.sender_epoch(),
                    .receiver_epoch = header.receiver_epoch(),
                    .number = header.said(),
                    .state = static_cast<WorkerState>(header.state()),
                    .step = header.step(),
                    .settled_hops = header.calm(),
                    .completed = header.completed()};
  message.body = decode_body(header, payload.empty() ? Payload() : frame.payload);
  if (!payload.empty() && !payload_of(message))
    return Error{Fault::kPayloadSize, "a payload in a message that has none"};
  return message;
}

}  // namespace stencil
