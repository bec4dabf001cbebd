// Puts theme and contrast on the root element, where tokens.css reads them.
import type { Theme } from '../bindings';

const dark = '(prefers-color-scheme: dark)';
const more = '(prefers-contrast: more)';

declare global {
  interface Window {
    /** What the shell knows of the user's choice before the page asks. */
    cairnTheme?: unknown;
  }
}

/** The theme until the settings are known: the shell's word, else the system's. */
export function firstTheme(): Theme {
  const told = window.cairnTheme;
  return told === 'light' || told === 'dark' ? told : 'system';
}

/** Applies `theme` and follows the system where it says so. Returns what ends the following. */
export function applyTheme(theme: Theme, root: HTMLElement = document.documentElement): () => void {
  const apply = (): void => {
    const isDark = theme === 'dark' || (theme === 'system' && matchMedia(dark).matches);
    root.dataset['theme'] = isDark ? 'dark' : 'light';
    if (matchMedia(more).matches) root.dataset['contrast'] = 'more';
    else delete root.dataset['contrast'];
  };
  apply();
  const queries = [matchMedia(dark), matchMedia(more)];
  for (const query of queries) query.addEventListener('change', apply);
  return () => {
    for (const query of queries) query.removeEventListener('change', apply);
  };
}
