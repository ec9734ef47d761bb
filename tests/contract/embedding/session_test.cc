#include <memory>

#include "tests/contract/embedding/embedding_contract.h"
#include "tests/contract/embedding/session_worker.h"

namespace fast::testing {
namespace {

INSTANTIATE_TEST_SUITE_P(Session, EmbeddingContract,
                         ::testing::ValuesIn(every_type([](auto& types) {
                           return std::make_unique<FlatWorker>(types);
                         })),
                         case_name);

}  // namespace
}  // namespace fast::testing
