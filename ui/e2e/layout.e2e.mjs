// What a card may take of the window, and how a command wraps. SPEC U3, P10.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { show, SIZES } from './site.mjs';
import { site } from './stage.mjs';

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
