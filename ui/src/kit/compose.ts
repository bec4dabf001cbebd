/**
 * Whether a key press belongs to an input method that composes (faults R6).
 *
 * Engines tell it in three ways, and not every engine in each: `isComposing`, the key code 229,
 * and the key name `Process`.
 */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229 || event.key === 'Process';
}
