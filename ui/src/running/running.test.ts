import { describe, expect, it, test } from 'vitest';

import type { Process, ProcessOutput } from '../bindings';
import { ended, printed, running, server } from '../state/fixtures/running';
import { emptyLog, grown, type Log, LOG_LIMIT } from './log';
import { ENDED_KEPT, isAlive, listed, ofCall, oneLine, ordered, portsOf, stateOf, told } from './processes';

const handles = (processes: readonly Process[]): string[] => processes.map((one) => one.handle);

describe('T22: the commands of a session', () => {
  it('puts_what_runs_first_and_the_newest_of_each_before_the_others', () => {
    const all = [
      ended('p1', { kind: 'exited', code: 0 }),
      server(),
      running('p3'),
      ended('p4', { kind: 'stopped' }),
    ];
    expect(handles(ordered(all))).toEqual(['p3', 'p2', 'p4', 'p1']);
  });

  it('lets_nothing_come_back_to_life', () => {
    const over = ended('p1', { kind: 'stopped' });
    expect(told([over], running('p1'))).toEqual([over]);
    expect(listed([over], [running('p1')]).map(isAlive)).toEqual([false]);
    const left = running('p1', { state: { kind: 'left', end: { kind: 'exited', code: 0 } } });
    expect(told([left], running('p1'))).toEqual([left]);
    expect(told([left], over)).toEqual([over]);
  });

  it('keeps_ports_and_tail_where_an_event_carries_none_and_drops_ports_at_the_end', () => {
    const [now] = told([{ ...server(), tail: 'serving' }], { ...server(), ports: [] });
    expect(now).toMatchObject({ ports: server().ports, tail: 'serving' });
    const [over] = told([server()], { ...ended('p2', { kind: 'stopped' }), ports: server().ports });
    expect(over?.ports).toEqual([]);
  });

  it('drops_what_the_core_knows_no_more_but_not_what_began_meanwhile', () => {
    const newer = running('p9', { started_at: running('p1').started_at + 5 });
    expect(handles(listed([ended('p0', { kind: 'stopped' }), newer], [running('p1')]))).toEqual(['p1', 'p9']);
    expect(handles(listed([running('p1')], [running('p9')]))).toEqual(['p9']);
  });

  it('stays_bounded_and_never_drops_what_runs', () => {
    let all: readonly Process[] = [server()];
    for (let n = 3; n < 200; n += 1) all = told(all, ended(`p${n}`, { kind: 'exited', code: 0 }));
    expect(all).toHaveLength(ENDED_KEPT + 1);
    expect(all[0]?.handle).toBe('p2');
    expect(all.at(-1)?.handle).toBe('p199');
  });

  it('finds_the_running_command_of_a_call_and_of_equal_ids_the_newest', () => {
    const all = [
      running('p1', { call: 'c' }),
      running('p2', { call: 'c' }),
      ended('p3', { kind: 'stopped' }, { call: 'c' }),
    ];
    expect(ofCall(all, 'c')?.handle).toBe('p2');
    expect(ofCall(all, 'd')).toBeUndefined();
  });

  it.each([
    [{ kind: 'exited', code: 0 }, 'done'],
    [{ kind: 'exited', code: 3 }, 'failed'],
    [{ kind: 'signalled', signal: 'SIGSEGV' }, 'failed'],
    [{ kind: 'timed_out' }, 'timed_out'],
    [{ kind: 'stopped' }, 'stopped'],
    [{ kind: 'interrupted' }, 'interrupted'],
  ] as const)('names_the_end_%o_%s', (end, word) => {
    expect(stateOf(ended('p1', end))).toBe(word);
    expect(stateOf(running('p1', { state: { kind: 'left', end } }))).toBe('running');
  });

  it('shows_a_command_of_several_lines_on_one_without_losing_the_breaks', () => {
    expect(oneLine('set -e\n  make\n')).toBe('set -e ⏎ make ⏎');
  });

  it('names_a_port_once_and_says_when_other_machines_reach_it', () => {
    const port = (port: number, address: string) => ({ port, address, pid: 1 });
    expect(
      portsOf([port(8000, '127.0.0.1'), port(80, '::'), port(8000, '::1'), port(80, '0.0.0.0')]),
    ).toEqual([
      { port: 80, open: true },
      { port: 8000, open: false },
    ]);
  });
});

