"""A Jupyter kernel for MIND, Ninth and AILang: the interactive session of `tern repl`, cell by cell.

    python3 -m tern_kernel mind [--allow CAP]... -f CONNECTION_FILE

`jupyter kernelspec list` names tern-mind, tern-ninth and tern-ail once the package is installed. It needs
ipykernel. Lines of a cell are answered one by one, as in a terminal; a line that fails ends the cell. Programs
may do what --allow grants in the kernel's argv, and nothing without it.
"""
from __future__ import annotations

import argparse
import ctypes
import re

from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

import tern

_MORE, _DONE, _QUIT = range(3)
_SINK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_NAMES = {"mind": "MIND", "ninth": "Ninth", "ail": "AILang"}
_SUFFIXES = {"mind": ".mind", "ninth": ".nth", "ail": ".ail"}


def _declare(library):
    library.tern_repl_new.restype = ctypes.c_void_p
    library.tern_repl_new.argtypes = [ctypes.c_void_p, ctypes.c_int]
    library.tern_repl_style.restype = None
    library.tern_repl_style.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
    library.tern_repl_bytes.restype = ctypes.c_int
    library.tern_repl_bytes.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t,
                                        ctypes.POINTER(ctypes.c_char_p)]
    library.tern_repl_complete.restype = ctypes.c_char_p
    library.tern_repl_complete.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
    library.tern_repl_cancel.restype = None
    library.tern_repl_cancel.argtypes = [ctypes.c_void_p]
    library.tern_on_print.restype = None
    library.tern_on_print.argtypes = [ctypes.c_void_p, _SINK, ctypes.c_void_p]
    return library


class Talk:
    """An interactive session of a language."""

    def __init__(self, language: str, allow: list[str]):
        self._library = _declare(tern._library)
        self._session = tern.Session(allow=allow)
        self._repl = self._library.tern_repl_new(self._session._live(), tern._LANGUAGES[language])
        self._library.tern_repl_style(self._repl, 0, 1)
        self._printed: list[str] = []
        self._sink = _SINK(lambda _, at, length: self._printed.append(
            ctypes.string_at(at, length).decode("utf-8", "replace") + "\n"))
        self._library.tern_on_print(self._session._live(), self._sink, None)

    def line(self, text: str) -> tuple[int, str]:
        """What a line is answered with: whether it is complete, and what is shown."""
        shown, source = ctypes.c_char_p(), text.encode()
        self._printed.clear()
        answer = self._session._call(self._library.tern_repl_bytes, self._repl, source, len(source),
                                     ctypes.byref(shown))
        return answer, "".join(self._printed) + (shown.value or b"").decode("utf-8", "replace")

    def cancel(self) -> None:
        """Forgets lines that wait for their end."""
        self._library.tern_repl_cancel(self._repl)

    def complete(self, line: str, cursor: int) -> list[str]:
        """What the word before the cursor may become."""
        before = line[:cursor].encode()
        found = self._library.tern_repl_complete(self._repl, line.encode(), len(before)) or b""
        return found.decode().splitlines()


def _is_mistake(shown: str) -> bool:
    return re.search(r"^(error\[|cannot read |there is no (command|opcode|library function|operation) )", shown,
                     re.MULTILINE) is not None


class TernKernel(Kernel):
    """One language; a subclass names it."""

    implementation = "tern"
    implementation_version = tern.version()
    language, allow = "mind", ()

    def __init__(self, **options):
        super().__init__(**options)
        self._talk = Talk(self.language, self.allow)

    @property
    def banner(self) -> str:
        return f"tern {tern.version()}, {_NAMES[self.language]}. `help` lists commands."

    @property
    def language_info(self) -> dict:
        return {"name": self.language, "version": tern.version(), "mimetype": "text/plain",
                "file_extension": _SUFFIXES[self.language]}

    def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False, **_):
        answer, shown = _DONE, ""
        try:
            for text in code.splitlines():
                answer, shown = self._talk.line(text)
                if _is_mistake(shown):
                    return self._failed("Error", shown, silent)
                self._show(shown, silent)
            if answer == _MORE:  # an `if` that an `else` could follow is complete
                answer, shown = self._talk.line("")
                self._show(shown, silent)
            if answer == _MORE:
                return self._failed("Error", "the cell ends inside an open block or bracket; its last lines were "
                                    "not run", silent)
        except KeyboardInterrupt:
            return self._failed("KeyboardInterrupt", "interrupted", silent)
        return {"status": "ok", "execution_count": self.execution_count, "payload": [], "user_expressions": {}}

    def _show(self, text: str, silent: bool) -> None:
        if text and not silent:
            self.send_response(self.iopub_socket, "stream", {"name": "stdout", "text": text})

    def _failed(self, name: str, message: str, silent: bool) -> dict:
        self._talk.cancel()
        content = {"ename": name, "evalue": message.strip().splitlines()[0], "traceback": [message]}
        if not silent:
            self.send_response(self.iopub_socket, "error", content)
        return {"status": "error", "execution_count": self.execution_count, **content}

    def do_complete(self, code, cursor_pos):
        start = code.rfind("\n", 0, cursor_pos) + 1
        line = code[start:].split("\n", 1)[0]
        found = self._talk.complete(line, cursor_pos - start)
        word = 0
        for size in range(len(code[start:cursor_pos]), 0, -1):
            if found and all(name.startswith(code[cursor_pos - size:cursor_pos]) for name in found):
                word = size
                break
        return {"status": "ok", "matches": found, "cursor_start": cursor_pos - word, "cursor_end": cursor_pos,
                "metadata": {}}

    def do_inspect(self, code, cursor_pos, detail_level=0, omit_sections=()):
        before = re.search(r"\w*$", code[:cursor_pos])[0]
        word = before + re.match(r"\w*", code[cursor_pos:])[0]
        _, text = self._talk.line(f":help {word}") if word else (_DONE, "")
        found = bool(word) and not _is_mistake(text)
        return {"status": "ok", "found": found, "data": {"text/plain": text} if found else {}, "metadata": {}}


def main() -> None:
    parser = argparse.ArgumentParser(prog="tern_kernel", add_help=False)
    parser.add_argument("language", choices=list(_NAMES))
    parser.add_argument("--allow", action="append", default=[])
    own, rest = parser.parse_known_args()
    kernel = type("TernKernel", (TernKernel,), {"language": own.language, "allow": own.allow})
    IPKernelApp.launch_instance(argv=rest, kernel_class=kernel)


if __name__ == "__main__":
    main()
