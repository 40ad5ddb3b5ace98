"""Who solves the batches: threads, other processes or a cluster, as the active backend of joblib has it."""

from __future__ import annotations

import math
import pickle
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, suppress
from typing import Any
from uuid import uuid4

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from allrelevant._threads import one_thread
from allrelevant.errors import ClusterLost
from allrelevant.lp import Bounds, BoundSolver, Targets
from allrelevant.lp.deadline import Deadline, current_deadline

__all__ = ["LOST", "Parcel", "Solved", "has_workers", "in_processes", "in_threads", "on_cluster"]

LOST = (
    "the connection to the scheduler of the Dask cluster was lost, and the batches with it; see that it runs, connect "
    "a new client and fit again"
)
#: How often a program is sent to a cluster, if its copies die with their workers.
SENDINGS = 3
#: Seconds to wait for workers, or for what they have found, before looking at the clock and at the connection.
WAIT = 10.0
#: Seconds after which a scheduler has noticed that a worker is gone.
NOTICE = 1.0
#: Seconds until a scheduler without workers is asked again.
PAUSE = 0.1
#: Place of a batch, its bounds, and the CPU seconds that it took in another process.
Solved = tuple[int, Bounds, float]


def in_threads(solver: BoundSolver, parts: Sequence[Targets], n_jobs: int | None) -> Iterator[Solved]:
    """Solve batches in threads of this process."""
    deadline = current_deadline()
    if len(parts) == 1:  # what joblib takes to begin would be a hundredth of a small fit
        yield 0, _solve_in_time(solver, parts[0], deadline), 0.0
        return
    run = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")
    for k, bounds in enumerate(run(delayed(_solve_in_time)(solver, part, deadline) for part in parts)):
        yield k, bounds, 0.0


def in_processes(parcel: Parcel, parts: Sequence[Targets], n_jobs: int | None, backend: Any) -> Iterator[Solved]:
    """Solve batches in the processes of a backend of joblib."""
    return_as = "generator" if backend.supports_return_generator else "list"
    run = Parallel(n_jobs=n_jobs, return_as=return_as)
    deadline = current_deadline()
    for k, found in enumerate(run(delayed(_solve_by_latest)(parcel, part, deadline) for part in parts)):
        yield k, *found


def on_cluster(sent: Any, send: Callable[[], Any], parts: Sequence[Targets], backend: Any) -> Iterator[Solved]:
    """Solve batches on the Dask cluster of a backend of joblib, which may have been sent the parcel already.

    Dask keeps as few copies of a parcel as it likes. If the last one dies with its worker, batches are cancelled that
    nobody asked to cancel, and the parcel is sent again.
    """
    left = list(range(len(parts)))
    lost: BaseException | None = None
    for _ in range(SENDINGS):
        if backend.client.status != "running":
            break
        if lost is not None:
            time.sleep(NOTICE)
            if not has_workers(backend.client):
                return
        try:
            sent = send() if sent is None or lost is not None or sent.cancelled() else sent
        except ClusterLost as error:  # the scheduler is gone, or did not know yet that a worker is
            lost = error
            continue
        lost = None
        with closing(_submitted(sent, left, parts, backend)) as arriving:
            for k, found in arriving:
                if isinstance(found, BaseException):
                    lost = found
                    break
                left.remove(k)
                yield k, *found
        if lost is None:
            return
    raise ClusterLost(LOST) from lost


def has_workers(client: Any, *, wait: bool = True) -> bool:
    """Whether there are workers; wait for them, as Dask does for ever, until time is up.

    Raises
    ------
    ClusterLost
        If there is no scheduler to tell of any: Dask would try to reach it for a minute.
    """
    deadline = current_deadline()
    while deadline.left > 0.0:
        if client.status != "running":
            raise ClusterLost(LOST)
        try:
            # Not by the client's own wait: its limit is looked at between questions, and one to a scheduler that has
            # just died takes the minute.
            running = client.sync(client.scheduler.ncores_running, callback_timeout=min(deadline.left, WAIT))
        except TimeoutError:
            continue
        except OSError as error:
            raise ClusterLost(LOST) from error
        if running or not wait:
            return bool(running)
        time.sleep(min(deadline.left, PAUSE))
    return False


