import { render, screen } from '@testing-library/svelte';
import { flushSync } from 'svelte';
import { afterEach, describe, expect, test, vi } from 'vitest';

import type { RichBlock, RichInline } from '../bindings';
import {
  type Batch,
  batchesOf,
  costOf,
  isContinued,
  PIECE,
  piecesOf,
  plainBlocks,
  type Prose,
  wholeOf,
} from './pieces';
import Rich from './Rich.svelte';

const text = (words: string): RichInline => ({ t: 'text', text: words });
const paragraph = (words: string): RichBlock => ({ t: 'paragraph', inlines: [text(words)] });
const nested = (depth: number, inner: RichBlock): RichBlock =>
  depth === 0 ? inner : { t: 'quote', blocks: [nested(depth - 1, inner)] };
const listOf = (blocks: RichBlock[]): RichBlock => ({
  t: 'list',
  start: 1,
  items: blocks.map((block) => ({ checked: null, blocks: [block] })),
});
const repeat = <T>(n: number, make: (at: number) => T): T[] => Array.from({ length: n }, (_, at) => make(at));

/** The most that the core sends: 200,000 signs, 20,000 parts. */
const hostile: Record<string, Prose[]> = {
  'one long paragraph': [paragraph('word '.repeat(40_000))],
  'no place to break': [paragraph('x'.repeat(200_000))],
  'many pieces of running text': [
    { t: 'paragraph', inlines: repeat(20_000, (at) => (at % 2 ? text('a ') : { t: 'code', text: 'b' })) },
  ],
  'many short paragraphs': repeat(20_000, () => paragraph('a')),
  'a long table': [
    {
      t: 'table',
      align: ['none', 'none'],
      head: [[text('a')], [text('b')]],
      rows: repeat(1_000, (at) => [[text(`${at}`)], [text('2')]]),
    },
  ],
  'a wide table': [
    { t: 'table', align: [], head: [], rows: repeat(100, () => repeat(200, () => [text('1')])) },
  ],
  'a long list': [listOf(repeat(10_000, (at) => paragraph(`entry ${at}`)))],
  'one long entry': [listOf([paragraph('word '.repeat(40_000)), paragraph('after')])],
  'deep quotes around much': [nested(24, paragraph('word '.repeat(40_000)))],
  'deep lists around much': [
    repeat(24, () => 0).reduce((inner) => listOf([inner]), paragraph('word '.repeat(40_000))),
  ],
  'many lines of code': [
    { t: 'code', language: '', lines: repeat(20_000, () => [{ role: 'plain', text: 'x' }]) },
  ],
  'one long line of code': [
    { t: 'code', language: '', lines: [[{ role: 'plain', text: 'x '.repeat(100_000) }]] },
  ],
  'many blocks of code': repeat(1_000, () => ({
    t: 'code',
    language: 'rust',
    lines: [[{ role: 'plain', text: 'let x = 1;' }]],
  })),
  'much that is nested too deep': [{ t: 'verbatim', text: '- '.repeat(100_000) }],
  'a long plain text': [...plainBlocks('words\n'.repeat(2_000_000))],
  'emoji without a space': [paragraph('👩‍👩‍👧‍👦'.repeat(20_000))],
};

/** All words of what is drawn, in order. */
function words(block: Prose): string {
  const running = (inlines: readonly RichInline[]): string =>
    inlines.map((one) => ('text' in one ? one.text : 'inlines' in one ? running(one.inlines) : '')).join('');
  switch (block.t) {
    case 'paragraph':
    case 'heading':
      return running(block.inlines);
    case 'code':
      return block.lines.map((line) => line.map((span) => span.text).join('')).join('');
    case 'list':
      return block.items.map((item) => item.blocks.map(words).join('')).join('');
    case 'quote':
      return block.blocks.map(words).join('');
    case 'table':
      return block.rows.map((row) => row.map(running).join('')).join('');
    case 'verbatim':
    case 'words':
      return block.text;
    default:
      return '';
  }
}

