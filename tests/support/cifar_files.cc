#include "tests/support/cifar_files.h"

#include <stdlib.h>
#include <zlib.h>

#include <cerrno>
#include <fstream>
#include <ios>
#include <stdexcept>
#include <string>
#include <system_error>

#include "stencil/core/random.h"

namespace fast::testing {
namespace {

using stencil::Random;

constexpr std::size_t kClasses = 10;
constexpr std::size_t kCifarPixels = 3072;

void append_pixels(Bytes& out, std::size_t count, std::size_t label, Random& random) {
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(static_cast<std::uint8_t>(10 * label + random.below(150)));
  }
}

void append_big_endian(Bytes& out, std::size_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    out.push_back(static_cast<std::uint8_t>(value >> shift));
  }
}

}  // namespace

Bytes cifar10_bytes(std::size_t records, std::uint64_t seed) {
  Random random(seed);
  Bytes bytes;
  bytes.reserve(records * (kCifarPixels + 1));
  for (std::size_t i = 0; i < records; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(i % kClasses));
    append_pixels(bytes, kCifarPixels, i % kClasses, random);
  }
  return bytes;
}

void write_cifar10(const std::filesystem::path& directory, int batches, std::size_t per_batch,
                   std::size_t test, std::uint64_t seed) {
  std::filesystem::create_directories(directory);
  for (int i = 1; i <= batches; ++i) {
    write_bytes(directory / ("data_batch_" + std::to_string(i) + ".bin"),
                cifar10_bytes(per_batch, Random::derive(seed, static_cast<std::uint64_t>(i))));
  }
  write_bytes(directory / "test_batch.bin", cifar10_bytes(test, Random::derive(seed, 0)));
}

Bytes idx_images_bytes(std::size_t count, int height, int width, std::uint64_t seed) {
  Random random(seed);
  Bytes bytes;
  append_big_endian(bytes, 0x803);
  append_big_endian(bytes, count);
  append_big_endian(bytes, static_cast<std::size_t>(height));
  append_big_endian(bytes, static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < count; ++i) {
    append_pixels(bytes, static_cast<std::size_t>(height) * static_cast<std::size_t>(width),
                  i % kClasses, random);
  }
  return bytes;
}

Bytes idx_labels_bytes(std::size_t count) {
  Bytes bytes;
  append_big_endian(bytes, 0x801);
  append_big_endian(bytes, count);
  for (std::size_t i = 0; i < count; ++i) bytes.push_back(static_cast<std::uint8_t>(i % kClasses));
  return bytes;
}

void write_mnist(const std::filesystem::path& directory, std::size_t train, std::size_t test,
                 int height, int width, IdxSpelling spelling) {
  std::filesystem::create_directories(directory);
  const auto write = [&](const std::string& part, const std::string& kind, const Bytes& bytes) {
    const std::string separator = spelling == IdxSpelling::kDotted ? "." : "-";
    const bool packed = spelling == IdxSpelling::kGzip;
    write_bytes(directory / (part + separator + kind + (packed ? ".gz" : "")),
                packed ? gzip(bytes) : bytes);
  };
  write("train-images", "idx3-ubyte", idx_images_bytes(train, height, width, 1));
  write("train-labels", "idx1-ubyte", idx_labels_bytes(train));
  write("t10k-images", "idx3-ubyte", idx_images_bytes(test, height, width, 2));
  write("t10k-labels", "idx1-ubyte", idx_labels_bytes(test));
}

Bytes gzip(std::span<const std::uint8_t> bytes) {
  z_stream stream{};
  constexpr int kGzip = 16 + MAX_WBITS;
  constexpr int kMemory = 8;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemory,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("zlib does not start");
  }
  Bytes out(deflateBound(&stream, bytes.size()));
  stream.next_in = const_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  const int state = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (state != Z_STREAM_END) throw std::runtime_error("zlib did not finish");
  return out;
}

void write_bytes(const std::filesystem::path& file, std::span<const std::uint8_t> bytes) {
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw std::runtime_error("cannot write " + file.string());
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "fast-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), "cannot make " + name);
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

}  // namespace fast::testing
