import { describe, expect, it } from 'vitest';

import { LEAST_WINDOW, MOST_WINDOW, tokensOf, windowSizes } from './window';

describe('M5: a window that is typed', () => {
  it.each([
    ['1024', 1_024],
    ['32768', 32_768],
    [' 131,072 ', 131_072],
    ['131 072', 131_072],
    ['131_072', 131_072],
    ['131\u202f072', 131_072],
    ['100000000', 100_000_000],
  ])('“%s” is %i tokens', (typed, tokens) => expect(tokensOf(typed)).toBe(tokens));

  it.each([
    '',
    ' ',
    '0',
    '1023',
    '100000001',
    '-4096',
    '4096.5',
    '4,096.0',
    '1,5',
    '12,34',
    '32k',
    '1e5',
    '0x4000',
    'many',
    '９９９９',
  ])('“%s” is refused', (typed) => expect(tokensOf(typed)).toBeNull());

  it('offers only what it takes', () => {
    for (const { tokens } of windowSizes) expect(tokensOf(String(tokens))).toBe(tokens);
    expect(windowSizes[0].tokens).toBeGreaterThan(LEAST_WINDOW);
    expect(MOST_WINDOW).toBeGreaterThan(windowSizes[5].tokens);
  });
});
