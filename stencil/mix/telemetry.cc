#include "stencil/mix/telemetry.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace stencil::telemetry {
namespace {

double load(std::span<const std::byte> bytes, std::size_t i) {
  double value;
  std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
  return value;
}

void store(std::span<std::byte> bytes, std::size_t i, double value) {
  std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
}

/// Moves scalar `i` by `delta` and returns by how much: 0 where that is not finite, or goes beyond
/// the bound, which is counted in `refused`.
double move_scalar(const Scalars& ours, std::size_t i, double delta, std::size_t& refused) {
  if (!std::isfinite(delta)) return 0;
  const double z = ours.y[i] + ours.p[i];
  if (std::abs(z + delta) > std::max(ours.most[i], std::abs(z))) {
    ++refused;
    return 0;
  }
  ours.p[i] += delta;
  return delta;
}

}  // namespace

void fold(std::span<double> x, std::span<double> y, std::span<double> p) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] += p[i];
    y[i] = x[i];
    p[i] = 0;
  }
}

void offer(std::span<const double> y, std::span<const double> p, std::span<std::byte> out) {
  for (std::size_t i = 0; i < y.size(); ++i) store(out, i, y[i] + p[i]);
}

std::size_t answer(const Scalars& ours, std::span<const std::byte> s, int divisor,
                   std::span<std::byte> reply) {
  std::size_t refused = 0;
  for (std::size_t i = 0; i < ours.p.size(); ++i) {
    const double d = (load(s, i) - (ours.y[i] + ours.p[i])) / divisor;
    store(reply, i, move_scalar(ours, i, d, refused));
  }
  return refused;
}

std::size_t complete(const Scalars& ours, std::span<const std::byte> d) {
  std::size_t refused = 0;
  for (std::size_t i = 0; i < ours.p.size(); ++i) move_scalar(ours, i, -load(d, i), refused);
  return refused;
}

std::size_t merge(const Scalars& ours, std::span<const std::byte> our_offer,
                  std::span<const std::byte> their_offer) {
  std::size_t refused = 0;
  for (std::size_t i = 0; i < ours.p.size(); ++i) {
    move_scalar(ours, i, 0.5 * (load(their_offer, i) - load(our_offer, i)), refused);
  }
  return refused;
}

std::size_t adopt(const Scalars& ours, std::span<const std::byte> s) {
  std::size_t refused = 0;
  for (std::size_t i = 0; i < ours.p.size(); ++i) {
    const double value = load(s, i);
    if (!std::isfinite(value)) continue;
    if (std::abs(value) > ours.most[i]) {
      ++refused;
    } else {
      ours.p[i] = value - ours.y[i];
    }
  }
  return refused;
}

std::size_t absorb(const Scalars& ours, std::span<const std::byte> s, double weight) {
  std::size_t refused = 0;
  for (std::size_t i = 0; i < ours.p.size(); ++i) {
    double value = load(s, i);
    if (!std::isfinite(value)) continue;
    if (std::abs(value) > ours.most[i]) {
      ++refused;
      value = ours.y[i];
    }
    ours.p[i] += weight * value;
  }
  return refused;
}

}  // namespace stencil::telemetry
