#include "stencil/wire/wire.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "stencil/core/array_list.h"
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

Message message_of(MessageBody body, Rank from = 0) {
  Message message{.header = {}, .body = std::move(body)};
  message.header.from = from;
  return message;
}

Message with_codec(const CodecSpec& codec) {
  return message_of(Hello{.run_id = "first run é",
                          .topology = "torus:4x4:moore",
                          .generation = ~0ULL,
                          .layout_hash = 0x0123456789abcdefULL,
                          .initial_hash = 7,
                          .initial_rank = 2,
                          .mode = "bounded:4",
                          .codec = codec,
                          .last_answered = 1ULL << 40,
                          .last_completed = 9,
                          .meeting = "0123456789abcdef",
                          .progress = 1234.5,
                          .life = {~0ULL, 3},
                          .host = "node-7.example",
                          .terms = {{"budget", 5}, {"data", ~0ULL}}},
                    3);
}
Message named(const std::string& run_id) {
  Hello hello;
  hello.run_id = run_id;
  return message_of(hello);
}

Message hello_message() {
  return with_codec(parse_codec("fp16"));
}

/// One of each kind, in the order of the wire.
std::vector<MessageBody> every_kind() {
  return {Hello{}, HelloRequest{}, Refusal{},   Offer{}, Reply{},
          Pull{},  Snapshot{},     Heartbeat{}, Leave{}};
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
  for (const MessageBody& body : every_kind()) {
    const Message message = message_of(body);
    const bool control = message.is<Heartbeat>() || message.is<Pull>();
    EXPECT_EQ(encode_frame(message).urgent, control) << body.index();
  }
}

TEST(Wire, AHeartbeatCarriesTheHashesOfTheFirstBatchAndOfTheGrid) {
  const std::uint64_t hash = 0xfedc'ba98'7654'3210;
  Result<Message> read = decode_frame(encode_frame(message_of(Heartbeat{hash, hash + 1})));
  ASSERT_TRUE(read.ok());
  ASSERT_TRUE(read.value().is<Heartbeat>());
  EXPECT_EQ(read.value().as<Heartbeat>()->first_batch, hash);
  EXPECT_EQ(read.value().as<Heartbeat>()->grid, hash + 1);
}

TEST(Wire, ALeaveSaysWhetherItsSenderMeansToComeBack) {
  for (const bool paused : {false, true}) {
    Result<Message> read = decode_frame(encode_frame(message_of(Leave{paused})));
    ASSERT_TRUE(read.ok());
    ASSERT_TRUE(read.value().is<Leave>());
    EXPECT_EQ(read.value().as<Leave>()->paused, paused);
  }
}

TEST(Wire, EveryFieldOfAReplyComesBack) {
  const Reply sent{.sequence = 6,
                   .bucket = 9,
                   .divisor = 3,
                   .status = ReplyStatus::kRejected,
                   .codec = 1,
                   .payload = make_payload(1000)};
  const MessageHeader header{.from = std::numeric_limits<Rank>::max(),
                             .sender_epoch = ~0U,
                             .receiver_epoch = 17,
                             .number = 1ULL << 63,
                             .state = WorkerState::kFrozen,
                             .step = ~0ULL,
                             .settled_hops = 1U << 20,
                             .completed = 5};
  Frame frame = encode_frame({header, sent});
  EXPECT_EQ(frame.payload, sent.payload) << "the payload is shared, not copied";

  const Message message = decode_frame(frame).value();
  EXPECT_EQ(message.header.from, header.from);
  EXPECT_EQ(message.header.sender_epoch, header.sender_epoch);
  EXPECT_EQ(message.header.receiver_epoch, header.receiver_epoch);
  EXPECT_EQ(message.header.state, header.state);
  EXPECT_EQ(message.header.step, header.step);
  EXPECT_EQ(message.header.settled_hops, header.settled_hops);
  EXPECT_EQ(message.header.number, header.number);
  EXPECT_EQ(message.header.completed, header.completed);
  ASSERT_TRUE(message.is<Reply>());
  const Reply& got = *message.as<Reply>();
  EXPECT_EQ(got.sequence, sent.sequence);
  EXPECT_EQ(got.bucket, sent.bucket);
  EXPECT_EQ(got.divisor, sent.divisor);
  EXPECT_EQ(got.status, sent.status);
  EXPECT_EQ(got.codec, sent.codec);
  EXPECT_EQ(got.payload, sent.payload);
}

