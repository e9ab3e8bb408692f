"""The processes that the benchmarks measure, one at a time."""
import os
import re
import signal
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


def cpu_flags():
    try:
        with open("/proc/cpuinfo") as f:
            return re.search(r"^flags\s*:(.*)$", f.read(), re.M).group(1).split()
    except (OSError, AttributeError):
        return []


def environment(threads, avx2=False):
    """What each side is given; OpenBLAS does not know new processors and falls back to old kernels."""
    e = dict(os.environ, OMP_NUM_THREADS=str(threads), LC_ALL="C")
    if avx2:
        e.update(TERN_ISA="avx2", OPENBLAS_CORETYPE="HASWELL", ATEN_CPU_CAPABILITY="avx2", DNNL_MAX_CPU_ISA="AVX2",
                 ONEDNN_MAX_CPU_ISA="AVX2", MKL_ENABLE_INSTRUCTIONS="AVX2")
    elif "avx512f" in cpu_flags():
        e.update(OPENBLAS_CORETYPE="SKYLAKEX", ATEN_CPU_CAPABILITY="avx512")
    return e


class Side:
    """A process that answers requests; started when it is first asked, and stopped (SIGSTOP) between two requests, so
    that the measured side has the machine to itself: threads of OpenMP spin for a while after each job."""

    def __init__(self, command, threads, avx2=False):
        self.command, self.threads, self.avx2, self.process = command, threads, avx2, None

    def ask(self, request):
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                            env=environment(self.threads, self.avx2), cwd=os.path.join(HERE, "programs"))
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write(request + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        self.process.send_signal(signal.SIGSTOP)
        if not answer:
            raise RuntimeError(f"{self.command[0]} did not answer to: {request}")
        return float(answer)

    def drop(self):
        if self.process is not None:
            self.ask("drop")

    def close(self):
        if self.process is not None:
            self.process.send_signal(signal.SIGCONT)
            self.process.stdin.close()
            self.process.wait()
            self.process = None
