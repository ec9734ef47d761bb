#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fast/adapter.h"

namespace fast {

/// The safetensors format (https://github.com/huggingface/safetensors):
///   file   = u64 little-endian length of header, header, data
///   header = JSON {"name": {"dtype", "shape", "data_offsets": [begin, end)}, ...,
///                  "__metadata__": {text: text}}, padded with spaces
///   data   = the tensors' bytes, without gap or overlap
using SafetensorsMetadata = std::map<std::string, std::string>;

/// Metadata key of the exchanged tensors: a JSON array of names. Consensus is measured over these
/// alone.
inline constexpr char kExchangedKey[] = "exchanged";
/// Metadata key of the tensors that workers carry, likewise: nobody averages them (see Role).
inline constexpr char kCarriedKey[] = "carried";
/// Metadata key of a worker's model: how the worker's part ended. One of name(Agreement), or
/// kEndedEarly.
inline constexpr char kEndedKey[] = "ended";
inline constexpr char kEndedEarly[] = "early";  ///< stopped, failed, or still training
/// Metadata keys of a worker's model: whose it is, and of which run.
/// Of a worker's best model, which of its evaluations that was: a number, or "last" for the model
/// that all have agreed on.
inline constexpr char kEvaluationKey[] = "evaluation";
inline constexpr char kRankKey[] = "rank";
inline constexpr char kRunIdKey[] = "run_id";
/// Metadata key that save_safetensors() adds: XXH3 (64 bits, hexadecimal) of the tensors' bytes, in
/// the order in which they lie.
inline constexpr char kChecksumKey[] = "checksum";

/// Bytes of one element; 0 for an unknown type.
[[nodiscard]] std::size_t dtype_size(std::string_view dtype);

/// Writes a complete new file or none. Tensors of wide types come first and the header is padded to
/// 8 bytes, so that every tensor is aligned; within one type they are sorted by name. Streams,
/// without a second copy of the model. Calls `before_rename` when all data is on the disk, but not
/// in place. `room`: see AtomicFile. Throws FileError, and InvariantError where bytes, shape and
/// type of a tensor disagree or a name occurs twice.
void save_safetensors(const std::filesystem::path& file, std::span<const NamedTensor> tensors,
                      SafetensorsMetadata metadata = {},
                      const std::function<void()>& before_rename = {},
                      const std::filesystem::path& room = {});

/// A tensor inside a file.
struct TensorView {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

struct SafetensorsContent {
  std::vector<TensorView> tensors;  ///< in the order in which their bytes lie
  SafetensorsMetadata metadata;
};

/// Parses untrusted bytes; views point into `file`. Throws FileError, naming `name`, for anything
/// that is not exactly the format above.
[[nodiscard]] SafetensorsContent parse_safetensors(std::span<const std::byte> file,
                                                   const std::string& name);

/// Whether the tensors' bytes are those that were saved. Nothing is known, and true returned, of a
/// file without kChecksumKey, which another program wrote.
[[nodiscard]] bool intact(const SafetensorsContent& content);

/// A file opened for reading. It is mapped, so that only the pages in use are read. Movable
/// resource.
class SafetensorsFile {
 public:
  /// Throws FileError.
  static SafetensorsFile open(const std::filesystem::path& file);
  ~SafetensorsFile();
  SafetensorsFile(SafetensorsFile&& other) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&& other) noexcept;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(mapping_), size_};
  }
  [[nodiscard]] const SafetensorsContent& content() const { return content_; }
  [[nodiscard]] const std::vector<TensorView>& tensors() const { return content_.tensors; }
  [[nodiscard]] const SafetensorsMetadata& metadata() const { return content_.metadata; }
  /// Null where there is none of that name.
  [[nodiscard]] const TensorView* find(std::string_view tensor) const;

 private:
  SafetensorsFile(std::string name, void* mapping, std::size_t size);

  std::string name_;
  void* mapping_ = nullptr;
  std::size_t size_ = 0;
  SafetensorsContent content_;
};

}  // namespace fast
