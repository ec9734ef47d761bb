// The exchange's arithmetic beside what this machine's memory can do: every operation goes through
// Mixer over a whole model, bucket by bucket, as a worker's threads do it.
//
//   build/bin/mix_bench --benchmark_filter=resnet18   11.17 M floats (44.7 MB) in fp32
//   build/bin/mix_bench --benchmark_filter=small      16 K floats, which stay in cache
//   build/bin/mix_bench --benchmark_filter=buckets    the exchange over bucket sizes
//   build/bin/mix_bench --benchmark_filter=codec      and over codecs
//
// Columns: `model_bytes` is what must cross the bus for the model-sized arrays, counted as STREAM's
// authors advise: 4 bytes a float for each array read, 4 for each written, and 4 more for one that
// is written without having been read in the same pass, whose lines are fetched first. The bytes of
// a bucket in flight are not counted: that buffer is used again and again and stays in cache.
// `ratio` is the time measured over the time that model_bytes need at the speed of a triad
// a = b + s c (counted alike: 16 bytes a float) on arrays of the same size, measured just before.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "stencil/codec/codecs.h"
#include "stencil/core/random.h"
#include "stencil/mix/mixer.h"

namespace stencil {
namespace {

constexpr std::size_t kResNet18 = 11'173'962;
constexpr std::size_t kSmall = 16 * 1024;  // x, y and p together stay in the second-level cache
constexpr int kTriadRuns = 7;

std::vector<float> noise(std::uint64_t seed, std::size_t floats) {
  Random random(seed);
  std::vector<float> values(floats);
  for (float& v : values) v = static_cast<float>(2 * random.uniform() - 1);
  return values;
}

void triad(float* __restrict a, const float* __restrict b, const float* __restrict c,
           std::size_t floats) {
  for (std::size_t i = 0; i < floats; ++i) a[i] = b[i] + 3.0F * c[i];
}

/// Bytes per second; the best of a few runs, each long enough for the clock.
double triad_speed(std::size_t floats) {
  std::vector<float> a(floats, 0.0F), b(floats, 1.0F), c(floats, 2.0F);
  const std::size_t times = std::max<std::size_t>(1, (std::size_t{1} << 23) / floats);
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kTriadRuns; ++run) {
    const auto begun = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < times; ++i) {
      triad(a.data(), b.data(), c.data(), floats);
      benchmark::ClobberMemory();
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    best = std::min(best, took.count() / static_cast<double>(times));
  }
  return 16.0 * static_cast<double>(floats) / best;
}

/// A mixer, the framework's x, and an offer and a reply for one bucket.
struct Bench {
  Bench(std::size_t floats, std::size_t bucket_floats, const CodecSpec& spec, int threads = 1)
      : codecs(spec),
        x(noise(1, floats)),
        layout(Layout::flat(floats, bucket_floats)),
        mixer(layout, x, {}, Segment(layout, kNoRank, 0, Segment::Reach::kOwn), threads),
        offered(values().encoded_size(bucket_floats)),
        replied(differences().encoded_size(bucket_floats)) {
    const auto coded = noise(2, bucket_floats);
    (void)values().encode(coded, offered);
    (void)differences().encode(coded, replied);
  }
  const Codec& values() const { return codecs.values(); }
  const Codec& differences() const { return codecs.differences(); }
  std::span<std::byte> offer(std::uint32_t bucket) {
    return std::span(offered).first(mixer.encoded_size(bucket, values()));
  }
  std::span<std::byte> reply(std::uint32_t bucket) {
    return std::span(replied).first(mixer.encoded_size(bucket, differences()));
  }
  template <typename Visit>
  void each_bucket(Visit visit) {
    for (std::uint32_t b = 0; b < mixer.telemetry_bucket(); ++b) visit(b);
  }

