"""PyTorch's example `word_language_model`, written anew: a recurrent network learns to write.

fast run --topology ring:2 -- python3 word_language_model.py      FAST: the lines marked so

Its text is made here, by a grammar of which only some words may follow each word.
"""

import math
import sys

import fast_training as fast  # FAST
import torch
from fast_training.schedule import by_progress, cosine  # FAST
from torch import nn

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
whole = text(48_000, seed=1)
own = in_columns(whole.chunk(fast.workers())[fast.rank()])  # FAST: a part of the text
model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
with fast.join(model, optimizer, budget=EPOCHS * len(whole)) as session:  # FAST
    scheduler = by_progress(optimizer, session, cosine())  # FAST
    while not session.done():  # FAST
        state = None
        for x, y in batches(own):
            optimizer.zero_grad()
            output, state = model(x, state)
            loss = nn.functional.cross_entropy(output, y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            session.exchange(samples=len(y), loss=loss)  # FAST
            scheduler.step()
found = perplexity(model, in_columns(text(8_000, seed=2)))
print(f"perplexity {found:.2f} of {WORDS} words, at best {FOLLOW}")
if fast.rank() == 0:  # FAST
    torch.save(model.state_dict(), "word_language_model.pt")
sys.exit(0 if found < 6 else 1)
