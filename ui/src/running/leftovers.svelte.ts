// What earlier runs left running, because their helper was killed: the list, and how ending it went.
import { type Backend, RequestFailed } from '../backend/backend';
import type { Leftover } from '../bindings';

export class Leftovers {
  /** Oldest first. */
  list = $state.raw<readonly Leftover[]>([]);
  /** They are being ended. */
  busy = $state(false);
  /** The person wants to leave them; they stay listed where what runs is listed. */
  aside = $state(false);
  /** How many were ended; none before anybody wanted to. */
  ended = $state<number | null>(null);
  /** Why one could not be ended. */
  failure = $state('');

  readonly #backend: Backend;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  async load(): Promise<void> {
    this.list = (await this.#backend.request('process/leftovers', {})).leftovers;
    if (this.list.length > 0) this.ended = null;
  }

  /** Ends one after the other. What stays although it was ended is still listed then. */
  async end(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.failure = '';
    const wanted = this.list;
    try {
      for (const { id } of wanted) {
        this.list = (await this.#backend.request('process/end_leftover', { id })).leftovers;
      }
    } catch (cause) {
      this.failure = RequestFailed.from(cause).message;
    } finally {
      const left = new Set(this.list.map((one) => one.id));
      this.ended = (this.ended ?? 0) + wanted.filter((one) => !left.has(one.id)).length;
      this.busy = false;
    }
  }
}
