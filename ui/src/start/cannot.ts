/**
 * What a window says that cannot show its project: a heading and the ways out, by the kind of failure. SPEC U11.
 *
 * Pure. What was tried and why it failed is in the failure's own words.
 */
import type { ErrorCode } from '../bindings';
import type { MessageKey } from '../text';

/** Heading and steps, the likeliest first. */
export interface WayOut {
  title: MessageKey;
  steps: readonly MessageKey[];
}

const ways: Partial<Record<ErrorCode, WayOut>> = {
  bad_folder: {
    title: 'start.cannot.bad_folder',
    steps: ['start.cannot.bring_folder', 'start.cannot.other_folder'],
  },
  storage: {
    title: 'start.cannot.storage',
    steps: ['start.cannot.write_rights', 'start.cannot.damaged', 'start.cannot.other_home'],
  },
  disk_full: {
    title: 'start.cannot.disk_full',
    steps: ['start.cannot.free_space', 'start.cannot.other_home'],
  },
  bad_config: {
    title: 'start.cannot.bad_config',
    steps: ['start.cannot.mend_settings', 'start.cannot.terminal'],
  },
};

/** The ways out of a failure of the start; a general one for kinds that no start is known for. */
export function wayOutOf(code: ErrorCode): WayOut {
  return ways[code] ?? { title: 'start.cannot', steps: ['start.cannot.terminal'] };
}
