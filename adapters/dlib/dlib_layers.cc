#include "adapters/dlib/dlib_layers.h"

namespace fast {
namespace {

// dlib::bn_ gives its running statistics to nobody but files. An explicit instantiation may name
// private members ([temp.spec]/6), and its friend function hands them out.
template <typename Norm, auto... kMembers>
struct Opened {
  friend DlibStatistics open(Norm& norm) { return {&(norm.*kMembers)...}; }
};

using OfChannels = dlib::bn_<dlib::CONV_MODE>;
DlibStatistics open(OfChannels& norm);
template struct Opened<OfChannels, &OfChannels::running_means, &OfChannels::running_variances,
                       &OfChannels::num_updates, &OfChannels::running_stats_window_size,
                       &OfChannels::means, &OfChannels::invstds>;

using OfValues = dlib::bn_<dlib::FC_MODE>;
DlibStatistics open(OfValues& norm);
template struct Opened<OfValues, &OfValues::running_means, &OfValues::running_variances,
                       &OfValues::num_updates, &OfValues::running_stats_window_size,
                       &OfValues::means, &OfValues::invstds>;

}  // namespace

DlibStatistics dlib_statistics(OfChannels& norm) {
  return open(norm);
}

DlibStatistics dlib_statistics(OfValues& norm) {
  return open(norm);
}

}  // namespace fast
