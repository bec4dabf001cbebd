// A core made of recorded logs: the same every time, one step at a time or at a pace. Drives the
// gallery, the tests and the page in a plain browser. Must never be part of what is shipped as the shell.
import type { Event, Fact, FactChange, ListedRule, Session, SessionSnapshot, TrustView } from '../bindings';
import {
  emptySession,
  type Log,
  NOW,
  pictures,
  project,
  sessions,
  settings,
  snapshotOf,
} from '../state/fixtures';
import { meaningOf, ruleOf, rules } from '../state/fixtures/trust';
import {
  type Backend,
  type Method,
  type ParamsOf,
  RequestFailed,
  type ResultOf,
  type Unsubscribe,
} from './backend';

/** What a method answers in place of the plausible answer; throw {@link RequestFailed} to refuse. */
export type Answers = { [M in Method]?: (params: ParamsOf<M>) => ResultOf<M> | Promise<ResultOf<M>> };

export interface FakeOptions {
  logs?: Log[];
  /** Events of each log that already happened; all by default. */
  played?: number;
  answers?: Answers;
  sessions?: Session[];
}

export class FakeBackend implements Backend {
  /** Every request in order, for tests. */
  readonly asked: { method: Method; params: unknown }[] = [];
  title = '';

  readonly #handlers = new Set<(event: Event) => void>();
  readonly #logs = new Map<string, { log: Log; at: number }>();
  readonly #answers: Answers;
  #sessions: Session[];
  #deleted: Session[] = [];
  #settings = settings;
  #made = 0;
  #facts: Fact[] = [];
  #trust: TrustView = project.trust;
  #rules: ListedRule[] = rules;

