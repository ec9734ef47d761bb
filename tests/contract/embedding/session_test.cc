#include "fast/session/session.h"

#include <exception>

#include "adapters/flat/flat_adapter.h"
#include "fast/options/set_option.h"
#include "fast/run/model_file.h"
#include "fast/session/exit_code.h"
#include "tests/contract/embedding/embedding_contract.h"

namespace fast::testing {
namespace {

/// In C++, over the flat adapter.
class SessionWorker : public EmbeddedWorker {
 public:
  explicit SessionWorker(const std::vector<stencil::ElementType>& types)
      : EmbeddedWorker(types), adapter_(model.parameters()) {}

  ExitCode set(const std::string& key, const std::string& value) override {
    return guarded([&] { set_option(options_, key, value); });
  }
  ExitCode call(Call what) override {
    return guarded([&] {
      if (what == Call::kOpen) session_.emplace(adapter_, options_);
      if (what == Call::kJoin) session_->join();
      if (what == Call::kExchange) session_->exchange({});
      if (what == Call::kFinish) session_->finish();
    });
  }
  ExitCode save(const std::string& path) override {
    return guarded([&] { save_model(path, adapter_, {}); });
  }
  std::string endpoint() override { return session_->endpoint(); }
  std::string error() override { return error_; }

 private:
  template <typename Body>
  ExitCode guarded(Body body) {
    try {
      body();
      return ExitCode::kOk;
    } catch (const std::exception& error) {
      error_ = error.what();
      return exit_code(error);
    }
  }

  FlatAdapter adapter_;
  SessionOptions options_;
  std::string error_;
  std::optional<Session> session_;
};

INSTANTIATE_TEST_SUITE_P(Session, EmbeddingContract,
                         ::testing::ValuesIn(every_type([](auto& types) {
                           return std::make_unique<SessionWorker>(types);
                         })),
                         case_name);

}  // namespace
}  // namespace fast::testing
