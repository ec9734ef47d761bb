#include "stencil/sim/objective.h"

#include <cmath>
#include <vector>

#include "stencil/core/error.h"

namespace stencil::sim {
namespace {

class Quadratic : public Objective {
 public:
  Quadratic(int workers, std::size_t dimension, double learning_rate, double noise,
            std::uint64_t seed)
      : dimension_(dimension), rate_(learning_rate), noise_(noise), mean_(dimension) {
    for (int rank = 0; rank < workers; ++rank) {
      randoms_.emplace_back(Random::derive(seed, 0x717561ULL + rank));
      std::vector<float>& centre = centres_.emplace_back(dimension);
      for (std::size_t i = 0; i < dimension; ++i) {
        centre[i] = 1.0F + static_cast<float>(randoms_.back().normal());
        mean_[i] += centre[i] / static_cast<float>(workers);
      }
    }
    for (const auto& centre : centres_) {
      for (std::size_t i = 0; i < dimension; ++i) {
        spread_ += 0.5 * (centre[i] - mean_[i]) * (centre[i] - mean_[i]) / workers;
      }
    }
  }
  std::size_t dimension() const override { return dimension_; }
  void initial(Rank, std::span<float> x) const override {
    for (float& v : x) v = 10;
  }
  void step(Rank rank, std::span<float> x) override {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double gradient = x[i] - centres_[rank][i] + noise_ * randoms_[rank].normal();
      x[i] -= static_cast<float>(rate_ * gradient);
    }
  }
  double value(std::span<const float> x) const override {
    double sum = spread_;
    for (std::size_t i = 0; i < x.size(); ++i) sum += 0.5 * (x[i] - mean_[i]) * (x[i] - mean_[i]);
    return sum;
  }

 private:
  std::size_t dimension_;
  double rate_, noise_;
  double spread_ = 0;
  std::vector<float> mean_;
  std::vector<std::vector<float>> centres_;
  std::vector<Random> randoms_;
};

class Logistic : public Objective {
 public:
  static constexpr int kExamples = 64;  ///< per worker

  Logistic(int workers, std::size_t dimension, double learning_rate, std::uint64_t seed)
      : dimension_(dimension), rate_(learning_rate), position_(workers) {
    Random random(Random::derive(seed, 0x6c6f67));
    std::vector<double> truth(dimension);
    for (double& t : truth) t = random.normal();
    features_.resize(static_cast<std::size_t>(workers) * kExamples * dimension);
    labels_.resize(static_cast<std::size_t>(workers) * kExamples);
    for (std::size_t e = 0; e < labels_.size(); ++e) {
      double score = 0;
      for (std::size_t i = 0; i < dimension; ++i) {
        const double f = random.normal();
        features_[e * dimension + i] = static_cast<float>(f);
        score += f * truth[i];
      }
      labels_[e] = score + random.normal() > 0 ? 1 : -1;
    }
  }
  std::size_t dimension() const override { return dimension_; }
  void initial(Rank, std::span<float> x) const override {
    for (float& v : x) v = 0;
  }
  void step(Rank rank, std::span<float> x) override {
    const std::size_t example =
        static_cast<std::size_t>(rank) * kExamples + position_[rank]++ % kExamples;
    const double scale = -labels_[example] / (1 + std::exp(labels_[example] * score(example, x)));
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] -= static_cast<float>(rate_ * scale * features_[example * dimension_ + i]);
    }
  }
  double value(std::span<const float> x) const override {
    double sum = 0;
    for (std::size_t e = 0; e < labels_.size(); ++e) {
      sum += std::log1p(std::exp(-labels_[e] * score(e, x)));
    }
    return sum / static_cast<double>(labels_.size());
  }

 private:
  double score(std::size_t example, std::span<const float> x) const {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * features_[example * dimension_ + i];
    return sum;
  }
  std::size_t dimension_;
  double rate_;
  std::vector<std::size_t> position_;
  std::vector<float> features_;
  std::vector<int> labels_;
};

class Agreement : public Objective {
 public:
  Agreement(std::size_t dimension, std::uint64_t seed) : dimension_(dimension), seed_(seed) {}
  std::size_t dimension() const override { return dimension_; }
  void initial(Rank rank, std::span<float> x) const override {
    Random random(Random::derive(seed_, 0x616772ULL + rank));
    for (float& v : x) v = 1.0F + static_cast<float>(random.normal());
  }
  void step(Rank, std::span<float>) override {}
  double value(std::span<const float>) const override { return 0; }

 private:
  std::size_t dimension_;
  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<Objective> make_quadratic(int workers, std::size_t dimension, double learning_rate,
                                          double noise, std::uint64_t seed) {
  return std::make_unique<Quadratic>(workers, dimension, learning_rate, noise, seed);
}

std::unique_ptr<Objective> make_logistic(int workers, std::size_t dimension, double learning_rate,
                                         std::uint64_t seed) {
  return std::make_unique<Logistic>(workers, dimension, learning_rate, seed);
}

std::unique_ptr<Objective> make_agreement(std::size_t dimension, std::uint64_t seed) {
  return std::make_unique<Agreement>(dimension, seed);
}

std::unique_ptr<Objective> make_objective(std::string_view name, int workers, std::size_t dimension,
                                          double learning_rate, double noise, std::uint64_t seed) {
  if (name == "quadratic") return make_quadratic(workers, dimension, learning_rate, noise, seed);
  if (name == "logistic") return make_logistic(workers, dimension, learning_rate, seed);
  if (name == "agreement") return make_agreement(dimension, seed);
  throw ConfigError("unknown objective '" + std::string(name) + "'",
                    "use quadratic, logistic or agreement");
}

}  // namespace stencil::sim