def _submitted(
    parcel: Any, places: Sequence[int], parts: Sequence[Targets], backend: Any
) -> Generator[tuple[int, Any], None, None]:
    """Places of batches with what came of them, or with the error that cancelled them.

    They are handed to the cluster itself: the backend would wait for ever for a batch that brings its worker down. What
    has not come back when time is up is not waited for.
    """
    import dask

    client, deadline = backend.client, current_deadline()
    # Dask warns of large tasks and would rather have their data on a worker, but data there die with that worker.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 GiB"}):
        futures = [
            client.submit(Parcel.solve, parcel, parts[k], deadline, pure=False, **backend.submit_kwargs) for k in places
        ]
    place = dict(zip(futures, places, strict=True))
    try:
        # Within a task of the cluster, others may run while this one waits.
        with backend.retrieval_context():
            for future, found in _arriving(futures, client, deadline):
                yield place[future], found
    finally:
        with suppress(OSError):  # of a connection that is lost
            if client.status == "running":
                client.cancel([future for future in futures if not future.done()])


def _arriving(futures: Sequence[Any], client: Any, deadline: Deadline) -> Iterator[tuple[Any, Any]]:
    """Results as they come, until time is up; errors in their place if they were cancelled or cannot be fetched.

    They are fetched here: Dask itself would wait for ever for one that was ready when the connection was lost.
    """
    from distributed import CancelledError, as_completed

    def seconds() -> float | None:
        # A moment later, so that nobody else is to blame for a timeout.
        return deadline.left + 0.05 if math.isfinite(deadline.left) else None

    def fetched(future: Any) -> Any:
        wait = WAIT
        while True:
            try:
                return future.result(timeout=min(wait, deadline.left + 0.05))
            except (CancelledError, OSError) as error:
                late = isinstance(error, TimeoutError)
                if future.status == "error" or (late and deadline.left <= 0.0):
                    raise
                if not late or client.status != "running":
                    return error
                wait *= 2.0  # a large one that is on its way

    try:
        for future in as_completed(futures, loop=client.loop, timeout=seconds()):
            yield future, fetched(future)
    except TimeoutError:
        if deadline.left > 0.0:
            raise


class Parcel:
    """A solver for other processes: they are sent what it was made of, and build it when they first need it.

    Parameters
    ----------
    solver : BoundSolver
        The solver.
    """

    def __init__(self, solver: BoundSolver) -> None:
        # As an array, which joblib too sends once if it is large; unpacked by the thread that solves, not by the one
        # that receives, which must not be kept from its network.
        self._fill(uuid4().hex, np.frombuffer(pickle.dumps(solver), dtype=np.uint8), came=False)

    def __getstate__(self) -> tuple[str, NDArray[np.uint8]]:
        return self.token, self._packed

    def __setstate__(self, state: tuple[str, NDArray[np.uint8]]) -> None:
        self._fill(*state, came=True)

    def _fill(self, token: str, packed: NDArray[np.uint8], *, came: bool) -> None:
        self.token, self._packed, self._came = token, packed, came
        self._solver: BoundSolver | None = None
        self._lock = threading.Lock()

    def solve(self, part: Targets, deadline: Deadline) -> tuple[Bounds, float]:
        """Solve one batch in time; return also the CPU seconds that only this process knows of."""
        began = time.thread_time()
        with _one_blas_thread, deadline.watched():
            bounds = self._unpack().solve(part)
        return bounds, time.thread_time() - began if self._came else 0.0

    def _unpack(self) -> BoundSolver:
        with self._lock:
            if self._solver is None:
                self._solver = pickle.loads(self._packed.data)
            return self._solver


class _OneBlasThread:
    """Limits the BLAS of this process to one thread, until the last of the threads inside leaves."""

    def __init__(self) -> None:
        self._lock, self._inside = threading.Lock(), 0

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._limits: Any = one_thread()
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._limits.restore_original_limits()


_one_blas_thread = _OneBlasThread()
_latest: Parcel | None = None
_latest_lock = threading.Lock()


def _solve_in_time(solver: BoundSolver, part: Targets, deadline: Deadline) -> Bounds:
    with deadline.watched():
        return solver.solve(part)


def _solve_by_latest(parcel: Parcel, part: Targets, deadline: Deadline) -> tuple[Bounds, float]:
    """Solve one batch by the parcel that came with the batch before, if it is the same: its solver is built."""
    global _latest
    with _latest_lock:
        if _latest is None or _latest.token != parcel.token:
            _latest = parcel
        parcel = _latest
    return parcel.solve(part, deadline)
