/** Words that several parts of the window share, and the states of SPEC U13. */
export const common = {
  'common.cancel': 'Cancel',
  'common.close': 'Close',
  'common.back': 'Back',
  'common.next': 'Next',
  'common.save': 'Save',
  'common.edit': 'Edit',
  'common.delete': 'Delete',
  'common.remove': 'Remove',
  'common.copy': 'Copy',
  'common.copied': 'Copied',
  'common.retry': 'Retry',
  'common.dismiss': 'Dismiss',
  'common.change': 'Change',
  'common.loading': 'Loading…',
  'common.tokens': { one: '{n} token', other: '{n} tokens' },
  'common.of': '{n} of {total}',
} as const;

export const kit = {
  'kit.close': 'Close',
  'kit.show_secret': 'Show',
  'kit.hide_secret': 'Hide',
  'kit.chip_character': '{name}, {code}. It would be invisible or misleading, so it is shown as a sign.',
  'kit.chip_run': 'Stands for {what}.',
} as const;

export const state = {
  'state.waiting': 'Waiting for you',
  'state.queued': 'Queued',
  'state.running': 'Running',
  'state.done': 'Done',
  'state.failed': 'Failed',
  'state.skipped': 'Skipped',
  'state.denied': 'Denied',
  'state.stopped': 'Stopped',
  'state.interrupted': 'Interrupted',
  'state.timed_out': 'Timed out',
} as const;
