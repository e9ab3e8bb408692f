"""The package: a wheel that has the library inside, and runs where it is installed."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[2]
with tempfile.TemporaryDirectory() as folder:
    # From a copy: whoever builds at the same time does not meet it.
    source = pathlib.Path(folder) / "source"
    (source / "bindings" / "python").mkdir(parents=True)
    for name in ["setup.py", "pyproject.toml", "CMakeLists.txt", "LICENSE", "bindings/python/tern.py"]:
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
    assert not list(source.glob("*.egg-info")), "something is left in the source tree"
print("the package works where it is installed")
