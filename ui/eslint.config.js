import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';

import svelteConfig from './svelte.config.js';

/** Only src/backend/ may know Tauri: everything else runs in a plain browser too. */
const noTauri = {
    group: ['@tauri-apps/*'],
    message: 'Only src/backend/tauri.ts may import @tauri-apps; use the Backend interface.',
};

export default ts.config(
    { ignores: ['dist/', 'gallery-dist/', 'node_modules/', 'src/bindings/', 'test-results/'] },
    js.configs.recommended,
    ...ts.configs.strict,
    ...svelte.configs.recommended,
    prettier,
    ...svelte.configs.prettier,
    {
        languageOptions: { globals: { ...globals.browser } },
        rules: {
            'no-undef': 'off',
            'no-eval': 'error',
            eqeqeq: 'error',
            '@typescript-eslint/no-unused-vars': [
                'error',
                { argsIgnorePattern: '^_', varsIgnorePattern: '^_' },
            ],
            'no-restricted-imports': ['error', { patterns: [noTauri] }],
            'no-restricted-properties': [
                'error',
                { property: 'innerHTML', message: 'Text nodes only: no HTML string ever exists.' },
                { property: 'outerHTML', message: 'Text nodes only: no HTML string ever exists.' },
                { property: 'insertAdjacentHTML', message: 'Text nodes only: no HTML string ever exists.' },
            ],
        },
    },
    {
        files: ['**/*.svelte', '**/*.svelte.ts'],
        languageOptions: {
            parserOptions: { parser: ts.parser, extraFileExtensions: ['.svelte'], svelteConfig },
        },
        rules: {
            'svelte/no-at-html-tags': 'error',
            'svelte/require-each-key': 'error',
            'svelte/button-has-type': 'error',
            'svelte/no-target-blank': 'error',
            // $state.raw and plain Maps are chosen where copies are made on purpose.
            'svelte/prefer-svelte-reactivity': 'off',
            'svelte/no-navigation-without-resolve': 'off',
        },
    },
    { files: ['src/backend/tauri.ts'], rules: { 'no-restricted-imports': 'off' } },
    {
        // The kit stands below everything: it knows nothing of ours.
        files: ['src/kit/**'],
        rules: {
            'no-restricted-imports': [
                'error',
                {
                    patterns: [
                        noTauri,
                        { group: ['../*', '!../kit/*'], message: 'The kit imports nothing of ours.' },
                    ],
                },
            ],
        },
    },
    {
        files: ['src/blocks/**'],
        rules: {
            'no-restricted-imports': [
                'error',
                {
                    patterns: [
                        noTauri,
                        {
                            group: [
                                '../transcript/*',
                                '../trail/*',
                                '../sidebar/*',
                                '../context/*',
                                '../approval/*',
                                '../composer/*',
                                '../settings/*',
                                '../start/*',
                                '../shell/*',
                            ],
                            message: 'Blocks stand below the features.',
                        },
                    ],
                },
            ],
        },
    },
    {
        files: ['*.config.{js,ts}', 'e2e/**', 'scripts/**'],
        languageOptions: { globals: { ...globals.node, ...globals.browser } },
    },
);
