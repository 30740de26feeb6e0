import type { Account, Accounts } from "./accounts.ts";
import { composeAnswer } from "./answer.ts";
import { type Call, parseJson } from "./call.ts";
import { Directives } from "./directives.ts";
import type { FileDrawer } from "./files.ts";
import { readPrompt } from "./prompt.ts";
import { type Reply, refuse, stream } from "./replies.ts";
import { type Serials, serialName } from "./serials.ts";
import type { Shelves, StoredMessage, StoredSession } from "./shelves.ts";
import { countTokens, eventsOf, formatOf, withFaults } from "./steps.ts";
import { readTurn, type Turn } from "./turn.ts";

const KEPT_TURNS = 100;
const KEPT_PROMPT = 200_000;
const LONGEST_PROMPT = 32 * 1024 * 1024;

/** Generations: turns, their continuations, and faults before a stream begins. */
export class Turns {
  readonly #shelves: Shelves;
  readonly #serials: Serials;
  readonly #accounts: Accounts;
  readonly #files: FileDrawer;
  readonly #now: () => number;

  /** `now` returns milliseconds since the epoch. */
  constructor(shelves: Shelves, serials: Serials, accounts: Accounts, files: FileDrawer, now: () => number) {
    this.#shelves = shelves;
    this.#serials = serials;
    this.#accounts = accounts;
    this.#files = files;
    this.#now = now;
  }

