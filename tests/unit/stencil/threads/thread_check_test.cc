#include "stencil/threads/thread_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <string>

#include "stencil/core/error.h"

namespace stencil {
namespace {

using Owner = BasicOwningThread<true>;
using Room = BasicOneAtATime<true>;

/// What `work` throws on another thread; empty where it throws nothing.
template <typename Work>
std::string thrown_elsewhere(Work work) {
  return std::async(std::launch::async,
                    [&]() -> std::string {
                      try {
                        work();
                      } catch (const InvariantError& error) {
                        return error.what();
                      }
                      return "";
                    })
      .get();
}

TEST(OwningThread, others_are_refused_between_take_and_give_by_the_name_of_what_they_call) {
  Owner owner;
  EXPECT_EQ(thrown_elsewhere([&] { owner.check("A::b()"); }), "");
  owner.take();
  EXPECT_NO_THROW(owner.check("A::b()"));
  EXPECT_THAT(thrown_elsewhere([&] { owner.check("A::b()"); }),
              testing::HasSubstr("A::b() was called on another thread"));
  owner.give();
  EXPECT_EQ(thrown_elsewhere([&] { owner.check("A::b()"); }), "");
}

TEST(OneAtATime, a_second_thread_is_refused_while_one_is_inside_and_let_in_afterwards) {
  Room room;
  const auto enter = [&] { const Room::Inside inside(room, "A::b()"); };
  {
    const Room::Inside inside(room, "A::c()");
    EXPECT_THAT(thrown_elsewhere(enter), testing::HasSubstr("A::b() was called while another"));
  }
  EXPECT_EQ(thrown_elsewhere(enter), "");
}

TEST(OneAtATime, one_that_enters_again_from_within_stays_inside_until_its_outermost_end) {
  Room room;
  const auto enter = [&] { const Room::Inside inside(room, "A::b()"); };
  {
    const Room::Inside outer(room, "A::c()");
    EXPECT_NO_THROW(enter());
    EXPECT_NE(thrown_elsewhere(enter), "");
  }
  EXPECT_EQ(thrown_elsewhere(enter), "");
}

TEST(OneAtATime, one_that_was_refused_does_not_put_the_other_out) {
  Room room;
  const auto enter = [&] { const Room::Inside inside(room, "A::b()"); };
  const Room::Inside inside(room, "A::c()");
  EXPECT_NE(thrown_elsewhere(enter), "");
  EXPECT_NE(thrown_elsewhere(enter), "");
}

TEST(Unchecked, takes_no_notice) {
  BasicOwningThread<false> owner;
  owner.take();
  EXPECT_EQ(thrown_elsewhere([&] { owner.check("A::b()"); }), "");
  BasicOneAtATime<false> room;
  const BasicOneAtATime<false>::Inside inside(room, "A::c()");
  EXPECT_EQ(thrown_elsewhere([&] { const BasicOneAtATime<false>::Inside again(room, "A::b()"); }),
            "");
}

}  // namespace
}  // namespace stencil
