#include "fast/checkpoint/checkpoint.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "fast/errors.h"

namespace fast {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kFormatKey[] = "format";
constexpr char kTermsKey[] = "terms";

stencil::Terms parse_terms(const std::string& text) {
  stencil::Terms terms;
  const json parsed = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_array()) return terms;
  for (const json& term : parsed) {
    if (!term.is_array() || term.size() != 2 || !term[0].is_string() || !term[1].is_string()) {
      return {};
    }
    terms.push_back({term[0].get<std::string>(), term[1].get<std::string>()});
  }
  return terms;
}

}  // namespace

fs::path previous_checkpoint(const fs::path& file) {
  fs::path previous = file;
  previous.replace_extension(".previous" + file.extension().string());
  return previous;
}

void write_checkpoint(const fs::path& file, std::span<const NamedTensor> tensors,
                      const stencil::Terms& terms) {
  json list = json::array();
  for (const stencil::Term& term : terms) list.push_back({term.name, term.value});
  save_safetensors(file, tensors,
                   {{kFormatKey, kCheckpointFormat},
                    {kTermsKey, list.dump(-1, ' ', false, json::error_handler_t::replace)}},
                   [&file] {
                     std::error_code none_yet;
                     fs::rename(file, previous_checkpoint(file), none_yet);
                   });
}

CheckpointContent parse_checkpoint(std::span<const std::byte> file, const std::string& name) {
  SafetensorsContent content = parse_safetensors(file, name);
  const auto fail = [&](const char* why) {
    throw FileError(name + " is no checkpoint of a run: " + why,
                    "it is damaged or something else: use the one before, or start over");
  };
  const auto find = [&](const char* key) -> const std::string& {
    const auto it = content.metadata.find(key);
    if (it == content.metadata.end()) fail("its header lacks a checkpoint's metadata");
    return it->second;
  };
  if (find(kFormatKey) != kCheckpointFormat) fail("it is of another format");
  stencil::Terms terms = parse_terms(find(kTermsKey));
  if (terms.empty()) fail("its terms cannot be read");
  (void)find(kChecksumKey);
  if (!intact(content)) fail("its checksum is wrong");
  return {std::move(terms), std::move(content.tensors)};
}

Checkpoint::Checkpoint(const fs::path& file)
    : file_(SafetensorsFile::open(file)),
      content_(parse_checkpoint(file_.bytes(), file.string())) {}

std::optional<Checkpoint> Checkpoint::newest(const fs::path& file, const stencil::LogSink& log) {
  std::optional<FileError> damaged;
  for (const fs::path& candidate : {file, previous_checkpoint(file)}) {
    std::error_code ignored;
    if (!fs::exists(candidate, ignored)) continue;
    try {
      Checkpoint checkpoint(candidate);
      if (damaged) {
        log(stencil::LogLevel::kWarning,
            std::string(damaged->what()) + "; going on from the one before, " + candidate.string());
      }
      return checkpoint;
    } catch (const FileError& error) {
      if (!damaged) damaged = error;
    }
  }
  if (damaged) throw *damaged;
  return std::nullopt;
}

}  // namespace fast
