import { describe, expect, it } from 'vitest';

import { settings } from '../state/fixtures';
import { draftOf, draftOfFound, draftOfKind, paramsOf, problemsOf } from './profile';

const [, work] = settings.profiles;
if (!work) throw new Error('no profile');

describe('X141: a model profile while it is typed', () => {
  it('a_stored_profile_comes_back_as_it_was', () => {
    const draft = draftOf(work, false);
    expect(problemsOf(draft, [])).toEqual({});
    const { name, api, base_url, model, context_window, max_output_tokens, temperature, prices } = work;
    expect(paramsOf(draft)).toEqual({
      name,
      api,
      base_url,
      model,
      context_window,
      max_output_tokens,
      temperature,
      prices,
      make_default: false,
    });
  });

  it.each([
    ['name', 'with space'],
    ['name', ''],
    ['name', 'local'],
    ['base_url', 'not an address'],
    ['base_url', 'file:///etc/passwd'],
    ['base_url', ''],
    ['model', '  '],
    ['context_window', 'many'],
    ['context_window', '-5'],
    ['context_window', '1.5'],
    ['max_output_tokens', '0'],
    ['temperature', 'warm'],
    ['price_input', '-1'],
  ] as const)('refuses_%s_%j_and_names_the_field', (field, value) => {
    const draft = { ...draftOf(work, false), [field]: value };
    expect(Object.keys(problemsOf(draft, ['local']))).toEqual([field]);
  });

  it('a_model_file_needs_its_whole_path_and_no_address', () => {
    const draft = draftOfKind('gguf', ['local'], true);
    expect(draft.name).toBe('local-2');
    expect(Object.keys(problemsOf(draft, ['local']))).toEqual(['model']);
    expect(Object.keys(problemsOf({ ...draft, model: 'models/a.gguf' }, []))).toEqual(['model']);
    const whole = { ...draft, base_url: 'http://127.0.0.1:1/v1', model: ' /m/a.gguf' };
    expect(problemsOf(whole, [])).toEqual({});
    // The address of another kind that was typed before is not kept.
    expect(paramsOf(whole)).toMatchObject({ api: 'gguf', base_url: '', model: '/m/a.gguf' });
  });

  it('empty_numbers_are_left_to_the_server', () => {
    const draft = { ...draftOf(null, true), name: 'x', base_url: 'http://127.0.0.1:1/v1', model: 'm' };
    expect(problemsOf(draft, [])).toEqual({});
    expect(paramsOf(draft)).toMatchObject({
      context_window: null,
      temperature: null,
      prices: null,
      make_default: true,
    });
  });

  it.each([
    ['qwen3:8b', [], 'qwen3-8b'],
    ['qwen3:8b', ['qwen3-8b'], 'qwen3-8b-2'],
    ['hf.co/some/Model.gguf', [], 'hf-co-some-Model-gguf'],
    ['模型', [], 'local'],
  ] as const)('a_found_model_%s_gets_a_valid_free_name', (model, taken, name) => {
    const server = {
      name: 'Ollama',
      api: 'ollama' as const,
      base_url: 'http://127.0.0.1:11434',
      models: [],
      problem: null,
    };
    const found = { name: model, context_window: null, tools: null, vision: null, bytes: null };
    const draft = draftOfFound(server, found, taken, true);
    expect(draft.name).toBe(name);
    expect(problemsOf(draft, taken)).toEqual({});
  });
});
