#include "bench/compare/report/table.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "bench/compare/report/ceiling.h"
#include "bench/compare/report/pairing.h"
#include "bench/compare/report/rendering.h"
#include "bench/compare/spec.h"

namespace fast::compare {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Finished finished(const std::string& strategy, std::uint64_t seed, double final_accuracy,
                  double seconds, double bytes) {
  Finished one;
  one.cell.strategy = usual_strategy(strategy);
  choose_sweeps(one.cell.strategy, one.cell.condition.topology);
  one.cell.seed = seed;
  for (int i = 1; i <= 10; ++i) {
    one.result.curve.push_back({.samples = 100.0 * i,
                                .seconds = seconds * i / 10,
                                .bytes = bytes * i / 10,
                                .accuracy = final_accuracy * i / 10});
  }
  one.result.mean_model = final_accuracy;
  one.result.workers = {final_accuracy, final_accuracy - 0.01};
  one.result.training_seconds = seconds;
  one.result.samples = 1000;
  one.result.bytes = bytes;
  return one;
}

TEST(Table, seeds_become_one_row_with_mean_and_deviation) {
  const auto groups = make_groups({finished("allreduce", 1, 0.60, 10, 1000),
                                   finished("allreduce", 2, 0.64, 10, 1000),
                                   finished("stencil-async", 1, 0.62, 5, 4000)});
  ASSERT_EQ(groups.size(), 1U);
  ASSERT_EQ(groups[0].rows.size(), 2U);
  const Row& row = groups[0].rows[0];
  EXPECT_EQ(row.seeds, 2);
  EXPECT_NEAR(row.accuracy->mean, 0.62, 1e-12);
  EXPECT_NEAR(row.accuracy->deviation, 0.0282842712, 1e-9);
  EXPECT_NEAR(row.worst->mean, 0.61, 1e-12);
  EXPECT_NEAR(groups[0].target, kTargetShare * 0.62, 1e-12);
}

TEST(Pairing, is_of_one_condition_and_seed_after_as_many_samples) {
  std::vector<Finished> all = {
      finished("allreduce", 1, 0.60, 10, 1000),
      finished("allreduce", 2, 0.70, 10, 1000),
      finished("stencil-async", 2, 0.71, 10, 1000),
      finished("stencil-async", 1, 0.58, 10, 1000),
      finished("stencil-async", 3, 0.90, 10, 1000),  // beside nothing
      finished("local", 1, 0.30, 10, 0),             // once
  };
  Finished longer = finished("stencil-async", 1, 0.80, 10, 1000);
  longer.cell.job.epochs *= 2;
  all.push_back(longer);
  Finished elsewhere = finished("allreduce", 1, 0.50, 10, 1000);
  elsewhere.cell.condition.name = "elsewhere";
  all.push_back(elsewhere);
  Finished there = finished("stencil-async", 1, 0.53, 10, 1000);
  there.cell.condition.name = "elsewhere";
  there.result.workers = {0.52, 0.50};
  there.result.curve.back().loss = 0.25;
  all.push_back(there);
  for (Finished one :
       {finished("allreduce", 1, 0.4, 10, 1000), finished("stencil-async", 1, 0.9, 10, 1000)}) {
    one.cell.condition.name = "unequal";  // not to be mixed with equal shards
    one.cell.condition.partition = "dirichlet:0.5";
    all.push_back(one);
  }

  const auto pairs = pairings(make_groups(all));
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].label, "stencil-async");
  EXPECT_EQ(pairs[0].pairs, 3);
  EXPECT_NEAR(pairs[0].accuracy.mean, (0.01 - 0.02 + 0.03) / 3, 1e-12);
  EXPECT_NEAR(pairs[0].accuracy.error, 0.0145296631, 1e-9);
  EXPECT_NEAR(pairs[0].worst.mean, (0.01 - 0.02 + 0.01) / 3, 1e-12);
  EXPECT_NEAR(pairs[0].loss.mean, 0.25 / 3, 1e-12);
  EXPECT_THAT(
      to_markdown(make_groups(all)),
      HasSubstr("| stencil-async | iid | real | 3 | +0.67 ± 1.45 | +0.00 ± 1.00 | +0.67 ± 1.45 | "
                "+0.083 ± 0.083 |"));
}

