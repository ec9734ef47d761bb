// Each codec over a few blocks in the first-level cache: the cost of coding alone, without memory
// and link.
//
//   build/bin/codec_bench
//
// `GB/s` counts the floats, 4 bytes each, whatever their coded size. Compare it with the speed of
// memory in mix_bench.
#include <benchmark/benchmark.h>

#include <array>
#include <string>
#include <vector>

#include "stencil/codec/codec.h"
#include "stencil/core/random.h"
#include "stencil/mix/codecs/kinds.h"

namespace stencil {
namespace {

std::vector<float> noise(std::size_t floats) {
  Random random(1);
  std::vector<float> values(floats);
  for (float& v : values) v = static_cast<float>(random.normal());
  return values;
}

void report(benchmark::State& state, std::size_t floats) {
  state.counters["GB/s"] = benchmark::Counter(4e-9 * static_cast<double>(floats),
                                              benchmark::Counter::kIsIterationInvariantRate);
}

void encode(benchmark::State& state, CodecNumber number) {
  const auto codec = make_codec(number);
  const auto values = noise(2 * kCodecBlock);
  std::vector<std::byte> bytes(codec->encoded_size(values.size()));
  for (auto _ : state) {
    benchmark::DoNotOptimize(codec->encode(values, bytes));
    benchmark::ClobberMemory();
  }
  report(state, values.size());
}

void decode(benchmark::State& state, CodecNumber number) {
  const auto codec = make_codec(number);
  auto values = noise(2 * kCodecBlock);
  std::vector<std::byte> bytes(codec->encoded_size(values.size()));
  (void)codec->encode(values, bytes);
  for (auto _ : state) {
    benchmark::DoNotOptimize(codec->decode(bytes, values));
    benchmark::ClobberMemory();
  }
  report(state, values.size());
}

}  // namespace
}  // namespace stencil

int main(int argc, char** argv) {
  for (const stencil::CodecKind& kind : stencil::codec_kinds()) {
    if (kind.dense == nullptr) continue;
    const std::string name(kind.name);
    benchmark::RegisterBenchmark((name + "/encode").c_str(), stencil::encode, kind.number);
    benchmark::RegisterBenchmark((name + "/decode").c_str(), stencil::decode, kind.number);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
