#pragma once

#include <string_view>

#include "fast/data/dataset.h"

namespace fast {

/// A table with a header line: "FILE[,target=NAME][,numbers][,test=SHARE][,missing=mean]".
///
/// The target is the column of that name, or the last. Where its cells are whole numbers from 0 on,
/// or words, they are the names of classes, numbered in their order; else, and with `numbers`, it
/// is a number to be foretold. All other columns are features: one of numbers is standardised by
/// the mean and the deviation of the rows to train on, one of words becomes a feature of 0 or 1 for
/// each of its words. An empty cell is refused; with missing=mean it is the column's mean, or none
/// of its words. SHARE (0.1) of the rows are for testing, by their place, for all workers the same.
///
/// The table is read once; then only where each row begins and its class are held in memory, and a
/// row is read when it is asked for. Throws ConfigError for arguments that are none, DataError,
/// naming the line and the column, for what is no table.
[[nodiscard]] Dataset load_csv(std::string_view arguments);
[[nodiscard]] ExampleSpec csv_spec(std::string_view arguments);

}  // namespace fast
