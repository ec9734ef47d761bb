#pragma once

#include <cstddef>
#include <string>

#include "bench/compare/cell.h"

namespace fast::compare {

/// A cell without a strategy: a ring of four for eight epochs under the virtual clock, on links
/// that take little of a step. `validation` of the data's training examples are held out.
inline Cell virtual_cell(const std::string& model, const std::string& data,
                         std::size_t validation) {
  Cell cell;
  cell.job.model = model;
  cell.job.data = data;
  cell.job.validation = validation;
  cell.job.epochs = 8;
  cell.condition.topology = "ring:4";
  cell.time = TimeKind::kVirtual;
  cell.clockwork = {.step_seconds = 0.05, .latency = 0.0002, .rate_mbit = 1000};
  return cell;
}

}  // namespace fast::compare
