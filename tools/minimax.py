#!/usr/bin/env python3
"""Where the polynomial coefficients in src/base/elementary* come from.

Each target below is a function, an interval, the powers its polynomial may use, and a weight
that turns the error of the polynomial into the error of the final result (relative, unless the
comment says absolute). Remez exchange finds the best real coefficients; they are then rounded
to binary32 or binary64 one at a time, lowest power first, and after each rounding the remaining
ones are solved again, so that they make up for what the rounding lost.

Only the standard library is used; every number is a Decimal of 70 digits.

  minimax.py            all targets
  minimax.py exp_f32    one of them
"""
import sys
from decimal import Decimal as D, getcontext
from fractions import Fraction

getcontext().prec = 70
HALF, ONE, TWO = D("0.5"), D(1), D(2)


# --- functions in high precision -----------------------------------------------------------

def arctan_inverse(n):
    """atan(1/n) by its series."""
    total, term, k = D(0), ONE / n, 0
    while abs(term) > D(10) ** -75:
        total += term / (2 * k + 1) * (-1 if k % 2 else 1)
        term /= n * n
        k += 1
    return total


PI = 4 * (4 * arctan_inverse(5) - arctan_inverse(239))
LN2 = TWO.ln()


def series(first, ratio):
    """first + first*ratio(1) + first*ratio(1)*ratio(2) + ..."""
    total, term, k = D(0), first, 1
    while abs(term) > D(10) ** -85:
        total += term
        term *= ratio(k)
        k += 1
    return total


def sin_rest(z):
    """(sin r - r) / r^3 as a function of z = r*r"""
    return series(-ONE / 6, lambda k: -z / ((2 * k + 2) * (2 * k + 3)))


def cos_rest(z):
    """(cos r - 1 + r*r/2) / r^4 as a function of z = r*r"""
    return series(ONE / 24, lambda k: -z / ((2 * k + 3) * (2 * k + 4)))


def exp_rest(r):
    """(exp r - 1 - r) / r^2"""
    return series(HALF, lambda k: r / (k + 2))


def log1p_rest(f):
    """(log(1+f) - f + f*f/2) / f^3"""
    if abs(f) < D("1e-9"):
        return ONE / 3 - f / 4 + f * f / 5
    return ((1 + f).ln() - f + f * f / 2) / (f * f * f)


def atanh_rest(z):
    """(log((1+s)/(1-s)) - 2s) / s^3 as a function of z = s*s"""
    total, term, k = D(0), TWO, 0
    while term > D(10) ** -75:
        total += term / (2 * k + 3)
        term *= z
        k += 1
    return total


def erf_over(z):
    """erf(x) / x as a function of z = x*x"""
    total, term, k = D(0), ONE, 0
    while abs(term) > D(10) ** -85:
        total += term / (2 * k + 1)
        k += 1
        term *= -z / k
    return total * 2 / PI.sqrt()


def erfc_scaled(a):
    """exp(a*a) * erfc(a): a continued fraction for large a, the series of erf otherwise"""
    if a > 4:
        value = a
        for k in range(400, 0, -1):
            value = a + D(k) / 2 / value
        return 1 / (value * PI.sqrt())
    return (a * a).exp() * (1 - a * erf_over(a * a))


# --- Remez -----------------------------------------------------------------------------------

def solve(matrix, right):
    """Gaussian elimination with row pivoting."""
    n = len(right)
    rows = [matrix[i] + [right[i]] for i in range(n)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(i + 1, n):
            factor = rows[r][i] / rows[i][i]
            if factor:
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i])]
    out = [D(0)] * n
    for i in reversed(range(n)):
        out[i] = (rows[i][n] - sum(rows[i][k] * out[k] for k in range(i + 1, n))) / rows[i][i]
    return out


def cosine(x):
    return 1 - x * x / 2 + x ** 4 * cos_rest(x * x)


def grid(low, high, count):
    """Points that crowd at both ends, as the extrema of the error do."""
    return [low + (high - low) * (1 - cosine(PI * i / count)) / 2 for i in range(count + 1)]


