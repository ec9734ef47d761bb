#include "fast/session/session.h"

#include <chrono>
#include <cmath>
#include <utility>

#include "fast/model/carried_arrays.h"
#include "fast/options/mean_names.h"
#include "fast/options/peers.h"
#include "fast/options/terms.h"
#include "fast/run/model_file.h"
#include "fast/session/pump_options.h"
#include "fast/session/run_writer.h"
#include "fast/session/session_impl.h"
#include "fast/session/sharing.h"
#include "fast/session/status_of.h"

namespace fast {
namespace {

/// Throws where options are out of range, before anything uses them.
SessionOptions validated(SessionOptions options, const stencil::Grid* grid) {
  options.validate(grid == nullptr ? options.workers() : grid->ranks());
  if (grid != nullptr && (grid->spec() != options.topology || !grid->contains(options.rank))) {
    throw ConfigError("rank " + std::to_string(options.rank) + " of " + options.topology +
                          " has no place on the given grid, which began as " + grid->spec(),
                      "give the grid of this topology, with this worker added");
  }
  for (std::string* const path :
       {&options.checkpoint, &options.resume, &options.out, &options.record}) {
    *path = for_rank(*path, options.rank);
  }
  return options;
}

}  // namespace

Session::Impl::Impl(ModelAdapter& adapter, SessionOptions options, const stencil::Grid* grid)
    : adapter_(adapter),
      options_(validated(std::move(options), grid)),
      values_(adapter),
      layout_(adapter.parameters(),
              static_cast<std::size_t>(options_.exchange.bucket_kib) * 1024 / sizeof(float)),
      grid_(grid == nullptr ? stencil::Topology::parse(options_.topology) : *grid),
      resuming_(options_, make_terms(options_, grid_.topology(), layout_)),
      record_(first_record()),
      carried_(carry()),
      memory_(make_memory_budget(options_, grid_, layout_, adapter_, carried_)),
      means_(mean_names(options_.means, options_.naming("means")), grid_.size(), record_.given,
             record_.scalars.empty() ? 0 : record_.scalars.front()),
      progress_(grid_.size(), Aim{options_.budget, options_.epochs}, options_.data_size,
                record_.scalars, means_.size()),
      config_(make_pump_options(options_, grid_, layout_, record_.initial_hash, adapter_, carried_,
                                memory_.bounds, progress_.steps(), record_.resumed, record_.data)),
      mixer_(layout_, values_.get(), progress_.scalars(),
             make_segment(shares(options_.exchange, config_.engine), layout_, config_.engine,
                          options_.log),
             options_.exchange.mix_threads),
      boundary_(mixer_, options_.exchange, config_.engine.self_weight(), EventLoop::now),
      pause_(boundary_.pauses()),
      background_(options_, config_, memory_.bounds, layout_, mixer_, pause_, record_.listen) {
  show_means();
  mixer_.bound_scalars(progress_.most(config_.engine.most_progress));
  mixer_.follow(adapter_.followers());
  adapter_.on_ready([this](std::size_t first) {
    const auto inside = enter("ModelAdapter::ready_from()");
    ready_from(first);
  });
  adapter_.on_changing([this] {
    const auto inside = enter("ModelAdapter::changing()");
    changing();
  });
  adapter_.on_needed([this](std::size_t first, std::size_t count) {
    const auto inside = enter("ModelAdapter::needed()");
    needed(first, count);
  });
  if (memory_.allowed > 0) resuming_.keep_within(memory_.checkpoint);
  resuming_.begin();
}

void Session::Impl::save(const std::filesystem::path& file) {
  const TimePoint begun = EventLoop::now();
  changing();
  SessionRecord record = record_;
  record.steps = steps();
  record.changes = grid_.changes();
  record.scalars.assign(progress_.scalars().begin(), progress_.scalars().end());
  record.given = means_.given();
  record.data = background_.status().data;
  resuming_.save(file, adapter_, record);
  exchange_time_ += EventLoop::now() - begun;
}

void Session::Impl::save_model(const std::filesystem::path& file) {
  changing();
  fast::save_model(file, adapter_,
                   {{kRankKey, std::to_string(options_.rank)}, {kRunIdKey, options_.run_id}});
}

SessionStatus Session::Impl::status() const {
  const PumpStatus pump = background_.status();
  SessionStatus out = status_of(pump, EventLoop::now());
  out.counters["memory_held"] =
      pump.memory + memory_.copy + carried_.bytes() + resuming_.held() + memory_.beside;
  out.counters["memory_budget"] = memory_.allowed;
  out.mean_data_size = mean_data_size_;
  out.endpoint = background_.endpoint();
  for (std::size_t i = 0; i < shown_means_.size(); ++i) {
    const double mean = shown_means_[i];
    if (std::isfinite(mean)) out.means[means_.name(i)] = mean;
  }
  out.counters["non_finite_losses"] = non_finite_losses_;
  out.not_learnt = losses_.grown();
  out.likeness = boundary_.pauses().likeness(EventLoop::now());
  return out;
}

double Session::Impl::exchange_seconds() const {
  return std::chrono::duration<double>(exchange_time_).count();
}

Session::Session(ModelAdapter& adapter, SessionOptions options)
    : Session(adapter, std::move(options), nullptr) {}
Session::Session(ModelAdapter& adapter, SessionOptions options, const stencil::Grid& grid)
    : Session(adapter, std::move(options), &grid) {}
Session::Session(ModelAdapter& adapter, SessionOptions options, const stencil::Grid* grid)
    : impl_(std::make_unique<Impl>(adapter, std::move(options), grid)) {
  if (impl_->options().out.empty()) return;
  writer_ = std::make_unique<RunWriter>(impl_->options(), adapter, impl_->steps());
}
/// A forked child has no background thread and must not speak for its parent. The thread's work may
/// be half done at the fork, so the child touches none of it. The descriptors close when the child
/// ends or becomes another program.
Session::~Session() {
  if (impl_->process() != getpid()) {
    (void)writer_.release();
    (void)impl_.release();
  } else if (writer_) {
    writer_->close(*this);
  }
}

void Session::join() {
  const auto inside = impl_->enter("Session::join()");
  impl_->join();
  if (writer_) writer_->begin(*this);
}
void Session::exchange(const StepReport& report) {
  const auto inside = impl_->enter("Session::exchange()");
  if (!writer_) return impl_->exchange(report);
  join();
  impl_->exchange(report);
  const double before = std::exchange(written_seconds_, exchange_seconds());
  writer_->add(report, written_seconds_ - before, *this);
}
void Session::needed(std::size_t first, std::size_t count) {
  const auto inside = impl_->enter("Session::needed()");
  impl_->needed(first, count);
}
void Session::changing() {
  const auto inside = impl_->enter("Session::changing()");
  impl_->changing();
}
bool Session::done() const {
  const auto inside = impl_->enter("Session::done()");
  return impl_->done();
}
void Session::stop_all(std::string_view reason) {
  const auto inside = impl_->enter("Session::stop_all()");
  impl_->stop_all(reason);
  if (writer_) writer_->stop_all(reason);
}
double Session::progress() const {
  const auto inside = impl_->enter("Session::progress()");
  return impl_->fraction();
}
double Session::network_loss() const {
  const auto inside = impl_->enter("Session::network_loss()");
  return impl_->progress().loss();
}
double Session::mean(std::string_view name, std::optional<double> value) {
  const auto inside = impl_->enter("Session::mean()");
  const double mean = impl_->mean(name, value);
  if (value && std::isfinite(*value) && writer_) writer_->say(name, *value);
  return mean;
}
void Session::note_first_batch(std::uint64_t hash) {
  const auto inside = impl_->enter("Session::note_first_batch()");
  impl_->note_first_batch(hash);
}
Agreement Session::finish() {
  const auto inside = impl_->enter("Session::finish()");
  if (writer_) writer_->end_training(*this);
  const Agreement agreement = impl_->finish();
  if (writer_) writer_->finish(agreement, *this);
  return agreement;
}
void Session::add(int rank, const std::vector<int>& neighbours, const std::string& listen) {
  const auto inside = impl_->enter("Session::add()");
  impl_->add(rank, neighbours, listen);
}
void Session::remove(int rank) {
  const auto inside = impl_->enter("Session::remove()");
  impl_->remove(rank);
}
void Session::save_checkpoint(const std::filesystem::path& file) {
  const auto inside = impl_->enter("Session::save_checkpoint()");
  impl_->save(file);
}
void Session::save_model(const std::filesystem::path& file) {
  const auto inside = impl_->enter("Session::save_model()");
  impl_->save_model(file);
}
std::string Session::endpoint() const {
  return impl_->background().endpoint();
}
SessionStatus Session::status() const {
  return impl_->status();
}
double Session::exchange_seconds() const {
  const auto inside = impl_->enter("Session::exchange_seconds()");
  return impl_->exchange_seconds();
}
std::uint64_t Session::steps() const {
  const auto inside = impl_->enter("Session::steps()");
  return impl_->steps();
}
std::optional<int> Session::joined_from() const {
  return status().joined_from;
}
int Session::rank() const {
  return impl_->options().rank;
}
int Session::size() const {
  return impl_->size();
}

}  // namespace fast
