"""Builds the compiled core, if the machine can; everything else stands in pyproject.toml.

The extension is optional: where no C++20 compiler is found, setuptools installs the rest, and numpy
does the same work (docs/development/compiled-core.md).
"""

import os
from glob import glob

from setuptools import Extension, setup


def extensions() -> list[Extension]:
    """Return the compiled core, or nothing where a build without isolation has no pybind11."""
    try:
        from pybind11.setup_helpers import ParallelCompile, Pybind11Extension
    except ImportError:
        print("polyrelu: pybind11 is not installed, so that the compiled core is left out")
        return []
    ParallelCompile(default=min(4, os.cpu_count() or 1)).install()  # a file needs up to 0.6 GB
    return [
        Pybind11Extension(
            "polyrelu._core.compiled",
            sorted(glob("polyrelu/_core/*.cpp")),
            depends=sorted(glob("polyrelu/_core/*.hpp")),
            cxx_std=20,
            extra_compile_args=["-O3", "-fno-math-errno", "-fno-trapping-math", "-pthread"],
            extra_link_args=["-pthread"],
            optional=True,
        )
    ]


setup(ext_modules=extensions())
