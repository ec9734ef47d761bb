#include "fast/run/safetensors.h"

#if defined(__x86_64__)
#include <xxh_x86dispatch.h>  // XXH3 by whatever vector unit the machine has
#else
#include <xxhash.h>
#endif

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "fast/errors.h"
#include "fast/run/atomic_file.h"

namespace fast {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are written as they lie");

std::size_t checked_size(const NamedTensor& tensor) {
  std::uint64_t bytes = dtype_size(tensor.dtype);
  for (const std::int64_t side : tensor.shape) bytes *= static_cast<std::uint64_t>(side);
  if (dtype_size(tensor.dtype) == 0 || bytes != tensor.bytes.size()) {
    throw stencil::InvariantError("tensor \"" + tensor.name + "\" of type " + tensor.dtype +
                                  " has " + std::to_string(tensor.bytes.size()) +
                                  " bytes where its shape wants " + std::to_string(bytes));
  }
  return tensor.bytes.size();
}

/// Wide types come first, so that every tensor begins at a multiple of its element's size.
std::vector<std::size_t> order_of(std::span<const NamedTensor> tensors) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const std::size_t wide_a = dtype_size(tensors[a].dtype), wide_b = dtype_size(tensors[b].dtype);
    return wide_a != wide_b ? wide_a > wide_b : tensors[a].name < tensors[b].name;
  });
  return order;
}

std::string header_of(std::span<const NamedTensor> tensors, const std::vector<std::size_t>& order,
                      const SafetensorsMetadata& metadata) {
  using nlohmann::ordered_json;
  ordered_json header = ordered_json::object();
  header["__metadata__"] = metadata;
  std::size_t offset = 0;
  for (const std::size_t i : order) {
    const NamedTensor& tensor = tensors[i];
    const std::size_t size = checked_size(tensor);
    header.push_back({tensor.name,
                      {{"dtype", tensor.dtype},
                       {"shape", tensor.shape},
                       {"data_offsets", {offset, offset + size}}}});
    offset += size;
  }
  if (header.size() != tensors.size() + 1) {
    throw stencil::InvariantError("two tensors of one name, or one named __metadata__");
  }
  std::string text = header.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

/// See kChecksumKey. `bytes_of(i)`: of the tensor that lies at place i.
template <typename BytesOf>
std::string checksum(std::size_t tensors, BytesOf bytes_of) {
  const auto free = [](XXH3_state_t* state) { XXH3_freeState(state); };
  const std::unique_ptr<XXH3_state_t, decltype(free)> state(XXH3_createState(), free);
  XXH3_64bits_reset(state.get());
  for (std::size_t i = 0; i < tensors; ++i) {
    const std::span<const std::byte> bytes = bytes_of(i);
    XXH3_64bits_update(state.get(), bytes.data(), bytes.size());
  }
  std::array<char, 17> text{};
  std::to_chars(text.data(), text.data() + text.size(), XXH3_64bits_digest(state.get()), 16);
  return text.data();
}

}  // namespace

std::size_t dtype_size(std::string_view dtype) {
  static constexpr std::array<std::pair<std::string_view, std::size_t>, 16> kSizes = {{
      {"C64", 8},
      {"F64", 8},
      {"I64", 8},
      {"U64", 8},
      {"F32", 4},
      {"I32", 4},
      {"U32", 4},
      {"F16", 2},
      {"BF16", 2},
      {"I16", 2},
      {"U16", 2},
      {"I8", 1},
      {"U8", 1},
      {"BOOL", 1},
      {"F8_E4M3", 1},
      {"F8_E5M2", 1},
  }};
  for (const auto& [name, size] : kSizes) {
    if (name == dtype) return size;
  }
  return 0;
}

bool intact(const SafetensorsContent& content) {
  const auto it = content.metadata.find(kChecksumKey);
  if (it == content.metadata.end()) return true;
  return it->second ==
         checksum(content.tensors.size(), [&](std::size_t i) { return content.tensors[i].bytes; });
}

void save_safetensors(const std::filesystem::path& file, std::span<const NamedTensor> tensors,
                      SafetensorsMetadata metadata, const std::function<void()>& before_rename,
                      const std::filesystem::path& room) {
  const std::vector<std::size_t> order = order_of(tensors);
  metadata[kChecksumKey] = checksum(order.size(), [&](std::size_t i) -> std::span<const std::byte> {
    return tensors[order[i]].bytes;
  });
  const std::string header = header_of(tensors, order, metadata);
  const std::uint64_t length = header.size();
  AtomicFile out(file, room);
  out.write(&length, sizeof(length));
  out.write(header.data(), header.size());
  for (const std::size_t i : order) out.write(tensors[i].bytes.data(), tensors[i].bytes.size());
  out.finish();
  if (before_rename) before_rename();
  out.commit();
}

SafetensorsFile SafetensorsFile::open(const std::filesystem::path& file) {
  const auto fail = [&](const std::string& what) {
    throw FileError("cannot read " + file.string() + ": " + what, "check the path");
  };
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail(std::strerror(errno));
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    fail("not a file");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* mapping = nullptr;
  if (size > 0) mapping = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  const int error = errno;
  ::close(descriptor);
  if (mapping == MAP_FAILED) fail(std::strerror(error));
  return {file.string(), mapping, size};
}

SafetensorsFile::SafetensorsFile(std::string name, void* mapping, std::size_t size)
    : name_(std::move(name)), mapping_(mapping), size_(size) {
  try {
    content_ = parse_safetensors({static_cast<const std::byte*>(mapping_), size_}, name_);
  } catch (...) {
    if (mapping_ != nullptr) ::munmap(mapping_, size_);
    throw;
  }
}

SafetensorsFile::~SafetensorsFile() {
  if (mapping_ != nullptr) ::munmap(mapping_, size_);
}

SafetensorsFile::SafetensorsFile(SafetensorsFile&& other) noexcept
    : name_(std::move(other.name_)),
      mapping_(std::exchange(other.mapping_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      content_(std::move(other.content_)) {}

SafetensorsFile& SafetensorsFile::operator=(SafetensorsFile&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(mapping_, other.mapping_);
  std::swap(size_, other.size_);
  std::swap(content_, other.content_);
  return *this;
}

const TensorView* SafetensorsFile::find(std::string_view tensor) const {
  for (const TensorView& view : content_.tensors) {
    if (view.name == tensor) return &view;
  }
  return nullptr;
}

}  // namespace fast
