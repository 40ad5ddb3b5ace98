"""One fit in a process of its own: run by the interpreter of the competitor's environment, prints one line of JSON.

Imports and a first fit of a few samples are not counted. The limit is one of CPU seconds of the fit, after which the
system ends the process. A fit that takes less than so many CPU seconds is repeated for as long, and the median counts:
a tenth of a second would be at the mercy of whatever else the machine does.

Usage: ``python child.py ADAPTER METHOD PROBLEM DATA SEED LIMIT LEAST``
"""

import contextlib
import gc
import importlib
import json
import resource
import sys
import time
import warnings
from pathlib import Path

import numpy as np


def load(name):
    """Import an adapter, but not by its bare name, which is that of the library it adapts."""
    # The folder of a script comes first in the path: there ``import fri`` would find the adapter.
    sys.path[0] = str(Path(__file__).parents[2])
    return importlib.import_module(f"benchmarks.competitors.{name}")


def warm_up(adapter, method, problem):
    """Fit a few samples, so that everything is loaded."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(60, 4))
    y = X[:, 0] + X[:, 1]
    X = X[:, : getattr(adapter, "WARM_UP_FEATURES", 4)].copy()
    if problem == "classification":
        y = np.where(y > 0, 1, -1)
    elif problem == "ordinal":
        y = np.digitize(y, [-0.7, 0.7])
    # Groups take long, and what they need beyond the fit is little.
    adapter.METHODS.get(method.removesuffix("_groups"), adapter.METHODS[method])(problem, X, y, 0)


def peak_bytes():
    """Most memory that the process has held.

    From the kernel's table of the process where there is one: the figure of ``getrusage`` begins with that of the
    process which started this one.
    """
    table = Path("/proc/self/status")
    if table.exists():
        line = next(line for line in table.read_text().splitlines() if line.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def used_seconds():
    """CPU seconds of the process.

    Not by the clock of the process: under Linux that goes on in steps of 4 ms once there is a limit of CPU seconds.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measured(adapter, method, problem, path, seed, limit, least):
    """Fit a file, and add what it took."""
    warm_up(adapter, method, problem)
    gc.collect()  # what imports have left behind: a tenth of a second, wherever it happens to fall due
    with np.load(path) as data:
        X, y = data["X"], data["y"]
    before = peak_bytes()
    began, cpu = time.perf_counter(), used_seconds()
    resource.setrlimit(resource.RLIMIT_CPU, (int(cpu + limit) + 1, resource.RLIM_INFINITY))
    ends = [(cpu, began)]
    while len(ends) == 1 or ends[-1][0] - cpu < least:
        found = adapter.METHODS[method](problem, X, y, seed)
        ends.append((used_seconds(), time.perf_counter()))
    found["fits"] = len(ends) - 1
    found["cpu_seconds"], found["wall_seconds"] = (float(each) for each in np.median(np.diff(ends, axis=0), axis=0))
    found["peak_bytes"], found["bytes_before"] = peak_bytes(), before
    return found


def main(name, method, problem, path, seed, limit, least):
    """Fit and print, or print what went wrong."""
    warnings.filterwarnings("ignore")
    adapter = load(name)
    # What libraries print is not for the one who reads the line.
    with contextlib.redirect_stdout(sys.stderr):
        try:
            found = measured(adapter, method, problem, path, int(seed), float(limit), float(least))
        except Exception as error:  # noqa: BLE001 whatever goes wrong in a library is a finding about it
            found = {"failed": f"{type(error).__name__}: {error}"}
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
