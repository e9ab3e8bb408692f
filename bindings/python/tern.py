"""tern from Python: compile, run and train; values are NumPy arrays.

A single file that uses ctypes and NumPy; besides them it needs only libtern.so.

    import tern
    with tern.Session(seed=7) as session:
        program = session.load("model.ail")                      # or session.compile(text)
        program.run(x=[[1, 2], [3, 4]])
        program.outputs()                                        # {"logits": array(...)}

An array that tern returns is a read-only view of tern's own memory: it is valid until its program runs
again, and keeps the program alive. `.copy()` makes a permanent copy. Every failure raises
tern.Error, whose `diagnostics` are the records that `tern --json` prints.

The library is looked for in $TERN_LIBRARY, in this file's source tree, beside this file where it is
installed, and where the system keeps libraries.
"""
from __future__ import annotations

import concurrent.futures
import ctypes
import ctypes.util
import html
import json
import os
import pathlib
import sys
import threading
import time
from typing import Any, Callable, Iterable, Mapping

import numpy

__all__ = ["Session", "Program", "Run", "Losses", "Error", "version"]

_DTYPES = ["float32", "float64", "int32", "int64", "bool", None, "float16"]  # tern_dtype; bfloat16 has no dtype here
_LANGUAGES = {"auto": 0, "ail": 1, "mind": 2, "ninth": 3, "graph": 4}
_BINARY_FORMS = {"onnx", "npz"}
_CAPABILITIES = {"fileread": 1, "filewrite": 2, "clock": 4, "network": 8}


class _Options(ctypes.Structure):
    _fields_ = [
        ("seed", ctypes.c_uint64), ("has_seed", ctypes.c_int), ("threads", ctypes.c_int), ("isa", ctypes.c_char_p),
        ("allow", ctypes.c_uint), ("max_memory", ctypes.c_uint64), ("max_steps", ctypes.c_uint64),
        ("max_seconds", ctypes.c_double), ("without", ctypes.c_char_p), ("fail_allocation", ctypes.c_uint64),
        ("cores", ctypes.c_int),
    ]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("dtype", ctypes.c_int), ("rank", ctypes.c_int), ("dims", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("data", ctypes.c_void_p),
    ]


class _TensorSpec(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p), ("dtype", ctypes.c_int), ("rank", ctypes.c_int), ("dims", ctypes.c_int64 * 8),
        ("dim_names", ctypes.c_char_p * 8),
    ]


class _Metric(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_double)]


class _Step(ctypes.Structure):
    _fields_ = [
        ("step", ctypes.c_int64), ("steps", ctypes.c_int64), ("loss", ctypes.c_double), ("evaluated", ctypes.c_int),
        ("eval_loss", ctypes.c_double), ("eval_accuracy", ctypes.c_double), ("metrics", ctypes.POINTER(_Metric)),
        ("metric_count", ctypes.c_size_t),
    ]


_StepFunction = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(_Step))


class _Follower(ctypes.Structure):
    _fields_ = [
        ("context", ctypes.c_void_p), ("begin", ctypes.c_void_p), ("step", _StepFunction), ("end", ctypes.c_void_p),
    ]


class _TrainRun(ctypes.Structure):
    _fields_ = [
        ("out", ctypes.c_char_p), ("resume", ctypes.c_char_p), ("checkpoint_every", ctypes.c_int64),
        ("steps", ctypes.c_int64), ("followers", ctypes.POINTER(_Follower)), ("follower_count", ctypes.c_size_t),
        ("brief", ctypes.c_int), ("recorded", ctypes.c_char_p), ("no_steps", ctypes.c_int),
    ]


def _find_library():
    # ROOT/bindings/python/tern.py in the source tree, PREFIX/lib/python3/dist-packages/tern.py installed.
    # A package that pip installed has it inside.
    here = pathlib.Path(__file__).resolve()
    above = here.parents[2]
    beside = [here.parent / "libtern.so.0", above / "build" / "release" / "libtern.so", above / "libtern.so.0"]
    candidates = [os.environ.get("TERN_LIBRARY"), *(str(path) for path in beside if path.exists()),
                  ctypes.util.find_library("tern"), "libtern.so.0"]
    for candidate in filter(None, candidates):
        try:
            return ctypes.CDLL(candidate)
        except OSError as problem:
            last = problem
    raise ImportError(f"libtern.so is not there: {last}; set TERN_LIBRARY to its path")


