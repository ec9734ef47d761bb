#pragma once

#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <chrono>
#include <filesystem>
#include <string>
#include <type_traits>

namespace bench {

/// LibTorch's all-reduce over Gloo for tensors on the CPU. LibTorch before 2.0 has it as a
/// ProcessGroup of its own, later ones as a backend of one. Call it without template arguments.
template <typename Gloo = c10d::ProcessGroupGloo, typename Group = c10d::ProcessGroup>
c10::intrusive_ptr<Group> make_gloo_group(const std::filesystem::path& meeting,
                                          const std::string& host, int rank, int workers,
                                          std::chrono::milliseconds deadline) {
  const auto store = c10::make_intrusive<c10d::FileStore>(meeting.string(), workers);
  store->setTimeout(deadline);
  const auto options = Gloo::Options::create(deadline);
  options->devices.push_back(Gloo::createDeviceForHostname(host));
  auto gloo = c10::make_intrusive<Gloo>(store, rank, workers, options);
  if constexpr (std::is_base_of_v<Group, Gloo>) {
    return gloo;
  } else {
    auto group = c10::make_intrusive<Group>(store, rank, workers);
    group->setBackend(c10::DeviceType::CPU, Group::BackendType::GLOO, gloo);
    group->setDefaultBackend(Group::BackendType::GLOO);
    return group;
  }
}

}  // namespace bench
