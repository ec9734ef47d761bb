#include "fast/report/page.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "fast/report/drawing.h"
#include "fast/report/series.h"
#include "fast/report/verdict.h"
#include "fast/session/status_of.h"
#include "tests/support/report_fixture.h"

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Page : public ReportTest {
 protected:
  RunFolder run_{folder_ / "run"};

  RunRecords records() const {
    const std::filesystem::path dirs[] = {run_.root()};
    return read_run(dirs);
  }
  static nlohmann::json data_of(const RunRecords& records, const Configuration& config = {}) {
    return nlohmann::json::parse(page_data(records, summarise(records, {}), config));
  }
  static std::size_t count(const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++found;
    return found;
  }
};

TEST_F(Page, StandsByItself) {
  write_worker(run_, 0, 2, 0.7, {1});
  write_worker(run_, 1, 2, 0.7, {1});
  const RunRecords g = records();
  const std::string page = render_page(g, summarise(g, {}), {.file = "model = \"mlp\""});
  EXPECT_THAT(page,
              AllOf(HasSubstr("<!doctype html>"), HasSubstr("Chart.js v"), HasSubstr("test-run"),
                    HasSubstr("prefers-color-scheme: dark"), Not(HasSubstr("{{"))));
  for (const char* fetches : {"src=", "<link", "@import", "url(", "fetch(", "XMLHttpRequest"}) {
    EXPECT_THAT(page, Not(HasSubstr(fetches)));
  }
}

TEST_F(Page, TextOfTheRunCannotLeaveItsElement) {
  const std::string evil = "</script><script>alert(1)</script><!-- {{JS}} &amp; \xff";
  make_writable_folder(run_.worker(0));
  MetricsWriter writer(run_.metrics(0));
  WorkerStart s = start(0, 1);
  s.run_id = evil;
  s.topology = evil;
  writer.start(s);
  writer.event(1, evil, evil);
  const RunRecords g = records();
  const std::string page = render_page(g, summarise(g, {}), {{{evil, evil, evil}}, evil});
  EXPECT_EQ(count(page, "</script>"), 4u);  // data, Chart.js, common.js, report.js
  EXPECT_EQ(count(page, "<script"), 4u);
  EXPECT_THAT(page, Not(HasSubstr("<!-- ")));
  EXPECT_EQ(count(page, "Draws the page from the JSON"), 1u);
  const auto data = data_of(g, {.file = evil});
  EXPECT_THAT(data["config"].get<std::string>(), HasSubstr("</script><script>alert(1)"));
}

TEST_F(Page, LongHistoriesAreThinned) {
  make_writable_folder(run_.worker(0));
  MetricsWriter writer(run_.metrics(0));
  writer.start(start(0, 1));
  for (int i = 0; i < 5000; ++i) writer.progress(progress(i, static_cast<std::uint64_t>(i)));
  const auto data = data_of(records());
  const auto& series = data["workers"][0]["series"];
  EXPECT_EQ(series["time"].size(), 600u);
  EXPECT_EQ(series["loss"].size(), 600u);
  EXPECT_EQ(series["time"].front(), 0);
  EXPECT_EQ(series["time"].back(), 4999);
  EXPECT_LE(data["mean"]["loss"]["time"].size(), 600u);
}

TEST_F(Page, TimesAreOfEachWorkersOwnClockAndTheLostAreMarked) {
  write_worker(run_, 0, 3, 0.7, {1});
  write_worker(run_, 1, 3, 0.7, {1});  // whose wall clock says a second more
  const auto data = data_of(records());
  EXPECT_EQ(data["workers"][0]["series"]["time"][0], 5);
  EXPECT_EQ(data["workers"][1]["series"]["time"][0], 5);
  EXPECT_EQ(data["workers"][2]["missing"], true);
  EXPECT_EQ(data["workers"][2]["lost"], true);
  EXPECT_EQ(data["grid"]["edges"].size(), 3u);
  EXPECT_EQ(data["grid"]["places"].size(), 3u);
  EXPECT_EQ(data["summary"]["lost_ranks"], nlohmann::json::parse("[2]"));
}

