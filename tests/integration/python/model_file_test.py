"""Models that are saved and loaded again."""

import array
import unittest

import fast_training as fast
import support


class Arrays(unittest.TestCase):
    def test_they_are_loaded_by_name(self):
        x, y = array.array("f", [1, 2]), array.array("d", [3])
        with support.temporary_folder() as folder, fast.join({"x": x, "y": y}) as session:
            session.save_model(f"{folder}/m.safetensors")
            x[0], y[0] = 8, 9
            fast.load_model(f"{folder}/m.safetensors", {"x": x, "y": y})
        self.assertEqual(([*x], [*y]), ([1, 2], [3]))

    def test_what_does_not_fit_is_refused_by_name(self):
        with support.temporary_folder() as folder, fast.join({"x": array.array("f", [1])}) as s:
            path = f"{folder}/m.safetensors"
            s.save_model(path)
            for arrays, said in (
                ({"w": array.array("f", [1])}, "no 'w'"),
                ({"x": array.array("f", [1, 2])}, r"'x' is F32 of shape \(1,\)"),
                ({"x": array.array("d", [1])}, "'x' is F32.*F64"),
            ):
                with self.assertRaisesRegex(fast.ModelError, said):
                    fast.load_model(path, arrays)
            with open(path, "r+b") as file:
                file.truncate(30)
            for bad in (path, f"{folder}/nowhere"):
                with self.assertRaises(fast.FileError):
                    fast.load_model(bad, {"x": array.array("f", [1])})


if __name__ == "__main__":
    unittest.main()
