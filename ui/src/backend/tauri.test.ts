import { beforeEach, expect, test, vi } from 'vitest';

const invoke = vi.hoisted(() => vi.fn<(command: string) => Promise<unknown>>());
vi.mock('@tauri-apps/api/core', () => ({
  Channel: class {
    onmessage = null;
  },
  convertFileSrc: (path: string) => path,
  invoke,
}));
const { tauriBackend } = await import('./tauri');

const commands = (): string[] => invoke.mock.calls.map(([command]) => command);

beforeEach(() => invoke.mockReset());

test('a window that could not start says why, and listens once it can', async () => {
  let started = false;
  invoke.mockImplementation((command) => {
    if (command === 'request' && started) return Promise.resolve({ name: 'tidewater' });
    if (command === 'subscribe' && started) return Promise.resolve(null);
    return Promise.reject(new Error(command === 'request' ? 'The folder is gone.' : 'no such window'));
  });
  const backend = tauriBackend();
  backend.subscribe(() => undefined);
  await expect(backend.request('project/get', {})).rejects.toThrow('The folder is gone.');
  started = true;
  await backend.request('project/get', {});
  await backend.request('settings/get', {});
  expect(commands().filter((command) => command === 'subscribe')).toHaveLength(3);
  expect(commands().slice(-3)).toEqual(['subscribe', 'request', 'request']);
});

test('the channel stands before the first request, and is asked for once', async () => {
  invoke.mockResolvedValue(null);
  const backend = tauriBackend();
  backend.subscribe(() => undefined);
  await Promise.all([backend.request('project/get', {}), backend.request('settings/get', {})]);
  expect(commands()).toEqual(['subscribe', 'request', 'request']);
});
