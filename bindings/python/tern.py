"""tern from Python: compile, run and train; values are NumPy arrays.

One file on ctypes and NumPy; it needs libtern.so and nothing else.

    import tern
    with tern.Session(seed=7) as session:
        program = session.load("model.ail")                      # or session.compile(text)
        program.run(x=[[1, 2], [3, 4]])
        program.outputs()                                        # {"logits": array(...)}

An array that tern returns shows tern's own memory and is read-only: it is valid until its program runs
again, and keeps the program alive meanwhile. `.copy()` makes one that stays. Whatever goes wrong raises
tern.Error, whose `diagnostics` are the records that `tern --json` prints.

The library is looked for in $TERN_LIBRARY, in this file's source tree, beside this file where it is
installed, and where the system keeps libraries.
"""
import ctypes
import ctypes.util
import json
import os
import pathlib

import numpy

__all__ = ["Session", "Program", "Error", "version"]

_DTYPES = ["float32", "float64", "int32", "int64", "bool", None, "float16"]  # tern_dtype; bfloat16 has no dtype here
_LANGUAGES = {"auto": 0, "ail": 1, "mind": 2, "ninth": 3, "graph": 4}
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


class _TrainRun(ctypes.Structure):
    _fields_ = [
        ("out", ctypes.c_char_p), ("resume", ctypes.c_char_p), ("checkpoint_every", ctypes.c_int64),
        ("steps", ctypes.c_int64), ("followers", ctypes.c_void_p), ("follower_count", ctypes.c_size_t),
        ("brief", ctypes.c_int), ("recorded", ctypes.c_char_p),
    ]


def _find_library():
    # ROOT/bindings/python/tern.py in the source tree, PREFIX/lib/python3/dist-packages/tern.py installed.
    above = pathlib.Path(__file__).resolve().parents[2]
    beside = [above / "build" / "release" / "libtern.so", above / "libtern.so.0"]
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
        ("tern_set_param", status, [pointer, text, tensor]),
        ("tern_set_field", status, [pointer, text, text]),
        ("tern_set_weights", status, [pointer, text]),
        ("tern_run", status, [pointer]),
        ("tern_allow", status, [pointer, text, text]),
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
        ("tern_emit", text, [pointer, text]),
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


class Session:
    """Holds memory, limits and capabilities. Used by one thread at a time; close it, or use `with`."""

    def __init__(self, *, seed=None, threads=0, allow=(), isa=None, max_memory=0, max_steps=0, max_seconds=0.0):
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
        self._handle = _library.tern_session_new(ctypes.byref(options), ctypes.byref(problem))
        if not self._handle:
            raise ValueError((problem.value or b"out of memory").decode())
        for name, _, folder in (name.partition("=") for name in allow if "=" in name):
            if _library.tern_allow(self._handle, name.encode(), os.fsencode(folder)):
                message = json.loads(_library.tern_diagnostics_json(self._handle))[0]["fields"]["message"]
                self.close()
                raise ValueError(message)

    def compile(self, text, language="mind", name="<python>"):
        """A program from its text. It is checked at once."""
        if language not in _LANGUAGES:
            raise ValueError(f"no language {language!r}; there are ail, mind, ninth and graph")
        source = text.encode()
        return self._program(_library.tern_load(self._live(), _LANGUAGES[language], name.encode(), source, len(source)))

    def load(self, path, language="auto"):
        """A program from a file; the language follows the extension."""
        status = ctypes.c_int()
        return self._program(_library.tern_load_file(self._live(), _LANGUAGES[language], os.fsencode(path), ctypes.byref(status)))

    def interrupt(self):
        """Stops what runs as soon as it can; from another thread."""
        _library.tern_interrupt(self._live())

    def close(self):
        """Frees everything. Arrays of its programs must not be used afterwards."""
        for program in self._programs:
            program._free()
        self._programs = []
        if self._handle:
            _library.tern_session_free(self._handle)
            self._handle = None

    def _program(self, handle):
        if not handle:
            raise self._error()
        program = Program(self, handle)
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

    def __init__(self, session, handle):
        self._session, self._handle = session, handle

    def set_input(self, name, value):
        """The value of an input: anything that numpy.asarray takes. It is copied."""
        self._give(_library.tern_set_input, name, value)

    def set_param(self, name, value):
        """The value of a parameter, instead of its random start."""
        self._give(_library.tern_set_param, name, value)

    def set_field(self, name, value):
        """For train: a field of the train block, or a constant, has this value, written as in the program."""
        self._expect(_library.tern_set_field(self._live(), name.encode(), str(value).encode()))

    def set_weights(self, path):
        """Parameters from a .safetensors file."""
        self._expect(_library.tern_set_weights(self._live(), os.fsencode(path)))

    def run(self, **inputs):
        """Runs the program with these inputs and returns itself."""
        for name, value in inputs.items():
            self.set_input(name, value)
        self._expect(_library.tern_run(self._live()))
        return self

    def train(self, *, out=None, resume=None, steps=0, checkpoint_every=0):
        """Trains an .ail program with its own blocks; returns the result as `tern train --json` prints it.
        Afterwards run() uses the trained parameters, and params() reads them."""
        run = _TrainRun(out=out and os.fsencode(out), resume=resume and os.fsencode(resume), steps=steps,
                        checkpoint_every=checkpoint_every)
        self._expect(_library.tern_train(self._live(), ctypes.byref(run)))
        return self.result()

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

    def emit(self, kind):
        """What the compiler made: "graph", "grad", "mlir", "dot", "svg"."""
        text = _library.tern_emit(self._live(), kind.encode())
        if text is None:
            raise self._session._error()
        return text.decode()

    def format(self):
        """The program's text in its canonical form."""
        text = _library.tern_format(self._live())
        if text is None:
            raise self._session._error()
        return text.decode()

    def _give(self, function, name, value):
        array = numpy.asarray(value)
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


class _Memory:
    """What NumPy needs to see tern's memory; keeps the program that owns it."""

    def __init__(self, interface, owner):
        self.__array_interface__ = interface
        self.owner = owner


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
