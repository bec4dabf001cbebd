/** Words for what happens to a file as a whole. */
import type { ChangeKind } from '../bindings';
import { t } from '../text';

/** Like `New file`; empty for a change within it. */
export function changeWords(change: ChangeKind): string {
  switch (change.kind) {
    case 'created':
      return t('blocks.created');
    case 'deleted':
      return t('blocks.deleted');
    case 'moved':
      return t('blocks.moved', { from: change.from });
    case 'modified':
      return '';
  }
}
