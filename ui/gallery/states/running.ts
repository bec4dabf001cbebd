/** What runs under a session, what ran, and what earlier runs left behind. */
import { RequestFailed } from '../../src/backend/backend';
import type { Answers } from '../../src/backend/fake';
import type { Leftover, Process } from '../../src/bindings';
import { ended, leftovers, printed, running as runs, server } from '../../src/state/fixtures/running';
import { NOW } from '../data';
import type { GalleryState } from '../state';
import RunningStage from '../stages/RunningStage.svelte';

const lines = (count: number): string =>
  Array.from({ length: count }, (_, i) => `test chart::axis::case_${i} ... ok`).join('\n');

/** A core that knows these commands and does what it is asked. */
export function processAnswers(processes: Process[], texts: Record<string, string> = {}): Answers {
  let known = processes;
  const find = (handle: string): Process => {
    const found = known.find((one) => one.handle === handle);
    if (!found) throw new RequestFailed('not_found', 'There is no such command.');
    return found;
  };
  const change = (handle: string, given: Partial<Process>): Process => {
    const changed = { ...find(handle), ...given };
    known = known.map((one) => (one.handle === handle ? changed : one));
    return changed;
  };
  return {
    'process/list': () => ({ processes: known }),
    'process/output': ({ handle, offset }) => {
      const all = printed(find(handle), texts[handle] ?? '');
      if (offset === null || offset === 0) return all;
      return { ...all, offset, text: all.text.slice(all.text.lastIndexOf('\n') + 1) };
    },
    'process/stop': ({ handle }) =>
      change(handle, { state: { kind: 'ended', end: { kind: 'stopped' } }, ended_at: NOW }),
    'process/more_time': ({ handle }) => change(handle, { limit_ms: (find(handle).limit_ms ?? 0) + 300_000 }),
    'process/to_background': ({ handle }) => change(handle, { place: 'background', limit_ms: null }),
  };
}

/** A core that ends what was left behind, but for those in `stays`. */
export function leftoverAnswers(list: Leftover[], stays: string[] = []): Answers {
  let known = list;
  return {
    'process/leftovers': () => ({ leftovers: known }),
    'process/end_leftover': ({ id }) => {
      known = known.filter((one) => one.id !== id || stays.includes(id));
      return { leftovers: known };
    },
  };
}

const state = (name: string, answers: () => Answers, open = 0): GalleryState => ({
  name: `running-${name}`,
  group: 'Running',
  stage: RunningStage,
  props: () => ({ answers: answers(), open }),
});

const refuse = (): never => {
  throw new RequestFailed('stale', 'No call waits for this command any more.');
};

export const running: GalleryState[] = [
  state('now', () =>
    processAnswers([
      server(),
      runs('p3', { ports: [{ port: 3000, address: '0.0.0.0', pid: 4711 }] }),
      ended('p1', { kind: 'exited', code: 0 }),
    ]),
  ),
  state(
    'log',
    () =>
      processAnswers([runs('p1'), server()], {
        p1: `running 60 tests\n${lines(60)}\nbuilding \u202edlrow\u200b [=======>      ] 57 %`,
      }),
    1,
  ),
  state('silent', () =>
    processAnswers([
      runs('p1', {
        command: 'ssh db-2 uptime',
        silent: true,
        last_output_at: NOW - 95_000,
        started_at: NOW - 100_000,
      }),
    ]),
  ),
  state('left', () =>
    processAnswers([
      runs('p1', {
        command: './start.sh &',
        place: 'background',
        state: { kind: 'left', end: { kind: 'exited', code: 0 } },
      }),
    ]),
  ),
  state(
    'ended',
    () =>
      processAnswers(
        [
          ended('p1', { kind: 'exited', code: 0 }),
          ended('p2', { kind: 'exited', code: 101 }, { command: 'cargo clippy' }),
          ended('p3', { kind: 'signalled', signal: 'SIGSEGV' }, { command: 'target/debug/tidewater' }),
          ended('p4', { kind: 'timed_out' }, { command: 'cargo bench' }),
          ended('p5', { kind: 'stopped' }, { command: 'npm run dev', place: 'background' }),
          ended('p6', { kind: 'interrupted' }, { command: 'sleep 600' }),
        ],
        {},
      ),
    1,
  ),
  state(
    'long',
    () =>
      processAnswers(
        [
          runs('p1', {
            command: `set -e\ncargo test -p chart -- ${'--skip axis_labels_fit_three_digits '.repeat(20)}\nrm -rf target/\u202e\u200b${'x'.repeat(400)}`,
          }),
        ],
        { p1: `${'y'.repeat(4000)}\n` },
      ),
    1,
  ),
  state('many', () =>
    processAnswers(
      Array.from({ length: 40 }, (_, i) =>
        i < 6
          ? runs(`p${i + 1}`, { command: `npm run watch-${i}`, place: 'background', limit_ms: null })
          : ended(`p${i + 1}`, { kind: 'exited', code: i % 3 }, { command: `cargo test case_${i}` }),
      ),
    ),
  ),
  state('empty', () => ({})),
  state('refused', () => ({
    ...processAnswers([runs('p1')]),
    'process/stop': refuse,
    'process/more_time': refuse,
    'process/output': refuse,
  })),
  state('leftovers', () => leftoverAnswers(leftovers, ['l-2'])),
];
