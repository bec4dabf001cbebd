/**
 * Takes a shown command apart into lines and words, so that it can only be wrapped between words.
 *
 * Pure. Owns: that no character gets lost or added: all texts joined are the command again.
 */
import type { ShownSpan } from '../bindings';

/** What stands between two possible breaks: spaces, or one word with the chips in it. */
export type Piece = { kind: 'space'; text: string } | { kind: 'word'; spans: ShownSpan[] };

/** The lines of a command, each in pieces. */
export function linesOf(spans: readonly ShownSpan[]): Piece[][] {
  const lines: Piece[][] = [[]];
  for (const span of spans) {
    if (span.kind === 'chip') {
      joinWord(lines, span);
      continue;
    }
    span.text.split('\n').forEach((text, i) => {
      if (i > 0) lines.push([]);
      for (const part of text.split(/( +)/)) {
        if (part === '') continue;
        if (part.startsWith(' ')) lines.at(-1)?.push({ kind: 'space', text: part });
        else joinWord(lines, { ...span, text: part });
      }
    });
  }
  return lines;
}

/** Characters of a line, for how often it can wrap. */
export function lengthOf(line: readonly Piece[]): number {
  return line.reduce((sum, piece) => {
    if (piece.kind === 'space') return sum + piece.text.length;
    return sum + piece.spans.reduce((n, span) => n + span.text.length + 2, 0);
  }, 0);
}

function joinWord(lines: Piece[][], span: ShownSpan): void {
  const line = lines.at(-1);
  const last = line?.at(-1);
  if (last?.kind === 'word') last.spans.push(span);
  else line?.push({ kind: 'word', spans: [span] });
}
