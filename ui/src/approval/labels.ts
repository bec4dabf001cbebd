/** Words for what an answer would do. */
import { t } from '../text';
import type { Outcome } from './choices';

/** What the main button of a card says. */
export function labelOf(outcome: Outcome): string {
  if (outcome.kind !== 'part') return t('approval.allow_once');
  const { n, total, changed } = outcome;
  if (!changed) return t('hunks.apply', { n, total });
  return n === total ? t('hunks.apply_changed') : t('hunks.apply_part_changed', { n, total });
}
