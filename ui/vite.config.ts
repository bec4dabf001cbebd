import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

// The page is loaded from the application itself: relative addresses, no inlined
// data: URLs (the policy allows none for scripts and fonts), one engine to aim at.
export default defineConfig({
  base: './',
  plugins: [svelte()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { host: '127.0.0.1', port: 5173, strictPort: true },
  preview: { host: '127.0.0.1', port: 4173, strictPort: true },
  // Testing needs the browser build of Svelte, not the one for servers.
  ...(process.env.VITEST ? { resolve: { conditions: ['browser'] } } : {}),
  test: {
    environment: 'jsdom',
    include: ['src/**/*.test.ts', 'gallery/**/*.test.ts'],
    setupFiles: ['src/state/test-setup.ts'],
    restoreMocks: true,
    // Looking elements up by role is slow in jsdom on a busy machine; nothing here waits for time to pass.
    testTimeout: 30_000,
  },
});
