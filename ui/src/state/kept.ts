// Blocks that say the same keep their identity, so that they are not drawn again. Pure.
import type { RichBlock } from '../bindings';

/** The blocks of `now`, those that say the same as the former ones by their identity: they are not drawn again. */
export function keptBlocks(former: readonly RichBlock[], now: RichBlock[]): RichBlock[] {
  return now.map((block, at) => {
    const old = former[at];
    return old !== undefined && same(old, block) ? old : block;
  });
}

function same(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => same(one[key as keyof typeof one], other[key as keyof typeof other]))
  );
}
