import { describe, expect, it } from 'vitest';

import type { ShownSpan } from '../bindings';
import { lengthOf, linesOf, type Piece } from './command';

const plain = (text: string): ShownSpan => ({ kind: 'plain', text });
const chip = (text: string): ShownSpan => ({ kind: 'chip', text });

const textOf = (pieces: readonly Piece[]): string =>
  pieces
    .map((piece) => (piece.kind === 'space' ? piece.text : piece.spans.map((span) => span.text).join('')))
    .join('');

describe('X79: a command as it is shown', () => {
  it.each([
    ['cargo test -p chart && cargo run -- --render a.png'],
    ['  leading and trailing  '],
    ["echo 'two  spaces'\n\n  next line\n"],
    ['\n'],
    [''],
    ['a'.repeat(10_000)],
  ])('loses_and_adds_no_character %#', (text) => {
    const lines = linesOf([plain(text)]);
    expect(lines.map(textOf).join('\n')).toBe(text);
  });

  it('keeps_a_chip_in_the_word_it_stands_in', () => {
    const [line] = linesOf([plain('cp notes.'), chip('\\u{202e}'), plain('txt b')]);
    expect(line?.map((piece) => piece.kind)).toEqual(['word', 'space', 'word', 'space', 'word']);
    expect(line?.[2]).toEqual({
      kind: 'word',
      spans: [plain('notes.'), chip('\\u{202e}'), plain('txt')],
    });
  });

  it('never_breaks_within_a_word', () => {
    const [line] = linesOf([plain('--include=src/a-b_c.rs --x')]);
    expect(line?.filter((piece) => piece.kind === 'word')).toHaveLength(2);
  });

  it('counts_at_least_as_many_characters_as_there_are', () => {
    const [line = []] = linesOf([plain('ab  cd'), chip('300 spaces')]);
    expect(lengthOf(line)).toBeGreaterThanOrEqual('ab  cd300 spaces'.length);
  });
});
