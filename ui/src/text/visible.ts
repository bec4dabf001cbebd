// Makes what is invisible or misleading in plain strings visible: names, paths, commands, output.
// Text that crosses the wire as spans was made safe by the core; this is for the strings that do not.
import type { ShownSpan } from '../bindings';

/** Control, direction and tag characters: they hide or reorder, and no prose needs them. */
const misleading =
  // eslint-disable-next-line no-control-regex -- they are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u;
/** In names and code also everything that is not drawn at all; tab and line break are. */
const unseen =
  // eslint-disable-next-line no-control-regex, no-misleading-character-class -- each sign is meant alone
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/u;

/** Where a text stands: prose may join letters and emoji by invisible signs, names and code may not. */
export type Ground = 'prose' | 'code';

/** The pieces of the given text, each suspicious sign as a chip with its code point. */
export function visible(given: string, ground: Ground): ShownSpan[] {
  // Prose that was written on Windows says nothing by its line ends.
  const text = ground === 'prose' ? given.replaceAll('\r\n', '\n') : given;
  const suspicious = ground === 'prose' ? misleading : unseen;
  // Nearly every text is clean: one look, one piece.
  if (!suspicious.test(text)) return text === '' ? [] : [{ kind: 'plain', text }];
  const spans: ShownSpan[] = [];
  let plain = '';
  for (const sign of text) {
    if (!suspicious.test(sign)) {
      plain += sign;
      continue;
    }
    if (plain !== '') spans.push({ kind: 'plain', text: plain });
    plain = '';
    spans.push({ kind: 'chip', text: `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}` });
  }
  if (plain !== '') spans.push({ kind: 'plain', text: plain });
  return spans;
}

/** The same in one string, for where nothing can be drawn: tooltips, and what a screen reader says. */
export function plainly(text: string, ground: Ground = 'code'): string {
  return visible(text, ground)
    .map((span) => span.text)
    .join('');
}
