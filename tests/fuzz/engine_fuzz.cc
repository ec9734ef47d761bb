// A worker's pump between two neighbours that say anything at all, in any order and at any time.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>

#include "stencil/runtime/pump.h"
#include "stencil/wire/wire.h"

namespace {

using namespace stencil;

/// What follows of the input, byte by byte; zeros when it is used up.
class Source {
 public:
  Source(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  [[nodiscard]] bool empty() const { return at_ >= size_; }
  std::uint8_t byte() { return empty() ? std::uint8_t{0} : data_[at_++]; }
  /// Mostly small, sometimes at an edge of its range.
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

/// Takes all that is sent; what is received, the input decides.
class Scripted : public Transport {
 public:
  std::string endpoint() const override { return "fuzz"; }
  LinkId dial(const std::string&) override { return ++links_; }
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
  std::vector<int> descriptors() const override { return {}; }
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
CodecKind any_codec(Source& source) {
  return static_cast<CodecKind>(1 + source.byte() % (kCodecNames.size() - 1));
}

constexpr std::uint32_t kShare = CodecSpec::kLargestShare;
constexpr std::size_t kFloats = 11;  // buckets of 4, 4 and 3

Message any_message(Source& source, Rank from, const Pump& pump, const Hello& right) {
  Message m;
  m.kind = any_of(source, MessageKind::kLeave);
  m.from = from;
  const std::uint8_t how = source.byte();
  const Edge* edge = pump.engine().edge(from);
  // Mostly in the present epochs and in order, or nothing beyond the first check is ever reached.
  m.sender_epoch = edge->peer_epoch != 0 ? edge->peer_epoch : 5;
  m.receiver_epoch = edge->my_epoch;
  if (how & 1) m.sender_epoch += static_cast<std::uint32_t>(source.number());
  if (how & 2) m.receiver_epoch = static_cast<std::uint32_t>(source.number());
  m.state = any_of(source, WorkerState::kFrozen);
  m.step = source.number();
  m.settled = source.number();
  m.sequence = edge->answered + 1;
  if (m.kind == MessageKind::kReply && !edge->open.empty()) m.sequence = edge->open[0].sequence;
  if (how & 4) m.sequence = source.number();
  m.round = source.byte() % 4;
  const auto which = source.byte();
  m.bucket = which % 5;
  m.ahead = which >= 128;
  m.divisor = source.byte() % 4;
  m.status = any_of(source, ReplyStatus::kRejected);
  // A neighbour's own, unless it says something else.
  const bool coded = how & 8;
  m.codec = coded ? any_codec(source) : CodecKind::kFp32;
  m.hello = right;
  m.hello.incarnation = 1 + source.byte() % 3;
  if (how & 16) m.hello.initial_hash = source.byte();
  m.hello.last_answered = source.number();
  m.hello.last_settled = source.number();
  const std::size_t floats[] = {4, 4, 3, 0, 0};
  const Codecs codecs({m.codec, m.codec == CodecKind::kTopK ? kShare : 0});
  const bool reply = m.kind == MessageKind::kReply;
  std::size_t size = m.codec != CodecKind::kTopK
                         ? make_codec(m.codec)->encoded_size(floats[m.bucket])
                     : reply ? codecs.reply_size(floats[m.bucket])
                             : codecs.offer_size(floats[m.bucket]);
  if (m.bucket == 3) size = 2 * sizeof(double);  // the telemetry
  if (how & 32) size = source.byte();
  if (m.kind == MessageKind::kOffer || m.kind == MessageKind::kReply ||
      m.kind == MessageKind::kSnapshot) {
    Bytes bytes(size);
    for (std::byte& b : bytes) b = static_cast<std::byte>(source.byte());
    // Most bytes are no part of a bucket, and nothing beyond that would be reached.
    const std::size_t n = floats[m.bucket], k = codecs.top_k() ? codecs.top_k()->count(n) : 0;
    if (k > 0 && !reply && (how & 96) == 0) {
      PartWriter writer(bytes, source.byte() % 4U, n, k);
      std::uint32_t index = source.byte() % 2U;
      for (std::size_t j = 0; j < k; ++j, index += 1U + source.byte() % 2U) {
        writer.add(std::min<std::uint32_t>(index, static_cast<std::uint32_t>(n - k + j)),
                   std::bit_cast<float>(static_cast<std::uint32_t>(source.number())));
      }
    }
    if (size > 0) m.payload = Payload(std::move(bytes));
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
  engine.rank = 1;
  engine.topology = Topology::parse("ring:3");
  const char* modes[] = {"async", "bounded:2", "sync", "async"};
  engine.mode = Mode::parse(modes[setup % 4]);
  engine.buckets = mixer.bucket_count();
  engine.window = 1 + (setup >> 2) % 4;
  engine.window_total = 4;
  engine.hello.run_id = "fuzz";
  engine.hello.topology = "ring:3";
  engine.hello.incarnation = 1;
  engine.hello.layout_hash = layout.hash();
  engine.hello.mode = engine.mode.name();
  engine.init_from_neighbour = setup & 16;
  if (setup & 32) engine.hello.codec = any_codec(source);
  if (engine.hello.codec.kind == CodecKind::kTopK) {
    if (engine.mode.kind == Mode::Kind::kSync) return 0;  // refused
    engine.hello.codec.share = kShare;
  }
  TimePoint now{};
  Pump pump(
      options, mixer, transport, [](Rank to) { return std::optional(std::to_string(to)); },
      [](LogLevel, std::string_view) {}, now);
  Standing standing;
  standing.stop_joining = setup & 64;
  TimePoint next = pump.turn(now, standing);
  for (int inputs = 0; !source.empty() && inputs < 400; ++inputs) {
    const std::uint8_t what = source.byte();
    const Rank from = what & 0x80 ? 2 : 0;
    const LinkId link = static_cast<LinkId>(from) + 1;
    switch (what % 12) {
      case 0:
        transport.in.push_back({LinkEvent::kDown, link, {}});
        break;
      case 1:
        transport.in.push_back({LinkEvent::kUp, 101 + static_cast<LinkId>(source.byte() % 3), {}});
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
            (void)mixer.publish(x, telemetry, Codecs(engine.hello.codec).values(), 1.0 / 3);
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
        transport.in.push_back(
            {LinkEvent::kFrame, link, encode_frame(any_message(source, from, pump, engine.hello))});
        break;
    }
    // Time that stands still must come to rest: every turn at a deadline moves it on.
    int turns = 0;
    do {
      next = pump.turn(now, standing);
      require(++turns < 20);
    } while (next <= now);
    const PumpStatus status = pump.status();
    std::size_t open = 0;
    for (const Edge& edge : pump.engine().edges()) {
      open += edge.open.size();
      require(edge.released <= edge.answered);
      require(edge.open.size() <= engine.window);
      require(edge.held.empty() ||
              now - edge.held.front().since < pump.engine().config().reply_deadline / 2);
      require(edge.held.size() <= 65);
      require(pump.unsettled_at(edge.rank).size() <= 5000);
    }
    require(pump.engine().open_offers() <= open);
    require(status.neighbours.size() == 2);
  }
  std::vector<float> z(kFloats);
  mixer.read_z(z);
  return 0;
}
