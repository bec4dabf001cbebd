// Event logs for the gallery and the tests, by name. Each is a whole session from its first event.
import type { Event, ProjectView, Session, SessionSnapshot, SettingsView } from '../bindings';
import { quiet } from './fixtures/trust';
import { emptySession, emptySnapshot, NOW, type Script } from './fixtures/script';
import {
  askedQuestions,
  everyOutcome,
  everyState,
  hostile,
  loadingModel,
  long,
  longHeadings,
  many as manyRequests,
  retrying,
  waitingEdit,
  waitingQuestion,
} from './fixtures/states';
import { AXIS, finishedTour, tour } from './fixtures/tour';
import { fromSnapshot, reduce, type SessionView } from './reduce';

export { AXIS, NOW };
export { commandCard } from './fixtures/tour';
export { emptySession, emptySnapshot, meter, Script } from './fixtures/script';
export { rich } from './fixtures/rich';

/** A recorded session. */
export interface Log {
  /** Before the first event. */
  snapshot: SessionSnapshot;
  events: readonly Event[];
  /** As it is after the last event. */
  session: Session;
}

const logOf = (script: Script, title = script.session.title): Log => ({
  snapshot: emptySnapshot(
    emptySession(script.session.id, title, { created_at: script.events[0]?.at ?? NOW }),
  ),
  events: script.events,
  session: script.session,
});

/** A session of many short requests. */
export const many = (requests: number): Log => logOf(manyRequests(requests));

/** Every log by name. Made when asked for: some are long. */
export const logs = {
  tour: () => logOf(tour()),
  finished: () => logOf(finishedTour()),
  states: () => logOf(everyState()),
  outcomes: () => logOf(everyOutcome()),
  edit: () => logOf(waitingEdit()),
  question: () => logOf(waitingQuestion()),
  asked: () => logOf(askedQuestions()),
  headings: () => logOf(longHeadings()),
  hostile: () => logOf(hostile()),
  long: () => logOf(long()),
  many: () => many(64),
  loading: () => logOf(loadingModel()),
  retrying: () => logOf(retrying()),
  empty: (): Log => {
    const session = emptySession('s-empty', 'New session');
    return { snapshot: emptySnapshot(session), events: [], session };
  },
} satisfies Record<string, () => Log>;

export type LogName = keyof typeof logs;

/** The view after the first `count` events of a log; after all of them by default. */
export function viewOf(log: Log, count = log.events.length): SessionView {
  return log.events.slice(0, count).reduce(reduce, fromSnapshot(log.snapshot));
}

/** The snapshot the core would answer with after the first `count` events of a log. */
export function snapshotOf(log: Log, count = log.events.length): SessionSnapshot {
  const view = viewOf(log, count);
  return {
    session: view.session,
    turns: [...view.turns],
    items: [...view.items],
    approvals: [...view.approvals],
    question: view.question,
    plan: [...view.plan],
    accepted_plan: view.acceptedPlan,
    queue: [...view.queue],
    marks: [...view.marks].map(([item, mark]) => ({ item, mark })),
    draft: view.draft,
    meter: view.meter,
    activity: view.activity,
    held_by: view.heldBy,
    last_seq: view.lastSeq,
  };
}

export const project: ProjectView = {
  name: 'tidewater',
  path: '/home/ada/tidewater',
  branch: 'chart-axis',
  demo: false,
  has_model: true,
  empty: false,
  prompts: [
    'Explain how this project is laid out',
    'Run the tests and mend what fails',
    'Find places where errors are swallowed',
    'Draw the module graph as SVG',
  ],
  rules: 2,
  trust: quiet,
};

export const settings: SettingsView = {
  path: '/home/ada/.config/cairn/config.toml',
  broken: null,
  profiles: [
    {
      name: 'local',
      api: 'openai',
      base_url: 'http://127.0.0.1:11434/v1',
      model: 'qwen3:8b',
      fast_model: null,
      context_window: 32_768,
      max_output_tokens: null,
      temperature: null,
      prices: null,
      header_names: [],
      key: 'none',
      local: true,
    },
    {
      name: 'work',
      api: 'openai',
      base_url: 'https://models.example.org/v1',
      model: 'large-2',
      fast_model: 'small-2',
      context_window: 200_000,
      max_output_tokens: 8_192,
      temperature: 0.2,
      prices: { input: 3, cached: 0.3, output: 15 },
      header_names: ['X-Team'],
      key: 'keychain',
      local: false,
    },
  ],
  default_profile: 'local',
  default_mode: 'manual',
  theme: 'system',
  reading: 'sandboxed',
  model_files: false,
  origins: [['profiles', 'user']],
};

/** The list of the mock. */
export const sessions: Session[] = [
  emptySession('s-axis', 'Fix the tide chart axis', {
    state: 'waiting',
    changes: { files: 2, added: 13, removed: 6 },
    updated_at: NOW,
  }),
  emptySession('s-csv', 'Port the importer to csv 2', {
    state: 'running',
    changes: { files: 9, added: 212, removed: 180 },
    updated_at: NOW - 4 * 60_000,
  }),
  emptySession('s-slow', 'Why is startup slow?', {
    state: 'done',
    updated_at: Date.UTC(2025, 10, 30, 11, 20),
  }),
  emptySession('s-accents', 'Station search with accents', {
    state: 'done',
    changes: { files: 4, added: 88, removed: 12 },
    updated_at: Date.UTC(2025, 10, 29, 17, 2),
  }),
  emptySession('s-notes', 'Review of the release notes', {
    state: 'stopped',
    changes: { files: 1, added: 3, removed: 3 },
    updated_at: Date.UTC(2025, 10, 29, 15, 40),
  }),
  emptySession('s-svg', 'Draw the harbour plan as SVG', {
    state: 'done',
    changes: { files: 1, added: 640, removed: 0 },
    updated_at: Date.UTC(2025, 10, 29, 9, 12),
  }),
];

/** Pictures of the fixtures by blob id, as addresses an `<img>` can load. */
export const pictures: Record<string, string> = {
  [AXIS]: `data:image/svg+xml,${encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" width="1280" height="720" viewBox="0 0 208 117"><rect width="208" height="117" fill="#fff"/><path d="M18 12v88h176" fill="none" stroke="#e5e1da"/><path d="M18 82C40 18 58 18 78 62s40 54 62-6 40-38 60 8" fill="none" stroke="#4a6636" stroke-width="2.4"/></svg>',
  )}`,
};
