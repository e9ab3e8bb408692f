"""One training in several processes: whatever their number, one result; whichever of them fails, one
diagnostic, no process left, a checkpoint that resumes to the same bits.

    ranks.py TERN bits          ranks {1, 2, 3, 4} x threads {1, 2} on three programs, with shared memory and without
    ranks.py TERN failures      killed, interrupted and stopped ranks, each resumed; the sandbox of every rank
    ranks.py TERN all           ranks {1, 2, 3, 4, 5, 7, 8} x {sockets, MPI} on six programs
    ranks.py TERN kills [N]     N (200) times a random rank is killed at a random moment and resumed
    ranks.py TERN mpi           failures under mpirun
    ranks.py TERN network       two machines under mpirun, 50 ms apart, with 1 % of the packets lost
    ranks.py TERN slurm         under srun, in a cluster of Slurm's own daemons

Waiting ends when something has happened; the limit is there for what hangs. With TERN_TEST_EFFORT=small
less is tried. Status 77: this machine cannot do it, and why."""

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import places

HANGS = 300  # seconds
SMALL = os.environ.get("TERN_TEST_EFFORT") == "small"
FILES = ("history.jsonl", "weights.safetensors", "checkpoint")

MODEL = """model {
  tokens [B, T]
  labels [B]
  param E [24, 16]
  param H [16, 40]
  param b [40]
  param W [40, 3]
  x = meanpool(embedding(tokens, E))
  h = %s
  logits = matmul(h, W)
}
train {
  loss = xent(logits, labels)
  steps = %d
  batch = %d
  shards = %d
  %s
}
dataset { format = "jsonl" path = "data.jsonl" tokens = "tokens" labels = "label" split = 0.9 }
eval { every = 7 metrics = ["loss", "accuracy"] }
"""
PLAIN = "relu(matmul(x, H) + b)"
DROPS = "dropout(relu(matmul(x, H) + b), 0.2)"
PROGRAMS = {  # hidden layer, batch, shards, the rest of the train block
    "dropout": (DROPS, 12, 4, 'optimizer = "sgd" lr = 0.1'),
    "clip": (DROPS, 12, 6, 'optimizer = "momentum" lr = 0.05 clip_norm = 0.1'),
    "adam": (DROPS, 12, 4, 'optimizer = "adam" lr = 0.01 clip_norm = 1.0'),
    "adamw": (PLAIN, 24, 8, 'optimizer = "adamw" lr = 0.01 weight_decay = 0.1 schedule = "cosine"'),
    "uneven": (DROPS, 14, 7, 'optimizer = "adam" lr = 0.01'),
    "one": (DROPS, 5, 1, 'optimizer = "adam" lr = 0.01'),
}

failures = 0


def say(text):
    print(text, flush=True)


def check(holds, text, *details):
    global failures
    if holds:
        return True
    failures += 1
    say("FAILED: " + text)
    for detail in details:
        say("    " + str(detail).strip().replace("\n", "\n    "))
    return False


def write_programs(steps):
    rows = random.Random(18)
    with open("data.jsonl", "w") as data:
        for _ in range(90):
            tokens = [rows.randrange(24) for _ in range(6)]
            data.write(json.dumps({"tokens": tokens, "label": sum(tokens) % 3}) + "\n")
    for name, (hidden, batch, shards, rest) in PROGRAMS.items():
        with open(name + ".ail", "w") as program:
            program.write(MODEL % (hidden, steps, batch, shards, rest))


def environment():
    mine = dict(os.environ)
    mine.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                OMPI_MCA_rmaps_base_oversubscribe="1")
    return mine


def command(name, ranks, mpi=False, out=None, resume=None, more=()):
    words = [TERN, "train", name + ".ail", "--allow", "fileread", *more]
    if out:
        words += ["--out", out, "--store", "runs.db", "--checkpoint-every", "5"]
    if resume:
        words += ["--resume", resume, "--store", "runs.db", "--checkpoint-every", "5"]
    if mpi:
        return ["mpirun", "-n", str(ranks), *words]
    return words + (["--ranks", str(ranks)] if ranks else [])


def run(words):
    return subprocess.run(words, capture_output=True, text=True, timeout=HANGS, stdin=subprocess.DEVNULL,
                          env=environment())


def answer(how, words):
    """Of a training that succeeds: hash of the weights and history."""
    done = run(words + ["--json"])
    good = done.returncode == 0 and done.stdout.startswith('{"ok":true')
    if not check(good, how, done.stdout, done.stderr):
        return None
    result = json.loads(done.stdout)
    return result["weights_sha256"], result["history"]


