#include "fast/run/safetensors.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdio>
#include <span>
#include <string>
#include <utility>

#include "fast/errors.h"
#include "fast/run/reserved_room.h"
#include "tests/support/report_fixture.h"

namespace fast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Safetensors : public ReportTest {
 protected:
  std::filesystem::path file_ = folder_ / "model.safetensors";

  /// A file with this header and this many bytes of data.
  static std::string bytes_of(const std::string& header, std::size_t data) {
    std::string file;
    for (int i = 0; i < 8; ++i) file += static_cast<char>(header.size() >> (8 * i));
    return file + header + std::string(data, 'x');
  }
  static std::string error_of(const std::string& file) {
    try {
      (void)parse_safetensors(std::as_bytes(std::span(file)), "given.safetensors");
    } catch (const FileError& error) {
      EXPECT_THAT(error.what(), HasSubstr("given.safetensors"));
      return error.what();
    }
    return "";
  }
  static std::string error_of(const std::string& header, std::size_t data) {
    return error_of(bytes_of(header, data));
  }

  /// What the independent reader prints, and its exit code.
  static std::pair<std::string, int> read_by_python(const std::filesystem::path& file) {
    const std::string command =
        std::string(PYTHON) + " " + READER + " '" + file.string() + "' 2>&1";
    FILE* pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return {"", -1};
    std::string text;
    for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
    const int status = ::pclose(pipe);
    return {text, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
  }
};

TEST_F(Safetensors, WhatIsSavedIsReadBack) {
  save_model(file_, {1, 2, 3.5}, {-1, 0.25}, 77);
  const SafetensorsFile file = SafetensorsFile::open(file_);
  EXPECT_EQ(file.metadata().at("model"), "mlp");
  ASSERT_EQ(file.tensors().size(), 3u);
  EXPECT_EQ(file.tensors()[0].name, "count");  // the widest type comes first, then by name
  EXPECT_EQ(file.tensors()[1].name, "running");
  const TensorView* weight = file.find("weight");
  ASSERT_NE(weight, nullptr);
  EXPECT_EQ(weight->dtype, "F32");
  EXPECT_THAT(weight->shape, ElementsAre(3));
  EXPECT_THAT(floats(weight->bytes), ElementsAre(1, 2, 3.5f));
  EXPECT_TRUE(file.find("count")->shape.empty());
  EXPECT_EQ(file.find("nothing"), nullptr);
}

TEST_F(Safetensors, AnOpenedFileMayBeMovedAndOutlivesItsName) {
  save_model(file_, {4, 5}, {1}, 1);
  SafetensorsFile first = SafetensorsFile::open(file_);
  std::filesystem::remove(file_);
  SafetensorsFile second = std::move(first);
  EXPECT_THAT(floats(second.find("weight")->bytes), ElementsAre(4, 5));
}

TEST_F(Safetensors, AnIndependentReaderUnderstandsTheFile) {
  std::uint8_t flags[] = {1, 0, 1};
  double wide[] = {0.5, -2};
  float values[] = {1, 2, 3, 4, 5, 6};
  std::int64_t steps = 1234567890123;
  std::uint16_t halves[] = {0x3c00, 0xc000, 0x3800};  // 1, -2, 0.5
  const NamedTensor tensors[] = {
      {"flags", "U8", {3}, std::as_writable_bytes(std::span(flags))},
      {"layer.weight", "F32", {2, 3}, std::as_writable_bytes(std::span(values))},
      {"halves", "F16", {3}, std::as_writable_bytes(std::span(halves))},
      {"empty", "F32", {0, 7}, {}},
      {"steps", "I64", {}, std::as_writable_bytes(std::span(&steps, 1))},
      {"wide", "F64", {1, 2}, std::as_writable_bytes(std::span(wide))}};
  save_safetensors(file_, tensors, {{"note", "ä \"quoted\""}});
  const auto [text, code] = read_by_python(file_);
  EXPECT_EQ(code, 0) << text;
  EXPECT_THAT(text, HasSubstr("# note = ä \"quoted\"\n"));
  EXPECT_THAT(text, HasSubstr("flags U8 [3] 2\n"));
  EXPECT_THAT(text, HasSubstr("layer.weight F32 [2,3] 21\n"));
  EXPECT_THAT(text, HasSubstr("halves F16 [3] -0.5\n"));
  EXPECT_THAT(text, HasSubstr("empty F32 [0,7] 0\n"));
  EXPECT_THAT(text, HasSubstr("steps I64 [] 1.23457e+12\n"));
  EXPECT_THAT(text, HasSubstr("wide F64 [1,2] -1.5\n"));
}

TEST_F(Safetensors, TheIndependentReaderDoesNotNodEverythingThrough) {
  const std::string tensor = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  write_atomically(file_, bytes_of(tensor + std::string(8 - tensor.size() % 8, ' '), 8));
  EXPECT_EQ(read_by_python(file_).second, 0);
  write_atomically(file_, bytes_of(tensor + std::string(9 - tensor.size() % 8, ' '), 8));
  EXPECT_EQ(read_by_python(file_).second, 1);  // data not aligned
  write_atomically(file_, bytes_of(tensor + std::string(8 - tensor.size() % 8, ' '), 9));
  EXPECT_EQ(read_by_python(file_).second, 1);  // a byte too many
}

TEST_F(Safetensors, DataBeginsAtAMultipleOfEightWhateverTheNames) {
  for (std::size_t length = 1; length < 20; ++length) {
    float value = 3;
    const NamedTensor tensor{
        std::string(length, 'n'), "F32", {1}, std::as_writable_bytes(std::span(&value, 1))};
    save_safetensors(file_, {&tensor, 1});
    const auto size = std::filesystem::file_size(file_);
    EXPECT_EQ((size - 4) % 8, 0u);
    EXPECT_EQ(SafetensorsFile::open(file_).tensors().size(), 1u);
  }
}

TEST_F(Safetensors, ASaveThatFailsLeavesTheOldFile) {
  save_model(file_, {1}, {1}, 1);
  float value = 1;
  const NamedTensor wrong{"w", "F32", {2}, std::as_writable_bytes(std::span(&value, 1))};
  EXPECT_THROW(save_safetensors(file_, {&wrong, 1}), stencil::InvariantError);
  const NamedTensor right{"w", "F32", {1}, std::as_writable_bytes(std::span(&value, 1))};
  const NamedTensor twice[] = {right, right};
  EXPECT_THROW(save_safetensors(file_, twice), stencil::InvariantError);
  EXPECT_EQ(SafetensorsFile::open(file_).tensors().size(), 3u);
  EXPECT_THROW(save_safetensors(folder_ / "no" / "m", {&right, 1}), FileError);
}

TEST_F(Safetensors, AMissingFileAFolderAndAnEmptyFileAreNamed) {
  EXPECT_THROW((void)SafetensorsFile::open(folder_ / "missing"), FileError);
  EXPECT_THROW((void)SafetensorsFile::open(folder_), FileError);
  write_atomically(file_, "");
  EXPECT_THROW((void)SafetensorsFile::open(file_), FileError);
}

TEST_F(Safetensors, EveryPrefixOfAFileIsRefused) {
  save_model(file_, {1, 2}, {1}, 1);
  const std::string whole = read(file_);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(error_of(whole.substr(0, size)), "") << size;
  }
  EXPECT_EQ(error_of(whole), "");
  EXPECT_THAT(error_of(whole + "x"), HasSubstr("after its last tensor"));
}

