"""Trainings on a table are those on the same numbers prepared by Python, in every format of tables.

  csv_training.py TERN

Python fills missing values and normalizes in f64, from the rows for training
alone, and writes the results as f32; a training on that file must end with the
weights of one that lets tern do it. The raw rows stand in CSV, in TSV with a
header, and in JSONL with keys in any order.
"""
import json, math, os, random, struct, subprocess, sys, tempfile

PROGRAM = """model {
  x [B, 3]
  y [B]
  param W [3, 1]
  p = reshape(matmul(x, W), [@0])
}
train { loss = mse_loss(p, y) steps = 5 lr = 0.01 }
dataset { format = "%s" path = "%s" x = ["a", "b", "c"] y = "target" split = 0.75 %s }
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


NAMES = ["a", "b", "c", "target"]


def write_table(file, rows, delimiter):
    file.write(delimiter.join(NAMES) + "\n")
    for row in rows:
        file.write(delimiter.join("" if v is None else repr(v) for v in row) + "\n")


def write_objects(file, rows):
    rng = random.Random(1)
    for row in rows:
        members = [m for m in zip(NAMES, row) if m[1] is not None or rng.randrange(2)]
        file.write(json.dumps(dict(rng.sample(members, len(members)), other=[{"a": 1}])) + "\n")


def write(path, rows):
    with open(path, "w") as file:
        if path.endswith(".jsonl"):
            write_objects(file, rows)
        else:
            write_table(file, rows, "\t" if path.endswith(".tsv") else ",")


def weights(tern, folder, name, fields):
    path = os.path.join(folder, "model.ail")
    with open(path, "w") as file:
        file.write(PROGRAM % (name.split(".")[1], os.path.join(folder, name), fields))
    command = [tern, "train", path, "--allow", "fileread", "--json"]
    answer = json.loads(subprocess.run(command, capture_output=True).stdout)
    if not answer["ok"]:
        sys.exit("%s: %r" % (name, answer["diagnostics"]))
    return answer["weights_sha256"]


RAW = ["raw.csv", "raw.tsv", "raw.jsonl"]


def main():
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(6):
            rows = rows_of(random.Random(seed), 8 + 5 * seed)
            for name in RAW:
                write(os.path.join(folder, name), rows)
            fields, normalize = ('missing = "mean" normalize = [x, y]', True) if seed % 2 else ('missing = "mean"', False)
            prepare(rows, int(len(rows) * 0.75), range(4), normalize)
            write(os.path.join(folder, "prepared.csv"), rows)
            theirs = weights(sys.argv[1], folder, "prepared.csv", "")
            for name in RAW:
                if weights(sys.argv[1], folder, name, fields) != theirs:
                    sys.exit("%s, seed %d, %s: the weights differ" % (name, seed, fields))
    print("6 trainings of each format are the same to the bit")


main()
