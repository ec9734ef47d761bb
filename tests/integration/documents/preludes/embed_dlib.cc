// What the examples of dlib's adapter leave out.
//
//   embed_dlib          the one of adapters/README.md, under fast run
//   embed_dlib header   that of dlib_adapter.h
#include <dlib/dnn.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "adapters/dlib/dlib_adapter.h"
#include "adapters/dlib/dlib_layers.h"
#include "fast/session/session.h"

namespace {

using Net = dlib::loss_multiclass_log<
    dlib::fc<2, dlib::relu<dlib::fc<4, dlib::input<dlib::matrix<float>>>>>>;

std::vector<dlib::matrix<float>> images() {
  std::vector<dlib::matrix<float>> images;
  for (int i = 0; i < 16; ++i) images.emplace_back(dlib::uniform_matrix<float>(3, 3, i % 2));
  return images;
}

std::vector<unsigned long> classes() {
  std::vector<unsigned long> classes;
  for (unsigned long i = 0; i < 16; ++i) classes.push_back(i % 2);
  return classes;
}

void loop() {
  Net net;
  dlib::dnn_trainer<Net> trainer(net);
  const auto samples = images();
  const auto labels = classes();
#include "adapters-README.md.cpp.2"
}

void header() {
  Net net;
  const auto sample = images().front();
  const auto options = fast::SessionOptions::from_environment();
#include "adapters-dlib-dlib_adapter.h.cpp.1"
  session.join();
  session.exchange({.samples = 16});
  session.finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "header") {
    header();
  } else {
    loop();
  }
}
