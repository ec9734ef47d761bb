#include "stencil/wire/wire.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>

#include "stencil/core/random.h"
#include "tests/support/codec_cases.h"

namespace stencil {
namespace {

Payload make_payload(std::size_t size, std::uint64_t seed = 1) {
  Random random(seed);
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
  return Payload(std::move(bytes));
}

Message hello_message() {
  Message message;
  message.kind = MessageKind::kHello;
  message.from = 3;
  message.hello = {.run_id = "first run é",
                   .topology = "torus:4x4:moore",
                   .incarnation = ~0ULL,
                   .layout_hash = 0x0123456789abcdefULL,
                   .initial_hash = 7,
                   .mode = "bounded:4",
                   .codec = CodecKind::kFp16,
                   .last_answered = 1ULL << 40,
                   .last_settled = 9,
                   .meeting = "0123456789abcdef"};
  return message;
}

/// Appends a raw varint field to a header, so that bad values can be said at all: protobuf takes
/// the last of doubled fields.
void append_varint(Frame& frame, unsigned field, std::uint64_t value) {
  const auto put = [&frame](std::uint64_t number) {
    for (; number >= 0x80; number >>= 7)
      frame.header.push_back(static_cast<std::byte>(number | 0x80));
    frame.header.push_back(static_cast<std::byte>(number));
  };
  put(field << 3);
  put(value);
}

void append_text(Frame& frame, unsigned field, const std::string& text) {
  ASSERT_LT(text.size(), 16384U);
  frame.header.push_back(static_cast<std::byte>(field << 3 | 2));
  frame.header.push_back(static_cast<std::byte>((text.size() & 0x7F) | 0x80));
  frame.header.push_back(static_cast<std::byte>(text.size() >> 7));
  for (const char c : text) frame.header.push_back(static_cast<std::byte>(c));
}

Fault fault_of(const Frame& frame) {
  const Result<Message> result = decode_frame(frame);
  EXPECT_FALSE(result.ok());
  EXPECT_FALSE(result.ok() || result.error().text.empty());
  return result.ok() ? Fault::kUnknownPeer : result.error().fault;
}

TEST(Wire, HeartbeatsAndPullsAreUrgentAndNothingElse) {
  for (auto kind = MessageKind::kHello; kind <= MessageKind::kLeave;
       kind = static_cast<MessageKind>(static_cast<int>(kind) + 1)) {
    Message message;
    message.kind = kind;
    message.from = 0;
    const bool control = kind == MessageKind::kHeartbeat || kind == MessageKind::kPull;
    EXPECT_EQ(encode_frame(message).urgent, control) << static_cast<int>(kind);
  }
}

TEST(Wire, EveryFieldOfAReplyComesBack) {
  Message sent;
  sent.kind = MessageKind::kReply;
  sent.from = std::numeric_limits<Rank>::max();
  sent.sender_epoch = ~0U;
  sent.receiver_epoch = 17;
  sent.state = WorkerState::kFrozen;
  sent.step = ~0ULL;
  sent.calm = 1U << 20;
  sent.said = 1ULL << 63;
  sent.settled = 5;
  sent.sequence = 6;
  sent.round = 8;
  sent.bucket = 9;
  sent.ahead = true;
  sent.divisor = 3;
  sent.status = ReplyStatus::kRejected;
  sent.codec = CodecKind::kFp16;
  sent.payload = make_payload(1000);
  Frame frame = encode_frame(sent);
  EXPECT_EQ(frame.payload, sent.payload) << "the payload is shared, not copied";

  const Message got = decode_frame(frame).value();
  EXPECT_EQ(got.kind, sent.kind);
  EXPECT_EQ(got.from, sent.from);
  EXPECT_EQ(got.sender_epoch, sent.sender_epoch);
  EXPECT_EQ(got.receiver_epoch, sent.receiver_epoch);
  EXPECT_EQ(got.state, sent.state);
  EXPECT_EQ(got.step, sent.step);
  EXPECT_EQ(got.calm, sent.calm);
  EXPECT_EQ(got.said, sent.said);
  EXPECT_EQ(got.settled, sent.settled);
  EXPECT_EQ(got.sequence, sent.sequence);
  EXPECT_EQ(got.round, sent.round);
  EXPECT_EQ(got.bucket, sent.bucket);
  EXPECT_EQ(got.ahead, sent.ahead);
  EXPECT_EQ(got.divisor, sent.divisor);
  EXPECT_EQ(got.status, sent.status);
  EXPECT_EQ(got.codec, sent.codec);
  EXPECT_EQ(got.payload, sent.payload);
}

TEST(Wire, EveryFieldOfAHelloComesBack) {
  const Message sent = hello_message();
  const Message got = decode_frame(encode_frame(sent)).value();
  EXPECT_EQ(got.kind, MessageKind::kHello);
  EXPECT_EQ(got.hello.protocol, kProtocolVersion);
  EXPECT_EQ(got.hello.run_id, sent.hello.run_id);
  EXPECT_EQ(got.hello.topology, sent.hello.topology);
  EXPECT_EQ(got.hello.incarnation, sent.hello.incarnation);
  EXPECT_EQ(got.hello.layout_hash, sent.hello.layout_hash);
  EXPECT_EQ(got.hello.initial_hash, sent.hello.initial_hash);
  EXPECT_EQ(got.hello.mode, sent.hello.mode);
  EXPECT_EQ(got.hello.codec, sent.hello.codec);
  EXPECT_EQ(got.hello.last_answered, sent.hello.last_answered);
  EXPECT_EQ(got.hello.last_settled, sent.hello.last_settled);
  EXPECT_FALSE(got.payload);
}

TEST(Wire, EveryKindGoesThroughAndHeadersStaySmall) {
  for (int kind = 0; kind <= static_cast<int>(MessageKind::kLeave); ++kind) {
    Message message;
    message.kind = static_cast<MessageKind>(kind);
    message.from = 1;
    const Frame frame = encode_frame(message);
    EXPECT_LE(frame.header.size(), 64U);
    Result<Message> result = decode_frame(frame);
    ASSERT_TRUE(result.ok()) << result.error().text;
    EXPECT_EQ(result->kind, message.kind);
  }
}

TEST(Wire, ACodecOfAHelloComesWithItsShareOrNone) {
  Message sent = hello_message();
  sent.hello.codec = {CodecKind::kTopK, 12'345};
  EXPECT_EQ(decode_frame(encode_frame(sent)).value().hello.codec, sent.hello.codec);
  for (const CodecSpec& bad :
       {CodecSpec(CodecKind::kTopK, 0), CodecSpec(CodecKind::kTopK, CodecSpec::kLargestShare + 1),
        CodecSpec(CodecKind::kTopK, ~0U), CodecSpec(CodecKind::kFp16, 1)}) {
    sent.hello.codec = bad;
    EXPECT_EQ(fault_of(encode_frame(sent)), Fault::kOutOfRange) << bad.share;
  }
}

TEST(Wire, EveryCodecComesBackInHellosAndOfPayloads) {
  for (const CodecSpec& codec : test::every_codec(12'345)) {
    Message hello = hello_message();
    hello.hello.codec = codec;
    EXPECT_EQ(decode_frame(encode_frame(hello)).value().hello.codec, codec) << name(codec);
    Message offer;
    offer.kind = MessageKind::kOffer;
    offer.from = 0;
    offer.codec = codec.kind;
    offer.payload = make_payload(10);
    EXPECT_EQ(decode_frame(encode_frame(offer)).value().codec, codec.kind) << name(codec);
  }
}

TEST(Wire, RefusalTextsAreCutAtACharacterAndStrippedOfControls) {
  Message message;
  message.kind = MessageKind::kRefusal;
  message.from = 0;
  message.text = "theirs\n\x1b[31mtorus:2x2";
  EXPECT_EQ(decode_frame(encode_frame(message)).value().text, "theirs  [31mtorus:2x2");
  message.text = std::string(511, 'a') + "éé";
  EXPECT_EQ(decode_frame(encode_frame(message)).value().text, std::string(511, 'a'));
  message.text = "broken \xff utf-8";
  EXPECT_EQ(decode_frame(encode_frame(message)).value().text, "broken ? utf-8");
}

TEST(Wire, ValuesOutsideTheirRangeAreErrors) {
  Message message;
  message.from = 2;
  const auto with = [&message](unsigned field, std::uint64_t value) {
    Frame frame = encode_frame(message);
    append_varint(frame, field, value);
    return frame;
  };
  const auto after = [](auto last) { return static_cast<std::uint64_t>(last) + 1; };
  EXPECT_EQ(fault_of(with(1, after(MessageKind::kLeave))), Fault::kOutOfRange) << "kind";
  EXPECT_EQ(fault_of(with(2, 1)), Fault::kOutOfRange) << "rank -1, zig-zag coded";
  EXPECT_EQ(fault_of(with(5, after(WorkerState::kFrozen))), Fault::kOutOfRange) << "state";
  EXPECT_EQ(fault_of(with(11, 1)), Fault::kOutOfRange) << "divisor";
  EXPECT_EQ(fault_of(with(11, 259)), Fault::kOutOfRange) << "divisor that is 3 in eight bits";
  EXPECT_EQ(fault_of(with(12, after(ReplyStatus::kRejected))), Fault::kOutOfRange) << "status";
  EXPECT_EQ(fault_of(with(13, kCodecNames.size())), Fault::kOutOfRange) << "codec";
  EXPECT_EQ(fault_of(with(16, 1)), Fault::kPayloadSize) << "payload that is not there";
  EXPECT_TRUE(decode_frame(with(99, 1)).ok()) << "an unknown field, as a newer protocol may have";
}

TEST(Wire, ADamagedOrMissingPayloadIsAnError) {
  Message message;
  message.kind = MessageKind::kOffer;
  message.from = 0;
  message.payload = make_payload(262144);
  const Frame good = encode_frame(message);
  ASSERT_TRUE(decode_frame(good).ok());

  Frame bad = good;
  Bytes damaged(view(good.payload).begin(), view(good.payload).end());
  damaged[100000] ^= std::byte{1};
  bad.payload = Payload(damaged);
  EXPECT_EQ(fault_of(bad), Fault::kChecksum);
  damaged.pop_back();
  bad.payload = Payload(damaged);
  EXPECT_EQ(fault_of(bad), Fault::kPayloadSize);
  bad.payload = {};
  EXPECT_EQ(fault_of(bad), Fault::kPayloadSize);
}

TEST(Wire, AHelloBelongsInAHelloMessageAlone) {
  Message message;
  message.from = 0;
  Frame frame = encode_frame(message);
  append_varint(frame, 1, 0);  // kHello without one
  EXPECT_EQ(fault_of(frame), Fault::kMalformed);
  frame = encode_frame(hello_message());
  append_varint(frame, 1, static_cast<std::uint64_t>(MessageKind::kHeartbeat));
  EXPECT_EQ(fault_of(frame), Fault::kMalformed);
}

TEST(Wire, TextsThatAreLongOrCannotBeShownAreErrors) {
  const std::string bad_ones[] = {std::string(513, 'x'), "bell\x07", "\xc0\x80",     "\xed\xa0\x80",
                                  "\xf5\x80\x80\x80",    "\xc2",     "csi \xc2\x9b", "\x7f"};
  for (const std::string& bad : bad_ones) {
    Message message = hello_message();
    message.hello.run_id = bad;
    EXPECT_EQ(fault_of(encode_frame(message)), Fault::kMalformed) << "Hello.run_id";
    message = {};
    message.kind = MessageKind::kRefusal;
    message.from = 0;
    Frame frame = encode_frame(message);
    append_text(frame, 15, bad);
    EXPECT_EQ(fault_of(frame), Fault::kMalformed) << "text";
  }
  Message message;
  message.from = 0;
  Frame frame = encode_frame(message);
  append_text(frame, 15, "a text in a heartbeat");
  EXPECT_EQ(fault_of(frame), Fault::kMalformed);
}

TEST(Wire, EmptyLongAndTruncatedHeadersAreErrors) {
  EXPECT_EQ(fault_of({}), Fault::kMalformed);
  EXPECT_EQ(fault_of({HeaderBytes(kMaxHeaderBytes + 1), {}}), Fault::kMalformed);
  const Frame whole = encode_frame(hello_message());
  for (std::size_t size = 0; size < whole.header.size(); ++size) {
    Frame cut;
    cut.header.assign(whole.header.begin(), whole.header.begin() + static_cast<long>(size));
    (void)decode_frame(cut).ok();  // some prefixes are legal headers; none may crash
  }
}

TEST(Wire, RandomDamageNeverCrashesAndStaysInRange) {
  const auto seed =
      static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed()) + 1;
  RecordProperty("seed", static_cast<int>(seed));
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const Frame whole = encode_frame(hello_message());
  for (int run = 0; run < 20000; ++run) {
    Frame frame = whole;
    for (std::uint64_t hits = 1 + random.below(4); hits > 0; --hits)
      frame.header[random.below(frame.header.size())] = static_cast<std::byte>(random.below(256));
    Result<Message> result = decode_frame(frame);
    if (!result.ok()) continue;
    EXPECT_GE(result->from, 0);
    EXPECT_LE(result->kind, MessageKind::kLeave);
    EXPECT_LE(result->state, WorkerState::kFrozen);
  }
}

}  // namespace
}  // namespace stencil
