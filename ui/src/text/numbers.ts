/** Writes sizes, counts and times the same way everywhere. */
import { language } from './text.svelte';

/** Tokens in a few characters: `12.1k`, `850`, `1.2M`. */
export function shortCount(n: number): string {
  if (n < 1000) return String(Math.round(n));
  const [value, unit] = n < 999_950 ? [n / 1000, 'k'] : [n / 1_000_000, 'M'];
  return `${value.toLocaleString(language(), { minimumFractionDigits: value < 100 ? 1 : 0, maximumFractionDigits: value < 100 ? 1 : 0 })}${unit}`;
}

/** Bytes with a decimal unit: `5.2 GB`. */
export function shortBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit > 0 && value < 10 ? 1 : 0;
  return `${value.toLocaleString(language(), { maximumFractionDigits: digits })} ${units[unit]}`;
}

/** Time of day, like `14:02`. */
export function clockTime(at: number): string {
  return new Date(at).toLocaleTimeString(language(), { hour: '2-digit', minute: '2-digit', hour12: false });
}

/** A day, like `30 November 2026`. */
export function dayOf(at: number): string {
  return new Date(at).toLocaleDateString(language() === 'en' ? 'en-GB' : language(), {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
  });
}