  constructor(options: FakeOptions = {}) {
    this.#answers = options.answers ?? {};
    for (const log of options.logs ?? []) {
      this.#logs.set(log.session.id, { log, at: options.played ?? log.events.length });
    }
    const own = (options.logs ?? []).map((log) => log.session);
    const others = options.sessions ?? sessions;
    this.#sessions = [...own, ...others.filter((s) => !own.some((o) => o.id === s.id))].sort(
      (a, b) => b.updated_at - a.updated_at,
    );
  }

  async request<M extends Method>(method: M, params: ParamsOf<M>): Promise<ResultOf<M>> {
    this.asked.push({ method, params });
    const given = this.#answers[method] as ((p: ParamsOf<M>) => ResultOf<M>) | undefined;
    if (given) return given(params);
    const answer = this.#plausible[method] as (p: ParamsOf<M>) => ResultOf<M>;
    return answer.call(this, params);
  }

  subscribe(handler: (event: Event) => void): Unsubscribe {
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  pictureUrl(blob: string): string {
    return (
      pictures[blob] ??
      `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg"/>')}`
    );
  }

  window() {
    return {
      setTitle: (title: string) => {
        this.title = title;
        document.title = title;
      },
    };
  }

  /** Lets an event happen that no log holds. */
  emit(event: Event): void {
    for (const handler of this.#handlers) handler(event);
  }

  /** Goes back to where the last `count` events of a session had not happened yet. */
  rewind(id: string, count: number): void {
    const played = this.#logs.get(id);
    if (played) played.at = Math.max(0, played.log.events.length - count);
  }

  /** Plays the next `count` events of a session; returns how many are left. */
  step(id: string, count = 1): number {
    const played = this.#logs.get(id);
    if (!played) return 0;
    for (const event of played.log.events.slice(played.at, played.at + count)) this.emit(event);
    played.at = Math.min(played.at + count, played.log.events.length);
    return played.log.events.length - played.at;
  }

  /** Plays a session on, `pace` milliseconds between events; ends by itself or when called. */
  play(id: string, pace: number): Unsubscribe {
    const timer = setInterval(() => this.step(id) === 0 && clearInterval(timer), pace);
    return () => clearInterval(timer);
  }

  readonly #plausible: { [M in Method]: (params: ParamsOf<M>) => ResultOf<M> } = {
    'project/get': () => project,
    'session/list': ({ after, limit, archived }) => {
      const listed = this.#sessions.filter((s) => archived || !s.archived);
      const from = after === null ? 0 : listed.findIndex((s) => s.id === after) + 1;
      const size = limit || 100;
      return { sessions: listed.slice(from, from + size), more: listed.length > from + size };
    },
    'session/search': ({ text }) => ({
      hits: this.#sessions
        .filter((s) => s.title.toLowerCase().includes(text.toLowerCase()))
        .map((session) => {
          const at = session.title.toLowerCase().indexOf(text.toLowerCase());
          const end = at + text.length;
          const excerpt = `${session.title.slice(0, at)}\u0002${session.title.slice(at, end)}\u0003${session.title.slice(end)}`;
          return { session, excerpt, at: session.updated_at };
        }),
    }),
    'session/create': () => {
      const made = emptySession(`s-made-${++this.#made}`, 'New session', { updated_at: NOW + this.#made });
      this.#sessions = [made, ...this.#sessions];
      return made;
    },
    'session/open': ({ session }) => this.#snapshot(session),
    'session/show': () => ({}),
    'session/rename': ({ session, title }) => this.#change(session, { title }),
    'session/archive': ({ session, archived }) => this.#change(session, { archived }),
    'session/delete': ({ session }) => {
      this.#deleted.push(this.#find(session));
      this.#sessions = this.#sessions.filter((s) => s.id !== session);
      return {};
    },
    'session/undelete': ({ session }) => {
      const back = this.#deleted.find((s) => s.id === session);
      if (!back) throw new RequestFailed('not_found', 'No such session.');
      this.#sessions = [back, ...this.#sessions].sort((a, b) => b.updated_at - a.updated_at);
      return back;
    },
    'session/mode': ({ session, mode }) => this.#change(session, { mode }),
    'session/profile': ({ session, profile }) => this.#change(session, { profile }),
    'draft/set': () => ({}),
    'turn/send': () => ({}),
    'turn/stop': () => ({}),
    'turn/continue': () => ({}),
    'turn/retry_now': () => ({}),
    'call/run_outside': () => ({}),
    'context/summarise': () => ({}),
    'context/mark': () => ({}),
    'queue/edit': () => ({}),
    'approval/answer': () => ({}),
    'question/answer': () => ({}),
    'inbox/list': () => ({ waiting: [] }),
    'inbox/show': () => ({}),
    'plan/set': () => ({}),
    'picture/add': ({ name }) => ({
      blob: Object.keys(pictures)[0] ?? '',
      sent: Object.keys(pictures)[0] ?? '',
      media_type: 'image/png',
      sent_media_type: 'image/png',
      width: 1280,
      height: 720,
      bytes: 84_211,
      name,
    }),
    'sandbox/get': () => ({
      level: 'whole' as const,
      layer: 'bubblewrap (/usr/bin/bwrap)',
      gaps: [],
      why_not: [],
      remedy: '',
    }),
    'settings/get': () => this.#settings,
    'settings/set': ({ theme, default_mode, default_profile, reading }) => {
      const now = this.#settings;
      this.#settings = {
        ...now,
        theme: theme ?? now.theme,
        default_mode: default_mode ?? now.default_mode,
        default_profile: default_profile ?? now.default_profile,
        reading: reading ?? now.reading,
      };
      return this.#settings;
    },
    'profile/save': () => this.#settings,
    'profile/delete': ({ name }) => {
      this.#settings = {
        ...this.#settings,
        profiles: this.#settings.profiles.filter((p) => p.name !== name),
      };
      return this.#settings;
    },
    'profile/window': ({ name, context_window }) => {
      this.#settings = {
        ...this.#settings,
        profiles: this.#settings.profiles.map((p) => (p.name === name ? { ...p, context_window } : p)),
      };
      return this.#settings;
    },
    'key/set': () => this.#settings,
    'key/delete': () => this.#settings,
    'model/test': ({ profile }) => ({
      ms: 212,
      found: { name: profile.model, context_window: 32_768, tools: true, vision: true, bytes: 5_200_000_000 },
      models: [
        { name: profile.model, context_window: 32_768, tools: true, vision: true, bytes: 5_200_000_000 },
      ],
      warnings: [],
    }),
    'model/discover': () => ({
      servers: [
        {
          name: 'Ollama',
          api: 'ollama',
          base_url: 'http://127.0.0.1:11434',
          models: [
            { name: 'qwen3:8b', context_window: 32_768, tools: true, vision: false, bytes: 5_200_000_000 },
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
          problem: 'connection refused',
        },
      ],
    }),
    'trust/get': () => this.#trust,
    'trust/give': () => {
      this.#trust = { ...this.#trust, state: { kind: 'trusted', at: NOW }, changes: [], asks: false };
      return this.#trust;
    },
    'trust/withdraw': () => {
      this.#trust = { ...this.#trust, state: { kind: 'new' }, asks: this.#trust.proposals.length > 0 };
      return this.#trust;
    },
    'rule/list': () => ({ rules: this.#rules, problem: null }),
    'rule/check': ({ rule }) => ({ rule: rule.trim(), meaning: meaningOf(rule) }),
    'rule/add': ({ rule }) => {
      this.#rules = [...this.#rules, ruleOf(rule.trim(), 'settings page')];
      return { rules: this.#rules, problem: null };
    },
    'rule/revoke': ({ rule, scope }) => {
      this.#rules = this.#rules.filter(({ saved }) => saved.rule !== rule || saved.scope !== scope);
      return { rules: this.#rules, problem: null };
    },
    'process/list': () => ({ processes: [] }),
    'process/output': () => nothingRuns(),
    'process/stop': () => nothingRuns(),
    'process/more_time': () => nothingRuns(),
    'process/to_background': () => nothingRuns(),
    'process/leftovers': () => ({ leftovers: [] }),
    'process/end_leftover': () => ({ leftovers: [] }),
    'memory/list': () => ({ facts: this.#facts }),
    'memory/change': ({ text, change }) => {
      this.#facts = changedFacts(this.#facts, text, change);
      return { facts: this.#facts };
    },
    'link/open': () => ({}),
    'window/close': () => ({}),
  };

  #find(id: string): Session {
    const found = this.#sessions.find((s) => s.id === id);
    if (!found) throw new RequestFailed('not_found', 'No such session.');
    return found;
  }

  #change(id: string, given: Partial<Session>): Session {
    const changed = { ...this.#find(id), ...given };
    this.#sessions = this.#sessions.map((s) => (s.id === id ? changed : s));
    return changed;
  }

  #snapshot(id: string): SessionSnapshot {
    const played = this.#logs.get(id);
    const session = this.#find(id);
    if (!played) return snapshotOf({ snapshot: { ...emptyOf(session) }, events: [], session });
    const snapshot = snapshotOf(played.log, played.at);
    const { title, mode, profile, archived } = session;
    return { ...snapshot, session: { ...snapshot.session, title, mode, profile, archived } };
  }
}

function emptyOf(session: Session): SessionSnapshot {
  return {
    session,
    turns: [],
    items: [],
    approvals: [],
    question: null,
    plan: [],
    accepted_plan: null,
    queue: [],
    marks: [],
    draft: '',
    meter: { used: null, window: null, assumed: false, reserve: 0, compacts_at: null, parts: [] },
    activity: { kind: 'idle' },
    held_by: null,
    last_seq: 0,
  };
}

/** What is remembered after one change, as the core would have it. */
export function changedFacts(facts: readonly Fact[], text: string, change: FactChange): Fact[] {
  if (change.kind === 'forget') return facts.filter((fact) => fact.shared || fact.text !== text);
  const changed = facts.map((fact) => {
    if (fact.shared || fact.text !== text) return fact;
    return change.kind === 'share' ? { ...fact, at: null, shared: true } : { ...fact, text: change.text };
  });
  return changed.toSorted((a, b) => Number(a.shared) - Number(b.shared));
}

function nothingRuns(): never {
  throw new RequestFailed('not_found', 'No such process.');
}
