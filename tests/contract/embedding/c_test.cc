#include "adapters/c/fast.h"
#include "tests/contract/embedding/embedding_contract.h"

namespace fast::testing {
namespace {

/// Through the C library.
class CWorker : public EmbeddedWorker {
 public:
  explicit CWorker(const std::vector<stencil::ElementType>& types)
      : EmbeddedWorker(types), session_(fast_new()) {
    for (const NamedTensor& tensor : model.parameters()) {
      EXPECT_EQ(fast_array(session_, FAST_TRAINED, tensor.name.c_str(), tensor.dtype.c_str(),
                           tensor.shape.size(), tensor.shape.data(), tensor.bytes.data()),
                FAST_OK)
          << fast_error(session_);
    }
  }
  ~CWorker() override { fast_close(session_); }

  ExitCode set(const std::string& key, const std::string& value) override {
    return code(fast_set(session_, key.c_str(), value.c_str()));
  }
  ExitCode call(Call what) override {
    if (what == Call::kOpen) return code(fast_open(session_));
    if (what == Call::kJoin) return code(fast_join(session_));
    if (what == Call::kExchange) return code(fast_exchange(session_, 0, 0));
    return code(fast_finish(session_, nullptr));
  }
  ExitCode save(const std::string& path) override {
    return code(fast_save_model(session_, path.c_str()));
  }
  std::string endpoint() override { return fast_endpoint(session_); }
  std::string error() override { return fast_error(session_); }

 private:
  static ExitCode code(fast_code code) { return static_cast<ExitCode>(code); }

  fast_session* session_;
};

INSTANTIATE_TEST_SUITE_P(C, EmbeddingContract, ::testing::ValuesIn(every_type([](auto& types) {
                           return std::make_unique<CWorker>(types);
                         })),
                         case_name);

}  // namespace
}  // namespace fast::testing
