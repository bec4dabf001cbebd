// Runs every *.e2e.mjs here in Chromium and ends with the runner's own counts.
import { readdirSync } from 'node:fs';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';

import { build } from 'vite';

const folder = fileURLToPath(new URL('.', import.meta.url));
const wanted = process.argv.slice(2);
const files = readdirSync(folder)
    .filter((name) => name.endsWith('.e2e.mjs'))
    .filter((name) => wanted.length === 0 || wanted.some((word) => name.startsWith(word)))
    .map((name) => `${folder}${name}`);

await build({
    configFile: fileURLToPath(new URL('../vite.gallery.config.ts', import.meta.url)),
    logLevel: 'error',
});
process.env.CAIRN_GALLERY_BUILT = '1';

// One file after the other: each starts a browser of its own.
run({ files, concurrency: 1, timeout: 3_600_000 })
    .on('test:fail', () => {
        process.exitCode = 1;
    })
    .compose(spec)
    .pipe(process.stdout);
