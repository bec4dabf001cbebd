// Starts the page: inside the shell with the real core, in a plain browser (development only) with
// recorded sessions.
import './styles/base.css';

import { mount } from 'svelte';

import App from './App.svelte';
import type { Backend } from './backend/backend';
import { insideShell, tauriBackend } from './backend/tauri';
import { ProjectState } from './state/project.svelte';
import { applyTheme } from './styles/theme';
import { chooseLanguage } from './text';

/** A core made of recorded logs, for work on the page in a plain browser; `?log=tour,long` picks them. */
async function recorded(): Promise<Backend> {
  const [{ FakeBackend }, { logs, NOW }, { setClock }] = await Promise.all([
    import('./backend/fake'),
    import('./state/fixtures'),
    import('./state/clock.svelte'),
  ]);
  setClock(() => NOW);
  // The session that is looked at stands first, whatever its age.
  const wanted = new URLSearchParams(location.search).get('log')?.split(',') ?? ['tour'];
  const names = Object.keys(logs) as (keyof typeof logs)[];
  return new FakeBackend({ logs: names.filter((name) => wanted.includes(name)).map((name) => logs[name]()) });
}

// The system's theme before the settings are known: no flash of the other one.
applyTheme('system')();
chooseLanguage(navigator.languages);

const target = document.getElementById('app');
if (!target) throw new Error('The page has no place for the application.');
const project = new ProjectState(import.meta.env.DEV && !insideShell() ? await recorded() : tauriBackend());
mount(App, { target, props: { project } });
void project.start();
