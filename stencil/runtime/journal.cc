#include "stencil/runtime/journal.h"

#include <xxhash.h>

#include <cstring>
#include <utility>

#include "stencil/runtime/journal_fields.h"

namespace stencil {
namespace {

/// For what a part begins with, and the record that fills it. Usually enough.
constexpr std::size_t kStateRoom = 64 << 10;

}  // namespace

void journal::Writer::append(const void* from, std::size_t size) {
  if (size == 0) return;
  const std::size_t at = out_.size();
  out_.resize(at + size);
  std::memcpy(out_.data() + at, from, size);
}

std::uint64_t journal::hash_of(std::span<const Action> decided, Bytes& memory) {
  memory.clear();
  Writer writer(memory, /*texts=*/false);
  for (const Action& action : decided) walk(writer, action);
  return XXH3_64bits(memory.data(), memory.size());
}

std::uint64_t journal::mark_of(std::span<const std::byte> beginning) {
  return ~XXH3_64bits(beginning.data(), beginning.size());
}

void Journal::began(TimePoint now, const Engine& engine) {
  engine_ = &engine;
  made_ = now;
  older_ = {};
  parts_ = 0;
  begin_part(now);
}

void Journal::begin_part(TimePoint now) {
  ++parts_;
  newer_.bytes.clear();
  newer_.bytes.reserve(keep_.bytes / 2 + kStateRoom);
  newer_.inputs = 0;
  newer_.begun = now;
  journal::Writer writer(newer_.bytes);
  writer.append(journal::kMagic.data(), journal::kMagic.size());
  EngineConfig config = engine_->config();
  config.neighbours = engine_->neighbours().places();
  config.grid.turns = engine_->neighbours().turns();
  std::uint32_t size = 0;
  journal::all(writer, config, made_, size);
  const std::size_t at = newer_.bytes.size();
  journal::walk(writer, *engine_);
  size = static_cast<std::uint32_t>(newer_.bytes.size() - at);
  std::memcpy(newer_.bytes.data() + at - sizeof(size), &size, sizeof(size));
  const std::uint64_t mark = journal::mark_of(newer_.bytes);
  journal::walk(writer, mark);
  newer_.records = newer_.bytes.size();
}

void Journal::saw(TimePoint now, const Input& input, std::span<const Action> decided) {
  // Asked at each turn; without an outcome it changes nothing.
  if (decided.empty() && std::holds_alternative<input::TookShares>(input)) return;
  const std::size_t begin = newer_.bytes.size();
  std::uint32_t size = 0;
  const std::uint64_t hash = journal::hash_of(decided, decided_);
  journal::Writer writer(newer_.bytes);
  journal::all(writer, size, now, input, hash);
  size = static_cast<std::uint32_t>(newer_.bytes.size() - begin - sizeof(size));
  std::memcpy(newer_.bytes.data() + begin, &size, sizeof(size));
  ++newer_.inputs;
  const bool full = newer_.bytes.size() - newer_.records >= keep_.bytes / 2;
  if (!full && now - newer_.begun < keep_.time) return;
  std::swap(older_, newer_);
  begin_part(now);
}

Bytes Journal::file() const {
  if (older_.bytes.empty()) return newer_.bytes;
  Bytes out = older_.bytes;
  out.insert(out.end(), newer_.bytes.begin() + static_cast<std::ptrdiff_t>(newer_.records),
             newer_.bytes.end());
  return out;
}

}  // namespace stencil
