// onnx/page.mjs: the JavaScript examples of a document, run after the files and the commands before them.
//
//   node page.mjs TERN NODE_MODULES PAGE
//
// A `js` block has `ort` in scope; the `text` block after it is what it must print.
import { execSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const [tern, modules, page] = process.argv.slice(2).map((word) => resolve(word));
const ort = createRequire(join(modules, 'x.js'))('onnxruntime-node');
const text = readFileSync(page, 'utf8');
const scratch = mkdtempSync(join(tmpdir(), 'tern-page-'));
const env = { ...process.env, PATH: `${dirname(tern)}:${process.env.PATH}`, XDG_DATA_HOME: scratch };
const Async = Object.getPrototypeOf(async () => {}).constructor;
let printed = null, compared = 0, failures = 0;

process.chdir(scratch);
for (const [, name, kind, body] of text.matchAll(/(?:<!-- file: (\S+) -->\n)?```(\w+)[^\n]*\n(.*?)```/gs)) {
  if (name) writeFileSync(name, body);
  else if (kind === 'console')
    for (const [, line] of body.matchAll(/^\$ (.*)$/gm)) execSync(line, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  else if (kind === 'text' && printed !== null) {
    compared++;
    if (printed !== body) failures++, console.log(`FAILED: ${page} prints ${printed}, not ${body}`);
  }
  printed = null;
  if (kind !== 'js' || name) continue;
  const lines = [];
  await new Async('ort', 'console', body)(ort, { log: (...words) => lines.push(`${words.join(' ')}\n`) });
  printed = lines.join('');
}
process.chdir('/');
rmSync(scratch, { recursive: true });
console.log(`${compared} examples, ${failures} differ`);
process.exit(failures || !compared ? 1 : 0);
