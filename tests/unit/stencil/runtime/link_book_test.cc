#include "stencil/runtime/link_book.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "stencil/core/error.h"

namespace stencil {
namespace {

/// Records what was dialled and dropped; carries nothing.
class SilentTransport final : public Transport {
 public:
  std::string endpoint() const override { return "here"; }
  LinkId dial(const PeerAddress& address) override {
    if (address.endpoint == "nonsense") throw ConfigError("no address", "give one");
    if (out_of_descriptors) throw ResourceError("no descriptor", "raise ulimit -n");
    dialled.push_back(address.endpoint);
    keys.push_back(address.key ? address.key->bytes[0] : 0);
    return dialled.size();
  }
  void drop(LinkId link) override { dropped.push_back(link); }
  SendStatus send(LinkId, Frame&&) override { return SendStatus::kDown; }
  std::optional<Received> receive() override { return {}; }
  TransportStats stats() const override { return {}; }

  bool out_of_descriptors = false;
  std::vector<std::string> dialled;
  std::vector<std::uint8_t> keys;  // the first byte of each; 0: none
  std::vector<LinkId> dropped;
};

constexpr LinkId kTheirs = 100;  // a link that the other end dialled

class LinkBookTest : public testing::Test {
 protected:
  /// Rank 1 between ranks 0 and 2.
  LinkBookTest() {
    for (const Rank rank : {0, 2}) edges_.try_emplace(rank, neighbours_.add({.rank = rank}));
  }
  Edge& of(Rank rank) { return edges_.at(rank); }
  LinkId link_of(Rank rank) { return of(rank).link.in_service; }

  Neighbours neighbours_;
  Edges edges_;
  LinkBook book_{1, edges_, transport_,
                 [this](Rank rank) -> std::vector<PeerAddress> {
                   const auto it = where_.find(rank);
                   if (it == where_.end()) return addresses_[rank];
                   return {it->second};
                 },
                 [this](LogLevel, std::string_view text) { said_.emplace_back(text); }};
  TimePoint at(int milliseconds) const {
    return TimePoint{} + std::chrono::hours(1) + std::chrono::milliseconds(milliseconds);
  }

