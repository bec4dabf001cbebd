/** All states that the gallery shows. */
import type { GalleryState } from '../state';
import KitStage from '../stages/KitStage.svelte';
import { ask } from './ask';
import { compose } from './compose';
import { running } from './running';
import { settingsStates } from './settings';
import { start } from './start';
import { windows } from './window';

const kit: GalleryState = { name: 'kit', group: 'Kit', stage: KitStage, props: () => ({}) };

export const states: readonly GalleryState[] = [
  kit,
  ...ask,
  ...compose,
  ...running,
  ...settingsStates,
  ...start,
  ...windows,
];
