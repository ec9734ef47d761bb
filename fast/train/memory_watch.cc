#include "fast/train/memory_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>

#include "stencil/core/byte_size.h"

namespace fast {
namespace {

/// Of a line such as "VmHWM:     1234 kB".
std::optional<std::size_t> field(std::string_view status, std::string_view name) {
  const auto at = status.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = status.substr(at + name.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  std::size_t kib = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), kib);
  if (error != std::errc()) return std::nullopt;
  return kib * 1024;
}

}  // namespace

std::optional<ProcessMemory> process_memory(std::string_view status) {
  const auto peak = field(status, "VmHWM:"), now = field(status, "VmRSS:"),
             files = field(status, "RssFile:"), shared = field(status, "RssShmem:");
  if (!peak || !now || !files || !shared) return std::nullopt;
  return ProcessMemory{.peak = *peak, .now = *now, .files = *files, .shared = *shared};
}

ProcessMemory own_memory() {
  std::ifstream file("/proc/self/status");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return process_memory(text).value_or(ProcessMemory{});
}

std::optional<std::string> MemoryWatch::look(const Exchange& exchange) {
  if (told_ || before_ == 0) return std::nullopt;
  const SessionStatus status = exchange.status();
  if (status.counter("memory_budget") == 0) return std::nullopt;
  return look(status, own_memory());
}

std::optional<std::string> MemoryWatch::look(const SessionStatus& status,
                                             const ProcessMemory& memory) {
  const std::size_t budget = status.counter("memory_budget");
  most_files_ = std::max(most_files_, memory.files);
  most_shared_ = std::max(most_shared_, memory.shared);
  const std::size_t others = most_files_ + most_shared_ + before_ + kBeside;
  if (told_ || before_ == 0 || budget == 0 || memory.peak <= others + budget) return std::nullopt;
  told_ = true;
  const std::size_t taken = memory.peak - others;
  return fmt::format(
      "--memory-budget {}: {} were taken at the most, and the sum that is held to the budget is "
      "{}: "
      "it leaves out the results of layers while a step is computed. A smaller --batch takes less "
      "of them; or have {} ready",
      stencil::bytes_text(budget), stencil::bytes_text(taken),
      stencil::bytes_text(status.counter("memory_held")), stencil::bytes_text(taken));
}

}  // namespace fast
