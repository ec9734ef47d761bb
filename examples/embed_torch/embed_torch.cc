// A plain LibTorch training loop. The lines marked FAST make it a worker of a ring of two.
//
//   embed_torch                          both workers on this machine: it starts the other itself
//   embed_torch 0 *:5555     worker 0; on another machine:
//   embed_torch 1 *:5555 first-machine:5555
//
// Between machines both need a folder `keys`, as `fast keys --out keys --workers 2` makes it.
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "adapters/torch/torch_trainer.h"  // FAST
#include "fast/session/exit_code.h"        // FAST
#include "fast/session/session.h"          // FAST

namespace {

/// Two interleaved spirals; each worker draws different points from them.
std::pair<torch::Tensor, torch::Tensor> spirals(int count) {
  const torch::Tensor label = torch::randint(2, {count});
  const torch::Tensor t = torch::rand({count}) * 3 + 0.3;
  const torch::Tensor angle = 3 * t + label * 3.14159;
  const torch::Tensor x = torch::stack({t * torch::cos(angle), t * torch::sin(angle)}, 1);
  return {x + 0.05 * torch::randn_like(x), label};
}

int train(int rank, const std::string& listen, const std::string& peer) {
  torch::set_num_threads(1);
  torch::manual_seed(100 + rank);  // own data on each worker; all begin with rank 0's weights
  torch::nn::Sequential model(torch::nn::Linear(2, 64), torch::nn::Tanh(),
                              torch::nn::Linear(64, 64), torch::nn::Tanh(),
                              torch::nn::Linear(64, 2));
  torch::optim::SGD optimizer(model->parameters(),
                              torch::optim::SGDOptions(0.05).momentum(0.9).nesterov(true));

  fast::TorchTrainer trainer(*model, optimizer);                     // FAST
  fast::SessionOptions options{.topology = "ring:2", .rank = rank};  // FAST
  options.listen = listen;                                           // FAST
  if (!peer.empty()) options.peers[1 - rank] = peer;                 // FAST
  if (listen.starts_with("*")) options.keys = "keys";                // FAST
  options.budget = 2 * 64 * 1500;  // samples over both workers              // FAST
  fast::Session session(trainer.adapter(), options);  // FAST
  session.join();                                     // FAST

  while (!session.done()) {  // FAST: counts both
    const auto [x, y] = spirals(64);
    const torch::Tensor loss = torch::nn::functional::cross_entropy(model->forward(x), y);
    trainer.step(loss, session, 64);  // FAST: backward pass, optimizer's step and exchange
    if (session.steps() % 500 == 0) {
      std::printf("worker %d: step %4d, loss here %.4f, of both %.4f\n", rank,
                  static_cast<int>(session.steps()), loss.item<double>(), session.network_loss());
    }
  }
  const fast::Agreement agreement = session.finish();  // FAST
  if (agreement != fast::Agreement::kAgreed) return static_cast<int>(fast::exit_code(agreement));

  torch::NoGradGuard no_grad;
  const auto [x, y] = spirals(2000);
  const double accuracy =
      (model->forward(x).argmax(1) == y).to(torch::kFloat).mean().item<double>();
  std::printf("worker %d: accuracy %.1f %%\n", rank, 100 * accuracy);
  return accuracy > 0.9 ? 0 : 1;
}

// What ends a worker, a mistake in its options too, has an exit code of its own: README.
int train_or_say_why(int rank, const std::string& listen, const std::string& peer) {
  try {
    return train(rank, listen, peer);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "worker %d: %s\n", rank, error.what());
    return static_cast<int>(fast::exit_code(error));  // FAST
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2) return train_or_say_why(std::atoi(argv[1]), argv[2], argc > 3 ? argv[3] : "");
  // Both workers run here, with an address that only these two know.
  const std::string meeting = "ipc:///tmp/fast-embed-" + std::to_string(getpid());
  const pid_t other = fork();  // before LibTorch starts any thread
  if (other == 0) return train_or_say_why(1, "", meeting);
  const int mine = train_or_say_why(0, meeting, "");
  int status = 0;
  waitpid(other, &status, 0);
  unlink(meeting.substr(6).c_str());
  return mine != 0 ? mine : WEXITSTATUS(status);
}
