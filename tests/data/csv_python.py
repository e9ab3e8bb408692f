"""Files that tern and Python's csv module read alike: fuzzed tables, whole and damaged.

  csv_python.py CSV_ROWS [COUNT]

Python is strict (csv.reader(strict=True)). Beyond that tern skips empty lines
and refuses rows of different lengths, which is checked too. Numbers are judged
by exact fractions: no other f32 may be nearer to the decimal.
"""
import csv, fractions, io, json, os, random, struct, subprocess, sys, tempfile

PIECES = ["a", "b", "word", "\u00e4", "\u20ac", "\U0001f600", " ", "\t", "'", "1", "-2.5", ";", "|"]


def cell(rng):
    text = "".join(rng.choice(PIECES + [",", '"', "\n", "\r\n", "\r"]) for _ in range(rng.randrange(5)))
    kind = rng.randrange(10)
    if kind < 5:
        return '"' + text.replace('"', '""') + '"'
    plain = "".join(c for c in text if c not in '\n\r,"')
    return plain + '"' * (kind == 9 and plain != "")


def table(rng, delimiter):
    width = rng.randrange(1, 5)
    end = rng.choice(["\n", "\r\n", "\r"])
    rows = [[cell(rng).replace(",", delimiter) for _ in range(width)] for _ in range(rng.randrange(1, 6))]
    text = "".join(delimiter.join(row) + end * rng.choice([1, 1, 1, 2]) for row in rows)
    return text if rng.randrange(3) else text.rstrip("\r\n")


def damage(rng, text):
    letters = list(text)
    for _ in range(rng.randrange(1, 4)):
        place = rng.randrange(len(letters) + 1)
        if rng.randrange(2) and letters:
            del letters[place - 1]
        else:
            letters.insert(place, rng.choice(['"', '"', ",", "\n", "\r", "x"]))
    return "".join(letters)


def python_reads(text, delimiter):
    """The rows, or None where Python refuses the text."""
    lines = io.StringIO(text, newline="")
    try:
        rows = [row for row in csv.reader(lines, delimiter=delimiter, strict=True) if row]
    except csv.Error:
        return None
    return rows


def expected(text, delimiter):
    rows = python_reads(text, delimiter)
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        return None
    return rows


def run(program, kind, delimiter, paths):
    done = subprocess.run([program, kind, delimiter] + paths, capture_output=True, check=True)
    return [json.loads(line) for line in done.stdout.split(b"\n") if line]


def compare_tables(program, folder, count, delimiter):
    rng = random.Random(17 + ord(delimiter))
    texts = [table(rng, delimiter) for _ in range(count)]
    texts += [damage(rng, text) for text in texts if text]
    paths = []
    for i, text in enumerate(texts):
        paths.append(os.path.join(folder, "%s%d" % (ord(delimiter), i)))
        with open(paths[-1], "wb") as file:
            file.write(text.encode())
    agreed = refused = 0
    for text, answer in zip(texts, run(program, "text", delimiter, paths)):
        rows = expected(text, delimiter)
        if answer.get("rows") != rows:
            sys.exit("differs for %r:\n  Python %r\n  tern   %r" % (text, rows, answer))
        agreed, refused = agreed + (rows is not None), refused + (rows is None)
    return agreed, refused


def f32_neighbours(number):
    bits = struct.unpack("<i", struct.pack("<f", number))[0]
    for other in (bits - 1, bits + 1):
        try:
            yield struct.unpack("<f", struct.pack("<i", other))[0]
        except struct.error:
            pass


def decimal(rng):
    form = rng.randrange(8)
    if form == 0:
        return str(rng.randrange(-10 ** rng.randrange(1, 12), 10 ** 12))
    if form == 1:
        return repr(rng.uniform(-100, 100))
    if form == 2:
        return "%.*f" % (rng.randrange(1, 9), rng.gauss(0, 10 ** rng.randrange(-3, 8)))
    if form == 3:
        return "%.*e" % (rng.randrange(0, 18), rng.gauss(0, 1) * 10.0 ** rng.randrange(-30, 30))
    if form == 6:
        return str(rng.randrange(-9, 100))
    halfway = struct.unpack("<f", struct.pack("<I", rng.randrange(0x3f000000, 0x4f000000)))[0]
    if form == 7:   # 17 to 19 digits, a unit of the last from a midpoint, or on it
        digits = ("%.30f" % (halfway * (1 + 2.0 ** -24))).lstrip("-0.")[:20]
        cut = digits[:rng.randrange(18, 21)]
        return cut[:-1] + rng.choice([cut[-1], "0", "9"])
    return "%.30f" % (halfway * (1 + 2.0 ** -24)) if form == 4 else "%.8g" % halfway


def compare_numbers(program, folder, count):
    rng = random.Random(5)
    texts = [[decimal(rng) for _ in range(8)] for _ in range(count)]
    path = os.path.join(folder, "numbers")
    with open(path, "w") as file:
        file.write("\n".join(",".join(row) for row in texts) + "\n")
    rows = run(program, "f32", ",", [path])[0]["rows"]
    for text, number in zip(sum(texts, []), sum(rows, [])):
        number = struct.unpack("<f", struct.pack("<f", number))[0]   # printed in as few digits as an f32 needs
        exact = fractions.Fraction(text)
        error = abs(fractions.Fraction(number) - exact)
        for other in f32_neighbours(number):
            if other == other and abs(other) < 2 ** 128 and abs(fractions.Fraction(other) - exact) < error:
                sys.exit("%s was read as %r; %r is nearer" % (text, number, other))
    return len(sum(texts, []))


def main():
    program, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 400
    with tempfile.TemporaryDirectory() as folder:
        for delimiter in ",;\t":
            agreed, refused = compare_tables(program, folder, count, delimiter)
            assert agreed > count / 2 and refused > count / 10, (agreed, refused)
            print("delimiter %r: %d files with the same rows, %d refused by both" % (delimiter, agreed, refused))
        print("%d numbers are the nearest f32" % compare_numbers(program, folder, count))


main()
