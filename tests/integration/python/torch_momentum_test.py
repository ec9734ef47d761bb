"""The two homes of momentum's rule, the library's and that for devices, by the same numbers."""

import unittest

import support
import torch
from fast_training._torch_momentum import OnDevice
from fast_training.torch import TorchAdapter


class Momentum(unittest.TestCase):
    def farthest(self, rates, scale):
        """How far the momentum of two workers in lock step is from that of the device's rule at
        most, over its length."""
        sides = torch.arange(1.0, 13.0).view(3, 4)
        parameters = [torch.nn.Parameter(sides * (rank + 1)) for rank in range(2)]
        optimizers = [torch.optim.SGD([one], lr=0.5, momentum=0.9) for one in parameters]
        adapters = [
            TorchAdapter({"p": one}, optimizer) for one, optimizer in zip(parameters, optimizers)
        ]
        sessions = support.ring(adapters, mode="sync")
        wrong = []

        def work(rank):
            parameter, optimizer = parameters[rank], optimizers[rank]
            generator = torch.Generator().manual_seed(rank)
            rule, group = OnDevice(share=0.5), optimizer.param_groups[0]
            mine, copy = torch.zeros(3, 4), torch.zeros(3, 4)
            with sessions[rank] as session:
                session.join()
                for rate in rates:
                    group["lr"] = rate
                    drawn = torch.randn(3, 4, generator=generator)
                    parameter.grad = drawn * scale ** torch.randn((), generator=generator)
                    optimizer.step()
                    mine.mul_(0.9).add_(parameter.grad)
                    copy.copy_(parameter.detach())
                    rule.before_exchange([(copy, mine, group)])
                    session.exchange()
                    copy.copy_(parameter.detach())
                    rule.after_exchange(lambda: 1.0)
                    theirs = optimizer.state[parameter]["momentum_buffer"]
                    wrong.append(((theirs - mine).norm() / theirs.norm()).item())

        support.together([lambda: work(0), lambda: work(1)])
        return max(wrong)

    def test_both_make_the_same_of_it(self):
        self.assertLess(self.farthest([0.5] * 30, 1.0), 1e-4)

    def test_where_the_bound_holds_it_too(self):
        self.assertLess(self.farthest([0.5] * 30, 10.0), 1e-4)

    def test_and_with_a_schedule(self):
        rates = [0.5 * 0.8**step for step in range(30)]  # the last below the least corrected
        self.assertLess(self.farthest(rates, 3.0), 1e-4)


if __name__ == "__main__":
    unittest.main()
