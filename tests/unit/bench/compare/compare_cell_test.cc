#include "bench/compare/cell.h"
#include "bench/compare/cell_store.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "bench/compare/spec.h"
#include "tests/support/cifar_files.h"

namespace fast::compare {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::testing::StartsWith;

Cell some_cell() {
  Cell cell;
  cell.condition.slow = {{1, 4.0}};
  cell.time = TimeKind::kVirtual;
  cell.clockwork = {.step_seconds = 0.03, .latency = 0.001, .rate_mbit = 100};
  return cell;
}

CellResult some_result() {
  CellResult result;
  result.curve = {{.samples = 32, .seconds = 1.5, .bytes = 100, .accuracy = 0.25, .loss = 2}};
  result.mean_model = 0.5;
  result.workers = {0.5, 0.4375};
  result.samples = 64;
  return result;
}

TEST(Cell, goes_to_json_and_back) {
  const Cell cell = some_cell();
  EXPECT_EQ(to_json(cell_from_json(to_json(cell))), to_json(cell));
}

TEST(Cell, its_hash_knows_everything_that_determines_it_and_no_more) {
  const Cell cell = some_cell();
  Cell other = cell;
  other.condition.name = "called otherwise";
  EXPECT_EQ(hash(other), hash(cell));
  other.condition.slow[1] = 5;
  EXPECT_NE(hash(other), hash(cell));
  other = cell;
  other.seed = 2;
  EXPECT_NE(hash(other), hash(cell));
  other = cell;
  other.tuning = true;
  EXPECT_NE(hash(other), hash(cell));
  // Real time is measured, so the parameters of the virtual clock do not matter.
  other = cell;
  other.time = TimeKind::kReal;
  Cell real = other;
  real.clockwork.step_seconds = 1;
  EXPECT_EQ(hash(real), hash(other));
}

TEST(CellStore, finds_what_it_keeps_and_nothing_else) {
  const testing::TemporaryFolder folder;
  const CellStore store(folder.path() / "cells");
  const Cell cell = some_cell();
  EXPECT_FALSE(store.find(cell));
  store.keep("tested", cell, some_result());
  const auto found = store.find(cell);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->mean_model, 0.5);
  EXPECT_EQ(found->workers, some_result().workers);
  ASSERT_EQ(found->curve.size(), 1U);
  EXPECT_EQ(found->curve[0].seconds, 1.5);
  Cell other = cell;
  other.seed = 2;
  EXPECT_FALSE(store.find(other));
}

TEST(CellStore, what_is_not_judged_by_as_many_unseen_examples_as_asked_for_counts_as_none) {
  const testing::TemporaryFolder folder;
  const CellStore store(folder.path());
  Cell cell = some_cell();
  store.keep("tested", cell, some_result());
  cell.job.unseen = 200;
  EXPECT_EQ(hash(cell), hash(some_cell())) << "it learns the same";
  EXPECT_FALSE(store.find(cell));
  EXPECT_FALSE(store.find_by_any_clock(cell));
  CellResult result = some_result();
  result.unseen = {.examples = 200, .accuracy = 0.375, .loss = 1.25};
  store.keep("tested", cell, result);
  ASSERT_TRUE(store.find(cell));
  EXPECT_EQ(store.find(cell)->unseen->accuracy, 0.375);
  EXPECT_EQ(store.find(cell)->unseen->loss, 1.25);
  EXPECT_TRUE(store.find_by_any_clock(cell));
  EXPECT_TRUE(store.find(some_cell())) << "what is not asked for does no harm";
  cell.job.unseen = 201;
  EXPECT_FALSE(store.find(cell));
}

TEST(CellStore, a_run_that_diverged_is_judged_by_nothing) {
  const testing::TemporaryFolder folder;
  const CellStore store(folder.path());
  Cell cell = some_cell();
  cell.job.unseen = 200;
  CellResult diverged;
  diverged.diverged = true;
  store.keep("tested", cell, diverged);
  EXPECT_TRUE(store.find(cell));
}

