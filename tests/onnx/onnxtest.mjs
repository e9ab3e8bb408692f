// onnx/onnxtest.mjs: exported models give what tern gives, run by ONNX Runtime.
//
//   node onnxtest.mjs TERN NODE_MODULES FOLDER
//
// Every program of the folder becomes a model, is run, and its outputs are compared with those of `tern run`
// within float tolerance. Programs say, in comments of their own,
//
//   // args: --input x=[[1,2]]    further words for tern; inputs go to the model too
//   // input: x=[[1,2]]           an input of the model alone
//   // train: --seed 3           AILang: train it first, and use those weights
//   // call: predict([[1, 2]])    MIND, where the value is a function: what tern computes instead
//   // bytes: 400                 the model is not larger than that
//
// A graph may be refused, with E_UNSUPPORTED; any other program must become a model.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [tern, modules, folder] = process.argv.slice(2);
const ort = createRequire(join(modules, 'x.js'))('onnxruntime-node');
const scratch = mkdtempSync(join(tmpdir(), 'tern-onnx-'));

function comments(source, word) {
  return source.split('\n').filter((line) => line.startsWith(`// ${word}: `))
    .map((line) => line.slice(word.length + 5).trim());
}

function given(text) {
  const at = text.indexOf('=');
  return [text.slice(0, at), JSON.parse(text.slice(at + 1))];
}

function shapeOf(value) {
  return Array.isArray(value) ? [value.length, ...shapeOf(value[0])] : [];
}

// `tokens` and `labels` are the only inputs that are whole numbers.
function tensorOf(name, value) {
  const flat = [value].flat(Infinity);
  const whole = name === 'tokens' || name === 'labels';
  return whole ? new ort.Tensor('int32', Int32Array.from(flat), shapeOf(value))
    : new ort.Tensor('float32', Float32Array.from(flat), shapeOf(value));
}

// Every number of an answer, in order.
function numbers(value) {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap(numbers);
  switch (value.kind) {
    case 'tensor': return value.data;
    case 'int': case 'float': case 'bool': return [value.value];
    case 'grad': return Object.values(value.entries).flatMap(numbers);
    default: return numbers(value.items);
  }
}

function isClose(got, wanted) {
  if (typeof wanted === 'string') return String(got) === wanted;
  const a = Number(got), b = Number(wanted);
  return a === b || Math.abs(a - b) <= 1e-5 + 1e-4 * Math.abs(b);
}

async function check(name) {
  const path = join(folder, name), source = readFileSync(path, 'utf8'), model = join(scratch, 'model.onnx');
  const args = comments(source, 'args').flatMap((line) => line.split(' '));
  const call = comments(source, 'call')[0];
  const feeds = Object.fromEntries(comments(source, 'input').map(given));
  args.forEach((word, i) => { if (word === '--input') Object.assign(feeds, Object.fromEntries([given(args[i + 1])])); });
  for (const words of comments(source, 'train')) {
    const out = join(scratch, `run-${name}`);
    execFileSync(tern, ['train', path, '-q', '--out', out, ...words.split(' ')]);
    args.push('--weights', join(out, 'weights.safetensors'));
  }
  execFileSync(tern, ['emit', path, '--as', 'onnx', '-o', model, ...args]);
  const limit = Number(comments(source, 'bytes')[0] ?? Infinity), size = statSync(model).size;
  if (size > limit) throw new Error(`the model has ${size} bytes, not at most ${limit}`);
  let runs = path;
  if (call) {
    runs = join(scratch, 'call.mind');
    writeFileSync(runs, `${source}\n${call}\n`);
  }
  const answer = JSON.parse(execFileSync(tern, ['run', runs, '--json', ...args], { encoding: 'utf8' }));
  const wanted = numbers(answer.outputs ?? answer.value ?? answer.stack);
  const session = await ort.InferenceSession.create(model, { logSeverityLevel: 3 });
  const inputs = Object.fromEntries(session.inputNames.map((input) => [input, tensorOf(input, feeds[input])]));
  const results = await session.run(inputs);
  const got = session.outputNames.flatMap((output) => Array.from(results[output].data));
  if (got.length !== wanted.length) throw new Error(`${got.length} numbers, and tern has ${wanted.length}`);
  got.forEach((number, i) => {
    if (!isClose(number, wanted[i])) throw new Error(`number ${i} is ${number}, and tern has ${wanted[i]}`);
  });
}

let failed = 0, count = 0;
for (const name of readdirSync(folder).sort()) {
  if (!/\.(ail|mind|nth|graph)$/.test(name)) continue;
  count++;
  try {
    await check(name);
  } catch (error) {
    if (name.endsWith('.graph') && String(error.stderr).includes('E_UNSUPPORTED')) {
      console.log(`${name}: refused`);
      continue;
    }
    failed++;
    console.log(`${name}: ${String(error.stderr ?? error.message).slice(0, 600)}`);
  }
}
rmSync(scratch, { recursive: true });
console.log(`${count} models run, ${failed} failed`);
process.exit(failed || !count ? 1 : 0);
