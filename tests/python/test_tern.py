"""tern from Python: what the module promises."""
import gc
import json
import os
import pathlib
import signal
import tempfile
import unittest
import warnings

import numpy

import tern

LINEAR = """model {
  x [B, 3]
  param W [3, 2]
  y = matmul(x, W)
}
"""
CLASSIFIER = """model {
  tokens [B, T]
  labels [B]
  param E [20, 4]
  param W [4, 2]
  logits = matmul(meanpool(embedding(tokens, E)), W)
}
train { loss = xent(logits, labels) steps = 30 lr = 0.5 }
dataset { format = "jsonl" path = "PATH" }
"""


class Running(unittest.TestCase):
    def test_a_model_runs_on_arrays(self):
        with tern.Session() as session:
            program = session.compile(LINEAR, "ail")
            x = numpy.arange(12, dtype="float32").reshape(4, 3)
            w = numpy.array([[1, 2], [3, 4], [5, 6]], "float32")
            program.set_param("W", w)
            y = program.run(x=x).outputs()["y"]
            self.assertEqual(y.dtype, numpy.float32)
            numpy.testing.assert_array_equal(y, x @ w)

    def test_strides_lists_and_other_dtypes_are_taken(self):
        with tern.Session() as session:
            program = session.compile(LINEAR, "ail")
            program.set_param("W", numpy.arange(12, dtype="float64").reshape(3, 4)[:, ::2])
            first = program.run(x=[[1, 2, 3]]).output().copy()
            second = program.run(x=numpy.array([[1, 2, 3]], "int8")).output().copy()
            reversed_ = program.run(x=numpy.array([[3.0, 2.0, 1.0]])[:, ::-1]).output().copy()
            numpy.testing.assert_array_equal(first, [[0 + 8 + 24, 2 + 12 + 30]])
            numpy.testing.assert_array_equal(first, second)
            numpy.testing.assert_array_equal(first, reversed_)

    def test_an_output_is_not_copied_and_cannot_be_written(self):
        with tern.Session() as session:
            program = session.compile("let x = ones((1000, 1000)); x + x")
            program.run()
            a, b = program.output(), program.output()
            self.assertEqual(a.__array_interface__["data"][0], b.__array_interface__["data"][0])
            self.assertTrue((a == 2).all())
            with self.assertRaises(ValueError):
                a[0, 0] = 3

    def test_memory_is_shared_with_numpy_and_pytorch(self):
        with tern.Session() as session:
            program = session.compile("let x = ones((2, 3)); x + x")
            y = program.run().output()
            at = y.__array_interface__["data"][0]
            self.assertEqual(numpy.frombuffer(memoryview(y), numpy.float32).ctypes.data, at)
            try:
                import torch
            except ImportError:
                self.skipTest("there is no PyTorch")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that it must not be written to
                self.assertEqual(torch.from_numpy(y).data_ptr(), at)

    def test_tensors_of_pytorch_are_inputs_and_parameters(self):
        try:
            import torch
        except ImportError:
            self.skipTest("there is no PyTorch")
        with tern.Session() as session:
            program = session.compile("model { x [B, 2] param w [2, 1] y = matmul(x, w) }", "ail")
            x, w = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True), torch.tensor([[1.0], [2.0]])
            program.set_param("w", w)
            for given in (x, x.t(), torch.ones(4, 4)[::2, 1:3], x.double()):
                wanted = (given.float() @ w).detach().numpy()
                numpy.testing.assert_array_equal(program.run(x=given).output(), wanted)

    def test_inputs_come_by_dlpack(self):
        class Tensor:  # that has no other way in, as one of another library
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        with tern.Session() as session:
            program = session.compile("model { x [2, 2] y = x * 2 }", "ail")
            given = numpy.array([[1, 2], [3, 4]], "float32")
            numpy.testing.assert_array_equal(program.run(x=Tensor(given)).output(), 2 * given)
            numpy.testing.assert_array_equal(program.run(x=Tensor(given.T)).output(), 2 * given.T)

    def test_an_array_keeps_its_program(self):
        session = tern.Session()
        y = session.compile("[1, 2, 3] * 2.0").run().output()
        gc.collect()
        numpy.testing.assert_array_equal(y, [2, 4, 6])
        session.close()

    def test_values_of_every_kind_are_in_the_result(self):
        with tern.Session() as session:
            self.assertEqual(session.compile("1 + 2 * 3").run().result()["value"], {"kind": "int", "dtype": "i32", "value": 7})
            stack = session.compile("3 4 [ADD] (1 2)", "ninth").run()
            self.assertEqual([v["shape"] for v in stack.result()["stack"]], [[], [2]])
            numpy.testing.assert_array_equal(stack.output(1), [1, 2])

    def test_forms(self):
        with tern.Session() as session:
            program = session.compile("1+2")
            self.assertEqual(program.format(), "1 + 2\n")
            self.assertIn("module", program.emit("mlir"))


