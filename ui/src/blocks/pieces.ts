// How much of a text is drawn at once. A frame has to lay out what it is given, so what is long is
// taken apart into pieces of a bounded cost, and so many of them are drawn as a frame can bear.
// Pure, and remembered per block: a piece of text that arrives costs the same in any message.
import type { CodeSpan, ListItem, RichBlock, RichInline } from '../bindings';

/** What is drawn as prose: the core's blocks, and text that is shown as it was written. */
export type Prose = RichBlock | { t: 'words'; text: string };

/** Cost of one part beside its signs, in signs: an element costs about as much as that many of them. */
export const PART = 120;
/** Cost of the frame around code, which has a button. */
const FRAMED = 1_500;
/** What the end of a word adds, and what a sign costs that is no Latin letter: a line may break at both. */
const END_OF_WORD = 4;
const RARE = 3;
/** Most that one piece costs, where it can be taken apart at all. */
export const PIECE = 64_000;
/** What one frame adds, or one piece. */
export const FRAME = 32_000;
/** Pieces of one block that are drawn before somebody asks for the rest. */
export const FOLDED = 2;
/** Signs of a word that stay together: finding a place to break grows faster than the word. */
const WORD = 4_000;
/** Lines of a block of code that are drawn while it is folded; its own fold shows the rest. */
export const CODE_LINES = 60;
/** Signs of a plain text that are drawn at all; the rest can be copied. */
const MOST = 200_000;

/** A block that stands for a part of a longer one. */
interface Origin {
  /** The block that it was taken from. */
  whole: Prose;
  /** Whether it is not the first one. */
  continued: boolean;
}

const origins = new WeakMap<object, Origin>();
const costs = new WeakMap<object, number>();
const cuts = new WeakMap<object, readonly Prose[]>();

/** The block that a piece was taken from; itself where it is no piece. */
export function wholeOf<T extends Prose>(piece: T): T {
  return (origins.get(piece)?.whole as T | undefined) ?? piece;
}

/** Whether what is drawn goes on what stands before it. */
export function isContinued(piece: Prose | ListItem): boolean {
  return origins.get(piece)?.continued ?? false;
}

/** Plain text of any length as blocks. */
export function plainBlocks(text: string): readonly Prose[] {
  if (text.length <= MOST) return [{ t: 'words', text }];
  const end = place(text, MOST);
  const rest = new TextEncoder().encode(text.slice(end)).length;
  return [
    { t: 'words', text: text.slice(0, end) },
    { t: 'cut', bytes: rest },
  ];
}

/** What drawing a block costs, in signs. */
export function costOf(block: Prose): number {
  let cost = costs.get(block);
  if (cost === undefined) {
    cost = reckon(block);
    costs.set(block, cost);
  }
  return cost;
}

function reckon(block: Prose): number {
  switch (block.t) {
    case 'paragraph':
    case 'heading':
      return PART + inlinesCost(block.inlines);
    case 'code':
      return FRAMED + sum(block.lines.slice(0, CODE_LINES), lineCost);
    case 'list':
      return PART + sum(block.items, itemCost);
    case 'quote':
      return PART + sum(block.blocks, costOf);
    case 'table':
      return PART + rowCost(block.head) + sum(block.rows, rowCost);
    case 'verbatim':
    case 'words':
      return PART + textCost(block.text);
    case 'rule':
    case 'cut':
      return PART;
  }
}

function inlinesCost(inlines: readonly RichInline[]): number {
  return sum(inlines, (inline) => {
    switch (inline.t) {
      case 'text':
      case 'code':
        return PART + textCost(inline.text);
      case 'blocked_image':
        return PART + inline.alt.length + inline.href.length;
      case 'break':
        return PART;
      case 'dead_link':
        return PART + inline.href.length + inlinesCost(inline.inlines);
      default:
        return PART + inlinesCost(inline.inlines);
    }
  });
}

const lineCost = (line: readonly CodeSpan[]): number => sum(line, (span) => PART + textCost(span.text)) + 1;
const itemCost = (item: ListItem): number => PART + sum(item.blocks, costOf);
const rowCost = (row: readonly RichInline[][]): number => PART + sum(row, (cell) => PART + inlinesCost(cell));

function textCost(text: string): number {
  let cost = 0;
  for (let at = 0; at < text.length; at += 1) cost += signCost(text.charCodeAt(at));
  return cost;
}

function signCost(unit: number): number {
  if (unit <= 0x20) return 1 + END_OF_WORD;
  return unit < 0x300 ? 1 : RARE;
}

function sum<T>(list: readonly T[], cost: (entry: T) => number): number {
  let all = 0;
  for (const entry of list) all += cost(entry);
  return all;
}

/** The block in pieces, each as cheap as can be; itself where it is cheap. */
export function piecesOf(block: Prose): readonly Prose[] {
  if (costOf(block) <= PIECE) return [block];
  let pieces = cuts.get(block);
  if (pieces === undefined) {
    pieces = takeApart(block);
    for (const [n, piece] of pieces.entries()) origins.set(piece, { whole: block, continued: n > 0 });
    cuts.set(block, pieces);
  }
  return pieces;
}

