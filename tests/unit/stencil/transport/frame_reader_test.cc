#include "stencil/transport/stream/frame_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/stream_bytes.h"

namespace stencil {
namespace {

using fast::testing::framed;
using fast::testing::greeting;
using fast::testing::lengths;

constexpr std::size_t kMaxHeader = 5000, kMaxPayload = 100'000;

/// A reader and what has come out of it.
struct Reading {
  /// Fills the reader's room, `at_once` bytes a time.
  void feed(const std::string& bytes, std::size_t at_once) {
    std::size_t done = 0;
    while (done < bytes.size() && !reader.broken()) {
      std::size_t left = std::min(at_once, bytes.size() - done), put = 0;
      for (const auto& room : reader.room()) {
        const std::size_t size = std::min(left, room.size());
        std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()) + done + put, size,
                    room.begin());
        put += size;
        left -= size;
      }
      ASSERT_GT(put, 0U) << "a reader without room";
      done += put;
      reader.filled(put);
      while (std::optional<Frame> frame = reader.next()) frames.push_back(*std::move(frame));
    }
  }
  [[nodiscard]] std::string taken(std::size_t i) const {
    const auto text = [](std::span<const std::byte> bytes) {
      return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    return framed(text({frames[i].header.data(), frames[i].header.size()}),
                  text(view(frames[i].payload)));
  }

  BucketPool payloads;
  FrameReader reader{kMaxHeader, kMaxPayload, payloads};
  std::vector<Frame> frames;
};

TEST(FrameReader, HoweverTheStreamIsCutTheFramesAreTheSame) {
  const std::vector<std::string> frames = {framed("header", std::string(90'000, 'p')),
                                           framed("", ""), framed(std::string(5000, 'h'), ""),
                                           framed("h", "p"),
                                           framed(std::string(4090, 'h'), std::string(5000, 'q'))};
  std::string stream = greeting();
  for (const std::string& frame : frames) stream += frame;
  for (const std::size_t at_once : {1, 2, 7, 8, 9, 4095, 4096, 4097, 1'000'000}) {
    Reading reading;
    reading.feed(stream, at_once);
    ASSERT_EQ(reading.frames.size(), frames.size()) << at_once;
    for (std::size_t i = 0; i < frames.size(); ++i)
      EXPECT_TRUE(reading.taken(i) == frames[i]) << "frame " << i << " in pieces of " << at_once;
  }
}

TEST(FrameReader, AClaimOutOfBoundsBreaksTheStreamAndReservesNothing) {
  Reading reading;
  reading.feed(greeting() + framed("h", "") + lengths(1, kMaxPayload + 1), 3);
  EXPECT_EQ(reading.frames.size(), 1U);
  EXPECT_TRUE(reading.reader.greeted());
  EXPECT_TRUE(reading.reader.broken());
  EXPECT_EQ(reading.payloads.made(), 0U);
}

TEST(FrameReader, OfAHeaderClaimedNoMoreIsHeldThanHasCome) {
  Reading reading;
  reading.feed(greeting() + lengths(kMaxHeader, kMaxPayload) + "he", 3);
  EXPECT_TRUE(reading.frames.empty());
  EXPECT_FALSE(reading.reader.broken());
  EXPECT_EQ(reading.payloads.made(), 0U) << "the payload's turn has not come";
}

TEST(FrameReader, TheFirstWrongByteOfAGreetingIsEnough) {
  Reading reading;
  reading.feed("F", 1);
  EXPECT_FALSE(reading.reader.broken());
  reading.feed("x", 1);
  EXPECT_TRUE(reading.reader.broken());
  EXPECT_FALSE(reading.reader.greeted());
}

TEST(FrameReader, PayloadsAreReceivedInPlaceAndTheirMemoryIsUsedAgain) {
  Reading reading;
  reading.feed(greeting() + lengths(1, 50'000) + "h" + std::string(10, 'p'), 1'000'000);
  EXPECT_EQ(reading.reader.room().front().size(), 49'990U) << "the rest goes where it will be used";
  reading.feed(std::string(49'990, 'p'), 1'000'000);
  ASSERT_EQ(reading.frames.size(), 1U);
  reading.frames.clear();
  for (int i = 0; i < 10; ++i) {
    reading.feed(framed("h", std::string(70'000, 'q')), 1000);
    reading.frames.clear();
  }
  EXPECT_EQ(reading.payloads.made(), 1U);
}

}  // namespace
}  // namespace stencil
