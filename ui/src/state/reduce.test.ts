import { readdirSync, readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import type { Event } from '../bindings';
import { emptySession, emptySnapshot, type Log, logs, Script, viewOf } from './fixtures';
import { fromSnapshot, isStored, LIVE_OUTPUT_LIMIT, reduce, type SessionView } from './reduce';

const start = (log: Log): SessionView => fromSnapshot(log.snapshot);

/** Logs written by the scenarios of the core: one event per line. */
function goldenLogs(): [string, Event[]][] {
  const folder = new URL('../../../tests/scenarios/golden/', import.meta.url);
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  } catch {
    return [];
  }
  return names.map((name) => {
    const lines = readFileSync(new URL(name, folder), 'utf8').split('\n');
    return [name, lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Event)];
  });
}

describe('every recorded log', () => {
  const recorded: [string, Log][] = Object.entries(logs).map(([name, make]) => [name, make()]);
  for (const [name, events] of goldenLogs()) {
    const id = events[0]?.session ?? 'none';
    const session = emptySession(id, '');
    recorded.push([`golden ${name}`, { snapshot: emptySnapshot(session), events, session }]);
  }

  test.each(recorded)('%s leaves no gap and ends as the final items say', (_, log) => {
    const view = viewOf(log);
    expect(view.gap).toBe(false);
    const final = new Map<string, unknown>();
    for (const event of log.events) {
      if (event.type === 'item_completed') final.set(event.item.id, event.item.body);
    }
    for (const [id, body] of final) {
      expect(view.items.find((item) => item.id === id)?.body).toEqual(body);
    }
  });

  test.each(recorded)('%s seen twice event by event is the same', (_, log) => {
    let once = start(log);
    let twice = start(log);
    for (const event of log.events) {
      once = reduce(once, event);
      twice = reduce(reduce(twice, event), event);
    }
    expect(twice).toEqual(once);
  });

  test.each(recorded)('%s replayed as a whole changes nothing', (_, log) => {
    const view = viewOf(log);
    const stored = log.events.filter((e) => isStored(e) || e.seq < view.lastSeq);
    for (const event of stored) expect(reduce(view, event)).toBe(view);
  });

  test.each(recorded)('%s without its transient events ends with the same items', (_, log) => {
    const lossy = log.events.filter(isStored).reduce(reduce, start(log));
    const open = new Set(
      viewOf(log)
        .items.filter((i) => i.state === 'running')
        .map((i) => i.id),
    );
    const closed = (view: SessionView) => view.items.filter((item) => !open.has(item.id));
    expect(closed(lossy)).toEqual(closed(viewOf(log)));
  });
});

describe('pieces of text', () => {
  const script = new Script(emptySession('s', 'Text'));
  script.request('Say something.').say('x');
  const item = script.events.findLast((e) => e.type === 'item_started')?.item.id ?? '';
  const at = script.events.findIndex((e) => e.type === 'item_started' && e.item.id === item) + 1;
  const log = {
    snapshot: emptySnapshot(emptySession('s', 'Text')),
    events: script.events,
    session: script.session,
  };
  const view = viewOf(log, at);
  const text = (v: SessionView) => {
    const body = v.items.find((i) => i.id === item)?.body;
    return body?.kind === 'assistant' ? body.text : undefined;
  };
  const piece = (offset: number, words: string): Event => ({
    v: 1,
    seq: view.lastSeq,
    session: 's',
    at: 0,
    type: 'item_delta',
    item,
    delta: { kind: 'text', offset, text: words },
  });

  test('are joined by their offset in bytes, not in characters', () => {
    const grown = [piece(0, 'Höhe '), piece(6, '🌊'), piece(10, ' ok')].reduce(reduce, view);
    expect(text(grown)).toBe('Höhe 🌊 ok');
  });

  test('that do not fit are dropped', () => {
    const grown = reduce(view, piece(0, 'abc'));
    for (const wrong of [piece(0, 'abc'), piece(2, 'c'), piece(9, 'later')]) {
      expect(reduce(grown, wrong)).toBe(grown);
    }
  });

  test('leave the other items the same objects', () => {
    const grown = reduce(view, piece(0, 'abc'));
    expect(grown.items[0]).toBe(view.items[0]);
    expect(grown.turns).toBe(view.turns);
  });

  test('as blocks replace what follows those that stay', () => {
    const rich = (keep: number, ...words: string[]): Event => ({
      v: 1,
      seq: view.lastSeq,
      session: 's',
      at: 0,
      type: 'item_delta',
      item,
      delta: { kind: 'rich', keep, blocks: words.map((w) => ({ t: 'verbatim', text: w })) },
    });
    const first = reduce(view, rich(0, 'a', 'b'));
    const second = reduce(first, rich(1, 'B', 'c'));
    const shown = (v: SessionView) => v.items.find((i) => i.id === item)?.rendered;
    expect(shown(second)?.map((b) => (b.t === 'verbatim' ? b.text : ''))).toEqual(['a', 'B', 'c']);
    expect(shown(second)?.[0]).toBe(shown(first)?.[0]);
    expect(reduce(second, rich(9, 'lost'))).toBe(second);
  });
});

describe('order', () => {
  const log = logs.tour();

  test('a missed stored event is noticed', () => {
    const second = log.events.filter(isStored)[1];
    expect(second && reduce(start(log), second).gap).toBe(true);
  });

  test('an event of another session changes nothing', () => {
    const view = start(log);
    for (const event of log.events) expect(reduce(view, { ...event, session: 'other' })).toBe(view);
  });

  test('an event of a newer build takes its place in the order', () => {
    const view = start(log);
    const next = reduce(view, {
      v: 2,
      seq: 1,
      session: view.session.id,
      at: 0,
      type: 'unknown',
      name: 'new',
      version: 1,
      json: '{}',
    });
    expect(next.lastSeq).toBe(1);
    expect(next.gap).toBe(false);
  });

  test('an ended request takes its cards and questions along', () => {
    const view = viewOf(log);
    expect(view.approvals).toHaveLength(1);
    const turn = view.turns.at(-1);
    if (!turn) throw new Error('no turn');
    const event: Event = {
      v: 1,
      seq: view.lastSeq + 1,
      session: view.session.id,
      at: 0,
      type: 'turn_completed',
      turn: { ...turn, ended_at: 1, outcome: { kind: 'stopped' } },
    };
    expect(reduce(view, event).approvals).toEqual([]);
  });
});

test('live output stays bounded whatever is printed', () => {
  const log = logs.states();
  let view = viewOf(log);
  const item = view.items.at(-1);
  const terminal = () => {
    const body = view.items.at(-1)?.body;
    const block = body?.kind === 'tool' ? body.blocks.at(-1) : undefined;
    return block?.block === 'terminal' ? block : undefined;
  };
  const piece = 'y'.repeat(65_536);
  for (let n = 0; n < 40; n += 1) {
    view = reduce(view, {
      v: 1,
      seq: view.lastSeq,
      session: view.session.id,
      at: 0,
      type: 'item_delta',
      item: item?.id ?? '',
      delta: { kind: 'output', offset: terminal()?.total_bytes ?? 0, text: piece },
    });
  }
  expect(terminal()?.output.length).toBeLessThanOrEqual(LIVE_OUTPUT_LIMIT + piece.length);
  const { total_bytes = 0, omitted_bytes = 0, output = '' } = terminal() ?? {};
  expect(total_bytes).toBe(omitted_bytes + output.length);
});
