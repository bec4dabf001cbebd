// Draws one state in the whole window (?state=NAME&theme=light|dark), or the list of all of them.
import { mount } from 'svelte';

import '../src/styles/base.css';
import { calls } from './calls';
import GalleryIndex from './GalleryIndex.svelte';
import { NOW } from './data';
import { states } from './states';
import { setClock } from '../src/state/clock.svelte';

declare global {
  interface Window {
    /** What components asked for, in order; read by the end-to-end tests. */
    cairnCalls: typeof calls;
    /** Names of all states; read by the end-to-end tests and the screenshots. */
    cairnStates: readonly string[];
  }
}

// Recorded sessions lie at a fixed time; so must the window that shows them.
setClock(() => NOW);

const query = new URLSearchParams(location.search);
const dark = query.get('theme') === 'dark';
const root = document.documentElement;
root.dataset.theme = dark ? 'dark' : 'light';
root.style.colorScheme = dark ? 'dark' : 'light';
window.cairnCalls = calls;
window.cairnStates = states.map((state) => state.name);

const target = document.getElementById('app') as HTMLElement;
const wanted = states.find((state) => state.name === query.get('state'));
if (wanted) {
  document.title = wanted.name;
  mount(wanted.stage, { target, props: wanted.props() });
} else {
  mount(GalleryIndex, { target, props: { states, theme: dark ? 'dark' : 'light' } });
}
void document.fonts.ready.then(() => {
  root.dataset.ready = 'true';
});
