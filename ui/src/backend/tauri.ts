// The shell behind the page. The only file that imports @tauri-apps: one command carries every
// request, one channel carries every event. The window's project is known to the shell by the
// window's label; it is never sent.
import { Channel, convertFileSrc, invoke } from '@tauri-apps/api/core';

import type { BlobId, Event } from '../bindings';
import {
  type Backend,
  type Method,
  newClientId,
  type ParamsOf,
  RequestFailed,
  type ResultOf,
  type Unsubscribe,
} from './backend';

export function tauriBackend(): Backend {
  const handlers = new Set<(event: Event) => void>();
  const channel = new Channel<Event>();
  channel.onmessage = (event) => {
    for (const handler of handlers) handler(event);
  };
  let subscribed: Promise<unknown> | null = null;

  /** Events may follow an answer at once: the channel must stand before the first request. */
  async function listen(): Promise<void> {
    const asked = (subscribed ??= invoke('subscribe', { channel }));
    try {
      await asked;
    } catch {
      // A window that could not start takes no channel. Its requests say why; the next one tries again.
      if (subscribed === asked) subscribed = null;
    }
  }

  return {
    async request<M extends Method>(method: M, params: ParamsOf<M>): Promise<ResultOf<M>> {
      try {
        if (handlers.size > 0) await listen();
        const envelope = { client: newClientId(), method, params };
        return await invoke<ResultOf<M>>('request', { envelope });
      } catch (cause) {
        throw RequestFailed.from(cause);
      }
    },
    subscribe(handler): Unsubscribe {
      handlers.add(handler);
      void listen();
      return () => handlers.delete(handler);
    },
    pictureUrl(blob: BlobId): string {
      // The platform decides between cairn://localhost/ and http://cairn.localhost/.
      return `${convertFileSrc('', 'cairn')}blob/${encodeURIComponent(blob)}`;
    },
    window: () => ({
      setTitle(title) {
        document.title = title;
      },
    }),
  };
}

/** Whether the page runs inside the shell. */
export function insideShell(): boolean {
  return '__TAURI_INTERNALS__' in globalThis;
}
