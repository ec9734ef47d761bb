#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fast/options/peers.h"
#include "fast/options/session_options.h"
#include "fast/session/batch_watch.h"
#include "fast/session/cadence.h"
#include "fast/session/data_watch.h"
#include "fast/session/edge_watch.h"
#include "fast/session/grid_change.h"
#include "fast/session/key_watch.h"
#include "fast/session/path_watch.h"
#include "fast/session/patience.h"
#include "fast/session/pause_wait.h"
#include "fast/session/recording.h"
#include "fast/session/sweep_watch.h"
#include "stencil/io/event_loop.h"
#include "stencil/runtime/budget.h"
#include "stencil/runtime/pump.h"
#include "stencil/shared/unix_meeting.h"
#include "stencil/threads/mutex.h"

namespace fast {

/// The background half of a session. It owns the network, the pump and the thread that turns the
/// pump, and it connects that thread with the training thread. The training thread passes its state
/// in by publish() and reads the pump's state by status() and the waits.
class Background {
 public:
  using Condition = std::function<bool(const stencil::PumpStatus&)>;

  /// Binds the address and starts the thread. `options`, `mixer`, `pause` and
  /// `config.carried` must outlive this. `bounds`: of the transport.
  /// Throws ConfigError (NetworkError for the address).
  /// `came`: endpoints of workers that came to the grid in an earlier life.
  Background(const SessionOptions& options, stencil::PumpOptions config,
             const stencil::Bounds& bounds, const stencil::Layout& layout, stencil::Mixer& mixer,
             PauseWait& pause, std::map<int, std::string> came = {});
  /// Leaves in good order: lets neighbours complete what is in flight (2 s at most), then sends
  /// Leave.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Training thread.

  /// Hands over what the training thread has done and wants, and wakes the background thread.
  void publish(const stencil::Standing& standing);
  /// Hands over a change of the grid. The next turn makes it.
  void change(GridChange change);
  /// Of the grid as it is now, from the next turn on. Any thread.
  void set_settle_threshold(double threshold);
  /// Waits until the status fulfils `condition`. Returns false at the deadline (in seconds) or when
  /// the user wants to stop. Throws where the background thread has failed.
  bool await(double deadline, const Condition& condition);
  /// Waits likewise for others, with patience. Calls `waits` once where that takes long.
  bool await(Patience patience, const Condition& condition,
             const std::function<void(const stencil::PumpStatus&)>& waits);
  /// The short waits of an orderly end, which stopping does not cut off.
  void flush(const Condition& condition);
  /// Throws where the background thread has failed.
  void rethrow_failure() const;
  [[nodiscard]] bool failed() const { return failed_; }
  /// The user wants to stop, or to pause: no wait goes on.
  [[nodiscard]] bool stopped() const {
    return (options_.stop != nullptr && *options_.stop) || pausing();
  }
  /// The user wants to pause, and not to stop.
  [[nodiscard]] bool pausing() const {
    const bool stop = options_.stop != nullptr && *options_.stop;
    return options_.pause != nullptr && *options_.pause && !stop;
  }
  /// The Leave at the end says that this worker intends to come back.
  void will_return() { returns_ = true; }

  /// Whether the network's model of this worker is not the training thread's: a neighbour's model
  /// is being adopted, or models were adopted more than `known` times.
  [[nodiscard]] bool adopts(std::uint64_t known) const { return joining_ || adopted_ != known; }

  // Any thread.

  [[nodiscard]] const std::string& endpoint() const { return endpoint_; }
  [[nodiscard]] stencil::PumpStatus status() const;

 private:
  enum class Verdict { kWait, kTell, kGiveUp };
  /// `judge(now, status)`, called under the lock, tells whether to wait on; kTell calls `tell`
  /// without the lock before that.
  template <typename Judge>
  bool wait(Judge judge, const Condition& condition, bool heed_stop,
            const std::function<void(const stencil::PumpStatus&)>& tell = {});
  /// A judge that gives up then.
  [[nodiscard]] static auto until_time(stencil::TimePoint until);
  void fail(const std::string& what) FAST_REQUIRES(loop_) FAST_EXCLUDES(mutex_);

  // Background thread.
  [[nodiscard]] std::vector<stencil::PeerAddress> addresses_of(stencil::Rank rank)
      FAST_REQUIRES(loop_);
  void report_unresolved(const std::string& name, const std::string& error) FAST_REQUIRES(loop_);
  stencil::TimePoint turn(stencil::TimePoint now) FAST_REQUIRES(loop_);
  void make(stencil::TimePoint now, const GridChange& change) FAST_REQUIRES(loop_);
  void watch_sweeps(stencil::TimePoint now, const stencil::PumpStatus& status, std::uint64_t step)
      FAST_REQUIRES(loop_);
  void watch_codec(const stencil::PumpStatus& status) FAST_REQUIRES(loop_);

  stencil::EventLoop loop_;  ///< first: the transport's destructor still needs it

  // Constant after construction.
  const SessionOptions& options_;
  std::string endpoint_;

  // Background thread, once the loop has started.
  PeersOnAThread peers_ FAST_GUARDED_BY(loop_);
  std::map<int, std::string> came_ FAST_GUARDED_BY(loop_);   ///< endpoints of who came to the grid
  std::unique_ptr<KeyWatch> keys_ FAST_GUARDED_BY(loop_);    ///< null: no keys are in use
  stencil::Complaints complaints_ FAST_GUARDED_BY(loop_);    ///< of the transport
  std::set<std::string> unresolved_ FAST_GUARDED_BY(loop_);  ///< names, as logged
  std::unique_ptr<stencil::Transport> transport_ FAST_GUARDED_BY(loop_);
  /// Null: nothing is shared.
  std::unique_ptr<stencil::UnixMeeting> meeting_ FAST_GUARDED_BY(loop_);
  std::optional<stencil::Watch> meeting_watch_ FAST_GUARDED_BY(loop_);
  Recording recording_ FAST_GUARDED_BY(loop_);
  std::unique_ptr<stencil::Pump> pump_ FAST_GUARDED_BY(loop_);
  Cadence shown_ FAST_GUARDED_BY(loop_);  ///< of status_
  SweepWatch sweep_watch_ FAST_GUARDED_BY(loop_);
  EdgeWatch edge_watch_ FAST_GUARDED_BY(loop_);
  PathWatch path_watch_ FAST_GUARDED_BY(loop_);
  BatchWatch batch_watch_ FAST_GUARDED_BY(loop_);
  DataWatch data_watch_ FAST_GUARDED_BY(loop_);
  /// Whether the codec has anything to do has been decided.
  bool codec_watched_ FAST_GUARDED_BY(loop_) = false;

  // Provides its own locking.
  stencil::Mixer& mixer_;
  PauseWait& pause_;

  std::atomic<bool> leave_{false}, left_{false}, watched_{false}, returns_{false};
  std::atomic<bool> joining_{true};        ///< as of status_
  std::atomic<std::uint64_t> adopted_{0};  ///< likewise
  std::atomic<bool> failed_{false};        ///< the background thread has ended with an error

  mutable stencil::Mutex mutex_;
  stencil::Condition changed_;
  stencil::Standing standing_ FAST_GUARDED_BY(mutex_);
  std::vector<GridChange> changes_ FAST_GUARDED_BY(mutex_);         ///< handed over, not made yet
  std::optional<double> settle_threshold_ FAST_GUARDED_BY(mutex_);  ///< likewise
  stencil::PumpStatus status_ FAST_GUARDED_BY(mutex_);
  std::string failure_ FAST_GUARDED_BY(mutex_);
};

}  // namespace fast
