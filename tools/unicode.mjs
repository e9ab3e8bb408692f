// Writes src/base/unicode_runs.inc.h: which characters are letters, numbers, marks and white space.
//
//   tools/setup.sh test; node tools/unicode.mjs build/npm/node_modules > src/base/unicode_runs.inc.h
//
// What a letter, a number and white space is comes from Hugging Face's tokenizers: it is asked, character by
// character, where its byte-level pre-tokeniser divides a text. So tern divides as it does, whichever version
// of Unicode its regular expressions follow. Marks are those of Node.js.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const { byteLevelPreTokenizer } = createRequire(resolve(process.argv[2]) + '/')('tokenizers');
const pre = byteLevelPreTokenizer(false, true);
const joins = (first, s) => pre.preTokenizeString(first + s).length === 1;

function classOf(code) {
  const s = String.fromCodePoint(code);
  if (joins('a', s)) return 'L';
  if (joins('1', s)) return 'N';
  if (!joins('!', s)) return 'S';
  return /\p{M}/u.test(s) ? 'M' : 'O';
}

const runs = [];
for (let code = 0, last = ''; code <= 0x10ffff; code++) {
  const kind = code >= 0xd800 && code <= 0xdfff ? 'O' : classOf(code);
  if (kind !== last) runs.push(`${kind}(0x${code.toString(16)})`);
  last = kind;
}
console.log('/* base/unicode_runs.inc.h: written by tools/unicode.mjs. A run reaches to the next. */');
let line = '';
for (const run of runs) {
  if (line.length + run.length + 1 > 108) {
    console.log(line);
    line = '';
  }
  line += (line ? ' ' : '') + run;
}
console.log(line);
