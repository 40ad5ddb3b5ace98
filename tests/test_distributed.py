"""Batches solved by other processes, on a real cluster of two workers: nothing may change but where they run."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from joblib import parallel_config
from joblib.externals.loky import get_reusable_executor
from joblib.parallel import get_active_backend
from sklearn.model_selection import cross_val_score
from threadpoolctl import threadpool_info, threadpool_limits

from allrelevant import LinearRelevanceClassifier, LinearRelevanceOrdinal, LinearRelevanceRegressor
from allrelevant._progress import Progress, watched
from allrelevant.errors import ClusterLost, RelevanceWarning, SolverError
from allrelevant.lp import GAP_LIMIT, BoundSolver
from allrelevant.lp.deadline import Deadline
from allrelevant.relevance import solving, workers
from leftovers import check_session, check_threads
from programs import all_targets, random_program

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

#: Targets per batch that make several batches of a small problem.
FEW = 4
KINDS = (LinearRelevanceClassifier, LinearRelevanceRegressor, LinearRelevanceOrdinal)
CUTS = {LinearRelevanceClassifier: [0], LinearRelevanceOrdinal: [-1, 1]}


def model(kind=LinearRelevanceClassifier, **options):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(60, 12))
    X[:, 5] = X[:, 4] + 0.1 * rng.normal(size=60)
    signal = X[:, :5].sum(axis=1) + 0.5 * rng.normal(size=60)
    y = signal if kind is LinearRelevanceRegressor else np.digitize(signal, CUTS[kind])
    return kind(C=0.5, random_state=0, **options).fit(X, y)


def check_same(one, two):
    """Results must agree; not to the last digit, which HiGHS, and so the baseline, does not keep on a busy machine."""
    one, two = one.result_, two.result_
    assert one.n_programs == two.n_programs
    assert one.engine == two.engine
    np.testing.assert_array_equal(one.classes, two.classes)
    np.testing.assert_allclose(one.intervals, two.intervals, rtol=0, atol=1e-9)
    np.testing.assert_allclose(one.pvalues, two.pvalues, rtol=0, atol=1e-6)


def not_here(*_, **__):
    raise AssertionError("solved in the process that fits")


@pytest.fixture(autouse=True)
def _several_batches(monkeypatch):
    monkeypatch.setattr(solving, "BATCH", FEW)


@pytest.fixture(autouse=True)
def _ends_in_time():
    def late(*_):
        raise TimeoutError("the test takes more than five minutes")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(300)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("cluster"))
    # Dask's memory manager takes a copy from a worker that has nothing to do for it at the moment, and sends it again.
    settings = {"distributed.scheduler.active-memory-manager.start": False}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", local_directory=folder
        ) as cluster,
    ):
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client, parallel_config(backend="dask"):
        client.wait_for_workers(2, timeout=60)
        yield client


@pytest.fixture
def counts(client):
    """Function that says for each worker how often it was sent, built and used a solver."""

    def begin():
        from allrelevant.lp import BoundSolver
        from allrelevant.relevance import workers

        def count(owner, name):
            original = getattr(owner, name)

            def counted(*arguments):
                workers.counts[name] += 1
                return original(*arguments)

            workers.originals.append((owner, name, original))
            setattr(owner, name, counted)

        workers.counts, workers.originals = {"__setstate__": 0, "__init__": 0, "solve": 0}, []
        count(workers.Parcel, "__setstate__")
        count(BoundSolver, "__init__")
        count(BoundSolver, "solve")

    def read():
        from allrelevant.relevance import workers

        return workers.counts

    def end():
        from allrelevant.relevance import workers

        for owner, name, original in workers.originals:
            setattr(owner, name, original)

    client.run(begin)
    yield lambda: list(client.run(read).values())
    client.run(end)


def test_a_cluster_gives_the_same_bounds_bit_for_bit(client):
    program, budget, start = random_program(0, d=40)
    found = []
    for backend in ("threading", "dask"):
        means = solving.Solving()
        with parallel_config(backend=backend):
            found.append(means.solve(means.solver(program, budget, start), all_targets(40)))
    for name in ("value", "gap"):
        np.testing.assert_array_equal(getattr(found[0], name), getattr(found[1], name))


@pytest.mark.parametrize("kind", KINDS)
def test_a_cluster_gives_the_same_result(client, kind, monkeypatch):
    with parallel_config(backend="threading"):
        expected = model(kind)
    monkeypatch.setattr(BoundSolver, "solve", not_here)
    check_same(model(kind), expected)


def test_every_worker_is_sent_a_program_once(client, counts):
    model(n_copies=2)
    found = counts()
    assert len(found) == 2
    for worker in found:  # one program for the intervals, and one for each set of copies
        assert worker["__setstate__"] == 3
        assert worker["__init__"] <= 3
        assert worker["solve"] > worker["__init__"]


def test_a_cluster_keeps_nothing(client, cluster):
    model()
    while cluster.scheduler.tasks or any(client.run(lambda dask_worker: len(dask_worker.data)).values()):
        time.sleep(0.05)  # what is no longer wanted goes after a moment


def test_an_error_on_a_worker_arrives_as_it_is(client):
    def limit(value):
        from allrelevant.lp import bounds

        bounds.GAP_LIMIT = value

    client.run(limit, -1.0)
    try:
        with pytest.raises(SolverError, match="was not proven"):
            model()
    finally:
        client.run(limit, GAP_LIMIT)


def dying(client, chosen):
    """Let the next batch bring some of the workers down; those that take their place are well."""

    def patch():
        from allrelevant.lp import BoundSolver

        def die(*_):
            os._exit(1)

        BoundSolver.solve = die

    client.run(patch, workers=chosen)


def test_batches_of_a_dead_worker_go_to_another(client):
    with parallel_config(backend="threading"):
        expected = model()
    dying(client, list(client.nthreads())[:1])
    check_same(model(), expected)


def test_a_batch_that_brings_its_worker_down_is_an_error(client, cluster, monkeypatch):
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    dying(client, list(client.nthreads())[:1])
    with pytest.raises(distributed.KilledWorker):
        model()


def test_progress_and_time_of_workers_are_counted(client, capsys, monkeypatch):
    elsewhere = []
    step = Progress.step

    def noted(self, count=1, seconds=0.0):
        elsewhere.append(seconds)
        step(self, count, seconds)

    monkeypatch.setattr(Progress, "step", noted)
    fitted = model(verbose=2)
    said = capsys.readouterr().err
    assert "intervals: 24 done" in said
    assert "copies: 5 done" in said
    assert sum(second > 0 for second in elsewhere) > 4
    assert sum(fitted.result_.cpu_seconds.values()) > sum(elsewhere)


def test_fits_that_are_tasks_themselves(client):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(60, 4))
    y = X[:, 0] + 0.5 * rng.normal(size=60) > 0
    estimator = LinearRelevanceClassifier(C=0.5, random_state=0)
    scores = []
    for backend in ("threading", "dask"):
        with parallel_config(backend=backend):
            scores.append(cross_val_score(estimator, X, y, cv=3, error_score="raise"))
    np.testing.assert_array_equal(*scores)


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_processes_of_joblib_give_the_same_result(backend, monkeypatch):
    expected = model()
    if backend == "loky":  # the other one copies this process as it is
        monkeypatch.setattr(BoundSolver, "solve", not_here)
    with parallel_config(backend=backend, n_jobs=2):
        check_same(model(), expected)
    get_reusable_executor().shutdown(wait=True)


def test_one_job_stays_in_this_process(monkeypatch):
    monkeypatch.setattr(solving, "Parcel", not_here)
    expected = model()
    with parallel_config(backend="loky", n_jobs=1):
        check_same(model(), expected)


def test_a_parcel_that_comes_again_is_built_once(monkeypatch):
    program, budget, start = random_program(0)
    solver = BoundSolver(program, budget, start)
    expected = solver.solve(all_targets(4))
    sent = pickle.dumps(workers.Parcel(solver))
    other = pickle.dumps(workers.Parcel(solver))
    built = []
    build = BoundSolver.__init__
    monkeypatch.setattr(BoundSolver, "__init__", lambda self, *recipe: built.append(build(self, *recipe)))
    for batch, count in ((sent, 1), (sent, 1), (other, 2)):
        bounds, seconds = workers._solve_by_latest(pickle.loads(batch), all_targets(4), Deadline())
        np.testing.assert_array_equal(bounds.value, expected.value)
        assert seconds > 0
        assert len(built) == count


def test_the_blas_is_limited_until_the_last_thread_leaves():
    def threads():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        with workers._one_blas_thread:
            with workers._one_blas_thread:
                assert threads() == {1}
            assert threads() == {1}
        assert threads() == {2}


CODE = """
import sys
import numpy as np
from distributed import Client, LocalCluster
from joblib import parallel_config
from allrelevant import LinearRelevanceClassifier
from allrelevant.relevance import solving
solving.BATCH = 4
rng = np.random.RandomState(0)
X = rng.normal(size=(500, 150))
y = X[:, :20].sum(axis=1) + 3 * rng.normal(size=500) > 0
cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", local_directory=sys.argv[1])
with cluster, Client(cluster) as client:
    try:
        with parallel_config(backend="dask"):
            LinearRelevanceClassifier(C=0.05, verbose=2).fit(X, y)
    except KeyboardInterrupt:
        print("interrupted,", client.submit(sum, [1, 2]).result(), flush=True)
