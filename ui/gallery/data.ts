/** Made-up data of the gallery, on top of the recorded logs. */
import type { Approval, Question, ShownSpan } from '../src/bindings';
import {
  AXIS,
  commandCard,
  logs,
  meter as meterOf,
  NOW,
  pictures,
  settings,
  viewOf,
} from '../src/state/fixtures';
import { picture } from '../src/state/fixtures/script';

export { AXIS, NOW, picture, pictures, settings };

/** The meter of the mock. */
export const meter = viewOf(logs.tour()).meter ?? meterOf;

export const plain = (text: string): ShownSpan => ({ kind: 'plain', text });
export const chip = (text: string): ShownSpan => ({ kind: 'chip', text });

let made = 0;

/** A card like that of the mock, but for what is given. */
export function card(given: Partial<Approval> = {}): Approval {
  made += 1;
  return {
    ...commandCard,
    id: `a-${made}`,
    turn: 't-1',
    item: `i-${made}`,
    call: `c-${made}`,
    at: NOW + made,
    digest: made.toString(16).padStart(64, '0'),
    offers: [{ rule: `run: cargo test`, meaning: 'cargo test with anything after it' }],
    ...given,
  };
}

/** A card about a command line. */
export function commandOf(spans: ShownSpan[], given: Partial<Approval> = {}): Approval {
  return card({ subject: { kind: 'command', shown: spans, workdir: '' }, ...given });
}

/** The card of the log that asks about an edit. */
export function editCard(given: Partial<Approval> = {}): Approval {
  const [first] = viewOf(logs.edit()).approvals;
  if (!first) throw new Error('The log has no card.');
  return { ...first, ...given };
}

/** Questions of the log, with a third one that has as many options as there may be. */
export function questions(): Question {
  const question = viewOf(logs.question()).question;
  if (!question) throw new Error('The log has no question.');
  return {
    ...question,
    asks: [
      ...question.asks,
      {
        text: 'Which of the nine stations shall be in the example?',
        multiple: true,
        options: Array.from({ length: 9 }, (_, i) => ({
          label: `Station ${i + 1}`,
          description: i % 2 ? 'Has tide data since 1990.' : '',
        })),
      },
    ],
  };
}

/** Only the first question. */
export function oneQuestion(): Question {
  const all = questions();
  return { ...all, asks: all.asks.slice(0, 1) };
}

/** A command of about 10 kB, as one line of words. */
export const longCommand = Array.from({ length: 420 }, (_, i) => `--include=src/chart/part_${i}.rs`).join(
  ' ',
);
