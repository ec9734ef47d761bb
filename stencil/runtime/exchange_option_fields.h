#pragma once

#include <concepts>
#include <type_traits>

#include "stencil/mix/codecs/kinds.h"
#include "stencil/runtime/exchange_options.h"

namespace stencil {

namespace internal {
/// Each throws ConfigError.
void check_mode(const std::string& mode);
void check_codec_name(const std::string& codec);
void check_transport(const std::string& transport);
void check_sharing(const std::string& sharing);
void check_initial(const std::string& initial);
void check_budget(const std::string& budget);
void check_rate(const std::string& rate);
void check_cap(const std::string& cap);
[[nodiscard]] std::string codec_help();
}  // namespace internal

/// The one list of exchange options; see OptionField. `options` may be const.
template <typename Options, typename Visitor>
requires std::same_as<std::remove_const_t<Options>, ExchangeOptions>
void visit_fields(Options& options, Visitor& visit) {
  constexpr Range kShare{.least = 0, .most = 1};
  constexpr std::string_view kShareRemedy = "use a share of a step, 0 to 1";

  visit(
      OptionField<std::string>{
          .key = "mode",
          .unit = "MODE",
          .help = "async, bounded:K (nobody more than K steps ahead of a neighbour) or sync (lock "
                  "step)",
          .check = internal::check_mode,
          .example = "bounded:3",
          .before = "async",
          .choices = {"async", "bounded:", "sync"}},
      options.mode);
  visit(OptionField<std::string>{.key = "codec",
                                 .unit = "NAME",
                                 .help = internal::codec_help(),
                                 .check = internal::check_codec_name,
                                 .example = "int8",
                                 .before = "fp32",
                                 .choices = codec_choices()},
        options.codec);
  visit(
      OptionField<std::string>{
          .key = "transport",
          .unit = "HOW",
          .help =
              "transport of addresses without a scheme, with keys or without; zmq: ZeroMQ; tcp: "
              "bare sockets, with keys TLS 1.3, which takes less time; auto: zmq",
          .check = internal::check_transport,
          .example = "tcp",
          .before = "auto",
          .simulated = false,
          .choices = {kTransports.begin(), kTransports.end()}},
      options.transport);
  visit(
      OptionField<std::string>{
          .key = "share_memory",
          .unit = "WHEN",
          .help = "auto: neighbours on one host average in each other's memory (but in mode sync); "
                  "never: over the transport, as others do",
          .check = internal::check_sharing,
          .example = "never",
          .before = "never",
          .simulated = false,
          .choices = {kSharings.begin(), kSharings.end()}},
      options.share_memory);
  visit(
      OptionField<int>{
          .key = "packet_bytes",
          .unit = "BYTES",
          .help = "the longest IP packet that links send, where a path drops longer ones without a "
                  "word, as some tunnels do, e.g. 1200; over ZeroMQ the worker that is dialled "
                  "decides; 65535: as the interfaces say",
          .range = {.least = 576, .most = 65535},
          .remedy = "use 576 to 65535 bytes, headers included",
          .example = 1200,
          .before = 65535,
          .simulated = false},
      options.packet_bytes);
  visit(
      OptionField<std::optional<double>>{
          .key = "sweeps",
          .unit = "COUNT",
          .help = "passes over the model begun per step, each with one neighbour; 0.25: one every "
                  "4 steps; auto: 1 to 8, the fewer the better the topology is connected",
          .range = {.least = 0, .most = 1000},
          .remedy = "use 0 (train alone) to 1000 sweeps per step, or auto",
          .example = 2.5,
          .before = std::nullopt},
      options.sweeps);
  visit(
      OptionField<double>{
          .key = "linger",
          .unit = "SHARE",
          .help = "share of a step that a boundary waits at most for its sweeps, where links bring "
                  "back a quarter of them in that time, so that models are averaged before the "
                  "next gradient; 0: never",
          .range = kShare,
          .remedy = kShareRemedy,
          .example = 0.2,
          .before = 0},
      options.linger);
  visit(
      OptionField<double>{
          .key = "phase_lock",
          .unit = "SHARE",
          .help = "share of its time that a worker waits at most for neighbours that are about to "
                  "end their step, so that workers of one speed stay in step; nobody waits for a "
                  "neighbour that is slower by more than this share; 0, or linger 0: never",
          .range = kShare,
          .remedy = kShareRemedy,
          .example = 0.3,
          .before = 0},
      options.phase_lock);
  visit(
      OptionField<bool>{
          .key = "overlap",
          .help =
              "exchange begins in the backward pass: a step is computed part by part there, and "
              "each part is exchanged while the next is computed; torch models in mode async",
          .example = false,
          .before = false},
      options.overlap);
  visit(
      OptionField<bool>{
          .key = "by_layer",
          .help =
              "a layer takes in averages just before the next step uses it, and no boundary waits "
              "for them, where models ask for their layers, as those of PyTorch do; modes async "
              "and bounded",
          .example = false,
          .before = false},
      options.by_layer);
  visit(
      OptionField<bool>{
          .key = "fold_ahead",
          .help = "where a step asks for its layers, the exchange's own thread adds averages to a "
                  "layer that the step has yet to use, so that the training thread need not",
          .example = false,
          .before = false},
      options.fold_ahead);
  visit(
      OptionField<int>{
          .key = "mix_threads",
          .unit = "THREADS",
          .help = "threads that share a boundary's work on models of a million numbers or more, "
                  "where cores are free; the training thread is one of them",
          .range = {.least = 1, .most = 64},
          .remedy = "use 1 to 64",
          .example = 2,
          .before = 1,
          .simulated = false},
      options.mix_threads);
  visit(
      OptionField<int>{
          .key = "bucket_kib",
          .unit = "KIB",
          .help = "size of a bucket, the piece in which a model travels; 0: 16 to 256, by the "
                  "size of the model",
          .range = {.least = 0, .most = 1 << 16},
          .remedy = "use 1 to 65536 KiB, or 0 for what suits the model",
          .example = 64,
          .before = 0},
      options.bucket_kib);
  visit(OptionField<int>{.key = "window",
                         .unit = "BUCKETS",
                         .help = "the most buckets in flight per sweep",
                         .range = {.least = 1, .most = 1024},
                         .remedy = "use 1 to 1024 buckets",
                         .example = 8,
                         .before = 4},
        options.window);
  visit(
      OptionField<std::string>{
          .key = "memory_budget",
          .unit = "BYTES",
          .help =
              "all that a worker may hold for the exchange beside its model, checkpoints "
              "included, e.g. 64MB, and fast-worker with its data, model, gradients and "
              "optimizer: window and queues follow from it, and less than is needed is refused; "
              "0: no bound",
          .check = internal::check_budget,
          .example = "64MB",
          .before = "0",
          .simulated = false},
      options.memory_budget);
  visit(
      OptionField<std::string>{
          .key = "max_rate",
          .unit = "RATE",
          .help = "the most that a worker sends over all links together, e.g. 2Mbit/s or 250kB/s: "
                  "models wait for their turn, nothing is dropped; 0: no bound",
          .check = internal::check_rate,
          .example = "2Mbit/s",
          .before = "0"},
      options.max_rate);
  visit(
      OptionField<std::string>{
          .key = "data_cap",
          .unit = "BYTES/PERIOD",
          .help = "the most that a worker sends and receives, over all links together, in an "
                  "hour, day, week or month of its own time, e.g. 2GB/day: whoever is ahead of "
                  "that exchanges more rarely, or not at all for a while. Shared memory is no "
                  "data. 0: no bound",
          .check = internal::check_cap,
          .example = "2GB/day",
          .before = "0"},
      options.data_cap);
  const auto visit_seconds = [&visit](std::string_view key, auto& value, const char* help,
                                      double before, bool simulated) {
    visit(OptionField<double>{.key = key,
                              .unit = "SECONDS",
                              .help = help,
                              .range = {.least = 0, .most = 1e7, .above = true},
                              .remedy = "use more than 0 seconds, up to 10 million",
                              .example = before + 10,
                              .before = before,
                              .simulated = simulated},
          value);
  };
  visit_seconds("suspect_after", options.suspect_after,
                "a neighbour that is silent for so long is not asked for averages", 3, true);
  visit_seconds("gone_after", options.gone_after,
                "a neighbour that is silent for so long is given up", 60, true);
  visit_seconds("wait_deadline", options.wait_deadline,
                "bounded and sync: longest wait for a neighbour that is not heard of", 60, false);
  visit_seconds("busy_deadline", options.busy_deadline,
                "longest wait for a neighbour that is heard of, but makes no step", 600, false);
  visit(OptionField<double>{.key = "start_deadline",
                            .unit = "SECONDS",
                            .help = "longest wait for a first neighbour; 0: for ever",
                            .range = {.least = 0, .most = 1e7},
                            .remedy = "use 0 to 10 million seconds; 0 waits for ever",
                            .example = 70,
                            .before = 60,
                            .simulated = false},
        options.start_deadline);
  visit(OptionField<double>{.key = "settle_target",
                            .unit = "DISTANCE",
                            .help = "relative distance from the mean model aimed at after training",
                            .range = {.least = 0, .most = 1, .above = true},
                            .remedy = "use a relative distance above 0, up to 1, e.g. 1e-3",
                            .example = 1e-2,
                            .before = 1e-3},
        options.settle_target);
  visit_seconds("settle_deadline", options.settle_deadline,
                "longest time spent on settling when training is over everywhere", 30, true);
  visit(OptionField<double>{.key = "wait_at_end",
                            .unit = "SECONDS",
                            .help = "how long to wait, when training is over, for neighbours that "
                                    "are away",
                            .range = {.least = 0, .most = 1e7},
                            .remedy = "use 0 to 10 million seconds",
                            .example = 60,
                            .before = 0,
                            .simulated = false},
        options.wait_at_end);
  visit(
      OptionField<std::string>{
          .key = "initial",
          .unit = "WHOSE",
          .help = "lowest: before the first step all workers take over the initial weights of the "
                  "lowest rank, passed on from neighbour to neighbour; same: weights that differ "
                  "are refused",
          .check = internal::check_initial,
          .example = "same",
          .before = "same",
          .simulated = false,
          .choices = {kInitials.begin(), kInitials.end()}},
      options.initial);
}

}  // namespace stencil
