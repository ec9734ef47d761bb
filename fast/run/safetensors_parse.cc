#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "fast/errors.h"
#include "fast/run/safetensors.h"

namespace fast {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxHeader = 100'000'000;  // what the reference implementation allows
constexpr std::size_t kMaxDepth = 3;               // {name: {shape: [..]}}
constexpr char kMetadataKey[] = "__metadata__";

class Reader {
 public:
  Reader(std::span<const std::byte> file, const std::string& name) : file_(file), name_(name) {}

  SafetensorsContent read() {
    const json header = parse_header();
    if (!header.is_object()) fail("its header is no JSON object");
    SafetensorsContent content;
    for (const auto& [key, value] : header.items()) {
      if (key == kMetadataKey) {
        content.metadata = metadata(value);
      } else {
        content.tensors.push_back(tensor(key, value));
      }
    }
    check_coverage(content.tensors);
    return content;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw FileError(name_ + " is no valid safetensors file: " + what,
                    "the file is damaged or was not written by FAST: copy or train it again");
  }

  json parse_header() {
    if (file_.size() < 8) fail("it has fewer than 8 bytes");
    std::uint64_t length = 0;
    for (int i = 7; i >= 0; --i) length = length << 8 | static_cast<std::uint8_t>(file_[i]);
    if (length > kMaxHeader) fail("its header claims " + std::to_string(length) + " bytes");
    if (length > file_.size() - 8) {
      fail("its header claims " + std::to_string(length) + " bytes and the file has " +
           std::to_string(file_.size() - 8) + " after its length");
    }
    const char* text = reinterpret_cast<const char*>(file_.data()) + 8;
    if (length == 0 || text[0] != '{') fail("its header does not begin with {");
    data_ = file_.subspan(8 + length);

    // The JSON library keeps the last of two equal keys, while another reader may take the first
    // and see another model. So equal keys are refused while parsing, and so is nesting that no
    // header has.
    std::vector<std::set<std::string>> keys;
    std::size_t depth = 0;
    const auto watch = [&](int, json::parse_event_t event, json& parsed) {
      switch (event) {
        case json::parse_event_t::object_start:
          keys.emplace_back();
          [[fallthrough]];
        case json::parse_event_t::array_start:
          if (++depth > kMaxDepth) fail("its header is nested too deeply");
          break;
        case json::parse_event_t::object_end:
          keys.pop_back();
          [[fallthrough]];
        case json::parse_event_t::array_end:
          --depth;
          break;
        case json::parse_event_t::key:
          if (!keys.back().insert(parsed.get_ref<const std::string&>()).second) {
            fail("\"" + parsed.get<std::string>() + "\" appears twice in its header");
          }
          break;
        case json::parse_event_t::value:
          break;
      }
      return true;
    };
    try {
      return json::parse(text, text + length, watch);
    } catch (const json::exception& error) {
      fail(std::string("its header is no JSON: ") + error.what());
    }
  }

  SafetensorsMetadata metadata(const json& object) const {
    if (!object.is_object()) fail("its metadata is no object");
    SafetensorsMetadata metadata;
    for (const auto& [key, value] : object.items()) {
      if (!value.is_string()) fail("its metadata \"" + key + "\" is no text");
      metadata[key] = value.get<std::string>();
    }
    return metadata;
  }

  TensorView tensor(const std::string& name, const json& entry) const {
    const auto bad = [&](const std::string& what) { fail("tensor \"" + name + "\": " + what); };
    if (!entry.is_object() || entry.size() != 3) bad("wants dtype, shape and data_offsets alone");
    const auto dtype = entry.find("dtype");
    const auto shape = entry.find("shape");
    const auto offsets = entry.find("data_offsets");
    if (dtype == entry.end() || !dtype->is_string()) bad("has no dtype");
    if (shape == entry.end() || !shape->is_array()) bad("has no shape");
    if (offsets == entry.end() || !offsets->is_array() || offsets->size() != 2 ||
        !(*offsets)[0].is_number_unsigned() || !(*offsets)[1].is_number_unsigned()) {
      bad("has no data_offsets");
    }

    TensorView view;
    view.name = name;
    view.dtype = dtype->get<std::string>();
    std::uint64_t bytes = dtype_size(view.dtype);
    if (bytes == 0) bad("is of unknown type \"" + view.dtype + "\"");
    bool empty = false;
    for (const json& side : *shape) {
      if (!side.is_number_unsigned() ||
          side.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
        bad("has a side that is no size");
      }
      const auto length = side.get<std::uint64_t>();
      view.shape.push_back(static_cast<std::int64_t>(length));
      if (length == 0) {
        empty = true;
      } else if (__builtin_mul_overflow(bytes, length, &bytes)) {
        bad("has a shape of more bytes than can be counted");
      }
    }
    if (empty) bytes = 0;

    const auto begin = (*offsets)[0].get<std::uint64_t>();
    const auto end = (*offsets)[1].get<std::uint64_t>();
    if (begin > end || end > data_.size()) bad("lies outside the file");
    if (end - begin != bytes) {
      bad("has " + std::to_string(end - begin) + " bytes where its shape and type want " +
          std::to_string(bytes));
    }
    view.bytes = data_.subspan(begin, bytes);
    return view;
  }

  void check_coverage(std::vector<TensorView>& tensors) const {
    const auto begin = [&](const TensorView& t) { return t.bytes.data() - data_.data(); };
    std::stable_sort(tensors.begin(), tensors.end(), [&](const auto& a, const auto& b) {
      return std::pair(begin(a), a.bytes.size()) < std::pair(begin(b), b.bytes.size());
    });
    std::ptrdiff_t expected = 0;
    for (const TensorView& t : tensors) {
      if (begin(t) != expected) {
        fail("tensor \"" + t.name + "\" overlaps another or leaves a hole before it");
      }
      expected += static_cast<std::ptrdiff_t>(t.bytes.size());
    }
    if (static_cast<std::size_t>(expected) != data_.size()) {
      fail("there are bytes after its last tensor");
    }
  }

  std::span<const std::byte> file_, data_;
  const std::string& name_;
};

}  // namespace

SafetensorsContent parse_safetensors(std::span<const std::byte> file, const std::string& name) {
  return Reader(file, name).read();
}

}  // namespace fast