function takeApart(block: Prose): readonly Prose[] {
  switch (block.t) {
    case 'paragraph':
    case 'heading':
      return grouped(cutInlines(block.inlines), (inline) => inlinesCost([inline])).map((inlines) => ({
        ...block,
        inlines,
      }));
    case 'code':
      return grouped(block.lines.flatMap(cutLine), lineCost).map((lines) => ({ ...block, lines }));
    case 'list':
      return cutList(block);
    case 'quote':
      return grouped(block.blocks.flatMap(inside), costOf).map((blocks) => ({ ...block, blocks }));
    case 'table':
      return grouped(block.rows, rowCost).map((rows) => ({ ...block, rows }));
    case 'verbatim':
    case 'words':
      return cutText(block.text, PIECE).map((text) => ({ ...block, text }));
    case 'rule':
    case 'cut':
      return [block];
  }
}

function cutLine(line: CodeSpan[]): CodeSpan[][] {
  if (lineCost(line) <= PIECE) return [line];
  const spans = line.flatMap((span) => cutText(span.text, PIECE / 2).map((text) => ({ ...span, text })));
  return grouped(spans, (span) => lineCost([span]));
}

/** Pieces of what the core sent are the core's own kinds. */
const inside = (block: RichBlock): RichBlock[] => [...(piecesOf(block) as readonly RichBlock[])];

function cutList(list: Extract<RichBlock, { t: 'list' }>): RichBlock[] {
  const items = list.items.flatMap((item) => {
    if (itemCost(item) <= PIECE) return [item];
    return grouped(item.blocks.flatMap(inside), costOf).map((blocks, n) => {
      const part = { checked: n === 0 ? item.checked : null, blocks };
      if (n > 0) origins.set(part, { whole: list, continued: true });
      return part;
    });
  });
  let number = list.start;
  return grouped(items, itemCost).map((items) => {
    const start = number;
    if (number !== null) number += items.filter((item) => !isContinued(item)).length;
    return { ...list, start, items };
  });
}

/** Running text whose every entry is cheap. */
function cutInlines(inlines: readonly RichInline[]): RichInline[] {
  return inlines.flatMap((inline): RichInline[] => {
    if (inlinesCost([inline]) <= PIECE) return [inline];
    switch (inline.t) {
      case 'text':
      case 'code':
        return cutText(inline.text, PIECE - PART).map((text) => ({ ...inline, text }));
      case 'break':
      case 'blocked_image':
        return [inline];
      default:
        return grouped(cutInlines(inline.inlines), (part) => inlinesCost([part])).map((part) => ({
          ...inline,
          inlines: part,
        }));
    }
  });
}

/** Entries in groups that cost at most a piece, or are of one entry. */
function grouped<T>(entries: readonly T[], cost: (entry: T) => number): T[][] {
  const groups: T[][] = [[]];
  let all = 0;
  for (const entry of entries) {
    const own = cost(entry);
    let group = groups.at(-1) ?? [];
    if (group.length > 0 && all + own > PIECE - PART) {
      group = [];
      groups.push(group);
      all = 0;
    }
    group.push(entry);
    all += own;
  }
  return groups;
}

/** A text in parts of at most that cost: at ends of lines where there are any, else between words. */
function cutText(text: string, most: number): string[] {
  const parts: string[] = [];
  let from = 0;
  while (from < text.length) {
    const end = reach(text, from, most);
    const to =
      end === text.length ? end : (lastEnd(text, from, end) ?? place(text, Math.min(end, from + WORD)));
    parts.push(text.slice(from, to));
    from = to;
  }
  return parts;
}

/** How far a text goes for that cost. */
function reach(text: string, from: number, most: number): number {
  let left = most;
  let at = from;
  while (at < text.length && left > 0) {
    left -= signCost(text.charCodeAt(at));
    at += 1;
  }
  return at;
}

function lastEnd(text: string, from: number, end: number): number | undefined {
  for (const sign of ['\n', ' ']) {
    // Not before the middle: many short parts would cost more than a long one.
    const at = text.lastIndexOf(sign, end - 1);
    if (at >= from + (end - from) / 2) return at + 1;
  }
  return undefined;
}

/** A place near `at` that is in no pair of units. */
function place(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at + 1 : at;
}

/** One thing to draw, and what comes below it. */
export interface Drawn {
  block: Prose;
  /** The block has more, which is drawn when somebody asks: its place in the text. */
  folds: number | null;
}

/** What one frame adds. Two of the same content are the same object: what is drawn is not looked at again. */
export type Batch = readonly Drawn[];

/** What there is to draw, frame by frame; `former` is what this gave before, and `opened` are blocks that are drawn whole. */
export function batchesOf(
  blocks: readonly Prose[],
  opened: ReadonlySet<number>,
  former: readonly Batch[] = [],
): readonly Batch[] {
  const batches: Batch[] = [];
  let batch: Drawn[] = [];
  let all = 0;
  const close = (): void => {
    const old = former[batches.length];
    batches.push(old && isSame(old, batch) ? old : batch);
    batch = [];
    all = 0;
  };
  for (const [at, block] of blocks.entries()) {
    const pieces = piecesOf(block);
    const folded = pieces.length > FOLDED && !opened.has(at);
    const shown = folded ? FOLDED : pieces.length;
    for (const [n, piece] of pieces.entries()) {
      if (n === shown) break;
      const cost = costOf(piece);
      if (batch.length > 0 && all + cost > FRAME) close();
      batch.push({ block: piece, folds: folded && n === shown - 1 ? at : null });
      all += cost;
    }
  }
  if (batch.length > 0) close();
  return batches;
}

function isSame(one: Batch, other: Batch): boolean {
  return (
    one.length === other.length &&
    one.every(({ block, folds }, at) => block === other[at]?.block && folds === other[at].folds)
  );
}
