// Texts that tern and Hugging Face's tokenizers turn into the same tokens.
//
//   node bpe_hf.mjs BPE_TOKENS NODE_MODULES ROOT [COUNT]
//
// The library trains a byte-level BPE on documents of this project; variants of its file are then given to
// both, with fuzzed texts. Where a file has what tern does not, tern must refuse it by name.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const [program, modules, root, count = '150'] = process.argv.slice(2);
const { Tokenizer } = createRequire(resolve(modules) + '/')('tokenizers');
const folder = mkdtempSync(join(tmpdir(), 'tern-bpe-'));

let state = 12345n;
function random(below) {
  state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
  return Number((state >> 33n) % BigInt(below));
}
const pick = list => list[random(list.length)];

const words = readFileSync(join(root, 'README.md'), 'utf8').split(/(?<=\s)/);
const pieces = [' ', ' ', '  ', '\n', '\n\n', '\t', '\r\n', "'s", "'ll", "'S", "n't", '123', '4', '½', '٣', '...',
  '!?', '<|end|>', '<|end', '<|endless|>', 'a<b>', '<b>', '<b', 'é', 'e\u0301', 'ß', '漢字', 'かな', '👍🏽', '👩‍👩‍👧',
  '\u00a0', '\u2003', '\u3000', '\u0085', '\ufeff', '\u200b', '\u0000', '\u007f', '\u00ad', '\u1680', 'ǅ', 'ª',
  '\u{10ffff}', '\u{1f1e9}\u{1f1ea}', '\u0e33', '\u{16d40}', '\u0903', '_', '-', '--'];
function character() {
  for (;;) {
    const code = random(4) ? random(0x3000) : random(0x110000);
    if (code < 0xd800 || code > 0xdfff) return String.fromCodePoint(code);
  }
}
function text() {
  let out = '';
  for (let left = random(12); left > 0; left--) out += pick([() => pick(words), () => pick(pieces), character])();
  return out;
}

// An empty byte-level BPE, for the library to train.
const added = (id, content, normalized) =>
  ({ id, content, single_word: false, lstrip: false, rstrip: false, normalized, special: !normalized });
const empty = {
  version: '1.0', truncation: null, padding: null, added_tokens: [], normalizer: null,
  pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
  post_processor: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: false, use_regex: true },
  decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
  model: { type: 'BPE', dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null,
    fuse_unk: false, byte_fallback: false, ignore_merges: false, vocab: {}, merges: [] },
};

function trained() {
  const tokenizer = Tokenizer.fromString(JSON.stringify(empty));
  tokenizer.train([join(root, 'README.md'), join(root, 'docs/ail.md')]);
  tokenizer.save(join(folder, 'trained.json'));
  return JSON.parse(readFileSync(join(folder, 'trained.json'), 'utf8'));
}

// The same with a letter for every byte, as published files have.
function letters() {
  const out = [];
  for (let byte = 0, other = 256; byte < 256; byte++) {
    const printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte !== 173);
    out.push(String.fromCodePoint(printable ? byte : other++));
  }
  return out;
}
function complete(file) {
  const copy = structuredClone(file);
  let next = Math.max(...Object.values(copy.model.vocab)) + 1;
  for (const letter of letters()) if (!(letter in copy.model.vocab)) copy.model.vocab[letter] = next++;
  copy.added_tokens = [added(next, '<|end|>', false), added(next + 1, '<b>', true), added(next + 2, 'a<b>', false),
    added(next + 3, '<|endless|>', false)];
  return copy;
}
// The library numbers added tokens itself, after a vocabulary without gaps; published files agree with it.
function renumber(file) {
  const { vocab } = file.model;
  const texts = Object.keys(vocab).sort((a, b) => vocab[a] - vocab[b]);
  texts.forEach((text, i) => { vocab[text] = i; });
  let next = texts.length;
  for (const token of file.added_tokens) token.id = token.content in vocab ? vocab[token.content] : next++;
}
const changed = (file, change) => { const copy = structuredClone(file); change(copy); return copy; };

