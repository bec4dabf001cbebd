/** The first screens and the banners. */
import type { Component } from 'svelte';

import type { ErrorCode, FoundServer } from '../../src/bindings';
import BrokenConfig from '../../src/settings/BrokenConfig.svelte';
import BusyBanner from '../../src/start/BusyBanner.svelte';
import CannotOpen from '../../src/start/CannotOpen.svelte';
import CrashBanner from '../../src/start/CrashBanner.svelte';
import ErrorBanner from '../../src/start/ErrorBanner.svelte';
import FirstRun from '../../src/start/FirstRun.svelte';
import NoModel from '../../src/start/NoModel.svelte';
import NoSessions from '../../src/start/NoSessions.svelte';
import PausedBanner from '../../src/start/PausedBanner.svelte';
import RetryBanner from '../../src/start/RetryBanner.svelte';
import { logs, project, viewOf } from '../../src/state/fixtures';
import { called } from '../calls';
import { NOW } from '../data';
import type { GalleryState } from '../state';
import BannerStage from '../stages/BannerStage.svelte';
import PageStage from '../stages/PageStage.svelte';
import { servers } from './settings';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- each page has props of its own
const page = (name: string, shown: Component<any>, props: Record<string, unknown>): GalleryState => ({
  name,
  group: 'Start',
  stage: PageStage,
  props: () => ({ page: shown, pageProps: props }),
});

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- each banner has props of its own
const banner = (name: string, shown: Component<any>, props: Record<string, unknown>): GalleryState => ({
  name,
  group: 'Banners',
  stage: BannerStage,
  props: () => ({ banner: shown, bannerProps: props }),
});

const ways = {
  onuse: (server: FoundServer, model: { name: string }) => called('use', [server.name, model.name]),
  onlook: () => called('look'),
  onadd: () => called('add'),
  ondemo: () => called('demo'),
  onskip: () => called('skip'),
};
const none = servers.map((server) => ({
  ...server,
  models: [],
  problem: server.problem ?? 'connection refused',
}));
const emptyOllama = none.map((server, i) => (i === 0 ? { ...server, problem: null } : server));

const failures: [ErrorCode, string][] = [
  [
    'model_unreachable',
    'Could not reach Ollama at 127.0.0.1:11434: connection refused. Start it, then Retry.',
  ],
  ['bad_key', 'models.example.org refused the key of “work” (401). Check that it is whole and not revoked.'],
  ['no_credit', 'models.example.org says that the account has no credit left (402).'],
  ['rate_limited', 'models.example.org asks to wait; five attempts were made.'],
  [
    'too_long',
    'The fixed part alone needs 35,120 of 32,768 tokens. Choose a model with a larger window, or begin a new session.',
  ],
  [
    'model_garbage',
    'http://127.0.0.1:8080/v1 answered with a web page where JSON was expected. Check the address.',
  ],
  ['disk_full', 'Nothing could be written: no space left on the disk. Free some, then Retry.'],
  ['no_model', 'This session has no model yet.'],
];
const interrupted = viewOf(logs.states()).items;

export const start: GalleryState[] = [
  page('first-run', FirstRun, { project, servers, ...ways }),
  page('first-run-looking', FirstRun, { project, servers: null, ...ways }),
  page('no-model', NoModel, { servers: none, ...ways }),
  page('no-model-file', NoModel, { servers: none, onfile: () => called('file'), ...ways }),
  page('no-model-ollama-empty', NoModel, { servers: emptyOllama, ...ways }),
  page('no-sessions', NoSessions, { project, onprompt: (text: string) => called('prompt', text) }),
  page('empty-folder', NoSessions, {
    project: {
      ...project,
      empty: true,
      prompts: ['Set up a small command line program', 'Write a README for an idea'],
    },
    onprompt: (text: string) => called('prompt', text),
  }),
  page('cannot-open', CannotOpen, {
    error: {
      code: 'storage',
      message: `/home/ada/.local/share/cairn/sessions.db is damaged: ${'page 17 of table events is no page; '.repeat(30)}`,
    },
    triedAgain: NOW,
    onretry: () => called('retry'),
  }),
  banner('banner-busy-window', BusyBanner, {
    holder: { pid: 4711, program: 'window', since: NOW },
    onshow: () => called('show'),
    onretry: () => called('retry'),
  }),
  banner('banner-busy-exec', BusyBanner, {
    holder: { pid: 4711, program: 'exec', since: NOW },
    onretry: () => called('retry'),
  }),
  banner('banner-retrying', RetryBanner, {
    retrying: {
      kind: 'retrying',
      attempt: 2,
      at: NOW + 8_000,
      reason: 'models.example.org asks to wait (429).',
    },
    localModel: 'local',
    now: () => NOW,
    onretry: () => called('retry'),
    onstop: () => called('stop'),
    onlocal: () => called('local'),
  }),
  banner('banner-crash', CrashBanner, {
    items: interrupted,
    waiting: 1,
    oncontinue: () => called('continue'),
    onclose: () => called('close'),
  }),
  banner('banner-paused', PausedBanner, { steps: 50, oncontinue: () => called('continue') }),
  banner('banner-broken-config', BrokenConfig, {
    path: '/home/ada/.config/cairn/config.toml',
    reason: 'line 14, column 9: expected `=` after the key `base_url`',
  }),
  ...failures.map(([code, message]) =>
    banner(`banner-${code.replace(/_/g, '-')}`, ErrorBanner, {
      error: { code, message },
      localModel: code === 'model_unreachable' ? null : 'local',
      onremedy: (remedy: string) => called('remedy', remedy),
    }),
  ),
];
