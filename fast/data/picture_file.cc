#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "fast/data/picture.h"
#include "fast/errors.h"

#ifdef FAST_READS_PICTURES
#include <jpeglib.h>
#include <png.h>

#include <csetjmp>
#endif

namespace fast {

#ifdef FAST_READS_PICTURES

namespace {

constexpr char kRemedy[] = "save it as a whole PNG or JPEG, or take it away";
constexpr std::size_t kMostPixels = 100'000'000;
constexpr std::size_t kColours = 3;

DataError unusable(const std::filesystem::path& file, const std::string& why) {
  return {file.string() + ": " + why, kRemedy};
}

void check_size(const std::filesystem::path& file, std::size_t width, std::size_t height) {
  if (width > 0 && height > 0 && width <= kMostPixels / height) return;
  throw unusable(file, std::to_string(width) + " x " + std::to_string(height) + " pixels");
}

/// By libpng's simplified interface, whose functions return on errors.
Picture decode_png(std::span<const std::uint8_t> bytes, const std::filesystem::path& file) {
  struct Image : png_image {
    Image() : png_image() { version = PNG_IMAGE_VERSION; }
    ~Image() { png_image_free(this); }
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;
  } image;
  if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0) {
    throw unusable(file, std::string("no PNG that can be read: ") + image.message);
  }
  check_size(file, image.width, image.height);
  image.format = PNG_FORMAT_RGB;
  image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  Picture out{static_cast<int>(image.width), static_cast<int>(image.height), {}};
  out.rgb.resize(PNG_IMAGE_SIZE(image));
  const png_color black = {0, 0, 0};
  if (png_image_finish_read(&image, &black, out.rgb.data(), 0, nullptr) == 0) {
    throw unusable(file, std::string("a PNG that is cut off or damaged: ") + image.message);
  }
  return out;
}

/// libjpeg calls back where something is wrong, and must not be returned to after an error.
struct JpegErrors : jpeg_error_mgr {
  std::jmp_buf back;
  std::array<char, JMSG_LENGTH_MAX> text{};
  bool damaged = false;

  static void fail(j_common_ptr info) {
    auto* const self = static_cast<JpegErrors*>(info->err);
    self->format_message(info, self->text.data());
    std::longjmp(self->back, 1);  // NOLINT: the library's way
  }
  /// A level below 0: a warning, that data are missing or wrong, after which it makes something up.
  static void note(j_common_ptr info, int level) {
    auto* const self = static_cast<JpegErrors*>(info->err);
    if (level >= 0 || self->damaged) return;
    self->damaged = true;
    self->format_message(info, self->text.data());
  }
};

/// Of inks, as Adobe writes them (inverted) or not.
void from_cmyk(const std::uint8_t* in, bool inverted, std::size_t pixels, std::uint8_t* out) {
  for (std::size_t i = 0; i < pixels; ++i, in += 4, out += kColours) {
    for (std::size_t c = 0; c < kColours; ++c) {
      const int ink = inverted ? in[c] : 255 - in[c], black = inverted ? in[3] : 255 - in[3];
      out[c] = static_cast<std::uint8_t>((ink * black + 127) / 255);
    }
  }
}

/// Decodes into `out`. False: errors.text says why. Nothing here has a destructor, which a jump
/// would pass by: `out` and `line` are the caller's.
bool decode_jpeg(jpeg_decompress_struct& info, JpegErrors& errors,
                 std::span<const std::uint8_t> bytes, std::size_t most, Picture& out,
                 std::vector<std::uint8_t>& line) {
  if (setjmp(errors.back) != 0) return false;  // NOLINT: the library's way
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, bytes.data(), static_cast<unsigned long>(bytes.size()));  // NOLINT
  jpeg_read_header(&info, TRUE);
  if (info.image_width > most / std::max<JDIMENSION>(1, info.image_height)) {
    std::snprintf(errors.text.data(), errors.text.size(), "%u x %u pixels", info.image_width,
                  info.image_height);
    return false;
  }
  const bool inks = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  info.out_color_space = inks ? JCS_CMYK : JCS_RGB;
  jpeg_start_decompress(&info);
  out.width = static_cast<int>(info.output_width);
  out.height = static_cast<int>(info.output_height);
  out.rgb.resize(kColours * info.output_width * info.output_height);
  line.resize(std::size_t{4} * info.output_width);
  while (info.output_scanline < info.output_height) {
    std::uint8_t* const row = out.rgb.data() + kColours * info.output_width * info.output_scanline;
    JSAMPROW to = inks ? line.data() : row;
    jpeg_read_scanlines(&info, &to, 1);
    if (inks) from_cmyk(line.data(), info.saw_Adobe_marker != 0, info.output_width, row);
  }
  jpeg_finish_decompress(&info);
  return !errors.damaged;
}

Picture decode_jpeg(std::span<const std::uint8_t> bytes, const std::filesystem::path& file) {
  jpeg_decompress_struct info{};
  JpegErrors errors;
  info.err = jpeg_std_error(&errors);
  errors.error_exit = JpegErrors::fail;
  errors.emit_message = JpegErrors::note;
  Picture out;
  std::vector<std::uint8_t> line;
  const bool whole = decode_jpeg(info, errors, bytes, kMostPixels, out, line);
  jpeg_destroy_decompress(&info);
  if (whole) return out;
  throw unusable(
      file, std::string("a JPEG that is cut off, damaged or too large: ") + errors.text.data());
}

}  // namespace

bool reads_pictures() {
  return true;
}

Picture decode_picture(std::span<const std::uint8_t> bytes, const std::filesystem::path& file) {
  constexpr std::array<std::uint8_t, 4> kPng = {0x89, 'P', 'N', 'G'};
  constexpr std::array<std::uint8_t, 3> kJpeg = {0xff, 0xd8, 0xff};
  const auto begins = [&](std::span<const std::uint8_t> magic) {
    return bytes.size() > magic.size() && std::ranges::equal(bytes.first(magic.size()), magic);
  };
  if (begins(kPng)) return decode_png(bytes, file);
  if (begins(kJpeg)) return decode_jpeg(bytes, file);
  throw unusable(file, "neither a PNG nor a JPEG, whatever its name says");
}

#else

bool reads_pictures() {
  return false;
}

Picture decode_picture(std::span<const std::uint8_t> /*bytes*/, const std::filesystem::path& file) {
  throw DataError(file.string() + ": this FAST was built without libpng and libjpeg",
                  "build it with them, or convert the pictures to arrays (npy:DIR)");
}

#endif

}  // namespace fast
