#include "adapters/c/fast.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "adapters/c/handle.h"
#include "fast/error_text.h"
#include "fast/options/environment.h"
#include "fast/options/rank.h"
#include "fast/options/session_option_fields.h"
#include "fast/options/set_option.h"
#include "fast/run/model_file.h"
#include "fast/session/exit_code.h"
#include "fast/version.h"
#include "stencil/core/option_text.h"
#include "stencil/core/topology.h"

using fast::ConfigError;

namespace {

fast_code code_of(const std::exception& error) {
  return static_cast<fast_code>(fast::exit_code(error));
}

/// Runs `body` and keeps its exception as the session's error.
template <typename Body>
fast_code guarded(fast_session* session, Body body) noexcept {
  if (session == nullptr) return FAST_USAGE;
  try {
    body();
    return FAST_OK;
  } catch (const std::exception& error) {
    try {
      session->error = fast::error_text(error);
    } catch (...) {
      session->error.assign("out of memory");  // too short to need any
    }
    return code_of(error);
  }
}

/// The same for a session that is not open yet.
template <typename Body>
fast_code before_open(fast_session* session, Body body) noexcept {
  return guarded(session, [&] {
    if (session->session) {
      throw ConfigError("the session is open already", "call this before fast_open()");
    }
    body();
  });
}

/// The same for an open session, which `body` gets.
template <typename Body>
fast_code once_open(fast_session* session, Body body) noexcept {
  return guarded(session, [&] {
    if (!session->session) throw ConfigError("the session is not open", "call fast_open() first");
    if (session->process != getpid()) {
      throw ConfigError("the session belongs to process " + std::to_string(session->process) +
                            ", of which this one is a child",
                        "open a session of its own after fork()");
    }
    body(*session->session);
  });
}

/// A place among all elements, or a number of them, as sizes are counted here: where that is in 32
/// bits, what is beyond every array stays beyond.
std::size_t counted(uint64_t elements) {
  return static_cast<std::size_t>(
      std::min<uint64_t>(elements, std::numeric_limits<std::size_t>::max()));
}

/// The result of `get` for an open session; else `otherwise`.
template <typename Get, typename T>
T told(const fast_session* session, T otherwise, Get get) noexcept {
  return session != nullptr && session->session ? get(*session->session) : otherwise;
}

void require(bool given, const char* what) {
  if (!given) throw ConfigError(std::string("no ") + what + " (NULL)", "pass one");
}

/// Whoever has forgotten the topology would train alone, with a result that looks well.
void tell_of_no_topology(const fast_session& session) {
  const std::string variable = fast::environment_name("topology");
  if (session.given.contains(variable)) return;
  if (session.by_environment && !fast::read_environment(variable).value_or("").empty()) return;
  session.options.log(fast::LogLevel::kWarning,
                      "no topology is given: this worker trains alone. To train with others, start "
                      "them by 'fast run --topology ring:2 -- PROGRAM', or give each topology and "
                      "rank; topology ring:1 says that it is meant to be alone");
}

}  // namespace

const char* fast_version(void) {
  return FAST_VERSION;
}

fast_session* fast_new(void) {
  try {
    auto session = std::make_unique<fast_session>();
    session->error.reserve(64);
    return session.release();
  } catch (const std::exception&) {
    return nullptr;
  }
}

void fast_close(fast_session* session) {
  if (session == nullptr) return;
  if (session->session && session->process != getpid()) {
    // A child of fork() has a copy of this memory, and none of the threads that it is shared with.
    (void)session->session.release();
    return;
  }
  delete session;
}

const char* fast_error(const fast_session* session) {
  return session == nullptr ? "no session; fast_new() makes one" : session->error.c_str();
}

fast_code fast_set(fast_session* session, const char* key, const char* value) {
  return before_open(session, [&] {
    require(key != nullptr && value != nullptr, "option or value");
    fast::set_option(session->options, key, value);
    session->given.insert(fast::environment_name(key));
  });
}