def digest_of(folder):
    """Of all that a run leaves, and that no number of ranks may change."""
    digest = hashlib.sha256()
    for file in FILES:
        with open(os.path.join(folder, file), "rb") as opened:
            digest.update(opened.read())
    return digest.hexdigest()


ANSWERS = {}


def alone(name, steps=None):
    """What one process with one thread makes of the program."""
    if (name, steps) not in ANSWERS:
        more = ("--threads", "1") + (("--steps", str(steps)) if steps else ())
        ANSWERS[name, steps] = answer(f"{name}: alone", command(name, 0, more=more))
    return ANSWERS[name, steps]


def same(name, ranks, mpi=False, more=()):
    how = f"{name}: {ranks} ranks{' under MPI' if mpi else ''}{''.join(' ' + word for word in more)}"
    many = answer(how, command(name, ranks, mpi, more=more))
    check(many is None or many == alone(name), how + ": other bits than alone")


def same_folder(name, ranks):
    """The files of the run, and what is shown."""
    how = f"{name}: the folder of {ranks} ranks"
    for folder, number in (("alone", 0), ("many", ranks)):
        done = run(command(name, number, out=folder))
        check(done.returncode == 0, f"{how}: {folder}", done.stdout, done.stderr)
        once = done.stdout.count("Step 0:") == 1 and done.stdout.count("Training completed") == 1
        check(once and "error" not in done.stderr, f"{how}: {folder}: it is shown once", done.stdout, done.stderr)
    check(digest_of("alone") == digest_of("many"), how + ": other bytes than alone")
    verified = run([TERN, "verify", "many", "--allow", "fileread"])
    check(verified.returncode == 0, how + ": tern verify", verified.stdout, verified.stderr)
    for folder in ("alone", "many"):
        shutil.rmtree(folder, ignore_errors=True)


def same_without_sharing(name, ranks):
    """A limit of files leaves no memory to share: the ranks send each other everything."""
    how = f"{name}: {ranks} ranks that share no memory"
    small = ["sh", "-c", 'ulimit -f 8 && exec "$@"', "sh"]
    many = answer(how, small + command(name, ranks))
    check(many is None or many == alone(name), how + ": other bits than alone")


def bits():
    write_programs(12)
    for name in ("dropout", "clip", "adam")[:1 if SMALL else 3]:
        for ranks in (2, 3) if SMALL else (1, 2, 3, 4):
            for threads in ("2",) if SMALL else ("1", "2"):
                same(name, ranks, more=("--threads", threads))
    same_without_sharing("adam", 3)
    same_folder("clip", 3)


def all_ways():
    write_programs(25)
    for name in PROGRAMS:
        for ranks in (1, 2, 3, 4, 5, 7, 8):
            for mpi in [False, True] if has_mpi() else [False]:
                same(name, ranks, mpi)
        same_folder(name, 5)


# ---- ranks that fail ----

FOREVER = ("--steps", "100000000")  # until something happens


class Training:
    """A training that runs until something happens to it; its folder is `hurt`."""

    def __init__(self, name, ranks, mpi=False, more=()):
        shutil.rmtree("hurt", ignore_errors=True)
        words = command(name, ranks, mpi, out="hurt", more=("--log", "json", *FOREVER, *more))
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=self.errors, text=True,
                                        stdin=subprocess.DEVNULL, env=environment(), start_new_session=True)
        self.others = []
        self.printed = []

    def reach(self, step):
        """Until that step has been made; false when the training ended before."""
        for line in self.process.stdout:
            self.printed.append(line)
            if line.startswith('{"step":%d,' % step):
                return True
        return check(False, f"step {step} is reached", *self.end())

    def find_others(self):
        with open("/proc/%d/task/%d/children" % ((self.process.pid,) * 2)) as children:
            self.others = [int(word) for word in children.read().split()]
        return self.others

    def end(self):
        """The status and what was shown on standard error. Nobody is left."""
        watch = threading.Timer(HANGS, os.killpg, (self.process.pid, signal.SIGKILL))
        watch.start()
        self.printed.append(self.process.stdout.read())
        self.process.wait()
        check(watch.is_alive(), "the training did not end")
        watch.cancel()
        wait_for(lambda: not any(is_running(pid) for pid in self.others), "a rank is left", self.others)
        self.errors.seek(0)
        return self.process.returncode, self.errors.read()

    def codes(self, errors):
        """Of the diagnostics that were shown: --log json ends with the object of the answer."""
        codes = [line.split("]")[0][6:] for line in errors.splitlines() if line.startswith("error[")]
        for line in "".join(self.printed).splitlines():
            if line.startswith('{"ok":false'):
                found = json.loads(line)["diagnostics"]
                codes += [one["code"] for one in found if one["severity"] == "error"]
        return codes

    def shown(self):
        return "".join(self.printed)[-2000:]


