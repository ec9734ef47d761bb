#include "fast/session/session.h"

#include <exception>

#include "adapters/flat/flat_adapter.h"
#include "fast/run/model_file.h"
#include "fast/session/exit_code.h"
#include "fast/session/set_option.h"
#include "tests/contract/embedding/embedding_contract.h"
#include "tests/support/plain_model.h"

namespace fast::testing {
namespace {

/// In C++, over the flat adapter.
class SessionWorker : public EmbeddedWorker {
 public:
  explicit SessionWorker(const std::vector<stencil::ElementType>& types)
      : model_(types), adapter_(model_.parameters()) {}

  ExitCode set(const std::string& key, const std::string& value) override {
    return guarded([&] { set_option(options_, key, value); });
  }
  ExitCode open() override {
    return guarded([&] { session_.emplace(adapter_, options_); });
  }
  ExitCode join() override {
    return guarded([&] { session_->join(); });
  }
  ExitCode exchange() override {
    return guarded([&] { session_->exchange({}); });
  }
  ExitCode finish() override {
    return guarded([&] { session_->finish(); });
  }
  ExitCode save(const std::string& path) override {
    return guarded([&] { save_model(path, adapter_, {}); });
  }
  std::string endpoint() override { return session_->endpoint(); }
  std::string error() override { return error_; }
  std::vector<double> read() override { return model_.read(); }
  void write(std::span<const double> values) override { model_.write(values); }

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

  PlainModel model_;
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
