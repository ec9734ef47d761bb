#pragma once

#include <string>

#include "fast/train/evaluation_options.h"
#include "stencil/core/option_field.h"

namespace fast::option_table {

using stencil::OptionField;

/// What is evaluated while a run trains: a part of the programs' list, see option_table.h.
template <typename Visitor>
void visit_evaluation(EvaluationOptions& e, Visitor& visit) {
  visit(
      OptionField<std::string>{
          .key = "evaluate_every",
          .unit = "SHARE|TIME",
          .help = "evaluate each worker's model on the test set after each such share of the run "
                  "(0.1), or after such a time (90s, 5m, 1h); 0: at its end alone",
          .check = [](const std::string& text) { (void)EvaluationTimes::parse(text); },
          .example = "0.1"},
      e.every);
  visit(
      OptionField<int>{.key = "evaluate_examples",
                       .unit = "EXAMPLES",
                       .help = "so many of the test set in such an evaluation, evenly spread over "
                               "it; 0: all",
                       .range = {.least = 0, .most = 2'000'000'000},
                       .remedy = "use 1 to 2 billion examples, or 0 for all",
                       .example = 500},
      e.examples);
  visit(
      OptionField<std::string>{
          .key = "stop_when",
          .unit = "METRIC:PATIENCE",
          .help = "all workers stop together when accuracy or loss on the test set, as the mean "
                  "over them, has been no better than the best in so many evaluations",
          .check =
              [](const std::string& text) {
                if (!text.empty()) (void)StopRule::parse(text);
              },
          .example = "loss:3",
          .choices = {"accuracy:", "loss:"}},
      e.stop_when);
  visit(OptionField<bool>{.key = "keep_best",
                          .help = "keep the best of these evaluations' models, too: "
                                  "best.safetensors",
                          .example = true},
        e.keep_best);
}

}  // namespace fast::option_table
