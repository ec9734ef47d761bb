#pragma once

#include <string>
#include <string_view>

#include "fast/data/dataset.h"

namespace fast {

/// A text as consecutive windows of so many tokens, and for each the same tokens shifted by one as
/// its targets. "FILE[,LENGTH][,characters]" or "FILE[,LENGTH],vocabulary=FILE": tokens are bytes,
/// the characters that the text has (UTF-8), or those of a vocabulary (vocabulary.h), of which the
/// longest that fits is taken. Every tenth part at the end is for testing. The text is not held in
/// memory: a worker reads what its next batch needs, and of tokens that are not bytes it holds
/// where each window begins, which takes one reading of the whole text.
///
/// Throws ConfigError for a length or a kind of token that is none, DataError where a file cannot
/// be read, is too short, or has at some place no token.
[[nodiscard]] Dataset load_text(std::string_view arguments);
[[nodiscard]] ExampleSpec text_spec(std::string_view arguments);
/// With absolute paths.
[[nodiscard]] std::string absolute_text(std::string_view arguments);

}  // namespace fast