def _declare(library):
    pointer, text, status = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    tensor = ctypes.POINTER(_Tensor)
    for name, result, arguments in [
        ("tern_version", text, []),
        ("tern_session_new", pointer, [ctypes.POINTER(_Options), ctypes.POINTER(text)]),
        ("tern_session_free", None, [pointer]),
        ("tern_interrupt", None, [pointer]),
        ("tern_diagnostics_text", text, [pointer, ctypes.c_int]),
        ("tern_diagnostics_json", text, [pointer]),
        ("tern_load", pointer, [pointer, ctypes.c_int, text, text, ctypes.c_size_t]),
        ("tern_load_file", pointer, [pointer, ctypes.c_int, text, ctypes.POINTER(ctypes.c_int)]),
        ("tern_program_free", None, [pointer]),
        ("tern_check", status, [pointer]),
        ("tern_set_input", status, [pointer, text, tensor]),
        ("tern_clear_input", None, [pointer, text]),
        ("tern_set_param", status, [pointer, text, tensor]),
        ("tern_set_field", status, [pointer, text, text]),
        ("tern_set_weights", status, [pointer, text]),
        ("tern_run", status, [pointer]),
        ("tern_allow", status, [pointer, text, text]),
        ("tern_device", status, [pointer, text]),
        ("tern_train", status, [pointer, ctypes.POINTER(_TrainRun)]),
        ("tern_input_count", ctypes.c_size_t, [pointer]),
        ("tern_input_at", _TensorSpec, [pointer, ctypes.c_size_t]),
        ("tern_param_count", ctypes.c_size_t, [pointer]),
        ("tern_param_at", _TensorSpec, [pointer, ctypes.c_size_t]),
        ("tern_param", status, [pointer, ctypes.c_size_t, tensor]),
        ("tern_output_count", ctypes.c_size_t, [pointer]),
        ("tern_output", status, [pointer, ctypes.c_size_t, tensor]),
        ("tern_output_name", text, [pointer, ctypes.c_size_t]),
        ("tern_result_json", text, [pointer]),
        ("tern_emit_bytes", pointer, [pointer, text, ctypes.POINTER(ctypes.c_size_t)]),
        ("tern_language_of", ctypes.c_int, [text]),
        ("tern_train_begin", status, [pointer, pointer]),
        ("tern_train_step", status, [pointer, ctypes.POINTER(ctypes.c_double)]),
        ("tern_format", text, [pointer]),
    ]:
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _declare(_find_library())


def version():
    """The version of the library."""
    return _library.tern_version().decode()


class Error(Exception):
    """What a program, a value or a file has wrong. `diagnostics` is a list of records with code, title,
    fields, span and hint; the exception's text is what a person would see."""

    def __init__(self, message, diagnostics):
        super().__init__(message)
        self.diagnostics = diagnostics

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def _render_traceback_(self) -> list[str]:
        """In a notebook: what a person would see, without the frames that led to it."""
        return str(self).splitlines()


class Run(dict):
    """What train() returns: the object of `tern train --json`. In a notebook it shows the curve of the loss."""

    def _repr_html_(self) -> str:
        history = self.get("history", [])
        losses = [row["loss"] for row in history]
        last: dict = next((row["eval"] for row in reversed(history) if "eval" in row), {})
        facts = {"steps": self.get("steps"), "loss": losses[-1] if losses else None,
                 **{f"eval {name}": value for name, value in last.items()},
                 **{f"test {name}": value for name, value in self.get("test", {}).items()}}
        rows = "".join(f"<tr><th>{html.escape(name)}</th><td>{value if isinstance(value, (int, str)) else f'{value:.6g}'}"
                       "</td></tr>" for name, value in facts.items() if value is not None)
        return f"{_curve(losses)}<table>{rows}</table>"


class Losses(list):
    """What fit() returns: the loss of every step. In a notebook it shows their curve."""

    def _repr_html_(self) -> str:
        return f"{_curve(self)}<p>{len(self)} steps, last loss {self[-1]:.6g}</p>" if self else "<p>no steps</p>"


