import { describe, expect, it } from 'vitest';

import { chipTitle, chooseLanguage, language, shortBytes, shortCount, t } from '.';
import { en } from './en';

describe('U8: the message table', () => {
  it('fills_gaps_and_takes_values_literally', () => {
    expect(t('approval.failed', { why: '$& $1 {why}' })).toBe('The answer did not arrive: $& $1 {why}');
  });

  it('picks_the_plural_form', () => {
    expect(t('common.tokens', { n: 1 })).toBe('1 token');
    expect(t('common.tokens', { n: 4812 })).toBe('4,812 tokens');
  });

  it('every_message_has_words_and_every_plural_an_other_form', () => {
    for (const [key, message] of Object.entries(en)) {
      const forms = typeof message === 'string' ? [message] : Object.values(message);
      expect(
        forms.every((form) => form.trim() !== ''),
        key,
      ).toBe(true);
      if (typeof message !== 'string') expect(message, key).toHaveProperty('other');
    }
  });

  it('falls_back_to_english', () => {
    chooseLanguage(['xx-YY']);
    expect(language()).toBe('en');
  });

  it.each([
    ['state.waiting', 'Waiting for you'],
    ['state.timed_out', 'Timed out'],
    ['mode.accept-edits_means', 'asks for commands'],
    ['composer.idle', 'Ask for a change or a question'],
    ['composer.running', 'Queue a message, or send it now'],
    ['approval.allow_once', 'Allow once'],
    ['approval.always', 'Always allow…'],
    ['approval.row.time_limit', 'Time limit'],
  ] as const)('U13_says_%s_exactly', (key, words) => {
    expect(t(key)).toBe(words);
  });
});

describe('P10: what a chip stands for', () => {
  it.each([
    ['\\u{202e}', 'Right-to-left override, U+202E'],
    ['\\u{200b}', 'Zero-width space, U+200B'],
    ['\\t', 'Tab, U+0009'],
    ['\\u{e0041}', 'Tag character, U+E0041'],
  ])('names_%s', (standIn, words) => {
    expect(chipTitle(standIn)).toContain(words);
  });

  it('says_what_a_run_stands_for', () => {
    expect(chipTitle('300 spaces')).toBe('Stands for 300 spaces.');
  });
});

describe('numbers', () => {
  it.each([
    [0, '0'],
    [999, '999'],
    [12_100, '12.1k'],
    [32_768, '32.8k'],
    [131_072, '131k'],
    [999_960, '1.0M'],
    [1_200_000, '1.2M'],
  ])('writes_%i_tokens_as_%s', (n, words) => expect(shortCount(n)).toBe(words));

  it.each([
    [62, '62 B'],
    [4_100, '4.1 kB'],
    [5_200_000_000, '5.2 GB'],
  ])('writes_%i_bytes_as_%s', (n, words) => expect(shortBytes(n)).toBe(words));
});
