#include "stencil/mix/telemetry.h"

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

void answer(std::span<const double> y, std::span<double> p, std::span<const std::byte> s,
            int divisor, std::span<std::byte> reply) {
  for (std::size_t i = 0; i < y.size(); ++i) {
    double d = (load(s, i) - (y[i] + p[i])) / divisor;
    if (!std::isfinite(d)) d = 0;
    p[i] += d;
    store(reply, i, d);
  }
}

void settle(std::span<double> p, std::span<const std::byte> d) {
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double delta = load(d, i);
    if (std::isfinite(delta)) p[i] -= delta;
  }
}

void merge(std::span<double> p, std::span<const std::byte> ours,
           std::span<const std::byte> theirs) {
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double delta = 0.5 * (load(theirs, i) - load(ours, i));
    if (std::isfinite(delta)) p[i] += delta;
  }
}

void adopt(std::span<const double> y, std::span<double> p, std::span<const std::byte> s) {
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double value = load(s, i);
    if (std::isfinite(value)) p[i] = value - y[i];
  }
}

void absorb(std::span<double> p, std::span<const std::byte> s, double weight) {
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double value = load(s, i);
    if (std::isfinite(value)) p[i] += weight * value;
  }
}

}  // namespace stencil::telemetry
