"""The whole fit on gene-expression data, with many more features than samples: CPU seconds, one thread.

The data are not part of the project: colon (62 x 2000), leukemia (72 x 7129) and prostate (102 x 6033), as CSV files
with a column ``target`` in the folder ``classification`` of ``--data``. Positive intensities are taken as logarithms.

Usage: ``python -m benchmarks.scaling.wide --data FOLDER [--sets colon leukemia prostate]``
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
import pandas as pd

from allrelevant import LinearRelevanceClassifier
from benchmarks._common import print_table, read_csv, write_csv

HERE = Path(__file__).parent
FILES = {
    "colon": "colon_alon.csv",
    "leukemia": "golub_leukemia_72x7129.csv.gz",
    "prostate": "prostate_singh_102x6033.csv.gz",
}


def run(path: Path) -> dict[str, object]:
    """Fit one set."""
    frame = pd.read_csv(path)
    X, y = frame.drop(columns="target").to_numpy(dtype=float), frame["target"]
    if (X > 0).all():
        X = np.log(X)
    began = time.process_time()
    result = LinearRelevanceClassifier(random_state=0).fit(X, y).result_
    return {
        "n": X.shape[0],
        "d": X.shape[1],
        "cpu_seconds": time.process_time() - began,
        "programs": result.n_programs,
        "max_gap": result.max_gap,
        "strong": int((result.classes == 2).sum()),
        "weak": int((result.classes == 1).sum()),
        "weighted_f1": result.scores["cross_validated"],
    }


def main() -> None:
    """Run, print and write; sets that were not asked for keep their figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("ALLRELEVANT_DATA"), help="or ALLRELEVANT_DATA")
    parser.add_argument("--sets", nargs="+", choices=list(FILES), default=list(FILES))
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    path = options.out / "wide.csv"
    rows: dict[str, dict[str, object]] = {str(row["set"]): dict(row) for row in read_csv(path)} if path.exists() else {}
    for name in options.sets:
        file = None if options.data is None else Path(options.data) / "classification" / FILES[name]
        if file is None or not file.exists():
            print(f"skipped: {name} is not in {options.data}; name its folder by --data or ALLRELEVANT_DATA")
            continue
        rows[name] = {"set": name, **run(file)}
        write_csv(path, list(rows.values()))
    if rows:
        print_table(list(next(iter(rows.values()))), [list(row.values()) for row in rows.values()])


if __name__ == "__main__":
    main()
