/**
 * Cards of one reply that are asked about as one list. SPEC P4, P10, U17.
 *
 * Pure. Owns: which cards make a list, which of them may be ticked, and which a press may answer.
 * Must never know: how they are drawn or sent.
 */
import type { Approval, ApprovalSubject } from '../bindings';
import { QUIET_MS } from './guard';

/** Lines up to which a row is open by itself. */
const OPEN_LINES = 12;
/** Characters of a line in the narrowest window. */
const LINE = 80;

/** What tells a card from every other, its recomputed self included. */
export function keyOf(card: Approval): string {
  return `${card.id} ${card.digest}`;
}

/** Whether a card may be allowed along with others; what loses something or leaves the fence asks by itself. */
export function tickable(card: Approval): boolean {
  return card.filled && card.loss === null;
}

/** The cards that are asked about together with the oldest; none when there is nothing to tick together, and never a plan. */
export function together(cards: readonly Approval[]): readonly Approval[] {
  const first = cards[0];
  if (first?.subject.kind === 'plan') return [];
  const rows = cards.filter((card) => card.turn === first?.turn && card.subject.kind !== 'plan');
  return rows.filter(tickable).length >= 2 ? rows : [];
}

/** What is known of the rows when a button is pressed, each by {@link keyOf}. */
export type Pressed = {
  ticked: readonly string[];
  /** When each row was first drawn. */
  drawn: ReadonlyMap<string, number>;
  /** What was answered already. */
  answered: { has(id: string): boolean };
  now: number;
};

/** The rows that a press answers, in their order: ticked, not answered, and drawn long enough to have been meant. */
export function answerable(rows: readonly Approval[], pressed: Pressed): Approval[] {
  return rows.filter((row) => {
    const since = pressed.drawn.get(keyOf(row));
    const settled = since !== undefined && pressed.now - since >= QUIET_MS;
    return settled && tickable(row) && pressed.ticked.includes(keyOf(row)) && !pressed.answered.has(row.id);
  });
}

/** Whether a row is short enough to be open by itself. */
export function opensByItself({ subject }: Approval): boolean {
  return linesOf(subject) <= OPEN_LINES;
}

function linesOf(subject: ApprovalSubject): number {
  if (subject.kind === 'edit') {
    return subject.diffs.reduce(
      (sum, diff) => sum + 1 + diff.hunks.reduce((n, hunk) => n + 1 + hunk.lines.length, 0),
      0,
    );
  }
  if (subject.kind !== 'command') return 1;
  const text = subject.shown.map((span) => span.text).join('');
  return text.split('\n').reduce((sum, line) => sum + 1 + Math.floor(line.length / LINE), 0);
}
