#include "fast/data/image_folder.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fast/data/decode_ahead.h"
#include "fast/data/file_bytes.h"
#include "fast/data/picture.h"
#include "fast/data/spec_parts.h"
#include "fast/errors.h"
#include "stencil/core/text.h"

namespace fast {
namespace {

namespace fs = std::filesystem;

constexpr char kRemedy[] =
    "give a folder with train/ and test/, each with a folder of PNG or JPEG files for each class, "
    "or with the classes' folders alone";
constexpr int kMostSize = 8192;
constexpr std::size_t kMostClasses = std::numeric_limits<std::uint16_t>::max();

struct Arguments {
  fs::path folder;
  int size = 0;  ///< 0: that of the first
  bool grey = false;
  double test_share = 0.1;
};

/// True where `text` is a number as a whole.
bool parse_number(std::string_view text, int& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

/// One part behind a comma; false: it is part of the folder's name.
bool take(std::string_view part, Arguments& out) {
  if (part == "grey") {
    out.grey = true;
  } else if (part.starts_with(kTestShare)) {
    out.test_share = test_share(part);
  } else if (!part.empty() && std::isdigit(static_cast<unsigned char>(part[0])) != 0) {
    if (!parse_number(part, out.size) || out.size < 1 || out.size > kMostSize) {
      throw ConfigError("the size of its pictures is " + stencil::in_quotes(part),
                        "use 1 to " + std::to_string(kMostSize) + " pixels");
    }
  } else {
    return false;
  }
  return true;
}

Arguments parse(std::string_view text) {
  Arguments out;
  out.folder = take_parts(text, [&](std::string_view part) { return take(part, out); });
  return out;
}

bool is_picture(const fs::path& file) {
  std::string ending = file.extension().string();
  std::ranges::transform(ending, ending.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

/// What is in a folder, by name, without what is hidden.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> found;
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (!entry.path().filename().string().starts_with('.')) found.push_back(entry.path());
    }
  } catch (const fs::filesystem_error& error) {
    throw DataError(folder.string() + ": " + error.code().message(), kRemedy);
  }
  std::ranges::sort(found);
  return found;
}

/// The pictures of one part of a data set and the numbers of their classes.
struct Pictures {
  std::vector<fs::path> files;
  std::vector<std::uint16_t> labels;
};

/// FNV-1a (Fowler, Noll, Vo), as a share.
double share_of(const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : name) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3U;
  return static_cast<double>(hash >> 11U) * 0x1p-53;
}

struct Found {
  std::vector<std::string> classes;
  Pictures train, test;
};

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> all = entries_of(folder);
  std::erase_if(all, [](const fs::path& path) { return !fs::is_directory(path); });
  return all;
}

/// Calls see(file) for each picture of a class.
template <typename See>
void see_pictures(const fs::path& folder, See see) {
  std::size_t pictures = 0, others = 0;
  for (const fs::path& file : entries_of(folder)) {
    if (is_picture(file)) {
      ++pictures;
      see(file);
    } else {
      ++others;
    }
  }
  if (pictures > 0) return;
  throw DataError("class " + folder.string() + " has no picture" +
                      (others > 0 ? ", and " + std::to_string(others) + " other files" : ""),
                  "give it PNG or JPEG files, or take its folder away");
}

