"""The package: a wheel that has the library inside, and runs where it is installed."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[2]
with tempfile.TemporaryDirectory() as folder:
    # From a copy, so that parallel builds do not interfere.
    source = pathlib.Path(folder) / "source"
    shutil.copytree(root / "bindings", source / "bindings", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ["setup.py", "pyproject.toml", "CMakeLists.txt", "LICENSE"]:
        (source / name).write_bytes((root / name).read_bytes())
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    subprocess.run([*pip, "wheel", str(source), "--no-build-isolation", "--no-deps", "--no-index", "-w", folder], check=True)
    wheels = list(pathlib.Path(folder).glob("*.whl"))
    assert len(wheels) == 1, wheels
    assert re.fullmatch(r"tern-\d+\.\d+\.\d+-py3-none-manylinux_2_\d+_\w+\.whl", wheels[0].name), wheels[0].name
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "--target", f"{folder}/site", str(wheels[0])], check=True)
    environment = {name: value for name, value in os.environ.items() if name not in ("TERN_LIBRARY", "PYTHONPATH")}
    program = """
import tern
with tern.Session() as session:
    print(session.compile("1 + 2").run().result()["value"]["value"], tern.__file__)
"""
    answer = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, cwd=folder,
                            env={**environment, "PYTHONPATH": f"{folder}/site"}).stdout
    assert answer == f"3 {folder}/site/tern/__init__.py\n", answer
    assert (pathlib.Path(folder) / "site" / "tern" / "py.typed").exists()
    # `pip install .` into a virtual environment of its own: the module, the kernel, and where Jupyter looks for it.
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", f"{folder}/own"], check=True)
    python = f"{folder}/own/bin/python3"
    subprocess.run([python, "-m", "pip", "--disable-pip-version-check", "-q", "install", str(source), "--no-deps",
                    "--no-build-isolation", "--no-index"], check=True)
    answer = subprocess.run([python, "-c", program], check=True, capture_output=True, text=True, cwd=folder,
                            env=environment).stdout
    assert answer.startswith(f"3 {folder}/own/lib/"), answer
    for name in ("mind", "ninth", "ail"):
        assert (pathlib.Path(folder) / "own/share/jupyter/kernels" / f"tern-{name}" / "kernel.json").exists(), name
    assert list((pathlib.Path(folder) / "own/lib").glob("python3*/site-packages/tern_kernel.py"))
    assert not list(source.glob("*.egg-info")), "something is left in the source tree"
print("the package works where it is installed")
