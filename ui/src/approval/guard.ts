/**
 * Decides whether a click or key on a waiting card may act. SPEC P10, X78.
 *
 * A card that has just appeared or changed sits where a moment ago something else was, so what was
 * aimed at that other thing must not answer it. Owns: the quiet time, presses, repeats, single use.
 * Must never know: what is asked, or how it is drawn.
 */

/** Where the time comes from: milliseconds that only rise. Tests bring their own. */
export type Clock = { now(): number };

/** The engine's own clock. */
export const realClock: Clock = { now: () => performance.now() };

/** Milliseconds after a card appears or changes during which nothing acts. Fixed by SPEC P10. */
export const QUIET_MS = 400;

type Press = { by: 'pointer' | 'key'; generation: number; counts: boolean };

export class AnswerGuard {
  readonly #clock: Clock;
  #since: number;
  #generation = 0;
  #press: Press | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.now();
  }

  /** What is under the pointer changed: the quiet time begins again and open presses are void. */
  renew(): void {
    this.#generation += 1;
    this.#since = this.#clock.now();
  }

  /** A pointer went down or an activating key was pressed inside the card. */
  press(by: Press['by'], repeat = false): void {
    this.#press = { by, generation: this.#generation, counts: !repeat && this.#quietOver() };
  }

  /**
   * Whether the click that arrives now may act; `clicks` is the event's `detail`.
   *
   * What counts is what was shown when the pointer went down, so a click of the pointer needs a press
   * of its own. Clicks without a pointer (detail 0) come from a key, or from assistive tools, which
   * press nothing and are held to the quiet time.
   */
  mayClick(clicks: number): boolean {
    const press = this.#press;
    this.#press = null;
    if (clicks > 1) return false;
    if (press?.by === (clicks === 0 ? 'key' : 'pointer')) {
      return press.counts && press.generation === this.#generation;
    }
    return clicks === 0 && this.#quietOver();
  }

  /** Whether the key press that arrives now may act by itself, without a click. */
  mayKey(repeat: boolean): boolean {
    return !repeat && this.#quietOver();
  }

  #quietOver(): boolean {
    return this.#clock.now() - this.#since >= QUIET_MS;
  }
}