TEST(Wire, EveryFieldOfWhatElseIsOfABucketComesBack) {
  const Payload payload = make_payload(10);
  const Offer offer{.sequence = 6, .bucket = 9, .ahead = true, .codec = 1, .payload = payload};
  const Message offered = decode_frame(encode_frame(message_of(offer))).value();
  ASSERT_TRUE(offered.is<Offer>());
  EXPECT_EQ(offered.as<Offer>()->sequence, offer.sequence);
  EXPECT_EQ(offered.as<Offer>()->bucket, offer.bucket);
  EXPECT_TRUE(offered.as<Offer>()->ahead);
  EXPECT_EQ(offered.as<Offer>()->codec, offer.codec);
  EXPECT_EQ(offered.as<Offer>()->payload, payload);
  const Message asked =
      decode_frame(encode_frame(message_of(Pull{.bucket = 9, .round = 8}))).value();
  ASSERT_TRUE(asked.is<Pull>());
  EXPECT_EQ(asked.as<Pull>()->bucket, 9U);
  EXPECT_EQ(asked.as<Pull>()->round, 8U);
  const Snapshot snapshot{.bucket = 9, .round = 8, .codec = 1, .payload = payload};
  const Message served = decode_frame(encode_frame(message_of(snapshot))).value();
  ASSERT_TRUE(served.is<Snapshot>());
  EXPECT_EQ(served.as<Snapshot>()->bucket, 9U);
  EXPECT_EQ(served.as<Snapshot>()->round, 8U);
  EXPECT_EQ(served.as<Snapshot>()->codec, 1);
  EXPECT_EQ(served.as<Snapshot>()->payload, payload);
}

TEST(Wire, EveryFieldOfAHelloComesBack) {
  const Message sent = hello_message();
  const Message got = decode_frame(encode_frame(sent)).value();
  ASSERT_TRUE(got.is<Hello>());
  EXPECT_EQ(got.as<Hello>()->protocol, kProtocolVersion);
  EXPECT_EQ(got.as<Hello>()->run_id, sent.as<Hello>()->run_id);
  EXPECT_EQ(got.as<Hello>()->topology, sent.as<Hello>()->topology);
  EXPECT_EQ(got.as<Hello>()->generation, sent.as<Hello>()->generation);
  EXPECT_EQ(got.as<Hello>()->layout_hash, sent.as<Hello>()->layout_hash);
  EXPECT_EQ(got.as<Hello>()->initial(), sent.as<Hello>()->initial());
  EXPECT_EQ(got.as<Hello>()->mode, sent.as<Hello>()->mode);
  EXPECT_EQ(got.as<Hello>()->codec, sent.as<Hello>()->codec);
  EXPECT_EQ(got.as<Hello>()->last_answered, sent.as<Hello>()->last_answered);
  EXPECT_EQ(got.as<Hello>()->last_completed, sent.as<Hello>()->last_completed);
  EXPECT_EQ(got.as<Hello>()->meeting, sent.as<Hello>()->meeting);
  EXPECT_EQ(got.as<Hello>()->progress, sent.as<Hello>()->progress);
  EXPECT_EQ(got.as<Hello>()->life, sent.as<Hello>()->life);
  EXPECT_EQ(got.as<Hello>()->host, sent.as<Hello>()->host);
  EXPECT_EQ(got.as<Hello>()->terms, sent.as<Hello>()->terms);
  EXPECT_FALSE(payload_of(got));
}

/// So a Hello of weights that its sender drew itself is as long as before there was that field.
TEST(Wire, AHelloThatNamesNoOriginIsOfItsSendersWeights) {
  Message sent = hello_message();
  std::get<Hello>(sent.body).initial_rank = sent.header.from;
  const Frame own = encode_frame(sent);
  EXPECT_EQ(decode_frame(own).value().as<Hello>()->initial_rank, sent.header.from);
  std::get<Hello>(sent.body).initial_rank = kNoRank;
  const Frame trained = encode_frame(sent);
  EXPECT_EQ(decode_frame(trained).value().as<Hello>()->initial_rank, kNoRank);
  EXPECT_LT(own.header.size(), trained.header.size());
  std::get<Hello>(sent.body).initial_rank = -2;
  const Result<Message> refused = decode_frame(encode_frame(sent));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().fault, Fault::kOutOfRange);
}

TEST(Wire, EveryKindGoesThroughAndHeadersStaySmall) {
  const std::vector<MessageBody> kinds = every_kind();
  ASSERT_EQ(kinds.size(), std::variant_size_v<MessageBody>);
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const Message message = message_of(kinds[kind], 1);
    ASSERT_EQ(message.body.index(), kind);
    const Frame frame = encode_frame(message);
    EXPECT_LE(frame.header.size(), 64U);
    Result<Message> result = decode_frame(frame);
    ASSERT_TRUE(result.ok()) << result.error().text;
    EXPECT_EQ(result->body.index(), kind);
  }
}