def is_running(pid):
    try:
        with open("/proc/%d/stat" % pid) as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_for(holds, text, *details):
    end = time.monotonic() + HANGS
    while not holds():
        if time.monotonic() > end:
            return check(False, text, *details)
        time.sleep(0.01)
    return True


def resume(name, ranks, how, mpi=False):
    """From the checkpoint that is left, some steps further: the bits of a run that was never stopped. The
    program has no schedule, so they do not depend on how many steps were wanted first."""
    with open("hurt/history.jsonl") as history:
        steps = len(history.readlines()) + 20
    how = f"{how}: resumed with {ranks} ranks"
    words = command(name, ranks, mpi, resume="hurt", more=("--steps", str(steps)))
    again, whole = answer(how, words), alone(name, steps)
    check(again is None or again[0] == whole[0], how + ": other bits")
    with open("hurt/history.jsonl") as history:
        rows = [json.loads(line) for line in history]
    check([row["loss"] for row in rows] == [row["loss"] for row in whole[1]], how + ": another history")


def hurt(how, name, ranks, action, code, again, step=12, more=()):
    """Trains; once the step has been made does something; one diagnostic; resumes."""
    training = Training(name, ranks, more=more)
    if not training.reach(step):
        return ""
    check(len(training.find_others()) == ranks - 1, f"{how}: {ranks} ranks", training.others)
    action(training)
    status, errors = training.end()
    codes = training.codes(errors)
    check(codes == [code] and status != 0, f"{how}: one diagnostic, {code}", codes, errors, training.shown())
    resume(name, again, how)
    return errors + training.shown()


def send(number, rank=0, everybody=False):
    def action(training):
        if everybody:
            os.killpg(training.process.pid, number)
        else:
            os.kill(([training.process.pid] + training.others)[rank], number)
    return action


def pause_all(training):
    """Ctrl-Z and fg: no rank is taken for lost."""
    os.killpg(training.process.pid, signal.SIGSTOP)
    time.sleep(2)
    os.killpg(training.process.pid, signal.SIGCONT)
    steps = len(training.printed)
    check(training.reach(training_step(training) + 500), "a training that was paused continues", steps)
    send(signal.SIGTERM)(training)


def training_step(training):
    """The last step that was read."""
    return max(json.loads(line)["step"] for line in training.printed if line.startswith('{"step":'))


def failing():
    write_programs(12)
    said = hurt("rank 2 killed", "adam", 3, send(signal.SIGKILL, 2), "E_RANK_LOST", 2)
    check('"rank":"2"' in said and "SIGKILL" in said, "rank 2 killed: rank and reason are named", said)
    hurt("Ctrl-C to all ranks", "clip", 3, send(signal.SIGINT, everybody=True), "E_INTERRUPTED", 4)
    if SMALL:
        return
    hurt("rank 0 killed", "adam", 4, send(signal.SIGKILL), "E_RANK_LOST", 1)
    hurt("SIGTERM to rank 0", "dropout", 2, send(signal.SIGTERM), "E_INTERRUPTED", 3)
    said = hurt("a stopped rank", "adam", 3, send(signal.SIGSTOP, 1), "E_RANK_LOST", 2)
    check('"rank":"1"' in said and "SIGSTOP" in said, "a stopped rank: rank and reason are named", said)
    hurt("all stopped and continued, then SIGTERM", "adam", 3, pause_all, "E_INTERRUPTED", 2)
    ranks_are_confined()


def ranks_are_confined():
    """Every rank is in the sandbox, has no input, and holds nothing but sockets to the others."""
    training = Training("adam", 3)
    if not training.reach(3):
        return
    for pid in training.find_others():
        with open("/proc/%d/status" % pid) as status:
            fields = dict(line.split(":", 1) for line in status.read().splitlines())
        bound = fields["Seccomp"].strip() == "2" and fields["NoNewPrivs"].strip() == "1"
        check(bound, "a rank is confined", fields)
        opened = {int(number): os.readlink("/proc/%d/fd/%s" % (pid, number))
                  for number in os.listdir("/proc/%d/fd" % pid)}
        sockets = [path for path in opened.values() if path.startswith("socket:")]
        check(opened.get(0) == "/dev/null", "a rank has no input", opened)
        check(len(sockets) == 2, "a rank holds a socket for each other one", opened)
        check(not any("hurt" in path for path in opened.values()), "a rank does not hold the folder", opened)
    send(signal.SIGTERM)(training)
    training.end()


