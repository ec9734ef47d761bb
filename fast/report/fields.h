#pragma once

/// Every name that appears in metrics.jsonl and summary.json, in one place.
namespace fast::field {

// metrics.jsonl: one JSON object a line. "kind" tells which.
inline constexpr char kKind[] = "kind";  // "start" | "progress" | "event" | "end"
inline constexpr char kRank[] = "rank";
inline constexpr char kTime[] = "time";           // seconds since this worker's start
inline constexpr char kUnixTime[] = "unix_time";  // start only: seconds since the epoch
inline constexpr char kRunId[] = "run_id";        // start and summary
inline constexpr char kVersion[] = "version";     // start and summary
inline constexpr char kEpochs[] = "epochs";       // start and summary
inline constexpr char kBudget[] = "budget";       // start: samples over all workers
inline constexpr char kStep[] = "step";
inline constexpr char kSamples[] = "samples";                 // by this worker
inline constexpr char kNetworkSamples[] = "network_samples";  // by all, as gossip tells
inline constexpr char kProgress[] = "progress";               // 0..1, network-wide
inline constexpr char kSamplesPerSecond[] = "samples_per_second";
inline constexpr char kLoss[] = "loss";          // this worker's, decayed mean
inline constexpr char kAccuracy[] = "accuracy";  // this worker's on training batches
inline constexpr char kTestAccuracy[] = "test_accuracy";
inline constexpr char kTestLoss[] = "test_loss";
inline constexpr char kNetworkLoss[] = "network_loss";
inline constexpr char kLearningRate[] = "learning_rate";
inline constexpr char kConsensus[] = "consensus_distance";  // own estimate: rms edge distance/|x|
inline constexpr char kExchangeSeconds[] = "exchange_seconds";
inline constexpr char kTrainingSeconds[] = "training_seconds";
inline constexpr char kState[] = "state";            // joining|training|settling|settled|frozen
inline constexpr char kNeighbours[] = "neighbours";  // array of the objects below
inline constexpr char kLink[] = "link";      // neighbour's state: connecting|up|suspect|gone|left
inline constexpr char kSweeps[] = "sweeps";  // completed with this neighbour, by us
inline constexpr char kBytes[] = "bytes";    // sent to this neighbour
inline constexpr char kRoundTrip[] = "round_trip_ms";   // of a bucket, decayed mean
inline constexpr char kSinceSweep[] = "since_sweep";    // seconds since the last completed sweep
inline constexpr char kShared[] = "shared";             // exchanges in shared memory
inline constexpr char kBytesShared[] = "bytes_shared";  // of the model, averaged there by us
inline constexpr char kEvent[] = "event";               // event lines: a short name
inline constexpr char kText[] = "text";
inline constexpr char kCounters[] = "counters";   // end line: object name -> count
inline constexpr char kExitCode[] = "exit_code";  // end line

// summary.json
inline constexpr char kWorkers[] = "workers";
inline constexpr char kTopology[] = "topology";
inline constexpr char kMode[] = "mode";
inline constexpr char kModel[] = "model";
inline constexpr char kData[] = "data";
inline constexpr char kWallSeconds[] = "wall_seconds";
inline constexpr char kMeanModel[] = "mean_model";
inline constexpr char kWorkerMin[] = "worker_min";
inline constexpr char kWorkerMax[] = "worker_max";
inline constexpr char kSweepsCompleted[] = "sweeps_completed";
inline constexpr char kBytesSent[] = "bytes_sent";
inline constexpr char kExchangeShare[] = "exchange_share";
inline constexpr char kExitCodes[] = "exit_codes";
inline constexpr char kLostRanks[] = "lost_ranks";
inline constexpr char kRestartedRanks[] = "restarted_ranks";
inline constexpr char kExcludedRanks[] = "excluded_ranks";  // models not in the mean: not finite
inline constexpr char kEdges[] = "edges";  // array of {ranks, sweeps, bytes, round_trip_ms}
inline constexpr char kRanks[] = "ranks";  // of an edge: both ends
inline constexpr char kMeanModelFile[] = "model_file";

}  // namespace fast::field