TEST(Pairing, an_all_reduce_timed_anew_is_no_pair_of_itself_but_one_of_another_rate_is) {
  std::vector<Finished> all;
  for (const std::uint64_t seed : {1, 2}) {
    Finished plain = finished("allreduce", seed, 0.6 + 0.01 * static_cast<double>(seed), 10, 1000);
    plain.cell.time = TimeKind::kVirtual;
    Finished in_buckets = plain, slower = plain;
    in_buckets.cell.strategy.exchange.bucket_kib = 1024;
    slower.cell.strategy.learning_rate = 0.2;
    all.insert(all.end(), {plain, in_buckets, slower});
  }
  const auto pairs = pairings(make_groups(all));
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_THAT(pairs[0].label, HasSubstr("0.2"));
}

TEST(Pairing, tells_of_unseen_examples_where_every_run_was_judged_by_them) {
  std::vector<Finished> all;
  const double apart[] = {0.01, 0.03};
  for (const std::uint64_t seed : {1, 2}) {
    for (const char* const strategy : {"allreduce", "stencil-async"}) {
      const double more = strategy[0] == 's' ? apart[seed - 1] : 0;
      all.push_back(finished(strategy, seed, 0.6 + 0.01 * static_cast<double>(seed), 10, 1000));
      all.back().result.unseen = {.examples = 9, .accuracy = 0.5 + more, .loss = 2 - more};
    }
  }
  const auto groups = make_groups(all);
  EXPECT_NEAR(groups[0].rows[1].unseen->mean, 0.52, 1e-12);
  const auto pairs = pairings(groups);
  ASSERT_EQ(pairs.size(), 1U);
  ASSERT_TRUE(pairs[0].unseen);
  EXPECT_NEAR(pairs[0].unseen->accuracy.mean, 0.02, 1e-12);
  EXPECT_NEAR(pairs[0].unseen->accuracy.error, 0.01, 1e-12);
  EXPECT_NEAR(pairs[0].unseen->loss.mean, -0.02, 1e-12);
  EXPECT_THAT(to_markdown(groups), HasSubstr("| +2.00 ± 1.00 | -0.020 ± 0.010 |"));
  EXPECT_THAT(to_markdown(groups), HasSubstr("on unseen examples % |"));

  all.back().result.unseen.reset();
  EXPECT_FALSE(pairings(make_groups(all)).at(0).unseen);
  for (Finished& one : all) one.result.unseen.reset();
  EXPECT_THAT(to_markdown(make_groups(all)), Not(HasSubstr("unseen"))) << "nor a column of them";
}

TEST(Pairing, pairs_that_share_an_all_reduce_run_share_its_chance) {
  std::vector<Finished> all;
  for (const std::uint64_t seed : {1, 2}) {
    for (const char* const condition : {"quick", "slow", "jittery"}) {
      for (const char* const strategy : {"allreduce", "stencil-async"}) {
        // The all-reduce is the same run each time; its chance is all that differs.
        const double chance = strategy[0] == 'a' && seed == 1 ? 0.02 : 0;
        all.push_back(finished(strategy, seed, 0.6 + chance, 10, 1000));
        all.back().cell.condition.name = condition;
      }
    }
  }
  const auto pairs = pairings(make_groups(all));
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].pairs, 6);
  EXPECT_NEAR(pairs[0].accuracy.mean, -0.01, 1e-12);
  EXPECT_NEAR(pairs[0].accuracy.error, 0.01, 1e-12) << "of two runs, not of six";
  std::erase_if(all, [](const Finished& one) { return one.cell.seed == 2; });
  EXPECT_TRUE(pairings(make_groups(all)).empty()) << "one run has no error";
  for (Finished one :
       {finished("allreduce", 2, 0.5, 10, 1000), finished("stencil-async", 2, 0.6, 10, 1000)}) {
    one.cell.time = TimeKind::kVirtual;
    all.push_back(one);
  }
  EXPECT_TRUE(pairings(make_groups(all)).empty()) << "another time is no second run of this one";
}

