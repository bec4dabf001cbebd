/**
 * The English message table: every word of the window in one place.
 *
 * A value is a text with `{name}` gaps, or one text per plural form of its gap `n`.
 * Other languages are typed by this table, so a missing or misspelt key does not compile.
 */
import { approval, choosing, question } from './en/ask';
import { composer, context, mode, queue } from './en/composer';
import { common, kit, state } from './en/common';
import {
  activity,
  blocks,
  changes,
  inbox,
  outcome,
  plan,
  shell,
  sidebar,
  trail,
  transcript,
} from './en/page';
import { running } from './en/running';
import { settings } from './en/settings';
import { banner, start } from './en/start';
import { trust } from './en/trust';

export const en = {
  ...common,
  ...kit,
  ...state,
  ...approval,
  ...choosing,
  ...question,
  ...composer,
  ...mode,
  ...context,
  ...queue,
  ...settings,
  ...start,
  ...banner,
  ...shell,
  ...inbox,
  ...sidebar,
  ...transcript,
  ...outcome,
  ...activity,
  ...blocks,
  ...trail,
  ...plan,
  ...changes,
  ...running,
  ...trust,
} as const;
