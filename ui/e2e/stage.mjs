// What every test of pages stands on: the gallery from before the first test to after the last, the one page that is
// open, and what is asked of it. The names are live: `page` is always the page that was opened last.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before } from 'node:test';

import { openSite, show, SIZES } from './site.mjs';

export let site;
export let page;

/** The checker of accessibility, to be evaluated in a page. */
export const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

before(async () => {
    site = await openSite();
});
after(() => site?.close());

/** Opens a state in place of the one that was open. */
export async function open(state, viewport = SIZES[0]) {
    await page?.close();
    page = await site.browser.newPage({ viewport });
    await show(page, site.address(state));
}

/** Opens a state with a clock that stands until it is told to go on. */
export async function card(state, theme = 'light') {
    await page?.close();
    page = await site.browser.newPage({ viewport: SIZES[0] });
    await page.clock.install();
    await show(page, site.address(state, theme));
    // Time goes on by itself while the page loads; what is tested begins when a card appears again.
    await page.clock.pauseAt(Date.now() + 60_000);
}

/** Lets time pass that stood still. */
export const quiet = (ms) => page.clock.runFor(ms);

/** What the page asked of the core by one method. */
export const calls = (what) =>
    page.evaluate((wanted) => window.cairnCalls.filter((c) => c.what === wanted).map((c) => c.with), what);

/** The answers that were given to cards, and of which kind they are. */
export const answers = () => calls('approval/answer');
export const kinds = async () => (await answers()).map(({ answer }) => answer.kind);

/** A button by its whole name. */
export const button = (name) => page.getByRole('button', { name, exact: true });
