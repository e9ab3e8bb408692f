"""How cost grows: steps per second against model size and batch, memory against graph size, time to compile
against length. Measured through bench_tern on programs that are written here; drawn as one SVG."""
import math
import os
import statistics

import report


def mlp(width, batch):
    return (f"graph(%x: f32[{batch}, {width}], %labels: i32[{batch}], param %W1: f32[{width}, {width}], "
            f"param %b1: f32[{width}], param %W2: f32[{width}, 10], param %b2: f32[10]) {{\n"
            "  %1 = linear %x, %W1, %b1\n  %2 = relu %1\n  %3 = linear %2, %W2, %b2\n"
            "  %4 = cross_entropy %3, %labels\n  return loss=%4\n}\n")


def chain(length):
    """Each result is needed again at the end, so that none can be forgotten early."""
    lines = ["graph(%x: f32[16]) {"]
    before = "%x"
    for i in range(1, length + 1):
        lines.append(f"  %{i} = {'tanh' if i % 2 else 'sin'} {before}")
        before = f"%{i}"
    return "\n".join(lines + [f"  return {before}", "}"]) + "\n"


def mind(lines):
    return "let a0 = 1\n" + "".join(f"let a{i} = a{i - 1} + {i % 7}\n" for i in range(1, lines - 1)) + f"a{lines - 2}\n"


def ninth(lines):
    return "0\n" + "".join(f"{i % 7} [ADD]\n" for i in range(lines - 1))


def ail(lines):
    body = "".join(f"  h{i} = relu(h{i - 1})\n" for i in range(1, lines - 3))
    return f"model {{\n  x [4, 8]\n  h0 = relu(x)\n{body}}}\n"


def unrolled(times):
    return f"model {{\n  x [4, 8]\n  y = repeat {times} times init x do\n    relu(y)\n  end\n}}\n"


WRITERS = {"MIND": (mind, ".mind"), "Ninth": (ninth, ".nth"), "AILang": (ail, ".ail")}


class Curve:
    def __init__(self, title, across, up):
        self.title, self.across, self.up, self.lines = title, across, up, []


class Curves:
    def __init__(self):
        self.curves, self.results = [], []

    def write_svg(self, path):
        with open(path, "w") as f:
            f.write(draw(self.curves))


def ask(side, folder, name, text, request, seconds, rounds):
    path = os.path.join(folder, name)
    with open(path, "w") as f:
        f.write(text)
    kind, *rest = request.split()
    samples = [side.ask(" ".join([str(seconds), kind, path] + rest)) for _ in range(rounds)]
    side.drop()
    return samples


def measure(build, here, Side, quick):
    folder = os.path.join(build, "bench", "growth")
    os.makedirs(folder, exist_ok=True)
    seconds, rounds = (0.01, 3) if quick else (0.1, 5)
    curves = Curves()
    one = Side([os.path.join(build, "bench", "bench_tern"), "1", "."], 1)

    steps = Curve("training: steps per second", "weights of a hidden layer, or rows of a batch", "steps/s")
    sizes = (8, 32, 128, 512) if quick else (8, 16, 32, 64, 128, 256, 512, 1024, 2048)
    steps.lines.append(("batch 32, by weights", [
        (w * w, 1 / statistics.median(ask(one, folder, f"mlp{w}.graph", mlp(w, 32), "train labels=10", seconds, rounds)))
        for w in sizes]))
    batches = (1, 16, 256) if quick else (1, 4, 16, 64, 256, 1024)
    steps.lines.append(("width 128, by rows", [
        (b, 1 / statistics.median(ask(one, folder, f"rows{b}.graph", mlp(128, b), "train labels=10", seconds, rounds)))
        for b in batches]))
    curves.curves.append(steps)

    memory = Curve("memory of a session", "operations in the graph", "bytes")
    lengths = (10, 100, 1000, 10000)
    memory.lines.append(("a chain of operations", [
        (n, ask(one, folder, f"chain{n}.graph", chain(n), "memory", 0, 1)[0]) for n in lengths]))
    curves.curves.append(memory)

    compiling = Curve("parse, check, lower", "lines", "seconds")
    counts = (100, 1000, 10000) if quick else (100, 1000, 10000, 100000)
    for language, (write, ending) in WRITERS.items():
        points = []
        for n in counts:
            samples = ask(one, folder, f"lines{n}{ending}", write(n), "check", 0.01, rounds)
            points.append((n, statistics.median(samples)))
            if n == 100000:
                curves.results.append(report.Result("k", f"check 100,000 lines of {language}", 1, "100 ms", samples))
        compiling.lines.append((language, points))
    samples = ask(one, folder, "unrolled.ail", unrolled(10000), "check", 0.01, rounds)
    curves.results.append(report.Result("k", "check a loop of 10,000 iterations, unrolled (AILang)", 1, "1 s", samples))
    curves.curves.append(compiling)
    one.close()
    return curves


