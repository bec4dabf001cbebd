// What a window shows around its sessions: the project, the list, the settings, and which session
// is open. Knows nothing of components.
import { type Backend, RequestFailed } from '../backend/backend';
import type {
  ApiError,
  CloseWork,
  Event,
  Notice,
  Profile,
  ProjectView,
  SandboxView,
  SearchHit,
  Session,
  SessionId,
  SettingsView,
  TrustView,
  Waiting,
} from '../bindings';
import { t } from '../text';
import { now } from './clock.svelte';
import { Leftovers } from '../running/leftovers.svelte';
import { Inbox } from './inbox.svelte';
import { SessionState } from './session.svelte';

/** Sessions asked for at once. */
const PAGE = 100;

/** What fills the middle of the window. */
export type Place = 'session' | 'settings' | 'start';

/** How serious something is that is said. */
export type ToastTone = 'plain' | 'warning' | 'danger';

/** Something that is said over the window, with at most one thing to do about it. */
export interface ToastView {
  id: number;
  text: string;
  /** What is plain goes by itself; the others stay until they are closed. */
  tone: ToastTone;
  action?: { label: string; run: () => void };
}

export class ProjectState {
  project = $state.raw<ProjectView | null>(null);
  settings = $state.raw<SettingsView | null>(null);
  /** What holds commands in; none while that is not known. */
  sandbox = $state.raw<SandboxView | null>(null);
  /** Newest first. */
  sessions = $state.raw<readonly Session[]>([]);
  more = $state(false);
  loading = $state(true);
  /** Also the archived ones are listed. */
  archived = $state(false);
  /** What kept the window from opening at all. */
  problem = $state.raw<ApiError | null>(null);
  current = $state.raw<SessionState | null>(null);
  place = $state<Place>('session');

  /** The person wants to close the window while sessions work: how many then, and how many of them were listed. */
  closeAsked = $state.raw<{ working: number; listed: number } | null>(null);
  /** Profiles about whose window the person does not want to be asked while this window lives. */
  aside = $state.raw<ReadonlySet<string>>(new Set());
  /** The list about which the person does not want to be asked while this window lives. */
  trustAside = $state<string | null>(null);
  /** The folder proposes something that the person was not asked about yet. */
  readonly asksTrust = $derived(
    this.project !== null && this.project.trust.asks && this.project.trust.digest !== this.trustAside,
  );
  /** A part of the settings that shall be in sight; another object each time it is asked for. */
  section = $state.raw<{ name: string } | null>(null);
  /** When it was last tried in vain to open the project again; none when it was not. */
  triedAgain = $state<number | null>(null);

  /** Sessions of the list that work. */
  readonly running = $derived(this.sessions.filter((s) => s.state === 'running').length);
  /** Sessions that work still since the person wanted to close the window. */
  readonly working = $derived(
    this.closeAsked ? Math.max(0, this.closeAsked.working + this.running - this.closeAsked.listed) : 0,
  );
  /** Sessions in which something waits for the person. */
  readonly waiting = $derived(this.sessions.filter((s) => s.state === 'waiting').length);

  /** Said over the window until taken away; the newest last. */
  toasts = $state.raw<readonly ToastView[]>([]);
  /** The time when the list was last loaded or moved, for its days. */
  now = $state(now());
  /** A profile whose settings shall open. */
  editing = $state<string | null>(null);
  /** What kind of model a new form in the settings is for; none for none. */
  adding = $state<Profile['api'] | null>(null);

  /** What earlier runs left running. */
  readonly leftovers: Leftovers;
  /** What waits over all windows. */
  readonly inbox: Inbox;
  readonly backend: Backend;
  #toasts = 0;
  #opening: SessionId | null = null;
  #early: Event[] = [];

  constructor(backend: Backend) {
    this.backend = backend;
    this.inbox = new Inbox(backend);
    this.leftovers = new Leftovers(backend);
  }

  /** Subscribes and loads what the first paint needs. Ends with a session open where there is one. */
  async start(): Promise<void> {
    this.backend.subscribe((event) => this.apply(event));
    await this.load();
  }

  /** Asks for project, settings and list; also used by *Try again*. */
  async load(): Promise<void> {
    const again = this.problem !== null;
    this.loading = true;
    try {
      // A window that could not start tries once more when its project is asked for; the rest can only follow.
      if (again) await this.backend.request('project/get', {});
      const [project, settings, list] = await Promise.all([
        this.backend.request('project/get', {}),
        this.backend.request('settings/get', {}),
        this.backend.request('session/list', { archived: this.archived, after: null, limit: PAGE }),
      ]);
      this.project = project;
      this.settings = settings;
      this.sessions = list.sessions;
      this.more = list.more;
      this.problem = null;
      this.triedAgain = null;
      await this.#openFirst(project);
      this.#lookForLeftovers();
      void this.inbox.load();
      void this.#lookAtSandbox();
    } catch (cause) {
      this.problem = RequestFailed.from(cause);
      if (again) this.triedAgain = now();
    } finally {
      this.loading = false;
    }
  }

