"""Every promise of docs/security.md about files and the clock, attacked by at least 20 programs.

    promises.py TERN [-v]

An attack is a command in a folder of its own, beside files that were not named. It has got through when what it
tried worked (status 0), when a word of those files is in what was printed or written, when anything changed
outside of what the command line names, or when tern ended in another way than with status 0, 1 or 2. Then the
same is tried with the right that was missing, to know that the attack is one: what does not work then either
shows nothing, and is not counted. Controls must work.
"""
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile

TERN = os.path.abspath(sys.argv[1])
VERBOSE = "-v" in sys.argv
LEAST = 20
SECRET = "canary-7f3a91"

MODEL = """model {
  x [B, 2]
  labels [B]
  param W [2, 2]
  logits = matmul(x, W)
}
train { loss = xent(logits, labels) steps = 3 lr = 0.1 batch = 2 }
dataset { format = "jsonl" path = "%s" tokens = "x" labels = "label" }
"""
ROWS = '{"x":[0,1],"label":0}\n{"x":[1,0],"label":1}\n{"x":[0,2],"label":0}\n{"x":[2,0],"label":1}\n'


def lay_out(root):
    """work/ is where commands run; outside/ must not be touched."""
    outside, work = root / "outside", root / "work"
    for folder in (outside / "deep", work / "data", work / "room" / "deep"):
        folder.mkdir(parents=True)
    (outside / "secret").write_text(SECRET + "\n")
    (outside / "secret.jsonl").write_text(ROWS)
    (outside / "mod.mind").write_text(f'let leak = "{SECRET}"\nexport {{ leak }}\n')
    (outside / ".env").write_text(f'TOKEN = "{SECRET}"\n')
    (outside / "set").write_text("old\n")
    for folder in (work / "data", work / "room", work):
        (folder / "own").write_text("own\n")
        (folder / "rows.jsonl").write_text(ROWS)
    (work / "link").symlink_to("../outside")
    (work / "room" / "up").symlink_to("..")
    (work / "room" / "away").symlink_to(outside)
    (work / "room" / "secret").symlink_to("../../outside/secret")
    (work / "room" / "secret.jsonl").symlink_to("../../outside/secret.jsonl")
    (work / "room" / "chain").symlink_to("secret")
    (work / "room" / "chain.jsonl").symlink_to("secret.jsonl")
    (work / "roommate").mkdir()
    (work / "roommate" / "secret").write_text(SECRET + "\n")
    (work / "roommate" / "secret.jsonl").write_text(ROWS)
    return work


def snapshot(root, open_to):
    """Everything but the folders that a command may write in."""
    seen = {}
    for folder, names, files in os.walk(root):
        names[:] = [n for n in names if os.path.join(folder, n) not in open_to]
        for name in names + files:
            path = os.path.join(folder, name)
            about = os.lstat(path)
            plain = stat.S_ISREG(about.st_mode)
            content = pathlib.Path(path).read_bytes() if plain else os.readlink(path) if stat.S_ISLNK(about.st_mode) else b""
            seen[path] = (about.st_mode, content)
    return seen


def leaks(root, output):
    if SECRET.encode() in output:
        return "a secret is in the output"
    for folder, _, files in os.walk(root / "work"):
        for name in files:
            path = pathlib.Path(folder, name)
            if not path.is_symlink() and path.name != "secret" and SECRET.encode() in path.read_bytes():
                return f"a secret is in {path.name}"
    return None


