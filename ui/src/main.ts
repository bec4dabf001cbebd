// Starts the page: inside the shell with the real core, in a plain browser (development only) with
// recorded sessions.
import './styles/base.css';

import { mount } from 'svelte';

import App from './App.svelte';
import type { Backend } from './backend/backend';
import { insideShell, tauriBackend } from './backend/tauri';
import { ProjectState } from './state/project.svelte';
import { applyTheme, firstTheme } from './styles/theme';
import { chooseLanguage } from './text';

/**
 * A core made of recorded logs, for work on the page in a plain browser.
 * `?log=tour,long` picks them, `&requests=3400` makes `many` as long as that, `&last=200&pace=30` plays the
 * last 200 events, one each 30 ms.
 */
async function recorded(): Promise<Backend> {
  const [{ FakeBackend }, { logs, many, NOW }, { setClock }] = await Promise.all([
    import('./backend/fake'),
    import('./state/fixtures'),
    import('./state/clock.svelte'),
  ]);
  setClock(() => NOW);
  const asked = new URLSearchParams(location.search);
  const wanted = asked.get('log')?.split(',') ?? ['tour'];
  const names = Object.keys(logs) as (keyof typeof logs)[];
  const requests = Number(asked.get('requests'));
  const chosen = names
    .filter((name) => wanted.includes(name))
    .map((name) => (name === 'many' && requests > 0 ? many(requests) : logs[name]()))
    // What is looked at stands first, whatever its age.
    .map((log) => ({ ...log, session: { ...log.session, updated_at: NOW + 1 } }));
  const backend = new FakeBackend({ logs: chosen });
  const last = Number(asked.get('last'));
  for (const log of last > 0 ? chosen : []) {
    backend.rewind(log.session.id, last);
    setTimeout(() => backend.play(log.session.id, Number(asked.get('pace')) || 30), 1500);
  }
  return backend;
}

// Before the settings are known: no flash of the other theme.
applyTheme(firstTheme())();
chooseLanguage(navigator.languages);

const target = document.getElementById('app');
if (!target) throw new Error('The page has no place for the application.');
const project = new ProjectState(import.meta.env.DEV && !insideShell() ? await recorded() : tauriBackend());
mount(App, { target, props: { project } });
void project.start();
