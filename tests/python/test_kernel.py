"""Notebooks in MIND, Ninth and AILang, run by nbclient with the kernels of the package."""
import json
import os
import pathlib
import shutil
import tempfile
import time
import unittest

import nbclient
import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import start_new_kernel

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE = 600  # seconds; only what hangs meets it


def setUpModule():
    global folder
    folder = tempfile.mkdtemp()
    shutil.copytree(ROOT / "bindings" / "python" / "kernels", f"{folder}/kernels")
    for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR", "HOME"):
        os.environ[name] = folder
    os.environ["JUPYTER_PATH"] = folder
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"


def tearDownModule():
    shutil.rmtree(folder)


def run(kernel, *cells, allow_errors=False):
    """The text that each cell shows, and the names of its errors."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    nbclient.NotebookClient(book, timeout=PATIENCE, kernel_name=kernel, allow_errors=allow_errors).execute()
    return [["".join(out.get("text", "") or out.get("ename", "") + ": " + out.get("evalue", ""))
             for out in cell.outputs] for cell in book.cells]


class Notebooks(unittest.TestCase):
    def test_every_language_has_a_kernel(self):
        names = KernelSpecManager().find_kernel_specs()
        self.assertLessEqual({"tern-mind", "tern-ninth", "tern-ail"}, set(names))
        for name in ("mind", "ninth", "ail"):
            spec = json.loads((ROOT / f"bindings/python/kernels/tern-{name}/kernel.json").read_text())
            self.assertEqual(spec["language"], name)

    def test_mind(self):
        shown = run("tern-mind", "let x = [[1, 2], [3, 4]]\nx @ x", "fn f(v: f32) -> f32 {\n  v * v\n}\nf(3)",
                    "_ + 1", "print(\"a\")")
        self.assertEqual("".join(shown[0]), "Tensor[f32,(2,2)]\n  [[1, 2],\n   [3, 4]]\n"
                                            "Tensor[f32,(2,2)]\n  [[ 7, 10],\n   [15, 22]]\n")
        self.assertEqual(shown[1:], [["9\n"], ["10\n"], ["a\n"]])

    def test_ninth(self):
        self.assertEqual(run("tern-ninth", "1 2 [ADD]", "_ [MUL]"), [["stack: 3\n"], ["stack: 9\n"]])

    def test_ail(self):
        shown = run("tern-ail", "const N = 2\ny = fill([N, N], 3)", "sum(y)")
        self.assertEqual(shown[0], ["Output shape: [2, 2]\n  [[3, 3],\n   [3, 3]]\n"])
        self.assertIn("[12.0000]", shown[1][0])

    def test_python_shows_models_runs_and_mistakes(self):
        text = ("model { x [B, 2] y [B, 1] param w [2, 1] p = matmul(x, w) }\\n"
                "train { loss = mse(p, y) steps = 5 lr = 0.1 }")
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in (
            f"import numpy, tern\nsession = tern.Session()\nprogram = session.compile('{text}', 'ail')\nprogram",
            "program.fit(numpy.ones((8, 2)), numpy.ones((8, 1)), epochs=5, batch=4)",
            "program.run(x=[[1, 2]]).output()",
            "session.compile('1 + b')")])
        nbclient.NotebookClient(book, timeout=PATIENCE, kernel_name="python3", allow_errors=True).execute()
        model, fitted, array, mistake = (cell.outputs for cell in book.cells)
        self.assertIn("<svg", model[0]["data"]["text/html"])
        self.assertIn("10/10", "".join(out.get("text", "") for out in fitted))  # the bar
        self.assertIn("<svg", fitted[-1]["data"]["text/html"])
        self.assertIn("array(", array[0]["data"]["text/plain"])
        self.assertIn("error[E2002]", "\n".join(mistake[0]["traceback"]))
        self.assertNotIn("Traceback", "\n".join(mistake[0]["traceback"]))

    def test_a_mistake_ends_the_cell_and_keeps_the_session(self):
        shown = run("tern-mind", "let a = 5", "let a = a + b\nlet a = 7", "(1 +", "a", allow_errors=True)
        self.assertIn("E2002", shown[1][0])
        self.assertEqual(len(shown[1]), 1)
        self.assertIn("open block", shown[2][0])
        self.assertEqual(shown[3], ["5\n"])

    def test_files_are_read_only_where_that_is_allowed(self):
        shown = run("tern-mind", "read_bytes(\"x\")", allow_errors=True)
        self.assertIn("E_CAPABILITY_DENIED", shown[0][0])

    def interrupt(self, kernel, before, long, after):
        """What the cell `after` shows, in a kernel whose cell `long` was interrupted after it said `begun`."""
        manager, client = start_new_kernel(kernel_name=kernel, startup_timeout=PATIENCE)
        try:
            client.execute_interactive(before, timeout=PATIENCE, output_hook=lambda message: None)
            asked = client.execute(long, stop_on_error=False)  # or cells that are sent soon after are dropped
            while "begun" not in client.get_iopub_msg(timeout=PATIENCE)["content"].get("text", ""):
                pass
            time.sleep(0.2)  # the next line of the cell trains by now; if not, it is interrupted before
            manager.interrupt_kernel()
            while True:
                reply = client.get_shell_msg(timeout=PATIENCE)
                if reply["parent_header"].get("msg_id") == asked:
                    break
            self.assertEqual((reply["content"]["status"], reply["content"]["ename"]),
                             ("error", "KeyboardInterrupt"))
            shown = []
            reply = client.execute_interactive(after, timeout=PATIENCE, output_hook=lambda message: shown.append(
                message["content"].get("text", "")))
            self.assertEqual(reply["content"]["status"], "ok", reply["content"])
            return "".join(shown)
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)

    def test_an_interrupt_ends_a_training_in_mind_and_the_next_cell_runs(self):
        shown = self.interrupt("tern-mind", "let w = [1, 2]",
                               "print(\"begun\")\n"
                               "let w = fold(|w, i| w - 0.001 * grad(|w| sum(w * w))(w), w, 1000000000)", "w + 1")
        self.assertIn("[2, 3]", shown)

    def test_an_interrupt_ends_a_training_in_python_and_the_next_cell_runs(self):
        text = ("model { x [B, 2] y [B, 1] param w [2, 1] p = matmul(x, w) }\\n"
                "train { loss = mse(p, y) steps = 1000000000 lr = 0.1 }")
        shown = self.interrupt("python3",
                               f"import numpy, tern\nprogram = tern.Session().compile('{text}', 'ail')\n"
                               "program.set_input('x', numpy.ones((4, 2)))\n"
                               "program.set_input('y', numpy.ones((4, 1)))",
                               "print('begun', flush=True)\nprogram.train()",
                               "program.clear_input()\nprint(program.run(x=[[1, 2]]).output().shape)")
        self.assertEqual(shown, "(1, 1)\n")

    def test_words_are_completed_and_explained(self):
        manager, client = start_new_kernel(kernel_name="tern-mind", startup_timeout=PATIENCE)
        try:
            answer = client.complete("let x = matm", reply=True, timeout=PATIENCE)["content"]
            self.assertEqual((answer["matches"], answer["cursor_start"]), (["matmul"], 8))
            answer = client.inspect("matmul", 3, reply=True, timeout=PATIENCE)["content"]
            self.assertTrue(answer["found"])
            self.assertIn("matrix product", answer["data"]["text/plain"])
            self.assertFalse(client.inspect("nothing_at_all", 3, reply=True, timeout=PATIENCE)["content"]["found"])
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)


if __name__ == "__main__":
    unittest.main(verbosity=0)
