/**
 * What can be done about a failure, by its kind. SPEC U11, U12.
 *
 * Pure. Owns: which buttons an error has. `code` is all that is branched on.
 */
import type { ErrorCode } from '../bindings';

/** Something a banner's button does. */
export type Remedy =
  'retry' | 'change_key' | 'model_settings' | 'choose_model' | 'use_local' | 'new_session' | 'open_settings';

const remedies: Record<ErrorCode, readonly Remedy[]> = {
  no_model: ['choose_model'],
  model_unreachable: ['retry', 'use_local', 'model_settings'],
  bad_key: ['change_key', 'retry', 'use_local'],
  no_credit: ['retry', 'use_local', 'model_settings'],
  rate_limited: ['retry', 'use_local'],
  model_server: ['retry', 'use_local'],
  model_garbage: ['retry', 'model_settings'],
  model_rejected: ['retry', 'model_settings'],
  too_long: ['new_session', 'model_settings'],
  bad_config: ['open_settings'],
  bad_folder: [],
  storage: ['retry'],
  disk_full: ['retry'],
  keychain: ['open_settings'],
  busy: ['retry'],
  stale: [],
  not_owner: [],
  not_found: [],
  bad_request: [],
  internal: ['retry'],
};

/**
 * The buttons for a failure, the most likely one first.
 *
 * `use_local` is offered only where a model on this machine is set up and is not the one that failed.
 */
export function remediesFor(code: ErrorCode, localModel: string | null): readonly Remedy[] {
  return remedies[code].filter((remedy) => remedy !== 'use_local' || localModel !== null);
}
