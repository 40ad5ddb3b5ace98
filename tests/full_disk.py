"""Writing where files may be so large and no larger, by a process of its own."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from pathlib import Path


def run(what, path, limit, ends, source):
    """Write what is asked for, and return the exit code and what was said on standard error."""
    # A copy of a process that has imported everything, which takes far longer than to write.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["allrelevant.cli._app", "allrelevant.report.page", "allrelevant.report._drawings"])
    reader, writer = context.Pipe(duplex=False)
    process = context.Process(target=_write, args=(writer, what, str(path), limit, ends, str(source)))
    process.start()
    writer.close()
    with open(reader.fileno(), closefd=False) as pipe:
        said = pipe.read()
    process.join(timeout=120)
    return process.exitcode, said


def _write(writer, what, path, limit, ends, source):
    """Beyond the limit the kernel ends the process in the middle of the write, or the write fails as on a full disk."""
    import resource

    signal.alarm(120)
    # Into no file, which would be too large as well.
    sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    sys.stderr = os.fdopen(os.dup(writer.fileno()), "w", buffering=1)
    writer.close()
    from allrelevant import RelevanceResult
    from allrelevant.cli import main
    from allrelevant.report import write_csv, write_markdown, write_report

    signal.signal(signal.SIGXFSZ, signal.SIG_DFL if ends == "killed" else signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    commands = {
        "generate": ["generate", "simulation", "--out", path],
        "fit": ["fit", source, "--target", "y", "--jobs", "1", "--out", path, "--quiet"],
        "report": ["report", source, "--out", path],
    }
    if what in commands:
        sys.exit(main(commands[what]))
    result = RelevanceResult.from_json(Path(source).read_text())
    {"html": write_report, "csv": write_csv, "md": write_markdown}[what](result, path)
