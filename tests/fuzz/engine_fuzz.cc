// A worker's pump between two neighbours that send anything, in any order and at any time.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <utility>
#include <variant>
#include <vector>

#include "stencil/codec/top_k.h"
#include "stencil/mix/codecs/kinds.h"
#include "stencil/runtime/pump.h"
#include "stencil/wire/wire.h"

namespace {

using namespace stencil;

/// The rest of the input, byte by byte; zeros at its end.
class Source {
 public:
  Source(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  [[nodiscard]] bool empty() const { return at_ >= size_; }
  std::uint8_t byte() { return empty() ? std::uint8_t{0} : data_[at_++]; }
  /// Mostly a small value, sometimes one at an end of its range.
  std::uint64_t number() {
    const std::uint8_t b = byte();
    if (b < 0xf0) return b % 16;
    if (b < 0xfc) return static_cast<std::uint64_t>(byte()) << 8 | byte();
    return UINT64_MAX - byte() % 4;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

/// Accepts all frames sent; the input decides what is received.
class Scripted : public Transport {
 public:
  std::string endpoint() const override { return "fuzz"; }
  LinkId dial(const PeerAddress&) override { return ++links_; }
  void drop(LinkId) override {}
  SendStatus send(LinkId, Frame&& frame) override {
    if (status_ == SendStatus::kSent) {
      Frame taken = std::move(frame);
      ++sent;
    }
    return status_;
  }
  std::optional<Received> receive() override {
    if (in.empty()) return std::nullopt;
    Received received = std::move(in.front());
    in.pop_front();
    return received;
  }
  TransportStats stats() const override { return {}; }

  std::deque<Received> in;
  SendStatus status_ = SendStatus::kSent;
  std::uint64_t sent = 0;

 private:
  LinkId links_ = 100;
};

/// One of the values from the first enumerator to `last`.
template <typename Enum>
Enum any_of(Source& source, Enum last) {
  return static_cast<Enum>(source.byte() % (1U + static_cast<unsigned>(last)));
}

/// One of all codecs but the first, fp32.
CodecSpec any_codec(Source& source) {
  const auto kinds = codec_kinds();
  const CodecKind& kind = kinds[1 + source.byte() % (kinds.size() - 1)];
  return {kind.number, kind.parse == nullptr ? 0 : TopK::kLargestShare};
}

constexpr std::size_t kFloats = 11;  // buckets of 4, 4 and 3

/// Mostly a valid part of a bucket, since random bytes would not pass the first check.
void write_part(Source& source, Bytes& bytes, std::size_t floats) {
  const std::size_t k = TopK(TopK::kLargestShare).count(floats);
  if (k == 0) return;
  PartWriter writer(bytes, source.byte() % 4U, floats, k);
  std::uint32_t index = source.byte() % 2U;
  for (std::size_t j = 0; j < k; ++j, index += 1U + source.byte() % 2U) {
    writer.add(std::min<std::uint32_t>(index, static_cast<std::uint32_t>(floats - k + j)),
               std::bit_cast<float>(static_cast<std::uint32_t>(source.number())));
  }
}

/// A payload and its codec: the run's, unless the input chooses another.
struct Coded {
  CodecNumber codec = kExact;
  Payload payload{};
};
Coded any_payload(Source& source, std::uint8_t how, std::uint32_t bucket, bool reply) {
  const CodecSpec codec = (how & 8) != 0 ? any_codec(source) : CodecSpec{};
  const std::size_t all[] = {4, 4, 3, 0, 0};
  const std::size_t floats = all[bucket];
  const Layout layout = Layout::flat(kFloats, 4);
  const auto edge = make_edge_codec(codec, layout, std::vector<float>(kFloats));
  std::size_t size = reply ? edge->reply_form(floats).bytes : edge->offer_form(floats).bytes;
  if (bucket == 3) size = 2 * sizeof(double);  // the telemetry
  if ((how & 32) != 0) size = source.byte();
  Bytes bytes(size);
  for (std::byte& b : bytes) b = static_cast<std::byte>(source.byte());
  const bool part = make_codec(codec.number) == nullptr && !reply;
  if (part && (how & 96) == 0 && bucket != 3) write_part(source, bytes, floats);
  return {codec.number, size > 0 ? Payload(std::move(bytes)) : Payload()};
}

Message any_message(Source& source, Rank from, const Pump& pump, const Hello& right) {
  Message m;
  const auto kind = source.byte() % std::variant_size_v<MessageBody>;
  MessageHeader& h = m.header;
  h.from = from;
  const std::uint8_t how = source.byte();
  const Neighbour& edge = pump.engine().neighbours().at(from);
  // Mostly in the present epochs and in order, since other messages would not pass the first check.
  h.sender_epoch = edge.life.their_epoch != 0 ? edge.life.their_epoch : 5;
  h.receiver_epoch = edge.life.our_epoch;
  if ((how & 1) != 0) h.sender_epoch += static_cast<std::uint32_t>(source.number());
  if ((how & 2) != 0) h.receiver_epoch = static_cast<std::uint32_t>(source.number());
  h.state = any_of(source, WorkerState::kFrozen);
  h.step = source.number();
  h.completed = source.number();
  h.number = source.number();
  std::uint64_t sequence = edge.book.answered + edge.book.held.size() + 1;
  if (kind == MessageBody(Reply{}).index() && !edge.book.open.empty()) {
    sequence = edge.book.open[0].sequence;
  }
  if ((how & 4) != 0) sequence = source.number();
  const std::uint64_t round = source.byte() % 4U;
  const std::uint8_t which = source.byte();
  const std::uint32_t bucket = which % 5U;
  switch (kind) {
    case 0: {
      Hello hello = right;
      hello.generation = 1 + source.byte() % 3U;
      if ((how & 16) != 0) hello.initial_hash = source.byte();
      hello.last_answered = source.number();
      hello.last_completed = source.number();
      m.body = hello;
      break;
    }
    case 1:
      m.body = HelloRequest{};
      break;
    case 2:
      m.body = Refusal{"no"};
      break;
    case 3: {
      Coded coded = any_payload(source, how, bucket, false);
      m.body = Offer{sequence, bucket, which >= 128, coded.codec, std::move(coded.payload)};
      break;
    }
    case 4: {
      Coded coded = any_payload(source, how, bucket, true);
      const auto divisor = static_cast<std::uint8_t>(source.byte() % 4);
      const ReplyStatus status = any_of(source, ReplyStatus::kRejected);
      m.body = Reply{sequence, bucket, divisor, status, coded.codec, std::move(coded.payload)};
      break;
    }
    case 5:
      m.body = Pull{bucket, round};
      break;
    case 6: {
      Coded coded = any_payload(source, how, bucket, false);
      m.body = Snapshot{bucket, round, coded.codec, std::move(coded.payload)};
      break;
    }
    case 7:
      m.body = Heartbeat{sequence};
      break;
    default:
      m.body = Leave{};
  }
  return m;
}

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Source source(data, size);
  const std::uint8_t setup = source.byte();
  const Layout layout = Layout::flat(kFloats, 4);
  std::vector<float> x(kFloats, 1.5F);
  std::vector<double> telemetry = {0.0, 1.0};
  Mixer mixer(layout, x, telemetry);
  Scripted transport;
  PumpOptions options;
  EngineConfig& engine = options.engine;
  engine.stand(Topology::parse("ring:3"), 1);
  const char* modes[] = {"async", "bounded:2", "sync", "async"};
  engine.mode = Mode::parse(modes[setup % 4]);
  engine.buckets = mixer.bucket_count();
  engine.window = 1 + (setup >> 2) % 4;
  engine.window_total = 4;
  engine.hello.run_id = "fuzz";
  engine.hello.topology = "ring:3";
  engine.hello.generation = 1;
  engine.hello.layout_hash = layout.hash();
  engine.hello.mode = engine.mode.name();
  engine.lowest_initial = setup & 16;
  if (setup & 32) engine.hello.codec = any_codec(source);
  if (engine.mode.kind == Mode::Kind::kSync && make_codec(engine.hello.codec.number) == nullptr) {
    return 0;  // refused
  }
  options.keys = setup & 128;
  TimePoint now{};
  Pump pump(
      options, mixer, transport,
      [](Rank to) -> std::vector<PeerAddress> { return {std::to_string(to)}; },
      [](LogLevel, std::string_view) {}, now);
  Standing standing;
  standing.stop_joining = setup & 64;
  TimePoint next = pump.turn(now, standing);
  for (int inputs = 0; !source.empty() && inputs < 400; ++inputs) {
    const std::uint8_t what = source.byte();
    const Rank from = what & 0x80 ? 2 : 0;
    const LinkId link = static_cast<LinkId>(from) + 1;
    const auto proven = what & 0x20 ? std::nullopt : std::optional(from);
    switch (what % 12) {
      case 0:
        transport.in.push_back({LinkEvent::kDown, link, {}});
        break;
      case 1:
        transport.in.push_back(
            {LinkEvent::kUp, 101 + static_cast<LinkId>(source.byte() % 3), {}, proven});
        break;
      case 2:
        now += std::chrono::milliseconds(source.byte() * 37);
        standing.made_from = what & 0x40 ? (what >> 4U) % 4U : Standing::kNoBucket;
        break;
      case 3:
        now += std::chrono::seconds(source.byte());
        break;
      case 4:
        if (engine.mode.kind == Mode::Kind::kSync) {
          if (pump.status().completed_round == standing.round) {
            (void)mixer.publish(x, telemetry, *make_codec(pulled_as(engine.hello.codec)), 1.0 / 3);
            ++standing.round;
          }
        } else {
          (void)mixer.fold(x);
          mixer.fold_telemetry(telemetry);
          standing.made_from = Standing::kNoBucket;
          standing.pause = static_cast<Pause>((what >> 4U) % 4U % 3U);
          ++standing.step;
        }
        break;
      case 5:
        standing.stop_joining = true;
        if (source.byte() % 4 == 0) standing.wanted = WorkerState::kSettling;
        if (source.byte() % 8 == 0) standing.wanted = WorkerState::kFrozen;
        if (source.byte() % 16 == 0) standing.leave = true;
        standing.pause = Pause::kNone;
        break;
      case 6:
        transport.status_ = any_of(source, SendStatus::kDown);
        break;
      default:
        transport.in.push_back({LinkEvent::kFrame, link,
                                encode_frame(any_message(source, from, pump, engine.hello)),
                                proven});
        break;
    }
    // The pump must come to rest: every turn at a deadline advances the deadline.
    int turns = 0;
    do {
      next = pump.turn(now, standing);
      require(++turns < 20);
    } while (next <= now);
    const PumpStatus status = pump.status();
    std::size_t open = 0;
    for (const Neighbour& edge : pump.engine().neighbours()) {
      const SequenceBook& book = edge.book;
      open += book.open.size();
      require(book.released <= book.answered);
      require(book.open.size() <= engine.window);
      require(book.held.empty() ||
              now - book.held.front().since < pump.engine().config().reply_deadline / 2);
      require(book.held.size() <= 65);
      require(book.kept.size() <= 5000);
      require(book.kept.size() == book.unreleased());
    }
    require(pump.engine().exchange().open_offers() <= open);
    require(status.neighbours.size() == 2);
  }
  std::vector<float> z(kFloats);
  mixer.read_z(z);
  return 0;
}