TEST(Table, a_condition_has_its_topologys_workers_even_where_one_alone_comes_first) {
  const auto groups = make_groups({finished("single", 1, 0.6, 10, 0)});
  EXPECT_THAT(to_markdown(groups), HasSubstr("torus:2x2 on 4 workers"));
}

TEST(Table, real_and_virtual_time_are_never_one_row) {
  Finished real = finished("allreduce", 1, 0.60, 10, 1000);
  Finished modelled = finished("allreduce", 1, 0.60, 20, 1000);
  modelled.cell.time = TimeKind::kVirtual;
  const auto groups = make_groups({real, modelled});
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].rows.at(0).seeds, 1);
  EXPECT_EQ(groups[1].rows.at(0).seconds->mean, 20);
}

TEST(Table, rows_that_differ_in_anything_have_names_that_differ) {
  const auto row = [](double correction, const char* buffers, double rate) {
    Finished one = finished("stencil-async", 1, 0.6, 10, 1000);
    one.cell.strategy.momentum_correction = correction;
    one.cell.strategy.buffers = buffers;
    one.cell.strategy.learning_rate = rate;
    return one;
  };
  Finished unlocked = row(0, "local", 0.1);
  unlocked.cell.strategy.exchange.phase_lock = 0;
  Finished whole = row(0, "local", 0.1);
  whole.cell.strategy.exchange.overlap = false;
  const auto groups =
      make_groups({row(0, "local", 0.1), row(0.5, "local", 0.1), row(0.5, "mix", 0.1),
                   row(0.5, "mix", 0.2), unlocked, whole, finished("allreduce", 1, 0.6, 10, 1000)});
  std::set<std::string> names;
  for (const Row& r : groups.at(0).rows) names.insert(r.label);
  EXPECT_EQ(names.size(), 7U) << to_markdown(groups);
  EXPECT_TRUE(names.contains("allreduce")) << "nothing more where there is one of it";
}

TEST(Table, a_row_that_is_as_it_comes_has_its_strategys_name_and_no_more) {
  const Finished usual = finished("stencil-async", 1, 0.6, 10, 1000);
  Finished other = usual;
  other.cell.strategy.exchange.sweeps = 1;
  other.cell.strategy.exchange.linger = 0;
  other.cell.strategy.buffers = "local";
  other.cell.strategy.exchange.codec = "int8";
  const auto groups = make_groups({usual, other});
  EXPECT_EQ(groups.at(0).rows.at(0).label, "stencil-async");
  EXPECT_EQ(groups.at(0).rows.at(1).label,
            "stencil-async, codec int8, sweeps 1, linger 0, statistics local");
}

TEST(Table, rows_for_spreadsheets_have_a_field_for_each_column) {
  Finished locked = finished("stencil-async", 1, 0.6, 10, 1000);
  locked.cell.strategy.exchange.phase_lock = 0.25;
  std::istringstream csv(to_csv(make_groups({locked})));
  std::string header, row;
  ASSERT_TRUE(std::getline(csv, header) && std::getline(csv, row));
  const auto fields = [](const std::string& line) {
    std::vector<std::string> out;
    std::istringstream in(line);
    for (std::string field; std::getline(in, field, ',');) out.push_back(field);
    return out;
  };
  const auto columns = fields(header), values = fields(row);
  ASSERT_EQ(columns.size(), values.size()) << header << "\n" << row;
  const auto column = std::ranges::find(columns, "phase_lock") - columns.begin();
  EXPECT_EQ(values.at(static_cast<std::size_t>(column)), "0.25");
}

