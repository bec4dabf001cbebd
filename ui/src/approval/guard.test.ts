import { describe, expect, it } from 'vitest';

import { AnswerGuard, QUIET_MS } from './guard';

/** A clock that stands until it is moved. */
function standing() {
  let at = 1000;
  return { now: () => at, move: (ms: number) => (at += ms) };
}

describe('X78: what may answer a card', () => {
  it('ignores_clicks_and_keys_for_400_ms_after_the_card_appears', () => {
    const clock = standing();
    const guard = new AnswerGuard(clock);
    for (const [step, may] of [
      [0, false],
      [QUIET_MS - 1, false],
      [1, true],
    ] as const) {
      clock.move(step);
      guard.press('pointer');
      expect(guard.mayClick(1)).toBe(may);
      expect(guard.mayKey(false)).toBe(may);
      expect(guard.mayClick(0)).toBe(may);
    }
  });

  it('ignores_a_click_that_was_pressed_too_early_and_released_later', () => {
    const clock = standing();
    const guard = new AnswerGuard(clock);
    clock.move(300);
    guard.press('pointer');
    clock.move(900);
    expect(guard.mayClick(1)).toBe(false);
    guard.press('pointer');
    expect(guard.mayClick(1)).toBe(true);
  });

  it('voids_a_press_when_the_card_changes_under_it_however_long_it_is_held', () => {
    for (const [by, clicks] of [
      ['pointer', 1],
      ['key', 0],
    ] as const) {
      const clock = standing();
      const guard = new AnswerGuard(clock);
      clock.move(500);
      guard.press(by);
      guard.renew();
      clock.move(5000);
      expect(guard.mayClick(clicks)).toBe(false);
      guard.press(by);
      expect(guard.mayClick(clicks)).toBe(true);
    }
  });

  it('ignores_a_click_of_the_pointer_that_was_not_pressed_on_the_card', () => {
    const clock = standing();
    const guard = new AnswerGuard(clock);
    clock.move(5000);
    expect(guard.mayClick(1)).toBe(false);
    guard.press('key');
    expect(guard.mayClick(1)).toBe(false);
  });

  it('ignores_second_and_further_clicks_always', () => {
    const clock = standing();
    const guard = new AnswerGuard(clock);
    clock.move(5000);
    for (const clicks of [2, 3, 7]) {
      guard.press('pointer');
      expect(guard.mayClick(clicks)).toBe(false);
    }
  });

  it('ignores_repeats_of_a_held_key_always', () => {
    const clock = standing();
    const guard = new AnswerGuard(clock);
    clock.move(5000);
    expect(guard.mayKey(true)).toBe(false);
    guard.press('key', true);
    expect(guard.mayClick(0)).toBe(false);
    guard.press('key');
    expect(guard.mayClick(0)).toBe(true);
  });
});
