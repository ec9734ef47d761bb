#include "fast/programs/worker_questions.h"

#include <poll.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <system_error>
#include <utility>
#include <vector>

#include "fast/errors.h"
#include "fast/programs/launch/child_process.h"
#include "fast/run/safetensors.h"

namespace fast {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kDescribe[] = "--describe", kEvaluate[] = "--evaluate";
constexpr int kLookMilliseconds = 100;

/// A file that goes with this object.
struct PassingFile {
  explicit PassingFile(fs::path at) : path(std::move(at)) {}
  ~PassingFile() {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
  PassingFile(const PassingFile&) = delete;
  PassingFile& operator=(const PassingFile&) = delete;
  fs::path path;
};

/// The JSON object that the program prints at its end. Throws DataError where it prints none, with
/// the last line that it wrote instead.
json answer(const std::string& program, const std::vector<std::string>& question,
            const std::atomic<bool>& stop) {
  ChildProcess child(program, question, {});
  std::string output;
  while (!child.reap()) {
    if (stop) throw DataError("stopped on request", "evaluate it again with `fast report`");
    pollfd wait{.fd = child.descriptor(), .events = POLLIN, .revents = 0};
    poll(&wait, 1, kLookMilliseconds);
    output += child.read_output();
  }
  output += child.read_output();
  const std::size_t begin = output.rfind("\n{");
  const std::string last = output.substr(begin == output.npos ? 0 : begin + 1);
  json found = json::parse(last, nullptr, /*allow_exceptions=*/false);
  if (child.exit().ok() && found.is_object()) return found;
  const std::vector<std::string> lines = child.last_lines();
  throw DataError("worker program " + program + " does not answer " + question.front() + ": " +
                      (lines.empty() ? "it printed nothing" : lines.back()),
                  "build it with fast::worker_main of this version");
}

}  // namespace

void describe(const Models& models, std::ostream& out) {
  json datasets = json::array();
  for (const OwnDataset& own : models.datasets().own()) {
    datasets.push_back({{"name", own.name}, {"form", own.form}});
  }
  json names = json::array();
  for (const std::string_view name : models.names()) names.push_back(name);
  out << json{{"models", names}, {"datasets", datasets}}.dump() << '\n';
}

Models kinds_of(const std::string& program) {
  std::vector<ModelKind> models;
  std::vector<OwnDataset> datasets;
  try {
    const std::atomic<bool> never = false;
    const json found = answer(program, {kDescribe}, never);
    for (const json& name : found.at("models")) models.push_back({name.get<std::string>(), {}});
    for (const json& one : found.at("datasets")) {
      datasets.push_back({one.at("name"), one.at("form"), {}});
    }
  } catch (const DataError& error) {
    throw ConfigError(error.what(), "name another with --worker-program");
  } catch (const json::exception& error) {
    throw ConfigError(
        "worker program " + program + " answers " + kDescribe + " in other words: " + error.what(),
        "build it with fast::worker_main of this version");
  }
  return Models(std::move(models), Datasets(std::move(datasets)));
}

void evaluate_file(const std::string& file, const WorkerConfig& config, const Models& models,
                   std::ostream& out) {
  const SafetensorsFile saved = SafetensorsFile::open(file);
  std::vector<std::vector<std::byte>> bytes;
  std::vector<NamedTensor> tensors;
  for (const TensorView& tensor : saved.tensors()) {
    bytes.emplace_back(tensor.bytes.begin(), tensor.bytes.end());
    tensors.push_back({tensor.name, tensor.dtype, tensor.shape, bytes.back()});
  }
  const Dataset data = models.datasets().load(config.data, config.session.seed);
  const std::unique_ptr<Learner> learner = models.make(learner_options(config, data.spec));
  const TestResult result = evaluate_model(tensors, *learner, data, config.session.seed);
  save_safetensors(file, tensors);
  // JSON has no NaN: nlohmann writes null.
  json told = {{"accuracy", result.accuracy}, {"loss", result.loss}, {"chance", result.chance}};
  if (const auto value = result.measure.value) {
    told["measure"] = {{"name", result.measure.name}, {"value", *value}};
  }
  out << told.dump() << '\n';
}

TestResult evaluate_by(const std::string& program, const WorkerConfig& config,
                       std::span<const NamedTensor> tensors, const fs::path& folder,
                       const std::atomic<bool>& stop) {
  const PassingFile file(folder / "evaluated.safetensors");
  try {
    save_safetensors(file.path, tensors);
    const json found = answer(
        program,
        {kEvaluate, file.path.string(), "--model", config.model, "--data", config.data, "--loss",
         config.loss, "--seed", std::to_string(config.session.seed), "--threads", "1"},
        stop);
    const SafetensorsFile evaluated = SafetensorsFile::open(file.path);
    for (const NamedTensor& tensor : tensors) {
      const TensorView* const now = evaluated.find(tensor.name);
      if (now == nullptr || now->bytes.size() != tensor.bytes.size()) continue;
      std::ranges::copy(now->bytes, tensor.bytes.begin());
    }
    const auto number = [&found](const char* name) {
      const json& value = found.at(name);
      return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
    };
    TestResult result{number("accuracy"), number("loss"), number("chance")};
    if (found.contains("measure")) {
      const json& measure = found.at("measure");
      result.measure = {measure.at("name"), measure.at("value").get<double>()};
    }
    return result;
  } catch (const FileError& error) {
    throw DataError(error.what(), "evaluate it again with `fast report`");
  } catch (const json::exception& error) {
    throw DataError(
        "worker program " + program + " answers " + kEvaluate + " in other words: " + error.what(),
        "build it with fast::worker_main of this version");
  }
}

}  // namespace fast
