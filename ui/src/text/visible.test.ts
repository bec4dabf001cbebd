import { expect, test } from 'vitest';

import { t } from './text.svelte';
import { plainly, visible } from './visible';

const drawn = (text: string, ground: 'prose' | 'code'): string =>
  visible(text, ground)
    .map((span) => (span.kind === 'chip' ? `[${span.text}]` : span.text))
    .join('');

test('a name that turns its direction is shown as it is written', () => {
  expect(drawn('src/a\u202efdp.rs', 'code')).toBe('src/a[\\u{202e}]fdp.rs');
  expect(drawn('src/a\u202efdp.rs', 'prose')).toBe('src/a[\\u{202e}]fdp.rs');
});

test.each(['\u200b', '\u200d', '\u2066', '\ufeff', '\u00ad', '\u0000', '\u001b', '\u{e0041}', '\u3164'])(
  'no invisible sign passes in code: %j',
  (sign) => {
    expect(visible(`a${sign}b`, 'code').map((span) => span.kind)).toEqual(['plain', 'chip', 'plain']);
  },
);

test('joined emoji and Persian words stay whole in prose', () => {
  for (const text of ['👩\u200d💻', 'می\u200cخواهم', 'שלום', 'a\tb\nc']) {
    expect(visible(text, 'prose')).toEqual([{ kind: 'plain', text }]);
  }
});

test('nothing of a clean text is lost', () => {
  expect(drawn('fn main() {\n\tprintln!("$1 \\0 $&");\n}', 'code')).toBe(
    'fn main() {\n\tprintln!("$1 \\0 $&");\n}',
  );
  expect(visible('', 'code')).toEqual([]);
});

test('a sequence that commands a terminal is seen in prose, a line end of Windows is not', () => {
  expect(drawn('a\u001b[2Kb\u009b2Jc\rd', 'prose')).toBe('a[\\u{1b}][2Kb[\\u{9b}]2Jc[\\u{d}]d');
  expect(drawn('a\r\nb', 'prose')).toBe('a\nb');
  expect(drawn('a\r\nb', 'code')).toBe('a[\\u{d}]\nb');
});

test('a tooltip hides no more than the page does', () => {
  expect(plainly('a\u202efdp.rs\u001b[2K')).toBe('a\\u{202e}fdp.rs\\u{1b}[2K');
  expect(t('shell.project_of', { path: '/w/\u202efdp' })).toContain('/w/\\u{202e}fdp');
});