fast_code fast_set_from_environment(fast_session* session) {
  return before_open(session, [&] {
    const auto unless_given = [&](const std::string& name) {
      const std::optional<std::string> found = fast::read_environment(name);
      if (!session->given.contains(name)) return found;
      // Whoever started this process has started as many as its topology has ranks.
      const std::string& topology = session->options.topology;
      if (name == fast::environment_name("topology") && found && *found != topology) {
        throw ConfigError(
            "the program gives the topology " + topology + ", and " + name + " is " + *found,
            "give both the same, or leave it out of the program");
      }
      return std::optional<std::string>();
    };
    session->options = fast::with_environment(session->options, unless_given, fast::host_name(),
                                              session->given.contains("FAST_RANK"));
    session->by_environment = true;
  });
}

fast_code fast_options(const fast_session* session, fast_option_visitor visit, void* context) {
  if (session == nullptr || visit == nullptr) return FAST_USAGE;
  try {
    const auto tell = [&](const auto& field, const auto& value) {
      visit(context, std::string(field.key).c_str(), stencil::option_text(value).c_str(),
            field.help.c_str());
    };
    visit_fields(session->options, tell);
    return FAST_OK;
  } catch (const std::exception& error) {
    return code_of(error);
  }
}

int32_t fast_workers(const fast_session* session) {
  if (session == nullptr) return -1;
  try {
    return stencil::Topology::parse(session->options.topology).size();
  } catch (const std::exception&) {
    return -1;
  }
}

fast_code fast_set_log(fast_session* session, fast_log log, void* context) {
  return before_open(session, [&] {
    session->options.log = [log, context](fast::LogLevel level, std::string_view line) {
      if (log != nullptr)
        log(context, static_cast<fast_log_level>(level), std::string(line).c_str());
    };
  });
}

fast_code fast_set_waiting(fast_session* session, fast_waiting waiting, void* context) {
  return before_open(session, [&] {
    session->options.waiting = {};
    if (waiting != nullptr) session->options.waiting = [waiting, context] { waiting(context); };
  });
}

fast_code fast_array(fast_session* session, fast_role role, const char* name, const char* type,
                     size_t rank, const int64_t* shape, void* memory) {
  return before_open(session, [&] {
    session->arrays.push_back(fast::c::array(role, name, type, rank, shape, memory));
  });
}

fast_code fast_array_alias(fast_session* session, const char* name, size_t array) {
  return before_open(session, [&] {
    require(name != nullptr, "name");
    session->aliases.emplace_back(name, array);
  });
}

fast_code fast_set_averages(fast_session* session, float* memory) {
  return before_open(session, [&] { session->averages = memory; });
}

fast_code fast_set_transfers(fast_session* session, fast_transfer pull, fast_transfer push,
                             void* context) {
  return before_open(
      session, [&] { session->transfers = {.pull = pull, .push = push, .context = context}; });
}

fast_code fast_set_state(fast_session* session, fast_save_state save, fast_load_state load,
                         void* context) {
  return before_open(session, [&] { session->state.keep(save, load, context); });
}

fast_code fast_set_model_replaced(fast_session* session, fast_model_replaced replaced,
                                  void* context) {
  return before_open(session, [&] { session->state.tell(replaced, context); });
}

fast_code fast_open(fast_session* session) {
  return before_open(session, [&] {
    fast::SessionOptions options = session->options;
    options.stop = &session->stop;
    if (session->by_environment) fast::tell_unknown_variables(options.log);
    tell_of_no_topology(*session);
    auto adapter = std::make_unique<fast::c::TransferAdapter>(session->arrays, session->transfers,
                                                              session->averages);
    for (const auto& [name, array] : session->aliases) adapter->alias(name, array);
    adapter->attach(session->state);
    auto opened = std::make_unique<fast::Session>(*adapter, std::move(options));
    session->endpoint = opened->endpoint();
    session->process = getpid();
    session->adapter = std::move(adapter);
    session->session = std::move(opened);
  });
}

fast_code fast_join(fast_session* session) {
  return once_open(session, [](fast::Session& open) { open.join(); });
}

