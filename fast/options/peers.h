#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "stencil/core/types.h"

namespace fast {

/// How an endpoint begins that is the name of a file.
inline constexpr std::string_view kFileScheme = "file:";

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

  struct Found {
    std::optional<std::string> endpoint;  ///< nothing while it is not known
    /// What is wrong with the peers file, for the log; "" for nothing. Nothing where it was not
    /// read.
    std::optional<std::string> trouble;
  };
  /// Looks up the endpoint of `rank`.
  [[nodiscard]] Found look(int rank) const;
  [[nodiscard]] std::optional<std::string> find(int rank) const { return look(rank).endpoint; }
  /// Whether find() reads a file for this rank.
  [[nodiscard]] bool in_file(int rank) const;

  /// Parses the body of a peers file: lines "RANK ENDPOINT"; # begins a comment. Skips other lines,
  /// and puts "NUMBER: 'LINE'" of the first into `skipped`, where that is given. The input is
  /// untrusted (see tests/fuzz).
  [[nodiscard]] static std::map<int, std::string> parse(std::string_view text,
                                                        std::string* skipped = nullptr);

 private:
  std::map<int, std::string> endpoints_;
  std::string file_;
  std::string pattern_;
};

/// The same for a thread that must not block. Files may lie on a network that hangs, so a detached
/// thread reads them; it outlives this object where a read hangs. find() logs what is wrong with
/// the peers file: at the first look and whenever that changes.
class PeersOnAThread {
 public:
  PeersOnAThread(Peers peers, stencil::LogSink log);
  ~PeersOnAThread();
  PeersOnAThread(const PeersOnAThread&) = delete;
  PeersOnAThread& operator=(const PeersOnAThread&) = delete;

  /// Returns an endpoint that needs no file at once. Otherwise returns the one found last, and
  /// starts a new look-up for the next call.
  [[nodiscard]] std::optional<std::string> find(int rank);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
  stencil::LogSink log_;
  std::string trouble_;  ///< as logged last
  bool started_ = false;
};

}  // namespace fast
