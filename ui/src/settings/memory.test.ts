import { expect, it } from 'vitest';

import { FACT_MOST, factLength, isFact } from './memory';

it.each([
  ['', false],
  ['  \n ', false],
  ['a', true],
  ['🌊'.repeat(FACT_MOST), true],
  [` ${'a'.repeat(FACT_MOST)} `, true],
  ['a'.repeat(FACT_MOST + 1), false],
])('T26_a_fact_has_1_to_500_characters (%#)', (text, fits) => {
  expect(isFact(text)).toBe(fits);
});

it('T26_counts_characters_as_the_core_does', () => {
  expect(factLength(' a🌊é ')).toBe(3);
});
