// Builds the gallery, serves it on a free loopback port and opens Chromium on it.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';
import { build, preview } from 'vite';

const config = fileURLToPath(new URL('../vite.gallery.config.ts', import.meta.url));
const browsers = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Sizes at which nothing may be clipped; the first is the smallest window there is. */
export const SIZES = [
    { width: 900, height: 640 },
    { width: 1600, height: 1000 },
];

export const THEMES = ['light', 'dark'];

/** Starts both; `close` ends both. */
export async function openSite() {
    const executablePath = process.env.CHROMIUM ?? browsers.find((path) => existsSync(path));
    if (!executablePath) throw new Error('No Chromium was found. Install it, or name it in CHROMIUM.');
    // Built once: a page of the development server is hundreds of files, each asked for anew.
    if (!process.env.CAIRN_GALLERY_BUILT) await build({ configFile: config, logLevel: 'error' });
    const server = await preview({
        configFile: config,
        logLevel: 'error',
        preview: { host: '127.0.0.1', port: 0, strictPort: false },
    });
    const { port } = server.httpServer.address();
    const browser = await chromium.launch({
        executablePath,
        args: [
            '--headless',
            '--no-sandbox',
            '--disable-gpu',
            '--disable-quic',
            '--no-first-run',
            '--disable-background-networking',
            '--disable-component-update',
            '--disable-sync',
        ],
    });
    const base = `http://127.0.0.1:${port}/`;
    return {
        browser,
        address: (state, theme = 'light') => `${base}?state=${state}&theme=${theme}`,
        async close() {
            await browser.close();
            await server.close();
        },
    };
}

/** Opens one state and waits until it is drawn with its fonts. */
export async function show(page, address) {
    // What follows the system's theme follows the address.
    await page.emulateMedia({ colorScheme: address.includes('theme=dark') ? 'dark' : 'light' });
    // A busy machine may take its time; what is tested is what is drawn, not how soon.
    await page.goto(address, { waitUntil: 'domcontentloaded', timeout: 120_000 });
    await page.waitForSelector('html[data-ready="true"]', { timeout: 120_000 });
}

/** Names of all states. */
export async function stateNames(site) {
    const page = await site.browser.newPage();
    await show(page, site.address('kit'));
    const names = await page.evaluate(() => window.cairnStates);
    await page.close();
    return names;
}
