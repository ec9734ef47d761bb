#include "stencil/runtime/journal.h"

#include <xxhash.h>

#include <cstring>

#include "stencil/runtime/journal_fields.h"

namespace stencil {

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

void Journal::began(TimePoint now, const EngineConfig& config) {
  bytes_.clear();
  inputs_ = 0;
  full_ = false;
  journal::Writer writer(bytes_);
  writer.append(journal::kMagic.data(), journal::kMagic.size());
  journal::all(writer, config, now);
}

void Journal::saw(TimePoint now, const Input& input, std::span<const Action> decided) {
  if (full_) return;
  // Asked at each turn; without an outcome it changes nothing.
  if (decided.empty() && std::holds_alternative<input::TookShares>(input)) return;
  const std::size_t begin = bytes_.size();
  std::uint32_t size = 0;
  const std::uint64_t hash = journal::hash_of(decided, decided_);
  journal::Writer writer(bytes_);
  journal::all(writer, size, now, input, hash);
  if (bytes_.size() > most_) {
    bytes_.resize(begin);
    full_ = true;
    return;
  }
  size = static_cast<std::uint32_t>(bytes_.size() - begin - sizeof(size));
  std::memcpy(bytes_.data() + begin, &size, sizeof(size));
  ++inputs_;
}

}  // namespace stencil
