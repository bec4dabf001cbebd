/** The whole window, each state over a recorded session. */
import { RequestFailed } from '../../src/backend/backend';
import type { Answers, FakeOptions } from '../../src/backend/fake';
import type { Event, EventBody, ErrorCode, TrustView } from '../../src/bindings';
import { emptySession, logs, type LogName, NOW, project, settings } from '../../src/state/fixtures';
import { leftovers, running, server } from '../../src/state/fixtures/running';
import {
  changed,
  many,
  plain,
  replaced,
  trusted,
  unreadable,
  untrusted,
} from '../../src/state/fixtures/trust';
import { emptySnapshot, Script, terminal } from '../../src/state/fixtures/script';
import type { GalleryState } from '../state';
import WindowStage from '../stages/WindowStage.svelte';
import { leftoverAnswers, processAnswers } from './running';
import { inboxOptions, inboxFailed } from './inbox';
import { servers } from './settings';

const theme = (): 'light' | 'dark' =>
  new URLSearchParams(location.search).get('theme') === 'dark' ? 'dark' : 'light';

/** Settings that keep the theme of the address. */
const themed = (): Answers => ({ 'settings/get': () => ({ ...settings, theme: theme() }) });

const names: readonly LogName[] = [
  'tour',
  'finished',
  'states',
  'outcomes',
  'edit',
  'question',
  'asked',
  'headings',
  'hostile',
  'long',
  'many',
  'loading',
  'retrying',
  'empty',
];

const state = (
  name: string,
  options: () => FakeOptions,
  more: { then?: Event[]; settings?: string } = {},
): GalleryState => ({
  name: `window-${name}`,
  group: 'Window',
  stage: WindowStage,
  props: () => ({ options: options(), ...more }),
});

/** Something that is said to the window itself. */
const said = (body: EventBody): Event => ({ v: 1, seq: 0, session: '', at: NOW, ...body }) as Event;

/** A log whose model's window nobody tells. */
const assumed = (name: LogName): FakeOptions => {
  const log = logs[name]();
  const { meter } = log.snapshot;
  const unknown = { ...meter, window: 16_384, compacts_at: 11_500, assumed: true };
  const events = log.events.map((e) =>
    e.type === 'meter_changed' ? { ...e, meter: { ...e.meter, ...unknown, used: e.meter.used } } : e,
  );
  const asked = { ...log, snapshot: { ...log.snapshot, meter: unknown }, events };
  return { logs: [asked], sessions: [], answers: themed() };
};

/** A window that cannot start; with `times` only so often, then it can. */
const cannot = (code: ErrorCode, message: string, times = Infinity): FakeOptions => {
  let left = times;
  const refuse = (): never => {
    throw new RequestFailed(code, message);
  };
  return {
    logs: [logs.tour()],
    sessions: [],
    answers: {
      'project/get': () => (left > 0 ? ((left -= 1), refuse()) : project),
      'settings/get': () => (left > 0 ? refuse() : { ...settings, theme: theme() }),
      ...(times === Infinity ? { 'session/list': refuse, 'session/create': refuse } : {}),
    },
  };
};

/** A window on a folder that nobody trusts. */
const asksTrust = (trust: TrustView, log: LogName = 'finished'): FakeOptions => ({
  logs: [logs[log]()],
  sessions: [],
  answers: {
    ...themed(),
    'project/get': () => ({ ...project, trust }),
    'trust/get': () => trust,
    'trust/give': () => trusted,
  },
});

/** 300 characters of path inside a sentence. */
const longPath = `/home/ada/tidewater/${'src/chart/a-folder-with-a-long-name/'.repeat(7)}.axis.rs.cairn-tmp-4711`;
const kept: Event = said({
  type: 'notice',
  notice: {
    level: 'warning',
    code: 'temporary_kept',
    text: `${longPath} was left by a write that was cut off: the file beside it was changed since. Look at it, then delete it.`,
  },
});

/** Two sessions that work beside the one that waits. */
const working = (): FakeOptions => ({
  logs: [logs.tour()],
  sessions: [
    emptySession('s-csv', 'Port the importer to csv 2', { state: 'running', updated_at: NOW - 60_000 }),
    emptySession('s-svg', 'Draw the harbour plan as SVG', { state: 'running', updated_at: NOW - 90_000 }),
  ],
  answers: themed(),
});
const finished = (id: string, title: string): Event =>
  said({ type: 'session_changed', now: emptySession(id, title, { state: 'done' }) });

const FOLDER = 'There is no folder /home/ada/tidewater. Check the path, or make the folder first.';
const READ_ONLY =
  'Could not make /home/ada/.local/share/cairn/sessions.db: permission denied. Check its permissions, or set CAIRN_HOME to a folder that can be written.';
const FULL =
  'Could not write /home/ada/.local/share/cairn/sessions.db: no space left on the disk. Free some space, then try again.';

const inboxes: GalleryState[] = [
  state('inbox', () => inboxOptions(themed())),
  state('inbox-empty', () => ({ logs: [logs.finished()], sessions: [], answers: themed() })),
  state('inbox-failed', () => ({
    logs: [logs.finished()],
    sessions: [],
    answers: { ...themed(), 'inbox/list': inboxFailed },
  })),
];

