import { describe, expect, it } from 'vitest';

import { remediesFor } from './failure';

describe('U11: what can be done about a failure', () => {
  it.each([
    ['bad_key', 'change_key'],
    ['no_credit', 'retry'],
    ['too_long', 'new_session'],
    ['no_model', 'choose_model'],
    ['model_unreachable', 'retry'],
    ['bad_config', 'open_settings'],
  ] as const)('%s_offers_%s_first', (code, first) => {
    expect(remediesFor(code, null)[0]).toBe(first);
  });

  it('a_key_that_was_mended_elsewhere_can_be_tried_again', () => {
    expect(remediesFor('bad_key', null)).toContain('retry');
  });

  it('a_local_model_is_offered_only_where_there_is_one', () => {
    expect(remediesFor('bad_key', null)).not.toContain('use_local');
    expect(remediesFor('bad_key', 'local')).toContain('use_local');
  });
});
