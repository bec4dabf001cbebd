// What a session looks like after an event: a pure function, so that golden logs test it.
// Owns the rules for repeats and gaps. Knows nothing of components, clocks or the backend.
import type {
  AcceptedPlan,
  Activity,
  Approval,
  ContextMeter,
  Delta,
  Event,
  Item,
  ItemId,
  LeaseHolder,
  Mark,
  Notice,
  Question,
  QueuedMessage,
  RichBlock,
  Session,
  SessionSnapshot,
  Terminal,
  TodoItem,
  Turn,
} from '../bindings';
import { keptBlocks } from './kept';

/** All that the window draws of one session. Unchanged parts keep their identity. */
export interface SessionView {
  session: Session;
  /** Oldest first. */
  turns: readonly Turn[];
  /** Oldest first. */
  items: readonly Item[];
  /** Oldest first. */
  approvals: readonly Approval[];
  question: Question | null;
  plan: readonly TodoItem[];
  /** The plan in words that the person accepted last. */
  acceptedPlan: AcceptedPlan | null;
  queue: readonly QueuedMessage[];
  /** Items of which the model gets something else than the plain item. */
  marks: ReadonlyMap<ItemId, Mark>;
  draft: string;
  meter: ContextMeter;
  activity: Activity;
  heldBy: LeaseHolder | null;
  /** Notices that belong to no request, oldest first. */
  notices: readonly Notice[];
  /** `seq` of the last stored event that is contained. */
  lastSeq: number;
  /** A stored event was missed: what is shown may be wrong until the snapshot is asked for again. */
  gap: boolean;
  /** Bytes of text of the items that grow: counted along, so that a piece costs the same at any length. */
  textBytes: ReadonlyMap<ItemId, number>;
}

/** Output of a running command that is kept for drawing, in UTF-16 units; the final item has its own cut. */
export const LIVE_OUTPUT_LIMIT = 200_000;

const encoder = new TextEncoder();

/** The view that a snapshot stands for. */
export function fromSnapshot(snapshot: SessionSnapshot): SessionView {
  return {
    session: snapshot.session,
    turns: snapshot.turns,
    items: snapshot.items,
    approvals: snapshot.approvals,
    question: snapshot.question,
    plan: snapshot.plan,
    acceptedPlan: snapshot.accepted_plan ?? null,
    queue: snapshot.queue,
    marks: new Map(snapshot.marks.map(({ item, mark }) => [item, mark])),
    draft: snapshot.draft,
    meter: snapshot.meter,
    activity: snapshot.activity,
    heldBy: snapshot.held_by,
    notices: [],
    lastSeq: snapshot.last_seq,
    gap: false,
    textBytes: new Map(),
  };
}

/** Whether an event takes a `seq` of its own. */
export function isStored(event: Event): boolean {
  switch (event.type) {
    case 'item_delta':
    case 'meter_changed':
    case 'activity_changed':
    case 'notice':
    case 'close_asked':
    case 'inbox_changed':
    case 'session_wanted':
    case 'process_changed':
      return false;
    default:
      return true;
  }
}

/**
 * The view after `event`. Returns the same object for what is not its business: another session,
 * a repeat, a piece that does not fit.
 */
export function reduce(view: SessionView, event: Event): SessionView {
  if (event.session !== view.session.id) return view;
  if (!isStored(event)) return event.seq < view.lastSeq ? view : applyTransient(view, event);
  if (event.seq <= view.lastSeq) return view;
  const gap = view.gap || event.seq > view.lastSeq + 1;
  return { ...applyStored(view, event), lastSeq: event.seq, gap };
}

function applyTransient(view: SessionView, event: Event): SessionView {
  switch (event.type) {
    case 'item_delta':
      return grow(view, event.item, event.delta);
    case 'meter_changed':
      return { ...view, meter: event.meter };
    case 'activity_changed':
      return { ...view, activity: event.activity };
    case 'notice':
      return view.notices.some((n) => n.code === event.notice.code && n.text === event.notice.text)
        ? view
        : { ...view, notices: [...view.notices, event.notice] };
    default:
      return view;
  }
}

function applyStored(view: SessionView, event: Event): SessionView {
  switch (event.type) {
    case 'turn_started':
    case 'turn_updated':
      return { ...view, turns: put(view.turns, event.turn) };
    case 'turn_completed':
      return {
        ...view,
        turns: put(view.turns, event.turn),
        approvals: without(view.approvals, (a) => a.turn === event.turn.id),
        question: view.question?.turn === event.turn.id ? null : view.question,
        activity: { kind: 'idle' },
      };
    case 'item_started':
    case 'item_updated':
    case 'item_completed':
      return {
        ...view,
        items: put(view.items, drawnOnce(view.items, event.item)),
        textBytes: forget(view.textBytes, event.item.id),
      };
    case 'approval_requested':
      return { ...view, approvals: put(view.approvals, event.approval) };
    case 'approval_resolved':
      return { ...view, approvals: without(view.approvals, (a) => a.id === event.approval) };
    case 'question_asked':
      return { ...view, question: event.question };
    case 'question_resolved':
      return view.question?.id === event.question ? { ...view, question: null } : view;
    case 'session_changed':
      return { ...view, session: event.now };
    case 'plan_changed':
      return { ...view, plan: event.plan };
    case 'plan_accepted':
      return { ...view, acceptedPlan: event.accepted };
    case 'queue_changed':
      return { ...view, queue: event.queue };
    case 'item_marked':
      return { ...view, marks: marked(view.marks, event.item, event.mark) };
    default:
      // Written by a newer build: its place in the order counts, its content cannot.
      return view;
  }
}

