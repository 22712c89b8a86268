"""runner.py -- one program: recorded, evaluated, compared step by step, printed, read and run
again."""

import numpy as np

from arras_ctypes import ArrasError

from . import compare
from .meaning import REFUSALS, Inexact, is_weak, typed
from .values import Size


class Problem:
    def __init__(self, step, text):
        self.step, self.text = step, text  # step: a number, or None for the whole program


def has_size(value):
    """Whether arguments of a step name a symbolic size."""
    if isinstance(value, Size):
        return bool(value.terms)
    if isinstance(value, dict):
        return any(has_size(part) for part in value.values())
    if isinstance(value, (list, tuple)):
        return any(has_size(part) for part in value)
    if hasattr(value, "sizes"):  # the body of a function
        return bool(value.sizes)
    return isinstance(value, slice) and any(has_size(part) for part in (value.start, value.stop))


class Run:
    """A program in a graph."""

    def __init__(self, lib, program, only=None):
        """only: the steps that become outputs; all that were recorded, if not given."""
        self.lib, self.program, self.steps = lib, program, program.steps
        self.graph = lib.graph()
        self.handles = [None] * len(self.steps)
        self.errors = [None] * len(self.steps)
        self.known = {}
        for i in range(len(self.steps)):
            self.record(i)
        self.outputs = [i for i in (self.accepted() if only is None else only)]
        for i in self.outputs:
            self.graph.output(f"s{i}", self.handles[i])

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.graph.__exit__(*exception)

    def record(self, i):
        step = self.steps[i]
        xs = [self.handles[k] for k in step.operands]
        if step.skipped or None in xs:
            return
        handle = step.kind.record(self.graph, xs, step.args)
        self.errors[i] = self.graph.error(handle)
        if self.errors[i] is None:
            self.handles[i] = handle
        else:
            self.graph.poison = handle

    def accepted(self):
        """Steps that both sides take."""
        return [
            i
            for i, step in enumerate(self.steps)
            if self.handles[i] is not None and step.refusal is None
        ]

    def symbolic(self, i):
        """Whether a step, or one before it, has to do with lengths that are not known when it is
        recorded: what NumPy clips or squeezes by the length may then have another shape, or be
        refused."""
        if i not in self.known:
            step = self.steps[i]
            unknown = self.handles[i] is not None and None in self.graph.shape(self.handles[i])
            self.known[i] = (
                unknown or has_size(step.args) or any(self.symbolic(k) for k in step.operands)
            )
        return self.known[i]

    def inputs(self, bind_sizes):
        """NumPy arrays by name."""
        inputs = {
            step.args["name"]: step.args["value"]
            for step in self.steps
            if step.args.get("how") == "input"
        }
        if bind_sizes:
            named = {name for step in self.steps for name in names_of_sizes(step.args)}
            inputs.update({name: np.array(self.program.sizes[name]) for name in sorted(named)})
        return inputs

    def evaluate(self, bind_sizes):
        return self.graph.evaluate(self.inputs(bind_sizes))


def names_of_sizes(value):
    if isinstance(value, Size):
        return set(value.terms)
    parts = (
        value.values()
        if isinstance(value, dict)
        else value if isinstance(value, (list, tuple)) else []
    )
    return set().union(*[names_of_sizes(part) for part in parts])


