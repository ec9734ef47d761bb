#pragma once

#include <cstddef>
#include <span>

/// The edge-delta and lock-step rules for a few float64 scalars. They are raw little-endian on the
/// wire. Each scalar is checked by itself, so that one bad number stops none of the others.
namespace stencil::telemetry {

void fold(std::span<double> x, std::span<double> y, std::span<double> p);
void offer(std::span<const double> y, std::span<const double> p, std::span<std::byte> out);
void answer(std::span<const double> y, std::span<double> p, std::span<const std::byte> s,
            int divisor, std::span<std::byte> reply);
void settle(std::span<double> p, std::span<const std::byte> d);
void merge(std::span<double> p, std::span<const std::byte> ours, std::span<const std::byte> theirs);
void adopt(std::span<const double> y, std::span<double> p, std::span<const std::byte> s);
void absorb(std::span<double> p, std::span<const std::byte> s, double weight);

}  // namespace stencil::telemetry