  SilentTransport transport_;
  std::map<Rank, std::string> where_;
  std::map<Rank, std::vector<PeerAddress>> addresses_;
  std::vector<std::string> said_;
};

PeerAddress with_key(const std::string& endpoint, std::uint8_t first) {
  PublicKey key;
  key.bytes[0] = first;
  return {endpoint, key};
}

TEST_F(LinkBookTest, dials_a_neighbour_once_and_again_where_it_moved) {
  where_[0] = "a";
  book_.tend(at(0));
  book_.tend(at(600));
  EXPECT_EQ(transport_.dialled, std::vector<std::string>{"a"});
  where_[0] = "b";
  book_.tend(at(1200));
  EXPECT_EQ(transport_.dialled, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(transport_.dropped, std::vector<LinkId>{1});
}

TEST_F(LinkBookTest, a_neighbour_with_another_key_is_dialled_anew) {
  addresses_[0] = {with_key("a", 1)};
  book_.tend(at(0));
  addresses_[0] = {with_key("a", 2)};
  book_.tend(at(500));
  EXPECT_EQ(transport_.keys, (std::vector<std::uint8_t>{1, 2}));
  EXPECT_EQ(transport_.dropped, std::vector<LinkId>{1});
}

TEST_F(LinkBookTest, each_key_of_a_neighbour_is_tried_until_one_is_its_own) {
  addresses_[0] = {with_key("a", 1), with_key("a", 2)};
  auto tend_until = [this, now = 0](int end) mutable {
    for (; now < end; now += 500) book_.tend(at(now));
  };
  tend_until(4000);
  EXPECT_EQ(transport_.keys, std::vector<std::uint8_t>{1});
  tend_until(8000);
  EXPECT_EQ(transport_.keys, (std::vector<std::uint8_t>{1, 2}));
  tend_until(12'000);
  EXPECT_EQ(transport_.keys, (std::vector<std::uint8_t>{1, 2, 1}));

  // The address that worked is tried first again, for as long as any other.
  EXPECT_EQ(book_.dialled_up(3), &of(0));
  tend_until(60'000);
  EXPECT_EQ(book_.down(3), &of(0));
  tend_until(62'000);
  EXPECT_EQ(transport_.keys.size(), 3U) << "the transport dials it again by itself";
  tend_until(65'000);
  EXPECT_EQ(transport_.keys, (std::vector<std::uint8_t>{1, 2, 1, 2}));
}

TEST_F(LinkBookTest, an_address_that_is_none_is_named_once_whatever_its_keys) {
  addresses_[0] = {with_key("nonsense", 1), with_key("nonsense", 2)};
  for (int ms = 0; ms <= 10'000; ms += 500) book_.tend(at(ms));
  EXPECT_EQ(std::ranges::count_if(
                said_, [](const std::string& line) { return line.find("dialled:") != line.npos; }),
            1);
}

TEST_F(LinkBookTest, dials_nobody_faster_than_it_promises) {
  EXPECT_EQ(book_.tend(at(0)), at(500));
  where_[0] = "a";
  EXPECT_EQ(book_.tend(at(100)), at(500));
  EXPECT_TRUE(transport_.dialled.empty());
  book_.tend(at(500));
  EXPECT_EQ(transport_.dialled.size(), 1U);
}

TEST_F(LinkBookTest, names_who_stays_out_of_reach_and_does_not_repeat_itself_at_once) {
  where_[0] = "tcp://host:1";
  for (int ms = 0; ms <= 20000; ms += 500) book_.tend(at(ms));
  ASSERT_EQ(said_.size(), 2U) << "one line for each neighbour";
  EXPECT_NE(said_[0].find("neighbour 0"), std::string::npos);
  EXPECT_NE(said_[0].find("tcp://host:1"), std::string::npos);
  EXPECT_NE(said_[1].find("neighbour 2"), std::string::npos);
}

TEST_F(LinkBookTest, says_nothing_of_a_neighbour_that_is_connected) {
  EXPECT_TRUE(book_.accept(kTheirs, of(0)));
  EXPECT_TRUE(book_.accept(kTheirs + 1, of(2)));
  for (int ms = 0; ms <= 20000; ms += 500) book_.tend(at(ms));
  EXPECT_TRUE(said_.empty());
  EXPECT_TRUE(transport_.dialled.empty());
}

TEST_F(LinkBookTest, of_two_links_that_of_the_higher_rank_stays_while_it_is_alive) {
  where_[0] = "a";
  book_.tend(at(0));
  EXPECT_EQ(book_.dialled_up(1), &of(0));
  neighbours_.at(0).state = LinkState::kUp;
  EXPECT_FALSE(book_.accept(kTheirs, of(0)));
  EXPECT_EQ(link_of(0), 1U);
  for (const LinkState silent : {LinkState::kSuspect, LinkState::kGone}) {
    neighbours_.at(0).state = silent;
    EXPECT_TRUE(book_.accept(kTheirs, of(0))) << name(silent) << ": it has come back elsewhere";
    EXPECT_EQ(link_of(0), kTheirs);
    EXPECT_EQ(book_.down(kTheirs), &of(0));
    where_[0] += "a";
    book_.tend(at(500 * static_cast<int>(where_[0].size())));
    EXPECT_EQ(book_.dialled_up(transport_.dialled.size()), &of(0));
  }
}

TEST_F(LinkBookTest, an_address_that_is_none_is_named_once_and_tried_again_when_it_changes) {
  where_[0] = "nonsense";
  for (int ms = 0; ms <= 4000; ms += 500) book_.tend(at(ms));
  ASSERT_EQ(said_.size(), 1U);
  EXPECT_NE(said_[0].find("worker 0 cannot be dialled"), std::string::npos);
  EXPECT_TRUE(book_.accept(kTheirs, of(0))) << "it may still dial us";
  EXPECT_EQ(book_.down(kTheirs), &of(0));
  where_[0] = "a";
  book_.tend(at(4500));
  EXPECT_EQ(transport_.dialled, std::vector<std::string>{"a"});
}

TEST_F(LinkBookTest, a_moment_without_descriptors_is_one_without_a_connection_and_no_more) {
  where_[0] = "a";
  transport_.out_of_descriptors = true;
  for (int ms = 0; ms <= 2000; ms += 500) book_.tend(at(ms));
  EXPECT_TRUE(transport_.dialled.empty());
  transport_.out_of_descriptors = false;
  book_.tend(at(2500));
  EXPECT_EQ(transport_.dialled, std::vector<std::string>{"a"});
  EXPECT_TRUE(said_.empty());
}

// Both ends dial. The connection dialled by the higher rank stays, whichever is up first.
TEST_F(LinkBookTest, of_two_links_the_one_dialled_by_the_higher_rank_stays) {
  where_[0] = "a";
  where_[2] = "c";
  book_.tend(at(0));
  const LinkId to0 = 1;
  const LinkId to2 = 2;

  // We are the higher end towards 0: ours stays, theirs is not taken.
  EXPECT_EQ(book_.dialled_up(to0), &of(0));
  EXPECT_FALSE(book_.accept(kTheirs, of(0)));
  EXPECT_EQ(link_of(0), to0);

  // We are the lower end towards 2: ours serves until theirs is there.
  EXPECT_EQ(book_.dialled_up(to2), &of(2));
  EXPECT_TRUE(book_.accept(kTheirs + 1, of(2)));
  EXPECT_EQ(link_of(2), kTheirs + 1);
  EXPECT_EQ(transport_.dropped, std::vector<LinkId>{to2});
}

TEST_F(LinkBookTest, the_order_of_the_two_links_does_not_matter) {
  where_[0] = "a";
  where_[2] = "c";
  book_.tend(at(0));

  EXPECT_TRUE(book_.accept(kTheirs, of(0)));  // theirs first, ours is better
  EXPECT_EQ(book_.dialled_up(1), &of(0));
  EXPECT_EQ(link_of(0), 1U);

  EXPECT_TRUE(book_.accept(kTheirs + 1, of(2)));  // theirs first, and better
  EXPECT_EQ(book_.dialled_up(2), nullptr);
  EXPECT_EQ(link_of(2), kTheirs + 1);
}

TEST_F(LinkBookTest, an_edge_that_lost_its_link_is_dialled_again_at_once) {
  where_[2] = "c";
  EXPECT_TRUE(book_.accept(kTheirs, of(2)));
  book_.tend(at(0));
  EXPECT_TRUE(transport_.dialled.empty());
  EXPECT_EQ(book_.down(kTheirs), &of(2));
  EXPECT_EQ(book_.down(kTheirs), nullptr) << "no longer in service";
  EXPECT_EQ(link_of(2), 0U);
  book_.tend(at(1));
  EXPECT_EQ(transport_.dialled, std::vector<std::string>{"c"});
}

TEST_F(LinkBookTest, knows_only_links_in_service) {
  EXPECT_EQ(book_.served_by(0), nullptr);
  EXPECT_EQ(book_.served_by(kTheirs), nullptr);
  EXPECT_TRUE(book_.accept(kTheirs, of(0)));
  EXPECT_EQ(book_.served_by(kTheirs), &of(0));
}

TEST_F(LinkBookTest, an_edge_that_is_removed_takes_its_connections_along) {
  where_[0] = "a";
  book_.tend(at(0));
  EXPECT_EQ(book_.dialled_up(1), &of(0));
  book_.drop(of(0));
  edges_.erase(0);
  EXPECT_EQ(transport_.dropped, std::vector<LinkId>{1});
  EXPECT_EQ(book_.served_by(1), nullptr);
  EXPECT_EQ(book_.down(1), nullptr);
  EXPECT_EQ(book_.dialled_up(1), nullptr);
  book_.tend(at(600));
  EXPECT_EQ(transport_.dialled, std::vector<std::string>{"a"});
}

}  // namespace
}  // namespace stencil
