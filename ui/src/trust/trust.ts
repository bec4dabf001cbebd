/** What a folder proposes, in the order and the words of the page. Pure. SPEC P11. */
import type { Proposal, ProposalKind, TrustView } from '../bindings';
import { dayOf, t } from '../text';

/** What would run comes before what would only be read, and that before what is never taken. */
export const KINDS: readonly ProposalKind[] = [
  'rule',
  'server',
  'hook',
  'checker',
  'command',
  'git',
  'setting',
];

export interface Group {
  kind: ProposalKind;
  proposals: readonly Proposal[];
}

/** The proposals by kind; kinds that have none are left out. */
export function grouped(proposals: readonly Proposal[]): Group[] {
  return KINDS.map((kind) => ({ kind, proposals: proposals.filter((one) => one.kind === kind) })).filter(
    (group) => group.proposals.length > 0,
  );
}

/** Whether that one only says that git reads the repository. */
export function isGitReading(proposal: Proposal): boolean {
  return proposal.kind === 'git' && proposal.file === '.git';
}

/** The day since which a folder is or was trusted; empty where it never was. */
export function trustedOn(view: TrustView): string {
  return view.state.kind === 'new' ? '' : dayOf(view.state.at);
}

/** Heading and first sentence of the question. */
export function question(view: TrustView, folder: string): { title: string; lead: string } {
  const asked = view.state.kind === 'trusted' ? 'new' : view.state.kind;
  // A plain repository proposes nothing; but git waits.
  const kind = asked === 'new' && !view.problem && view.proposals.every(isGitReading) ? 'plain' : asked;
  return {
    title: t(`trust.title.${kind}`),
    lead:
      kind === 'new' || kind === 'plain'
        ? t(`trust.lead.${kind}`, { folder })
        : t(`trust.lead.${kind}`, { day: trustedOn(view) }),
  };
}
