import { expect, test } from 'vitest';

import type { Item } from '../bindings';
import { rich } from './fixtures';
import { Sentences } from './announce';

const item = (text: string): Item => ({
  id: 'i',
  turn: 't',
  at: 0,
  state: 'running',
  body: { kind: 'assistant', text },
  rendered: rich(text),
});

test('says finished sentences once each, and the rest at the end', () => {
  const text = 'The margin is 1.5 px. It should follow the label! See `axis.rs` for it';
  const sentences = new Sentences();
  const said: string[] = [];
  for (let end = 1; end <= text.length; end += 1) {
    const now = sentences.next(item(text.slice(0, end)), false);
    if (now) said.push(now);
  }
  said.push(sentences.next(item(text), true));
  expect(said).toEqual(['The margin is 1.5 px.', 'It should follow the label!', 'See axis.rs for it']);
});

test('says a block when the next one begins', () => {
  const sentences = new Sentences();
  expect(sentences.next(item('# A heading'), false)).toBe('');
  expect(sentences.next(item('# A heading\n\nText'), false)).toBe('A heading');
});

test('names the size of code instead of reading it', () => {
  const sentences = new Sentences();
  expect(sentences.next(item('```rust\nlet a = 1;\nlet b = 2;\n```\n\nDone.'), true)).toBe('2 rust\nDone.');
});
