// Writes the seeds of wire_fuzz from real frames: wire_corpus FOLDER. Run it by hand after a change
// to proto/wire.proto.

#include <fstream>
#include <iostream>
#include <iterator>
#include <utility>
#include <variant>

#include "stencil/core/random.h"
#include "stencil/wire/wire.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: wire_corpus FOLDER\n";
    return 2;
  }
  using namespace stencil;
  Random random(1);
  const auto payload = [&random] {
    Bytes bytes(32);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
    return Payload(std::move(bytes));
  };
  const std::pair<const char*, MessageBody> kinds[] = {
      {"hello", Hello{.run_id = "run",
                      .topology = "torus:2x2",
                      .generation = random.next(),
                      .layout_hash = random.next(),
                      .initial_hash = random.next(),
                      .mode = "async",
                      .last_answered = 4,
                      .last_completed = 5,
                      .meeting = "0123456789abcdef"}},
      {"hello_request", HelloRequest{}},
      {"refusal", Refusal{"topology 'ring:4' here, 'torus:2x2' there"}},
      {"offer", Offer{.sequence = 18, .bucket = 2, .ahead = true, .payload = payload()}},
      {"reply", Reply{.sequence = 18, .bucket = 2, .divisor = 2, .payload = payload()}},
      {"pull", Pull{.bucket = 2, .round = 7}},
      {"snapshot", Snapshot{.bucket = 2, .round = 7, .payload = payload()}},
      {"heartbeat", Heartbeat{0xfedc'ba98'7654'3210}},
      {"leave", Leave{}}};
  static_assert(std::size(kinds) == std::variant_size_v<MessageBody>);
  for (const auto& [name, body] : kinds) {
    const MessageHeader header{.from = 3,
                               .sender_epoch = 3,
                               .receiver_epoch = 300,
                               .number = 9,
                               .state = WorkerState::kTraining,
                               .step = 12345,
                               .completed = 17};
    const Frame frame = encode_frame({header, body});
    std::ofstream out(std::string(argv[1]) + "/" + name, std::ios::binary);
    const auto put = [&out](std::span<const std::byte> bytes) {
      out.write(reinterpret_cast<const char*>(bytes.data()),
                static_cast<std::streamsize>(bytes.size()));
    };
    const std::byte length[] = {static_cast<std::byte>(frame.header.size()),
                                static_cast<std::byte>(frame.header.size() >> 8)};
    put(length);
    put({frame.header.data(), frame.header.size()});
    put(view(frame.payload));
    if (!out) {
      std::cerr << "cannot write " << name << "\n";
      return 1;
    }
  }
  return 0;
}