TEST(Table, a_ceiling_is_known_even_where_the_first_run_diverged) {
  Finished first = finished("stencil-async", 1, 0, 0, 0),
           second = finished("allreduce", 1, 0.6, 10, 1);
  for (Finished* one : {&first, &second}) one->cell.clockwork.step_seconds = 0.1;
  first.result.diverged = true;
  second.result.model_bytes = 1e6;
  EXPECT_TRUE(make_groups({first, second}).at(0).ceiling);
}

TEST(Table, a_row_says_how_many_of_its_runs_failed_and_how_many_workers_were_lost) {
  Finished failed = finished("allreduce", 1, 0, 0, 0),
           one_short = finished("stencil-async", 1, 0.6, 10, 1);
  failed.result.failure = "a worker is gone";
  one_short.result.lost = 1;
  const std::string table = to_markdown(make_groups({failed, one_short}));
  EXPECT_THAT(table, HasSubstr("allreduce (1 of 1 failed)"));
  EXPECT_THAT(table, HasSubstr("stencil-async (1 worker lost)"));
}

TEST(Table, time_to_the_target_is_read_off_the_curve) {
  const auto one = finished("allreduce", 1, 0.6, 10, 0);
  EXPECT_NEAR(*seconds_until(one.result.curve, 0.57), 9.5, 1e-9);
  EXPECT_NEAR(*seconds_until(one.result.curve, 0.01), 1, 1e-9) << "before its first point";
  EXPECT_FALSE(seconds_until(one.result.curve, 0.61));
}

Cell timed(double link_mbit) {
  Cell cell;
  cell.condition.topology = "torus:2x4";
  cell.condition.link_mbit = link_mbit;
  cell.clockwork.step_seconds = 0.1;
  return cell;
}

TEST(Ceiling, with_a_slow_worker_is_its_factor_times_the_pace_that_is_left) {
  Cell cell = timed(0);
  cell.condition.slow = {{1, 4.0}};
  EXPECT_NEAR(*speedup_ceiling(cell, 1e3), 4 * (7 + 0.25) / 8, 1e-9);
}

TEST(Ceiling, on_a_thin_link_is_what_all_reduce_sends_beyond_its_backward_pass) {
  const double sending = 2 * 7 / 8.0 * 1e6 / (8e6 / 8);  // seconds: 1 MB at 8 Mbit/s
  EXPECT_NEAR(*speedup_ceiling(timed(8), 1e6), (0.1 + sending - 0.1 * 2 / 3) / 0.1, 1e-9);
  EXPECT_NEAR(*speedup_ceiling(timed(1e6), 1e6), 1, 1e-9);
  Cell coarse = timed(8);
  coarse.strategy.exchange.bucket_kib = 256;
  EXPECT_EQ(speedup_ceiling(coarse, 1e6), speedup_ceiling(timed(8), 1e6)) << "whoever it is of";
}

TEST(Ceiling, is_not_known_where_the_step_time_is_not) {
  EXPECT_FALSE(speedup_ceiling(Cell(), 1e6));
}

TEST(Table, of_several_all_reduces_the_first_is_what_others_are_compared_with) {
  Finished other = finished("allreduce", 1, 0.6, 20, 1000);
  other.cell.strategy.learning_rate = 0.2;
  const auto groups = make_groups(
      {finished("allreduce", 1, 0.6, 10, 1000), other, finished("stencil-async", 1, 0.6, 5, 4000)});
  const auto& rows = groups[0].rows;
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_FALSE(speedup(groups[0], rows[0]));
  EXPECT_NEAR(*speedup(groups[0], rows[1]), 0.5, 1e-9);
  EXPECT_NEAR(*speedup(groups[0], rows[2]), 2, 1e-9);
}

