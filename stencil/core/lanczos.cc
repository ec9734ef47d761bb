#include "stencil/core/lanczos.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stencil/core/random.h"

namespace stencil::internal {

namespace {

constexpr std::uint64_t kStartSeed = 0x6c616e637a6f73;  // any fixed number
constexpr double kRounding = 1e-14;

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// A symmetric tridiagonal matrix, grown a row at a time; `below[k]` joins rows k and k + 1.
struct Tridiagonal {
  std::vector<double> diagonal;
  std::vector<double> below;

  [[nodiscard]] std::size_t size() const { return diagonal.size(); }

  [[nodiscard]] double radius() const {
    double radius = 0.0;
    for (std::size_t i = 0; i < size(); ++i) {
      const double left = i > 0 ? below[i - 1] : 0.0;
      const double right = i + 1 < size() ? below[i] : 0.0;
      radius = std::max(radius, std::abs(diagonal[i]) + left + right);
    }
    return radius;
  }
};

/// The pivots of `sign` T - shift; false as soon as one is negative, i.e. when an eigenvalue lies
/// below the shift (Sylvester's law of inertia).
bool factor(const Tridiagonal& t, double sign, double shift, double tiny,
            std::vector<double>& pivots) {
  pivots.resize(t.size());
  for (std::size_t i = 0; i < t.size(); ++i) {
    double pivot = sign * t.diagonal[i] - shift;
    if (i > 0) pivot -= t.below[i - 1] * t.below[i - 1] / pivots[i - 1];
    if (pivot < 0.0) return false;
    pivots[i] = std::max(pivot, tiny);
  }
  return true;
}

/// The smallest eigenvalue of `sign` T by bisection, returned in T's own sign. The last component
/// s_k of its vector, by inverse iteration, gives the residual `next` * |s_k|.
Ritz smallest_ritz(const Tridiagonal& t, double sign, double next, std::vector<double>& pivots) {
  const double radius = t.radius();
  const double tiny = std::max(radius, 1.0) * 1e-300;
  double low = -radius - 1e-12 * std::max(radius, 1e-300);
  double high = radius;
  for (int i = 0; i < 200 && high - low > 2e-16 * radius; ++i) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    (factor(t, sign, middle, tiny, pivots) ? low : high) = middle;
  }

  // Just below the eigenvalue, sign T - shift is positive definite and needs no pivoting.
  double shift = low - 1e-15 * radius;
  for (double back = 1e-15; !factor(t, sign, shift, tiny, pivots); back *= 4.0) {
    shift = low - back * radius;
  }
  const std::size_t k = t.size();
  std::vector<double> s(k, 1.0 / std::sqrt(static_cast<double>(k)));
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 1; i < k; ++i) s[i] -= sign * t.below[i - 1] / pivots[i - 1] * s[i - 1];
    for (std::size_t i = 0; i < k; ++i) s[i] /= pivots[i];
    for (std::size_t i = k - 1; i-- > 0;) s[i] -= sign * t.below[i] / pivots[i] * s[i + 1];
    const double largest = std::abs(*std::max_element(
        s.begin(), s.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
    for (double& value : s) value /= largest;  // or the norm's squares may overflow
    const double norm = std::sqrt(dot(s, s));
    for (double& value : s) value /= norm;
  }
  return {sign * 0.5 * (low + high), next * std::abs(s.back())};
}

bool converged(const Ritz& ritz, double reference, double radius) {
  return ritz.residual <= std::max(1e-8 * std::abs(ritz.value - reference), 1e-13 * radius);
}

}  // namespace

Extremes extreme_eigenvalues(const SymmetricOperator& apply, std::size_t size, Ends ends,
                             double reference, std::size_t max_steps) {
  Random random(kStartSeed);
  std::vector<double> v(size);
  for (double& value : v) value = random.normal();
  const double norm = std::sqrt(dot(v, v));
  for (double& value : v) value /= norm;

  std::vector<double> previous(size, 0.0);
  std::vector<double> w(size);
  std::vector<double> pivots;
  Tridiagonal t;
  Extremes found;
  std::size_t next_check = 1;
  double beta = 0.0;
  for (std::size_t step = 1;; ++step) {
    apply(v, w);
    for (std::size_t i = 0; i < size; ++i) w[i] -= beta * previous[i];
    const double alpha = dot(w, v);
    for (std::size_t i = 0; i < size; ++i) w[i] -= alpha * v[i];
    beta = std::sqrt(dot(w, w));
    t.diagonal.push_back(alpha);

    const double radius = t.radius();
    const bool last = step >= max_steps || beta <= kRounding * radius;
    if (last || step >= next_check) {
      found.smallest = smallest_ritz(t, 1.0, beta, pivots);
      bool done = converged(found.smallest, reference, radius);
      if (ends == Ends::kBoth) {
        found.largest = smallest_ritz(t, -1.0, beta, pivots);
        done = done && converged(found.largest, reference, radius);
      }
      if (done || last) return found;
      next_check = step + 1 + step / 12;
    }
    t.below.push_back(beta);
    for (std::size_t i = 0; i < size; ++i) {
      previous[i] = v[i];
      v[i] = w[i] / beta;
    }
  }
}

}  // namespace stencil::internal