  /** Answers POST /api/sessions/{id}/turns. */
  begin(account: Account, session: StoredSession, call: Call): Reply {
    if ((call.body?.length ?? 0) > LONGEST_PROMPT) return refuse("too_large", "The prompt is too long.");
    const turn = readTurn(parseJson(call.body));
    if (typeof turn === "string") return refuse("invalid_request", turn);
    const parent = session.messages.find(({ id }) => id === turn.parent_message_id);
    if (turn.parent_message_id !== null && parent === undefined) {
      return refuse("invalid_request", "parent_message_id is no message of this session.");
    }
    const files = turn.file_ids.map((id) => this.#files.find(account.id, id));
    if (files.some((file) => file === undefined)) return refuse("not_found", "There is no such file.");
    if (files.some((file) => file?.object.status !== "processed")) {
      return refuse("invalid_request", "A file is not processed yet.");
    }

    const messageId = this.#serials.next("message");
    this.#record(account, session, messageId, turn);
    const excerpts = files.map((file) => file?.excerpt ?? "");
    const reading = readPrompt(this.#promptWithFiles(turn, excerpts));
    const user = parent?.empty ? parent.user : reading.user;
    const directives = new Directives(user);
    if (/^(?:token-)?limited/.test(account.id))
      return refuse("rate_limited", "This account is always rate limited.");
    const fault = this.#faultBeforeStream(account, user, directives);
    if (fault !== null) return fault;

    const before = [reading.before, ...excerpts].join("\n");
    const attachments = files.flatMap((file) => (file === undefined ? [] : [file.object]));
    const composed = composeAnswer(turn, { ...reading, user, before }, directives, attachments);
    const isEmpty = reading.toolResults.length === 0 && this.#isEmptyNow(account, user, directives, parent);
    const answer = isEmpty ? { ...composed, text: "", search: [] } : composed;
    const afterTools = reading.toolResults.length > 0;
    const format = formatOf(directives);
    const [text = "", ...rest] = afterTools ? [answer.text] : split(answer.text, directives);
    const promptTokens = countTokens(turn.prompt);
    const message: StoredMessage = {
      id: messageId,
      user,
      empty: answer.text === "" && !afterTools,
      rest,
      promptTokens,
    };
    this.#shelves.sessions.put(session.id, { ...session, messages: [...session.messages, message] });

    const finish = rest.length > 0 ? "incomplete" : answer.finish;
    const { stopSequence } = answer;
    const events = eventsOf(messageId, { ...answer, text }, finish, promptTokens, directives, stopSequence);
    const late = directives.count("late", 1000) ?? 0;
    return stream(this.#openStream(), afterTools ? events : withFaults(events, directives), format, late);
  }

  /** Answers POST /api/sessions/{id}/turns/{message_id}/continue. */
  continue(session: StoredSession, messageId: string): Reply {
    const message = session.messages.find(({ id }) => id === messageId);
    if (message === undefined) return refuse("not_found", "There is no such message.");
    const [text, ...rest] = message.rest;
    if (text === undefined) return refuse("invalid_request", "This message is complete.");
    const messages = session.messages.map((other) => (other.id === messageId ? { ...message, rest } : other));
    this.#shelves.sessions.put(session.id, { ...session, messages });
    const directives = new Directives(message.user);
    const answer = { reasoning: "", text, search: [] };
    const finish = rest.length > 0 ? "incomplete" : "stop";
    const events = eventsOf(messageId, answer, finish, message.promptTokens, directives);
    return stream(this.#openStream(), events, formatOf(directives), 0);
  }

  /** The conversation may have been uploaded as a file. The prompt itself then has no user section. */
  #promptWithFiles(turn: Turn, excerpts: readonly string[]): string {
    if (readPrompt(turn.prompt).marked) return turn.prompt;
    return excerpts.find((excerpt) => readPrompt(excerpt).marked) ?? turn.prompt;
  }

  #faultBeforeStream(account: Account, user: string, directives: Directives): Reply | null {
    const expired = directives.arg("expired");
    if (expired !== undefined && (expired === "always" || this.#firstTime(`expired:${hash(user)}`))) {
      this.#accounts.revoke(account.id);
      return refuse("token_expired", "The token has expired.");
    }
    const [status, code = "model_unavailable", extent] = directives.args("status") ?? [];
    if (status === undefined) return null;
    const key = `status:${hash(user)}`;
    const applies =
      extent === "once"
        ? this.#firstTime(key)
        : extent === "account"
          ? this.#onFirstAccount(key, account)
          : true;
    if (!applies) return null;
    return refuse(code, `The sandbox was asked for the status ${status}.`, Number(status) || 500);
  }

  #isEmptyNow(
    account: Account,
    user: string,
    directives: Directives,
    parent: StoredMessage | undefined,
  ): boolean {
    const extent = directives.arg("empty");
    if (extent === undefined) return false;
    if (extent === "always") return true;
    if (extent === "account") return this.#onFirstAccount(`empty:${hash(user)}`, account);
    return parent?.empty !== true;
  }

  /**
   * Alternates: true for the first call with a key, false for the second, and so on. So each fault is served once, and the
   * retry succeeds.
   */
  #firstTime(key: string): boolean {
    const served = this.#shelves.marks.get(key) !== undefined;
    if (served) this.#shelves.marks.delete(key);
    else this.#shelves.marks.put(key, "served");
    return !served;
  }

  /** True for the first account until another account comes; then starts over. */
  #onFirstAccount(key: string, account: Account): boolean {
    const first = this.#shelves.marks.get(key) ?? account.id;
    if (first === account.id) this.#shelves.marks.put(key, first);
    else this.#shelves.marks.delete(key);
    return first === account.id;
  }

  #record(account: Account, session: StoredSession, messageId: string, turn: Turn): void {
    const { turns } = this.#shelves;
    turns.put(messageId, {
      account: account.id,
      session: session.id,
      message_id: messageId,
      at: this.#now(),
      turn: JSON.stringify({ ...turn, prompt: turn.prompt.slice(0, KEPT_PROMPT) }),
    });
    const expired = this.#serials.latest("message") - KEPT_TURNS;
    if (expired > 0) turns.delete(serialName("message", expired));
  }

  #openStream(): string {
    const id = this.#serials.next("stream");
    this.#shelves.streams.put(id, this.#now());
    return id;
  }
}

/** `[[incomplete:N]]` splits the text into N + 1 equal pieces. */
function split(text: string, directives: Directives): string[] {
  const cuts = directives.count("incomplete", 1) ?? 0;
  const characters = [...text];
  const size = Math.max(1, Math.ceil(characters.length / (cuts + 1)));
  return Array.from({ length: cuts + 1 }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(""),
  );
}

/** FNV-1a: short keys for long prompts. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return (value >>> 0).toString(16);
}
