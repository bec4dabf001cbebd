import { describe, expect, it } from 'vitest';

import type { Ask } from '../bindings';
import { answerOf, answersOf, decide, emptyDrafts, pick, write } from './question';

const ask = (multiple: boolean): Ask => ({
  text: 'Which?',
  multiple,
  options: [1, 2, 3].map((n) => ({ label: `Option ${n}`, description: '' })),
});
const [empty] = emptyDrafts([ask(false)]);
if (!empty) throw new Error('no draft');

describe('T30: answers to questions', () => {
  it('tells_the_three_kinds_apart', () => {
    expect(answerOf(pick(empty, ask(false), 2))).toEqual({ kind: 'picked', options: [2] });
    expect(answerOf(write(empty, ' mine '))).toEqual({ kind: 'own', text: 'mine' });
    expect(answerOf(decide(empty))).toEqual({ kind: 'you_decide' });
    expect(answerOf(empty)).toBeNull();
  });

  it('keeps_own_words_whatever_is_chosen_after_them', () => {
    const written = write(empty, 'half a thought');
    const picked = pick(written, ask(false), 0);
    expect(answerOf(picked)).toEqual({ kind: 'picked', options: [0] });
    expect(picked.own).toBe('half a thought');
    expect(decide(written).own).toBe('half a thought');
  });

  it('picks_one_of_a_single_and_several_of_a_multiple_question_in_their_order', () => {
    expect(pick(pick(empty, ask(false), 0), ask(false), 1).picked).toEqual([1]);
    const both = pick(pick(empty, ask(true), 2), ask(true), 0);
    expect(both.picked).toEqual([0, 2]);
    expect(pick(both, ask(true), 2).picked).toEqual([0]);
    expect(answerOf(pick(pick(empty, ask(true), 1), ask(true), 1))).toBeNull();
  });

  it('ignores_an_option_that_is_not_there', () => {
    expect(pick(empty, ask(false), 3)).toBe(empty);
    expect(pick(empty, ask(false), -1)).toBe(empty);
  });

  it('empty_own_words_are_no_answer', () => {
    expect(answerOf(write(write(empty, 'x'), '  '))).toBeNull();
  });

  it('sends_nothing_while_one_answer_is_missing', () => {
    const drafts = emptyDrafts([ask(false), ask(true)]);
    expect(answersOf(drafts)).toBeNull();
    expect(answersOf(drafts.map(decide))).toHaveLength(2);
  });
});
