import type { Turn } from "../../../dialects/playground/types.ts";

/** A conversation that the playground is to begin with. */
export interface Proposal {
  readonly dialect: string;
  readonly model: string;
  readonly stream: boolean;
  readonly system: string;
  readonly turns: readonly Turn[];
}

let proposed: Proposal | null = null;

/** Has the playground begin with a conversation when it is opened next. */
export function propose(proposal: Proposal): void {
  proposed = proposal;
}

/** The conversation to begin with, once; null: none. */
export function takeProposal(): Proposal | null {
  const taken = proposed;
  proposed = null;
  return taken;
}
