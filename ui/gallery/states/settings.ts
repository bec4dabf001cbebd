/** The settings page and its dialogs. */
import { changedFacts } from '../../src/backend/fake';
import type { Fact, FoundServer, SandboxView, SettingsView, TrustView } from '../../src/bindings';
import type { SettingsActions } from '../../src/settings/actions';
import {
  changed,
  meaningOf,
  quiet,
  ruleOf,
  rules,
  trusted,
  unreadable,
  untrusted,
} from '../../src/state/fixtures/trust';
import { called } from '../calls';
import { NOW, settings as view } from '../data';
import type { GalleryState } from '../state';
import SettingsStage from '../stages/SettingsStage.svelte';

export const servers: FoundServer[] = [
  {
    name: 'Ollama',
    api: 'ollama',
    base_url: 'http://127.0.0.1:11434',
    models: [
      { name: 'qwen3:8b', context_window: 32_768, tools: true, vision: false, bytes: 5_200_000_000 },
      { name: 'gemma3:12b', context_window: 131_072, tools: true, vision: true, bytes: 8_100_000_000 },
    ],
    problem: null,
  },
  {
    name: 'llama.cpp',
    api: 'openai',
    base_url: 'http://127.0.0.1:8080/v1',
    models: [],
    problem: 'connection refused',
  },
  {
    name: 'LM Studio',
    api: 'openai',
    base_url: 'http://127.0.0.1:1234/v1',
    models: [],
    problem: 'connection refused',
  },
  {
    name: 'vLLM',
    api: 'openai',
    base_url: 'http://127.0.0.1:8000/v1',
    models: [],
    problem: 'no answer in 300 ms',
  },
];

const facts: Fact[] = [
  {
    text: 'Charts are drawn in metres above chart datum, never above mean sea level.',
    at: NOW,
    shared: false,
  },
  {
    text: 'The tests of the importer need the folder tests/stations beside them.',
    at: NOW - 7_200_000,
    shared: false,
  },
  {
    text: `Stations are told apart by ${'their long names, which may hold spaces and accents, '.repeat(8)}and ids.`,
    at: NOW - 9e7,
    shared: false,
  },
  { text: 'Deploy with ./ship\u202e --dry\u200b-run first.', at: NOW - 2e8, shared: false },
  { text: 'Labels of the axis have three digits.', at: null, shared: true },
  { text: 'Run cargo fmt before a commit.', at: null, shared: true },
];

const refuse = (code: string, message: string) => () => Promise.reject({ code, message });

const actions = (given: Partial<SettingsActions> = {}): SettingsActions => ({
  set: async (change) => {
    await called('settings/set', change);
    return { ...view, theme: change.theme ?? view.theme, reading: change.reading ?? view.reading };
  },
  saveProfile: async (profile) => {
    await called('profile/save', profile);
    return view;
  },
  deleteProfile: async (name) => {
    await called('profile/delete', name);
    return { ...view, profiles: view.profiles.filter((one) => one.name !== name) };
  },
  setKey: async ({ profile, keep }) => {
    await called('key/set', { profile, keep });
    return view;
  },
  deleteKey: async (name) => {
    await called('key/delete', name);
    return view;
  },
  test: async (profile) => {
    await called('model/test', profile);
    const models = servers[0]?.models ?? [];
    const found = models[0] ?? { name: '', context_window: null, tools: null, vision: null, bytes: null };
    return { ms: 148, found, models, warnings: ['Ollama gives it only 4,096 tokens.'] };
  },
  discover: () => Promise.resolve({ servers }),
  rules: () => Promise.resolve({ rules, problem: null }),
  checkRule: ({ rule }) =>
    /^(run|host|run-exact):/.test(rule.trim())
      ? Promise.resolve({ rule: rule.trim(), meaning: meaningOf(rule) })
      : Promise.reject({
          code: 'bad_request',
          message: `This is not a rule: \`${rule}\` is no kind of rule.`,
        }),
  addRule: async ({ rule }) => {
    await called('rule/add', { rule });
    return { rules: [...rules, ruleOf(rule.trim(), 'settings page')], problem: null };
  },
  revoke: async (rule) => {
    await called('rule/revoke', rule);
    return { rules: rules.filter(({ saved }) => saved.rule !== rule.rule), problem: null };
  },
  giveTrust: async (trust) => {
    await called('trust/give', trust);
    return trusted;
  },
  withdrawTrust: async () => {
    await called('trust/withdraw', {});
    return untrusted;
  },
  facts: () => Promise.resolve({ facts }),
  changeFact: async ({ text, change }) => {
    await called('memory/change', { text, change });
    return { facts: changedFacts(facts, text, change) };
  },
  ...given,
});

