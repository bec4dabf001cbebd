/** What components asked for, in order. The gallery has no core behind it: it writes down and goes on. */
export const calls: { what: string; with: unknown }[] = [];

/** Writes a call down; the returned promise is what the component waits for. */
export function called(what: string, details: unknown = null): Promise<void> {
  calls.push({ what, with: details });
  return Promise.resolve();
}
