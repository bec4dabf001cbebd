import { cleanup, render, screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';

import type { Approval } from '../bindings';
import { logs, viewOf } from '../state/fixtures';
import WaitingDock from './WaitingDock.svelte';

afterEach(cleanup);

function approvals(): readonly Approval[] {
  return viewOf(logs.edit()).approvals;
}

function shown(given: Record<string, unknown> = {}) {
  let at = 0;
  const clock = { now: () => at };
  const onanswer = vi.fn((_: unknown) => Promise.resolve());
  const onleave = vi.fn();
  const props = {
    approvals: approvals().slice(0, 1),
    question: null,
    clock,
    onanswer,
    onquestion: vi.fn(() => Promise.resolve()),
    onleave,
    ...given,
  };
  const view = render(WaitingDock, props);
  const user = userEvent.setup();
  return { ...view, props, onanswer, onleave, user, later: (ms: number) => (at += ms) };
}

const allow = () => screen.getByRole('button', { name: /^Allow once/ });

describe('P10: a card that waits', () => {
  it('repeats_id_and_digest_of_the_card_that_was_shown', async () => {
    const { user, onanswer, later, props } = shown();
    later(400);
    await user.click(allow());
    const [card] = props.approvals;
    expect(onanswer).toHaveBeenCalledExactlyOnceWith({
      approval: card?.id,
      digest: card?.digest,
      answer: { kind: 'allow_once' },
    });
  });

  it('answers_at_most_once_even_while_the_core_has_not_taken_the_card_away', async () => {
    const { user, onanswer, later } = shown();
    later(400);
    await user.click(allow());
    later(1000);
    expect(allow()).toBeDisabled();
    await user.keyboard('{Control>}.{/Control}ysn');
    expect(onanswer).toHaveBeenCalledTimes(1);
  });

  it('begins_the_quiet_time_again_when_only_the_digest_changes', async () => {
    const { user, onanswer, later, rerender, props } = shown();
    later(1000);
    const changed = props.approvals.map((card) => ({ ...card, digest: 'f'.repeat(64) }));
    await rerender({ ...props, approvals: changed });
    await user.click(allow());
    expect(onanswer).not.toHaveBeenCalled();
    later(400);
    await user.click(allow());
    expect(onanswer).toHaveBeenCalledTimes(1);
  });

  it('can_be_answered_again_when_the_answer_did_not_arrive', async () => {
    const onanswer = vi
      .fn()
      .mockRejectedValueOnce({ code: 'storage', message: 'the database is read-only' })
      .mockResolvedValue(undefined);
    const { user, later } = shown({ onanswer });
    later(400);
    await user.click(allow());
    await screen.findByText(/the database is read-only/);
    await user.click(allow());
    expect(onanswer).toHaveBeenCalledTimes(1);
    later(400);
    await user.click(allow());
    expect(onanswer).toHaveBeenCalledTimes(2);
  });

  it('stays_answered_when_the_core_says_that_it_is_stale', async () => {
    const onanswer = vi.fn().mockRejectedValue({ code: 'stale', message: 'gone' });
    const { user, later } = shown({ onanswer });
    later(400);
    await user.click(allow());
    await screen.findByText(/changed meanwhile/);
    expect(allow()).toBeDisabled();
  });

  it('offers_to_accept_edits_only_where_the_core_offers_it', async () => {
    const { user, onanswer, later } = shown();
    later(400);
    await user.click(screen.getByRole('button', { name: 'Accept edits for this request' }));
    expect(onanswer.mock.calls[0]?.[0]).toMatchObject({ answer: { kind: 'accept_edits' } });
  });

  it('hides_always_allow_when_nothing_is_offered', () => {
    shown({ approvals: approvals().slice(1) });
    expect(screen.queryByRole('button', { name: /^Always allow/ })).toBeNull();
  });

  it('announces_what_waits_without_taking_the_focus', async () => {
    shown();
    expect(document.body).toHaveFocus();
    await waitFor(() =>
      expect(
        screen
          .getAllByRole('status')
          .some((status) => /Waiting for you: Edit axis.rs/.test(status.textContent ?? '')),
      ).toBe(true),
    );
  });

  it('names_what_would_be_lost', () => {
    shown({ approvals: approvals().slice(1) });
    expect(screen.getByText('Would be lost')).toBeInTheDocument();
    expect(allow()).not.toHaveClass('primary');
  });
});
