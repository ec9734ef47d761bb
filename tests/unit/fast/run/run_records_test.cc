#include "fast/run/run_records.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <span>

#include <cmath>
#include <cstring>
#include <limits>

#include "fast/errors.h"
#include "fast/report/mean_model.h"
#include "stencil/core/half_floats.h"
#include "tests/support/report_fixture.h"

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Gather : public ReportTest {
 protected:
  RunFolder run_{folder_ / "run"};

  static RunRecords from(std::vector<std::filesystem::path> dirs) { return read_run(dirs); }
  template <typename Call>
  static std::string error_of(Call call) {
    try {
      (void)call();
    } catch (const FileError& error) {
      return error.what();
    }
    return "";
  }
  static std::vector<int> left_out(const MeanModels& means) {
    std::vector<int> ranks;
    for (const LeftOut& worker : means.left_out) ranks.push_back(worker.rank);
    return ranks;
  }
};

TEST(WorkerRank, IsOfANameThatIsOursAndANumberThatFits) {
  EXPECT_EQ(worker_rank("run/worker-3"), 3);
  for (const char* const name :
       {"worker-", "worker-x", "worker-3x", "worker--1", "run", "worker-20251126123456"}) {
    EXPECT_EQ(worker_rank(name), std::nullopt) << name;
  }
}

TEST_F(Gather, WorkersFromSeveralFoldersAreSortedByRank) {
  const RunFolder other(folder_ / "other machine");
  write_worker(run_, 2, 3, 0.5, {1});
  write_worker(other, 0, 3, 0.5, {1});
  write_worker(other, 1, 3, 0.5, {1});
  const RunRecords g = from({run_.root(), other.root() / ""});
  ASSERT_EQ(g.workers.size(), 3u);
  EXPECT_EQ(g.workers[2].folder, run_.worker(2));
  EXPECT_THAT(g.missing, IsEmpty());
  EXPECT_EQ(g.expected, 3);
  EXPECT_EQ(from({run_.worker(2), other.worker(0)}).missing.size(), 1u);
}

TEST_F(Gather, ADoubledRankNamesBothFolders) {
  const RunFolder other(folder_ / "other");
  write_worker(run_, 1, 2, 0.5, {1});
  write_worker(other, 1, 2, 0.5, {1});
  EXPECT_THAT(error_of([&] {
                return from({run_.root(), other.root()});
              }),
              AllOf(HasSubstr(run_.worker(1).string()), HasSubstr(other.worker(1).string())));
}

TEST_F(Gather, AWorkerThatLeftNothingReadableIsMissingNotAnError) {
  write_worker(run_, 0, 4, 0.5, {1});
  make_writable_folder(run_.worker(1));
  make_writable_folder(run_.worker(2));
  append(run_.metrics(2), "{\"kind\":\"sta");
  const RunRecords g = from({run_.root()});
  ASSERT_EQ(g.missing.size(), 3U);
  EXPECT_THAT(g.missing[0].why, HasSubstr("cannot read"));
  EXPECT_THAT(g.missing[1].why, HasSubstr("no \"start\" line"));
  EXPECT_THAT(g.missing[2].why, HasSubstr("no folder worker-3"));
  EXPECT_EQ(g.find(1), nullptr);
  EXPECT_NE(g.find(0), nullptr);
}

TEST_F(Gather, FoldersOfDifferentRunsAreRefused) {
  write_worker(run_, 0, 2, 0.5, {1});
  make_writable_folder(run_.worker(1));
  WorkerStart other = start(1, 2);
  other.run_id = "another";
  MetricsWriter(run_.metrics(1)).start(other);
  EXPECT_THAT(error_of([&] { return from({run_.root()}); }),
              AllOf(HasSubstr("run id"), HasSubstr("test-run"), HasSubstr("another")));
}

TEST_F(Gather, RenamedFoldersAndRanksOutsideTheRunAreRefused) {
  write_worker(run_, 0, 2, 0.5, {1});
  std::filesystem::rename(run_.worker(0), run_.worker(1));
  EXPECT_THAT(error_of([&] { return from({run_.root()}); }), HasSubstr("is of rank 0"));
  std::filesystem::remove_all(run_.worker(1));
  write_worker(run_, 5, 2, 0.5, {1});
  EXPECT_THAT(error_of([&] { return from({run_.root()}); }), HasSubstr("outside"));
}

TEST_F(Gather, FoldersWithoutWorkersAreNamed) {
  EXPECT_THAT(error_of([&] { return from({folder_ / "nowhere"}); }), HasSubstr("nowhere"));
  EXPECT_THAT(error_of([&] { return from({folder_}); }), HasSubstr("no worker-K folder"));
  make_writable_folder(run_.worker(0));
  EXPECT_THAT(error_of([&] { return from({run_.root()}); }), HasSubstr("metrics"));
}

