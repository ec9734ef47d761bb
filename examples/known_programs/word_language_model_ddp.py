"""The same by DistributedDataParallel, to be compared: torchrun word_language_model_ddp.py"""

import math
import sys

import torch
import torch.distributed as dist  # DDP
from torch import nn
from torch.nn.parallel import DistributedDataParallel  # DDP

WORDS, FOLLOW, COLUMNS, STEPS = 40, 4, 16, 12
EPOCHS = 3


def text(count, seed):
    """Words by number: each is followed by one of FOLLOW, which are its own."""
    followers = torch.randint(WORDS, (WORDS, FOLLOW), generator=torch.Generator().manual_seed(0))
    choices = torch.randint(FOLLOW, (count,), generator=torch.Generator().manual_seed(seed))
    words = [0]
    for choice in choices.tolist():
        words.append(int(followers[words[-1], choice]))
    return torch.tensor(words)


def in_columns(words):
    rows = len(words) // COLUMNS
    return words[: rows * COLUMNS].view(COLUMNS, rows).t()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, 32)
        self.memory = nn.LSTM(32, 32)
        self.next = nn.Linear(32, WORDS, bias=False)
        self.next.weight = self.words.weight  # tied

    def forward(self, x, state):
        output, state = self.memory(self.words(x), state)
        return self.next(output).flatten(0, 1), tuple(part.detach() for part in state)


def batches(columns):
    for at in range(0, len(columns) - 1 - STEPS, STEPS):
        yield columns[at : at + STEPS], columns[at + 1 : at + 1 + STEPS].flatten()


def perplexity(model, columns):
    state, losses = None, []
    with torch.no_grad():
        for x, y in batches(columns):
            output, state = model(x, state)
            losses.append(nn.functional.cross_entropy(output, y).item())
    return math.exp(sum(losses) / len(losses))


torch.set_num_threads(1)
torch.manual_seed(1)
dist.init_process_group("gloo")  # DDP
whole = text(48_000, seed=1)
own = in_columns(whole.chunk(dist.get_world_size())[dist.get_rank()])  # DDP
model = DistributedDataParallel(Model())  # DDP
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
for _ in range(EPOCHS):
    state = None
    for x, y in batches(own):
        optimizer.zero_grad()
        output, state = model(x, state)
        loss = nn.functional.cross_entropy(output, y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    scheduler.step()
found = perplexity(model, in_columns(text(8_000, seed=2)))
print(f"perplexity {found:.2f} of {WORDS} words, at best {FOLLOW}")
if dist.get_rank() == 0:  # DDP
    torch.save(model.module.state_dict(), "word_language_model.pt")  # DDP
dist.destroy_process_group()  # DDP
sys.exit(0 if found < 6 else 1)
