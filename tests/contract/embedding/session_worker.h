#pragma once

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "adapters/flat/flat_adapter.h"
#include "fast/adapter.h"
#include "fast/options/set_option.h"
#include "fast/run/model_file.h"
#include "fast/session/exit_code.h"
#include "fast/session/session.h"
#include "tests/contract/embedding/embedding_contract.h"

namespace fast::testing {

/// In C++, over the adapter of any framework.
class SessionWorker : public EmbeddedWorker {
 public:
  using EmbeddedWorker::EmbeddedWorker;

  [[nodiscard]] virtual ModelAdapter& adapter() = 0;

  ExitCode set(const std::string& key, const std::string& value) override {
    return guarded([&] { set_option(options_, key, value); });
  }
  ExitCode call(Call what) override {
    return guarded([&] {
      if (what == Call::kOpen) session_.emplace(adapter(), options_);
      if (what == Call::kJoin) session_->join();
      if (what == Call::kExchange) session_->exchange({});
      if (what == Call::kFinish) session_->finish();
    });
  }
  ExitCode save(const std::string& path) override {
    return guarded([&] { save_model(path, adapter(), {}); });
  }
  std::string endpoint() override { return session_->endpoint(); }
  std::string error() override { return error_; }

 protected:
  /// To be called by destructors, while there still is an adapter.
  void close() { session_.reset(); }

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

  SessionOptions options_;
  std::string error_;
  std::optional<Session> session_;
};

/// Over plain memory.
class FlatWorker final : public SessionWorker {
 public:
  explicit FlatWorker(const std::vector<stencil::ElementType>& types)
      : SessionWorker(types), adapter_(model.parameters()) {}
  ~FlatWorker() override { close(); }
  ModelAdapter& adapter() override { return adapter_; }

 private:
  FlatAdapter adapter_;
};

}  // namespace fast::testing
