// Runs a WebAssembly program of this project as if it were an ordinary one:
//
//   node tools/wasm_run.mjs PROGRAM [word...]
//
// It sees the current folder, every folder of the file system by its full name, and the environment;
// its status is ours.
import { accessSync, constants, readdirSync, readFileSync } from 'node:fs';

process.removeAllListeners('warning');   // that node's WASI is experimental is not part of the output
const { WASI } = await import('node:wasi');

function isReadable(path) {
  try {
    accessSync(path, constants.R_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

// Not '/' itself: the C library could not tell it from the current folder.
const folders = { '.': process.cwd() };
for (const entry of readdirSync('/', { withFileTypes: true })) {
  if (entry.isDirectory() && isReadable('/' + entry.name)) folders['/' + entry.name] = '/' + entry.name;
}
const [program, ...words] = process.argv.slice(2);
const wasi = new WASI({
  version: 'preview1', args: [program, ...words], env: process.env, preopens: folders, returnOnExit: true,
});
const module = new WebAssembly.Module(readFileSync(program));
process.exitCode = wasi.start(new WebAssembly.Instance(module, wasi.getImportObject()));