  /** A session that cannot be opened is no reason to show nothing of the others. */
  async #openFirst(project: ProjectView): Promise<void> {
    const first = this.sessions[0];
    try {
      if (first && !this.current) await this.open(first.id);
      // Whoever opens a project wants to type: a session that nobody used is made once and used again.
      else if (!this.current && project.has_model && !this.archived) await this.create();
    } catch (cause) {
      this.#failed(cause);
    }
    this.place = !this.current && !project.has_model ? 'start' : 'session';
  }

  /** Nothing waits for it: it is tried by starting a program, and then known for the life of the window. */
  async #lookAtSandbox(): Promise<void> {
    if (this.sandbox !== null) return;
    try {
      this.sandbox = await this.backend.request('sandbox/get', {});
    } catch {
      // Not known: nothing is claimed, and cards say what holds each command.
    }
  }

  /** A failure here is none of the window: what runs is not changed by it. */
  #lookForLeftovers(): void {
    void this.leftovers.load().catch(() => undefined);
  }

  /** Trusts the folder with what that digest stands for; a list that changed meanwhile is shown anew. */
  async trust(digest: string): Promise<void> {
    try {
      this.tookTrust(await this.backend.request('trust/give', { digest }));
    } catch (cause) {
      await this.#lookAtTrust();
      throw cause;
    }
  }

  tookTrust(trust: TrustView): void {
    if (this.project) this.project = { ...this.project, trust };
  }

  /** Does not ask again about this list while this window lives. */
  putTrustAside(): void {
    this.trustAside = this.project?.trust.digest ?? null;
  }

  /** What a folder proposes changes while one works in it. A failure here is none of the window. */
  async #lookAtTrust(): Promise<void> {
    await this.backend.request('trust/get', {}).then(
      (trust) => {
        if (trust.digest !== this.project?.trust.digest || trust.asks !== this.project.trust.asks) {
          this.tookTrust(trust);
        }
      },
      () => undefined,
    );
  }

  apply(event: Event): void {
    if (event.type === 'close_asked') {
      this.closeAsked = { working: event.working, listed: this.running };
      return;
    }
    if (event.type === 'inbox_changed') {
      this.inbox.changed(event.waiting);
      return;
    }
    // Somebody chose it in the inbox of another window.
    if (event.type === 'session_wanted') {
      this.inbox.close();
      this.attempt(() => this.open(event.wanted));
      return;
    }
    // What is said about no session belongs to the window.
    if (event.type === 'notice' && event.session === '') {
      this.#notice(event.notice);
      return;
    }
    // An opening session hears what happens between the question and its snapshot.
    if (event.session === this.#opening) this.#early.push(event);
    if (this.current?.id === event.session) this.current.apply(event);
    if (event.type === 'session_changed') this.#put(event.now);
    if (event.type === 'turn_completed') void this.#lookAtTrust();
  }

  /** Shows something out of the inbox: here, or in the window that runs it. True when it is here. */
  async showWaiting(waiting: Waiting): Promise<boolean> {
    if (waiting.here) await this.open(waiting.session);
    else await this.backend.request('inbox/show', { session: waiting.session });
    return waiting.here;
  }

  /** Opens a session in the middle; what was typed in the former one is kept. */
  async open(id: SessionId): Promise<void> {
    this.place = 'session';
    if (this.current?.id === id) return;
    if (this.current?.draftPending) void this.current.saveDraft();
    this.#opening = id;
    this.#early = [];
    const snapshot = await this.backend.request('session/open', { session: id });
    // Another click was faster.
    if (this.#opening !== id) return;
    const opened = new SessionState(this.backend, snapshot);
    for (const event of this.#early) opened.apply(event);
    // What runs since before this window; what begins now is told by events.
    void opened.processes.load().catch(() => undefined);
    this.#opening = null;
    this.#early = [];
    this.current = opened;
    this.#put(snapshot.session);
  }

  async create(): Promise<void> {
    const session = await this.backend.request('session/create', {});
    this.#put(session);
    await this.open(session.id);
  }

  async loadMore(): Promise<void> {
    const last = this.sessions.at(-1);
    if (!this.more || !last) return;
    const list = await this.backend.request('session/list', {
      archived: this.archived,
      after: last.id,
      limit: PAGE,
    });
    const known = new Set(this.sessions.map((s) => s.id));
    this.sessions = [...this.sessions, ...list.sessions.filter((s) => !known.has(s.id))];
    this.more = list.more;
  }

  async showArchived(archived: boolean): Promise<void> {
    this.archived = archived;
    const list = await this.backend.request('session/list', { archived, after: null, limit: PAGE });
    this.sessions = list.sessions;
    this.more = list.more;
  }

  async search(text: string): Promise<readonly SearchHit[]> {
    return (await this.backend.request('session/search', { text })).hits;
  }

  async rename(id: SessionId, title: string): Promise<void> {
    this.#took(await this.backend.request('session/rename', { session: id, title }));
  }

  async archive(id: SessionId, archived: boolean): Promise<void> {
    this.#took(await this.backend.request('session/archive', { session: id, archived }));
  }

  /** Deletes a session; {@link undelete} puts it back until the program ends. */
  async remove(id: SessionId): Promise<void> {
    await this.backend.request('session/delete', { session: id });
    const at = this.sessions.findIndex((s) => s.id === id);
    this.sessions = this.sessions.filter((s) => s.id !== id);
    if (this.current?.id !== id) return;
    this.current = null;
    const next = this.sessions[at] ?? this.sessions[at - 1];
    if (next) await this.open(next.id);
  }

  /** Deletes a session and offers to put it back. */
  removeWithUndo(session: Session): void {
    this.attempt(async () => {
      await this.remove(session.id);
      this.say(t('sidebar.deleted', { title: session.title }), {
        label: t('sidebar.undo'),
        run: () => this.attempt(() => this.undelete(session.id)),
      });
    });
  }

  /** Hides a session and offers to take that back; or shows a hidden one again. */
  archiveWithUndo(session: Session): void {
    const archived = !session.archived;
    this.attempt(async () => {
      await this.archive(session.id, archived);
      if (!archived) return;
      this.say(t('sidebar.archived', { title: session.title }), {
        label: t('sidebar.undo'),
        run: () => this.attempt(() => this.archive(session.id, false)),
      });
    });
  }

  /** Does what may fail, and says so where it does. */
  attempt(what: () => Promise<unknown>): void {
    what().catch((cause: unknown) => this.#failed(cause));
  }

  /** Says something over the window. */
  say(text: string, action?: ToastView['action'], tone: ToastTone = 'plain'): void {
    const id = ++this.#toasts;
    const run = action && (() => (this.unsay(id), action.run()));
    const toast: ToastView = { id, text, tone, ...(action && run ? { action: { ...action, run } } : {}) };
    // Three at once are as many as anybody reads; a warning waits for its reader.
    const rest = this.toasts.filter((other) => action || other.text !== text || other.tone !== tone);
    const passing = rest.filter((other) => other.tone !== 'warning').slice(-2);
    this.toasts = [...rest.filter((other) => other.tone === 'warning' || passing.includes(other)), toast];
    if (tone === 'plain') setTimeout(() => this.unsay(id), 10_000);
  }

  #failed(cause: unknown): void {
    const why = RequestFailed.from(cause).message;
    this.say(t('shell.failed', { why }), undefined, 'danger');
  }

  #notice({ level, code, text }: Notice): void {
    // A banner says it, with the list and the button.
    if (code === 'processes_left') {
      this.#lookForLeftovers();
      return;
    }
    const tones = { info: 'plain', warning: 'warning', error: 'danger' } as const;
    this.say(text, undefined, tones[level]);
  }

  unsay(id: number): void {
    this.toasts = this.toasts.filter((toast) => toast.id !== id);
  }

  /** Shows the settings: with the form of one profile open, or with one part in sight, where it is named. */
  openSettings(profile: string | null = null, section: string | null = null): void {
    this.editing = profile;
    this.adding = null;
    this.section = section === null ? null : { name: section };
    this.place = 'settings';
  }

  /** Shows the settings with the form for a new model of that kind open. */
  addModel(api: Profile['api']): void {
    this.openSettings();
    this.adding = api;
  }

  /** Answers what becomes of running work when the window closes. */
  async answerClose(work: CloseWork): Promise<void> {
    await this.backend.request('window/close', { work });
    this.closeAsked = null;
  }

  /** Tells how many tokens the model of a profile can hold; it is not asked about again. */
  async setWindow(profile: string, tokens: number): Promise<void> {
    this.took(await this.backend.request('profile/window', { name: profile, context_window: tokens }));
    this.putAside(profile);
  }

  /** Does not ask about the window of that profile again while this window lives. */
  putAside(profile: string): void {
    this.aside = new Set([...this.aside, profile]);
  }

  async undelete(id: SessionId): Promise<void> {
    this.#took(await this.backend.request('session/undelete', { session: id }));
  }

  /** Opens a link in the person's browser: the only way out of the page. */
  async openLink(href: string): Promise<void> {
    await this.backend.request('link/open', { href });
  }

  /** Takes settings that a method answered with. */
  took(settings: SettingsView): void {
    this.settings = settings;
    const chosen = settings.default_profile !== null || settings.profiles.length > 0;
    if (this.project && chosen !== this.project.has_model) {
      this.project = { ...this.project, has_model: chosen };
    }
  }

  #took(session: Session): void {
    if (this.current?.id === session.id) this.current.changed(session);
    this.#put(session);
  }

  #put(session: Session): void {
    this.now = now();
    const rest = this.sessions.filter((s) => s.id !== session.id);
    if (session.archived && !this.archived) {
      this.sessions = rest;
      return;
    }
    const at = rest.findIndex((s) => s.updated_at <= session.updated_at);
    // Older than all that is loaded: it comes with its own page.
    if (at < 0 && this.more) return;
    this.sessions = at < 0 ? [...rest, session] : rest.toSpliced(at, 0, session);
  }
}
