"""A small GPT by Hugging Face's Trainer, on sentences that are made here; each worker reads others.

python3 two_workers.py transformers_gpt.py    both learn 95 % of the letters that can be foreseen
"""

import os
import random
import sys
import tempfile

import torch
import transformers
from fast_training.transformers import FastCallback

WORDS = ("our his the", "big old red", "cat dog hen", "saw bit met", "one two six", "men ants")
rank, letters = int(os.environ["FAST_RANK"]), "abcdefghijklmnopqrstuvwxyz ."


def sentence(chance):
    text = " ".join(chance.choice(words.split()) for words in WORDS)[:23]  # all are as long
    return torch.tensor([letters.index(letter) for letter in text])


transformers.set_seed(rank)  # all the same, all begin with the weights of rank 0
sizes = {"vocab_size": len(letters), "n_positions": 23, "n_embd": 64, "n_layer": 2, "n_head": 4}
ends = {"bos_token_id": None, "eos_token_id": None}
model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes, **ends))
data = [{"input_ids": s, "labels": s} for s in map(sentence, [random.Random(rank)] * 1000)]
with tempfile.TemporaryDirectory() as folder:
    quiet = {"report_to": [], "save_strategy": "no", "logging_strategy": "no", "disable_tqdm": True}
    settings = transformers.TrainingArguments(
        folder, num_train_epochs=100, per_device_train_batch_size=20, learning_rate=3e-3, **quiet
    )
    callbacks = [FastCallback(budget=8000)]
    transformers.Trainer(model, settings, train_dataset=data, callbacks=callbacks).train()
lines = torch.stack([*map(sentence, [random.Random(7)] * 500)])
right = model.eval()(lines[:, :-1]).logits.argmax(2) == lines[:, 1:]
accuracy = right[:, [i for i in range(22) if i % 4 != 3]].float().mean().item()  # no first letters
print(f"worker {rank}: {accuracy:.1%} of the letters that can be foreseen")
sys.exit(0 if accuracy >= 0.95 else 1)
