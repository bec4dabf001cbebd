// How a request looks as a stone: its size is the work done, its shape the outcome. Pure.
import type { SessionState, Turn } from '../bindings';
import { type Standing, standingOf, standingWord, workOf } from '../transcript/entries';
import { clockTime, t } from '../text';

/** Newest stones that are always drawn; older ones fold into one. */
export const DRAWN = 25;

export interface Stone {
  turn: Turn;
  /** Its first line in the transcript. */
  at: number;
  /** Distance from the top of the transcript, pixels. */
  top: number;
}

/** Width and height in pixels: grows slowly, so that a long request stays a stone. */
export function sizeOf(turn: Turn): { width: number; height: number } {
  const { files, commands, done } = turn.summary;
  const work = done + commands + files.length * 2;
  const grown = Math.min(1, Math.log2(1 + work) / 5);
  return { width: Math.round(24 + grown * 12), height: Math.round(24 + grown * 3) };
}

/** What a stone says: number, time, outcome, and what changed. */
export function titleOf(turn: Turn, session: SessionState): string {
  const standing: Standing = standingOf(turn, session);
  const outcome = standingWord(turn, standing).toLowerCase();
  const files = turn.summary.files.length > 0 ? [t('outcome.files', { n: turn.summary.files.length })] : [];
  const work = [...files, ...workOf(turn)].join(', ');
  const gaps = { n: turn.number, at: clockTime(turn.started_at), outcome };
  return work === '' ? t('trail.stone', gaps) : t('trail.stone_work', { ...gaps, work });
}
