#include "stencil/runtime/link_book.h"

#include <algorithm>
#include <utility>

#include "stencil/core/error.h"

namespace stencil {
namespace {

/// Which of a neighbour's addresses to dial: the last one dialled, if it is still among them, and
/// the one after it once that was tried for long enough.
const PeerAddress& next_address(TimePoint now, const Connection& link,
                                const std::vector<PeerAddress>& addresses) {
  const auto current = std::ranges::find(addresses, link.address);
  if (current == addresses.end()) return addresses.front();
  const TimePoint since = std::max(link.dialled_at, link.lost_since);
  const bool stays = link.undiallable || now < since + LinkBook::kTryEach;
  const auto next = stays ? current : std::next(current);
  return next == addresses.end() ? addresses.front() : *next;
}

}  // namespace

LinkBook::LinkBook(Rank self, Edges& edges, Transport& transport, Resolver resolver, LogSink log)
    : self_(self),
      edges_(edges),
      transport_(transport),
      resolver_(std::move(resolver)),
      log_(std::move(log)) {}

TimePoint LinkBook::tend(TimePoint now) {
  if (now < next_dial_) return next_dial_;
  bool missing = false;
  for (auto& [rank, edge] : edges_) {
    Connection& link = edge.link;
    if (link.in_service != 0 || link.complain_at == TimePoint()) {
      link.lost_since = now;
      link.complain_at = now + kComplainAfter;
    }
    if (link.in_service != 0) continue;
    missing = true;
    tend_to(now, edge);
  }
  next_dial_ = missing ? now + kDialEvery : now + 4 * kDialEvery;
  return next_dial_;
}

void LinkBook::tend_to(TimePoint now, Edge& edge) {
  Connection& link = edge.link;
  const std::vector<PeerAddress> addresses = resolver_(edge.rank());
  if (!addresses.empty()) {
    const PeerAddress& address = next_address(now, link, addresses);
    const bool moved = link.address != address;
    if (moved || (link.dialled == 0 && !link.undiallable)) dial(now, edge, address);
  }
  if (now < link.complain_at || link.undiallable) return;
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(now - link.lost_since).count();
  log_(LogLevel::kWarning,
       "neighbour " + std::to_string(edge.rank()) + " not reached for " + std::to_string(seconds) +
           " s (" +
           (addresses.empty() ? std::string("waiting for it to dial us")
                              : "dialling " + link.address.endpoint) +
           "); still trying: is it started, and " +
           (link.address.key ? "are its address, port and key" : "are its address and port") +
           " right?");
  link.complain_at = now + kComplainAgain;
}

/// An address that cannot be dialled may come from a file that is being written: it is logged once,
/// and dialling continues when the address changes.
void LinkBook::dial(TimePoint now, Edge& edge, const PeerAddress& address) {
  hang_up(edge);
  edge.link.address = address;
  edge.link.dialled_at = now;
  edge.link.undiallable = false;
  try {
    edge.link.dialled = transport_.dial(address);
    dialled_[edge.link.dialled] = &edge;
  } catch (const ResourceError&) {
    // Treated like a neighbour out of reach: tried again, and logged if that lasts.
  } catch (const ConfigError& error) {
    edge.link.undiallable = true;
    log_(LogLevel::kWarning,
         "worker " + std::to_string(edge.rank()) + " cannot be dialled: " + error.what());
  }
}

void LinkBook::hang_up(Edge& edge) {
  if (edge.link.dialled == 0) return;
  transport_.drop(edge.link.dialled);
  dialled_.erase(edge.link.dialled);
  edge.link.dialled = 0;
}

void LinkBook::serve(Edge& edge, LinkId link) {
  served_.erase(edge.link.in_service);
  edge.link.in_service = link;
  if (link != 0) served_[link] = &edge;
}

Edge* LinkBook::served_by(LinkId link) const {
  const auto it = served_.find(link);
  return it == served_.end() ? nullptr : it->second;
}

Edge* LinkBook::dialled_for(LinkId link) const {
  const auto it = dialled_.find(link);
  return it == dialled_.end() ? nullptr : it->second;
}

Edge* LinkBook::dialled_up(LinkId link) {
  Edge* const dialled = dialled_for(link);
  if (dialled == nullptr) return nullptr;
  Edge& edge = *dialled;
  const LinkId serves = edge.link.in_service;
  const bool ours_stays = self_ > edge.rank();
  if (serves != 0 && serves != link && !ours_stays) {
    hang_up(edge);
    return nullptr;
  }
  serve(edge, link);
  return &edge;
}

bool LinkBook::accept(LinkId link, Edge& edge) {
  const Connection& now = edge.link;
  const bool ours_in_service = now.in_service != 0 && now.in_service == now.dialled;
  // Of two links of both ends' making, the one that the higher rank has dialled stays; but not one
  // whose end is silent, while its host is off, say: it has come back elsewhere.
  const bool silent =
      edge.neighbour.state == LinkState::kSuspect || edge.neighbour.state == LinkState::kGone;
  if (ours_in_service && self_ > edge.rank() && !silent) return false;
  if (ours_in_service) hang_up(edge);
  serve(edge, link);
  return true;
}

Edge* LinkBook::down(LinkId link) {
  Edge* const edge = served_by(link);
  if (edge == nullptr) return nullptr;
  serve(*edge, 0);
  next_dial_ = {};
  return edge;
}

void LinkBook::drop(Edge& edge) {
  const Connection& link = edge.link;
  if (link.in_service != 0 && link.in_service != link.dialled) transport_.drop(link.in_service);
  hang_up(edge);
  serve(edge, 0);
}

}  // namespace stencil
