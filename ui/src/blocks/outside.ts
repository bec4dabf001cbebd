// What blocks need of the world: addresses of pictures and the one way a link is opened. Handed
// down by whoever draws them; without it nothing is loaded and nothing opens.
import { getContext, setContext } from 'svelte';

export interface Outside {
  /** Address of a stored picture. */
  pictureUrl(blob: string, size: 'full' | 'thumb'): string;
  /** Opens a link in the person's browser. */
  openLink(href: string): void;
}

const key = Symbol('outside');
const nothing: Outside = { pictureUrl: () => '', openLink: () => undefined };

export function provideOutside(outside: Outside): void {
  setContext(key, outside);
}

export function useOutside(): Outside {
  return getContext<Outside | undefined>(key) ?? nothing;
}
