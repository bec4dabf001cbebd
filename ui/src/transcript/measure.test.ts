import { expect, test } from 'vitest';

import { Heights } from './measure';

const keys = (count: number, from = 0): string[] => Array.from({ length: count }, (_, n) => `k${n + from}`);

/** The slow and obvious way. */
function sum(heights: Heights, to: number): number {
  let all = 0;
  for (let n = 0; n < to; n += 1) all += heights.heightOf(n);
  return all;
}

test('distances are the sums of the heights, whatever is measured in which order', () => {
  const heights = new Heights();
  heights.take(keys(500), (at) => 20 + (at % 7));
  let seed = 1;
  const next = (below: number): number => (seed = (seed * 48271) % 2147483647) % below;
  for (let n = 0; n < 400; n += 1) {
    heights.measured(next(500), 5 + next(300));
    if (n === 200) heights.take(keys(700), () => 33);
    const at = next(500);
    expect(heights.topOf(at)).toBe(sum(heights, at));
  }
  expect(heights.total).toBe(sum(heights, 700));
});

test('the entry at a distance is the one that covers it', () => {
  const heights = new Heights();
  heights.take(keys(50), () => 10);
  for (const [distance, at] of [
    [0, 0],
    [9, 0],
    [10, 1],
    [255, 25],
    [499, 49],
    [9999, 49],
  ] as const) {
    expect(heights.at(distance)).toBe(at);
  }
});

test('a stretch covers the view and leaves room for the rest', () => {
  const heights = new Heights();
  heights.take(keys(10_000), () => 50);
  const stretch = heights.stretch(100_000, 800, 400);
  expect(stretch.to - stretch.from).toBeLessThan(40);
  expect(stretch.before).toBeLessThanOrEqual(99_600);
  expect(heights.total - stretch.after).toBeGreaterThanOrEqual(101_200);
});

test('entries put before the others keep what was measured of these', () => {
  const heights = new Heights();
  heights.take(keys(3, 10), () => 10);
  heights.measured(1, 99);
  heights.take([...keys(5), ...keys(3, 10)], () => 10);
  expect(heights.heightOf(6)).toBe(99);
  expect(heights.total).toBe(70 + 99);
});
