// What waits for the person over all windows: the count, and the list while it is looked at. SPEC U3.
// Knows nothing of components, and never answers anything.
import { type Backend, RequestFailed } from '../backend/backend';
import { type Listed, listed, refreshed } from './inbox';

export class Inbox {
  /** How many things wait over all windows, as the core last said. */
  count = $state(0);
  open = $state(false);
  /** The entries in sight; none before they are there. */
  entries = $state.raw<readonly Listed[] | null>(null);
  /** Why they could not be had; empty when they could. */
  problem = $state('');

  readonly #backend: Backend;
  #asked = 0;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** Takes what the core says whenever the count changes. */
  changed(count: number): void {
    this.count = count;
    // An answer that is still on its way is older than this.
    this.#asked += 1;
    if (this.open) void this.load();
  }

  /** Opens the list anew. */
  show(): void {
    this.entries = null;
    this.problem = '';
    this.open = true;
    void this.load();
  }

  close(): void {
    this.open = false;
    this.#asked += 1;
  }

  /** Asks what waits. A later question overtakes an earlier one. */
  async load(): Promise<void> {
    const asked = ++this.#asked;
    try {
      const { waiting } = await this.#backend.request('inbox/list', {});
      if (asked !== this.#asked) return;
      this.count = waiting.length;
      this.entries = this.entries ? refreshed(this.entries, waiting) : listed(waiting);
      this.problem = '';
    } catch (cause) {
      if (asked === this.#asked) this.problem = RequestFailed.from(cause).message;
    }
  }
}