describe('a text that is made to stop the page', () => {
  test.each(Object.entries(hostile))(
    'w25 %s: every frame adds a bounded part, and all of it comes',
    (_, blocks) => {
      const batches = batchesOf(blocks, new Set(blocks.keys()));
      const costs = batches.map((batch) => batch.reduce((all, { block }) => all + costOf(block), 0));
      expect(Math.max(...costs)).toBeLessThanOrEqual(PIECE * 1.1);
      expect(batches.length).toBeLessThan(200);
      const drawn = batches.flat();
      expect(drawn.map(({ block }) => words(block)).join('')).toBe(blocks.map(words).join(''));
      expect(drawn.some(({ folds }) => folds !== null)).toBe(false);
    },
  );

  test.each(Object.entries(hostile))(
    'w25 %s: no more than a piece is drawn in one, unless it cannot be cut',
    (_, blocks) => {
      expect(Math.max(...blocks.flatMap(piecesOf).map(costOf))).toBeLessThanOrEqual(PIECE * 1.1);
    },
  );

  test('w25 no character is torn in two', () => {
    for (const block of hostile['emoji without a space'] ?? []) {
      for (const piece of piecesOf(block)) expect(words(piece)).not.toMatch(/\p{Surrogate}/u);
    }
  });

  test('w25 a piece of text that arrives costs the same after a thousand blocks as after none', () => {
    let looked = 0;
    const watched = (): RichBlock => {
      const inlines = [text('a few words')];
      return {
        t: 'paragraph',
        get inlines() {
          looked += 1;
          return inlines;
        },
      };
    };
    const blocks: RichBlock[] = [];
    let former: readonly Batch[] = [];
    const costs = repeat(1_000, () => {
      blocks.push(watched());
      looked = 0;
      former = batchesOf(blocks, new Set(), former);
      return looked;
    });
    expect(new Set(costs)).toEqual(new Set([1]));
  });

  test('what is short is drawn as it is', () => {
    const blocks = [paragraph('a'), listOf([paragraph('b')])];
    const [batch, ...others] = batchesOf(blocks, new Set());
    expect(batch?.map(({ block }) => block)).toEqual(blocks);
    expect(batch?.[0]?.block).toBe(blocks[0]);
    expect(others).toEqual([]);
  });

  test('w25 what is drawn stays the same object while more comes', () => {
    const blocks = repeat(2_000, (at) => paragraph(`words ${at}`));
    const former = batchesOf(blocks, new Set());
    const later = batchesOf([...blocks, paragraph('more')], new Set(), former);
    expect(former.length).toBeGreaterThan(4);
    expect(former.slice(0, -1).every((batch, at) => batch === later[at])).toBe(true);
  });

  test('a list in parts goes on counting, and an entry in parts has one number', () => {
    const list = listOf([paragraph('x '.repeat(40_000)), paragraph('after')]);
    const parts = piecesOf(list) as Extract<RichBlock, { t: 'list' }>[];
    expect(parts.length).toBeGreaterThan(2);
    const numbered = parts.map(({ start, items }) => [
      start,
      items.filter((item) => !isContinued(item)).length,
    ]);
    expect(numbered[0]).toEqual([1, 1]);
    expect(numbered.at(-1)).toEqual([2, 1]);
  });

  test('a part of code knows all of it', () => {
    const code = hostile['one long line of code']?.[0] as Extract<RichBlock, { t: 'code' }>;
    const parts = piecesOf(code);
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.every((part) => wholeOf(part) === code)).toBe(true);
  });
});

describe('on the page', () => {
  afterEach(() => vi.unstubAllGlobals());

  const shapes = [
    'many pieces of running text',
    'many short paragraphs',
    'a wide table',
    'many blocks of code',
  ];
  test.each(shapes.map((name) => [name, hostile[name] ?? []] as const))(
    'w25 %s: the first frame makes a bounded number of elements',
    (_, blocks) => {
      vi.stubGlobal('requestAnimationFrame', () => 0);
      const { container } = render(Rich, { blocks });
      expect(container.querySelectorAll('*').length).toBeLessThan(3_000);
    },
  );

  test('the rest of a long list is shown when somebody asks', () => {
    const frames: FrameRequestCallback[] = [];
    vi.stubGlobal('requestAnimationFrame', (frame: FrameRequestCallback) => frames.push(frame));
    const { container } = render(Rich, { blocks: [listOf(repeat(600, (at) => paragraph(`entry ${at}`)))] });
    const settle = (): void => {
      flushSync();
      while (frames.length > 0) {
        frames.shift()?.(0);
        flushSync();
      }
    };
    settle();
    expect(container.textContent).not.toContain('entry 599');
    screen.getByRole('button', { name: 'Show the rest' }).click();
    settle();
    expect(container.textContent).toContain('entry 599');
    expect(screen.queryByRole('button', { name: 'Show the rest' })).toBeNull();
    expect(container.querySelectorAll('li')).toHaveLength(600);
  });
});
