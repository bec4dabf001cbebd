/** One thing that the gallery shows. */
import type { Component } from 'svelte';

export interface GalleryState {
  /** Its name in addresses, screenshots and tests. */
  name: string;
  group: string;
  /** What is mounted into the whole window. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each stage has props of its own
  stage: Component<any>;
  /** Made anew for each showing. */
  props: () => Record<string, unknown>;
}