const page = (name: string, props: () => Record<string, unknown>): GalleryState => ({
  name,
  group: 'Settings',
  stage: SettingsStage,
  props,
});

const remedy =
  'Install the package bubblewrap and allow unprivileged user namespaces, then start Cairn again';

const bare: SettingsView = { ...view, profiles: [], default_profile: null, origins: [] };

export const settingsStates: GalleryState[] = [
  page('settings', () => ({ view, actions: actions() })),
  page('settings-empty', () => ({
    view: bare,
    actions: actions({
      discover: () => Promise.resolve({ servers: servers.slice(1) }),
      rules: () => Promise.resolve({ rules: [], problem: null }),
      facts: () => Promise.resolve({ facts: [] }),
    }),
  })),
  page('settings-broken', () => ({
    view: {
      ...view,
      broken:
        'line 14, column 9: expected `=` after the key `base_url`\n14 | base_url "http://127.0.0.1:11434/v1"\n   |         ^',
    },
    actions: actions(),
  })),
  page('settings-sandbox-none', () => ({
    view,
    actions: actions(),
    section: { name: 'sandbox' },
    sandbox: {
      level: 'none',
      layer: '',
      gaps: [],
      why_not: [
        'bubblewrap is not installed',
        'Landlock is not there: the kernel answers "operation not supported"',
      ],
      remedy,
    } satisfies SandboxView,
  })),
  page('settings-sandbox-partly', () => ({
    view,
    actions: actions(),
    section: { name: 'sandbox' },
    sandbox: {
      level: 'partly',
      layer: 'Landlock and a filter of system calls',
      gaps: [
        'protected files inside the project not enforced, credential files inside it can be read',
        'signals to your other processes not enforced',
      ],
      why_not: ['bubblewrap could not make a user namespace: permission denied'],
      remedy,
    } satisfies SandboxView,
  })),
  page('settings-sandbox-whole', () => ({
    view,
    actions: actions(),
    section: { name: 'sandbox' },
    sandbox: {
      level: 'whole',
      layer: 'bubblewrap (/usr/bin/bwrap)',
      gaps: [],
      why_not: [],
      remedy: '',
    } satisfies SandboxView,
  })),
  page('settings-file', () => ({ view: { ...view, model_files: true }, actions: actions(), add: 'gguf' })),
  page('settings-profile', () => ({ view, actions: actions(), edit: 'work' })),
  page('settings-no-keychain', () => ({
    view,
    actions: actions({
      setKey: refuse('keychain', 'no secret service answers on the session bus'),
    }),
    edit: 'work',
  })),
  page('settings-test-fails', () => ({
    view,
    actions: actions({
      test: refuse(
        'model_unreachable',
        'Could not reach 127.0.0.1:11434: connection refused. Start it, then Retry.',
      ),
    }),
    edit: 'local',
  })),
  page('settings-memory', () => ({ view, actions: actions(), section: { name: 'memory' } })),
  page('settings-memory-empty', () => ({
    view,
    actions: actions({ facts: () => Promise.resolve({ facts: [] }) }),
    section: { name: 'memory' },
  })),
  page('settings-memory-unread', () => ({
    view,
    actions: actions({
      facts: refuse(
        'storage',
        'memory.toml is damaged at line 3: expected a string. Mend it, then try again.',
      ),
    }),
    section: { name: 'memory' },
  })),
  page('settings-memory-refused', () => ({
    view,
    actions: actions({
      changeFact: refuse('bad_request', '.cairn/memory.md leads out of the project; nothing was shared.'),
    }),
    section: { name: 'memory' },
  })),
  page('settings-rules', () => ({ view, actions: actions(), section: { name: 'permissions' } })),
  page('settings-rules-broken', () => ({
    view,
    actions: actions({
      rules: () =>
        Promise.resolve({
          rules: [],
          problem:
            '/home/ada/.local/share/cairn/projects/tidewater-1/permissions.toml:7:1: expected `=`. No rule lets anything run until this is mended: everything asks.',
        }),
    }),
    section: { name: 'permissions' },
  })),
  ...Object.entries({ new: untrusted, trusted, changed, unreadable, nothing: quiet }).map(([name, trust]) =>
    page(`settings-trust-${name}`, () => ({
      view,
      actions: actions(),
      trust: trust satisfies TrustView,
      section: { name: 'trust' },
    })),
  ),
];
