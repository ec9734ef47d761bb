// Which payloads a run accepts from a neighbour: those that it sends itself, and exact ones.
#include "stencil/runtime/payload_forms.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "tests/support/codec_cases.h"

namespace stencil {
namespace {

/// A worker with a model of a bucket of 1000 values and one of 500, and one neighbour.
class PayloadFormsTest : public testing::Test {
 protected:
  PayloadFormsTest() { use("fp32"); }
  void use(const char* codec) {
    forms_.emplace(parse_codec(codec), mixer_, carried_);
    codec_ = forms_->make_codec(model_);
  }
  template <typename Body>
  bool fits(const char* codec, std::size_t bytes, std::uint32_t bucket = 0) {
    Body body;
    body.bucket = bucket;
    body.codec = parse_codec(codec).number;
    if constexpr (requires { body.divisor; }) body.divisor = 2;
    // Joining is exact; rounds in lock step use the run's codec.
    if constexpr (requires { body.round; }) body.round = body.codec == kExact ? 0 : 1;
    if (bytes > 0) body.payload = Payload(Bytes(bytes));
    return forms_->fits(*codec_, {{}, body});
  }

  std::vector<float> model_ = std::vector<float>(1500, 1.0F);
  std::vector<double> telemetry_ = {1.0, 2.0};
  Mixer mixer_{Layout::flat(1500, 1000), model_, telemetry_};
  Carried carried_{Bytes(10), 8};  ///< numbered 3 and 4, after the telemetry
  std::unique_ptr<EdgeCodec> codec_;
  std::optional<PayloadForms> forms_;
};

TEST_F(PayloadFormsTest, only_what_the_run_sends_is_taken) {
  use("int8");
  EXPECT_TRUE(fits<Reply>("int8", 1016));
  EXPECT_FALSE(fits<Reply>("int8", 1015));
  EXPECT_FALSE(fits<Reply>("fp16", 2000)) << "values go so, and differences do not";
  EXPECT_TRUE(fits<Offer>("fp16", 2000));
  EXPECT_FALSE(fits<Offer>("fp16", 2000, 1)) << "the second bucket is smaller";
  EXPECT_TRUE(fits<Offer>("fp16", 1000, 1));
  EXPECT_FALSE(fits<Offer>("int8", 1016));
  EXPECT_TRUE(fits<Snapshot>("fp16", 2000));
  EXPECT_FALSE(fits<Snapshot>("bf16", 2000));
}

TEST_F(PayloadFormsTest, what_is_exact_is_always_taken) {
  for (const CodecSpec& codec : test::every_codec(10'000)) {
    use(name(codec).c_str());
    EXPECT_TRUE(fits<Offer>("fp32", 4000)) << name(codec);
    EXPECT_TRUE(fits<Reply>("fp32", 4000)) << name(codec);
    EXPECT_TRUE(fits<Snapshot>("fp32", 4000)) << name(codec);
    EXPECT_FALSE(fits<Snapshot>("fp32", 4004)) << name(codec);
  }
}

TEST_F(PayloadFormsTest, parts_and_residues_have_the_sizes_of_their_forms) {
  use("topk:0.01");
  EXPECT_TRUE(fits<Offer>("topk:0.01", 8 + 8 + 4 + 10 * 4));
  EXPECT_FALSE(fits<Offer>("topk:0.01", 8 + 8 + 4 + 10 * 4 + 1));
  EXPECT_TRUE(fits<Reply>("topk:0.01", 20));
  EXPECT_FALSE(fits<Snapshot>("topk:0.01", 20));
  use("int4");
  EXPECT_TRUE(fits<Offer>("int4", codec_->offer_form(1000).bytes));
  EXPECT_FALSE(fits<Offer>("fp16", 2000));
  EXPECT_TRUE(fits<Snapshot>("fp16", 2000));
}

TEST_F(PayloadFormsTest, an_offer_of_nothing_is_one_and_so_is_a_decline) {
  EXPECT_TRUE(fits<Offer>("fp32", 0));
  Message declined{{}, Reply{.bucket = 0, .status = ReplyStatus::kBusy}};
  EXPECT_TRUE(forms_->fits(*codec_, declined));
  EXPECT_FALSE(fits<Reply>("fp32", 0)) << "a delta without one";
  EXPECT_TRUE(forms_->fits(*codec_, {{}, Heartbeat{}}));
}

TEST_F(PayloadFormsTest, what_is_carried_comes_in_its_chunks_and_only_with_a_whole_model) {
  EXPECT_TRUE(fits<Snapshot>("fp32", 8, 3));
  EXPECT_TRUE(fits<Snapshot>("fp32", 2, 4));
  EXPECT_FALSE(fits<Snapshot>("fp32", 8, 4));
  EXPECT_FALSE(fits<Snapshot>("fp32", 8, 5));
  EXPECT_FALSE(fits<Snapshot>("fp16", 8, 3)) << "of a round in lock step";
  EXPECT_FALSE(fits<Offer>("fp32", 8, 3));
}

TEST_F(PayloadFormsTest, telemetry_passes_no_codec) {
  use("int8");
  EXPECT_TRUE(fits<Offer>("fp32", 16, 2));
  EXPECT_TRUE(fits<Reply>("fp32", 16, 2));
  EXPECT_FALSE(fits<Offer>("fp32", 8, 2));
}

}  // namespace
}  // namespace stencil