# ---- drawing ----

COLOURS = ("#1f77b4", "#d62728", "#2ca02c")
WIDTH, HEIGHT, LEFT, TOP = 300, 200, 62, 34


def decades(points):
    values = [v for v in points if v > 0]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def power(n):
    return {0: "1", 1: "10", 2: "100", 3: "1000"}.get(n, f"10<tspan dy='-4' font-size='7'>{n}</tspan>")


def draw_one(curve, x0):
    all_points = [p for _, points in curve.lines for p in points]
    x_low, x_high = decades([p[0] for p in all_points])
    y_low, y_high = decades([p[1] for p in all_points])

    def place(point):
        x = x0 + LEFT + WIDTH * (math.log10(point[0]) - x_low) / (x_high - x_low)
        y = TOP + HEIGHT * (1 - (math.log10(point[1]) - y_low) / (y_high - y_low))
        return f"{x:.1f},{y:.1f}"
    out = [f"<text x='{x0 + LEFT}' y='18' font-size='13' font-weight='bold'>{curve.title}</text>"]
    for n in range(x_low, x_high + 1):
        x = x0 + LEFT + WIDTH * (n - x_low) / (x_high - x_low)
        out.append(f"<path d='M{x:.1f} {TOP}V{TOP + HEIGHT}' stroke='#ddd'/>"
                   f"<text x='{x:.1f}' y='{TOP + HEIGHT + 15}' text-anchor='middle'>{power(n)}</text>")
    for n in range(y_low, y_high + 1):
        y = TOP + HEIGHT * (1 - (n - y_low) / (y_high - y_low))
        out.append(f"<path d='M{x0 + LEFT} {y:.1f}H{x0 + LEFT + WIDTH}' stroke='#ddd'/>"
                   f"<text x='{x0 + LEFT - 6}' y='{y + 4:.1f}' text-anchor='end'>{power(n)}</text>")
    out.append(f"<text x='{x0 + LEFT + WIDTH / 2}' y='{TOP + HEIGHT + 32}' text-anchor='middle'>{curve.across}</text>"
               f"<text transform='translate({x0 + 14},{TOP + HEIGHT / 2}) rotate(-90)' text-anchor='middle'>{curve.up}"
               "</text>")
    for i, (name, points) in enumerate(curve.lines):
        colour = COLOURS[i % len(COLOURS)]
        path = " ".join(place(p) for p in points)
        out.append(f"<polyline points='{path}' fill='none' stroke='{colour}' stroke-width='2'/>")
        out += [f"<circle cx='{place(p).split(',')[0]}' cy='{place(p).split(',')[1]}' r='3' fill='{colour}'/>"
                for p in points]
        out.append(f"<text x='{x0 + LEFT + 8}' y='{TOP + 14 + 14 * i}' fill='{colour}'>{name}</text>")
    return "\n".join(out)


def draw(curves):
    step = WIDTH + LEFT + 40
    body = "\n".join(draw_one(curve, i * step) for i, curve in enumerate(curves))
    return (f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {step * len(curves)} {TOP + HEIGHT + 44}' "
            f"font-family='sans-serif' font-size='11' fill='#222'>\n<rect width='100%' height='100%' fill='white'/>\n"
            f"{body}\n</svg>\n")