class Training(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        rows = [{"tokens": [i, 10 * (i % 2), 3], "label": i % 2} for i in range(10)]
        (self.folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (self.folder / "c.ail").write_text(CLASSIFIER.replace("PATH", str(self.folder / "rows.jsonl")))

    def train(self, **options):
        with tern.Session(allow=["fileread"], **options) as session:
            return session.load(self.folder / "c.ail").train()

    def test_training_is_reproducible_and_learns(self):
        one, two, other = self.train(threads=1), self.train(threads=2), self.train(seed=7)
        self.assertEqual(one["weights_sha256"], two["weights_sha256"])
        self.assertNotEqual(one["weights_sha256"], other["weights_sha256"])
        self.assertLess(one["history"][-1]["loss"], one["history"][0]["loss"])

    def test_a_field_has_another_value(self):
        with tern.Session(allow=["fileread"]) as session:
            hashes = []
            for lr in (None, 0.25, "0.25"):
                program = session.load(self.folder / "c.ail")
                if lr is not None:
                    program.set_field("lr", lr)
                hashes.append(program.train()["weights_sha256"])
            self.assertNotEqual(hashes[0], hashes[1])
            self.assertEqual(hashes[1], hashes[2])
            program.set_field("rate", 1)
            with self.assertRaises(tern.Error):
                program.train()

    def test_a_run_uses_what_training_has_left(self):
        with tern.Session(allow=["fileread"]) as session:
            program = session.load(self.folder / "c.ail")
            self.assertEqual(program.inputs(), ["tokens", "labels"])
            self.assertEqual(program.params(), {})
            program.train()
            params = {name: value.copy() for name, value in program.params().items()}
            self.assertEqual([value.shape for value in params.values()], [(20, 4), (4, 2)])
            tokens = numpy.array([[1, 10, 3]])
            logits = program.run(tokens=tokens).outputs()["logits"]
            expected = params["E"][tokens[0]].mean(axis=0, keepdims=True) @ params["W"]
            numpy.testing.assert_allclose(logits, expected, rtol=1e-5)
            numpy.testing.assert_array_equal(program.params()["W"], params["W"])

    def test_weights_come_back(self):
        with tern.Session(allow=["fileread"]) as session:
            program = session.load(self.folder / "c.ail")
            program.train(out=self.folder / "run")
        with tern.Session() as session:
            program = session.load(self.folder / "c.ail")
            tokens = numpy.array([[1, 10, 3]])
            before = program.run(tokens=tokens).outputs()["logits"].copy()
            program.set_weights(self.folder / "run" / "weights.safetensors")
            self.assertFalse((program.run(tokens=tokens).outputs()["logits"] == before).all())

    def test_what_is_not_allowed_is_refused(self):
        with tern.Session() as session:
            with self.assertRaises(tern.Error) as caught:
                session.load(self.folder / "c.ail").train()
            self.assertEqual(caught.exception.diagnostics[0]["code"], "E_DATASET_CAPABILITY_DENIED")

    def test_reading_is_limited_to_folders(self):
        (self.folder / "other").mkdir()
        with tern.Session(allow=[f"fileread={self.folder}"]) as session:
            session.load(self.folder / "c.ail").train()
        with tern.Session(allow=[f"fileread={self.folder / 'other'}"]) as session:
            with self.assertRaises(tern.Error) as caught:
                session.load(self.folder / "c.ail").train()
            record = caught.exception.diagnostics[0]
            self.assertEqual(record["code"], "E_DATASET_CAPABILITY_DENIED")
            self.assertEqual(record["fields"]["granted"], str(self.folder / "other"))


class Mistakes(unittest.TestCase):
    def test_a_wrong_program_says_what_and_where(self):
        with tern.Session() as session:
            with self.assertRaises(tern.Error) as caught:
                session.compile("let x = 1\nx + y")
            record = caught.exception.diagnostics[0]
            self.assertEqual((record["code"], record["span"]["line"], record["span"]["col"]), ("E2002", 2, 5))
            self.assertIn("E2002", str(caught.exception))

    def test_wrong_arguments(self):
        for wrong in [lambda: tern.Session(allow=["everything"]), lambda: tern.Session(allow=["fileread=/nonexistent"]), lambda: tern.Session(allow=["clock=/"]), lambda: tern.Session(isa="abacus"), lambda: tern.Session().compile("1", "basic")]:
            with self.assertRaises(ValueError):
                wrong()
        with tern.Session() as session:
            with self.assertRaises(tern.Error):
                session.load("/nonexistent.ail")
            program = session.compile(LINEAR, "ail")
            with self.assertRaises(tern.Error):
                program.run(z=[1])
            with self.assertRaises(IndexError):
                session.compile("1").run().output(5)

    def test_a_closed_session_is_closed(self):
        session = tern.Session()
        program = session.compile("1 + 1")
        session.close()
        session.close()
        with self.assertRaises(ValueError):
            program.run()
        with self.assertRaises(ValueError):
            session.compile("1")

    def test_limits_hold(self):
        with tern.Session(max_memory=1 << 20) as session:
            with self.assertRaises(tern.Error):
                session.compile("sum(rand((4096, 4096)) * 2.0)").run()

    def test_a_wrong_name_is_refused_and_forgotten(self):
        with tern.Session() as session:
            program = session.compile(LINEAR, "ail")
            x = [[1, 2, 3]]
            program.set_input("x", x)
            before = program.run().output().copy()
            with self.assertRaises(tern.Error) as caught:
                program.run(x=[[9, 9, 9]], z=x)
            self.assertEqual(caught.exception.diagnostics[0]["code"], "E_USAGE")
            self.assertIn("there are x", str(caught.exception))
            self.assertIn("<pre>error[E_USAGE]", caught.exception._repr_html_())
            numpy.testing.assert_array_equal(program.run().output(), before)  # x is what it was
            with self.assertRaises(tern.Error):
                program.set_param("V", [1])
            numpy.testing.assert_array_equal(program.run(x=x).output(), before)


class Inputs(unittest.TestCase):
    def test_inputs_of_a_run_are_for_that_run(self):
        with tern.Session() as session:
            program = session.compile(REGRESSION, "ail")
            self.assertEqual(program.run(x=[[1, 2]] * 3, target=[[1]] * 3).output().shape, (3, 1))
            self.assertEqual(program.run(x=[[1, 2]] * 5).output().shape, (5, 1))
            program.set_input("target", [[1]] * 2)
            self.assertEqual(program.run(x=[[1, 2]] * 2).output().shape, (2, 1))
            with self.assertRaises(tern.Error):
                program.run(x=[[1, 2]] * 3)
            program.clear_input("target")
            self.assertEqual(program.run(x=[[1, 2]] * 3).output().shape, (3, 1))

    def test_a_run_before_a_training_fixes_nothing(self):
        with tern.Session(seed=7) as session:
            first, second = (session.compile(REGRESSION, "ail") for _ in range(2))
            first.run(x=[[1, 2]] * 3)
            self.assertEqual(first.train(steps=3)["weights_sha256"], second.train(steps=3)["weights_sha256"])


REGRESSION = """model {
  x [B, 2]
  target [B, 1]
  param W [2, 1]
  y = matmul(x, W)
}
train { loss = mse_loss(y, target) lr = 0.1 }
"""


class Fitting(unittest.TestCase):
    def setUp(self):
        rng = numpy.random.default_rng(3)
        self.x = rng.standard_normal((50, 2)).astype("float32")
        self.y = self.x @ numpy.array([[2.0], [-1.0]], "float32")

    def test_steps_are_those_of_gradient_descent(self):
        with tern.Session() as session:
            program = session.compile(REGRESSION, "ail")
            program.set_param("W", numpy.zeros((2, 1)))
            losses = program.fit(self.x, self.y, epochs=4, batch=20, shuffle=False)
            weights, expected = numpy.zeros((2, 1)), []
            for _ in range(4):
                for start in (0, 20):  # ten rows do not fill a batch
                    x, y = self.x[start:start + 20].astype(float), self.y[start:start + 20]
                    error = x @ weights - y
                    expected.append((error ** 2).mean())
                    weights -= 0.1 * 2 * x.T @ error / len(x)
            numpy.testing.assert_allclose(losses, expected, rtol=1e-4)
            numpy.testing.assert_allclose(program.params()["W"], weights, rtol=1e-4)
            numpy.testing.assert_allclose(program.run(x=[[1, 0]]).output(), weights[:1], rtol=1e-4)

    def test_the_seed_decides_the_order(self):
        def losses(seed):
            with tern.Session(seed=seed) as session:
                return session.compile(REGRESSION, "ail").fit({"x": self.x, "target": self.y}, epochs=2, batch=7)
        self.assertEqual(losses(1), losses(1))
        self.assertNotEqual(losses(1), losses(2))

    def test_a_callback_follows_and_ends(self):
        with tern.Session() as session:
            program, seen = session.compile(REGRESSION, "ail"), []

            def callback(step, loss):
                seen.append((step, loss))
                return step < 4
            losses = program.fit(self.x, self.y, epochs=100, callback=callback)
            self.assertEqual(seen, list(enumerate(losses)))
            self.assertEqual(len(losses), 5)

    def test_wrong_rows(self):
        with tern.Session() as session:
            program = session.compile(REGRESSION, "ail")
            for wrong in [lambda: program.fit(self.x, self.y[:3]), lambda: program.fit(self.x[:0], self.y[:0]),
                          lambda: program.fit({"x": self.x, "target": self.y}, self.y),
                          lambda: program.fit(self.x, self.y, batch=0), lambda: session.compile("1").fit([1])]:
                with self.assertRaises(ValueError):
                    wrong()
            with self.assertRaises(tern.Error):
                program.fit({"z": self.x})

    def test_parameters_are_taken_and_given_back(self):
        with tern.Session() as session:
            program = session.compile(REGRESSION, "ail")
            program.fit(self.x, self.y, epochs=20)
            state = program.state_dict()
            other = session.compile(REGRESSION, "ail")
            other.load_state_dict(state)
            numpy.testing.assert_array_equal(other.run(x=self.x).output(), program.run(x=self.x).output())
            with self.assertRaises(ValueError):
                other.load_state_dict({})
            with self.assertRaises(tern.Error):
                other.load_state_dict({**state, "V": [1]})

    def test_every_form_is_emitted_after_training(self):
        with tern.Session() as session:
            program = session.compile(REGRESSION, "ail")
            before = program.emit("graph")
            program.fit(self.x, self.y, epochs=2, batch=4)
            self.assertEqual(program.emit("graph"), before)
            self.assertIn("module", program.emit("mlir"))
            self.assertIn("<svg", program._repr_html_())
            self.assertIsInstance(program.emit("npz"), bytes)
            program = session.compile(REGRESSION, "ail")
            program.set_param("W", numpy.zeros((2, 1)))
            with self.assertRaises(tern.Error):  # values that were asked for, and that no graph holds
                program.emit("graph")

    def test_a_program_shows_its_graph(self):
        with tern.Session() as session:
            self.assertIn("<svg", session.compile(REGRESSION, "ail")._repr_html_())
            self.assertIsInstance(session.compile(REGRESSION, "ail").emit("onnx"), bytes)

    def test_losses_and_runs_show_their_curve(self):
        shown = tern.Losses([3.0, 1.5, float("nan"), 1.0])._repr_html_()
        self.assertIn("<svg", shown)
        self.assertIn("4 steps, last loss 1", shown)
        self.assertEqual(tern.Losses()._repr_html_(), "<p>no steps</p>")
        run = tern.Run(steps=2, history=[{"step": 0, "loss": 2.0}, {"step": 1, "loss": 1.0, "eval": {"accuracy": 0.5}}])
        shown = run._repr_html_()
        self.assertIn("<svg", shown)
        self.assertIn("<th>eval accuracy</th><td>0.5</td>", shown)
        with tern.Session() as session:
            self.assertIsInstance(session.compile(REGRESSION, "ail").fit(self.x, self.y, epochs=1), list)
            with self.assertRaises(tern.Error) as caught:
                session.compile("1 + b")
            self.assertEqual(caught.exception._render_traceback_(), str(caught.exception).splitlines())


class Following(unittest.TestCase):
    def train(self, session, **options):
        return session.compile(CLASSIFIER.replace('dataset { format = "jsonl" path = "PATH" }', ""), "ail").train(**options)

    def test_a_callback_sees_every_step(self):
        with tern.Session() as session:
            seen = []
            result = self.train(session, callback=seen.append)
            self.assertEqual([(step["step"], step["steps"]) for step in seen], [(i, 30) for i in range(30)])
            numpy.testing.assert_allclose([step["loss"] for step in seen], [row["loss"] for row in result["history"]],
                                          rtol=1e-6)

    def test_what_a_callback_raises_ends_the_training(self):
        with tern.Session() as session:
            seen = []

            def callback(step):
                seen.append(step["step"])
                raise RuntimeError("enough")
            with self.assertRaisesRegex(RuntimeError, "enough"):
                self.train(session, callback=callback)
            self.assertEqual(len(seen), 1)
            self.assertEqual(len(self.train(session)["history"]), 30)  # the session continues

    def test_control_c_stops_a_training(self):
        with tern.Session() as session:
            def callback(step):
                if step["step"] == 3:
                    os.kill(os.getpid(), signal.SIGINT)
            with self.assertRaises(KeyboardInterrupt):
                self.train(session, steps=100_000_000, callback=callback)
            self.assertEqual(len(self.train(session)["history"]), 30)


if __name__ == "__main__":
    unittest.main()
