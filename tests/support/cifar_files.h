#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace fast::testing {

using Bytes = std::vector<std::uint8_t>;

/// `records` records in CIFAR-10's binary format; labels go round 0..9 and the pixels follow from
/// (seed, record), brighter for higher labels so that models can learn something.
[[nodiscard]] Bytes cifar10_bytes(std::size_t records, std::uint64_t seed);

/// data_batch_1..batches.bin with `per_batch` records each and test_batch.bin with `test`.
void write_cifar10(const std::filesystem::path& directory, int batches, std::size_t per_batch,
                   std::size_t test, std::uint64_t seed = 1);

/// IDX files of `count` images, labels going round 0..9.
[[nodiscard]] Bytes idx_images_bytes(std::size_t count, int height, int width, std::uint64_t seed);
[[nodiscard]] Bytes idx_labels_bytes(std::size_t count);

enum class IdxSpelling { kPlain, kDotted, kGzip };

/// The four files of MNIST.
void write_mnist(const std::filesystem::path& directory, std::size_t train, std::size_t test,
                 int height, int width, IdxSpelling spelling = IdxSpelling::kPlain);

[[nodiscard]] Bytes gzip(std::span<const std::uint8_t> bytes);
void write_bytes(const std::filesystem::path& file, std::span<const std::uint8_t> bytes);

/// A temporary folder, removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace fast::testing