class Attack:
    """files: what lies in work/. writes: folders in work/ that the command line names. granted: words that
    give the missing right; None: there is no such right."""

    def __init__(self, words, files=(), writes=(), granted=None, links=(), modes=(), works=False):
        self.words, self.files, self.writes, self.granted = words, dict(files), writes, granted
        self.links, self.modes, self.works = dict(links), dict(modes), works

    def run(self, more=()):
        """(status, what got through or None)"""
        with tempfile.TemporaryDirectory(prefix="tern-promise-") as name:
            root = pathlib.Path(name).resolve()
            work = lay_out(root)
            fill = lambda text: str(text).replace("ROOT", str(root))
            for path, text in self.files.items():
                (work / path).parent.mkdir(parents=True, exist_ok=True)
                (work / path).write_text(fill(text))
            for path, target in self.links.items():
                (work / path).parent.mkdir(parents=True, exist_ok=True)
                (work / path).symlink_to(fill(target))
            for path, mode in self.modes.items():
                (work / path).chmod(mode)
            open_to = {str(work / folder) for folder in self.writes} | {str(root / "home")}  # tern's own history
            before = snapshot(root, open_to)
            done = subprocess.run([TERN, *map(fill, self.words), "--sandbox=require", *map(fill, more)], cwd=work,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
                                  env={"HOME": str(root / "home"), "PATH": "/usr/bin:/bin", "SECRET": SECRET})
            after = snapshot(root, open_to)
            got = leaks(root, done.stdout + done.stderr)
            changed = [p for p in sorted(set(before) | set(after)) if before.get(p) != after.get(p)]
            if changed:
                got = f"{changed[0]} has changed"
            for folder in open_to:
                for path in pathlib.Path(folder).rglob("*"):
                    if path.lstat().st_mode & 0o7000 and not path.is_symlink():
                        got = f"{path.name} has mode {path.lstat().st_mode:o}"
            if done.returncode not in (0, 1, 2):
                got = f"status {done.returncode}"
            return done.returncode, got, done.stdout + done.stderr


# ---- programs that read ----

OUTSIDE = ["../outside/secret", "ROOT/outside/secret", "link/secret", "data/../../outside/secret", "room/secret"]

MIND = [
    ('print(read("%s"))', "run"),
    ('let p = "%s"\nprint(read(p))', "run"),
    ('fn f(s: string) -> string !fileread = read(s)\nprint(f("%s"))', "run"),
    ('let f = |p| read(p)\nprint(f("%s"))', "run"),
    ('print(if 2 > 1 { "%s".read() } else { "" })', "run"),
]
AIL = [
    ('model {\n  y = read_file_text("%s")\n}\n', ["run"]),
    ('model {\n  x [2]\n  y = if sum(x) > -9 then read_file_text("%s") else read_file_text("%s")\n}\n', ["run"]),
    ('fn f(x) {\n  x + sum(read_file_text("%s"))\n}\nmodel {\n  x [2]\n  y = f(x)\n}\n', ["run"]),
    ('state { n: float = 0.0 }\non start { n = sum(read_file_text("%s")) }\n', ["app"]),
]


def of_mind(text, path, *words, **more):
    return Attack(["run", "p.mind", *words], {"p.mind": text.replace("%s", path) + "\n"}, **more)


def of_ail(text, verb, path, *words, **more):
    events = ["--event", "start"] if verb == ["app"] else []
    return Attack([*verb, "p.ail", *events, *words], {"p.ail": text.replace("%s", path)}, **more)


def of_data(path, *words, **more):
    return Attack(["train", "p.ail", *words], {"p.ail": MODEL % path}, **more)


def readers(paths, *words, **more):
    for path in paths:
        yield from (of_mind(text, path, *words, **more) for text, _ in MIND)
        yield from (of_ail(text, verb, path, *words, **more) for text, verb in AIL)
        yield of_data(path.replace("own", "rows") + ".jsonl", *words, **more)


def nothing_is_read():
    yield from readers(OUTSIDE, granted=["--allow", "fileread"])
    yield from readers(["own"], granted=["--allow", "fileread"])
    for text in ('read("%s")', 'let t = ("%s", 1)\nprint(read(t.0))'):
        yield from (Attack(["eval", text.replace("%s", p)], granted=["--allow", "fileread"]) for p in OUTSIDE)


def only_what_is_opened():
    """The path is the contents of a file; the text names it only where it is not opened."""
    decoys = ['print(read(read("pointer")))', 'let decoy = "%s"\nprint(read(read("pointer")))',
              'print("%s" == "x", read(read("pointer")))', '// "%s"\nprint(read(read("pointer")))',
              'fn f(s: string) -> string = s\nprint(f("%s") == "", read(read("pointer")))',
              'print("%s", read(read(read("first"))))']
    for path in OUTSIDE[:2] + OUTSIDE[3:4] + ["/etc/hostname", "own"]:
        for text in decoys:
            shown = text.replace("%s", path.replace("secret", "decoy") if "print(\"%s\"," in text else path)
            yield Attack(["run", "p.mind", "--allow", "fileread"], {"p.mind": shown + "\n", "pointer": path, "first": "pointer"},
                         granted=["--sandbox=off"])


