/** The whole window, each state over a recorded session. */
import type { Answers } from '../../src/backend/fake';
import { logs, type LogName, project, settings } from '../../src/state/fixtures';
import type { GalleryState } from '../state';
import WindowStage from '../stages/WindowStage.svelte';
import { servers } from './settings';

const theme = (): 'light' | 'dark' =>
  new URLSearchParams(location.search).get('theme') === 'dark' ? 'dark' : 'light';

/** Settings that keep the theme of the address. */
const themed = (): Answers => ({ 'settings/get': () => ({ ...settings, theme: theme() }) });

const names: readonly LogName[] = [
  'tour',
  'finished',
  'states',
  'outcomes',
  'edit',
  'question',
  'hostile',
  'long',
  'many',
  'loading',
  'retrying',
  'empty',
];

export const windows: GalleryState[] = [
  ...names.map((name): GalleryState => ({
    name: `window-${name}`,
    group: 'Window',
    stage: WindowStage,
    props: () => ({ options: { logs: [logs[name]()], sessions: [], answers: themed() } }),
  })),
  {
    name: 'window-first-run',
    group: 'Window',
    stage: WindowStage,
    props: () => ({
      options: {
        sessions: [],
        answers: {
          ...themed(),
          'project/get': () => ({ ...project, has_model: false }),
          'model/discover': () => ({ servers }),
        } satisfies Answers,
      },
    }),
  },
];
