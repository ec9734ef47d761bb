#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "fast/errors.h"
#include "fast/model/carried_arrays.h"
#include "fast/session/session_impl.h"

namespace fast {
namespace {

/// Bytes; the same for all workers.
constexpr std::size_t kCarriedChunk = 64 * 1024;

}  // namespace

SessionRecord Session::Impl::first_record() {
  if (auto record = resuming_.load(adapter_)) {
    (void)values_.pull();
    follow_saved(record->changes);
    return *std::move(record);
  }
  return {};
}

/// The grid was given as it began, as it was saved, or as it has changed since.
void Session::Impl::follow_saved(const std::vector<stencil::Grid::Change>& saved) {
  const std::vector<stencil::Grid::Change> given = grid_.changes();
  const std::size_t both = std::min(given.size(), saved.size());
  if (!std::equal(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(both),
                  saved.begin())) {
    throw FileError(options_.resume + " is of another grid: the " + std::to_string(saved.size()) +
                        " changes that it holds and the " + std::to_string(given.size()) +
                        " of the given grid are not the same",
                    "give the grid as it was, or the topology alone");
  }
  for (std::size_t i = both; i < saved.size(); ++i) {
    try {
      grid_.repeat(saved[i]);
    } catch (const ConfigError& error) {
      throw FileError(options_.resume + " holds changes that its grid cannot have: " + error.what(),
                      "use a checkpoint that is not damaged");
    }
  }
}

stencil::Carried Session::Impl::carry() {
  std::vector<std::byte> bytes = carried_bytes(adapter_);
  if (!record_.resumed) record_.initial_hash = hash_of_start(values_.get(), bytes);
  return {std::move(bytes), kCarriedChunk};
}

void Session::Impl::join() {
  if (agreement_) {
    throw OrderError("the session is finished: its model is fixed",
                     "exchange before finish(), or open another session");
  }
  if (joined_ || over()) return;
  (void)await_model();
  joined_ = true;
  joined_at_ = EventLoop::now();
}

bool Session::Impl::await_start(const Background::Condition& begun) {
  const double deadline = options_.exchange.start_deadline;
  if (deadline > 0) return background_.await(deadline, begun);
  const std::string what = "to begin, for as long as it takes (" +
                           options_.naming("start_deadline") +
                           " 0); start the workers that are missing, or stop this one";
  return background_.await(Patience(EventLoop::now()), begun, [&](const PumpStatus& status) {
    options_.log(LogLevel::kInfo, waits_for(status, what));
  });
}

bool Session::Impl::await_model() {
  const bool first = !joined_;
  // Who comes to a grid that has changed is refused until its neighbours have made the change, too.
  const bool comes = config_.engine.grid.version > 0;
  const auto begun = [first, comes](const PumpStatus& s) {
    return s.joined || (first && !comes && !s.refused.empty());
  };
  bool ready = await_start(begun);
  PumpStatus status = background_.status();
  // Copying a large model over a thin link may take long; wait as long as it progresses.
  for (std::uint64_t copied = 0; !ready && !background_.stopped() && status.copied > copied;) {
    copied = status.copied;
    ready = await_start(begun);
    status = background_.status();
  }
  if (first && !status.joined && !status.refused.empty()) throw RefusedError(status.refused);
  if (!ready) begin_alone(status);
  if (!boundary_.adopts(status)) {
    if (first && !sync()) begin_first_step();
    return false;
  }
  record_.initial_hash = status.initial.hash;
  options_.log(LogLevel::kInfo, taken_over(status));
  boundary_.take_over(status, values_.pull(), progress_.scalars());
  means_.folded(/*heard=*/false, progress_.others());
  values_.push();
  fold_all();
  if (const auto bytes = carried_.taken()) set_carried(adapter_, *bytes);
  for (Resumable* const part : adapter_.parts()) part->model_replaced();
  publish();
  return true;
}

void Session::Impl::begin_first_step() {
  (void)boundary_.advance(values_.pull(), progress_.scalars());
  means_.folded(/*heard=*/false, progress_.others());
  values_.push();
}

void Session::Impl::begin_alone(const PumpStatus& status) {
  if (!joined_ && !background_.stopped() && !status.turned_away.empty()) {
    throw RefusedError("no neighbour was reached, and " + status.turned_away);
  }
  const std::string text = not_reached(status, options_);
  if (sync() && !background_.stopped()) throw DeadlineError(text);
  if (!background_.stopped()) {
    options_.log(LogLevel::kWarning, text + "; begins all the same");
  }
  boundary_.standing().stop_joining = true;
  publish();
  background_.flush([](const PumpStatus& s) { return s.joined; });
  boundary_.standing().stop_joining = false;
  publish();
}

}  // namespace fast
