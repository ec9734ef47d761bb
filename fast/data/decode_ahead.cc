#include "fast/data/decode_ahead.h"

#include <algorithm>

namespace fast {

void DecodeAhead::expect(std::span<const std::uint32_t> next) {
  shares_.clear();  // waits for what is under way
  shares_.resize(std::min(kThreads, next.size()));
  for (std::size_t i = 0; i < next.size(); ++i) {
    shares_[i % shares_.size()].examples.push_back(next[i]);
  }
  for (Share& share : shares_) {
    share.decoded.resize(share.examples.size() * each_);
    share.work = std::async(std::launch::async, [this, &share] {
      for (std::size_t i = 0; i < share.examples.size(); ++i) {
        decode_(share.examples[i], std::span(share.decoded).subspan(i * each_, each_));
      }
    });
  }
}

void DecodeAhead::read(std::size_t first, std::span<std::uint8_t> out) {
  for (; !out.empty(); out = out.subspan(each_)) read_one(first++, out.first(each_));
}

void DecodeAhead::read_one(std::size_t example, std::span<std::uint8_t> out) {
  for (Share& share : shares_) {
    const auto it = std::ranges::find(share.examples, example);
    if (it == share.examples.end()) continue;
    try {
      if (share.work.valid()) share.work.get();
    } catch (...) {
      share.examples.clear();  // they are not all decoded
      throw;
    }
    const auto place = static_cast<std::size_t>(it - share.examples.begin());
    std::ranges::copy(std::span(share.decoded).subspan(place * each_, each_), out.begin());
    return;
  }
  decode_(example, out);
}

}  // namespace fast
