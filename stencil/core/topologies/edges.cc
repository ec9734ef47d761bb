#include "stencil/core/topologies/edges.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include "stencil/core/error.h"
#include "stencil/core/text.h"
#include "stencil/core/topologies/sides.h"
#include "stencil/core/topology.h"

namespace stencil::internal {

namespace {

using EdgeList = std::vector<std::pair<Rank, Rank>>;

constexpr std::size_t kMaxFileBytes = std::size_t{256} << 20;

constexpr const char* kRemedy =
    "write two ranks a line, e.g. '0 1', each edge once or in both directions; # begins a comment";

[[noreturn]] void refuse_line(const std::string& spec, std::size_t line, const std::string& cause) {
  throw ConfigError("topology " + in_quotes(spec) + ", line " + std::to_string(line) + ": " + cause,
                    kRemedy);
}

std::string_view take_word(std::string_view& line) {
  constexpr std::string_view kBlank = " \t\r\v\f";
  const auto begin = line.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return line = {};
  line.remove_prefix(begin);
  const auto word = line.substr(0, line.find_first_of(kBlank));
  line.remove_prefix(word.size());
  return word;
}

Rank parse_rank(std::string_view word, const std::string& spec, std::size_t line) {
  std::uint64_t rank = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), rank);
  const bool all_digits =
      std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!all_digits) refuse_line(spec, line, in_quotes(word) + " is not a rank");
  if (status != std::errc() || rank >= static_cast<std::uint64_t>(Topology::kMaxSize)) {
    refuse_line(spec, line,
                "rank " + in_quotes(word) + " is over the highest allowed, " +
                    std::to_string(Topology::kMaxSize - 1));
  }
  return static_cast<Rank>(rank);
}

/// The line's edge, smaller rank first; none for a blank line or a comment.
std::optional<std::pair<Rank, Rank>> parse_line(std::string_view text, const std::string& spec,
                                                std::size_t line) {
  text = text.substr(0, text.find('#'));
  const auto first = take_word(text);
  if (first.empty()) return std::nullopt;
  const auto second = take_word(text);
  if (second.empty()) refuse_line(spec, line, "only one rank, " + in_quotes(first));
  const auto surplus = take_word(text);
  if (!surplus.empty()) refuse_line(spec, line, in_quotes(surplus) + " follows the two ranks");

  const Rank a = parse_rank(first, spec, line);
  const Rank b = parse_rank(second, spec, line);
  if (a == b) refuse_line(spec, line, "rank " + std::to_string(a) + " cannot neighbour itself");
  return std::minmax(a, b);
}

EdgeList parse_lines(std::string_view text, const std::string& spec) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());

  EdgeList edges;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const auto length = text.find('\n');
    if (const auto edge = parse_line(text.substr(0, length), spec, line)) edges.push_back(*edge);
    if (static_cast<std::int64_t>(edges.size()) > kMaxEdges) {
      refuse_line(spec, line, "more than " + std::to_string(kMaxEdges) + " edges");
    }
    text.remove_prefix(length == std::string_view::npos ? text.size() : length + 1);
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

/// The lowest rank that no edge names. There is one whenever there are more ranks than the edges
/// can join.
Rank first_unnamed(const EdgeList& edges) {
  std::vector<Rank> named;
  named.reserve(2 * edges.size());
  for (const auto& [a, b] : edges) {
    named.push_back(a);
    named.push_back(b);
  }
  std::sort(named.begin(), named.end());
  named.erase(std::unique(named.begin(), named.end()), named.end());
  Rank expected = 0;
  for (const Rank rank : named) {
    if (rank != expected) break;
    ++expected;
  }
  return expected;
}

std::string read_edges_file(const std::string& path, std::string_view spec) {
  const auto fail = [&](const std::string& cause) {
    throw ConfigError("topology " + in_quotes(spec) + ": " + cause,
                      "name a readable text file with two ranks a line");
  };
  std::ifstream file(path, std::ios::binary);
  if (!file) fail("cannot open the file " + in_quotes(path));
  std::string text;
  std::vector<char> block(std::size_t{64} << 10);
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > kMaxFileBytes) {
      fail("the file is larger than " + std::to_string(kMaxFileBytes) + " bytes");
    }
  }
  if (file.bad()) fail("cannot read the file " + in_quotes(path));
  return text;
}

}  // namespace

Graph parse_edges(std::string_view text, const std::string& spec) {
  const EdgeList edges = parse_lines(text, spec);
  if (edges.empty()) {
    throw ConfigError("topology " + in_quotes(spec) + " has no edges",
                      std::string(kRemedy) + "; for a single worker use ring:1");
  }
  Rank highest = 0;
  for (const auto& edge : edges) highest = std::max(highest, edge.second);

  // This check comes before any allocation per rank: a file of one line may name rank 1,000,000.
  const Rank unnamed = first_unnamed(edges);
  if (unnamed <= highest) {
    throw ConfigError("topology " + in_quotes(spec) + " is disconnected: rank " +
                          std::to_string(unnamed) + " of 0.." + std::to_string(highest) +
                          " has no edge",
                      "number the workers 0 .. N-1 without gaps and join them all");
  }

  std::vector<std::vector<Rank>> neighbours(static_cast<std::size_t>(highest) + 1);
  for (const auto& [a, b] : edges) {
    neighbours[static_cast<std::size_t>(a)].push_back(b);
    neighbours[static_cast<std::size_t>(b)].push_back(a);
  }
  for (auto& list : neighbours) std::sort(list.begin(), list.end());
  Graph graph{{highest + 1}, std::move(neighbours), false, false};
  graph.irregular = true;
  return graph;
}

Graph make_edges(std::string_view arguments, std::string_view spec) {
  if (arguments.empty()) refuse(spec, "no file is named");
  return parse_edges(read_edges_file(std::string(arguments), spec), std::string(spec));
}

}  // namespace stencil::internal
