// The composer and its menus. SPEC U4, faults R6.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { SIZES } from './site.mjs';
import { calls, open, page } from './stage.mjs';

const field = () => page.getByRole('textbox', { name: 'Message', exact: true });

test('enter_sends_and_shift_enter_breaks', async () => {
    await open('composer-idle');
    await field().focus();
    await page.keyboard.type('one');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('two');
    await page.keyboard.press('Enter');
    const [sent] = await calls('turn/send');
    assert.equal(sent.text, 'one\ntwo');
    assert.equal(await field().inputValue(), '');
});

test('enter_of_an_input_method_never_sends', async () => {
    await open('composer-idle');
    await field().focus();
    const composing = await page.context().newCDPSession(page);
    await composing.send('Input.imeSetComposition', { text: 'ni', selectionStart: 2, selectionEnd: 2 });
    await field().dispatchEvent('keydown', { key: 'Enter', isComposing: true });
    await field().dispatchEvent('keydown', { key: 'Enter', keyCode: 229 });
    await field().dispatchEvent('keydown', { key: 'Process' });
    assert.deepEqual(await calls('turn/send'), []);
    await composing.send('Input.insertText', { text: '你' });
    assert.deepEqual(await calls('turn/send'), []);
    await page.keyboard.press('Enter');
    assert.equal((await calls('turn/send')).length, 1);
});

test('up_recalls_the_last_message_only_into_an_empty_field', async () => {
    await open('composer-idle');
    await field().focus();
    await page.keyboard.press('ArrowUp');
    assert.match(await field().inputValue(), /^The y axis/);
    await field().fill('other');
    await page.keyboard.press('ArrowUp');
    assert.equal(await field().inputValue(), 'other');
});

test('the_field_grows_with_its_text_and_the_row_below_stays_in_sight', async () => {
    await open('composer-idle');
    const before = (await field().boundingBox()).height;
    await field().fill('1\n2\n3\n4');
    assert.ok((await field().boundingBox()).height > before + 40);
    await field().fill('x\n'.repeat(200));
    const box = await field().boundingBox();
    assert.ok(box.height <= SIZES[0].height * 0.31, String(box.height));
});

test('a_pasted_picture_becomes_a_chip_that_can_be_taken_away_and_is_sent', async () => {
    await open('composer-idle');
    await field().focus();
    await page.evaluate(() => {
        const data = new DataTransfer();
        data.items.add(new File([new Uint8Array([137, 80, 78, 71])], 'axis.png', { type: 'image/png' }));
        document
            .querySelector('textarea')
            .dispatchEvent(
                new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }),
            );
    });
    await page.getByRole('button', { name: 'Remove axis.png' }).click();
    assert.equal(await page.getByRole('button', { name: 'Remove axis.png' }).count(), 0);
    await page.locator('input[type=file]').setInputFiles({
        name: 'axis.png',
        mimeType: 'image/png',
        buffer: Buffer.from([137, 80, 78, 71]),
    });
    await page.getByRole('button', { name: 'Remove axis.png' }).waitFor();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    const [sent] = await calls('turn/send');
    assert.equal(sent.attachments[0].kind, 'picture');
});

test('what_is_no_picture_is_refused_in_words', async () => {
    await open('composer-idle');
    await page.locator('input[type=file]').setInputFiles({
        name: 'notes.pdf',
        mimeType: 'application/pdf',
        buffer: Buffer.from('x'),
    });
    await page.getByText('notes.pdf is no PNG').waitFor();
    assert.deepEqual(await calls('picture/add'), []);
});

test('the_mode_is_picked_by_keyboard_alone', async () => {
    await open('composer-idle');
    await page.getByRole('button', { name: 'Mode: Manual' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitemradio', { name: /Accept edits/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const [mode] = await calls('session/mode');
    assert.equal(mode, 'accept-edits');
    await page.getByRole('menu').waitFor({ state: 'detached' });
    assert.equal(
        await page.evaluate(() => document.activeElement?.getAttribute('aria-label')),
        'Mode: Manual',
    );
});

test('the_menus_fit_into_the_window_and_name_what_each_mode_means', async () => {
    await open('composer-idle');
    await page.getByRole('button', { name: /^Mode:/ }).click();
    for (const words of [
        'asks before changes',
        'asks for commands',
        'asks for risky things',
        'changes nothing',
    ]) {
        await page.getByRole('menu').getByText(words).waitFor();
    }
    const box = await page.getByRole('menu').boundingBox();
    assert.ok(box.y >= 0 && box.x >= 0);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /^Model:/ }).click();
    await page.getByRole('menuitem', { name: 'Model settings…' }).click();
    assert.equal((await calls('settings')).length, 1);
});

test('the_ring_says_on_focus_what_fills_the_window', async () => {
    await open('composer-idle');
    await page.getByRole('button', { name: /^Mode:/ }).focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.getByText('Rules and tools').waitFor();
    const box = await page.locator('.tip').boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= SIZES[0].width);
});

test('while_a_request_runs_a_message_is_queued_or_sent_now_and_stop_stops', async () => {
    await open('composer-running');
    assert.equal(await field().getAttribute('placeholder'), 'Queue a message, or send it now');
    await field().fill('a');
    await page.keyboard.press('Enter');
    await field().fill('b');
    await page.getByRole('button', { name: 'Send now' }).click();
    await page.getByRole('button', { name: 'Stop' }).click();
    assert.deepEqual(
        (await calls('turn/send')).map(({ when }) => when),
        ['queue', 'now'],
    );
    assert.equal((await calls('turn/stop')).length, 1);
});

test('queued_messages_are_edited_dropped_and_sent_now', async () => {
    await open('composer-queue');
    await page.getByRole('button', { name: 'Edit queued message 1' }).click();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('whole metres');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Remove queued message 2' }).click();
    await page.getByRole('button', { name: 'Send now: queued message 1' }).click();
    const edits = await calls('queue/edit');
    assert.deepEqual(edits[0], { id: 'q-1', text: 'whole metres', now: false });
    assert.deepEqual(edits[1], { id: 'q-2', text: null, now: false });
    assert.equal(edits[2].now, true);
});
