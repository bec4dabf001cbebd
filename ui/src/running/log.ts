// What a command printed, put together from parts that overlap: a pure function of what is there and the next
// part. Owns where a part is cut, and that memory stays bounded however much is printed.
import type { ProcessOutput } from '../bindings';

/** A stretch of the log that does not change any more; drawn once, so that what is selected in it stays so. */
export interface LogPart {
  id: number;
  text: string;
}

export interface Log {
  /** Oldest first. */
  parts: readonly LogPart[];
  /** The line that may still be drawn anew. */
  open: string;
  /** From where on to ask next; none before the first answer. */
  next: number | null;
  /** More was printed before what is kept. */
  cut: boolean;
}

/** UTF-16 units that are kept of a log. */
export const LOG_LIMIT = 400_000;

/** Parts that are kept apart; more of them become one. */
const PARTS = 300;

/** Bytes that the core keeps open of a line; what is longer is settled as it comes. */
const OPEN_LINE = 16 << 10;

export const emptyLog: Log = { parts: [], open: '', next: null, cut: false };

const encoder = new TextEncoder();

/** The log after the answer to what was asked from `log.next` on. */
export function grown(log: Log, { offset, text, omitted, stable }: ProcessOutput): Log {
  // Less than was asked for: what is there does not belong before it.
  const goesOn = log.next !== null && offset >= log.next;
  const before = goesOn ? log.parts : [];
  const at = settledLength(text, stable - offset, omitted);
  const settled = text.slice(0, at);
  const id = (log.parts.at(-1)?.id ?? 0) + 1;
  const parts = settled === '' ? before : [...before, { id, text: settled }];
  const cut = goesOn ? log.cut : offset > 0;
  return bounded({ parts: merged(parts), open: text.slice(at), next: stable, cut });
}

/**
 * Where the open line begins in `text`, of which `bytes` bytes do not change any more. Bytes cannot be counted where
 * something is missing or a secret is masked; but an open line holds no line break, and only a very long one begins
 * elsewhere than after the last.
 */
function settledLength(text: string, bytes: number, omitted: number): number {
  const line = text.lastIndexOf('\n') + 1;
  if (bytes <= 0) return 0;
  if (encoder.encode(text.slice(line)).length <= OPEN_LINE) return openAfter(text, line, bytes, omitted);
  return omitted > 0 ? line : Math.max(line, unitsOf(text, bytes));
}

/** A line that was settled without a break, because it is long, has nothing open behind it. */
function openAfter(text: string, line: number, bytes: number, omitted: number): number {
  const whole = omitted === 0 && line === 0 && encoder.encode(text).length === bytes;
  return whole ? text.length : line;
}

/** UTF-16 units of the first `bytes` bytes. */
function unitsOf(text: string, bytes: number): number {
  const { read } = encoder.encodeInto(text, new Uint8Array(bytes));
  return read;
}

function merged(parts: readonly LogPart[]): readonly LogPart[] {
  if (parts.length <= PARTS) return parts;
  const old = parts.slice(0, PARTS / 2);
  const text = old.map((part) => part.text).join('');
  return [{ id: old[0]?.id ?? 0, text }, ...parts.slice(PARTS / 2)];
}

/** Whole parts go first; of a single one that is too long its end stays, from a line's beginning. */
function bounded(log: Log): Log {
  let over = log.parts.reduce((sum, part) => sum + part.text.length, log.open.length) - LOG_LIMIT;
  if (over <= 0) return log;
  const parts = [...log.parts];
  while (over > 0 && parts.length > 1) over -= parts.shift()?.text.length ?? 0;
  const [first] = parts;
  if (over > 0 && first) {
    const line = first.text.indexOf('\n', over) + 1;
    parts[0] = { ...first, text: first.text.slice(line > 0 ? line : over) };
  }
  return { ...log, parts, cut: true };
}
