/** The composer in each of its states. */
import type { ContextMeter, QueuedMessage } from '../../src/bindings';
import { NOW } from '../data';
import type { GalleryState } from '../state';
import DockStage from '../stages/DockStage.svelte';

const composer = (name: string, props: Record<string, unknown>): GalleryState => ({
  name,
  group: 'Composer',
  stage: DockStage,
  props: () => ({ composer: props }),
});

const unknown: ContextMeter = {
  used: null,
  window: null,
  assumed: false,
  reserve: 0,
  compacts_at: null,
  parts: [],
};
const queue: QueuedMessage[] = [
  { id: 'q-1', text: 'And round the labels to whole metres.', at: NOW },
  { id: 'q-2', text: `Then ${'look at every chart again, '.repeat(14)}please.`, at: NOW },
];

export const compose: GalleryState[] = [
  composer('composer-idle', {}),
  composer('composer-typed', { draft: 'Make the labels fit,\nand keep the old tests green.' }),
  composer('composer-running', { work: 'running' }),
  composer('composer-running-typed', { work: 'running', draft: 'And round to whole metres.' }),
  composer('composer-stopping', { work: 'stopping' }),
  composer('composer-queue', { work: 'running', queue }),
  composer('composer-unknown', { meter: unknown, profile: null, profiles: [] }),
  composer('composer-plan', { mode: 'plan' }),
  composer('composer-not-sandboxed', { mode: 'auto', unsandboxed: true }),
  composer('composer-long', {
    draft: Array.from({ length: 60 }, (_, i) => `Line ${i + 1} ${'of a long paste '.repeat(9)}`).join('\n'),
    profile: 'a-model-with-a-very-long-name-that-does-not-fit-anywhere-at-all',
  }),
  {
    name: 'composer-readonly',
    group: 'Composer',
    stage: DockStage,
    props: () => ({ readOnly: true }),
  },
];
