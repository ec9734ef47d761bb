// Which thread may call what.
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "stencil/threads/thread_check.h"
#include "tests/integration/session/session_fixture.h"

namespace fast {
namespace {

/// What `call` throws on another thread; empty where it throws nothing.
template <typename Call>
std::string thrown_elsewhere(Call call) {
  std::string thrown;
  std::thread([&] {
    try {
      call();
    } catch (const std::exception& error) {
      thrown = error.what();
    }
  }).join();
  return thrown;
}

class SessionThreads : public SessionTest {};

TEST_F(SessionThreads, a_second_thread_may_ask_for_the_status_alone_while_the_first_is_in_a_call) {
  Quadratic model(0);
  SessionOptions options = this->options("ring:2", 0);
  options.exchange.start_deadline = 0.2;
  std::optional<Session> session;
  bool waited = false;
  options.waiting = [&] {
    if (std::exchange(waited, true)) return;
    EXPECT_EQ(thrown_elsewhere([&] { (void)session->status(); }), "");
    EXPECT_EQ(thrown_elsewhere([&] { (void)session->endpoint(); }), "");
    if constexpr (stencil::kThreadsChecked) {
      EXPECT_NE(thrown_elsewhere([&] { (void)session->progress(); }).find("Session::progress()"),
                std::string::npos);
      EXPECT_NE(thrown_elsewhere([&] { session->exchange({.samples = 1, .loss = 1}); }), "");
    }
  };
  session.emplace(model.adapter, options);
  session->join();
  EXPECT_TRUE(waited);
}

TEST_F(SessionThreads, a_training_loop_may_go_on_in_another_thread) {
  Quadratic model(0);
  SessionOptions options = this->options("ring:2", 0);
  options.exchange.start_deadline = 0.2;
  Session session(model.adapter, options);
  session.join();
  EXPECT_EQ(thrown_elsewhere([&] {
              model.step();
              session.exchange({.samples = 1, .loss = 1});
            }),
            "");
  EXPECT_EQ(session.steps(), 1);
}

}  // namespace
}  // namespace fast