def _curve(losses: Iterable[float], width: int = 480, height: int = 120) -> str:
    """A curve as an SVG picture; NaN and infinity are left out."""
    points = [(step, float(loss)) for step, loss in enumerate(losses) if numpy.isfinite(float(loss))]
    if len(points) < 2:
        return ""
    stride = max(1, len(points) // width)
    points = points[::stride]
    low, high = min(y for _, y in points), max(y for _, y in points)
    span, end = (high - low) or 1.0, points[-1][0] or 1
    line = " ".join(f"{x / end * width:.1f},{height - (y - low) / span * height:.1f}" for x, y in points)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="loss from {points[0][1]:.4g} to '
            f'{points[-1][1]:.4g}" viewBox="-4 -4 {width + 8} {height + 8}" width="{width}" height="{height}">'
            f'<polyline fill="none" stroke="#2463c4" stroke-width="1.5" points="{line}"/></svg>')


class Session:
    """Holds memory, limits and capabilities. Used by one thread at a time; close it, or use `with`."""

    def __init__(self, *, seed=None, threads=0, allow=(), isa=None, max_memory=0, max_steps=0, max_seconds=0.0,
                 device=None):
        whole = {name for name in allow if "=" not in name}
        unknown = whole - set(_CAPABILITIES)
        if unknown:
            raise ValueError(f"no capability {sorted(unknown)[0]!r}; there are {', '.join(_CAPABILITIES)}, "
                             "fileread=DIR and filewrite=DIR")
        options = _Options(
            seed=seed or 0, has_seed=seed is not None, threads=threads, isa=isa.encode() if isa else None,
            allow=sum(_CAPABILITIES[name] for name in whole), max_memory=max_memory, max_steps=max_steps,
            max_seconds=max_seconds)
        problem = ctypes.c_char_p()
        self._programs = []
        self._seed = 42 if seed is None else seed
        self._worker = self._wanted = None
        self._running = threading.Lock()
        self._handle = _library.tern_session_new(ctypes.byref(options), ctypes.byref(problem))
        if not self._handle:
            raise ValueError((problem.value or b"out of memory").decode())
        if device and _library.tern_device(self._handle, device.encode()):
            first = json.loads(_library.tern_diagnostics_json(self._handle))[0]
            self.close()
            raise ValueError(first["fields"].get("problem") or first["fields"]["message"])
        for name, _, folder in (name.partition("=") for name in allow if "=" in name):
            if _library.tern_allow(self._handle, name.encode(), os.fsencode(folder)):
                message = json.loads(_library.tern_diagnostics_json(self._handle))[0]["fields"]["message"]
                self.close()
                raise ValueError(message)

    def compile(self, text: str, language: str = "mind", name: str = "<python>") -> Program:
        """A program from its text. It is checked at once."""
        if language not in _LANGUAGES:
            raise ValueError(f"no language {language!r}; there are ail, mind, ninth and graph")
        source = text.encode()
        handle = _library.tern_load(self._live(), _LANGUAGES[language], name.encode(), source, len(source))
        return self._program(handle, _LANGUAGES[language])

    def load(self, path: str | os.PathLike, language: str = "auto") -> Program:
        """A program from a file; the language follows the extension."""
        status = ctypes.c_int()
        number = _LANGUAGES[language] or _library.tern_language_of(os.fsencode(path))
        handle = _library.tern_load_file(self._live(), _LANGUAGES[language], os.fsencode(path), ctypes.byref(status))
        return self._program(handle, number)

    def interrupt(self) -> None:
        """Stops what runs as soon as it can; from another thread."""
        _library.tern_interrupt(self._live())

    def close(self):
        """Frees everything. Arrays of its programs must not be used afterwards."""
        self._stop()
        for program in self._programs:
            program._free()
        self._programs = []
        if self._handle:
            _library.tern_session_free(self._handle)
            self._handle = None

    def _call(self, function: Callable, *arguments: Any) -> Any:
        """Calls what may take long. Python handles Ctrl-C between its own instructions only, so on the main
        thread another one makes the call: Ctrl-C stops it, and is raised here."""
        if threading.current_thread() is not threading.main_thread():
            return function(*arguments)
        if not self._worker:
            self._worker = concurrent.futures.ThreadPoolExecutor(1, "tern")
        call = self._wanted = object()
        try:
            return self._worker.submit(self._run, call, function, arguments).result()
        except KeyboardInterrupt:
            self._stop()
            raise

    def _run(self, call, function, arguments):
        with self._running:
            return function(*arguments) if self._wanted is call else None

    def _stop(self):
        """Waits until nothing runs, wherever Ctrl-C has found us; a call that waits never begins."""
        self._wanted = None
        if self._worker:
            self._worker.shutdown(wait=False, cancel_futures=True)
            self._worker = None
        while not self._running.acquire(timeout=0.01):
            _library.tern_interrupt(self._handle)
        self._running.release()

    def _program(self, handle, language):
        if not handle:
            raise self._error()
        program = Program(self, handle, language)
        self._programs.append(program)
        if _library.tern_check(handle) != 0:
            raise self._error()
        return program

    def _live(self):
        if not self._handle:
            raise ValueError("the session is closed")
        return self._handle

    def _error(self):
        text = _library.tern_diagnostics_text(self._live(), 0) or b"out of memory"
        records = _library.tern_diagnostics_json(self._live()) or b"[]"
        return Error(text.decode().strip(), json.loads(records))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None):
            self.close()