def folders_end():
    ways = ["../outside/secret", "ROOT/outside/secret", "room/../../outside/secret", "room/secret", "room/chain",
            "room/away/secret", "room/up/../outside/secret", "link/secret", "roommate/secret", "room/up/link/secret",
            "room/deep/../../../outside/secret"]
    for path in ways:
        yield of_mind(MIND[0][0], path, "--allow", "fileread=room", granted=["--allow", "fileread"])
        yield of_ail(*AIL[0], path, "--allow", "fileread=room", granted=["--allow", "fileread"])
        yield of_data(path + ".jsonl", "--allow", "fileread=room", granted=["--allow", "fileread"])
    for folder in ("data", "room/deep", "roommate"):
        yield of_mind(MIND[2][0], "room/../own", "--allow", f"fileread={folder}", granted=["--allow", "fileread"])


def imports_stay():
    """A module that is a link, in a folder that is one, or above the program."""
    kinds = [({"m.mind": "../outside/mod.mind"}, "m"), ({"m.mind": "ROOT/outside/mod.mind"}, "m"),
             ({"sub": "../outside"}, "sub.mod"), ({"sub": "ROOT/outside"}, "sub.mod"),
             ({"m.mind": "n.mind", "n.mind": "../outside/mod.mind"}, "m"), ({"m.mind": "../outside/.env"}, "m"),
             ({"m.mind": "../outside/secret"}, "m")]
    for links, name in kinds:
        short = name.split(".")[-1]
        program = f"import {name}\nprint({short}.leak)\n"
        for words in (["run", "p.mind"], ["check", "p.mind"], ["emit", "p.mind", "--as", "graph"], ["run", "p.mind", "--json"]):
            yield Attack(words, {"p.mind": program}, links=links)
        yield Attack(["eval", program], links=links)


def the_clock_is_closed():
    mind = ["print(now())", "let t = now()\nprint(t)", "fn f(x: f64) -> f64 !clock = x + now()\nprint(f(1.0))",
            "print(if 2 > 1 { now() } else { 0.0 })", "print(now() - now())", "let f = |x| x + now()\nprint(f(1.0))"]
    ail = ["model {\n  y = now()\n}\n", "model {\n  x [2]\n  y = x + now()\n}\n", "fn f(x) {\n  x + now()\n}\nmodel {\n  x [2]\n  y = f(x)\n}\n",
           "model {\n  x [2]\n  y = if sum(x) > -9 then now() else 0\n}\n", "model {\n  y = 0 * now()\n}\n"]
    for text in mind:
        yield Attack(["run", "p.mind"], {"p.mind": text + "\n"}, granted=["--allow", "clock"])
        yield Attack(["eval", text], granted=["--allow", "clock"])
    for text in ail:
        yield Attack(["run", "p.ail"], {"p.ail": text}, granted=["--allow", "clock"])
        yield Attack(["run", "p.ail", "--allow", "fileread"], {"p.ail": text}, granted=["--allow", "clock"])
    for event in ("start", "tick"):
        yield Attack(["app", "p.ail", "--event", event], {"p.ail": "state { n: float = 0.0 }\non %s { n = now() }\n" % event},
                     granted=["--allow", "clock"])
    yield Attack(["train", "p.ail", "--allow", "fileread"],
                 {"p.ail": (MODEL % "rows.jsonl").replace("xent(logits, labels)", "xent(logits, labels) + 0 * now()")},
                 granted=["--allow", "clock"])


