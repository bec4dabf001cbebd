// The window around its sessions: what it asks, what it says, and when it cannot open. SPEC M5, P4, U9, U11, U12.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { show, SIZES } from './site.mjs';
import { button, calls, open, page, site } from './stage.mjs';

const radio = (name) => page.getByRole('radio', { name, exact: true });
const active = () =>
    page.evaluate(() => {
        const at = document.activeElement;
        return at?.tagName === 'TEXTAREA' ? 'composer' : (at?.textContent ?? '').trim();
    });
const emit = (event) =>
    page.evaluate((body) => window.cairnEmit({ v: 1, seq: 0, session: '', at: 0, ...body }), event);
const banner = () => page.getByRole('group', { name: 'How many tokens can qwen3:8b hold?' });

test('M5_an_unknown_window_is_asked_about_once_and_takes_no_focus', async () => {
    await open('window-unknown-window');
    await banner().waitFor();
    assert.equal(await page.evaluate(() => document.activeElement?.closest('.banner') !== null), false);
    await radio('32k').check({ force: true });
    await button('Use this').click();
    assert.deepEqual(await calls('profile/window'), [{ name: 'local', context_window: 32768 }]);
    await banner().waitFor({ state: 'detached' });
    assert.equal(await active(), 'composer');
});

test('M5_an_own_number_is_checked_and_sent_by_keyboard_alone', async () => {
    await open('window-unknown-window');
    await radio('16k').focus();
    for (let n = 0; n < 5; n += 1) await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Tab');
    for (const wrong of ['', '1023', '100000001', 'many', '4096.5']) {
        await page.getByLabel('Tokens', { exact: true }).fill(wrong);
        await page.keyboard.press('Enter');
        await page.getByText('Type a whole number from 1,024 to 100,000,000.').waitFor();
        assert.equal(await page.getByLabel('Tokens', { exact: true }).inputValue(), wrong);
    }
    assert.deepEqual(await calls('profile/window'), []);
    await page.getByLabel('Tokens', { exact: true }).fill('40,960');
    await page.keyboard.press('Enter');
    await banner().waitFor({ state: 'detached' });
    assert.deepEqual(await calls('profile/window'), [{ name: 'local', context_window: 40960 }]);
});

test('M5_what_is_put_aside_is_not_asked_again', async () => {
    await open('window-unknown-window');
    await button('Not now').click();
    await banner().waitFor({ state: 'detached' });
    assert.equal(await active(), 'composer');
    await page.keyboard.press('Control+n');
    await page.waitForFunction(() => window.cairnCalls.some((c) => c.what === 'session/create'));
    assert.equal(await banner().count(), 0);
    assert.deepEqual(await calls('profile/window'), []);
});

test('M5_a_refusal_is_shown_and_the_question_stays', async () => {
    await open('window-unknown-window-refused');
    await button('Use this').click();
    await page.getByText('It could not be kept: config.toml is broken at line 14').waitFor();
    assert.equal(await banner().count(), 1);
});

test('M5_a_card_comes_first', async () => {
    await open('window-unknown-window-waiting');
    await page.locator('.ask').waitFor();
    assert.equal(await page.getByText('How many tokens can').isVisible(), false);
});

test('P4_closing_with_work_running_asks_once_and_begins_on_cancel', async () => {
    await open('window-closing');
    await page.getByText('2 sessions are at work in this window.').waitFor();
    assert.equal(await active(), 'Cancel');
    await emit({ type: 'close_asked', working: 1 });
    await page.getByText('1 session is at work in this window.').waitFor();
    assert.equal(await page.getByRole('dialog').count(), 1);
    assert.equal(await active(), 'Cancel');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.deepEqual(await calls('window/close'), []);
});

test('P4_keep_and_stop_are_sent_as_they_are', async () => {
    for (const [name, work] of [
        ['Keep working', 'keep'],
        ['Stop and close', 'stop'],
    ]) {
        await open('window-closing');
        await button(name).click();
        await page.getByRole('dialog').waitFor({ state: 'detached' });
        assert.deepEqual(await calls('window/close'), [{ work }]);
    }
});

test('P4_when_nothing_works_any_more_it_says_so', async () => {
    await open('window-closing-idle');
    await page.getByRole('heading', { name: 'Nothing is running any more' }).waitFor();
    assert.equal(await active(), 'Cancel');
    await button('Keep working').click({ force: true });
    assert.deepEqual(await calls('window/close'), []);
    await button('Close the window').click();
    assert.deepEqual(await calls('window/close'), [{ work: 'stop' }]);
});

test('P4_a_refused_answer_is_shown_in_the_dialog', async () => {
    await open('window-closing-refused');
    await button('Stop and close').click();
    await page.getByRole('dialog').getByText('The session could not be stored.').waitFor();
});

test('U11_a_window_that_cannot_open_says_why_and_offers_nothing_that_cannot_work', async () => {
    for (const [state, words] of [
        ['folder', 'There is no folder /home/ada/tidewater.'],
        ['read-only', 'permission denied'],
        ['full-disk', 'no space left on the disk'],
    ]) {
        await open(`window-cannot-open-${state}`, SIZES[1]);
        await page.getByText(words).waitFor();
        const names = await page.getByRole('button').allInnerTexts();
        assert.deepEqual(names, ['Copy', 'Try again'], state);
        await page.keyboard.press('Control+n');
        await page.keyboard.press('Control+,');
        assert.deepEqual(await calls('session/create'), []);
        await button('Try again').click();
        await page.getByText(/^Tried again at \d\d:\d\d: it is still so\.$/).waitFor();
    }
});

