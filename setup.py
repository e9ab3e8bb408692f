"""The Python package: `pip install .`, or `make wheel` for a file to carry elsewhere.

It is bindings/python/tern.py with the library beside it, so only NumPy must be installed. The library is
$TERN_LIBRARY, or is built here by CMake. The tag of a wheel follows from that library: its newest glibc symbol
decides on which systems it runs.
"""
import os
import pathlib
import re
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

ROOT = pathlib.Path(__file__).resolve().parent
VERSION = re.search(r"\bVERSION (\d+\.\d+\.\d+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def library():
    given = os.environ.get("TERN_LIBRARY")
    if given:
        return pathlib.Path(given)
    subprocess.check_call(["cmake", "--preset", "release"], cwd=ROOT)
    subprocess.check_call(["cmake", "--build", "build/release", "--target", "tern_shared", "--parallel"], cwd=ROOT)
    return ROOT / "build" / "release" / "libtern.so"


class BuildPackage(build_py):
    """One module becomes a package, so that the library can lie in it."""

    def run(self):
        package = pathlib.Path(self.build_lib) / "tern"
        package.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / "bindings" / "python" / "tern.py", package / "__init__.py")
        shutil.copyfile(ROOT / "bindings" / "python" / "tern_kernel.py", package.parent / "tern_kernel.py")
        shutil.copyfile(library(), package / "libtern.so.0")
        (package / "py.typed").write_text("")  # its type hints are for others too


class TaggedWheel(bdist_wheel):
    """For every Python 3, and for systems whose glibc is not older than what the library asks for."""

    def get_tag(self):
        platform = super().get_tag()[2]
        inside = pathlib.Path(self.bdist_dir) / "tern" / "libtern.so.0"
        asked = subprocess.run(["readelf", "--version-info", inside], capture_output=True, text=True).stdout
        versions = [tuple(map(int, pair)) for pair in re.findall(r"GLIBC_(\d+)\.(\d+)", asked)]
        if versions and platform.startswith("linux_"):
            major, minor = max(versions)
            platform = f"manylinux_{major}_{minor}_{platform[len('linux_'):]}"
        return "py3", "none", platform


class Binary(Distribution):
    def has_ext_modules(self):
        return True


(ROOT / "build" / "python").mkdir(parents=True, exist_ok=True)  # nothing is left in the source tree
setup(
    name="tern",
    version=VERSION,
    description="Three small languages for tensors, one set of kernels; the same bits everywhere",
    python_requires=">=3.9",
    install_requires=["numpy"],
    extras_require={"jupyter": ["ipykernel"]},
    packages=["tern"],
    package_dir={"tern": "bindings/python", "": "bindings/python"},
    py_modules=["tern_kernel"],
    data_files=[(f"share/jupyter/kernels/tern-{name}", [f"bindings/python/kernels/tern-{name}/kernel.json"])
                for name in ("mind", "ninth", "ail")],  # where `jupyter kernelspec` looks
    distclass=Binary,
    options={"build": {"build_base": "build/python"}, "egg_info": {"egg_base": "build/python"}},
    cmdclass={"build_py": BuildPackage, "bdist_wheel": TaggedWheel},
)
