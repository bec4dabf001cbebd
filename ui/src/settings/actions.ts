/**
 * What the settings page may ask for, as one narrow door.
 *
 * Owns: the names of its methods. Must never know: how they reach the core.
 */
import type {
  DiscoverResult,
  FactParams,
  FactsResult,
  KeySetParams,
  MethodResults,
  ModelTestResult,
  ProfileParams,
  Request,
  RuleListResult,
  RuleMeaning,
  RuleParams,
  RuleTextParams,
  SettingsSetParams,
  SettingsView,
  TrustParams,
  TrustView,
} from '../bindings';

export interface SettingsActions {
  set(change: SettingsSetParams): Promise<SettingsView>;
  saveProfile(profile: ProfileParams): Promise<SettingsView>;
  deleteProfile(name: string): Promise<SettingsView>;
  setKey(key: KeySetParams): Promise<SettingsView>;
  deleteKey(profile: string): Promise<SettingsView>;
  test(profile: ProfileParams): Promise<ModelTestResult>;
  discover(): Promise<DiscoverResult>;
  rules(): Promise<RuleListResult>;
  checkRule(rule: RuleTextParams): Promise<RuleMeaning>;
  addRule(rule: RuleTextParams): Promise<RuleListResult>;
  revoke(rule: RuleParams): Promise<RuleListResult>;
  giveTrust(trust: TrustParams): Promise<TrustView>;
  withdrawTrust(): Promise<TrustView>;
  facts(): Promise<FactsResult>;
  changeFact(fact: FactParams): Promise<FactsResult>;
}

type Ask = <M extends Request['method']>(
  method: M,
  params: Extract<Request, { method: M }>['params'],
) => Promise<MethodResults[M]>;

/** The actions over a backend's `request`; `took` hears every new state of the settings. */
export function settingsActions(
  request: Ask,
  took: (view: SettingsView) => void = () => undefined,
): SettingsActions {
  const heard = async (answer: Promise<SettingsView>): Promise<SettingsView> => {
    const view = await answer;
    took(view);
    return view;
  };
  return {
    set: ({ theme = null, default_profile = null, default_mode = null, reading = null }) =>
      heard(request('settings/set', { theme, default_profile, default_mode, reading })),
    saveProfile: (profile) => heard(request('profile/save', profile)),
    deleteProfile: (name) => heard(request('profile/delete', { name })),
    setKey: (key) => heard(request('key/set', key)),
    deleteKey: (name) => heard(request('key/delete', { name })),
    test: (profile) => request('model/test', { profile }),
    discover: () => request('model/discover', {}),
    rules: () => request('rule/list', {}),
    checkRule: (rule) => request('rule/check', rule),
    addRule: (rule) => request('rule/add', rule),
    revoke: (rule) => request('rule/revoke', rule),
    giveTrust: (trust) => request('trust/give', trust),
    withdrawTrust: () => request('trust/withdraw', {}),
    facts: () => request('memory/list', {}),
    changeFact: (fact) => request('memory/change', fact),
  };
}

/** What a failure says to the person. */
export function words(cause: unknown): string {
  return (cause as { message?: string } | null)?.message ?? String(cause);
}

/** Kind of a failure; empty where it is none of the core's. */
export function codeOf(cause: unknown): string {
  return (cause as { code?: string } | null)?.code ?? '';
}
