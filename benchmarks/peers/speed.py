"""Speed and accuracy of the whole fit against fri 9.0.0 on Sim1 to Sim5: CPU time, one thread, one run.

fri needs an environment of its own (NumPy below 1.27 and two dependencies it does not declare); the script makes it in
``.peers/fri`` on first use. Both libraries run in processes of their own, on the same files, taking turns.

Usage: ``python -m benchmarks.peers.speed [--seeds 3]``
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import numpy as np

from allrelevant.datasets import SIMULATIONS, make_simulation
from benchmarks._common import f1_of_set, print_table, write_csv

HERE = Path(__file__).parent
REQUIREMENTS = ("fri==9.0.0", "importlib_metadata", "attrs", "numpy<1.27")

#: One script per library: reads a data file, fits, prints CPU seconds and the classes.
SCRIPTS = {
    "allrelevant": """
import json, sys, time
import numpy as np
from allrelevant import LinearRelevanceClassifier
data = np.load(sys.argv[1])
began = time.process_time()
model = LinearRelevanceClassifier(random_state=int(sys.argv[2])).fit(data["X"], data["y"])
spent = time.process_time() - began
print(json.dumps([spent, model.relevance_classes_.tolist()]))
""",
    "fri": """
import json, sys, time, warnings
warnings.filterwarnings("ignore")
import numpy as np, fri
data = np.load(sys.argv[1])
began = time.process_time()
model = fri.FRI(fri.ProblemName.CLASSIFICATION, random_state=int(sys.argv[2]))
model.fit(data["X"], data["y"])
spent = time.process_time() - began
print(json.dumps([spent, np.asarray(model.relevance_classes_).astype(int).tolist()]))
""",
}


def fri_python(root: Path) -> Path:
    """Return the interpreter of fri's environment, made if it is not there."""
    python = root / "fri" / "bin" / "python"
    if not python.exists():
        venv.create(root / "fri", with_pip=True)
    found = subprocess.run([python, "-c", "import fri"], capture_output=True, check=False)
    if found.returncode:
        subprocess.run([python, "-m", "pip", "install", "--quiet", *REQUIREMENTS], check=True)
    return python


def fit(python: Path | str, library: str, data: Path, seed: int) -> tuple[float, np.ndarray]:
    """Fit in a process of its own; return CPU seconds of the fit and the classes."""
    done = subprocess.run(
        [str(python), "-c", SCRIPTS[library], str(data), str(seed)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    spent, classes = json.loads(done.stdout.strip().splitlines()[-1])
    return float(spent), np.array(classes)


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--environments", type=Path, default=Path(".peers"))
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    interpreters = {"allrelevant": sys.executable, "fri": fri_python(options.environments)}
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in SIMULATIONS:
            for seed in range(options.seeds):
                X, y, relevance = make_simulation(name, random_state=seed)
                data = Path(folder) / f"{name}_{seed}.npz"
                # fri leaves scaling to its users; allrelevant would do it itself.
                np.savez(data, X=(X - X.mean(axis=0)) / X.std(axis=0), y=y)
                row: dict[str, object] = {"set": name, "seed": seed}
                for library, python in interpreters.items():
                    spent, classes = fit(python, library, data, seed)
                    row[f"{library}_cpu_seconds"] = spent
                    row[f"{library}_f1"] = f1_of_set(relevance, classes > 0)
                    row[f"{library}_accuracy"] = float((classes == relevance).mean())
                row["ratio"] = float(row["fri_cpu_seconds"]) / float(row["allrelevant_cpu_seconds"])  # type: ignore[arg-type]
                rows.append(row)
                print_table(list(row), [list(row.values())])
    write_csv(options.out / "speed.csv", rows)
    numbers = [key for key in rows[0] if key not in ("set", "seed")]
    summary = []
    for name in [*SIMULATIONS, "all"]:
        same = [row for row in rows if name in (row["set"], "all")]
        summary.append({"set": name, **{key: float(np.mean([row[key] for row in same])) for key in numbers}})
        summary[-1]["ratio"] = summary[-1]["fri_cpu_seconds"] / summary[-1]["allrelevant_cpu_seconds"]
    print_table(list(summary[0]), [list(row.values()) for row in summary])
    write_csv(options.out / "speed_summary.csv", summary)


if __name__ == "__main__":
    main()
