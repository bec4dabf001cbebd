// The commands of a session: which state of one is the newer, in which order they stand, and what is said
// of each. Pure. Knows nothing of components, clocks or the backend.
import type { CommandEnd, ItemState, ListeningPort, Process } from '../bindings';

/** Ended ones that are kept to look at. */
export const ENDED_KEPT = 50;

const AGES = { running: 0, left: 1, ended: 2 } as const;

/** Whether anything of it still runs. */
export function isAlive(process: Process): boolean {
  return process.state.kind !== 'ended';
}

/** Whether a call waits for it: only then it can be given time or be moved to the background. */
export function isWaitedFor(process: Process): boolean {
  return process.state.kind === 'running' && process.place === 'foreground';
}

/**
 * The commands after one of them was told. An answer may be overtaken by an event: nothing comes back to life.
 * What only some answers carry, its ports and the end of its output, is kept where the news carries none.
 */
export function told(processes: readonly Process[], news: Process): readonly Process[] {
  const at = processes.findIndex((one) => one.handle === news.handle);
  const known = processes[at];
  if (!known) return bounded([...processes, news]);
  if (AGES[news.state.kind] < AGES[known.state.kind]) return processes;
  const ports = !isAlive(news) ? [] : news.ports.length > 0 ? news.ports : known.ports;
  const tail = news.tail === '' ? known.tail : news.tail;
  return bounded(processes.with(at, { ...news, ports, tail }));
}

/** The commands after all of them were listed: ports as listed, and none that the core knows no more. */
export function listed(before: readonly Process[], answer: readonly Process[]): readonly Process[] {
  const known = new Map(before.map((one) => [one.handle, one]));
  const now = answer.map((one) => {
    const old = known.get(one.handle);
    return old && AGES[one.state.kind] < AGES[old.state.kind] ? { ...old, tail: one.tail } : one;
  });
  // Begun while the list was on its way.
  const newest = Math.max(0, ...answer.map((one) => one.started_at));
  const names = new Set(now.map((one) => one.handle));
  const begun = before.filter(
    (one) => !names.has(one.handle) && (isAlive(one) ? one.started_at >= newest : false),
  );
  return bounded([...now, ...begun]);
}

function bounded(processes: readonly Process[]): readonly Process[] {
  let over = processes.filter((one) => !isAlive(one)).length - ENDED_KEPT;
  return over <= 0 ? processes : processes.filter((one) => isAlive(one) || over-- <= 0);
}

/** As they are shown: what runs first, then the newest first. */
export function ordered(processes: readonly Process[]): readonly Process[] {
  return processes
    .map((process, at) => ({ process, at }))
    .sort(
      (a, b) =>
        Number(isAlive(b.process)) - Number(isAlive(a.process)) ||
        b.process.started_at - a.process.started_at ||
        b.at - a.at,
    )
    .map(({ process }) => process);
}

/** The running command of a tool call; ids of calls are the model's own, so the newest counts. */
export function ofCall(processes: readonly Process[], call: string): Process | undefined {
  return processes.findLast((one) => one.call === call && isAlive(one));
}

/** The state by which it is drawn and named. */
export function stateOf({ state }: Process): ItemState {
  return state.kind === 'ended' ? endState(state.end) : 'running';
}

function endState(end: CommandEnd): ItemState {
  switch (end.kind) {
    case 'exited':
      return end.code === 0 ? 'done' : 'failed';
    case 'signalled':
      return 'failed';
    default:
      return end.kind;
  }
}

/** Its command on one line. */
export function oneLine(command: string): string {
  return command.replace(/\s*\n\s*/g, ' ⏎ ').trim();
}

/** A port with whom it listens to, each once: the same one in both families of addresses is one. */
export function portsOf(ports: readonly ListeningPort[]): { port: number; open: boolean }[] {
  const found = new Map<number, boolean>();
  for (const { port, address } of ports) {
    const open = address === '::' || address === '0.0.0.0';
    found.set(port, (found.get(port) ?? false) || open);
  }
  return [...found].sort(([a], [b]) => a - b).map(([port, open]) => ({ port, open }));
}
