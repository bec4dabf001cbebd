// The commands of the open session as the window holds them: fed by events and lists, and the methods that act
// on one. Knows nothing of components.
import type { Backend } from '../backend/backend';
import type { Process, ProcessOutput, SessionId } from '../bindings';
import { isAlive, listed, ofCall, ordered, told } from './processes';

export class Processes {
  /** In the order in which they were told. */
  #known = $state.raw<readonly Process[]>([]);

  /** As they are shown. */
  readonly all = $derived(ordered(this.#known));
  /** Those of which something runs. */
  readonly running = $derived(this.#known.filter(isAlive).length);

  readonly #backend: Backend;
  readonly #session: SessionId;

  constructor(backend: Backend, session: SessionId) {
    this.#backend = backend;
    this.#session = session;
  }

  /** Takes what was told of one. */
  take(process: Process): void {
    this.#known = told(this.#known, process);
  }

  /** Asks for all of them, with their ports. */
  async load(): Promise<void> {
    const answer = await this.#backend.request('process/list', { session: this.#session });
    this.#known = listed(this.#known, answer.processes);
  }

  /** The running command of a tool call. */
  ofCall(call: string): Process | undefined {
    return ofCall(this.#known, call);
  }

  /** What it printed from `offset` on; its end where none is given. */
  async output(handle: string, offset: number | null): Promise<ProcessOutput> {
    const answer = await this.#backend.request('process/output', { session: this.#session, handle, offset });
    this.take(answer.process);
    return answer;
  }

  /** Ends it and all that it started. */
  async stop(handle: string): Promise<void> {
    this.take(await this.#backend.request('process/stop', { session: this.#session, handle }));
  }

  /** Five minutes more for one that a call waits for. */
  async moreTime(handle: string): Promise<void> {
    this.take(await this.#backend.request('process/more_time', { session: this.#session, handle }));
  }

  /** Lets one that a call waits for go on in the background. */
  async toBackground(handle: string): Promise<void> {
    this.take(await this.#backend.request('process/to_background', { session: this.#session, handle }));
  }
}
