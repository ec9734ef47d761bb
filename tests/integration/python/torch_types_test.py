"""Buffers and frozen parameters of all types beside what is trained."""

import unittest

import fast_training as fast
import support
import torch
from fast_training._model_file import read_model
from torch import nn
from torch_models import model_of


def model_with(tensor, persistent=True):
    model = model_of(lambda: nn.Linear(3, 1))
    model.register_buffer("h", tensor, persistent=persistent)
    return model


def names_saved(session):
    with support.temporary_folder() as folder:
        session.save_model(f"{folder}/m.safetensors")
        return support.saved_tensors(f"{folder}/m.safetensors")


class Types(unittest.TestCase):
    def test_buffers_that_have_no_mean_are_carried(self):
        tensors = {"C64": torch.ones(4, dtype=torch.complex64), "BOOL": torch.ones(4).bool()}
        for kind, name in (("U16", "uint16"), ("F8_E4M3", "float8_e4m3fn")):
            if hasattr(torch, name):
                tensors[kind] = torch.ones(4).to(getattr(torch, name))
        for kind, tensor in tensors.items():
            with fast.join(model_with(tensor)) as session:
                session.exchange()
                self.assertEqual(names_saved(session)["h"], (kind, (4,)))
            self.assertTrue(session.agreed)

    def test_buffers_that_no_file_can_hold_stay_apart_with_a_warning(self):
        for tensor, said in (
            (torch.eye(3).to_sparse(), "sparse"),
            (torch.ones(1).expand(4), "expanded"),
            (torch.ones(4, dtype=torch.complex128), "complex128"),
        ):
            with (
                self.assertLogs("fast_training", "WARNING") as lines,
                fast.join(model_with(tensor)) as session,
            ):
                session.exchange()
                self.assertNotIn("h", names_saved(session))
            self.assertEqual(len(lines.output), 1)
            self.assertRegex(lines.output[0], f"'h' is .*{said}")
            self.assertTrue(session.agreed)

    def test_buffers_that_are_not_persistent_are_in_checkpoints_alone(self):
        with support.temporary_folder() as folder:
            options = {name: f"{folder}/c.safetensors" for name in ("checkpoint", "resume")}
            model = model_with(torch.zeros(2), persistent=False)
            with (
                self.assertNoLogs("fast_training", "WARNING"),
                fast.join(model, **options) as session,
            ):
                model.h.add_(7)
                session.exchange()
                self.assertEqual(set(names_saved(session)), set(model.state_dict()))
            other = model_with(torch.zeros(2), persistent=False)
            with fast.join(other, **options):
                self.assertEqual(other.h.tolist(), [7, 7])


class Files(unittest.TestCase):
    def test_a_saved_model_is_loaded_again(self):
        """Tied tensors, types of all kinds, and a buffer that no file holds."""
        models = []
        for value in (3.0, 4.0):
            model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Linear(3, 3).bfloat16())
            model.register_module("head", nn.Linear(3, 3))
            model.head.weight = model[0].weight
            model.register_buffer("h", torch.ones(2), persistent=False)
            for tensor in (*model.parameters(), *model.buffers()):
                tensor.data.fill_(value)
            models.append(model)
        with support.temporary_folder() as folder:
            with fast.join(models[0]) as session:
                session.save_model(f"{folder}/m.safetensors")
            names = set(read_model(f"{folder}/m.safetensors"))
            self.assertEqual(names, set(models[0].state_dict()), "as strict=True asks")
            fast.load_model(f"{folder}/m.safetensors", models[1])
            for name, tensor in models[1].state_dict().items():
                self.assertTrue((tensor == 3).all(), name)
            self.assertTrue((models[1].h == 4).all())
            with self.assertRaisesRegex(fast.ModelError, "has no 'weight'"):
                fast.load_model(f"{folder}/m.safetensors", nn.Linear(3, 1))


if __name__ == "__main__":
    unittest.main()
