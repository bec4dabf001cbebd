/**
 * What the person has chosen so far for a set of questions. SPEC T30, X144.
 *
 * Pure. Owns: the three kinds of answer and that half-typed words outlive every other choice.
 */
import type { Ask, QuestionAnswer } from '../bindings';

/** What is chosen for one question. `own` is kept whatever is chosen after it. */
export type AskDraft = {
  choice: 'none' | 'picked' | 'own' | 'you_decide';
  picked: number[];
  own: string;
};

/** Nothing chosen yet, for each of `asks`. */
export function emptyDrafts(asks: readonly Ask[]): AskDraft[] {
  return asks.map(() => ({ choice: 'none', picked: [], own: '' }));
}

/** Picks option `index`, or takes it back where several may be picked. */
export function pick(draft: AskDraft, ask: Ask, index: number): AskDraft {
  if (index < 0 || index >= ask.options.length) return draft;
  if (!ask.multiple) return { ...draft, choice: 'picked', picked: [index] };
  const had = draft.choice === 'picked' && draft.picked.includes(index);
  const before = draft.choice === 'picked' ? draft.picked : [];
  const picked = had ? before.filter((n) => n !== index) : [...before, index].sort((a, b) => a - b);
  return { ...draft, choice: picked.length > 0 ? 'picked' : 'none', picked };
}

/** Takes the person's own words; empty words choose nothing. */
export function write(draft: AskDraft, own: string): AskDraft {
  if (own.trim() !== '') return { ...draft, choice: 'own', own };
  return { ...draft, choice: draft.choice === 'own' ? 'none' : draft.choice, own };
}

/** Leaves it to the model, or takes that back. */
export function decide(draft: AskDraft): AskDraft {
  return { ...draft, choice: draft.choice === 'you_decide' ? 'none' : 'you_decide' };
}

/** The answer to send; none while nothing is chosen. */
export function answerOf(draft: AskDraft): QuestionAnswer | null {
  switch (draft.choice) {
    case 'none':
      return null;
    case 'picked':
      return draft.picked.length > 0 ? { kind: 'picked', options: draft.picked } : null;
    case 'own':
      return { kind: 'own', text: draft.own.trim() };
    case 'you_decide':
      return { kind: 'you_decide' };
  }
}

/** All answers in the order of the questions; none while one is missing. */
export function answersOf(drafts: readonly AskDraft[]): QuestionAnswer[] | null {
  const answers = drafts.map(answerOf);
  return answers.every((answer) => answer !== null) ? (answers as QuestionAnswer[]) : null;
}