def writing_stays():
    """Whether the command succeeds does not matter: nothing outside changes, and no file gets rights."""
    train = ["train", "p.ail", "--allow", "fileread=."]
    files = {"p.ail": MODEL % "rows.jsonl"}
    for target in ("../../outside/set", "ROOT/outside/set", "../p.ail", "../../outside/new"):
        for name in ("weights.safetensors", "run.json", "history.jsonl", "checkpoint"):
            yield Attack([*train, "--out", "out"], files, writes=["out"], links={"out/" + name: target}, works=True)
    yield Attack([*train, "--out", "out"], files, writes=["out"], links={"out/deep": "../../outside"}, works=True)
    for name in ("weights.safetensors", "run.json", "history.jsonl", "checkpoint"):
        yield Attack([*train, "--out", "out"], {**files, "out/" + name: "old"}, writes=["out"],
                     modes={"out/" + name: 0o6755}, works=True)
    for target in ("../outside/set", "ROOT/outside/set", "../outside/new"):
        yield Attack(["fmt", "l.mind"], links={"l.mind": target}, works=True)
        yield Attack(["emit", "p.mind", "--as", "graph", "-o", "l.txt"], {"p.mind": "sum([1, 2])\n"}, links={"l.txt": target}, works=True)
    for words in (["check", "p.mind"], ["run", "p.mind"], ["run", "p.mind", "--allow", "filewrite"],
                  ["run", "p.mind", "--allow", "filewrite=room"], ["fmt", "--check", "p.mind"], ["fmt", "--diff", "p.mind"],
                  ["emit", "p.mind", "--as", "graph"], ["emit", "p.mind", "--as", "onnx", "-o", "none/x.onnx"],
                  ["train", "p.mind"], ["verify", "room"], ["plot", "room"], ["runs", "--store", "room/none.db"]):
        yield Attack(words, {"p.mind": "let   x = [1, 2]\nprint( x )\n"}, works=True)
    for mode in (0o4755, 0o2755, 0o6777):
        yield Attack(["fmt", "m/p.mind"], {"m/p.mind": "let   x=1\nprint(x)\n"}, writes=["m"], modes={"m/p.mind": mode}, works=True)


CONTROLS = [
    of_mind(MIND[0][0], "own", "--allow", "fileread"), of_mind(MIND[0][0], "room/own", "--allow", "fileread=room"),
    of_ail(*AIL[0], "room/up/own", "--allow", "fileread=."), of_data("rows.jsonl", "--allow", "fileread=."),
    of_data("room/rows.jsonl", "--allow", "fileread=room"),
    Attack(["run", "p.mind"], {"p.mind": "import sub.m\nprint(m.y)\n", "sub/m.mind": "let y = 1\nexport { y }\n"}),
    Attack(["train", "p.ail", "--allow", "fileread=.", "--out", "out"], {"p.ail": MODEL % "rows.jsonl"}, writes=["out"]),
    Attack(["fmt", "m/p.mind"], {"m/p.mind": "let   x=1\nprint(x)\n"}, writes=["m"]),
]

PROMISES = [
    ("without a grant no file is read", nothing_is_read),
    ("with fileread only what the program opens is read", only_what_is_opened),
    ("with fileread=DIR nothing is read that does not lie beneath DIR", folders_end),
    ("imports stay in the folder of the program", imports_stay),
    ("nothing is written but what the command line names, and no rights are given", writing_stays),
    ("without clock no operation gives the time", the_clock_is_closed),
]


def try_all(name, attacks):
    """(counted, through)"""
    counted = through = shows_nothing = 0
    for attack in attacks:
        status, got, output = attack.run()
        if not got and status == 0 and not attack.works:
            got = "it worked"
        if got:
            through += 1
            print(f"GOT THROUGH: {name}: {' '.join(map(str, attack.words))}: {got}\n{attack.files}")
        if attack.granted and attack.run(attack.granted)[0] != 0:
            shows_nothing += 1
            if VERBOSE:
                print("shows nothing:", attack.words, attack.files, output.decode(errors="replace")[:300])
            continue
        counted += 1
    print(f"{name}: {counted} programs, {through} got through" +
          (f"; {shows_nothing} do not work with the grant either" if shows_nothing else ""))
    return counted, through


def main():
    facts = subprocess.run([TERN, "eval", "1", "--sandbox=require"], capture_output=True)
    if facts.returncode != 0:
        print("this kernel or this build cannot enforce the sandbox: nothing to test")
        return 77
    bad = 0
    for control in CONTROLS:
        status, got, output = control.run()
        if status != 0 or got:
            bad += 1
            print("CONTROL:", control.words, status, got, output.decode(errors="replace")[:400])
    total = 0
    for name, attacks in PROMISES:
        counted, through = try_all(name, list(attacks()))
        total += counted
        bad += through + (counted < LEAST)
    print(f"{len(PROMISES)} promises, {total} programs, {len(CONTROLS)} controls, {bad} bad")
    return bad > 0


sys.exit(main())
