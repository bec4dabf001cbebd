/**
 * The one question about a model whose window nobody tells. SPEC M5.
 *
 * Pure. Owns: what is offered, and which numbers are taken.
 */

/** What models usually hold, as they are called and in tokens. */
export const windowSizes = [
  { label: '8k', tokens: 8_192 },
  { label: '16k', tokens: 16_384 },
  { label: '32k', tokens: 32_768 },
  { label: '64k', tokens: 65_536 },
  { label: '128k', tokens: 131_072 },
  { label: '200k', tokens: 200_000 },
] as const;

/** What is reckoned with where nobody tells, in tokens. */
export const ASSUMED_WINDOW = 16_384;

/** The smallest and the largest window there may be, in tokens. */
export const LEAST_WINDOW = 1_024;
export const MOST_WINDOW = 100_000_000;

/** The number that was typed, its thousands grouped or not; none where it is none or not between the bounds. */
export function tokensOf(typed: string): number | null {
  const text = typed.trim();
  if (!/^(\d+|\d{1,3}([ ,_\u00a0\u202f]\d{3})+)$/.test(text)) return null;
  const tokens = Number(text.replace(/\D/g, ''));
  return tokens >= LEAST_WINDOW && tokens <= MOST_WINDOW ? tokens : null;
}
