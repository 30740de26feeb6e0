import type { Turn } from "../../../dialects/playground/types.ts";

/** The conversation with which the playground starts. */
export interface Proposal {
  readonly dialect: string;
  readonly model: string;
  readonly stream: boolean;
  readonly system: string;
  readonly turns: readonly Turn[];
}

let proposed: Proposal | null = null;

/** Sets the conversation for the next time the playground opens. */
export function propose(proposal: Proposal): void {
  proposed = proposal;
}

/** Returns the initial conversation and clears it; null: none. */
export function takeProposal(): Proposal | null {
  const taken = proposed;
  proposed = null;
  return taken;
}
