#include "fast/data/dataset.h"

#include <charconv>
#include <string>

#include "fast/data/cifar10.h"
#include "fast/data/mnist.h"
#include "fast/data/synthetic.h"
#include "fast/errors.h"

namespace fast {
namespace {

constexpr char kForms[] =
    "use synthetic[:TRAIN[,TEST]], cifar10:DIR or mnist:DIR, with counts from 1 to 1000000";
constexpr std::size_t kMaxSynthetic = 1'000'000;

enum class Kind { kSynthetic, kCifar10, kMnist };

struct Source {
  Kind kind = Kind::kSynthetic;
  std::size_t train = 8192, test = 2048;  ///< of synthetic
  std::string directory;                  ///< of the others
};

ConfigError bad_spec(std::string_view spec, const std::string& why) {
  return ConfigError("unknown data set '" + std::string(spec) + "': " + why, kForms);
}

std::size_t parse_count(std::string_view text, std::string_view spec) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1 ||
      value > kMaxSynthetic) {
    throw bad_spec(spec, "'" + std::string(text) + "' is no count");
  }
  return value;
}

Source parse_source(std::string_view spec) {
  const std::size_t colon = spec.find(':');
  const std::string_view name = spec.substr(0, colon);
  const bool has_rest = colon != std::string_view::npos;
  const std::string_view rest = has_rest ? spec.substr(colon + 1) : std::string_view{};
  Source source;
  if (name == "synthetic") {
    if (!has_rest) return source;
    const std::size_t comma = rest.find(',');
    source.train = parse_count(rest.substr(0, comma), spec);
    if (comma != std::string_view::npos) source.test = parse_count(rest.substr(comma + 1), spec);
    return source;
  }
  if (name == "cifar10") {
    source.kind = Kind::kCifar10;
  } else if (name == "mnist") {
    source.kind = Kind::kMnist;
  } else {
    throw bad_spec(spec, "there is none named '" + std::string(name) + "'");
  }
  if (rest.empty()) throw bad_spec(spec, "it lacks the directory");
  source.directory = rest;
  return source;
}

Dataset load(const Source& source, std::uint64_t seed) {
  switch (source.kind) {
    case Kind::kCifar10:
      return load_cifar10(source.directory);
    case Kind::kMnist:
      return load_mnist(source.directory);
    case Kind::kSynthetic:
      break;
  }
  return make_synthetic(source.train, source.test, seed);
}

}  // namespace

Dataset load_dataset(std::string_view spec, std::uint64_t seed) {
  Dataset data = load(parse_source(spec), seed);
  data.name = spec;
  return data;
}

ImageShape dataset_shape(std::string_view spec) {
  const Source source = parse_source(spec);
  switch (source.kind) {
    case Kind::kCifar10:
      check_cifar10_files(source.directory);
      return kCifar10Shape;
    case Kind::kMnist:
      return mnist_shape(source.directory);
    case Kind::kSynthetic:
      break;
  }
  return kSyntheticShape;
}

}  // namespace fast
