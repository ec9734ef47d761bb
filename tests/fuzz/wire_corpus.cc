// Writes the seeds of wire_fuzz from real frames: wire_corpus FOLDER. To be run by hand after a
// change to proto/wire.proto.

#include <fstream>
#include <iostream>

#include "stencil/core/random.h"
#include "stencil/wire/wire.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: wire_corpus FOLDER\n";
    return 2;
  }
  const char* const names[] = {"hello", "hello_request", "refusal",   "offer", "reply",
                               "pull",  "snapshot",      "heartbeat", "leave"};
  stencil::Random random(1);
  for (int kind = 0; kind < 9; ++kind) {
    stencil::Message message;
    message.kind = static_cast<stencil::MessageKind>(kind);
    message.from = kind;
    message.sender_epoch = 3;
    message.receiver_epoch = 300;
    message.state = stencil::WorkerState::kTraining;
    message.step = 12345;
    message.settled = 17;
    message.sequence = 18;
    message.bucket = 2;
    message.divisor = 2;
    message.text = "topology 'ring:4' here, 'torus:2x2' there";
    message.hello = {.run_id = "run",
                     .topology = "torus:2x2",
                     .incarnation = random.next(),
                     .layout_hash = random.next(),
                     .initial_hash = random.next(),
                     .mode = "async",
                     .codec = stencil::CodecKind::kFp32,
                     .last_answered = 4,
                     .last_settled = 5,
                     .meeting = "0123456789abcdef"};
    using enum stencil::MessageKind;
    if (message.kind == kOffer || message.kind == kReply || message.kind == kSnapshot) {
      stencil::Bytes bytes(32);
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
      message.payload = stencil::Payload(std::move(bytes));
    }
    const stencil::Frame frame = stencil::encode_frame(message);
    std::ofstream out(std::string(argv[1]) + "/" + names[kind], std::ios::binary);
    const auto put = [&out](std::span<const std::byte> bytes) {
      out.write(reinterpret_cast<const char*>(bytes.data()),
                static_cast<std::streamsize>(bytes.size()));
    };
    const std::byte length[] = {static_cast<std::byte>(frame.header.size()),
                                static_cast<std::byte>(frame.header.size() >> 8)};
    put(length);
    put({frame.header.data(), frame.header.size()});
    put(stencil::view(frame.payload));
    if (!out) {
      std::cerr << "cannot write " << names[kind] << "\n";
      return 1;
    }
  }
  return 0;
}
