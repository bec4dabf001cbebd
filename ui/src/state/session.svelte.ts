// One open session as the window holds it: the reduced view, split into signals so that a piece of
// text redraws one row, and the methods that act on the session. Knows nothing of components.
import { type Backend, RequestFailed } from '../backend/backend';
import type {
  AcceptedPlan,
  Activity,
  Approval,
  ApprovalAnswer,
  Attachment,
  ContextChoice,
  ContextMeter,
  Event,
  Item,
  ItemId,
  LeaseHolder,
  Mode,
  Notice,
  Question,
  QuestionAnswer,
  QueuedMessage,
  QueueId,
  SendWhen,
  Session,
  SessionSnapshot,
  TodoItem,
  Turn,
} from '../bindings';
import { Processes } from '../running/processes.svelte';
import { fromSnapshot, reduce, type SessionView } from './reduce';

/** One item of the transcript with a signal of its own. */
export class Row {
  readonly id: string;
  /** The request it belongs to; fixed, so that reading it never makes anything depend on the item. */
  readonly turn: string;
  readonly kind: Item['body']['kind'];
  /** The call by which the model asks the person, of its card as of its question; empty for all else. */
  readonly asks: string;
  item = $state.raw() as Item;

  constructor(item: Item) {
    this.id = item.id;
    this.turn = item.turn;
    this.kind = item.body.kind;
    this.asks = askingCall(item);
    this.item = item;
  }
}

/** Ids of calls are the model's own: only within a request they are told apart for sure. */
function askingCall({ body, turn }: Item): string {
  const asks = body.kind === 'question' || (body.kind === 'tool' && body.name === 'ask_user');
  return asks ? `${turn} ${body.call}` : '';
}

export class SessionState {
  session = $state.raw() as Session;
  /** Oldest first. */
  turns = $state.raw<readonly Turn[]>([]);
  /** Oldest first; the array changes only when an item appears. */
  rows = $state.raw<readonly Row[]>([]);
  approvals = $state.raw<readonly Approval[]>([]);
  question = $state.raw<Question | null>(null);
  plan = $state.raw<readonly TodoItem[]>([]);
  acceptedPlan = $state.raw<AcceptedPlan | null>(null);
  queue = $state.raw<readonly QueuedMessage[]>([]);
  meter = $state.raw() as ContextMeter;
  activity = $state.raw<Activity>({ kind: 'idle' });
  heldBy = $state.raw<LeaseHolder | null>(null);
  notices = $state.raw<readonly Notice[]>([]);
  /** The commands that run and ran under it. */
  readonly processes: Processes;
  /** What was typed and not sent; kept by the core shortly after it changes. */
  draft = $state('');

  /** The running request, if one runs. */
  readonly running = $derived(this.turns.at(-1)?.ended_at === null ? this.turns.at(-1) : undefined);
  /** Cards and questions that wait for the person. */
  readonly waiting = $derived(this.approvals.length + (this.question ? 1 : 0));