def extrema(errors, count):
    """Indices of `count` alternating extrema of the error, the largest where there is a choice."""
    runs = []
    for i, e in enumerate(errors):
        if runs and (errors[runs[-1]] > 0) == (e > 0):
            if abs(e) > abs(errors[runs[-1]]):
                runs[-1] = i
        else:
            runs.append(i)
    while len(runs) > count:
        runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
    return runs


def remez(points, values, weights, powers):
    """Best coefficients and their largest weighted error on the grid; None if there are none."""
    n = len(powers)
    table = [[x ** p if p else ONE for p in powers] for x in points]
    chosen = [round(i * (len(points) - 1) / n) for i in range(n + 1)]
    best = None
    for _ in range(60):
        matrix = [table[i] + [(-1) ** k / weights[i]] for k, i in enumerate(chosen)]
        try:
            coefficients = solve(matrix, [values[i] for i in chosen])[:n]
        except ArithmeticError:
            break
        errors = [(sum(c * t for c, t in zip(coefficients, row)) - v) * w
                  for row, v, w in zip(table, values, weights)]
        worst = max(abs(e) for e in errors)
        if best is None or worst < best[1]:
            best = (coefficients, worst)
        following = extrema(errors, n + 1)
        if len(following) < n + 1 or following == chosen:
            break
        chosen = following
    return best


def rounded(value, bits):
    """The nearest number with that many significant bits."""
    exact = Fraction(value)
    if exact == 0:
        return D(0)
    shift = 0
    while abs(exact) * Fraction(2) ** shift < 2 ** (bits - 1):
        shift += 1
    while abs(exact) * Fraction(2) ** shift >= 2 ** bits:
        shift -= 1
    whole = round(exact * Fraction(2) ** shift)
    near = Fraction(whole) / Fraction(2) ** shift
    return D(near.numerator) / D(near.denominator)


def worst_error(points, values, weights, powers, coefficients):
    return max(abs(sum(c * (x ** p if p else ONE) for c, p in zip(coefficients, powers)) - v) * w
               for x, v, w in zip(points, values, weights))


def fit(function, low, high, powers, weight, bits):
    """Coefficients rounded to `bits`, the error they leave and the error before rounding.

    Solving again needs powers that form a Chebyshev system on what is left, which odd powers
    around 0 do not; so the result is kept only where it beats plain rounding."""
    powers = list(powers)
    points = grid(low, high, 24 * (len(powers) + 2))
    values = [function(x) for x in points]
    weights = [weight(x) for x in points]
    best, ideal = remez(points, values, weights, powers)
    for k in range(len(powers)):
        plain = best[:k] + [rounded(best[k], bits)] + best[k + 1:]
        left = [v - sum(c * (x ** p if p else ONE) for c, p in zip(plain[:k + 1], powers))
                for v, x in zip(values, points)]
        best = plain
        if k + 1 < len(powers):
            again = remez(points, left, weights, powers[k + 1:])
            if again:
                best = min(plain, plain[:k + 1] + again[0],
                           key=lambda c: worst_error(points, values, weights, powers, c))
    return best, worst_error(points, values, weights, powers, best), ideal


# --- the targets -------------------------------------------------------------------------------

ROOT = TWO.sqrt()
LN2_HALF = LN2 / 2 * D("1.0005")      # a little more: n is rounded from an inexact product
EIGHTH_TURN = (PI / 4) ** 2 * D("1.0005")
ATANH_EDGE = ((ROOT - 1) / (ROOT + 1)) ** 2
SMALL = D("1e-15")                    # keeps a weight from being 0


def target_exp_f32():
    "exp(r) = 1 + r + r^2 p(r), |r| <= ln2/2"
    return fit(exp_rest, -LN2_HALF, LN2_HALF, range(5), lambda r: r * r / r.exp() + SMALL, 24)


