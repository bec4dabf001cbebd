// Which component draws which block. A variant without a line here does not compile.
import type { Component } from 'svelte';

import type { ContentBlock } from '../bindings';
import CodeBlock from './CodeBlock.svelte';
import DataBlock from './DataBlock.svelte';
import DiffContent from './DiffContent.svelte';
import LocationsBlock from './LocationsBlock.svelte';
import PictureBlock from './PictureBlock.svelte';
import TableBlock from './TableBlock.svelte';
import TerminalBlock from './TerminalBlock.svelte';
import TextBlock from './TextBlock.svelte';
import TodoBlock from './TodoBlock.svelte';

type Kind = ContentBlock['block'];

/** One block of a kind. */
export type BlockOf<K extends Kind> = Extract<ContentBlock, { block: K }>;

const components: { [K in Kind]: Component<{ block: BlockOf<K> }> } = {
  text: TextBlock,
  code: CodeBlock,
  diff: DiffContent,
  terminal: TerminalBlock,
  picture: PictureBlock,
  locations: LocationsBlock,
  table: TableBlock,
  todo: TodoBlock,
  data: DataBlock,
};

/** The component of a block; a kind that only a newer core knows has none. */
export function componentOf(block: ContentBlock): Component<{ block: ContentBlock }> | undefined {
  return components[block.block] as Component<{ block: ContentBlock }> | undefined;
}