Found find(const Arguments& arguments) {
  Found found;
  const fs::path& root = arguments.folder;
  const bool apart = fs::is_directory(root / "train") && fs::is_directory(root / "test");
  for (const fs::path& folder : folders_in(apart ? root / "train" : root)) {
    const auto label = static_cast<std::uint16_t>(found.classes.size());
    found.classes.push_back(folder.filename().string());
    see_pictures(folder, [&](const fs::path& file) {
      const std::string name = found.classes.back() + "/" + file.filename().string();
      Pictures& to = !apart && share_of(name) < arguments.test_share ? found.test : found.train;
      to.files.push_back(file);
      to.labels.push_back(label);
    });
    if (found.classes.size() > kMostClasses)
      throw DataError(root.string() + " has too many classes", kRemedy);
  }
  for (const fs::path& folder : apart ? folders_in(root / "test") : std::vector<fs::path>()) {
    const auto name = std::ranges::find(found.classes, folder.filename().string());
    if (name == found.classes.end()) {
      throw DataError("class " + folder.string() + " is not among those of train/",
                      "give train/ pictures of it, or take its folder away");
    }
    see_pictures(folder, [&](const fs::path& file) {
      found.test.files.push_back(file);
      found.test.labels.push_back(static_cast<std::uint16_t>(name - found.classes.begin()));
    });
  }
  if (found.train.files.empty() || found.test.files.empty()) {
    throw DataError(root.string() + " has " + std::to_string(found.train.files.size()) +
                        " pictures to train on and " + std::to_string(found.test.files.size()) +
                        " for testing",
                    kRemedy);
  }
  return found;
}

Picture read_picture(const fs::path& file) {
  std::vector<std::uint8_t> bytes(data_file_size(file, kRemedy));
  DataFile(file, kRemedy).read(0, bytes);
  return decode_picture(bytes, file);
}

/// Of all pictures. Throws ConfigError where this build reads none.
ImageShape shape_of(const Arguments& arguments, const Found& found) {
  if (!reads_pictures()) {
    throw ConfigError("this FAST was built without libpng and libjpeg",
                      "build it with them, or convert the pictures to arrays (npy:DIR)");
  }
  ImageShape shape{arguments.grey ? 1 : 3, arguments.size, arguments.size,
                   static_cast<int>(found.classes.size())};
  if (arguments.size > 0) return shape;
  const Picture first = read_picture(found.train.files.front());
  shape.height = first.height;
  shape.width = first.width;
  return shape;
}

ImageSet set_of(const Arguments& arguments, Pictures pictures, const ImageShape& shape) {
  ImageSet set;
  set.shape = shape;
  set.labels = std::move(pictures.labels);
  const auto decode = [resizes = arguments.size > 0, grey = arguments.grey, shape,
                       files = std::make_shared<const std::vector<fs::path>>(std::move(
                           pictures.files))](std::size_t example, std::span<std::uint8_t> out) {
    const fs::path& file = (*files)[example];
    Picture picture = read_picture(file);
    if (resizes) {
      picture = resized(picture, shape.width, shape.height);
    } else if (picture.width != shape.width || picture.height != shape.height) {
      throw DataError(file.string() + " is of " + std::to_string(picture.width) + " x " +
                          std::to_string(picture.height) + " pixels, the first of " +
                          std::to_string(shape.width) + " x " + std::to_string(shape.height),
                      "give the size that all are to have: images:DIR,64");
    }
    write_planes(picture, grey, out);
  };
  const auto ahead = std::make_shared<DecodeAhead>(shape.pixels(), decode);
  set.read = [ahead](std::size_t first, std::span<std::uint8_t> out) { ahead->read(first, out); };
  set.expect = [ahead](std::span<const std::uint32_t> next) { ahead->expect(next); };
  return set;
}

}  // namespace

ImageDataset load_image_folder(std::string_view text) {
  const Arguments arguments = parse(text);
  Found found = find(arguments);
  const ImageShape shape = shape_of(arguments, found);
  ImageDataset data;
  data.mean = {0.5F, 0.5F, 0.5F, 0.5F};
  data.deviation = {0.25F, 0.25F, 0.25F, 0.25F};
  data.crop_and_flip = true;
  data.train = set_of(arguments, std::move(found.train), shape);
  data.test = set_of(arguments, std::move(found.test), shape);
  return data;
}

ExampleSpec image_folder_spec(std::string_view text) {
  const Arguments arguments = parse(text);
  return ExampleSpec(shape_of(arguments, find(arguments)));
}

}  // namespace fast
