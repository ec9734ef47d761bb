#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "fast/options/environment.h"

namespace fast {

/// The service manager that started this process, systemd or another that speaks sd_notify(3), or
/// none, and then nothing is told. What cannot be told is left untold: a worker trains on without
/// its manager. One thread.
class ServiceManager {
 public:
  using Clock = std::chrono::steady_clock;

  /// NOTIFY_SOCKET names the manager's socket; WATCHDOG_USEC and WATCHDOG_PID tell whether, and how
  /// often, it wants signs of life.
  explicit ServiceManager(const Environment& environment);
  /// Tells that this process ends.
  ~ServiceManager();
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;

  /// The work goes on. The first one tells that the service has started; where the manager watches,
  /// it hears of it four times as often as it asks for. Cheap enough to be called at every step.
  void alive();
  /// A line for people, such as `systemctl status` shows.
  void status(const std::string& line);

 private:
  void tell(std::string_view news) const;

  std::string socket_;         ///< "": no manager
  Clock::duration every_{-1};  ///< between two signs of life; negative: none are asked for
  bool started_ = false;
  Clock::time_point told_;
};

}  // namespace fast
