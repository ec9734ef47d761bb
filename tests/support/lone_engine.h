#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stencil/core/topology.h"
#include "stencil/engine/engine.h"
#include "stencil/runtime/edge.h"
#include "stencil/transport/transport.h"
#include "stencil/wire/wire.h"

namespace stencil::test {

/// Keeps what is sent, for a test to read.
class KeptFrames final : public Transport {
 public:
  std::string endpoint() const override { return "here"; }
  LinkId dial(const PeerAddress&) override { return 1; }
  void drop(LinkId link) override { dropped.push_back(link); }
  SendStatus send(LinkId link, Frame&& frame) override {
    links.push_back(link);
    frames.push_back(std::move(frame));
    return SendStatus::kSent;
  }
  std::optional<Received> receive() override { return {}; }
  TransportStats stats() const override { return {}; }

  /// The messages sent since the last call.
  std::vector<Message> sent() {
    std::vector<Message> messages;
    for (const Frame& frame : std::exchange(frames, {})) {
      messages.push_back(decode_frame(frame).value());
    }
    return messages;
  }
  /// Those of one kind.
  template <typename Body>
  std::vector<Body> sent_of() {
    std::vector<Body> bodies;
    for (const Message& message : sent()) {
      if (const auto* body = message.as<Body>()) bodies.push_back(*body);
    }
    return bodies;
  }

  std::vector<Frame> frames;
  std::vector<LinkId> links, dropped;
};

/// The engine of rank 0 of a topology, for a test of one part of the runtime.
struct LoneEngine {
  explicit LoneEngine(const std::string& topology, std::uint32_t buckets = 3)
      : engine(config_of(topology, buckets), neighbours, now) {}

  Edge& at(Rank rank) { return edges.at(rank); }
  /// As `rank` sends it now, in the state that it last told.
  Message from(Rank rank, MessageBody body) {
    Message message{.header = {}, .body = std::move(body)};
    message.header.from = rank;
    message.header.sender_epoch = 7;
    message.header.receiver_epoch = at(rank).neighbour.life.our_epoch;
    message.header.state = state;
    message.header.number = ++said;
    return message;
  }
  /// The greeting of a worker of the same run.
  [[nodiscard]] Hello hello(std::uint64_t generation = 1) const {
    Hello hello = engine.config().hello;
    hello.generation = generation;
    hello.life = {.high = generation, .low = 1};
    return hello;
  }
  void hear(Rank rank, MessageBody body) {
    engine.on_message(now, rank, from(rank, std::move(body)), out);
  }
  /// Both ends greet each other, over a link of this number.
  void meet(Rank rank, LinkId link) {
    at(rank).link.in_service = link;
    engine.on_link_up(now, rank, out);
    hear(rank, hello());
  }

  TimePoint now = TimePoint{} + std::chrono::hours(1);
  WorkerState state = WorkerState::kTraining;
  std::uint64_t said = 0;
  Actions out;
  Neighbours neighbours;
  Engine engine;
  Edges edges = edges_of(neighbours);

 private:
  static EngineConfig config_of(const std::string& topology, std::uint32_t buckets) {
    EngineConfig config;
    config.stand(Topology::parse(topology), 0);
    config.buckets = buckets;
    config.hello.run_id = "lone";
    config.hello.topology = topology;
    config.hello.generation = 1;
    config.hello.life = {.high = 99, .low = 9};
    return config;
  }
};

}  // namespace stencil::test
