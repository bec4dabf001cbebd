// Nothing is allowed by accident. SPEC P10, X78, X79, U3.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { answers, button, card, kinds, page, quiet } from './stage.mjs';

const focused = () => page.evaluate(() => document.activeElement?.closest('.ask') !== null);

test('a_click_allows_once_with_id_and_digest', async () => {
    await card('approval-command');
    await quiet(400);
    await button('Allow once').click();
    const [only] = await answers();
    assert.deepEqual(only.answer, { kind: 'allow_once' });
    assert.match(only.digest, /^[0-9a-f]{64}$/);
    assert.match(only.approval, /^a-/);
});

test('clicks_and_letters_in_the_first_400_ms_of_the_next_card_do_nothing', async () => {
    await card('approval-queue');
    await quiet(400);
    await button('Allow once').click();
    assert.deepEqual(await kinds(), ['allow_once']);
    await quiet(300);
    await button('Allow once').click();
    await page.keyboard.press('Control+.');
    await page.keyboard.press('y');
    assert.deepEqual(await kinds(), ['allow_once'], 'too early');
    await quiet(120);
    await page.keyboard.press('y');
    assert.deepEqual(await kinds(), ['allow_once', 'allow_once']);
});

test('a_press_that_began_on_the_former_card_does_not_answer_the_next', async () => {
    await card('approval-queue');
    await quiet(400);
    const box = await button('Allow once').boundingBox();
    await page.mouse.move(box.x + 20, box.y + 10);
    await page.keyboard.press('Control+.');
    await page.mouse.down();
    await page.keyboard.press('s');
    await quiet(1000);
    await page.mouse.up();
    assert.deepEqual(await kinds(), ['skip']);
});

test('a_double_click_is_one_answer', async () => {
    await card('approval-kept');
    await quiet(400);
    await button('Allow once').dblclick();
    assert.deepEqual(await kinds(), ['allow_once']);
});

test('a_double_click_on_the_first_of_several_answers_only_the_first', async () => {
    await card('approval-queue');
    await quiet(400);
    await button('Allow once').dblclick({ delay: 10 });
    await quiet(1000);
    assert.equal((await answers()).length, 1);
});

test('repeats_of_a_held_key_do_nothing', async () => {
    await card('approval-queue');
    await quiet(400);
    await page.keyboard.press('Control+.');
    await page.keyboard.down('y');
    await quiet(1000);
    await page.keyboard.down('y');
    await page.keyboard.press('Control+.');
    await page.keyboard.down('y');
    await page.keyboard.up('y');
    assert.deepEqual(await kinds(), ['allow_once']);
});

test('enter_held_on_a_button_does_not_answer_twice', async () => {
    await card('approval-queue');
    await quiet(400);
    await button('Skip').focus();
    await page.keyboard.down('Enter');
    await button('Skip').focus();
    await quiet(1000);
    await page.keyboard.down('Enter');
    await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    assert.equal((await answers()).length, 1);
});

test('a_letter_typed_in_the_composer_is_a_letter', async () => {
    await card('approval-command');
    await quiet(400);
    await page.getByRole('textbox', { name: 'Message' }).focus();
    await page.keyboard.type('yasn');
    assert.deepEqual(await kinds(), []);
    assert.equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), 'yasn');
});

test('the_card_never_takes_the_focus_by_itself_and_ctrl_dot_goes_to_it', async () => {
    await card('approval-queue');
    await quiet(400);
    assert.equal(await focused(), false);
    await page.keyboard.press('Control+.');
    assert.equal(await focused(), true);
    await page.keyboard.press('y');
    assert.equal(await focused(), false, 'the next card leaves the focus alone');
    assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'TEXTAREA');
});

test('escape_leaves_it_waiting_and_goes_back_to_the_composer', async () => {
    await card('approval-command');
    await quiet(400);
    await page.keyboard.press('Control+.');
    await page.keyboard.press('Escape');
    assert.equal(await focused(), false);
    assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'TEXTAREA');
    assert.equal(await page.locator('.ask').count(), 1);
    assert.deepEqual(await kinds(), []);
});

test('a_long_command_can_be_allowed_only_after_its_end_was_seen', async () => {
    await card('approval-long');
    await quiet(400);
    assert.equal(await button('Allow once').isDisabled(), true);
    assert.equal(await button('Always allow…').isDisabled(), true);
    await page.keyboard.press('Control+.');
    await page.keyboard.press('y');
    assert.deepEqual(await kinds(), []);
    await page.locator('.ask .body').evaluate((body) => body.scrollTo(0, body.scrollHeight / 2));
    assert.equal(await button('Allow once').isDisabled(), true);
    await page.locator('.ask .body').evaluate((body) => body.scrollTo(0, body.scrollHeight));
    await page.waitForFunction(() => !document.querySelector('.ask .acts button').disabled);
    await page.keyboard.press('y');
    assert.deepEqual(await kinds(), ['allow_once']);
});

