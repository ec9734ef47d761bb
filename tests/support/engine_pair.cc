#include "tests/support/engine_pair.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "stencil/core/start_hash.h"
#include "stencil/sim/direct_meeting.h"
#include "stencil/wire/wire.h"

namespace stencil::test {
namespace {

constexpr LinkId kLink = 1;

}  // namespace

class Wire::End : public Transport {
 public:
  End(const bool& up, const bool& full) : up_(up), full_(full) {}
  std::string endpoint() const override { return "wire"; }
  LinkId dial(const PeerAddress&) override { return kLink; }
  void drop(LinkId) override {}
  SendStatus send(LinkId link, Frame&& frame) override {
    if (!up_ || link != kLink) return SendStatus::kDown;
    if (full_) return SendStatus::kFull;
    out.push_back(std::move(frame));
    return SendStatus::kSent;
  }
  std::optional<Received> receive() override {
    if (in.empty()) return std::nullopt;
    Received received = std::move(in.front());
    in.pop_front();
    return received;
  }
  TransportStats stats() const override { return {}; }

  std::deque<Received> in;
  std::deque<Frame> out;

 private:
  const bool& up_;
  const bool& full_;
};

Wire::Wire() {
  for (auto& end : ends_) end = std::make_unique<End>(up_, full);
}
Wire::~Wire() = default;

Transport& Wire::end(Rank rank) {
  return *ends_[rank];
}

void Wire::connect() {
  up_ = true;
  ends_[1]->in.push_back({LinkEvent::kUp, kLink, {}, proven[0]});
}

void Wire::cut() {
  up_ = false;
  for (auto& end : ends_) {
    end->out.clear();
    end->in.push_back({LinkEvent::kDown, kLink, {}});
  }
}

std::size_t Wire::under_way(Rank from) const {
  return ends_[from]->out.size();
}

std::size_t Wire::deliver(Rank from, std::size_t count) {
  auto& out = ends_[from]->out;
  count = std::min(count, out.size());
  for (std::size_t i = 0; i < count; ++i) {
    ends_[1 - from]->in.push_back({LinkEvent::kFrame, kLink, std::move(out.front()), proven[from]});
    out.pop_front();
  }
  return count;
}

void Wire::swallow(Rank from) {
  ends_[from]->out.pop_front();
}

void Wire::inject(Rank from, const Message& message, Integrity link) {
  ends_[from]->out.push_back(encode_frame(message, link));
}

Message Wire::front(Rank from) const {
  return decode_frame(front_frame(from), Integrity::kProven).value();
}

Frame Wire::front_frame(Rank from) const {
  return ends_[from]->out.front();
}

struct EnginePair::Side {
  std::unique_ptr<Mixer> mixer;
  Carried carried;
  std::unique_ptr<sim::DirectMeeting> meeting;
  std::unique_ptr<Pump> pump;
  std::vector<double> telemetry;
  std::vector<std::string> log;
  std::uint64_t generation = 1;
};

EnginePair::EnginePair(Options options) : options_(std::move(options)) {
  for (const Rank rank : {0, 1}) make(rank, 1, {});
}
EnginePair::~EnginePair() = default;

void EnginePair::make(Rank rank, std::uint64_t generation,
                      const std::function<void(EngineConfig&)>& change) {
  auto side = std::make_unique<Side>();
  side->generation = generation;
  const Layout layout = Layout::flat(options_.floats, options_.bucket_floats);
  x[rank].resize(options_.floats);
  for (std::size_t i = 0; i < x[rank].size(); ++i) {
    x[rank][i] = rank == 0 ? 1.0F + static_cast<float>(i) : -2.0F;
  }
  side->telemetry = {0.0, 1.0};
  const bool shared = options_.shareable || options_.sharing;
  side->mixer = std::make_unique<Mixer>(
      layout, x[rank], side->telemetry,
      Segment(layout, rank, shared ? Segment::Reach::kShared : Segment::Reach::kOwn));
  PumpOptions options;
  side->carried = Carried(std::vector(options_.carried, static_cast<std::byte>(10 + rank)), 3);
  options.carried = &side->carried;
  options.keys = options_.keys;
  EngineConfig& engine = options.engine;
  engine.stand(Topology::parse("ring:2"), rank);
  engine.mode = Mode::parse(options_.mode);
  engine.buckets = side->mixer->bucket_count();
  engine.window = options_.window;
  engine.retained_total = options_.retained_total;
  engine.tell_every = options_.tell_every;
  engine.hello.run_id = "pair";
  engine.hello.topology = "ring:2";
  engine.hello.generation = generation << 16;
  engine.hello.layout_hash = layout.hash();
  engine.hello.initial_hash = 0xabc;
  engine.hello.mode = options_.mode;
  engine.hello.codec = options_.codec;
  if (options_.sharing) {
    side->meeting = std::make_unique<sim::DirectMeeting>(
        layout, [this](Rank to) { return sides_[to] ? &mixer(to).segment() : nullptr; });
    engine.hello.meeting = side->meeting->token();
  }
  if (change) change(engine);
  side->mixer->bound_scalars({engine.most_progress, std::numeric_limits<double>::infinity()});
  standing[rank] = {};
  standing[rank].stop_joining = options_.join_at_once;
  const Resolver resolver = [rank](Rank) {
    return rank == 1 ? std::vector<PeerAddress>{"wire"} : std::vector<PeerAddress>();
  };
  Side* raw = side.get();
  side->pump = std::make_unique<Pump>(
      options, *side->mixer, wire.end(rank), resolver,
      [raw](LogLevel, std::string_view text) { raw->log.emplace_back(text); }, now,
      side->meeting.get());
  sides_[rank] = std::move(side);
  turn(rank);
}

void EnginePair::restart(Rank rank, const std::function<void(EngineConfig&)>& change) {
  while (wire.end(rank).receive()) {
  }
  make(rank, sides_[rank]->generation + 1, change);
}

Pump& EnginePair::pump(Rank rank) {
  return *sides_[rank]->pump;
}
Mixer& EnginePair::mixer(Rank rank) {
  return *sides_[rank]->mixer;
}
std::vector<std::string>& EnginePair::log(Rank rank) {
  return sides_[rank]->log;
}
const EngineCounters& EnginePair::counters(Rank rank) {
  return pump(rank).engine().counters();
}
std::size_t EnginePair::open_offers(Rank rank) {
  return pump(rank).engine().exchange().open_offers();
}
const Neighbour& EnginePair::edge(Rank rank) {
  return pump(rank).engine().neighbours().at(1 - rank);
}

std::vector<double>& EnginePair::telemetry(Rank rank) {
  return sides_[rank]->telemetry;
}

std::vector<std::byte> EnginePair::carried(Rank rank) {
  Carried& carried = sides_[rank]->carried;
  (void)carried.taken();
  std::vector<std::byte> all;
  for (std::uint32_t chunk = 0; chunk < carried.chunks(); ++chunk) {
    std::vector<std::byte> bytes(carried.size(chunk));
    carried.copy(chunk, bytes);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

std::uint64_t EnginePair::start_hash(Rank rank) {
  StartHash hash;
  const std::vector<float> values = z(rank);
  hash.add_values(std::as_bytes(std::span(values)));
  hash.add_carried(carried(rank));
  return hash.value();
}

void EnginePair::turn(Rank rank) {
  (void)pump(rank).turn(now, standing[rank]);
}

void EnginePair::boundary(Rank rank) {
  (void)mixer(rank).fold(x[rank]);
  mixer(rank).fold_telemetry(sides_[rank]->telemetry);
  ++standing[rank].step;
  turn(rank);
}

void EnginePair::deliver_all() {
  bool moved = true;
  for (int guard = 0; moved && guard < 10'000; ++guard) {
    moved = false;
    for (const Rank rank : {0, 1}) {
      moved |= wire.deliver(rank) > 0;
      turn(1 - rank);
      turn(rank);
    }
    moved |= wire.under_way(0) + wire.under_way(1) > 0;
  }
}

void EnginePair::pass(double seconds) {
  const TimePoint end = now + stencil::seconds(seconds);
  while (now < end) {
    now += std::chrono::milliseconds(100);
    deliver_all();
  }
}

void EnginePair::meet() {
  wire.connect();
  deliver_all();
}

std::vector<float> EnginePair::z(Rank rank) {
  std::vector<float> values(options_.floats);
  mixer(rank).read_z(values);
  return values;
}

double EnginePair::sum() {
  double total = 0;
  for (const Rank rank : {0, 1}) {
    for (const float v : z(rank)) total += v;
  }
  return total;
}

}  // namespace stencil::test
