// Every state of the gallery, in both themes: axe finds nothing, contrast included. SPEC U9.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';

import { openSite, show, SIZES, stateNames, THEMES } from './site.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
let site;

before(async () => {
    site = await openSite();
});
after(() => site.close());

for (const theme of THEMES) {
    test(`axe_finds_nothing_in_any_state_${theme}`, async (t) => {
        const page = await site.browser.newPage({ viewport: SIZES[0] });
        for (const name of await stateNames(site)) {
            await t.test(name, async () => {
                await show(page, site.address(name, theme));
                await page.evaluate(axe);
                const found = await page.evaluate(async () => {
                    // One page of many: landmarks and the page's heading belong to the whole window.
                    const off = ['region', 'page-has-heading-one', 'landmark-one-main', 'landmark-unique'];
                    const rules = Object.fromEntries(off.map((id) => [id, { enabled: false }]));
                    const { violations } = await window.axe.run(document, { rules });
                    return violations.map(
                        ({ id, nodes }) =>
                            `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`,
                    );
                });
                assert.deepEqual(found, []);
            });
        }
        await page.close();
    });
}

test('axe_would_find_a_fault', async () => {
    const page = await site.browser.newPage();
    await show(page, site.address('kit'));
    await page.evaluate(axe);
    const found = await page.evaluate(async () => {
        const button = document.createElement('button');
        document.body.append(button);
        return (await window.axe.run(document)).violations.map(({ id }) => id);
    });
    assert.ok(found.includes('button-name'));
    await page.close();
});
