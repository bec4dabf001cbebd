// A plan is carried out only by a click that was meant. SPEC T32, P10.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { answers, button, card, kinds, page, quiet } from './stage.mjs';

test('t32_a_plan_is_carried_out_in_the_way_that_was_clicked', async () => {
    for (const [name, mode] of [
        ['Carry out, accept edits', 'accept-edits'],
        ['Carry out, ask me', 'manual'],
    ]) {
        await card('approval-plan');
        await quiet(400);
        await button(name).click();
        const [only] = await answers();
        assert.deepEqual(only.answer, { kind: 'carry_out', mode, plan: null });
        assert.match(only.digest, /^[0-9a-f]{64}$/);
    }
});

test('t32_no_letter_answers_and_what_has_just_changed_takes_no_click', async () => {
    await card('approval-plan');
    await quiet(400);
    await page.keyboard.press('Control+.');
    for (const key of ['y', 'a', 'n', 's', 'c']) await page.keyboard.press(key);
    assert.deepEqual(await kinds(), []);
    await button('Keep planning…').click();
    await quiet(300);
    await button('Keep planning').click();
    assert.deepEqual(await kinds(), [], 'another button stood there a moment ago');
    await quiet(200);
    await button('Keep planning').click();
    assert.deepEqual(await kinds(), ['deny']);
});

test('t32_a_plan_can_be_changed_before_it_is_carried_out', async () => {
    await card('approval-plan');
    await quiet(400);
    await button('Edit').click();
    await page.getByLabel('Plan', { exact: true }).fill('1. Only this');
    await quiet(400);
    await button('Done').click();
    await quiet(400);
    await page.getByText('Changed by you.').waitFor();
    await button('Carry out, ask me').click();
    const [only] = await answers();
    assert.deepEqual(only.answer, { kind: 'carry_out', mode: 'manual', plan: '1. Only this' });
});

test('t32_planning_goes_on_with_a_comment', async () => {
    await card('approval-plan');
    await quiet(400);
    await button('Keep planning…').click();
    await page.getByLabel('What should be different?').fill('smaller steps');
    await quiet(400);
    await button('Keep planning').click();
    const [only] = await answers();
    assert.deepEqual(only.answer, { kind: 'deny', note: 'smaller steps' });
});

test('t32_escape_leaves_the_text_then_the_card_and_answers_nothing', async () => {
    await card('approval-plan');
    await quiet(400);
    await button('Keep planning…').click();
    await page.keyboard.press('Escape');
    await button('Carry out, ask me').waitFor();
    await page.keyboard.press('Escape');
    assert.deepEqual(await kinds(), []);
    assert.equal(await page.evaluate(() => document.activeElement?.closest('.ask') !== null), false);
});
