#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fast/adapter.h"
#include "fast/run/safetensors.h"

namespace fast {

/// The safetensors name of a number's type.
template <typename T>
[[nodiscard]] constexpr std::string_view saved_type() {
  if constexpr (std::same_as<T, double>) return "F64";
  if constexpr (std::same_as<T, float>) return "F32";
  if constexpr (std::same_as<T, std::int64_t>) return "I64";
  if constexpr (std::same_as<T, std::uint64_t>) return "U64";
  if constexpr (std::same_as<T, std::uint32_t>) return "U32";
  if constexpr (std::same_as<T, std::uint8_t>) return "U8";
  return "";
}
template <typename T>
concept SavedNumber = !saved_type<T>().empty();

/// Collects what parts of a training run save in a checkpoint: copies of tensors, by name. Each
/// part begins its names with a prefix of its own: "loader/order". One thread.
class StateWriter {
 public:
  /// Begins anew. Keeps the memory of the last save for the next one.
  void clear() { count_ = 0; }

  void put(std::string name, std::string_view dtype, std::span<const std::int64_t> shape,
           std::span<const std::byte> bytes);
  template <SavedNumber T>
  void put(std::string name, std::span<const T> values) {
    const auto size = static_cast<std::int64_t>(values.size());
    put(std::move(name), saved_type<T>(), {&size, 1}, std::as_bytes(values));
  }
  template <SavedNumber T>
  void put(std::string name, T value) {
    put(std::move(name), std::span<const T>(&value, 1));
  }

  /// Bytes of memory that the copies take.
  [[nodiscard]] std::size_t held() const;
  /// The tensors put since clear(). Valid until the next call of another method.
  [[nodiscard]] std::vector<NamedTensor> tensors();

 private:
  struct Entry {
    NamedTensor tensor;
    std::unique_ptr<std::byte[]> memory;
    std::size_t capacity = 0;
  };
  friend std::size_t saved_bytes(ModelAdapter& adapter);

  std::vector<Entry> entries_;
  std::size_t count_ = 0;     ///< entries in use
  bool only_counts_ = false;  ///< and copies nothing
  std::size_t counted_ = 0;   ///< bytes
};

/// Reads such tensors back. The bytes belong to the file that they come from. All methods throw
/// FileError naming a tensor that is missing or has another type or shape.
class StateReader {
 public:
  /// `origin` is the file's name, for messages.
  StateReader(std::vector<TensorView> tensors, std::string origin);

  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  /// Copies a tensor of exactly this type and shape.
  void read(std::string_view name, std::string_view dtype, std::span<const std::int64_t> shape,
            std::span<std::byte> into) const;
  template <SavedNumber T>
  void read(std::string_view name, std::span<T> into) const {
    const auto size = static_cast<std::int64_t>(into.size());
    read(name, saved_type<T>(), {&size, 1}, std::as_writable_bytes(into));
  }
  template <SavedNumber T>
  [[nodiscard]] T value(std::string_view name) const {
    T value{};
    read(name, std::span<T>(&value, 1));
    return value;
  }
  /// A vector of the length that it was saved with.
  template <SavedNumber T>
  [[nodiscard]] std::vector<T> values(std::string_view name) const {
    std::vector<T> values(length(name));
    read(name, std::span<T>(values));
    return values;
  }
  [[nodiscard]] const std::string& origin() const { return origin_; }

 private:
  [[nodiscard]] const TensorView* find(std::string_view name) const;
  [[nodiscard]] const TensorView& at(std::string_view name) const;
  [[nodiscard]] std::size_t length(std::string_view name) const;

  std::vector<TensorView> tensors_;  ///< by name
  std::string origin_;
};

/// A part of a training run that a checkpoint holds beside the model: an optimizer, a data loader.
/// See ModelAdapter::attach(). Training thread.
class Resumable {
 public:
  virtual ~Resumable() = default;

  /// Saves all that the part needs to continue from the last step boundary.
  virtual void save(StateWriter& to) = 0;
  /// Restores what save() wrote. Throws FileError where `from` does not fit.
  virtual void load(const StateReader& from) = 0;
  /// Optional. A step was made, of so many samples: a session says so at each exchange(), before it
  /// takes a checkpoint there.
  virtual void stepped(std::size_t /*samples*/) {}
  /// Optional. The model was replaced by a neighbour's. The part discards its state from the steps
  /// of the old model, such as momentum.
  virtual void model_replaced() {}
  /// Optional. Training is over: changes that are this worker's part of what all agree on may still
  /// be made to the model. Called once, before the last averages. Returns whether any were.
  virtual bool finishing() { return false; }
  /// Optional. The session has ended, with or without agreement among neighbours, and changes the
  /// model no more.
  virtual void finished(bool /*agreed*/) {}
};

/// Saves a model into a checkpoint: its parameters, its buffers, and the parts that are attached to
/// its adapter. load_model() restores them.
void save_model(ModelAdapter& adapter, StateWriter& to);
void load_model(ModelAdapter& adapter, const StateReader& from);
/// The bytes that save_model() would copy now.
[[nodiscard]] std::size_t saved_bytes(ModelAdapter& adapter);

}  // namespace fast
