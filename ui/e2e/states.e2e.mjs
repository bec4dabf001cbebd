// Every state of the gallery: axe finds nothing (contrast included, SPEC U9) and nothing is clipped (U1, X143).
// Light at the smallest size and dark at the large one: colours and sizes do not depend on each other.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { show, SIZES, stateNames, THEMES } from './site.mjs';
import { axe, site } from './stage.mjs';

/** Controls that cannot be reached, and boxes wider than the window; runs in the page. */
function faults() {
    const out = [];
    const name = (el) =>
        `${el.tagName.toLowerCase()}.${el.className} "${(el.textContent ?? '').trim().slice(0, 40)}"`;
    const scroller = (el) => {
        for (let at = el.parentElement; at; at = at.parentElement) {
            const { overflowY, overflowX } = getComputedStyle(at);
            if (/auto|scroll/.test(overflowY + overflowX)) return at;
        }
        return null;
    };
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth > clientWidth) out.push(`the page is ${scrollWidth} wide in ${clientWidth}`);
    for (const el of document.querySelectorAll('button, input, textarea, select, a[href], h1, h2')) {
        if (el.closest('[aria-hidden="true"]') || el.type === 'file') continue;
        const box = el.getBoundingClientRect();
        if (box.width === 0 || getComputedStyle(el).visibility === 'hidden') continue;
        if (box.left < -1 || box.right > innerWidth + 1) out.push(`${name(el)} leaves the window`);
        const inside = scroller(el);
        if (inside === null && (box.top < -1 || box.bottom > innerHeight + 1)) {
            out.push(`${name(el)} is below or above the window`);
        }
        if (inside && inside.scrollWidth > inside.clientWidth + 1) {
            out.push(`${name(inside)} scrolls sideways`);
        }
    }
    for (const el of document.querySelectorAll('button')) {
        if (el.scrollWidth > el.clientWidth + 1 && getComputedStyle(el).overflow !== 'hidden') {
            out.push(`${name(el)} is wider than its box`);
        }
    }
    return [...new Set(out)];
}

/** What axe finds; runs in the page. */
async function violations() {
    // One page of many: landmarks and the page's heading belong to the whole window.
    const off = ['region', 'page-has-heading-one', 'landmark-one-main', 'landmark-unique'];
    const rules = Object.fromEntries(off.map((id) => [id, { enabled: false }]));
    const found = await window.axe.run(document, { rules });
    return found.violations.map(
        ({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`,
    );
}

for (const [i, theme] of THEMES.entries()) {
    const viewport = SIZES[i];
    const size = `${viewport.width}x${viewport.height}`;
    test(`axe_finds_nothing_and_nothing_is_clipped_${theme}_${size}`, async (t) => {
        const page = await site.browser.newPage({ viewport });
        for (const name of await stateNames(site)) {
            await t.test(name, async () => {
                await show(page, site.address(name, theme));
                assert.deepEqual(await page.evaluate(faults), [], 'clipped');
                await page.evaluate(axe);
                assert.deepEqual(await page.evaluate(violations), [], 'axe');
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
