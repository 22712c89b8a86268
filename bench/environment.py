"""environment.py -- the peers' own virtual environment, made once, in build/bench-env."""

import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "build/bench-env"
PYTHON = FOLDER / "bin/python"
# Numba first: it is the one that limits the version of NumPy.
PACKAGES = ["numba", "numpy", "numexpr", "jax", "torch"]
PIP = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]


def is_active():
    return Path(sys.prefix).resolve() == FOLDER.resolve()


def make(packages):
    if not PYTHON.exists():
        print("== bench: making a virtual environment in build/bench-env", flush=True)
        subprocess.run([sys.executable, "-m", "venv", FOLDER], check=True)
    for package in packages:
        install(package)


def install(package):
    """What can't be had is tried again the next time; the benchmark goes on without it."""
    done = FOLDER / f"{package}.installed"
    if done.exists():
        return
    print(f"== bench: installing {package}", flush=True)
    # On PyPI torch is there with CUDA only: 3 GB to fetch, 6 on disk.
    ran = subprocess.run([PYTHON, *PIP, package])
    if ran.returncode:
        print(f"== bench: {package} can't be installed: measured without it", flush=True)
    else:
        done.touch()


def threads_in_environment(threads):
    """Libraries read these when they are loaded."""
    names = ["OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA"]
    variables = {f"{name}_NUM_THREADS": str(threads) for name in names}
    variables["NUMEXPR_MAX_THREADS"] = str(threads)
    # Threads that wait spin for a short while only.  With what is usual a machine that is a little
    # busy makes OpenMP, and so the hand-written C, several times slower.
    variables["GOMP_SPINCOUNT"] = "1000"
    variables["OPENBLAS_THREAD_TIMEOUT"] = "20"
    variables["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=true"
    variables["JAX_PLATFORMS"] = "cpu"
    variables["TORCHINDUCTOR_CACHE_DIR"] = str(FOLDER / "torchinductor")
    os.environ.update(variables)


def enter(packages=PACKAGES):
    """Goes on in the environment's Python, with the same arguments."""
    make(packages)
    os.execv(PYTHON, [str(PYTHON), *sys.argv])
