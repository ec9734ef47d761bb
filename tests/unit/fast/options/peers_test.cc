// The endpoints of neighbours: templates.
#include "fast/options/peers.h"

#include <gtest/gtest.h>

#include "fast/errors.h"

namespace fast {
namespace {

std::string found(const std::string& pattern, int rank) {
  return Peers({}, "", pattern).find(rank).value_or("nothing");
}

TEST(PeerTemplate, EveryPlaceholderIsTheRank) {
  EXPECT_EQ(found("tcp://worker-{rank}:5555", 3), "tcp://worker-3:5555");
  EXPECT_EQ(found("tcp://w{rank}.n{rank}:5", 12), "tcp://w12.n12:5");
}

TEST(PeerTemplate, TextThatLooksLikeOneIsKept) {
  const std::string folder = "/runs/{rank}/{rank}";
  EXPECT_EQ(found(literal_in_template(folder) + "/w-{rank}", 3), folder + "/w-3");
  EXPECT_EQ(literal_in_template("/runs/first"), "/runs/first");
}

TEST(PeerTemplate, WithoutAPlaceholderItIsRefused) {
  EXPECT_NO_THROW(check_peer_template(""));
  EXPECT_NO_THROW(check_peer_template("tcp://worker-{rank}:5555"));
  EXPECT_THROW(check_peer_template("tcp://worker:5555"), ConfigError);
  EXPECT_THROW(check_peer_template("tcp://worker-{{rank}}:5555"), ConfigError);
}

}  // namespace
}  // namespace fast
