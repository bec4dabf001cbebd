import { describe, expect, it } from 'vitest';

import type { Approval } from '../bindings';
import { commandCard, NOW } from '../state/fixtures';
import { QUIET_MS } from './guard';
import { answerable, keyOf, opensByItself, tickable, together } from './together';

const card = (id: string, given: Partial<Approval> = {}): Approval => ({
  ...commandCard,
  id,
  turn: 't-1',
  item: `i-${id}`,
  call: `c-${id}`,
  at: NOW,
  digest: `d-${id}`,
  ...given,
});
const [a, b, c] = [card('a'), card('b'), card('c')];
const ids = (cards: readonly Approval[]) => cards.map((one) => one.id);

describe('P4: cards that ask together', () => {
  it('lists_the_cards_of_the_oldest_request_in_their_order', () => {
    expect(ids(together([a, b, card('x', { turn: 't-2' }), c]))).toEqual(['a', 'b', 'c']);
    expect(together([])).toEqual([]);
    expect(together([a, card('x', { turn: 't-2' })])).toEqual([]);
  });

  it('makes_no_list_where_fewer_than_two_could_be_ticked', () => {
    expect(together([a, card('x', { loss: 'work' })])).toEqual([]);
    expect(ids(together([card('x', { filled: false }), a, b]))).toEqual(['x', 'a', 'b']);
  });

  it.each([
    [{ loss: 'three changes' }, false],
    [{ filled: false }, false],
    [{ filled: false, loss: 'x' }, false],
    [{}, true],
  ])('may_be_ticked %#', (given, may) => {
    expect(tickable(card('a', given))).toBe(may);
  });

  it('opens_what_is_short_by_itself', () => {
    const of = (text: string) =>
      card('a', { subject: { kind: 'command', shown: [{ kind: 'plain', text }], workdir: '' } });
    expect(opensByItself(of('cargo test'))).toBe(true);
    expect(opensByItself(of('x'.repeat(5000)))).toBe(false);
    expect(opensByItself(of('a\n'.repeat(40)))).toBe(false);
  });
});

describe('U17: what a press may answer', () => {
  const drawn = new Map([
    [keyOf(a), 0],
    [keyOf(b), 50],
    [keyOf(c), 0],
  ]);
  const pressed = (now: number, ticked: Approval[], answered: string[] = []) =>
    ids(answerable([a, b, c], { ticked: ticked.map(keyOf), drawn, answered: new Set(answered), now }));

  it('answers_only_what_was_in_sight_for_400_ms', () => {
    expect(pressed(QUIET_MS - 1, [a, b, c])).toEqual([]);
    expect(pressed(QUIET_MS, [a, b, c])).toEqual(['a', 'c']);
    expect(pressed(QUIET_MS + 50, [a, b, c])).toEqual(['a', 'b', 'c']);
  });

  it('answers_only_what_is_ticked_in_the_order_of_the_list_and_once', () => {
    expect(pressed(5000, [c, a])).toEqual(['a', 'c']);
    expect(pressed(5000, [c, a], ['a'])).toEqual(['c']);
    expect(pressed(5000, [])).toEqual([]);
  });

  it('never_answers_a_card_that_was_recomputed_since_it_was_ticked', () => {
    const newer = { ...a, digest: 'other' };
    expect(answerable([newer], { ticked: [keyOf(a)], drawn, answered: new Set(), now: 5000 })).toEqual([]);
    expect(answerable([newer], { ticked: [keyOf(newer)], drawn, answered: new Set(), now: 5000 })).toEqual(
      [],
    );
  });

  it('never_answers_what_asks_by_itself_even_if_it_is_ticked', () => {
    const lossy = { ...a, loss: 'work' };
    expect(answerable([lossy], { ticked: [keyOf(lossy)], drawn, answered: new Set(), now: 5000 })).toEqual(
      [],
    );
  });
});
