/**
 * A model profile while it is typed: texts in, checked parameters out.
 *
 * Pure. Owns: what each field may hold. A number that is none stays as it was typed (X141).
 */
import type { Effort, FoundModel, FoundServer, Profile, ProfileParams } from '../bindings';
import { t } from '../text';

/** The form, all text. */
export type ProfileDraft = {
  name: string;
  api: Profile['api'];
  base_url: string;
  model: string;
  context_window: string;
  max_output_tokens: string;
  temperature: string;
  price_input: string;
  /** Empty leaves it to the server. */
  effort: Effort | '';
  keep_alive: string;
  price_cached: string;
  price_cache_write: string;
  price_output: string;
  make_default: boolean;
};

/** What is wrong, by field. */
export type Problems = Partial<Record<keyof ProfileDraft, string>>;

const nothing: ProfileDraft = {
  name: '',
  api: 'openai',
  base_url: '',
  model: '',
  context_window: '',
  max_output_tokens: '',
  temperature: '',
  price_input: '',
  effort: '',
  keep_alive: '',
  price_cached: '',
  price_cache_write: '',
  price_output: '',
  make_default: false,
};

const typed = (value: number | null | undefined): string =>
  value === null || value === undefined ? '' : String(value);

/** An empty form, or that of a stored profile. */
export function draftOf(profile: Profile | null, isDefault: boolean): ProfileDraft {
  if (!profile) return { ...nothing, make_default: isDefault };
  return {
    name: profile.name,
    api: profile.api,
    base_url: profile.base_url,
    model: profile.model,
    context_window: typed(profile.context_window),
    max_output_tokens: typed(profile.max_output_tokens),
    temperature: typed(profile.temperature),
    price_input: typed(profile.prices?.input),
    effort: profile.effort ?? '',
    keep_alive: profile.keep_alive ?? '',
    price_cached: typed(profile.prices?.cached),
    price_cache_write: typed(profile.prices?.cache_write),
    price_output: typed(profile.prices?.output),
    make_default: isDefault,
  };
}

/** The form for a model that was found on this machine. */
export function draftOfFound(
  server: FoundServer,
  model: FoundModel,
  taken: readonly string[],
  isDefault: boolean,
): ProfileDraft {
  const stem = model.name.replace(/[^A-Za-z0-9_-]+/g, '-').replace(/^-+|-+$/g, '') || 'local';
  let name = stem;
  for (let n = 2; taken.includes(name); n += 1) name = `${stem}-${n}`;
  const { api, base_url } = server;
  return { ...nothing, name, api, base_url, model: model.name, make_default: isDefault };
}

/** An empty form for one kind of model. */
export function draftOfKind(api: Profile['api'], taken: readonly string[], isDefault: boolean): ProfileDraft {
  let name = 'local';
  for (let n = 2; taken.includes(name); n += 1) name = `local-${n}`;
  return { ...nothing, name, api, make_default: isDefault };
}

/** The fields of prices, in the order of the form. */
export const prices = ['price_input', 'price_cached', 'price_cache_write', 'price_output'] as const;

/** What is wrong with the form; empty when it can be saved. */
export function problemsOf(draft: ProfileDraft, taken: readonly string[]): Problems {
  const problems: Problems = {};
  if (!/^[A-Za-z0-9_-]+$/.test(draft.name)) problems.name = t('settings.profile.name_bad');
  else if (taken.includes(draft.name)) problems.name = t('settings.profile.name_taken');
  if (draft.api === 'gguf') {
    if (!/^\/.+/.test(draft.model.trim())) problems.model = t('settings.profile.file_bad');
  } else if (draft.api !== 'demo') {
    if (!isAddress(draft.base_url)) problems.base_url = t('settings.profile.base_url_bad');
    if (draft.model.trim() === '') problems.model = t('settings.profile.model_bad');
  }
  for (const field of ['context_window', 'max_output_tokens'] as const) {
    const value = numberOf(draft[field]);
    if (value !== null && !(Number.isInteger(value) && value > 0)) bad(problems, draft, field);
  }
  for (const field of ['temperature', ...prices] as const) {
    const value = numberOf(draft[field]);
    if (value !== null && !(value >= 0)) bad(problems, draft, field);
  }
  return problems;
}

/** The parameters to send; only for a form without problems. */
export function paramsOf(draft: ProfileDraft): ProfileParams {
  const { name, api, make_default } = draft;
  const priced = prices.some((field) => draft[field] !== '');
  const written = numberOf(draft.price_cache_write);
  return {
    name,
    api,
    base_url: api === 'gguf' ? '' : draft.base_url.trim(),
    model: draft.model.trim(),
    context_window: numberOf(draft.context_window),
    max_output_tokens: numberOf(draft.max_output_tokens),
    temperature: numberOf(draft.temperature),
    ...(draft.effort === '' ? {} : { effort: draft.effort }),
    ...(draft.keep_alive.trim() === '' ? {} : { keep_alive: draft.keep_alive.trim() }),
    prices: priced
      ? {
          input: numberOf(draft.price_input) ?? 0,
          cached: numberOf(draft.price_cached) ?? numberOf(draft.price_input) ?? 0,
          ...(written === null ? {} : { cache_write: written }),
          output: numberOf(draft.price_output) ?? 0,
        }
      : null,
    make_default,
  };
}

function bad(problems: Problems, draft: ProfileDraft, field: keyof ProfileDraft): void {
  problems[field] = t('settings.profile.number_bad', { value: String(draft[field]) });
}

/** None for an empty field; not a number where the text is none. */
function numberOf(text: string): number | null {
  const trimmed = text.trim().replace(/_/g, '');
  return trimmed === '' ? null : Number(trimmed);
}

function isAddress(text: string): boolean {
  try {
    const { protocol, hostname } = new URL(text.trim());
    return (protocol === 'http:' || protocol === 'https:') && hostname !== '';
  } catch {
    return false;
  }
}
