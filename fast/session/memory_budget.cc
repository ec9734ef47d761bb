#include "fast/session/memory_budget.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>

#include "fast/checkpoint/saved_state.h"
#include "fast/session/pump_options.h"
#include "stencil/core/byte_size.h"
#include "stencil/core/mode.h"
#include "stencil/mix/codecs/kinds.h"

namespace fast {
namespace {

/// Of values() that lie nowhere else.
std::size_t copied_bytes(ModelAdapter& adapter) {
  const std::span<const std::byte> values = std::as_bytes(adapter.values());
  const auto lies_there = [&](std::span<const std::byte> bytes) {
    const std::less_equal<const std::byte*> no_later;
    return no_later(values.data(), bytes.data()) &&
           no_later(bytes.data() + bytes.size(), values.data() + values.size());
  };
  std::size_t in_place = 0;
  for (const NamedTensor& tensor : adapter.state()) {
    if (tensor.role == Role::kTrained && !tensor.alias && lies_there(tensor.bytes)) {
      in_place += tensor.bytes.size();
    }
  }
  return values.size() - std::min(values.size(), in_place);
}

/// What optimizers keep beside two numbers for each value: of each array a count of its steps, say.
constexpr std::size_t kOfArray = 64, kOfPart = 4096;

std::size_t checkpoint_bytes(const SessionOptions& options, const stencil::Layout& layout,
                             ModelAdapter& adapter) {
  if (options.checkpoint.empty() || options.checkpoint_every <= 0) return 0;
  const std::size_t now = saved_bytes(adapter);
  const std::size_t model = layout.size() * sizeof(float);
  const std::size_t parts = adapter.parts().size();
  if (parts == 0) return now;
  const std::size_t small = layout.parameters().size() * kOfArray + parts * kOfPart;
  return now + small + (now < 3 * model ? 2 * model : 0);
}

}  // namespace

MemoryBudget make_memory_budget(const SessionOptions& options, const stencil::Grid& grid,
                                const stencil::Layout& layout, ModelAdapter& adapter,
                                const stencil::Carried& carried) {
  MemoryBudget budget;
  const ExchangeOptions& exchange = options.exchange;
  budget.allowed = static_cast<std::size_t>(
      std::min<std::uint64_t>(stencil::parse_bytes(exchange.memory_budget).value_or(0),
                              std::numeric_limits<std::size_t>::max()));
  budget.copy = copied_bytes(adapter);
  if (budget.allowed > 0) budget.checkpoint = checkpoint_bytes(options, layout, adapter);
  stencil::Footprint footprint{
      .floats = layout.size(),
      .buckets = layout.bucket_count() + 1,
      .neighbours = grid.places(options.rank).size(),
      .payload = largest_payload(layout, carried),
      .codec = stencil::edge_codec_bytes(stencil::parse_codec(exchange.codec), layout),
      .copy = budget.copy,
      .carried = carried.bytes(),
      .checkpoint = budget.checkpoint,
      .records = !options.record.empty(),
      .sets_aside = stencil::Mode::parse(exchange.mode).kind != stencil::Mode::Kind::kSync,
      .takes_initial = exchange.initial == "lowest"};
  for (const auto& [what, bytes] : options.held_beside) {
    footprint.beside.push_back({what, static_cast<std::size_t>(bytes)});  // they lie in memory
    budget.beside += bytes;
  }
  budget.bounds = stencil::bounds_within(
      budget.allowed, footprint, static_cast<std::uint32_t>(exchange.window), options.naming);
  return budget;
}

}  // namespace fast
