#include "fast/data/file_bytes.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <system_error>

#include "fast/errors.h"

namespace fast {
namespace {

constexpr char kFetchAgain[] = "fetch the file again";

DataError unreadable(const std::filesystem::path& file, const std::string& why,
                     const std::string& remedy) {
  return DataError("cannot read " + file.string() + ": " + why, remedy);
}

DataError damaged(const std::string& file, std::size_t offset, const std::string& what) {
  return DataError(file + ": at compressed byte " + std::to_string(offset) + ": " + what,
                   kFetchAgain);
}

}  // namespace

std::size_t data_file_size(const std::filesystem::path& file, const std::string& remedy) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) throw unreadable(file, "no such file", remedy);
  if (!std::filesystem::is_regular_file(status)) throw unreadable(file, "not a file", remedy);
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  if (error) throw unreadable(file, error.message(), remedy);
  if (size > kMaxDataFile) {
    throw unreadable(
        file,
        std::to_string(size) + " bytes are more than the limit of " + std::to_string(kMaxDataFile),
        remedy);
  }
  return static_cast<std::size_t>(size);
}

void read_data_file(const std::filesystem::path& file, const std::string& remedy,
                    std::vector<std::uint8_t>& out) {
  const std::size_t size = data_file_size(file, remedy);
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) throw unreadable(file, std::strerror(errno), remedy);
  out.resize(size);
  in.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(size));
  if (static_cast<std::size_t>(in.gcount()) != size) {
    throw unreadable(
        file, "got " + std::to_string(in.gcount()) + " of " + std::to_string(size) + " bytes",
        remedy);
  }
}

bool is_gzip(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

std::vector<std::uint8_t> inflate_gzip(std::span<const std::uint8_t> bytes, const std::string& file,
                                       std::size_t limit, AtLimit at_limit) {
  if (bytes.size() > std::numeric_limits<uInt>::max()) {
    throw damaged(file, 0, std::to_string(bytes.size()) + " bytes are too many");
  }
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  z_stream stream{};
  if (inflateInit2(&stream, kGzipOnly) != Z_OK) throw damaged(file, 0, "zlib does not start");
  const std::unique_ptr<z_stream, int (*)(z_streamp)> guard(&stream, inflateEnd);

  stream.next_in = const_cast<Bytef*>(bytes.data());  // zlib only reads
  stream.avail_in = static_cast<uInt>(bytes.size());
  constexpr std::size_t kFirstPiece = 64 * 1024;
  std::vector<std::uint8_t> out;
  std::size_t filled = 0;
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    // One byte more than the limit tells a stream that ends there from one that goes on.
    const std::size_t room = at_limit == AtLimit::kFail ? limit + 1 : limit;
    if (filled == out.size()) {
      out.resize(std::min(room, std::max(kFirstPiece, out.size() * 2)));
    }
    const std::size_t piece =
        std::min<std::size_t>(out.size() - filled, std::numeric_limits<uInt>::max());
    stream.next_out = out.data() + filled;
    stream.avail_out = static_cast<uInt>(piece);
    state = inflate(&stream, Z_NO_FLUSH);
    filled += piece - stream.avail_out;
    const std::size_t offset = bytes.size() - stream.avail_in;
    if (filled >= limit && at_limit == AtLimit::kStop) break;
    if (filled > limit) {
      throw damaged(file, offset, "inflates to more than " + std::to_string(limit) + " bytes");
    }
    if (state == Z_OK && stream.avail_out == 0) continue;
    if (state == Z_BUF_ERROR || (state == Z_OK && stream.avail_in == 0)) {
      throw damaged(file, offset, "the gzip stream ends too early");
    }
    if (state != Z_OK && state != Z_STREAM_END) {
      throw damaged(file, offset,
                    std::string("not a gzip stream: ") +
                        (stream.msg != nullptr ? stream.msg : "unknown cause"));
    }
  }
  if (at_limit == AtLimit::kFail && stream.avail_in != 0) {
    throw damaged(file, bytes.size() - stream.avail_in, "bytes follow the end of the stream");
  }
  out.resize(filled);
  return out;
}

}  // namespace fast
