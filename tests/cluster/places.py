"""Places for ranks that this machine does not have by itself, made of it:

    Slurm()       a cluster of one machine with eight places: Slurm's own daemons, in a folder of their own
    TwoMachines() a second network namespace, named `far`, behind packets that are late and get lost

Both are context managers and leave nothing running. `Unavailable` says what this machine lacks."""

import ctypes
import fcntl
import heapq
import os
import random
import select
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time


class Unavailable(Exception):
    pass


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


SLURM = """ClusterName=tern
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={controller}
SlurmdPort={node}
AuthType=auth/munge
AuthInfo=socket={place}/munge.socket
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool
SlurmctldPidFile={place}/controller.pid
SlurmdPidFile={place}/node.pid
SlurmctldLogFile={place}/controller.log
SlurmdLogFile={place}/node.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=pmix
ReturnToService=2
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
"""


class Slurm:
    """While it is entered, SLURM_CONF in the environment leads srun here. The daemons listen on the
    loopback device and trust a key that ends with them."""

    def __enter__(self):
        for tool in ("munged", "slurmctld", "slurmd", "srun", "sinfo"):
            if not shutil.which(tool):
                raise Unavailable(f"there is no {tool}")
        if os.geteuid() != 0:
            raise Unavailable("Slurm's daemons need root")
        self.daemons = []
        self.place = tempfile.mkdtemp(prefix="tern-slurm-")
        os.chmod(self.place, 0o755)  # munged refuses a folder that others may write
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        at = self.place
        for folder in ("state", "spool"):
            os.mkdir(os.path.join(at, folder))
        with open(os.path.join(at, "slurm.conf"), "w") as settings:
            settings.write(SLURM.format(place=at, user="root", host=socket.gethostname().split(".")[0],
                                        controller=free_port(), node=free_port()))
        with open(os.path.join(at, "key"), "wb") as key:
            key.write(os.urandom(1024))
        os.chmod(key.name, 0o400)
        os.environ["SLURM_CONF"] = settings.name
        self.daemon("munged", "--foreground", "--force", f"--key-file={at}/key", f"--socket={at}/munge.socket",
                    f"--pid-file={at}/munge.pid", f"--log-file={at}/munge.log", f"--seed-file={at}/seed")
        self.wait_for(lambda: os.path.exists(f"{at}/munge.socket"), "munged")
        self.daemon("slurmctld", "-D", "-c")
        self.daemon("slurmd", "-D", "-c")
        self.wait_for(self.is_idle, "slurmd")

    def daemon(self, *words):
        self.daemons.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                             stderr=subprocess.DEVNULL, start_new_session=True))

    def is_idle(self):
        return subprocess.run(["sinfo", "-h", "-o", "%t"], capture_output=True, text=True).stdout.strip() == "idle"

    def wait_for(self, holds, what):
        end = time.monotonic() + 300
        while not holds():
            if any(daemon.poll() is not None for daemon in self.daemons) or time.monotonic() > end:
                raise Unavailable(f"{what} does not start here")
            time.sleep(0.1)

    def __exit__(self, *_):
        os.environ.pop("SLURM_CONF", None)
        for daemon in reversed(self.daemons):
            daemon.terminate()
            daemon.wait()
        shutil.rmtree(self.place)


# ---- a network ----

NEW_NETWORK, NEW_NAMES = 0x40000000, 0x04000000  # CLONE_NEWNET, CLONE_NEWUTS
SET_INTERFACE, TUN, NO_HEADER = 0x400454CA, 0x0001, 0x1000
libc = ctypes.CDLL(None, use_errno=True)


def must(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def open_interface(address):
    """A TUN device `tern0` in the network of the calling thread: what the kernel sends there is read
    from the descriptor, and what is written to it arrives."""
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, SET_INTERFACE, struct.pack("16sH22x", b"tern0", TUN | NO_HEADER))
    for words in (["addr", "add", address + "/24", "dev", "tern0"], ["link", "set", "tern0", "up"],
                  ["link", "set", "lo", "up"]):
        subprocess.run(["ip", *words], check=True)
    return tun


class TwoMachines:
    """Two threads of this process, each in a network of its own; the far one has another host name too.
    Packets between them are `delay` seconds late, and `loss` of them are lost, by a seeded generator.

    `near` and `far` are their addresses, `agent` the program that mpirun takes for ssh. The calling thread
    keeps the near network when this is left: it has no other one any more."""

    near, far = "10.77.0.1", "10.77.0.2"

    def __init__(self, delay, loss):
        self.delay, self.loss = delay, loss
        self.carried = self.lost = 0

    def __enter__(self):
        for tool in ("ip", "nsenter"):
            if not shutil.which(tool):
                raise Unavailable(f"there is no {tool}")
        self.place = tempfile.mkdtemp(prefix="tern-network-")
        self.ready, self.over = threading.Event(), threading.Event()
        self.failure = None
        self.ends = {}
        self.threads = []
        try:
            self.connect()
        except (OSError, subprocess.CalledProcessError) as error:
            self.__exit__()
            raise Unavailable(f"no networks of our own: {error}") from error
        return self

    def connect(self):
        must(libc.unshare(NEW_NETWORK))  # of this thread, and of what it starts
        self.ends["near"] = open_interface(self.near)
        self.start(self.live_far)
        self.ready.wait()
        if self.failure:
            raise self.failure
        self.start(self.carry)
        self.agent = os.path.join(self.place, "agent")
        with open(self.agent, "w") as agent:
            agent.write(f'#!/bin/sh\nshift\nexec {" ".join(self.enter)} sh -c "$*"\n')
        os.chmod(self.agent, 0o700)

    def start(self, target):
        self.threads.append(threading.Thread(target=target))
        self.threads[-1].start()

    def live_far(self):
        try:
            must(libc.unshare(NEW_NETWORK | NEW_NAMES))
            must(libc.sethostname(b"far", 3))
            self.ends["far"] = open_interface(self.far)
            own = f"/proc/{os.getpid()}/task/{threading.get_native_id()}/ns"
            self.enter = ["nsenter", f"--net={own}/net", f"--uts={own}/uts"]
        except (OSError, subprocess.CalledProcessError) as error:
            self.failure = error
        self.ready.set()
        self.over.wait()

    def carry(self):
        """Reads packets on either side and writes each on the other one when its time has come."""
        ends = {self.ends["near"]: self.ends["far"], self.ends["far"]: self.ends["near"]}
        choose, waiting = random.Random(18), []
        while not self.over.is_set():
            pause = max(0, waiting[0][0] - time.monotonic()) if waiting else 0.1
            for end in select.select(list(ends), [], [], min(pause, 0.1))[0]:
                self.take(end, ends[end], choose, waiting)
            while waiting and waiting[0][0] <= time.monotonic():
                _, _, end, packet = heapq.heappop(waiting)
                try:
                    os.write(end, packet)
                except BlockingIOError:
                    pass  # a full queue loses packets as well

    def take(self, end, other, choose, waiting):
        try:
            packet = os.read(end, 65536)
        except BlockingIOError:
            return
        self.carried += 1
        if choose.random() < self.loss:
            self.lost += 1
        else:
            heapq.heappush(waiting, (time.monotonic() + self.delay, self.carried, other, packet))

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()
        for end in self.ends.values():
            os.close(end)
        shutil.rmtree(self.place)