TEST_F(Page, ARestartAppearsAmongTheEvents) {
  make_writable_folder(run_.worker(0));
  MetricsWriter writer(run_.metrics(0));
  writer.start(start(0, 1, 1000));
  writer.progress(progress(3, 10));
  writer.start(start(0, 1, 1020));
  writer.progress(progress(3, 10));
  const auto data = data_of(records());
  const auto& events = data["events"]["list"];
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0], nlohmann::json::parse(R"([3, 0, "restart", "started again"])"));
  EXPECT_EQ(events[1][2], "lost");
}

TEST_F(Page, AnEdgeWhoseEndsStandOnDifferentGridsIsMarked) {
  for (const int rank : {0, 1, 2}) {
    make_writable_folder(run_.worker(rank));
    MetricsWriter writer(run_.metrics(rank));
    writer.start(start(rank, 3));
    WorkerProgress p = progress(3, 10, (rank + 1) % 3);
    p.neighbours[0].other_grid = rank == 1;
    writer.progress(p);
  }
  const auto data = data_of(records());
  for (const auto& edge : data["grid"]["edges"]) {
    EXPECT_EQ(edge["other_grid"], edge["a"] == 1 && edge["b"] == 2) << edge;
  }
}

TEST_F(Page, AResumptionIsNoRestart) {
  make_writable_folder(run_.worker(0));
  MetricsWriter writer(run_.metrics(0));
  writer.start(start(0, 1, 1000));
  writer.progress(progress(3, 10));
  writer.end({4, 130, "stopped", {}});
  WorkerStart second = start(0, 1, 1020);
  second.resumed = true;
  writer.start(second);
  const auto data = data_of(records());
  EXPECT_EQ(data["events"]["list"][0],
            nlohmann::json::parse(R"([4, 0, "resumed", "the run was resumed"])"));
  EXPECT_EQ(data["summary"]["restarted_ranks"], nlohmann::json::array());
}

TEST_F(Page, EachCounterHasWords) {
  write_worker(run_, 0, 1, 0.7, {1});
  const RunRecords g = records();
  const std::string page = render_page(g, summarise(g, {}), {});
  const std::size_t begin = page.find("const counterWords = {");
  ASSERT_NE(begin, std::string::npos);
  const std::string words = page.substr(begin, page.find("};", begin) - begin);
  for (const auto& [name, value] : status_of(stencil::PumpStatus(), {}).counters) {
    EXPECT_THAT(words, HasSubstr(" " + name + ": '"));
  }
}

TEST_F(Page, WhoHasNotMadeItsShareIsNamed) {
  for (int rank = 0; rank < 3; ++rank) write_worker(run_, rank, 4, 0.7, {1});
  make_writable_folder(run_.worker(3));
  {
    MetricsWriter killed(run_.metrics(3));
    killed.start(start(3, 4));
    killed.progress(progress(4, 300, 0));
  }
  const RunRecords g = records();
  const Summary s = summarise(g, {});
  EXPECT_EQ(shortfall_of(s),
            "3,300 of 4,000 samples were made: worker 3 ended early, having told of 300, and the "
            "others did not make up for the rest");
  EXPECT_EQ(data_of(g)["shortfall"], shortfall_of(s));
  EXPECT_THAT(s.short_ranks, ElementsAre(3));
}

TEST_F(Page, WhoIsSlowOrWasStoppedIsNotShort) {
  write_worker(run_, 0, 2, 0.7, {1});
  make_writable_folder(run_.worker(1));
  MetricsWriter slow(run_.metrics(1));
  slow.start(start(1, 2));
  slow.progress(progress(4, 300, 0));
  slow.end({5, 130, "stopped", {}});
  EXPECT_EQ(shortfall_of(summarise(records(), {})), "");
}