function marked(
  marks: ReadonlyMap<ItemId, Mark>,
  item: ItemId,
  mark: Mark | null,
): ReadonlyMap<ItemId, Mark> {
  const all = new Map(marks);
  if (mark) all.set(item, mark);
  else all.delete(item);
  return all;
}

/** The item with those of its blocks that are drawn already: at its end all of them come once more. */
function drawnOnce(items: readonly Item[], item: Item): Item {
  const former = items[lastIndex(items, item.id)]?.rendered;
  return former && item.rendered ? { ...item, rendered: keptBlocks(former, item.rendered) } : item;
}

function grow(view: SessionView, id: ItemId, delta: Delta): SessionView {
  const at = lastIndex(view.items, id);
  const item = view.items[at];
  if (!item) return view;
  switch (delta.kind) {
    case 'text':
      return growText(view, at, item, delta.offset, delta.text);
    case 'rich':
      return growRich(view, at, item, delta.keep, delta.blocks);
    case 'output':
      return growOutput(view, at, item, delta.offset, delta.text);
  }
}

function growText(view: SessionView, at: number, item: Item, offset: number, text: string): SessionView {
  const body = item.body;
  if (body.kind !== 'assistant' && body.kind !== 'thinking') return view;
  const have = view.textBytes.get(item.id) ?? encoder.encode(body.text).length;
  if (offset !== have) return view;
  const textBytes = new Map(view.textBytes).set(item.id, have + encoder.encode(text).length);
  const grown = { ...item, body: { ...body, text: body.text + text } };
  return { ...view, items: replaced(view.items, at, grown), textBytes };
}

function growRich(view: SessionView, at: number, item: Item, keep: number, blocks: RichBlock[]): SessionView {
  const shown = item.rendered ?? [];
  // More to keep than there is means that a piece was lost: what follows would stand in the wrong place.
  if (keep > shown.length) return view;
  const rendered = [...shown.slice(0, keep), ...blocks];
  return { ...view, items: replaced(view.items, at, { ...item, rendered }) };
}

function growOutput(view: SessionView, at: number, item: Item, offset: number, text: string): SessionView {
  if (item.body.kind !== 'tool') return view;
  const index = item.body.blocks.findLastIndex((block) => block.block === 'terminal');
  const terminal = item.body.blocks[index];
  if (terminal?.block !== 'terminal') return view;
  const kept = cutOutput(terminal, offset);
  if (kept === null) return view;
  const all = kept + text;
  const from = frontOf(all);
  const grown = {
    ...terminal,
    output: all.slice(from),
    total_bytes: offset + encoder.encode(text).length,
    // A cut before the kept part leaves nothing of it: all that is left was omitted.
    omitted_bytes: Math.min(terminal.omitted_bytes, offset) + encoder.encode(all.slice(0, from)).length,
  };
  const blocks = replaced(item.body.blocks, index, grown);
  return { ...view, items: replaced(view.items, at, { ...item, body: { ...item.body, blocks } }) };
}

/**
 * The kept output up to `offset`, in bytes of all that was printed; none where it does not fit. A line that is
 * drawn again begins before the end, so only what goes is counted: the same at any length.
 */
function cutOutput({ output, total_bytes, omitted_bytes }: Terminal, offset: number): string | null {
  if (offset > total_bytes) return null;
  if (offset <= omitted_bytes) return '';
  let over = total_bytes - offset;
  let end = output.length;
  while (over > 0 && end > 0) {
    const unit = output.charCodeAt(end - 1);
    // The second half of a pair: four bytes with the first.
    const pair = unit >= 0xdc00 && unit <= 0xdfff && end > 1;
    over -= pair ? 4 : unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
    end -= pair ? 2 : 1;
  }
  return over === 0 ? output.slice(0, end) : null;
}

/** Where what is kept of a long output begins: never inside a character. */
function frontOf(output: string): number {
  const over = output.length - LIVE_OUTPUT_LIMIT;
  if (over <= 0) return 0;
  // Cut in larger steps than it grows, so that the text is not copied at every piece.
  const from = over + LIVE_OUTPUT_LIMIT / 4;
  const unit = output.charCodeAt(from);
  return unit >= 0xdc00 && unit <= 0xdfff ? from + 1 : from;
}

/** `list` with `entry` in place of the one with its id, or at the end. */
function put<T extends { id: string }>(list: readonly T[], entry: T): T[] {
  const at = lastIndex(list, entry.id);
  return at < 0 ? [...list, entry] : replaced(list, at, entry);
}

function replaced<T>(list: readonly T[], at: number, entry: T): T[] {
  const copy = list.slice();
  copy[at] = entry;
  return copy;
}

function without<T>(list: readonly T[], out: (entry: T) => boolean): readonly T[] {
  return list.some(out) ? list.filter((entry) => !out(entry)) : list;
}

/** From the end: what changes is nearly always near it. */
function lastIndex(list: readonly { id: string }[], id: string): number {
  for (let at = list.length - 1; at >= 0; at -= 1) if (list[at]?.id === id) return at;
  return -1;
}

function forget(bytes: ReadonlyMap<ItemId, number>, id: ItemId): ReadonlyMap<ItemId, number> {
  if (!bytes.has(id)) return bytes;
  const rest = new Map(bytes);
  rest.delete(id);
  return rest;
}
