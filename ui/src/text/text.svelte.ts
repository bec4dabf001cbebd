/**
 * Looks messages up in the table of the chosen language.
 *
 * Owns: the choice of language, gaps and plural forms. Must never know: any component.
 */
import { en } from './en';
import { plainly } from './visible';

/** A key of the message table. */
export type MessageKey = keyof typeof en;

/** One text, or one per plural form of the gap `n`. */
export type Message = string | Partial<Record<Intl.LDMLPluralRule, string>>;

/** A complete table of one language. */
export type Messages = Record<MessageKey, Message>;

/** Languages with a complete table, by BCP 47 tag. */
export const languages: Record<string, Messages> = { en };

const chosen = $state({ language: 'en' });

/** The language in use, as a BCP 47 tag. */
export function language(): string {
  return chosen.language;
}

/** Takes the first language of `wanted` that has a table, else English. */
export function chooseLanguage(wanted: readonly string[]): void {
  const found = wanted.map((tag) => tag.toLowerCase().split('-')[0] ?? '').find((tag) => tag in languages);
  chosen.language = found ?? 'en';
}

/** The message of `key` with its gaps filled; numbers are written as the language writes them. */
export function t(key: MessageKey, gaps: Record<string, string | number> = {}): string {
  const message: Message = languages[chosen.language]?.[key] ?? en[key];
  return fill(pick(message, gaps['n'], chosen.language), gaps, chosen.language);
}

/** The message whose key is only known when the program runs; `fallback` where there is none. */
export function tMaybe(key: string, fallback: string, gaps: Record<string, string | number> = {}): string {
  return key in en ? t(key as MessageKey, gaps) : fallback;
}

function pick(message: Message, n: string | number | undefined, tag: string): string {
  if (typeof message === 'string') return message;
  const form = typeof n === 'number' ? new Intl.PluralRules(tag).select(n) : 'other';
  return message[form] ?? message.other ?? '';
}

function fill(text: string, gaps: Record<string, string | number>, tag: string): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = gaps[name];
    if (value === undefined) return whole;
    // What fills a gap may be anybody's words, and many messages are tooltips, where nothing else looks at it.
    return typeof value === 'number' ? value.toLocaleString(tag) : plainly(value);
  });
}
