"""Words and characters of texts are those that Python finds, and so is the vocabulary.

  words_python.py TERN

Python cuts random texts by the categories of Unicode, builds the vocabulary from
the rows for training and writes the numbers; a training on these must end with
the weights of one that reads the texts.
"""
import collections, csv, json, os, random, subprocess, sys, tempfile, unicodedata

PROGRAM = """model {
  tokens [B, 6]
  labels [B]
  param E [%d, 3]
  param W [3, 2]
  logits = matmul(meanpool(embedding(tokens, E)), W)
}
train { loss = xent(logits, labels) steps = 4 }
dataset { format = "csv" path = "%s" tokens = %s labels = "label" split = 0.7 }
"""
LETTERS = "abcABCxyz\u00e4\u00f6\u0301\u03b1\u03a9\u0436\u0416\u0915\u093f\u4e2d\u6587\u30ab_019\u0663\u00b2\u2167"
OTHERS = ",.!?'\"-+$#@\u20ac\u00bf\u2026\u3002\U0001f600\u200d\u00ad"
SPACES = " \t\n\u00a0\u2003\u3000"


def text(rng):
    return "".join(rng.choice(rng.choice([LETTERS, LETTERS, LETTERS, OTHERS, SPACES])) for _ in range(rng.randrange(1, 14)))


def words(line):
    found, run = [], ""
    for c in line + " ":
        if c == "_" or unicodedata.category(c)[0] in "LNM":
            run += c
            continue
        found += [run] if run else []
        run = ""
        found += [] if c.isspace() else [c]
    return found


def numbers(rows, train, cut, size):
    counts = collections.Counter(token for line in rows[:train] for token in cut(line))
    order = sorted(counts, key=lambda token: (-counts[token], token.encode()))[:size - 2]
    place = {token: i + 2 for i, token in enumerate(order)}
    encoded = [[place.get(token, 1) for token in cut(line)][:6] for line in rows]
    return order, [row + [0] * (6 - len(row)) for row in encoded]


def train(tern, folder, name, tokens, size):
    path = os.path.join(folder, name + ".ail")
    with open(path, "w") as file:
        file.write(PROGRAM % (size, os.path.join(folder, name + ".csv"), tokens))
    out = os.path.join(folder, name)
    answer = subprocess.run([tern, "train", path, "--allow", "fileread", "--json", "--out", out,
                             "--store", os.path.join(folder, "runs.db")], capture_output=True).stdout
    answer = json.loads(answer)
    if not answer["ok"]:
        sys.exit("%s: %r" % (name, answer["diagnostics"]))
    with open(os.path.join(out, "data.json")) as file:
        return answer["weights_sha256"], json.load(file)["inputs"][0]


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(header + ["label"])
        for i, row in enumerate(rows):
            table.writerow(row + [i % 2])


def compare(tern, folder, seed, name, cut):
    rng = random.Random(seed)
    rows = [text(rng) for _ in range(20 + 10 * seed)]
    size = rng.choice([8, 20, 500])
    write(os.path.join(folder, "texts.csv"), ["text"], [[row] for row in rows])
    order, encoded = numbers(rows, int(len(rows) * 0.7), cut, size)
    write(os.path.join(folder, "numbers.csv"), list("abcdef"), encoded)
    ours, facts = train(tern, folder, "texts", '%s("text", size=%d)' % (name, size), size)
    if facts["vocabulary"] != order:
        sys.exit("seed %d: %s: the vocabulary is %r, and Python's is %r" % (seed, name, facts["vocabulary"], order))
    if ours != train(tern, folder, "numbers", "0-5", size)[0]:
        sys.exit("seed %d: %s: the weights differ" % (seed, name))


def main():
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(6):
            compare(sys.argv[1], folder, seed, "words", words)
            compare(sys.argv[1], folder, seed, "chars", list)
    print("12 trainings have the words and characters that Python finds")


main()