def target_exp_split_f32():
    "exp(r) = 1 + r + r^2 p(r), |r| <= ln2/2; relative to exp(r) - 1, where 1 may cancel"
    return fit(exp_rest, -LN2_HALF, LN2_HALF, range(6), lambda r: abs(r) + SMALL, 24)


def tanh_divisor(z):
    """d with tanh x = x - x z / d, as a function of z = x*x"""
    if z < D("1e-9"):
        return 3 + z * 6 / 5
    x = z.sqrt()
    power = (2 * x).exp()
    return z / (1 - (power - 1) / (power + 1) / x)


def target_tanh_f32():
    "tanh x = x - x z / p(z), z = x^2 <= 1"
    def weight(z):
        d = tanh_divisor(z)
        return z / (d * d - z * d) + SMALL

    return fit(tanh_divisor, D(0), D("1.0001"), range(4), weight, 24)


def target_log_f32():
    "log(1+f) = f - f^2/2 + f^3 p(f), sqrt(1/2) <= 1+f <= sqrt(2)"
    return fit(log1p_rest, 1 / ROOT - 1, ROOT - 1, range(9), lambda f: f * f + SMALL, 24)


def target_sin_f32():
    "sin r = r + r^3 p(r^2), |r| <= pi/4"
    return fit(sin_rest, D(0), EIGHTH_TURN, range(3), lambda z: z + SMALL, 24)


def target_cos_f32():
    "cos r = 1 - r^2/2 + r^4 p(r^2), |r| <= pi/4"
    return fit(cos_rest, D(0), EIGHTH_TURN, range(3), lambda z: z * z + SMALL, 24)


ERF_JOIN = D("0.6875")


def target_erf_f32():
    "erf x = x + x p(x^2), |x| <= 0.6875"
    return fit(lambda z: erf_over(z) - 1, D(0), ERF_JOIN ** 2, range(6), lambda z: 1 / erf_over(z), 24)


def erfc_of(a):
    return erfc_scaled(a) * (-a * a).exp()


def target_erfc_f32():
    "log(1 - erf(a)) = log(1 - erf(0.6875)) + b p(b), b = a - 0.6875 <= 3.3125; relative to erf"
    start = erfc_of(ERF_JOIN).ln()

    def value(b):
        return (erfc_of(ERF_JOIN + b).ln() - start) / b

    def weight(b):
        left = erfc_of(ERF_JOIN + b)
        return max(b * left / (1 - left), D("1e-9"))

    return fit(value, D("1e-6"), 4 - ERF_JOIN, range(7), weight, 24)


def target_exp2_f64():
    "2^f = 1 + f p(f), |f| <= 1/2, for pow in f32"
    edge = D("0.5001")
    return fit(lambda f: LN2 * (1 + f * LN2 * exp_rest(f * LN2)), -edge, edge, range(8),
               lambda f: abs(f) + SMALL, 53)


def target_log2_f64():
    "log2((1+s)/(1-s)) = s p(s^2), for pow in f32"
    return fit(lambda z: (2 + z * atanh_rest(z)) / LN2, D(0), ATANH_EDGE, range(7), lambda z: ONE, 53)


def target_exp_f64():
    "exp(r) = 1 + r + r^2 p(r); absolute, |r| <= ln2/2"
    return fit(exp_rest, -LN2_HALF, LN2_HALF, range(11), lambda r: r * r + SMALL, 53)


def target_log_f64():
    "log((1+s)/(1-s)) = 2s + s^3 p(s^2)"
    return fit(atanh_rest, D(0), ATANH_EDGE, range(7), lambda z: z / 2 + SMALL, 53)


def target_sin_f64():
    "sin r = r + r^3 p(r^2), |r| <= pi/4"
    return fit(sin_rest, D(0), EIGHTH_TURN, range(6), lambda z: z + SMALL, 53)


def target_cos_f64():
    "cos r = 1 - r^2/2 + r^4 p(r^2), |r| <= pi/4"
    return fit(cos_rest, D(0), EIGHTH_TURN, range(6), lambda z: z * z + SMALL, 53)


