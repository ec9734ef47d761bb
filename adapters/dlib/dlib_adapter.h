#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fast/adapter.h"
#include "fast/checkpoint/saved_state.h"
#include "fast/model/averaged_at_end.h"

namespace dlib {
class tensor;
}

namespace fast {

struct DlibLayer;
struct DlibStatistics;

struct DlibAdapterOptions {
  /// Names of the layers, from the input on; none: those of dlib_layers(). The parameters of a
  /// layer whose name is empty have theirs alone, "weight".
  std::vector<std::string> names{};
  /// BatchNorm's running statistics are this worker's own in training and the mean over workers at
  /// the end; see AveragedAtEnd.
  bool mix_buffers = true;
};

/// Any network of dlib's:
///
///     net(sample);                                            // gives the layers their sizes
///     fast::DlibAdapter adapter(fast::dlib_layers(net));      // adapters/dlib/dlib_layers.h
///     fast::Session session(adapter, options);
///
/// A layer keeps its parameters in a tensor of its own, whose memory cannot be a view; so values()
/// is a copy, of 4 bytes a parameter. Parameters are named by layer: "con1.weight" [outputs,
/// inputs, height, width], "con1.bias", "bn1.weight", "fc1.weight" [inputs, outputs]. Layers whose
/// learning rate is zero, and the counters of BatchNorm, are carried.
///
/// The network must outlive the adapter and not be moved or assigned to; deserialising into it is
/// followed. With a dnn_trainer, call its get_net() before each exchange. Training thread only.
class DlibAdapter final : public ModelAdapter, private Resumable {
 public:
  /// Throws AdapterError for a network without trained parameters, and for names that do not match.
  explicit DlibAdapter(std::vector<DlibLayer> layers, DlibAdapterOptions options = {});
  ~DlibAdapter() override;
  DlibAdapter(const DlibAdapter&) = delete;
  DlibAdapter& operator=(const DlibAdapter&) = delete;

  [[nodiscard]] std::vector<ParameterSlot> parameters() const override { return slots_; }
  /// Throws AdapterError where a layer's size is no longer what it was.
  [[nodiscard]] std::span<float> values() override;
  void pull(std::size_t first, std::size_t count) override;
  void push(std::size_t first, std::size_t count) override;
  /// Parameters; of BatchNorm also "..running_mean", "..running_var", "..num_batches_tracked".
  [[nodiscard]] std::vector<NamedTensor> state() override;

  /// How many of values() are parameters that an optimizer steps; the rest are AveragedAtEnd's.
  [[nodiscard]] std::size_t trained() const { return trained_; }
  /// Calls `visit` with each trained parameter's offset in values(), its memory in the network and
  /// its gradient there, after a backward pass.
  using Visit = std::function<void(std::size_t offset, std::span<float> values,
                                   std::span<const float> gradient)>;
  void each_trained(const Visit& visit);

  /// Whether there is BatchNorm.
  [[nodiscard]] bool has_statistics() const { return !norms_.empty(); }
  /// Its statistics become the mean over all batches from now on, until end_statistics().
  void begin_statistics();
  void end_statistics();

 private:
  /// An array of the model, a part of a tensor.
  struct Array {
    std::string name;
    std::vector<std::int64_t> shape;
    dlib::tensor* tensor;
    dlib::tensor* gradient;  ///< null for statistics
    std::size_t first;       ///< in the tensor, in floats
    std::size_t size;
    std::size_t whole;  ///< of the tensor
    Role role;

    [[nodiscard]] std::span<float> memory() const;
  };
  /// Batches that a BatchNorm has counted, of the same type on all processors.
  struct Norm {
    std::string name;
    std::unique_ptr<DlibStatistics> layer;
    std::int64_t counted;
    unsigned long seen;  ///< the layer's, when `counted` was set
    unsigned long kept_window;
  };

  // dlib gives running statistics other memory in a batch; averaged_, the next part, learns of it
  // here.
  void save(StateWriter&) override {}
  void load(const StateReader&) override {}
  void model_replaced() override { reconcile(); }
  bool finishing() override { return reconcile(), false; }
  void finished(bool) override { reconcile(); }

  void add(DlibLayer& layer);
  void average_statistics();
  void reconcile();
  template <typename Copy>
  void each(std::size_t first, std::size_t count, Copy copy);
  [[nodiscard]] NamedTensor named(const Array& array) const;

  std::vector<Array> arrays_;  ///< trained ones first, in the order of slots_
  std::vector<ParameterSlot> slots_;
  std::vector<Norm> norms_;
  std::size_t trained_ = 0;
  std::vector<float> values_;
  std::vector<std::size_t> averages_;  ///< indices of arrays_, in the order of averaged_
  std::optional<AveragedAtEnd> averaged_;
  bool gathering_ = false;
};

}  // namespace fast
