import { describe, expect, it } from 'vitest';

import { FakeBackend } from '../backend/fake';
import type { Waiting } from '../bindings';
import { emptySession, logs, NOW } from './fixtures';
import { listed, refreshed } from './inbox';
import { Inbox } from './inbox.svelte';
import { ProjectState } from './project.svelte';

const one = (id: string, given: Partial<Waiting> = {}): Waiting => ({
  id,
  session: 's-1',
  title: 'A session',
  project: 'tidewater',
  here: true,
  kind: 'command',
  target: [{ kind: 'plain', text: 'cargo test' }],
  at: NOW,
  ...given,
});
const drawn = (entries: readonly { waiting: Waiting; over: boolean }[] | null) =>
  entries?.map(({ waiting, over }) => `${waiting.id}${over ? ' over' : ''}`);

/** A core that lists what it is told to. */
function core(first: Waiting[]) {
  let waiting = first;
  const backend = new FakeBackend({ answers: { 'inbox/list': () => ({ waiting }) } });
  return { backend, now: (next: Waiting[]) => (waiting = next) };
}

describe('U3: the inbox', () => {
  it('keeps_every_entry_in_its_place_while_it_is_open', () => {
    const shown = listed([one('a'), one('b'), one('c')]);
    const next = refreshed(shown, [one('x'), one('a'), one('c', { title: 'Another title' })]);
    expect(drawn(next)).toEqual(['a', 'b over', 'c', 'x']);
    expect(next[2]?.waiting.title).toBe('Another title');
    expect(drawn(refreshed(next, []))).toEqual(['a over', 'b over', 'c over', 'x over']);
  });

  it('is_listed_anew_when_the_count_changes_while_it_is_open_and_only_then', async () => {
    const { backend, now } = core([one('a'), one('b')]);
    const inbox = new Inbox(backend);
    inbox.changed(5);
    expect(inbox.count).toBe(5);
    expect(backend.asked).toHaveLength(0);
    inbox.show();
    await expect.poll(() => drawn(inbox.entries)).toEqual(['a', 'b']);
    expect(inbox.count).toBe(2);
    now([one('b'), one('c')]);
    inbox.changed(2);
    await expect.poll(() => drawn(inbox.entries)).toEqual(['a over', 'b', 'c']);
    inbox.show();
    await expect.poll(() => drawn(inbox.entries)).toEqual(['b', 'c']);
  });

  it('says_why_it_could_not_be_had', async () => {
    const backend = new FakeBackend({
      answers: {
        'inbox/list': () => {
          throw new Error('no answer');
        },
      },
    });
    const inbox = new Inbox(backend);
    inbox.show();
    await expect.poll(() => inbox.problem).not.toBe('');
    expect(inbox.entries).toBeNull();
  });

  it('opens_here_what_waits_here_and_asks_for_the_window_of_the_rest', async () => {
    const log = logs.edit();
    const backend = new FakeBackend({ logs: [log], sessions: [emptySession('s-2', 'Another')] });
    const project = new ProjectState(backend);
    await project.start();
    await project.open('s-2');
    expect(await project.showWaiting(one('a', { session: log.session.id }))).toBe(true);
    expect(project.current?.id).toBe(log.session.id);
    expect(await project.showWaiting(one('b', { session: 's-far', here: false }))).toBe(false);
    expect(project.current?.id).toBe(log.session.id);
    expect(backend.asked.at(-1)).toEqual({ method: 'inbox/show', params: { session: 's-far' } });
    expect(backend.asked.some(({ method }) => method === 'approval/answer')).toBe(false);
  });

  it('opens_the_session_that_another_window_wants_and_counts_over_all', async () => {
    const log = logs.edit();
    const backend = new FakeBackend({ logs: [log], sessions: [emptySession('s-2', 'Another')] });
    const project = new ProjectState(backend);
    await project.start();
    await project.open('s-2');
    const said = { v: 1, seq: 0, session: '', at: NOW } as const;
    project.openSettings();
    backend.emit({ ...said, type: 'inbox_changed', waiting: 4 });
    expect(project.inbox.count).toBe(4);
    backend.emit({ ...said, type: 'session_wanted', wanted: log.session.id });
    await expect.poll(() => project.current?.id).toBe(log.session.id);
    expect(project.place).toBe('session');
  });
});
