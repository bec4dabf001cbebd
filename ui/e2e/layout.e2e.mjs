// Nothing is clipped: at 900 × 640 and 1600 × 1000, in every state. SPEC U1, X143.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { openSite, show, SIZES, stateNames } from './site.mjs';

let site;

before(async () => {
    site = await openSite();
});
after(() => site.close());

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

for (const viewport of SIZES) {
    test(`nothing_is_clipped_at_${viewport.width}x${viewport.height}`, async (t) => {
        const page = await site.browser.newPage({ viewport });
        for (const state of await stateNames(site)) {
            await t.test(state, async () => {
                await show(page, site.address(state));
                assert.deepEqual(await page.evaluate(faults), []);
            });
        }
        await page.close();
    });
}

test('a_card_takes_at_most_half_the_window_and_keeps_its_buttons', async () => {
    for (const viewport of SIZES) {
        const page = await site.browser.newPage({ viewport });
        for (const state of ['approval-long', 'approval-edit-long', 'approval-many-offers', 'question']) {
            await show(page, site.address(state));
            const card = await page.locator('.ask').boundingBox();
            assert.ok(card.height <= viewport.height / 2 + 1, `${state}: ${card.height}`);
            const last = await page.locator('.ask .acts button').last().boundingBox();
            assert.ok(last.y + last.height <= card.y + card.height, state);
        }
        await page.close();
    }
});

test('a_wrapped_command_breaks_only_between_words_and_marks_each_continuation', async () => {
    const page = await site.browser.newPage({ viewport: SIZES[0] });
    await show(page, site.address('approval-long'));
    const { broken, lines } = await page.evaluate(() => {
        const words = [...document.querySelectorAll('.command .word')];
        const tops = new Set(words.map((word) => Math.round(word.getBoundingClientRect().top)));
        return {
            broken: words.filter((word) => word.getBoundingClientRect().height > 21).length,
            lines: tops.size,
        };
    });
    assert.equal(broken, 0);
    const marks = await page.locator('.command .line').getAttribute('data-marks');
    assert.ok(marks.split('\n').length > lines, 'a mark for every line');
    await page.close();
});
