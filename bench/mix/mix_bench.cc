// The exchange's arithmetic beside what this machine's memory can do: every operation goes through
// Mixer over a whole model, bucket by bucket, as a worker's threads do it.
//
//   build/bin/mix_bench --benchmark_filter=resnet18   11.17 M floats (44.7 MB) in fp32
//   build/bin/mix_bench --benchmark_filter=small      16 K floats, which stay in cache
//   build/bin/mix_bench --benchmark_filter=buckets    the exchange over bucket sizes
//   build/bin/mix_bench --benchmark_filter=codec      and over codecs
//
// Columns: `model_bytes` are the bytes of model-sized arrays that must cross the bus, counted as
// STREAM's authors advise: 4 bytes a float for each array read, 4 for each written, and 4 more for
// one that is written without having been read in the same pass, whose lines are fetched first. The
// bytes of a bucket in flight are not counted: that buffer is used again and again and stays in
// cache. `ratio` is the time measured over the time that model_bytes need at the speed of a triad a
// = b + s c (counted alike: 16 bytes a float) on arrays of the same size, measured just before.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "stencil/core/random.h"
#include "stencil/mix/codecs/dense.h"
#include "stencil/mix/codecs/kinds.h"
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

/// Bytes per second: the best of a few runs, each long enough for the clock.
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
      : x(noise(1, floats)),
        layout(Layout::flat(floats, bucket_floats)),
        mixer(layout, x, {}, Segment(layout, kNoRank, Segment::Reach::kOwn), threads),
        codec(make_edge_codec(spec, layout, x)),
        values(make_codec(pulled_as(spec))),
        offered(codec->offer_form(bucket_floats).bytes),
        replied(codec->reply_form(bucket_floats).bytes),
        pulled(values->encoded_size(bucket_floats)) {
    std::vector<float> theirs = noise(2, bucket_floats), none(bucket_floats);
    const BucketValues bucket{0, none, theirs};
    (void)codec->offer(bucket, offered);
    (void)codec->answer(bucket, offered, 2, replied);
    (void)values->encode(theirs, pulled);
  }
  std::span<std::byte> offer(std::uint32_t bucket) {
    return std::span(offered).first(codec->offer_form(mixer.floats(bucket)).bytes);
  }
  std::span<std::byte> reply(std::uint32_t bucket) {
    return std::span(replied).first(codec->reply_form(mixer.floats(bucket)).bytes);
  }
  std::span<std::byte> snapshot(std::uint32_t bucket) {
    return std::span(pulled).first(values->encoded_size(mixer.floats(bucket)));
  }
  /// As if neighbours had moved this worker everywhere.
  void let_come() {
    each_bucket([&](std::uint32_t b) { mixer.segment().control(b).came = 1; });
  }
  template <typename Visit>
  void each_bucket(Visit visit) {
    for (std::uint32_t b = 0; b < mixer.telemetry_bucket(); ++b) visit(b);
  }

  std::vector<float> x;
  Layout layout;
  Mixer mixer;
  std::unique_ptr<EdgeCodec> codec;
  std::unique_ptr<const Codec> values;  ///< of whole models
  Bytes offered, replied, pulled;
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
  measure(state, floats, 6, [&] {
    bench.let_come();
    benchmark::DoNotOptimize(bench.mixer.fold(bench.x));
  });
}

/// The end of a step for which nothing came.
void show(benchmark::State& state, std::size_t floats, std::size_t bucket, const CodecSpec& spec) {
  Bench bench(floats, bucket, spec);
  measure(state, floats, 3, [&] { benchmark::DoNotOptimize(bench.mixer.fold(bench.x)); });
}

/// The end of a pause in which something came for every bucket, and for none. The latter moves no
/// word; its ratio is to one that moves one.
void resume(benchmark::State& state, std::size_t floats, std::size_t bucket,
            const CodecSpec& spec) {
  Bench bench(floats, bucket, spec);
  measure(state, floats, 6, [&] {
    bench.let_come();
    benchmark::DoNotOptimize(bench.mixer.fold_news(bench.x));
  });
}
void resume_alone(benchmark::State& state, std::size_t floats, std::size_t bucket,
                  const CodecSpec& spec) {
  Bench bench(floats, bucket, spec);
  measure(state, floats, 1, [&] { benchmark::DoNotOptimize(bench.mixer.fold_news(bench.x)); });
}

template <int kThreads>
void fold_by(benchmark::State& state, std::size_t floats, std::size_t bucket,
             const CodecSpec& spec) {
  Bench bench(floats, bucket, spec, kThreads);
  measure(state, floats, 6, [&] {
    bench.let_come();
    benchmark::DoNotOptimize(bench.mixer.fold(bench.x));
  });
}

void offer(benchmark::State& state, std::size_t floats, std::size_t bucket, const CodecSpec& spec) {
  Bench bench(floats, bucket, spec);
  measure(state, floats, 2, [&] {
    bench.each_bucket([&](std::uint32_t b) {
      benchmark::DoNotOptimize(bench.mixer.offer(b, *bench.codec, bench.offer(b)));
    });
  });
}

void answer(benchmark::State& state, std::size_t floats, std::size_t bucket,
            const CodecSpec& spec) {
  Bench bench(floats, bucket, spec);
  measure(state, floats, 3, [&] {
    bench.each_bucket([&](std::uint32_t b) {
      bench.mixer.answer(b, *bench.codec, bench.offer(b), 2, bench.reply(b));
    });
  });
}

void complete(benchmark::State& state, std::size_t floats, std::size_t bucket,
              const CodecSpec& spec) {
  Bench bench(floats, bucket, spec);
  measure(state, floats, 2, [&] {
    bench.each_bucket([&](std::uint32_t b) {
      bench.mixer.complete(b, *bench.codec, bench.offer(b), bench.reply(b), 2);
    });
  });
}