TEST_F(Gather, TheMeanIsElementwiseAndIntegersAreTheLowestRanks) {
  write_worker(run_, 0, 3, 0.5, {1, 10});
  write_worker(run_, 1, 3, 0.5, {2, 20});
  write_worker(run_, 2, 3, 0.5, {6, 60});
  save_model(run_.worker_model(1), {2, 20}, {4, 5}, 3);
  MeanModels means = mean_models(from({run_.root()}));
  ASSERT_EQ(means.parts.size(), 1U);
  MeanModel* const mean = &means.parts[0];
  EXPECT_THAT(mean->ranks, ElementsAre(0, 1, 2));
  EXPECT_EQ(mean->metadata.at("model"), "mlp");
  for (const NamedTensor& tensor : mean->views()) {
    if (tensor.name == "weight") {
      EXPECT_THAT(floats(tensor.bytes), ElementsAre(3, 30));
    }
    if (tensor.name == "running") {
      EXPECT_THAT(floats(tensor.bytes), ElementsAre(2, 3));
    }
    if (tensor.name == "count") {
      std::int64_t count = 0;
      std::memcpy(&count, tensor.bytes.data(), sizeof(count));
      EXPECT_EQ(count, 40);
    }
  }
}

TEST_F(Gather, ConsensusCountsTheExchangedParametersAlone) {
  write_worker(run_, 0, 2, 0.5, {3, 4});
  write_worker(run_, 1, 2, 0.5, {3, 4});
  save_model(run_.worker_model(1), {3, 4}, {1000, -1000}, 3);  // statistics of its own
  EXPECT_EQ(mean_models(from({run_.root()})).parts.at(0).consensus_distance, 0);

  // Mean (3, 4) of norm 5; both are (0, 1) from it: rms 1, over 5.
  save_model(run_.worker_model(0), {3, 3}, {1, 2}, 3);
  save_model(run_.worker_model(1), {3, 5}, {1, 2}, 3);
  EXPECT_NEAR(mean_models(from({run_.root()})).parts.at(0).consensus_distance, 0.2, 1e-12);
}

TEST_F(Gather, WithoutTheListEveryFloatTensorCounts) {
  write_worker(run_, 0, 2, 0.5, {1});
  write_worker(run_, 1, 2, 0.5, {1});
  for (int rank = 0; rank < 2; ++rank) {
    float value = rank == 0 ? 1.0f : 3.0f;
    const NamedTensor tensor{"w", "F32", {1}, std::as_writable_bytes(std::span(&value, 1))};
    save_safetensors(run_.worker_model(rank), {&tensor, 1});
  }
  EXPECT_NEAR(mean_models(from({run_.root()})).parts.at(0).consensus_distance, 0.5, 1e-12);
}

TEST_F(Gather, AModelThatIsNotFiniteIsLeftOut) {
  write_worker(run_, 0, 3, 0.5, {1});
  write_worker(run_, 1, 3, 0.5, {std::numeric_limits<float>::quiet_NaN()});
  write_worker(run_, 2, 3, 0.5, {3});
  MeanModels means = mean_models(from({run_.root()}));
  ASSERT_EQ(means.parts.size(), 1U);
  EXPECT_THAT(means.parts[0].ranks, ElementsAre(0, 2));
  EXPECT_THAT(left_out(means), ElementsAre(1));
  for (const NamedTensor& tensor : means.parts[0].views()) {
    if (tensor.name == "weight") {
      EXPECT_THAT(floats(tensor.bytes), ElementsAre(2));
    }
  }
}

TEST_F(Gather, AModelThatCannotBeReadIsLeftOutAndNamed) {
  for (int rank = 0; rank < 4; ++rank) write_worker(run_, rank, 4, 0.5, {1, 2});
  std::ofstream(run_.worker_model(1), std::ios::trunc);
  std::filesystem::resize_file(run_.worker_model(3),
                               std::filesystem::file_size(run_.worker_model(3)) - 1);
  MeanModels means = mean_models(from({run_.root()}));
  EXPECT_THAT(left_out(means), ElementsAre(1, 3));
  EXPECT_THAT(means.left_out[0].why, HasSubstr(run_.worker_model(1).string()));
}

TEST_F(Gather, AWorkerWithoutAModelOrAFolderIsLeftOutAndNamed) {
  for (const int rank : {0, 1}) write_worker(run_, rank, 3, 0.5, {1, 2});
  std::filesystem::remove(run_.worker_model(1));
  const MeanModels means = mean_models(from({run_.root()}));
  EXPECT_THAT(left_out(means), ElementsAre(1, 2));
}