TEST(Wire, EveryCodecComesBackInHellosAndOfPayloads) {
  for (const CodecSpec& codec : test::every_codec(12'345)) {
    const Message hello = decode_frame(encode_frame(with_codec(codec))).value();
    EXPECT_EQ(hello.as<Hello>()->codec, codec) << name(codec);
    const Message offer = message_of(Offer{.codec = codec.number, .payload = make_payload(10)});
    EXPECT_EQ(decode_frame(encode_frame(offer)).value().as<Offer>()->codec, codec.number);
  }
}

TEST(Wire, MarksOfArraysBelongToRefusalsAndAreBounded) {
  const auto decoded = [](std::string marks) {
    return decode_frame(encode_frame(message_of(Refusal{.text = "no", .marks = std::move(marks)})));
  };
  EXPECT_EQ(decoded("abcd").value().as<Refusal>()->marks, "abcd");
  EXPECT_TRUE(decoded(std::string(2 * ArrayList::kMostMarks, 'm')));
  EXPECT_FALSE(decoded(std::string(2 * ArrayList::kMostMarks + 1, 'm')));
}

TEST(Wire, RefusalTextsAreCutAtACharacterAndStrippedOfControls) {
  const auto read = [](const std::string& text) {
    return decode_frame(encode_frame(message_of(Refusal{text}))).value().as<Refusal>()->text;
  };
  EXPECT_EQ(read("theirs\n\x1b[31mtorus:2x2"), "theirs  [31mtorus:2x2");
  EXPECT_EQ(read(std::string(511, 'a') + "éé"), std::string(511, 'a'));
  EXPECT_EQ(read("broken \xff utf-8"), "broken ? utf-8");
}

TEST(Wire, ValuesOutsideTheirRangeAreErrors) {
  const auto with = [](unsigned field, std::uint64_t value) {
    Frame frame = encode_frame(message_of(Heartbeat{}, 2));
    append_varint(frame, field, value);
    return frame;
  };
  const auto after = [](auto last) { return static_cast<std::uint64_t>(last) + 1; };
  EXPECT_EQ(fault_of(with(1, std::variant_size_v<MessageBody>)), Fault::kOutOfRange) << "kind";
  EXPECT_EQ(fault_of(with(2, 1)), Fault::kOutOfRange) << "rank -1, zig-zag coded";
  EXPECT_EQ(fault_of(with(5, after(WorkerState::kFrozen))), Fault::kOutOfRange) << "state";
  EXPECT_EQ(fault_of(with(11, 1)), Fault::kOutOfRange) << "divisor";
  EXPECT_EQ(fault_of(with(11, 259)), Fault::kOutOfRange) << "divisor that is 3 in eight bits";
  EXPECT_EQ(fault_of(with(12, after(ReplyStatus::kRejected))), Fault::kOutOfRange) << "status";
  EXPECT_EQ(fault_of(with(13, 256)), Fault::kOutOfRange) << "codec";
  EXPECT_EQ(fault_of(with(16, 1)), Fault::kPayloadSize) << "payload that is not there";
  EXPECT_TRUE(decode_frame(with(99, 1)).ok()) << "an unknown field, as a newer protocol may have";
}

TEST(Wire, ADamagedOrMissingPayloadIsAnError) {
  const Frame good = encode_frame(message_of(Offer{.payload = make_payload(262144)}));
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

TEST(Wire, APayloadWithoutAChecksumIsTakenFromAProvenLinkAlone) {
  const Message offer = message_of(Offer{.payload = make_payload(1000)});
  const Frame bare = encode_frame(offer, Integrity::kProven);
  EXPECT_TRUE(decode_frame(bare, Integrity::kProven).ok());
  EXPECT_EQ(fault_of(bare), Fault::kChecksum);
  Frame summed = encode_frame(offer);
  EXPECT_TRUE(decode_frame(summed, Integrity::kProven).ok());
  Bytes damaged(view(summed.payload).begin(), view(summed.payload).end());
  damaged[7] ^= std::byte{1};
  summed.payload = Payload(damaged);
  EXPECT_FALSE(decode_frame(summed, Integrity::kProven).ok())
      << "a checksum that is there is checked";
  EXPECT_EQ(encode_frame(message_of(Heartbeat{})).header,
            encode_frame(message_of(Heartbeat{}), Integrity::kProven).header);
}

TEST(Wire, AHelloBelongsInAHelloMessageAlone) {
  Frame frame = encode_frame(message_of(Heartbeat{}));
  append_varint(frame, 1, 0);  // a Hello without one
  EXPECT_EQ(fault_of(frame), Fault::kMalformed);
  frame = encode_frame(hello_message());
  append_varint(frame, 1, message_of(Heartbeat{}).body.index());
  EXPECT_EQ(fault_of(frame), Fault::kMalformed);
}

TEST(Wire, TextsThatAreLongOrCannotBeShownAreErrors) {
  const std::string bad_ones[] = {std::string(513, 'x'), "bell\x07", "\xc0\x80",     "\xed\xa0\x80",
                                  "\xf5\x80\x80\x80",    "\xc2",     "csi \xc2\x9b", "\x7f"};
  for (const std::string& bad : bad_ones) {
    EXPECT_EQ(fault_of(encode_frame(named(bad))), Fault::kMalformed) << "Hello.run_id";
    Frame frame = encode_frame(message_of(Refusal{}));
    append_text(frame, 15, bad);
    EXPECT_EQ(fault_of(frame), Fault::kMalformed) << "text";
  }
  Frame frame = encode_frame(message_of(Heartbeat{}));
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
    EXPECT_GE(result->header.from, 0);
    EXPECT_LE(result->header.state, WorkerState::kFrozen);
  }
}

}  // namespace
}  // namespace stencil
