#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace fast {

/// A peer template gives an endpoint for every rank: each {rank} stands for the rank, and each
/// {{rank}} for the text {rank}.
///
/// What a template is for `rank`.
[[nodiscard]] std::string for_rank(std::string_view pattern, int rank);
/// Throws ConfigError for a template without {rank}. An empty pattern means no template.
void check_peer_template(const std::string& pattern);
/// `text` as it must be written in a template.
[[nodiscard]] std::string literal_in_template(const std::string& text);

/// The endpoints of neighbours as the options give them. An endpoint "file:PATH" names a file that
/// holds the endpoint (as worker-K/endpoint does) and may not exist yet. The caller's thread reads
/// files; see PeersOnAThread.
class Peers {
 public:
  Peers(std::map<int, std::string> endpoints, std::string file, std::string pattern);

  /// Looks up the endpoint of `rank`; nothing while it is not known.
  [[nodiscard]] std::optional<std::string> find(int rank) const;
  /// Whether find() reads a file for this rank.
  [[nodiscard]] bool in_file(int rank) const;

  /// Parses the body of a peers file: lines "RANK ENDPOINT"; # begins a comment. Skips other lines.
  /// The input is untrusted (see tests/fuzz).
  [[nodiscard]] static std::map<int, std::string> parse(std::string_view text);

 private:
  std::map<int, std::string> endpoints_;
  std::string file_;
  std::string pattern_;
};

/// The same for a thread that must not block. Files may lie on a network that hangs, so a detached
/// thread reads them; it outlives this object where a read hangs.
class PeersOnAThread {
 public:
  explicit PeersOnAThread(Peers peers);
  ~PeersOnAThread();
  PeersOnAThread(const PeersOnAThread&) = delete;
  PeersOnAThread& operator=(const PeersOnAThread&) = delete;

  /// Returns an endpoint that needs no file at once. Otherwise returns the one found last, and
  /// starts a new look-up for the next call.
  [[nodiscard]] std::optional<std::string> find(int rank);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
  bool started_ = false;
};

}  // namespace fast
