// Maps numbers to positions: ticks, linear and logarithmic scales, and thinning and smoothing of
// curves.

// Round numbers that divide a range into about `count` parts.
export function ticks(low, high, count) {
  const span = high - low || Math.abs(high) || 1, rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const out = [];
  for (let i = Math.ceil(low / step); i * step <= high + step * 1e-9; i++) out.push(Number((i * step).toPrecision(12)));
  return out;
}

// Powers of ten, with 2 and 5 between them where there are few; of a narrow range, round numbers.
export function logTicks(low, high) {
  const first = Math.floor(Math.log10(low)), end = Math.ceil(Math.log10(high)), decades = end - first;
  const apart = Math.ceil(decades / 6), parts = decades <= 3 ? [1, 2, 5] : [1], out = [];
  for (let k = first; k <= end; k += apart)
    for (const part of parts) out.push(Number(`${part}e${k}`));
  const within = out.filter((t) => t >= low && t <= high);
  return within.length >= 2 ? within : ticks(low, high, 5).filter((t) => t > 0);
}

// From numbers between low and high to places between from and to.
export function scale(low, high, from, to, log = false) {
  const f = log ? Math.log10 : (x) => x, a = f(low), b = f(high), span = b - a || 1;
  const place = (x) => from + (f(x) - a) / span * (to - from);
  place.number = (at) => { const x = a + (at - from) / (to - from) * span; return log ? 10 ** x : x; };
  return place;
}

// At most two points for each pixel: the lowest and the highest of its steps.
export function thin(points, most) {
  if (points.length <= most * 2) return points;
  const out = [], size = points.length / most;
  for (let i = 0; i < most; i++) {
    let low = null, high = null;
    for (const p of points.slice(Math.floor(i * size), Math.floor((i + 1) * size))) {
      if (!low || p[1] < low[1]) low = p;
      if (!high || p[1] > high[1]) high = p;
    }
    if (low) out.push(...(low[0] <= high[0] ? [low, high] : [high, low]));
  }
  return out;
}

// An exponential moving mean: each point keeps `weight` of what came before it. The first points are not
// drawn towards zero.
export function smooth(points, weight) {
  let mean = 0, sum = 0;
  return points.map(([x, y]) => {
    mean = mean * weight + y * (1 - weight);
    sum = sum * weight + (1 - weight);
    return [x, mean / sum];
  });
}

// The index of the point whose step is nearest; points are in the order of their steps.
export function nearest(points, step) {
  let low = 0, high = points.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle][0] < step) low = middle + 1; else high = middle;
  }
  return low > 0 && step - points[low - 1][0] < points[low][0] - step ? low - 1 : low;
}