/** A session in which a call waits for a command, and a server runs beside it. */
const commandRuns = (): FakeOptions => {
  const script = new Script(emptySession('s-run', 'Draw the chart again'), NOW - 60_000);
  script.request('Test it, and keep the server running.');
  script.say('I run the tests of the chart.');
  const item = script.call(
    {
      name: 'shell',
      title: 'Run',
      target: 'cargo test -p chart',
      limit: 120_000,
      blocks: [terminal('cargo test -p chart', 'running 12 tests\n', { end: { kind: 'running' } })],
    },
    'running',
  );
  const call = item.body.kind === 'tool' ? item.body.call : '';
  script.activity({ kind: 'running_tool', call });
  const { session, events } = script;
  const waitedFor = running('p3', { call, ports: [{ port: 3000, address: '127.0.0.1', pid: 4703 }] });
  const answers = processAnswers([server(), waitedFor], { p3: 'running 12 tests\n' });
  return {
    logs: [{ snapshot: emptySnapshot(emptySession('s-run', session.title)), events, session }],
    sessions: [],
    answers: { ...themed(), ...answers },
  };
};

const special: GalleryState[] = [
  ...inboxes,
  state('running', commandRuns),
  state('leftovers', () => ({
    logs: [logs.finished()],
    sessions: [],
    answers: { ...themed(), ...leftoverAnswers(leftovers) },
  })),
  state('leftovers-stay', () => ({
    logs: [logs.tour()],
    sessions: [],
    answers: { ...themed(), ...leftoverAnswers(leftovers, ['l-2']) },
  })),
  state('unknown-window', () => assumed('finished')),
  state('unknown-window-empty', () => assumed('empty')),
  state('unknown-window-waiting', () => assumed('tour')),
  state('unknown-window-refused', () => {
    const options = assumed('finished');
    const refuse = (): never => {
      throw new RequestFailed(
        'bad_config',
        'config.toml is broken at line 14, so nothing can be kept in it. Mend it, then try again.',
      );
    };
    return { ...options, answers: { ...options.answers, 'profile/window': refuse } };
  }),
  state('closing', working, { then: [said({ type: 'close_asked', working: 2 })] }),
  state('closing-idle', working, {
    then: [
      said({ type: 'close_asked', working: 2 }),
      finished('s-csv', 'Port the importer to csv 2'),
      finished('s-svg', 'Draw the harbour plan as SVG'),
    ],
  }),
  state(
    'closing-refused',
    () => ({
      ...working(),
      answers: {
        ...themed(),
        'window/close': () => {
          throw new RequestFailed(
            'storage',
            'The session could not be stored. Free some space, then try again.',
          );
        },
      },
    }),
    { then: [said({ type: 'close_asked', working: 1 })] },
  ),
  state('cannot-open-folder', () => cannot('bad_folder', FOLDER)),
  state('cannot-open-read-only', () => cannot('storage', READ_ONLY)),
  state('cannot-open-full-disk', () => cannot('disk_full', FULL)),
  state('cannot-open-twice', () => cannot('bad_folder', FOLDER, 2)),
  state('trust', () => asksTrust(untrusted)),
  state('trust-plain', () => asksTrust(plain)),
  state('trust-empty', () => asksTrust(untrusted, 'empty')),
  state('trust-card', () => asksTrust(untrusted, 'edit')),
  state('trust-changed', () => asksTrust(changed)),
  state('trust-replaced', () => asksTrust(replaced)),
  state('trust-unreadable', () => asksTrust(unreadable)),
  state('trust-many', () => asksTrust(many)),
  state('trust-stale', () => {
    let asked = 0;
    const now = (): TrustView => (asked > 0 ? changed : untrusted);
    return {
      ...asksTrust(untrusted),
      answers: {
        ...asksTrust(untrusted).answers,
        'trust/get': now,
        'trust/give': () => {
          asked += 1;
          throw new RequestFailed(
            'stale',
            'What this folder proposes has changed meanwhile. Look at the list again.',
          );
        },
      },
    };
  }),
  state('trust-settings', () => asksTrust(untrusted), { settings: 'trust' }),
  state('notice-kept', () => ({ logs: [logs.tour()], sessions: [], answers: themed() }), {
    then: [kept, kept],
  }),
  state('broken-config', () => ({
    logs: [logs.finished()],
    sessions: [],
    answers: {
      'settings/get': () => ({
        ...settings,
        theme: theme(),
        broken:
          '/home/ada/.config/cairn/config.toml is broken at line 14, column 9: expected `=` after the key `base_url`\n14 | base_url "http://127.0.0.1:11434/v1"\n   |         ^',
      }),
    },
  })),
];

export const windows: GalleryState[] = [
  ...names.map((name): GalleryState => ({
    name: `window-${name}`,
    group: 'Window',
    stage: WindowStage,
    props: () => ({ options: { logs: [logs[name]()], sessions: [], answers: themed() } }),
  })),
  {
    name: 'window-first-run',
    group: 'Window',
    stage: WindowStage,
    props: () => ({
      options: {
        sessions: [],
        answers: {
          ...themed(),
          'project/get': () => ({ ...project, has_model: false }),
          'model/discover': () => ({ servers }),
        } satisfies Answers,
      },
    }),
  },
  ...special,
];
