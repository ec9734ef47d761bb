"""Adapters over arrays of NumPy: whose memory is used, and what is copied."""

import unittest

import fast_training as fast
import numpy as np
import support
from fast_training._memory import memory_of
from fast_training.arrays import CopiedArrays, checked, flat_copies, packed, unpacked


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

    def test_copied_arrays_have_the_roles_of_their_names(self):
        state = {"w": np.ones(3, "f"), "mean": np.ones(2, "f"), "count": np.array(3)}
        written = []

        def write(values):
            written.append({name: array.copy() for name, array in values.items()})

        adapter = CopiedArrays(lambda: state, write, None, averaged={"mean"}, carried={"count"})
        self.assertEqual(
            [list(arrays) for arrays in (adapter.parameters, adapter.averaged, adapter.buffers)],
            [["w"], ["mean"], ["count"]],
        )
        state["count"] = np.array(4)
        adapter.before("exchange")
        self.assertEqual(adapter.buffers["count"], 4)
        adapter.buffers["count"][...] = 5
        for call in ("exchange", "join", "save_model"):
            adapter.after(call)
        self.assertEqual([list(values) for values in written], [["w"], ["w", "mean", "count"]])
        adapter.model_replaced()
        self.assertEqual(written[-1]["count"], 5)

    def test_copied_arrays_that_come_or_go_are_refused_by_name(self):
        state = {"w": np.zeros(3, "f"), "b": np.zeros(3, "f")}
        with fast.Session(CopiedArrays(lambda: state, lambda values: None)) as session:
            session.join()
            state["c"] = np.zeros(1, "f")
            with self.assertRaisesRegex(fast.ModelError, "not those.*c"):
                session.exchange()
            state = {"b": state["b"], "w": state["w"]}
            with self.assertRaisesRegex(fast.ModelError, "order"):
                session.exchange()
            state = {"w": state["w"], "b": state["b"]}
            session.exchange()


class States(unittest.TestCase):
    def test_a_state_is_what_was_packed(self):
        arrays = {
            "m": np.arange(6, dtype="f").reshape(2, 3),
            "steps": np.array(7),
            "none": np.zeros((0, 3), "d"),
            "flags": np.array([True, False]),
        }
        found, plain = unpacked(packed(arrays, rate=0.1, names=["a"], nothing=None))
        self.assertEqual(list(found), list(arrays))
        for name, array in arrays.items():
            np.testing.assert_array_equal(found[name], array)
            self.assertEqual((found[name].dtype, found[name].shape), (array.dtype, array.shape))
        found["m"][...] = 0  # it may be written to
        self.assertEqual(plain, {"rate": 0.1, "names": ["a"], "nothing": None})

    def test_objects_are_refused_by_name(self):
        with self.assertRaisesRegex(fast.ModelError, "m holds objects"):
            packed({"m": np.array([object()])})

    def test_what_was_cut_off_or_is_of_others_is_refused(self):
        state = packed({"m": np.ones(3)})
        for bad in (state[:-1], b"", b"other\n", b"[[], 3, 4]\n", state[:20]):
            with self.assertRaisesRegex(fast.FileError, "cannot be read", msg=str(bad)):
                unpacked(bad)

    def test_a_state_of_another_model_is_refused_by_what_differs(self):
        present = {"m": np.ones(3), "v": np.ones(3)}
        self.assertEqual(list(checked(present, present, "optimizer")), ["m", "v"])
        for bad, why in (
            ({"m": np.ones(3)}, "optimizer has nothing where this one has .'v'"),
            ({"m": np.ones(4), "v": np.ones(3)}, "'m', .4,.*'m', .3,"),
            ({"m": np.ones(3, "f"), "v": np.ones(3)}, "float32.*float64"),
            ({**present, "x": np.ones(3)}, "'x'.*nothing"),
        ):
            with self.assertRaisesRegex(fast.FileError, why):
                checked(bad, present, "optimizer")


if __name__ == "__main__":
    unittest.main()
