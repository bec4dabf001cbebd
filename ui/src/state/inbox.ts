/**
 * What is listed in the open inbox. SPEC U3.
 *
 * Pure. Owns: that no entry moves while somebody looks: what is over stays where it was and says so, and what is
 * new comes at the end.
 */
import type { Waiting } from '../bindings';

/** One entry as it is listed. */
export type Listed = {
  waiting: Waiting;
  /** It does not wait any more. */
  over: boolean;
};

/** The entries of a list that was just opened. */
export function listed(waiting: readonly Waiting[]): Listed[] {
  return waiting.map((one) => ({ waiting: one, over: false }));
}

/** What is shown after the core said anew what waits. */
export function refreshed(shown: readonly Listed[], waiting: readonly Waiting[]): Listed[] {
  const now = new Map(waiting.map((one) => [one.id, one]));
  const kept = shown.map(({ waiting: one }) => {
    const still = now.get(one.id);
    return { waiting: still ?? one, over: still === undefined };
  });
  const known = new Set(shown.map(({ waiting: one }) => one.id));
  return [...kept, ...listed(waiting.filter((one) => !known.has(one.id)))];
}
