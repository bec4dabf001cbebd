// What a screen reader hears of a text that streams: finished sentences, never letters. Pure.
import type { Item, RichBlock, RichInline } from '../bindings';

/** Words of running text. */
function words(inlines: readonly RichInline[]): string {
  return inlines
    .map((inline) => {
      switch (inline.t) {
        case 'text':
        case 'code':
          return inline.text;
        case 'break':
          return ' ';
        case 'blocked_image':
          return inline.alt;
        default:
          return words(inline.inlines);
      }
    })
    .join('');
}

/** Words of prose. Code is named, not read out sign by sign. */
export function plainText(blocks: readonly RichBlock[]): string {
  return blocks
    .map((block) => {
      switch (block.t) {
        case 'paragraph':
        case 'heading':
          return words(block.inlines);
        case 'list':
          return block.items.map((item) => plainText(item.blocks)).join('\n');
        case 'quote':
          return plainText(block.blocks);
        case 'table':
          return [block.head, ...block.rows].map((row) => row.map(words).join(', ')).join('\n');
        case 'code':
          return `${block.lines.length} ${block.language}`.trim();
        case 'verbatim':
          return block.text;
        case 'rule':
        case 'cut':
          return '';
      }
    })
    .filter((text) => text !== '')
    .join('\n');
}

/** Where the last finished sentence of `text` ends. */
function sentenceEnd(text: string): number {
  let end = 0;
  // A mark counts when something follows it: "1." may still become "1.5".
  for (const match of text.matchAll(/[.!?…。！？](?=["”’)\]]*\s)["”’)\]]*|\n/g)) {
    end = match.index + match[0].length;
  }
  return end;
}

/** Signs that are said at once: nobody listens longer, and the page has to hold them as one line. */
const MOST_SAID = 4_000;

/** Follows one growing item and gives what is newly finished. */
export class Sentences {
  #item = '';
  /** Blocks that were said whole. */
  #blocks = 0;
  /** Signs of the open block that were said. */
  #signs = 0;

  /** What has become finished since the last call; empty when nothing has. */
  next(item: Item, over: boolean): string {
    if (item.id !== this.#item) {
      this.#item = item.id;
      this.#blocks = 0;
      this.#signs = 0;
    }
    const text = item.body.kind === 'assistant' ? item.body.text : '';
    const blocks: readonly RichBlock[] = item.rendered ?? [{ t: 'verbatim', text }];
    let said = '';
    while (this.#blocks < blocks.length - (over ? 0 : 1)) {
      said += `${plainText(blocks.slice(this.#blocks, this.#blocks + 1)).slice(this.#signs)}\n`;
      this.#blocks += 1;
      this.#signs = 0;
    }
    const open = blocks[this.#blocks];
    // Code and tables are said when they are closed.
    if (!over && open && open.t !== 'code' && open.t !== 'table') {
      const words = plainText([open]);
      const end = sentenceEnd(words);
      if (end > this.#signs) {
        said += words.slice(this.#signs, end);
        this.#signs = end;
      }
    }
    return said.trim().slice(0, MOST_SAID);
  }
}