def target_erf_f64():
    "erf x = x + x p(x^2), |x| <= 0.6875"
    return fit(lambda z: erf_over(z) - 1, D(0), ERF_JOIN ** 2, range(11), lambda z: ONE, 53)


def target_erf_middle_f64():
    "erf(1 + d) = erf(1) + d p(d), |d| <= 0.3125"
    def value(d):
        at = 1 + d
        return (at * erf_over(at * at) - erf_over(ONE)) / d

    # not quite symmetric, so that 0 is no point of the grid
    edge = D("0.3125")
    return fit(value, -edge, edge * D("1.0001"), range(16), lambda d: abs(d) + SMALL, 53)


def target_erfc_f64():
    "exp(a^2) erfc(a) = p(t), t = (a-3)/(a+3), 1.3125 <= a <= 6; absolute in erfc"
    def at(t):
        return 3 * (1 + t) / (1 - t)

    low = (D("1.3125") - 3) / (D("1.3125") + 3)
    return fit(lambda t: erfc_scaled(at(t)), low, ONE / 3, range(12),
               lambda t: max((-at(t) * at(t)).exp(), D("1e-19")), 53)


def target_two_over_pi():
    "the bits of 2/pi after the point, 32 to a word, for the reduction of large arguments"
    getcontext().prec = 420
    terms = lambda n: sum(D((-1) ** k) / ((2 * k + 1) * D(n) ** (2 * k + 1)) for k in range(700))
    value = TWO / (4 * (4 * terms(5) - terms(239)))
    words = []
    for _ in range(40):
        value *= 2 ** 32
        words.append(f"0x{int(value):08x}")
        value -= int(value)
    getcontext().prec = 70
    return words


def parts(value, *bits):
    """value as a sum of numbers with that many bits each"""
    out = []
    for count in bits:
        out.append(rounded(value, count))
        value -= out[-1]
    return out


def target_constants():
    "numbers in several parts, as the source names them"
    named = {
        "LOG2E f32": parts(1 / LN2, 24), "LN2 f32": parts(LN2, 24, 24),
        "2/pi f32": parts(2 / PI, 24), "pi/2 f32": parts(PI / 2, 24, 24, 24),
        "LOG2E f64": parts(1 / LN2, 53), "LN2 f64 (30 bits first)": parts(LN2, 30, 53, 53),
        "log(1 - erf(0.6875)) f32": parts(erfc_of(ERF_JOIN).ln(), 24, 24),
        "erf(1) f64": parts(erf_over(ONE), 53, 53),
        "2/pi f64": parts(2 / PI, 53), "pi/2 f64 (32 bits first)": parts(PI / 2, 32, 32, 53),
        "pi/2 f64": parts(PI / 2, 53, 53), "1/3": parts(ONE / 3, 53, 53), "1/5": parts(ONE / 5, 53, 53),
    }
    return [f"{name}: {' '.join(float(v).hex() for v in values)}" for name, values in named.items()]


TARGETS = {name[7:]: value for name, value in globals().items() if name.startswith("target_")}


def hexadecimal(value, bits):
    text = float(value).hex()
    mantissa, exponent = text.split("p")
    mantissa = mantissa.rstrip("0") if "." in mantissa else mantissa
    return f"{mantissa.rstrip('.')}p{exponent}{'f' if bits == 24 else ''}"


def log2(value):
    return float(value.ln() / LN2) if value > 0 else float("-inf")


def main():
    for name in sys.argv[1:] or TARGETS:
        target = TARGETS[name]
        result = target()
        print(f"{name}: {target.__doc__}")
        if isinstance(result, tuple):
            coefficients, left, ideal = result
            print(f"  error 2^{log2(left):.2f} (2^{log2(ideal):.2f} before rounding)")
            result = [hexadecimal(c, 24 if name.endswith("f32") else 53) for c in coefficients]
        for line in result:
            print(f"  {line}")


if __name__ == "__main__":
    main()