TEST_F(Page, WithoutABudgetTheAimIsWhatWorkersTookItFor) {
  for (int rank = 0; rank < 2; ++rank) {
    make_writable_folder(run_.worker(rank));
    MetricsWriter writer(run_.metrics(rank));
    WorkerStart s = start(rank, 2);
    s.budget = 0;
    writer.start(s);
    writer.progress(progress(5, 500));
    WorkerProgress last = progress(10, 1000);
    last.network_samples = 4100;  // cut off at 1
    writer.progress(last);
  }
  EXPECT_EQ(summarise(records(), {}).aim, 4000U);
}

TEST_F(Page, NumbersThatAreNotFiniteBecomeGaps) {
  make_writable_folder(run_.worker(0));
  MetricsWriter writer(run_.metrics(0));
  writer.start(start(0, 1));
  WorkerProgress p = progress(1, 10);
  p.loss = std::nan("");
  writer.progress(p);
  EXPECT_TRUE(data_of(records())["workers"][0]["series"]["loss"][0].is_null());
}

TEST_F(Page, SaysWhatWasTrainedAndWhatToThinkOfIt) {
  for (int rank = 0; rank < 2; ++rank) write_worker(run_, rank, 2, 0.7, {1});
  const RunRecords g = records();
  Evaluation evaluation;
  evaluation.mean_model = 0.712;
  evaluation.model_file = "mean.safetensors";
  const Summary well = summarise(g, evaluation);
  EXPECT_EQ(title_of(well), "mlp on synthetic, ring:2");
  EXPECT_EQ(verdict_of(well),
            "All 2 workers agree: use mean.safetensors. Its accuracy on the test set is 71.2 %. "
            "The exchange took 1.0 % of training time.");
  EXPECT_THAT(render_page(g, well, {}), HasSubstr("<title>mlp on synthetic, ring:2"));

  evaluation.left_out = {{1, "it is damaged"}};
  EXPECT_THAT(verdict_of(summarise(g, evaluation)),
              HasSubstr("mean.safetensors is a mean that lacks worker 1."));
  evaluation.left_out.clear();
  evaluation.islands = {{0}, {1}};
  EXPECT_THAT(verdict_of(summarise(g, evaluation)), HasSubstr("fell apart"));
  evaluation.islands.clear();
  evaluation.launch.exit_codes = {{0, 0}, {1, 10}};
  EXPECT_THAT(verdict_of(summarise(g, evaluation)), HasSubstr("worker 1 did not end well"));
  evaluation.launch.exit_codes = {{0, 130}, {1, 130}};
  EXPECT_THAT(verdict_of(summarise(g, evaluation)), HasSubstr("Stopped on request"));
  evaluation.model_file.reset();
  EXPECT_THAT(verdict_of(summarise(g, evaluation)), HasSubstr("there is no result"));
}

TEST_F(Page, HasCurvesOfProgressRateAndEvaluation) {
  make_writable_folder(run_.worker(0));
  MetricsWriter writer(run_.metrics(0));
  writer.start(start(0, 1));
  WorkerProgress p = progress(1, 10);
  p.learning_rate = 0.25;
  p.test_accuracy = 0.5;
  p.neighbours[0].bytes_shared = 77;
  writer.progress(p);
  const auto worker = data_of(records())["workers"][0];
  EXPECT_EQ(worker["series"]["progress"][0], 0.01);
  EXPECT_EQ(worker["series"]["learning_rate"][0], 0.25);
  EXPECT_EQ(worker["series"]["test_accuracy"][0], 0.5);
  EXPECT_TRUE(worker["series"]["test_loss"][0].is_null());
  EXPECT_EQ(worker["bytes_shared"], 77);
}