TEST(Table, a_longer_run_is_a_row_of_its_own_that_races_for_the_same_target) {
  Finished longer = finished("stencil-async", 1, 0.6, 7.5, 6000);
  longer.cell.job.epochs *= 1.5;
  const auto groups = make_groups({finished("allreduce", 1, 0.6, 40, 1000),
                                   finished("stencil-async", 1, 0.5, 5, 4000), longer});
  ASSERT_EQ(groups.size(), 1U);
  const auto& rows = groups[0].rows;
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_FALSE(speedup(groups[0], rows[1])) << "never gets there";
  EXPECT_NEAR(*speedup(groups[0], rows[2]), 40 / 7.5, 1e-9);
  EXPECT_EQ(rows[1].label, "stencil-async");
  EXPECT_EQ(rows[2].label, "stencil-async, 7.5 epochs");
}

TEST(Table, a_stand_in_is_compared_by_its_pace) {
  std::vector<Finished> all = {finished("allreduce", 1, 0, 40, 1000),
                               finished("stencil-async", 1, 0, 10, 1000)};
  for (Finished& one : all) {
    one.cell.time = TimeKind::kStandIn;
    one.cell.condition.topology = "ring:2";
    choose_sweeps(one.cell.strategy, one.cell.condition.topology);
    one.result.mean_model.reset();
    one.result.curve.clear();
  }
  const auto groups = make_groups(all);
  EXPECT_NEAR(*speedup(groups[0], groups[0].rows[1]), 4, 1e-12);
  EXPECT_FALSE(speedup(groups[0], groups[0].rows[0]));
  EXPECT_THAT(to_markdown(groups), HasSubstr("| stencil-async | 640.0 | 100.0 | 4.00x |"));
}

TEST(Table, virtual_time_is_checked_against_real_time_where_all_else_is_equal) {
  std::vector<Finished> all;
  for (const TimeKind kind : {TimeKind::kReal, TimeKind::kVirtual}) {
    const bool real = kind == TimeKind::kReal;
    for (const char* const strategy : {"allreduce", "stencil-async"}) {
      all.push_back(finished(strategy, 1, 0.6, real ? 100 : 95, 1000));
      all.back().cell.time = kind;
      all.back().cell.condition.name = real ? "on this machine" : "by the model";
    }
  }
  all.push_back(finished("local", 1, 0.5, 1, 0));
  const auto groups = make_groups(all);
  const auto pairs = checks(groups);
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs[1].real->cell.strategy.name, "stencil-async");
  EXPECT_EQ(pairs[1].modelled->cell.time, TimeKind::kVirtual);
  EXPECT_THAT(to_markdown(groups), HasSubstr("| allreduce | torus:2x2 | 100.0 | 95.0 | -5.0 % |"));
}

TEST(Table, cuts_at_equal_time_and_equal_bytes) {
  const auto groups =
      make_groups({finished("allreduce", 1, 0.6, 10, 1000),
                   finished("stencil-async", 1, 0.6, 5, 2000), finished("local", 1, 0.3, 5, 0)});
  const auto& rows = groups[0].rows;
  EXPECT_NEAR(*rows[0].at_equal_time, 0.3, 1e-9) << "half of its time";
  EXPECT_NEAR(*rows[1].at_equal_time, 0.6, 1e-9);
  EXPECT_NEAR(*rows[1].at_equal_bytes, 0.3, 1e-9) << "half of its bytes";
  EXPECT_FALSE(rows[2].at_equal_bytes) << "it sends nothing";
  EXPECT_FALSE(rows[2].seconds_to_target);
}

TEST(Table, what_diverged_is_said_and_spoils_nothing) {
  Finished bad = finished("stencil-async", 2, 0, 1, 1);
  bad.result.mean_model.reset();
  bad.result.diverged = true;
  bad.result.curve.clear();
  const auto groups = make_groups({finished("stencil-async", 1, 0.6, 10, 1000), bad});
  const std::string text = to_markdown(groups);
  EXPECT_THAT(text, HasSubstr("1 of 2 diverged"));
  EXPECT_THAT(text, HasSubstr("60.00"));
  EXPECT_FALSE(groups[0].rows[0].seconds_to_target) << "not every seed got there";
}

}  // namespace
}  // namespace fast::compare
