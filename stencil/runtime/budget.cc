#include "stencil/runtime/budget.h"

#include <algorithm>

#include "stencil/core/byte_size.h"
#include "stencil/core/error.h"
#include "stencil/core/payload_pool.h"

namespace stencil {
namespace {

/// What a transport keeps of a link beside payloads: its tables, its buffers, headers that wait.
constexpr std::size_t kLink = 64 << 10;
/// Likewise of a bucket: its lock, its marks, its place in books.
constexpr std::size_t kBucket = 256;
/// What those may make a transport hold who have not shown to be neighbours; see Door.
constexpr std::size_t kStrangers = 1 << 20;
constexpr std::size_t kLeastStrangers = 2;

/// A recording of the usual size, and the least that is worth it. It is held once more while it is
/// written, with the state that each of its two parts begins with.
constexpr std::size_t kUsualRecording = std::size_t{64} << 20, kLeastRecording = 64 << 10;
constexpr std::size_t kRecordingState = 128 << 10;

/// Of a payload: own ones have pieces of two sizes, and a transport adds to those that it receives.
std::size_t piece(const Footprint& footprint) {
  return footprint.payload + BucketPool::kSmall;
}

std::size_t strangers(const Footprint& footprint) {
  return std::max(kStrangers, kLeastStrangers * (piece(footprint) + kLink));
}

}  // namespace

void Bounds::apply_to(EngineConfig& engine) const {
  engine.window = window;
  engine.window_total = window_total;
  engine.retained_total = retained_total;
  engine.most_held = most_held;
}

Bounds usual_bounds(std::uint32_t window) {
  return {.window = window,
          .window_total = 4 * window,
          .retained_total = 16 * window,
          .most_held = 64,
          .payloads = SIZE_MAX,
          .queue_frames = 32 * std::size_t{window},
          .partial_payloads = 256,
          .recording = kUsualRecording};
}

Bounds tight_bounds(std::uint32_t window, std::size_t neighbours) {
  Bounds bounds = usual_bounds(window);
  bounds.most_held = 4 * window;
  // A reply is written before it is known whether it must be kept. Parts of the model are served to
  // newcomers, and in lock step.
  bounds.payloads = bounds.window_total + bounds.retained_total + 1 + neighbours * window;
  bounds.queue_frames = 8 * std::size_t{window};
  bounds.partial_payloads = neighbours + kLeastStrangers;
  bounds.recording = kLeastRecording;
  return bounds;
}

std::vector<MemoryPart> memory_parts(const Footprint& of, const Bounds& bounds) {
  const std::size_t model = of.floats * sizeof(float);
  const std::size_t each = piece(of);
  std::vector<MemoryPart> parts = of.beside;
  parts.insert(parts.end(),
               {{"y and p", 2 * model + of.buckets * kBucket},
                {"what followers leave out", of.sets_aside ? model + of.payload : 0},
                {"codec", of.neighbours * of.codec},
                {"copy of the framework's values", of.copy},
                {"what newcomers take over", 2 * of.carried},
                {"initial weights under way", of.takes_initial ? model : 0},
                {"checkpoint", of.checkpoint},
                {"recording", of.records ? 2 * (bounds.recording + kRecordingState) : 0},
                {"links", of.neighbours * kLink},
                {"strangers", strangers(of)},
                {"own payloads", bounds.payloads * each},
                {"offers held", of.neighbours * bounds.most_held * each},
                {"put off", bounds.window_total * each},
                {"frames received", of.neighbours * (bounds.queue_frames + 1) * each}});
  return parts;
}

std::size_t sum(const std::vector<MemoryPart>& parts) {
  std::size_t sum = 0;
  for (const MemoryPart& part : parts) sum += part.bytes;
  return sum;
}

Bounds bounds_within(std::size_t budget, const Footprint& footprint, std::uint32_t window,
                     OptionNaming naming) {
  if (budget == 0) return usual_bounds(window);
  for (; window >= 1; --window) {
    Bounds bounds = tight_bounds(window, footprint.neighbours);
    const std::size_t all = sum(memory_parts(footprint, bounds));
    if (all > budget) continue;
    bounds.recording = std::min(kUsualRecording, kLeastRecording + (budget - all) / 2);
    return bounds;
  }
  const auto parts = memory_parts(footprint, tight_bounds(1, footprint.neighbours));
  std::string spelt;
  for (const MemoryPart& part : parts) {
    if (part.bytes == 0) continue;
    if (!spelt.empty()) spelt += " + ";
    spelt.append(part.what).append(" ").append(bytes_text(part.bytes));
  }
  const std::string name = naming("memory_budget");
  const std::string least = bytes_text(sum(parts));
  throw ConfigError(name + " " + bytes_text(budget) + " is too little for this model: " + spelt +
                        ", with a window of 1, are " + least,
                    "give " + name + " " + least + " or more, or take less: smaller buckets (" +
                        naming("bucket_kib") + "), a codec that keeps nothing, no checkpoints (" +
                        naming("checkpoint_every") + " 0)" +
                        (footprint.beside.empty() ? "" : ", fewer examples or a smaller batch") +
                        (footprint.records ? ", no recording (" + naming("record") + ")" : ""));
}

}  // namespace stencil
