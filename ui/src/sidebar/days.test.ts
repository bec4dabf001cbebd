import { expect, test } from 'vitest';

import { emptySession } from '../state/fixtures';
import { byDay, excerptParts, stateLine } from './days';

const at = (day: number, hour: number, minute = 0): number => new Date(2025, 10, day, hour, minute).getTime();
const session = (updated_at: number) =>
  emptySession(`s${updated_at}`, 'A session', { updated_at, state: 'done' });

test('sessions stand under today, yesterday and the date, in the order given', () => {
  const now = at(30, 0, 5);
  const days = byDay([at(30, 0, 1), at(29, 23, 59), at(29, 0), at(28, 23), at(28, 1)].map(session), now);
  expect(days.map((day) => [day.name, day.sessions.length])).toEqual([
    ['Today', 1],
    ['Yesterday', 2],
    ['28 November 2025', 2],
  ]);
});

test('a session says its state with the time', () => {
  expect(stateLine(session(at(30, 11, 20)), undefined, at(30, 14))).toBe('Done 11:20');
  const running = { ...session(at(30, 13, 58)), state: 'running' as const };
  expect(stateLine(running, at(30, 13, 56), at(30, 14))).toBe('Running 4 min');
  expect(stateLine(running, undefined, at(30, 14))).toBe('Running');
});

test('an excerpt is cut at its marks, and a missing end hides nothing', () => {
  expect(excerptParts('the \u0002axis\u0003 of <b>')).toEqual([
    { text: 'the ', found: false },
    { text: 'axis', found: true },
    { text: ' of <b>', found: false },
  ]);
  expect(excerptParts('a \u0002b')).toEqual([
    { text: 'a ', found: false },
    { text: 'b', found: true },
  ]);
});