const textOf = (log: Log): string => log.parts.map((part) => part.text).join('') + log.open;

/** The core's answer out of all that was printed so far: what is open is its last line. */
function answer(all: string, asked: number | null, mask = (text: string) => text): ProcessOutput {
  const bytes = new TextEncoder().encode(all);
  const stable = new TextEncoder().encode(all.slice(0, all.lastIndexOf('\n') + 1)).length;
  const offset = asked ?? 0;
  const text = mask(new TextDecoder().decode(bytes.slice(offset)));
  return { process: running('p1'), offset, text, omitted: 0, stable };
}

describe('T22: the live log', () => {
  test('is_what_was_printed_whatever_the_pieces', () => {
    const states = [
      'a',
      'a\nb',
      'a\nb 10 %',
      'a\nb 20 % ü潮🌊',
      'a\nb 20 % ü潮🌊\n',
      'a\nb 20 % ü潮🌊\n\nend',
    ];
    let log = emptyLog;
    for (const all of states) {
      log = grown(log, answer(all, log.next));
      expect(textOf(log)).toBe(all);
    }
  });

  test('draws_an_open_line_anew_and_leaves_what_is_settled_alone', () => {
    let log = grown(emptyLog, answer('done\n10 %', null));
    const [first] = log.parts;
    log = grown(log, answer('done\n20 %', log.next));
    expect(textOf(log)).toBe('done\n20 %');
    expect(log.parts[0]).toBe(first);
  });

  test('loses_nothing_where_a_secret_is_masked_and_bytes_do_not_add_up', () => {
    for (const stand of ['•', '[a much longer stand-in than the secret]']) {
      const mask = (text: string) => text.replaceAll('hunter2', stand);
      const all = ['key hunter2', 'key hunter2\nkey hunter2 again', 'key hunter2\nkey hunter2 again\nx'];
      let log = emptyLog;
      for (const text of all) {
        log = grown(log, answer(text, log.next, mask));
        expect(textOf(log)).toBe(mask(text));
      }
    }
  });

  test('settles_a_very_long_line_as_it_comes', () => {
    const part = { process: running('p1'), omitted: 0 };
    let log = grown(emptyLog, { ...part, offset: 0, text: `${'é'.repeat(10_000)}x`, stable: 16_384 });
    expect(log.open).toBe(`${'é'.repeat(10_000 - 8192)}x`);
    log = grown(log, { ...part, offset: 16_384, text: 'rest\n', stable: 16_389 });
    expect(textOf(log)).toBe(`${'é'.repeat(8192)}rest\n`);
  });

  test('says_that_something_came_before_and_begins_anew_when_less_is_there', () => {
    let log = grown(emptyLog, printed(running('p1'), 'end\n', 5000));
    expect(log.cut).toBe(true);
    log = grown(log, { ...printed(running('p1'), 'anew\n'), offset: 0 });
    expect(textOf(log)).toBe('anew\n');
  });

  test('stays_bounded_and_keeps_the_end', () => {
    let log = emptyLog;
    for (let n = 0; n < 900; n += 1) {
      const text = `${n} ${'y'.repeat(2000)}\n`;
      log = grown(log, printed(running('p1'), text, log.next ?? 0));
    }
    expect(textOf(log).length).toBeLessThanOrEqual(LOG_LIMIT);
    expect(log.parts.length).toBeLessThanOrEqual(301);
    expect(log.cut).toBe(true);
    expect(textOf(log).endsWith(`${'y'.repeat(2000)}\n`)).toBe(true);
    const one = grown(emptyLog, printed(running('p1'), 'z\n'.repeat(LOG_LIMIT)));
    expect(textOf(one).length).toBeLessThanOrEqual(LOG_LIMIT);
    expect(new Set(log.parts.map((part) => part.id)).size).toBe(log.parts.length);
  });
});
