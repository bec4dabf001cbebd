/** What a fact of the project's memory may be. Pure. SPEC T26. */

/** Characters of a fact at most. */
export const FACT_MOST = 500;

/** Characters of what would be kept, counted as the core counts them. */
export function factLength(text: string): number {
  return [...text.trim()].length;
}

/** Whether it can be kept: it says something, and fits. */
export function isFact(text: string): boolean {
  const length = factLength(text);
  return length > 0 && length <= FACT_MOST;
}
