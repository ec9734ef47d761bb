#pragma once

#include <cstddef>
#include <span>

/// The edge-delta and lock-step rules for a few float64 scalars. They are raw little-endian on the
/// wire. Each scalar is checked by itself, so that one bad number stops none of the others.
namespace stencil::telemetry {

/// One worker's scalars, and what honest work can have brought each of them to at most, in
/// magnitude; infinity where a scalar may be any number.
struct Scalars {
  std::span<const double> y;
  std::span<double> p;
  std::span<const double> most;
};

void fold(std::span<double> x, std::span<double> y, std::span<double> p);
void offer(std::span<const double> y, std::span<const double> p, std::span<std::byte> out);

// Each leaves a scalar as it is where the neighbour would bring it beyond its bound, and returns
// for how many it did. A scalar that is beyond already may come back.
std::size_t answer(const Scalars& ours, std::span<const std::byte> s, int divisor,
                   std::span<std::byte> reply);
std::size_t complete(const Scalars& ours, std::span<const std::byte> d);
std::size_t merge(const Scalars& ours, std::span<const std::byte> our_offer,
                  std::span<const std::byte> their_offer);
std::size_t adopt(const Scalars& ours, std::span<const std::byte> s);
/// In place of a scalar that is beyond its bound it takes y, this worker's own.
std::size_t absorb(const Scalars& ours, std::span<const std::byte> s, double weight);

}  // namespace stencil::telemetry
