// Sessions by day, and what is said of each. Pure.
import type { Session } from '../bindings';
import { shortDuration } from '../state/durations';
import { clockTime, dayOf, t } from '../text';

export interface Day {
  /** Heading: *Today*, *Yesterday* or the date. */
  name: string;
  sessions: Session[];
}

/** Sessions, newest first, under the day of their last event. */
export function byDay(sessions: readonly Session[], now: number): Day[] {
  const days = new Map<string, Session[]>();
  for (const session of sessions) {
    const name = nameOf(session.updated_at, now);
    const day = days.get(name);
    if (day) day.push(session);
    else days.set(name, [session]);
  }
  return Array.from(days, ([name, of]) => ({ name, sessions: of }));
}

/** Midnight of the day that holds `at`, in the person's own time zone. */
function midnight(at: number, back = 0): number {
  const day = new Date(at);
  // By calendar, not by 24 hours: days with a clock change are shorter or longer.
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() - back).getTime();
}

function nameOf(at: number, now: number): string {
  if (at >= midnight(now)) return t('sidebar.today');
  return at >= midnight(now, 1) ? t('sidebar.yesterday') : dayOf(at);
}

/** State of a session in words, with the time where one helps. `since` is when its request began. */
export function stateLine(session: Session, since: number | undefined, now: number): string {
  const { state, updated_at } = session;
  if (state === 'running') {
    return t('sidebar.state.running', { for: since === undefined ? '' : shortDuration(now - since) }).trim();
  }
  return t(`sidebar.state.${state}`, { at: clockTime(updated_at) });
}

/** An excerpt in pieces: the found words stand between U+0002 and U+0003. */
export function excerptParts(excerpt: string): { text: string; found: boolean }[] {
  /* eslint-disable no-control-regex -- the two marks are control characters by agreement with the core */
  return excerpt
    .split(/(\u0002[^\u0003]*\u0003?)/)
    .filter((part) => part !== '')
    .map((part) => ({ text: part.replace(/[\u0002\u0003]/g, ''), found: part.startsWith('\u0002') }));
}
