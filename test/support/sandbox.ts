import type { Turn } from "../../sandbox/turn.ts";

/** State of the sandbox, as GET /sandbox/state returns it. */
export interface SandboxState {
  /** Sessions by account id. */
  readonly sessions: Readonly<Record<string, number>>;
  /** Sign-ins by login. */
  readonly sign_ins: Readonly<Record<string, number>>;
  readonly open_streams: number;
  readonly turn_count: number;
  /** The last 100 turns, oldest first. */
  readonly turns: readonly SandboxTurn[];
}

/** A turn as the sandbox received it. */
export interface SandboxTurn extends Turn {
  readonly account: string;
  readonly session: string;
  readonly message_id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Client of the sandbox's own endpoints, which bypass the gateway. */
export class SandboxControl {
  readonly #send: (path: string, method: string) => Promise<{ json(): Promise<unknown>; status: number }>;

  constructor(send: (path: string, method: string) => Promise<{ json(): Promise<unknown>; status: number }>) {
    this.#send = send;
  }

  async state(): Promise<SandboxState> {
    const state = await (await this.#send("/sandbox/state", "GET")).json();
    return isState(state) ? state : Promise.reject(new Error("The sandbox did not tell its state."));
  }

  /** Returns the turn that the sandbox received last. */
  async lastTurn(): Promise<SandboxTurn> {
    const turn = (await this.state()).turns.at(-1);
    return turn ?? Promise.reject(new Error("The sandbox has received no turn."));
  }

  /** Deletes all sessions, files, turns, counts and served faults; tokens stay valid. */
  async reset(): Promise<void> {
    await this.#send("/sandbox/reset", "POST");
  }

  /** Invalidates all account tokens issued so far. */
  async expireTokens(): Promise<void> {
    await this.#send("/sandbox/expire", "POST");
  }
}

const isState = (value: unknown): value is SandboxState =>
  typeof value === "object" && value !== null && "turns" in value && Array.isArray(value.turns);