  Codecs codecs;
  std::vector<float> x;
  Layout layout;
  Mixer mixer;
  Bytes offered, replied;
};

/// Runs `work` and reports its ratio to the triad; `words` are the words a float that it moves.
template <typename Work>
void measure(benchmark::State& state, std::size_t floats, double words, Work work) {
  const double speed = triad_speed(floats);
  const auto begun = std::chrono::steady_clock::now();
  for (auto _ : state) {
    work();
    benchmark::ClobberMemory();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  const double bytes = 4 * words * static_cast<double>(floats);
  const double each = took.count() / static_cast<double>(state.iterations());
  state.counters["model_bytes"] = benchmark::Counter(bytes);
  state.counters["GB/s"] = bytes / each / 1e9;
  state.counters["triad_GB/s"] = speed / 1e9;
  state.counters["ratio"] = each / (bytes / speed);
}

using Operation = void (*)(benchmark::State&, std::size_t, std::size_t, const CodecSpec&);

void copying(benchmark::State& state, std::size_t floats, std::size_t, const CodecSpec&) {
  std::vector<float> from(floats, 1.0F), to(floats, 2.0F);
  measure(state, floats, 3, [&] { std::memcpy(to.data(), from.data(), 4 * floats); });
}

void fold(benchmark::State& state, std::size_t floats, std::size_t bucket, const CodecSpec& spec) {
  Bench bench(floats, bucket, spec);
  measure(state, floats, 6, [&] { benchmark::DoNotOptimize(bench.mixer.fold(bench.x)); });
}

template <int kThreads>
void fold_by(benchmark::State& state, std::size_t floats, std::size_t bucket,
             const CodecSpec& spec) {
  Bench bench(floats, bucket, spec, kThreads);
  measure(state, floats, 6, [&] { benchmark::DoNotOptimize(bench.mixer.fold(bench.x)); });
}

void offer(benchmark::State& state, std::size_t floats, std::size_t bucket, const CodecSpec& spec) {
  Bench bench(floats, bucket, spec);
  measure(state, floats, 2, [&] {
    bench.each_bucket([&](std::uint32_t b) {
      benchmark::DoNotOptimize(bench.mixer.offer(b, bench.values(), bench.offer(b)));
    });
  });
}

void answer(benchmark::State& state, std::size_t floats, std::size_t bucket,
            const CodecSpec& spec) {
  Bench bench(floats, bucket, spec);
  measure(state, floats, 3, [&] {
    bench.each_bucket([&](std::uint32_t b) {
      bench.mixer.answer(b, bench.values(), bench.offer(b), 2, bench.differences(), bench.reply(b));
    });
  });
}

void settle(benchmark::State& state, std::size_t floats, std::size_t bucket,
            const CodecSpec& spec) {
  Bench bench(floats, bucket, spec);
  measure(state, floats, 2, [&] {
    bench.each_bucket(
        [&](std::uint32_t b) { bench.mixer.settle(b, bench.differences(), bench.reply(b), 2); });
  });
}

void merge(benchmark::State& state, std::size_t floats, std::size_t bucket, const CodecSpec& spec) {
  Bench bench(floats, bucket, spec);
  Bytes ours = bench.offered;
  measure(state, floats, 2, [&] {
    bench.each_bucket([&](std::uint32_t b) {
      const auto theirs = bench.offer(b);
      bench.mixer.merge(b, bench.values(), std::span(ours).first(theirs.size()), bench.values(),
                        theirs);
    });
  });
}

void publish(benchmark::State& state, std::size_t floats, std::size_t bucket,
             const CodecSpec& spec) {
  Bench bench(floats, bucket, spec);
  measure(state, floats, 5, [&] { bench.mixer.publish(bench.x, {}, bench.values(), 0.2); });
}

void absorb(benchmark::State& state, std::size_t floats, std::size_t bucket,
            const CodecSpec& spec) {
  Bench bench(floats, bucket, spec);
  measure(state, floats, 2, [&] {
    bench.each_bucket(
        [&](std::uint32_t b) { bench.mixer.absorb(b, bench.values(), bench.offer(b), 0.2); });
  });
}

void collect(benchmark::State& state, std::size_t floats, std::size_t bucket,
             const CodecSpec& spec) {
  Bench bench(floats, bucket, spec);
  measure(state, floats, 3, [&] { bench.mixer.collect(bench.x, {}); });
}

/// Codec topk: the three operations on a part of each bucket, after a step that moved all of it.
struct PartBench {
  PartBench(std::size_t floats, std::size_t bucket_floats, const CodecSpec& spec)
      : bench(floats, bucket_floats, spec), shown(bench.mixer.shown_initially()) {
    const auto step = noise(3, floats);
    for (std::size_t i = 0; i < floats; ++i) bench.x[i] += 1e-2F * step[i];
    (void)bench.mixer.fold(bench.x);
    bench.each_bucket([&](std::uint32_t b) {
      const std::size_t size = bench.mixer.layout().bucket(b).size;
      offers.emplace_back(bench.codecs.offer_size(size));
      replies.emplace_back(bench.codecs.reply_size(size));
      (void)bench.mixer.offer(b, shown, *bench.codecs.top_k(), offers.back());
    });
  }
  Bench bench;
  Shown shown;
  std::vector<Bytes> offers, replies;
};

void part_offer(benchmark::State& state, std::size_t floats, std::size_t bucket,
                const CodecSpec& spec) {
  PartBench part(floats, bucket, spec);
  measure(state, floats, 3, [&] {
    part.bench.each_bucket([&](std::uint32_t b) {
      benchmark::DoNotOptimize(
          part.bench.mixer.offer(b, part.shown, *part.bench.codecs.top_k(), part.offers[b]));
      part.bench.mixer.close(b);
    });
  });
}

void part_answer(benchmark::State& state, std::size_t floats, std::size_t bucket,
                 const CodecSpec& spec) {
  PartBench part(floats, bucket, spec);
  part.bench.each_bucket([&](std::uint32_t b) { part.bench.mixer.close(b); });
  measure(state, floats, 3, [&] {
    part.bench.each_bucket([&](std::uint32_t b) {
      part.bench.mixer.answer(b, part.shown, part.offers[b], 2, part.replies[b]);
    });
  });
}

void part_settle(benchmark::State& state, std::size_t floats, std::size_t bucket,
                 const CodecSpec& spec) {
  PartBench part(floats, bucket, spec);
  measure(state, floats, 2, [&] {
    part.bench.each_bucket([&](std::uint32_t b) {
      part.bench.mixer.settle(b, part.shown, part.offers[b], part.replies[b], 2);
    });
  });
}

/// Codec int4: the same by residues, of workers as far apart as a step has moved them.
struct ResidueBench {
  ResidueBench(std::size_t floats, std::size_t bucket_floats, const CodecSpec& spec)
      : bench(floats, bucket_floats, spec), spread(bench.mixer.spread_initially()) {
    bench.each_bucket([&](std::uint32_t b) {
      const std::size_t size = bench.mixer.layout().bucket(b).size;
      offers.emplace_back(bench.codecs.offer_size(size));
      replies.emplace_back(bench.codecs.reply_size(size));
      (void)bench.mixer.offer(b, spread, offers.back());
      bench.mixer.close(b);
      answer(b);
    });
  }
  void answer(std::uint32_t b) {
    benchmark::DoNotOptimize(
        bench.mixer.answer(b, spread, offers[b], 2, bench.codecs.differences(), replies[b]));
  }
  Bench bench;
  Spread spread;
  std::vector<Bytes> offers, replies;
};

void residue_offer(benchmark::State& state, std::size_t floats, std::size_t bucket,
                   const CodecSpec& spec) {
  ResidueBench residues(floats, bucket, spec);
  measure(state, floats, 2, [&] {
    residues.bench.each_bucket([&](std::uint32_t b) {
      benchmark::DoNotOptimize(residues.bench.mixer.offer(b, residues.spread, residues.offers[b]));
      residues.bench.mixer.close(b);
    });
  });
}

void residue_answer(benchmark::State& state, std::size_t floats, std::size_t bucket,
                    const CodecSpec& spec) {
  ResidueBench residues(floats, bucket, spec);
  measure(state, floats, 3,
          [&] { residues.bench.each_bucket([&](std::uint32_t b) { residues.answer(b); }); });
}

void residue_settle(benchmark::State& state, std::size_t floats, std::size_t bucket,
                    const CodecSpec& spec) {
  ResidueBench residues(floats, bucket, spec);
  measure(state, floats, 2, [&] {
    residues.bench.each_bucket([&](std::uint32_t b) {
      benchmark::DoNotOptimize(residues.bench.mixer.settle(
          b, residues.spread, residues.bench.codecs.differences(), residues.replies[b], 2));
    });
  });
}

struct Named {
  const char* name;
  Operation run;
};
constexpr Named kOperations[] = {{"memcpy", copying},  {"fold", fold},     {"offer", offer},
                                 {"answer", answer},   {"settle", settle}, {"merge", merge},
                                 {"publish", publish}, {"absorb", absorb}, {"collect", collect}};
constexpr Named kExchange[] = {
    {"fold", fold}, {"offer", offer}, {"answer", answer}, {"settle", settle}};

constexpr Named kPartial[] = {
    {"offer", part_offer}, {"answer", part_answer}, {"settle", part_settle}};
constexpr Named kResidues[] = {
    {"offer", residue_offer}, {"answer", residue_answer}, {"settle", residue_settle}};

void add(const std::string& name, Operation run, std::size_t floats, std::size_t bucket,
         CodecSpec spec) {
  benchmark::RegisterBenchmark(name.c_str(), run, floats, bucket, spec)
      ->Unit(benchmark::kMillisecond);
}

void add_all() {
  constexpr std::size_t kBucket = Layout::kLargestBucketFloats;
  for (const Named& each : kOperations) {
    add(std::string("resnet18/") + each.name, each.run, kResNet18, kBucket, CodecKind::kFp32);
    add(std::string("small/") + each.name, each.run, kSmall, kBucket, CodecKind::kFp32);
  }
  for (const std::size_t floats : {kResNet18, 10 * kResNet18}) {
    const std::string size = "threads/" + std::to_string(floats / 1'000'000) + "M/";
    add(size + "1", fold, floats, kBucket, CodecKind::kFp32);
    add(size + "2", fold_by<2>, floats, kBucket, CodecKind::kFp32);
    add(size + "4", fold_by<4>, floats, kBucket, CodecKind::kFp32);
  }
  for (const Named& each : kExchange) {
    for (std::size_t kib = 16; kib <= 4096; kib *= 4) {
      add(std::string("buckets/") + each.name + "/" + std::to_string(kib) + "KiB", each.run,
          kResNet18, kib * 256, CodecKind::kFp32);
    }
    for (const CodecKind codec : kDenseCodecs) {
      if (codec == CodecKind::kInt4) continue;
      add(std::string("codec/") + each.name + "/" + std::string(name(codec)), each.run, kResNet18,
          kBucket, codec);
    }
  }
  for (const Named& each : kResidues) {
    add(std::string("codec/") + each.name + "/int4", each.run, kResNet18, kBucket,
        CodecKind::kInt4);
  }
  for (const Named& each : kPartial) {
    for (const char* const codec : {"topk:0.001", "topk:0.01", "topk:0.1"}) {
      add(std::string("codec/") + each.name + "/" + codec, each.run, kResNet18, kBucket,
          parse_codec(codec));
    }
  }
}

}  // namespace
}  // namespace stencil

int main(int argc, char** argv) {
  stencil::add_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