fast_code fast_exchange(fast_session* session, uint64_t samples, double loss) {
  const auto known = loss == FAST_NO_LOSS ? std::nullopt : std::optional(loss);
  return once_open(
      session, [&](fast::Session& open) { open.exchange({.samples = samples, .loss = known}); });
}

fast_code fast_array_moved(fast_session* session, size_t array, void* memory) {
  return once_open(session, [&](fast::Session& one) {
    one.changing();
    session->adapter->move(array, memory);
  });
}

fast_code fast_ready_from(fast_session* session, uint64_t first) {
  return once_open(session, [&](fast::Session&) { session->adapter->ready_from(counted(first)); });
}

fast_code fast_needed(fast_session* session, uint64_t first, uint64_t count) {
  return once_open(session,
                   [&](fast::Session& one) { one.needed(counted(first), counted(count)); });
}

fast_code fast_changing(fast_session* session) {
  return once_open(session, [](fast::Session& one) { one.changing(); });
}

fast_code fast_momentum(fast_session* session, size_t array, void* momentum, double rate,
                        double decay, double share) {
  return once_open(session, [&](fast::Session& one) {
    if (!(rate >= 0 && decay >= 0 && decay <= 1 && share >= 0 && share <= 1)) {
      throw ConfigError("momentum of rate " + stencil::option_text(rate) + ", decay " +
                            stencil::option_text(decay) + ", share " + stencil::option_text(share),
                        "give a rate of 0 or more, and numbers from 0 to 1");
    }
    one.changing();
    session->adapter->follow(array, momentum, {.rate = rate, .decay = decay, .share = share});
  });
}

fast_code fast_mean(fast_session* session, const char* name, double value, double* mean) {
  return once_open(session, [&](fast::Session& open) {
    require(name != nullptr, "name");
    const double found = open.mean(name, value);
    if (mean != nullptr) *mean = found;
  });
}

fast_code fast_note_first_batch(fast_session* session, uint64_t hash) {
  return once_open(session, [&](fast::Session& open) {
    if (hash == 0) throw ConfigError("the hash of a batch is 0", "give one that is not");
    open.note_first_batch(hash);
  });
}

fast_code fast_finish(fast_session* session, int* agreed) {
  return once_open(session, [&](fast::Session& open) {
    const bool all_agree = open.finish() == fast::Agreement::kAgreed;
    if (agreed != nullptr) *agreed = all_agree ? 1 : 0;
  });
}

fast_code fast_save_model(fast_session* session, const char* path) {
  return once_open(session, [&](fast::Session& open) {
    require(path != nullptr, "path");
    open.save_model(path);
  });
}

fast_code fast_save_checkpoint(fast_session* session, const char* path) {
  return once_open(session, [&](fast::Session& open) {
    require(path != nullptr, "path");
    open.save_checkpoint(path);
  });
}

fast_code fast_stop_all(fast_session* session, const char* reason) {
  return once_open(session, [&](fast::Session& open) {
    require(reason != nullptr, "reason");
    open.stop_all(reason);
  });
}

void fast_stop(fast_session* session) {
  if (session != nullptr) session->stop = true;
}

int fast_done(const fast_session* session) {
  if (session != nullptr && session->stop) return 1;
  return told(session, 0, [](const fast::Session& open) { return open.done() ? 1 : 0; });
}

double fast_progress(const fast_session* session) {
  return told(session, 0.0, [](const fast::Session& open) { return open.progress(); });
}

double fast_loss(const fast_session* session) {
  return told(session, std::nan(""), [](const fast::Session& open) { return open.network_loss(); });
}

uint64_t fast_steps(const fast_session* session) {
  return told(session, uint64_t{0}, [](const fast::Session& open) { return open.steps(); });
}

double fast_exchange_seconds(const fast_session* session) {
  return told(session, 0.0, [](const fast::Session& open) { return open.exchange_seconds(); });
}

const char* fast_endpoint(const fast_session* session) {
  return session == nullptr ? "" : session->endpoint.c_str();
}
