import { readdirSync, readFileSync } from 'node:fs';

import { describe, expect, test, vi } from 'vitest';

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

describe('live output', () => {
  const start = viewOf(logs.states());
  const item = start.items.at(-1)?.id ?? '';
  const printed = (view: SessionView) => {
    const body = view.items.at(-1)?.body;
    const block = body?.kind === 'tool' ? body.blocks.at(-1) : undefined;
    if (block?.block !== 'terminal') throw new Error('The log ends with no running command.');
    return block;
  };
  const piece = (offset: number, text: string): Event => ({
    v: 1,
    seq: start.lastSeq,
    session: start.session.id,
    at: 0,
    type: 'item_delta',
    item,
    delta: { kind: 'output', offset, text },
  });
  const bytes = (text: string): number => new TextEncoder().encode(text).length;

  test.each<[string, [number, string][], string]>([
    [
      'grows at its end',
      [
        [0, 'a\n'],
        [2, 'b'],
      ],
      'a\nb',
    ],
    [
      'is cut where a line is drawn again',
      [
        [0, 'a\n10 %'],
        [2, '20 %'],
        [2, '100 %\n'],
      ],
      'a\n100 %\n',
    ],
    [
      'is cut to nothing',
      [
        [0, 'abc'],
        [0, 'x'],
      ],
      'x',
    ],
    [
      'is cut without a piece to follow',
      [
        [0, 'abc'],
        [1, ''],
      ],
      'a',
    ],
    [
      'is cut by bytes where characters have two',
      [
        [0, 'höhe äö'],
        [6, 'ü'],
      ],
      'höhe ü',
    ],
    [
      'is cut by bytes where characters have three',
      [
        [0, '潮汐图表'],
        [6, '站'],
      ],
      '潮汐站',
    ],
    [
      'is cut by bytes where characters have four',
      [
        [0, '🌊🌊🌊'],
        [4, '|'],
      ],
      '🌊|',
    ],
    [
      'drops a piece that begins inside a character',
      [
        [0, 'a🌊'],
        [3, 'x'],
        [2, 'y'],
      ],
      'a🌊',
    ],
    [
      'drops a piece beyond its end',
      [
        [0, 'abc'],
        [9, 'lost'],
        [3, 'd'],
      ],
      'abcd',
    ],
    [
      'is the same when a piece comes twice',
      [
        [0, 'abc'],
        [3, 'd'],
        [3, 'd'],
        [0, 'abc'],
        [3, 'd'],
      ],
      'abcd',
    ],
  ])('%s', (_, pieces, output) => {
    const view = pieces.map(([offset, text]) => piece(offset, text)).reduce(reduce, start);
    expect(printed(view)).toMatchObject({ output, total_bytes: bytes(output), omitted_bytes: 0 });
  });

  /** A front of which part is omitted: characters of one to four bytes, so that the cut meets each of them. */
  function omitted(unit: string): SessionView {
    let view = reduce(start, piece(0, ''));
    const text = unit.repeat(Math.ceil(60_000 / unit.length));
    for (let n = 0; n < 6; n += 1) view = reduce(view, piece(printed(view).total_bytes, text));
    expect(printed(view).omitted_bytes).toBeGreaterThan(0);
    return view;
  }

  test.each(['y', 'é', '潮', 'x🌊', '🌊'])('of %s keeps its counts and stays bounded', (unit) => {
    const { output, total_bytes, omitted_bytes } = printed(omitted(unit));
    expect(output.length).toBeLessThanOrEqual(LIVE_OUTPUT_LIMIT);
    expect(omitted_bytes + bytes(output)).toBe(total_bytes);
    // No half of a pair at the front.
    expect(output.charCodeAt(0) & 0xfc00).not.toBe(0xdc00);
  });

  test('with an omitted front is cut inside the kept part', () => {
    const long = omitted('潮');
    const { output, total_bytes, omitted_bytes } = printed(long);
    const cut = printed(reduce(long, piece(total_bytes - 30, 'end')));
    expect(cut.output).toBe(`${output.slice(0, -10)}end`);
    expect(cut).toMatchObject({ total_bytes: total_bytes - 27, omitted_bytes });
  });

  test.each([0, 5, -1])('with an omitted front is cut before its kept part (%i)', (back) => {
    const long = omitted('潮');
    const { omitted_bytes } = printed(long);
    const offset = back < 0 ? omitted_bytes : back;
    const cut = printed(reduce(long, piece(offset, 'anew')));
    expect(cut).toMatchObject({ output: 'anew', total_bytes: offset + 4, omitted_bytes: offset });
  });

  test('costs the same at any length where a line is drawn again and again', () => {
    let view = omitted('progress\n');
    const { total_bytes } = printed(view);
    const encode = vi.spyOn(TextEncoder.prototype, 'encode');
    for (let n = 0; n < 200; n += 1) view = reduce(view, piece(total_bytes, `${n % 100} %`));
    const encoded = encode.mock.calls.reduce((sum, [text = '']) => sum + text.length, 0);
    encode.mockRestore();
    expect(printed(view).output.endsWith('99 %')).toBe(true);
    // Only the pieces themselves, never what was printed before.
    expect(encoded).toBeLessThan(200 * 10);
  });
});
