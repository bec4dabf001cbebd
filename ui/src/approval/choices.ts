/**
 * What becomes of each changed place of an edit. SPEC P4.
 *
 * Pure. Owns: what may be chosen, what an answer would do, and that a place with hidden characters is never
 * written anew. Must never know: how it is drawn.
 */
import type { Approval, ApprovalAnswer, FileDiff, Hunk, HunkChoice } from '../bindings';

/** What is chosen for one place. The text is kept while the place is left out. */
export type HunkDraft = {
  take: boolean;
  /** The person's own text for the new side; none while it is as proposed. */
  text: string | null;
};

/** What the answer would do. */
export type Outcome =
  | { kind: 'all' }
  /** `n` of `total` places, some of them in the person's words where `changed`. */
  | { kind: 'part'; n: number; total: number; changed: boolean }
  | { kind: 'nothing' };

/** The one change whose places can be chosen; none for cards that are answered as a whole. */
export function divisible(card: Approval): FileDiff | null {
  if (!card.offers_hunks || card.subject.kind !== 'edit' || card.subject.diffs.length !== 1) return null;
  return card.subject.diffs[0] ?? null;
}

/** Everything as proposed. */
export function untouched(diff: FileDiff): HunkDraft[] {
  return diff.hunks.map(() => ({ take: true, text: null }));
}

/** The whole new side of a place, the unchanged lines around it included. */
export function proposedText(hunk: Hunk): string {
  return hunk.lines
    .filter((line) => line.new !== null)
    .map((line) => line.spans.map((span) => span.text).join(''))
    .join('\n');
}

/** Whether something of the new side is drawn as a sign, so that its text is not all there. */
export function isHidden(hunk: Hunk): boolean {
  return hunk.lines.some((line) => line.new !== null && line.spans.some((span) => span.kind === 'chip'));
}

/** The choice to send for one place. */
export function choiceOf(hunk: Hunk, draft: HunkDraft | undefined): HunkChoice {
  if (draft?.take === false) return { kind: 'leave' };
  const text = draft?.text ?? null;
  if (text === null || isHidden(hunk)) return { kind: 'take' };
  const typed = text.replace(/\r\n?/g, '\n');
  return typed === proposedText(hunk) ? { kind: 'take' } : { kind: 'replace', text: typed };
}

/** What an answer with these choices would do. */
export function outcomeOf(diff: FileDiff, drafts: readonly HunkDraft[]): Outcome {
  const choices = diff.hunks.map((hunk, i) => choiceOf(hunk, drafts[i]));
  const total = choices.length;
  const n = choices.filter((choice) => choice.kind !== 'leave').length;
  const changed = choices.some((choice) => choice.kind === 'replace');
  if (n === 0) return { kind: 'nothing' };
  return n === total && !changed ? { kind: 'all' } : { kind: 'part', n, total, changed };
}

/** What a card would do with these choices; cards without places are taken as a whole. */
export function outcomeFor(card: Approval, drafts: readonly HunkDraft[] | undefined): Outcome {
  const diff = divisible(card);
  return diff && drafts ? outcomeOf(diff, drafts) : { kind: 'all' };
}

/** The answer that allows a card as chosen; none when nothing is chosen, which would be a skip. */
export function allowing(card: Approval, drafts: readonly HunkDraft[] | undefined): ApprovalAnswer | null {
  const diff = divisible(card);
  const outcome = outcomeFor(card, drafts);
  if (outcome.kind === 'nothing') return null;
  if (!diff || !drafts || outcome.kind === 'all') return { kind: 'allow_once' };
  return { kind: 'allow_changed', hunks: diff.hunks.map((hunk, i) => choiceOf(hunk, drafts[i])) };
}