class Program:
    """A program of a session: values in, run or train, values out."""

    def __init__(self, session: Session, handle: int, language: int):
        self._session, self._handle, self._language = session, handle, language

    def set_input(self, name: str, value: Any) -> None:
        """The value of an input: anything that numpy.asarray takes. It is copied."""
        self._expect_name("input", name, self.inputs())
        self._give(_library.tern_set_input, name, value)

    def clear_input(self, name: str | None = None) -> None:
        """Forgets the value of an input, or of all."""
        _library.tern_clear_input(self._live(), None if name is None else name.encode())

    def set_param(self, name: str, value: Any) -> None:
        """The value of a parameter, instead of its random start or of what training has left."""
        self._expect_name("param", name, self._param_names())
        self._give(_library.tern_set_param, name, value)

    def set_field(self, name: str, value: Any) -> None:
        """For train: a field of the train block, or a constant, has this value, written as in the program."""
        self._expect(_library.tern_set_field(self._live(), name.encode(), str(value).encode()))

    def set_weights(self, path: str | os.PathLike) -> None:
        """Parameters from a .safetensors file."""
        self._expect(_library.tern_set_weights(self._live(), os.fsencode(path)))

    def run(self, **inputs: Any) -> Program:
        """Runs the program and returns itself. These inputs are for this run alone; what set_input gives
        stays until clear_input."""
        for name in inputs:  # all of them, before one is set
            self._expect_name("input", name, self.inputs())
        try:
            for name, value in inputs.items():
                self.set_input(name, value)
            self._expect(self._session._call(_library.tern_run, self._live()))
        finally:
            for name in inputs:
                self.clear_input(name)
        return self

    def train(self, *, out: str | os.PathLike | None = None, resume: str | os.PathLike | None = None, steps: int = 0,
              checkpoint_every: int = 0, callback: Callable[[dict], Any] | None = None,
              progress: bool | None = None) -> Run:
        """Trains an .ail program with its own blocks; returns the result as `tern train --json` prints it.
        Afterwards run() uses the trained parameters, and params() reads them.

        `callback` gets a dict after every step: step, steps, loss, and eval with the metrics where the step
        evaluates. What it raises stops the training and is raised here. `progress` shows a line of it; by
        default on a terminal and in a notebook."""
        bar = _Progress(progress)
        raised = []

        def follow(_, at):
            try:
                record = _step_record(at.contents)
                bar.show(record["step"] + 1, record["steps"], record["loss"])
                if callback and not raised:
                    callback(record)
            except BaseException as problem:  # it must not pass through C
                raised.append(problem)
                _library.tern_interrupt(self._session._handle)

        follower = _Follower(step=_StepFunction(follow))
        run = _TrainRun(out=out and os.fsencode(out), resume=resume and os.fsencode(resume), steps=steps,
                        checkpoint_every=checkpoint_every, followers=ctypes.pointer(follower), follower_count=1)
        status = self._session._call(_library.tern_train, self._live(), ctypes.byref(run))
        bar.close()
        if raised:
            raise raised[0]
        self._expect(status)
        return Run(self.result())

    def fit(self, x: Any, y: Any = None, *, epochs: int = 1, batch: int = 32, shuffle: bool = True,
            callback: Callable[[int, float], Any] | None = None, progress: bool | None = None) -> Losses:
        """Trains on arrays, with the loss and the optimiser of the train block, and returns the loss of every
        step. `x` is the first input, or a dict of inputs by name; `y` is `labels`, or else the input that is
        left. Rows are those of the first dimension; every epoch shuffles them by the session's seed, and
        leaves out those that do not fill a batch.
        `callback(step, loss)` follows; where it returns False, training ends. A later fit starts over; to
        continue, load_state_dict(state_dict()) before it."""
        given = self._rows(x, y)
        count = len(next(iter(given.values())))
        if any(len(rows) != count for rows in given.values()):
            raise ValueError("inputs have different numbers of rows: "
                             + ", ".join(f"{name} {len(rows)}" for name, rows in given.items()))
        if count == 0 or batch < 1 or epochs < 1:
            raise ValueError("fit needs at least one row, a batch and an epoch")
        order = numpy.random.Generator(numpy.random.PCG64(self._session._seed))
        batch = min(batch, count)
        steps, bar, losses, loss = epochs * (count // batch), _Progress(progress), Losses(), ctypes.c_double()
        try:
            for _ in range(epochs):
                rows = order.permutation(count) if shuffle else numpy.arange(count)
                for start in range(0, count - batch + 1, batch):
                    for name, values in given.items():
                        self._give(_library.tern_set_input, name, values[rows[start:start + batch]])
                    if not losses:  # a training begins with the shapes of its first step
                        self._expect(_library.tern_train_begin(self._live(), None))
                    self._expect(self._session._call(_library.tern_train_step, self._live(), ctypes.byref(loss)))
                    losses.append(loss.value)
                    bar.show(len(losses), steps, loss.value)
                    if callback and callback(len(losses) - 1, loss.value) is False:
                        return losses
            return losses
        finally:
            bar.close()
            for name in given:
                self.clear_input(name)

    def state_dict(self) -> dict[str, numpy.ndarray]:
        """Copies of all parameters, by name."""
        return {name: value.copy() for name, value in self.params().items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Sets all parameters. The names must be those of the program."""
        names = self._param_names()
        for name in state:
            self._expect_name("param", name, names)
        missing = [name for name in names if name not in state]
        if missing:
            raise ValueError(f"no value for {', '.join(missing)}")
        for name, value in state.items():
            self.set_param(name, value)

    def result(self):
        """The last run's result, as `tern run --json` prints it."""
        return json.loads(_library.tern_result_json(self._live()))

    def output(self, index=0):
        """One output as an array that shows tern's memory; see the top of this file."""
        tensor = _Tensor()
        if index >= _library.tern_output_count(self._live()):
            raise IndexError(f"there is no output {index}")
        if _library.tern_output(self._live(), index, ctypes.byref(tensor)) != 0:
            raise TypeError(f"output {index} is no tensor, or its data is not known; see result()")
        return _array(tensor, self)

    def outputs(self):
        """Every output that is a tensor, by its name ("0", "1", ... where it has none)."""
        found = {}
        for index in range(_library.tern_output_count(self._live())):
            name = _library.tern_output_name(self._live(), index).decode() or str(index)
            found[name] = self.output(index)
        return found

    def inputs(self):
        """The names of the inputs, in order."""
        count = _library.tern_input_count(self._live())
        return [_library.tern_input_at(self._live(), index).name.decode() for index in range(count)]

    def params(self):
        """Every parameter that has a value, by its name: that of the last run, or what training has left."""
        found = {}
        for index in range(_library.tern_param_count(self._live())):
            tensor = _Tensor()
            if _library.tern_param(self._live(), index, ctypes.byref(tensor)) == 0:
                found[_library.tern_param_at(self._live(), index).name.decode()] = _array(tensor, self)
        return found

    def emit(self, kind: str) -> str | bytes:
        """What the compiler made: "graph", "grad", "plan", "mlir", "dot" and "svg" as text; "onnx" and "npz"
        as bytes."""
        length = ctypes.c_size_t()
        at = _library.tern_emit_bytes(self._live(), kind.encode(), ctypes.byref(length))
        if not at:
            raise self._session._error()
        form = ctypes.string_at(at, length.value)
        return form if kind in _BINARY_FORMS else form.decode()

    def _repr_html_(self) -> str:
        """In a notebook: the graph, or the program's text where it has none."""
        try:
            return self.emit("svg")
        except Error:
            return f"<pre>{html.escape(self.format())}</pre>"

    def format(self):
        """The program's text in its canonical form."""
        text = _library.tern_format(self._live())
        if text is None:
            raise self._session._error()
        return text.decode()

    def _param_names(self) -> list[str]:
        count = _library.tern_param_count(self._live())
        return [_library.tern_param_at(self._live(), index).name.decode() for index in range(count)]

    def _rows(self, x, y) -> dict[str, numpy.ndarray]:
        names = self.inputs()
        given = dict(x) if isinstance(x, Mapping) else {names[0]: x} if names else {}
        for name in given:
            self._expect_name("input", name, names)
        if y is not None:
            rest = [name for name in names if name not in given]
            if not rest:
                raise ValueError("there is no input for y: every one is given by x")
            given["labels" if "labels" in rest else rest[0]] = y
        if not given:
            raise ValueError("the program has no inputs to fit")
        return {name: _seen(value) for name, value in given.items()}

    def _expect_name(self, what: str, name: str, names: Iterable[str]) -> None:
        """A wrong name is refused here: what has been set stays set for every run after this one. In Ninth
        names are free."""
        if self._language == _LANGUAGES["ninth"] or name in names:
            return
        known = ", ".join(names)
        message, hint = f"the program has no {what} `{name}`", f"there are {known}" if known else "it has none"
        raise Error(f"error[E_USAGE]: {message}\n   = hint: {hint}",
                    [{"code": "E_USAGE", "severity": "error", "phase": "run", "title": message,
                      "fields": {"message": message}, "span": None, "hint": hint}])

    def _give(self, function, name, value):
        array = _seen(value)
        if array.dtype.name not in _DTYPES:
            array = array.astype("int64" if array.dtype.kind in "iu" else "float64")
        dims = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
        if any(stride % array.itemsize for stride in array.strides):
            array = numpy.ascontiguousarray(array)
        strides = (ctypes.c_int64 * max(array.ndim, 1))(*(stride // array.itemsize for stride in array.strides))
        tensor = _Tensor(_DTYPES.index(array.dtype.name), array.ndim, dims, strides, array.ctypes.data)
        self._expect(function(self._live(), name.encode(), ctypes.byref(tensor)))

    def _expect(self, status):
        if status != 0:
            raise self._session._error()

    def _live(self):
        if not self._handle:
            raise ValueError("the session is closed")
        return self._handle

    def _free(self):
        if self._handle:
            _library.tern_program_free(self._handle)
            self._handle = None


def _step_record(step: _Step) -> dict:
    record: dict = {"step": step.step, "steps": step.steps, "loss": step.loss}
    if step.evaluated:
        record["eval"] = {step.metrics[i].name.decode(): step.metrics[i].value for i in range(step.metric_count)}
    return record


class _Progress:
    """One line on a terminal or in a notebook, written at most ten times per second."""

    def __init__(self, wanted: bool | None):
        self._to = sys.stdout if _in_notebook() else sys.stderr
        self._wanted = _in_notebook() or sys.stderr.isatty() if wanted is None else wanted
        self._began, self._shown, self._line = time.monotonic(), 0.0, ""

    def show(self, done: int, steps: int, loss: float) -> None:
        now = time.monotonic()
        if not self._wanted or (now - self._shown < 0.1 and done < steps):
            return
        self._shown = now
        rate = done / max(now - self._began, 1e-9)
        filled = 20 * done // max(steps, 1)
        line = (f"[{'#' * filled}{'.' * (20 - filled)}] {done}/{steps}  {rate:.0f} steps/s  "
                f"{(steps - done) / rate:.0f} s left  loss {loss:.6g}")
        self._to.write("\r" + line.ljust(len(self._line)))
        self._to.flush()
        self._line = line

    def close(self) -> None:
        if self._line:
            self._to.write("\n")
            self._to.flush()


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


class _Memory:
    """What NumPy needs to see tern's memory; keeps the program that owns it."""

    def __init__(self, interface, owner):
        self.__array_interface__ = interface
        self.owner = owner


def _seen(value: Any) -> numpy.ndarray:
    """A value as an array: the memory of tensors that speak DLPack (PyTorch's) is read where it is."""
    if hasattr(value, "__dlpack__") and not isinstance(value, numpy.ndarray):
        return numpy.from_dlpack(value.detach() if hasattr(value, "detach") else value)
    return numpy.asarray(value)


def _array(tensor, owner):
    if _DTYPES[tensor.dtype] is None:
        raise TypeError("NumPy has no bfloat16; see result()")
    dtype = numpy.dtype(_DTYPES[tensor.dtype])
    shape = tuple(tensor.dims[i] for i in range(tensor.rank))
    if 0 in shape:
        return numpy.empty(shape, dtype)
    strides = tuple(tensor.strides[i] * dtype.itemsize for i in range(tensor.rank)) if tensor.strides else None
    return numpy.asarray(_Memory({"version": 3, "shape": shape, "typestr": dtype.str, "strides": strides,
                                  "data": (tensor.data, True)}, owner))
