// The endpoints of neighbours: templates, files and what cannot be dialled.
#include "fast/options/peers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fast/errors.h"
#include "fast/options/session_options.h"

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

class PeersFileTest : public ::testing::Test {
 protected:
  PeersFileTest() {
    std::string pattern = ::testing::TempDir() + "/peers-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    file_ = folder_ + "/peers.txt";
  }
  ~PeersFileTest() override { std::filesystem::remove_all(folder_); }

  /// As programs do that never leave a half-written file.
  void write(const std::string& text) const {
    std::ofstream(file_ + ".new") << text;
    std::filesystem::rename(file_ + ".new", file_);
  }
  /// Looks until `done`; fails after 20 s.
  template <typename Done>
  void look_until(PeersOnAThread& peers, Done done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done(peers.find(1)) && std::chrono::steady_clock::now() < deadline) {
    }
    EXPECT_TRUE(done(peers.find(1))) << (said_.empty() ? "nothing was said" : said_.back());
  }
  void expect_said(PeersOnAThread& peers, const std::string& part) {
    look_until(peers, [&](const auto&) {
      return !said_.empty() && said_.back().find(part) != std::string::npos;
    });
  }
  void expect_found(PeersOnAThread& peers, const std::string& endpoint) {
    look_until(peers, [&](const auto& found) { return found == endpoint; });
  }

  std::string folder_, file_;
  std::vector<std::string> said_;
};

TEST_F(PeersFileTest, WhatIsWrongIsSaidAtTheFirstLookAndWheneverItChanges) {
  PeersOnAThread peers({{}, file_, ""}, [this](stencil::LogLevel, std::string_view line) {
    said_.emplace_back(line);
  });
  expect_said(peers, "cannot read the peers file '" + file_ + "': No such file or directory; ");
  write("1 node1:5555\n");
  expect_found(peers, "node1:5555");
  write("# ours\n0 node0:5555\nnode1:5556\n");
  expect_said(peers, file_ + ":3: 'node1:5556' is skipped; write RANK ENDPOINT");
  write("\n1 node1:5557 # moved\n");
  expect_found(peers, "node1:5557");
  write("");
  expect_said(peers, "names nobody");
  EXPECT_EQ(said_.size(), 3U) << "each once";
  std::filesystem::remove(file_);
  std::filesystem::create_directory(file_);
  expect_said(peers, "Is a directory");
  std::filesystem::remove(file_);
  write("1 node1:5558");
  expect_found(peers, "node1:5558");
}

TEST(PeerAddresses, ThoseThatNobodyCanDialAreRefusedAtOnce) {
  const auto check = [](SessionOptions options) {
    options.topology = "ring:3";
    options.validate();
  };
  for (const std::string bad : {"node1", "node1:0", "udp://node1:5", "fe80::1:5555"}) {
    EXPECT_THROW(check({.peers = {{1, bad}}}), ConfigError) << bad;
  }
  EXPECT_THROW(check({.peer_template = "node{rank}"}), ConfigError);
  EXPECT_NO_THROW(check({.peers = {{1, "file:nowhere"}, {2, "[fe80::1%eth0]:5"}}}));
  EXPECT_NO_THROW(check({.peer_template = "file:worker-{rank}/endpoint"}));
  EXPECT_NO_THROW(check({.peer_template = "node{rank}:5555"}));
}

}  // namespace
}  // namespace fast
