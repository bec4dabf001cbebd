// Takes a picture of every gallery state in both themes and both sizes into target/shots/gallery.
// `npm run shots -- NAME…` takes only those whose name begins with one of the given words.
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { openSite, show, SIZES, stateNames, THEMES } from './site.mjs';

const folder = fileURLToPath(new URL('../../target/shots/gallery/', import.meta.url));
const wanted = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

const site = await openSite();
let taken = 0;
try {
    const names = (await stateNames(site)).filter(
        (name) => wanted.length === 0 || wanted.some((word) => name.startsWith(word)),
    );
    for (const viewport of SIZES) {
        const page = await site.browser.newPage({ viewport });
        for (const theme of THEMES) {
            for (const name of names) {
                await show(page, site.address(name, theme));
                await page.screenshot({
                    path: `${folder}${name}-${theme}-${viewport.width}x${viewport.height}.png`,
                    animations: 'disabled',
                });
                taken += 1;
            }
        }
        await page.close();
    }
} finally {
    await site.close();
}
process.stdout.write(`${taken} pictures in target/shots/gallery\n`);
