// The trust question and its settings, and the list of rules. SPEC P7, P11.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { SIZES } from './site.mjs';
import { button, calls, open, page } from './stage.mjs';

const question = () => page.getByRole('region', { name: 'This folder proposes things of its own' });
/** Longer than the time in which nothing acts. */
const settle = () => page.waitForTimeout(450);

test('P11_the_question_lists_each_thing_whole_with_hidden_characters_drawn', async () => {
    await open('window-trust');
    const words = await question().innerText();
    for (const part of [
        "TOKEN='a b' npx -y tides-server --data ./data",
        'run: cargo test',
        'prettier --write . && '.repeat(6).trim(),
        '[filter "lfs"] clean = git-lfs clean -- %f',
        'Settings that Cairn never takes from a folder',
    ]) {
        assert.ok(words.includes(part), part);
    }
    assert.match(words, /\\u\{202e\}/);
    assert.ok(!/[\u202e\u200b]/.test(words));
});

test('P11_it_takes_no_focus_and_blocks_nothing', async () => {
    await open('window-trust-card');
    assert.equal(await page.evaluate(() => document.activeElement?.closest('.trust')), null);
    const box = await page.getByRole('textbox').last().boundingBox();
    assert.ok(box.y + box.height <= SIZES[0].height, 'the composer is in sight');
    assert.ok(await button('Allow once').isVisible());
    assert.deepEqual(await calls('trust/give'), []);
});

test('P11_trusting_repeats_the_digest_of_what_was_shown_and_ends_the_question', async () => {
    await open('window-trust');
    const list = page.getByRole('group', { name: 'What it proposes' });
    await list.evaluate((el) => el.scrollTo(0, el.scrollHeight));
    await settle();
    await button('Trust this folder').click();
    await question().waitFor({ state: 'detached' });
    assert.deepEqual(await calls('trust/give'), [{ digest: '1'.repeat(64) }]);
});

test('P11_not_now_puts_it_aside_and_trusts_nothing', async () => {
    await open('window-trust');
    await button('Not now').click();
    await question().waitFor({ state: 'detached' });
    assert.deepEqual(await calls('trust/give'), []);
});

test('P11_a_list_that_scrolls_is_read_to_its_end_first', async () => {
    await open('window-trust-many');
    await settle();
    assert.equal(await button('Trust this folder').getAttribute('aria-disabled'), 'true');
    await button('Trust this folder').click({ force: true });
    assert.deepEqual(await calls('trust/give'), []);
    await page.getByText('Read the list to its end first.').waitFor();
    const list = page.getByRole('group', { name: 'What it proposes' });
    await list.focus();
    await page.keyboard.press('End');
    await page.locator('.trust [aria-disabled="false"]').waitFor();
    await button('Trust this folder').click();
    assert.equal((await calls('trust/give')).length, 1);
});

test('P11_clicks_in_the_first_400_ms_and_second_clicks_do_nothing', async () => {
    await open('window-trust');
    await page.evaluate(() => {
        const list = document.querySelector('.trust .list');
        list.scrollTo(0, list.scrollHeight);
    });
    await settle();
    await button('Trust this folder').evaluate((el) => {
        el.dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 2 }));
    });
    assert.deepEqual(await calls('trust/give'), [], 'a second click');
});

test('T02_what_changed_is_shown_as_it_was_and_as_it_is', async () => {
    await open('window-trust-changed');
    const list = page.getByRole('list', { name: 'What changed' });
    assert.equal(await list.getByRole('listitem').count(), 3);
    const words = await list.innerText();
    assert.match(words, /Before.*npx -y tides-server.*Now.*--post https:\/\/evil\.example/s);
    await button('Trust it as it is now').waitFor();
});

test('P11_a_list_that_changed_before_the_click_is_asked_anew', async () => {
    await open('window-trust-stale');
    await page.evaluate(() => {
        const list = document.querySelector('.trust .list');
        list.scrollTo(0, list.scrollHeight);
    });
    await settle();
    await button('Trust this folder').click();
    await page.getByText('It was not trusted: What this folder proposes has changed').waitFor();
    await page.getByRole('list', { name: 'What changed' }).waitFor();
});

test('P11_a_plain_repository_is_asked_about_in_plain_words', async () => {
    await open('window-trust-plain');
    await page.getByRole('region', { name: 'This folder is not trusted yet' }).waitFor();
    await page.getByText('every git command asks').waitFor();
    await settle();
    await button('Trust this folder').click();
    assert.equal((await calls('trust/give')).length, 1);
});

test('P11_what_cannot_be_shown_whole_cannot_be_trusted', async () => {
    await open('window-trust-unreadable');
    await page.getByText('cannot be read: line 3, column 1').waitFor();
    assert.equal(await button('Trust this folder').count(), 0);
});

test('P11_settings_show_trust_and_withdraw_it', async () => {
    await open('settings-trust-trusted');
    await page.getByText(/^Trusted since /).waitFor();
    await button('Withdraw trust').click();
    await page.getByText('Not trusted.').waitFor();
    assert.equal((await calls('trust/withdraw')).length, 1);
    await button('Trust this folder').click();
    await page.getByText(/^Trusted since /).waitFor();
    assert.deepEqual(await calls('trust/give'), [{ digest: '1'.repeat(64) }]);
});

test('P7_rules_are_listed_with_what_they_mean_and_where_they_come_from', async () => {
    await open('settings-rules');
    const list = page.getByRole('group', { name: 'Rules' }).getByRole('listitem');
    assert.equal(await list.count(), 5);
    assert.match(await list.nth(0).innerText(), /Deny\s+run: rm.*change it there/s);
    assert.match(
        await list.nth(2).innerText(),
        /Allow\s+run: cargo test.*begin with.*this project · on a card · /is,
    );
    assert.match(await list.nth(4).innerText(), /session “Fix the tide chart axis”/);
    assert.equal(await list.nth(0).getByRole('button').count(), 0);
    await button('Revoke run: npm run build').click();
    assert.deepEqual(await calls('rule/revoke'), [
        { rule: 'run: npm run build', scope: 'session', session: 's-axis' },
    ]);
});

test('P7_a_typed_rule_says_what_it_means_or_what_is_wrong_and_is_added_with_enter', async () => {
    await open('settings-rules');
    const field = page.getByLabel('Allow something');
    await field.fill('nonsense');
    await page.getByText('This is not a rule').waitFor();
    await field.fill('run: cargo clippy');
    await page.getByText('Would run without asking: Commands that begin with `cargo clippy`.').waitFor();
    await field.press('Enter');
    await button('Revoke run: cargo clippy').waitFor();
    assert.deepEqual(await calls('rule/add'), [{ rule: 'run: cargo clippy' }]);
    assert.equal(await field.inputValue(), '');
});

test('P7_a_file_of_rules_that_cannot_be_read_is_named', async () => {
    await open('settings-rules-broken');
    await page.getByText('permissions.toml:7:1').waitFor();
    await page.getByText('everything asks').first().waitFor();
});

test('P6_reading_commands_are_turned_on_by_the_person', async () => {
    await open('settings-rules');
    const on = page.getByRole('switch');
    assert.equal(await on.getAttribute('aria-checked'), 'false');
    await on.click();
    await page.locator('[role="switch"][aria-checked="true"]').waitFor();
    const [sent] = await calls('settings/set');
    assert.equal(sent.reading, 'everywhere');
});