test('a_long_command_can_be_read_to_its_end_by_keyboard_alone', async () => {
    await card('approval-long');
    await quiet(400);
    await page.keyboard.press('Control+.');
    await page.keyboard.press('Tab');
    await page.keyboard.press('End');
    await quiet(1000);
    await page.waitForFunction(() => !document.querySelector('.ask .acts button').disabled);
});

test('a_destructive_card_has_no_letter_and_no_filled_button', async () => {
    await card('approval-destructive');
    await quiet(400);
    await page.keyboard.press('Control+.');
    for (const key of ['y', 'a', 's', 'n']) await page.keyboard.press(key);
    assert.deepEqual(await kinds(), []);
    assert.equal(await page.locator('.ask kbd').count(), 0);
    assert.equal(await page.locator('.ask button.primary').count(), 0);
    assert.equal(await page.locator('.ask').getByText('Would be lost').count(), 1);
});

test('always_allow_shows_the_exact_rules_and_saves_only_those_ticked', async () => {
    await card('approval-many-offers');
    await quiet(400);
    await page.keyboard.press('Control+.');
    await page.keyboard.press('a');
    await page.getByRole('checkbox', { name: 'run: cargo run' }).uncheck({ force: true });
    await page.getByRole('radio', { name: 'This project' }).check({ force: true });
    await quiet(400);
    await button('Save and allow').click();
    const [only] = await answers();
    assert.equal(only.answer.kind, 'allow_always');
    assert.equal(only.answer.scope, 'project');
    assert.equal(only.answer.rules.length, 2);
    assert.ok(!only.answer.rules.includes('run: cargo run'));
});

test('deny_takes_a_note_and_says_what_an_empty_one_means', async () => {
    await card('approval-command');
    await quiet(400);
    await page.keyboard.press('Control+.');
    await page.keyboard.press('n');
    assert.equal(await page.getByText('Without a note the agent stops.').count(), 1);
    await page.keyboard.type('any letters: yes no');
    assert.deepEqual(await kinds(), []);
    await quiet(400);
    await page.keyboard.press('Enter');
    const [only] = await answers();
    assert.deepEqual(only.answer, { kind: 'deny', note: 'any letters: yes no' });
});

test('answering_one_of_several_moves_no_button', async () => {
    await card('approval-queue');
    await quiet(400);
    const before = await button('Skip').boundingBox();
    await button('Skip').click();
    await page.getByText('2 of 3').waitFor();
    const skip = await button('Deny…').boundingBox();
    await quiet(400);
    await button('Skip').click();
    await page.getByText('3 of 3').waitFor();
    const now = await button('Deny…').boundingBox();
    assert.equal(now.y, skip.y);
    assert.equal(before.y, skip.y);
});

test('a_read_only_session_shows_no_buttons', async () => {
    await card('approval-readonly');
    assert.equal(await page.locator('.ask button').count(), 0);
    await page.keyboard.press('Control+.');
    await quiet(400);
    await page.keyboard.press('y');
    assert.deepEqual(await kinds(), []);
});

test('questions_are_answered_by_keyboard_alone_with_a_check_before_sending', async () => {
    await card('question');
    await quiet(400);
    await page.keyboard.press('Control+.');
    await page.keyboard.press('2');
    await page.keyboard.press('Enter');
    await page.getByText('2 of 3').waitFor();
    await page.getByRole('textbox', { name: 'In your own words' }).fill('only the tide chart');
    await button('Back').click();
    await page.keyboard.press('Enter');
    assert.equal(
        await page.getByRole('textbox', { name: 'In your own words' }).inputValue(),
        'only the tide chart',
    );
    await page.keyboard.press('Enter');
    await page.getByText('3 of 3').waitFor();
    await button('You decide').click();
    await page.getByText('Check before sending').waitFor();
    await quiet(400);
    await button('Send answers').click();
    const [sent] = await page.evaluate(() =>
        window.cairnCalls.filter(({ what }) => what === 'question/answer').map((call) => call.with),
    );
    assert.deepEqual(sent.answers, [
        { kind: 'picked', options: [1] },
        { kind: 'own', text: 'only the tide chart' },
        { kind: 'you_decide' },
    ]);
});
