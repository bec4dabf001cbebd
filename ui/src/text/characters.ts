/** Names what a chip in a command, path or diff stands for. SPEC P10. */
import { t } from './text.svelte';

const names: Record<string, string> = {
  '0': 'Null character',
  '7': 'Bell',
  '8': 'Backspace',
  '9': 'Tab',
  a: 'Line feed',
  b: 'Vertical tab',
  c: 'Form feed',
  d: 'Carriage return',
  '1b': 'Escape',
  '7f': 'Delete',
  a0: 'No-break space',
  ad: 'Soft hyphen',
  '34f': 'Combining grapheme joiner',
  '61c': 'Arabic letter mark',
  '115f': 'Hangul choseong filler',
  '1160': 'Hangul jungseong filler',
  '180e': 'Mongolian vowel separator',
  '200b': 'Zero-width space',
  '200c': 'Zero-width non-joiner',
  '200d': 'Zero-width joiner',
  '200e': 'Left-to-right mark',
  '200f': 'Right-to-left mark',
  '2028': 'Line separator',
  '2029': 'Paragraph separator',
  '202a': 'Left-to-right embedding',
  '202b': 'Right-to-left embedding',
  '202c': 'End of direction change',
  '202d': 'Left-to-right override',
  '202e': 'Right-to-left override',
  '2060': 'Word joiner',
  '2066': 'Left-to-right isolate',
  '2067': 'Right-to-left isolate',
  '2068': 'First strong isolate',
  '2069': 'End of isolate',
  '3000': 'Ideographic space',
  '3164': 'Hangul filler',
  feff: 'Byte order mark',
  ffa0: 'Half-width Hangul filler',
  fffd: 'Replacement for bytes that are no text',
};

const short: Record<string, string> = { '\\0': '0', '\\t': '9', '\\n': 'a', '\\r': 'd', '\\e': '1b' };

/** What a chip that shows `standIn` means, for its title and for screen readers. */
export function chipTitle(standIn: string): string {
  const hex = short[standIn] ?? /^\\[ux]\{?0*([0-9a-fA-F]+)\}?$/.exec(standIn)?.[1]?.toLowerCase();
  if (hex === undefined) return t('kit.chip_run', { what: standIn });
  const code = `U+${hex.toUpperCase().padStart(4, '0')}`;
  return t('kit.chip_character', { name: names[hex] ?? kindOf(parseInt(hex, 16)), code });
}

function kindOf(point: number): string {
  if (point >= 0xe0000 && point <= 0xe007f) return 'Tag character';
  if (point < 0x20 || (point >= 0x7f && point < 0xa0)) return 'Control character';
  if (point >= 0xfe00 && point <= 0xfe0f) return 'Variation selector';
  return 'Character';
}
