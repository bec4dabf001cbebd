// Edits taken place by place, several cards as one list, and the inbox. SPEC P4, P10, U3, U17.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { answers, axe, card, kinds, page, quiet } from './stage.mjs';

const button = (name) => page.getByRole('button', { name });
const box = (name) => page.getByRole('checkbox', { name });
const scrollToEnd = async () => {
    await page.locator('.ask .body').evaluate((body) => body.scrollTo(0, body.scrollHeight));
    await quiet(400);
};
async function axeFindsNothing() {
    await page.evaluate(axe);
    const found = page.evaluate(async () => {
        const off = ['region', 'page-has-heading-one', 'landmark-one-main', 'landmark-unique'];
        const rules = Object.fromEntries(off.map((id) => [id, { enabled: false }]));
        return (await window.axe.run(document, { rules })).violations.map(
            ({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`,
        );
    });
    await quiet(1000);
    assert.deepEqual(await found, []);
}

test('places_can_be_left_out_and_the_button_says_so', async () => {
    await card('hunks');
    await quiet(400);
    await box('Apply change 2 of 3').uncheck({ force: true });
    assert.equal(await button('Always allow…').isDisabled(), true);
    assert.equal(await button('Accept edits for this request').isDisabled(), true);
    await button(/^Apply 2 of 3 changes/).click();
    assert.deepEqual(await kinds(), [], 'the button has just changed its meaning');
    await quiet(400);
    await button(/^Apply 2 of 3 changes/).click();
    const [only] = await answers();
    assert.deepEqual(only.answer, {
        kind: 'allow_changed',
        hunks: [{ kind: 'take' }, { kind: 'leave' }, { kind: 'take' }],
    });
});

test('a_place_can_be_written_anew_and_letters_in_it_are_letters', async () => {
    await card('hunks-one');
    await quiet(400);
    await button(/^Change… the text of change 1/).click();
    await page.waitForFunction(() => document.activeElement?.tagName === 'TEXTAREA');
    const text = page.getByRole('textbox', { name: 'New text of change 1' });
    assert.match(await text.inputValue(), /^ {4}let labels = .*\n.*\n.*\n {4}self\.frame\(left\)$/);
    await text.fill('yasn');
    await page.keyboard.press('Enter');
    await page.keyboard.type('n');
    await quiet(400);
    assert.deepEqual(await kinds(), []);
    assert.equal(await text.inputValue(), 'yasn\nn');
    await page.keyboard.press('Escape');
    assert.equal(await page.evaluate(() => document.activeElement?.classList.contains('ask')), true);
    await page.keyboard.press('y');
    const [only] = await answers();
    assert.deepEqual(only.answer, { kind: 'allow_changed', hunks: [{ kind: 'replace', text: 'yasn\nn' }] });
});

test('back_to_the_proposal_is_the_proposal', async () => {
    await card('hunks-one');
    await quiet(400);
    await button(/^Change… the text of change 1/).click();
    await page.getByRole('textbox', { name: 'New text of change 1' }).fill('mine');
    await button(/^Back to the proposal/).click();
    await quiet(400);
    await button(/^Allow once/).click();
    assert.deepEqual(await kinds(), ['allow_once']);
});

test('with_nothing_chosen_it_can_only_be_skipped_or_denied', async () => {
    await card('hunks');
    await quiet(400);
    for (const n of [1, 2, 3]) await box(`Apply change ${n} of 3`).uncheck({ force: true });
    await quiet(400);
    assert.equal(await page.getByText('Nothing is chosen: skip it instead.').count(), 1);
    assert.equal(await button(/^Allow once/).isDisabled(), true);
    await page.keyboard.press('Control+.');
    await page.keyboard.press('y');
    await page.keyboard.press('a');
    assert.deepEqual(await kinds(), []);
    await page.keyboard.press('s');
    assert.deepEqual(await kinds(), ['skip']);
});

test('a_place_with_hidden_characters_is_not_written_anew_and_says_why', async () => {
    await card('hunks-hidden');
    assert.equal(await button(/^Change…/).count(), 1);
    assert.equal(await page.getByText(/holds hidden characters/).count(), 1);
    await card('hunks-readonly');
    assert.equal(await page.locator('.ask button').count(), 0);
    assert.equal(await box('Apply change 1 of 3').isDisabled(), true);
});

test('choices_outlive_a_look_at_another_session', async () => {
    await card('hunks');
    await quiet(400);
    await button(/^Change… the text of change 1/).click();
    await page.getByRole('textbox', { name: 'New text of change 1' }).fill('half a thought');
    await box('Apply change 3 of 3').uncheck({ force: true });
    await page.evaluate(() => (window.back = window.cairnElsewhere()));
    assert.equal(await page.locator('.ask').count(), 0);
    await page.evaluate(() => void window.back());
    const text = page.getByRole('textbox', { name: 'New text of change 1' });
    assert.equal(await text.inputValue(), 'half a thought');
    assert.equal(await box('Apply change 3 of 3').isChecked(), false);
});

test('nothing_is_ticked_by_itself_and_only_what_is_ticked_is_answered', async () => {
    await card('together-three');
    await quiet(400);
    assert.equal(await page.getByText('3 things wait for your answer').count(), 1);
    assert.equal(await page.locator('.ask input:checked').count(), 0);
    assert.equal(await button('Allow ticked').isDisabled(), true);
    await page.keyboard.press('Control+.');
    await page.keyboard.press('y');
    await scrollToEnd();
    await box(/^Tick: /)
        .nth(2)
        .check({ force: true });
    await box(/^Tick: /)
        .nth(0)
        .check({ force: true });
    await quiet(400);
    await button('Allow 2 ticked').click();
    const sent = await answers();
    assert.deepEqual(
        sent.map(({ answer }) => answer.kind),
        ['allow_once', 'allow_once'],
    );
    assert.ok(sent[0].approval < sent[1].approval, 'in the order of the list');
    assert.equal(await page.locator('.ask').count(), 1, 'the third waits on');
});

test('ticked_rows_are_read_to_their_end_before_they_are_allowed', async () => {
    await card('together-three');
    await quiet(400);
    await box('Tick all').check({ force: true });
    await quiet(400);
    assert.equal(await button('Allow 3 ticked').isDisabled(), true);
    await page.keyboard.press('Control+.');
    await page.keyboard.press('y');
    assert.deepEqual(await kinds(), []);
    await scrollToEnd();
    await button('Allow 3 ticked').click();
    assert.deepEqual(await kinds(), ['allow_once', 'allow_once', 'allow_once']);
});

test('a_long_row_is_closed_and_counts_as_read_only_after_it_was_opened', async () => {
    await card('together-many');
    await quiet(400);
    await box(/^Tick: Edit axis/).check({ force: true });
    await scrollToEnd();
    assert.equal(await button('Allow 1 ticked').isDisabled(), true);
    await button(/^Edit axis.rs\?/).click();
    await scrollToEnd();
    await button('Allow 1 ticked').click();
    assert.deepEqual(await kinds(), ['allow_once']);
});

test('what_loses_something_asks_by_itself', async () => {
    await card('together');
    await quiet(400);
    assert.equal(await box(/^Tick: /).count(), 2);
    await scrollToEnd();
    await button(/^Answer it by itself/).click();
    assert.equal(await page.locator('.ask').getByText('Would be lost').count(), 1);
    assert.equal(await page.locator('.ask button.primary').count(), 0);
    assert.equal(await page.getByText('3 of 3').count(), 1);
    await quiet(400);
    await button('Skip').click();
    assert.deepEqual(await kinds(), ['skip']);
    assert.equal(await page.getByText('2 things wait for your answer').count(), 1);
});

test('one_by_one_and_back_to_all', async () => {
    await card('together-three');
    await quiet(400);
    await button('Answer one by one').click();
    assert.equal(await page.getByText('1 of 3').count(), 1);
    await button('All 3 together').click();
    assert.equal(await page.getByText('3 things wait for your answer').count(), 1);
    await quiet(400);
    await button('Answer one by one').click();
    await quiet(400);
    await button('Skip').click();
    assert.equal(await page.getByText('2 of 3').count(), 1, 'it stays one by one');
});

test('a_double_click_or_a_held_key_answers_each_once', async () => {
    await card('together-refused');
    await quiet(400);
    await box('Tick all').check({ force: true });
    await scrollToEnd();
    await button('Allow 3 ticked').dblclick();
    await quiet(1000);
    await page.keyboard.press('Control+.');
    const ids = (await answers()).map(({ approval }) => approval);
    assert.equal(new Set(ids).size, 3);
    assert.equal(ids.length, 3);
    assert.equal(await page.getByText('changed meanwhile: your answer was not used').count(), 1);
    assert.equal(await page.getByText('the answer did not arrive: The disk is full.').count(), 1);
    await page.keyboard.down('y');
    await page.keyboard.down('y');
    await page.keyboard.up('y');
    assert.equal((await answers()).length, 4, 'only the one that did not arrive goes again');
});

test('U17_a_card_that_joined_just_now_is_in_no_press', async () => {
    await card('together-joins');
    await quiet(400);
    await page.keyboard.press('Control+.');
    await button(/^Allow once/).focus();
    await page.evaluate(() => window.cairnMore());
    await quiet(50);
    await page.keyboard.press('Enter');
    const sent = await answers();
    assert.equal(sent.length, 1, 'the one that had been in sight');
    assert.equal(await page.locator('.ask').count(), 1, 'the other waits');

    await card('together-three');
    await quiet(400);
    await box('Tick all').check({ force: true });
    await scrollToEnd();
    await button('Allow 3 ticked').focus();
    const before = await button('Allow 3 ticked').boundingBox();
    await page.evaluate(() => window.cairnMore());
    const now = await button('Allow 3 ticked').boundingBox();
    assert.deepEqual(now, before, 'the buttons stay where they are');
    await quiet(50);
    await page.keyboard.press('Enter');
    await page.mouse.click(now.x + 20, now.y + 10);
    assert.deepEqual(await kinds(), [], 'too early');
    await quiet(400);
    await page.mouse.click(now.x + 20, now.y + 10);
    assert.equal((await answers()).length, 3, 'never the fourth, which nobody ticked');
});

test('a_press_that_began_before_a_card_joined_answers_nothing', async () => {
    await card('together-three');
    await quiet(400);
    await box('Tick all').check({ force: true });
    await scrollToEnd();
    const at = await button('Allow 3 ticked').boundingBox();
    await page.mouse.move(at.x + 20, at.y + 10);
    await page.mouse.down();
    await page.evaluate(() => window.cairnMore());
    await quiet(5000);
    await page.mouse.up();
    assert.deepEqual(await kinds(), []);
});

test('deny_all_with_a_note_tells_each_and_without_one_stops', async () => {
    for (const [note, wanted] of [
        ['use the other chart', 3],
        ['', 1],
    ]) {
        await card('together-three');
        await quiet(400);
        await page.keyboard.press('Control+.');
        await page.keyboard.press('n');
        await page.waitForFunction(() => document.activeElement?.closest('.panel'));
        await page.keyboard.type(note);
        await quiet(400);
        await page.keyboard.press('Enter');
        const sent = await answers();
        assert.equal(sent.length, wanted);
        for (const { answer } of sent) assert.deepEqual(answer, { kind: 'deny', note: note || null });
    }
});

test('a_read_only_list_shows_all_and_answers_nothing', async () => {
    await card('together-readonly');
    await quiet(400);
    await page.keyboard.press('Control+.');
    for (const key of ['y', 's', 'n']) await page.keyboard.press(key);
    assert.deepEqual(await kinds(), []);
    assert.equal(await page.locator('.ask input:enabled').count(), 0);
});

for (const theme of ['light', 'dark']) {
    test(`axe_finds_nothing_in_what_is_chosen_and_ticked_${theme}`, async () => {
        await card('hunks', theme);
        await quiet(400);
        await button(/^Change… the text of change 1/).click();
        await page.keyboard.type('x');
        await box('Apply change 2 of 3').uncheck({ force: true });
        await axeFindsNothing();
        await card('together', theme);
        await quiet(400);
        await box('Tick all').check({ force: true });
        await axeFindsNothing();
        await card('window-inbox', theme);
        await button('7 waiting for you').click();
        await page.getByRole('listitem').nth(6).waitFor();
        await quiet(1000);
        await page.evaluate(() => window.cairnInbox(['w-2', 'w-new']));
        await page.evaluate(() =>
            window.cairnEmit({ v: 1, seq: 0, session: '', at: 0, type: 'inbox_changed', waiting: 2 }),
        );
        await page.getByText('/etc/hosts').waitFor();
        await axeFindsNothing();
    });
}

test('the_inbox_lists_all_windows_and_moves_no_button', async () => {
    await card('window-inbox');
    await button('7 waiting for you').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('listitem').nth(6).waitFor();
    assert.equal(await dialog.getByText('in another window').count(), 5);
    assert.equal(await dialog.getByRole('button', { name: /Allow|Skip|Deny/ }).count(), 0);
    const open = dialog.getByRole('button', { name: /^Open: Question/ });
    const before = await open.boundingBox();
    await page.evaluate(() => window.cairnInbox(['w-2', 'w-4', 'w-new']));
    await page.evaluate(() =>
        window.cairnEmit({ v: 1, seq: 0, session: '', at: 0, type: 'inbox_changed', waiting: 3 }),
    );
    await dialog.getByText('/etc/hosts').waitFor({ state: 'attached' });
    assert.deepEqual(await open.boundingBox(), before);
    assert.equal(await dialog.getByText('answered', { exact: true }).count(), 5);
    await open.click();
    const calls = await page.evaluate(() => window.cairnCalls.filter(({ what }) => what === 'inbox/show'));
    assert.deepEqual(calls.at(-1).with, { session: 's-q' });
});

test('the_inbox_opens_what_waits_here_with_the_focus_on_its_card', async () => {
    await card('window-inbox');
    await button('7 waiting for you').click();
    await page
        .getByRole('dialog')
        .getByRole('button', { name: /^Open: Edit src\/chart\/axis.rs/ })
        .click();
    await quiet(100);
    await page.locator('.ask').waitFor();
    await quiet(400);
    await page.waitForFunction(() => document.activeElement?.closest('.ask'));
    assert.equal(await page.getByRole('dialog').count(), 0);
    assert.equal(await page.locator('.ask h2').textContent(), 'Edit axis.rs?');
});

test('a_long_command_never_cuts_the_title_beside_it', async () => {
    await card('together-many');
    const cut = await page.evaluate(() =>
        [...document.querySelectorAll('.ask li .what b')]
            .filter((title) => title.nextElementSibling?.tagName === 'CODE')
            .map((title) => title.scrollWidth - title.clientWidth),
    );
    assert.ok(cut.length > 1, 'no command is folded');
    assert.deepEqual(
        cut.filter((by) => by > 1),
        [],
    );
});