TEST_F(Page, HasCurvesOfWhatWorkersHaveSaidAndOfTheirMean) {
  for (const int rank : {0, 1}) {
    make_writable_folder(run_.worker(rank));
    MetricsWriter writer(run_.metrics(rank));
    writer.start(start(rank, 2));
    for (const int second : {1, 2}) {
      WorkerProgress p = progress(second, static_cast<std::uint64_t>(10 * second), 1 - rank);
      if (second == 2) p.said = {{"f1", 0.5 + rank}};
      p.means = {{"f1", 1}, {"test_loss", 3}};
      writer.progress(p);
    }
  }
  const auto data = data_of(records());
  EXPECT_EQ(data["said"], nlohmann::json({"f1"}));
  EXPECT_EQ(data["workers"][1]["series"]["said/f1"], nlohmann::json({nullptr, 1.5}));
  EXPECT_EQ(data["mean"]["said/f1"]["time"].back(), nlohmann::json({2, 1}));
  EXPECT_EQ(data["mean"]["test_loss"]["time"].back(), nlohmann::json({2, 3}));
  EXPECT_EQ(data["mean"]["test_accuracy"]["time"], nlohmann::json::array());
}

TEST_F(Page, ShowsWhatDiffersFromTheDefaults) {
  write_worker(run_, 0, 1, 0.7, {1});
  const auto data = data_of(records(), {.settings = {{"batch", "64", "32"}}});
  EXPECT_EQ(data["settings"], nlohmann::json::parse(R"([["batch", "64", "32"]])"));
}

TEST(SeriesTest, ThinningKeepsBothEnds) {
  EXPECT_THAT(thinned(3, 5), ElementsAre(0, 1, 2));
  EXPECT_THAT(thinned(9, 3), ElementsAre(0, 4, 8));
  EXPECT_THAT(thinned(0, 3), ElementsAre());
  const auto kept = thinned(100000, 600);
  EXPECT_EQ(kept.size(), 600u);
  EXPECT_EQ(kept.back(), 99999u);
}

TEST(SeriesTest, TheMeanInterpolatesAndPassesOverTheDead) {
  const Series whole = {{0, 0}, {4, 4}}, flat = {{0, 2}, {4, 2}}, dead = {{0, 10}, {1, 10}};
  EXPECT_THAT(mean_of({whole, flat}, 3),
              ElementsAre(std::pair(0.0, 1.0), std::pair(2.0, 2.0), std::pair(4.0, 3.0)));
  EXPECT_THAT(mean_of({whole, flat, dead}, 3),
              ElementsAre(std::pair(0.0, 4.0), std::pair(2.0, 2.0), std::pair(4.0, 3.0)));
  EXPECT_TRUE(mean_of({}, 3).empty());
  const Series gap = {{0, 1}, {2, std::nan("")}, {4, 1}};
  EXPECT_THAT(mean_of({gap}, 3), ElementsAre(std::pair(0.0, 1.0), std::pair(4.0, 1.0)));
}

TEST(DrawingTest, ATorusStandsOnItsCoordinatesAndItsWrappedEdgesAreMarked) {
  const Drawing d = draw_topology("torus:2x4", 8, {});
  EXPECT_EQ(d.places[5], std::pair(1.0, 1.0));
  EXPECT_EQ(d.edges.size(), 12u);
  int wraps = 0;
  for (const auto& edge : d.edges) wraps += edge.wraps;
  EXPECT_EQ(wraps, 2);
}

TEST(DrawingTest, SlicesOfThreeDimensionsDoNotOverlap) {
  const Drawing d = draw_topology("grid:2x3x3", 18, {});
  for (std::size_t a = 0; a < d.places.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) EXPECT_NE(d.places[a], d.places[b]);
  }
}

TEST(DrawingTest, WhatCannotBeReadHereIsDrawnFromWhatWasSeen) {
  const Drawing d = draw_topology("edges:/on/another/machine", 3, {{0, 1}, {1, 2}, {2, 9}});
  EXPECT_EQ(d.places.size(), 3u);
  EXPECT_EQ(d.edges.size(), 2u);
}

TEST(DrawingTest, OneWorkerIsOnePlace) {
  const Drawing d = draw_topology("ring:1", 1, {});
  EXPECT_EQ(d.places.size(), 1u);
  EXPECT_TRUE(d.edges.empty());
}

}  // namespace
}  // namespace fast
