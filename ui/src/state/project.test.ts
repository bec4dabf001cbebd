import { describe, expect, test, vi } from 'vitest';

import { RequestFailed } from '../backend/backend';
import { FakeBackend } from '../backend/fake';
import type { Event } from '../bindings';
import { emptySession, logs, NOW, snapshotOf } from './fixtures';
import { quiet } from './fixtures/trust';
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
        trust: quiet,
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

const toWindow = (body: object): Event => ({ v: 1, seq: 0, session: '', at: 0, ...body }) as Event;
const warning = (text: string): Event =>
  toWindow({ type: 'notice', notice: { level: 'warning', code: 'temporary_kept', text } });

describe('what is said to the window', () => {
  test('a warning stays until it is closed, once, however much is said after it', async () => {
    const project = await started(new FakeBackend());
    vi.useFakeTimers();
    try {
      for (const text of ['a', 'b', 'c', 'd', 'a']) project.apply(warning(text));
      for (let n = 0; n < 9; n += 1) project.say(`passing ${n}`);
      vi.advanceTimersByTime(60_000);
      expect(project.toasts.map((toast) => toast.text).sort()).toEqual(['a', 'b', 'c', 'd']);
    } finally {
      vi.useRealTimers();
    }
  });

  test('is not taken for something of the open session', async () => {
    const project = await started(new FakeBackend());
    project.apply(warning('a'));
    expect(project.current?.notices).toEqual([]);
  });

  test('a wish to close counts down as sessions end', async () => {
    const busy = (id: string) => emptySession(id, id, { state: 'running' });
    const project = await started(new FakeBackend({ sessions: [busy('a'), busy('b')] }));
    // One more works than is listed.
    project.apply(toWindow({ type: 'close_asked', working: 3 }));
    expect(project.working).toBe(3);
    for (const [id, left] of [
      ['a', 2],
      ['b', 1],
    ] as const) {
      project.apply(toWindow({ type: 'session_changed', now: { ...busy(id), state: 'done' } }));
      expect(project.working).toBe(left);
    }
    await project.answerClose('keep');
    expect(project.closeAsked).toBeNull();
  });
});

test('a session that cannot be opened leaves the others in sight', async () => {
  const refuse = (): never => {
    throw new RequestFailed('storage', 'Its events are damaged.');
  };
  const project = await started(new FakeBackend({ answers: { 'session/open': refuse } }));
  expect(project.problem).toBeNull();
  expect(project.sessions.length).toBeGreaterThan(1);
  expect(project.toasts.map((toast) => toast.text)).toEqual(['That did not work: Its events are damaged.']);
});

test('a profile is asked about its window once', async () => {
  const backend = new FakeBackend();
  const project = await started(backend);
  await project.setWindow('local', 65_536);
  expect(project.aside.has('local')).toBe(true);
  expect(project.settings?.profiles.find((p) => p.name === 'local')?.context_window).toBe(65_536);
  project.putAside('work');
  expect([...project.aside]).toEqual(['local', 'work']);
});
