// The lines of the transcript: items, and after each ended request what it did. Pure.
import type { Item, ItemState, SessionState as State, Turn } from '../bindings';
import type { Row } from '../state/session.svelte';
import { shortCount, t } from '../text';

export type Entry =
  { kind: 'item'; key: string; row: Row; turn: string } | { kind: 'end'; key: string; turn: string };

/**
 * Items in order, each ended request closed by its end. A call that asks the person is shown by its question;
 * its card only where it never came to ask.
 */
export function entriesOf(rows: readonly Row[], turns: readonly Turn[]): Entry[] {
  const ended = new Set(turns.filter((turn) => turn.outcome !== null).map((turn) => turn.id));
  const asked = new Set(rows.filter((row) => row.kind === 'question').map((row) => row.asks));
  const entries: Entry[] = [];
  let current = '';
  const close = (): void => {
    if (ended.has(current)) entries.push({ kind: 'end', key: `end ${current}`, turn: current });
  };
  for (const row of rows) {
    if (row.kind === 'tool' && row.asks !== '' && asked.has(row.asks)) continue;
    const turn = row.turn;
    if (turn !== current) {
      if (current !== '') close();
      current = turn;
    }
    entries.push({ kind: 'item', key: row.id, row, turn });
  }
  if (current !== '') close();
  return entries;
}

/** Height to reckon with before an entry was drawn, in pixels. */
export function guessOf(entry: Entry | undefined): number {
  if (entry?.kind !== 'item') return 40;
  switch (entry.row.kind) {
    case 'user':
      return 76;
    case 'assistant':
      return 110;
    case 'tool':
      return 44;
    case 'question':
      return 84;
    default:
      return 40;
  }
}

/** How a request stands, as one word of a stone. */
export type Standing =
  'running' | 'waiting' | 'done' | 'stopped' | 'denied' | 'failed' | 'paused' | 'interrupted';

export function standingOf(turn: Turn, session: State): Standing {
  if (turn.outcome) return turn.outcome.kind;
  return session === 'waiting' ? 'waiting' : 'running';
}

export function standingWord(turn: Turn, standing: Standing): string {
  if (turn.outcome?.kind === 'paused') return t('outcome.paused', { n: turn.outcome.steps });
  return standing === 'paused' ? t('outcome.paused', { n: turn.summary.steps }) : t(`outcome.${standing}`);
}

/** What a request did besides changing files: commands and what did not run. */
export function workOf(turn: Turn): string[] {
  const { commands, failed, skipped, denied } = turn.summary;
  const parts: string[] = [];
  if (commands > 0) parts.push(t('outcome.commands', { n: commands }));
  if (failed > 0) parts.push(t('outcome.failed_calls', { n: failed }));
  if (skipped > 0) parts.push(t('outcome.skipped_calls', { n: skipped }));
  if (denied > 0) parts.push(t('outcome.denied_calls', { n: denied }));
  return parts;
}

/** Tokens and cost of a request; empty where nothing is known. */
export function usageOf(turn: Turn): string {
  const { input_tokens, output_tokens, cost_usd } = turn.usage;
  if (input_tokens + output_tokens === 0) return '';
  const tokens = t('outcome.tokens', { read: shortCount(input_tokens), written: shortCount(output_tokens) });
  return cost_usd === null ? tokens : `${tokens} · $${cost_usd.toFixed(cost_usd < 1 ? 3 : 2)}`;
}

/** Changed files with their counts over several requests, in the order of their first change. */
export function filesOf(turns: readonly Turn[]): Turn['summary']['files'] {
  const files = new Map<string, Turn['summary']['files'][0]>();
  for (const turn of turns) {
    for (const file of turn.summary.files) {
      const former = files.get(file.path);
      files.set(file.path, {
        ...file,
        added: (former?.added ?? 0) + file.added,
        removed: (former?.removed ?? 0) + file.removed,
      });
    }
  }
  return [...files.values()];
}

/** Whether an item will not change any more. */
export function isOver(state: ItemState): boolean {
  return state !== 'queued' && state !== 'waiting' && state !== 'running';
}

/** Words of an item for one line: the person's message without line breaks. */
export function firstWords(item: Item | undefined): string {
  if (item?.body.kind !== 'user') return '';
  return item.body.text.slice(0, 1_000).replace(/\s+/g, ' ').trim().slice(0, 200);
}
