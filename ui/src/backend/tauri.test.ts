import { beforeEach, expect, test, vi } from 'vitest';

const shell = vi.hoisted(() => ({
  asked: [] as string[],
  answer: (command: string): Promise<unknown> => Promise.resolve(command),
}));
vi.mock('@tauri-apps/api/core', () => ({
  Channel: class {
    onmessage = null;
  },
  convertFileSrc: (path: string) => path,
  invoke: (command: string) => {
    shell.asked.push(command);
    return shell.answer(command);
  },
}));
const { tauriBackend } = await import('./tauri');

beforeEach(() => {
  shell.asked = [];
});

test('a window that could not start says why, and listens once it can', async () => {
  let started = false;
  shell.answer = (command) => {
    if (command === 'request' && started) return Promise.resolve({ name: 'tidewater' });
    if (command === 'subscribe' && started) return Promise.resolve(null);
    return Promise.reject(new Error(command === 'request' ? 'The folder is gone.' : 'no such window'));
  };
  const backend = tauriBackend();
  backend.subscribe(() => undefined);
  await expect(backend.request('project/get', {})).rejects.toThrow('The folder is gone.');
  started = true;
  await backend.request('project/get', {});
  await backend.request('settings/get', {});
  expect(shell.asked.filter((command) => command === 'subscribe')).toHaveLength(2);
  expect(shell.asked.slice(-3)).toEqual(['subscribe', 'request', 'request']);
});

test('the channel stands before the first request, and is asked for once', async () => {
  shell.answer = () => Promise.resolve(null);
  const backend = tauriBackend();
  backend.subscribe(() => undefined);
  await Promise.all([backend.request('project/get', {}), backend.request('settings/get', {})]);
  expect(shell.asked).toEqual(['subscribe', 'request', 'request']);
});
