// Settings and first screens. SPEC A6, A7, A8, U7.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { button, calls, open, page } from './stage.mjs';

test('a_found_model_is_added_with_a_valid_name', async () => {
    await open('settings');
    await button('Add gemma3:12b').click();
    await button('Save').click();
    const [saved] = await calls('profile/save');
    assert.equal(saved.name, 'gemma3-12b');
    assert.equal(saved.model, 'gemma3:12b');
    assert.equal(saved.base_url, 'http://127.0.0.1:11434');
});

test('a_bad_number_keeps_the_typed_text_and_is_not_sent', async () => {
    await open('settings-profile');
    await page.getByText('More', { exact: true }).click();
    await page.getByLabel('Context window in tokens').fill('many');
    await button('Save').click();
    assert.deepEqual(await calls('profile/save'), []);
    assert.equal(await page.getByLabel('Context window in tokens').inputValue(), 'many');
    await page.getByText('“many” is not a number this field can hold.').waitFor();
});

test('the_dialog_begins_in_its_first_field_and_escape_closes_only_it', async () => {
    await open('settings');
    await button('Add a model').click();
    assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'INPUT');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.deepEqual(await calls('close'), []);
    assert.equal(await page.evaluate(() => document.activeElement?.textContent?.trim()), 'Add a model');
});

test('test_connection_shows_time_abilities_and_warnings', async () => {
    await open('settings-profile');
    await button('Test connection').click();
    await page.getByText('Ollama gives it only 4,096 tokens.').waitFor();
    await page.getByText('does not list large-2').waitFor();
});

test('a_failed_test_says_why', async () => {
    await open('settings-test-fails');
    await button('Test connection').click();
    await page.getByText('connection refused. Start it, then Retry.').waitFor();
});

test('a_key_is_covered_sent_once_and_never_kept_in_the_page', async () => {
    await open('settings-profile');
    const field = page.getByLabel('API key', { exact: true });
    await field.fill('made-up-secret');
    assert.equal(await field.getAttribute('type'), 'password');
    await button('Save').click();
    assert.deepEqual(await calls('key/set'), [{ profile: 'work', keep: 'keychain' }]);
    assert.ok(!(await page.content()).includes('made-up-secret'));
});

test('without_a_keychain_it_says_so_and_offers_the_other_places', async () => {
    await open('settings-no-keychain');
    await page.getByLabel('API key', { exact: true }).fill('made-up-secret');
    await button('Save').click();
    await page.getByText('no secret service answers').waitFor();
    assert.equal(await page.getByRole('radio', { name: 'In the system’s keychain' }).isDisabled(), true);
    assert.equal(await page.getByRole('radio', { name: 'This session only' }).isChecked(), true);
    assert.equal(await page.getByRole('radio', { name: 'In a file only you can read' }).isChecked(), false);
});

test('a_rule_is_revoked_and_rules_of_the_file_are_left_to_the_file', async () => {
    await open('settings');
    await button('Revoke run: cargo test').click();
    assert.deepEqual(await calls('rule/revoke'), [
        { rule: 'run: cargo test', scope: 'project', session: null },
    ]);
    await button('Revoke run: cargo test').waitFor({ state: 'detached' });
    assert.equal(await button('Revoke host: docs.rs').count(), 1);
    assert.equal(await button('Revoke run: rm').count(), 0);
});

test('a_broken_file_is_named_with_line_column_and_reason', async () => {
    await open('settings-broken');
    const alert = page.getByRole('alert');
    assert.match(await alert.innerText(), /config\.toml[\s\S]*line 14, column 9[\s\S]*everything asks/);
});

test('a_model_is_deleted_only_after_a_second_click', async () => {
    await open('settings');
    await button('Delete work').click();
    assert.deepEqual(await calls('profile/delete'), []);
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    assert.deepEqual(await calls('profile/delete'), ['work']);
});

test('the_first_run_offers_the_ablest_model_and_can_be_skipped', async () => {
    await open('first-run');
    assert.equal(await page.getByRole('radio', { name: 'gemma3:12b' }).isChecked(), true);
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowUp');
    await button('Start with qwen3:8b').click();
    assert.deepEqual(await calls('use'), [['Ollama', 'qwen3:8b']]);
    await button('Skip for now').click();
    await button('Try the demo').click();
    assert.equal((await calls('skip')).length + (await calls('demo')).length, 2);
});

test('no_model_lists_every_port_with_its_answer', async () => {
    await open('no-model');
    assert.equal(await page.getByRole('row').count(), 5);
    await button('Look again').click();
    await button('Add a key or URL').click();
    assert.equal((await calls('look')).length + (await calls('add')).length, 2);
});

test('an_error_has_the_button_that_does_something_about_it', async () => {
    for (const [state, name] of [
        ['banner-bad-key', 'Change the key'],
        ['banner-no-credit', 'Retry'],
        ['banner-too-long', 'New session'],
        ['banner-no-model', 'Choose a model'],
        ['banner-model-unreachable', 'Retry'],
    ]) {
        await open(state);
        await button(name).click();
        assert.equal((await calls('remedy')).length, 1, state);
    }
    await open('banner-retrying');
    await page.getByText('Retrying in 8 s').waitFor();
});

test('a_heading_that_is_jumped_to_shows_its_whole_ring', async () => {
    await open('settings-rules');
    const { ring, top } = await page.evaluate(() => {
        const heading = document.activeElement;
        const { outlineOffset, outlineWidth } = getComputedStyle(heading);
        return {
            ring: heading.getBoundingClientRect().top - parseFloat(outlineOffset) - parseFloat(outlineWidth),
            top: heading.closest('.columns').getBoundingClientRect().top,
        };
    });
    assert.ok(ring >= top, `the ring begins at ${ring}, what is in sight at ${top}`);
});