def kill_randomly(count):
    write_programs(12)
    choose = random.Random(int(os.environ.get("TERN_TEST_SEED", "18")))
    right = 0
    for i in range(count):
        before, name = failures, choose.choice(["dropout", "clip", "adam", "uneven"])
        ranks, again = choose.randrange(2, 6), choose.randrange(1, 6)
        how, training = f"kill {i}: {name}, {ranks} ranks", Training(name, ranks)
        if training.reach(choose.randrange(5, 200)):
            training.find_others()
            time.sleep(choose.random() * 0.02)
            send(signal.SIGKILL, choose.randrange(ranks))(training)
            _, errors = training.end()
            codes = training.codes(errors)
            check(codes == ["E_RANK_LOST"], f"{how}: one diagnostic", codes, errors, training.shown())
            resume(name, again, how)
        right += failures == before
    say(f"{right} of {count} right")


# ---- MPI ----

def has_mpi():
    folder = os.path.dirname(os.path.realpath(TERN))
    there = shutil.which("mpirun") and os.path.exists(os.path.join(folder, "libtern_mpi.so"))
    if not there:
        say("there is no mpirun, or tern was built without Open MPI: sockets only")
    return bool(there)


def rank_of(processes, rank):
    """The process that mpirun has given this rank."""
    for process in processes:
        with open(f"/proc/{process}/environ", "rb") as given:
            names = given.read().split(b"\0")
        if b"OMPI_COMM_WORLD_RANK=%d" % rank in names or b"SLURM_PROCID=%d" % rank in names:
            return process
    return check(False, f"rank {rank} is there")


def under_mpi():
    if not has_mpi():
        sys.exit(77)
    write_programs(12)
    for number in (signal.SIGTERM, signal.SIGINT):
        training = Training("adam", 3, mpi=True, more=("-q", "--log", "text"))
        wait_for(lambda: os.path.exists("hurt/checkpoint"), "a checkpoint is written under mpirun")
        send(number)(training)
        _, errors = training.end()
        saved = training.codes(errors) == ["E_INTERRUPTED"]
        check(saved, f"signal {number} to mpirun saves and ends", errors)
        resume("adam", 2, f"signal {number} to mpirun", mpi=True)
    for rank, number, reason in ((2, signal.SIGKILL, "its process is gone"),
                                 (0, signal.SIGKILL, "its process is gone"),
                                 (1, signal.SIGSTOP, "it is stopped (SIGSTOP)")):
        how = f"{number.name} to rank {rank} under mpirun"
        training = Training("adam", 3, mpi=True, more=("-q", "--log", "text"))
        wait_for(lambda: os.path.exists("hurt/history.jsonl"), "a checkpoint is written under mpirun")
        os.kill(rank_of(training.find_others(), rank), number)
        _, errors = training.end()
        named = f"rank {rank} on {os.uname().nodename} did: {reason}" in errors
        check(named and training.codes(errors) == ["E_RANK_LOST"], how, errors)
        resume("adam", 2, how, mpi=True)
    os.mkdir("elsewhere")
    with open("data.jsonl") as ours, open("elsewhere/data.jsonl", "w") as theirs:
        theirs.write(ours.read().replace("1", "2", 1))
    shutil.copy("adam.ail", "elsewhere")
    words = [TERN, "train", "adam.ail", "--allow", "fileread", "--json"]
    both = run(["mpirun", "-n", "1", *words, ":", "-n", "1", "-wdir", "elsewhere", *words])
    once = both.stdout.count('"ok":false') == 1
    check(once and "E_RANKS_DIFFER" in both.stdout and '"rank":"1"' in both.stdout,
          "data that differ are named", both.stdout, both.stderr)
    os.remove("elsewhere/data.jsonl")
    both = run(["mpirun", "-n", "1", *words, ":", "-n", "1", "-wdir", "elsewhere", *words])
    once = both.stdout.count('"ok":false') == 1
    check(once and "E_RANK_LOST" in both.stdout and "data.jsonl" in both.stdout,
          "a rank without the data says so", both.stdout, both.stderr)
    bound = run(["mpirun", "-n", "2", *words, "--sandbox", "require"])
    check("E_SANDBOX_UNAVAILABLE" in bound.stdout, "the sandbox cannot be required under MPI", bound.stdout)
    wrong = run(["mpirun", "-n", "2", TERN, "train", "adam.ail", "--ranks", "2"])
    check(wrong.stderr.count("error[E_USAGE]") == 1, "--ranks under mpirun is refused, once", wrong.stderr)


