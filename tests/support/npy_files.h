#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/support/cifar_files.h"

namespace fast::testing {

/// A file of version 1 with this header and these bytes of elements, as numpy.save writes it.
inline Bytes npy_file(std::string header, std::span<const std::uint8_t> elements) {
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  Bytes file = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  file.push_back(static_cast<std::uint8_t>(header.size() & 0xff));
  file.push_back(static_cast<std::uint8_t>(header.size() >> 8U));
  file.insert(file.end(), header.begin(), header.end());
  file.insert(file.end(), elements.begin(), elements.end());
  return file;
}

/// An array of elements of `T` whose shape is `shape`, "10, 3" say.
template <typename T>
Bytes npy_bytes(const std::string& shape, const std::vector<T>& elements) {
  const char kind = std::is_floating_point_v<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u';
  const std::string type =
      (sizeof(T) == 1 ? "|" : "<") + std::string(1, kind) + std::to_string(sizeof(T));
  Bytes bytes(elements.size() * sizeof(T));
  std::memcpy(bytes.data(), elements.data(), bytes.size());
  return npy_file("{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + ",), }",
                  bytes);
}

/// Two classes that lie apart: `train` and `test` examples of `features` numbers each.
inline void write_npy(const std::filesystem::path& directory, std::size_t train, std::size_t test,
                      std::size_t features) {
  for (const auto& [part, count] : {std::pair{"train", train}, {"test", test}}) {
    std::vector<float> x(count * features);
    std::vector<std::int64_t> y(count);
    for (std::size_t i = 0; i < count; ++i) {
      y[i] = static_cast<std::int64_t>(i % 2);
      for (std::size_t j = 0; j < features; ++j) {
        const auto noise = static_cast<float>((i * 7 + j * 13) % 11) / 11;
        x[i * features + j] = (i % 2 == 0 ? -1.0F : 1.0F) + noise - 0.5F;
      }
    }
    const std::string n = std::to_string(count);
    write_bytes(directory / (std::string(part) + "-x.npy"),
                npy_bytes(n + ", " + std::to_string(features), x));
    write_bytes(directory / (std::string(part) + "-y.npy"), npy_bytes(n, y));
  }
}

}  // namespace fast::testing
