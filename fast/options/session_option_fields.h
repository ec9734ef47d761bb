#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>

#include "fast/options/session_options.h"
#include "stencil/core/topologies/kinds.h"
#include "stencil/core/topology.h"
#include "stencil/runtime/exchange_option_fields.h"
#include "stencil/transport/factory.h"

namespace fast {

namespace session_fields {

using stencil::OptionField;

[[nodiscard]] inline OptionField<std::string> topology() {
  return {.key = "topology",
          .unit = "SPEC",
          .help = stencil::topology_forms() + "; :moore adds diagonal neighbours",
          .check = [](const std::string& spec) { (void)stencil::Topology::parse(spec); },
          .example = "ring:3",
          .choices = stencil::topology_choices()};
}

[[nodiscard]] inline OptionField<int> rank() {
  return {.key = "rank",
          .unit = "RANK",
          .help = "this worker's place, from 0",
          .range = {.least = 0, .most = stencil::Topology::kMaxSize},
          .remedy = "use a rank of the topology",
          .example = 3};
}

[[nodiscard]] inline OptionField<std::uint64_t> seed() {
  return {.key = "seed",
          .unit = "NUMBER",
          .help = "seed of initial weights, shards and order; the same everywhere",
          .example = 7};
}

[[nodiscard]] inline OptionField<double> epochs() {
  return {.key = "epochs",
          .unit = "EPOCHS",
          .help =
              "or passes over the data_size examples of each worker after which training is over; "
              "0: see budget",
          .range = {.least = 0, .most = 1e9},
          .remedy = "use more than 0, or 0 for none",
          .example = 2.5};
}

[[nodiscard]] inline OptionField<double> checkpoint_every() {
  return {.key = "checkpoint_every",
          .unit = "SECONDS",
          .help =
              "time between two checkpoints of a worker, from which the same command resumes; "
              "0: never",
          .range = {.least = 0, .most = 1e7},
          .remedy = "use 0 (never) to 10 million seconds",
          .example = 600};
}

[[nodiscard]] inline OptionField<int> keep_checkpoints() {
  return {
      .key = "keep_checkpoints",
      .unit = "COUNT",
      .help =
          "keep the last COUNT checkpoints, too, by their steps: checkpoint.1200.safetensors; to "
          "go back to one, put it in the place of checkpoint.safetensors, at all workers alike",
      .range = {.least = 0, .most = 1e6},
      .remedy = "use 0 (none but the last two) to a million",
      .example = 3};
}

template <typename Options, typename Visitor>
void visit_recording(Options& options, Visitor& visit) {
  visit(OptionField<std::string>{.key = "record",
                                 .unit = "FILE",
                                 .help = "at the end, what the exchange saw and decided last, for "
                                         "'fast replay'; {rank} stands for the rank; empty: "
                                         "nothing is recorded",
                                 .example = "worker-{rank}.journal"},
        options.record);
  visit(OptionField<double>{.key = "record_seconds",
                            .unit = "SECONDS",
                            .help = "how much of the end a recording holds at least",
                            .range = {.least = 0.001, .most = 1e6},
                            .remedy = "use 0.001 to 1 million seconds",
                            .example = 600},
        options.record_seconds);
}

/// How a worker and its neighbours find each other.
template <typename Options, typename Visitor>
void visit_addresses(Options& options, Visitor& visit) {
  visit(OptionField<std::string>{.key = "run_id",
                                 .unit = "NAME",
                                 .help = "workers of another run id are refused",
                                 .example = "first"},
        options.run_id);
  visit(OptionField<std::string>{.key = "listen",
                                 .unit = "ENDPOINT",
                                 .help = "HOST:PORT, or with a scheme, " +
                                         stencil::transport_forms() +
                                         "; host *: all interfaces; port 0: one that is free, "
                                         "published in worker-RANK/endpoint; empty: only dial",
                                 .example = "127.0.0.1:5555"},
        options.listen);
  visit(
      OptionField<std::map<int, std::string>>{
          .key = "peer",
          .unit = "RANK=ENDPOINT",
          .help = "where a neighbour listens (repeatable); one end of each edge suffices",
          .example = {{1, "10.0.0.3:5555"}}},
      options.peers);
  visit(OptionField<std::string>{.key = "peers",
                                 .unit = "FILE",
                                 .help =
                                     "lines RANK ENDPOINT, read again while neighbours are missing",
                                 .example = "peers.txt"},
        options.peers_file);
  visit(
      OptionField<std::string>{
          .key = "peer_template",
          .unit = "TEMPLATE",
          .help = "worker-{rank}:5555, or file:RUN/worker-{rank}/endpoint for a file that "
                  "holds it",
          .example = "worker-{rank}:5555"},
      options.peer_template);
}

template <typename Options, typename Visitor>
void visit_keys(Options& options, Visitor& visit) {
  visit(
      OptionField<std::string>{
          .key = "keys",
          .unit = "DIR",
          .help = "folder of rank-RANK.key and public.keys, as 'fast keys' makes it: every link "
                  "between workers is encrypted and both its ends are proven",
          .example = "keys"},
      options.keys);
}

template <typename Options, typename Visitor>
void visit_insecure(Options& options, Visitor& visit) {
  visit(OptionField<bool>{.key = "insecure",
                          .help = "without keys, on a machine or network that you trust: listen to "
                                  "other hosts all the same, and let launchers make none",
                          .example = true},
        options.insecure);
}

/// The options that replace a folder of keys.
template <typename Options, typename Visitor>
void visit_single_keys(Options& options, Visitor& visit) {
  visit(OptionField<std::string>{.key = "key",
                                 .unit = "FILE",
                                 .help = "instead of --keys: this worker's key file",
                                 .example = "keys/rank-3.key"},
        options.key);
  visit(OptionField<std::string>{.key = "public_keys",
                                 .unit = "FILE",
                                 .help = "with --key: everybody's public keys",
                                 .example = "keys/public.keys"},
        options.public_keys);
  visit(OptionField<std::string>{.key = "run_keys",
                                 .unit = "DIR",
                                 .help = "a folder of keys that a launcher has made for this run; "
                                         "all other keys come before it",
                                 .example = "run-keys"},
        options.run_keys);
}

}  // namespace session_fields

/// The only list of a session's options that can be given as text; see OptionField. The programs
/// take their fields from it, but derive `budget`, `epochs` and `data_size` from their data.
/// `options` may be const.
template <typename Options, typename Visitor>
requires std::same_as<std::remove_const_t<Options>, SessionOptions>
void visit_fields(Options& options, Visitor& visit) {
  visit(session_fields::topology(), options.topology);
  visit(session_fields::rank(), options.rank);
  session_fields::visit_addresses(options, visit);
  session_fields::visit_keys(options, visit);
  session_fields::visit_single_keys(options, visit);
  session_fields::visit_insecure(options, visit);
  visit(
      stencil::OptionField<std::uint64_t>{
          .key = "budget",
          .unit = "SAMPLES",
          .help = "samples over all workers after which training is over; 0: no end",
          .example = 1000},
      options.budget);
  visit(session_fields::epochs(), options.epochs);
  visit(
      stencil::OptionField<std::uint64_t>{
          .key = "data_size", .unit = "EXAMPLES", .help = "held by this worker", .example = 1000},
      options.data_size);
  visit(session_fields::seed(), options.seed);
  visit(
      stencil::OptionField<std::string>{
          .key = "means",
          .unit = "NAMES",
          .help = "numbers of which workers learn the mean, by name, such as accuracy,val_loss; "
                  "alike at all workers",
          .example = "accuracy,val_loss"},
      options.means);
  visit(
      stencil::OptionField<std::string>{
          .key = "checkpoint",
          .unit = "FILE",
          .help = "where all is saved that it takes to go on, every checkpoint_every seconds and "
                  "when training is over; {rank} stands for the rank; empty: nowhere",
          .example = "worker-{rank}.safetensors"},
      options.checkpoint);
  visit(session_fields::checkpoint_every(), options.checkpoint_every);
  visit(session_fields::keep_checkpoints(), options.keep_checkpoints);
  visit(stencil::OptionField<std::string>{.key = "resume",
                                          .unit = "FILE",
                                          .help = "the checkpoint to go on from, if it exists",
                                          .example = "worker-{rank}.safetensors"},
        options.resume);
  visit(
      stencil::OptionField<std::string>{
          .key = "out",
          .unit = "DIR",
          .help = "run folder, where the session leaves metrics and its model, in worker-RANK, for "
                  "'fast report'; empty: nowhere",
          .example = "runs/mine"},
      options.out);
  session_fields::visit_recording(options, visit);
  visit_fields(options.exchange, visit);
}

}  // namespace fast
