import { expect, test } from 'vitest';

import { rich } from './fixtures';
import { keptBlocks } from './kept';

test('blocks that say the same keep their identity, others come as they are', () => {
  const former = rich('# Head\n\none\n\n- a\n- b\n\ntwo');
  const now = rich('# Head\n\none\n\n- a\n- c\n\ntwo\n\nthree');
  const kept = keptBlocks(former, now);
  expect(kept).toEqual(now);
  expect(kept.map((block, at) => block === former[at])).toEqual([true, true, false, true, false]);
});
