/** Edits taken place by place, and several cards as one list. */
import type { Approval, Hunk } from '../../src/bindings';
import { diff } from '../../src/state/fixtures/script';
import { card, chip, commandOf, editCard, longCommand, plain } from '../data';
import type { GalleryState } from '../state';
import DockStage from '../stages/DockStage.svelte';

const dock = (name: string, props: () => Record<string, unknown>): GalleryState => ({
  name,
  group: 'Approval',
  stage: DockStage,
  props,
});

const places = [
  diff('src/chart/axis.rs', 12, [
    ' use crate::font::Font;',
    '-const MARGIN_LEFT: f32 = «24.0»;',
    '+const MARGIN_LEFT: f32 = «16.0»;',
    '+const LABEL_GAP: f32 = 6.0;',
    ' ',
  ]),
  diff('src/chart/axis.rs', 41, [
    '     let labels = self.ticks.iter().map(|t| t.label());',
    '-    let left = «MARGIN_LEFT»;',
    '+    let widest = labels.map(|l| font.width(&l)).fold(0.0, f32::max);',
    '+    let left = «MARGIN_LEFT.max(widest + LABEL_GAP)»;',
    '     self.frame(left)',
  ]),
  diff('src/chart/axis.rs', 88, [' }', '-// The margin is fixed.', '-', ' #[cfg(test)]']),
];
const hunks = places.flatMap((place) => place.hunks);

/** A card about one file with those places. */
function edit(these: Hunk[], given: Partial<Approval> = {}): Approval {
  const lines = these.flatMap((hunk) => hunk.lines);
  const whole = {
    ...diff('src/chart/axis.rs', 12, []),
    hunks: these,
    added: lines.filter((line) => line.kind === 'added').length,
    removed: lines.filter((line) => line.kind === 'removed').length,
  };
  return editCard({ subject: { kind: 'edit', diffs: [whole] }, ...given });
}

const hidden: Hunk = {
  old_start: 60,
  new_start: 61,
  lines: [
    { kind: 'removed', old: 60, new: null, spans: [plain('    if user.is_admin {')] },
    {
      kind: 'added',
      old: null,
      new: 61,
      spans: [plain('    if user.is_admin '), chip('\\u{202e}'), plain('{ // checked')],
    },
  ],
};

let made = 0;
/** The same with an id of its own. */
const own = (one: Approval): Approval => {
  made += 1;
  return { ...one, turn: 't-1', id: `a-own-${made}`, digest: `${made}`.padStart(64, 'e') };
};
const lossy = (): Approval =>
  own(
    commandOf([plain('git reset --hard')], {
      rows: [{ label: 'why_asked', shown: [plain('It throws work away')] }],
      offers: [],
      loss: 'Changes in 3 files that are not committed: axis.rs, label.rs, mod.rs',
      filled: false,
    }),
  );
const test = (n: number): Approval =>
  own(commandOf([plain(`cargo test -p chart labels_${n}`)], { rows: card().rows.slice(0, 2) }));

export const together: GalleryState[] = [
  dock('hunks', () => ({ approvals: [edit(hunks)] })),
  dock('hunks-one', () => ({ approvals: [edit(hunks.slice(1, 2))] })),
  dock('hunks-hidden', () => ({
    approvals: [edit([...hunks.slice(0, 1), hidden], { has_hidden: true })],
  })),
  dock('hunks-many', () => ({
    approvals: [
      edit(
        Array.from({ length: 24 }, (_, i) =>
          diff('src/chart/axis.rs', 10 + i * 20, [
            ' fn part() {',
            `-    old(${i});`,
            `+    new(${i});`,
            ' }',
          ]),
        ).flatMap((one) => one.hunks),
      ),
    ],
  })),
  dock('hunks-readonly', () => ({ approvals: [edit(hunks)], readOnly: true })),
  dock('hunks-kept', () => ({ approvals: [edit(hunks)], answers: false })),
  dock('together', () => {
    const [first, second, third] = [own(edit(hunks.slice(1, 2))), test(1), lossy()];
    return { approvals: [first, second, third], later: [test(2)] };
  }),
  dock('together-three', () => ({ approvals: [test(1), test(2), test(3)], later: [test(4)] })),
  dock('together-many', () => ({
    approvals: [
      own(edit(hunks)),
      own(commandOf([plain(`grep -rn margin ${longCommand}`)])),
      ...Array.from({ length: 9 }, (_, i) => test(i)),
      own(
        commandOf([plain('cp notes.'), chip('\\u{202e}'), plain('txt backup/')], {
          has_hidden: true,
          filled: false,
          offers: [],
        }),
      ),
    ],
  })),
  dock('together-refused', () => {
    const [first, second, third] = [test(1), test(2), test(3)];
    return {
      approvals: [first, second, third],
      answers: false,
      refused: { [first.id]: 'stale', [second.id]: 'disk_full' },
    };
  }),
  dock('together-joins', () => ({ approvals: [test(1)], later: [test(2)] })),
  dock('together-readonly', () => ({ approvals: [test(1), own(edit(hunks)), lossy()], readOnly: true })),
  dock('together-wide', () => ({
    approvals: [
      own(edit(hunks.slice(0, 1), { title: `Edit ${'a-very-long-file-name-'.repeat(6)}.rs?` })),
      own(commandOf([plain(`echo ${'潮汐图表'.repeat(60)} ${'x'.repeat(400)}`)])),
      own(
        card({
          title: `Connect to ${'long.'.repeat(30)}example?`,
          subject: {
            kind: 'connect',
            host: [plain('long.example')],
            address: [plain('https://long.example/')],
          },
          filled: false,
        }),
      ),
    ],
  })),
];