TEST_F(Safetensors, ForeignHeadersAreRefusedForTheReason) {
  const auto one = [](const std::string& dtype, const std::string& shape,
                      const std::string& offsets) {
    return R"({"a":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" +
           offsets + "}}";
  };
  EXPECT_EQ(error_of(one("F32", "[2]", "[0,8]"), 8), "");
  EXPECT_EQ(error_of(one("F32", "[0,9]", "[0,0]"), 0), "");
  EXPECT_EQ(error_of("{}", 0), "");
  EXPECT_THAT(error_of(std::string(8, '\xff')), HasSubstr("claims 18446744073709551615"));
  EXPECT_THAT(error_of("[1]", 0), HasSubstr("begin with {"));
  EXPECT_THAT(error_of(R"({"a":)", 0), HasSubstr("no JSON"));
  EXPECT_THAT(error_of(one("F31", "[2]", "[0,8]"), 8), HasSubstr("unknown type"));
  EXPECT_THAT(error_of(one("F32", "[3]", "[0,8]"), 8), HasSubstr("want 12"));
  EXPECT_THAT(error_of(one("F32", "[-2]", "[0,8]"), 8), HasSubstr("no size"));
  EXPECT_THAT(error_of(one("F32", "[2.0]", "[0,8]"), 8), HasSubstr("no size"));
  EXPECT_THAT(error_of(one("F32", "[2]", "[0,16]"), 8), HasSubstr("outside the file"));
  EXPECT_THAT(error_of(one("F32", "[2]", "[8,0]"), 8), HasSubstr("outside the file"));
  EXPECT_THAT(error_of(one("F32", "[2]", "[4,12]"), 12), HasSubstr("hole"));
  EXPECT_THAT(error_of(one("F32", "[2]", "[0,8,9]"), 8), HasSubstr("no data_offsets"));
  EXPECT_THAT(error_of(one("F32", "[4611686018427387904,4]", "[0,0]"), 0),
              HasSubstr("more bytes than can be counted"));
  EXPECT_THAT(error_of(one("F32", "[18446744073709551615]", "[0,0]"), 0), HasSubstr("no size"));
  const std::string entry = R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  EXPECT_THAT(error_of("{" + entry + "," + entry + "}", 1), HasSubstr("appears twice"));
  const std::string other = R"("b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]})";
  EXPECT_THAT(error_of("{" + entry + "," + other + "}", 2), HasSubstr("overlaps"));
  EXPECT_THAT(error_of(R"({"__metadata__":{"a":1}})", 0), HasSubstr("no text"));
  EXPECT_THAT(error_of("{\"a\":" + std::string(100000, '[') + "}", 0), HasSubstr("too deeply"));
}

TEST_F(Safetensors, AFileTakesTheRoomThatWasReservedForIt) {
  ReservedRoom room(folder_ / ".room");
  room.reserve(1 << 20);
  struct stat reserved {};
  ASSERT_EQ(::stat(room.file().c_str(), &reserved), 0);
  std::vector<float> values(100, 3.0F);
  const NamedTensor tensor{"a", "F32", {100}, std::as_writable_bytes(std::span(values))};
  save_safetensors(file_, std::span(&tensor, 1), {}, {}, room.file());
  struct stat written {};
  ASSERT_EQ(::stat(file_.c_str(), &written), 0);
  EXPECT_EQ(written.st_ino, reserved.st_ino) << "it asked the disk for more";
  EXPECT_FALSE(std::filesystem::exists(room.file()));
  const auto small = folder_ / "small.safetensors";
  save_safetensors(small, std::span(&tensor, 1), {}, {}, room.file());  // which is gone
  EXPECT_EQ(std::filesystem::file_size(file_), std::filesystem::file_size(small));
  EXPECT_EQ(SafetensorsFile::open(file_).tensors().size(), 1U);
}

}  // namespace
}  // namespace fast