void merge(benchmark::State& state, std::size_t floats, std::size_t bucket, const CodecSpec& spec) {
  Bench bench(floats, bucket, spec);
  Bytes ours = bench.offered;
  measure(state, floats, 2, [&] {
    bench.each_bucket([&](std::uint32_t b) {
      const auto theirs = bench.offer(b);
      const CodedOffer offered{std::span(ours).first(theirs.size())};
      bench.mixer.merge(b, *bench.codec, offered, {theirs});
    });
  });
}

void publish(benchmark::State& state, std::size_t floats, std::size_t bucket,
             const CodecSpec& spec) {
  Bench bench(floats, bucket, spec);
  measure(state, floats, 5, [&] { bench.mixer.publish(bench.x, {}, *bench.values, 0.2); });
}

void absorb(benchmark::State& state, std::size_t floats, std::size_t bucket,
            const CodecSpec& spec) {
  Bench bench(floats, bucket, spec);
  measure(state, floats, 2, [&] {
    bench.each_bucket(
        [&](std::uint32_t b) { bench.mixer.absorb(b, *bench.values, bench.snapshot(b), 0.2); });
  });
}

void collect(benchmark::State& state, std::size_t floats, std::size_t bucket,
             const CodecSpec& spec) {
  Bench bench(floats, bucket, spec);
  measure(state, floats, 3, [&] { bench.mixer.collect(bench.x, {}); });
}

/// Codecs with state per neighbour, and so with an offer for each bucket, of workers that a step
/// has moved apart everywhere.
struct Knowing {
  Knowing(std::size_t floats, std::size_t bucket_floats, const CodecSpec& spec)
      : bench(floats, bucket_floats, spec) {
    const auto step = noise(3, floats);
    for (std::size_t i = 0; i < floats; ++i) bench.x[i] += 1e-2F * step[i];
    (void)bench.mixer.fold(bench.x);
    bench.each_bucket([&](std::uint32_t b) {
      offers.emplace_back(bench.offer(b).size());
      replies.emplace_back(bench.reply(b).size());
      offer(b);
      answer(b);
    });
  }
  void offer(std::uint32_t b) {
    benchmark::DoNotOptimize(bench.mixer.offer(b, *bench.codec, offers[b]));
    bench.mixer.close_request(b);
  }
  void answer(std::uint32_t b) {
    benchmark::DoNotOptimize(bench.mixer.answer(b, *bench.codec, offers[b], 2, replies[b]));
  }
  void complete(std::uint32_t b) {
    benchmark::DoNotOptimize(bench.mixer.complete(b, *bench.codec, offers[b], replies[b], 2));
  }
  Bench bench;
  std::vector<Bytes> offers, replies;
};

template <void (Knowing::*operation)(std::uint32_t), int kWords>
void knowing(benchmark::State& state, std::size_t floats, std::size_t bucket,
             const CodecSpec& spec) {
  Knowing worker(floats, bucket, spec);
  measure(state, floats, kWords,
          [&] { worker.bench.each_bucket([&](std::uint32_t b) { (worker.*operation)(b); }); });
}

struct Named {
  const char* name;
  Operation run;
};
constexpr Named kOperations[] = {
    {"memcpy", copying},     {"fold", fold},       {"show", show},     {"resume", resume},
    {"alone", resume_alone}, {"offer", offer},     {"answer", answer}, {"complete", complete},
    {"merge", merge},        {"publish", publish}, {"absorb", absorb}, {"collect", collect}};
constexpr Named kExchange[] = {
    {"fold", fold}, {"offer", offer}, {"answer", answer}, {"complete", complete}};

constexpr Named kPartial[] = {{"offer", knowing<&Knowing::offer, 3>},
                              {"answer", knowing<&Knowing::answer, 3>},
                              {"complete", knowing<&Knowing::complete, 2>}};
constexpr Named kResidues[] = {{"offer", knowing<&Knowing::offer, 2>},
                               {"answer", knowing<&Knowing::answer, 3>},
                               {"complete", knowing<&Knowing::complete, 2>}};

void add(const std::string& name, Operation run, std::size_t floats, std::size_t bucket,
         CodecSpec spec) {
  benchmark::RegisterBenchmark(name.c_str(), run, floats, bucket, spec)
      ->Unit(benchmark::kMillisecond);
}

void add_all() {
  constexpr std::size_t kBucket = Layout::kLargestBucketFloats;
  for (const Named& each : kOperations) {
    add(std::string("resnet18/") + each.name, each.run, kResNet18, kBucket, {});
    add(std::string("small/") + each.name, each.run, kSmall, kBucket, {});
  }
  for (const std::size_t floats : {kResNet18, 10 * kResNet18}) {
    const std::string size = "threads/" + std::to_string(floats / 1'000'000) + "M/";
    add(size + "1", fold, floats, kBucket, {});
    add(size + "2", fold_by<2>, floats, kBucket, {});
    add(size + "4", fold_by<4>, floats, kBucket, {});
  }
  for (const Named& each : kExchange) {
    for (std::size_t kib = 16; kib <= 4096; kib *= 4) {
      add(std::string("buckets/") + each.name + "/" + std::to_string(kib) + "KiB", each.run,
          kResNet18, kib * 256, {});
    }
    for (const CodecKind& codec : codec_kinds()) {
      if (codec.edge != nullptr) continue;
      add(std::string("codec/") + each.name + "/" + std::string(codec.name), each.run, kResNet18,
          kBucket, {codec.number, 0});
    }
  }
  for (const Named& each : kResidues) {
    add(std::string("codec/") + each.name + "/int4", each.run, kResNet18, kBucket,
        parse_codec("int4"));
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
