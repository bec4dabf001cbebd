import { render, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { flushSync } from 'svelte';
import { describe, expect, test, type Mock, vi } from 'vitest';

import { FakeBackend } from '../backend/fake';
import { type Log, logs, NOW, snapshotOf } from '../state/fixtures';
import { setClock } from '../state/clock.svelte';
import { SessionState } from '../state/session.svelte';
import LiveRegion from './LiveRegion.svelte';
import Transcript from './Transcript.svelte';

setClock(() => NOW);

function sessionOf(log: Log, played = log.events.length): SessionState {
  return new SessionState(new FakeBackend(), snapshotOf(log, played));
}

function draw(
  log: Log,
  played?: number,
): { session: SessionState; container: HTMLElement; onreview: Mock<() => void> } {
  const session = sessionOf(log, played);
  const onreview = vi.fn();
  const { container } = render(Transcript, { session, onreview });
  return { session, container, onreview };
}

test('p13 the end of a request leads to its changes', async () => {
  const { container, onreview } = draw(logs.finished());
  const ends = [...container.querySelectorAll<HTMLElement>('.end')];
  expect(ends[0]?.querySelector('button')).toBeNull();
  const end = ends.find((row) => row.textContent.includes('file'));
  expect(end?.textContent).toMatch(/Done.*file/s);
  const button = end?.querySelector('button');
  expect(button?.textContent).toBe('Review');
  button?.click();
  expect(onreview).toHaveBeenCalledOnce();
});

describe('hostile text', () => {
  test('never becomes an element', () => {
    const { container } = draw(logs.hostile());
    expect(container.querySelector('script, iframe, img, b > *, [onerror], [srcdoc]')).toBeNull();
    expect(container.textContent).toContain('<iframe src="javascript:alert(1)"></iframe>');
    expect(container.textContent).toContain(
      '<img src=x onerror=alert(1)> costs $0.02/GB or $203, `${A}` and `${B}`',
    );
    expect(container.textContent).toContain('$148+ → $19');
  });

  test('has no link but http, https and mailto, and none that the engine would follow', () => {
    const { container } = draw(logs.hostile());
    const links = [...container.querySelectorAll('[role=link]')].map((a) => a.getAttribute('title') ?? '');
    expect(links).not.toHaveLength(0);
    for (const href of links) expect(href).toMatch(/^(https?:|mailto:)/);
    expect(container.querySelectorAll('a, [href], [src^=http]')).toHaveLength(0);
    expect(container.textContent).toContain('javascript:alert(1');
  });

  test('cannot turn the direction of a path', () => {
    const { container } = draw(logs.hostile());
    expect(container.textContent).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  });
});

describe('cards', () => {
  test('say their state in a word', () => {
    draw(logs.states());
    for (const word of [
      'Failed',
      'Skipped',
      'Denied',
      'Stopped',
      'Interrupted',
      'Timed out',
      'Done',
      'Queued',
      'Running',
    ]) {
      expect(screen.getAllByText(word).length).toBeGreaterThan(0);
    }
  });

  test('say who let them run', () => {
    draw(logs.tour());
    expect(screen.getByText(/allowed by you/)).toBeInTheDocument();
    expect(screen.getByText(/by mode/)).toBeInTheDocument();
  });

  test('show changes at once and search results on a click', async () => {
    draw(logs.tour());
    const person = userEvent.setup();
    expect(screen.getByRole('figure', { name: 'Changes of src/chart/axis.rs' })).toBeInTheDocument();
    const card = screen.getByRole('group', { name: 'Search margin_left' });
    expect(within(card).queryByText('src/chart/axis.rs')).toBeNull();
    await person.click(within(card).getByRole('button', { name: /Search/ }));
    expect(within(card).getByText('src/chart/axis.rs')).toBeInTheDocument();
  });

  test('draw what a newer build wrote as a plain row', () => {
    draw(logs.states());
    expect(screen.getByText(/Written by a newer version of Cairn: sub_agent/)).toBeInTheDocument();
  });

  test('fold long output and show the rest on request', async () => {
    draw(logs.long());
    const person = userEvent.setup();
    const more = screen.getByRole('button', { name: 'Show 360 more lines' });
    expect(screen.queryByText(/Harbour 399/)).toBeNull();
    await person.click(more);
    expect(screen.getByText(/Harbour 399/)).toBeInTheDocument();
  });
});

describe('a call that asks the person', () => {
  test('is its question, and a card only where it never came to ask', () => {
    draw(logs.asked());
    expect(screen.getAllByRole('group', { name: 'Question' })).toHaveLength(1);
    expect(screen.getAllByRole('group', { name: /^Ask/ })).toHaveLength(1);
    expect(screen.getByText('As many as fit')).toBeInTheDocument();
    expect(screen.getByText(/Ask with fewer/)).toBeInTheDocument();
  });

  test('takes its card away when the question appears', () => {
    const log = logs.question();
    const at = log.events.findIndex((e) => e.type === 'item_started' && e.item.body.kind === 'question');
    const { session } = draw(log, at);
    expect(screen.getByRole('group', { name: /^Ask/ })).toBeInTheDocument();
    for (const event of log.events.slice(at)) session.apply(event);
    flushSync();
    expect(screen.queryByRole('group', { name: /^Ask/ })).toBeNull();
    expect(screen.getByRole('group', { name: 'Question' })).toBeInTheDocument();
  });
});

describe('the end of a request', () => {
  test('says what was done, counted from the log', () => {
    draw(logs.finished());
    const rows = screen.getAllByRole('listitem').map((row) => row.textContent?.replace(/\s+/g, ' ') ?? '');
    expect(rows.some((row) => /Done · 2 files \+13−6.*· 1 command/.test(row))).toBe(true);
    expect(rows.some((row) => row.includes('Done · nothing changed'))).toBe(true);
  });

  test('is a stone of the trail with its number and outcome', () => {
    draw(logs.outcomes());
    const trail = screen.getByRole('toolbar', { name: 'Requests of this session' });
    const names = within(trail)
      .getAllByRole('button')
      .map((stone) => stone.getAttribute('aria-label') ?? '');
    expect(names).toHaveLength(7);
    expect(names[1]).toMatch(/^Request 2, \d\d:\d\d, done: 1 file$/);
    expect(names[5]).toMatch(/^Request 6, \d\d:\d\d, paused after 50 steps: 1 file$/);
  });

  test('beyond 25 folds the older stones into one', async () => {
    draw(logs.many());
    const trail = screen.getByRole('toolbar', { name: 'Requests of this session' });
    expect(within(trail).getAllByRole('button')).toHaveLength(26);
    await userEvent.setup().click(within(trail).getByText('+39'));
    expect(within(trail).getAllByRole('button')).toHaveLength(64);
  });
});

test('only the rows near the view are drawn', () => {
  const { container, session } = draw(logs.many());
  expect(session.rows.length).toBeGreaterThan(140);
  expect(container.querySelectorAll('[role=listitem]').length).toBeLessThan(60);
});

test('a piece of text leaves the closed blocks before it as they are', () => {
  const log = logs.long();
  const first = log.events.findIndex((e) => e.type === 'item_delta');
  const { container, session } = draw(log, first + 20);
  const heading = container.querySelector('.say .heading');
  expect(heading).not.toBeNull();
  for (const event of log.events.slice(first + 20, first + 24)) session.apply(event);
  flushSync();
  expect(container.querySelector('.say .heading')).toBe(heading);
});

test('screen readers hear states and finished sentences, never letters', () => {
  const log = logs.tour();
  const session = sessionOf(log, 0);
  const { container } = render(LiveRegion, { session });
  const heard: string[] = [];
  const look = (): void => {
    for (const region of container.querySelectorAll('[aria-live]')) {
      const words = region.textContent ?? '';
      if (words !== '' && !heard.includes(words)) heard.push(words);
    }
  };
  for (const event of log.events) {
    session.apply(event);
    flushSync();
    look();
  }
  expect(heard).toContain('Done');
  expect(heard).toContain('Waiting for you');
  expect(heard).toContain('In src/chart/axis.rs, in Axis::draw.');
  expect(heard.filter((words) => words.length < 4)).toEqual([]);
  expect(heard.length).toBeLessThan(10);
});