test('U11_try_again_opens_the_window_once_it_can', async () => {
    await open('window-cannot-open-twice');
    await button('Try again').click();
    await page.getByText('it is still so').waitFor();
    await button('Try again').click();
    await page.getByRole('region', { name: 'Conversation' }).waitFor();
    assert.equal(await page.getByText('This folder cannot be opened').count(), 0);
});

test('a_kept_temporary_file_is_said_once_until_it_is_closed_and_covers_no_composer', async () => {
    await open('window-notice-kept');
    const toast = page.locator('.toast');
    await toast.waitFor();
    assert.equal(await toast.count(), 1);
    const box = await toast.boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= SIZES[0].width && box.y >= 0);
    assert.equal(await toast.evaluate((el) => el.scrollWidth > el.clientWidth), false);
    assert.match(await toast.innerText(), /cairn-tmp-4711 was left by a write/);
    const card = await page.locator('.ask').boundingBox();
    assert.ok(box.y + box.height <= card.y, 'it covers the card');
    await page.clock.install();
    await page.clock.runFor(60_000);
    assert.equal(await toast.count(), 1);
    await toast.getByRole('button', { name: 'Close' }).click();
    assert.equal(await toast.count(), 0);
});

test('a_question_is_one_row_and_its_card_shows_only_where_it_never_asked', async () => {
    await open('window-asked');
    assert.equal(await page.getByRole('group', { name: 'Question', exact: true }).count(), 1);
    assert.equal(await page.getByRole('group', { name: /^Ask/ }).count(), 1);
    await open('window-question');
    assert.equal(await page.getByRole('group', { name: /^Ask/ }).count(), 0);
});

test('U9_at_zoom_200_percent_nothing_leaves_the_window', async () => {
    // 1280 × 860 at 200 %.
    const viewport = { width: 640, height: 430 };
    for (const state of [
        'window-tour',
        'window-edit',
        'window-question',
        'window-unknown-window',
        'window-closing',
        'window-cannot-open-read-only',
        'window-notice-kept',
        'window-broken-config',
        'window-headings',
        'window-first-run',
        'window-trust-settings',
        'window-trust',
        'window-trust-many',
    ]) {
        await open(state, viewport);
        const out = await page.evaluate(() => {
            const reachable = (el) => {
                for (let at = el.parentElement; at; at = at.parentElement) {
                    const { overflowY } = getComputedStyle(at);
                    if (/auto|scroll/.test(overflowY)) return at.clientHeight > 24;
                }
                const box = el.getBoundingClientRect();
                return box.top >= -1 && box.bottom <= innerHeight + 1;
            };
            const found = [];
            if (document.documentElement.scrollWidth > innerWidth) found.push('the page scrolls sideways');
            for (const el of document.querySelectorAll('button, input, textarea, h1, h2')) {
                if (el.closest('[aria-hidden="true"]') || el.type === 'file') continue;
                const box = el.getBoundingClientRect();
                if (box.width === 0) continue;
                const name = `${el.tagName} ${(el.getAttribute('aria-label') ?? el.textContent ?? '').slice(0, 40)}`;
                if (box.left < -1 || box.right > innerWidth + 1) found.push(`${name} leaves the window`);
                if (!reachable(el)) found.push(`${name} cannot be reached`);
            }
            return found;
        });
        assert.deepEqual(out, [], state);
    }
});

test('U9_forced_colours_lose_no_state', async () => {
    await open('window-states', SIZES[1]);
    await page.emulateMedia({ forcedColors: 'active' });
    const unseen = await page.evaluate(() =>
        [...document.querySelectorAll('.state svg, .stone svg, .icon svg')]
            .filter((svg) => svg.getBoundingClientRect().width > 0)
            .filter((svg) => getComputedStyle(svg).stroke === getComputedStyle(document.body).backgroundColor)
            .map((svg) => svg.getAttribute('class')),
    );
    assert.deepEqual(unseen, []);
    await show(page, site.address('kit'));
    await page.emulateMedia({ forcedColors: 'active' });
    const [on, off] = await page.evaluate(() =>
        ['input[type="radio"]:checked + .box', 'input[type="radio"]:not(:checked) + .box'].map(
            (which) => getComputedStyle(document.querySelector(which)).backgroundColor,
        ),
    );
    assert.notEqual(on, off, 'a picked choice looks like the others');
});

test('U1_the_picked_page_of_the_right_pane_goes_with_it_into_the_drawer_and_back', async () => {
    const errors = [];
    await open('window-running', SIZES[1]);
    page.on('pageerror', (error) => errors.push(error.message));
    await page.getByRole('tab', { name: 'Running' }).click();
    await page.setViewportSize(SIZES[0]);
    await page.getByRole('tab').first().waitFor({ state: 'detached' });
    assert.ok(await page.evaluate(() => document.scrollingElement.scrollWidth <= innerWidth));
    await page.getByRole('button', { name: 'Right pane' }).click();
    const running = page.getByRole('tab', { name: 'Running', selected: true });
    await running.waitFor();
    await page.keyboard.press('Escape');
    await page.setViewportSize(SIZES[1]);
    await running.waitFor();
    assert.deepEqual(errors, []);
});
