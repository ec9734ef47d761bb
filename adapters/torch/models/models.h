#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "fast/data/image_shape.h"

namespace fast {

class Model;
struct LearnerOptions;

/// The models for images: "linear", "mlp", "resnet8" ..
[[nodiscard]] std::vector<std::string_view> torch_model_names();
/// Those and the others, "gpt:LAYERS,HEADS,WIDTH", "script:FILE"; see ModelKind::name.
[[nodiscard]] std::vector<std::string_view> torch_model_forms();

/// See ModelKind::threads_pay.
[[nodiscard]] bool threads_pay(std::string_view name);

/// A model for images of `shape`. Its weights are drawn by our own generator, not by LibTorch's, so
/// that equal seeds give equal weights in every process and with every version of LibTorch. Throws
/// ConfigError for an unknown name, listing the known ones.
[[nodiscard]] std::shared_ptr<Model> make_model(std::string_view name, const ImageShape& shape,
                                                std::uint64_t seed);

/// options.model, of any of these kinds. Throws ConfigError, too, for examples and losses that are
/// none of that kind's.
[[nodiscard]] std::shared_ptr<Model> make_model(const LearnerOptions& options);

/// The same options with examples as the model takes them: images have three axes.
[[nodiscard]] LearnerOptions as_taken(LearnerOptions options);

}  // namespace fast