def over_network():
    """Two machines under mpirun, with packets that are late and get lost between them."""
    if not has_mpi():
        sys.exit(77)
    write_programs(12)
    for delay, loss in ((0.05, 0), (0, 0.01), (0.05, 0.01)):
        with places.TwoMachines(delay, loss) as network:
            how = f"4 ranks on two machines, {delay * 1000:.0f} ms, {loss:.0%} lost"
            many = answer(how, across(network, command("adam", 4, mpi=True)))
            check(many is None or many == alone("adam"), how + ": other bits than alone")
            say(f"{how}: {network.carried} packets, {network.lost} lost")
            check(network.carried > 100 and (network.lost > 0) == (loss > 0), how + ": packets went this way")
    with places.TwoMachines(0.05, 0.01) as network:
        lose_far(network)


def across(network, words):
    """An mpirun that divides its ranks between the machines of the network."""
    words[1:1] = ["--host", f"{network.near}:2,{network.far}:2", "--mca", "plm_rsh_agent", network.agent,
                  "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "tern0",
                  "--mca", "oob_tcp_if_include", "tern0"]
    return words


def lose_far(network):
    """A rank of the far machine is killed: the training ends, and its checkpoint resumes."""
    shutil.rmtree("hurt", ignore_errors=True)
    words = command("adam", 4, mpi=True, out="hurt", more=("-q", *FOREVER))
    training = subprocess.Popen(across(network, words), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                text=True, stdin=subprocess.DEVNULL, env=environment())
    wait_for(lambda: os.path.exists("hurt/history.jsonl"), "a checkpoint is written across machines")
    os.kill(rank_of(all_ranks(), 3), signal.SIGKILL)
    _, errors = training.communicate(timeout=HANGS)
    lost = errors.count("error[E_RANK_LOST]") + errors.count("error[E_INTERRUPTED]") == 1
    check(lost and training.returncode != 0, "a rank of the far machine is lost: one diagnostic", errors)
    resume("adam", 2, "a rank of the far machine is lost")


def all_ranks():
    """The processes that run this tern."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{entry}/exe") == os.path.realpath(TERN):
                found.append(int(entry))
        except OSError:
            pass  # it has ended, or is not ours
    return found


# ---- Slurm ----

def under_slurm():
    if not has_mpi():
        sys.exit(77)
    write_programs(12)
    with places.Slurm():
        for name, ranks in (("adam", 1), ("adam", 3), ("clip", 4), ("uneven", 5)):
            how = f"{name}: {ranks} ranks under srun"
            many = answer(how, srun(command(name, ranks, mpi=True)))
            check(many is None or many == alone(name), how + ": other bits than alone")
        end_by(lambda: run(["scancel", "--signal=TERM", "--user", str(os.geteuid())]), "E_INTERRUPTED",
               "SIGTERM by scancel")
        end_by(lambda: os.kill(rank_of(all_ranks(), 2), signal.SIGKILL), "E_RANK_LOST",
               "rank 2 under srun killed")


def srun(words):
    return ["srun", *words[1:]]


def end_by(action, code, how):
    """A training under srun, what ends it, its one diagnostic, and the rest of it."""
    shutil.rmtree("hurt", ignore_errors=True)
    words = srun(command("adam", 3, mpi=True, out="hurt", more=("-q", *FOREVER)))
    training = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                stdin=subprocess.DEVNULL, env=environment())
    wait_for(lambda: os.path.exists("hurt/history.jsonl"), how + ": a checkpoint is written")
    action()
    _, errors = training.communicate(timeout=HANGS)
    codes = [line.split("]")[0][6:] for line in errors.splitlines() if line.startswith("error[")]
    check(codes == [code] and training.returncode != 0, how + f": one diagnostic, {code}", errors)
    resume("adam", 2, how)


if __name__ == "__main__":
    TERN, what = os.path.abspath(sys.argv[1]), sys.argv[2]
    place = tempfile.mkdtemp(prefix="tern-ranks-")
    os.chdir(place)
    try:
        ways = {"bits": bits, "failures": failing, "all": all_ways, "mpi": under_mpi, "network": over_network,
                "slurm": under_slurm,
                "kills": lambda: kill_randomly(int(sys.argv[3]) if len(sys.argv) > 3 else 200)}
        ways[what]()
    except places.Unavailable as reason:
        say(f"not here: {reason}")
        sys.exit(77)
    finally:
        os.chdir("/")
        if not failures:
            shutil.rmtree(place)
    say(f"{what}: {failures} failures" + (f" (kept in {place})" if failures else ""))
    sys.exit(1 if failures else 0)
