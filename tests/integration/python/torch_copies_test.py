"""Optimizers that keep copies of the weights in their state."""

import unittest

import fast_training as fast
import torch
from fast_training._torch_copies import WeightCopies
from torch import nn
from torch_models import trained


class WithMasters(torch.optim.Optimizer):
    """SGD for parameters of half precision, with master copies in float32."""

    def __init__(self, parameters, rate):
        super().__init__(parameters, {})
        self.rate = rate

    @torch.no_grad()
    def step(self, closure=None):
        for parameter in self.param_groups[0]["params"]:
            state = self.state[parameter]
            master = state.setdefault("master", parameter.float().clone())
            master.sub_(parameter.grad.float(), alpha=self.rate)
            parameter.copy_(master)


class Constant(nn.Module):
    def __init__(self):
        super().__init__()
        self.values = nn.Parameter(torch.linspace(-1, 1, 64).bfloat16())

    def forward(self, _x):
        return self.values


class Copies(unittest.TestCase):
    def test_master_copies_follow_what_the_exchange_does(self):
        models = [Constant(), Constant()]
        trained(models, [WithMasters(model.parameters(), 2.0) for model in models])
        for model in models:  # whose goals are 0 and 1
            self.assertTrue(torch.allclose(model.values.float(), models[0].values.float()))
            self.assertGreater(model.values.min().item(), 0.05)
            self.assertLess(model.values.max().item(), 0.95)

    def test_what_the_type_cannot_hold_stays_in_a_copy(self):
        parameter = nn.Parameter(torch.tensor([1.0, 2.0]).bfloat16())
        optimizer = WithMasters([parameter], 1.0)
        parameter.grad = torch.tensor([0.001, 0.001]).bfloat16()
        copies = WeightCopies(optimizer)
        optimizer.step()
        self.assertEqual(parameter.tolist(), [1, 2])
        before = optimizer.state[parameter]["master"].clone()
        copies.before_exchange()
        parameter.data.add_(1.0)
        copies.after_exchange()
        self.assertTrue(torch.equal(optimizer.state[parameter]["master"], before + 1))

    def test_what_is_no_copy_stays(self):
        model = nn.Linear(3, 2)
        model.bias.data.fill_(0.0)
        optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.0)
        model(torch.zeros(1, 3)).sum().backward()
        model.bias.grad.zero_()
        optimizer.step()
        with fast.join(model, optimizer) as session:
            session.exchange()
            self.assertEqual(session.adapter._copies[0]._found, {})


if __name__ == "__main__":
    unittest.main()
