"""usage: resuming_torch.py CHECKPOINT DIES: trains alone for 150 steps, and where DIES is 1 and it
has not resumed, kills itself after 50 once there is a checkpoint. Prints the model's state."""

import json
import os
import random
import signal
import sys

import fast_training as fast
import numpy
import torch

path, dies = sys.argv[1], sys.argv[2] == "1"
torch.set_num_threads(1)
torch.manual_seed(1)
numpy.random.seed(1)
random.seed(1)
model = torch.nn.Sequential(
    torch.nn.Linear(3, 4),
    torch.nn.BatchNorm1d(4),
    torch.nn.Dropout(0.2),
    torch.nn.ReLU(),
    torch.nn.Linear(4, 1),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 40, 0.5)
with fast.join(
    model,
    optimizer,
    stateful={"scheduler": scheduler},
    checkpoint=path,
    resume=path,
    checkpoint_every=0.02,
) as session:
    resumed = session.steps()
    while session.steps() < 150:
        x = torch.randn(8, 3) + random.random() + numpy.random.rand() + session.steps() / 100
        loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        scheduler.step()
        session.exchange(samples=8, loss=loss)
        if dies and not resumed and session.steps() >= 50 and os.path.exists(path):
            os.kill(os.getpid(), signal.SIGKILL)
state = {name: tensor.tolist() for name, tensor in model.state_dict().items()}
print(json.dumps({"resumed": resumed, "rate": scheduler.get_last_lr(), "state": state}))
