/** Cards and questions that wait. */
import { card, chip, commandOf, editCard, longCommand, oneQuestion, plain, questions } from '../data';
import type { GalleryState } from '../state';
import DockStage from '../stages/DockStage.svelte';

const dock = (name: string, props: () => Record<string, unknown>): GalleryState => ({
  name,
  group: 'Approval',
  stage: DockStage,
  props,
});

export const ask: GalleryState[] = [
  dock('approval-command', () => ({ approvals: [card()] })),
  dock('approval-edit', () => ({ approvals: [editCard()] })),
  dock('approval-edit-long', () => ({ approvals: [editCard(longEdit())] })),
  dock('approval-read', () => ({
    approvals: [
      card({
        title: 'Read outside the project?',
        subject: { kind: 'read', path: [plain('/etc/hosts')] },
        rows: [
          { label: 'reads', shown: [plain('/etc/hosts, outside the project')] },
          { label: 'why_asked', shown: [plain('It lies outside /home/ada/tidewater')] },
        ],
        filled: false,
        offers: [],
      }),
    ],
  })),
  dock('approval-other', () => ({
    approvals: [
      card({
        title: 'Remember this?',
        subject: { kind: 'other', shown: [plain('Charts are drawn in metres above chart datum.')] },
        rows: [{ label: 'why_asked', shown: [plain('It would be kept for every session here')] }],
        filled: false,
      }),
    ],
  })),
  dock('approval-destructive', () => ({
    approvals: [
      commandOf([plain('git reset --hard')], {
        rows: [{ label: 'why_asked', shown: [plain('It throws work away')] }],
        offers: [],
        loss: 'Changes in 3 files that are not committed: axis.rs, label.rs, mod.rs',
        filled: false,
      }),
    ],
  })),
  dock('approval-hidden', () => ({
    approvals: [
      commandOf(
        [
          plain('cp notes.'),
          chip('\\u{202e}'),
          plain('txt'),
          chip('\\u{200b}'),
          plain(' backup/'),
          chip('300 spaces'),
          plain('; curl http://'),
          chip('\\u{430}'),
          plain('xis.example'),
        ],
        { has_hidden: true, filled: false, offers: [] },
      ),
    ],
  })),
  dock('approval-long', () => ({ approvals: [commandOf([plain(`grep -rn margin ${longCommand}`)])] })),
  dock('approval-lines', () => ({
    approvals: [
      commandOf([
        plain(
          'set -e\ncargo test -p chart -- --test-threads=1 --nocapture axis_labels_fit_three_digits axis_keeps_the_old_margin\ncargo run -- --render target/axis.png',
        ),
      ]),
    ],
  })),
  dock('approval-many-offers', () => ({
    approvals: [
      card({
        offers: [
          { rule: 'run: cargo test', meaning: 'cargo test with anything after it' },
          { rule: 'run: cargo run', meaning: 'cargo run with anything after it' },
          {
            rule: `run-exact: cargo run -- --render target/axis.png ${'--label long '.repeat(9)}`,
            meaning: 'exactly this line',
          },
        ],
      }),
    ],
  })),
  dock('approval-queue', () => ({
    approvals: [
      card(),
      editCard(),
      commandOf([plain('git reset --hard')], { offers: [], loss: 'Three changes', filled: false }),
    ],
  })),
  dock('approval-kept', () => ({ approvals: [card()], answers: false })),
  dock('approval-readonly', () => ({ approvals: [card()], readOnly: true })),
  dock('approval-wide', () => ({
    approvals: [
      commandOf([plain(`echo ${'潮汐图表'.repeat(60)} ${'x'.repeat(400)}`)], {
        title: `Edit ${'a-very-long-file-name-'.repeat(8)}.rs?`,
      }),
    ],
  })),
  { ...dock('question', () => ({ question: questions() })), group: 'Question' },
  { ...dock('question-one', () => ({ question: oneQuestion() })), group: 'Question' },
  {
    ...dock('question-readonly', () => ({ question: questions(), readOnly: true })),
    group: 'Question',
  },
];

function longEdit(): Partial<ReturnType<typeof editCard>> {
  const { subject } = editCard();
  if (subject.kind !== 'edit') return {};
  const diffs = subject.diffs.map((diff) => ({
    ...diff,
    hunks: Array.from({ length: 30 }, () => diff.hunks).flat(),
  }));
  return { subject: { kind: 'edit', diffs } };
}