TEST_F(Gather, NoBitOfAModelMayBeAnother) {
  for (int rank = 0; rank < 2; ++rank) write_worker(run_, rank, 2, 0.5, {1, 2, 3});
  const auto mean_of_all = [&] {
    std::string bytes;
    MeanModels means = mean_models(from({run_.root()}));
    if (means.left_out.empty()) {
      for (const NamedTensor& tensor : means.parts.at(0).views()) {
        bytes.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
      }
    }
    return std::pair(means.left_out.size(), bytes);
  };
  const auto whole = mean_of_all();
  ASSERT_EQ(whole.first, 0U);
  const std::string good = read(run_.worker_model(1));
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    write_atomically(run_.worker_model(1), bad);
    const auto found = mean_of_all();
    EXPECT_TRUE(found.first == 1 || found == whole) << "byte " << i;
  }
}

TEST_F(Gather, AModelOfAnotherRunOrRankIsLeftOutAndNamed) {
  for (int rank = 0; rank < 3; ++rank) write_worker(run_, rank, 3, 0.5, {1});
  float value = 1;
  const NamedTensor tensor{"weight", "F32", {1}, std::as_writable_bytes(std::span(&value, 1))};
  const auto save = [&](int rank, const std::string& run, const std::string& whose) {
    save_safetensors(run_.worker_model(rank), {&tensor, 1}, {{kRunIdKey, run}, {kRankKey, whose}});
  };
  save(0, "test-run", "0");
  save(1, "another-run", "1");
  save(2, "test-run", "0");
  const MeanModels means = mean_models(from({run_.root()}));
  ASSERT_THAT(left_out(means), ElementsAre(1, 2));
  EXPECT_THAT(means.left_out[0].why, HasSubstr("another run: another-run"));
  EXPECT_THAT(means.left_out[1].why, HasSubstr("another rank: 0"));
}

TEST_F(Gather, AnotherModelThanMostIsLeftOut) {
  write_worker(run_, 0, 3, 0.5, {1, 2, 3});
  write_worker(run_, 1, 3, 0.5, {1, 2});
  write_worker(run_, 2, 3, 0.5, {3, 4});
  MeanModels means = mean_models(from({run_.root()}));
  ASSERT_EQ(means.parts.size(), 1U);
  EXPECT_THAT(means.parts[0].ranks, ElementsAre(1, 2));
  EXPECT_THAT(left_out(means), ElementsAre(0));
  EXPECT_THAT(means.left_out[0].why, HasSubstr("another"));
}

TEST_F(Gather, TheMeanIsOfThoseWhoEndedInAgreement) {
  const auto ended = [&](int rank, const std::string& how) {
    write_worker(run_, rank, 4, 0.5, {1});
    save_model(run_.worker_model(rank), {1}, {1, 2}, 3, how);
  };
  ended(0, "deadline");
  ended(1, "agreed");
  ended(2, "agreed");
  ended(3, "early");
  MeanModels means = mean_models(from({run_.root()}));
  ASSERT_EQ(means.parts.size(), 1U);
  EXPECT_THAT(means.parts[0].ranks, ElementsAre(1, 2));
  EXPECT_THAT(left_out(means), ElementsAre(0, 3));
}

/// A slow worker trains on when the others have given up waiting for it, and agrees with itself.
TEST_F(Gather, OneThatAgreedAloneIsNotTheWholeResult) {
  for (int rank = 0; rank < 3; ++rank) {
    write_worker(run_, rank, 3, 0.5, {1});
    save_model(run_.worker_model(rank), {1}, {1, 2}, 3, rank == 2 ? "agreed" : "deadline");
  }
  MeanModels means = mean_models(from({run_.root()}));
  ASSERT_EQ(means.parts.size(), 1U);
  EXPECT_THAT(means.parts[0].ranks, ElementsAre(0, 1, 2));
}

