/** What waits over all windows. */
import { RequestFailed } from '../../src/backend/backend';
import type { Answers, FakeOptions } from '../../src/backend/fake';
import type { ShownSpan, Waiting } from '../../src/bindings';
import { emptySession, logs, NOW } from '../../src/state/fixtures';

const plain = (text: string): ShownSpan => ({ kind: 'plain', text });
const minutes = (n: number): number => NOW - n * 60_000;

const entry = (id: string, given: Partial<Waiting>): Waiting => ({
  id,
  session: 's-other',
  title: 'Port the importer to csv 2',
  project: 'harbour',
  here: false,
  kind: 'command',
  target: [plain('cargo test -p importer')],
  at: minutes(4),
  ...given,
});

/** Two things in the open window, the rest in others. */
export function waitingThings(): Waiting[] {
  const edit = logs.edit().session;
  const tour = logs.tour().session;
  return [
    entry('w-1', { at: minutes(95) }),
    entry('w-2', {
      session: edit.id,
      title: edit.title,
      project: 'tidewater',
      here: true,
      kind: 'edit',
      target: [plain('src/chart/axis.rs')],
      at: minutes(12),
    }),
    entry('w-3', {
      session: tour.id,
      title: tour.title,
      project: 'tidewater',
      here: true,
      target: [plain('cargo test -p chart && cargo run -- --render target/axis.png')],
      at: minutes(9),
    }),
    entry('w-4', {
      session: 's-q',
      title: '',
      project: 'lighthouse',
      kind: 'question',
      target: [plain('Which of the two charts shall have the new margin?')],
      at: minutes(5),
    }),
    entry('w-5', {
      kind: 'connect',
      target: [{ kind: 'chip', text: '\\u{430}' }, plain('pple.com')],
      title: 'A very long title of a session that nobody would ever give to it '.repeat(3),
    }),
    entry('w-6', {
      target: [plain(`grep -rn margin ${'--include=src/part.rs '.repeat(8)}`)],
      at: NOW - 42_000,
    }),
    entry('w-7', {
      kind: 'remember',
      target: [plain('Charts are drawn in metres above datum.')],
      at: NOW - 8_000,
    }),
  ];
}

/** A window with two sessions that wait; `cairnInbox` of the page says what the core would list next. */
export function inboxOptions(answers: Answers): FakeOptions {
  let waiting = waitingThings();
  Object.assign(window, {
    cairnInbox: (ids: string[]) => {
      waiting = waitingThings().filter((one) => ids.includes(one.id));
      if (ids.includes('w-new'))
        waiting.push(entry('w-new', { kind: 'read', target: [plain('/etc/hosts')] }));
    },
  });
  return {
    logs: [logs.tour(), logs.edit()],
    sessions: [emptySession('s-slow', 'Why is startup slow?', { state: 'done' })],
    answers: { ...answers, 'inbox/list': () => ({ waiting }) },
  };
}

/** What the list answers when it cannot be had. */
export function inboxFailed(): never {
  throw new RequestFailed('internal', 'The core does not answer. Close and open the window.');
}
