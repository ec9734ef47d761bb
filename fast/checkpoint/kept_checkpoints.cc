#include "fast/checkpoint/kept_checkpoints.h"

#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <system_error>

#include "fast/errors.h"

namespace fast {
namespace {

namespace fs = std::filesystem;

/// The steps in a name that kept_checkpoint() made of `file`.
std::optional<std::uint64_t> steps_of(const fs::path& name, const fs::path& file) {
  const std::string text = name.filename().string(), begin = file.stem().string() + ".";
  const std::string end = file.extension().string();
  if (text.size() <= begin.size() + end.size() || !text.starts_with(begin) ||
      !text.ends_with(end)) {
    return std::nullopt;
  }
  std::uint64_t steps = 0;
  const char* const last = text.data() + text.size() - end.size();
  const auto [next, error] = std::from_chars(text.data() + begin.size(), last, steps);
  if (error != std::errc{} || next != last) return std::nullopt;
  return steps;
}

}  // namespace

fs::path kept_checkpoint(const fs::path& file, std::uint64_t steps) {
  fs::path kept = file;
  return kept.replace_extension("." + std::to_string(steps) + file.extension().string());
}

void keep_checkpoint(const fs::path& file, std::uint64_t steps, int most) {
  const fs::path kept = kept_checkpoint(file, steps);
  std::error_code error;
  fs::remove(kept, error);
  fs::create_hard_link(file, kept, error);
  if (error) {
    throw FileError(
        "cannot keep " + file.string() + " as " + kept.string() + ": " + error.message(),
        "use a file system that can give a file two names, or keep no more checkpoints");
  }
  std::map<std::uint64_t, fs::path> earlier;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const auto found = steps_of(entry.path(), file);
    if (found && *found <= steps) earlier[*found] = entry.path();
  }
  for (; earlier.size() > static_cast<std::size_t>(most); earlier.erase(earlier.begin())) {
    fs::remove(earlier.begin()->second, error);
  }
}

}  // namespace fast