TEST_F(Gather, HalfPrecisionHasAMeanAndWhatIsCarriedHasNone) {
  for (int rank = 0; rank < 2; ++rank) {
    write_worker(run_, rank, 2, 0.5, {1});
    std::uint16_t half[] = {stencil::to_half(rank == 0 ? 1.5F : 2.5F)};
    std::uint16_t brain[] = {stencil::to_bf16(rank == 0 ? -1.0F : 3.0F)};
    float frozen[] = {rank == 0 ? 7.0F : 8.0F};
    const NamedTensor tensors[] = {
        {"half", "F16", {1}, std::as_writable_bytes(std::span(half))},
        {"brain", "BF16", {1}, std::as_writable_bytes(std::span(brain))},
        {"frozen", "F32", {1}, std::as_writable_bytes(std::span(frozen))}};
    save_safetensors(run_.worker_model(rank), tensors,
                     {{kExchangedKey, R"(["half","brain"])"}, {kCarriedKey, R"(["frozen"])"}});
  }
  MeanModels means = mean_models(from({run_.root()}));
  ASSERT_EQ(means.parts.size(), 1U);
  for (const NamedTensor& tensor : means.parts[0].views()) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, tensor.bytes.data(), sizeof bits);
    if (tensor.name == "half") {
      EXPECT_EQ(stencil::float_from_half(bits), 2.0F);
    }
    if (tensor.name == "brain") {
      EXPECT_EQ(stencil::float_from_bf16(bits), 1.0F);
    }
    if (tensor.name == "frozen") {
      EXPECT_THAT(floats(tensor.bytes), ElementsAre(7));
    }
  }
  EXPECT_GT(means.parts[0].consensus_distance, 0.1);
}

TEST_F(Gather, WhereNobodyEndedInAgreementAllAreInTheMean) {
  for (int rank = 0; rank < 2; ++rank) {
    write_worker(run_, rank, 2, 0.5, {1});
    save_model(run_.worker_model(rank), {1}, {1, 2}, 3, rank == 0 ? "deadline" : "early");
  }
  MeanModels means = mean_models(from({run_.root()}));
  ASSERT_EQ(means.parts.size(), 1U);
  EXPECT_THAT(means.parts[0].ranks, ElementsAre(0, 1));
  EXPECT_THAT(means.left_out, IsEmpty());
}

TEST_F(Gather, ARunThatFellApartHasAMeanOfEachPart) {
  // A ring of six without 0 and 3: 1 and 2 still met, 4 and 5 too.
  for (const int rank : {1, 2, 4, 5}) {
    make_writable_folder(run_.worker(rank));
    MetricsWriter writer(run_.metrics(rank));
    writer.start(start(rank, 6));
    WorkerProgress last = progress(12, 1000);
    const int partner = rank < 3 ? 3 - rank : 9 - rank;
    const int lost = rank == 1 || rank == 5 ? 0 : 3;
    last.neighbours = {{partner, "up", 10, 100}, {lost, "gone", 7, 70}};
    writer.progress(last);
    writer.end({13, 0, "", {}});
    save_model(run_.worker_model(rank), {static_cast<float>(rank)}, {1, 2}, 3, "agreed");
  }
  MeanModels means = mean_models(from({run_.root()}));
  ASSERT_EQ(means.parts.size(), 2U);
  EXPECT_THAT(means.parts[0].ranks, ElementsAre(1, 2));
  EXPECT_THAT(means.parts[1].ranks, ElementsAre(4, 5));
}

TEST_F(Gather, NoModelsNoMean) {
  write_worker(run_, 0, 2, 0.5, {1});
  std::filesystem::remove(run_.worker_model(0));
  EXPECT_THAT(mean_models(from({run_.root()})).parts, IsEmpty());
}

std::span<const std::byte> weight_of(const MeanModel& model) {
  return std::ranges::find(model.tensors, "weight", &OwnedTensor::name)->bytes;
}

TEST_F(Gather, TheBestIsTheMeanOfTheEvaluationThatMostHoldForIt) {
  for (int rank = 0; rank < 4; ++rank) write_worker(run_, rank, 4, 0.5, {1});
  const auto keep = [&](int rank, float weight, const char* evaluation) {
    save_model(run_.worker_best(rank), {weight}, {1, 2}, 3, "",
               {{kEvaluationKey, evaluation}, {kRankKey, std::to_string(rank)}});
  };
  EXPECT_FALSE(best_model(from({run_.root()}), {0, 1, 2, 3}).has_value());
  keep(0, 9, "7");
  keep(1, 2, "8");
  keep(2, 4, "8");
  const auto best = best_model(from({run_.root()}), {0, 1, 2, 3});
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->ranks, (std::vector<int>{1, 2}));
  EXPECT_EQ(best->metadata.at(kEvaluationKey), "8");
  EXPECT_EQ(floats(weight_of(*best)), (std::vector<float>{3}));
  const auto alone = best_model(from({run_.root()}), {0});
  ASSERT_TRUE(alone.has_value());
  EXPECT_EQ(floats(weight_of(*alone)), (std::vector<float>{9}));
  append(run_.worker_best(2), "!");
  EXPECT_EQ(best_model(from({run_.root()}), {1, 2})->ranks, (std::vector<int>{1}));
}

}  // namespace
}  // namespace fast
