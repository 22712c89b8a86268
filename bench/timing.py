"""timing.py -- one workload: makes the arrays, compares all results, then times all contenders in
turn, round after round, so that a busy machine is unfair to none."""

import gc
import statistics
import time

import numpy as np

ALIGNMENT = 64
BLOCK = 1 << 20  # cells compared at once
LONG_ENOUGH = 0.02  # seconds; shorter calls are repeated
# Between contenders, in seconds: steps, how much of one may be spent, and when it is not waited longer.
STEP, IDLE, PATIENCE = 0.01, 0.1, 2.0


def aligned(shape, dtype):
    """An array of zeros that were written, so that its memory is there."""
    count = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    raw = np.empty(count + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    raw.fill(0)
    return raw[start : start + count].view(dtype).reshape(shape)


def aligned_copy(array):
    result = aligned(array.shape, array.dtype)
    result[...] = array
    return result


def difference(results, wanted):
    """The largest difference, relative to the largest cell that is wanted; inf for other shapes."""
    worst = 0.0
    for result, want in zip(results, wanted):
        if result.shape != want.shape or result.dtype != want.dtype:
            return float("inf")
        x, y = result.reshape(-1), want.reshape(-1)
        for i in range(0, x.size, BLOCK):
            here, there = x[i : i + BLOCK], y[i : i + BLOCK]
            scale = max(float(np.max(np.abs(there))), 1e-30)
            away = np.abs(here.astype(np.float64) - there.astype(np.float64))
            worst = max(worst, float(np.max(away)) / scale)
    return worst if worst == worst else float("inf")


def settle():
    """Waits for threads that spin in the hope of more work, those of OpenBLAS for an eighth of a second: they
    would take the time of who comes next."""
    end = time.perf_counter() + PATIENCE
    spent = STEP
    while spent > IDLE * STEP and time.perf_counter() < end:
        before = time.process_time()
        time.sleep(STEP)
        spent = time.process_time() - before


def seconds_of(call, times):
    settle()
    if times > 1:
        call(1)
    start = time.perf_counter()
    call(times)
    return (time.perf_counter() - start) / times


def in_turn(calls, rounds):
    """The median seconds of each call(times), by name."""
    once = {name: seconds_of(call, 2) for name, call in calls.items()}
    repeats = {name: max(1, int(LONG_ENOUGH / max(once[name], 1e-7))) for name in calls}
    times = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            times[name].append(seconds_of(call, repeats[name]))
    return {name: statistics.median(of) for name, of in times.items()}


class Race:
    """A workload with all who take part in it."""

    def __init__(self, workload, quick, contenders):
        self.workload, self.size = workload, workload.quick if quick else workload.size
        rng = np.random.default_rng(1)
        made = workload.inputs(rng, self.size)
        self.inputs = {name: aligned_copy(made.pop(name)) for name in list(made)}
        self.outputs = {
            name: aligned(shape, dtype) for name, (shape, dtype) in workload.outputs(self.size).items()
        }
        self.runs, self.failures, self.checks = {}, [], 0
        self.wanted = None
        for contender in contenders:
            self.enter(contender)
        self.wanted = None

    def enter(self, contender):
        """The first is the one that others are compared with."""
        for output in self.outputs.values():
            output.fill(0)
        try:
            run = contender.take(self.workload, self.size, self.inputs, self.outputs)
            if run is None:
                return
            run.call(1)
        except Exception as error:
            self.failures.append(f"{self.workload.name}: {contender.name}: {error}")
            return
        if self.wanted is None:
            self.wanted = [result.copy() for result in run.results()]
        self.compare(contender.name, run.results())
        self.runs[contender.name] = run

    def compare(self, name, results):
        away = difference(results, self.wanted)
        self.checks += 1
        if away > self.workload.tolerance:
            self.failures.append(f"{self.workload.name}: {name} differs by {away:.2g}")

    def time(self, rounds):
        return in_turn({name: run.call for name, run in self.runs.items()}, rounds)

    def close(self):
        for run in self.runs.values():
            run.close()
        self.runs.clear()
        self.inputs.clear()
        self.outputs.clear()
        gc.collect()
