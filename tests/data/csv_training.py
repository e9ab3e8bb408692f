"""Trainings on a CSV file are those on the same numbers prepared by Python.

  csv_training.py TERN

Python fills missing values and normalizes in f64, from the rows for training
alone, and writes the results as f32; a training on that file must end with the
weights of one that lets tern do it.
"""
import json, math, os, random, struct, subprocess, sys, tempfile

PROGRAM = """model {
  x [B, 3]
  y [B]
  param W [3, 1]
  p = reshape(matmul(x, W), [@0])
}
train { loss = mse_loss(p, y) steps = 5 lr = 0.01 }
dataset { format = "csv" path = "%s" x = 0-2 y = "target" split = 0.75 %s }
"""


def f32(number):
    return struct.unpack("<f", struct.pack("<f", number))[0]


def rows_of(rng, count):
    def cell(column):
        if column == 1 and rng.randrange(6) == 0:
            return None
        return 7.0 if column == 2 else f32(round(rng.gauss(20 * column, 3), 3))
    return [[cell(c) for c in range(4)] for _ in range(count)]


def prepare(rows, train, columns, normalize):
    for c in columns:
        known = [r[c] for r in rows[:train] if r[c] is not None]
        mean = sum(known) / len(known)
        for r in rows:
            r[c] = f32(mean) if r[c] is None else r[c]
        if not normalize:
            continue
        values = [r[c] for r in rows[:train]]
        mean = sum(values) / len(values)
        deviation = math.sqrt(sum((v - mean) * (v - mean) for v in values) / len(values)) or 1.0
        for r in rows:
            r[c] = f32((r[c] - mean) / deviation)


def write(path, rows):
    with open(path, "w") as file:
        file.write("a,b,c,target\n")
        for row in rows:
            file.write(",".join("" if v is None else repr(v) for v in row) + "\n")


def weights(tern, folder, name, fields):
    path = os.path.join(folder, name + ".ail")
    with open(path, "w") as file:
        file.write(PROGRAM % (os.path.join(folder, name + ".csv"), fields))
    command = [tern, "train", path, "--allow", "fileread", "--json"]
    answer = json.loads(subprocess.run(command, capture_output=True).stdout)
    if not answer["ok"]:
        sys.exit("%s: %r" % (name, answer["diagnostics"]))
    return answer["weights_sha256"]


def main():
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(6):
            rows = rows_of(random.Random(seed), 8 + 5 * seed)
            write(os.path.join(folder, "raw.csv"), rows)
            fields, normalize = ('missing = "mean" normalize = [x, y]', True) if seed % 2 else ('missing = "mean"', False)
            prepare(rows, int(len(rows) * 0.75), range(4), normalize)
            write(os.path.join(folder, "prepared.csv"), rows)
            ours, theirs = weights(sys.argv[1], folder, "raw", fields), weights(sys.argv[1], folder, "prepared", "")
            if ours != theirs:
                sys.exit("seed %d, %s: the weights differ" % (seed, fields))
    print("6 trainings are the same to the bit")


main()
