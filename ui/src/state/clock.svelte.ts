// What time it is, for texts like "14 s". Ticks only while something on the page shows it: an idle
// window costs no processor. Tests and the gallery set it.
import { createSubscriber } from 'svelte/reactivity';

let read: () => number = Date.now;
const changed = new Set<() => void>();

const everySecond = createSubscriber((update) => {
  changed.add(update);
  const timer = setInterval(update, 1000);
  return () => {
    changed.delete(update);
    clearInterval(timer);
  };
});

/** Milliseconds since 1970; what reads it in a component or effect is told every second. */
export function ticking(): number {
  everySecond();
  return read();
}

/** Milliseconds since 1970, asked once. */
export function now(): number {
  return read();
}

/** Replaces the clock; without argument the machine's own is back. */
export function setClock(clock: () => number = Date.now): void {
  read = clock;
  for (const update of changed) update();
}
