import { fireEvent, render, screen } from '@testing-library/svelte';
import { createRawSnippet } from 'svelte';
import { expect, test, vi } from 'vitest';

import Link from './Link.svelte';

const openLink = vi.fn();

function draw(): HTMLElement {
  openLink.mockClear();
  const children = createRawSnippet(() => ({ render: () => '<span>docs</span>' }));
  const outside = { pictureUrl: () => '', openLink };
  render(Link, { props: { href: 'https://docs.example/a', children, outside } });
  return screen.getByRole('link', { name: 'docs' });
}

test('a link says where it leads and is no anchor', () => {
  const link = draw();
  expect(link.title).toBe('https://docs.example/a');
  expect(link.closest('a')).toBeNull();
});

test.each([
  ['a click', (link: HTMLElement) => fireEvent.click(link)],
  ['the middle button', (link: HTMLElement) => fireEvent(link, new MouseEvent('auxclick', { button: 1 }))],
  ['Enter', (link: HTMLElement) => fireEvent.keyDown(link, { key: 'Enter' })],
])('%s opens it outside, once', async (_what, act) => {
  await act(draw());
  expect(openLink.mock.calls).toEqual([['https://docs.example/a']]);
});

test.each([
  ['the second button', (link: HTMLElement) => fireEvent(link, new MouseEvent('auxclick', { button: 2 }))],
  ['a held Enter', (link: HTMLElement) => fireEvent.keyDown(link, { key: 'Enter', repeat: true })],
  ['a letter', (link: HTMLElement) => fireEvent.keyDown(link, { key: 'x' })],
])('%s opens nothing', async (_what, act) => {
  await act(draw());
  expect(openLink).not.toHaveBeenCalled();
});

test('its menu shows the address, copies it, and gives the focus back', async () => {
  const written = vi.fn(() => Promise.resolve());
  vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText: written } });
  const link = draw();
  await fireEvent.contextMenu(link, { button: 2 });
  const menu = screen.getByRole('menu');
  expect(menu).toHaveTextContent('https://docs.example/a');
  await fireEvent.keyDown(menu, { key: 'ArrowDown' });
  expect(screen.getByRole('menuitem', { name: 'Open in the browser' })).toHaveFocus();
  const first = screen.getByRole('menuitem', { name: 'Open in the browser' });
  await fireEvent.keyDown(first, { key: 'ArrowDown' });
  expect(screen.getByRole('menuitem', { name: 'Copy address' })).toHaveFocus();
  // The button that opened it, let go over a choice, picks nothing.
  await fireEvent.pointerUp(first, { button: 2 });
  expect(openLink).not.toHaveBeenCalled();
  await fireEvent.click(screen.getByRole('menuitem', { name: 'Copy address' }));
  expect(written).toHaveBeenCalledWith('https://docs.example/a');
  expect(screen.queryByRole('menu')).toBeNull();
  expect(link).toHaveFocus();
  await fireEvent.contextMenu(link, { button: 2 });
  await fireEvent.keyDown(screen.getByRole('menu'), { key: 'Escape' });
  expect(screen.queryByRole('menu')).toBeNull();
  expect(openLink).not.toHaveBeenCalled();
  vi.unstubAllGlobals();
});
