#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace fast {

/// A peer template names an endpoint for every rank: {rank} stands for the rank, as often as it
/// occurs, and {{rank}} for the text {rank}.
///
/// Throws ConfigError for a template without {rank}; an empty one is none.
void check_peer_template(const std::string& pattern);
/// What stands for `text` in a template.
[[nodiscard]] std::string literal_in_template(const std::string& text);

/// Where neighbours are said to be. An endpoint "file:PATH" names a file that holds the endpoint
/// (as worker-K/endpoint does), and may not be there yet. Files are read by the caller's thread;
/// see PeersOnAThread.
class Peers {
 public:
  Peers(std::map<int, std::string> endpoints, std::string file, std::string pattern);

  /// The endpoint of `rank`, looked up anew; nothing while it is not known.
  [[nodiscard]] std::optional<std::string> find(int rank) const;
  /// find() reads a file for that.
  [[nodiscard]] bool in_file(int rank) const;

  /// The body of a peers file: lines "RANK ENDPOINT", # begins a comment. Lines that are neither
  /// are passed over. A parser of foreign bytes (see tests/fuzz).
  [[nodiscard]] static std::map<int, std::string> parse(std::string_view text);

 private:
  std::map<int, std::string> endpoints_;
  std::string file_;
  std::string pattern_;
};

/// The same for a thread that must not wait: files may lie on a network that hangs, so they are
/// read by a thread of their own, which is left to itself where nobody waits for it any more.
class PeersOnAThread {
 public:
  explicit PeersOnAThread(Peers peers);
  ~PeersOnAThread();
  PeersOnAThread(const PeersOnAThread&) = delete;
  PeersOnAThread& operator=(const PeersOnAThread&) = delete;

  /// What needs no file at once; else as found lately, and looked up anew for the next time.
  [[nodiscard]] std::optional<std::string> find(int rank);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
  bool started_ = false;
};

}  // namespace fast