"""


def test_interrupt_leaves_a_cluster_that_works(tmp_path):
    child = subprocess.Popen(
        [sys.executable, "-c", CODE, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    for line in child.stderr:
        if "copies" in line:
            assert " left" in line  # they have begun, but not ended
            break
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    assert out.strip() == "interrupted, 3"
    assert child.returncode == 0
    check_session(child.pid)


# Faults of the cluster ---------------------------------------------------------------------------------------


class Machines:
    """A cluster of processes without anybody who would start them again."""

    def __init__(self, folder):
        self.file = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", self.file)
        self.workers = [
            self._start("worker", "--scheduler-file", self.file, "--nthreads", "1", "--no-nanny") for _ in range(2)
        ]

    @staticmethod
    def _start(what, *options):
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--no-dashboard", *map(str, options)]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stop(self):
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait(timeout=30)


@pytest.fixture
def machines(tmp_path):
    machines = Machines(tmp_path)
    try:
        with (
            distributed.Client(scheduler_file=str(machines.file), timeout=60) as client,
            parallel_config(backend="dask"),
        ):
            client.wait_for_workers(2, timeout=60)
            yield machines
    finally:
        machines.stop()


def at_first_batch(act):
    """Do something as soon as the first batch of a fit is back."""
    left = [act]

    def watch(stage, done, _):
        if stage in ("intervals",) and done and left:
            left.pop()()

    return watched(watch)


def test_a_worker_that_is_killed_changes_nothing(machines):
    with parallel_config(backend="threading"):
        expected = model()
    with at_first_batch(machines.workers[0].kill):
        check_same(model(), expected)
    assert machines.workers[0].wait(timeout=30) == -signal.SIGKILL


def test_a_program_that_is_lost_is_sent_again(client, monkeypatch):
    sent, scatter = [], distributed.Client.scatter

    def recorded(self, *args, **kwargs):
        sent.append(scatter(self, *args, **kwargs))
        return sent[-1]

    with parallel_config(backend="threading"):
        expected = model()
    monkeypatch.setattr(distributed.Client, "scatter", recorded)
    model()
    usual = len(sent)
    with at_first_batch(lambda: client.cancel(sent[-1], force=True)):
        check_same(model(), expected)
    assert len(sent) == 2 * usual + 1


def test_a_scheduler_that_is_killed_is_an_error(machines):
    before = threading.active_count()
    began = time.monotonic()
    with at_first_batch(machines.scheduler.kill), pytest.raises(ClusterLost, match="fit again"):
        model()
    assert time.monotonic() - began < 60.0
    check_threads(before)
    for worker in machines.workers:  # they have nobody left to work for
        worker.wait(timeout=60)


def test_a_scheduler_that_dies_before_a_program_is_sent_is_an_error(machines, monkeypatch):
    send = solving.Solving._send

    def kill_and_send(self, *args):
        machines.scheduler.kill()
        machines.scheduler.wait()
        return send(self, *args)

    monkeypatch.setattr(solving.Solving, "_send", kill_and_send)
    began = time.monotonic()
    with pytest.raises(ClusterLost, match="fit again"):
        model()
    assert time.monotonic() - began < 2 * workers.WAIT + 10.0


def test_a_scheduler_that_dies_with_a_batch_that_is_ready_is_an_error(machines, monkeypatch):
    """The batch is done, and the client, told so, asks for its bounds when there is nobody left to ask."""
    asked, ask = [], distributed.Client._gather_remote

    async def kill_and_ask(self, *args, **kwargs):
        asked.append(machines.scheduler.kill())
        machines.scheduler.wait()
        return await ask(self, *args, **kwargs)

    monkeypatch.setattr(distributed.Client, "_gather_remote", kill_and_ask)
    began = time.monotonic()
    monkeypatch.setattr(solving, "BATCH", 64)
    with pytest.raises(ClusterLost, match="fit again"):
        model()  # no other batch that is cancelled and tells
    assert asked
    assert time.monotonic() - began < 60.0


def test_workers_of_a_scheduler_that_is_gone_are_not_waited_for(machines):
    """Neither by a client that has noticed, nor by one that has not."""
    client = get_active_backend()[0].client
    assert workers.has_workers(client)
    machines.scheduler.kill()
    for _ in range(2):
        began = time.monotonic()
        with pytest.raises(ClusterLost, match="fit again"):
            workers.has_workers(client)
        assert time.monotonic() - began < 2 * workers.WAIT + 10.0


def test_a_scheduler_that_dies_when_it_is_asked_for_workers_is_not_waited_for(machines, monkeypatch):
    """The client is connected when it is asked, and has no connection left by which the question could fail at once."""
    client = get_active_backend()[0].client
    machines.scheduler.kill()
    while client.status == "running":
        time.sleep(0.01)
    client.loop.add_callback(client.rpc.remove, client.scheduler.address)
    earlier = ["running"]

    class Unaware:
        @property
        def status(self):
            return earlier.pop() if earlier else client.status

        def __getattr__(self, name):
            return getattr(client, name)

    monkeypatch.setattr(workers, "WAIT", 1.0)
    began = time.monotonic()
    with pytest.raises(ClusterLost, match="fit again"):
        workers.has_workers(Unaware())
    assert not earlier
    assert time.monotonic() - began < 10.0


def test_workers_that_are_all_gone_are_not_waited_for_for_ever(machines):
    def kill():
        for worker in machines.workers:
            worker.kill()

    began = time.monotonic()
    with at_first_batch(kill), pytest.warns(RelevanceWarning, match="time limit was reached"):
        fitted = model(time_limit=6.0)
    assert time.monotonic() - began < 16.0
    assert fitted.result_.incomplete


@pytest.fixture
def slow(client):
    """Function that makes some workers take so long for a batch."""

    def patch(seconds):
        import time

        from allrelevant.lp import BoundSolver

        solve = BoundSolver.quick = BoundSolver.solve

        def slowly(self, *arguments):
            time.sleep(seconds)
            return solve(self, *arguments)

        BoundSolver.solve = slowly

    def mend():
        from allrelevant.lp import BoundSolver

        BoundSolver.solve = vars(BoundSolver).get("quick", BoundSolver.solve)

    yield lambda seconds, workers: client.run(patch, seconds, workers=workers)
    client.run(mend)


def test_a_slow_worker_changes_nothing(client, slow):
    with parallel_config(backend="threading"):
        expected = model()
    slow(0.3, list(client.nthreads())[:1])
    check_same(model(), expected)


def test_a_cluster_that_is_too_slow_ends_in_time(client, slow):
    slow(2.0, list(client.nthreads()))
    began = time.monotonic()
    with pytest.warns(RelevanceWarning, match="time limit was reached"):
        fitted = model(time_limit=3.0)
    assert time.monotonic() - began < 8.0
    assert fitted.result_.incomplete
    assert client.submit(sum, [1, 2]).result(timeout=60) == 3
