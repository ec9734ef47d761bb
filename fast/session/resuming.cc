#include "fast/session/resuming.h"

#include <sstream>
#include <string>
#include <utility>

#include "fast/checkpoint/checkpoint.h"
#include "fast/errors.h"
#include "fast/options/terms.h"
#include "fast/run/atomic_file.h"
#include "fast/session/progress.h"
#include "stencil/core/byte_size.h"

namespace fast {
namespace {

constexpr char kSteps[] = "session/steps";
constexpr char kInitialHash[] = "session/initial_hash";
constexpr char kScalars[] = "session/scalars";
constexpr char kSaid[] = "session/said";
constexpr char kRank[] = "session/rank";
constexpr char kAgreed[] = "session/agreed";
constexpr char kChanges[] = "session/grid_changes";
constexpr char kListen[] = "session/grid_listen";
constexpr char kDataBytes[] = "session/data_bytes";
constexpr char kDataSeconds[] = "session/data_seconds";

/// Of each change the rank, the number of its neighbours, and these.
std::vector<std::int64_t> flat(const std::vector<stencil::Grid::Change>& changes) {
  std::vector<std::int64_t> all;
  for (const stencil::Grid::Change& change : changes) {
    all.push_back(change.rank);
    all.push_back(static_cast<std::int64_t>(change.neighbours.size()));
    all.insert(all.end(), change.neighbours.begin(), change.neighbours.end());
  }
  return all;
}

std::vector<stencil::Grid::Change> changes_of(const StateReader& state) {
  std::vector<stencil::Grid::Change> changes;
  if (!state.has(kChanges)) return changes;
  const std::vector<std::int64_t> all = state.values<std::int64_t>(kChanges);
  const auto no_rank = [](std::int64_t value) {
    return value < 0 || value >= stencil::Topology::kMaxSize;
  };
  for (std::size_t i = 0; i < all.size();) {
    const std::size_t left = all.size() - i;
    if (left < 2 || no_rank(all[i]) || all[i + 1] < 0 ||
        static_cast<std::uint64_t>(all[i + 1]) > left - 2) {
      throw FileError(state.origin() + " holds no changes of a grid in '" + kChanges + "'",
                      "use a checkpoint that is not damaged");
    }
    stencil::Grid::Change& change = changes.emplace_back();
    change.rank = static_cast<stencil::Rank>(all[i]);
    const std::size_t end = i + 2 + static_cast<std::size_t>(all[i + 1]);
    for (i += 2; i < end; ++i) {
      change.neighbours.push_back(no_rank(all[i]) ? stencil::kNoRank
                                                  : static_cast<stencil::Rank>(all[i]));
    }
  }
  return changes;
}

/// Nothing is used where the checkpoint was of a run without an allowance, or tells nonsense.
stencil::DataUsed data_of(const StateReader& state) {
  if (!state.has(kDataBytes) || !state.has(kDataSeconds)) return {};
  const auto seconds = state.value<double>(kDataSeconds);
  if (!(seconds >= 0)) return {};
  return {state.value<std::uint64_t>(kDataBytes), seconds};
}

/// A line of each: RANK ENDPOINT.
std::vector<std::uint8_t> bytes_of(const std::map<int, std::string>& listen) {
  std::string text;
  for (const auto& [rank, endpoint] : listen) {
    text += std::to_string(rank) + " " + endpoint + "\n";
  }
  return {text.begin(), text.end()};
}

std::map<int, std::string> listen_of(const StateReader& state) {
  std::map<int, std::string> listen;
  if (!state.has(kListen)) return listen;
  const std::vector<std::uint8_t> bytes = state.values<std::uint8_t>(kListen);
  std::istringstream lines(std::string(bytes.begin(), bytes.end()));
  int rank = 0;
  for (std::string endpoint; lines >> rank && lines.ignore() && std::getline(lines, endpoint);) {
    listen[rank] = endpoint;
  }
  return listen;
}

}  // namespace

void Resuming::begin() {
  if (options_.checkpoint.empty()) return;
  const std::filesystem::path folder = std::filesystem::path(options_.checkpoint).parent_path();
  if (!folder.empty()) make_writable_folder(folder);
  const std::string file = options_.checkpoint + ".lock";
  lock_ = LockFile::take(file);
  if (lock_) return;
  throw ConfigError("the checkpoint " + options_.checkpoint + " is that of " +
                        LockFile::holder_of(file) + ", too",
                    "give each worker its own: {rank} in the name stands for the rank");
}

void Resuming::check_terms(const stencil::Terms& saved, const std::string& file) const {
  const bool by_flags = options_.naming == stencil::as_flag;  // fast train's user has one more
  const std::string start_over = by_flags ? "start over (--fresh)" : "move it away to start over";
  const auto refuse = [&](const std::string& what, const std::string& there,
                          const std::string& here) {
    const std::string why = what == kBudgetTerm ? "; a budget may only grow" : "";
    throw FileError(
        file + " is of another run: " + what + " is " + there + " there, " + here + " here" + why,
        "go on with the options that it was saved with, use another folder, or " + start_over);
  };
  for (const stencil::Term& term : terms_) {
    const std::string there = stencil::value_of(saved, term.name);
    const bool length = term.name == kBudgetTerm;
    if (length && RunLength(term.value).is_longer_than(RunLength(there))) continue;
    if (there != term.value) refuse(term.name, there.empty() ? "not given" : there, term.value);
  }
}

std::optional<SessionRecord> Resuming::load(ModelAdapter& adapter) const {
  if (options_.resume.empty()) return std::nullopt;
  const auto checkpoint = Checkpoint::newest(options_.resume, options_.log);
  if (!checkpoint) {
    // Where it is this worker's own, this is the first start of the program.
    const bool own = options_.resume == options_.checkpoint;
    options_.log(own ? LogLevel::kInfo : LogLevel::kWarning,
                 "there is no checkpoint " + options_.resume + ": begins anew");
    return std::nullopt;
  }
  check_terms(checkpoint->terms(), checkpoint->name());
  const StateReader state = checkpoint->state();
  if (const auto rank = state.value<std::int64_t>(kRank); rank != options_.rank) {
    throw FileError(checkpoint->name() + " is of rank " + std::to_string(rank) + ", this is rank " +
                        std::to_string(options_.rank),
                    "give each rank its own checkpoint");
  }
  SessionRecord record{
      .resumed = true,
      .steps = state.value<std::uint64_t>(kSteps),
      .initial_hash = state.value<std::uint64_t>(kInitialHash),
      .scalars = state.values<double>(kScalars),
      .given = state.has(kSaid) ? state.values<double>(kSaid) : std::vector<double>(),
      .agreed = state.has(kAgreed) && state.value<std::uint8_t>(kAgreed) != 0,
      .changes = changes_of(state),
      .data = data_of(state),
      .listen = listen_of(state)};
  const RunLength before(stencil::value_of(checkpoint->terms(), kBudgetTerm));
  const RunLength now(stencil::value_of(terms_, kBudgetTerm));
  if (now.is_longer_than(before)) {
    record.agreed = false;  // on less than is wanted now
    if (now.in_samples()) Progress::lengthen(record.scalars, before.amount / now.amount);
    options_.log(LogLevel::kInfo, "trains longer: until " + stencil::value_of(terms_, kBudgetTerm) +
                                      " instead of " +
                                      stencil::value_of(checkpoint->terms(), kBudgetTerm));
  }
  load_model(adapter, state);
  options_.log(LogLevel::kInfo, "goes on from step " + std::to_string(record.steps) + " (" +
                                    checkpoint->name() + ")");
  return record;
}

bool Resuming::due(stencil::TimePoint now) {
  if (options_.checkpoint.empty()) return false;
  if (options_.save_now != nullptr && options_.save_now->exchange(false)) {
    options_.log(LogLevel::kInfo, "saves a checkpoint, as it was asked: " + options_.checkpoint);
    return true;
  }
  if (options_.checkpoint_every <= 0) return false;
  const stencil::Duration every = stencil::seconds(options_.checkpoint_every);
  if (!next_) next_ = now + every;
  if (now < *next_ || writer_.busy()) return false;
  next_ = now + every;
  return true;
}

bool Resuming::has_room(ModelAdapter& adapter) const {
  if (most_ == SIZE_MAX) return true;
  const std::size_t bytes = saved_bytes(adapter);
  if (bytes <= most_) return true;
  const std::string budget = options_.naming("memory_budget");
  options_.log(LogLevel::kError,
               "no checkpoint: its copy of the state takes " + stencil::bytes_text(bytes) +
                   ", and " + budget + " " + options_.exchange.memory_budget + " keeps " +
                   stencil::bytes_text(most_) + " for it; give a larger " + budget);
  return false;
}

void Resuming::save(const std::filesystem::path& file, ModelAdapter& adapter,
                    const SessionRecord& record) {
  if (!has_room(adapter)) return;
  StateWriter& state = writer_.begin();
  state.put(kRank, static_cast<std::int64_t>(options_.rank));
  state.put(kSteps, record.steps);
  state.put(kInitialHash, record.initial_hash);
  state.put(kScalars, std::span<const double>(record.scalars));
  if (!record.given.empty()) state.put(kSaid, std::span<const double>(record.given));
  state.put(kAgreed, static_cast<std::uint8_t>(record.agreed ? 1 : 0));
  if (!record.changes.empty()) {
    state.put(kChanges, std::span<const std::int64_t>(flat(record.changes)));
    state.put(kListen, std::span<const std::uint8_t>(bytes_of(record.listen)));
  }
  if (record.data.seconds > 0) {
    state.put(kDataBytes, record.data.bytes);
    state.put(kDataSeconds, record.data.seconds);
  }
  save_model(adapter, state);
  const bool own = file == std::filesystem::path(options_.checkpoint);
  writer_.write(file, terms_, {.steps = record.steps, .most = own ? options_.keep_checkpoints : 0});
}

}  // namespace fast
