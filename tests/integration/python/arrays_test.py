"""Adapters over arrays of NumPy: whose memory is used, and what is copied."""

import unittest

import fast_training as fast
import numpy as np
import support
from fast_training._memory import memory_of
from fast_training.arrays import CopiedArrays, flat_copies


class OnlyDlpack:
    """An array that has nothing but DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)


class OnlyInterface:
    def __init__(self, array):
        self.__array_interface__ = array.__array_interface__
        self.kept = array


class Memory(unittest.TestCase):
    def test_each_protocol_gives_the_same_memory(self):
        array = np.arange(6, dtype="f").reshape(2, 3)
        for one in (array, memoryview(array), OnlyDlpack(array), OnlyInterface(array)):
            found = memory_of(one, "x")
            self.assertEqual(found.address, array.ctypes.data, type(one))
            self.assertEqual((found.type, found.shape), ("F32", (2, 3)))

    def test_types_and_shapes(self):
        for kind, name in (
            ("f2", "F16"),
            ("f4", "F32"),
            ("f8", "F64"),
            ("i1", "I8"),
            ("i2", "I16"),
            ("i4", "I32"),
            ("i8", "I64"),
            ("u1", "U8"),
            ("?", "BOOL"),
        ):
            for shape in ((), (0,), (3,), (2, 0, 4), (2, 1, 4)):
                array = np.zeros(shape, kind)
                for one in (array, memoryview(array)):
                    found = memory_of(one, "x")
                    self.assertEqual((found.type, found.shape), (name, shape))

    def test_what_is_not_plain_memory_is_refused_by_name(self):
        array = np.zeros((4, 4), "f")
        fixed = np.zeros(3, "f")
        fixed.setflags(write=False)
        for bad, why in (
            (array.T[:2], "contiguous"),
            (array[:, 1], "contiguous"),
            (OnlyDlpack(array[:, 1]), "contiguous"),
            (fixed, "written"),
            (np.zeros(3, ">f4"), "other order"),
            (np.zeros(3, "c8"), "type"),
            (np.array(["text"]), "type"),
        ):
            with self.assertRaisesRegex(fast.UsageError, f"'x'.*{why}", msg=str(bad)):
                memory_of(bad, "x")


class Sessions(unittest.TestCase):
    def agreed(self, models, sessions):
        """Trains towards objectives of their own: models[i] are the arrays of worker i."""

        def step(index):
            for array in models[index]():
                array -= np.asarray(0.2 * (array - index), array.dtype)
            return 0.5

        support.train(sessions, step)
        for one, other in zip(models[0](), models[1]()):
            np.testing.assert_allclose(one, other, atol=2e-3)
            self.assertTrue((one > 0).all() and (one < 1).all())

    def test_separate_arrays_of_every_type_are_exchanged(self):
        models = [
            {kind: np.full((3, 5), 0.5, kind) for kind in ("f2", "f4", "f8")} for _ in range(2)
        ]
        sessions = support.ring(models, budget=2000, mode="bounded:3")
        self.agreed([lambda m=m: m.values() for m in models], sessions)

    def test_flat_copies_are_one_memory_of_the_same_values(self):
        arrays = [np.arange(6, dtype="f").reshape(2, 3), np.ones((), "f"), np.ones(4, "f")]
        copies = list(flat_copies(arrays).values())
        for one, other in zip(arrays, copies):
            np.testing.assert_array_equal(one, other)
            self.assertEqual(one.shape, other.shape)
        self.assertEqual(copies[1].ctypes.data - copies[0].ctypes.data, 24)
        self.assertEqual(copies[2].ctypes.data - copies[1].ctypes.data, 4)
        mixed = list(flat_copies([np.ones(3, "f2"), np.ones(3, "f8")]).values())
        self.assertEqual(mixed[1].ctypes.data % 8, 0)

    def test_arrays_that_are_replaced_in_training_are_copied(self):
        class Model:
            def __init__(self):
                self.w = np.full((2, 3), 0.5, "f")
                self.b = np.full((), 0.5, "d")

        models = [Model(), Model()]

        def adapter(model):
            def write(values):
                model.w, model.b = values["w"].copy(), values["b"].copy()

            return CopiedArrays(lambda: {"w": model.w, "b": model.b}, write)

        sessions = support.ring([adapter(model) for model in models], budget=2000, mode="bounded:3")
        self.agreed([lambda m=m: (m.w, m.b) for m in models], sessions)

    def test_a_copy_of_another_type_or_shape_is_refused(self):
        state = {"w": np.zeros(3, "f")}
        with fast.Session(CopiedArrays(lambda: state, lambda values: None)) as session:
            session.join()
            for bad in (np.zeros(3, "d"), np.zeros((2, 3), "f"), np.zeros((), "f")):
                state["w"] = bad
                with self.assertRaisesRegex(fast.ModelError, "'w'"):
                    session.exchange()
            state["w"] = np.zeros(3, "f")
            session.exchange()


if __name__ == "__main__":
    unittest.main()