class Checker:
    """Compares one program; collects problems and what was used."""

    def __init__(self, lib, program):
        self.lib, self.program, self.steps = lib, program, program.steps
        self.problems, self.labels, self.symbolic_refusals = [], set(), 0
        self.inexact = set()  # steps whose last bits may be others
        self.bind_sizes = bool(program.sizes) and program.rng.random() < 0.3

    def problem(self, step, text):
        self.problems.append(Problem(step, text))

    def check(self):
        with Run(self.lib, self.program) as run:
            self.judge_poison(run)
            self.judge_suspects(run)
            if run.outputs:
                results = self.evaluate(run)
                self.compare_all(run, results)
                self.bind_wrongly(run)
                if self.lib.compiled:
                    self.fuse(run, results)
                else:
                    self.read_back(run, results)
                    self.record_again(run)
            self.poison_travels(run)
        return self

    # ---- What is refused ----

    def judge_poison(self, run):
        for i, error in enumerate(run.errors):
            if error is None:
                continue
            self.one_line(i, error)
            if self.steps[i].refusal is None:
                self.refused_by_arras(run, i, error)

    def refused_by_arras(self, run, i, error):
        if run.symbolic(i):
            self.symbolic_refusals += 1
            return
        value = typed(self.steps[i].value)
        self.problem(i, f"Arras refuses it: {error}; NumPy gives {value.dtype}{list(value.shape)}")

    def judge_suspects(self, run):
        """What NumPy refuses and Arras has recorded must fail when it is run, alone."""
        suspects = [
            i
            for i, step in enumerate(self.steps)
            if run.handles[i] is not None and step.refusal is not None
        ]
        for i in suspects[: 2 if self.lib.compiled else None]:
            step = self.steps[i]
            try:
                value = self.alone(i)
                if self.lib.compiled and value.size == 0:
                    continue  # no cell needs what is wrong
                self.problem(i, f"NumPy refuses it: {step.refusal}; Arras gives {value!r}")
            except ArrasError:
                self.labels.add("found at run time")

    def alone(self, i):
        with Run(self.lib, self.program, only=[i]) as run:
            return run.evaluate(bind_sizes=True)[f"s{i}"]

    def poison_travels(self, run):
        """Poison keeps its message through other operations, to the output and the evaluation."""
        poison = getattr(run.graph, "poison", None)
        if poison is None:
            return
        message = run.graph.error(poison)
        if run.graph.error(run.graph.op("add", poison, run.graph.number(1))) != message:
            self.problem(None, f"poison lost its message: {message}")
        run.graph.output("poisoned", poison)
        try:
            run.evaluate(self.bind_sizes)
            self.problem(None, f"a program with poison was evaluated: {message}")
        except ArrasError as error:
            if message not in error.text:
                self.problem(None, f"'{error.text}' does not say: {message}")
        self.labels.add("poison")

    # ---- Values ----

    def evaluate(self, run):
        try:
            return run.evaluate(self.bind_sizes)
        except ArrasError as error:
            return self.evaluate_one_by_one(run, error)

    def evaluate_one_by_one(self, run, error):
        """Finds the steps that fail although NumPy computes them; only symbolic ones may."""
        results, failed = {}, set()
        for i in run.outputs:
            try:
                results[f"s{i}"] = self.alone(i)
            except ArrasError as one:
                failed.add(i)
                if failed.isdisjoint(self.steps[i].operands):
                    if not run.symbolic(i):
                        self.problem(i, f"Arras fails when run: {one.status} {one.text}")
                    self.symbolic_refusals += 1
        if not failed:
            self.problem(
                None, f"the program fails, but no step of it alone: {error.status} {error.text}"
            )
        return results

    def compare_all(self, run, results):
        for i in run.outputs:
            needed = [i] + [k for k in self.steps[i].operands if not is_weak(self.steps[k].value)]
            if all(f"s{k}" in results for k in needed):
                self.compare_step(run, i, results)

    def compare_step(self, run, i, results):
        step, got = self.steps[i], results[f"s{i}"]
        try:
            want = step.expected([self.operand(k, results) for k in step.operands])
        except Inexact:
            self.inexact.add(i)
            return
        except REFUSALS as refusal:
            self.problem(i, f"NumPy refuses it with Arras's operands: {refusal}")
            return
        if want.slack is not None:
            self.inexact.add(i)
        if self.lib.compiled and got.size == 0 and run.symbolic(i):
            return  # what is outside is not looked at where no cell needs it
        difference = compare.difference(got, want) or self.static_difference(run, i, got)
        if difference:
            self.problem(i, difference)
        self.labels.update(step.kind.labels(step.args))

    def operand(self, k, results):
        """What NumPy is given: Arras's own value, so that errors do not travel."""
        return self.steps[k].value if is_weak(self.steps[k].value) else results[f"s{k}"]

    def static_difference(self, run, i, got):
        handle = run.handles[i]
        if run.graph.dtype(handle) != got.dtype:
            return f"recorded as {run.graph.dtype(handle)}, evaluated as {got.dtype}"
        shape = run.graph.shape(handle)
        if len(shape) != got.ndim or any(
            n is not None and n != m for n, m in zip(shape, got.shape)
        ):
            return f"recorded with shape {shape}, evaluated with {got.shape}"
        return None

    # ---- Compiled programs ----

    def fuse(self, run, results):
        """Without the outputs between, steps are computed where they are used: to the same bits."""
        if len(results) < len(run.outputs):
            return
        used = {k for i in run.outputs for k in self.steps[i].operands}
        last = [i for i in run.outputs if i not in used and not self.depends_on_inexact(i)]
        if not last:
            return
        with Run(self.lib, self.program, only=last) as alone:
            again = alone.evaluate(bind_sizes=True)
        for i in last:
            difference = compare.unlike(again[f"s{i}"], results[f"s{i}"])
            if difference:
                self.problem(i, f"fused it is another: {difference}")

    def depends_on_inexact(self, i):
        return i in self.inexact or any(map(self.depends_on_inexact, self.steps[i].operands))

    # ---- What must not change, and what must fail ----

    def record_again(self, run):
        """Equal steps are one node; the same program in another graph has the same text."""
        nodes = self.lib.graph_nodes(run.graph.pointer)
        for i in run.outputs:
            step = self.steps[i]
            if "how" not in step.args:
                again = step.kind.record(
                    run.graph, [run.handles[k] for k in step.operands], step.args
                )
                if again != run.handles[i]:
                    self.problem(i, "recorded again it is another node")
        if self.lib.graph_nodes(run.graph.pointer) != nodes:
            self.problem(None, "recording the same steps again adds nodes")
        with Run(self.lib, self.program) as other:
            if other.graph.text() != run.graph.text():
                self.problem(
                    None,
                    "recorded in another graph the text is not the same:\n" + other.graph.text(),
                )

    def bind_wrongly(self, run):
        """A missing, unknown or unfit input is an error of one line."""
        rng, inputs = self.program.rng, run.inputs(self.bind_sizes)
        names = sorted(name for name in inputs if name not in self.program.sizes)
        if not names or rng.random() > 0.2:
            return
        name = rng.choice(names)
        wrong = rng.choice(["missing", "unknown", "rank", "dtype"])
        if wrong == "missing":
            del inputs[name]
        elif wrong == "unknown":
            inputs["nobody"] = np.zeros(2)
        elif wrong == "rank":
            inputs[name] = inputs[name][np.newaxis]
        else:
            inputs[name] = inputs[name].astype("f4" if inputs[name].dtype == "f8" else "f8")
        try:
            run.graph.evaluate(inputs)
            self.problem(None, f"evaluated with a wrong input: {wrong} {name}")
        except ArrasError as error:
            self.one_line(None, error.text)
            self.labels.add("wrong input " + wrong)

    def one_line(self, step, message):
        if not message or not message.isprintable():
            self.problem(step, f"the message is not one line: {message!r}")

    # ---- The text form ----

    def read_back(self, run, results):
        text = run.graph.text()
        for form in ("brief", "dot", "summary"):
            if not run.graph.text(form):
                self.problem(None, f"the text '{form}' is empty")
        if run.graph.summary().nodes < 1:
            self.problem(None, "the summary finds no nodes")
        try:
            with self.lib.read(text) as graph:
                self.same_text(text, graph.text())
                self.same_arrays(run, graph)
                if len(results) == len(run.outputs):
                    self.same_results(results, graph.evaluate(run.inputs(self.bind_sizes)))
        except ArrasError as error:
            self.problem(None, f"the text cannot be read or run: {error.status} {error.text}")

    def same_text(self, text, again):
        """Arrays that are borrowed twice are one after reading: then only the second text stays."""
        if any(step.args.get("how") == "borrow" for step in self.steps):
            with self.lib.read(again) as graph:
                text, again = again, graph.text()
        if again != text:
            self.problem(None, "the text changes when it is read and printed again:\n" + again)

    def same_arrays(self, run, graph):
        for place, i in enumerate(run.outputs):
            if not self.lib.array_equal(
                run.handles[i], self.lib.output_array(graph.pointer, place)
            ):
                self.problem(i, "after reading the text it is not equal to what was printed")

    def same_results(self, results, again):
        for name, value in results.items():
            if not compare.same_bits(value, again[name]):
                self.problem(
                    int(name[1:]), f"after reading the text: {again[name]!r}, before: {value!r}"
                )


# ---- Reports ---------------------------------------------------------------------------------


def dump(lib, program, problem, limit=3000):
    """The smallest program that shows a problem, for people."""
    lines = [problem.text]
    if problem.step is None:
        with Run(lib, program) as run:
            lines.append(run.graph.text())
        return cut("\n".join(lines), limit)
    step = program.steps[problem.step]
    lines.append("step: " + cut(step.describe(), 600))
    for k in step.operands:
        value = program.steps[k].value
        kind = "untyped" if is_weak(value) else f"{value.dtype}{list(value.shape)}"
        lines.append(f"  s{k}: {kind} {cut(np.array2string(np.asarray(value)), 500)}")
    with Run(lib, program, only=[]) as run:
        if run.handles[problem.step] is not None:
            run.graph.output(f"s{problem.step}", run.handles[problem.step])
            lines.append(run.graph.text("full"))
    return cut("\n".join(lines), limit)


def cut(text, limit):
    return text if len(text) <= limit else text[:limit] + " ..."
