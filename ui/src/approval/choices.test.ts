import { describe, expect, it } from 'vitest';

import type { Approval } from '../bindings';
import { logs, viewOf } from '../state/fixtures';
import { diff as diffOf } from '../state/fixtures/script';
import { allowing, choiceOf, divisible, isHidden, outcomeFor, proposedText, untouched } from './choices';

const one = diffOf('a.rs', 1, [' a', '-b', '+c', '', '+']);
const hunk = one.hunks[0];
if (!hunk) throw new Error('no hunk');
const diff = { ...one, hunks: [hunk, hunk, hunk] };
const [first] = viewOf(logs.edit()).approvals;
if (!first) throw new Error('no card');
const card: Approval = { ...first, offers_hunks: true, subject: { kind: 'edit', diffs: [diff] } };

describe('P4: places of an edit', () => {
  it('takes_everything_as_proposed_until_something_else_is_chosen', () => {
    expect(outcomeFor(card, untouched(diff))).toEqual({ kind: 'all' });
    expect(allowing(card, untouched(diff))).toEqual({ kind: 'allow_once' });
    expect(allowing(card, undefined)).toEqual({ kind: 'allow_once' });
  });

  it('sends_one_choice_for_each_place', () => {
    const drafts = untouched(diff);
    drafts[1] = { take: false, text: 'kept though left' };
    drafts[2] = { take: true, text: 'mine\r\nand more' };
    expect(allowing(card, drafts)).toEqual({
      kind: 'allow_changed',
      hunks: [{ kind: 'take' }, { kind: 'leave' }, { kind: 'replace', text: 'mine\nand more' }],
    });
    expect(outcomeFor(card, drafts)).toEqual({ kind: 'part', n: 2, total: 3, changed: true });
  });

  it('allows_nothing_when_nothing_is_chosen', () => {
    const drafts = diff.hunks.map(() => ({ take: false, text: null }));
    expect(outcomeFor(card, drafts)).toEqual({ kind: 'nothing' });
    expect(allowing(card, drafts)).toBeNull();
  });

  it('text_that_is_the_proposal_again_is_the_proposal', () => {
    expect(choiceOf(hunk, { take: true, text: proposedText(hunk) })).toEqual({ kind: 'take' });
    expect(choiceOf(hunk, { take: true, text: '' })).toEqual({ kind: 'replace', text: '' });
  });

  it('seeds_the_new_side_with_its_unchanged_lines', () => {
    expect(proposedText(hunk).startsWith('a\nc')).toBe(true);
    expect(proposedText(hunk)).not.toContain('b');
  });

  it('never_writes_a_place_anew_whose_text_is_not_all_there', () => {
    const chip = { kind: 'chip' as const, text: '\\u{202e}' };
    const at = (kind: 'removed' | 'added') => ({
      ...hunk,
      lines: [{ kind, old: kind === 'removed' ? 1 : null, new: kind === 'added' ? 1 : null, spans: [chip] }],
    });
    expect(isHidden(at('removed'))).toBe(false);
    expect(isHidden(at('added'))).toBe(true);
    expect(choiceOf(at('added'), { take: true, text: 'x' })).toEqual({ kind: 'take' });
    expect(choiceOf(at('added'), { take: false, text: 'x' })).toEqual({ kind: 'leave' });
  });

  it('offers_places_only_where_the_core_does_and_for_one_file', () => {
    expect(divisible(card)).toBe(diff);
    expect(divisible({ ...card, offers_hunks: false })).toBeNull();
    expect(divisible({ ...card, subject: { kind: 'edit', diffs: [diff, diff] } })).toBeNull();
    expect(
      allowing(
        { ...card, offers_hunks: false },
        diff.hunks.map(() => ({ take: false, text: null })),
      ),
    ).toEqual({
      kind: 'allow_once',
    });
  });
});