function tern(file, texts) {
  const paths = [join(folder, 'tokenizer.json'), join(folder, 'texts.json')];
  writeFileSync(paths[0], JSON.stringify(file));
  writeFileSync(paths[1], JSON.stringify(texts));
  const lines = execFileSync(program, paths, { maxBuffer: 1 << 28 }).toString().split('\n');
  return lines.filter(line => line).map(line => JSON.parse(line));
}

async function compare(name, file, reversible) {
  const texts = ['', ' ', 'a', ' a', '\u00e4'.repeat(300), ...Array.from({ length: Number(count) }, text)];
  const library = Tokenizer.fromString(JSON.stringify(file));
  const mine = tern(file, texts);
  for (let i = 0; i < texts.length; i++) {
    const theirs = (await library.encode(texts[i], null, { addSpecialTokens: false })).getIds();
    if (JSON.stringify(theirs) !== JSON.stringify(mine[i].tokens)) {
      throw new Error(`${name}: ${JSON.stringify(texts[i])}\n  library ${theirs}\n  tern    ${mine[i].tokens}`);
    }
    if (reversible && mine[i].back !== texts[i]) throw new Error(`${name}: not back: ${JSON.stringify(texts[i])}`);
  }
  console.log(`${name}: ${texts.length} texts have the same tokens`);
}

function refused(file, part, detail) {
  const [answer] = tern(file, ['a']);
  if (answer.part !== part || answer.detail !== detail) {
    throw new Error(`${part} ${detail} should be refused, not ${JSON.stringify(answer)}`);
  }
}

try {
  const small = trained(), full = complete(small);
  await compare('complete', full, true);
  await compare('bytes without a token', small, false);
  await compare('unknown token', changed(full, f => {
    for (const letter of letters().slice(128)) delete f.model.vocab[letter];
    f.model.merges = f.model.merges.filter(m => [m[0], m[1], m[0] + m[1]].every(t => t in f.model.vocab));
    f.model.vocab['<b>'] = f.added_tokens[1].id;
    f.model.unk_token = '<b>';
    renumber(f);
  }), false);
  await compare('fused unknown token', changed(small, f => {
    f.model.vocab['<unk>'] = Object.keys(f.model.vocab).length;
    f.model.unk_token = '<unk>';
    f.model.fuse_unk = true;
  }), false);
  await compare('prefix space', changed(full, f => { f.pre_tokenizer.add_prefix_space = true; }), false);
  await compare('undivided', changed(full, f => { f.pre_tokenizer.use_regex = false; }), true);
  await compare('whole words first', changed(full, f => {
    f.model.ignore_merges = true;
    f.model.merges = f.model.merges.filter((_, i) => i % 3);
  }), true);
  await compare('merges as texts', changed(full, f => { f.model.merges = f.model.merges.map(m => m.join(' ')); }), true);
  refused(changed(full, f => { f.pre_tokenizer = { type: 'Whitespace' }; }), 'pre_tokenizer', 'Whitespace');
  refused(changed(full, f => { f.pre_tokenizer = null; }), 'pre_tokenizer', 'none');
  refused(changed(full, f => { f.normalizer = { type: 'NFC' }; }), 'normalizer', 'NFC');
  refused(changed(full, f => { f.model.type = 'WordPiece'; }), 'model', 'WordPiece');
  refused(changed(full, f => { f.model.dropout = 0.5; }), 'model.dropout', '0.5');
  refused(changed(full, f => { f.model.byte_fallback = true; }), 'model.byte_fallback', 'true');
  refused(changed(full, f => { f.model.end_of_word_suffix = '</w>'; }), 'model.end_of_word_suffix', '</w>');
  refused(changed(full, f => { f.added_tokens[0].lstrip = true; }), 'added_tokens.lstrip', 'true');
  refused(changed(full, f => { f.post_processor = { type: 'BertProcessing', sep: ['a', 1], cls: ['b', 2] }; }),
    'post_processor', 'BertProcessing');
  refused(changed(full, f => { f.model.merges.push(['a', 'zq']); }), 'model.merges', 'azq');
  console.log('what tern does not have is refused by name');
} finally {
  rmSync(folder, { recursive: true });
}
