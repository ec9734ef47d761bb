#include "adapters/c/caller_state.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fast/errors.h"

namespace fast::c {
namespace {

constexpr char kName[] = "caller/state";

}  // namespace

void CallerState::save(StateWriter& to) {
  if (save_ == nullptr) return;
  const void* bytes = nullptr;
  std::size_t size = 0;
  const int result = save_(context_, &bytes, &size);
  if (result != 0) {
    throw AdapterError("the save given to fast_set_state() returned " + std::to_string(result),
                       "look up this code at the program that it belongs to");
  }
  to.put(kName, std::span(static_cast<const std::uint8_t*>(bytes), bytes == nullptr ? 0 : size));
}

void CallerState::load(const StateReader& from) {
  if (load_ == nullptr || !from.has(kName)) return;
  const std::vector<std::uint8_t> bytes = from.values<std::uint8_t>(kName);
  const int result = load_(context_, bytes.data(), bytes.size());
  if (result == 0) return;
  throw FileError(
      from.origin() + ": the load given to fast_set_state() returned " + std::to_string(result),
      "give the checkpoint of this program, or resume from none");
}

}  // namespace fast::c
