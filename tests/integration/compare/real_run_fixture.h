#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "bench/compare/cell.h"
#include "bench/compare/spec.h"
#include "tests/support/cifar_files.h"
#include "tests/support/faults.h"

namespace fast::compare {

using ::fast::testing::kPatience;

/// Four workers, 128 examples, two rounds of four times 32.
inline Cell cell_of(const std::string& strategy) {
  Cell cell;
  cell.job.model = "mlp";
  cell.job.data = "synthetic:192,64";
  cell.job.validation = 64;
  cell.job.epochs = 2;
  cell.condition.topology = "torus:2x2";
  cell.strategy = usual_strategy(strategy);
  cell.strategy.learning_rate = 0.05;
  choose_sweeps(cell.strategy, cell.condition.topology);
  return cell;
}

/// The same as a spec, with these strategies and further lines of [job].
inline std::string spec_of(const std::string& strategies, const std::string& job) {
  return "name = \"tested\"\n[job]\nmodel = \"mlp\"\ndata = \"synthetic:192,64\"\nvalidation = "
         "64\n" +
         job + "[[condition]]\nname = \"uniform\"\ntopology = \"torus:2x2\"\n" + strategies;
}

/// Runs of the comparison's program, in a folder of the test's own.
class RealRun : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> arguments(const std::string& spec) const {
    std::ofstream(folder_.path() / "spec.toml") << spec;
    return {(folder_.path() / "spec.toml").string(),
            "--out",
            (folder_.path() / "out").string(),
            "--cells",
            (folder_.path() / "cells").string(),
            "--deadline",
            "10"};
  }
  testing::TemporaryFolder folder_;
};

/// "stencilasync": names of tests hold no dash.
inline std::string strategy_name(const ::testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  std::erase(name, '-');
  return name;
}

}  // namespace fast::compare
