#include "stencil/runtime/link_book.h"

#include <algorithm>
#include <utility>

#include "stencil/core/error.h"

namespace stencil {

LinkBook::LinkBook(Rank self, std::span<const Rank> neighbours, Transport& transport,
                   Resolver resolver, LogSink log)
    : self_(self), transport_(transport), resolver_(std::move(resolver)), log_(std::move(log)) {
  for (const Rank rank : neighbours) {
    Entry entry;
    entry.rank = rank;
    entries_.push_back(std::move(entry));
  }
}

LinkBook::Entry* LinkBook::find(Rank rank) {
  const auto it = std::ranges::find(entries_, rank, &Entry::rank);
  return it == entries_.end() ? nullptr : &*it;
}

TimePoint LinkBook::tend(TimePoint now) {
  if (!started_) {
    started_ = true;
    for (Entry& entry : entries_) {
      entry.lost_since = now;
      entry.complain_at = now + kComplainAfter;
    }
  }
  if (now < next_dial_) return next_dial_;
  bool missing = false;
  for (Entry& entry : entries_) {
    if (entry.in_service != 0) {
      entry.lost_since = now;
      entry.complain_at = now + kComplainAfter;
      continue;
    }
    missing = true;
    const std::optional<std::string> endpoint = resolver_(entry.rank);
    const bool moved = endpoint && entry.endpoint != *endpoint;
    if (moved || (endpoint && entry.dialled == 0 && !entry.undiallable)) dial(entry, *endpoint);
    if (now >= entry.complain_at && !entry.undiallable) {
      const auto seconds =
          std::chrono::duration_cast<std::chrono::seconds>(now - entry.lost_since).count();
      log_(LogLevel::kWarning,
           "neighbour " + std::to_string(entry.rank) + " not reached for " +
               std::to_string(seconds) + " s (" +
               (endpoint ? "dialling " + *endpoint : std::string("waiting for it to dial us")) +
               "); still trying: is it started, and its address and port right?");
      entry.complain_at = now + kComplainAgain;
    }
  }
  next_dial_ = missing ? now + kDialEvery : now + 4 * kDialEvery;
  return next_dial_;
}

/// What cannot be dialled may be a file of addresses that is just being written: it is named once,
/// and something else in its place is tried.
void LinkBook::dial(Entry& entry, const std::string& endpoint) {
  if (entry.dialled != 0) transport_.drop(entry.dialled);
  entry.dialled = 0;
  entry.endpoint = endpoint;
  entry.undiallable = false;
  try {
    entry.dialled = transport_.dial(endpoint);
  } catch (const ConfigError& error) {
    entry.undiallable = true;
    log_(LogLevel::kWarning,
         "worker " + std::to_string(entry.rank) + " cannot be dialled: " + error.what());
  }
}

std::optional<Rank> LinkBook::rank_of(LinkId link) const {
  const auto it = std::ranges::find(entries_, link, &Entry::in_service);
  return it == entries_.end() || link == 0 ? std::nullopt : std::optional(it->rank);
}

LinkId LinkBook::link_of(Rank rank) const {
  const auto it = std::ranges::find(entries_, rank, &Entry::rank);
  return it == entries_.end() ? 0 : it->in_service;
}

std::optional<Rank> LinkBook::dialled_up(LinkId link) {
  const auto it = std::ranges::find(entries_, link, &Entry::dialled);
  if (it == entries_.end()) return std::nullopt;
  const bool ours_stays = self_ > it->rank;
  if (it->in_service != 0 && it->in_service != link && !ours_stays) {
    transport_.drop(link);
    it->dialled = 0;
    return std::nullopt;
  }
  it->in_service = link;
  return it->rank;
}

bool LinkBook::accept(LinkId link, Rank rank) {
  Entry* entry = find(rank);
  if (entry == nullptr) return false;
  const bool ours_in_service = entry->in_service != 0 && entry->in_service == entry->dialled;
  if (ours_in_service && self_ > rank) return false;
  if (ours_in_service) {
    transport_.drop(entry->dialled);
    entry->dialled = 0;
  }
  entry->in_service = link;
  return true;
}

std::optional<Rank> LinkBook::down(LinkId link) {
  const auto it = std::ranges::find(entries_, link, &Entry::in_service);
  if (it == entries_.end() || link == 0) return std::nullopt;
  it->in_service = 0;
  next_dial_ = {};
  return it->rank;
}

}  // namespace stencil
