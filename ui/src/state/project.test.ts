import { describe, expect, test, vi } from 'vitest';

import { RequestFailed } from '../backend/backend';
import { FakeBackend } from '../backend/fake';
import type { Event } from '../bindings';
import { emptySession, logs, NOW, snapshotOf } from './fixtures';
import { ProjectState } from './project.svelte';

async function started(backend: FakeBackend): Promise<ProjectState> {
  const project = new ProjectState(backend);
  await project.start();
  return project;
}

test('opens the newest session and hears its events', async () => {
  const log = logs.tour();
  const backend = new FakeBackend({ logs: [log], played: 10 });
  const project = await started(backend);
  await project.open(log.session.id);
  while (backend.step(log.session.id) > 0);
  expect(project.current?.approvals).toHaveLength(1);
  expect(project.current?.rows.length).toBe(snapshotOf(log).items.length);
  expect(project.sessions.find((s) => s.id === log.session.id)?.state).toBe('waiting');
});

test('events between the question and its snapshot are not lost', async () => {
  const log = logs.tour();
  const backend = new FakeBackend({ logs: [log], played: 10, answers: {} });
  const project = await started(backend);
  const open = backend.request.bind(backend);
  vi.spyOn(backend, 'request').mockImplementation(async (method, params) => {
    const answer = await open(method, params as never);
    // The rest happens while the snapshot is on its way.
    if (method === 'session/open') while (backend.step(log.session.id) > 0);
    return answer as never;
  });
  project.current = null;
  await project.open(log.session.id);
  expect(project.current).toMatchObject({ waiting: 1 });
});

test('a missed event makes the whole be asked for again', async () => {
  const log = logs.tour();
  const backend = new FakeBackend({ logs: [log], played: 10 });
  const project = await started(backend);
  await project.open(log.session.id);
  const last = log.events.at(-1) as Event;
  backend.step(log.session.id, 5);
  const before = backend.asked.filter((a) => a.method === 'session/open').length;
  while (backend.step(log.session.id) > 0);
  project.current?.apply({ ...last, seq: last.seq + 5, type: 'plan_changed', plan: [] } as Event);
  await vi.waitFor(() =>
    expect(backend.asked.filter((a) => a.method === 'session/open').length).toBeGreaterThan(before),
  );
});

describe('the list', () => {
  test('loads on until the last session', async () => {
    const sessions = Array.from({ length: 230 }, (_, n) =>
      emptySession(`s${n}`, `Session ${n}`, { updated_at: NOW - n * 1000 }),
    );
    const project = await started(new FakeBackend({ sessions }));
    while (project.more) await project.loadMore();
    expect(project.sessions.map((s) => s.id)).toEqual(sessions.map((s) => s.id));
  });

  test('a deleted session goes, another opens, and Undo brings it back', async () => {
    const project = await started(new FakeBackend());
    const gone = project.sessions[0];
    if (!gone) throw new Error('no session');
    await project.open(gone.id);
    project.removeWithUndo(gone);
    await vi.waitFor(() => expect(project.toasts).toHaveLength(1));
    expect(project.sessions.some((s) => s.id === gone.id)).toBe(false);
    expect(project.current?.id).not.toBe(gone.id);
    project.toasts[0]?.action?.run();
    await vi.waitFor(() => expect(project.sessions[0]?.id).toBe(gone.id));
    expect(project.toasts).toHaveLength(0);
  });

  test('an archived session goes from the list and stays findable', async () => {
    const project = await started(new FakeBackend());
    const session = project.sessions[1];
    if (!session) throw new Error('no session');
    await project.archive(session.id, true);
    expect(project.sessions.some((s) => s.id === session.id)).toBe(false);
    expect((await project.search(session.title)).map((hit) => hit.session.id)).toContain(session.id);
    await project.showArchived(true);
    expect(project.sessions.some((s) => s.id === session.id)).toBe(true);
  });
});

test('a plan that the core refuses is put back', async () => {
  const log = logs.tour();
  const refuse = (): never => {
    throw new RequestFailed('busy', 'Another window holds it.');
  };
  const project = await started(new FakeBackend({ logs: [log], answers: { 'plan/set': refuse } }));
  await project.open(log.session.id);
  const before = project.current?.plan;
  await expect(project.current?.setPlan([])).rejects.toThrow('Another window holds it.');
  expect(project.current?.plan).toBe(before);
});

test('what keeps the window from opening is shown, and Retry tries again', async () => {
  let broken = true;
  const answers = {
    'project/get': () => {
      if (broken) throw new RequestFailed('bad_folder', 'The folder is gone.');
      return {
        name: 'a',
        path: '/a',
        branch: null,
        demo: false,
        has_model: true,
        empty: false,
        prompts: [],
        rules: 0,
        proposals: [],
      };
    },
  };
  const project = await started(new FakeBackend({ answers }));
  expect(project.problem).toMatchObject({ code: 'bad_folder', message: 'The folder is gone.' });
  broken = false;
  await project.load();
  expect(project.problem).toBeNull();
  expect(project.project?.name).toBe('a');
});

test('a draft is kept after a pause, and at once when the session is left', async () => {
  vi.useFakeTimers();
  try {
    const backend = new FakeBackend();
    const project = await started(backend);
    const kept = (): unknown[] => backend.asked.filter((a) => a.method === 'draft/set').map((a) => a.params);
    project.current?.setDraft('a');
    project.current?.setDraft('ab');
    expect(kept()).toEqual([]);
    vi.advanceTimersByTime(400);
    expect(kept()).toHaveLength(1);
    project.current?.setDraft('abc');
    await project.open(project.sessions[2]?.id ?? '');
    expect(kept().at(-1)).toMatchObject({ text: 'abc' });
  } finally {
    vi.useRealTimers();
  }
});