TEST(CellStore, finds_a_cell_by_any_clock) {
  const testing::TemporaryFolder folder;
  const CellStore store(folder.path() / "cells");
  Cell cell = some_cell();
  EXPECT_FALSE(store.find_by_any_clock(cell)) << "there is no folder yet";
  store.keep("tested", cell, some_result());
  cell.clockwork.latency = 7;
  EXPECT_FALSE(store.find(cell));
  ASSERT_TRUE(store.find_by_any_clock(cell));
  EXPECT_EQ(store.find_by_any_clock(cell)->mean_model, 0.5);
  cell.strategy.learning_rate = 7;
  EXPECT_FALSE(store.find_by_any_clock(cell));
}

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

TEST(CellStore, a_comparison_is_a_file_with_a_line_for_each_cell_in_the_order_of_names) {
  const testing::TemporaryFolder folder;
  const CellStore store(folder.path());
  Cell first = some_cell(), second = some_cell();
  second.seed = 2;
  store.keep("tested", second, some_result());
  store.keep("tested", first, CellResult{});
  store.keep("tested", first, some_result());
  store.keep("another", first, some_result());
  EXPECT_THAT(lines_of(folder.path() / "tested.jsonl"),
              ElementsAre(StartsWith("{\"name\":\"" + CellStore::name(first) + "\",\"cell\":{"),
                          StartsWith("{\"name\":\"" + CellStore::name(second) + "\",")));
  EXPECT_EQ(store.find(first)->mean_model, 0.5) << "the last one kept";
  EXPECT_THAT(lines_of(folder.path() / "another.jsonl"), SizeIs(1));
}

TEST(CellStore, finds_cells_of_two_machines_whose_files_git_has_put_together) {
  const testing::TemporaryFolder folder;
  const CellStore here(folder.path() / "here"), there(folder.path() / "there");
  Cell first = some_cell(), second = some_cell();
  second.seed = 2;
  here.keep("tested", first, some_result());
  there.keep("tested", first, CellResult{});
  there.keep("tested", second, some_result());
  {
    std::ofstream both(folder.path() / "both.jsonl");
    for (const char* const machine : {"here", "there", "there"}) {
      for (const std::string& line : lines_of(folder.path() / machine / "tested.jsonl")) {
        both << line << "\n";
      }
    }
  }
  const CellStore both(folder.path());
  EXPECT_TRUE(both.find(second));
  EXPECT_EQ(both.find(first)->mean_model, 0.5) << "the first of two";
  both.keep("both", first, CellResult{});
  EXPECT_THAT(lines_of(folder.path() / "both.jsonl"), SizeIs(2)) << "once, and the other cell";
}

TEST(CellStore, a_line_of_another_cell_or_of_none_counts_as_none_and_stays) {
  const testing::TemporaryFolder folder;
  const CellStore store(folder.path());
  const std::string name = CellStore::name(some_cell());
  std::ofstream(folder.path() / "tested.jsonl")
      << "<<<<<<< " << name << "\n{\"name\":\"other\",\"of\":\"" << name << "\"}\n\n";
  std::ofstream(folder.path() / "edited.jsonl")
      << "{\"name\":\"" << name << "\",\"cell\":{},\"result\":{}}\n";
  EXPECT_FALSE(store.find(some_cell()));
  EXPECT_FALSE(store.find_by_any_clock(some_cell()));
  store.keep("tested", some_cell(), some_result());
  EXPECT_TRUE(store.find(some_cell()));
  EXPECT_THAT(lines_of(folder.path() / "tested.jsonl"), SizeIs(3));
}

TEST(CellStore, two_stores_of_one_folder_lose_nothing) {
  const testing::TemporaryFolder folder;
  const auto keep = [&](std::uint64_t first) {
    const CellStore store(folder.path());
    for (std::uint64_t seed = first; seed < first + 20; ++seed) {
      Cell cell = some_cell();
      cell.seed = seed;
      store.keep("tested", cell, some_result());
    }
  };
  std::thread other(keep, 100);
  keep(200);
  other.join();
  EXPECT_THAT(lines_of(folder.path() / "tested.jsonl"), SizeIs(40));
}

}  // namespace
}  // namespace fast::compare
