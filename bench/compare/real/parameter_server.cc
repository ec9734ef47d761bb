#include "bench/compare/real/parameter_server.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>

#include "adapters/torch/models/model.h"
#include "bench/compare/real/counted_exchange.h"
#include "bench/compare/real/over_zmq.h"
#include "bench/compare/real/wrapped_learner.h"
#include "fast/run/atomic_file.h"
#include "fast/session/session.h"
#include "fast/train/schedule.h"

namespace fast::compare {
namespace {

enum class Request : char { kPush = 'p', kGet = 'g', kBye = 'b' };

class ServerClient final : public WrappedLearner {
 public:
  ServerClient(const Place& place, std::unique_ptr<TorchLearner> inner)
      : WrappedLearner(std::move(inner)), place_(place), socket_(context_, ZMQ_DEALER) {
    socket_.set(zmq::sockopt::linger, milliseconds(2));
    socket_.set(zmq::sockopt::rcvtimeo, milliseconds(place.deadline));
    socket_.set(zmq::sockopt::sndtimeo, milliseconds(place.deadline));
    socket_.set(zmq::sockopt::routing_id, std::to_string(place.rank));
    socket_.connect(
        await_address(place.meeting / "server", "the parameter server", place.deadline));
    ask(Request::kGet, {});
  }
  ~ServerClient() override {
    try {
      send(Request::kBye, {});
    } catch (const std::exception&) {
      // The server has ended already, or will notice at its deadline.
    }
  }

  StepResult train_step(const Batch& batch) override {
    inner_->clear_gradients();
    StepResult result = inner_->backward(batch);
    if (!std::isfinite(result.loss)) return result;
    const auto asked = std::chrono::steady_clock::now();
    ask(Request::kPush, gradient_of(*inner_));
    result.waited = std::chrono::duration<double>(std::chrono::steady_clock::now() - asked).count();
    return result;
  }

  [[nodiscard]] double progress() const { return progress_; }
  [[nodiscard]] std::uint64_t bytes_sent() const { return bytes_; }

 private:
  void send(Request request, zmq::message_t body) {
    bytes_ += body.size();
    const char kind = static_cast<char>(request);
    const bool sent = socket_.send(zmq::buffer(&kind, 1), zmq::send_flags::sndmore).has_value() &&
                      socket_.send(body, zmq::send_flags::none).has_value();
    if (!sent) lost();
  }

  void ask(Request request, zmq::message_t body) {
    send(request, std::move(body));
    zmq::message_t share, parameters;
    if (!socket_.recv(share) || !socket_.recv(parameters)) lost();
    const auto values = inner_->adapter().values();
    if (share.size() != sizeof progress_ || parameters.size() != values.size_bytes()) lost();
    std::memcpy(&progress_, share.data(), sizeof progress_);
    std::memcpy(values.data(), parameters.data(), parameters.size());
    bytes_ += parameters.size();  // sent over the server's link
  }

  [[noreturn]] void lost() const {
    throw DeadlineError("the parameter server did not answer within " +
                        std::to_string(static_cast<int>(place_.deadline)) +
                        " s (it, or in sync mode another worker, is gone)");
  }

  Place place_;
  zmq::context_t context_;
  zmq::socket_t socket_;
  double progress_ = 0;
  std::uint64_t bytes_ = 0;
};

class Server {
 public:
  Server(const Cell& cell, const Place& place, TorchLearner& learner)
      : place_(place),
        learner_(learner),
        sync_(cell.strategy.name == "parameter-server-sync"),
        batch_(static_cast<std::uint64_t>(cell.job.batch)),
        schedule_(Schedule::parse(cell.job.schedule, cell.strategy.learning_rate, cell.job.warmup)),
        socket_(context_, ZMQ_ROUTER) {
    socket_.set(zmq::sockopt::linger, 2000);
    socket_.set(zmq::sockopt::rcvtimeo, milliseconds(place.deadline));
    socket_.set(zmq::sockopt::sndtimeo, milliseconds(place.deadline));
    socket_.bind("tcp://" + place.host + ":0");
    write_atomically(place.meeting / "server", socket_.get(zmq::sockopt::last_endpoint) + "\n");
  }

  void run() {
    while (byes_ < place_.workers) {
      zmq::message_t from, kind, body;
      if (!socket_.recv(from) || !socket_.recv(kind) || !socket_.recv(body)) {
        throw DeadlineError("the parameter server has heard nothing for " +
                            std::to_string(static_cast<int>(place_.deadline)) + " s");
      }
      switch (static_cast<Request>(*kind.data<char>())) {
        case Request::kBye:
          ++byes_;
          break;
        case Request::kGet:
          answer(from.to_string());
          break;
        case Request::kPush:
          take(from.to_string(), std::move(body));
          break;
      }
    }
  }

 private:
  void take(const std::string& from, zmq::message_t gradient) {
    if (gradient.size() != learner_.adapter().values().size_bytes()) return;
    waiting_[std::stoi(from)] = std::move(gradient);
    if (sync_ && waiting_.size() < static_cast<std::size_t>(place_.workers)) return;
    apply();
    const auto answered = std::move(waiting_);
    waiting_.clear();
    for (const auto& [rank, unused] : answered) answer(std::to_string(rank));
  }

  /// Applies the mean of the waiting gradients, summed in rank order, as one optimizer step.
  void apply() {
    const torch::NoGradGuard no_grad;
    std::size_t offset = 0;
    for (auto& parameter : learner_.model().parameters()) {
      parameter.mutable_grad() = torch::zeros_like(parameter);
      auto sum = parameter.grad().view(-1);
      for (auto& [rank, gradient] : waiting_) {
        sum.add_(torch::from_blob(gradient.data<char>() + offset, {sum.numel()}));
      }
      sum.div_(static_cast<double>(waiting_.size()));
      offset += sum.nbytes();
    }
    learner_.set_learning_rate(schedule_.rate(share()));
    learner_.update();
    samples_ += batch_ * waiting_.size();
  }

  [[nodiscard]] double share() const {
    return static_cast<double>(samples_) / static_cast<double>(place_.budget);
  }

  void answer(const std::string& to) {
    const double share = this->share();
    const auto values = learner_.adapter().values();
    (void)socket_.send(zmq::buffer(to), zmq::send_flags::sndmore);
    (void)socket_.send(zmq::buffer(&share, sizeof share), zmq::send_flags::sndmore);
    (void)socket_.send(zmq::buffer(values.data(), values.size_bytes()), zmq::send_flags::none);
  }

  Place place_;
  TorchLearner& learner_;
  bool sync_;
  std::uint64_t batch_;
  Schedule schedule_;
  zmq::context_t context_;
  zmq::socket_t socket_;
  std::map<int, zmq::message_t> waiting_;
  std::uint64_t samples_ = 0;
  int byes_ = 0;
};

}  // namespace

Participant make_server_client(const Place& place, std::unique_ptr<TorchLearner> learner) {
  auto made = std::make_unique<ServerClient>(place, std::move(learner));
  ServerClient* const client = made.get();
  return {std::move(made), make_counted(
                               place, [client] { return client->bytes_sent(); },
                               [client] { return client->progress(); })};
}

void serve_parameters(const Cell& cell, const Place& place, TorchLearner& learner) {
  Server(cell, place, learner).run();
}

}  // namespace fast::compare