  readonly #backend: Backend;
  readonly #rowById = new Map<string, Row>();
  #view: SessionView;
  #shownItems: readonly Item[] = [];
  #reopening: Promise<void> | null = null;
  #draftTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(backend: Backend, snapshot: SessionSnapshot) {
    this.#backend = backend;
    this.processes = new Processes(backend, snapshot.session.id);
    this.#view = fromSnapshot(snapshot);
    this.draft = snapshot.draft;
    this.#show();
  }

  get id(): string {
    return this.session.id;
  }

  /** Takes one event; those of other sessions are ignored. */
  apply(event: Event): void {
    if (event.type === 'process_changed') {
      if (event.session === this.id) this.processes.take(event.process);
      return;
    }
    const next = reduce(this.#view, event);
    if (next === this.#view) return;
    this.#view = next;
    this.#show();
    if (next.gap) void this.reopen();
  }

  /** Takes what the core answered at once, before its event arrives. */
  changed(session: Session): void {
    this.#view = { ...this.#view, session };
    this.session = session;
  }

  /** Asks for the whole again, after an event was missed. */
  reopen(): Promise<void> {
    this.#reopening ??= this.#backend
      .request('session/open', { session: this.id })
      .then((snapshot) => {
        if (snapshot.last_seq < this.#view.lastSeq) return;
        this.#view = fromSnapshot(snapshot);
        this.#show();
      })
      .catch((cause: unknown) => {
        const { message } = RequestFailed.from(cause);
        this.notices = [...this.notices, { level: 'error', code: 'reopen_failed', text: message }];
      })
      .finally(() => {
        this.#reopening = null;
      });
    return this.#reopening;
  }

  send(text: string, attachments: Attachment[] = [], when: SendWhen = 'queue'): Promise<unknown> {
    return this.#backend.request('turn/send', { session: this.id, text, attachments, when });
  }

  stop(): Promise<unknown> {
    return this.#backend.request('turn/stop', { session: this.id });
  }

  /** Goes on after the step limit, or sends the last request again after a failure. */
  goOn(): Promise<unknown> {
    return this.#backend.request('turn/continue', { session: this.id });
  }

  retryNow(): Promise<unknown> {
    return this.#backend.request('turn/retry_now', { session: this.id });
  }

  /** Has a command asked about to run outside the sandbox. */
  runOutside(item: ItemId): Promise<unknown> {
    return this.#backend.request('call/run_outside', { session: this.id, item });
  }

  /** Has the older part of the conversation summarised. */
  summarise(): Promise<unknown> {
    return this.#backend.request('context/summarise', { session: this.id });
  }

  /** Changes what the model gets of an item. */
  mark(item: ItemId, choice: ContextChoice): Promise<unknown> {
    return this.#backend.request('context/mark', { session: this.id, item, choice });
  }

  answerApproval(approval: Approval, answer: ApprovalAnswer): Promise<unknown> {
    const { id, digest } = approval;
    return this.#backend.request('approval/answer', { session: this.id, approval: id, digest, answer });
  }

  answerQuestion(question: Question, answers: QuestionAnswer[]): Promise<unknown> {
    return this.#backend.request('question/answer', { session: this.id, question: question.id, answers });
  }

  editQueued(id: QueueId, text: string | null, now = false): Promise<unknown> {
    return this.#backend.request('queue/edit', { session: this.id, id, text, now });
  }

  async setMode(mode: Mode): Promise<void> {
    this.changed(await this.#backend.request('session/mode', { session: this.id, mode }));
  }

  async setProfile(profile: string): Promise<void> {
    this.changed(await this.#backend.request('session/profile', { session: this.id, profile }));
  }

  /** Shows the plan at once; the event of the core confirms it. */
  async setPlan(plan: TodoItem[]): Promise<void> {
    const before = this.plan;
    this.plan = plan;
    try {
      await this.#backend.request('plan/set', { session: this.id, plan });
    } catch (cause) {
      this.plan = before;
      throw cause;
    }
  }

  /** Keeps the draft here at once and in the core after a pause in typing. */
  setDraft(text: string): void {
    this.draft = text;
    clearTimeout(this.#draftTimer);
    this.#draftTimer = setTimeout(() => void this.saveDraft(), 400);
  }

  /** Keeps the draft in the core now; before the session is left. */
  async saveDraft(): Promise<void> {
    clearTimeout(this.#draftTimer);
    this.#draftTimer = undefined;
    // A draft that is not kept is no reason to disturb: it is still in the box.
    await this.#backend.request('draft/set', { session: this.id, text: this.draft }).catch(() => undefined);
  }

  /** Whether a draft is not kept yet. */
  get draftPending(): boolean {
    return this.#draftTimer !== undefined;
  }

  #show(): void {
    const view = this.#view;
    this.session = view.session;
    this.turns = view.turns;
    this.approvals = view.approvals;
    this.question = view.question;
    this.plan = view.plan;
    this.acceptedPlan = view.acceptedPlan;
    this.queue = view.queue;
    this.meter = view.meter;
    this.activity = view.activity;
    this.heldBy = view.heldBy;
    this.notices = view.notices;
    this.#showRows(view.items);
  }

  /** Touches only the rows whose item is another object now: a piece of text costs the same in any session. */
  #showRows(items: readonly Item[]): void {
    const former = this.#shownItems;
    this.#shownItems = items;
    let moved = items.length < former.length;
    for (let at = Math.min(items.length, former.length) - 1; at >= 0; at -= 1) {
      const item = items[at];
      if (!item || item === former[at]) continue;
      const row = this.#rowById.get(item.id);
      if (row) row.item = item;
      if (former[at]?.id !== item.id) moved = true;
    }
    if (!moved && items.length === former.length) return;
    const kept = moved ? [] : this.rows;
    this.rows = [...kept, ...items.slice(kept.length).map((item) => this.#rowOf(item))];
  }

  #rowOf(item: Item): Row {
    const row = this.#rowById.get(item.id) ?? new Row(item);
    if (row.item !== item) row.item = item;
    this.#rowById.set(item.id, row);
    return row;
  }
}
